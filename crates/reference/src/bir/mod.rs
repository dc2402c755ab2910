//! A second opinion on BIR: a slow interpreter of syntax trees with plain values as states.
//!
//! It shares nothing with the engine but the syntax tree, and follows the meaning stated in `docs/bir.md`. [`explore`]
//! enumerates all reachable states with raw numbers of objects and threads, and counts them three times: as they are,
//! up to renaming of objects, and up to renaming of objects and threads (orbits, by trying all permutations).
//!
//! The tree must be free of mistakes (checked by `quotient_bir::lower`); what is wrong nevertheless ends in an `Err`.

mod canonical;
mod code;
mod collection;
mod eval;
pub mod generate;
mod run;
mod state;
mod table;

use std::collections::{BTreeSet, HashSet, VecDeque};

use quotient_bir::ast::System;

use run::Runner;
use state::State;
use table::Table;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// States as they are.
    pub raw: usize,
    /// States up to renaming of objects.
    pub heap: usize,
    /// States up to renaming of objects and threads.
    pub orbits: usize,
    /// Steps between raw states.
    pub transitions: usize,
    /// What goes wrong: `deadlock`, `assertion`, or the kind of a fault.
    pub violations: BTreeSet<String>,
    /// All states were seen.
    pub complete: bool,
}

/// How much is explored.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Most raw states.
    pub states: usize,
    /// New values of constants.
    pub constants: Vec<(String, i32)>,
    /// Count orbits too (the number of permutations is the factorial of the number of threads).
    pub orbits: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { states: 20_000, constants: Vec::new(), orbits: true }
    }
}

/// Enumerates the states of a system.
pub fn explore(system: &System, limits: &Limits) -> Result<Outcome, String> {
    let table = Table::new(system, &limits.constants)?;
    let runner = Runner::new(&table);
    let mut outcome = Outcome { complete: true, ..Outcome::default() };
    let first = runner.initial()?;
    let mut seen: HashSet<State> = HashSet::new();
    let (mut heap, mut orbits) = (HashSet::new(), HashSet::new());
    let mut frontier = VecDeque::from([first.clone()]);
    seen.insert(first);
    while let Some(state) = frontier.pop_front() {
        heap.insert(canonical::heap(&state));
        if limits.orbits {
            orbits.insert(canonical::orbit(&state));
        }
        let next = runner.successors(&state)?;
        outcome.violations.extend(next.violations.iter().map(|v| (*v).to_owned()));
        let stuck = next.states.is_empty() && next.violations.is_empty() && !next.cut;
        if stuck && state.threads.iter().flatten().any(|t| !t.frames.is_empty()) {
            outcome.violations.insert("deadlock".into());
        }
        outcome.transitions += next.states.len();
        for state in next.states {
            if seen.contains(&state) {
                continue;
            }
            if seen.len() >= limits.states {
                outcome.complete = false;
                continue;
            }
            seen.insert(state.clone());
            frontier.push_back(state);
        }
    }
    (outcome.raw, outcome.heap, outcome.orbits) = (seen.len(), heap.len(), orbits.len());
    Ok(outcome)
}
