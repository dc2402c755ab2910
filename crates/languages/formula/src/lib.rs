//! Temporal formulas, shared by all modelling languages.
//!
//! The operators of formulas are the same everywhere; the expressions between them are those of the language, which
//! implements [`Expressions`] with its own tokens, precedences and syntax tree. [`linear`], [`branching`] and [`invariant`] read
//! a formula, [`Property::claim`] makes a claim of it, whose propositions are guarded against faults ([`guards`]).

mod claim;
pub mod guards;
mod parser;
mod syntax;

pub use parser::{
    Connective, Expressions, Parse, Quantifier, Reported, branching, invariant, linear, linear_part,
};
pub use syntax::{Formula, FormulaKind, Property, PropertyKind};
