//! Checks multithreaded C and C++ programs by running them.
//!
//! A program is compiled with the compiler's thread instrumentation and linked with a runtime library that is embedded
//! here (`crates/native-runtime`). The runtime takes over the program's threads and explores their interleavings inside one
//! process; this crate starts that process, watches over it, and turns what it found into a report:
//!
//! | module | what it does |
//! |---|---|
//! | [`build`] | compiler and linker, the embedded runtime |
//! | [`session`] | a checked process: shared block, output, watchdog |
//! | [`check`](mod@check) | a request, and the answer |
//! | [`trace`] | a violation repeated step by step, with names and lines |
//! | [`token`] | a schedule as a short text |
//! | [`symbols`] | addresses to names and lines |
//! | [`residual`] | residual machine code and live locals, for dynamic symmetry |
//! | [`wrapper`] | `quotient cc` |
//! | [`holes`](mod@holes) | accesses that the compiler does not announce |
//! | `counted_loops` | loops that only take up time |
//! | `conventions` | functions of the verification competition that a program defines |
//! | `relative` | what an answer is relative to |
//! | `platform` | programs that were preprocessed elsewhere |
//! | `confinement` | no writing outside of the scratch directory |
//! | [`protocol`] | what both sides write to shared memory |
//!
//! A violation is reported only after it was repeated in a new process and ended in the same failure.

pub mod build;
pub mod check;
mod confinement;
mod conventions;
mod counted_loops;
mod debugger;
pub mod guided;
pub mod holes;
mod notes;
pub mod peer;
mod platform;
pub mod project;
pub mod protocol;
pub mod reads;
mod relative;
pub mod residual;
mod scratch;

pub use scratch::remove_scratch_directories;
pub mod session;
mod shared_outcome;
mod stack_variable;
pub mod symbols;
mod symmetric_threads;
pub mod token;
pub mod trace;
mod variables;
pub mod wrapper;

pub use build::{Binary, Build, BuildError};
pub use check::{Answer, Figures, Printed, Record, Report, Request, check};
pub use session::SessionError;
pub use token::Token;
pub use trace::{Failure, Frame, Repeated, replay};
