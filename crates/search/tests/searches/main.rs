//! Searches over the seams, without programs.

mod refusing_store;
mod typed;
mod workers;
