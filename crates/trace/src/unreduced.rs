//! The unreduced program, run beside a path of a reduced one.
//!
//! A reduced program forgets the values of variables that nobody will read, and takes several steps at once. Its runs are runs of
//! the program as written all the same: every statement that it executes is one that the program as written can execute there.
//! So a path of the reduced program is followed here, statement by statement, in the program as written, whose states have
//! every variable's value.
//!
//! Statements are told by their place: function, location and position among its transformations. Reductions take ways out of
//! a location, all at once, but move none ([`quotient_residual`](../quotient_residual/index.html)). A statement may be part of several steps of
//! the program as written (atomic sequences that branch later), so a set of ways is kept and narrowed, as for a
//! nondeterministic automaton. Where the reduced program leaves out the ends of processes (they are at their last location and stay), the program as written
//! may have to end them first: `timeout` waits for that. If no way is left, one of the two programs is wrong, and the path counts as not replayable.

use std::rc::Rc;

use quotient_machine::{Machine, MicroStep};
use quotient_program::Operation;
use quotient_seams::{Successors, System};

/// Where a transformation stands: function, location, position.
type Place = (u32, u32, u32);

/// A step of the program as written, as far as it has been followed.
struct Way {
    /// The choices up to and including this step.
    choices: Rc<Choices>,
    /// The statements of the step.
    statements: Vec<MicroStep>,
    /// How many of them have been followed.
    followed: usize,
    /// The state after the last of them; none if it faults.
    end: Option<Vec<u64>>,
}

impl Way {
    /// The state after what has been followed.
    fn state(&self) -> &[u64] {
        match (&self.end, self.followed.checked_sub(1)) {
            (Some(end), _) if self.followed == self.statements.len() => end,
            (_, Some(last)) => &self.statements[last].state,
            (end, None) => end.as_deref().unwrap_or(&[]),
        }
    }
}

impl Way {
    /// The steps that follow, begun by a statement that is wanted.
    fn on(&self, machine: &mut Machine, wanted: impl Fn(&MicroStep) -> bool) -> Vec<Way> {
        let Some(state) = &self.end else { return Vec::new() };
        let mut ways = Vec::new();
        for (choice, record) in machine.explain(state).into_iter().enumerate() {
            let statements = record.steps();
            if statements.first().is_some_and(|first| wanted(first)) {
                let before = Some(Rc::clone(&self.choices));
                ways.push(Way {
                    choices: Rc::new(Choices {
                        last: choice as u32,
                        number: self.choices.number + 1,
                        before,
                    }),
                    statements: statements.into_iter().cloned().collect(),
                    followed: 1,
                    end: record.state,
                });
            }
        }
        ways
    }
}

/// Choices, the last one first; ways share what they have in common.
struct Choices {
    last: u32,
    /// How many there are before it.
    number: usize,
    before: Option<Rc<Choices>>,
}

impl Drop for Choices {
    /// Without recursion: a path may have millions of choices.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut choices) = next.and_then(Rc::into_inner) {
            next = choices.before.take();
        }
    }
}

/// A run of the program as written that does what a path of the reduced program does.
pub(crate) struct Unreduced<'a> {
    pub(crate) machine: &'a mut Machine,
    /// Places of the transformations of the reduced program, and of the one as written.
    reduced: Vec<Place>,
    written: Vec<Place>,
    ways: Vec<Way>,
}

/// The places of all transformations of threads, by number.
fn places(machine: &Machine) -> Vec<Place> {
    let mut places = Vec::new();
    for (function, f) in machine.program().functions.iter().enumerate() {
        for (location, l) in f.locations.iter().enumerate() {
            let positions = 0..l.transformations.len();
            places.extend(positions.map(|position| (function as u32, location as u32, position as u32)));
        }
    }
    places
}

