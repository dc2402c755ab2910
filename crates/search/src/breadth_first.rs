//! Breadth-first search, level by level, in batches: the successors of several states are generated, then all
//! are hashed, then all are looked up, so that the memory accesses of a batch overlap. Paths to violations are
//! shortest.
//!
//! What is here is one worker's part; [`breadth_first()`] is a search with one worker, and [`crate::workers`] has several. Which states a level has, which of
//! their moves are explored and what is wrong with them does not depend on the order in which the states of a level are expanded: a
//! reduced expansion is enough where it leads to a state that is in no level up to this one, and new states of this level are in the next one
//! whoever finds them. So a level that is expanded to its end gives the same counts for any number of workers. A search that has become large
//! (`Options::finish_levels_from`) therefore finishes the level in which it finds a violation; a small one, which one worker does alone, stops at once.

use quotient_seams::{Ample, Known, Looked, Representative, Successors, System, Visited};

use crate::batch::{Again, Batch};
use crate::expand::{Expander, Originals, Turn};
use crate::level::{Chunk, Cursor, Level};
use crate::monitor::{Monitor, Watch, Watched};
use crate::open_level::OpenLevel;
use crate::parents::Parents;
use crate::restart::Noted;
use crate::spotted::{Spotted, Where};
use crate::{Cause, Options, Report, Seams, Statistics, Stop};

/// Successors generated before they are looked up.
const BATCH: usize = 128;

/// Chunks that one worker alone expands in one go.
const ALONE: usize = 8;

/// Explores everything reachable, nearest first.
pub fn breadth_first<S: System, R: Representative<S>, A: Ample<S>, V: Visited>(
    seams: Seams<'_, S, R, A, V>,
    options: &mut Options<'_>,
) -> Report {
    let Seams { system, representative, ample, visited } = seams;
    let mut search = BreadthFirst::new(Expander::new(system, representative, ample), visited, options);
    let mut watched = Watched::new(options);
    let ended =
        search.initial().and_then(|()| search.run(&mut Level::default(), &mut watched, |_, _| Ok(false)));
    search.report(ended.map(|_| ()))
}

/// One worker's part of a breadth-first search.
pub(crate) struct BreadthFirst<'a, S, R, A, V> {
    pub(crate) expander: Expander<'a, S, R, A>,
    pub(crate) visited: &'a mut V,
    pub(crate) rules: Rules,
    /// A reduced expansion must lead to a state that is not expanded yet.
    pub(crate) checks_open: bool,
    /// The states of the next level, kept for that.
    open: OpenLevel,
    pub(crate) spotted: Spotted,
    pub(crate) parents: Parents,
    /// States of the current level that wait, and the level's size.
    left: u64,
    level_bytes: u64,
    pub(crate) next: Level,
    pub(crate) transitions: u64,
    pub(crate) depth: u64,
    /// How far it has been written for a run that goes on from here.
    pub(crate) noted: Noted,
    /// The level is expanded to its end, whatever is found.
    pub(crate) finishes: bool,
    /// The successors of a batch, as they are stored and as they were found.
    pub(crate) successors: Successors,
    pub(crate) originals: Originals,
    pub(crate) looked: Looked,
}

/// What a search was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) all: bool,
    pub(crate) deadlocks: bool,
    most_states: Option<u64>,
    pub(crate) most_depth: Option<u64>,
    finish_levels_from: u64,
}

/// How a search by levels ended without finding anything that stops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Everything was explored.
    Explored,
    /// Others are to go on with a level.
    Left,
}

impl<'a, S: System, R: Representative<S>, A: Ample<S>, V: Visited> BreadthFirst<'a, S, R, A, V> {
    pub(crate) fn new(expander: Expander<'a, S, R, A>, visited: &'a mut V, options: &Options<'_>) -> Self {
        let rules = Rules {
            all: options.all,
            deadlocks: options.deadlocks,
            most_states: options.limits.states,
            most_depth: options.limits.depth,
            finish_levels_from: options.finish_levels_from,
        };
        BreadthFirst::with_rules(expander, visited, rules)
    }

