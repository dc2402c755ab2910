//! Files, and what threads talk to each other through.
//!
//! | module | what it does |
//! |---|---|
//! | [`files`] | files written, descriptors put back |
//! | [`pipe`] | pipes and pairs of sockets |
//! | [`socket`] | connections between threads |
//! | [`poll`] | waiting for several |
//! | [`host`] | names of hosts |

pub mod files;
pub mod host;
pub mod pipe;
pub mod poll;
pub mod socket;
