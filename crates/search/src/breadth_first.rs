//! Breadth-first search, level by level, in batches: the successors of several states are generated, then all
//! are hashed, then all are looked up, so that the memory accesses of a batch overlap. Paths to violations are
//! shortest.

use quotient_ample::{Ample, Proviso};
use quotient_symmetry::Representative;
use quotient_system::{Successors, System};
use quotient_visited::{Group, Known, Looked, Visited};
use smallvec::SmallVec;

use crate::monitor::Monitor;
use crate::open_level::OpenLevel;
use crate::originals::{Level, Originals, Taken};
use crate::parents::Parents;
use crate::{Cause, Options, Path, Report, Seams, Statistics, Stop};

/// Successors generated before they are looked up.
const BATCH: usize = 128;

/// Explores everything reachable, nearest first.
pub fn breadth_first<S: System, R: Representative<S>, A: Ample<S>, V: Visited>(
    seams: Seams<'_, S, R, A, V>,
    options: &mut Options<'_>,
) -> Report {
    let checks_open = A::PROPOSALS > 0 && seams.ample.proviso() == Proviso::SomeOpen;
    let originals = Originals::new(seams.representative.keeps_found());
    let mut search = BreadthFirst {
        seams,
        checks_open,
        open: OpenLevel::default(),
        report: Report::new(),
        parents: Parents::default(),
        level: Level::default(),
        next: Level::default(),
        expanded: 0,
        transitions: 0,
        depth: 0,
        again: Again { originals: Originals::new(originals.keeps()), ..Again::default() },
        originals,
        scratch: Vec::new(),
    };
    search.report.stop = match search.run(options) {
        Ok(()) => Stop::Complete,
        Err(stop) => stop,
    };
    search.report.statistics = search.statistics();
    search.report
}

struct BreadthFirst<'a, S, R, A, V> {
    seams: Seams<'a, S, R, A, V>,
    /// A reduced expansion must lead to a state that is not expanded yet.
    checks_open: bool,
    /// The states of the next level, kept for that.
    open: OpenLevel,
    report: Report,
    parents: Parents,
    level: Level,
    next: Level,
    expanded: u64,
    transitions: u64,
    depth: u64,
    /// The successors of a batch as they were found.
    originals: Originals,
    again: Again,
    scratch: Vec<u64>,
}

/// Memory for expanding a state once more.
#[derive(Default)]
struct Again {
    successors: Successors,
    originals: Originals,
    looked: Looked,
}

/// One state of a batch and which entries of the batch are its successors.
struct Expanded {
    item: Taken,
    first: usize,
    end: usize,
    /// The tag of the moves explored.
    tag: u32,
}

