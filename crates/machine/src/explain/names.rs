//! Objects in the user's names: `Node#2` is the second `Node` made on a trace.
//!
//! An object has one name from the step that makes it to the last state in which it exists. Its number in the states says
//! which object it is from one state to the next; when the number is used again after the object is gone, that is another
//! object with another name. The same holds for threads: `worker(1)#2` is the second one with the number 1.

use std::collections::HashMap;

use quotient_program::{Program, Type};

use crate::explain::inspect::Value;
use crate::machine::Machine;
use crate::state::cell::Cell;
use crate::state::kind::{Kind, Object};
use crate::state::shapes::WORKING;
use crate::step::eval::read;

/// The names of objects and threads along a path.
#[derive(Clone, Debug, Default)]
pub struct ObjectNames {
    /// By number, from 1 on.
    names: Vec<Option<String>>,
    /// By id.
    threads: Vec<Option<String>>,
    /// How many of each type, and threads with each number, were named.
    counts: HashMap<String, u32>,
}

impl ObjectNames {
    /// Takes note of the next state of the path.
    pub fn meet(&mut self, machine: &Machine, state: &[u64]) {
        self.meet_threads(machine, state);
        let objects = &machine.shape_at(state.as_ptr().cast()).objects;
        self.names.resize(objects.len(), None);
        for (name, object) in self.names.iter_mut().zip(objects) {
            match Kind(object.kind).object() {
                Object::Free => *name = None,
                // It keeps its name while somebody can still mention it.
                Object::Deleted => {}
                kind if name.is_none() => {
                    let base = type_name(&machine.program, kind);
                    let count = self.counts.entry(base.clone()).or_default();
                    *count += 1;
                    *name = Some(format!("{base}#{count}"));
                }
                _ => {}
            }
        }
    }

    fn meet_threads(&mut self, machine: &Machine, state: &[u64]) {
        let count = machine.shape_at(state.as_ptr().cast()).threads.len();
        let mut there = vec![false; count];
        self.threads.resize(count, None);
        for thread in machine.threads(state) {
            let (id, body) = (thread.id as usize, thread.body);
            there[id] = true;
            if self.threads[id].is_none() {
                let base = machine.plain_name(id, body);
                // Another thread with this number counts, whatever it was started with.
                let number = self.counts.entry(format!("({id})")).or_default();
                *number += 1;
                self.threads[id] = Some(if *number == 1 { base } else { format!("{base}#{number}") });
            }
        }
        for (name, _) in self.threads.iter_mut().zip(there).filter(|(_, there)| !there) {
            *name = None;
        }
    }

    /// The name of a thread of the last state met.
    pub fn thread(&self, id: u32) -> Option<&str> {
        self.threads.get(id as usize)?.as_deref()
    }

    /// The name of the object a reference leads to.
    pub fn of(&self, reference: i32) -> String {
        match (reference as usize).checked_sub(1).map(|i| self.names.get(i)) {
            None => "null".into(),
            Some(Some(Some(name))) => name.clone(),
            Some(_) => format!("object {reference}"),
        }
    }
}

fn type_name(program: &Program, kind: Object) -> String {
    match kind {
        Object::Free | Object::Deleted => String::new(),
        Object::Record(id) => program.record(id).name.clone(),
        Object::Array(id, _) => program.array_types[id.0 as usize].name.clone(),
        Object::Channel(_) => "chan".into(),
        Object::Lock => "lock".into(),
        Object::Collection(id, _) => program.collection_types[id.0 as usize].name.clone(),
    }
}

impl Machine {
    /// The shape of a state, which must be a normal one.
    pub(crate) fn inspected(&self, state: &[u64]) -> bool {
        self.shape_number(state.as_ptr().cast()) != WORKING
    }

    /// The text of a value that names an object, a thread or a function.
    pub(crate) fn opaque_text(
        &self,
        state: &[u64],
        ty: &Type,
        value: i32,
        names: &ObjectNames,
    ) -> Option<String> {
        Some(match ty {
            Type::Reference(_) => {
                let kind = self.object_at(state.as_ptr().cast(), value).map(|(kind, _)| kind);
                match kind {
                    Some(Kind::DELETED) => format!("{} (deleted)", names.of(value)),
                    _ => names.of(value),
                }
            }
            Type::Thread if value == 0 => "none".into(),
            Type::Thread => self.thread_text(state, value, names),
            Type::Function if value == 0 => "none".into(),
            Type::Function => {
                self.program.functions.get(value as usize - 1).map_or_else(String::new, |f| f.name.clone())
            }
            _ => return None,
        })
    }

