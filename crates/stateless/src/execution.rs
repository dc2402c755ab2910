//! What the exploration asks of a program: the seam between DPOR and whatever executes.

use crate::happens_before::Event;
use crate::operation::Operation;
use crate::threads::{ThreadId, ThreadSet};

/// How a complete execution ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Ending {
    /// Every thread ended as it should.
    Finished,
    /// Some threads wait for ever.
    Deadlock,
    /// An assertion failed.
    Assertion,
    /// The program crashed (invalid memory access, abort, misuse of a primitive).
    Crash,
    /// Two accesses raced. The exploration finds races itself from [`Operation::atomic`]; an
    /// executor with a race detector of its own reports them by this.
    Race,
    /// The execution was infeasible (an assumption of the program did not hold): not a violation.
    Infeasible,
}

impl Ending {
    /// Is this something to report?
    pub fn is_violation(self) -> bool {
        !matches!(self, Ending::Finished | Ending::Infeasible)
    }
}

/// The result of a complete execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// Hash of everything observable at the end. Equivalent executions have equal hashes.
    pub hash: u64,
}

/// Which thread symmetry may be used to prune.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Symmetry {
    /// None.
    Off,
    /// Between threads that were started alike (class A).
    Costarted,
    /// Between threads whose residual code and state agree now, whatever they did before (class B).
    Dynamic,
}

impl Symmetry {
    /// Each value with the name that options use and what it means.
    pub const NAMES: &[(Symmetry, &'static str, &'static str)] = &[
        (Symmetry::Off, "off", "no thread stands for another"),
        (Symmetry::Costarted, "costarted", "threads that were started alike"),
        (Symmetry::Dynamic, "dynamic", "threads whose residual code and state are alike"),
    ];
}

/// A program whose threads are run one visible operation at a time under the exploration's control.
///
/// The program must be deterministic: after [`restart`](Execution::restart), the same sequence of
/// [`step`](Execution::step)s leads to the same state. A step executes the thread's pending operation
/// and then everything up to its next visible operation.
///
/// Blocking is enabledness: a thread whose operation would block is not in
/// [`enabled`](Execution::enabled). The pending operation of a thread, its enabledness, alternatives
/// and effect may depend only on the thread's local state and the objects the operation accesses
/// (see [`crate::operation::dependent`]); a thread that is waiting to be woken changes only by a step
/// that names it in [`Operation::wakes`].
///
/// A failure may end the thread or the whole execution. If it ends the whole execution, operations
/// that were still pending are lost for race detection, so the set of *outcomes* found after the
/// first failure may be incomplete; the first failure itself is always found, because until then
/// every execution was complete.
pub trait Execution {
    /// Upper bound on the number of threads, at most [`crate::MAX_THREADS`].
    fn max_threads(&self) -> usize;

    /// Back to the initial state.
    fn restart(&mut self);

    /// The threads that can make a step. Empty: the execution has ended.
    fn enabled(&self) -> ThreadSet;

    /// The next visible operation of `thread`, as it would be executed in this state in the given
    /// way (for a compare-and-swap: with the value it would meet; for a signal: waking the waiter of
    /// that number). Alternatives differ at most in [`Operation::wakes`]. `None` if the thread has finished, was not
    /// yet created, or waits to be woken.
    fn pending(&self, thread: ThreadId, alternative: u16) -> Option<Operation>;

    /// Executes the pending operation of the enabled `thread` in the given way (below
    /// [`Operation::alternatives`]).
    fn step(&mut self, thread: ThreadId, alternative: u16);

    /// Goes back to the initial state and repeats a run from there. If `check` is set, every operation must be the one
    /// that the run says.
    ///
    /// An executor may override this if it can repeat steps faster than make them.
    ///
    /// # Errors
    /// The number of the first event whose thread is about to do something else.
    fn repeat(&mut self, run: &[Event], check: bool) -> Result<(), usize> {
        self.restart();
        for (step, event) in run.iter().enumerate() {
            if check {
                let met = self.pending(event.thread, event.alternative);
                if !met.is_some_and(|met| met.same_shape(&event.operation)) {
                    return Err(step);
                }
            }
            self.step(event.thread, event.alternative);
        }
        Ok(())
    }

    /// The outcome, once no thread is enabled.
    fn outcome(&mut self) -> Outcome;

    /// Can the threads `a` and `b`, enabled or blocked, be exchanged? Must be an equivalence relation
    /// on the threads with a pending operation, and relate enabled threads to enabled ones. "No" is always right.
    ///
    /// For [`Symmetry::Dynamic`]: does exchanging them map the whole current state to itself: same
    /// residual code and local state, and nobody else (locals, globals, lock owners, queues, joins)
    /// can tell one from the other?
    ///
    /// For [`Symmetry::Costarted`]: were they started alike, so that exchanging them maps runs of the
    /// program to runs, and does nobody treat them differently from here on (creation, joins)? That
    /// the run so far is the same for both is checked by the exploration.
    fn symmetric(&mut self, _a: ThreadId, _b: ThreadId, _symmetry: Symmetry) -> bool {
        false
    }
}
