//! Source-set exploration by several workers.
//!
//! Work is a state that belongs to everybody, and a first step from there. A worker explores what is
//! below it alone, on a stack of its own; what its runs show to be missing at states above goes to
//! those states, where it becomes new work unless an initial is already there. A worker that
//! others wait for gives away the shallowest state of its stack with something left to explore: the
//! states up to there become common, the rest of its first steps work for others.
//!
//! Why this is sound. The correctness of source sets is a statement about the *final* set of first
//! steps at each state: every race of every run below has an initial among them, or one asleep. In
//! which order they were added does not matter, as long as what sleeps when a first step is explored
//! are steps that come before it in *one* order. That is the order in which first steps were added
//! to the state; other alternatives of an operation have the place of the first. Whether the
//! steps that come before have been explored yet is of no importance.
//!
//! Wake-up trees do depend on the order of exploration: a sequence may be dropped in the trust that
//! a branch *yet to be explored* will be told of it. So the optimal mode is not offered here, and
//! executions stopped by sleep sets are the price of the second worker.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::configuration::{
    Algorithm, Bound, Configuration, ExplorationError, Report, Statistics, Violation,
};
use crate::execution::{Execution, Outcome, Symmetry};
use crate::explore::{Explorer, out_of_bounds, report};
use crate::happens_before::Event;
use crate::symmetry::Classes;
use crate::threads::{ThreadId, ThreadSet};
use crate::wakeup_tree::{ANY, Step};

/// Something to be explored from a common state.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request {
    /// One of these threads.
    Initials { at: usize, initials: ThreadSet },
    /// Another alternative of a step explored there.
    Alternative { at: usize, thread: ThreadId, alternative: u16 },
}

/// A first step from a common state.
#[derive(Clone, Copy)]
struct FirstStep {
    thread: ThreadId,
    alternative: u16,
    /// How many of the first steps of the state come before it.
    place: usize,
}

/// A state that belongs to everybody.
struct Common {
    parent: Option<(usize, Event)>,
    depth: usize,
    enabled: ThreadSet,
    /// What slept there when it became common.
    sleepers: Vec<Step>,
    classes: Classes,
    preemptions: u32,
    first_steps: Vec<FirstStep>,
}

impl Common {
    /// Adds a first step unless an initial is there. Says which of the initials will do, and the
    /// number of the step if it is new.
    fn add_initial(&mut self, initials: ThreadSet) -> (ThreadSet, Option<usize>) {
        let own: ThreadSet = self.first_steps.iter().map(|s| s.thread).collect();
        let asleep: ThreadSet = self.sleepers.iter().map(|z| z.thread).collect();
        let mates = own.iter().fold(ThreadSet::EMPTY, |all, t| all | self.classes.mates(t));
        let there = initials & (own | asleep | mates);
        let Some(thread) = initials.first().filter(|_| there.is_empty()) else { return (there, None) };
        let place = self.first_steps.len();
        self.first_steps.push(FirstStep { thread, alternative: ANY, place });
        (ThreadSet::only(thread), Some(place))
    }

    fn add_alternative(&mut self, thread: ThreadId, alternative: u16) -> Option<usize> {
        // An alternative that was left open when the step was added is the first one.
        let listed = |s: &FirstStep| {
            s.thread == thread && (s.alternative == alternative || s.alternative == ANY && alternative == 0)
        };
        let explored = |z: &Step| z.thread == thread && z.alternative == alternative;
        if self.first_steps.iter().any(listed) || self.sleepers.iter().any(explored) {
            return None;
        }
        let place = self.first_steps.iter().find(|s| s.thread == thread)?.place;
        self.first_steps.push(FirstStep { thread, alternative, place });
        Some(self.first_steps.len() - 1)
    }
}

#[derive(Default)]
struct Work {
    states: Vec<Common>,
    /// State and number of the first step.
    queue: Vec<(usize, usize)>,
    busy: usize,
    violation: Option<Violation>,
    bound: Option<Bound>,
    error: Option<ExplorationError>,
    statistics: Statistics,
}

