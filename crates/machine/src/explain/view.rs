//! States as typed values, for people: every variable, channel and object with its owner and its value as a tree of scalars.
//! Names are given by those who show them.

use quotient_program::{ArrayTypeId, ChannelTypeId, CollectionTypeId, FunctionId, RecordId, Type};

use crate::machine::Machine;
use crate::state::cell::{Cell, size_of_type};
use crate::state::kind::{Kind, Object};
use crate::step::eval::read;

/// A value as it is stored: scalars with their types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Raw {
    /// A scalar.
    Scalar(Type, i32),
    /// The elements of an array.
    Array(Vec<Raw>),
    /// The fields of a structure or record, in order.
    Fields(Vec<(String, Raw)>),
    /// The messages of a channel, the oldest first; each a list of scalars.
    Messages(Vec<Vec<Raw>>),
    /// The rows of a collection.
    Rows(Vec<Vec<Raw>>),
    /// A lock: the thread that holds it, and how often.
    Lock(Option<u32>, u32),
    /// An object that was deleted and is still referred to.
    Deleted,
}

/// Whose a part of a state is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A global variable, by its index.
    Global(u32),
    /// A local variable: thread, frame counted from the outermost, function, index.
    Local {
        /// The thread.
        thread: u32,
        /// Which of its frames, the outermost first.
        frame: u32,
        /// What the frame runs.
        function: FunctionId,
        /// The variable.
        variable: u32,
    },
    /// The priority of a thread.
    Priority(u32),
    /// A channel that was made for a variable, by its number (from 1).
    Channel(i32, ChannelTypeId),
    /// An object, by its number (from 1), with what it is.
    Object(i32, ObjectKind),
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A record.
    Record(RecordId),
    /// An array.
    Array(ArrayTypeId),
    /// A channel.
    Channel(ChannelTypeId),
    /// A lock.
    Lock,
    /// A collection.
    Collection(CollectionTypeId),
    /// Deleted.
    Deleted,
}

/// A part of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Whose it is.
    pub owner: Owner,
    /// Its value.
    pub value: Raw,
    /// The lock of an object that has one: who holds it, and how often.
    pub lock: Option<(Option<u32>, u32)>,
}

