//! Known models through the whole engine: pinned counts, verdicts, what reductions must and must not do.

mod constant_indices;
mod cycle_workers;
mod disk;
mod dynamic;
mod mirrored;
mod processes;
mod progress;
mod reasons;
mod reduced_counts;
mod relative;
mod stores;
mod symmetry;
mod temporal;
mod temporal_traps;
mod thread_orders;
mod token_mutex;
mod whole_formulas;
mod workers;
