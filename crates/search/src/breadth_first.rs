//! Breadth-first search, level by level, in batches: the successors of several states are generated, then all
//! are hashed, then all are looked up, so that the memory accesses of a batch overlap. Paths to violations are
//! shortest.

use quotient_ample::Ample;
use quotient_symmetry::Representative;
use quotient_system::{Successors, System};
use quotient_visited::{Known, Loaded, Visited};

use crate::frontier::{Frontier, Item};
use crate::monitor::Monitor;
use crate::parents::Parents;
use crate::{Cause, Options, Path, Report, Seams, Statistics, Stop};

/// Successors generated before they are looked up.
const BATCH: usize = 64;

/// Explores everything reachable, nearest first.
pub fn breadth_first<S: System, R: Representative<S>, A: Ample, V: Visited>(
    seams: Seams<'_, S, R, A, V>,
    options: &mut Options<'_>,
) -> Report {
    let mut search = BreadthFirst {
        seams,
        report: Report::new(),
        parents: Parents::default(),
        level: Frontier::default(),
        next: Frontier::default(),
        expanded: 0,
        transitions: 0,
        depth: 0,
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
    report: Report,
    parents: Parents,
    level: Frontier,
    next: Frontier,
    expanded: u64,
    transitions: u64,
    depth: u64,
    scratch: Vec<u64>,
}

/// What is found out about the successors of a batch.
#[derive(Default)]
struct Batch {
    loaded: Vec<Loaded>,
    keys: Vec<u64>,
    hints: Vec<u32>,
}

/// One state of a batch and which entries of the batch are its successors.
struct Expanded {
    item: Item,
    first: usize,
    end: usize,
}

impl<S: System, R: Representative<S>, A: Ample, V: Visited> BreadthFirst<'_, S, R, A, V> {
    fn statistics(&self) -> Statistics {
        Statistics {
            states: self.seams.visited.len(),
            transitions: self.transitions,
            expanded: self.expanded,
            depth: self.depth,
            store_bytes: self.seams.visited.bytes(),
            search_bytes: self.parents.bytes() + self.level.bytes() + self.next.bytes(),
            waiting: self.level.len() + self.next.len(),
        }
    }

    fn run(&mut self, options: &mut Options<'_>) -> Result<(), Stop> {
        let mut monitor = Monitor::new();
        let mut successors = Successors::new();
        let mut batch: Vec<Expanded> = Vec::new();
        let mut scratch = Batch::default();

        self.initial(&mut successors, options)?;
        while self.next.len() > 0 {
            std::mem::swap(&mut self.level, &mut self.next);
            self.next.clear();
            if let Some(limit) = options.limits.depth
                && self.depth >= limit
            {
                return Err(Monitor::depth(limit));
            }
            self.depth += 1;
            loop {
                successors.clear();
                batch.clear();
                while successors.len() < BATCH {
                    let Some(item) = self.level.pop() else { break };
                    let first = successors.len();
                    let state = self.level.state(item);
                    self.seams
                        .expand(state, &mut successors, &mut self.scratch)
                        .map_err(|e| Stop::Incomplete(e.what))?;
                    batch.push(Expanded { item, first, end: successors.len() });
                }
                if batch.is_empty() {
                    break;
                }
                self.look_up(&successors, &batch, &mut scratch, options)?;
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
        self.seams.represent(successors, 0, &mut self.scratch);
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
                self.next.push(state, &hint);
            }
        }
        Ok(())
    }

    /// Hashes, then looks up, the successors of a batch; new ones join the next level.
    #[inline]
    fn look_up(
        &mut self,
        successors: &Successors,
        batch: &[Expanded],
        Batch { loaded, keys, hints }: &mut Batch,
        options: &Options<'_>,
    ) -> Result<(), Stop> {
        let visited = &mut *self.seams.visited;
        loaded.clear();
        let mut start = 0;
        for expanded in batch {
            let known =
                Known { state: self.level.state(expanded.item), hint: self.level.hint(expanded.item) };
            for index in expanded.first..expanded.end {
                let state = successors.state(index);
                if state.is_empty() {
                    loaded.push(Loaded::default());
                    continue;
                }
                let end = start + visited.hint_len(state.len());
                if hints.len() < end {
                    hints.resize(end.max(2 * hints.len()), 0);
                }
                loaded.push(visited.load(state, Some(known), &mut hints[start..end]));
                start = end;
            }
        }
        keys.clear();
        let mut start = 0;
        for (index, &loaded) in loaded.iter().enumerate() {
            let state = successors.state(index);
            if state.is_empty() {
                keys.push(0);
                continue;
            }
            let end = start + visited.hint_len(state.len());
            keys.push(visited.prepare(state, loaded, &mut hints[start..end]));
            start = end;
        }
        let mut hint = 0;
        for expanded in batch {
            let mut moved = false;
            let keys = &keys[expanded.first..expanded.end];
            for (index, &key) in (expanded.first..).zip(keys) {
                let state = successors.state(index);
                let choice = (index - expanded.first) as u32;
                if let Some(code) = successors.entry(index).violation {
                    moved = true;
                    let parents = &self.parents;
                    let number = self.expanded;
                    self.report.record(Cause::Violation(code), || {
                        let mut path = parents.path(number);
                        path.choices.push(choice);
                        path
                    });
                    if !options.all {
                        self.transitions += 1;
                        return Err(Stop::Violation);
                    }
                }
                if state.is_empty() {
                    continue;
                }
                moved = true;
                self.transitions += 1;
                let hint_len = self.seams.visited.hint_len(state.len());
                if self.seams.visited.insert(key, state) {
                    self.parents.child(choice);
                    self.next.push(state, &hints[hint..hint + hint_len]);
                    if let Some(limit) = options.limits.states
                        && self.seams.visited.len() > limit
                    {
                        return Err(Monitor::states(limit));
                    }
                }
                hint += hint_len;
            }
            if !moved && options.deadlocks {
                let state = self.level.state(expanded.item);
                if !self.seams.system.is_valid_end(state) {
                    let parents = &self.parents;
                    let number = self.expanded;
                    self.report.record(Cause::Deadlock, || parents.path(number));
                    if !options.all {
                        return Err(Stop::Violation);
                    }
                }
            }
            self.parents.done();
            self.expanded += 1;
        }
        Ok(())
    }
}
