//! Representatives: implementations of the `Representative` seam, which state stands for this one?
//!
//! States are shown as [`graph::Graph`]s by a [`StateGraph`]; an [`Order`] numbers the nodes; the numbering, brought into
//! the group of renamings that the program allows, renames the state.

pub mod action;
pub mod audit;
pub mod exact;
pub mod exchanges;
pub mod graph;
pub mod group;
pub mod heap;
mod ordered;
mod pairs;
mod partition;
mod signature;
mod sizes;
pub mod strong;
pub mod thread_order;
mod walk;

pub use ordered::{Order, Ordered, StateGraph};
pub use sizes::Sizes;
