//! The four seams that every search is put together from, and the data that passes through them.
//!
//! | seam | question |
//! |---|---|
//! | [`System`] | what can happen next? |
//! | [`Representative`] | which state stands for this one? |
//! | [`Ample`] | which of the enabled actions must be explored? |
//! | [`Visited`] | seen before? |
//!
//! A state is a slice of 64-bit words that only its [`System`] can read: searches, stores and reductions hand states around
//! without looking inside. This crate depends on no other of the workspace. Beside the traits there are their trivial
//! implementations ([`Identity`], [`All`], [`Typed`] for a user's own Rust type) and what everybody needs who works for long:
//! the token that ends a check ([`Interrupt`]) and the memory that there is.

mod ample;
mod batch;
mod incomplete;
mod interrupt;
mod memory;
mod omega;
mod parts;
mod representative;
mod successors;
mod system;
mod typed;
mod violation;
mod visited;
mod walk;
mod worker;

pub use ample::{All, Ample, Passing, Proposals, Proviso};
pub use batch::{Group, Looked, Short};
pub use incomplete::{Incomplete, Limit};
pub use interrupt::{Interrupt, Part as InterruptPart, Reason, TICK, Task, Ticker};
pub use memory::{addresses_are_limited, fallible, may_fail, resident_bytes};
pub use omega::{Marks, Names, Omega};
pub use parts::{Part, PartKind, Parts, Whole};
pub use representative::{Identity, Representative};
pub use successors::{Entry, Successors};
pub use system::{Exhausted, Scope, System, ViolationCode};
pub use typed::{Model, Typed};
pub use violation::{Violation, ViolationKind};
pub use visited::{
    Known, Loaded, Numbering, OUT_OF_MEMORY, Share, Shared, SharedNumbering, SharedStore, Visited,
};
pub use walk::{Walk, random_walks};
pub use worker::Worker;
