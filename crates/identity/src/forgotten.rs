//! What is forgotten twice is forgotten once.
//!
//! A store that nobody reads becomes "forget this variable", also where it was forgotten before. In straight code that costs nothing. In a choice, `if :: busy[i] -> k = 0 :: else fi`
//! with a dead `k`, one way has an action and the other has none, and what the loop around it computes is not seen. Here a variable that is forgotten on
//! every way to a step, and not written since, is not forgotten again: it is zero already. Only a thread itself writes its locals, so its own code is all that
//! has to be looked at.

use std::collections::BTreeSet;

use crate::ground::{Act, Op, Pat, Step, Thread, Var};

/// Drops from a thread what is forgotten already. `entry` is where it begins, with nothing forgotten.
pub(crate) fn drop_repeated(thread: &mut Thread, entry: u32) {
    let mut before: Vec<Option<BTreeSet<Var>>> = vec![None; thread.locs.len()];
    let mut open = vec![entry];
    before[entry as usize] = Some(BTreeSet::new());
    while let Some(at) = open.pop() {
        let (Some(loc), Some(known)) = (&thread.locs[at as usize], before[at as usize].clone()) else {
            continue;
        };
        for step in &loc.steps {
            let Some(to) = step.target else { continue };
            let after = after(step, known.clone());
            let there = &mut before[to as usize];
            let met = there.as_ref().map_or_else(|| after.clone(), |there| there & &after);
            if there.as_ref() != Some(&met) {
                *there = Some(met);
                open.push(to);
            }
        }
    }
    for (loc, known) in thread.locs.iter_mut().zip(before) {
        let (Some(loc), Some(known)) = (loc, known) else { continue };
        for step in &mut loc.steps {
            let mut known = receive(&step.op, known.clone());
            step.acts.retain(|act| {
                let repeated = matches!(act, Act::Forget(var) if known.contains(var));
                apply(act, &mut known);
                !repeated
            });
        }
    }
}

/// What is forgotten after a step.
fn after(step: &Step, known: BTreeSet<Var>) -> BTreeSet<Var> {
    let mut known = receive(&step.op, known);
    step.acts.iter().for_each(|act| apply(act, &mut known));
    known
}

fn receive(op: &Op, mut known: BTreeSet<Var>) -> BTreeSet<Var> {
    if let Op::Receive { patterns, .. } = op {
        for pattern in patterns {
            if let Pat::Bind(r) = pattern {
                known.remove(&r.var);
            }
        }
    }
    known
}

fn apply(act: &Act, known: &mut BTreeSet<Var>) {
    match act {
        Act::Assign(r, _) => {
            known.remove(&r.var);
        }
        Act::Forget(var @ Var::Local(..)) => {
            known.insert(*var);
        }
        Act::Forget(_) | Act::Assert(_) | Act::Evaluate(_) => {}
    }
}
