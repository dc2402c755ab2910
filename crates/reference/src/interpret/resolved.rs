//! Expressions and basic statements after name resolution: what the interpreter evaluates.

use quotient_promela::ast::{BinaryOp, UnaryOp};

/// How a cell stores a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `bit`, `bool`.
    Bit,
    /// `byte`, `pid`, `mtype`, `chan`; also an element of an array of bits, as SPIN stores those in bytes.
    Byte,
    /// `short`.
    Short,
    /// `int`.
    Int,
    /// `unsigned : n`.
    Unsigned(u32),
}

impl Kind {
    /// What remains of `value` once stored.
    pub fn wrap(self, value: i32) -> i32 {
        match self {
            Kind::Bit => value & 1,
            Kind::Byte => value & 0xff,
            Kind::Short => value as i16 as i32,
            Kind::Int => value,
            Kind::Unsigned(width) => (value as u32 & (((1u64 << width) - 1) as u32)) as i32,
        }
    }
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Store {
    Global,
    /// `hidden`: kept, but not part of the state.
    Hidden,
    Local,
}

/// `[index]` on the way to a cell.
#[derive(Clone, Debug)]
pub(super) struct Index {
    pub value: Value,
    pub length: usize,
    /// Cells per element.
    pub stride: usize,
}

/// A scalar variable, element or field.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub store: Store,
    pub base: usize,
    pub indices: Vec<Index>,
    pub kind: Kind,
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Number(i32),
    Place(Place),
    /// `_pid`.
    Pid,
    /// `_nr_pr`.
    Processes,
    Unary(UnaryOp, Box<Value>),
    Binary(BinaryOp, Box<Value>, Box<Value>),
    Conditional(Box<Value>, Box<Value>, Box<Value>),
    Run {
        proctype: usize,
        args: Vec<Value>,
    },
    Len(Place),
    Full(Place),
    Empty(Place),
    Nfull(Place),
    Nempty(Place),
    Poll {
        channel: Place,
        any: bool,
        patterns: Vec<Pattern>,
    },
    Timeout,
    /// Is the process at this control element of that proctype?
    RemoteLabel {
        proctype: usize,
        pid: Option<Box<Value>>,
        element: usize,
    },
    RemoteVariable {
        proctype: usize,
        pid: Option<Box<Value>>,
        place: Box<Place>,
    },
}

/// One field of a receive.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    Store(Place),
    Ignore,
    /// A constant or `eval`.
    Match(Value),
}

/// A statement that is one step.
#[derive(Clone, Debug)]
pub(super) enum Basic {
    Condition(Value),
    Assign(Place, Value),
    /// A step without effect: the declaration of a structure among statements.
    Nothing,
    /// `printf`: its values are computed, and may be faults.
    Print(Vec<Value>),
    Send {
        channel: Place,
        sorted: bool,
        args: Vec<Value>,
    },
    Receive {
        channel: Place,
        any: bool,
        peek: bool,
        patterns: Vec<Pattern>,
    },
    Assert(Value),
    /// The process dies.
    End,
}

/// A kind of channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChannelType {
    pub capacity: usize,
    pub fields: Vec<Kind>,
}

/// How a variable gets its first value.
#[derive(Clone, Debug)]
pub(super) struct Initialise {
    pub base: usize,
    pub kind: Kind,
    pub length: usize,
    pub with: InitialValue,
}

/// The first value of each element.
#[derive(Clone, Debug)]
pub(super) enum InitialValue {
    Value(Value),
    List(Vec<Value>),
    Channel(ChannelType),
}
