//! Ample sets of threads.
//!
//! A set T of threads is proposed in a state when no step that a thread outside T (or one it may still start) can ever
//! take touches what the next steps of T's threads touch, in the sense of [`crate::objects`], *including* what decides
//! whether those next steps are possible. The moves of T then form an ample set (Clarke, Grumberg, Peled, "Model Checking",
//! 1999; seed 002 of the design, section 4):
//!
//! - **C0**, some move is explored if there is one: the search takes a proposal only when T can move.
//! - **C1**, nothing that depends on a move of T happens before one of them: on a path of other threads' steps, none of
//!   them writes what T's next steps read or write, or reads what they write, so each of T's moves stays possible, has
//!   the same effect, commutes with every step of the path, and T gets no new moves. A channel operation that is possible
//!   now stays so, since only T uses its end of the channel; one that is impossible waits for the other end, which is
//!   then part of what must not be touched.
//! - **C2**, for temporal questions: T's next steps write nothing that a proposition reads.
//! - **C3**, no thread is postponed for ever. For temporal questions T contains no thread whose next step may close a
//!   cycle of its control flow. In a cycle of states, the thread with the lowest id that moves goes round a cycle of its
//!   control flow (it cannot end: only threads with lower ids could start it again), so some state of the cycle was
//!   expanded whole. This needs no stack and no luck: every search, and both passes of a nested one, choose the same sets
//!   (Kurshan, Levin, Minea, Peled, Yenigün, "Static partial order reduction", 1998). For safety less is needed, and the
//!   search checks it ([`Proviso::SomeOpen`]): from every state a state that was expanded whole can be reached.
//!   Where states are replaced by representatives, a cycle of representatives leads from a state to a renaming of it; gone
//!   round as often as it takes, it is a cycle of states. Threads that change places run the same function, so in it, too,
//!   no thread closes a cycle of its control flow unless some representative was expanded whole.
//! - **C4**, for CTL*-X: exactly one move ([`Ample::most_moves`]).
//!
//! **Safety.** Let a path w of the full graph start in a state s of the reduced graph and end in a failing step. Follow
//! the reduced graph from s to the state f that was expanded whole. While the ample moves on the way are not in w, they
//! commute with all of w: w is still possible and its last step still fails, because it reads the same values. When one is
//! in w, the first such can be taken first, and the rest of w, one step shorter, goes on from there. In f, the first step
//! of w is explored. So some path of the reduced graph ends in the same failing step, and by the same argument every
//! transformation that is ever taken is taken. A step that faults ends its path, so it commutes with nothing: the search
//! refuses a proposal with a faulting move, and the others cannot fault later (C1).
//!
//! **`timeout`** is false as long as T can move, on all these paths. A proposal is refused when T cannot move.

use std::collections::HashMap;

use quotient_machine::Machine;
use quotient_residual::access::{Accesses, Touch};
use quotient_seams::{Ample, Passing, Proposals, Proviso, Successors, Worker};

use crate::Question;
use crate::combination::{Known, Terms, Use};
use crate::futures::MOST_THREADS;
use crate::layout::{Found, LATEST, Layout, Looks};
use crate::tables::Tables;

/// Proposes ample sets for a compiled program.
#[derive(Clone, Debug)]
pub struct AmpleSets {
    tables: Tables,
    proviso: Proviso,
    /// Cycles of the control flow must not be closed by an ample step.
    breaks_cycles: bool,
    /// States may be passed through.
    passes: bool,
    most_moves: usize,
    propositions: Vec<Touch>,

    layouts: Vec<Layout>,
    /// Per shape, a layout: all of them have keys in the same places.
    by_shape: Vec<Option<usize>>,
    /// By what their keys are.
    by_keys: HashMap<Vec<u64>, usize>,
    /// The layout of the state looked at last, and the combination of its futures, if it is known.
    layout: usize,
    combination: Option<u32>,
    /// Per thread, the others that can get in the way of its next step.
    in_the_way: [u64; MOST_THREADS],
}

/// Proposals per state.
const MOST_PROPOSALS: u32 = 7;

/// Layouts that are kept.
const MOST_LAYOUTS: usize = 1024;