struct Pool {
    work: Mutex<Work>,
    changed: Condvar,
    /// Workers without work.
    waiting: AtomicUsize,
    executions: AtomicU64,
    stop: AtomicBool,
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, Work> {
        // A worker that panicked takes the exploration down when its thread is joined.
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Explores with `workers` workers, each on a program of its own made by `make`. Every complete
/// execution is shown to `observer`, from any worker, in no particular order.
///
/// # Errors
/// As [`crate::explore()`]; also if the algorithm is not [`Algorithm::SourceSets`].
pub fn explore_parallel<X: Execution>(
    make: impl Fn() -> X + Sync,
    configuration: &Configuration,
    workers: usize,
    observer: &(impl Fn(Outcome) + Sync),
) -> Result<Report, ExplorationError> {
    if configuration.algorithm != Algorithm::SourceSets {
        return Err(ExplorationError::Unsupported("several workers explore with source sets only"));
    }
    let pool = Pool {
        work: Mutex::new(Work::default()),
        changed: Condvar::new(),
        waiting: AtomicUsize::new(0),
        executions: AtomicU64::new(0),
        stop: AtomicBool::new(false),
    };
    let mut program = make();
    program.restart();
    let enabled = program.enabled();
    let mut explorer = Explorer::new(&program, configuration)?;
    explorer.exploration.frames[0].enabled = enabled;
    if configuration.symmetry != Symmetry::Off {
        explorer.exploration.find_classes(&mut program);
    }
    let classes = explorer.exploration.frames[0].classes.clone();
    let Some(thread) = enabled.first() else {
        return crate::explore(&mut program, configuration, &mut |outcome| observer(outcome));
    };
    pool.lock().states.push(Common {
        parent: None,
        depth: 0,
        enabled,
        sleepers: Vec::new(),
        classes,
        preemptions: 0,
        first_steps: vec![FirstStep { thread, alternative: ANY, place: 0 }],
    });
    pool.lock().queue.push((0, 0));
    drop(program);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            scope.spawn(|| {
                let mut program = make();
                let result = Worker::new(&pool, &program, configuration, start)
                    .and_then(|mut worker| worker.work(&mut program, observer));
                if let Err(error) = result {
                    pool.lock().error.get_or_insert(error);
                    pool.stop.store(true, Ordering::Relaxed);
                    pool.changed.notify_all();
                }
            });
        }
    });
    let work = pool.work.into_inner().unwrap_or_else(PoisonError::into_inner);
    match work.error {
        Some(error) => Err(error),
        None => Ok(report(work.violation, work.bound, work.statistics)),
    }
}

struct Worker<'a> {
    pool: &'a Pool,
    configuration: &'a Configuration,
    start: Instant,
    explorer: Explorer,
    /// The common states along the run.
    path: Vec<usize>,
}

