//! Paths of representatives in real names.
//!
//! A search over representatives stores a path as choices among the successors of representatives. The same way is taken here
//! from the real initial state: at each step, some successor of the real state is a renaming of the state that the stored
//! choice leads to, and is taken. So every process and object keeps one name throughout. Renamings are recognised by their
//! canonical form, since the representatives of a search need not be canonical.

use quotient_symmetry::Representative;
use quotient_system::{Scope, Successors, System};

use crate::NotReplayable;

/// Choices among the successors of real states that lead where `choices`, made among those of representatives, lead; `canonical`
/// is the canonical form.
pub fn in_real_names<S: System, R: Representative<S>, C: Representative<S>>(
    system: &mut S,
    representative: &mut R,
    canonical: &mut C,
    choices: &[u32],
) -> Result<Vec<u32>, NotReplayable> {
    let lost = |step| NotReplayable { step };
    let (&first, rest) = choices.split_first().ok_or(lost(0))?;
    let mut successors = Successors::new();
    system.initial(&mut successors).map_err(|_| lost(0))?;
    let mut out = vec![first];
    if first as usize >= successors.len() {
        return Err(lost(0));
    }
    let mut real = successors.state(first as usize).to_vec();
    let mut stands = stands_for(system, representative, &real);
    for (index, &choice) in rest.iter().enumerate() {
        successors.clear();
        system.successors(&stands, Scope::All, &mut successors).map_err(|_| lost(index + 1))?;
        if choice as usize >= successors.len() {
            return Err(lost(index + 1));
        }
        let wanted_violation = successors.entry(choice as usize).violation;
        let wanted = stands_for(system, canonical, successors.state(choice as usize));
        stands = stands_for(system, representative, successors.state(choice as usize));
        successors.clear();
        system.successors(&real, Scope::All, &mut successors).map_err(|_| lost(index + 1))?;
        let found = (0..successors.len()).find(|i| {
            successors.entry(*i).violation == wanted_violation
                && stands_for(system, canonical, successors.state(*i)) == wanted
        });
        let found = found.ok_or(lost(index + 1))?;
        out.push(found as u32);
        real = successors.state(found).to_vec();
    }
    Ok(out)
}

fn stands_for<S: System, R: Representative<S>>(
    system: &S,
    representative: &mut R,
    state: &[u64],
) -> Vec<u64> {
    let mut out = Vec::new();
    if state.is_empty() || !representative.representative(system, state, &mut out) {
        out = state.to_vec();
    }
    out
}