    /// A thread by what it was started with, whatever it is calling. `id` counts from 1.
    fn thread_text(&self, state: &[u64], id: i32, names: &ObjectNames) -> String {
        self.thread_name(state, id as u32 - 1, names)
    }

    /// The name of a thread: the one it has had so far, if `names` has met the state.
    pub fn thread_name(&self, state: &[u64], id: u32, names: &ObjectNames) -> String {
        if let Some(name) = names.thread(id) {
            return name.to_owned();
        }
        let body = self.outermost(state.as_ptr().cast(), id as usize).map(|frame| frame.kind);
        body.map_or_else(|| format!("ended({id})"), |body| self.plain_name(id as usize, body))
    }

    /// A thread's name by its number and what it was started with.
    fn plain_name(&self, id: usize, body: u32) -> String {
        if let Some(name) = self.program.names.get(id) {
            return name.clone();
        }
        let name = match self.program.functions.get(body as usize).map(|f| f.name.as_str()) {
            None => "ended",
            Some(":init:") => "init",
            Some(name) => name,
        };
        format!("{name}({id})")
    }

    /// The objects of a state.
    pub(crate) fn object_values(&self, state: &[u64], names: &ObjectNames, out: &mut Vec<Value>) {
        let shape = self.shape_at(state.as_ptr().cast());
        for (index, object) in shape.objects.iter().enumerate() {
            let name = names.of(index as i32 + 1);
            let kind = Kind(object.kind);
            if self.layout.has_lock(kind) {
                out.push(Value {
                    name: format!("{name}.lock"),
                    text: self.lock_text(state, object.at, names),
                });
            }
            match kind.object() {
                Object::Free | Object::Lock => {}
                Object::Deleted => out.push(Value { name, text: "deleted".into() }),
                Object::Record(id) => {
                    let layout = &self.layout.objects.records[id.0 as usize];
                    for (declared_in, field) in self.program.all_fields(id) {
                        let variable = &self.program.record(declared_in).fields[field as usize];
                        let at = object.at + layout.fields[&(declared_in, field)];
                        self.value(state, &format!("{name}.{}", variable.name), &variable.ty, at, names, out);
                    }
                }
                Object::Array(id, length) => {
                    let layout = &self.layout.objects.arrays[id.0 as usize];
                    let element = &self.program.array_types[id.0 as usize].element;
                    for i in 0..length {
                        // What `new T` makes is shown without an index.
                        let place = if length == 1 { name.clone() } else { format!("{name}[{i}]") };
                        let at = object.at + layout.header + i * layout.size;
                        self.value(state, &place, element, at, names, out);
                    }
                }
                Object::Channel(_) => {
                    let text = self.channel_text(state, index as i32 + 1, names);
                    out.push(Value { name, text });
                }
                Object::Collection(id, rows) => {
                    let layout = &self.layout.objects.collections[id.0 as usize];
                    let columns = &self.program.collection_types[id.0 as usize].columns;
                    let row = |r: u32| {
                        let cells = layout.cells.iter().zip(columns).map(|((offset, cell), ty)| {
                            let value = read(state, object.at + r * layout.size + offset, *cell);
                            self.scalar(state, ty, value, names)
                        });
                        cells.collect::<Vec<_>>().join(" -> ")
                    };
                    let text = (0..rows).map(row).collect::<Vec<_>>().join(", ");
                    out.push(Value { name, text: format!("{{{text}}}") });
                }
            }
        }
    }

    fn lock_text(&self, state: &[u64], at: u32, names: &ObjectNames) -> String {
        let byte = |at| read(state, at, Cell::U8(u8::MAX));
        match (byte(at), byte(at + 1)) {
            (0, _) => "free".into(),
            (holder, 1) => format!("held by {}", self.thread_text(state, holder, names)),
            (holder, count) => format!("held by {} ({count} times)", self.thread_text(state, holder, names)),
        }
    }
}
