//! Signals and cancellation between threads.
//!
//! | module | what it does |
//! |---|---|
//! | [`signal`] | signals that the program sends to itself |
//! | [`signal_calls`] | the calls of the C library for them |
//! | [`signal_wait`] | waiting for signals |
//! | [`cancellation`] | cancellation of threads |
//! | [`interruption`] | the points at which they take effect |

pub mod cancellation;
pub mod interruption;
pub mod signal;
pub mod signal_calls;
pub mod signal_wait;
