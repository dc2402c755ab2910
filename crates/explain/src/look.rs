//! A state, looked at: its parts in the user's names.

use std::collections::HashMap;

use quotient_machine::{Machine, ObjectKind, ObjectNames, Owner, Raw, StatePart};
use quotient_outcome::Value;
use quotient_program::{ChannelType, Program, Type};

/// Where a leaf of a state belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    /// A global variable.
    Global,
    /// A channel.
    Channel,
    /// A process or thread, by its number.
    Process(u32),
    /// An object, by its name.
    Object(String),
}

/// A value that can be set by itself: a scalar, the messages of a channel, the rows of a collection, a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Where it belongs.
    pub group: Group,
    /// The variable that it is part of, with its type a tree of such leaves; within its group.
    pub variable: String,
    /// Its name within its group: `flag[1]`.
    pub name: String,
    /// Its name in the whole state: `user(1).k`.
    pub full: String,
    /// Its value.
    pub value: Value,
}

/// A state, the machine that it belongs to, and what its objects have been called so far.
pub struct Look<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The state.
    pub state: &'a [u64],
    /// Names; they must have met the state.
    pub names: &'a ObjectNames,
    parts: Vec<StatePart>,
    globals: HashMap<u32, usize>,
    /// By thread and variable, of the topmost frame.
    locals: HashMap<(u32, u32), usize>,
    channels: HashMap<i32, usize>,
    objects: HashMap<i32, usize>,
}

impl<'a> Look<'a> {
    /// Looks at a state.
    pub fn new(machine: &'a Machine, state: &'a [u64], names: &'a ObjectNames) -> Look<'a> {
        let parts = machine.view(state);
        let (mut globals, mut locals) = (HashMap::new(), HashMap::new());
        let (mut channels, mut objects) = (HashMap::new(), HashMap::new());
        for (index, part) in parts.iter().enumerate() {
            match part.owner {
                Owner::Global(variable) => drop(globals.insert(variable, index)),
                // Frames come from the outermost on: the topmost one stays.
                Owner::Local { thread, variable, .. } => drop(locals.insert((thread, variable), index)),
                Owner::Channel(number, _) => drop(channels.insert(number, index)),
                Owner::Object(number, _) => drop(objects.insert(number, index)),
                Owner::Priority(_) => {}
            }
        }
        Look { machine, state, names, parts, globals, locals, channels, objects }
    }

    /// The program.
    pub fn program(&self) -> &'a Program {
        self.machine.program()
    }

    /// The name of a thread.
    pub fn thread(&self, id: u32) -> String {
        self.machine.thread_name(self.state, id, self.names)
    }

    /// What a local variable is called: what stands before its name within its thread, and that name. Variables of functions that a thread
    /// has called have the functions in their names: `MAIN(0)/insert.node`.
    pub(crate) fn local_name(&self, thread: u32, frame: usize, variable: &str) -> (String, String) {
        let owner = self.thread(thread);
        if frame == 0 {
            return (format!("{owner}."), variable.to_owned());
        }
        let frames: Vec<_> = self.machine.frames_at(self.state, thread as usize).collect();
        let called = frames.iter().rev().skip(1).take(frame);
        let called = called.map(|f| self.program().functions[f.function as usize].name.as_str());
        (format!("{owner}/"), format!("{}.{variable}", called.collect::<Vec<_>>().join("/")))
    }

    pub(crate) fn global(&self, variable: u32) -> Option<&Raw> {
        self.globals.get(&variable).map(|i| &self.parts[*i].value)
    }

    /// A local of a thread's topmost frame.
    pub(crate) fn local(&self, thread: u32, variable: u32) -> Option<&Raw> {
        self.locals.get(&(thread, variable)).map(|i| &self.parts[*i].value)
    }

    /// An object.
    pub(crate) fn object(&self, reference: i32) -> Option<&StatePart> {
        self.objects.get(&reference).map(|i| &self.parts[*i])
    }

    /// A channel: one that was made for a variable, or an object; with what it is.
    fn channel_part(&self, number: i32) -> Option<(&Vec<Vec<Raw>>, &'a ChannelType)> {
        let index = self.channels.get(&number).or_else(|| self.objects.get(&number))?;
        let part = &self.parts[*index];
        let (Owner::Channel(_, kind) | Owner::Object(_, ObjectKind::Channel(kind))) = part.owner else {
            return None;
        };
        match &part.value {
            Raw::Messages(messages) => Some((messages, &self.program().channel_types[kind.0 as usize])),
            _ => None,
        }
    }

    /// The messages of a channel, and how many it can hold.
    pub(crate) fn channel(&self, number: i32) -> Option<(&Vec<Vec<Raw>>, u32)> {
        self.channel_part(number).map(|(messages, kind)| (messages, kind.capacity))
    }

