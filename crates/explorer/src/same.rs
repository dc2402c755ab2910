//! States that a run comes to again: the same state as after an earlier step, or one that is the same up to the names of the processes.

use std::collections::{BTreeMap, HashMap};

use quotient_explain::{Course, possible};
use quotient_machine::Machine;
use quotient_seams::Interrupt;

use crate::api;
use crate::class::Classes;
use crate::next::goes_wrong;

/// The longest run in which repeated states are looked for.
pub(crate) const LONGEST_RUN: usize = 2_000;

/// The states of a run, from its start to the step `last`, each found from the one before. The state in which a run goes wrong may be one
/// within a step, and is left out.
pub(crate) fn states(machine: &mut Machine, course: &Course, last: usize) -> Vec<Vec<u64>> {
    let last = if goes_wrong(course, last) { last.saturating_sub(1) } else { last };
    let mut out = vec![course.state(machine, 0).0];
    for way in &course.moves[..last.min(course.len())] {
        let found = possible(machine, &out[out.len() - 1]).into_iter().find(|p| p.way == *way);
        let Some(state) = found.and_then(|p| p.record.state) else { break };
        out.push(state);
    }
    out
}

/// The steps of a run after which a state comes again, each with the first step after which it was there. Empty for long runs.
pub(crate) fn tell(
    machine: &mut Machine,
    course: &Course,
    classes: &mut Classes,
    interrupt: &Interrupt,
) -> api::Same {
    let mut repeats = Vec::new();
    if course.len() > LONGEST_RUN {
        return api::Same { repeats };
    }
    let states = states(machine, course, course.len());
    // By the state that stands for them.
    let mut first: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut known: HashMap<&[u64], usize> = HashMap::new();
    for (step, state) in states.iter().enumerate() {
        if interrupt.reason().is_some() {
            break;
        }
        let exactly = *known.entry(state).or_insert(step);
        let alike = *first.entry(classes.stands(machine, state)).or_insert(step);
        if exactly != step {
            repeats.push(api::Repeat { step, of: exactly, renaming: Vec::new() });
        } else if alike != step {
            // From the earlier one to the one that stands for both, and back from there.
            let back = classes.renaming(machine, state);
            let back: BTreeMap<u32, u32> = back.into_iter().map(|(name, new)| (new, name)).collect();
            let there = classes.renaming(machine, &states[alike]);
            let threads = machine.threads(&states[alike]);
            let renaming = threads.iter().map(|t| {
                let stored = there.get(&t.id).copied().unwrap_or(t.id);
                (t.id, back.get(&stored).copied().unwrap_or(stored))
            });
            repeats.push(api::Repeat { step, of: alike, renaming: renaming.collect() });
        }
    }
    api::Same { repeats }
}
