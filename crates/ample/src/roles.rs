//! The ample sets of programs without objects, found by the roles of threads.
//!
//! What is proposed for a state depends on the roles and places of its threads ([`crate::tables`]), on channels and on gates. That is
//! remembered per layout of states ([`crate::layout`]), so that a state costs a few masked words as a rule.

use std::collections::HashMap;

use quotient_machine::{Machine, Renaming};
use quotient_residual::access::{Accesses, Touch};
use quotient_seams::{Passing, Proposals, Successors, Worker};

use crate::Question;
use crate::combination::{Known, Terms, Use};
use crate::futures::MOST_THREADS;
use crate::layout::{Found, LATEST, Layout, Looks};
use crate::sets::MOST_PROPOSALS;
use crate::tables::Tables;

/// Finds ample sets by the roles of threads.
#[derive(Clone, Debug)]
pub(crate) struct ByRoles {
    tables: Tables,
    /// What representatives have one for another; none: they may have any place of a function for any other.
    places: Places,
    /// Cycles of the control flow must not be closed by an ample step.
    breaks_cycles: bool,
    /// States may be passed through.
    passes: bool,
    propositions: Vec<Touch>,

    layouts: Vec<Layout>,
    /// Per kind of state ([`ByRoles::kind`]), a layout: all of them have keys in the same places.
    by_shape: Vec<Option<usize>>,
    /// By what their keys are.
    by_keys: HashMap<Vec<u64>, usize>,
    /// The layout of the state looked at last, and the combination of its futures, if it is known.
    layout: usize,
    combination: Option<u32>,
    /// Per thread, the others that can get in the way of its next step.
    in_the_way: [u64; MOST_THREADS],
}

/// Places (threads and locations) that representatives may have one for another.
#[derive(Debug)]
enum Places {
    /// States stand for themselves.
    Own,
    /// Those that these renamings exchange.
    Known(Box<Renaming>),
    /// Not known: any of threads whose control flow has a cycle.
    Unknown,
}

impl Clone for Places {
    fn clone(&self) -> Places {
        match self {
            Places::Own => Places::Own,
            Places::Known(renaming) => Places::Known(Box::new(renaming.another())),
            Places::Unknown => Places::Unknown,
        }
    }
}

/// Layouts that are kept.
const MOST_LAYOUTS: usize = 1024;

impl ByRoles {
    /// Prepares the reduction of a program for a question, or says why there can be none.
    /// `renamed`: states are replaced by representatives.
    pub(crate) fn new(
        machine: &Machine,
        question: &Question,
        renamed: bool,
    ) -> Result<ByRoles, &'static str> {
        let visible = question.visible().iter();
        let propositions: Vec<Touch> =
            visible.flat_map(|e| Accesses::of_expression(machine.program(), e)).collect();
        let temporal = question.is_temporal();
        Ok(ByRoles {
            tables: Tables::new(machine, renamed, &propositions)?,
            places: if renamed { Places::Unknown } else { Places::Own },
            breaks_cycles: temporal,
            passes: !temporal,
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
    pub(crate) fn look(&mut self, machine: &Machine, state: &[u64]) -> Proposals {
        let kind = self.kind(machine, state);
        if !self.layouts.get_mut(self.layout).is_some_and(|l| l.reads(kind, state)) {
            self.find_layout(machine, kind, state);
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

    /// The shape of a state, and whether anybody may still be started, where that decides what representatives exchange.
    #[inline]
    fn kind(&self, machine: &Machine, state: &[u64]) -> u32 {
        let shape = machine.shape_of(state);
        match &self.places {
            Places::Known(renaming) if self.breaks_cycles => {
                2 * shape + u32::from(renaming.may_start(machine, state))
            }
            _ => shape,
        }
    }

    /// Finds the layout of a state, which may be new, and reads the state.
    #[inline(never)]
    fn find_layout(&mut self, machine: &Machine, kind: u32, state: &[u64]) {
        if let Some(number) = self.by_shape.get(kind as usize).copied().flatten()
            && let Some(found) = self.by_keys.get(&self.layouts[number].identity(state))
            && self.layouts[*found].reads(kind, state)
        {
            self.layout = *found;
            return;
        }
        if self.layouts.len() == MOST_LAYOUTS {
            self.layouts.clear();
            self.by_shape.clear();
            self.by_keys.clear();
        }
        let closing = self.closing(machine, state);
        let (propositions, breaks_cycles) = (&self.propositions, self.breaks_cycles);
        let mut layout = Layout::new(machine, &mut self.tables, (kind, state), &closing, |tables| Terms {
            visible: tables.visible(machine, state, propositions),
            breaks_cycles,
            ..Terms::default()
        });
        layout.reads(kind, state);
        self.by_shape.resize(self.by_shape.len().max(kind as usize + 1), None);
        self.layout = self.layouts.len();
        self.by_shape[kind as usize] = Some(self.layout);
        self.by_keys.insert(layout.identity(state), self.layout);
        self.layouts.push(layout);
    }

    /// For each thread, the locations from which its next step may close a cycle of the control flow: in the run that the representatives stand
    /// for, whatever places they have for its places.
    fn closing(&mut self, machine: &Machine, state: &[u64]) -> Vec<Vec<bool>> {
        let mut closing = self.tables.closing(machine, state);
        match &mut self.places {
            _ if !self.breaks_cycles => {}
            Places::Own => {}
            Places::Known(renaming) => {
                // The youngest threads may have ended: nobody takes their place any more.
                for class in renaming.places(machine, state) {
                    let at = |place: &(u32, u32)| (place.0 as usize, place.1 as usize);
                    let here = class.iter().map(at);
                    let here: Vec<_> =
                        here.filter(|(t, l)| closing.get(*t).is_some_and(|c| *l < c.len())).collect();
                    if here.iter().any(|(thread, location)| closing[*thread][*location]) {
                        here.iter().for_each(|(thread, location)| closing[*thread][*location] = true);
                    }
                }
            }
            Places::Unknown => {
                for locations in &mut closing {
                    let closes = locations.contains(&true);
                    locations.iter_mut().for_each(|closing| *closing |= closes);
                }
            }
        }
        closing
    }

    /// Representatives are those of these renamings.
    pub(crate) fn set_renaming(&mut self, renaming: &Renaming) {
        self.places = Places::Known(Box::new(renaming.another()));
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

    /// As [`ByRoles::passing`] for a step to a state of the same shape, which moved a thread to a place.
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

    /// Only the thread that the step has moved: another that can go alone could most often do so before the step. Only if it has
    /// still to do what it had before, as in a loop, which makes the question cheap. And only if no channel decides whether it can go alone: then
    /// wherever it stands there it goes on at once, so that no other way leads to such a state, and none is gone on from twice.
    #[inline]
    pub(crate) fn passing(&mut self, machine: &Machine, from: &[u64], to: &[u64]) -> Passing {
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

    /// As [`Ample::next_passing`](quotient_seams::Ample::next_passing).
    #[inline]
    pub(crate) fn next_passing(
        &mut self,
        machine: &Machine,
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
            // A set with all threads that may move is not a reduction.
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

/// As [`ByRoles::passing`] for states of the same shape, as far as it is known with a combination of futures.
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
