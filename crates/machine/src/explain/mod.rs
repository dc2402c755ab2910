//! States and steps in the user's names, for traces.
//!
//! - `record.rs`: what happens inside of one step. `inspect.rs`: threads and values of a state. `names.rs`: objects and threads by name.
//! - `fault.rs`: what can go wrong, and where.

pub(crate) mod fault;
pub(crate) mod inspect;
pub(crate) mod names;
pub(crate) mod record;
