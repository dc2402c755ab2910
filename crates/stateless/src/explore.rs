//! The depth-first exploration shared by the three algorithms: runs, replay, sleep sets, bounds.
//!
//! The stack has one frame per state of the current run, with the steps asleep there and the
//! wake-up tree of what is still to be explored from there. An iteration replays the run up to a
//! state with something left to explore, extends it to a complete execution, looks for races in it
//! ([`crate::happens_before`]) and adds what reverses them to the trees above. How a race is reversed
//! is all that distinguishes the algorithms (module `reversal`).
//!
//! Sleep sets: a step explored from a state sleeps in everything explored from that state
//! afterwards, until something dependent is executed. The operation of a sleeping thread does not
//! change while it sleeps, so it is stored with it.
//!
//! Alternatives: two ways to go on with one operation exclude each other for ever, so no execution
//! shows them as a race. After every execution each event with alternatives asks for the others in
//! its place: the events that do not happen after it, then the other alternative. This is case 3 of
//! the argument in [`crate::happens_before`], and in optimal mode it is subject to the same
//! redundancy check as a race, so that no execution is wasted.

use std::ops::ControlFlow;
use std::time::Instant;

use crate::configuration::{
    Algorithm, Bound, Configuration, ExplorationError, Observer, Progress, Report, Statistics, Verdict,
    Violation,
};
use crate::counts::unsettled;
use crate::execution::{Ending, Execution, Symmetry};
use crate::happens_before::{Event, HappensBefore};
use crate::history::History;
use crate::horizon::Horizon;
use crate::operation::{Operation, dependent};
use crate::parallel::Request;
use crate::schedule::{Choice, Schedule};
use crate::symmetry::{Classes, Images};
use crate::threads::{MAX_THREADS, ThreadId, ThreadSet};
use crate::wakeup_tree::{ANY, Root, Step, WakeupTrees};

/// A state of the current run.
pub(crate) struct Frame {
    /// Threads enabled there.
    pub enabled: ThreadSet,
    /// Steps that need not be explored from there: inherited ones and those already explored.
    pub sleepers: Vec<Step>,
    /// What is still to be explored from there, without the branch of the current run.
    pub tree: Root,
    /// Threads that can be exchanged there.
    pub classes: Classes,
    /// At a common state: threads known to be explored there by somebody.
    pub elsewhere: ThreadSet,
    pub preemptions: u32,
    pub visited: bool,
    /// Branches that others explore ([`crate::ahead`]).
    pub given: Vec<(Root, crate::ahead::Job)>,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    Asleep,
    Cut(Bound),
}

/// The state of an exploration, apart from the program.
pub(crate) struct Exploration {
    pub configuration: Configuration,
    pub run: Vec<Event>,
    pub frames: Vec<Frame>,
    /// Frames in use: one more than the run has events.
    pub live: usize,
    pub trees: WakeupTrees,
    pub pending: Vec<(ThreadId, Operation)>,
    pub statistics: Statistics,
    /// Scratch: indices of the events of the sequence under consideration.
    pub sequence: Vec<u32>,
    /// Scratch: the sequence as steps.
    pub steps: Vec<Step>,
    /// Scratch: a copy of the run.
    pub image: Vec<Event>,
    /// Kept up to date when symmetry is used.
    pub history: History,
    pub horizon: Horizon,
    /// States before this one belong to all workers ([`crate::parallel`]): what is to be explored
    /// from them is put into `requests`.
    pub shared: usize,
    pub requests: Vec<Request>,
    /// The same for [`crate::ahead`].
    pub reports: Vec<crate::ahead::Reported>,
    /// Jobs whose branch has grown since it was given away.
    pub spoiled: Vec<crate::ahead::Job>,
}

/// Explores `program`. Every complete execution is shown to `observer`.
///
/// # Errors
/// If the program turns out not to be deterministic, or the configuration has no meaning.
pub fn explore<X: Execution>(
    program: &mut X,
    configuration: &Configuration,
    observer: &mut impl Observer,
) -> Result<Report, ExplorationError> {
    let mut explorer = Explorer::new(program, configuration)?;
    let start = Instant::now();
    let mut fixed = 0;
    loop {
        let executions = explorer.exploration.statistics.made();
        if let Some(bound) = out_of_bounds(configuration, executions, start) {
            explorer.bound = Some(bound);
            break;
        }
        if explorer.run_once(program, fixed, observer)?.is_break() {
            break;
        }
        match explorer.exploration.backtrack() {
            Some(depth) => fixed = depth,
            None => break,
        }
    }
    Ok(report(explorer.violation, explorer.bound, explorer.exploration.statistics))
}

