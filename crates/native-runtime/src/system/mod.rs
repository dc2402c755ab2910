//! The kernel below.
//!
//! | module | what it does |
//! |---|---|
//! | [`system_call`] | system calls, and the C library's own functions |
//! | [`raw_call`] | system calls that the program makes by number |
//! | [`sandbox`] | which system calls may be made |
//! | [`system_names`] | their names |
//! | [`handler`] | handlers of signals |

pub mod handler;
pub mod raw_call;
pub mod sandbox;
pub mod system_call;
pub mod system_names;
