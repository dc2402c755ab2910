//! Which threads can be exchanged.
//!
//! | module | what it does |
//! |---|---|
//! | [`costarted`] | because they were started alike |
//! | [`dynamic`] | now, whatever they did |
//! | [`frames`] | where the program is on the stack of a thread |
//! | [`question`] | residual code: questions to the checker |
//! | [`stale`] | variables that are reached through pointers, and never read |
//! | [`history`] | accesses that races are looked for with |
//! | [`guard`] | memory that is only accessed under a lock |

pub mod costarted;
pub mod dynamic;
pub mod frames;
pub mod guard;
pub mod history;
pub mod question;
pub mod stale;
