//! Optimal exploration by several processes: branches of wake-up trees explored ahead.
//!
//! The exploration itself stays sequential. Where a processor is idle, the explorer duplicates itself, and the copy
//! explores one branch that is still to come, as if everything before it were done; when the original comes to that
//! branch it takes over what the copy has found instead of exploring it. A copy can be duplicated in turn.
//!
//! Why the result is that of one process. What is explored below a branch is a function of the run to its state, of the
//! steps asleep there and of the wake-up tree below the branch. The steps asleep are those asleep when the state was
//! reached, the current branch, and the branches before the given one; all are known, since new branches come last.
//! The tree below can still grow by what the runs before it report: then the copy's work is thrown away. A leaf never
//! grows. What the copy's runs report to states above the branch is written down and inserted when the original comes
//! to it, as the sequential exploration would have; only that the copy may report what the original knows by then.
//! So executions, and everything else that is counted, are the same with any number of processes.
//!
//! Reports carry threads and alternatives, not operations: numbers of objects found after the duplication mean
//! different things to the two. The original executes the sequence once to see its operations.
//!
//! With symmetry the same holds. The tree of a state is rebuilt when it is first visited, and its threads are compared then; a branch is only given away at
//! states that were visited. Besides the steps explored their counterparts sleep. A sequence that a copy's run (or an image of it) asks for goes
//! down along the run as far as something stands for it; if it ends at a state that is not the copy's own, it is reported for that state. What
//! the copy knows of the original's last run, it has asked for already: so that images need not be looked at again is right in the copy as well.
//! What must hold besides is that both would answer alike whether threads are symmetric; that is up to the program, which may have to give up a copy
//! that has learnt something.
//!
//! Only for optimal exploration, and not for symmetry without images. See [`crate::parallel`] for source sets with threads.

use std::time::Instant;

use crate::configuration::{
    Algorithm, Bound, Configuration, ExplorationError, Observer, Report, Statistics, Violation,
};
use crate::execution::{Execution, Symmetry};
use crate::explore::{Exploration, Explorer, out_of_bounds, report};
use crate::happens_before::Event;
use crate::operation::Kind;
use crate::threads::ThreadId;
use crate::wakeup_tree::{ANY, Root, Step};

/// A branch given away, by a number that whoever duplicates explorers has chosen.
pub type Job = usize;

/// Which of the two an explorer is after it was duplicated.
pub enum Side {
    /// The one that goes on; the other has this number.
    Original(Job),
    /// The one that explores the branch.
    Copy,
}

/// A sequence to be explored from a state: threads and alternatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// Length of the run to the state.
    pub at: usize,
    /// The steps; the alternative of the last may be [`ANY`].
    pub steps: Vec<(ThreadId, u16)>,
}

/// What a copy has found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Its counters.
    pub statistics: Statistics,
    /// A bound that it reached.
    pub bound: Option<Bound>,
    /// A violation.
    pub violation: Option<Violation>,
    /// What is to be explored from states that are not its own.
    pub reports: Vec<Reported>,
}

/// Duplicates explorers and brings back what they have found.
pub trait Helpers: Observer {
    /// Is a processor idle, and would it be worth while?
    fn wanted(&mut self) -> bool;
    /// Duplicates the whole explorer, program included. `None`: not now.
    fn duplicate(&mut self) -> Option<Side>;
    /// Waits for a copy. `None`: it has found nothing that can be used.
    fn wait(&mut self, job: Job) -> Option<Found>;
    /// Ends a copy whose work is of no use.
    fn cancel(&mut self, job: Job);
    /// The end of a copy; with nothing if it could not go on, so that the original has to see for itself.
    fn finish(&mut self, found: Option<Found>) -> !;
    /// Complete executions of all explorers so far.
    fn executions(&self) -> u64;
    /// Has some explorer found a reason for all to stop?
    fn stopped(&self) -> bool;
    /// This explorer has found one.
    fn stop(&mut self);
}