impl Worker<'_> {
    fn new<'a, X: Execution>(
        pool: &'a Pool,
        program: &X,
        configuration: &'a Configuration,
        start: Instant,
    ) -> Result<Worker<'a>, ExplorationError> {
        let explorer = Explorer::new(program, configuration)?;
        Ok(Worker { pool, configuration, start, explorer, path: Vec::new() })
    }

    fn work<X: Execution>(
        &mut self,
        program: &mut X,
        observer: &impl Fn(Outcome),
    ) -> Result<(), ExplorationError> {
        while let Some((state, first_step)) = self.next() {
            let result = self.below(program, state, first_step, observer);
            let mut work = self.pool.lock();
            work.busy -= 1;
            result?;
            drop(work);
            self.pool.changed.notify_all();
        }
        let mut work = self.pool.lock();
        work.statistics.add(&self.explorer.exploration.statistics);
        work.bound = work.bound.or(self.explorer.bound);
        if work.violation.is_none() {
            work.violation = self.explorer.violation.take();
        }
        Ok(())
    }

    /// Waits for something to do; `None` when there will be nothing more.
    fn next(&self) -> Option<(usize, usize)> {
        let mut work = self.pool.lock();
        self.pool.waiting.fetch_add(1, Ordering::Relaxed);
        let found = loop {
            if self.pool.stop.load(Ordering::Relaxed) {
                break None;
            }
            // The shallowest work first: it is likely to be the most.
            let depth = |&i: &usize| work.states[work.queue[i].0].depth;
            if let Some(shallowest) = (0..work.queue.len()).min_by_key(depth) {
                work.busy += 1;
                break Some(work.queue.swap_remove(shallowest));
            }
            if work.busy == 0 {
                self.pool.changed.notify_all();
                break None;
            }
            work = self.pool.changed.wait(work).unwrap_or_else(PoisonError::into_inner);
        };
        self.pool.waiting.fetch_sub(1, Ordering::Relaxed);
        found
    }

    /// Explores everything below a first step.
    fn below<X: Execution>(
        &mut self,
        program: &mut X,
        state: usize,
        first_step: usize,
        observer: &impl Fn(Outcome),
    ) -> Result<(), ExplorationError> {
        self.set_up(program, state, first_step);
        let mut fixed = self.path.len() - 1;
        loop {
            let executions = self.pool.executions.load(Ordering::Relaxed);
            if let Some(bound) = out_of_bounds(self.configuration, executions, self.start) {
                self.explorer.bound = Some(bound);
                self.stop();
                return Ok(());
            }
            let before = self.explorer.exploration.statistics.made();
            let went_on = self.explorer.run_once(program, fixed, &mut |outcome| observer(outcome))?;
            let after = self.explorer.exploration.statistics.made();
            self.pool.executions.fetch_add(after - before, Ordering::Relaxed);
            if went_on.is_break() {
                self.stop();
                return Ok(());
            }
            if self.pool.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.send_requests();
            if self.pool.waiting.load(Ordering::Relaxed) > 0 {
                self.give_away();
            }
            match self.explorer.exploration.backtrack() {
                Some(depth) => fixed = depth,
                None => return Ok(()),
            }
        }
    }

    fn stop(&self) {
        self.pool.stop.store(true, Ordering::Relaxed);
        self.pool.changed.notify_all();
    }

    /// Makes the run lead to `state`, with its first step as the only thing to explore there.
    fn set_up<X: Execution>(&mut self, program: &mut X, state: usize, first_step: usize) {
        let exploration = &mut self.explorer.exploration;
        while exploration.live > 0 {
            exploration.live -= 1;
            exploration.trees.release(exploration.frames[exploration.live].tree);
        }
        exploration.run.clear();
        exploration.history.truncate(0);
        self.explorer.happens_before.restart();
        exploration.shared = 0;
        exploration.requests.clear();
        let work = self.pool.lock();
        self.path.clear();
        let mut at = Some(state);
        while let Some(state) = at {
            self.path.push(state);
            at = work.states[state].parent.as_ref().map(|(parent, _)| *parent);
        }
        self.path.reverse();
        program.restart();
        let mut first = None;
        for &on_path in &self.path {
            let common = &work.states[on_path];
            if let Some((_, event)) = &common.parent {
                program.step(event.thread, event.alternative);
                exploration.run.push(*event);
            }
            let tree = exploration.trees.empty();
            exploration.push_frame(tree);
            let frame = &mut exploration.frames[exploration.live - 1];
            frame.enabled = common.enabled;
            frame.preemptions = common.preemptions;
            frame.visited = true;
            frame.classes = common.classes.clone();
            frame.sleepers.clone_from(&common.sleepers);
            if on_path == state {
                let step = common.first_steps[first_step];
                first = Some(step);
                // What comes before it sleeps, with its symmetric counterparts.
                for earlier in common.first_steps.iter().filter(|s| s.place < step.place) {
                    let Some(operation) = program.pending(earlier.thread, 0) else { continue };
                    let z = Step { thread: earlier.thread, alternative: earlier.alternative, operation };
                    frame.sleepers.push(z);
                    for mate in common.classes.mates(earlier.thread).iter() {
                        let operation = operation.swapped(earlier.thread, mate);
                        frame.sleepers.push(Step { thread: mate, operation, ..z });
                    }
                }
            }
        }
        drop(work);
        let root = exploration.live - 1;
        if let Some(FirstStep { thread, alternative, .. }) = first {
            let operation = crate::operation::Operation::new(crate::operation::Kind::Other);
            exploration.trees.push(exploration.frames[root].tree, Step { thread, alternative, operation });
        }
        exploration.shared = root + 1;
    }

    /// Takes what is to be explored at common states there.
    fn send_requests(&mut self) {
        let exploration = &mut self.explorer.exploration;
        if exploration.requests.is_empty() {
            return;
        }
        let mut work = self.pool.lock();
        for request in exploration.requests.drain(..) {
            let (at, added) = match request {
                Request::Initials { at, initials } => {
                    let state = self.path[at];
                    let (there, added) = work.states[state].add_initial(initials);
                    let frame = &mut exploration.frames[at];
                    frame.elsewhere = frame.elsewhere | there;
                    (state, added)
                }
                Request::Alternative { at, thread, alternative } => {
                    let state = self.path[at];
                    (state, work.states[state].add_alternative(thread, alternative))
                }
            };
            if let Some(first_step) = added {
                work.queue.push((at, first_step));
                self.pool.changed.notify_one();
            }
        }
    }

    /// Makes the states up to the shallowest one with something left to explore common, and what is
    /// left there work for all.
    fn give_away(&mut self) {
        let exploration = &mut self.explorer.exploration;
        let own = exploration.shared..exploration.live;
        let Some(given) =
            own.into_iter().find(|&at| !exploration.trees.is_empty(exploration.frames[at].tree))
        else {
            return;
        };
        let mut work = self.pool.lock();
        for at in exploration.shared..=given {
            let frame = &exploration.frames[at];
            // Alternatives of one operation share a place, as their explored siblings are asleep.
            let mut first_steps: Vec<FirstStep> = Vec::new();
            let current = exploration.run.get(at).map(|e| (e.thread, e.alternative));
            let left: Vec<(ThreadId, u16)> =
                exploration.trees.first_steps(frame.tree).map(|z| (z.thread, z.alternative)).collect();
            for (thread, alternative) in current.into_iter().chain(left) {
                let same = first_steps.iter().find(|s| s.thread == thread).map(|s| s.place);
                let place = same.unwrap_or(first_steps.len());
                first_steps.push(FirstStep { thread, alternative, place });
            }
            let id = work.states.len();
            work.states.push(Common {
                parent: Some((self.path[at - 1], exploration.run[at - 1])),
                depth: at,
                enabled: frame.enabled,
                sleepers: frame.sleepers.clone(),
                classes: frame.classes.clone(),
                preemptions: frame.preemptions,
                first_steps,
            });
            self.path.push(id);
            if at == given {
                let count = work.states[id].first_steps.len();
                work.queue.extend((1..count).map(|step| (id, step)));
                while let Some((_, below)) = exploration.trees.take_first(frame.tree) {
                    exploration.trees.release(below);
                }
            }
        }
        exploration.shared = given + 1;
        drop(work);
        self.pool.changed.notify_all();
    }
}
