//! Searches over the four seams: a [`System`] says what can happen next, a [`Representative`] which state
//! stands for another, an [`Ample`] set which moves must be explored, a [`Visited`] store what was seen.
//!
//! A search never looks inside a state. It ends with a [`Report`]: what was covered, what was found, and
//! whether anything was left out. [`breadth_first()`] gives shortest paths to violations and is the fastest;
//! [`depth_first()`] keeps a stack, which cycle conditions need; [`liveness()`] looks for infinite runs.

mod attempt;
mod audit;
mod batch;
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
mod passing;
mod report;
mod tagged;

pub use audit::{AmpleAudit, audit_ample};
pub use breadth_first::breadth_first;
pub use depth_first::depth_first;
pub use graph::{Expanded, graph};
pub use lasso::TOO_LONG;
pub use liveness::{OmegaSeams, liveness};
pub use monitor::{Limits, Options};
pub use report::{Cause, Found, Path, Report, Statistics, Stop};

use attempt::{Attempt, suffice};
use originals::Originals;
use passing::Passage;
use quotient_seams::{Ample, Exhausted, Representative, Successors, System, Visited};

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
    /// Generates moves that suffice from `state`, each as the representative of what it leads to behind states that need not be stored;
    /// see [`suffice`] and [`Passage`].
    #[inline]
    fn expand(
        &mut self,
        state: &[u64],
        attempt: &mut Attempt,
        out: &mut Successors,
        passage: &mut Passage,
        originals: &mut Originals,
        scratch: &mut Vec<u64>,
    ) -> Result<(), Exhausted> {
        let first = out.len();
        suffice(self.system, self.ample, state, attempt, out)?;
        passage.pass(self.system, self.ample, state, out, first)?;
        self.represent(out, first, originals, scratch);
        Ok(())
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