    /// The types of a channel's fields.
    pub(crate) fn channel_fields(&self, number: i32) -> &'a [Type] {
        self.channel_part(number).map_or(&[], |(_, kind)| &kind.fields)
    }

    /// What a channel is called.
    pub fn channel_name(&self, number: i32) -> String {
        if number == 0 {
            return "none".to_owned();
        }
        if self.objects.contains_key(&number) {
            return self.names.of(number);
        }
        self.machine.channel_name(self.state, number, self.names)
    }

    /// A scalar in the user's terms.
    pub fn scalar(&self, ty: &Type, value: i32) -> Value {
        match ty {
            Type::Enumeration(id) => {
                let name = self.program().enumerations[id.0 as usize].name_of(value);
                name.map_or(Value::Number(value.into()), |name| Value::Constant(name.to_owned()))
            }
            Type::Int(int) if !int.signed && int.bits == 32 => Value::Number((value as u32).into()),
            Type::Channel | Type::Reference(_) | Type::Thread | Type::Function if value == 0 => {
                Value::Nothing
            }
            Type::Channel => Value::Reference(self.channel_name(value)),
            Type::Reference(_) => Value::Reference(self.names.of(value)),
            Type::Thread => Value::Process(self.thread(value as u32 - 1), value as u32 - 1),
            Type::Function => {
                let function = self.program().functions.get(value as usize - 1);
                Value::Reference(function.map_or_else(String::new, |f| f.name.clone()))
            }
            _ => Value::Number(value.into()),
        }
    }

    /// A value in the user's terms.
    pub fn value(&self, raw: &Raw) -> Value {
        let row = |row: &Vec<Raw>| row.iter().map(|r| self.value(r)).collect::<Vec<_>>();
        match raw {
            Raw::Scalar(ty, value) => self.scalar(ty, *value),
            Raw::Array(values) => Value::List(values.iter().map(|v| self.value(v)).collect()),
            Raw::Fields(fields) => {
                Value::Fields(fields.iter().map(|(name, v)| (name.clone(), self.value(v))).collect())
            }
            Raw::Messages(messages) => Value::Messages(messages.iter().map(row).collect()),
            Raw::Rows(rows) => Value::Rows(rows.iter().map(row).collect()),
            Raw::Lock(holder, count) => Value::Lock(holder.map(|h| (self.thread(h), h)), *count),
            Raw::Deleted => Value::Deleted,
        }
    }

    /// Every leaf of the state, in the order of its parts.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut out = Vec::new();
        self.parts.iter().for_each(|part| self.leaves_of(part, &mut out));
        out
    }

    /// The leaves of the parts in which two states differ, of the one and of the other; and whether these are all leaves, since the two do not
    /// have the same parts.
    pub(crate) fn unlike(&self, other: &Look<'_>) -> (Vec<Leaf>, Vec<Leaf>, bool) {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        let alike = self.parts.len() == other.parts.len()
            && self.parts.iter().zip(&other.parts).all(|(a, b)| a.owner == b.owner);
        if !alike {
            return (self.leaves(), other.leaves(), true);
        }
        for (a, b) in self.parts.iter().zip(&other.parts).filter(|(a, b)| a != b) {
            self.leaves_of(a, &mut own);
            other.leaves_of(b, &mut others);
        }
        (own, others, false)
    }

    fn leaves_of(&self, part: &StatePart, out: &mut Vec<Leaf>) {
        let program = self.program();
        match &part.owner {
            Owner::Global(index) => {
                let name = &program.globals[*index as usize].name;
                self.spread(&Group::Global, "", name, name, &part.value, out);
            }
            Owner::Local { thread, frame, function, variable } => {
                let variable = program.function(*function).local_name(*variable as usize);
                let (prefix, name) = self.local_name(*thread, *frame as usize, &variable);
                self.spread(&Group::Process(*thread), &prefix, &name, &name, &part.value, out);
            }
            Owner::Priority(thread) => {
                let group = Group::Process(*thread);
                let prefix = format!("{}.", self.thread(*thread));
                self.spread(&group, &prefix, "_priority", "_priority", &part.value, out);
            }
            Owner::Channel(number, _) => {
                let name = self.channel_name(*number);
                self.spread(&Group::Channel, "", &name, &name, &part.value, out);
            }
            Owner::Object(number, _) => {
                let object = self.names.of(*number);
                let group = Group::Object(object.clone());
                if let Some((holder, count)) = part.lock {
                    let lock = Raw::Lock(holder, count);
                    self.spread(&group, &format!("{object}."), "lock", "lock", &lock, out);
                }
                match &part.value {
                    Raw::Fields(fields) => {
                        for (name, value) in fields {
                            self.spread(&group, &format!("{object}."), name, name, value, out);
                        }
                    }
                    Raw::Lock(..) => {}
                    // What `new T` makes is shown without an index.
                    Raw::Array(elements) if elements.len() == 1 => {
                        self.spread(&group, "", &object, &object, &elements[0], out);
                    }
                    value => self.spread(&group, "", &object, &object, value, out),
                }
            }
        }
    }

    fn spread(
        &self,
        group: &Group,
        prefix: &str,
        variable: &str,
        name: &str,
        raw: &Raw,
        out: &mut Vec<Leaf>,
    ) {
        match raw {
            Raw::Array(values) => {
                for (index, value) in values.iter().enumerate() {
                    self.spread(group, prefix, variable, &format!("{name}[{index}]"), value, out);
                }
            }
            Raw::Fields(fields) => {
                for (field, value) in fields {
                    self.spread(group, prefix, variable, &format!("{name}.{field}"), value, out);
                }
            }
            // A variable that was given its own channel and still holds it says nothing new: the channel has its name.
            Raw::Scalar(Type::Channel, number)
                if *number != 0 && self.channel_name(*number) == format!("{prefix}{name}") => {}
            leaf => out.push(Leaf {
                group: group.clone(),
                variable: variable.to_owned(),
                name: name.to_owned(),
                full: format!("{prefix}{name}"),
                value: self.value(leaf),
            }),
        }
    }
}
