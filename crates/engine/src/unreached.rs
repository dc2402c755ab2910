//! Statements that no process ever executed.

use std::collections::HashSet;

use quotient_machine::Machine;
use quotient_program::{Function, Location, Operation};
use quotient_source::Span;

use crate::Model;

/// A statement that was never executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// The proctype.
    pub process: String,
    /// Where, as `file:line`.
    pub at: String,
    /// The statement.
    pub statement: String,
}

/// Statements that no process executed in a search that has explored everything. `exchanged`: lists of functions and locations that
/// representatives exchanged; where one of them was left, something at each of the others may have been executed.
pub(crate) fn unreached(machine: &Machine, model: &Model, exchanged: &[Vec<(u32, u32)>]) -> Vec<Unreached> {
    let maybe = may_have_been_left(machine, exchanged);
    let mut number = 0;
    // A statement can be several transformations (copied into choices): it is reached when one of them is.
    let mut reached: HashSet<Span> = HashSet::new();
    let mut all: Vec<(&Function, Span, &str)> = Vec::new();
    for (index, function) in machine.program().functions.iter().enumerate() {
        let mut arrived = vec![false; function.locations.len()];
        arrived[function.entry.0 as usize] = true;
        let all_of = |(at, l): (usize, &'_ Location)| -> Vec<(usize, usize)> {
            (0..l.transformations.len()).map(|which| (at, which)).collect()
        };
        for (at, which) in function.locations.iter().enumerate().flat_map(all_of) {
            let t = &function.locations[at].transformations[which];
            if machine.taken(number) || maybe.contains(&(index as u32, at as u32)) {
                reached.insert(model.sources.written(t.span));
                if let Some(target) = t.target {
                    arrived[target.0 as usize] = true;
                }
            }
            all.push((function, model.sources.written(t.span), &t.text));
            number += 1;
        }
        // Ends that nobody notices were taken out of the program: they are reached where the process arrives.
        let written = model.program.functions.get(index).map_or(&[][..], |f| &f.locations);
        for ((location, written), arrived) in function.locations.iter().zip(written).zip(arrived) {
            for t in &written.transformations {
                if location.transformations.is_empty() && matches!(t.operation, Operation::Exit) {
                    if arrived {
                        reached.insert(model.sources.written(t.span));
                    }
                    all.push((function, model.sources.written(t.span), &t.text));
                }
            }
        }
    }
    for (function, span, text) in &machine.program().dead {
        let function = &machine.program().functions[function.0 as usize];
        all.push((function, model.sources.written(*span), text));
    }
    // A process that goes round for ever is not missing its end.
    let endless: HashSet<Span> = model
        .program
        .functions
        .iter()
        .flat_map(|f| f.locations.iter().zip(can_be_reached(f)))
        .filter(|(_, reachable)| !reachable)
        .flat_map(|(l, _)| &l.transformations)
        .filter(|t| matches!(t.operation, Operation::Exit))
        .map(|t| model.sources.written(t.span))
        .collect();
    let mut out: Vec<Unreached> = Vec::new();
    let mut seen = HashSet::new();
    for (function, span, text) in all {
        if !reached.contains(&span) && !endless.contains(&span) && seen.insert(span) {
            let name = if function.name == ":init:" { "init" } else { &function.name };
            let ends = text == "-end-";
            out.push(Unreached {
                process: name.into(),
                at: model.sources.file_line(span),
                statement: if ends { "the end of the process".into() } else { text.to_owned() },
            });
        }
    }
    out
}

/// The locations that were exchanged with one that somebody left.
fn may_have_been_left(machine: &Machine, exchanged: &[Vec<(u32, u32)>]) -> HashSet<(u32, u32)> {
    let mut left = HashSet::new();
    let mut number = 0;
    for (index, function) in machine.program().functions.iter().enumerate() {
        for (at, location) in function.locations.iter().enumerate() {
            for _ in &location.transformations {
                if machine.taken(number) {
                    left.insert((index as u32, at as u32));
                }
                number += 1;
            }
        }
    }
    let met = exchanged.iter().filter(|alike| alike.iter().any(|l| left.contains(l)));
    met.flatten().copied().collect()
}

/// Which locations some way through the function leads to.
fn can_be_reached(function: &Function) -> Vec<bool> {
    let mut reachable = vec![false; function.locations.len()];
    let mut open = vec![function.entry];
    open.extend(function.catches.iter().map(|c| c.target));
    while let Some(location) = open.pop() {
        if !std::mem::replace(&mut reachable[location.0 as usize], true) {
            let ways = &function.locations[location.0 as usize].transformations;
            open.extend(ways.iter().filter_map(|t| t.target));
        }
    }
    reachable
}
