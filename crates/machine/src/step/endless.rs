//! Sequences that do not end.
//!
//! A `d_step` is deterministic: what it does next depends on the state it is in, so it never ends if and only if
//! it comes to the same state twice. Brent's method notices that with one remembered state, which is renewed whenever the number
//! of transformations passed is a power of two: a cycle of length c that is entered after n transformations is noticed
//! after at most 3·max(n, c) of them. Where variables run through millions of values first, nothing is known after
//! [`D_STEP_LIMIT`] transformations, and the search ends undecided: that is not a proof that the sequence does not end.

//!
//! An atomic sequence can branch, and its states are remembered one by one, so that going on from the same state again is noticed
//! ([`Passed`]). Where it does not branch, one remembered state does as well.

use std::collections::HashSet;

use crate::machine::Machine;

/// Transformations passed by one `d_step` before anything is remembered: nearly all of them are shorter.
const PATIENCE: u32 = 16;

/// Most transformations of one `d_step`.
pub(crate) const D_STEP_LIMIT: u32 = 4_000_000;

/// Intermediate states of one step after which they are remembered.
const FREE: u64 = 10_000;

/// The intermediate states that a step has passed: going on from the same one again brings nothing new.
///
/// A state that nothing else waits beside is compared with one earlier state only (Brent's method): a copy of each would make long sequences
/// over large states expensive. That suffices. A round without branches is noticed by it. On a round with branches there is a
/// state that others wait beside; it is remembered, and not gone on from a second time. What is not remembered leads to such a
/// state, to its own repetition or to the end of the step, so that no state is gone on from more often than there are
/// branches before it plus one.
#[derive(Default)]
pub(crate) struct Passed {
    count: u64,
    seen: HashSet<Intermediate>,
    /// States that nothing else waited beside.
    alone: u64,
    /// The one of them that later ones are compared with, renewed whenever their number is a power of two.
    earlier: Option<Intermediate>,
}

/// A state with the threads that must move next.
type Intermediate = (Vec<u64>, u32, u32);

impl Passed {
    /// Is it time to look at more than the state itself?
    pub(crate) fn is_long(&self) -> bool {
        self.count > FREE
    }

    /// Has the step been here? `alone`: nothing else waits.
    pub(crate) fn again(&mut self, words: &[u64], holder: u32, also: u32, alone: bool) -> bool {
        self.count += 1;
        if !self.is_long() {
            return false;
        }
        if !alone {
            return !self.seen.insert((words.to_vec(), holder, also));
        }
        if let Some((earlier, h, a)) = &self.earlier
            && (*h, *a) == (holder, also)
            && earlier == words
        {
            return true;
        }
        self.alone += 1;
        if self.alone.is_power_of_two() {
            self.earlier = Some((words.to_vec(), holder, also));
        }
        false
    }
}

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
