//! Sequences that do not end.
//!
//! A `d_step` is deterministic: what it does next depends on the state it is in, so it never ends if and only if
//! it comes to the same state twice. Brent's method notices that with one remembered state, which is renewed whenever the number
//! of transformations passed is a power of two: a cycle of length c that is entered after n transformations is noticed
//! after at most 3·max(n, c) of them. Where variables run through millions of values first, nothing is known after
//! [`D_STEP_LIMIT`] transformations, and the search ends undecided: that is not a proof that the sequence does not end.

use crate::machine::Machine;

/// Transformations passed by one `d_step` before anything is remembered: nearly all of them are shorter.
const PATIENCE: u32 = 16;

/// Most transformations of one `d_step`.
pub(crate) const D_STEP_LIMIT: u32 = 4_000_000;

impl Machine {
    /// Whether a deterministic sequence will never end, when `passed` transformations of it have led to the draft. To
    /// be asked after each of them.
    #[inline(always)]
    pub(crate) fn goes_round(&mut self, passed: u32) -> bool {
        passed >= PATIENCE && self.was_here(passed)
    }

    #[cold]
    fn was_here(&mut self, passed: u32) -> bool {
        if passed.is_power_of_two() {
            self.round.clone_from(&self.draft);
            return false;
        }
        self.round == self.draft
    }

    /// Gives up a sequence after [`D_STEP_LIMIT`] transformations.
    #[cold]
    pub(crate) fn too_long(&mut self) {
        self.exhausted = Some(format!("more than {D_STEP_LIMIT} statements in one d_step").into());
    }
}
