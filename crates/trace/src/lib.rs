//! A path as a trace: re-executed from the initial state, in the user's names.
//!
//! A search reports a path as a list of choices. [`Trace::replay`] repeats it on the machine, step by step, and writes
//! down what each process did and what changed. A path that cannot be repeated is a bug of the checker and is reported
//! as such ([`NotReplayable`]). Formats: [`text`] for people, [`json`] for machines, [`TraceFile`] to replay later.

mod file;
pub mod json;
mod real_names;
mod replay;
pub mod text;

pub use file::{FileError, TraceFile};
pub use real_names::in_real_names;
pub use replay::{Change, NotReplayable, ProcessState, Step, Trace};
