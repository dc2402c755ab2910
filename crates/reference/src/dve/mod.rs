//! A second opinion on DVE: an interpreter that walks the syntax tree, and random systems.
//!
//! It shares the syntax tree with the engine and nothing else. Everything is looked up by name, states are vectors of
//! numbers, and runs of a property process are decided on the whole product graph.

mod generate;
mod interpret;
mod product;

pub use generate::{generate, mistakes, shrink};
pub use interpret::{Interpreter, State, Step};
pub use product::accepts;

use std::collections::HashMap;

use quotient_dve::ast::System;

/// What is known of a system after looking at all of its states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Reachable states.
    pub states: usize,
    /// Steps between them; what a fault ends is not one.
    pub transitions: usize,
    /// Some state has no step at all, faults included.
    pub deadlock: bool,
    /// Some step or guard has no value.
    pub fault: bool,
    /// An assertion does not hold in some state.
    pub assertion: bool,
}

/// Everything there is, by breadth-first search; `None` if there are more states than that.
pub fn explore(system: &System, most: usize) -> Option<Summary> {
    let interpreter = Interpreter::new(system);
    let mut summary = Summary::default();
    let mut states = vec![interpreter.initial()];
    let mut known: HashMap<State, usize> = states.iter().cloned().map(|s| (s, 0)).collect();
    let mut next = 0;
    while next < states.len() {
        let state = states[next].clone();
        next += 1;
        summary.assertion |= interpreter.violates(&state);
        let steps = interpreter.steps(&state);
        summary.deadlock |= steps.is_empty();
        for step in steps {
            let Step::To(to) = step else {
                summary.fault = true;
                continue;
            };
            summary.transitions += 1;
            if !known.contains_key(&to) {
                if states.len() == most {
                    return None;
                }
                known.insert(to.clone(), states.len());
                states.push(to);
            }
        }
    }
    summary.states = states.len();
    Some(summary)
}