impl AmpleSets {
    /// Prepares the reduction of a program for a question, or says why there can be none.
    /// `renamed`: states are replaced by representatives.
    pub fn new(machine: &Machine, question: &Question, renamed: bool) -> Result<AmpleSets, &'static str> {
        let visible = question.visible().iter();
        let propositions: Vec<Touch> =
            visible.flat_map(|e| Accesses::of_expression(machine.program(), e)).collect();
        let temporal = question.is_temporal();
        Ok(AmpleSets {
            tables: Tables::new(machine, renamed, &propositions)?,
            proviso: if matches!(question, Question::Safety) { Proviso::SomeOpen } else { Proviso::None },
            breaks_cycles: temporal,
            passes: !temporal,
            most_moves: if matches!(question, Question::CtlStarX { .. }) { 1 } else { usize::MAX },
            propositions,
            layouts: Vec::new(),
            by_shape: Vec::new(),
            by_keys: HashMap::new(),
            layout: 0,
            combination: None,
            in_the_way: [0; MOST_THREADS],
        })
    }

    /// Finds the proposals for a state, or remembers them.
    #[inline]
    fn look(&mut self, machine: &Machine, state: &[u64]) -> Proposals {
        let shape = machine.shape_of(state);
        if !self.layouts.get_mut(self.layout).is_some_and(|l| l.reads(shape, state)) {
            self.find_layout(machine, shape, state);
        }
        let layout = &mut self.layouts[self.layout];
        if !layout.has_proposals {
            self.combination = None;
            return Proposals::default();
        }
        let closed = match layout.watched {
            0 => 0,
            watched => self.tables.gates.closed(machine, state, watched),
        };
        match layout.remembered(closed) {
            Some(found) => {
                self.combination = Some(found.combination).filter(|number| *number != LATEST);
                found.proposals
            }
            None => self.look_afresh(machine, state),
        }
    }

    /// Finds the layout of a state, which may be new, and reads the state.
    #[inline(never)]
    fn find_layout(&mut self, machine: &Machine, shape: u32, state: &[u64]) {
        if let Some(number) = self.by_shape.get(shape as usize).copied().flatten()
            && let Some(found) = self.by_keys.get(&self.layouts[number].identity(state))
            && self.layouts[*found].reads(shape, state)
        {
            self.layout = *found;
            return;
        }
        if self.layouts.len() == MOST_LAYOUTS {
            self.layouts.clear();
            self.by_shape.clear();
            self.by_keys.clear();
        }
        let (propositions, breaks_cycles) = (&self.propositions, self.breaks_cycles);
        let mut layout = Layout::new(machine, &mut self.tables, state, |tables| Terms {
            visible: tables.visible(machine, state, propositions),
            breaks_cycles,
            ..Terms::default()
        });
        layout.reads(shape, state);
        self.by_shape.resize(self.by_shape.len().max(shape as usize + 1), None);
        self.layout = self.layouts.len();
        self.by_shape[shape as usize] = Some(self.layout);
        self.by_keys.insert(layout.identity(state), self.layout);
        self.layouts.push(layout);
    }

    /// Finds the proposals for a state whose layout is known.
    #[inline(never)]
    fn look_afresh(&mut self, machine: &Machine, state: &[u64]) -> Proposals {
        let watched = self.layouts[self.layout].watched;
        let Looks { movable, eligible, free, closing, .. } = self.look_at_all(machine, state);
        let mut alone = movable & eligible & free;
        let proposals = if alone == 0 {
            // A thread that closes a cycle is better left to a state that is expanded whole.
            let mut set = self.smallest_set(movable, eligible & !closing);
            if set.is_none() && closing & eligible != 0 {
                set = self.smallest_set(movable, eligible);
            }
            Proposals::together(set.unwrap_or(0))
        } else {
            // The youngest first: it is most often the one that serves the others.
            while alone.count_ones() > MOST_PROPOSALS {
                alone &= alone - 1;
            }
            Proposals::alone(alone)
        };
        // The key told of all gates that made a difference, unless one has just been found to.
        if self.layouts[self.layout].watched == watched {
            let found = Found { proposals, combination: self.combination.unwrap_or(LATEST) };
            let layouts = self.layouts.len();
            self.layouts[self.layout].remember(found, layouts);
        }
        proposals
    }

    /// Looks at every thread of a state that was read.
    #[inline]
    fn look_at_all(&mut self, machine: &Machine, state: &[u64]) -> Looks {
        let layouts = self.layouts.len();
        let (tables, layout) = (&self.tables, &mut self.layouts[self.layout]);
        // Most often everybody has the future that was theirs in the state before.
        let last = self.combination.unwrap_or(LATEST);
        let (number, mut looks) = match layout.look(state, last, &mut self.in_the_way) {
            Some(looks) => (last, looks),
            None => {
                let number = layout.combination(tables, state, layouts);
                (number, layout.look(state, number, &mut self.in_the_way).unwrap_or_default())
            }
        };
        self.combination = Some(number);
        let (mut left, mut watched) = (looks.special, 0);
        let combination = &layout.combinations[number as usize];
        while left != 0 {
            let thread = left.trailing_zeros() as usize;
            left &= left - 1;
            let known = combination.at(layout.place(thread, state));
            let (blockers, moves) = combination.choose(known, &layout.key, state);
            let in_the_way = &mut self.in_the_way[thread];
            *in_the_way |= blockers;
            looks.movable |= moves;
            if known.gates != 0 {
                watched |= known.gates;
                if are_kept_away(tables, layout, machine, state, known) {
                    *in_the_way = 0;
                }
            }
            looks.free |= u64::from(*in_the_way == 0) << thread;
        }
        layout.watched |= watched;
        looks
    }

    /// The combination of the futures of a state that was looked at last, or was passed through since; none without proposals.
    #[inline(always)]
    fn combination_of(&mut self, state: &[u64]) -> Option<u32> {
        if self.combination.is_none() {
            let layouts = self.layouts.len();
            let layout = self.layouts.get_mut(self.layout).filter(|l| l.has_proposals && l.may_pass())?;
            self.combination = Some(layout.combination(&self.tables, state, layouts));
        }
        self.combination
    }

    /// As [`Ample::passing`] for a step to a state of the same shape, which moved a thread to a place.
    #[inline(never)]
    fn pass(
        &mut self,
        machine: &Machine,
        combination: u32,
        (thread, place): (usize, usize),
        to: &[u64],
    ) -> Passing {
        let layout = &mut self.layouts[self.layout];
        layout.learn(&self.tables, combination, thread, place);
        let known = layout.combinations[combination as usize].at(place);
        if known.use_as == Use::Passes
            && layout.has_keys(to)
            && (known.gates == 0 || are_kept_away(&self.tables, layout, machine, to, known))
        {
            return Passing { threads: 1 << thread, closing: known.closing };
        }
        Passing::default()
    }

    /// The smallest set of eligible threads that can go together, if it is not all that may move. No thread can go alone.
    fn smallest_set(&self, movable: u64, eligible: u64) -> Option<u64> {
        let candidates = movable & eligible;
        // Most often two that only get in each other's way.
        let mut left = candidates;
        while left != 0 {
            let thread = left.trailing_zeros();
            left &= left - 1;
            let other = self.in_the_way[thread as usize];
            let set = 1u64 << thread | other;
            if other & other.wrapping_sub(1) == 0
                && set & !eligible == 0
                && movable & !set != 0
                && self.in_the_way[other.trailing_zeros() as usize % MOST_THREADS] & !set == 0
            {
                return Some(set);
            }
        }
        let mut best: Option<u64> = None;
        let (mut tried, mut left) = (0u64, candidates);
        while left != 0 {
            let thread = left.trailing_zeros();
            left &= left - 1;
            let start = 1u64 << thread | self.in_the_way[thread as usize];
            // A set with all threads that may move is no reduction.
            if movable & !start == 0 || start & !eligible != 0 {
                continue;
            }
            let (mut set, mut done) = (start, 1u64 << thread);
            while set != done {
                let next = (set & !done).trailing_zeros();
                // A thread that was tried before needs at least the set found then.
                if tried >> next & 1 == 1 || best.is_some_and(|b| set.count_ones() >= b.count_ones()) {
                    break;
                }
                done |= 1 << next;
                set |= self.in_the_way[next as usize];
                if set & !eligible != 0 {
                    break;
                }
            }
            tried |= 1 << thread;
            if set == done && movable & !set != 0 && set & !eligible == 0 {
                best = Some(set);
            }
        }
        best
    }
}

