//! Search for infinite runs that are to be reported: on-the-fly emptiness of a generalised Büchi condition.
//!
//! One depth-first pass that keeps the strongly connected components met so far (Couvreur, "On-the-fly verification of linear
//! temporal logic", FM 1999; the stack of roots is Gabow's). A step to a state of an open component joins all components
//! above it; as soon as the joined marks are complete, a run through all of them exists and the search ends. Compared with a
//! nested search there is no second pass that would have to choose the same ample sets, and fairness needs no copies of the
//! state space.
//!
//! Where states come in layers (the locations of a claim), a core is stored once, and only its places are kept by layer:
//! steps of the watched program that lead to the same core with different locations of the claim are looked up together.
//!
//! Marks may be about threads, and representatives rename threads. Then every open state knows what its threads were called in the
//! beginning of the search, along the branch of the search tree that leads to it ([`Names`]), and marks are kept in those
//! names. A step back to a state of an open component may find its threads under other names than it left them: whom the two
//! call alike can have each other's part, and the component remembers that.
//!
//! Ample sets that leave the cycle proviso (C3) to the search have it established here: if one of the chosen steps leads to a state of an open
//! component (every state on the stack is in one), everything is explored instead. Those for temporal questions see to it themselves, so that
//! what is explored does not depend on the order of the search.

use quotient_seams::{
    Ample, Incomplete, Interrupt, Known, Loaded, Marks, Names, Numbering, Omega, Representative, Scope,
    Successors, ViolationCode,
};

use crate::expand::{self, Expander, Turn};
use crate::lasso;
use crate::monitor::Monitor;
use crate::{Cause, Found, Options, Path, Report, Seams, Statistics, Stop};

/// Looks for a run that meets all marks infinitely often. Violations met on the way are reported too.
pub fn liveness<S: Omega, R: Representative<S>, A: Ample<S>, V: Numbering>(
    seams: Seams<'_, S, R, A, V>,
    options: &mut Options<'_>,
) -> Report {
    let Seams { system, representative, ample, visited } = seams;
    let layers = system.layers().max(1);
    let mut search = Liveness {
        expander: Expander::new(system, representative, ample),
        store: visited,
        report: Report::new(),
        interrupt: Interrupt::new(),
        layers,
        layer: Vec::new(),
        period: 0,
        renamed: Renamed(Vec::new()),
        first_hint: 0,
        at: Vec::new(),
        kept: Vec::new(),
        place: Vec::new(),
        open: Vec::new(),
        names: Vec::new(),
        roots: Vec::new(),
        levels: Vec::new(),
        waiting: Vec::new(),
        words: Vec::new(),
        hints: Vec::new(),
        loaded: Vec::new(),
        keys: Vec::new(),
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

/// The states of this search, of which those with some places are wanted.
struct Stored<'a, V> {
    store: &'a mut V,
    place: &'a [Place],
    wanted: std::ops::Range<Place>,
    layers: usize,
}

impl<S: Omega, V: Numbering> lasso::States<S> for Stored<'_, V> {
    fn number(&mut self, system: &S, mut state: Vec<u64>) -> Result<usize, Incomplete> {
        let layer = system.take_layer(&mut state) as usize;
        Ok(self.store.number_of(&state) as usize * self.layers + layer)
    }

    fn is_stored(&self, number: usize) -> bool {
        self.place.get(number).is_some_and(|place| *place != NEW)
    }

    fn is_wanted(&self, number: usize) -> bool {
        self.place.get(number).is_some_and(|place| self.wanted.contains(place))
    }
}

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
    /// What the stacks of cores and hints had before.
    words: usize,
    hints: usize,
}

/// A core that was put on the stack.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    needed: bool,
    words: usize,
    hint: usize,
}

/// What threads were called in the beginning, as far as marks ask for it.
type NamesOf<S> = <<S as Omega>::Marks as Marks>::Names;

/// A successor on the stack.
#[derive(Clone, Copy, Debug)]
struct Waiting<M: Marks> {
    /// Of the core and layer, into `place`.
    index: usize,
    /// Its core, if it was new.
    words: usize,
    length: u32,
    hint: usize,
    marks: M,
    names: M::Names,
}

/// How the threads of successors were renamed.
struct Renamed<N>(Vec<N>);

impl<N: Names> expand::Found for Renamed<N> {
    #[inline]
    fn push(&mut self, _: &[u64]) {
        self.0.push(N::OWN);
    }

    #[inline]
    fn replaced(&mut self, new_name: impl Fn(u32) -> u32) {
        if let Some(last) = self.0.last_mut() {
            *last = N::of(new_name);
        }
    }
}

