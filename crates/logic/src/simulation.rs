//! Büchi automata made smaller.
//!
//! Direct simulation (Etessami and Holzmann 2000; Somenzi and Bloem 2000): `q` is simulated by `p` when `p` is accepting
//! wherever `q` is and every edge of `q` can be followed by `p` on a weaker label to a state that simulates its target.
//! States that simulate each other are one; an edge next to a better one is left out. Before, states from which nothing is
//! accepted are removed, and the marks that make no difference are set so that more states look alike: outside of accepting
//! cycles, and in components all of whose cycles are accepting anyway. As both choices (all marked, none marked) are right,
//! all combinations are tried, from the smallest result so far, until none makes it smaller.

use crate::buchi::components;
use crate::{Buchi, Edge, State};

/// States beyond which the quadratic part is not tried.
const MOST_STATES: usize = 600;

/// An equivalent automaton, usually smaller.
pub(crate) fn reduce(automaton: Buchi) -> Buchi {
    let size = |b: &Buchi| (b.states.len(), b.edges());
    let mut best = trim(&automaton);
    loop {
        let before = size(&best);
        for choice in 0..4 {
            let free = Free { transient: choice & 1 == 1, weak: choice & 2 == 2 };
            let reduced = fixpoint(best.clone(), free);
            if size(&reduced) < size(&best) {
                best = reduced;
            }
        }
        if size(&best) == before {
            return minimal_marks(best);
        }
    }
}

/// How the marks that make no difference are set.
#[derive(Clone, Copy)]
struct Free {
    /// Those outside of cycles.
    transient: bool,
    /// All, in components where every cycle is accepting.
    weak: bool,
}

fn fixpoint(mut automaton: Buchi, free: Free) -> Buchi {
    loop {
        let before = (automaton.states.len(), automaton.edges());
        mark(&mut automaton, free);
        automaton = trim(&forward(automaton));
        mark(&mut automaton, free);
        automaton = trim(&backward(automaton));
        if (automaton.states.len(), automaton.edges()) == before {
            return automaton;
        }
    }
}

/// Removes states that are not reachable or from which nothing is accepted, and edges with a stronger label to the same
/// state.
fn trim(automaton: &Buchi) -> Buchi {
    let n = automaton.states.len();
    let (component, cyclic) = automaton.components();
    let mut useful = vec![false; n];
    for (s, state) in automaton.states.iter().enumerate() {
        useful[component[s]] |= state.accepting && cyclic[component[s]];
    }
    // Edges lead to components with equal or smaller numbers.
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_unstable_by_key(|s| component[*s]);
    for s in order {
        let leads = automaton.states[s].edges.iter().any(|e| useful[component[e.target]]);
        useful[component[s]] |= leads;
    }
    if !useful[component[automaton.initial]] {
        return Buchi::empty();
    }
    let mut keep = vec![false; n];
    let mut open = vec![automaton.initial];
    while let Some(s) = open.pop() {
        if useful[component[s]] && !std::mem::replace(&mut keep[s], true) {
            open.extend(automaton.states[s].edges.iter().map(|e| e.target));
        }
    }
    let mut trimmed = automaton.restricted(&keep);
    for state in &mut trimmed.states {
        let edges = state.edges.clone();
        let weaker = |e: &Edge| {
            edges.iter().any(|o| o.target == e.target && o.label != e.label && e.label.implies(o.label))
        };
        state.edges.retain(|e| !weaker(e));
        state.edges.sort_unstable();
        state.edges.dedup();
        merge_complementary(&mut state.edges);
    }
    trimmed
}

/// Two edges to the same state whose labels differ in the sign of one proposition are one without it.
fn merge_complementary(edges: &mut Vec<Edge>) {
    loop {
        let mut found = None;
        'pairs: for i in 0..edges.len() {
            for j in i + 1..edges.len() {
                let (a, b) = (edges[i], edges[j]);
                if a.target != b.target {
                    continue;
                }
                let flipped = (a.label.must & b.label.must_not) | (a.label.must_not & b.label.must);
                let same = a.label.must & !flipped == b.label.must & !flipped
                    && a.label.must_not & !flipped == b.label.must_not & !flipped;
                if flipped.count_ones() == 1 && same {
                    found = Some((i, j, flipped));
                    break 'pairs;
                }
            }
        }
        let Some((i, j, flipped)) = found else { return };
        edges[i].label.must &= !flipped;
        edges[i].label.must_not &= !flipped;
        edges.remove(j);
        let wider = edges[i.min(edges.len() - 1)];
        edges.retain(|e| *e == wider || e.target != wider.target || !e.label.implies(wider.label));
    }
}

/// Sets the marks that make no difference.
fn mark(automaton: &mut Buchi, free: Free) {
    let (component, cyclic) = automaton.components();
    let accepting_only = accepting_only(automaton, &component);
    let has_accepting = accepting_components(automaton, &component);
    for (state, &c) in automaton.states.iter_mut().zip(&component) {
        if !cyclic[c] {
            state.accepting = free.transient;
        } else if has_accepting[c] && accepting_only[c] && free.weak {
            state.accepting = true;
        }
    }
}

fn accepting_components(automaton: &Buchi, component: &[usize]) -> Vec<bool> {
    let mut has = vec![false; automaton.states.len()];
    for (s, state) in automaton.states.iter().enumerate() {
        has[component[s]] |= state.accepting;
    }
    has
}

