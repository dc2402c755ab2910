//! Refutation: a claim is called false only with a concrete trace in hand.
//!
//! A safety claim is refuted by a derivation of a state that violates it. A relative claim is
//! refuted by a derivation of a left state whose partners are all unreachable, which is known when
//! the explored states are all there are, or when a safety proof (without any assertions) says so.

use crate::constraint::{Overflow, Region};
use crate::domain::{Domain, Place, State};
use crate::explicit::{Reachable, TraceStep};
use crate::limits::{Limits, Progress};
use crate::program::{Assertion, Program, Right, Rule, Tree};
use crate::relative::expand;
use crate::safety::{Prover, SafetyOptions};
use crate::step::{Step, steps};

/// Why a claim is false.
#[derive(Clone, Debug)]
pub struct Refutation {
    /// A derivation of the offending left state.
    pub trace: Vec<TraceStep>,
    /// What is wrong with it.
    pub reason: String,
}

/// Values of a state as a region over the assertion's nodes.
fn fixed(state: &[i64], nodes: usize) -> Result<Region, Overflow> {
    let mut region = Region::universe(nodes);
    for (column, &value) in state.iter().enumerate() {
        region.meet(column + 1, 0, value)?;
        region.meet(0, column + 1, -value)?;
    }
    Ok(region)
}

