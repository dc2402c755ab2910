//! Programs compiled to an executable [`System`](quotient_seams::System): packed states, compact code, no
//! allocation per step.
//!
//! Semantics are those of SPIN 6.5 where the program came from Promela: atomic sequences are not interrupted
//! and their inner states are not seen, unless they block; a rendezvous is one step of two threads; only the
//! youngest thread can cease to exist. What goes wrong in a step (a [`Fault`]) is a verdict, never a panic.
//!
//! | folder | what lives there |
//! |---|---|
//! | `state/` | packed states: layout, shapes, looks from outside |
//! | `code/` | what programs are compiled to, and the compiler |
//! | `step/` | what can happen next: the interpreter, channels, threads, calls |
//! | `x86/` | the same as machine code, for what is expanded often |
//! | `heap/` | objects: allocation, collection, locks, instructions |
//! | `claim/` | automata that watch the program |
//! | `graph/` | states as graphs, and renamed |
//! | `explain/` | states and steps in the user's names |

mod claim;
mod code;
mod explain;
mod graph;
mod heap;
mod machine;
mod state;
mod step;
#[cfg(all(target_arch = "x86_64", unix))]
mod x86;

pub use claim::CLAIM_THREAD;
pub use claim::omega::{Fair, FairMarks, RENAMED, ThreadNames};
pub use explain::fault::{Fault, Site, claim_kind};
pub use explain::inspect::{ThreadView, Value};
pub use explain::names::ObjectNames;
pub use explain::record::{MicroStep, StepRecord};
pub use explain::view::{ObjectKind, Owner, Part as StatePart, Raw};
pub use graph::{Beginning, Limit, Renaming};
pub use heap::footprint::Ownership;
pub use machine::Machine;
pub use quotient_identity::{Asked, Difference, Effort, Move, Symmetry};
pub use state::look::{Fill, FrameAt, ScalarAt, ThreadAt};
pub use state::parts::StateParts;
pub use state::scalars::{Scalar, ScalarPlace};
pub use state::shapes::NumberedElsewhere;
