//! Ample sets for programs with objects, calls and threads that end in any order.
//!
//! A set of one thread is proposed in a state when no step that another thread can ever take, before this one moves, touches
//! what this thread's next steps touch. The conditions and why they suffice are those of [`crate::sets`]; what is new is how
//! it is known what steps touch.
//!
//! **What others may still do** is read off the program: the union over all places that a thread's frames can still come to,
//! over what is called and started from there, and over where exceptions are caught. Of objects this says which parts
//! (fields, locks, …) may be touched, not of which object.
//!
//! **What the thread does next** is read off the program too. Where that leaves a conflict about a part of objects only, the
//! steps are executed ([`Machine::footprint`]) and it is asked whose the objects are that they really follow references to:
//! an object that only this thread's frames lead to ([`Ownership`]) is touched by nobody else until the thread moves. For
//! others could come to it only along references in globals, in other frames or in objects reached from there, and all of
//! these are changed by others alone, who do not have the reference. So parts of private objects cause no conflict; parts of
//! shared objects do, when some other thread may still touch that part of any object. What the steps *read* to find their
//! way to an object is among what they touch, so they follow the same references after any steps of the others.
//!
//! **Locks.** What others may still do to a part of objects is kept apart by whether they do it under the object's own lock
//! ([`Guard::OwnLock`]). As long as this thread holds the lock of an object it touches, nobody does anything to that object
//! under its lock: the thread would have to move first. What others do to objects that only they have a reference to
//! ([`Guard::Fresh`]) is not done to an object that this thread can reach.
//!
//! **Symmetric independence** (R. Iosif, "Symmetry reductions for model checking of concurrent dynamic software", section
//! 5): two allocations in either order lead to states that differ in the numbers of objects alone, and so do an allocation
//! and a step that lets go of the last reference to an object. Nothing a program can do depends on these numbers, so such
//! states are bisimilar, step by step with the same threads. The argument of [`crate::sets`] needs no more than that: a path
//! that is possible in one of them is possible in the other and fails in the same place. It holds whatever representative
//! there is, also none; with a canonical one the states are stored once. With plain independence (`on`), two allocations
//! count as dependent, as in the paper's comparison.
//!
//! **What propositions read** (C2, for temporal questions): globals, places and variables of threads as everywhere; of objects
//! again parts, among them all links for `reachable`. A step that writes such a part of a private object is not seen, if the
//! propositions find their way from globals: the object is not on it before the step, and if the step brings it there, it
//! also writes a link that they read. Propositions that look into frames may see private objects.
//!
//! **Cycles** (C3): for safety the search checks the proviso. For temporal questions no thread is proposed whose next step may
//! go back in its function's control flow, throw, or call or start what may lead, by calls and starts, to the function that
//! does so. Let the cost of a place be one more than the most that a step from there leaves: the cost of the place it comes
//! to, and of the entries of what it calls and starts. Without the steps above, this is a finite number, and the sum over all
//! frames of a state falls with each step (a caller's frame counts with the place its call returns to). Renaming threads and
//! objects does not change it. So no cycle, of states or of representatives, consists of such steps: one of its states was
//! expanded whole. (The other side of a rendezvous may go back; but it can reach the channel, and is in the way.)
//!
//! **C4**, for CTL*-X, is [`Ample::most_moves`](quotient_seams::Ample::most_moves).
//!
//! **Numbers of threads** are reused when a thread has ended and nobody holds its id any more. So who is started as which number may
//! depend on when others let go. No program notices; but a proposition that names threads does, and is refused where threads
//! of this kind are started.

use std::sync::Arc;

use quotient_machine::{FrameAt, Machine, Ownership};
use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{Expr, Location, Part, Place as PlaceOf, Program, Root, Type};
use quotient_residual::access::{Accesses, Guard, Step, Touch};
use quotient_seams::Proposals;

use crate::Question;
use crate::futures::MOST_THREADS;
use crate::memo::{self, Memo};
use crate::objects::{ALL_PARTS, ALLOCATE, EXISTENCE, MOVE, Mask, Objects, Site};

/// Finds ample sets by what the frames of threads may still do, and by which objects they can reach.
#[derive(Clone, Debug)]
pub(crate) struct ByFrames {
    accesses: Accesses,
    objects: Objects,
    /// Allocations are independent of each other.
    symmetric: bool,
    /// The question is about whole runs: cycles of the control flow must not be closed by an ample step.
    temporal: bool,
    propositions: Vec<Touch>,
    /// What they read; known once there is a state.
    visible: u128,
    /// They follow references from frames.
    looks_into_frames: bool,
    /// What is known of each function and location; filled when there is a state.
    places: Vec<Vec<Place>>,

