//! Runs of a property process.

use std::collections::HashMap;

use quotient_dve::ast::{Process, System};

use super::interpret::{Interpreter, State, Step};

/// Does the property process accept some run? It moves before each step of the others, and alone where they cannot move.
/// `None` if there are more states than that, or a fault.
pub fn accepts(system: &System, most: usize) -> Option<bool> {
    let name = &system.property.as_ref()?.text;
    let property = system.processes.iter().find(|p| p.name.text == *name)?;
    let interpreter = Interpreter::new(system);
    let start =
        property.states.iter().position(|s| property.init.as_ref().is_some_and(|i| i.text == s.text))?;
    let mut nodes = vec![(start, interpreter.initial())];
    let mut known: HashMap<(usize, State), usize> = nodes.iter().cloned().map(|n| (n, 0)).collect();
    let mut edges: Vec<Vec<usize>> = Vec::new();
    while edges.len() < nodes.len() {
        let (at, state) = nodes[edges.len()].clone();
        let mut next = Vec::new();
        for step in interpreter.steps(&state) {
            match step {
                Step::To(to) => next.push(to),
                Step::Fault => return None,
            }
        }
        if next.is_empty() {
            next.push(state.clone());
        }
        let mut out = Vec::new();
        for to in moves(property, at, &interpreter, &state)? {
            for state in &next {
                let node = (to, state.clone());
                let number = *known.entry(node.clone()).or_insert_with(|| {
                    nodes.push(node);
                    nodes.len() - 1
                });
                out.push(number);
            }
        }
        if nodes.len() > most {
            return None;
        }
        edges.push(out);
    }
    let accepting = |n: usize| {
        let state = &property.states[nodes[n].0].text;
        property.accept.iter().any(|a| a.text == *state)
    };
    Some((0..nodes.len()).any(|n| accepting(n) && returns(n, &edges)))
}

/// Where the property process can go; `None` for a fault.
fn moves(property: &Process, at: usize, interpreter: &Interpreter<'_>, state: &State) -> Option<Vec<usize>> {
    let mut out = Vec::new();
    for t in property.transitions.iter().filter(|t| t.from.text == property.states[at].text) {
        let holds = t.guard.as_ref().map_or(Ok(1), |e| interpreter.eval(e, -1, state)).ok()?;
        if holds != 0 {
            out.extend(property.states.iter().position(|s| s.text == t.to.text));
        }
    }
    Some(out)
}

/// Does a way lead back?
fn returns(node: usize, edges: &[Vec<usize>]) -> bool {
    let mut seen = vec![false; edges.len()];
    let mut waiting = edges[node].clone();
    while let Some(n) = waiting.pop() {
        if n == node {
            return true;
        }
        if !std::mem::replace(&mut seen[n], true) {
            waiting.extend(&edges[n]);
        }
    }
    false
}
