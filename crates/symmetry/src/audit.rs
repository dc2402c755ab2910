//! The checker's checker: do representatives behave like the states they stand for?
//!
//! On states met by random walks, in their real names: the successors of a state and those of its representative must have
//! the same representatives, as often, with the same violations, and both may stop or neither may. This is what soundness of
//! a representative means, checked on the user's own model.

use quotient_system::{Exhausted, Scope, Successors, System};

use crate::Representative;

/// Longest random walk.
const STEPS: u32 = 300;

/// What an audit found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// States compared with their representatives.
    pub states: u64,
    /// Of these, states that do not stand for themselves.
    pub renamed: u64,
    /// States that do not behave like their representative: a bug.
    pub wrong: u64,
}

/// A successor as its representative: violation and words.
type Move = (u32, Vec<u64>);

fn moves<S: System, R: Representative<S>>(
    system: &mut S,
    representative: &mut R,
    state: &[u64],
    out: &mut Successors,
) -> Result<Vec<Move>, Exhausted> {
    out.clear();
    system.successors(state, Scope::All, out)?;
    let mut moves: Vec<Move> = (0..out.len())
        .map(|index| {
            let mut words = Vec::new();
            if out.entry(index).has_state()
                && !representative.representative(system, out.state(index), &mut words)
            {
                words = out.state(index).to_vec();
            }
            (out.entry(index).violation.map_or(0, |v| v.0.get()), words)
        })
        .collect();
    moves.sort_unstable();
    Ok(moves)
}

/// Compares `samples` states with their representatives.
pub fn audit<S: System, R: Representative<S>>(
    system: &mut S,
    representative: &mut R,
    samples: u64,
    seed: u64,
) -> Result<Audit, Exhausted> {
    let mut random = seed | 1;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below.max(1) as u64) as usize
    };
    let mut audit = Audit::default();
    let mut successors = Successors::new();
    let mut initial = Successors::new();
    system.initial(&mut initial)?;
    let starts: Vec<Vec<u64>> = (0..initial.len())
        .filter(|i| initial.entry(*i).has_state())
        .map(|i| initial.state(i).to_vec())
        .collect();
    if starts.is_empty() {
        return Ok(audit);
    }
    while audit.states < samples {
        let mut state = starts[next(starts.len())].clone();
        for _ in 0..STEPS.min((samples - audit.states) as u32) {
            audit.states += 1;
            let mut stands = Vec::new();
            if representative.representative(system, &state, &mut stands) {
                audit.renamed += 1;
                let expected = moves(system, representative, &state, &mut successors)?;
                let found = moves(system, representative, &stands, &mut successors)?;
                let ends =
                    !expected.is_empty() || system.is_valid_end(&state) == system.is_valid_end(&stands);
                audit.wrong += u64::from(expected != found || !ends);
            }
            successors.clear();
            system.successors(&state, Scope::All, &mut successors)?;
            let ways: Vec<usize> =
                (0..successors.len()).filter(|i| successors.entry(*i).has_state()).collect();
            if ways.is_empty() {
                break;
            }
            state = successors.state(ways[next(ways.len())]).to_vec();
        }
    }
    Ok(audit)
}
