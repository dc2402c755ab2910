//! Programs of threads for tests of the stateless exploration: a small language of threads over shared variables and
//! synchronisation objects, an interpreter that implements [`quotient_stateless::Execution`], and oracles.
//!
//! | module | |
//! |---|---|
//! | [`program`] | the language, and its printed form |
//! | [`machine`] | the interpreter |
//! | [`residual`] | residual code, liveness, symmetric threads |
//! | [`litmus`] | litmus programs with memory orders |
//! | [`axioms`] | memory models by their axioms, and brute force over them |
//! | [`brute_force`] | all interleavings: the oracle |
//! | [`generate`] | random programs from a seed |
//! | [`shrink`] | the smallest program that still fails |
//! | [`families`] | programs of `n` threads with known numbers of traces and orbits |

pub mod axioms;
pub mod brute_force;
pub mod families;
pub mod generate;
pub mod litmus;
pub mod machine;
pub mod program;
pub mod residual;
pub mod shrink;

pub use machine::Machine;
pub use program::{Comparison, Condition, Instruction, Program, REGISTERS, Value};