/// Explores `program` with `helpers`, which also see every complete execution of their explorer.
///
/// # Errors
/// As [`crate::explore()`]; also for anything but optimal exploration, and for symmetry without images.
pub fn explore_ahead<X: Execution>(
    program: &mut X,
    configuration: &Configuration,
    helpers: &mut impl Helpers,
) -> Result<Report, ExplorationError> {
    let lossy = configuration.symmetry != Symmetry::Off && !configuration.images;
    if configuration.algorithm != Algorithm::Optimal || lossy {
        return Err(ExplorationError::Unsupported("several processes explore in optimal mode only"));
    }
    let mut explorer = Explorer::new(program, configuration)?;
    let result = run(&mut explorer, program, configuration, helpers);
    // All is done, or something stops everybody.
    let exploration = &mut explorer.exploration;
    for job in exploration.frames.iter_mut().flat_map(|frame| frame.given.drain(..)).collect::<Vec<_>>() {
        if result.is_ok() && helpers.stopped() {
            if let Some(found) = helpers.wait(job.1) {
                exploration.statistics.add(&found.statistics);
                explorer.violation = explorer.violation.take().or(found.violation);
                // Who was stopped does not know why.
                explorer.bound =
                    explorer.bound.filter(|b| *b != Bound::Stopped).or(found.bound).or(explorer.bound);
            }
        } else {
            helpers.cancel(job.1);
        }
    }
    let exploration = &mut explorer.exploration;
    if exploration.shared > 0 {
        let reports = std::mem::take(&mut exploration.reports);
        let (statistics, bound) = (exploration.statistics, explorer.bound);
        match result {
            Ok(()) => {
                helpers.finish(Some(Found { statistics, bound, violation: explorer.violation, reports }))
            }
            // The original will meet the same.
            Err(_) => helpers.finish(None),
        }
    }
    result?;
    Ok(report(explorer.violation, explorer.bound, explorer.exploration.statistics))
}

fn run<X: Execution>(
    explorer: &mut Explorer,
    program: &mut X,
    configuration: &Configuration,
    helpers: &mut impl Helpers,
) -> Result<(), ExplorationError> {
    let start = Instant::now();
    let mut fixed = 0;
    loop {
        let made = helpers.executions() + explorer.exploration.statistics.cut;
        if let Some(bound) = out_of_bounds(configuration, made, start) {
            explorer.bound = Some(bound);
            helpers.stop();
            return Ok(());
        }
        if explorer.run_once(program, fixed, helpers)?.is_break() {
            helpers.stop();
            return Ok(());
        }
        if helpers.stopped() {
            explorer.bound = explorer.bound.or(Some(Bound::Stopped));
            return Ok(());
        }
        for job in explorer.exploration.spoiled.drain(..) {
            helpers.cancel(job);
        }
        if helpers.wanted()
            && let Some((at, branch)) = explorer.exploration.branch_to_give()
        {
            match helpers.duplicate() {
                Some(Side::Original(job)) => explorer.exploration.frames[at].given.push((branch, job)),
                Some(Side::Copy) => {
                    explorer.become_copy(at, branch);
                    fixed = at;
                    continue;
                }
                None => {}
            }
        }
        loop {
            let Some(at) = explorer.exploration.backtrack() else { return Ok(()) };
            fixed = at;
            let Some(job) = explorer.exploration.first_is_given(at) else { break };
            if let Some(found) = helpers.wait(job) {
                let ended = matches!(found.bound, Some(Bound::Executions | Bound::Time | Bound::Stopped));
                explorer.take_over(program, at, found)?;
                for job in explorer.exploration.spoiled.drain(..) {
                    helpers.cancel(job);
                }
                if ended || explorer.violation.is_some() && configuration.stop_at_first {
                    helpers.stop();
                    return Ok(());
                }
            }
        }
    }
}

/// Will this step be taken in one way only, which is known?
fn is_single(step: &Step) -> bool {
    let operation = &step.operation;
    step.alternative != ANY
        || operation.alternatives == 1 && !matches!(operation.kind, Kind::Signal | Kind::Choose)
}

/// The step as it will have been explored.
fn explored(step: &Step) -> Step {
    Step { alternative: if step.alternative == ANY { 0 } else { step.alternative }, ..*step }
}

