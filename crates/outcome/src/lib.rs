//! What models, C programs and proofs are answered with: one [`Verdict`], one reason for a missing answer
//! ([`Incomplete`]), one set of violations ([`ViolationKind`]) with their exit statuses ([`status`]), one [`Trace`], one JSON document
//! ([`json`], with the schema `docs/schema.json`).

pub mod effect;
pub mod json;
pub mod status;
pub mod text;
mod trace;
mod value;
mod verdict;

pub use effect::{Atomic, Effect, Event, Failed, Read, Synchronisation, Write};
pub use quotient_seams::{Incomplete, Limit, Violation, ViolationKind};
pub use trace::{Access, Change, Frame, ProcessState, Step, Trace};
pub use value::Value;
pub use verdict::Verdict;
