//! Safety proofs: `p(X), phi |= psi` by backward unfolding with a table.
//!
//! The states that would violate the claim are unfolded backwards, completely, until every reduct
//! is covered by a table entry; every entry is itself unfolded, and none meets a fact. Why this
//! proves the claim: suppose a state in an entry were reachable, and take one with the shortest
//! derivation. It is not a fact (checked before anything else is done with an entry's states), so its
//! last step comes from a state in one of the entry's reducts, with a shorter derivation. The reduct
//! lies in an entry, or its image under a map does. A map comes from an assertion proved
//! *length-non-increasing*: the partner is reachable by a derivation that is not longer. So a state
//! of an entry is reachable by a shorter derivation: contradiction. Without the length condition the
//! argument, and the method, fail.
//!
//! Invariants proved before may be added to every set: they hold in all reachable states.

use std::collections::HashMap;
use std::time::Duration;

use crate::canonical::{Key, Map, images, representative};
use crate::constraint::Overflow;
use crate::domain::{Domain, State};
use crate::limits::{Limits, Progress, Reached};
use crate::program::{Program, Tree};
use crate::step::{Step, steps};

/// Order of unfolding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Order {
    /// Oldest first: stores less.
    #[default]
    Breadth,
    /// Newest first: as the paper did.
    Depth,
}

impl Order {
    /// Each with its word in options, and what it means.
    pub const NAMES: &[(Order, &str, &str)] = &[
        (Order::Breadth, "breadth", "Oldest goal first: stores less"),
        (Order::Depth, "depth", "Newest goal first"),
    ];
}

/// Limits and choices of a safety proof.
#[derive(Clone, Debug)]
pub struct SafetyOptions {
    /// Order of unfolding.
    pub order: Order,
    /// Remove table entries that a new one covers.
    pub evict: bool,
    /// Give up after storing this many entries.
    pub max_stored: usize,
    /// Give up after this much time.
    pub max_time: Duration,
    /// Limits of the whole work.
    pub limits: Limits,
}

impl Default for SafetyOptions {
    fn default() -> SafetyOptions {
        SafetyOptions {
            order: Order::Breadth,
            evict: false,
            max_stored: 2_000_000,
            max_time: Duration::from_secs(600),
            limits: Limits::default(),
        }
    }
}

/// Why a proof attempt ended without a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaveUp {
    /// A set of states meets a fact: the claim may be false.
    FactReached,
    /// The table is full.
    Stored,
    /// Out of time or memory, or asked to end.
    Limit(Reached),
    /// Arithmetic left the exact range.
    Overflow,
}

impl From<Overflow> for GaveUp {
    fn from(_: Overflow) -> GaveUp {
        GaveUp::Overflow
    }
}

/// The table of a safety proof.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Every entry ever stored.
    pub entries: Vec<State>,
    /// Whether the entry is still in the table.
    pub alive: Vec<bool>,
    by_location: HashMap<Vec<u128>, Vec<usize>>,
    /// Entries in the table now.
    pub stored: usize,
    /// Locations are single values in every entry, so only equal ones need comparing.
    split: bool,
}

impl Table {
    fn key(&self, domain: &Domain, state: &State) -> Vec<u128> {
        if !self.split {
            return Vec::new();
        }
        domain.finite.iter().zip(&state.sets).filter(|(f, _)| f.location).map(|(_, s)| *s).collect()
    }

    /// A table for looking up covers among the given entries.
    pub fn of(domain: &Domain, entries: &[State]) -> Table {
        let single = |s: &State| {
            domain.finite.iter().zip(&s.sets).all(|(f, set)| !f.location || set.count_ones() == 1)
        };
        let mut table = Table { split: entries.iter().all(single), ..Table::default() };
        for state in entries {
            let key = table.key(domain, state);
            table.by_location.entry(key).or_default().push(table.entries.len());
            table.entries.push(state.clone());
            table.alive.push(true);
            table.stored += 1;
        }
        table
    }

