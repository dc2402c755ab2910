//! The runtime inside a checked program.
//!
//! A program compiled with `-fsanitize=thread` calls a hook before every access to memory. Linked with this library
//! instead of the sanitizer's, and with this library's `pthread_*`, `malloc` and friends found before those of the C
//! library, it runs under the control of an explorer in the same process:
//!
//! | folder | what it does |
//! |---|---|
//! | [`instrumentation`] | what the compiler's instrumentation calls |
//! | [`primitives`] | mutexes, condition variables and all others, interposed |
//! | [`threads`] | user-level threads on the stacks of parked kernel threads |
//! | [`interruptions`] | signals and cancellation between threads |
//! | [`descriptors`] | files, pipes, sockets, polling |
//! | [`library`] | calls to other libraries: accesses to memory, effects outside of it, by a table of functions |
//! | [`environment`] | exit, time, random numbers, what comes from outside, what is refused |
//! | [`memory`] | heap, mappings, the start of every execution |
//! | [`symmetry`] | which threads can be exchanged |
//! | [`exploration`] | the state of an execution, data races, the driver, several processes |
//! | [`system`] | system calls, and which may be made |
//!
//! One kernel thread runs at a time. User code runs while [`active`](exploration::world::active) is true; everything in this library
//! runs either on behalf of a thread of the program (a hook) or as the driver, between steps. Hooks may use the explorer's
//! memory but must not keep a reference into it across a switch.
//!
//! Which accesses are steps of the exploration: synchronisation and atomics. Plain accesses are not; they are checked for
//! data races by happens-before in every execution. That is enough: take a run with a first data race. Up to there the
//! values read by plain accesses are determined by the order of the synchronisation, so an equivalent prefix is part of an
//! explored execution, in which both accesses happen (a step goes on until the next visible operation) and are unordered.
//! If races are allowed, locations found to race become visible and the exploration starts again.
//!
//! A program that was built to be checked also runs alone (a configure script may want to): without the shared block of
//! [`protocol`] every function passes its call on to the C library.

#[path = "../../native/src/peer.rs"]
pub mod peer;
#[path = "../../native/src/protocol/mod.rs"]
pub mod protocol;

mod descriptors;
mod environment;
mod exploration;
mod instrumentation;
mod interruptions;
mod library;
mod memory;
mod primitives;
mod symmetry;
mod system;
mod threads;

#[global_allocator]
static REGION: memory::region::Region = memory::region::Region;
