//! The checker's checker: do the moves of an ample set commute with those of the other threads?
//!
//! On states met by random walks, for every proposal that a search would take there and every move of a thread outside of
//! it: after that move the proposed threads have as many moves as before, none of them faults, and whatever one of them
//! then leads to is also reached in the other order (as its representative). This is the first step of condition C1,
//! checked on the user's own model.

use std::collections::HashSet;

use quotient_seams::{Ample, Exhausted, Interrupt, Representative, Scope, Successors, System, random_walks};

/// What an audit of ample sets found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AmpleAudit {
    /// States looked at.
    pub states: u64,
    /// Proposals that a search would take.
    pub proposals: u64,
    /// Pairs of moves, one proposed and one not, taken in both orders.
    pub diamonds: u64,
    /// Of these, pairs that do not commute: a bug.
    pub wrong: u64,
}

/// The states that successors lead to; `None` when one faults.
fn states<S: System>(
    system: &mut S,
    state: &[u64],
    scope: Scope,
    out: &mut Successors,
) -> Result<Option<Vec<Vec<u64>>>, Exhausted> {
    out.clear();
    system.successors(state, scope, out)?;
    let all = (0..out.len()).map(|i| out.entry(i).has_state().then(|| out.state(i).to_vec()));
    Ok(all.collect())
}

/// Checks the proposals for `samples` states, fewer if it is interrupted.
pub fn audit_ample<S: System, R: Representative<S>, A: Ample<S>>(
    system: &mut S,
    representative: &mut R,
    ample: &mut A,
    samples: u64,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<AmpleAudit, Exhausted> {
    let mut audit = AmpleAudit::default();
    let mut out = Successors::new();
    random_walks(system, samples, seed, interrupt, |system, state, all| {
        audit.states += 1;
        let proposals = ample.proposals(system, state);
        for number in 0..A::PROPOSALS {
            let scope = proposals.get(number);
            if scope == Scope::All {
                break;
            }
            let Some(proposed) = states(system, state, scope, &mut out)? else { continue };
            if proposed.is_empty() || proposed.len() > ample.most_moves() {
                continue;
            }
            audit.proposals += 1;
            diamonds(system, representative, state, scope, &proposed, all.len(), &mut audit)?;
        }
        Ok(())
    })?;
    Ok(audit)
}

/// The diamonds of one proposal; `moves` is the number of all moves of the state.
fn diamonds<S: System, R: Representative<S>>(
    system: &mut S,
    representative: &mut R,
    state: &[u64],
    scope: Scope,
    proposed: &[Vec<u64>],
    moves: usize,
    audit: &mut AmpleAudit,
) -> Result<(), Exhausted> {
    let mut out = Successors::new();
    let (mut thread, mut found) = (0, 0);
    // The moves of all threads are those of each, so there are no more threads once all moves were found.
    while found < moves {
        let theirs = states(system, state, Scope::Thread(thread), &mut out)?;
        found += out.len();
        thread += 1;
        // A move that faults ends its path: there is no other order.
        let Some(theirs) = theirs else { continue };
        if scope.includes(thread - 1) || theirs.is_empty() {
            continue;
        }
        let mut first: HashSet<Vec<u64>> = HashSet::new();
        for after in proposed {
            // What has become possible may fault; that is no reason to overlook the rest.
            out.clear();
            system.successors(after, Scope::Thread(thread - 1), &mut out)?;
            for last in (0..out.len()).filter(|i| out.entry(*i).has_state()).map(|i| out.state(i).to_vec()) {
                first.insert(standing_for(system, representative, last));
            }
        }
        for after in &theirs {
            let then = states(system, after, scope, &mut out)?.unwrap_or_default();
            audit.diamonds += proposed.len() as u64;
            if then.len() != proposed.len() {
                audit.wrong += 1;
            }
            for last in then {
                audit.wrong += u64::from(!first.contains(&standing_for(system, representative, last)));
            }
        }
    }
    Ok(())
}

fn standing_for<S: System, R: Representative<S>>(
    system: &S,
    representative: &mut R,
    state: Vec<u64>,
) -> Vec<u64> {
    let mut out = Vec::new();
    if representative.representative(system, &state, &mut out) { out } else { state }
}