impl Machine {
    /// All parts of a state, which must be one that a search could store: globals, locals, channels, objects.
    pub fn view(&self, state: &[u64]) -> Vec<Part> {
        let mut out = Vec::new();
        let shape = self.shape_at(state.as_ptr().cast());
        let part = |owner, value| Part { owner, value, lock: None };
        for (index, (variable, at)) in self.program.globals.iter().zip(&self.layout.globals).enumerate() {
            if !variable.scratch {
                out.push(part(Owner::Global(index as u32), self.raw(state, &variable.ty, *at)));
            }
        }
        let no_frames = Vec::new();
        for (id, thread) in shape.threads.iter().enumerate() {
            if self.program.functions.get(thread.kind as usize).is_none() {
                continue;
            }
            let id = id as u32;
            let below = shape.stacks.get(id as usize).unwrap_or(&no_frames);
            for (depth, frame) in below.iter().chain(std::iter::once(thread)).enumerate() {
                let function = &self.program.functions[frame.kind as usize];
                let layout = &self.layout.threads[frame.kind as usize];
                for (index, (variable, at)) in function.locals.iter().zip(&layout.locals).enumerate() {
                    if variable.scratch {
                        continue;
                    }
                    let owner = Owner::Local {
                        thread: id,
                        frame: depth as u32,
                        function: FunctionId(frame.kind),
                        variable: index as u32,
                    };
                    out.push(part(owner, self.raw(state, &variable.ty, frame.at + at)));
                }
            }
            if let Some(at) = self.layout.threads[thread.kind as usize].priority {
                let value = read(state, thread.at + at, Cell::U8(u8::MAX));
                let ty = Type::Int(quotient_program::IntType::BYTE);
                out.push(part(Owner::Priority(id), Raw::Scalar(ty, value)));
            }
        }
        for (index, channel) in shape.channels.iter().enumerate() {
            let number = index as i32 + 1;
            let owner = Owner::Channel(number, ChannelTypeId(channel.kind));
            out.push(part(owner, self.raw_messages(state, number, ChannelTypeId(channel.kind))));
        }
        for (index, object) in shape.objects.iter().enumerate() {
            let number = index as i32 + 1;
            let kind = Kind(object.kind);
            let lock = self.layout.has_lock(kind).then(|| self.holder_at(state, object.at));
            let (what, value) = match kind.object() {
                Object::Free => continue,
                Object::Deleted => (ObjectKind::Deleted, Raw::Deleted),
                Object::Lock => {
                    let (holder, count) = self.holder_at(state, object.at);
                    (ObjectKind::Lock, Raw::Lock(holder, count))
                }
                Object::Record(id) => {
                    let layout = &self.layout.objects.records[id.0 as usize];
                    let fields = self.program.all_fields(id).into_iter().map(|(declared_in, field)| {
                        let variable = &self.program.record(declared_in).fields[field as usize];
                        let at = object.at + layout.fields[&(declared_in, field)];
                        (variable.name.clone(), self.raw(state, &variable.ty, at))
                    });
                    (ObjectKind::Record(id), Raw::Fields(fields.collect()))
                }
                Object::Array(id, length) => {
                    let layout = &self.layout.objects.arrays[id.0 as usize];
                    let element = &self.program.array_types[id.0 as usize].element;
                    let at = |i: u32| object.at + layout.header + i * layout.size;
                    let elements = (0..length).map(|i| self.raw(state, element, at(i)));
                    (ObjectKind::Array(id), Raw::Array(elements.collect()))
                }
                Object::Channel(id) => (ObjectKind::Channel(id), self.raw_messages(state, number, id)),
                Object::Collection(id, rows) => {
                    let layout = &self.layout.objects.collections[id.0 as usize];
                    let columns = &self.program.collection_types[id.0 as usize].columns;
                    let row = |r: u32| {
                        let cells = layout.cells.iter().zip(columns);
                        let at = |offset: u32| object.at + r * layout.size + offset;
                        cells
                            .map(|((offset, cell), ty)| {
                                Raw::Scalar(ty.clone(), read(state, at(*offset), *cell))
                            })
                            .collect()
                    };
                    (ObjectKind::Collection(id), Raw::Rows((0..rows).map(row).collect()))
                }
            };
            out.push(Part { owner: Owner::Object(number, what), value, lock });
        }
        out
    }

    /// The value of this type at a byte of a state.
    fn raw(&self, state: &[u64], ty: &Type, at: u32) -> Raw {
        match ty {
            Type::Array(element, length) => {
                let size = size_of_type(&self.program, element);
                Raw::Array((0..*length).map(|i| self.raw(state, element, at + i * size)).collect())
            }
            Type::Structure(id) => {
                let mut at = at;
                let fields = self.program.structure(*id).fields.iter().map(|field| {
                    let value = self.raw(state, &field.ty, at);
                    at += size_of_type(&self.program, &field.ty);
                    (field.name.clone(), value)
                });
                Raw::Fields(fields.collect())
            }
            scalar => Raw::Scalar(scalar.clone(), read(state, at, Cell::of(scalar))),
        }
    }

    fn raw_messages(&self, state: &[u64], number: i32, kind: ChannelTypeId) -> Raw {
        let memory = state.as_ptr().cast::<u8>().cast_mut();
        let Some(channel) = self.channel(memory, number) else { return Raw::Messages(Vec::new()) };
        let types = &self.program.channel_types[kind.0 as usize].fields;
        let message = |position| {
            let fields = types.iter().enumerate();
            fields.map(|(f, ty)| Raw::Scalar(ty.clone(), channel.field(position, f))).collect()
        };
        Raw::Messages((0..channel.length()).map(message).collect())
    }

    /// Who holds the lock at a byte of a state, and how often.
    fn holder_at(&self, state: &[u64], at: u32) -> (Option<u32>, u32) {
        let byte = |at| read(state, at, Cell::U8(u8::MAX)) as u32;
        (byte(at).checked_sub(1), byte(at + 1))
    }
}
