//! A system under its reductions, as a search sees it.
//!
//! An [`Expander`] puts together what can happen next, which moves suffice and which states stand for those they lead to. A search
//! asks it for the moves of a state ([`Expander::expand`]). Where these are only a part of all moves, the search sees to the
//! [`Proviso`] and, where that does not hold, asks again ([`Turn`]). It writes down which move it took as a number that the expander
//! gives it ([`Expander::choice`]), and the expander translates a list of such numbers to a path ([`Expander::path`]). What is proposed,
//! what was refused and what was passed through is nobody else's business.

mod found;
mod passing;
mod path;
mod turn;

pub(crate) use found::{Found, Originals};
pub(crate) use turn::Turn;

use quotient_seams::{Ample, Exhausted, Proviso, Representative, Successors, System};

use passing::Passage;
use turn::suffice;

/// A system with its representative and its ample sets.
pub(crate) struct Expander<'a, S, R, A> {
    pub(crate) system: &'a mut S,
    pub(crate) representative: &'a mut R,
    pub(crate) ample: &'a mut A,
    passage: Passage,
    scratch: Vec<u64>,
}

impl<'a, S: System, R: Representative<S>, A: Ample<S>> Expander<'a, S, R, A> {
    /// Whether a search may be given only a part of all moves.
    pub(crate) const REDUCES: bool = A::PROPOSALS > 0;

    pub(crate) fn new(system: &'a mut S, representative: &'a mut R, ample: &'a mut A) -> Self {
        Expander { system, representative, ample, passage: Passage::default(), scratch: Vec::new() }
    }

    /// Must a part of all moves lead to a state that is still to be explored?
    pub(crate) fn needs_open(&self) -> bool {
        Self::REDUCES && self.ample.proviso() == Proviso::SomeOpen
    }

    /// Moves through states that were not stored.
    pub(crate) fn passed(&self) -> u64 {
        self.passage.moves
    }

    /// Adds the initial states.
    pub(crate) fn initial(&mut self, out: &mut Successors, found: &mut impl Found) -> Result<(), Exhausted> {
        let first = out.len();
        self.system.initial(out)?;
        self.represent(out, first, found);
        Ok(())
    }

    /// Adds moves that suffice from `state`, as far as the search has not refused them: each as the representative of what it leads to
    /// after states that need not be stored. `found` is told of them as they were.
    #[inline]
    pub(crate) fn expand(
        &mut self,
        state: &[u64],
        turn: &mut Turn,
        out: &mut Successors,
        found: &mut impl Found,
    ) -> Result<(), Exhausted> {
        let first = out.len();
        let is_first = turn.is_first();
        suffice(self.system, self.ample, state, turn, out)?;
        // Afterwards: until then the system may not have met a state of this shape, if another worker found it.
        if R::CHANGES && is_first {
            self.representative.expanded(self.system, state);
        }
        self.passage.pass(self.system, self.ample, state, out, first)?;
        self.represent(out, first, found);
        Ok(())
    }

    /// Replaces the entries from `first` on by their representatives.
    #[inline]
    fn represent(&mut self, out: &mut Successors, first: usize, found: &mut impl Found) {
        if !R::CHANGES {
            return;
        }
        for index in first..out.len() {
            found.push(out.state(index));
            // A violation that ends its path has no state.
            if out.entry(index).has_state()
                && self.representative.representative(self.system, out.state(index), &mut self.scratch)
            {
                out.replace(index, &self.scratch);
                found.replaced(|thread| self.representative.new_name(thread));
            }
        }
    }
}