/// Components without a cycle through unmarked states alone.
fn accepting_only(automaton: &Buchi, component: &[usize]) -> Vec<bool> {
    let unmarked = |s: usize| !automaton.states[s].accepting;
    let inside = components(automaton.states.len(), |s| {
        let edges = automaton.states[s].edges.iter().map(|e| e.target);
        edges.filter(|t| unmarked(s) && unmarked(*t) && component[*t] == component[s]).collect()
    });
    let mut only = vec![true; automaton.states.len()];
    for s in (0..automaton.states.len()).filter(|s| unmarked(*s)) {
        for e in automaton.states[s].edges.iter().filter(|e| unmarked(e.target)) {
            if component[e.target] == component[s] && inside[e.target] == inside[s] {
                only[component[s]] = false;
            }
        }
    }
    only
}

/// The greatest relation within `below` for whose pairs `follows` holds, given the relation: `below[q][p]` says that `p` can do whatever
/// `q` can. A state is below itself, whatever `follows` says.
pub(crate) fn greatest(below: &mut [Vec<bool>], follows: impl Fn(&[Vec<bool>], usize, usize) -> bool) {
    let n = below.len();
    let mut changed = true;
    while changed {
        changed = false;
        for q in 0..n {
            for p in 0..n {
                if q != p && below[q][p] && !follows(below, q, p) {
                    below[q][p] = false;
                    changed = true;
                }
            }
        }
    }
}

/// For each state the first one that it is below, and that is below it.
pub(crate) fn classes(below: &[Vec<bool>]) -> Vec<usize> {
    let n = below.len();
    (0..n).map(|q| (0..n).find(|p| below[q][*p] && below[*p][q]).unwrap_or(q)).collect()
}

/// Is there for every edge of `these` one of `those` on a weaker label to or from a state above?
fn followed(these: &[Edge], those: &[Edge], below: &[Vec<bool>]) -> bool {
    these.iter().all(|e| those.iter().any(|f| e.label.implies(f.label) && below[e.target][f.target]))
}

/// `below[q][p]`: `q` is simulated by `p`.
fn simulation(automaton: &Buchi) -> Vec<Vec<bool>> {
    let n = automaton.states.len();
    let states = &automaton.states;
    let mut below: Vec<Vec<bool>> =
        (0..n).map(|q| (0..n).map(|p| !states[q].accepting || states[p].accepting).collect()).collect();
    greatest(&mut below, |below, q, p| followed(&states[q].edges, &states[p].edges, below));
    below
}

/// Merges states that simulate each other; removes edges next to better ones.
fn forward(automaton: Buchi) -> Buchi {
    let n = automaton.states.len();
    if n > MOST_STATES {
        return automaton;
    }
    let below = simulation(&automaton);
    let class = classes(&below);
    let mut result = automaton.clone();
    for (q, state) in result.states.iter_mut().enumerate() {
        let mut edges: Vec<Edge> =
            automaton.states[q].edges.iter().map(|e| Edge { target: class[e.target], ..*e }).collect();
        edges.sort_unstable();
        edges.dedup();
        // Of two edges as good as each other, the first stays.
        let better = |a: usize, b: usize| {
            let (x, y) = (edges[a], edges[b]);
            let covered = x.label.implies(y.label) && below[x.target][y.target];
            let covers = y.label.implies(x.label) && below[y.target][x.target];
            covered && (!covers || b < a)
        };
        let keep: Vec<bool> =
            (0..edges.len()).map(|a| !(0..edges.len()).any(|b| a != b && better(a, b))).collect();
        let kept = edges.iter().zip(keep).filter(|(_, k)| *k).map(|(e, _)| *e);
        state.edges = kept.collect();
    }
    result.initial = class[automaton.initial];
    result
}

/// The same backwards: states that are reached in the same ways are one. `q` is below `p` when `p` is initial or accepting
/// wherever `q` is and for every edge into `q` there is one into `p` on a weaker label from a state above its source.
/// Merging states that are below each other keeps the language; the edges of both stay.
fn backward(automaton: Buchi) -> Buchi {
    let n = automaton.states.len();
    if n > MOST_STATES {
        return automaton;
    }
    let mut into: Vec<Vec<Edge>> = vec![Vec::new(); n];
    for (s, state) in automaton.states.iter().enumerate() {
        for e in &state.edges {
            into[e.target].push(Edge { label: e.label, target: s });
        }
    }
    let states = &automaton.states;
    let mut below: Vec<Vec<bool>> = (0..n)
        .map(|q| {
            let fits = |p: usize| {
                (!states[q].accepting || states[p].accepting)
                    && (q != automaton.initial || p == automaton.initial)
            };
            (0..n).map(fits).collect()
        })
        .collect();
    greatest(&mut below, |below, q, p| followed(&into[q], &into[p], below));
    let class = classes(&below);
    let mut result = Buchi { states: vec![State::default(); n], initial: class[automaton.initial] };
    for (q, state) in automaton.states.iter().enumerate() {
        let merged = &mut result.states[class[q]];
        merged.accepting |= state.accepting;
        merged.edges.extend(state.edges.iter().map(|e| Edge { target: class[e.target], ..*e }));
    }
    for state in &mut result.states {
        state.edges.sort_unstable();
        state.edges.dedup();
    }
    result
}

/// Unmarks states outside of accepting cycles, so that the result does not depend on the choice that won.
fn minimal_marks(mut automaton: Buchi) -> Buchi {
    let (component, cyclic) = automaton.components();
    for s in 0..automaton.states.len() {
        automaton.states[s].accepting &= cyclic[component[s]];
    }
    automaton
}