impl Exploration {
    /// The first branch at the shallowest state that can be given away.
    fn branch_to_give(&self) -> Option<(usize, Root)> {
        (self.shared..self.live.saturating_sub(1)).find_map(|at| {
            let frame = &self.frames[at];
            let given = |branch: Root| frame.given.iter().any(|(b, _)| *b == branch);
            let mut before = self.trees.branches(frame.tree).take_while(|(branch, _)| given(*branch));
            // Which alternative of a step before it will be explored, and so asleep, must be certain.
            if !before.all(|(_, step)| is_single(step)) {
                return None;
            }
            let (branch, _) = self.trees.branches(frame.tree).find(|(branch, _)| !given(*branch))?;
            Some((at, branch))
        })
    }

    /// The job that explores the first branch at state `at`, if there is one. It is no longer given.
    fn first_is_given(&mut self, at: usize) -> Option<Job> {
        let frame = &mut self.frames[at];
        let (first, _) = self.trees.branches(frame.tree).next()?;
        let position = frame.given.iter().position(|(branch, _)| *branch == first)?;
        Some(frame.given.remove(position).1)
    }

    /// Inserts a sequence that a copy has reported.
    fn insert_reported<X: Execution>(
        &mut self,
        program: &mut X,
        reported: &Reported,
    ) -> Result<(), ExplorationError> {
        let Reported { at, steps } = reported;
        let differs = |step: usize, thread| ExplorationError::NotDeterministic { step, thread };
        if self.configuration.symmetry == Symmetry::Off {
            program
                .repeat(&self.run[..*at], self.configuration.check_replay)
                .map_err(|step| differs(step, self.run[step].thread))?;
        } else {
            // The exploration does not go back to this state: what belongs to later ones stays as it is.
            program.restart();
            self.run[..*at].iter().for_each(|event| program.step(event.thread, event.alternative));
        }
        let mut events: Vec<Event> = Vec::new();
        let mut last = None;
        for (position, &(thread, alternative)) in steps.iter().enumerate() {
            let taken = if alternative == ANY { 0 } else { alternative };
            let operation = program.pending(thread, taken).ok_or(differs(at + position, thread))?;
            if position + 1 == steps.len() {
                last = Some(Step { thread, alternative, operation });
            } else {
                program.step(thread, taken);
                events.push(Event { thread, alternative, operation });
            }
        }
        self.statistics.steps += (at + events.len()) as u64;
        self.statistics.replayed += (at + events.len()) as u64;
        if let Some(last) = last {
            self.sequence.clear();
            self.sequence.extend(0..events.len() as u32);
            self.insert_sequence(&events, *at, last);
        }
        Ok(())
    }
}

impl Explorer {
    /// From here on only what is below this branch, at state `at`, is explored.
    fn become_copy(&mut self, at: usize, branch: Root) {
        let exploration = &mut self.exploration;
        for frame in &mut exploration.frames {
            frame.given.clear();
        }
        let current = exploration.run[at];
        let Event { thread, alternative, operation } = current;
        let tree = exploration.frames[at].tree;
        let before = exploration.trees.branches(tree).take_while(|(b, _)| *b != branch);
        let mut asleep: Vec<Step> = vec![Step { thread, alternative, operation }];
        asleep.extend(before.map(|(_, step)| explored(step)));
        asleep.into_iter().for_each(|step| exploration.put_to_sleep(at, step));
        exploration.trees.bring_to_front(tree, branch);
        while exploration.live > at + 1 {
            exploration.live -= 1;
            exploration.trees.release(exploration.frames[exploration.live].tree);
        }
        exploration.run.truncate(at);
        exploration.shared = at + 1;
        exploration.reports.clear();
        exploration.statistics = Statistics::default();
        (self.violation, self.bound) = (None, None);
    }

    /// The branch that comes first at state `at` was explored by a copy.
    fn take_over<X: Execution>(
        &mut self,
        program: &mut X,
        at: usize,
        found: Found,
    ) -> Result<(), ExplorationError> {
        let exploration = &mut self.exploration;
        exploration.statistics.add(&found.statistics);
        self.bound = self.bound.or(found.bound);
        self.violation = self.violation.take().or(found.violation);
        // What is reported does not begin with this step, nor with a counterpart of it: that would have gone further down.
        if let Some((step, below)) = exploration.trees.take_first(exploration.frames[at].tree) {
            exploration.trees.release(below);
            exploration.put_to_sleep(at, explored(&step));
        }
        for reported in &found.reports {
            exploration.insert_reported(program, reported)?;
        }
        Ok(())
    }
}
