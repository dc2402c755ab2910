//! Searches over the four seams: a [`System`] says what can happen next, a [`Representative`] which state
//! stands for another, an [`Ample`] set which moves must be explored, a [`Visited`] store what was seen. The first three are one
//! thing to a search, an expander (`expand`).
//!
//! A search never looks inside a state. It ends with a [`Report`]: what was covered, what was found, and
//! whether anything was left out. [`breadth_first()`] gives shortest paths to violations and is the fastest;
//! [`depth_first()`] keeps a stack, which cycle conditions need; [`liveness()`] looks for infinite runs.

mod audit;
mod batch;
mod breadth_first;
mod components;
mod depth_first;
mod expand;
mod frontier;
mod graph;
mod graph_workers;
mod lasso;
mod level;
mod liveness;
mod liveness_workers;
mod monitor;
mod on_stack;
mod open_level;
mod packed_states;
mod parents;
mod partition;
mod random_walks;
mod report;
mod restart;
mod spotted;
mod swarm;
mod workers;

pub use audit::{AmpleAudit, audit_ample};
pub use breadth_first::breadth_first;
pub use depth_first::depth_first;
pub use graph::{Expanded, graph};
pub use graph_workers::graph_by_workers;
pub use liveness::liveness;
pub use liveness_workers::{liveness_by_one_or_several, liveness_by_workers};
pub use monitor::{FINISH_LEVELS_FROM, Limits, Options};
pub use partition::{
    Disk, Peers, Spool, breadth_first_by_processes, breadth_first_on_disk, liveness_by_processes,
};
pub use random_walks::random_walks;
pub use report::{Cause, Found, Path, Report, SHARES, Statistics, Stop};
pub use restart::Log;
pub use swarm::swarm;
pub use workers::{Workers, breadth_first_by_workers};

#[cfg(doc)]
use quotient_seams::{Ample, Representative, System, Visited};

/// The four seams of one search.
#[derive(Debug)]
pub struct Seams<'a, S, R, A, V> {
    /// What can happen next?
    pub system: &'a mut S,
    /// Which state stands for this one?
    pub representative: &'a mut R,
    /// Which enabled actions must be explored?
    pub ample: &'a mut A,
    /// Seen before?
    pub visited: &'a mut V,
}
