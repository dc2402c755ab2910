//! The search for a proof of a group of relative assertions.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::hypothesis::{Conclusions, Frame, apply_assertion, apply_entry};
use super::obligation::{Layout, Obligation, expand, obligations};
use super::right::{RightLimits, RightSearch, RightState};
use super::split::{Grain, split};
use crate::constraint::{Overflow, Region};
use crate::domain::{Domain, Place, State};
use crate::explicit::Reachable;
use crate::limits::{Limits, Progress};
use crate::program::{Program, Tree};
use crate::safety::{Prover, SafetyOptions, Table};
use crate::step::{Step, steps};

/// Limits and choices of a relative proof.
#[derive(Clone, Debug)]
pub struct RelativeOptions {
    /// Left unfolds along a branch.
    pub max_left: usize,
    /// Right unfolds.
    pub max_right: usize,
    /// Right states per reduct.
    pub max_right_states: usize,
    /// Obligations in the table.
    pub max_entries: usize,
    /// When to end.
    pub limits: Limits,
    /// Keep right unfolds within left unfolds, so that the proof is length-non-increasing.
    pub bounded_length: bool,
    /// How far to split before unfolding.
    pub grain: Grain,
    /// Only one left unfold, and exactly one right unfold for each reduct, closed by the assertion
    /// itself.
    pub one_level: bool,
    /// Count right reducts that are satisfiable jointly with the left side, as the paper does.
    pub paper_counts: bool,
}

/// What else a proof may rely on.
#[derive(Clone, Debug, Default)]
pub struct Support<'a> {
    /// Proved or assumed relative assertions, by index, with the excess known for each (`None`:
    /// unknown).
    pub assertions: Vec<(usize, Option<i64>)>,
    /// Invariants that hold in every reachable state (trees over the columns).
    pub invariants: Vec<&'a Tree>,
    /// Concrete reachable states, as a guide only.
    pub reachable: Option<&'a Reachable>,
}

/// What closed a reduct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Used {
    /// An assertion of the program.
    Assertion(usize),
    /// A table entry.
    Entry(usize, Frame),
    /// The state itself (DP).
    Itself,
    /// A fact on both sides.
    Fact,
}

/// The fate of a reduct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closing {
    /// By a hypothesis and right unfolds (rule indices).
    By(Used, Vec<usize>),
    /// The left state is unreachable (proved by the safety prover).
    Unreachable,
    /// It became this table entry.
    Stored(usize),
}

/// A reduct with its fate.
#[derive(Clone, Debug)]
pub struct Reduct {
    /// The rule unfolded on the left.
    pub rule: usize,
    /// What became of it.
    pub closing: Closing,
}

/// An obligation of the table.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The obligation.
    pub obligation: Obligation,
    /// Assertion it descends from.
    pub origin: usize,
    /// Left unfolds below that assertion; the excess it claims in a length-bounded proof.
    pub depth: usize,
    /// Its reducts.
    pub reducts: Vec<Reduct>,
    /// Closed without unfolding, by DP.
    pub direct: Option<Vec<usize>>,
}

/// A proof of a group.
#[derive(Clone, Debug)]
pub struct RelativeProof {
    /// The table.
    pub entries: Vec<Entry>,
    /// Sets of states shown unreachable on the way.
    pub dead: Vec<State>,
    /// Left goals visited, counted as in the paper.
    pub left_states: usize,
    /// Right goals visited.
    pub right_states: usize,
    /// Whether right unfolds stay within left unfolds.
    pub length_bounded: bool,
    /// How far obligations were split.
    pub grain: Grain,
    /// Whether every reduct was matched by one right unfold and the assertion itself.
    pub one_level: bool,
}

/// Why there is no proof, or the proof.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Proved.
    Proved(Box<RelativeProof>),
    /// Not proved, for this reason; with left and right states visited.
    Failed(String, usize, usize),
}

struct Search<'a> {
    program: &'a Program,
    group: &'a [usize],
    support: &'a Support<'a>,
    options: &'a RelativeOptions,
    plain: Domain,
    steps: Vec<Step>,
    finite: &'a Domain,
    safety: Prover<'a>,
    entries: Vec<Entry>,
    /// Entries by the constants of their left locations.
    by_location: HashMap<Vec<Option<i64>>, Vec<usize>>,
    /// Sets shown unreachable.
    dead: Table,
    left_states: usize,
    right_states: usize,
}

