//! Programs with few reachable states: the states themselves are the invariant.
//!
//! Exploration enumerates every state after every step, and says so only if it is sure to have met all of them
//! ([`Reachable::complete`]). A claim about the columns is then a matter of evaluation. A claim with variables of its own is
//! not decided here: no finite number of evaluations does it.

use crate::domain::{Domain, Place, State};
use crate::explicit::Reachable;
use crate::program::{Assertion, Program, Right};

/// More states than this do not make a short proof.
const MOST: usize = 5_000;

/// One set for each reachable state; `None` if there may be others, or one of them violates the claim.
pub fn cells(
    program: &Program,
    domain: &Domain,
    assertion: &Assertion,
    reachable: &Reachable,
) -> Option<Vec<State>> {
    let k = program.width();
    let Right::Constraint(claim) = &assertion.right else { return None };
    if !reachable.complete || reachable.states.len() > MOST || assertion.universal > 2 * k + 1 {
        return None;
    }
    let mut values = vec![0; assertion.nodes];
    let mut cells = Vec::new();
    for state in &reachable.states {
        values[1..=k].copy_from_slice(state);
        if assertion.left.holds(&values) && !claim.holds(&values) {
            return None;
        }
        cells.push(point(domain, state)?);
    }
    Some(cells)
}

/// The set of one state; `None` for numbers that are too large.
fn point(domain: &Domain, state: &[i64]) -> Option<State> {
    let mut cell = domain.universe();
    for (column, &value) in state.iter().enumerate() {
        match domain.places[column] {
            Place::Set(f) => {
                let bit = domain.finite[f].values.iter().position(|v| *v == value)?;
                cell.sets[f] = 1 << bit;
            }
            Place::Node(n) => {
                let down = value.checked_neg()?;
                let alive = cell.region.meet(n, 0, value).ok()? && cell.region.meet(0, n, down).ok()?;
                alive.then_some(())?;
            }
        }
    }
    Some(cell)
}
