//! States in the user's names, for traces.

use quotient_program::{Function, Location, Program, Transformation, Type};

use crate::explain::names::ObjectNames;
use crate::machine::Machine;
use crate::state::cell::{Cell, size_of_type};
use crate::state::kind::{Kind, Object};
use crate::step::eval::read;

/// One named scalar of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its name: `x`, `a[2]`, `s.f`, `worker[1].i`.
    pub name: String,
    /// Its value, as the user would write it.
    pub text: String,
}

/// A thread of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadView {
    /// Its id.
    pub id: u32,
    /// Index of its function.
    pub function: u32,
    /// Its location.
    pub location: u32,
    /// Index of the function it was started with: another one than `function` during a call.
    pub body: u32,
}

impl Machine {
    /// The function, its location and the transformation with this number.
    pub fn transformation(&self, number: u32) -> Option<(&Function, &Location, &Transformation)> {
        let mut left = number as usize;
        for function in self.program.readers() {
            for location in &function.locations {
                match location.transformations.get(left) {
                    Some(t) => return Some((function, location, t)),
                    None => left -= location.transformations.len(),
                }
            }
        }
        None
    }

    /// The threads of a state.
    pub fn threads(&self, state: &[u64]) -> Vec<ThreadView> {
        let memory = state.as_ptr().cast::<u8>();
        let threads = self.shape_at(memory).threads.iter().enumerate();
        let running = threads.filter(|(_, t)| (t.kind as usize) < self.program.functions.len());
        running
            .map(|(id, t)| ThreadView {
                id: id as u32,
                function: t.kind,
                // An exception that nobody catches leaves a frame that still waits for its call.
                location: self.origin(memory, *t),
                body: self.outermost(memory, id).map_or(t.kind, |f| f.kind),
            })
            .collect()
    }

    /// Every variable, channel and object of a state. Locals are prefixed with their thread's name and id, and with the
    /// names of the functions whose frames they are in. `names` must have met the state.
    pub fn values(&self, state: &[u64], names: &ObjectNames) -> Vec<Value> {
        let mut out = Vec::new();
        let shape = self.shape_at(state.as_ptr().cast());
        for (variable, at) in self.program.globals.iter().zip(&self.layout.globals) {
            if !variable.scratch {
                self.value(state, &variable.name, &variable.ty, *at, names, &mut out);
            }
        }
        for (id, thread) in shape.threads.iter().enumerate() {
            if self.program.functions.get(thread.kind as usize).is_none() {
                continue;
            }
            let layout = &self.layout.threads[thread.kind as usize];
            let mut prefix = String::new();
            for frame in shape.stacks[id].iter().chain([thread]) {
                let function = &self.program.functions[frame.kind as usize];
                prefix = match prefix.as_str() {
                    "" => self.thread_name(state, id as u32, names),
                    outer => format!("{outer}/{}", function.name),
                };
                let layout = &self.layout.threads[frame.kind as usize];
                let places = function.local_names().into_iter().zip(&layout.locals);
                for ((name, at), variable) in places.zip(&function.locals).filter(|(_, v)| !v.scratch) {
                    let name = format!("{prefix}.{name}");
                    self.value(state, &name, &variable.ty, frame.at + at, names, &mut out);
                }
            }
            if let Some(at) = layout.priority {
                let text = read(state, thread.at + at, Cell::U8(u8::MAX)).to_string();
                let name = self.thread_name(state, id as u32, names);
                out.push(Value { name: format!("{name}._priority"), text });
            }
        }
        for index in 0..shape.channels.len() {
            out.push(Value {
                name: self.channel_name(state, index as i32 + 1, names),
                text: self.channel_text(state, index as i32 + 1, names),
            });
        }
        if self.inspected(state) {
            self.object_values(state, names, &mut out);
        }
        out
    }

    pub(crate) fn value(
        &self,
        state: &[u64],
        name: &str,
        ty: &Type,
        at: u32,
        names: &ObjectNames,
        out: &mut Vec<Value>,
    ) {
        match ty {
            Type::Array(element, length) => {
                let size = size_of_type(&self.program, element);
                for index in 0..*length {
                    self.value(state, &format!("{name}[{index}]"), element, at + index * size, names, out);
                }
            }
            Type::Structure(id) => {
                let mut at = at;
                for field in &self.program.structure(*id).fields {
                    self.value(state, &format!("{name}.{}", field.name), &field.ty, at, names, out);
                    at += size_of_type(&self.program, &field.ty);
                }
            }
            scalar => {
                let value = read(state, at, Cell::of(scalar));
                let text = match scalar {
                    // A variable that was given its own channel and still holds it says nothing new.
                    Type::Channel if self.own_channel(state, at) == Some(value) => return,
                    Type::Channel if value == 0 => "none".into(),
                    Type::Channel => self.channel_name(state, value, names),
                    other => self.scalar(state, other, value, names),
                };
                out.push(Value { name: name.into(), text });
            }
        }
    }