struct Liveness<'a, S: Omega, R, A, V> {
    expander: Expander<'a, S, R, A>,
    store: &'a mut V,
    report: Report,
    /// Raised when the search is to end.
    interrupt: Interrupt,
    layers: u32,
    /// Layers of the successors being looked up.
    layer: Vec<u32>,
    /// From this successor on the cores are those of the first ones again; 0 when they are not.
    period: usize,
    /// How their threads were renamed.
    renamed: Renamed<NamesOf<S>>,
    /// Where their hints start on the stack.
    first_hint: usize,
    /// Their indices into `place`.
    at: Vec<usize>,
    /// Their cores, once each.
    kept: Vec<Kept>,
    /// By number of the core and layer.
    place: Vec<Place>,
    /// Indices (into `place`) of the states of open components, in the order of their expansion.
    open: Vec<usize>,
    /// What their threads were called in the beginning.
    names: Vec<NamesOf<S>>,
    roots: Vec<Root<S::Marks>>,
    levels: Vec<Level>,
    waiting: Vec<Waiting<S::Marks>>,
    words: Vec<u64>,
    hints: Vec<u32>,
    loaded: Vec<Loaded>,
    keys: Vec<u64>,
    expanded: u64,
    transitions: u64,
    depth: u64,
    /// Set when the depth limit cut something off.
    cut: Option<Stop>,
}