/// Whether a concrete left state violates a safety claim.
pub fn violates(assertion: &Assertion, state: &[i64]) -> Result<bool, Overflow> {
    let Right::Constraint(claim) = &assertion.right else { return Ok(false) };
    let Some(negated) = claim.negated() else { return Err(Overflow) };
    for region in expand(&assertion.left, fixed(state, assertion.nodes)?, &|n| n)? {
        for bad in expand(&negated, region, &|n| n)? {
            // General inequalities may hide emptiness: insist on a point.
            if bad.solution()?.is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Refutes a safety claim by the explored states.
pub fn refute_safety(assertion: &Assertion, reachable: &Reachable) -> Option<Refutation> {
    let found =
        (0..reachable.states.len()).find(|&s| violates(assertion, &reachable.states[s]) == Ok(true))?;
    Some(Refutation { trace: reachable.trace(found), reason: "this state violates the claim".into() })
}

/// Looks for a left state without partners: among the explored states, then backwards from the left side, where exploration was
/// cut short. A state found backwards that has a partner, or may have one, is taken out of the left side, and the next one is
/// looked for.
pub fn refute_relative(
    program: &Program,
    domain: &Domain,
    assertion: &Assertion,
    reachable: &Reachable,
    tries: usize,
    limits: &Limits,
) -> Result<Option<Refutation>, Overflow> {
    let Right::State(tree) = &assertion.right else { return Ok(None) };
    let prover = Prover::new(program, domain, Vec::new(), &[]);
    let mut search = Partnerless { program, domain, assertion, tree, reachable, prover, tries, limits };
    for (number, state) in reachable.states.iter().enumerate() {
        let progress = Progress { doing: "looking for a counterexample", goals: number, stored: 0 };
        if limits.reached(progress).is_some() || search.tries == 0 {
            return Ok(None);
        }
        if let Some(reason) = search.partners_unreachable(state)? {
            return Ok(Some(Refutation { trace: reachable.trace(number), reason }));
        }
    }
    if reachable.complete {
        return Ok(None);
    }
    let mut left = left_states(program, domain, assertion)?;
    for state in &reachable.states {
        left = without(domain, left, state)?;
    }
    while search.tries > 0 {
        let sets = BACKWARD_SETS;
        let Some(trace) = backward_trace(program, domain, &left, &[], sets, limits)? else { break };
        let Some(last) = trace.last() else { break };
        if let Some(reason) = search.partners_unreachable(&last.state)? {
            return Ok(Some(Refutation { trace, reason }));
        }
        left = without(domain, left, &last.state)?;
        search.tries -= 1;
    }
    Ok(None)
}

/// Sets on the way back to one left state.
const BACKWARD_SETS: usize = 500;

/// The states of the left side.
fn left_states(program: &Program, domain: &Domain, assertion: &Assertion) -> Result<Vec<State>, Overflow> {
    let claim = Assertion { right: Right::Constraint(Tree::Or(Vec::new())), ..assertion.clone() };
    crate::prove::violations(program, domain, &claim)
}

/// Sets of states without one state.
fn without(domain: &Domain, sets: Vec<State>, point: &[i64]) -> Result<Vec<State>, Overflow> {
    let mut out = Vec::new();
    for set in sets {
        // Equal so far, different in this column.
        let mut equal = set;
        for (place, &value) in domain.places.iter().zip(point) {
            match *place {
                Place::Set(f) => {
                    let bit = domain.finite[f].values.iter().position(|v| *v == value);
                    let own = bit.map_or(0, |b| 1 << b);
                    let rest = equal.sets[f] & !own;
                    if rest != 0 {
                        let mut other = equal.clone();
                        other.sets[f] = rest;
                        out.push(other);
                    }
                    equal.sets[f] &= own;
                }
                Place::Node(n) => {
                    let (below, above) =
                        (value.checked_sub(1).ok_or(Overflow)?, value.checked_add(1).ok_or(Overflow)?);
                    for (i, j, c) in [(n, 0, Some(below)), (0, n, above.checked_neg())] {
                        let mut other = equal.clone();
                        if other.region.meet(i, j, c.ok_or(Overflow)?)? {
                            out.push(other);
                        }
                    }
                    let down = value.checked_neg().ok_or(Overflow)?;
                    if !(equal.region.meet(n, 0, value)? && equal.region.meet(0, n, down)?) {
                        break;
                    }
                }
            }
            if equal.sets.contains(&0) {
                break;
            }
        }
    }
    Ok(out)
}

/// The search for a reachable left state whose partners are all unreachable.
struct Partnerless<'a> {
    program: &'a Program,
    domain: &'a Domain,
    assertion: &'a Assertion,
    tree: &'a Tree,
    reachable: &'a Reachable,
    prover: Prover<'a>,
    /// Proofs that may still be tried.
    tries: usize,
    limits: &'a Limits,
}

impl Partnerless<'_> {
    /// Why a reachable state has no reachable partner, if it is a left state and that is known.
    fn partners_unreachable(&mut self, state: &[i64]) -> Result<Option<String>, Overflow> {
        let (assertion, k) = (self.assertion, self.program.width());
        for left in expand(&assertion.left, fixed(state, assertion.nodes)?, &|n| n)? {
            // One choice of the universal variables; the claim must hold for it.
            let Some(point) = left.solution()? else { continue };
            let mut chosen = Region::universe(assertion.nodes);
            for node in (1..=k).chain(2 * k + 1..assertion.universal) {
                chosen.meet(node, 0, point[node])?;
                chosen.meet(0, node, -point[node])?;
            }
            let source: Vec<usize> = std::iter::once(0).chain(k + 1..=2 * k).collect();
            let partners = expand(self.tree, chosen, &|n| n)?;
            let mut targets = Vec::new();
            let mut exact = true;
            for partner in &partners {
                let (region, kept) = partner.select(&source)?;
                exact &= kept;
                targets.push(region);
            }
            let inside = |s: &Vec<i64>| {
                let values: Vec<i64> = std::iter::once(0).chain(s.iter().copied()).collect();
                targets.iter().any(|t| t.inequalities().iter().all(|l| l.holds(&values)))
            };
            let single =
                targets.iter().map(|t| (1..=k).map(|n| t.dbm().constant(n)).collect::<Option<Vec<_>>>());
            let single: Option<Vec<Vec<i64>>> = single.collect();
            let met = match &single {
                Some(points) => points.iter().any(|p| self.reachable.index.contains_key(p)),
                None => self.reachable.states.iter().any(inside),
            };
            if met || !exact {
                continue;
            }
            let left = self.program.show(state);
            let right = match &single {
                Some(points) if points.len() == 1 => self.program.show(&points[0]),
                _ => "every right state".to_string(),
            };
            if self.reachable.complete {
                let count = self.reachable.states.len();
                return Ok(Some(format!(
                    "{left} is reachable, {right} is not: all {count} reachable states were explored"
                )));
            }
            if self.tries == 0 {
                return Ok(None);
            }
            self.tries -= 1;
            let bad = targets.iter().map(|t| as_state(self.domain, t)).collect::<Result<Vec<_>, _>>()?;
            let options = SafetyOptions {
                max_stored: 20_000,
                max_time: std::time::Duration::from_secs(2),
                limits: self.limits.clone(),
                ..SafetyOptions::default()
            };
            let bad: Vec<State> = bad.into_iter().flatten().collect();
            if let Ok(proof) = self.prover.unreachable(&bad, &options) {
                return Ok(Some(format!(
                    "{left} is reachable, {right} is not: unfolding it backwards gives {} sets of states, none initial",
                    proof.table.stored
                )));
            }
        }
        Ok(None)
    }
}

/// A region over all columns as a state of the split domain; `None` when a finite column has no
/// value in it (then nothing of it is reachable).
pub fn as_state(domain: &Domain, region: &Region) -> Result<Option<State>, Overflow> {
    let mut state = domain.universe();
    let mut nodes = vec![0];
    for (column, place) in domain.places.iter().enumerate() {
        match place {
            Place::Node(_) => nodes.push(column + 1),
            Place::Set(f) => {
                let (low, high) = (region.dbm().lower(column + 1), region.dbm().upper(column + 1));
                let inside = |v: &i64| low.is_none_or(|l| l <= *v) && high.is_none_or(|h| *v <= h);
                let values = domain.finite[*f].values.iter().enumerate().filter(|(_, v)| inside(v));
                state.sets[*f] = values.fold(0, |set, (bit, _)| set | 1 << bit);
                if state.sets[*f] == 0 {
                    return Ok(None);
                }
            }
        }
    }
    state.region = region.select(&nodes)?.0;
    Ok(Some(state))
}

/// Searches backwards, breadth-first and without assertions, for a derivation of a state in `bad`,
/// and makes it concrete.
pub fn backward_trace(
    program: &Program,
    domain: &Domain,
    bad: &[State],
    invariants: &[&Tree],
    limit: usize,
    limits: &Limits,
) -> Result<Option<Vec<TraceStep>>, Overflow> {
    let prover = Prover::new(program, domain, Vec::new(), invariants);
    let all: Vec<Step> = steps(program, domain);
    let mut nodes: Vec<(State, Option<usize>, usize)> =
        prover.start(bad)?.into_iter().map(|s| (s, None, usize::MAX)).collect();
    let mut at = 0;
    while at < nodes.len() && nodes.len() < limit {
        let progress = Progress { doing: "looking for a trace", goals: at, stored: nodes.len() };
        if limits.reached(progress).is_some() {
            break;
        }
        for fact in all.iter().filter(|s| s.is_fact) {
            let mut met = Vec::new();
            fact.unfold(domain, &nodes[at].0, &mut |s, _| met.push(s))?;
            for start in met {
                if let Some(trace) = concretise(program, domain, &nodes, at, fact.rule, &start)? {
                    return Ok(Some(trace));
                }
            }
        }
        for step in all.iter().filter(|s| !s.is_fact) {
            let mut reducts = Vec::new();
            step.unfold(domain, &nodes[at].0, &mut |s, _| reducts.push(s))?;
            for reduct in reducts {
                let mut known = false;
                for (other, _, _) in &nodes {
                    known = known || reduct.included_in(other)?;
                }
                if !known {
                    nodes.push((reduct, Some(at), step.rule));
                }
            }
        }
        at += 1;
    }
    Ok(None)
}

fn concretise(
    program: &Program,
    domain: &Domain,
    nodes: &[(State, Option<usize>, usize)],
    at: usize,
    fact: usize,
    start: &State,
) -> Result<Option<Vec<TraceStep>>, Overflow> {
    // Unfolding may have made the set larger than it is (a fact's own variables are projected away), so the fact is asked again.
    let rule = &program.rules[fact];
    let Some(mut state) = state_after(program, domain, rule, None, start)? else { return Ok(None) };
    let mut trace = vec![TraceStep { rule: fact, state: state.clone() }];
    let mut at = at;
    while let Some(next) = nodes[at].1 {
        let rule = &program.rules[nodes[at].2];
        let Some(values) = state_after(program, domain, rule, Some(&state), &nodes[next].0)? else {
            return Ok(None);
        };
        state = values;
        trace.push(TraceStep { rule: nodes[at].2, state: state.clone() });
        at = next;
    }
    Ok(Some(trace))
}

/// A state within a set of states that a rule leads to from a state, or a fact by itself.
fn state_after(
    program: &Program,
    domain: &Domain,
    rule: &Rule,
    before: Option<&[i64]>,
    set: &State,
) -> Result<Option<Vec<i64>>, Overflow> {
    let k = program.width();
    let mut region = Region::universe(rule.nodes);
    for (column, &value) in before.into_iter().flatten().enumerate() {
        let node = if rule.unchanged[column] { column + 1 } else { k + column + 1 };
        region.meet(node, 0, value)?;
        region.meet(0, node, -value)?;
    }
    for region in expand(&rule.guard, region, &|n| n)? {
        for choice in inside(domain, set, region)? {
            if let Some(values) = choice.solution()? {
                return Ok(Some(values[1..=k].to_vec()));
            }
        }
    }
    Ok(None)
}

/// The parts of `region` (columns at nodes `1..=k`) that lie in a set of states.
fn inside(domain: &Domain, state: &State, region: Region) -> Result<Vec<Region>, Overflow> {
    let mut list = vec![region];
    for (f, finite) in domain.finite.iter().enumerate() {
        let mut next = Vec::new();
        for region in &list {
            for (bit, &value) in finite.values.iter().enumerate() {
                let mut one = region.clone();
                let node = finite.column + 1;
                if state.sets[f] >> bit & 1 == 1 && one.meet(node, 0, value)? && one.meet(0, node, -value)? {
                    next.push(one);
                }
            }
        }
        list = next;
    }
    let place = |n: usize| if n == 0 { 0 } else { domain.data[n - 1] + 1 };
    let mut out = Vec::new();
    for mut region in list {
        let mut alive = true;
        for l in state.region.inequalities() {
            alive = alive && region.meet_linear(&l.renamed(place)?)?;
        }
        if alive {
            out.push(region);
        }
    }
    Ok(out)
}
