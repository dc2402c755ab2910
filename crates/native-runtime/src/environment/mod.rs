//! The program and what is around it.
//!
//! | module | what it does |
//! |---|---|
//! | [`process`] | exit, abort, time |
//! | [`exit_handlers`] | what runs at the end of the program |
//! | [`outside`] | what the program takes from outside, to which an answer is relative |
//! | [`random`] | random numbers |
//! | [`refused`] | calls that are refused by name |
//! | [`quiet_thread`] | limits on time within a step |

pub mod exit_handlers;
pub mod outside;
pub mod process;
pub mod quiet_thread;
pub mod random;
pub mod refused;