impl<S: System, R: Representative<S>, A: Ample<S>, V: Visited> BreadthFirst<'_, S, R, A, V> {
    fn statistics(&self) -> Statistics {
        Statistics {
            states: self.seams.visited.len(),
            transitions: self.transitions,
            expanded: self.expanded,
            depth: self.depth,
            store_bytes: self.seams.visited.bytes(),
            search_bytes: self.parents.bytes() + self.level.bytes() + self.next.bytes() + self.open.bytes(),
            waiting: self.level.len() + self.next.len(),
        }
    }

    fn run(&mut self, options: &mut Options<'_>) -> Result<(), Stop> {
        let mut monitor = Monitor::new();
        let mut successors = Successors::new();
        let mut batch: Vec<Expanded> = Vec::new();
        let mut looked = Looked::default();

        self.initial(&mut successors, options)?;
        while self.next.len() > 0 {
            std::mem::swap(&mut self.level, &mut self.next);
            self.next.clear();
            self.open.clear();
            if let Some(limit) = options.limits.depth
                && self.depth >= limit
            {
                return Err(Monitor::depth(limit));
            }
            self.depth += 1;
            loop {
                successors.clear();
                self.originals.clear();
                batch.clear();
                while successors.len() < BATCH {
                    let Some(item) = self.level.pop() else { break };
                    let first = successors.len();
                    let state = self.level.state(item);
                    let tag = self
                        .seams
                        .expand(state, 0, &mut successors, &mut self.originals, &mut self.scratch)
                        .map_err(|e| Stop::Incomplete(e.what))?;
                    batch.push(Expanded { item, first, end: successors.len(), tag });
                }
                if batch.is_empty() {
                    break;
                }
                self.look_up(&successors, &batch, &mut looked, options)?;
                if monitor.due(batch.len() as u32)
                    && let Some(stop) = monitor.check(options, &mut || self.statistics())
                {
                    return Err(stop);
                }
                if let Some(what) = self.seams.visited.exhausted() {
                    return Err(Stop::Incomplete(what.into()));
                }
            }
        }
        // The last level had nothing new: it is not counted.
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    fn initial(&mut self, successors: &mut Successors, options: &Options<'_>) -> Result<(), Stop> {
        self.seams.system.initial(successors).map_err(|e| Stop::Incomplete(e.what))?;
        self.seams.represent(successors, 0, &mut self.originals, &mut self.scratch);
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
            let visited = &mut *self.seams.visited;
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
    #[inline]
    fn look_up(
        &mut self,
        successors: &Successors,
        batch: &[Expanded],
        looked: &mut Looked,
        options: &Options<'_>,
    ) -> Result<(), Stop> {
        // Nothing behind the violation that ends the search.
        let violated = if options.all { None } else { successors.first_violation() };
        let count = violated.unwrap_or(successors.len());
        self.groups(batch, |groups, visited| visited.insert_batch(successors, count, groups, looked));
        let mut new = looked.new.iter().map(|entry| *entry as usize).peekable();
        for expanded in batch {
            // Is there a successor that is still to be expanded, if there has to be one?
            let mut open = !self.checks_open || expanded.tag == 0;
            while let Some(entry) = new.next_if(|entry| *entry < expanded.end) {
                open = true;
                let state = successors.state(entry);
                let hint = looked.hint(entry, self.seams.visited.hint_len(state.len()));
                let choice = Seams::<S, R, A, V>::tagged((entry - expanded.first) as u32, expanded.tag);
                self.discovered(choice, successors, entry, hint);
            }
            if !open && !self.any_open(successors, expanded.first..expanded.end) {
                self.expand_again(expanded, options)?;
            } else if successors.has_violations() {
                self.violations(successors, expanded, count, options)?;
            } else {
                self.transitions += (expanded.end - expanded.first) as u64;
            }
            if expanded.first == expanded.end && options.deadlocks {
                self.stuck(expanded.item, options)?;
            }
            self.parents.done();
            self.expanded += 1;
        }
        if let Some(limit) = options.limits.states
            && self.seams.visited.len() > limit
        {
            return Err(Monitor::states(limit));
        }
        Ok(())
    }

    /// The state being expanded led to a new one.
    #[inline(always)]
    fn discovered(&mut self, choice: u32, successors: &Successors, entry: usize, hint: &[u32]) {
        self.parents.child(choice);
        self.next.push(successors, &self.originals, entry, hint);
    }

    /// Does one of these successors wait in the next level?
    fn any_open(&mut self, successors: &Successors, mut entries: std::ops::Range<usize>) -> bool {
        entries.any(|entry| self.open.contains(successors.state(entry), &self.next.stored))
    }

    /// All successors of a reduced expansion have been expanded, or may have been: tries the next proposals, and in the
    /// end all moves. Nothing new was found so far, so nothing has to be taken back.
    #[inline(never)]
    fn expand_again(&mut self, refused: &Expanded, options: &Options<'_>) -> Result<(), Stop> {
        let mut again = std::mem::take(&mut self.again);
        let ended = self.next_proposals(refused, options, &mut again);
        self.again = again;
        ended
    }

    fn next_proposals(
        &mut self,
        refused: &Expanded,
        options: &Options<'_>,
        again: &mut Again,
    ) -> Result<(), Stop> {
        let Again { successors, originals, looked } = again;
        let (item, mut tag) = (refused.item, refused.tag);
        loop {
            successors.clear();
            originals.clear();
            tag = self
                .seams
                .expand(self.level.state(item), tag, successors, originals, &mut self.scratch)
                .map_err(|e| Stop::Incomplete(e.what))?;
            let expanded = Expanded { item, first: 0, end: successors.len(), tag };
            let violated = if options.all { None } else { successors.first_violation() };
            let count = violated.unwrap_or(successors.len());
            self.groups(std::slice::from_ref(&expanded), |groups, visited| {
                visited.insert_batch(successors, count, groups, looked);
            });
            for &entry in &looked.new {
                let hint_len = self.seams.visited.hint_len(successors.state(entry as usize).len());
                self.parents.child(Seams::<S, R, A, V>::tagged(entry, tag));
                self.next.push(successors, originals, entry as usize, looked.hint(entry as usize, hint_len));
            }
            if tag == 0 || !looked.new.is_empty() || self.any_open(successors, 0..successors.len()) {
                return self.violations(successors, &expanded, count, options);
            }
        }
    }

    /// Hands the groups of a batch to the store.
    #[inline(always)]
    fn groups(&mut self, batch: &[Expanded], insert: impl FnOnce(&[Group<'_>], &mut V)) {
        let stored = &self.level.stored;
        let mut groups: SmallVec<[Group<'_>; BATCH]> = SmallVec::new();
        groups.extend(batch.iter().map(|e| {
            let parent = Known { state: stored.state(e.item.stored), hint: stored.hint(e.item.stored) };
            Group { parent, first: e.first, end: e.end }
        }));
        insert(&groups, self.seams.visited);
    }

    /// Counts the successors of a state and reports the violations among the first `count` entries, and the one at
    /// `count`, which ends the search.
    #[cold]
    fn violations(
        &mut self,
        successors: &Successors,
        expanded: &Expanded,
        count: usize,
        options: &Options<'_>,
    ) -> Result<(), Stop> {
        for entry in expanded.first..expanded.end {
            self.transitions += u64::from(entry == count || successors.entry(entry).has_state());
            if let Some(code) = successors.entry(entry).violation {
                let (parents, seams, number) = (&self.parents, &mut self.seams, self.expanded);
                let choice = Seams::<S, R, A, V>::tagged((entry - expanded.first) as u32, expanded.tag);
                self.report.record(Cause::Violation(code), || {
                    let mut path = parents.path(number);
                    path.choices.push(choice);
                    seams.untagged(path)
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
    fn stuck(&mut self, item: Taken, options: &Options<'_>) -> Result<(), Stop> {
        if self.seams.system.is_valid_end(self.level.state(item)) {
            return Ok(());
        }
        let (parents, seams, number) = (&self.parents, &mut self.seams, self.expanded);
        self.report.record(Cause::Deadlock, || seams.untagged(parents.path(number)));
        if options.all { Ok(()) } else { Err(Stop::Violation) }
    }
}
