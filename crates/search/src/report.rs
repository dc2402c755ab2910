//! What a search found and what it covered.

use quotient_seams::{Incomplete, ViolationCode, Visited};

/// The way to a state: the number of the initial state among the initial states, then for each step the
/// number of the successor among the successors of the state before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The numbers.
    pub choices: Vec<u32>,
}

/// What is wrong at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The last state has no successor and is not a valid end.
    Deadlock,
    /// The last step (or the last initial state) carries this violation.
    Violation(ViolationCode),
    /// The last steps of the path form a cycle that is to be reported.
    Cycle,
}

/// A violation with the way to it.
#[derive(Clone, Debug)]
pub struct Found {
    /// What is wrong.
    pub cause: Cause,
    /// How to get there.
    pub path: Path,
    /// How many steps at the end of the path lead from a state back to it; 0 when the path just ends.
    pub cycle: usize,
    /// How often the same was met (each deadlocked state, each step with this violation).
    pub count: u64,
}

/// Why a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Everything was explored.
    Complete,
    /// The first violation was asked for and found.
    Violation,
    /// Something was left out: why.
    Incomplete(Incomplete),
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Distinct states stored.
    pub states: u64,
    /// Successors generated.
    pub transitions: u64,
    /// States expanded.
    pub expanded: u64,
    /// Greatest distance from an initial state (breadth-first) or length of the stack (depth-first).
    pub depth: u64,
    /// Bytes held by the store.
    pub store_bytes: u64,
    /// Bytes held by the search itself: frontier or stack, and the record of predecessors.
    pub search_bytes: u64,
    /// States generated and not expanded.
    pub waiting: u64,
    /// States that each worker has expanded, where several work; of more than these, the first.
    pub shares: [u64; SHARES],
}

/// Workers whose share is told.
pub const SHARES: usize = 16;

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Report {
    /// Why it ended.
    pub stop: Stop,
    /// What it found: one entry per cause, in the order found.
    pub found: Vec<Found>,
    /// How much was done.
    pub statistics: Statistics,
    /// How many workers took part.
    pub workers: usize,
}

impl Stop {
    /// Everything that the store has taken for new was explored.
    pub(crate) fn complete(visited: &impl Visited) -> Stop {
        visited.left_out().map_or(Stop::Complete, |what| Stop::Incomplete(Incomplete::Approximate(what)))
    }
}

impl Report {
    /// Records a violation; the way to it is computed only for the first of its cause.
    pub(crate) fn record(&mut self, cause: Cause, path: impl FnOnce() -> Path) {
        match self.found.iter_mut().find(|f| f.cause == cause) {
            Some(found) => found.count += 1,
            None => self.found.push(Found { cause, path: path(), cycle: 0, count: 1 }),
        }
    }

    /// A search that could not begin.
    pub fn incomplete(why: Incomplete) -> Report {
        Report { stop: Stop::Incomplete(why), ..Report::new() }
    }

    pub(crate) fn new() -> Report {
        Report { stop: Stop::Complete, found: Vec::new(), statistics: Statistics::default(), workers: 1 }
    }
}
