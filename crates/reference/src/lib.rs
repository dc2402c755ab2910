//! A second opinion on Promela (and, in [`bir`] and [`dve`], on BIR and DVE), for tests only.
//!
//! Everything here is slow and simple, and independent of the engine: it shares only the syntax tree.
//!
//! - [`print()`]: a syntax tree as Promela text;
//! - [`generate()`]: random programs, named by a seed;
//! - [`interpret()`]: an explicit-state interpreter with SPIN's meaning;
//! - [`pointers`]: random programs with pointers;
//! - [`planted()`]: random programs whose symmetry is known;
//! - [`symmetric()`]: random programs with symmetric processes, and what may spoil the symmetry;
//! - [`temporal`]: temporal formulas by tableau;
//! - [`shrink()`]: a smaller program that still fails.
//!
//! The interpreter is itself checked against SPIN (`tests/opinion/spin.rs`).

pub mod bir;
pub mod construct;
pub mod dve;
pub mod generate;
pub mod interpret;
pub mod planted;
pub mod pointers;
pub mod print;
pub mod shrink;
pub mod statement_table;
pub mod symmetric;
pub mod temporal;

pub use generate::generate;
pub use interpret::{Fault, Outcome, StateGraph, interpret, state_graph};
pub use planted::planted;
pub use print::print;
pub use shrink::shrink;
pub use symmetric::symmetric;
