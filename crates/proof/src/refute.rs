//! Refutation: a claim is called false only with a concrete trace in hand.
//!
//! A safety claim is refuted by a derivation of a state that violates it. A relative claim is
//! refuted by a derivation of a left state whose partners are all unreachable, which is known when
//! the explored states are all there are, or when a safety proof (without any assertions) says so.

use crate::constraint::{Overflow, Region};
use crate::domain::{Domain, Place, State};
use crate::explicit::{Reachable, TraceStep};
use crate::limits::{Limits, Progress};
use crate::program::{Assertion, Program, Right, Tree};
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

/// Refutes a relative claim by the explored states.
pub fn refute_relative(
    program: &Program,
    domain: &Domain,
    assertion: &Assertion,
    reachable: &Reachable,
    tries: usize,
    limits: &Limits,
) -> Result<Option<Refutation>, Overflow> {
    let Right::State(tree) = &assertion.right else { return Ok(None) };
    let k = program.width();
    let prover = Prover::new(program, domain, Vec::new(), &[]);
    let mut tried = 0;
    for (number, state) in reachable.states.iter().enumerate() {
        let progress = Progress { doing: "looking for a counterexample", goals: number, stored: 0 };
        if limits.reached(progress).is_some() {
            return Ok(None);
        }
        for left in expand(&assertion.left, fixed(state, assertion.nodes)?, &|n| n)? {
            // One choice of the universal variables; the claim must hold for it.
            let Some(point) = left.solution()? else { continue };
            let mut chosen = Region::universe(assertion.nodes);
            for node in (1..=k).chain(2 * k + 1..assertion.universal) {
                chosen.meet(node, 0, point[node])?;
                chosen.meet(0, node, -point[node])?;
            }
            let source: Vec<usize> = std::iter::once(0).chain(k + 1..=2 * k).collect();
            let partners = expand(tree, chosen, &|n| n)?;
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
                Some(points) => points.iter().any(|p| reachable.index.contains_key(p)),
                None => reachable.states.iter().any(inside),
            };
            if met || !exact {
                continue;
            }
            let right = match &single {
                Some(points) if points.len() == 1 => program.show(&points[0]),
                _ => "every right state".to_string(),
            };
            if reachable.complete {
                let reason = format!(
                    "{} is reachable, {right} is not: all {} reachable states were explored",
                    program.show(state),
                    reachable.states.len()
                );
                return Ok(Some(Refutation { trace: reachable.trace(number), reason }));
            }
            tried += 1;
            if tried > tries {
                return Ok(None);
            }
            let bad = targets.iter().map(|t| as_state(domain, t)).collect::<Result<Vec<_>, _>>()?;
            let options = SafetyOptions {
                max_stored: 20_000,
                max_time: std::time::Duration::from_secs(2),
                limits: limits.clone(),
                ..SafetyOptions::default()
            };
            let bad: Vec<State> = bad.into_iter().flatten().collect();
            if let Ok(proof) = prover.unreachable(&bad, &options) {
                let reason = format!(
                    "{} is reachable, {right} is not: unfolding it backwards gives {} sets of states, none initial",
                    program.show(state),
                    proof.table.stored
                );
                return Ok(Some(Refutation { trace: reachable.trace(number), reason }));
            }
        }
    }
    Ok(None)
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
            let mut met = None;
            fact.unfold(domain, &nodes[at].0, &mut |s, _| met = met.take().or(Some(s)))?;
            if let Some(start) = met
                && let Some(trace) = concretise(program, domain, &nodes, at, fact.rule, &start)?
            {
                return Ok(Some(trace));
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

/// Some point of a set of states.
fn point(domain: &Domain, state: &State) -> Result<Option<Vec<i64>>, Overflow> {
    let Some(data) = state.region.solution()? else { return Ok(None) };
    Ok(Some(
        domain
            .places
            .iter()
            .map(|place| match place {
                Place::Set(f) => domain.finite[*f].values[state.sets[*f].trailing_zeros() as usize],
                Place::Node(n) => data[*n],
            })
            .collect(),
    ))
}

fn concretise(
    program: &Program,
    domain: &Domain,
    nodes: &[(State, Option<usize>, usize)],
    at: usize,
    fact: usize,
    start: &State,
) -> Result<Option<Vec<TraceStep>>, Overflow> {
    let k = program.width();
    let Some(mut state) = point(domain, start)? else { return Ok(None) };
    let mut trace = vec![TraceStep { rule: fact, state: state.clone() }];
    let mut at = at;
    while let Some(next) = nodes[at].1 {
        let rule = &program.rules[nodes[at].2];
        let mut region = Region::universe(rule.nodes);
        for (column, &value) in state.iter().enumerate() {
            let node = if rule.unchanged[column] { column + 1 } else { k + column + 1 };
            region.meet(node, 0, value)?;
            region.meet(0, node, -value)?;
        }
        let mut after = None;
        'search: for region in expand(&rule.guard, region, &|n| n)? {
            for choice in inside(domain, &nodes[next].0, region)? {
                if let Some(values) = choice.solution()? {
                    after = Some(values[1..=k].to_vec());
                    break 'search;
                }
            }
        }
        let Some(values) = after else { return Ok(None) };
        state = values;
        trace.push(TraceStep { rule: nodes[at].2, state: state.clone() });
        at = next;
    }
    Ok(Some(trace))
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
