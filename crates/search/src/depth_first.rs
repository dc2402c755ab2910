//! Depth-first search with an explicit stack: the depth is limited by memory alone. A state is expanded as a
//! whole; successors not seen before wait on the stack.

use quotient_seams::{Ample, Known, Loaded, Representative, Successors, System, Visited};

use crate::expand::{Expander, Originals, Turn};
use crate::monitor::Monitor;
use crate::on_stack::OnStack;
use crate::{Cause, Options, Report, Seams, Statistics, Stop};

/// Explores everything reachable, deepest first.
pub fn depth_first<S: System, R: Representative<S>, A: Ample<S>, V: Visited>(
    seams: Seams<'_, S, R, A, V>,
    options: &mut Options<'_>,
) -> Report {
    let Seams { system, representative, ample, visited } = seams;
    let originals = Originals::new(representative.keeps_found());
    let expander = Expander::new(system, representative, ample);
    let mut search = DepthFirst {
        checks_stack: expander.needs_open(),
        expander,
        visited,
        on_stack: OnStack::default(),
        report: Report::new(),
        levels: Vec::new(),
        waiting: Vec::new(),
        words: Vec::new(),
        hints: Vec::new(),
        loaded: Vec::new(),
        originals,
        expanded: 0,
        transitions: 0,
        depth: 0,
        cut: None,
    };
    search.report.stop = match search.run(options) {
        Ok(()) => search.cut.take().unwrap_or_else(|| Stop::complete(&*search.visited)),
        Err(stop) => stop,
    };
    search.report.statistics = search.statistics();
    search.report
}

/// The successors of one state of the stack that are still to be explored: `next..end` of `waiting`.
/// `next - 1` is the one being explored.
#[derive(Clone, Copy, Debug)]
struct Level {
    start: usize,
    next: usize,
    /// The key of the state they are the successors of.
    key: u64,
}

/// A state on the stack or waiting there.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    key: u64,
    start: usize,
    words: u32,
    /// Words of the state as it was found, after these; 0: the search goes on from the state stored.
    found: u32,
    /// Its number among its predecessor's successors.
    choice: u32,
    hint: usize,
}

struct DepthFirst<'a, S, R, A, V> {
    expander: Expander<'a, S, R, A>,
    visited: &'a mut V,
    /// A reduced expansion must lead to a state that is not on the stack.
    checks_stack: bool,
    on_stack: OnStack,
    report: Report,
    levels: Vec<Level>,
    waiting: Vec<Waiting>,
    words: Vec<u64>,
    hints: Vec<u32>,
    /// What is found out about the successors being looked up.
    loaded: Vec<Loaded>,
    /// The successors being looked up as they were found.
    originals: Originals,
    expanded: u64,
    transitions: u64,
    depth: u64,
    /// Set when the depth limit cut something off.
    cut: Option<Stop>,
}

