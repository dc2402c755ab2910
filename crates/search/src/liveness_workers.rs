//! Search for infinite runs that are to be reported, by several workers: UFSCC ([`crate::components`]).
//!
//! Each worker goes deepest first, in an order of its own, and enters the set of each state that it comes to. A step to a state of a set that it has entered before closes a
//! cycle: all sets that it has entered since become one, with what was met on the steps between them. Where it has come to the end of all steps, it takes over what
//! is left of the set, whoever found it; when nothing is left, the set is a component and dead to all. A worker is done when all that it began is dead.
//!
//! Deviation from the paper: a worker finishes what is left of a set only where it has entered the set first, not at each state that has become part of it since. So one worker alone
//! looks at each state once, as [`crate::liveness()`] does.
//!
//! Why several give the answer of one. *Reported runs exist*: sets are strongly connected at any time, by steps that workers have looked at, and marks are added to a set only where they belong to
//! one of its states or to a step between two of them. *None is missed*: let a worker say as the first that it is done with a state `v`, and look at a step of it to `w` in the same component.
//! It found `w` in a set that it had entered, and then united the two and added the step's marks; or it entered `w` by this step. The component cannot have been dead then or since: `v` was in its list.
//! So the worker left `w` because its set had been united with the one below on the worker's own stack, that of `v`, and the step's marks were added with that. Hence, when everything in a
//! list is done, each step of its states leads to the set itself or to a dead one, the set is a whole component, and it has all marks of all its states and steps. Others may have united
//! sets on a worker's stack before it finds out itself; it then keeps more roots than sets, finishes what is left of the set at the topmost one, and finds everything dead at those below.
//! States and steps are counted by the worker that is the first to be done with a state.
//!
//! Ample sets must see to it themselves that no thread is postponed for ever, since there is no stack that all know: those for temporal questions do. Marks that ask for names
//! of threads are about threads in their places here: representatives must not rename any.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use quotient_seams::{
    Ample, Incomplete, Interrupt, Marks, Names, Omega, Proviso, Representative, SharedNumbering, Successors,
    ViolationCode, Worker,
};

use crate::components::{Claim, Components, MOST_WORKERS};
use crate::expand::{Expander, Turn};
use crate::lasso;
use crate::monitor::Monitor;
use crate::workers::STACK;
use crate::{Cause, Found, Options, Path, Report, Seams, Statistics, Stop, Workers};

/// Looks for a run that meets all marks infinitely often, by several workers. Violations met on the way are reported too.
///
/// # Panics
/// If representatives rename threads and marks ask for their names, or ample sets leave a proviso to the search.
pub fn liveness_by_workers<S, R, A, N>(
    seams: Seams<'_, S, R, A, N>,
    workers: usize,
    options: &mut Options<'_>,
) -> Report
where
    S: Omega + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    N: SharedNumbering,
    S::Marks: Send + Sync,
{
    let Seams { system, representative, ample, visited } = seams;
    assert!(!(R::CHANGES && <S::Marks as Marks>::Names::ASKED), "threads keep their places");
    assert!(ample.proviso() == Proviso::None, "there is no stack that all workers know");
    let states: &N = visited;
    let count = workers.clamp(1, MOST_WORKERS);
    let mut monitor = Monitor::new(options);
    let interrupt = monitor.interrupt().clone();
    let team = Team {
        states,
        sets: Components::new(),
        stop: AtomicBool::new(false),
        why: Mutex::default(),
        wrong: Mutex::default(),
        all: options.all,
        limit: options.limits.states,
        tallies: (0..count).map(|_| Tally::default()).collect(),
    };
    let others: Vec<_> =
        (1..count).map(|_| (system.another(), representative.another(), ample.another())).collect();
    let took_part = std::thread::scope(|scope| {
        let team = &team;
        let threads: Vec<_> = others
            .into_iter()
            .enumerate()
            .filter_map(|(before, parts)| {
                let run = move || {
                    // Made again in this thread, whose memory lies apart from the others'.
                    let (mut system, mut representative, mut ample) =
                        (parts.0.another(), parts.1.another(), parts.2.another());
                    drop(parts);
                    let expander = Expander::new(&mut system, &mut representative, &mut ample);
                    Searcher::new(expander, team, before + 1).run(&mut |_| None);
                    (system, representative, ample)
                };
                let thread = std::thread::Builder::new().name(format!("worker {}", before + 2));
                // Without threads there are fewer workers.
                thread.stack_size(STACK).spawn_scoped(scope, run).ok()
            })
            .collect();
        let ends = EndsTeam(team);
        let expander = Expander::new(&mut *system, &mut *representative, &mut *ample);
        Searcher::new(expander, team, 0).run(&mut |team: &Team<'_, N, S::Marks>| {
            if monitor.due() { monitor.check(options, &mut || team.statistics()) } else { None }
        });
        // It has ended because all is done, or was told to.
        std::mem::forget(ends);
        let took_part = threads.len() + 1;
        for thread in threads {
            let parts = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            system.join(parts.0);
            representative.join(parts.1);
            ample.join(parts.2);
        }
        took_part
    });
    let mut report = conclude(system, representative, team, &interrupt);
    report.workers = took_part;
    report
}

