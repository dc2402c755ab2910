//! Searches over the four seams: a [`System`] says what can happen next, a [`Representative`] which state
//! stands for another, an [`Ample`] set which moves must be explored, a [`Visited`] store what was seen.
//!
//! A search never looks inside a state. It ends with a [`Report`]: what was covered, what was found, and
//! whether anything was left out. [`breadth_first()`] gives shortest paths to violations and is the fastest;
//! [`depth_first()`] keeps a stack, which cycle conditions need.

mod breadth_first;
mod depth_first;
mod frontier;
mod monitor;
mod parents;
mod report;

pub use breadth_first::breadth_first;
pub use depth_first::depth_first;
pub use monitor::{Limits, Options};
pub use report::{Cause, Found, Path, Report, Statistics, Stop};

use quotient_ample::Ample;
use quotient_symmetry::Representative;
use quotient_system::System;
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

impl<S: System, R: Representative<S>, A: Ample, V: Visited> Seams<'_, S, R, A, V> {
    /// Generates the moves that must be explored from `state`, each as its representative.
    #[inline]
    fn expand(
        &mut self,
        state: &[u64],
        out: &mut quotient_system::Successors,
        scratch: &mut Vec<u64>,
    ) -> Result<(), quotient_system::Exhausted> {
        let first = out.len();
        let scope = self.ample.choose(state);
        self.system.successors(state, scope, out)?;
        self.represent(out, first, scratch);
        Ok(())
    }

    /// Replaces the entries from `first` on by their representatives.
    #[inline]
    fn represent(&mut self, out: &mut quotient_system::Successors, first: usize, scratch: &mut Vec<u64>) {
        for index in first..out.len() {
            // A violation that ends its path has no state.
            if out.entry(index).has_state()
                && self.representative.representative(self.system, out.state(index), scratch)
            {
                out.replace(index, scratch);
            }
        }
    }
}