    /// An empty table whose entries have single locations.
    pub fn split_by_location() -> Table {
        Table { split: true, ..Table::default() }
    }

    /// Forgets the entries from `length` on.
    fn truncate(&mut self, length: usize) {
        self.by_location.values_mut().for_each(|list| list.retain(|at| *at < length));
        self.entries.truncate(length);
        self.alive.truncate(length);
        self.stored = length;
    }

    /// The entries still in the table.
    pub fn live(&self) -> impl Iterator<Item = &State> {
        self.entries.iter().zip(&self.alive).filter(|(_, alive)| **alive).map(|(s, _)| s)
    }

    /// An entry that contains `state`. When locations are split (see [`Prover::start`]) they are
    /// single values in stored and queried states, so only entries with the same ones can.
    pub fn cover(&self, domain: &Domain, state: &State) -> Result<Option<usize>, Overflow> {
        for &at in self.by_location.get(&self.key(domain, state)).into_iter().flatten() {
            if state.included_in(&self.entries[at])? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    fn insert(&mut self, domain: &Domain, state: State, evict: bool) -> Result<usize, Overflow> {
        let key = self.key(domain, &state);
        let bucket = self.by_location.entry(key).or_default();
        if evict {
            let mut kept = Vec::with_capacity(bucket.len() + 1);
            for &at in bucket.iter() {
                if self.entries[at].included_in(&state)? {
                    self.alive[at] = false;
                    self.stored -= 1;
                } else {
                    kept.push(at);
                }
            }
            *bucket = kept;
        }
        bucket.push(self.entries.len());
        self.entries.push(state);
        self.alive.push(true);
        self.stored += 1;
        Ok(self.entries.len() - 1)
    }
}

/// Where a set of states was found in a table.
#[derive(Clone, Debug)]
pub enum Cover {
    /// In this entry, after these maps (by their place in [`Prover::maps`]).
    By(usize, Vec<usize>),
    /// Nowhere; its representative.
    None(State),
}

/// A successful proof.
#[derive(Clone, Debug)]
pub struct SafetyProof {
    /// The entries: no state in any of them is reachable.
    pub table: Table,
    /// Reducts looked at.
    pub visited: usize,
}

/// Proves sets of states unreachable.
pub struct Prover<'p> {
    program: &'p Program,
    domain: &'p Domain,
    facts: Vec<Step>,
    rules: Vec<Step>,
    maps: Vec<Map>,
    invariants: Vec<Step>,
    intervals: bool,
    key: Key,
}

/// The set with each set of values that are not all of their column's split into runs of neighbours.
fn intervals(domain: &Domain, state: State) -> Vec<State> {
    let mut list = vec![state];
    for f in (0..domain.finite.len()).filter(|&f| !domain.finite[f].location) {
        let mut next = Vec::new();
        for state in list {
            let mut rest = state.sets[f];
            if rest == domain.full(f) {
                next.push(state);
                continue;
            }
            while rest != 0 {
                // Adding the lowest bit carries through its run.
                let low = rest & rest.wrapping_neg();
                let run = rest & !rest.wrapping_add(low);
                rest &= !run;
                let mut one = state.clone();
                one.sets[f] = run;
                next.push(one);
            }
        }
        list = next;
    }
    list
}

impl<'p> Prover<'p> {
    /// A prover that may use the given maps and invariants (trees over the columns).
    pub fn new(program: &'p Program, domain: &'p Domain, maps: Vec<Map>, invariants: &[&Tree]) -> Prover<'p> {
        let (facts, rules) = steps(program, domain).into_iter().partition(|s: &Step| s.is_fact);
        let k = program.width();
        let invariants = invariants.iter().map(|t| Step::condition(program, domain, t, k + 1)).collect();
        Prover { program, domain, facts, rules, maps, invariants, intervals: false, key: Key::default() }
    }

