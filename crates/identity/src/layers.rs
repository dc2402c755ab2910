//! The actions of a step up to their order where that does not matter.
//!
//! Two actions *conflict* if one writes what the other reads or writes, or if one of them may be a fault and so end the step before the
//! other. Exchanging neighbours that do not conflict changes nothing. The Foata normal form puts each action into the layer after the
//! last one that holds something it conflicts with; actions of one layer do not conflict, so a layer is a set. Two sequences have
//! the same layers exactly when exchanges of neighbours lead from one to the other.

use crate::ground::{Act, Exp, Ref, Setting, Var, each_in_act};
use crate::specialise::stores_may_fault;

/// Longer sequences stay in their order: each pair of actions would be looked at.
const MOST_ACTIONS: usize = 256;

/// The layer of each action.
pub(crate) fn layers(setting: &Setting<'_>, acts: &[Act]) -> Vec<u32> {
    if acts.len() > MOST_ACTIONS {
        return (0..acts.len() as u32).collect();
    }
    let mut layer = vec![0; acts.len()];
    for later in 0..acts.len() {
        for earlier in 0..later {
            if layer[earlier] >= layer[later] && conflict(setting, &acts[earlier], &acts[later]) {
                layer[later] = layer[earlier] + 1;
            }
        }
    }
    layer
}

fn conflict(setting: &Setting<'_>, a: &Act, b: &Act) -> bool {
    faults(setting, a)
        || faults(setting, b)
        || writes(a).is_some_and(|w| touches(b, w))
        || writes(b).is_some_and(|w| touches(a, w))
}

/// What an action writes: one place, or a whole variable.
enum Written<'a> {
    Place(&'a Ref),
    Variable(Var),
}

fn writes(act: &Act) -> Option<Written<'_>> {
    match act {
        Act::Assign(r, _) => Some(Written::Place(r)),
        Act::Forget(var) => Some(Written::Variable(*var)),
        Act::Assert(_) | Act::Evaluate(_) => None,
    }
}

/// May a remote variable be this local?
fn overlaps(written: Var, read: Var) -> bool {
    matches!((written, read), (Var::Local(_, a), Var::Remote(_, b)) if a == b)
}

/// Does an action read or write it?
fn touches(act: &Act, written: Written<'_>) -> bool {
    let same = |r: &Ref| match &written {
        Written::Place(w) => {
            let apart = match (w.constants(), r.constants()) {
                (Some(a), Some(b)) => a != b,
                _ => false,
            };
            (w.var == r.var && w.fields == r.fields && !apart) || overlaps(w.var, r.var)
        }
        Written::Variable(var) => r.var == *var || overlaps(*var, r.var),
    };
    let written_too = match writes(act) {
        Some(Written::Place(r)) => same(r),
        Some(Written::Variable(var)) => match &written {
            Written::Place(w) => w.var == var,
            Written::Variable(other) => *other == var,
        },
        None => false,
    };
    let mut read = false;
    each_in_act(act, &mut |e| read |= matches!(e, Exp::Load(r) if same(r)));
    written_too || read
}

fn faults(setting: &Setting<'_>, act: &Act) -> bool {
    match act {
        Act::Assign(r, e) => stores_may_fault(setting, r, e),
        // Two assertions: whichever fails, the step is a fault; but what happens before it counts for nobody.
        Act::Assert(_) | Act::Evaluate(_) => true,
        Act::Forget(_) => false,
    }
}
