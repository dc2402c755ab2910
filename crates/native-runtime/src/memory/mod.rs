//! Memory of the program, and going back to its start.
//!
//! | module | what it does |
//! |---|---|
//! | [`heap`] | the program's heap: an arena per thread, nothing reused, freed memory detected |
//! | [`mappings`] | memory that the program maps itself |
//! | [`foreign_mappings`] | memory that libraries map |
//! | [`snapshot`] | the start of every execution |
//! | [`written_pages`] | which pages were written since |
//! | [`region`] | the explorer's own memory |
//! | [`table`] | tables by address |
//! | [`unwritten`] | reads of memory that nobody has written to |

pub mod foreign_mappings;
pub mod heap;
pub mod mappings;
pub mod region;
pub mod snapshot;
pub mod table;
pub mod unwritten;
pub mod written_pages;