/// Tries to prove all assertions of `group` together.
pub fn prove_group(
    program: &Program,
    finite: &Domain,
    group: &[usize],
    support: &Support,
    options: &RelativeOptions,
) -> Outcome {
    let plain = Domain::plain(program);
    let steps = steps(program, &plain);
    let safety = Prover::new(program, finite, Vec::new(), &support.invariants);
    let mut search = Search {
        program,
        group,
        support,
        options,
        plain,
        steps,
        finite,
        safety,
        entries: Vec::new(),
        by_location: HashMap::new(),
        dead: Table::split_by_location(),
        left_states: 0,
        right_states: 0,
    };
    match search.run() {
        Ok(Ok(())) => Outcome::Proved(Box::new(RelativeProof {
            // Steps of states that are merely unreachable need not correspond.
            one_level: options.one_level && search.dead.entries.is_empty(),
            entries: search.entries,
            dead: search.dead.entries,
            left_states: search.left_states,
            right_states: search.right_states,
            length_bounded: options.bounded_length,
            grain: options.grain,
        })),
        Ok(Err(reason)) => Outcome::Failed(reason, search.left_states, search.right_states),
        Err(Overflow) => Outcome::Failed(Overflow.to_string(), search.left_states, search.right_states),
    }
}

/// What became of an obligation.
enum Entered {
    /// A table entry that is to be unfolded.
    Open(usize),
    /// A table entry closed by DP.
    Direct(usize),
    /// No entry: its left states are unreachable.
    Unreachable,
}

type Attempt<T> = Result<Result<T, String>, Overflow>;

