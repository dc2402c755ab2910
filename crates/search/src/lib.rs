//! Searches over the four seams: a [`System`] says what can happen next, a [`Representative`] which state
//! stands for another, an [`Ample`] set which moves must be explored, a [`Visited`] store what was seen.
//!
//! A search never looks inside a state. It ends with a [`Report`]: what was covered, what was found, and
//! whether anything was left out. [`breadth_first()`] gives shortest paths to violations and is the fastest;
//! [`depth_first()`] keeps a stack, which cycle conditions need; [`liveness()`] looks for infinite runs.

mod audit;
mod breadth_first;
mod depth_first;
mod frontier;
mod graph;
mod lasso;
mod liveness;
mod monitor;
mod on_stack;
mod open_level;
mod originals;
mod parents;
mod report;
mod tagged;

pub use audit::{AmpleAudit, audit_ample};
pub use breadth_first::breadth_first;
pub use depth_first::depth_first;
pub use graph::{Expanded, graph};
pub use liveness::{OmegaSeams, liveness};
pub use monitor::{Limits, Options};
pub use report::{Cause, Found, Path, Report, Statistics, Stop};

use originals::Originals;
use quotient_ample::Ample;
use quotient_symmetry::Representative;
use quotient_system::{Exhausted, Scope, Successors, System};
use quotient_visited::Visited;

/// The four seams of one search.
#[derive(Debug)]
pub struct Seams<'a, S, R, A, V> {
    /// What can happen next?
    pub system: &'a mut S,
    /// Which state stands for this one?
    pub representative: &'a mut R,
    /// Which enabled actions must be explored?
    pub ample: &'a mut A,
    /// Seen before?
    pub visited: &'a mut V,
}

impl<S: System, R: Representative<S>, A: Ample<S>, V: Visited> Seams<'_, S, R, A, V> {
    /// Generates moves that suffice from `state`, each as its representative; see [`suffice`].
    #[inline]
    fn expand(
        &mut self,
        state: &[u64],
        attempt: u32,
        out: &mut Successors,
        originals: &mut Originals,
        scratch: &mut Vec<u64>,
    ) -> Result<u32, Exhausted> {
        let first = out.len();
        let tag = suffice(self.system, self.ample, state, attempt, out)?;
        self.represent(out, first, originals, scratch);
        Ok(tag)
    }

    /// Replaces the entries from `first` on by their representatives; `originals` gets them as they were.
    #[inline]
    fn represent(
        &mut self,
        out: &mut Successors,
        first: usize,
        originals: &mut Originals,
        scratch: &mut Vec<u64>,
    ) {
        if !R::CHANGES {
            return;
        }
        for index in first..out.len() {
            originals.push(out.state(index));
            // A violation that ends its path has no state.
            if out.entry(index).has_state()
                && self.representative.representative(self.system, out.state(index), scratch)
            {
                out.replace(index, scratch);
            }
        }
    }
}

/// Generates moves that suffice from `state`: those of the first proposal from number `attempt` on that can be taken, or all.
/// Gives its *tag*: 0 for all moves, else the number of the proposal plus 1, so that a search that refuses it asks again with
/// the tag as `attempt`.
#[inline]
fn suffice<S: System, A: Ample<S>>(
    system: &mut S,
    ample: &mut A,
    state: &[u64],
    attempt: u32,
    out: &mut Successors,
) -> Result<u32, Exhausted> {
    let first = out.len();
    if A::PROPOSALS == 0 {
        system.successors(state, Scope::All, out)?;
        return Ok(0);
    }
    if attempt > 0 {
        // Other states may have been looked at since.
        ample.propose(system, state, 0);
    }
    for attempt in attempt.. {
        let scope = ample.propose(system, state, attempt);
        system.successors(state, scope, out)?;
        if scope == Scope::All {
            break;
        }
        // A step that ends its path in a fault commutes with nothing.
        let moves = out.len() - first;
        if (1..=ample.most_moves()).contains(&moves) && (first..out.len()).all(|i| out.entry(i).has_state()) {
            return Ok(attempt + 1);
        }
        out.truncate(first);
    }
    Ok(0)
}
