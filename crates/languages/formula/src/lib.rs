//! Temporal formulas, shared by all modelling languages.
//!
//! The operators of formulas are the same everywhere; the expressions between them are those of the language, which
//! implements [`Expressions`] with its own precedences and syntax tree, over tokens of its own ([`Cursor`]). [`fn@property`] reads
//! a formula, [`Property::claim`] makes a claim of it, whose propositions are guarded against faults ([`guards`]).

mod claim;
mod cursor;
pub mod guards;
mod parser;
mod property;
mod syntax;

pub use claim::Meaning;
pub use cursor::{Cursor, Kind, Token};
pub use parser::{
    Connective, Expressions, Parse, Quantifier, Reported, Tokens, branching, invariant, linear, linear_part,
};
pub use property::{Property, PropertyKind, claims, properties, property};
pub use syntax::{Formula, FormulaKind};
