//! Which threads can be exchanged.
//!
//! | module | what it does |
//! |---|---|
//! | [`costarted`] | because they were started alike |
//! | [`dynamic`] | now, whatever they did |
//! | [`frames`] | where the program is on the stack of a thread |
//! | [`question`] | residual code: questions to the checker |
//! | [`stale`] | variables that are reached through pointers, and never read |
//! | [`own_handle`] | handles that threads ask for and only keep |
//! | [`kept_handle`] | handles in memory that nobody reads any more |
//! | [`history`] | accesses that races are looked for with |
//! | [`guard`] | memory that is only accessed under a lock |

pub mod costarted;
pub mod dynamic;
pub mod frames;
pub mod guard;
pub mod history;
pub mod kept_handle;
pub mod own_handle;
pub mod question;
pub mod stale;
