//! Ample sets: random programs against the unreduced search, where reduction is known to go wrong, where it must bring
//! something.

mod memory;
mod objects;
mod partial_order;
mod searches;
mod temporal;