    ownership: Ownership,
    frames: Vec<FrameAt>,
    touched: Vec<(u32, Part)>,
    memo: Memo<Arc<[Candidate]>>,
    /// The key being looked up.
    key: Vec<u64>,
}

/// A thread that may be proposed, if it does not touch parts of objects in this way.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    thread: u32,
    /// Not of objects that others can reach.
    open: u128,
    /// Nor of those among them whose lock it does not hold.
    locked: u128,
}

/// What may still be touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Future {
    /// In whatever way.
    open: Mask,
    /// Parts of objects, under the object's own lock.
    locked: Mask,
}

impl Future {
    fn add(&mut self, other: Future) {
        self.open.add(other.open);
        self.locked.add(other.locked);
    }
}

/// What is known of a place in the program.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// What a step from here touches, as far as it stays in the function or goes on in what is called.
    next: Mask,
    /// What a frame that is here may still touch.
    future: Future,
    /// The step may leave the function.
    leaves: bool,
    /// The thread rests here, its next step ends where it is known to, and closes no cycle where that matters.
    eligible: bool,
}

impl ByFrames {
    /// Prepares the reduction of a program for a question, or says why there can be none. `symmetric`: allocations are
    /// independent of each other.
    pub(crate) fn new(
        machine: &Machine,
        question: &Question,
        symmetric: bool,
    ) -> Result<ByFrames, &'static str> {
        let program = machine.program();
        let accesses = Accesses::new(program)?;
        let touches = || accesses.steps.iter().flatten().flat_map(|s| &s.touches);
        let starts = touches().any(|t| matches!(t, Touch::Start(_)));
        // Processes of Promela keep their numbers, since only the youngest can end.
        let reuses = starts && !touches().any(|t| matches!(t, Touch::Exit));
        if reuses && question.visible().iter().any(names_threads) {
            return Err(
                "the claim names a thread, and numbers of threads that have ended are given out again",
            );
        }
        let visible = question.visible().iter();
        let propositions: Vec<Touch> = visible.flat_map(|e| Accesses::of_expression(program, e)).collect();
        let looks_into_frames = propositions.iter().any(|touch| match touch {
            Touch::Remote { function, variable, .. } => {
                let ty = &program.function(*function).locals[variable.0 as usize].ty;
                !matches!(ty, Type::Int(_) | Type::Range(_) | Type::Enumeration(_))
            }
            _ => false,
        });
        let objects = Objects::new(machine, &accesses);
        Ok(ByFrames {
            accesses,
            objects,
            symmetric,
            temporal: question.is_temporal(),
            propositions,
            visible: 0,
            looks_into_frames,
            places: Vec::new(),
            ownership: Ownership::default(),
            frames: Vec::new(),
            touched: Vec::new(),
            memo: Memo::default(),
            key: Vec::new(),
        })
    }

    /// Fills the table of places.
    #[cold]
    fn prepare(&mut self, machine: &Machine, state: &[u64]) {
        let program = machine.program();
        let site = Site { machine, state, thread: None };
        let forgotten = if self.symmetric { ALLOCATE } else { 0 };
        self.visible = self.objects.visible(program, &self.propositions, site);
        let leads_to = self.leads_to();
        for (f, steps) in self.accesses.steps.iter().enumerate() {
            let mut here = Vec::new();
            for step in steps {
                let (mut next, mut future) = (Mask { read: 0, write: MOVE }, Future::default());
                for touch in &step.touches {
                    let (now, then, _) = self.objects.masks(program, touch, site);
                    next.add(now);
                    future.open.add(then);
                    if let Touch::Object { guard: Guard::OwnLock, .. } = touch {
                        future.locked.add(now);
                    }
                }
                next.write &= !forgotten;
                future.open.write &= !forgotten;
                let again = |g: usize| g == f || leads_to[g][f];
                let closes_cycle = step.closes_cycle || begun(step).any(again);
                let eligible = !(step.calls_in_control || self.temporal && closes_cycle);
                here.push(Place { next, future, leaves: step.leaves, eligible });
            }
            self.places.push(here);
        }
        self.close_steps(program);
        self.close_futures();
    }

    /// Which functions each function leads to by calls and starts.
    fn leads_to(&self) -> Vec<Vec<bool>> {
        let count = self.accesses.steps.len();
        let mut leads = vec![vec![false; count]; count];
        for (f, steps) in self.accesses.steps.iter().enumerate() {
            steps.iter().flat_map(begun).for_each(|g| leads[f][g] = true);
        }
        for through in 0..count {
            let further = leads[through].clone();
            for row in leads.iter_mut().filter(|row| row[through]) {
                row.iter_mut().zip(&further).for_each(|(to, more)| *to |= more);
            }
        }
        leads
    }

    /// Adds to a step what it goes on with in what it calls, until nothing changes.
    fn close_steps(&mut self, program: &Program) {
        let mut changed = true;
        while changed {
            changed = false;
            for (f, steps) in self.accesses.steps.iter().enumerate() {
                for (l, step) in steps.iter().enumerate() {
                    for called in &step.calls {
                        let entry = program.function(*called).entry.0 as usize;
                        if !passed_at_once(&program.function(*called).locations[entry]) {
                            continue;
                        }
                        let inner = self.places[called.0 as usize][entry];
                        let place = &mut self.places[f][l];
                        let before = (place.next, place.leaves, place.eligible);
                        place.next.add(inner.next);
                        place.leaves |= inner.leaves;
                        place.eligible &= inner.eligible;
                        changed |= before != (place.next, place.leaves, place.eligible);
                    }
                }
            }
        }
    }

    /// Adds to each place what those it leads to have, and what is called and started, until nothing changes.
    fn close_futures(&mut self) {
        let mut lives = vec![Future::default(); self.places.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (f, steps) in self.accesses.steps.iter().enumerate() {
                for (l, step) in steps.iter().enumerate().rev() {
                    let mut sum = self.places[f][l].future;
                    for target in &step.targets {
                        sum.add(self.places[f][target.0 as usize].future);
                    }
                    for called in &step.calls {
                        sum.add(lives[called.0 as usize]);
                    }
                    for touch in &step.touches {
                        if let Touch::Start(started) = touch {
                            sum.add(lives[started.0 as usize]);
                        }
                    }
                    changed |= sum != self.places[f][l].future;
                    self.places[f][l].future = sum;
                    let before = lives[f];
                    lives[f].add(sum);
                    changed |= before != lives[f];
                }
            }
        }
    }

    /// Finds the first so many proposals for a state.
    pub(crate) fn look(&mut self, machine: &mut Machine, state: &[u64], most: u32) -> Proposals {
        let mut alone = 0u64;
        machine.meet_state(state);
        if self.places.is_empty() {
            self.prepare(machine, state);
        }
        let mut owned = false;
        let candidates = self.candidates(machine, state);
        for Candidate { thread, open, locked } in candidates.iter().copied() {
            if alone.count_ones() == most {
                break;
            }
            if machine.is_exclusive(state, thread as usize) {
                continue;
            }
            if open | locked != 0 {
                if !owned {
                    self.ownership.find(machine, state);
                    owned = true;
                }
                // One that cannot move is proposed in vain.
                let Some(footprint) = machine.footprint(state, thread) else { continue };
                self.touched.clear();
                self.touched.extend_from_slice(footprint);
                // Parts that are touched of objects that are not its own; and of those among them whose lock it does not hold.
                let (mut shared, mut contended) = (0, 0);
                for (object, part) in &self.touched {
                    if !self.ownership.is_private(*object, thread) {
                        let bits = EXISTENCE | self.objects.part(*part);
                        shared |= bits;
                        if locked & bits != 0 && !machine.holds_lock(state, *object, thread) {
                            contended |= bits;
                        }
                    }
                }
                if open & shared | locked & contended != 0 {
                    continue;
                }
            }
            alone |= 1 << thread;
        }
        Proposals::alone(alone)
    }

    /// The threads of a state that may be proposed, as far as their frames tell, the youngest first. What they tell is remembered.
    fn candidates(&mut self, machine: &Machine, state: &[u64]) -> Arc<[Candidate]> {
        let count = machine.thread_total(state);
        let key = &mut self.key;
        let width = key.len().max(16);
        key.clear();
        for thread in 0..count {
            for frame in machine.frames_at(state, thread) {
                key.push(u64::from(frame.function) << 32 | u64::from(frame.location));
                key.extend(frame.resumes.map(|to| 1 << 63 | u64::from(to)));
            }
            key.push(u64::MAX);
        }
        // The threads' ends tell apart what is of different lengths.
        if key.len() > width {
            self.memo = Memo::default();
        }
        key.resize(key.len().next_multiple_of(16).max(width), 0);
        if let Some(found) = self.memo.find(&self.key) {
            return Arc::clone(found);
        }
        let found: Arc<[Candidate]> = self.find_candidates(machine, state, count).into();
        self.memo.keep(&self.key, Arc::clone(&found), memo::MOST);
        found
    }

    #[cold]
    fn find_candidates(&mut self, machine: &Machine, state: &[u64], count: usize) -> Vec<Candidate> {
        let mut futures = Vec::new();
        for thread in 0..count {
            let mut future = Future::default();
            for frame in machine.frames_at(state, thread) {
                future.add(self.places[frame.function as usize][frame.location as usize].future);
            }
            futures.push(future);
        }
        let mut candidates = Vec::new();
        for thread in (0..count.min(MOST_THREADS)).rev() {
            let mut others = Future::default();
            for (other, future) in futures.iter().enumerate() {
                if other != thread {
                    others.add(*future);
                }
            }
            let Some(next) = self.next_step(machine, state, thread, count) else { continue };
            let (open, locked) = (conflicts(next, others.open), conflicts(next, others.locked));
            let seen = next.write & self.visible;
            if (open | locked | seen) & !ALL_PARTS == 0 && (!self.looks_into_frames || seen == 0) {
                candidates.push(Candidate { thread: thread as u32, open: open | seen, locked });
            }
        }
        candidates
    }

    /// What the next steps of a thread may touch; `None` when it cannot move or that is not known.
    fn next_step(&mut self, machine: &Machine, state: &[u64], thread: usize, count: usize) -> Option<Mask> {
        self.frames.clear();
        self.frames.extend(machine.frames_at(state, thread));
        let top = *self.frames.first()?;
        let place = self.places[top.function as usize][top.location as usize];
        let step = &self.accesses.steps[top.function as usize][top.location as usize];
        // Only the youngest process of Promela can end.
        let at_end = step.touches.iter().any(|t| matches!(t, Touch::Exit));
        if !place.eligible || at_end && thread + 1 != count {
            return None;
        }
        let mut next = place.next;
        if place.leaves {
            // It goes on in a caller, or where an exception is caught, if that is passed at once.
            for frame in &self.frames {
                let function = machine.program().function(quotient_program::FunctionId(frame.function));
                let catches = function.catches.iter().map(|c| c.target.0);
                for to in frame.resumes.into_iter().chain(catches) {
                    if passed_at_once(&function.locations[to as usize]) {
                        let place = self.places[frame.function as usize][to as usize];
                        if !place.eligible {
                            return None;
                        }
                        next.add(place.next);
                    }
                }
            }
        }
        Some(next)
    }
}

