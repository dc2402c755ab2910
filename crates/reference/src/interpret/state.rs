//! States, and the evaluation of expressions in them.

use super::Fault;
use super::resolved::*;
use super::table::Table;
use quotient_promela::ast::{BinaryOp, UnaryOp};

/// A process.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub proctype: usize,
    /// The control element it stands at.
    pub at: usize,
    pub locals: Vec<i32>,
    /// Channels with this number and above die with the process.
    pub first_channel: usize,
}

/// A channel. A message of a rendezvous is in it only during the hand-shake.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Channel {
    /// Index into [`Program::channel_types`].
    pub ty: usize,
    pub messages: Vec<Vec<i32>>,
}

/// What distinguishes one stored state from another.
#[derive(Debug, PartialEq, Eq, Hash, Default)]
pub(super) struct Stored {
    pub globals: Vec<i32>,
    pub processes: Vec<Process>,
    pub channels: Vec<Channel>,
}

/// A state.
#[derive(Debug, Default)]
pub(super) struct State {
    pub stored: Stored,
    pub hidden: Vec<i32>,
    /// The rendezvous channel on which a message has been offered and not yet accepted.
    pub handshake: Option<usize>,
    /// Faults met on the way here, after which the path goes on.
    pub noted: Vec<Fault>,
}

/// Copies that keep the memory of what they are written over: a copy is made for every statement that is tried.
macro_rules! copied {
    ($($name:ident { $($field:ident),* })*) => { $(
        impl Clone for $name {
            fn clone(&self) -> $name {
                $name { $($field: self.$field.clone()),* }
            }

            fn clone_from(&mut self, from: &$name) {
                $(self.$field.clone_from(&from.$field);)*
            }
        }
    )* };
}

copied! {
    Process { proctype, at, locals, first_channel }
    Channel { ty, messages }
    Stored { globals, processes, channels }
    State { stored, hidden, handshake, noted }
}

/// A proctype.
#[derive(Clone, Debug)]
pub(super) struct Proctype {
    pub table: Table,
    /// Kinds of the parameters, which are the first cells.
    pub parameters: Vec<Kind>,
    pub cells: usize,
    pub initialise: Vec<Initialise>,
    pub provided: Option<Value>,
}

/// A program.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub proctypes: Vec<Proctype>,
    pub channel_types: Vec<ChannelType>,
}

impl Program {
    /// The number of a channel type.
    pub fn channel_type(&self, ty: &ChannelType) -> usize {
        // Every type was entered when the program was built.
        self.channel_types.iter().position(|t| t == ty).unwrap_or(0)
    }
}

/// A state with the process that acts in it.
pub(super) struct Context<'a> {
    pub program: &'a Program,
    pub state: &'a mut State,
    pub me: usize,
    /// Nothing else can happen.
    pub timeout: bool,
}

