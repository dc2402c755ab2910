//! One acceptance condition instead of several.
//!
//! A state of the Büchi automaton is a state of the generalised one with a level: how many acceptance sets, in order, have
//! been seen since the last time all were. An edge advances the level over all consecutive sets it is in (Gastin and
//! Oddoux, section 5). Levels only matter inside a strongly connected component that meets every acceptance set: elsewhere
//! the level stays 0.

use std::collections::HashMap;

use crate::alternating::{Generalised, GeneralisedEdge};
use crate::buchi::components;
use crate::{Buchi, Edge, State, TranslateError};

/// Bound on the result.
const MOST_STATES: usize = 10_000;

/// Merges states with the same edges, as long as there are any.
fn merge_equal(automaton: &mut Generalised) {
    loop {
        let mut first: HashMap<Vec<GeneralisedEdge>, usize> = HashMap::new();
        let mut stands_for: Vec<usize> = Vec::new();
        for (number, edges) in automaton.states.iter_mut().enumerate() {
            edges.sort_unstable();
            edges.dedup();
            stands_for.push(*first.entry(edges.clone()).or_insert(number));
        }
        if stands_for.iter().enumerate().all(|(number, other)| number == *other) {
            return;
        }
        for edges in &mut automaton.states {
            edges.iter_mut().for_each(|e| e.target = stands_for[e.target]);
        }
        automaton.initial.iter_mut().for_each(|s| *s = stands_for[*s]);
        for (number, other) in stands_for.iter().enumerate() {
            if number != *other {
                automaton.states[number].clear();
            }
        }
        // The emptied states are unreachable now; make them differ from nothing by giving up when only they are equal.
        let live = reachable(automaton);
        let again = stands_for.iter().enumerate().any(|(number, other)| number != *other && live[number]);
        if !again && !has_equal(automaton, &live) {
            return;
        }
    }
}

fn has_equal(automaton: &Generalised, live: &[bool]) -> bool {
    let mut seen = std::collections::HashSet::new();
    automaton.states.iter().zip(live).any(|(edges, live)| *live && !seen.insert(edges))
}

fn reachable(automaton: &Generalised) -> Vec<bool> {
    let mut seen = vec![false; automaton.states.len()];
    let mut open = automaton.initial.clone();
    while let Some(state) = open.pop() {
        if !std::mem::replace(&mut seen[state], true) {
            open.extend(automaton.states[state].iter().map(|e| e.target));
        }
    }
    seen
}

/// The Büchi automaton of a generalised one.
pub(crate) fn degeneralise(generalised: &Generalised) -> Result<Buchi, TranslateError> {
    let mut g = generalised.clone();
    merge_equal(&mut g);
    let all: u128 = if g.sets == 128 { u128::MAX } else { (1 << g.sets) - 1 };
    let component = components(g.states.len(), |s| g.states[s].iter().map(|e| e.target).collect());
    // The acceptance sets met inside each component.
    let mut met = vec![0u128; g.states.len()];
    let mut cyclic = vec![false; g.states.len()];
    for (s, edges) in g.states.iter().enumerate() {
        for e in edges.iter().filter(|e| component[e.target] == component[s]) {
            met[component[s]] |= e.accepting;
            cyclic[component[s]] = true;
        }
    }
    let counts = |s: usize| cyclic[component[s]] && met[component[s]] & all == all;

    let top = g.sets;
    let mut numbers: HashMap<(usize, u32), usize> = HashMap::new();
    let mut open: Vec<(usize, u32)> = Vec::new();
    // A first state of its own: it has the edges of all initial ones.
    let mut states = vec![State::default()];
    let mut number = |key: (usize, u32), open: &mut Vec<(usize, u32)>| {
        *numbers.entry(key).or_insert_with(|| {
            open.push(key);
            open.len()
        })
    };
    let follow = |(state, level): (usize, u32), e: &GeneralisedEdge| {
        if component[state] != component[e.target] || !counts(state) {
            return (e.target, 0);
        }
        let mut level = if level == top { 0 } else { level };
        while level < top && e.accepting >> level & 1 == 1 {
            level += 1;
        }
        (e.target, level)
    };
    let mut edges_from = |keys: &[(usize, u32)], open: &mut Vec<(usize, u32)>| {
        let mut edges = Vec::new();
        for key in keys {
            for e in &g.states[key.0] {
                edges.push(Edge { label: e.label, target: number(follow(*key, e), open) });
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    };
    let initial: Vec<(usize, u32)> = g.initial.iter().map(|s| (*s, 0)).collect();
    states[0].edges = edges_from(&initial, &mut open);
    while states.len() <= open.len() {
        let key = open[states.len() - 1];
        let edges = edges_from(&[key], &mut open);
        states.push(State { accepting: key.1 == top && counts(key.0), edges });
        if states.len() > MOST_STATES {
            return Err(TranslateError::TooLarge);
        }
    }
    Ok(Buchi { states, initial: 0 })
}
