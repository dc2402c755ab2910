//! Statements that no process ever executed.

use std::collections::{HashMap, HashSet};

use quotient_machine::Machine;
use quotient_program::Function;
use quotient_source::Span;

use crate::Model;
use crate::apart::Doubt;

/// A statement that was never executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// The proctype.
    pub process: String,
    /// Where, as `file:line`.
    pub at: String,
    /// The statement.
    pub statement: String,
    /// Where it is written.
    pub(crate) span: Span,
}

/// Statements that no process executed in a search that has explored everything. `exchanged`: transformations that representatives
/// exchanged; where one of them was taken, each of them may have been, if a process can have arrived there, and none of them surely was.
pub(crate) fn unreached(
    machine: &Machine,
    model: &Model,
    exchanged: &[Vec<usize>],
    doubt: Doubt,
) -> Vec<Unreached> {
    let taken = exchanged.iter().filter(|alike| alike.iter().any(|number| machine.taken(*number) > 0));
    let maybe: HashSet<usize> = taken.flatten().copied().collect();
    let follow = doubt == Doubt::Executed;
    let mut number = 0;
    // A statement can be several transformations (copied into choices): it is reached when one of them is.
    let mut reached: HashSet<Span> = HashSet::new();
    let mut all: Vec<(&Function, Span, &str)> = Vec::new();
    for (index, function) in machine.program().functions.iter().enumerate() {
        // How each was taken, by location.
        let mut executed = Vec::with_capacity(function.locations.len());
        for location in &function.locations {
            let numbers = number..number + location.transformations.len();
            number = numbers.end;
            let how = |n| {
                let known = !maybe.contains(&n);
                Executed { surely: known && machine.taken(n) > 0, maybe: follow && !known }
            };
            executed.push(numbers.map(how).collect::<Vec<_>>());
        }
        let arrived = arrived(function, &executed);
        for ((location, executed), arrived) in function.locations.iter().zip(&executed).zip(&arrived) {
            for (t, executed) in location.transformations.iter().zip(executed) {
                let span = model.sources.written(t.span);
                if executed.surely || *arrived && executed.maybe {
                    reached.insert(span);
                }
                all.push((function, span, &t.text));
            }
        }
        // Ends that nobody notices were taken out of the program: they are reached where the process arrives.
        let written = model.program.functions.get(index).map_or(&[][..], |f| &f.locations);
        for ((location, written), arrived) in function.locations.iter().zip(written).zip(arrived) {
            for t in &written.transformations {
                if location.transformations.is_empty() && t.is_end() {
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
    // The ends of processes, and whether the control flow leads there. A process that goes round for ever is not missing its end.
    let mut ends: HashMap<Span, bool> = HashMap::new();
    let functions = model.program.functions.iter();
    for (location, reachable) in functions.flat_map(|f| f.locations.iter().zip(can_be_reached(f))) {
        for t in location.transformations.iter().filter(|t| t.is_end()) {
            *ends.entry(model.sources.written(t.span)).or_insert(true) &= reachable;
        }
    }
    let mut out: Vec<Unreached> = Vec::new();
    let mut seen = HashSet::new();
    for (function, span, text) in all {
        let end = ends.get(&span);
        if !reached.contains(&span) && end != Some(&false) && seen.insert(span) {
            let name = if function.name == ":init:" { "init" } else { &function.name };
            out.push(Unreached {
                process: name.into(),
                at: model.sources.file_line(span),
                span,
                statement: if end.is_some() { "the end of the process".into() } else { text.to_owned() },
            });
        }
    }
    out
}

/// Whether a transformation was executed.
struct Executed {
    surely: bool,
    /// One that takes its place was.
    maybe: bool,
}

/// Which locations a process may have arrived at, by what was executed.
fn arrived(function: &Function, executed: &[Vec<Executed>]) -> Vec<bool> {
    let mut arrived = vec![false; function.locations.len()];
    let mut open = vec![function.entry];
    open.extend(function.catches.iter().map(|c| c.target));
    for (location, executed) in function.locations.iter().zip(executed) {
        let surely = location.transformations.iter().zip(executed).filter(|(_, e)| e.surely);
        open.extend(surely.filter_map(|(t, _)| t.target));
    }
    while let Some(location) = open.pop() {
        let at = location.0 as usize;
        if !std::mem::replace(&mut arrived[at], true) {
            let maybe =
                function.locations[at].transformations.iter().zip(&executed[at]).filter(|(_, e)| e.maybe);
            open.extend(maybe.filter_map(|(t, _)| t.target));
        }
    }
    arrived
}

/// How often a search executed the statements of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The line, as `file:line`.
    pub at: String,
    /// How often; steps of the search, each merged one as often as it was made.
    pub times: u64,
}

/// How often the statements of each line were executed, by the order of the program. Of a line with several statements, the one that was executed most.
/// Those `missing` were not, even if something that takes their place was.
pub(crate) fn covered(machine: &Machine, model: &Model, missing: &[Unreached]) -> Vec<Covered> {
    let missing: HashSet<Span> = missing.iter().map(|statement| statement.span).collect();
    let mut lines: Vec<Covered> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    // A statement can be several transformations (copied into choices): together they are what was executed.
    let mut times: HashMap<Span, u64> = HashMap::new();
    let mut spans = Vec::new();
    let functions = machine.program().functions.iter();
    let all = functions.flat_map(|f| &f.locations).flat_map(|l| &l.transformations);
    for (number, t) in all.enumerate() {
        let span = model.sources.written(t.span);
        let known = times.entry(span).or_insert_with(|| {
            spans.push(span);
            0
        });
        *known += if missing.contains(&span) { 0 } else { machine.taken(number) };
    }
    for span in spans {
        let (at, times) = (model.sources.file_line(span), times[&span]);
        match known.get(&at) {
            Some(line) => lines[*line].times = lines[*line].times.max(times),
            None => {
                known.insert(at.clone(), lines.len());
                lines.push(Covered { at, times });
            }
        }
    }
    lines
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
