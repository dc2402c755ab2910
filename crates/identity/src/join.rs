//! Steps that nobody can see between are one.
//!
//! After a step that keeps control, or that leads to a deterministic or transient location, its thread goes on at once if it can; if
//! the next step is unconditional, it can. So no state is ever stored in between, and the two steps with their actions one after
//! the other are one step: if nobody else leads there, no label that counts is there, and nobody asks for the location. A
//! rendezvous is left alone, since control passes to the partner, and so is a thread that moves only while something is provided. In a joined
//! step, what a later action writes over unread is dropped.

use std::collections::HashSet;

use crate::ground::{Act, Exp, Loc, Op, Setting, Thread, Var, each, each_in_act, each_in_op};
use crate::specialise::{Specialised, stores_may_fault};

/// Joins what can be joined.
pub(crate) fn join(setting: &Setting<'_>, of: &mut Specialised) {
    let asked = asked_for(setting, of);
    for (at, thread) in of.threads.iter_mut().enumerate() {
        if thread.provided.is_none() && !asked.all {
            let function = setting.threads[at];
            let entry = setting.program.function(function).entry.0;
            join_thread(thread, |location| {
                location == entry || asked.locations.contains(&(at as u32, location))
            });
        }
        for step in thread.locs.iter_mut().flatten().flat_map(|l| &mut l.steps) {
            drop_overwritten(setting, &mut step.acts);
        }
    }
}

/// Locations that some expression asks for.
pub(crate) struct Asked {
    pub(crate) locations: HashSet<(u32, u32)>,
    /// Numbers of locations are asked for.
    pub(crate) all: bool,
}

pub(crate) fn asked_for(setting: &Setting<'_>, of: &Specialised) -> Asked {
    let mut asked = Asked { locations: HashSet::new(), all: false };
    let mut look = |e: &Exp| match e {
        Exp::At(thread, location) => {
            asked.locations.insert((*thread, *location));
        }
        Exp::AtNamed(_, label) => {
            let label = &setting.program.labels[*label as usize];
            for (thread, _) in setting.threads.iter().enumerate().filter(|(_, f)| **f == label.function) {
                asked.locations.insert((thread as u32, label.location.0));
            }
        }
        Exp::LocationOf(_) => asked.all = true,
        _ => {}
    };
    of.properties.iter().for_each(|e| each(e, &mut look));
    for thread in &of.threads {
        thread.provided.iter().for_each(|e| each(e, &mut look));
        for step in thread.locs.iter().flatten().flat_map(|l| &l.steps) {
            each_in_op(&step.op, &mut look);
            step.acts.iter().for_each(|act| each_in_act(act, &mut look));
        }
    }
    asked
}

pub(crate) fn join_thread(thread: &mut Thread, kept: impl Fn(u32) -> bool) {
    let mut arrivals = vec![0u32; thread.locs.len()];
    for step in thread.locs.iter().flatten().flat_map(|l| &l.steps) {
        if let Some(to) = step.target {
            arrivals[to as usize] += 1;
        }
    }
    for from in 0..thread.locs.len() {
        let mut which = 0;
        while let Some(step) = thread.locs[from].as_ref().and_then(|l| l.steps.get(which)) {
            let next = step.target.filter(|to| {
                let next = thread.locs[*to as usize].as_ref();
                let passed = next.is_some_and(|next| passes(step.keeps, next));
                passed && *to as usize != from && arrivals[*to as usize] == 1 && !kept(*to)
            });
            let plain = matches!(step.op, Op::Always | Op::When(_) | Op::Else);
            match next {
                Some(to) if plain => {
                    // Both are there: looked at above.
                    let Some(mut next) = thread.locs[to as usize].take() else { break };
                    let Some(here) = thread.locs[from].as_mut() else { break };
                    let (step, next) = (&mut here.steps[which], next.steps.remove(0));
                    step.acts.extend(next.acts);
                    step.spans.extend(next.spans);
                    step.from.extend(next.from);
                    step.target = next.target;
                    step.keeps = next.keeps;
                }
                _ => which += 1,
            }
        }
    }
}

/// Drops what a later action of the same step writes over before anybody reads it.
pub(crate) fn drop_overwritten(setting: &Setting<'_>, acts: &mut Vec<Act>) {
    let mut at = acts.len();
    while at > 0 {
        at -= 1;
        let (var, place) = match &acts[at] {
            Act::Forget(var) => (*var, None),
            Act::Assign(r, e) if !stores_may_fault(setting, r, e) => (r.var, Some(r)),
            _ => continue,
        };
        let mut gone = false;
        for later in &acts[at + 1..] {
            let mut read = false;
            each_in_act(later, &mut |e| {
                let local = |v: u32| matches!(var, Var::Local(_, own) if own == v);
                read |= matches!(e, Exp::Load(r) if r.var == var || matches!(r.var, Var::Remote(_, v) if local(v)));
            });
            // A fault in between ends the step, and nothing of it is seen.
            gone = match later {
                Act::Assign(r, _) if place.is_some() => r.constants().is_some() && Some(r) == place,
                Act::Assign(r, _) => r.var == var && r.index.is_empty() && r.fields.is_empty(),
                Act::Forget(other) => *other == var,
                _ => false,
            } && !read;
            if gone || read {
                break;
            }
        }
        if gone {
            acts.remove(at);
        }
    }
}

/// Is a location passed in the step that leads there, without a choice?
fn passes(keeps: bool, next: &Loc) -> bool {
    let [only] = &next.steps[..] else { return false };
    (keeps || next.deterministic || next.flags & 1 << 4 != 0)
        && next.flags & Loc::LABELS == 0
        && only.op == Op::Always
        && only.rank == 0
}