/// Searches with one worker until so many states are stored, and again with several where that was not all.
pub fn liveness_by_one_or_several<S, R, A>(
    workers: Workers,
    options: &mut Options<'_>,
    (system, representative, ample): (&mut S, &mut R, &mut A),
    one: impl FnOnce(&mut S, &mut R, &mut A, &mut Options<'_>) -> Report,
    several: impl FnOnce(&mut S, &mut R, &mut A, &mut Options<'_>) -> Report,
) -> Report {
    let limits = options.limits;
    // The depth of a search is one worker's.
    if workers.count < 2 || limits.depth.is_some() || limits.states.is_some_and(|most| most <= workers.from) {
        return one(system, representative, ample, options);
    }
    let began = std::time::Instant::now();
    options.limits.states = Some(workers.from);
    let report = one(system, representative, ample, options);
    options.limits = limits;
    match report.stop {
        Stop::Incomplete(Incomplete::Limit(_)) => {}
        _ => return report,
    }
    options.limits.time = limits.time.map(|time| time.saturating_sub(began.elapsed()));
    let report = several(system, representative, ample, options);
    options.limits = limits;
    report
}

/// What the workers share.
struct Team<'a, N, M: Marks> {
    states: &'a N,
    sets: Components<M>,
    stop: AtomicBool,
    /// The first reason to stop.
    why: Mutex<Option<Ended>>,
    /// What was found wrong on the way.
    wrong: Mutex<Vec<Wrong>>,
    all: bool,
    limit: Option<u64>,
    tallies: Vec<Tally>,
}

/// Asked now and then whether there is a reason to stop.
type Look<'l, 'a, N, M> = &'l mut dyn FnMut(&Team<'a, N, M>) -> Option<Stop>;

/// Why workers end before all is done.
enum Ended {
    Stop(Stop),
    /// The set of this state has a run that meets everything.
    Cycle(u32),
}

/// A violation met on the way: the state before it and the step, the first time, and how often.
#[derive(Clone, Copy)]
struct Wrong {
    code: ViolationCode,
    from: Option<u32>,
    choice: u32,
    count: u64,
}

#[derive(Default)]
#[repr(align(128))]
struct Tally {
    expanded: AtomicU64,
    transitions: AtomicU64,
    depth: AtomicU64,
    bytes: AtomicU64,
}

/// Ends the others' work when a worker panics.
struct EndsTeam<'t, 'a, N: SharedNumbering, M: Marks>(&'t Team<'a, N, M>);

impl<N: SharedNumbering, M: Marks> Drop for EndsTeam<'_, '_, N, M> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}

impl<N: SharedNumbering, M: Marks> Team<'_, N, M> {
    fn end(&self, why: Ended) {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.stop.store(true, Ordering::Relaxed);
    }

    fn wrong(&self, wrong: Wrong) {
        let mut known = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        match known.iter_mut().find(|w| w.code == wrong.code) {
            Some(before) => before.count += wrong.count,
            None => known.push(wrong),
        }
    }

    fn statistics(&self) -> Statistics {
        let sum = |of: fn(&Tally) -> &AtomicU64| -> u64 {
            self.tallies.iter().map(|tally| of(tally).load(Ordering::Relaxed)).sum()
        };
        let expanded = sum(|t| &t.expanded);
        let mut shares = [0; crate::SHARES];
        for (share, tally) in shares.iter_mut().zip(&self.tallies) {
            *share = tally.expanded.load(Ordering::Relaxed);
        }
        let depth = self.tallies.iter().map(|tally| tally.depth.load(Ordering::Relaxed)).max();
        Statistics {
            shares,
            states: self.states.len(),
            transitions: sum(|t| &t.transitions),
            expanded,
            depth: depth.unwrap_or(0),
            store_bytes: self.states.bytes(),
            search_bytes: self.sets.bytes() + sum(|t| &t.bytes),
            waiting: self.states.len().saturating_sub(expanded),
        }
    }
}

