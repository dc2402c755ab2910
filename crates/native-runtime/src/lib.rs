//! The runtime inside a checked program.
//!
//! A program compiled with `-fsanitize=thread` calls a hook before every access to memory. Linked with this library
//! instead of the sanitizer's, and with this library's `pthread_*`, `malloc` and friends found before those of the C
//! library, it runs under the control of an explorer in the same process:
//!
//! | module | what it does |
//! |---|---|
//! | `hooks`, `atomics`, `memory_functions`, `bounds` | what the compiler's instrumentation calls |
//! | `thread`, `mutex`, `condition`, `rwlock`, `semaphore`, `barrier`, `once`, `c11`, `futex`, `pipe`, `socket`, `poll`, `verifier` | interposed primitives |
//! | `unannounced` | accesses without a hook, such as inline assembly |
//! | `imports`, `stub`, `library` | calls to other libraries: accesses to memory, effects outside of it, by a table of functions |
//! | `section` | atomic sections |
//! | `lifecycle` | initialisation and destruction of primitives |
//! | `process`, `files`, `refused` | exit, abort, time, random numbers; files written; calls that are refused by name |
//! | `signal`, `signal_calls`, `signal_wait`, `cancellation` | signals and cancellation between threads |
//! | `interruption` | the points at which they take effect |
//! | `unwinding` | the end of a thread by `pthread_exit` or cancellation |
//! | `world` | the state of an execution: threads, their pending operations, the failure |
//! | `waiting` | who waits for whom when the program ends |
//! | `program` | that state as [`quotient_stateless::Execution`] |
//! | `object` | synchronisation objects and atomic cells, numbered |
//! | `costarted` | which threads can be exchanged because they were started alike |
//! | `dynamic`, `frames`, `question` | which threads can be exchanged now, whatever they did; residual code |
//! | `race` | data races by vector clocks |
//! | `guard` | memory that is only accessed under a lock |
//! | `mappings`, `foreign_mappings` | memory that the program maps itself; what libraries map |
//! | `exit_handlers` | what runs at the end of the program |
//! | `heap` | the program's heap: an arena per thread, nothing reused, freed memory detected |
//! | `stack` | what is known of the memory of stacks |
//! | `context`, `donor` | user-level threads on the stacks of parked kernel threads |
//! | `snapshot`, `written_pages` | going back to the start |
//! | `script` | the beginning of a run repeated without the driver |
//! | `driver` | start-up, exploration, repetition of a schedule |
//! | `workers`, `found` | several processes, and what they tell each other |
//! | `sandbox`, `system_names` | which system calls may be made |
//! | `outside` | what the program takes from outside, to which an answer is relative |
//! | `quiet_thread` | limits on time within a step |
//! | `region` | the explorer's own memory |
//!
//! One kernel thread runs at a time. User code runs while [`active`](world::active) is true; everything in this library
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

#[path = "../../native/src/protocol.rs"]
pub mod protocol;

mod atomics;
mod barrier;
mod bounds;
mod c11;
mod cancellation;
mod condition;
mod context;
mod costarted;
mod donor;
mod driver;
mod dynamic;
mod exit_handlers;
mod files;
mod foreign_mappings;
mod found;
mod frames;
mod futex;
mod guard;
mod heap;
mod hooks;
mod imports;
mod interruption;
mod library;
mod lifecycle;
mod mappings;
mod memory_functions;
mod mutex;
mod object;
mod once;
mod outside;
mod pipe;
mod poll;
mod process;
mod program;
mod question;
mod quiet_thread;
mod race;
mod raw_call;
mod refused;
mod region;
mod rwlock;
mod sandbox;
mod script;
mod section;
mod semaphore;
mod signal;
mod signal_calls;
mod signal_wait;
mod snapshot;
mod socket;
mod stack;
mod stub;
mod system_call;
mod system_names;
mod table;
mod thread;
mod unannounced;
mod unwinding;
mod verifier;
mod waiting;
mod workers;
mod world;
mod written_pages;

#[global_allocator]
static REGION: region::Region = region::Region;
