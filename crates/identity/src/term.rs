//! Expressions over values of classes, small enough to be tabulated.

use quotient_program::{BinaryOp, FunctionId, UnaryOp};

use crate::classes::ClassId;

/// An unknown of a [`Term`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// What it is a value of.
    pub(crate) class: ClassId,
    /// It is the id of a thread that runs this function.
    pub(crate) runs: Option<FunctionId>,
    /// Two leaves with the same key always have the same value.
    pub(crate) key: Option<Key>,
}

/// What makes two leaves the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    SelfId,
    Global(u32),
    Local(u32),
    Bound(u32),
}

/// An expression over leaves.
#[derive(Clone, Debug)]
pub(crate) enum Term {
    Const(i32),
    Leaf(usize),
    Unary(UnaryOp, Box<Term>),
    Binary(BinaryOp, Box<Term>, Box<Term>),
    Conditional(Box<Term>, Box<Term>, Box<Term>),
}

impl Term {
    /// The value when the leaves have these; `None` for a division by zero.
    pub(crate) fn value(&self, leaves: &[i32]) -> Option<i32> {
        Some(match self {
            Term::Const(value) => *value,
            Term::Leaf(leaf) => leaves[*leaf],
            Term::Unary(op, a) => {
                let a = a.value(leaves)?;
                match op {
                    UnaryOp::Not => i32::from(a == 0),
                    UnaryOp::Complement => !a,
                    UnaryOp::Negate => a.wrapping_neg(),
                }
            }
            Term::Binary(BinaryOp::And, a, b) => i32::from(a.value(leaves)? != 0 && b.value(leaves)? != 0),
            Term::Binary(BinaryOp::Or, a, b) => i32::from(a.value(leaves)? != 0 || b.value(leaves)? != 0),
            Term::Binary(op, a, b) => op.apply(a.value(leaves)?, b.value(leaves)?)?,
            Term::Conditional(c, a, b) => {
                if c.value(leaves)? != 0 {
                    a.value(leaves)?
                } else {
                    b.value(leaves)?
                }
            }
        })
    }
}
