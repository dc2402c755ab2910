//! Forward exploration of concrete states: the second opinion.
//!
//! It finds concrete traces for refutations, tells whether a program has finitely many reachable
//! states, and guides the relative prover (a left state known to be reachable need not be tried as
//! unreachable). Where it is sure to have met every state, these are an invariant (`invariant/finite.rs`).

use std::collections::HashMap;

use crate::constraint::{Overflow, Region};
use crate::limits::{Limits, Progress};
use crate::program::{Program, Rule};
use crate::relative::expand;

/// Reachable states, breadth-first, with a shortest derivation of each.
#[derive(Clone, Debug, Default)]
pub struct Reachable {
    /// The states, in order of discovery (so by length of their shortest derivation).
    pub states: Vec<Vec<i64>>,
    /// For each state its predecessor and the rule used; none for a fact.
    pub parents: Vec<(Option<usize>, usize)>,
    /// Length of the shortest derivation (a fact counts 1).
    pub lengths: Vec<usize>,
    /// Position of each state.
    pub index: HashMap<Vec<i64>, usize>,
    /// Whether these are all reachable states.
    pub complete: bool,
}

/// One step of a concrete trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// Index of the rule in the program.
    pub rule: usize,
    /// The state after it.
    pub state: Vec<i64>,
}

/// More solutions than this for one step and exploration is no longer complete.
const MAX_CHOICES: usize = 64;

/// Integer points of the first `width` variables of a region; `false` when there are more.
fn points(region: &Region, width: usize, out: &mut Vec<Vec<i64>>) -> Result<bool, Overflow> {
    fn run(region: &Region, at: usize, width: usize, out: &mut Vec<Vec<i64>>) -> Result<bool, Overflow> {
        if at > width {
            // The point must extend to the remaining variables, too.
            if let Some(values) = region.solution()? {
                out.push(values[1..=width].to_vec());
                return Ok(true);
            }
            return Ok(region.general().is_empty());
        }
        let (low, high) = (region.dbm().lower(at), region.dbm().upper(at));
        let (range, mut complete) = match (low, high) {
            (Some(l), Some(h)) if h - l < MAX_CHOICES as i64 => (l..=h, true),
            (Some(l), _) => (l..=l.saturating_add(2), false),
            (None, Some(h)) => (h.saturating_sub(2)..=h, false),
            (None, None) => (0..=1, false),
        };
        for value in range {
            if out.len() > MAX_CHOICES {
                return Ok(false);
            }
            let mut next = region.clone();
            if next.meet(at, 0, value)? && next.meet(0, at, -value)? {
                complete &= run(&next, at + 1, width, out)?;
            }
        }
        Ok(complete)
    }
    run(region, 1, width, out)
}

/// States after one application of a rule; `false` when there may be more.
pub fn successors(
    program: &Program,
    rule: &Rule,
    state: Option<&[i64]>,
    out: &mut Vec<Vec<i64>>,
) -> Result<bool, Overflow> {
    let k = program.width();
    let mut region = Region::universe(rule.nodes);
    for column in 0..k {
        if let Some(state) = state {
            let node = if rule.unchanged[column] { column + 1 } else { k + column + 1 };
            let value = state[column];
            if !(region.meet(node, 0, value)? && region.meet(0, node, -value)?) {
                return Ok(true);
            }
        }
    }
    let mut complete = true;
    for region in expand(&rule.guard, region, &|n| n)? {
        complete &= points(&region, k, out)?;
    }
    Ok(complete)
}

/// Explores up to `limit` states.
pub fn explore(program: &Program, limit: usize, limits: &Limits) -> Reachable {
    let mut found = Reachable { complete: true, ..Reachable::default() };
    let add = |found: &mut Reachable, state: Vec<i64>, parent: Option<usize>, rule: usize| {
        if found.states.len() >= limit {
            found.complete = false;
        } else if !found.index.contains_key(&state) {
            let length = parent.map_or(1, |p| found.lengths[p] + 1);
            found.index.insert(state.clone(), found.states.len());
            found.states.push(state);
            found.parents.push((parent, rule));
            found.lengths.push(length);
        }
    };
    let mut list = Vec::new();
    for (number, rule) in program.rules.iter().enumerate().filter(|(_, r)| r.is_fact) {
        list.clear();
        match successors(program, rule, None, &mut list) {
            Ok(complete) => found.complete &= complete,
            Err(Overflow) => found.complete = false,
        }
        list.drain(..).for_each(|s| add(&mut found, s, None, number));
    }
    let mut at = 0;
    while at < found.states.len() {
        let progress = Progress { doing: "exploring states", goals: found.states.len(), stored: 0 };
        if limits.reached(progress).is_some() {
            found.complete = false;
            break;
        }
        let state = found.states[at].clone();
        for (number, rule) in program.rules.iter().enumerate().filter(|(_, r)| !r.is_fact) {
            list.clear();
            match successors(program, rule, Some(&state), &mut list) {
                Ok(complete) => found.complete &= complete,
                Err(Overflow) => found.complete = false,
            }
            list.drain(..).for_each(|s| add(&mut found, s, Some(at), number));
        }
        at += 1;
    }
    found
}

impl Reachable {
    /// Whether an explored state lies in a region whose first `width` variables are the columns
    /// (general inequalities are ignored, so the answer errs towards yes).
    pub fn meets(&self, region: &Region, width: usize) -> bool {
        let values: Option<Vec<i64>> = (1..=width).map(|n| region.dbm().constant(n)).collect();
        if let Some(values) = values {
            return self.index.contains_key(&values);
        }
        let own: Vec<_> = region.dbm().constraints().filter(|&(i, j, _)| i <= width && j <= width).collect();
        let value = |s: &[i64], n: usize| if n == 0 { 0 } else { s[n - 1] };
        self.states.iter().any(|s| own.iter().all(|&(i, j, c)| value(s, i) - value(s, j) <= c))
    }

    /// The derivation of a state, from a fact on.
    pub fn trace(&self, state: usize) -> Vec<TraceStep> {
        let mut steps = Vec::new();
        let mut at = Some(state);
        while let Some(index) = at {
            let (parent, rule) = self.parents[index];
            steps.push(TraceStep { rule, state: self.states[index].clone() });
            at = parent;
        }
        steps.reverse();
        steps
    }
}