impl Context<'_> {
    fn cell(&mut self, place: &Place, owner: usize) -> Result<&mut i32, Fault> {
        let mut at = place.base;
        for index in &place.indices {
            let value = self.value(&index.value)?;
            if value < 0 || value as usize >= index.length {
                return Err(Fault::IndexOutOfBounds);
            }
            at += value as usize * index.stride;
        }
        Ok(match place.store {
            Store::Global => &mut self.state.stored.globals[at],
            Store::Hidden => &mut self.state.hidden[at],
            Store::Local => &mut self.state.stored.processes[owner].locals[at],
        })
    }

    pub fn read(&mut self, place: &Place) -> Result<i32, Fault> {
        self.cell(place, self.me).map(|cell| *cell)
    }

    pub fn write(&mut self, place: &Place, value: i32) -> Result<(), Fault> {
        *self.cell(place, self.me)? = place.kind.wrap(value);
        Ok(())
    }

    /// The channel a variable refers to, from 0.
    pub fn channel(&mut self, place: &Place) -> Result<usize, Fault> {
        match self.read(place)? {
            0 => Err(Fault::UninitialisedChannel),
            n if n as usize > self.state.stored.channels.len() => Err(Fault::DeadChannel),
            n => Ok(n as usize - 1),
        }
    }

    pub fn channel_type(&self, channel: usize) -> &ChannelType {
        &self.program.channel_types[self.state.stored.channels[channel].ty]
    }

    pub fn length(&self, channel: usize) -> usize {
        self.state.stored.channels[channel].messages.len()
    }

    pub fn is_full(&self, channel: usize) -> bool {
        self.length(channel) >= self.channel_type(channel).capacity.max(1)
    }

    pub fn truth(&mut self, value: &Value) -> Result<bool, Fault> {
        Ok(self.value(value)? != 0)
    }

    /// The value of an expression. `run` is the only one with an effect.
    pub fn value(&mut self, value: &Value) -> Result<i32, Fault> {
        Ok(match value {
            Value::Number(n) => *n,
            Value::Place(place) => self.read(place)?,
            Value::Pid => self.me as i32,
            Value::Processes => self.state.stored.processes.len() as i32,
            Value::Unary(op, operand) => {
                let operand = self.value(operand)?;
                prefix(*op, operand)
            }
            Value::Binary(BinaryOp::And, left, right) => (self.truth(left)? && self.truth(right)?) as i32,
            Value::Binary(BinaryOp::Or, left, right) => (self.truth(left)? || self.truth(right)?) as i32,
            Value::Binary(op, left, right) => {
                let left = self.value(left)?;
                let right = self.value(right)?;
                arithmetic(*op, left, right)?
            }
            Value::Conditional(condition, yes, no) => {
                if self.truth(condition)? {
                    self.value(yes)?
                } else {
                    self.value(no)?
                }
            }
            Value::Run { proctype, args } => self.run(*proctype, args)? as i32,
            Value::Len(c) => {
                let channel = self.channel(c)?;
                self.length(channel) as i32
            }
            Value::Full(c) => {
                let channel = self.channel(c)?;
                self.is_full(channel) as i32
            }
            Value::Nfull(c) => {
                let channel = self.channel(c)?;
                !self.is_full(channel) as i32
            }
            Value::Empty(c) => {
                let channel = self.channel(c)?;
                (self.length(channel) == 0) as i32
            }
            Value::Nempty(c) => {
                let channel = self.channel(c)?;
                (self.length(channel) > 0) as i32
            }
            Value::Poll { channel, any, patterns } => {
                let channel = self.channel(channel)?;
                if self.channel_type(channel).capacity == 0 {
                    return Err(Fault::PolledRendezvous);
                }
                self.matching(channel, *any, patterns)?.is_some() as i32
            }
            Value::Timeout => self.timeout as i32,
            Value::RemoteLabel { proctype, pid, element } => {
                // A process that does not exist is at no label.
                let process = match self.remote(*proctype, pid) {
                    Ok(pid) => self.state.stored.processes.get(pid),
                    Err(Fault::NoSuchProcess) if pid.is_none() => None,
                    Err(fault) => return Err(fault),
                };
                process.is_some_and(|p| p.proctype == *proctype && p.at == *element) as i32
            }
            Value::RemoteVariable { proctype, pid, place } => {
                let pid = self.remote(*proctype, pid)?;
                match self.state.stored.processes.get(pid) {
                    Some(process) if process.proctype == *proctype => *self.cell(place, pid)?,
                    _ => return Err(Fault::NoSuchProcess),
                }
            }
        })
    }

    fn remote(&mut self, proctype: usize, pid: &Option<Box<Value>>) -> Result<usize, Fault> {
        match pid {
            Some(pid) => usize::try_from(self.value(pid)?).map_err(|_| Fault::NoSuchProcess),
            None => {
                let found = self.state.stored.processes.iter().position(|p| p.proctype == proctype);
                found.ok_or(Fault::NoSuchProcess)
            }
        }
    }

    /// The first message that matches: of all with `any`, else only the oldest is looked at.
    pub fn matching(
        &mut self,
        channel: usize,
        any: bool,
        patterns: &[Pattern],
    ) -> Result<Option<usize>, Fault> {
        let messages = self.state.stored.channels[channel].messages.clone();
        if !messages.is_empty() && patterns.len() > messages[0].len() {
            return Err(Fault::WrongNumberOfFields);
        }
        let considered = if any { messages.len() } else { messages.len().min(1) };
        'messages: for (slot, message) in messages.iter().take(considered).enumerate() {
            for (pattern, field) in patterns.iter().zip(message) {
                if let Pattern::Match(value) = pattern
                    && self.value(value)? != *field
                {
                    continue 'messages;
                }
            }
            return Ok(Some(slot));
        }
        Ok(None)
    }

    /// Starts a process; its number.
    pub fn run(&mut self, proctype: usize, args: &[Value]) -> Result<usize, Fault> {
        if self.state.stored.processes.len() >= 255 {
            return Err(Fault::TooManyProcesses);
        }
        let program = self.program;
        let definition = &program.proctypes[proctype];
        let mut locals = vec![0; definition.cells];
        for (cell, (kind, arg)) in definition.parameters.iter().zip(args).enumerate() {
            locals[cell] = kind.wrap(self.value(arg)?);
        }
        let pid = self.state.stored.processes.len();
        self.state.stored.processes.push(Process {
            proctype,
            at: definition.table.initial,
            locals,
            first_channel: self.state.stored.channels.len(),
        });
        let mut child = Context { program, state: self.state, me: pid, timeout: false };
        for initialise in &definition.initialise {
            child.initialise(initialise, Store::Local)?;
        }
        Ok(pid)
    }

    /// Gives a variable its first value; channels come into being.
    pub fn initialise(&mut self, initialise: &Initialise, store: Store) -> Result<(), Fault> {
        for element in 0..initialise.length {
            let value = match &initialise.with {
                InitialValue::Value(value) => self.value(value)?,
                InitialValue::List(values) => match values.get(element).or(values.last()) {
                    Some(value) => self.value(value)?,
                    None => 0,
                },
                InitialValue::Channel(ty) => {
                    let ty = self.program.channel_type(ty);
                    self.state.stored.channels.push(Channel { ty, messages: Vec::new() });
                    self.state.stored.channels.len() as i32
                }
            };
            let place =
                Place { store, base: initialise.base + element, indices: Vec::new(), kind: initialise.kind };
            self.write(&place, value)?;
        }
        Ok(())
    }
}

