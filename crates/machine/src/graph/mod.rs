//! States as graphs, and renamed.

pub(crate) mod dynamic;
mod picture;
mod pins;
mod plan;
pub(crate) mod renaming;
mod small_group;