/// The states of a team, of which those in the set of one, or that one, are wanted.
struct Stored<'t, 'a, N, M: Marks> {
    team: &'t Team<'a, N, M>,
    of: u32,
    alone: bool,
}

impl<S, N: SharedNumbering, M: Marks> lasso::States<S> for Stored<'_, '_, N, M> {
    fn number(&mut self, _: &S, state: Vec<u64>) -> Result<usize, Incomplete> {
        let states = self.team.states;
        let number = states.number(&state).map(|(number, _)| number as usize);
        number.ok_or_else(|| states.exhausted().unwrap_or("no room for a state").into())
    }

    fn is_stored(&self, number: usize) -> bool {
        self.team.sets.is_entered(number as u32)
    }

    fn is_wanted(&self, number: usize) -> bool {
        if self.alone { number as u32 == self.of } else { self.team.sets.same(number as u32, self.of) }
    }
}

/// The report of what all have found, with ways to it.
fn conclude<S: Omega, R: Representative<S>, N: SharedNumbering>(
    system: &mut S,
    representative: &mut R,
    team: Team<'_, N, S::Marks>,
    interrupt: &Interrupt,
) -> Report {
    let mut report = Report::new();
    report.statistics = team.statistics();
    let wrong = std::mem::take(&mut *team.wrong.lock().unwrap_or_else(PoisonError::into_inner));
    for Wrong { code, from, choice, count } in wrong {
        let way = match from {
            None => Ok((Vec::new(), Vec::new())),
            Some(of) => {
                let mut states = Stored { team: &team, of, alone: true };
                lasso::way(system, representative, &mut states, interrupt)
            }
        };
        let mut choices = match way {
            Ok((choices, _)) => choices,
            Err(why) => {
                report.stop = Stop::Incomplete(why);
                return report;
            }
        };
        choices.push(choice);
        let path = Path { choices };
        report.found.push(Found { cause: Cause::Violation(code), path, cycle: 0, count });
    }
    report.stop = match team.why.lock().unwrap_or_else(PoisonError::into_inner).take() {
        None => Stop::Complete,
        Some(Ended::Stop(stop)) => stop,
        Some(Ended::Cycle(of)) => {
            let mut states = Stored { team: &team, of, alone: false };
            match lasso::shortest(system, representative, &mut states, interrupt) {
                Ok(lasso) => {
                    let (path, cycle) = (lasso.path, lasso.cycle);
                    report.found.push(Found { cause: Cause::Cycle, path, cycle, count: 1 });
                    Stop::Violation
                }
                Err(what) => Stop::Incomplete(what),
            }
        }
    };
    // What a store refuses looks like what it has: nothing may be concluded then.
    if report.stop == Stop::Complete
        && let Some(what) = team.states.exhausted()
    {
        report.stop = Stop::Incomplete(what.into());
    }
    report
}

/// A state whose successors a worker looks at.
struct Frame {
    /// The state by which the worker has entered the set.
    entered: u32,
    /// The state at hand, of the same set.
    at: u32,
    /// Its successors: `next..` of `waiting` up to the next frame's.
    start: usize,
    next: usize,
    /// Of all its successors, those with a state.
    moves: u32,
    wrong: Vec<Wrong>,
}

/// A set that a worker has entered: by which state, and what is met on the step to it.
#[derive(Clone, Copy)]
struct Root<M> {
    state: u32,
    by: M,
}

/// One worker.
struct Searcher<'a, 't, S: Omega, R, A, N> {
    expander: Expander<'a, S, R, A>,
    team: &'t Team<'a, N, S::Marks>,
    worker: usize,
    frames: Vec<Frame>,
    roots: Vec<Root<S::Marks>>,
    waiting: Vec<(u32, S::Marks)>,
    successors: Successors,
    marks: Vec<S::Marks>,
    state: Vec<u64>,
    /// For an order of its own.
    random: u64,
}