/// Is it time to stop?
pub(crate) fn out_of_bounds(configuration: &Configuration, executions: u64, start: Instant) -> Option<Bound> {
    if configuration.max_executions.is_some_and(|m| executions >= m) {
        return Some(Bound::Executions);
    }
    configuration.max_time.is_some_and(|m| start.elapsed() >= m).then_some(Bound::Time)
}

pub(crate) fn report(violation: Option<Violation>, bound: Option<Bound>, statistics: Statistics) -> Report {
    let verdict = match (violation, bound) {
        (Some(violation), _) => Verdict::Violated(violation),
        (None, Some(bound)) => Verdict::Undecided(bound),
        (None, None) => Verdict::Holds,
    };
    Report { verdict, statistics }
}

/// An exploration with what it needs to analyse runs, and what it has found.
pub(crate) struct Explorer {
    pub exploration: Exploration,
    /// Of the last run made. The next one begins like it, up to where the run was taken back to; who replaces the run must
    /// forget it.
    pub happens_before: HappensBefore,
    images: Images,
    threads: usize,
    pub violation: Option<Violation>,
    pub bound: Option<Bound>,
}

impl Explorer {
    pub fn new<X: Execution>(
        program: &X,
        configuration: &Configuration,
    ) -> Result<Explorer, ExplorationError> {
        let threads = program.max_threads();
        if threads > MAX_THREADS {
            return Err(ExplorationError::TooManyThreads(threads));
        }
        let symmetric = configuration.symmetry != Symmetry::Off;
        if symmetric && configuration.images && configuration.algorithm == Algorithm::FlanaganGodefroid {
            return Err(ExplorationError::Unsupported(
                "symmetry with Flanagan-Godefroid exists only as published, without images",
            ));
        }
        Ok(Explorer {
            exploration: Exploration::new(*configuration, threads),
            happens_before: HappensBefore::new(threads),
            images: Images::new(threads),
            threads,
            violation: None,
            bound: (symmetric && !configuration.images).then_some(Bound::LossySymmetry),
        })
    }

