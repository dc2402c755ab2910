//! Types and variables.

use quotient_source::Span;

use crate::{Expr, Referent};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
    };
}
pub(crate) use id;

id!(
    /// Index into [`crate::Program::enumerations`].
    EnumerationId
);
id!(
    /// Index into [`crate::Program::structures`].
    StructureId
);
id!(
    /// Index into [`crate::Program::channel_types`].
    ChannelTypeId
);
id!(
    /// Index into the globals of a program or the locals of a function.
    VariableId
);

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// An integer that wraps around.
    Int(IntType),
    /// An integer within bounds.
    Range(RangeType),
    /// A constant of an enumeration; 0 is "none yet".
    Enumeration(EnumerationId),
    /// A reference to a channel that was made for a variable and lives as long as its thread; 0 is "none". Programs with
    /// objects use [`Referent::Channel`] instead.
    Channel,
    /// A reference to an object; 0 is null.
    Reference(Referent),
    /// The id of a thread, opaque; 0 is none. (The numbers of [`Expr::SelfId`] are integers, as Promela has them.)
    Thread,
    /// A function that can be called; 0 is none, else its [`crate::FunctionId`] plus one ([`Expr::Function`]).
    Function,
    /// A structure, inline.
    Structure(StructureId),
    /// A fixed number of elements, inline.
    Array(Box<Type>, u32),
}

/// A wrapping integer of 1 to 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IntType {
    /// Width.
    pub bits: u8,
    /// Two's complement.
    pub signed: bool,
}

impl IntType {
    /// One bit.
    pub const BIT: IntType = IntType { bits: 1, signed: false };
    /// Eight bits.
    pub const BYTE: IntType = IntType { bits: 8, signed: false };
    /// Sixteen bits, signed.
    pub const SHORT: IntType = IntType { bits: 16, signed: true };
    /// Thirty-two bits, signed.
    pub const INT: IntType = IntType { bits: 32, signed: true };

    /// The value a variable of this type holds after `value` is assigned to it.
    pub fn wrap(self, value: i32) -> i32 {
        let shift = 32 - u32::from(self.bits);
        if self.signed { (value << shift) >> shift } else { (((value as u32) << shift) >> shift) as i32 }
    }
}

/// An integer within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RangeType {
    /// The least value.
    pub low: i32,
    /// The greatest value.
    pub high: i32,
    /// What happens to a value outside: it is brought back by multiples of the range's size, or it is a fault.
    pub wrap: bool,
}

impl RangeType {
    /// The value a variable of this type holds after `value` is assigned to it; `None` for a fault.
    pub fn fit(self, value: i32) -> Option<i32> {
        if (self.low..=self.high).contains(&value) {
            return Some(value);
        }
        let size = i64::from(self.high) - i64::from(self.low) + 1;
        let offset = i64::from(value) - i64::from(self.low);
        self.wrap.then(|| (i64::from(self.low) + offset.rem_euclid(size.max(1))) as i32)
    }

    /// What a variable holds at first: 0 when it is in the range, else the least value.
    pub fn initial(self) -> i32 {
        if (self.low..=self.high).contains(&0) { 0 } else { self.low }
    }
}

/// A set of named constants, numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration {
    /// The name of the set; empty for plain `mtype`.
    pub name: String,
    /// Names with their values.
    pub constants: Vec<(String, i32)>,
}

impl Enumeration {
    /// The name of a value.
    pub fn name_of(&self, value: i32) -> Option<&str> {
        self.constants.iter().find(|(_, v)| *v == value).map(|(n, _)| n.as_str())
    }
}

/// A structure.
#[derive(Clone, Debug)]
pub struct Structure {
    /// Its name.
    pub name: String,
    /// Its fields, each with its initial value.
    pub fields: Vec<Variable>,
}

/// A kind of channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelType {
    /// Number of messages it holds; 0 for rendezvous.
    pub capacity: u32,
    /// The scalar types of a message's fields (structures are flattened).
    pub fields: Vec<Type>,
}

/// A variable of any scope, or a field of a structure.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// What it holds at first.
    pub init: Init,
    /// Its value is not part of the state: it is zero again after every step.
    pub scratch: bool,
    /// Where it is declared.
    pub span: Span,
}

/// The initial value of a variable.
#[derive(Clone, Debug)]
pub enum Init {
    /// Zero everywhere (for a structure: the fields' own initial values).
    Default,
    /// One value for every scalar of the variable.
    Fill(Expr),
    /// One value per element of an array.
    List(Vec<Expr>),
    /// A new channel for the variable, or for each element of the array. The variable's type is [`Type::Channel`], or a
    /// reference to a channel: then the channel is an object like any other.
    Channels(ChannelTypeId),
}