    /// Keeps goals as a constraint solver without value sets does: each value set is an interval, or unconstrained.
    pub fn with_intervals(self) -> Prover<'p> {
        Prover { intervals: true, ..self }
    }

    /// Chooses representatives by another key.
    pub fn with_key(self, key: Key) -> Prover<'p> {
        Prover { key, ..self }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The split of columns in use.
    pub fn domain(&self) -> &'p Domain {
        self.domain
    }

    /// The maps in use.
    pub fn maps(&self) -> &[Map] {
        &self.maps
    }

    /// Whether a set of states may contain a fact.
    pub fn meets_fact(&self, state: &State) -> Result<bool, Overflow> {
        for fact in &self.facts {
            let mut met = false;
            fact.unfold(self.domain, state, &mut |_, _| met = true)?;
            if met {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds what the invariants say; a disjunctive invariant splits the set.
    fn restrict(&self, state: State) -> Result<Vec<State>, Overflow> {
        let mut list = vec![state];
        for invariant in &self.invariants {
            let mut next = Vec::new();
            for state in &list {
                invariant.unfold(self.domain, state, &mut |s, _| next.push(s))?;
            }
            list = next;
        }
        Ok(list)
    }

    /// The complete unfolding of a set of states, invariants added, in rule order.
    pub fn reducts(&self, state: &State) -> Result<Vec<State>, Overflow> {
        Ok(self.reducts_by_rule(state)?.into_iter().map(|r| r.1).collect())
    }

    /// The same, each reduct with its rule.
    pub fn reducts_by_rule(&self, state: &State) -> Result<Vec<(usize, State)>, Overflow> {
        let mut out = Vec::new();
        for rule in &self.rules {
            rule.unfold(self.domain, state, &mut |s, _| out.push((rule.rule, s)))?;
        }
        if self.intervals {
            let split = |(rule, state)| intervals(self.domain, state).into_iter().map(move |s| (rule, s));
            out = out.into_iter().flat_map(split).collect();
        }
        if self.invariants.is_empty() {
            return Ok(out);
        }
        let mut restricted = Vec::new();
        for (rule, state) in out {
            restricted.extend(self.restrict(state)?.into_iter().map(|s| (rule, s)));
        }
        Ok(restricted)
    }

    /// Whether to split locations: when the bad states are restricted to some of them. A claim about all of them alike
    /// (an invariant of the data) is better proved without splitting them.
    fn splits_locations(&self, bad: &[State]) -> bool {
        if !self.maps.is_empty() {
            // Maps work on single locations.
            return true;
        }
        let locations = || self.domain.finite.iter().enumerate().filter(|(_, f)| f.location);
        bad.iter().any(|s| locations().any(|(f, _)| s.sets[f] != self.domain.full(f)))
    }

    /// The sets to start from: those of `bad`, with locations split into single values (unless no
    /// location is mentioned) and the invariants added. (No reachable state has a location outside
    /// its column's values.)
    pub fn start(&self, bad: &[State]) -> Result<Vec<State>, Overflow> {
        if !self.splits_locations(bad) {
            let mut out = Vec::new();
            for state in bad {
                out.extend(self.restrict(state.clone())?);
            }
            return Ok(out);
        }
        self.start_split(bad)
    }

    /// The same, with locations split in any case.
    pub fn start_split(&self, bad: &[State]) -> Result<Vec<State>, Overflow> {
        let mut list: Vec<State> = bad.to_vec();
        for (f, finite) in self.domain.finite.iter().enumerate().filter(|(_, f)| f.location) {
            let mut next = Vec::new();
            for state in &list {
                for bit in (0..finite.values.len()).filter(|b| state.sets[f] >> b & 1 == 1) {
                    let mut one = state.clone();
                    one.sets[f] = 1 << bit;
                    next.push(one);
                }
            }
            list = next;
        }
        let mut out = Vec::new();
        for state in list {
            out.extend(self.restrict(state)?);
        }
        Ok(out)
    }

    /// Looks for an entry with the states of `state`, or with their partners.
    pub fn cover(&self, table: &Table, state: State) -> Result<Cover, Overflow> {
        if self.maps.is_empty() {
            let entry = table.cover(self.domain, &state)?;
            return Ok(entry.map_or(Cover::None(state), |at| Cover::By(at, Vec::new())));
        }
        let (state, mut path) = representative(self.domain, &self.maps, self.key, state)?;
        if let Some(at) = table.cover(self.domain, &state)? {
            return Ok(Cover::By(at, path));
        }
        for (image, more) in images(self.domain, &self.maps, self.key, state.clone())?.into_iter().skip(1) {
            if let Some(at) = table.cover(self.domain, &image)? {
                path.extend(more);
                return Ok(Cover::By(at, path));
            }
        }
        Ok(Cover::None(state))
    }

    /// Tries to prove that no state of `bad` is reachable.
    pub fn unreachable(
        &self,
        bad: &[State],
        options: &SafetyOptions,
    ) -> Result<SafetyProof, (GaveUp, Box<Table>)> {
        let mut table = Table { split: self.splits_locations(bad), ..Table::default() };
        match self.search(bad, options, &mut table) {
            Ok(visited) => Ok(SafetyProof { table, visited }),
            Err(reason) => Err((reason, Box::new(table))),
        }
    }

    /// Adds to a table (of [`Table::split_by_location`]) what is needed to prove sets with single
    /// locations unreachable; a failed attempt leaves the table as it was. Entries of the table
    /// cover new ones, so that repeated proofs cost only what is new.
    pub fn grow(&self, table: &mut Table, start: Vec<State>, options: &SafetyOptions) -> Result<(), GaveUp> {
        debug_assert!(!options.evict, "evicted entries could not be restored");
        let before = table.entries.len();
        let limits = SafetyOptions { max_stored: before + options.max_stored, ..options.clone() };
        match self.search_from(start, &limits, table) {
            Ok(_) => Ok(()),
            Err(reason) => {
                table.truncate(before);
                Err(reason)
            }
        }
    }

    fn search(&self, bad: &[State], options: &SafetyOptions, table: &mut Table) -> Result<usize, GaveUp> {
        self.search_from(self.start(bad)?, options, table)
    }

    fn search_from(
        &self,
        start: Vec<State>,
        options: &SafetyOptions,
        table: &mut Table,
    ) -> Result<usize, GaveUp> {
        let limits = options.limits.within(options.max_time);
        let mut visited = 0;
        // Breadth-first: entries to unfold. Depth-first: sets still to look at, newest last.
        let mut agenda: std::collections::VecDeque<State> = start.into();
        if options.order == Order::Depth {
            agenda.make_contiguous().reverse();
        }
        let mut unfold: std::collections::VecDeque<usize> = std::collections::VecDeque::new();
        loop {
            let next = match options.order {
                Order::Breadth => agenda.pop_front(),
                Order::Depth => agenda.pop_back(),
            };
            let Some(state) = next else {
                let Some(entry) = unfold.pop_front() else { return Ok(visited) };
                if table.alive[entry] {
                    agenda.extend(self.reducts(&table.entries[entry])?);
                }
                continue;
            };
            visited += 1;
            if table.stored > options.max_stored {
                return Err(GaveUp::Stored);
            }
            let progress = Progress { doing: "unfolding backwards", goals: visited, stored: table.stored };
            if let Some(reached) = limits.reached(progress) {
                return Err(GaveUp::Limit(reached));
            }
            // The fact test comes before any map is applied: a map may lead away from a fact.
            if self.meets_fact(&state)? {
                return Err(GaveUp::FactReached);
            }
            let state = match self.cover(table, state)? {
                Cover::By(..) => continue,
                Cover::None(representative) => representative,
            };
            // The image is an over-approximation by construction; it must be fact-free itself.
            if !self.maps.is_empty() && self.meets_fact(&state)? {
                return Err(GaveUp::FactReached);
            }
            let at = table.insert(self.domain, state, options.evict)?;
            match options.order {
                Order::Breadth => unfold.push_back(at),
                Order::Depth => agenda.extend(self.reducts(&table.entries[at])?.into_iter().rev()),
            }
        }
    }
}
