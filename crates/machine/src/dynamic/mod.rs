//! Dynamic programs: objects, frames, threads that end in any order.
//!
//! A state of a dynamic program is laid out like any other: the number of its shape, the globals, then the segments. What is
//! new are the kinds of segments: a thread has a *head* (which lock it waits for) and a stack of frames, and there are
//! objects, numbered from 1; a reference is the number. A shape is found by its description ([`shapes`]), since objects come
//! and go in any order.
//!
//! While a step changes what exists, the draft is in a *working* shape: segments are only appended, so that no byte moves
//! under running code, and what ended leaves a hole. When the step is done, [`collect`] finds what can still be reached and
//! copies it into a normal shape: threads in order, each with its frames, then objects by number. So garbage is never part
//! of a stored state, and equal states are equal words. An object keeps its number as long as it exists; a new one gets the
//! lowest free number. Renaming objects and threads ([`graph`]) is the business of a representative.

pub(crate) mod allocate;
pub(crate) mod collect;
pub(crate) mod collections;
pub(crate) mod compile;
pub(crate) mod finish;
pub(crate) mod footprint;
pub(crate) mod frames;
pub(crate) mod graph;
pub(crate) mod kind;
pub(crate) mod locks;
pub(crate) mod names;
pub(crate) mod operations;
mod picture;
mod pins;
pub(crate) mod segments;
pub(crate) mod shapes;
