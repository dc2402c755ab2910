//! Stateless exploration of multithreaded programs.
//!
//! A program is anything that can be restarted and stepped thread by thread ([`Execution`]): a native
//! one under a controlled scheduler, or in tests a small one (`quotient_thread_programs`). [`explore`](explore()) covers
//! its complete executions under sequential consistency, up to the order of independent operations
//! and, if asked, up to the exchange of symmetric threads:
//!
//! | module | technique | after |
//! |---|---|---|
//! | [`operation`] | operations as accesses to objects; dependence | |
//! | [`happens_before`] | vector clocks, races to reverse, blocking operations | Abdulla et al., J. ACM 2017 |
//! | [`counts`] | reference counts: additions that commute although somebody looks at the sum | |
//! | [`mod@explore`] | runs, replay, sleep sets, bounds | |
//! | `reversal` | optimal DPOR, source sets, Flanagan–Godefroid | J. ACM 2017; POPL 2005 |
//! | [`wakeup_tree`] | wake-up trees | J. ACM 2017 |
//! | `symmetry` | symmetric threads, races on permuted images | Yang et al. 2009, corrected |
//! | `horizon` | which images of a run report the same | |
//! | `history` | co-started threads whose pasts mirror each other | |
//! | [`graph`] | weak memory: one execution per consistent graph (TruSt) | Kokologiannakis et al., POPL 2022 |
//! | [`estimate`] | how many executions there will be | Knuth 1975 |
//! | [`parallel`] | several workers | |
//! | [`mod@minimise`] | failing schedules with few context switches | Qadeer, Rehof 2005 |
//! | [`schedule`] | schedules as short tokens | |
//!
//! ```
//! use quotient_thread_programs::{Machine, families};
//! use quotient_stateless::{Configuration, Symmetry, Verdict, explore};
//!
//! // Six threads, each: lock; r = x; x = r + 1; unlock.
//! let mut program = Machine::new(families::lock_increment_unlock(6));
//! let plain = explore(&mut program, &Configuration::default(), &mut |_| {})?;
//! assert_eq!((plain.verdict, plain.statistics.executions), (Verdict::Holds, 720));
//! let symmetric = Configuration { symmetry: Symmetry::Costarted, ..Configuration::default() };
//! assert_eq!(explore(&mut program, &symmetric, &mut |_| {})?.statistics.executions, 1);
//! # Ok::<(), quotient_stateless::ExplorationError>(())
//! ```
//!
//! Invariants: the exploration never looks at a program but through [`Execution`]; dependence is
//! decided in one function ([`operation::dependent`]), happens-before and races in one module; the
//! brute force oracle shares no code with any of them.

pub mod ahead;
pub mod configuration;
pub mod counts;
pub mod estimate;
pub mod execution;
pub mod explore;
pub mod graph;
pub mod happens_before;
mod history;
mod horizon;
pub mod minimise;
pub mod operation;
pub mod parallel;
pub mod random;
mod reversal;
pub mod schedule;
mod symmetry;
pub mod threads;
pub mod wakeup_tree;

pub use configuration::{
    Algorithm, Bound, Configuration, ExplorationError, Observer, Progress, Report, Statistics, Verdict,
    Violation,
};
pub use execution::{Ending, Execution, Outcome, Symmetry};
pub use explore::explore;
pub use minimise::{Minimised, minimise};
pub use operation::{Access, Kind, Mode, Operation};
pub use parallel::explore_parallel;
pub use schedule::{Choice, Schedule};
pub use threads::{MAX_THREADS, ThreadId, ThreadSet};
