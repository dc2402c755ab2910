//! Random search: walks from an initial state, a random successor at each step, until a limit.
//!
//! A walk needs no store, so that it gets deep where other searches run out of memory on the way (West, "Protocol validation by random
//! state exploration", 1986). It can find violations and never shows that there are none: the report is always
//! incomplete. Every move counts, and states are as they are found: neither ample sets nor representatives have a part
//! in it. Cycles are cut out of a walk while it goes on, so that the path reported passes no state twice.
//!
//! The first walks are short and later ones longer: a shallow violation is found within the first, a deep one needs
//! the later ones.

use std::collections::HashMap;

use quotient_seams::{Incomplete, Scope, Successors, System};

use crate::monitor::Monitor;
use crate::{Cause, Options, Path, Report, Statistics, Stop};

/// Steps of the first walks.
const SHORTEST: u64 = 256;
/// After this many walks they are twice as long.
const WALKS: u64 = 32;
/// Steps of the longest walks, which keep their states to find cycles.
const LONGEST: u64 = 1 << 20;

/// Walks at random until a violation is found or a limit is reached; `limits.states` counts states passed, seen before or not.
pub fn random_walks<S: System>(system: &mut S, seed: u64, options: &mut Options<'_>) -> Report {
    let mut search = RandomWalks {
        system,
        random: seed,
        report: Report::new(),
        walk: Walk::default(),
        passed: 0,
        transitions: 0,
        depth: 0,
    };
    // A walk that comes to its end shows nothing about the others.
    search.report.stop = match search.run(options) {
        Ok(never) => match never {},
        Err(stop) => stop,
    };
    search.report.statistics = search.statistics();
    search.report
}

/// A run without cycles: the states passed and the choices that led to them.
#[derive(Debug, Default)]
struct Walk {
    choices: Vec<u32>,
    /// Where each state's words begin, and the end of the last.
    starts: Vec<usize>,
    words: Vec<u64>,
    /// Position of each state.
    places: HashMap<Vec<u64>, usize>,
}

impl Walk {
    fn clear(&mut self) {
        self.choices.clear();
        self.starts.clear();
        self.words.clear();
        self.places.clear();
    }

    /// Goes on to a state by a choice; back to its first visit if it was passed before.
    fn step(&mut self, choice: u32, state: &[u64]) {
        if let Some(&place) = self.places.get(state) {
            let end = self.starts.get(place + 1).copied().unwrap_or(self.words.len());
            while self.starts.len() > place + 1 {
                // At least one state is left.
                let start = self.starts.pop().unwrap_or(end);
                self.places.remove(&self.words[start..]);
                self.words.truncate(start);
            }
            self.choices.truncate(place + 1);
            return;
        }
        self.choices.push(choice);
        self.starts.push(self.words.len());
        self.words.extend_from_slice(state);
        self.places.insert(state.to_vec(), self.starts.len() - 1);
    }

    fn state(&self) -> &[u64] {
        &self.words[self.starts.last().copied().unwrap_or(0)..]
    }

    fn path(&self, more: Option<u32>) -> Path {
        Path { choices: self.choices.iter().copied().chain(more).collect() }
    }
}

struct RandomWalks<'a, S> {
    system: &'a mut S,
    random: u64,
    report: Report,
    walk: Walk,
    passed: u64,
    transitions: u64,
    depth: u64,
}

/// A value that cannot exist: walks end by a limit or a violation.
enum Never {}

impl<S: System> RandomWalks<'_, S> {
    fn run(&mut self, options: &mut Options<'_>) -> Result<Never, Stop> {
        let mut monitor = Monitor::new(options);
        let mut successors = Successors::new();
        for walk in 0.. {
            let longest = SHORTEST.checked_shl((walk / WALKS) as u32).map_or(LONGEST, |n| n.min(LONGEST));
            let longest = options.limits.depth.map_or(longest, |limit| limit.min(longest));
            self.walk.clear();
            successors.clear();
            self.system.initial(&mut successors).map_err(|e| Stop::Incomplete(e.what))?;
            let mut left = longest + 1;
            while self.step(&successors, options)? && left > 0 {
                left -= 1;
                self.passed += 1;
                if let Some(limit) = options.limits.states.filter(|limit| self.passed > *limit) {
                    return Err(Monitor::states(limit));
                }
                successors.clear();
                let state = self.walk.state();
                self.system
                    .successors(state, Scope::All, &mut successors)
                    .map_err(|e| Stop::Incomplete(e.what))?;
                self.transitions += successors.len() as u64;
                if successors.is_still(0..successors.len())
                    && options.deadlocks
                    && !self.system.is_valid_end(self.walk.state())
                {
                    self.report.record(Cause::Deadlock, || self.walk.path(None));
                    if !options.all {
                        return Err(Stop::Violation);
                    }
                }
                if monitor.due()
                    && let Some(stop) = monitor.check(options, &mut || self.statistics())
                {
                    return Err(stop);
                }
            }
            // Walks that are over at once must not escape the clock.
            if monitor.due()
                && let Some(stop) = monitor.check(options, &mut || self.statistics())
            {
                return Err(stop);
            }
            if walk > LONGEST && self.depth == 0 {
                return Err(Stop::Incomplete(Incomplete::Sampled));
            }
        }
        Err(Stop::Incomplete(Incomplete::Sampled))
    }

    /// Records violations among the successors and takes one of them that leads on; `false` where none does.
    fn step(&mut self, successors: &Successors, options: &Options<'_>) -> Result<bool, Stop> {
        for index in 0..successors.len() {
            if let Some(code) = successors.entry(index).violation {
                let walk = &self.walk;
                self.report.record(Cause::Violation(code), || walk.path(Some(index as u32)));
                if !options.all {
                    return Err(Stop::Violation);
                }
            }
        }
        let leads_on = |index: &usize| successors.entry(*index).has_state();
        let count = (0..successors.len()).filter(leads_on).count();
        if count == 0 {
            return Ok(false);
        }
        let chosen = self.below(count);
        let Some(index) = (0..successors.len()).filter(leads_on).nth(chosen) else { return Ok(false) };
        self.walk.step(index as u32, successors.state(index));
        self.depth = self.depth.max(self.walk.choices.len() as u64 - 1);
        Ok(true)
    }

    /// A number below `bound` (splitmix64).
    fn below(&mut self, bound: usize) -> usize {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            shares: [0; crate::SHARES],
            states: self.passed,
            transitions: self.transitions,
            expanded: self.passed,
            depth: self.depth,
            store_bytes: 0,
            search_bytes: (self.walk.words.capacity() * 24) as u64,
            waiting: 0,
        }
    }
}