    /// Repeats the first `fixed` steps of the run, goes on to the end, and asks for what the run
    /// shows to be missing. Breaks when a violation or the observer ends the exploration.
    pub fn run_once<X: Execution>(
        &mut self,
        program: &mut X,
        fixed: usize,
        observer: &mut impl Observer,
    ) -> Result<ControlFlow<()>, ExplorationError> {
        let Explorer { exploration, happens_before, images, violation, bound, .. } = self;
        let configuration = exploration.configuration;
        exploration.replay(program, fixed)?;
        let end = exploration.extend(program);
        let statistics = &mut exploration.statistics;
        statistics.depth = statistics.depth.max(exploration.run.len());
        match end {
            End::Asleep => statistics.sleep_set_blocked += 1,
            End::Cut(by) => {
                statistics.cut += 1;
                *bound = Some(by);
                let progress = Progress { statistics: &exploration.statistics, run: &exploration.run };
                if observer.cut(&progress).is_break() {
                    *bound = Some(Bound::Stopped);
                    return Ok(ControlFlow::Break(()));
                }
            }
            End::Complete => {
                let outcome = program.outcome();
                if outcome.ending == Ending::Infeasible {
                    statistics.infeasible += 1;
                } else {
                    statistics.executions += 1;
                }
                if outcome.ending.is_violation() && violation.is_none() {
                    let schedule = exploration.schedule();
                    *violation = Some(Violation { ending: outcome.ending, schedule, race: None });
                }
                let progress = Progress { statistics: &exploration.statistics, run: &exploration.run };
                if observer.execution(outcome, &progress).is_break() {
                    *bound = Some(Bound::Stopped);
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        // Also when all that is enabled sleeps: somebody may have been blocked by this run alone.
        exploration.collect_pending(program, self.threads);
        let from = if configuration.algorithm == Algorithm::Optimal { 0 } else { fixed };
        happens_before.analyse_rest(&exploration.run, &exploration.pending, from, fixed);
        if let Some(object) = unsettled(&exploration.run, happens_before) {
            return Err(ExplorationError::CountMatters(object));
        }
        if configuration.data_races
            && let Some(race) = exploration.data_race(happens_before)
        {
            exploration.statistics.racy += 1;
            violation.get_or_insert(race);
        }
        if violation.is_some() && configuration.stop_at_first {
            return Ok(ControlFlow::Break(()));
        }
        exploration.reverse_races(happens_before, from);
        if configuration.symmetry != Symmetry::Off && configuration.images {
            images.reverse_races(exploration, from, fixed);
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Exploration {
    pub fn new(configuration: Configuration, threads: usize) -> Exploration {
        let mut exploration = Exploration {
            configuration,
            run: Vec::new(),
            frames: Vec::new(),
            live: 0,
            trees: WakeupTrees::default(),
            pending: Vec::new(),
            statistics: Statistics::default(),
            sequence: Vec::new(),
            steps: Vec::new(),
            image: Vec::new(),
            history: History::new(threads),
            horizon: Horizon::default(),
            shared: 0,
            requests: Vec::new(),
            reports: Vec::new(),
            spoiled: Vec::new(),
        };
        let root = exploration.trees.empty();
        exploration.push_frame(root);
        exploration
    }

    fn schedule(&self) -> Schedule {
        let choice = |e: &Event| Choice { thread: e.thread, alternative: e.alternative };
        Schedule { choices: self.run.iter().map(choice).collect() }
    }

    /// Adds the frame of the state after the current run. Its sleepers are those of the state before
    /// that the last event did not wake.
    pub(crate) fn push_frame(&mut self, tree: Root) {
        if self.live == self.frames.len() {
            self.frames.push(Frame {
                enabled: ThreadSet::EMPTY,
                sleepers: Vec::new(),
                tree,
                classes: Classes::default(),
                elsewhere: ThreadSet::EMPTY,
                preemptions: 0,
                visited: false,
                given: Vec::new(),
            });
        }
        let (before, after) = self.frames.split_at_mut(self.live);
        let frame = &mut after[0];
        frame.tree = tree;
        frame.visited = false;
        frame.preemptions = 0;
        frame.sleepers.clear();
        frame.classes.clear();
        frame.elsewhere = ThreadSet::EMPTY;
        debug_assert!(frame.given.is_empty(), "a state was left while others work on it");
        if let (Some(parent), Some(event)) = (before.last(), self.run.last())
            && self.configuration.algorithm != Algorithm::FlanaganGodefroid
        {
            let awake = |z: &&Step| !dependent(event.thread, &event.operation, z.thread, &z.operation);
            frame.sleepers.extend(parent.sleepers.iter().filter(awake));
        }
        self.live += 1;
    }

    fn replay<X: Execution>(&mut self, program: &mut X, fixed: usize) -> Result<(), ExplorationError> {
        if self.configuration.symmetry != Symmetry::Off {
            self.history.truncate(fixed);
            (self.history.length() + 1..=fixed).for_each(|k| self.history.extend(&self.run[..k]));
        }
        let differs =
            |step: usize| ExplorationError::NotDeterministic { step, thread: self.run[step].thread };
        program.repeat(&self.run[..fixed], self.configuration.check_replay).map_err(differs)?;
        self.statistics.steps += fixed as u64;
        self.statistics.replayed += fixed as u64;
        Ok(())
    }

    /// Goes on from the end of the run: first along the wake-up tree, then freely.
    fn extend<X: Execution>(&mut self, program: &mut X) -> End {
        loop {
            let at = self.live - 1;
            let frame = &mut self.frames[at];
            if !frame.visited {
                frame.visited = true;
                frame.enabled = program.enabled();
                if self.configuration.symmetry != Symmetry::Off {
                    self.find_classes(program);
                    self.merge_symmetric();
                }
            }
            let frame = &self.frames[at];
            let enabled = frame.enabled;
            if enabled.is_empty() {
                return End::Complete;
            }
            if at >= self.configuration.max_steps {
                return End::Cut(Bound::Steps);
            }
            let previous = self.run.last().map(|e| e.thread);
            let (step, below) = match self.trees.take_first(frame.tree) {
                Some((step, below)) => ((step.thread, step.alternative), below),
                None => {
                    let asleep: ThreadSet = frame.sleepers.iter().map(|z| z.thread).collect();
                    // Staying with the thread makes readable runs with few preemptions.
                    let awake = enabled - asleep;
                    let stay = previous.filter(|&p| awake.contains(p));
                    let Some(thread) = stay.or(awake.first()) else { return End::Asleep };
                    ((thread, ANY), self.trees.empty())
                }
            };
            let (thread, alternative) = step;
            let asleep = |a: &u16| frame.sleepers.iter().any(|z| z.thread == thread && z.alternative == *a);
            let mut operation = program.pending(thread, if alternative == ANY { 0 } else { alternative });
            let alternative = match operation {
                // An alternative that sleeps need not be the one.
                Some(first) if alternative == ANY && first.alternatives > 1 => {
                    let awake = (0..first.alternatives).find(|a| !asleep(a)).unwrap_or(0);
                    operation = program.pending(thread, awake);
                    awake
                }
                _ if alternative == ANY => 0,
                _ => alternative,
            };
            let operation = operation.filter(|_| enabled.contains(thread));
            debug_assert!(operation.is_some(), "a step of a thread that is not enabled was asked for");
            let Some(operation) = operation else {
                self.trees.release(below);
                return End::Asleep;
            };
            let mut preemptions = frame.preemptions;
            if previous.is_some_and(|p| p != thread && enabled.contains(p)) {
                preemptions += 1;
                if self.configuration.max_preemptions.is_some_and(|m| preemptions > m) {
                    self.trees.release(below);
                    return End::Cut(Bound::Preemptions);
                }
            }
            program.step(thread, alternative);
            self.statistics.steps += 1;
            self.run.push(Event { thread, alternative, operation });
            if self.configuration.symmetry != Symmetry::Off {
                self.history.extend(&self.run);
            }
            self.push_frame(below);
            self.frames[self.live - 1].preemptions = preemptions;
        }
    }

    fn collect_pending<X: Execution>(&mut self, program: &X, threads: usize) {
        self.pending.clear();
        for thread in 0..threads as ThreadId {
            if let Some(operation) = program.pending(thread, 0) {
                self.pending.push((thread, operation));
            }
        }
    }

    fn data_race(&self, happens_before: &HappensBefore) -> Option<Violation> {
        let plain = |i: u32| self.run.get(i as usize).is_some_and(|e| !e.operation.atomic);
        let race =
            happens_before.races().iter().find(|r| r.direct && (plain(r.earlier) || !r.reversed.atomic))?;
        let mut schedule = self.schedule();
        if race.later as usize == self.run.len() {
            schedule.choices.push(Choice { thread: race.thread, alternative: 0 });
        }
        let race = Some((race.earlier as usize, race.later as usize));
        Some(Violation { ending: Ending::Race, schedule, race })
    }

    /// Takes the run back to the deepest state with something left to explore. What was explored
    /// from a state goes to sleep there, together with its symmetric counterparts.
    pub(crate) fn backtrack(&mut self) -> Option<usize> {
        loop {
            let at = self.live - 1;
            if at < self.shared {
                return None;
            }
            if !self.trees.is_empty(self.frames[at].tree) {
                return Some(at);
            }
            self.trees.release(self.frames[at].tree);
            self.live -= 1;
            let Event { thread, alternative, operation } = self.run.pop()?;
            self.put_to_sleep(at - 1, Step { thread, alternative, operation });
        }
    }

    /// This step was explored from state `at`: it sleeps there, and so do its symmetric counterparts.
    pub(crate) fn put_to_sleep(&mut self, at: usize, step: Step) {
        let frame = &mut self.frames[at];
        frame.sleepers.push(step);
        for mate in frame.classes.mates(step.thread).iter() {
            let operation = step.operation.swapped(step.thread, mate);
            frame.sleepers.push(Step { thread: mate, operation, ..step });
        }
    }
}
