//! Breadth-first search, level by level, in batches: the successors of several states are generated, then all
//! are hashed, then all are looked up, so that the memory accesses of a batch overlap. Paths to violations are
//! shortest.

use quotient_seams::{Ample, Known, Looked, Representative, Successors, System, Visited};

use crate::batch::{Again, Batch};
use crate::expand::{Expander, Originals, Turn};
use crate::level::Level;
use crate::monitor::Monitor;
use crate::open_level::OpenLevel;
use crate::parents::Parents;
use crate::{Cause, Options, Path, Report, Seams, Statistics, Stop};

/// Successors generated before they are looked up.
const BATCH: usize = 128;

/// Explores everything reachable, nearest first.
pub fn breadth_first<S: System, R: Representative<S>, A: Ample<S>, V: Visited>(
    seams: Seams<'_, S, R, A, V>,
    options: &mut Options<'_>,
) -> Report {
    let Seams { system, representative, ample, visited } = seams;
    let originals = Originals::new(representative.keeps_found());
    let expander = Expander::new(system, representative, ample);
    let mut search = BreadthFirst {
        checks_open: expander.needs_open(),
        expander,
        visited,
        open: OpenLevel::default(),
        report: Report::new(),
        parents: Parents::default(),
        left: 0,
        level_bytes: 0,
        next: Level::default(),
        transitions: 0,
        depth: 0,
        successors: Successors::new(),
        originals,
        looked: Looked::default(),
    };
    search.report.stop = match search.run(options) {
        Ok(()) => Stop::Complete,
        Err(stop) => stop,
    };
    search.report.statistics = search.statistics();
    search.report
}

struct BreadthFirst<'a, S, R, A, V> {
    expander: Expander<'a, S, R, A>,
    visited: &'a mut V,
    /// A reduced expansion must lead to a state that is not expanded yet.
    checks_open: bool,
    /// The states of the next level, kept for that.
    open: OpenLevel,
    report: Report,
    parents: Parents,
    /// States of the current level that wait, and the level's size.
    left: u64,
    level_bytes: u64,
    next: Level,
    transitions: u64,
    depth: u64,
    /// The successors of a batch, as they are stored and as they were found.
    successors: Successors,
    originals: Originals,
    looked: Looked,
}

