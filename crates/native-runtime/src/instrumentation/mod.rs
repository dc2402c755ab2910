//! What the compiler's instrumentation calls.
//!
//! | module | what it does |
//! |---|---|
//! | [`hooks`] | accesses and calls of functions |
//! | [`atomics`] | atomic operations |
//! | [`counting`] | reference counts: additions whose order does not matter |
//! | [`counted_loops`] | loops that only take up time |
//! | [`wide_atomics`] | those of more than eight bytes |
//! | [`memory_functions`] | `memcpy` and friends, where the compiler calls them |
//! | [`bounds`] | indices outside of arrays |
//! | [`unannounced`] | accesses without a hook, such as inline assembly |

pub mod atomics;
pub mod bounds;
pub mod counted_loops;
pub mod counting;
pub mod hooks;
pub mod memory_functions;
pub mod unannounced;
pub mod wide_atomics;
