//! User-level threads on the stacks of parked kernel threads.
//!
//! | module | what it does |
//! |---|---|
//! | [`thread`] | creation, joining, identity |
//! | [`handle`] | how long a thread's handle is good for |
//! | [`context`] | switches between contexts |
//! | [`donor`] | the kernel threads |
//! | [`stack`] | what is known of the memory of stacks |
//! | [`unwinding`] | the end of a thread by `pthread_exit` or cancellation |

pub mod context;
pub mod donor;
pub mod handle;
pub mod stack;
pub mod thread;
pub mod unwinding;
