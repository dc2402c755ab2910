//! What to explore and how far, and what came of it.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::execution::{Ending, Outcome, Symmetry};
use crate::happens_before::Event;
use crate::schedule::Schedule;

/// Which partial order reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Algorithm {
    /// Flanagan and Godefroid, POPL 2005, without sleep sets.
    FlanaganGodefroid,
    /// Source sets with sleep sets.
    SourceSets,
    /// Source sets with wake-up trees: exactly one execution per Mazurkiewicz trace.
    Optimal,
}

impl Algorithm {
    /// Each with its word in options, and what it means.
    pub const NAMES: &[(Algorithm, &str, &str)] = &[
        (Algorithm::Optimal, "optimal", "One execution per trace"),
        (Algorithm::SourceSets, "source", "Source sets with sleep sets"),
        (Algorithm::FlanaganGodefroid, "fg", "Flanagan and Godefroid 2005"),
    ];
}

/// Options of an exploration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Configuration {
    /// The partial order reduction.
    pub algorithm: Algorithm,
    /// The thread symmetry used.
    pub symmetry: Symmetry,
    /// Look for races also on the permuted images of every run (module `symmetry`). Without them
    /// symmetry is the pruning of Yang et al. as printed, which can lose outcomes: the verdict is
    /// then at best undecided.
    pub images: bool,
    /// The most images per run; where there would be more, nothing is pruned.
    pub image_bound: u64,
    /// Stop at the first violation.
    pub stop_at_first: bool,
    /// Report data races (dependent operations, not both atomic, next to each other).
    pub data_races: bool,
    /// The most executions.
    pub max_executions: Option<u64>,
    /// The most preemptions (switches away from an enabled thread) in an execution. Not every
    /// execution within the bound is covered: one may stand for others that need fewer.
    pub max_preemptions: Option<u32>,
    /// The most steps of an execution.
    pub max_steps: usize,
    /// The most time.
    pub max_time: Option<Duration>,
    /// Compare the operations met in replay with those recorded.
    pub check_replay: bool,
}

impl Default for Configuration {
    fn default() -> Configuration {
        Configuration {
            algorithm: Algorithm::Optimal,
            symmetry: Symmetry::Off,
            images: true,
            image_bound: 4096,
            stop_at_first: true,
            data_races: false,
            max_executions: None,
            max_preemptions: None,
            max_steps: 100_000,
            max_time: None,
            check_replay: true,
        }
    }
}

/// Why an exploration did not decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Bound {
    /// [`Configuration::max_executions`].
    Executions,
    /// [`Configuration::max_preemptions`].
    Preemptions,
    /// [`Configuration::max_steps`].
    Steps,
    /// [`Configuration::max_time`].
    Time,
    /// Symmetry was used without images ([`Configuration::images`]).
    LossySymmetry,
    /// The observer stopped the exploration.
    Stopped,
}

/// A violation and how to get there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// What went wrong.
    pub ending: Ending,
    /// The schedule.
    pub schedule: Schedule,
    /// For a data race, the indices of the two steps of the schedule.
    pub race: Option<(usize, usize)>,
}

/// The answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every execution was covered and none is a violation.
    Holds,
    /// A violation was found.
    Violated(Violation),
    /// None was found, but a bound was reached.
    Undecided(Bound),
}

/// Counters of an exploration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Complete executions, without infeasible ones.
    pub executions: u64,
    /// Executions that ended as [`Ending::Infeasible`].
    pub infeasible: u64,
    /// Executions that ended because every enabled thread was asleep. None in optimal mode.
    pub sleep_set_blocked: u64,
    /// Executions cut by the bound on preemptions or steps.
    pub cut: u64,
    /// Executions with a data race, if those are looked for.
    pub racy: u64,
    /// Steps, including replayed ones.
    pub steps: u64,
    /// Steps that were repeated only to get back to a branching state.
    pub replayed: u64,
    /// The longest execution.
    pub depth: usize,
    /// Sequences not explored because a symmetric one is.
    pub pruned_symmetric: u64,
    /// Permuted images looked at.
    pub images: u64,
    /// States at which symmetry was not used because of the bound on images.
    pub symmetry_skipped: u64,
}

impl Statistics {
    /// Executions made to their end or to a bound, infeasible ones included.
    pub fn made(&self) -> u64 {
        self.executions + self.infeasible + self.cut
    }

    /// Adds the counters of another worker.
    pub(crate) fn add(&mut self, other: &Statistics) {
        self.executions += other.executions;
        self.infeasible += other.infeasible;
        self.sleep_set_blocked += other.sleep_set_blocked;
        self.cut += other.cut;
        self.racy += other.racy;
        self.steps += other.steps;
        self.replayed += other.replayed;
        self.depth = self.depth.max(other.depth);
        self.pruned_symmetric += other.pruned_symmetric;
        self.images += other.images;
        self.symmetry_skipped += other.symmetry_skipped;
    }
}

/// The result of an exploration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// The answer.
    pub verdict: Verdict,
    /// Counters.
    pub statistics: Statistics,
}

/// An exploration that could not go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExplorationError {
    /// A replayed schedule met another operation than before: the program is not deterministic.
    NotDeterministic {
        /// The step at which it differed.
        step: usize,
        /// The thread.
        thread: crate::threads::ThreadId,
    },
    /// The combination of options has no meaning.
    Unsupported(&'static str),
    /// The program has more threads than can be explored.
    TooManyThreads(usize),
    /// The order of additions to this object matters after all ([`crate::counts`]): explore again with writes in their place.
    CountMatters(u32),
}

impl std::fmt::Display for ExplorationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ExplorationError::NotDeterministic { step, thread } => write!(
                f,
                "step {step} (thread {thread}) differs from the execution that is being repeated: \
                 the program depends on something outside the schedule"
            ),
            ExplorationError::Unsupported(what) => f.write_str(what),
            ExplorationError::CountMatters(object) => {
                write!(f, "the order of additions to object {object} matters")
            }
            ExplorationError::TooManyThreads(n) => {
                write!(f, "{n} threads, at most {} can be explored", crate::threads::MAX_THREADS)
            }
        }
    }
}

impl std::error::Error for ExplorationError {}

/// What an observer is shown beside the outcome.
pub struct Progress<'a> {
    /// The counters so far.
    pub statistics: &'a Statistics,
    /// The execution.
    pub run: &'a [Event],
}

/// Sees every execution; answers whether to go on. Closures that take the outcome are
/// observers.
pub trait Observer {
    /// A complete execution ended with `outcome`.
    fn execution(&mut self, outcome: Outcome, progress: &Progress<'_>) -> ControlFlow<()>;
    /// An execution was cut by a bound.
    fn cut(&mut self, _: &Progress<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(Outcome)> Observer for F {
    fn execution(&mut self, outcome: Outcome, _: &Progress<'_>) -> ControlFlow<()> {
        self(outcome);
        ControlFlow::Continue(())
    }
}
