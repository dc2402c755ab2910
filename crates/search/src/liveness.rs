//! Search for infinite runs that are to be reported: on-the-fly emptiness of a generalised Büchi condition.
//!
//! One depth-first pass that keeps the strongly connected components met so far (Couvreur, "On-the-fly verification of linear
//! temporal logic", FM 1999; the stack of roots is Gabow's). A step to a state of an open component joins all components
//! above it; as soon as the joined marks are complete, a run through all of them exists and the search ends. Compared with a
//! nested search there is no second pass that would have to choose the same ample sets, and fairness needs no copies of the
//! state space.
//!
//! With an ample set, the cycle proviso (C3) is established here: if one of the chosen steps leads to a state of an open
//! component (every state on the stack is in one), everything is explored instead.

use quotient_ample::Ample;
use quotient_symmetry::Representative;
use quotient_system::{Marks, Omega, Scope, Successors};
use quotient_visited::{Known, Loaded, Numbered, Prepared};

use crate::lasso::{self, Component};
use crate::monitor::Monitor;
use crate::{Cause, Found, Options, Path, Report, Statistics, Stop};

/// The seams of a search for infinite runs; states are kept in a [`Numbered`] store of its own.
#[derive(Debug)]
pub struct OmegaSeams<'a, S, R, A> {
    /// What can happen next, and which runs count?
    pub system: &'a mut S,
    /// Which state stands for this one?
    pub representative: &'a mut R,
    /// Which enabled actions must be explored?
    pub ample: &'a mut A,
}

/// Looks for a run that meets all marks infinitely often. Violations met on the way are reported too.
pub fn liveness<S: Omega, R: Representative<S>, A: Ample<S>>(
    seams: OmegaSeams<'_, S, R, A>,
    options: &mut Options<'_>,
) -> Report {
    let mut search = Liveness {
        seams,
        report: Report::new(),
        store: Numbered::new(),
        place: Vec::new(),
        open: Vec::new(),
        roots: Vec::new(),
        levels: Vec::new(),
        waiting: Vec::new(),
        words: Vec::new(),
        hints: Vec::new(),
        loaded: Vec::new(),
        prepared: Vec::new(),
        expanded: 0,
        transitions: 0,
        depth: 0,
        cut: None,
    };
    search.report.stop = match search.run(options) {
        Ok(()) => search.cut.take().unwrap_or(Stop::Complete),
        Err(stop) => stop,
    };
    search.report.statistics = search.statistics();
    search.report
}

/// Where a state is: not yet expanded, in an open component (its place in `open`, plus one), or in a finished one.
type Place = u32;
const NEW: Place = 0;
const DONE: Place = u32::MAX;

/// An open component: the first place of its states, what was met in it, and on the step that leads into it.
#[derive(Clone, Copy, Debug)]
struct Root<M> {
    first: u32,
    inside: M,
    entered_by: M,
}

/// A state being explored and its successors still to be looked at: `next..` of `waiting` up to the next level's.
#[derive(Clone, Copy, Debug)]
struct Level {
    start: usize,
    next: usize,
    place: u32,
}

/// A successor on the stack.
#[derive(Clone, Copy, Debug)]
struct Waiting<M> {
    number: u32,
    words: u32,
    start: usize,
    hint: usize,
    marks: M,
    choice: u32,
}

struct Liveness<'a, S: Omega, R, A> {
    seams: OmegaSeams<'a, S, R, A>,
    report: Report,
    store: Numbered,
    /// By number of the state.
    place: Vec<Place>,
    /// Numbers of the states of open components, in the order of their expansion.
    open: Vec<u32>,
    roots: Vec<Root<S::Marks>>,
    levels: Vec<Level>,
    waiting: Vec<Waiting<S::Marks>>,
    words: Vec<u64>,
    hints: Vec<u32>,
    loaded: Vec<Loaded>,
    prepared: Vec<Prepared>,
    expanded: u64,
    transitions: u64,
    depth: u64,
    /// Set when the depth limit cut something off.
    cut: Option<Stop>,
}