impl<S: Omega, R: Representative<S>, A: Ample<S>, V: Numbering> Liveness<'_, S, R, A, V> {
    fn statistics(&self) -> Statistics {
        let held = self.words.capacity() * 8
            + self.hints.capacity() * 4
            + self.waiting.capacity() * size_of::<Waiting<S::Marks>>()
            + self.levels.capacity() * size_of::<Level>()
            + self.place.capacity() * 4
            + self.open.capacity() * 8
            + self.names.capacity() * size_of::<NamesOf<S>>();
        Statistics {
            shares: [0; crate::SHARES],
            states: self.expanded,
            transitions: self.transitions,
            expanded: self.expanded,
            depth: self.depth,
            store_bytes: self.store.bytes(),
            search_bytes: held as u64,
            waiting: (self.waiting.len() - self.levels.len().min(self.waiting.len())) as u64,
        }
    }

    /// A short way to the state being explored, and one step more, which is counted among all its steps: a step that goes
    /// wrong, with this code, is never one of a proposal.
    fn path(&mut self, more: u32, code: ViolationCode) -> Result<Path, Stop> {
        let Some(&current) = self.open.last() else { return Ok(Path { choices: vec![more] }) };
        let first = self.place[current];
        let mut states = Stored {
            store: &mut *self.store,
            place: &self.place,
            wanted: first..first + 1,
            layers: self.layers as usize,
        };
        let (system, representative) = (&mut *self.expander.system, &mut *self.expander.representative);
        let way = lasso::way(system, representative, &mut states, &self.interrupt);
        let (mut choices, state) = way.map_err(Stop::Incomplete)?;
        if NamesOf::<S>::ASKED {
            // The way was taken with threads in their places, and leads to a renaming of the state.
            let mut steps = Successors::new();
            let taken = self.expander.system.successors(&state, Scope::All, &mut steps);
            taken.map_err(|e| Stop::Incomplete(e.what))?;
            let wrong = (0..steps.len()).find(|i| steps.entry(*i).violation == Some(code));
            choices.push(wrong.map_or(more, |i| i as u32));
        } else {
            choices.push(more);
        }
        Ok(Path { choices })
    }

    fn run(&mut self, options: &mut Options<'_>) -> Result<(), Stop> {
        let mut monitor = Monitor::new(options);
        self.interrupt = monitor.interrupt().clone();
        let mut successors = Successors::new();
        let mut state: Vec<u64> = Vec::new();
        let mut core: Vec<u64> = Vec::new();
        let mut hint: Vec<u32> = Vec::new();
        let mut marks: Vec<S::Marks> = Vec::new();

        self.expander.initial(&mut successors, &mut self.renamed).map_err(|e| Stop::Incomplete(e.what))?;
        self.look_up(&mut successors, None);
        self.push(&successors, &[], NEW, Names::OWN, options)?;

        while let Some(level) = self.levels.last_mut() {
            if level.next == self.waiting.len() {
                self.leave();
                continue;
            }
            let current = self.waiting[level.next];
            level.next += 1;
            match self.place[current.index] {
                NEW => {}
                DONE => continue,
                place => {
                    if self.join(place, current.marks, current.names) {
                        return Err(self.found());
                    }
                    continue;
                }
            }
            let words = &self.words[current.words..current.words + current.length as usize];
            state.clear();
            state.extend_from_slice(words);
            core.clear();
            core.extend_from_slice(&state);
            self.expander.system.put_layer(&mut state, (current.index % self.layers as usize) as u32);
            let hint_len = self.store.hint_len(state.len());
            hint.clear();
            hint.extend_from_slice(&self.hints[current.hint..current.hint + hint_len]);

            self.open.push(current.index);
            self.names.push(current.names);
            let place = self.open.len() as u32;
            self.place[current.index] = place;
            self.expand(&state, Known { state: &core, hint: &hint }, &mut successors)?;
            let inside = self.expander.system.state_marks(&state).renamed(current.names);
            self.expander.system.step_marks(&state, &successors, &mut marks);
            self.roots.push(Root { first: place, inside, entered_by: current.marks });
            self.expanded += 1;
            if options.limits.depth.is_none_or(|limit| (self.levels.len() as u64) <= limit) {
                self.push(&successors, &marks, place, current.names, options)?;
            } else {
                self.cut = options.limits.depth.map(Monitor::depth);
                self.hints.truncate(self.first_hint);
                self.push(&Successors::new(), &[], place, current.names, options)?;
            }
            self.depth = self.depth.max(self.levels.len() as u64 - 1);
            if let Some(limit) = options.limits.states
                && self.expanded > limit
            {
                return Err(Monitor::states(limit));
            }
            if monitor.due()
                && let Some(stop) = monitor.check(options, &mut || self.statistics())
            {
                return Err(stop);
            }
            if let Some(what) = self.store.exhausted() {
                return Err(Stop::Incomplete(what.into()));
            }
        }
        // What a store refuses looks like what it has: nothing may be concluded then.
        if let Some(what) = self.store.exhausted() {
            return Err(Stop::Incomplete(what.into()));
        }
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    /// Generates the steps that must be explored and looks up where they lead.
    fn expand(&mut self, state: &[u64], known: Known<'_>, successors: &mut Successors) -> Result<(), Stop> {
        let mut turn = Turn::default();
        loop {
            successors.clear();
            self.renamed.0.clear();
            self.expander
                .expand(state, &mut turn, successors, &mut self.renamed)
                .map_err(|e| Stop::Incomplete(e.what))?;
            self.look_up(successors, Some(known));
            if turn.is_whole() || self.may_stay(successors) {
                return Ok(());
            }
            self.hints.truncate(self.first_hint);
        }
    }

    /// May these steps be explored alone, though there are others? None may go wrong and, where that is left to the search, none may lead to an open
    /// component.
    fn may_stay(&mut self, successors: &Successors) -> bool {
        if !self.expander.needs_open() {
            return !successors.has_violations();
        }
        (0..successors.len()).all(|i| {
            let index = if successors.entry(i).violation.is_none() {
                self.index(i, successors)
            } else {
                return false;
            };
            matches!(self.place.get(index), None | Some(&(NEW | DONE)))
        })
    }

    /// The index of a successor that was looked up.
    fn index(&mut self, successor: usize, successors: &Successors) -> usize {
        let first = self.first_of(successor);
        let number = self.store.number(self.keys[first], successors.state(first));
        number as usize * self.layers as usize + self.layer[successor] as usize
    }

    /// The first successor with the same core, as far as that is known.
    #[inline]
    fn first_of(&self, successor: usize) -> usize {
        if self.period == 0 { successor } else { successor % self.period }
    }

    /// Takes the layers out of all successors and hashes their cores, so that their lookups overlap; hints go after those
    /// on the stack.
    fn look_up(&mut self, successors: &mut Successors, known: Option<Known<'_>>) {
        self.first_hint = self.hints.len();
        self.loaded.clear();
        self.keys.clear();
        self.layer.clear();
        for index in 0..successors.len() {
            let state = successors.state_mut(index);
            self.layer.push(if state.is_empty() { 0 } else { self.expander.system.take_layer(state) });
        }
        self.find_period(successors);
        let count = if self.period == 0 { successors.len() } else { self.period };
        for index in 0..count {
            let state = successors.state(index);
            let at = self.hints.len();
            if state.is_empty() {
                self.loaded.push(Loaded::default());
                continue;
            }
            self.hints.resize(at + self.store.hint_len(state.len()), 0);
            self.loaded.push(self.store.load(state, known, &mut self.hints[at..]));
        }
        let mut at = self.first_hint;
        for index in 0..count {
            let state = successors.state(index);
            if state.is_empty() {
                self.keys.push(0);
                continue;
            }
            let end = at + self.store.hint_len(state.len());
            self.keys.push(self.store.prepare(state, self.loaded[index], &mut self.hints[at..end]));
            at = end;
        }
    }

    /// Finds out whether the cores are the same few again and again, as they are where a claim has several moves.
    fn find_period(&mut self, successors: &Successors) {
        self.period = 0;
        let count = successors.len();
        if self.layers == 1 || count < 2 || !successors.entry(0).has_state() {
            return;
        }
        let Some(period) = (1..count).find(|i| successors.state(*i) == successors.state(0)) else { return };
        if (period..count).all(|i| successors.state(i) == successors.state(i - period)) {
            self.period = period;
        }
    }

    /// Opens a level with the successors that [`Liveness::look_up`] looked up, leaving out those in finished components. The state
    /// they are successors of had its threads called by these `names` in the beginning.
    fn push(
        &mut self,
        successors: &Successors,
        marks: &[S::Marks],
        place: u32,
        names: NamesOf<S>,
        options: &Options<'_>,
    ) -> Result<(), Stop> {
        let bottom = Level {
            start: self.waiting.len(),
            next: self.waiting.len(),
            place,
            words: self.words.len(),
            hints: self.first_hint,
        };
        for index in 0..successors.len() {
            if let Some(code) = successors.entry(index).violation {
                if self.report.found.iter().any(|f| f.cause == Cause::Violation(code)) {
                    self.report.record(Cause::Violation(code), || Path { choices: Vec::new() });
                } else {
                    let path = self.path(index as u32, code)?;
                    self.report.record(Cause::Violation(code), || path);
                }
                if !options.all {
                    return Err(Stop::Violation);
                }
            }
        }
        // Where each successor is, and which cores may have to be expanded: only those are needed later.
        self.at.clear();
        self.kept.clear();
        self.kept.resize(self.keys.len().min(successors.len()), Kept::default());
        for index in 0..successors.len() {
            if !successors.entry(index).has_state() {
                self.at.push(usize::MAX);
                continue;
            }
            let at = self.index(index, successors);
            if self.place.len() <= at {
                self.place.resize((at / self.layers as usize + 1) * self.layers as usize, NEW);
            }
            let first = self.first_of(index);
            self.kept[first].needed |= self.place[at] == NEW;
            self.at.push(at);
        }
        let (mut read, mut write) = (self.first_hint, self.first_hint);
        for index in 0..self.kept.len() {
            let state = successors.state(index);
            if state.is_empty() {
                continue;
            }
            let hint_len = self.store.hint_len(state.len());
            if self.kept[index].needed {
                self.kept[index] = Kept { needed: true, words: self.words.len(), hint: write };
                self.words.extend_from_slice(state);
                self.hints.copy_within(read..read + hint_len, write);
                write += hint_len;
            }
            read += hint_len;
        }
        self.hints.truncate(write);
        for index in 0..successors.len() {
            let at = self.at[index];
            if at == usize::MAX {
                continue;
            }
            self.transitions += u64::from(place != NEW);
            if self.place[at] == DONE {
                continue;
            }
            let kept = self.kept[self.first_of(index)];
            self.waiting.push(Waiting {
                index: at,
                length: successors.state(index).len() as u32,
                words: kept.words,
                hint: kept.hint,
                marks: marks.get(index).copied().unwrap_or(S::Marks::NONE).renamed(names),
                names: names.before(self.renamed.0.get(index).copied().unwrap_or(Names::OWN)),
            });
        }
        self.levels.push(bottom);
        Ok(())
    }

    /// Joins the open components from `place` on, to which a step leads back with these names; whether everything was met in
    /// the result.
    #[inline]
    fn join(&mut self, place: u32, closing: S::Marks, names: NamesOf<S>) -> bool {
        let mut marks = closing;
        marks.identify(names, self.names[place as usize - 1]);
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
        self.words.truncate(level.words);
        self.hints.truncate(level.hints);
        self.waiting.truncate(level.start);
        if level.place != NEW && self.roots.last().is_some_and(|r| r.first == level.place) {
            self.roots.pop();
            self.names.truncate(level.place as usize - 1);
            for index in self.open.drain(level.place as usize - 1..) {
                self.place[index] = DONE;
            }
        }
    }

    /// Reports the component at the top: a short way to it and a cycle through everything that must be met.
    fn found(&mut self) -> Stop {
        let first = self.roots.last().map_or(1, |r| r.first);
        let mut states = Stored {
            store: &mut *self.store,
            place: &self.place,
            wanted: first..DONE,
            layers: self.layers as usize,
        };
        let (system, representative) = (&mut *self.expander.system, &mut *self.expander.representative);
        match lasso::shortest(system, representative, &mut states, &self.interrupt) {
            Ok(lasso) => {
                let cycle = lasso.cycle;
                self.report.found.push(Found { cause: Cause::Cycle, path: lasso.path, cycle, count: 1 });
                Stop::Violation
            }
            Err(what) => Stop::Incomplete(what),
        }
    }
}