    pub(crate) fn with_rules(expander: Expander<'a, S, R, A>, visited: &'a mut V, rules: Rules) -> Self {
        BreadthFirst {
            checks_open: expander.needs_open(),
            originals: Originals::new(expander.representative.keeps_found()),
            expander,
            visited,
            rules,
            open: OpenLevel::default(),
            spotted: Spotted::default(),
            parents: Parents::default(),
            left: 0,
            level_bytes: 0,
            next: Level::default(),
            transitions: 0,
            depth: 0,
            noted: Noted::default(),
            finishes: false,
            successors: Successors::new(),
            looked: Looked::default(),
        }
    }

    /// Goes on with another store.
    pub(crate) fn with_store<W: Visited>(self, visited: &'a mut W) -> BreadthFirst<'a, S, R, A, W> {
        BreadthFirst {
            spotted: self.spotted,
            parents: self.parents,
            transitions: self.transitions,
            depth: self.depth,
            noted: self.noted,
            ..BreadthFirst::with_rules(self.expander, visited, self.rules)
        }
    }

    /// Moves explored, those through states that were not stored as well.
    pub(crate) fn transitions(&self) -> u64 {
        self.transitions + self.expander.passed()
    }

    /// Bytes of this worker.
    pub(crate) fn bytes(&self) -> u64 {
        self.parents.bytes() + self.next.bytes() + self.open.bytes()
    }

    pub(crate) fn statistics(&self) -> Statistics {
        Statistics {
            shares: [0; crate::SHARES],
            states: self.visited.len(),
            transitions: self.transitions(),
            expanded: self.parents.expanded(),
            depth: self.depth,
            store_bytes: self.visited.bytes(),
            search_bytes: self.bytes() + self.level_bytes,
            waiting: self.left + self.next.len(),
        }
    }

    /// What came of a search that ended in this way.
    pub(crate) fn report(mut self, ended: Result<(), Stop>) -> Report {
        let stop = self.conclude(ended);
        let statistics = self.statistics();
        let parents = [self.parents];
        let found = self.spotted.report_from(self.rules.all, &parents, &mut self.expander);
        Report { stop, found, statistics, workers: 1 }
    }

    /// Why the search ended; counts its depth.
    fn conclude(&mut self, ended: Result<(), Stop>) -> Stop {
        match ended {
            // The last level had nothing new: it is not counted.
            Ok(()) => {
                self.depth = self.depth.saturating_sub(1);
                Stop::complete(&*self.visited)
            }
            Err(stop) => stop.or_violation(self.rules.all, &self.spotted),
        }
    }

    /// Expands level after level, from the states that wait next. `begins` is told of each, and may leave it to others.
    pub(crate) fn run(
        &mut self,
        level: &mut Level,
        watch: &mut impl Watch,
        mut begins: impl FnMut(&mut Self, &Level) -> Result<bool, Stop>,
    ) -> Result<Ended, Stop> {
        let mut chunk = Chunk::default();
        while self.next.len() > 0 {
            std::mem::swap(level, &mut self.next);
            self.next.clear();
            self.next.keeps = self.checks_open && !self.visited.tells_open();
            self.open.clear(level.last());
            self.left = level.len();
            self.level_bytes = level.bytes();
            self.finishes = self.visited.len() >= self.rules.finish_levels_from;
            let left = begins(self, level)?;
            if let Some(limit) = self.rules.most_depth
                && self.depth >= limit
            {
                return Err(Monitor::depth(limit));
            }
            if left {
                level.first = self.parents.discovered() - level.len();
                return Ok(Ended::Left);
            }
            self.depth += 1;
            let mut done = 0;
            while done < level.chunks() {
                let (states, chunks, _) = level.part(done, ALONE, &mut chunk);
                self.level(states, watch)?;
                done += chunks;
            }
            if self.finishes && !self.rules.all && !self.spotted.is_empty() {
                return Err(Stop::Violation);
            }
        }
        // What a store refuses looks like what it has: nothing may be concluded then.
        if let Some(what) = self.visited.exhausted() {
            return Err(Stop::Incomplete(what.into()));
        }
        Ok(Ended::Explored)
    }

    /// Expands the states of a level, or of a part of one.
    pub(crate) fn level(&mut self, mut cursor: Cursor<'_>, watch: &mut impl Watch) -> Result<(), Stop> {
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
                if watch.due()
                    && let Some(stop) = watch.check(&mut || self.statistics())
                {
                    return Err(stop);
                }
            }
            if batch.is_empty() {
                return Ok(());
            }
            self.left = cursor.left();
            self.look_up(&batch, &mut again)?;
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

    /// Stores the initial states.
    pub(crate) fn initial(&mut self) -> Result<(), Stop> {
        let successors = &mut self.successors;
        self.expander.initial(successors, &mut self.originals).map_err(|e| Stop::Incomplete(e.what))?;
        for choice in 0..successors.len() {
            if let Some(code) = successors.entry(choice).violation {
                self.spotted.record(Cause::Violation(code), Where::Initial(choice as u32), 0, false);
                if !self.rules.all {
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
    fn look_up<'l>(&mut self, batch: &Batch<'l>, again: &mut Vec<Again<'l>>) -> Result<(), Stop> {
        // Nothing after the violation that ends the search.
        let goes_on = self.rules.all || self.finishes;
        let violated = if goes_on { None } else { self.successors.first_violation() };
        let count = violated.unwrap_or(self.successors.len());
        self.visited.insert_batch(&self.successors, count, &batch.groups, &mut self.looked);
        self.parents.room_for(self.looked.new.len());
        self.next.push_new(&self.successors, &self.originals, &self.looked, &*self.visited);
        self.next.mark();
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
                self.violations(group.first..group.end, turn, number, count)?;
            } else {
                self.transitions += (group.end - group.first) as u64;
            }
            if turn.is_whole() && self.successors.is_still(group.first..group.end) && self.rules.deadlocks {
                self.stuck(batch.from(index), number)?;
            }
        }
        if let Some(limit) = self.rules.most_states
            && self.visited.len() > limit
        {
            return Err(Monitor::states(limit));
        }
        Ok(())
    }

    /// Does one of these successors wait in the next level?
    fn any_open(&mut self, mut entries: std::ops::Range<usize>) -> bool {
        if self.visited.tells_open() {
            let (visited, looked, successors) = (&mut *self.visited, &self.looked, &self.successors);
            return entries.any(|entry| visited.is_open(looked, entry, successors.state(entry)));
        }
        entries.any(|entry| self.open.contains(self.successors.state(entry), self.next.last()))
    }

    /// Counts the successors of a state and notes the violations among the first `count` entries, and the one at
    /// `count`, which ends the search.
    #[cold]
    fn violations(
        &mut self,
        entries: std::ops::Range<usize>,
        turn: Turn,
        number: u64,
        count: usize,
    ) -> Result<(), Stop> {
        let first = entries.start;
        for entry in entries {
            self.transitions += u64::from(entry == count || self.successors.entry(entry).has_state());
            if let Some(code) = self.successors.entry(entry).violation {
                let choice = Some(Expander::<S, R, A>::choice((entry - first) as u32, turn));
                self.spot(Cause::Violation(code), Where::Expanded { number, choice })?;
            }
        }
        Ok(())
    }

    /// A state without successors is a deadlock unless the system may end there.
    #[cold]
    fn stuck(&mut self, state: &[u64], number: u64) -> Result<(), Stop> {
        if self.expander.system.is_valid_end(state) {
            return Ok(());
        }
        self.spot(Cause::Deadlock, Where::Expanded { number, choice: None })
    }

    /// Notes that something is wrong; ends the search there unless it goes on.
    fn spot(&mut self, cause: Cause, at: Where) -> Result<(), Stop> {
        self.spotted.record(cause, at, self.depth, self.finishes);
        if self.rules.all || self.finishes { Ok(()) } else { Err(Stop::Violation) }
    }
}

impl Stop {
    /// A level that was not finished although something was found in it: the search would have stopped there.
    pub(crate) fn or_violation(self, all: bool, spotted: &Spotted) -> Stop {
        if all || spotted.is_empty() { self } else { Stop::Violation }
    }
}