/// Arithmetic of C on 32-bit integers that wrap around.
pub(super) fn arithmetic(op: BinaryOp, left: i32, right: i32) -> Result<i32, Fault> {
    Ok(match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::Div => left.checked_div(right).ok_or(Fault::Division)?,
        BinaryOp::Mod => left.checked_rem(right).ok_or(Fault::Division)?,
        BinaryOp::Shl | BinaryOp::Shr if !(0..32).contains(&right) => return Err(Fault::Shift),
        BinaryOp::Shl => left << right,
        BinaryOp::Shr => left >> right,
        BinaryOp::Lt => (left < right) as i32,
        BinaryOp::Le => (left <= right) as i32,
        BinaryOp::Gt => (left > right) as i32,
        BinaryOp::Ge => (left >= right) as i32,
        BinaryOp::Eq => (left == right) as i32,
        BinaryOp::Ne => (left != right) as i32,
        BinaryOp::BitAnd => left & right,
        BinaryOp::BitXor => left ^ right,
        BinaryOp::BitOr => left | right,
        BinaryOp::And => (left != 0 && right != 0) as i32,
        BinaryOp::Or => (left != 0 || right != 0) as i32,
    })
}

/// A prefix operator, likewise.
pub(super) fn prefix(op: UnaryOp, operand: i32) -> i32 {
    match op {
        UnaryOp::Not => (operand == 0) as i32,
        UnaryOp::Complement => !operand,
        UnaryOp::Negate => operand.wrapping_neg(),
    }
}