impl<'a> Unreduced<'a> {
    /// Starts beside a path of `reduced`; none if the program as written has no initial state.
    pub(crate) fn start(machine: &'a mut Machine, reduced: &Machine) -> Option<Unreduced<'a>> {
        let mut initial = Successors::new();
        machine.initial(&mut initial).ok()?;
        let first = (0..initial.len()).find(|i| initial.entry(*i).has_state())?;
        let way = Way {
            choices: Rc::new(Choices { last: first as u32, number: 0, before: None }),
            statements: Vec::new(),
            followed: 0,
            end: Some(initial.state(first).to_vec()),
        };
        let (reduced, written) = (places(reduced), places(machine));
        Some(Unreduced { machine, reduced, written, ways: vec![way] })
    }

    /// Follows a statement of the reduced program; `false`, and nothing changes, if the program as written has none like it here. A process
    /// may have to end before it has ([`Unreduced::end_a_process`]).
    #[must_use]
    pub(crate) fn follow(&mut self, statement: &MicroStep) -> bool {
        let place = self.reduced.get(statement.transformation as usize).copied();
        let written = &self.written;
        let fits = |own: &MicroStep| {
            (own.thread, own.partner) == (statement.thread, statement.partner)
                && written.get(own.transformation as usize).copied() == place
        };
        let (mut next, mut others): (Vec<Way>, Vec<Way>) = Default::default();
        for mut way in std::mem::take(&mut self.ways) {
            match way.statements.get(way.followed) {
                Some(own) if fits(own) => {
                    way.followed += 1;
                    next.push(way);
                    continue;
                }
                Some(_) => {}
                None => next.extend(way.on(self.machine, fits)),
            }
            others.push(way);
        }
        if next.is_empty() {
            self.ways = others;
            return false;
        }
        // Ways that have come to one state go on alike.
        let mut kept: Vec<Way> = Vec::new();
        for way in next {
            let open = way.followed < way.statements.len();
            let known = |k: &Way| k.followed == k.statements.len() && k.end == way.end;
            if open || !kept.iter().any(known) {
                kept.push(way);
            }
        }
        self.ways = kept;
        true
    }

    /// Lets a process end that has come to its end, if one can, and gives that statement of the program as written; it makes no
    /// difference which way it is done in.
    pub(crate) fn end_a_process(&mut self) -> Option<MicroStep> {
        let ends: Vec<bool> = (0..self.written.len() as u32)
            .map(|number| {
                let found = self.machine.transformation(number);
                found.is_some_and(|(_, _, t)| matches!(t.operation, Operation::Exit))
            })
            .collect();
        let is_end = |own: &MicroStep| ends.get(own.transformation as usize) == Some(&true);
        let ways = std::mem::take(&mut self.ways);
        let whole = ways.iter().filter(|way| way.followed == way.statements.len());
        self.ways = whole.flat_map(|way| way.on(self.machine, is_end).into_iter().take(1)).collect();
        self.ways.first().and_then(|way| way.statements.first().cloned())
    }

    /// The statement of the program as written that was followed last.
    pub(crate) fn last(&self) -> Option<&MicroStep> {
        let way = self.ways.first()?;
        way.followed.checked_sub(1).and_then(|last| way.statements.get(last))
    }

    /// How many steps of the program as written have been made or begun.
    pub(crate) fn number(&self) -> usize {
        self.ways.first().map_or(0, |way| way.choices.number)
    }

    /// The state that has been come to.
    pub(crate) fn state(&self) -> &[u64] {
        self.ways.first().map_or(&[], Way::state)
    }

    /// The choices, among the steps of the program as written, that have led here. A step that has been followed only in part
    /// counts as a whole.
    pub(crate) fn choices(&self) -> Vec<u32> {
        let mut choices = Vec::new();
        let mut next = self.ways.first().map(|way| &way.choices);
        while let Some(node) = next {
            choices.push(node.last);
            next = node.before.as_ref();
        }
        choices.reverse();
        choices
    }
}
