//! Searches over the seams, without programs.

mod cycle_workers;
mod disk;
mod processes;
mod refusing_store;
mod restart;
mod typed;
mod workers;