impl<S: Omega, R: Representative<S>, A: Ample<S>> Liveness<'_, S, R, A> {
    fn statistics(&self) -> Statistics {
        let held = self.words.capacity() * 8
            + self.hints.capacity() * 4
            + self.waiting.capacity() * size_of::<Waiting<S::Marks>>()
            + self.levels.capacity() * size_of::<Level>()
            + (self.place.capacity() + self.open.capacity()) * 4;
        Statistics {
            states: u64::from(self.store.len()),
            transitions: self.transitions,
            expanded: self.expanded,
            depth: self.depth,
            store_bytes: self.store.bytes(),
            search_bytes: held as u64,
            waiting: (self.waiting.len() - self.levels.len().min(self.waiting.len())) as u64,
        }
    }

    /// The way to the state being explored, and one step more.
    fn path(&self, more: Option<u32>) -> Path {
        // The first level has the initial states; a level's current state is the one before `next`.
        let choices = self.levels.iter().map(|l| self.waiting[l.next - 1].choice).chain(more).collect();
        Path { choices }
    }

    fn run(&mut self, options: &mut Options<'_>) -> Result<(), Stop> {
        let mut monitor = Monitor::new();
        let mut successors = Successors::new();
        let mut state: Vec<u64> = Vec::new();
        let mut hint: Vec<u32> = Vec::new();
        let mut scratch = Vec::new();
        let mut marks: Vec<S::Marks> = Vec::new();

        self.seams.system.initial(&mut successors).map_err(|e| Stop::Incomplete(e.what))?;
        self.represent(&mut successors, &mut scratch);
        self.look_up(&successors, None);
        self.push(&successors, &[], NEW, options)?;

        while let Some(level) = self.levels.last_mut() {
            if level.next == self.waiting.len() {
                self.leave();
                continue;
            }
            let current = self.waiting[level.next];
            level.next += 1;
            match self.place[current.number as usize] {
                NEW => {}
                DONE => continue,
                place => {
                    if self.join(place, current.marks) {
                        return Err(self.found());
                    }
                    continue;
                }
            }
            let words = &self.words[current.start..current.start + current.words as usize];
            state.clear();
            state.extend_from_slice(words);
            let hint_len = self.store.hint_len(state.len());
            hint.clear();
            hint.extend_from_slice(&self.hints[current.hint..current.hint + hint_len]);

            self.open.push(current.number);
            let place = self.open.len() as u32;
            self.place[current.number as usize] = place;
            self.expand(&state, &hint, &mut successors, &mut scratch)?;
            let inside = self.seams.system.state_marks(&state);
            self.seams.system.step_marks(&state, &successors, &mut marks);
            self.roots.push(Root { first: place, inside, entered_by: current.marks });
            self.expanded += 1;
            if options.limits.depth.is_none_or(|limit| (self.levels.len() as u64) <= limit) {
                self.push(&successors, &marks, place, options)?;
            } else {
                self.cut = options.limits.depth.map(Monitor::depth);
                self.push(&Successors::new(), &[], place, options)?;
            }
            self.depth = self.depth.max(self.levels.len() as u64 - 1);
            if let Some(limit) = options.limits.states
                && u64::from(self.store.len()) > limit
            {
                return Err(Monitor::states(limit));
            }
            if monitor.due(1)
                && let Some(stop) = monitor.check(options, &mut || self.statistics())
            {
                return Err(stop);
            }
            if let Some(what) = self.store.exhausted() {
                return Err(Stop::Incomplete(what.into()));
            }
        }
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    fn represent(&mut self, successors: &mut Successors, scratch: &mut Vec<u64>) {
        for index in 0..successors.len() {
            if self.seams.representative.representative(self.seams.system, successors.state(index), scratch) {
                successors.replace(index, scratch);
            }
        }
    }

    /// Generates the steps that must be explored and looks up where they lead.
    fn expand(
        &mut self,
        state: &[u64],
        hint: &[u32],
        successors: &mut Successors,
        scratch: &mut Vec<u64>,
    ) -> Result<(), Stop> {
        let mut scope = self.seams.ample.propose(self.seams.system, state, 0);
        loop {
            successors.clear();
            let hints = self.hints.len();
            self.seams.system.successors(state, scope, successors).map_err(|e| Stop::Incomplete(e.what))?;
            self.represent(successors, scratch);
            self.look_up(successors, Some(Known { state, hint }));
            let closes = scope != Scope::All
                && (0..successors.len()).any(|i| {
                    let number = self.store.number(self.prepared[i]) as usize;
                    successors.entry(i).has_state()
                        && !matches!(self.place.get(number), None | Some(&(NEW | DONE)))
                });
            if !closes {
                return Ok(());
            }
            scope = Scope::All;
            self.hints.truncate(hints);
        }
    }

    /// Hashes all successors, so that their lookups overlap; hints go behind those on the stack.
    fn look_up(&mut self, successors: &Successors, known: Option<Known<'_>>) {
        let first_hint = self.hints.len();
        self.loaded.clear();
        self.prepared.clear();
        for index in 0..successors.len() {
            let state = successors.state(index);
            let at = self.hints.len();
            if state.is_empty() {
                self.loaded.push(Loaded::default());
                continue;
            }
            self.hints.resize(at + self.store.hint_len(state.len()), 0);
            self.loaded.push(self.store.load(state, known, &mut self.hints[at..]));
        }
        let mut at = first_hint;
        for index in 0..successors.len() {
            let state = successors.state(index);
            if state.is_empty() {
                self.prepared.push(Prepared::default());
                continue;
            }
            let end = at + self.store.hint_len(state.len());
            self.prepared.push(self.store.prepare(state, self.loaded[index], &mut self.hints[at..end]));
            at = end;
        }
    }

    /// Opens a level with the successors that [`Liveness::look_up`] looked up, leaving out those in finished components.
    fn push(
        &mut self,
        successors: &Successors,
        marks: &[S::Marks],
        place: u32,
        options: &Options<'_>,
    ) -> Result<(), Stop> {
        let start = self.waiting.len();
        let lens = |store: &Numbered, i: usize| store.hint_len(successors.state(i).len());
        let total: usize = (0..successors.len())
            .filter(|i| successors.entry(*i).has_state())
            .map(|i| lens(&self.store, i))
            .sum();
        let mut read = self.hints.len() - total.min(self.hints.len());
        let mut write = read;
        self.levels.push(Level { start, next: start, place });
        for index in 0..successors.len() {
            if let Some(code) = successors.entry(index).violation {
                self.levels.pop();
                let path = self.path(Some(index as u32));
                self.report.record(Cause::Violation(code), || path);
                self.levels.push(Level { start, next: start, place });
                if !options.all {
                    return Err(Stop::Violation);
                }
            }
            let state = successors.state(index);
            if state.is_empty() {
                continue;
            }
            self.transitions += u64::from(place != NEW);
            let hint_len = self.store.hint_len(state.len());
            let number = self.store.number(self.prepared[index]);
            if self.place.len() <= number as usize {
                self.place.resize(number as usize + 1, NEW);
            }
            let at = self.place[number as usize];
            if at != DONE {
                self.waiting.push(Waiting {
                    number,
                    words: state.len() as u32,
                    start: self.words.len(),
                    hint: write,
                    marks: marks.get(index).copied().unwrap_or(S::Marks::NONE),
                    choice: index as u32,
                });
                // Only a state that may have to be expanded is needed later.
                if at == NEW {
                    self.words.extend_from_slice(state);
                    self.hints.copy_within(read..read + hint_len, write);
                    write += hint_len;
                }
            }
            read += hint_len;
        }
        self.hints.truncate(write);
        Ok(())
    }

    /// Joins the open components from `place` on; whether everything was met in the result.
    #[inline]
    fn join(&mut self, place: u32, closing: S::Marks) -> bool {
        let mut marks = closing;
        while let Some(root) = self.roots.last().copied()
            && root.first > place
        {
            marks.add(root.inside);
            marks.add(root.entered_by);
            self.roots.pop();
        }
        match self.roots.last_mut() {
            Some(root) => {
                root.inside.add(marks);
                root.inside.is_full()
            }
            None => false,
        }
    }

    /// Leaves the state at the top of the stack; closes its component if it is the first one of it.
    fn leave(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        if let Some(first) = self.waiting.get(level.start) {
            self.words.truncate(first.start);
            self.hints.truncate(first.hint);
        }
        self.waiting.truncate(level.start);
        if level.place != NEW && self.roots.last().is_some_and(|r| r.first == level.place) {
            self.roots.pop();
            for number in self.open.drain(level.place as usize - 1..) {
                self.place[number as usize] = DONE;
            }
        }
    }

    /// Reports the component at the top: a short way to it and a cycle through everything that must be met.
    fn found(&mut self) -> Stop {
        let first = self.roots.last().map_or(1, |r| r.first);
        let component = Component { place: &self.place, first, open: DONE };
        match lasso::shortest(self.seams.system, self.seams.representative, &mut self.store, component) {
            Ok(lasso) => {
                let cycle = lasso.cycle;
                self.report.found.push(Found { cause: Cause::Cycle, path: lasso.path, cycle, count: 1 });
                Stop::Violation
            }
            Err(what) => Stop::Incomplete(what),
        }
    }
}