    /// The number of the channel that was made for the variable at a byte of the state.
    fn own_channel(&self, state: &[u64], at: u32) -> Option<i32> {
        let shape = self.shape_at(state.as_ptr().cast());
        let own = shape.channel_variables(&self.layout).position(|(_, place)| place == at);
        own.map(|index| index as i32 + 1)
    }

    /// A channel is called after the variable it was made for.
    pub fn channel_name(&self, state: &[u64], number: i32, names: &ObjectNames) -> String {
        let shape = self.shape_at(state.as_ptr().cast());
        let unknown = || format!("channel {number}");
        let Some(index) = (number as usize).checked_sub(1) else { return unknown() };
        match shape.channel_variables(&self.layout).nth(index) {
            None => unknown(),
            Some((None, place)) => {
                let named = self.program.globals.iter().zip(&self.layout.globals);
                self.name_at(named, place).unwrap_or_else(unknown)
            }
            Some((Some(id), place)) => {
                let thread = shape.threads[id];
                let locals = &self.program.functions[thread.kind as usize].locals;
                let layout = &self.layout.threads[thread.kind as usize];
                let name = self.name_at(locals.iter().zip(&layout.locals), place - thread.at);
                format!("{}.{}", self.thread_name(state, id as u32, names), name.unwrap_or_default())
            }
        }
    }

    fn name_at<'a>(
        &self,
        variables: impl Iterator<Item = (&'a quotient_program::Variable, &'a u32)>,
        place: u32,
    ) -> Option<String> {
        for (variable, at) in variables {
            let size = size_of_type(&self.program, &variable.ty);
            if (*at..*at + size).contains(&place) {
                return Some(variable.name.clone() + &self.path_to(&variable.ty, place - at));
            }
        }
        None
    }

    /// How the scalar at a byte of a value of this type is reached: `[2].ack`.
    fn path_to(&self, ty: &Type, byte: u32) -> String {
        match ty {
            Type::Array(element, _) => {
                let each = size_of_type(&self.program, element).max(1);
                format!("[{}]{}", byte / each, self.path_to(element, byte % each))
            }
            Type::Structure(id) => {
                let mut at = 0;
                for field in &self.program.structure(*id).fields {
                    let size = size_of_type(&self.program, &field.ty);
                    if byte < at + size {
                        return format!(".{}{}", field.name, self.path_to(&field.ty, byte - at));
                    }
                    at += size;
                }
                String::new()
            }
            _ => String::new(),
        }
    }

    /// A single value.
    pub(crate) fn scalar(&self, state: &[u64], ty: &Type, value: i32, names: &ObjectNames) -> String {
        let opaque = self.opaque_text(state, ty, value, names);
        opaque.unwrap_or_else(|| scalar_text(&self.program, ty, value))
    }

    pub(crate) fn channel_text(&self, state: &[u64], number: i32, names: &ObjectNames) -> String {
        let memory = state.as_ptr().cast::<u8>().cast_mut();
        let Some(channel) = self.channel(memory, number) else { return "none".into() };
        let shape = self.shape_at(memory);
        let kind = match shape.channels.get(number as usize - 1) {
            Some(instance) => instance.kind,
            None => match Kind(shape.objects[number as usize - 1].kind).object() {
                Object::Channel(id) => id.0,
                _ => return "none".into(),
            },
        };
        let types = &self.program.channel_types[kind as usize].fields;
        let messages: Vec<String> = (0..channel.length())
            .map(|position| {
                let fields: Vec<String> = types
                    .iter()
                    .enumerate()
                    .map(|(f, ty)| match ty {
                        Type::Channel => self.channel_name(state, channel.field(position, f), names),
                        ty => self.scalar(state, ty, channel.field(position, f), names),
                    })
                    .collect();
                if fields.len() == 1 { fields[0].clone() } else { format!("({})", fields.join(",")) }
            })
            .collect();
        format!("[{}]", messages.join(" "))
    }
}

fn scalar_text(program: &Program, ty: &Type, value: i32) -> String {
    match ty {
        Type::Enumeration(id) => program.enumerations[id.0 as usize]
            .name_of(value)
            .map_or_else(|| value.to_string(), str::to_owned),
        Type::Int(int) if !int.signed && int.bits == 32 => (value as u32).to_string(),
        _ => value.to_string(),
    }
}
