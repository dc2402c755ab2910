//! Random walks: states of a system, met by chance, for audits.

use crate::{Exhausted, Interrupt, Scope, Successors, System};

/// Longest walk.
const STEPS: u64 = 300;

/// Shows `samples` states, met on random walks from the initial states, to `visit`, each with all its successors. The same
/// seed gives the same states. Ends early when it is interrupted.
pub fn random_walks<S: System>(
    system: &mut S,
    samples: u64,
    seed: u64,
    interrupt: &Interrupt,
    mut visit: impl FnMut(&mut S, &[u64], &Successors) -> Result<(), Exhausted>,
) -> Result<(), Exhausted> {
    let mut random = seed | 1;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below.max(1) as u64) as usize
    };
    let mut successors = Successors::new();
    system.initial(&mut successors)?;
    let with_state = |successors: &Successors| -> Vec<usize> {
        (0..successors.len()).filter(|i| successors.entry(*i).has_state()).collect()
    };
    let starts: Vec<Vec<u64>> =
        with_state(&successors).into_iter().map(|i| successors.state(i).to_vec()).collect();
    if starts.is_empty() {
        return Ok(());
    }
    let mut shown = 0;
    while shown < samples {
        let mut state = starts[next(starts.len())].clone();
        for _ in 0..STEPS.min(samples - shown) {
            if interrupt.raised() {
                return Ok(());
            }
            shown += 1;
            successors.clear();
            system.successors(&state, Scope::All, &mut successors)?;
            visit(system, &state, &successors)?;
            let ways = with_state(&successors);
            if ways.is_empty() {
                break;
            }
            state = successors.state(ways[next(ways.len())]).to_vec();
        }
    }
    Ok(())
}