impl<S: System, R: Representative<S>, A: Ample<S>, V: Visited> DepthFirst<'_, S, R, A, V> {
    fn statistics(&self) -> Statistics {
        let held = self.words.capacity() * 8
            + self.hints.capacity() * 4
            + self.waiting.capacity() * size_of::<Waiting>()
            + self.levels.capacity() * size_of::<Level>()
            + self.on_stack.bytes();
        Statistics {
            shares: [0; crate::SHARES],
            states: self.visited.len(),
            transitions: self.transitions + self.expander.passed(),
            expanded: self.expanded,
            depth: self.depth,
            store_bytes: self.visited.bytes(),
            search_bytes: held as u64,
            // A level without successors may still be open.
            waiting: (self.waiting.len() as u64).saturating_sub(self.levels.len() as u64),
        }
    }

    /// The way to the state being explored, and one step more.
    fn written(levels: &[Level], waiting: &[Waiting], more: Option<u32>) -> Vec<u32> {
        levels.iter().map(|l| waiting[l.next - 1].choice).chain(more).collect()
    }

    fn run(&mut self, options: &mut Options<'_>) -> Result<(), Stop> {
        let mut monitor = Monitor::new(options);
        let mut successors = Successors::new();
        let mut keys: Vec<u64> = Vec::new();
        let mut stored: Vec<u64> = Vec::new();
        let mut state: Vec<u64> = Vec::new();
        let mut hint: Vec<u32> = Vec::new();

        self.expander.initial(&mut successors, &mut self.originals).map_err(|e| Stop::Incomplete(e.what))?;
        self.push(&successors, (0, Turn::default()), None, &mut keys, options)?;

        while let Some(level) = self.levels.last_mut() {
            if level.next == self.waiting.len() {
                self.pop();
                continue;
            }
            let current = self.waiting[level.next];
            level.next += 1;
            let words = &self.words[current.start..current.start + current.words as usize];
            if !self.visited.insert(current.key, words) {
                continue;
            }
            if let Some(limit) = options.limits.states
                && self.visited.len() > limit
            {
                return Err(Monitor::states(limit));
            }
            stored.clear();
            stored.extend_from_slice(words);
            state.clear();
            if current.found > 0 {
                state.extend_from_slice(&self.words[current.start + words.len()..][..current.found as usize]);
            } else {
                state.extend_from_slice(words);
            }
            let hint_len = self.visited.hint_len(stored.len());
            hint.clear();
            hint.extend_from_slice(&self.hints[current.hint..current.hint + hint_len]);

            let within = options.limits.depth.is_none_or(|limit| (self.levels.len() as u64) <= limit);
            self.expanded += 1;
            if self.checks_stack && within {
                self.on_stack.push(current.key);
            }
            let mut turn = Turn::default();
            loop {
                successors.clear();
                self.originals.clear();
                self.expander
                    .expand(&state, &mut turn, &mut successors, &mut self.originals)
                    .map_err(|e| Stop::Incomplete(e.what))?;
                if successors.is_still(0..successors.len())
                    && options.deadlocks
                    && !self.expander.system.is_valid_end(&state)
                {
                    let (levels, waiting, expander) = (&self.levels, &self.waiting, &mut self.expander);
                    self.report
                        .record(Cause::Deadlock, || expander.path(Self::written(levels, waiting, None)));
                    if !options.all {
                        return Err(Stop::Violation);
                    }
                }
                if !within {
                    if !successors.is_empty() {
                        self.cut = options.limits.depth.map(Monitor::depth);
                    }
                    break;
                }
                let known = Known { state: &stored, hint: &hint };
                if self.push(&successors, (current.key, turn), Some(known), &mut keys, options)? {
                    break;
                }
            }
            self.depth = self.depth.max(self.levels.len() as u64 - 1);
            if monitor.due()
                && let Some(stop) = monitor.check(options, &mut || self.statistics())
            {
                return Err(stop);
            }
            if let Some(what) = self.visited.exhausted() {
                return Err(Stop::Incomplete(what.into()));
            }
        }
        // What a store refuses looks like what it has: nothing may be concluded then.
        if let Some(what) = self.visited.exhausted() {
            return Err(Stop::Incomplete(what.into()));
        }
        // The level of the last states' successors is not counted: it was empty.
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    /// Opens a level with the successors that have not been seen, unless they are a part of all and on the stack: then
    /// gives `false`.
    #[inline]
    fn push(
        &mut self,
        successors: &Successors,
        (parent, turn): (u64, Turn),
        known: Option<Known<'_>>,
        keys: &mut Vec<u64>,
        options: &Options<'_>,
    ) -> Result<bool, Stop> {
        let start = self.waiting.len();
        let first_hint = self.hints.len();
        self.loaded.clear();
        for index in 0..successors.len() {
            let state = successors.state(index);
            if state.is_empty() {
                self.loaded.push(Loaded::default());
                continue;
            }
            let at = self.hints.len();
            self.hints.resize(at + self.visited.hint_len(state.len()), 0);
            self.loaded.push(self.visited.load(state, known, &mut self.hints[at..]));
        }
        keys.clear();
        let mut at = first_hint;
        for (index, &loaded) in self.loaded.iter().enumerate() {
            let state = successors.state(index);
            if state.is_empty() {
                keys.push(0);
                continue;
            }
            let end = at + self.visited.hint_len(state.len());
            keys.push(self.visited.prepare(state, loaded, &mut self.hints[at..end]));
            at = end;
        }
        if turn.is_proposal() && self.checks_stack {
            // What has been seen and is not on the stack is finished; what has not been seen will be before this state is.
            let closed =
                |key: u64, state: &[u64]| self.on_stack.contains(key) && self.visited.contains(key, state);
            if keys.iter().enumerate().all(|(index, &key)| closed(key, successors.state(index))) {
                self.hints.truncate(first_hint);
                return Ok(false);
            }
        }
        let mut read = first_hint;
        let mut write = first_hint;
        for (index, &key) in keys.iter().enumerate() {
            let choice = match known {
                Some(_) => Expander::<S, R, A>::choice(index as u32, turn),
                None => index as u32,
            };
            if let Some(code) = successors.entry(index).violation {
                let (levels, waiting, expander) = (&self.levels, &self.waiting, &mut self.expander);
                self.report.record(Cause::Violation(code), || {
                    expander.path(Self::written(levels, waiting, Some(choice)))
                });
                if !options.all {
                    return Err(Stop::Violation);
                }
            }
            let state = successors.state(index);
            if state.is_empty() {
                continue;
            }
            self.transitions += u64::from(known.is_some());
            let hint_len = self.visited.hint_len(state.len());
            if !self.visited.contains(key, state) {
                let found = self.originals.state(index).unwrap_or(&[]);
                self.waiting.push(Waiting {
                    key,
                    start: self.words.len(),
                    words: state.len() as u32,
                    found: found.len() as u32,
                    choice,
                    hint: write,
                });
                self.words.extend_from_slice(state);
                self.words.extend_from_slice(found);
                self.hints.copy_within(read..read + hint_len, write);
                write += hint_len;
            }
            read += hint_len;
        }
        self.hints.truncate(write);
        self.levels.push(Level { start, next: start, key: parent });
        Ok(true)
    }

    /// Closes the last level: forgets its states.
    fn pop(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        if self.checks_stack && !self.levels.is_empty() {
            self.on_stack.pop(level.key);
        }
        if let Some(first) = self.waiting.get(level.start) {
            self.words.truncate(first.start);
            self.hints.truncate(first.hint);
        }
        self.waiting.truncate(level.start);
    }
}
