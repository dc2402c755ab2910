//! C and C++ programs, executed and explored.

// The runtime's table of library functions, which `library_table` includes, looks for it here.
use quotient_native::protocol;

mod aliasing;
mod argument_blocks;

mod c_source;
mod closed_forms;
mod conventions;
mod counted_loops;
mod counts;
mod dynamic;
mod effects;
mod examples;
mod guarded;
mod handles;
mod heap_bounds;
mod hidden_effects;
mod holes;
mod hostile;
mod in_time;
mod interruptions;
mod library_table;
mod lifecycle;
mod litmus;
mod little_system;
mod memory_models;
mod outside;
mod own_handles;
mod random_barriers;
mod random_effects;
mod random_programs;
mod random_waits;
mod random_workers;
mod residual;
mod restarts;
mod sandbox;
mod unwritten;