/// The functions that a step calls and starts.
fn begun(step: &Step) -> impl Iterator<Item = usize> {
    let started = step.touches.iter().filter_map(|t| match t {
        Touch::Start(function) => Some(function),
        _ => None,
    });
    step.calls.iter().chain(started).map(|f| f.0 as usize)
}

/// Does an expression name threads otherwise than by going through all of a kind?
fn names_threads(e: &Expr) -> bool {
    struct Names(bool);
    impl Names {
        fn thread(&mut self, e: &Expr) {
            match e {
                Expr::Spanned(inner, _) => self.thread(inner),
                Expr::Bound(_) => {}
                _ => self.0 = true,
            }
        }
    }
    impl Visitor for Names {
        fn expr(&mut self, e: &Expr) {
            match e {
                Expr::Oldest(_) => self.0 = true,
                Expr::At { thread, .. } => self.thread(thread),
                _ => {}
            }
        }
        fn place(&mut self, place: &PlaceOf, _: Use) {
            if let Root::Remote { thread, .. } = &place.root {
                self.thread(thread);
            }
        }
    }
    let mut names = Names(false);
    visit::expr(e, &mut names);
    names.0
}

/// Does a thread that arrives go on in the same step?
fn passed_at_once(location: &Location) -> bool {
    location.transient || location.deterministic
}

/// The things about which a step and what others may do depend on each other.
fn conflicts(next: Mask, others: Mask) -> u128 {
    next.write & (others.read | others.write) | next.read & others.write
}