impl<'a, 't, S, R, A, N> Searcher<'a, 't, S, R, A, N>
where
    S: Omega,
    R: Representative<S>,
    A: Ample<S>,
    N: SharedNumbering,
{
    fn new(
        expander: Expander<'a, S, R, A>,
        team: &'t Team<'a, N, S::Marks>,
        worker: usize,
    ) -> Searcher<'a, 't, S, R, A, N> {
        Searcher {
            expander,
            team,
            worker,
            frames: Vec::new(),
            roots: Vec::new(),
            waiting: Vec::new(),
            successors: Successors::new(),
            marks: Vec::new(),
            state: Vec::new(),
            random: worker as u64,
        }
    }

    /// Searches until all is done, or somebody has a reason to stop. `look` may give one.
    fn run(&mut self, look: Look<'_, 'a, N, S::Marks>) {
        let Err(why) = self.search(look) else { return };
        if let Some(ended) = why {
            self.team.end(ended);
        }
        // Steps of states that nobody is done with now.
        let taken: usize = self.frames.iter().map(|frame| frame.next - frame.start).sum();
        self.team.tallies[self.worker].transitions.fetch_add(taken as u64, Ordering::Relaxed);
    }

    /// As [`Searcher::run`]; `Err(None)` where somebody else has the reason.
    fn search(&mut self, look: Look<'_, 'a, N, S::Marks>) -> Result<(), Option<Ended>> {
        self.successors.clear();
        let begun = self.expander.initial(&mut self.successors, &mut ());
        begun.map_err(|e| Some(Ended::Stop(Stop::Incomplete(e.what))))?;
        let mut wrong = Vec::new();
        let mut initial = Vec::new();
        self.numbers(None, &mut wrong, |number, _| initial.push(number))?;
        if self.worker == 0 {
            wrong.into_iter().for_each(|wrong| self.team.wrong(wrong));
        }
        for state in initial {
            if self.team.sets.claim(state, self.worker) == Claim::New {
                self.enter(state, S::Marks::NONE)?;
                self.explore(&mut *look)?;
            }
        }
        Ok(())
    }

    fn explore(&mut self, look: Look<'_, 'a, N, S::Marks>) -> Result<(), Option<Ended>> {
        let sets = &self.team.sets;
        while let Some(frame) = self.frames.last_mut() {
            if let Some(&(to, marks)) = self.waiting.get(frame.next) {
                frame.next += 1;
                let at = frame.at;
                match sets.claim(to, self.worker) {
                    Claim::Dead => {}
                    Claim::New => self.enter(to, marks)?,
                    Claim::Found => self.close(at, to, marks)?,
                }
                continue;
            }
            let (entered, at) = (frame.entered, frame.at);
            self.done(at);
            let is_first = self.roots.last().is_some_and(|root| root.state == entered);
            let more = if is_first { sets.pick(entered) } else { None };
            match more {
                Some(next) => self.expand(next)?,
                None => {
                    if is_first {
                        self.roots.pop();
                    }
                    if let Some(frame) = self.frames.pop() {
                        self.waiting.truncate(frame.start);
                    }
                }
            }
            if self.team.stop.load(Ordering::Relaxed) {
                return Err(None);
            }
            if let Some(stop) = look(self.team) {
                return Err(Some(Ended::Stop(stop)));
            }
        }
        Ok(())
    }

    /// Enters the set of a state by a step with these marks.
    fn enter(&mut self, state: u32, by: S::Marks) -> Result<(), Option<Ended>> {
        self.roots.push(Root { state, by });
        let start = self.waiting.len();
        self.frames.push(Frame {
            entered: state,
            at: state,
            start,
            next: start,
            moves: 0,
            wrong: Vec::new(),
        });
        let tally = &self.team.tallies[self.worker];
        tally.depth.fetch_max(self.frames.len() as u64 - 1, Ordering::Relaxed);
        // What another worker is done with need not be done again.
        if !self.team.sets.is_done(state) { self.expand(state) } else { Ok(()) }
    }

    /// A step leads to a state of a set that this worker has entered before: all sets from there on are one.
    fn close(&mut self, at: u32, to: u32, marks: S::Marks) -> Result<(), Option<Ended>> {
        let sets = &self.team.sets;
        let mut marks = marks;
        while !sets.same(at, to) {
            let Some(root) = self.roots.pop() else { break };
            let Some(below) = self.roots.last() else {
                self.roots.push(root);
                break;
            };
            marks.add(root.by);
            sets.unite(root.state, below.state);
        }
        if sets.meet(at, marks, true) { Err(Some(Ended::Cycle(at))) } else { Ok(()) }
    }

    /// Looks at the successors of a state of the set at the top.
    fn expand(&mut self, at: u32) -> Result<(), Option<Ended>> {
        let mut state = std::mem::take(&mut self.state);
        self.team.states.state(at, &mut state);
        let mut turn = Turn::default();
        loop {
            self.successors.clear();
            let expanded = self.expander.expand(&state, &mut turn, &mut self.successors, &mut ());
            expanded.map_err(|e| Some(Ended::Stop(Stop::Incomplete(e.what))))?;
            // What goes wrong commutes with nothing.
            if turn.is_whole() || !self.successors.has_violations() {
                break;
            }
        }
        let own = self.expander.system.state_marks(&state);
        let mut marks = std::mem::take(&mut self.marks);
        self.expander.system.step_marks(&state, &self.successors, &mut marks);
        self.state = state;
        let start = self.frames.last().map_or(0, |frame| frame.start);
        self.waiting.truncate(start);
        let (mut wrong, mut moves) = (Vec::new(), 0);
        let mut waiting = std::mem::take(&mut self.waiting);
        let numbered = self.numbers(Some(at), &mut wrong, |number, index| {
            moves += 1;
            waiting.push((number, marks.get(index).copied().unwrap_or(S::Marks::NONE)));
        });
        self.waiting = waiting;
        self.marks = marks;
        numbered?;
        self.shuffle(start);
        if let Some(frame) = self.frames.last_mut() {
            *frame = Frame { at, next: start, moves, wrong, ..*frame };
        }
        if self.team.sets.meet(at, own, false) { Err(Some(Ended::Cycle(at))) } else { Ok(()) }
    }

    /// The numbers of the successors found, and what is wrong with them.
    fn numbers(
        &mut self,
        from: Option<u32>,
        wrong: &mut Vec<Wrong>,
        mut each: impl FnMut(u32, usize),
    ) -> Result<(), Option<Ended>> {
        for index in 0..self.successors.len() {
            let entry = self.successors.entry(index);
            if let Some(code) = entry.violation {
                let found = Wrong { code, from, choice: index as u32, count: 1 };
                wrong.push(found);
                if !self.team.all {
                    self.team.wrong(found);
                    return Err(Some(Ended::Stop(Stop::Violation)));
                }
            }
            if entry.has_state() {
                let (number, _) = self.team.states.number(self.successors.state(index)).ok_or_else(|| {
                    let why = self.team.states.exhausted().unwrap_or("no room for a state");
                    Some(Ended::Stop(Stop::Incomplete(why.into())))
                })?;
                each(number, index);
            }
        }
        Ok(())
    }

    /// Puts the successors from `start` on in an order of this worker's own; the first worker keeps the system's.
    fn shuffle(&mut self, start: usize) {
        let few = &mut self.waiting[start..];
        if self.worker == 0 || few.len() < 2 {
            return;
        }
        self.random = self.random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let middle = (self.random >> 33) as usize % few.len();
        few.rotate_left(middle);
    }

    /// All successors of a state have been looked at.
    fn done(&mut self, at: u32) {
        if !self.team.sets.done(at) {
            return;
        }
        let Some(frame) = self.frames.last_mut() else { return };
        let tally = &self.team.tallies[self.worker];
        tally.transitions.fetch_add(u64::from(frame.moves), Ordering::Relaxed);
        frame.wrong.drain(..).for_each(|wrong| self.team.wrong(wrong));
        let expanded = tally.expanded.fetch_add(1, Ordering::Relaxed) + 1;
        if expanded.is_multiple_of(64) {
            let bytes = self.waiting.capacity() * size_of::<(u32, S::Marks)>()
                + self.frames.capacity() * size_of::<Frame>()
                + self.roots.capacity() * size_of::<Root<S::Marks>>();
            tally.bytes.store(bytes as u64, Ordering::Relaxed);
        }
        if let Some(limit) = self.team.limit
            && (expanded > limit || expanded.is_multiple_of(64))
            && self.team.tallies.iter().map(|t| t.expanded.load(Ordering::Relaxed)).sum::<u64>() > limit
        {
            self.team.end(Ended::Stop(Monitor::states(limit)));
        }
    }
}