impl Search<'_> {
    fn run(&mut self) -> Attempt<()> {
        let mut queue = VecDeque::new();
        for &assertion in self.group {
            let progress = Progress { doing: "dividing the claim", goals: 0, stored: 0 };
            let stopped = || self.options.limits.reached(progress).is_some();
            let claim = &self.program.assertions[assertion];
            let Some(wholes) = obligations(claim, self.program.width(), &stopped)? else {
                let reached = self.options.limits.reached(progress);
                return Ok(Err(reached.map_or_else(String::new, |r| r.to_string())));
            };
            for whole in wholes {
                let Some(parts) = self.cases(&whole)? else {
                    return Ok(Err("too many cases".into()));
                };
                for part in parts {
                    for part in self.restrict(part)? {
                        match self.enter(part, assertion, 0)? {
                            Ok(Entered::Open(entry)) => queue.push_back(entry),
                            Ok(Entered::Direct(_) | Entered::Unreachable) => {}
                            Err(reason) => return Ok(Err(reason)),
                        }
                    }
                }
            }
        }
        while let Some(entry) = queue.pop_front() {
            match self.unfold(entry, &mut queue)? {
                Ok(()) => {}
                Err(reason) => return Ok(Err(reason)),
            }
        }
        Ok(Ok(()))
    }

    /// The cases of an assertion's obligation at the grain of the proof. Locations come first, so
    /// that those without reachable states are dropped (they are unreachable, which is all an
    /// obligation needs) before their values are enumerated.
    fn cases(&mut self, whole: &Obligation) -> Result<Option<Vec<Obligation>>, Overflow> {
        if self.options.grain != Grain::Values {
            return split(whole, self.finite, self.options.grain, 400_000);
        }
        let Some(parts) = split(whole, self.finite, Grain::Locations, 400_000)? else { return Ok(None) };
        let mut out = Vec::new();
        for part in parts {
            if part.right.is_some() && self.unreachable(part.layout, &part.left, 400)? {
                continue;
            }
            match split(&part, self.finite, Grain::Values, 400_000)? {
                Some(cases) => out.extend(cases),
                None => return Ok(None),
            }
        }
        Ok(Some(out))
    }

    /// Adds invariants to the left state; may split.
    fn restrict(&self, obligation: Obligation) -> Result<Vec<Obligation>, Overflow> {
        let mut list = vec![obligation];
        for invariant in &self.support.invariants {
            let mut next = Vec::new();
            for o in list {
                for left in expand(invariant, o.left.clone(), &|n| n)? {
                    next.push(Obligation { left, ..o.clone() });
                }
            }
            list = next;
        }
        Ok(list)
    }

    fn constants(&self, region: &Region) -> Vec<Option<i64>> {
        let locations = self.finite.finite.iter().filter(|f| f.location);
        locations.map(|f| region.dbm().constant(f.column + 1)).collect()
    }

    /// The left columns as a state of the split domain: each set from the bounds known.
    fn left_state(&self, layout: Layout, left: &Region) -> Result<Option<State>, Overflow> {
        let mut state = self.finite.universe();
        for (at, f) in self.finite.finite.iter().enumerate() {
            let (low, high) = (left.dbm().lower(f.column + 1), left.dbm().upper(f.column + 1));
            let inside = |v: i64| low.is_none_or(|l| l <= v) && high.is_none_or(|h| v <= h);
            let bits = f.values.iter().enumerate().filter(|(_, v)| inside(**v));
            state.sets[at] = bits.fold(0, |set, (bit, _)| set | 1 << bit);
            if state.sets[at] == 0 {
                return Ok(None);
            }
        }
        let mut nodes = vec![0];
        for &column in &self.finite.data {
            debug_assert!(matches!(self.finite.places[column], Place::Node(_)));
            nodes.push(column + 1);
        }
        debug_assert!(layout.width >= self.finite.data.len());
        // Dropped constraints only enlarge the set that is to be shown unreachable.
        state.region = left.select(&nodes)?.0;
        Ok(Some(state))
    }

    /// Whether the left state is unreachable, by the sets already shown so or a new safety proof.
    fn unreachable(&mut self, layout: Layout, left: &Region, budget: usize) -> Result<bool, Overflow> {
        if let Some(reachable) = self.support.reachable {
            // Looking through all of them pays only when that settles the question.
            let ground = (1..=layout.width).all(|n| left.dbm().constant(n).is_some());
            let known = (ground || reachable.complete) && reachable.meets(left, layout.width);
            if known {
                return Ok(false);
            }
        }
        // No value left in some finite column: no reachable state at all.
        let Some(state) = self.left_state(layout, left)? else { return Ok(true) };
        let parts = self.safety.start_split(std::slice::from_ref(&state))?;
        // Known for certain to be unreachable (but still to be proved so).
        let certain = self.support.reachable.is_some_and(|r| r.complete);
        if !certain && parts.len() > 64 {
            return Ok(false);
        }
        let mut open = Vec::new();
        for part in parts {
            if self.dead.cover(self.finite, &part)?.is_none() {
                open.push(part);
            }
        }
        if open.is_empty() {
            return Ok(true);
        }
        if budget == 0 {
            return Ok(false);
        }
        let limits = SafetyOptions {
            max_stored: if certain { 200_000 } else { budget },
            max_time: Duration::from_secs(if certain { u64::from(u32::MAX) } else { 5 }),
            limits: self.options.limits.clone(),
            ..SafetyOptions::default()
        };
        Ok(self.safety.grow(&mut self.dead, open, &limits).is_ok())
    }

    /// Puts an obligation into the table, unless its left states are unreachable.
    fn enter(&mut self, obligation: Obligation, origin: usize, depth: usize) -> Attempt<Entered> {
        let layout = obligation.layout;
        let budget = if obligation.right.is_none() { 100_000 } else { 400 };
        if (!self.options.one_level || obligation.right.is_none())
            && self.unreachable(layout, &obligation.left, budget)?
        {
            return Ok(Ok(Entered::Unreachable));
        }
        if obligation.right.is_none() {
            return Ok(Err(
                "a left state without a possible right state could not be shown unreachable".into()
            ));
        }
        if self.entries.len() >= self.options.max_entries {
            return Ok(Err(format!("the table reached {} obligations", self.options.max_entries)));
        }
        let mut direct = None;
        if !self.options.one_level {
            // Without any left unfold only the state itself may serve.
            let limit = if self.options.bounded_length { depth } else { self.options.max_right };
            direct = self.close_directly(&obligation, limit)?;
        }
        let at = self.entries.len();
        let open = direct.is_none();
        if open {
            self.by_location.entry(self.constants(&obligation.left)).or_default().push(at);
        }
        self.entries.push(Entry { obligation, origin, depth, reducts: Vec::new(), direct });
        Ok(Ok(if open { Entered::Open(at) } else { Entered::Direct(at) }))
    }

    fn right_search<'s>(&'s self, layout: Layout, left: &'s Region, depth: usize) -> RightSearch<'s> {
        RightSearch {
            domain: &self.plain,
            steps: &self.steps,
            layout,
            left,
            limits: RightLimits { depth, states: self.options.max_right_states },
            count_joint: self.options.paper_counts,
            reachable: self.support.reachable.filter(|r| r.complete && !self.options.one_level),
        }
    }

    /// DP with up to `depth` right unfolds.
    fn close_directly(
        &mut self,
        obligation: &Obligation,
        depth: usize,
    ) -> Result<Option<Vec<usize>>, Overflow> {
        let Some(target) = &obligation.right else { return Ok(None) };
        let (mut counter, mut found) = (0, None);
        self.right_search(obligation.layout, &obligation.left, depth).run(
            target,
            &mut counter,
            |state, fact| {
                if !fact && obligation.left.included_in(&state.region)? {
                    found = Some(state.path.clone());
                }
                Ok(found.is_some())
            },
        )?;
        self.right_states += counter;
        Ok(found)
    }

    /// The left unfold of a table entry.
    fn unfold(&mut self, at: usize, queue: &mut VecDeque<usize>) -> Attempt<()> {
        let (obligation, origin, depth) = {
            let e = &self.entries[at];
            (e.obligation.clone(), e.origin, e.depth + 1)
        };
        if self.options.one_level {
            self.left_states += 1;
        }
        for number in 0..self.steps.len() {
            let step = self.steps[number].clone();
            let own = State { sets: Vec::new(), region: obligation.left.clone() };
            let mut lefts = Vec::new();
            step.unfold(&self.plain, &own, &mut |s, _| lefts.push(s.region))?;
            for left in lefts {
                let (goals, stored) = (self.left_states, self.entries.len());
                let progress = Progress { doing: "unfolding both sides", goals, stored };
                if let Some(reached) = self.options.limits.reached(progress) {
                    return Ok(Err(reached.to_string()));
                }
                let reduct = Obligation { left, ..obligation.clone() };
                if step.is_fact {
                    let Some(path) = self.close_fact(&reduct, depth)? else {
                        return Ok(Err(
                            "an initial state has no initial counterpart within the right unfolds tried"
                                .into(),
                        ));
                    };
                    self.entries[at]
                        .reducts
                        .push(Reduct { rule: number, closing: Closing::By(Used::Fact, path) });
                    continue;
                }
                for reduct in self.restrict(reduct)? {
                    self.left_states += 1;
                    if let Some(closing) = self.close(&reduct, origin, depth)? {
                        self.entries[at].reducts.push(Reduct { rule: number, closing });
                        continue;
                    }
                    if self.options.one_level {
                        return Ok(Err("a reduct is not matched by one right unfold".into()));
                    }
                    if depth >= self.options.max_left {
                        return Ok(Err(format!("a branch is still open after {depth} left unfolds")));
                    }
                    // Not closed as a whole: by cases, at the grain of the proof.
                    let Some(cases) = split(&reduct, self.finite, self.options.grain, 4096)? else {
                        return Ok(Err("too many cases".into()));
                    };
                    let several = cases.len() > 1;
                    for case in cases {
                        let closed = if several { self.close(&case, origin, depth)? } else { None };
                        let closing = match closed {
                            Some(closing) => closing,
                            None => match self.enter(case, origin, depth)? {
                                Err(reason) => return Ok(Err(reason)),
                                Ok(Entered::Unreachable) => Closing::Unreachable,
                                Ok(Entered::Direct(entry)) => Closing::Stored(entry),
                                Ok(Entered::Open(entry)) => {
                                    queue.push_back(entry);
                                    Closing::Stored(entry)
                                }
                            },
                        };
                        self.entries[at].reducts.push(Reduct { rule: number, closing });
                    }
                }
            }
        }
        Ok(Ok(()))
    }

    fn right_depth(&self, depth: usize) -> usize {
        if self.options.one_level {
            1
        } else if self.options.bounded_length {
            depth.min(self.options.max_right)
        } else {
            self.options.max_right
        }
    }

    fn close_fact(&mut self, reduct: &Obligation, depth: usize) -> Result<Option<Vec<usize>>, Overflow> {
        let Some(target) = &reduct.right else { return Ok(None) };
        let (mut counter, mut found) = (0, None);
        let search = self.right_search(reduct.layout, &reduct.left, self.right_depth(depth));
        search.run(target, &mut counter, |state, fact| {
            if fact {
                found = Some(state.path.clone());
            }
            Ok(fact)
        })?;
        self.right_states += counter;
        Ok(found)
    }

    /// Tries AP with everything that applies, and DP.
    fn close(
        &mut self,
        reduct: &Obligation,
        origin: usize,
        depth: usize,
    ) -> Result<Option<Closing>, Overflow> {
        let layout = reduct.layout;
        if !self.options.one_level && self.unreachable(layout, &reduct.left, 0)? {
            return Ok(Some(Closing::Unreachable));
        }
        let Some(target) = &reduct.right else { return Ok(None) };
        let mut hypotheses: Vec<(Used, i64, Conclusions)> = Vec::new();
        if self.options.one_level {
            // One level speaks of all states: that a state is unreachable, because what is promised of it cannot be, closes
            // nothing.
            let applied = apply_assertion(layout, &reduct.left, &self.program.assertions[origin])?;
            if let Some(c) = applied.filter(|c| !c.is_empty()) {
                hypotheses.push((Used::Assertion(origin), 0, c));
            }
        } else {
            let known =
                self.group.iter().map(|&a| (a, Some(0))).chain(self.support.assertions.iter().copied());
            for (assertion, excess) in known {
                let excess = if self.options.bounded_length { excess } else { Some(0) };
                let Some(excess) = excess else { continue };
                if let Some(c) = apply_assertion(layout, &reduct.left, &self.program.assertions[assertion])? {
                    hypotheses.push((Used::Assertion(assertion), excess, c));
                }
            }
            let mut candidates: Vec<usize> = Vec::new();
            let own = self.constants(&reduct.left);
            for (key, list) in &self.by_location {
                if key.iter().zip(&own).all(|(k, o)| k.is_none() || k == o) {
                    candidates.extend(list);
                }
            }
            candidates.sort_unstable();
            for entry in candidates {
                let excess = if self.options.bounded_length { self.entries[entry].depth as i64 } else { 0 };
                if self.options.bounded_length && excess > depth as i64 {
                    continue;
                }
                for frame in [Frame::Same, Frame::Any] {
                    let obligation = &self.entries[entry].obligation;
                    if let Some(c) = apply_entry(layout, &reduct.left, obligation, frame)? {
                        hypotheses.push((Used::Entry(entry, frame), excess, c));
                        break;
                    }
                }
            }
        }
        if let Some((used, _, _)) = hypotheses.iter().find(|h| h.2.is_empty()) {
            // The hypothesis applies and promises what cannot be: the state is unreachable.
            return Ok(Some(Closing::By(*used, Vec::new())));
        }
        let budget = depth as i64;
        let (bounded, one_level) = (self.options.bounded_length, self.options.one_level);
        let (mut counter, mut found) = (0, None);
        let search = self.right_search(layout, &reduct.left, self.right_depth(depth));
        search.run(target, &mut counter, |state: &RightState, fact| {
            let unfolds = state.path.len() as i64;
            if fact || (one_level && unfolds != 1) {
                return Ok(false);
            }
            for (used, excess, conclusions) in &hypotheses {
                if bounded && excess + unfolds > budget {
                    continue;
                }
                let mut all = true;
                for c in conclusions {
                    all = all && c.included_in(&state.region)?;
                }
                if all {
                    found = Some(Closing::By(*used, state.path.clone()));
                    return Ok(true);
                }
            }
            if !one_level && reduct.left.included_in(&state.region)? {
                found = Some(Closing::By(Used::Itself, state.path.clone()));
                return Ok(true);
            }
            Ok(false)
        })?;
        self.right_states += counter;
        Ok(found)
    }
}