/// What can be said at once about a thread that has come somewhere.
enum Quickly {
    /// It stays there.
    Stays,
    /// It may go on alone.
    Passes(Passing),
    /// That has to be found out, for this thread at this place.
    Unknown((usize, usize)),
}

/// As [`Ample::passing`] for states of the same shape, as far as it is known with a combination of futures.
#[inline(always)]
fn pass_quickly(layout: &Layout, combination: u32, from: &[u64], to: &[u64]) -> Quickly {
    let Some((thread, place)) = layout.moved(from, to) else { return Quickly::Stays };
    let known = layout.combinations[combination as usize].at(place);
    match known.use_as {
        Use::Stays | Use::Other => Quickly::Stays,
        Use::Passes if known.gates == 0 && !layout.keyed() => {
            Quickly::Passes(Passing { threads: 1 << thread, closing: known.closing })
        }
        Use::Passes | Use::Unknown => Quickly::Unknown((thread, place)),
    }
}

/// Are all that are in the way of a step behind gates that are closed?
#[inline]
fn are_kept_away(tables: &Tables, layout: &Layout, machine: &Machine, state: &[u64], known: &Known) -> bool {
    let closed = tables.gates.closed(machine, state, known.gates);
    if closed == 0 {
        return false;
    }
    let mut threads = known.blockers;
    while threads != 0 {
        let place = layout.place(threads.trailing_zeros() as usize, state);
        if tables.behind[layout.entry(place)] & closed == 0 {
            return false;
        }
        threads &= threads - 1;
    }
    true
}

