//! States that are passed through.
//!
//! Where an ample set is one move of one thread, the state after that move has this one way on, and only ways through it
//! lead to what lies after. It need not be stored: the search goes on at once, until there is more than one move to explore, or
//! cycles of the control flow have been closed a few times (so it comes to an end), or the state changes its size, or something
//! is wrong ([`Ample::passing`]). This is transition compression (Kurshan, Levin and Yenigün, "Compressing transitions for model
//! checking", 2002) with the ample sets of the state at hand. What is explored is the same reduced graph; a state passed through by
//! several ways is gone on from several times, which is rare: the ways to it are steps of the same thread.
//!
//! The conditions of ample sets are about the graph with all its states, so they hold as before; and what the [`Proviso`] asks for, that
//! from each state one that was expanded whole can be reached, holds for a state passed through because it does for the one
//! that is stored after it. A question about what happens in between (a temporal one) passes through nothing.
//!
//! [`Proviso`]: quotient_seams::Proviso

use quotient_seams::{Ample, Exhausted, Passing, Scope, Successors, System};

/// Cycles of the control flow that are closed before a state is stored.
const MOST_CLOSED: u32 = 2;

/// Follows steps through states that are not stored.
#[derive(Debug, Default)]
pub(crate) struct Passage {
    /// The one move of a state.
    step: Successors,
    /// Moves taken in this way.
    pub(crate) moves: u64,
}

impl Passage {
    /// Replaces the entries from `first` on, successors of `from`, by what they lead to through states that need not be stored.
    #[inline]
    pub(crate) fn pass<S: System, A: Ample<S>>(
        &mut self,
        system: &mut S,
        ample: &mut A,
        from: &[u64],
        out: &mut Successors,
        first: usize,
    ) -> Result<(), Exhausted> {
        let mut next = first;
        while A::PROPOSALS > 0
            && let Some((index, passing)) = ample.next_passing(system, from, out, next)
        {
            self.go_on(system, ample, (out, index), passing, &mut |_, _, _| Ok(()))?;
            next = index + 1;
        }
        Ok(())
    }

    /// As [`Passage::pass`] for one entry; `seen` is given each state passed through, with the move taken from it.
    pub(crate) fn retrace<S: System, A: Ample<S>>(
        &mut self,
        system: &mut S,
        ample: &mut A,
        from: &[u64],
        (out, index): (&mut Successors, usize),
        seen: &mut impl FnMut(&mut S, &[u64], &Successors) -> Result<(), Exhausted>,
    ) -> Result<(), Exhausted> {
        let passing = ample.passing(system, from, out.state(index));
        self.go_on(system, ample, (out, index), passing, seen)
    }

    /// Goes on from an entry's state with one of these threads, and so on.
    #[inline]
    fn go_on<S: System, A: Ample<S>>(
        &mut self,
        system: &mut S,
        ample: &mut A,
        (out, index): (&mut Successors, usize),
        mut passing: Passing,
        seen: &mut impl FnMut(&mut S, &[u64], &Successors) -> Result<(), Exhausted>,
    ) -> Result<(), Exhausted> {
        // What was wrong on the way to the state must be reported with it.
        if out.entry(index).violation.is_some() {
            return Ok(());
        }
        let mut closed = 0;
        while let Some(thread) = passing.threads.checked_ilog2() {
            let closes = passing.closing >> thread & 1 == 1;
            if closes && closed == MOST_CLOSED {
                return Ok(());
            }
            let state = out.state(index);
            self.step.clear();
            system.successors(state, Scope::Thread(thread), &mut self.step)?;
            if self.step.len() == 1 && !self.step.has_violations() && self.step.state(0).len() == state.len()
            {
                let next = self.step.state(0);
                closed += u32::from(closes);
                passing = ample.passing(system, state, next);
                seen(system, state, &self.step)?;
                self.moves += 1;
                out.replace(index, next);
            } else {
                passing.threads &= !(1 << thread);
            }
        }
        Ok(())
    }
}
