//! Runs of a machine that are told statement by statement.
//!
//! A statement may be part of several steps (atomic sequences that branch later), so a set of ways is kept and narrowed, as for a
//! nondeterministic automaton.

use std::rc::Rc;

use quotient_machine::{Machine, MicroStep};
use quotient_seams::{Successors, System, ViolationCode};

/// Where a transformation stands: function, location, position.
pub type Place = (u32, u32, u32);

/// A step, as far as it has been followed.
struct Way {
    /// The choices up to and including this step.
    choices: Rc<Choices>,
    /// The statements of the step.
    statements: Vec<MicroStep>,
    /// How many of them have been followed.
    followed: usize,
    /// The state before the step.
    before: Vec<u64>,
    /// The state after the last of them; none if it faults.
    end: Option<Vec<u64>>,
}

impl Way {
    /// Has all of the step been followed?
    fn is_whole(&self) -> bool {
        self.followed == self.statements.len()
    }

    /// The state after what has been followed.
    fn state(&self) -> &[u64] {
        match (&self.end, self.followed.checked_sub(1)) {
            (Some(end), _) if self.followed == self.statements.len() => end,
            (_, Some(last)) => &self.statements[last].state,
            (_, None) => &self.before,
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
                let statements = statements.into_iter().cloned().collect();
                ways.push(self.then(choice, statements, 1, record.state));
            }
        }
        ways
    }

    /// One step more.
    fn then(&self, choice: usize, statements: Vec<MicroStep>, followed: usize, end: Option<Vec<u64>>) -> Way {
        let before = Some(Rc::clone(&self.choices));
        let choices = Choices { last: choice as u32, number: self.choices.number + 1, before };
        Way { choices: Rc::new(choices), statements, followed, before: self.state().to_vec(), end }
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

/// The places of all transformations of threads, by number.
pub(crate) fn places(machine: &Machine) -> Vec<Place> {
    let mut places = Vec::new();
    for (function, f) in machine.program().functions.iter().enumerate() {
        for (location, l) in f.locations.iter().enumerate() {
            let positions = 0..l.transformations.len();
            places.extend(positions.map(|position| (function as u32, location as u32, position as u32)));
        }
    }
    places
}

/// The ways in which a machine can have done what was told.
pub struct Ways<'a> {
    pub(crate) machine: &'a mut Machine,
    /// Places of its transformations.
    places: Vec<Place>,
    ways: Vec<Way>,
}

impl<'a> Ways<'a> {
    /// Starts in the first initial state; none if there is none.
    pub fn start(machine: &'a mut Machine) -> Option<Ways<'a>> {
        let mut initial = Successors::new();
        machine.initial(&mut initial).ok()?;
        let first = (0..initial.len()).find(|i| initial.entry(*i).has_state())?;
        let way = Way {
            choices: Rc::new(Choices { last: first as u32, number: 0, before: None }),
            statements: Vec::new(),
            followed: 0,
            before: Vec::new(),
            end: Some(initial.state(first).to_vec()),
        };
        let places = places(machine);
        Some(Ways { machine, places, ways: vec![way] })
    }

    /// Follows a statement that fits, told by who executes it and by its place; `false`, and nothing changes, if there is none.
    #[must_use]
    pub fn follow(&mut self, fits: impl Fn(&MicroStep, Place) -> bool) -> bool {
        let places = &self.places;
        let fits =
            |own: &MicroStep| places.get(own.transformation as usize).is_some_and(|place| fits(own, *place));
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

    /// Follows a statement that fits, at the beginning of a step, in each way that is at the end of one, by the first such step; gives
    /// the statement.
    pub(crate) fn begin(&mut self, fits: impl Fn(&MicroStep) -> bool) -> Option<MicroStep> {
        let ways = std::mem::take(&mut self.ways);
        let whole = ways.iter().filter(|way| way.is_whole());
        self.ways = whole.flat_map(|way| way.on(self.machine, &fits).into_iter().take(1)).collect();
        self.ways.first().and_then(|way| way.statements.first().cloned())
    }

    /// Goes wrong before any statement of a step, as a `provided` clause does that cannot be evaluated, in a violation that is wanted; nothing
    /// changes if there is none.
    pub(crate) fn fault(&mut self, wanted: impl Fn(&Machine, ViolationCode) -> bool) {
        let mut next = Vec::new();
        for way in self.ways.iter().filter(|way| way.is_whole()) {
            let Some(state) = &way.end else { continue };
            for (choice, record) in self.machine.explain(state).into_iter().enumerate() {
                let wrong = record.violation.is_some_and(|code| wanted(self.machine, code));
                if wrong && record.state.is_none() && record.steps().is_empty() {
                    next.push(way.then(choice, Vec::new(), 0, None));
                }
            }
        }
        if !next.is_empty() {
            self.ways = next;
        }
    }

    /// Leaves only the ways whose last statement has gone wrong, if there are any; `false` otherwise.
    pub fn gone_wrong(&mut self) -> bool {
        let wrong = |way: &Way| way.is_whole() && way.end.is_none();
        let any = self.ways.iter().any(wrong);
        if any {
            self.ways.retain(wrong);
        }
        any
    }

    /// How many transformations the machine's program has.
    pub(crate) fn statements(&self) -> u32 {
        self.places.len() as u32
    }

    /// The statement that was followed last, with its place.
    pub fn last(&self) -> Option<(&MicroStep, Place)> {
        let way = self.ways.first()?;
        let last = way.followed.checked_sub(1).and_then(|last| way.statements.get(last))?;
        Some((last, *self.places.get(last.transformation as usize)?))
    }

    /// How many steps have been made or begun.
    pub fn number(&self) -> usize {
        self.ways.first().map_or(0, |way| way.choices.number)
    }

    /// The state that has been come to.
    pub fn state(&self) -> &[u64] {
        self.ways.first().map_or(&[], Way::state)
    }

    /// The choices that have led here. A step that has been followed only in part counts as a whole.
    pub fn choices(&self) -> Vec<u32> {
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
