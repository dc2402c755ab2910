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
//! **Symmetric independence** (R. Iosif, "Symmetry reductions for model checking of concurrent dynamic software", section
//! 5): two allocations in either order lead to states that differ in the numbers of objects alone, and so do an allocation
//! and a step that lets go of the last reference to an object. Nothing a program can do depends on these numbers, so such
//! states are bisimilar, step by step with the same threads. The argument of [`crate::sets`] needs no more than that: a path
//! that is possible in one of them is possible in the other and fails in the same place. It holds whatever representative
//! there is, also none; with a canonical one the states are stored once. With plain independence (`on`), two allocations
//! count as dependent, as in the paper's comparison.
//!
//! **Cycles**: only questions about safety are answered here; the search checks the proviso.

use quotient_machine::{FrameAt, Machine, Ownership};
use quotient_program::{Location, Program};
use quotient_residual::access::{Accesses, Touch};

use crate::futures::MOST_THREADS;
use crate::objects::{ALL_PARTS, ALLOCATE, EXISTENCE, MOVE, Mask, Objects, Site};
use crate::{Ample, Proposals, Proviso, Question};

/// Proposes ample sets for a compiled program with objects.
#[derive(Debug)]
pub struct DynamicSets {
    accesses: Accesses,
    objects: Objects,
    /// Allocations are independent of each other.
    symmetric: bool,
    /// What is known of each function and location; filled when there is a state.
    places: Vec<Vec<Place>>,

    ownership: Ownership,
    frames: Vec<FrameAt>,
    /// What each thread of the state being looked at may still touch.
    futures: Vec<Mask>,
}

/// What is known of a place in the program.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// What a step from here touches, as far as it stays in the function or goes on in what is called.
    next: Mask,
    /// What a frame that is here may still touch.
    future: Mask,
    /// The step may leave the function.
    leaves: bool,
    /// The thread rests here, and its next step ends where it is known to.
    eligible: bool,
}

/// Proposals per state.
const MOST_PROPOSALS: u32 = 7;

impl DynamicSets {
    /// Prepares the reduction of a program for a question, or says why there can be none. `symmetric`: allocations are
    /// independent of each other.
    pub fn new(machine: &Machine, question: &Question, symmetric: bool) -> Result<DynamicSets, &'static str> {
        if question.is_temporal() {
            return Err("the model has objects, and the question is about whole runs");
        }
        let accesses = Accesses::new(machine.program())?;
        let objects = Objects::new(machine, &accesses);
        Ok(DynamicSets {
            accesses,
            objects,
            symmetric,
            places: Vec::new(),
            ownership: Ownership::default(),
            frames: Vec::new(),
            futures: Vec::new(),
        })
    }

    /// Fills the table of places.
    #[cold]
    fn prepare(&mut self, machine: &Machine, state: &[u64]) {
        let program = machine.program();
        let site = Site { machine, state, thread: None };
        let forgotten = if self.symmetric { ALLOCATE } else { 0 };
        for steps in &self.accesses.steps {
            let mut here = Vec::new();
            for step in steps {
                let (mut next, mut later) = (Mask { read: 0, write: MOVE }, Mask::default());
                for touch in &step.touches {
                    let (now, then, _) = self.objects.masks(program, touch, site);
                    next.add(now);
                    later.add(then);
                }
                next.write &= !forgotten;
                later.write &= !forgotten;
                let eligible = !step.calls_in_control;
                here.push(Place { next, future: later, leaves: step.leaves, eligible });
            }
            self.places.push(here);
        }
        self.close_steps(program);
        self.close_futures();
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
        let mut lives = vec![Mask::default(); self.places.len()];
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

    /// Finds the proposals for a state.
    fn look(&mut self, machine: &mut Machine, state: &[u64]) -> Proposals {
        let mut alone = 0u64;
        machine.meet_state(state);
        if self.places.is_empty() {
            self.prepare(machine, state);
        }
        let count = machine.thread_total(state);
        self.futures.clear();
        for thread in 0..count {
            let mut future = Mask::default();
            for frame in machine.frames_at(state, thread) {
                future.add(self.places[frame.function as usize][frame.location as usize].future);
            }
            self.futures.push(future);
        }
        let mut owned = false;
        for thread in (0..count.min(MOST_THREADS)).rev() {
            if alone.count_ones() == MOST_PROPOSALS {
                break;
            }
            let mut others = Mask::default();
            for (other, future) in self.futures.iter().enumerate() {
                if other != thread {
                    others.add(*future);
                }
            }
            let Some(next) = self.next_step(machine, state, thread, count) else { continue };
            let conflicts = conflicts(next, others);
            if conflicts & !ALL_PARTS != 0 {
                continue;
            }
            if conflicts != 0 {
                if !owned {
                    self.ownership.find(machine, state);
                    owned = true;
                }
                let Some(footprint) = machine.footprint(state, thread as u32) else { continue };
                let mut shared = 0;
                for (object, part) in footprint {
                    if !self.ownership.is_private(*object, thread as u32) {
                        shared |= EXISTENCE | self.objects.part(*part);
                    }
                }
                if conflicts & shared != 0 {
                    continue;
                }
            }
            alone |= 1 << thread;
        }
        Proposals::alone(alone)
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
        if !place.eligible || at_end && thread + 1 != count || machine.is_exclusive(state, thread) {
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

/// Does a thread that arrives go on in the same step?
fn passed_at_once(location: &Location) -> bool {
    location.transient || location.deterministic
}

/// The things about which a step and what others may do depend on each other.
fn conflicts(next: Mask, others: Mask) -> u128 {
    next.write & (others.read | others.write) | next.read & others.write
}

impl Ample<Machine> for DynamicSets {
    const PROPOSALS: u32 = MOST_PROPOSALS;

    fn proposals(&mut self, machine: &mut Machine, state: &[u64]) -> Proposals {
        self.look(machine, state)
    }

    fn proviso(&self) -> Proviso {
        Proviso::SomeOpen
    }

    fn name(&self) -> &'static str {
        if self.symmetric { "si" } else { "on" }
    }
}
