//! An execution and the explorer's part in it.
//!
//! | module | what it does |
//! |---|---|
//! | [`world`] | the state of an execution: threads, who runs, the failure |
//! | [`thread`] | a thread and what it is about to do |
//! | [`object`] | synchronisation objects and atomic cells, numbered |
//! | [`clock`] | vector clocks |
//! | [`race`] | data races by vector clocks |
//! | [`program`] | that state as [`quotient_stateless::Execution`] |
//! | [`waiting_loop`] | loops that wait: threads that come back to the same state and have changed nothing |
//! | [`polling`] | loops that poll plain memory |
//! | [`outcomes`] | what executions print, and how they end |
//! | [`waiting`] | who waits for whom when the program ends |
//! | [`messages`] | weak memory: the writes of each atomic variable |
//! | [`buffered`] | plain accesses that race, under TSO |
//! | [`labels`] | that state as [`quotient_stateless::graph::MemoryProgram`] |
//! | [`driver`] | start-up, exploration, repetition of a schedule |
//! | [`deepening`] | programs that do not end |
//! | [`script`] | the beginning of a run repeated without the driver |
//! | [`workers`] | several processes |
//! | [`found`] | what they tell each other |

pub mod buffered;
pub mod clock;
pub mod deepening;
pub mod driver;
pub mod found;
pub mod labels;
pub mod messages;
pub mod object;
pub mod outcomes;
pub mod polling;
pub mod program;
pub mod race;
pub mod script;
pub mod thread;
pub mod waiting;
pub mod waiting_loop;
pub mod workers;
pub mod world;
