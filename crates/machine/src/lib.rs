//! Programs compiled to an executable [`System`](quotient_seams::System): packed states, compact code, no
//! allocation per step.
//!
//! Semantics are those of SPIN 6.5 where the program came from Promela: atomic sequences are not interrupted
//! and their inner states are not seen, unless they block; a rendezvous is one step of two threads; only the
//! youngest thread can cease to exist. What goes wrong in a step (a [`Fault`]) is a verdict, never a panic.

mod channel;
mod claim;
mod claim_compile;
mod code;
mod compile;
mod d_step;
mod direct;
mod direct_compile;
mod dynamic;
mod endless;
mod eval;
mod fault;
mod graph;
mod initial_values;
mod inspect;
mod layout;
mod look;
mod machine;
mod observer;
mod omega;
mod parts;
mod permission;
mod plain;
mod plain_compile;
mod record;
mod rendezvous;
mod scalars;
mod shapes;
mod step;
mod view;
#[cfg(all(target_arch = "x86_64", unix))]
mod x86;

pub use claim::CLAIM_THREAD;
pub use dynamic::footprint::Ownership;
pub use dynamic::graph::DynamicGraph;
pub use dynamic::names::ObjectNames;
pub use fault::{Fault, Site, claim_kind};
pub use graph::Renaming;
pub use inspect::{ThreadView, Value};
pub use look::{Fill, FrameAt, ScalarAt, ThreadAt};
pub use machine::Machine;
pub use omega::{Fair, FairMarks, RENAMED, ThreadNames};
pub use parts::StateParts;
pub use record::{MicroStep, StepRecord};
pub use scalars::{Scalar, ScalarPlace};
pub use view::{ObjectKind, Owner, Part as StatePart, Raw};
