//! Which threads can be exchanged.
//!
//! | module | what it does |
//! |---|---|
//! | [`costarted`] | because they were started alike |
//! | [`dynamic`] | now, whatever they did |
//! | [`frames`] | where the program is on the stack of a thread |
//! | [`question`] | residual code: questions to the checker |
//! | [`guard`] | memory that is only accessed under a lock |

pub mod costarted;
pub mod dynamic;
pub mod frames;
pub mod guard;
pub mod question;