impl<S: System, R: Representative<S>, A: Ample<S>, V: Visited> BreadthFirst<'_, S, R, A, V> {
    fn statistics(&self) -> Statistics {
        Statistics {
            states: self.visited.len(),
            transitions: self.transitions + self.expander.passed(),
            expanded: self.parents.expanded(),
            depth: self.depth,
            store_bytes: self.visited.bytes(),
            search_bytes: self.parents.bytes() + self.level_bytes + self.next.bytes() + self.open.bytes(),
            waiting: self.left + self.next.len(),
        }
    }

    fn run(&mut self, options: &mut Options<'_>) -> Result<(), Stop> {
        let mut monitor = Monitor::new(options);
        let mut level = Level::default();
        self.initial(options)?;
        while self.next.len() > 0 {
            std::mem::swap(&mut level, &mut self.next);
            self.next.clear();
            self.open.clear(&level.stored);
            self.left = level.len();
            self.level_bytes = level.bytes();
            if let Some(limit) = options.limits.depth
                && self.depth >= limit
            {
                return Err(Monitor::depth(limit));
            }
            self.depth += 1;
            self.level(&level, &mut monitor, options)?;
        }
        // What a store refuses looks like what it has: nothing may be concluded then.
        if let Some(what) = self.visited.exhausted() {
            return Err(Stop::Incomplete(what.into()));
        }
        // The last level had nothing new: it is not counted.
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    /// Expands the states of a level.
    fn level(&mut self, level: &Level, monitor: &mut Monitor, options: &mut Options<'_>) -> Result<(), Stop> {
        let mut cursor = level.cursor();
        let mut batch = Batch::new(Expander::<S, R, A>::REDUCES);
        // States whose moves explored so far are not enough.
        let mut again: Vec<Again<'_>> = Vec::new();
        loop {
            self.successors.clear();
            self.originals.clear();
            batch.clear();
            for state in again.drain(..) {
                self.expand(state.stored, state.from, state.turn, &mut batch)?;
                batch.is_late(state.number);
            }
            while self.successors.len() < BATCH {
                let Some((stored, from)) = cursor.next() else { break };
                self.expand(stored, from, Turn::default(), &mut batch)?;
                // One expansion may take long. The clock ends the search or nothing: what is in a batch must not depend on it, since
                // proposals that were refused are tried again in the next one.
                if monitor.due()
                    && let Some(stop) = monitor.check(options, &mut || self.statistics())
                {
                    return Err(stop);
                }
            }
            if batch.is_empty() {
                return Ok(());
            }
            self.left = cursor.left();
            self.look_up(&batch, &mut again, options)?;
            if let Some(what) = self.visited.exhausted() {
                return Err(Stop::Incomplete(what.into()));
            }
        }
    }

    /// Adds the successors of a state to the batch.
    #[inline(always)]
    fn expand<'l>(
        &mut self,
        stored: Known<'l>,
        from: &'l [u64],
        mut turn: Turn,
        batch: &mut Batch<'l>,
    ) -> Result<(), Stop> {
        let first = self.successors.len();
        self.expander
            .expand(from, &mut turn, &mut self.successors, &mut self.originals)
            .map_err(|e| Stop::Incomplete(e.what))?;
        batch.push(stored, from, turn, first..self.successors.len());
        Ok(())
    }

    fn initial(&mut self, options: &Options<'_>) -> Result<(), Stop> {
        let successors = &mut self.successors;
        self.expander.initial(successors, &mut self.originals).map_err(|e| Stop::Incomplete(e.what))?;
        for choice in 0..successors.len() {
            let path = || Path { choices: vec![choice as u32] };
            if let Some(code) = successors.entry(choice).violation {
                self.report.record(Cause::Violation(code), path);
                if !options.all {
                    return Err(Stop::Violation);
                }
            }
            let state = successors.state(choice);
            if state.is_empty() {
                continue;
            }
            let visited = &mut *self.visited;
            let mut hint = vec![0; visited.hint_len(state.len())];
            let loaded = visited.load(state, None, &mut hint);
            let key = visited.prepare(state, loaded, &mut hint);
            if visited.insert(key, state) {
                self.parents.root(choice as u32);
                self.next.push(successors, &self.originals, choice, &hint);
            }
        }
        Ok(())
    }

    /// Looks up the successors of a batch; new ones join the next level.
    #[inline(always)]
    fn look_up<'l>(
        &mut self,
        batch: &Batch<'l>,
        again: &mut Vec<Again<'l>>,
        options: &Options<'_>,
    ) -> Result<(), Stop> {
        // Nothing after the violation that ends the search.
        let violated = if options.all { None } else { self.successors.first_violation() };
        let count = violated.unwrap_or(self.successors.len());
        self.visited.insert_batch(&self.successors, count, &batch.groups, &mut self.looked);
        self.parents.room_for(self.looked.new.len());
        self.next.push_new(&self.successors, &self.originals, &self.looked, &*self.visited);
        let mut at = 0;
        for (index, group) in batch.groups.iter().enumerate() {
            let before = at;
            let (turn, late) = if Expander::<S, R, A>::REDUCES {
                (batch.turn(index), batch.late(index))
            } else {
                (Turn::default(), None)
            };
            while let Some(&entry) = self.looked.new.get(at)
                && (entry as usize) < group.end
            {
                self.parents.child(Expander::<S, R, A>::choice(entry - group.first as u32, turn));
                at += 1;
            }
            let number = match late {
                Some(number) => {
                    self.parents.done_again(at - before, number);
                    number
                }
                None => self.parents.done(at - before),
            };
            // Is there a successor that is still to be expanded, if there has to be one?
            if self.checks_open
                && turn.is_proposal()
                && at == before
                && !self.any_open(group.first..group.end)
            {
                again.push(batch.again(index, number));
            }
            if self.successors.has_violations() {
                self.violations(group.first..group.end, turn, number, count, options)?;
            } else {
                self.transitions += (group.end - group.first) as u64;
            }
            if turn.is_whole() && self.successors.is_still(group.first..group.end) && options.deadlocks {
                self.stuck(batch.from(index), number, options)?;
            }
        }
        if let Some(limit) = options.limits.states
            && self.visited.len() > limit
        {
            return Err(Monitor::states(limit));
        }
        Ok(())
    }

    /// Does one of these successors wait in the next level?
    fn any_open(&mut self, mut entries: std::ops::Range<usize>) -> bool {
        entries.any(|entry| self.open.contains(self.successors.state(entry), &self.next.stored))
    }

    /// Counts the successors of a state and reports the violations among the first `count` entries, and the one at
    /// `count`, which ends the search.
    #[cold]
    fn violations(
        &mut self,
        entries: std::ops::Range<usize>,
        turn: Turn,
        number: u64,
        count: usize,
        options: &Options<'_>,
    ) -> Result<(), Stop> {
        let first = entries.start;
        for entry in entries {
            self.transitions += u64::from(entry == count || self.successors.entry(entry).has_state());
            if let Some(code) = self.successors.entry(entry).violation {
                let (parents, expander) = (&self.parents, &mut self.expander);
                let choice = Expander::<S, R, A>::choice((entry - first) as u32, turn);
                self.report.record(Cause::Violation(code), || {
                    let mut written = parents.path(number);
                    written.push(choice);
                    expander.path(written)
                });
                if !options.all {
                    return Err(Stop::Violation);
                }
            }
        }
        Ok(())
    }

    /// A state without successors is a deadlock unless the system may end there.
    #[cold]
    fn stuck(&mut self, state: &[u64], number: u64, options: &Options<'_>) -> Result<(), Stop> {
        if self.expander.system.is_valid_end(state) {
            return Ok(());
        }
        let (parents, expander) = (&self.parents, &mut self.expander);
        self.report.record(Cause::Deadlock, || expander.path(parents.path(number)));
        if options.all { Ok(()) } else { Err(Stop::Violation) }
    }
}
