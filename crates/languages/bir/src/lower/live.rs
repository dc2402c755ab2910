//! Live sets are claims of the user: a local that is left out is forgotten when the location is left. A claim that changes
//! what the program does is refused: every local that is read later, before it is written again, must be in the set.

use std::collections::HashSet;

use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{Action, Catch, Location, Place, Root, Transformation, VariableId};

use super::Lower;
use crate::ast;

type Set = HashSet<VariableId>;

/// Collects the locals that a step reads before it has written them.
#[derive(Default)]
struct Reads {
    written: Set,
    read: Set,
}

impl Visitor for Reads {
    fn place(&mut self, place: &Place, how: Use) {
        let Root::Local(v) = place.root else { return };
        if how == Use::Write && place.path.is_empty() {
            self.written.insert(v);
        } else if !self.written.contains(&v) {
            self.read.insert(v);
        }
    }
}

/// What must be kept before a step, given what must be kept after it.
fn before(t: &Transformation, after: &Set) -> Set {
    let mut reads = Reads::default();
    visit::operation(&t.operation, &mut reads);
    for action in &t.actions {
        match action {
            // The claim itself neither reads nor writes.
            Action::Forget(_) => {}
            other => visit::action(other, &mut reads),
        }
    }
    let mut out = reads.read;
    out.extend(after.difference(&reads.written));
    out
}

impl Lower<'_> {
    /// Checks every live set of a body.
    pub(super) fn check_live(
        &mut self,
        written: &[ast::Location],
        locations: &[Location],
        catches: &[Catch],
    ) {
        if written.iter().all(|l| l.live.is_none()) {
            return;
        }
        let mut live: Vec<Set> = vec![Set::new(); locations.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (index, location) in locations.iter().enumerate() {
                let mut here = Set::new();
                for t in &location.transformations {
                    let after = t.target.map(|to| live[to.0 as usize].clone()).unwrap_or_default();
                    here.extend(before(t, &after));
                }
                for catch in catches.iter().filter(|c| c.locations.iter().any(|l| l.0 as usize == index)) {
                    // An exception may leave the location at any point: what its handler reads is needed all along.
                    let needed = &live[catch.target.0 as usize];
                    here.extend(needed.iter().filter(|v| Some(**v) != catch.variable));
                }
                if here != live[index] {
                    live[index] = here;
                    changed = true;
                }
            }
        }
        for (index, (location, lowered)) in written.iter().zip(locations).enumerate() {
            let Some(kept) = &location.live else { continue };
            let mut missing: Vec<VariableId> = Vec::new();
            for t in &lowered.transformations {
                let mut needed = t.target.map(|to| live[to.0 as usize].clone()).unwrap_or_default();
                if t.actions.iter().any(|a| matches!(a, Action::Call { .. })) {
                    // An exception may come out of the call, after the claim has taken effect.
                    for catch in catches.iter().filter(|c| c.locations.iter().any(|l| l.0 as usize == index))
                    {
                        let read = live[catch.target.0 as usize].iter().copied();
                        needed.extend(read.filter(|v| Some(*v) != catch.variable));
                    }
                }
                for action in &t.actions {
                    if let Action::Forget(v) = action
                        && needed.contains(v)
                        && !missing.contains(v)
                    {
                        missing.push(*v);
                    }
                }
            }
            missing.sort();
            for v in missing {
                let name = self.scope.variables[v.0 as usize].name.clone();
                let span = kept.last().map_or(location.name.span, |n| n.span);
                let message =
                    format!("`{name}` is read after `{}` but is not in its live set", location.name.text);
                self.error(span, message).help(format!("add `{name}` to the live set"));
            }
        }
    }
}
