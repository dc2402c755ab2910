//! What a statement reads and writes, which events others notice of it, and why a thread cannot go on: states of a program looked at
//! in typed values and in the user's names.
//!
//! Everything here is said of the program as written ([`quotient_machine::Machine`] of an unreduced program) and found after the
//! fact, from the states before and after a statement: a search pays nothing for it.
//!
//! - [`position`](mod@position): a place in a run, printable; [`course`](mod@course): the run that leads there;
//! - [`look`](mod@look): the parts of a state, named;
//! - [`evaluate`](mod@evaluate): expressions, with the places they read;
//! - [`effect`](mod@effect): what a statement did;
//! - [`reason`](mod@reason): why a statement cannot be executed;
//! - [`text`](mod@text): expressions as text.

pub mod course;
pub mod effect;
pub mod evaluate;
pub mod look;
pub mod position;
pub mod reason;
pub mod text;

pub use course::{Course, Ending, Held, Possible, Row, RowKind, offered, once, possible};
pub use effect::{Effect, Event, Failed, Handed, Synchronisation, Write, effect, fault};
pub use evaluate::{Evaluation, NoValue, Read};
pub use look::{Group, Leaf, Look};
pub use position::{Move, Position, PositionError};
pub use reason::{Reason, reason};