impl Worker for AmpleSets {
    /// What is remembered holds for every worker: shapes have the same numbers.
    fn another(&self) -> AmpleSets {
        self.clone()
    }
}

impl Ample<Machine> for AmpleSets {
    const PROPOSALS: u32 = MOST_PROPOSALS;

    #[inline]
    fn proposals(&mut self, machine: &mut Machine, state: &[u64]) -> Proposals {
        machine.meet_state(state);
        self.look(machine, state)
    }

    /// Only the thread that the step has moved: another that can go alone could most often do so before the step. Only if it has
    /// still to do what it had before, as in a loop, which makes the question cheap. And only if no channel decides whether it can go alone: then
    /// wherever it stands there it goes on at once, so that no other way leads to such a state, and none is gone on from twice.
    #[inline]
    fn passing(&mut self, machine: &mut Machine, from: &[u64], to: &[u64]) -> Passing {
        if !self.passes || to.is_empty() || machine.shape_of(from) != machine.shape_of(to) {
            return Passing::default();
        }
        let Some(combination) = self.combination_of(from) else { return Passing::default() };
        let layout = &self.layouts[self.layout];
        match pass_quickly(layout, combination, from, to) {
            Quickly::Stays => Passing::default(),
            Quickly::Passes(passing) => passing,
            Quickly::Unknown(moved) => self.pass(machine, combination, moved, to),
        }
    }

    #[inline]
    fn next_passing(
        &mut self,
        machine: &mut Machine,
        from: &[u64],
        successors: &Successors,
        mut first: usize,
    ) -> Option<(usize, Passing)> {
        if !self.passes {
            return None;
        }
        let shape = machine.shape_of(from);
        let number = self.combination_of(from)?;
        loop {
            let layout = &self.layouts[self.layout];
            let (index, quickly) = (first..successors.len()).find_map(|index| {
                let to = successors.state(index);
                if to.is_empty() || machine.shape_of(to) != shape {
                    return None;
                }
                let quickly = pass_quickly(layout, number, from, to);
                (!matches!(quickly, Quickly::Stays)).then_some((index, quickly))
            })?;
            let passing = match quickly {
                Quickly::Stays => Passing::default(),
                Quickly::Passes(passing) => passing,
                Quickly::Unknown(moved) => self.pass(machine, number, moved, successors.state(index)),
            };
            if passing.threads != 0 {
                return Some((index, passing));
            }
            first = index + 1;
        }
    }

    fn proviso(&self) -> Proviso {
        self.proviso
    }

    fn most_moves(&self) -> usize {
        self.most_moves
    }

    fn name(&self) -> &'static str {
        "on"
    }
}
