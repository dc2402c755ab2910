//! Weak memory: executions as graphs, one per consistent graph.
//!
//! Under a weak memory model an execution is not a sequence. It is a graph: the events of each thread in program order, for
//! each read the write that it reads from (*rf*), and for each location the order of its writes (modification order, *mo*).
//! A memory model says which graphs are consistent; [`explore`] visits every consistent graph of a program once.
//!
//! | module | technique | after |
//! |---|---|---|
//! | [`label`] | what a thread is about to do: accesses, memory orders, fences, objects | |
//! | [`event`] | events with the clocks of their pasts | |
//! | [`structure`] | graphs: extension, restriction, modification order | |
//! | [`placement`] | coherence and atomicity: where a read may read, where a write may go | Lahav et al., PLDI 2017 |
//! | [`psc`] | sequentially consistent accesses and fences of RC11 | Lahav et al., PLDI 2017 |
//! | [`global`] | sequential consistency and TSO: one order of everything | Alglave, Maranget, Tautschnig, TOPLAS 2014 |
//! | [`trust`] | the exploration | Kokologiannakis, Marmanis, Gladstein, Vafeiadis, POPL 2022 |
//! | [`mates`] | one of all graphs that exchanged threads make of each other | Kokologiannakis, Marmanis, Vafeiadis, PLDI 2024 |
//! | [`linear`] | graphs as schedules | |
//!
//! # The models
//!
//! RC11 is that of PLDI 2017 with release sequences as in C++20 (a release sequence is continued by read-modify-writes only). It
//! forbids cycles of program order and reads-from, so values never come out of thin air and load buffering is not
//! explored. TSO is x86-TSO for the usual compilation: loads and stores are moves, sequentially consistent stores are followed
//! by a fence, read-modify-writes (also compare-and-swaps that fail) are locked instructions, fences other than sequentially consistent
//! ones are none. Sequential consistency is one order of all accesses.
//!
//! # Objects that are not memory
//!
//! Locks, semaphores, barriers and the like are locations all of whose operations are read-modify-writes: each reads from the
//! operation before it. So the operations of an object are totally ordered by reads-from, and whoever executes a graph in an
//! order that respects program order and reads-from executes them in that order. An operation that would block reads as well,
//! but does not write: the operation that makes it possible comes back to it (a revisit).

pub mod event;
pub mod global;
pub mod label;
pub mod linear;
pub mod mates;
pub mod placement;
pub mod psc;
pub mod structure;
pub mod trust;

pub use event::{Event, EventId, INITIAL, Part};
pub use label::{Access, Change, Label, Location, MemoryModel, MemoryProgram, Order};
pub use structure::Graph;
pub use trust::explore;
