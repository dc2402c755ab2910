//! A path as a trace: re-executed from the initial state, in the user's names.
//!
//! A search reports a path as a list of choices. [`Replay`] repeats it on the machine, step by step, and writes down what each
//! process did and what changed, in the values of the program as written. A path that cannot be repeated is a bug of the
//! checker and is reported as such ([`NotReplayable`]). [`Run`] is the same for runs that are still being chosen. Formats:
//! [`text`] for people, [`json`] for machines, [`TraceFile`] to replay later.

mod file;
mod not_replayable;
mod real_names;
mod replay;
mod run;
mod unreduced;
mod ways;

pub use file::{FileError, TraceFile};
pub use not_replayable::NotReplayable;
pub use quotient_outcome::{Change, ProcessState, Step, Trace, json, text};
pub use real_names::{images_of_the_end, in_real_names};
pub use replay::Replay;
pub use run::{Run, Told};
pub use ways::{Place, Ways};
