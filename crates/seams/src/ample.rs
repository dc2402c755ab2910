//! The `Ample` seam: which of the enabled actions must be explored?
//!
//! An ample-set reduction proposes, before successors are generated, to explore some threads alone. The search generates
//! their moves and takes the proposal when there is at least one, when none of them ends its path in a fault, and when
//! the [`Proviso`] holds; otherwise it asks for the next proposal, and after the last one explores everything.

use crate::{Scope, Successors};

/// What a search must see to it that a reduced expansion does not do: postpone another thread for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proviso {
    /// Nothing: either the question does not need it or the proposals take care of it themselves.
    None,
    /// Some successor (as its representative) is still to be explored, or at least does not wait for this state to be
    /// finished: not expanded yet in a breadth-first search, not on the stack in a depth-first search.
    SomeOpen,
}

/// The threads proposed for a state: some of which each may be explored alone, the youngest first, or else some together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proposals {
    alone: u64,
    together: u64,
}

impl Proposals {
    /// Each of these threads alone, one bit each.
    #[inline]
    pub fn alone(threads: u64) -> Proposals {
        Proposals { alone: threads, together: 0 }
    }

    /// These threads together, one bit each; no bit at all means no proposal.
    #[inline]
    pub fn together(threads: u64) -> Proposals {
        Proposals { alone: 0, together: threads }
    }

    /// Proposal number `number`, from 0 on; [`Scope::All`] after the last one.
    #[inline]
    pub fn get(self, number: u32) -> Scope {
        let mut alone = self.alone;
        for _ in 0..number {
            alone &= !(1 << alone.checked_ilog2().unwrap_or(0));
        }
        match (alone.checked_ilog2(), self.together) {
            (Some(thread), _) => Scope::Thread(thread),
            (None, together) if together != 0 && number == 0 => Scope::Threads(together),
            _ => Scope::All,
        }
    }
}

/// Threads that may go on from a state without the state being kept: each of them may be explored alone, if its next step is one
/// move, and nothing is asked that the state could answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passing {
    /// The threads, one bit each.
    pub threads: u64,
    /// Those of them whose step may close a cycle of the control flow.
    pub closing: u64,
}

/// Chooses the threads to explore from a state. Proposals are a function of the state alone, so that a path can be
/// followed again.
pub trait Ample<S: ?Sized> {
    /// How many proposals there may be for a state.
    const PROPOSALS: u32;

    /// What may be explored from `state` instead of everything.
    fn proposals(&mut self, system: &mut S, state: &[u64]) -> Proposals;

    /// Proposal number `number` for `state`; [`Scope::All`] after the last one.
    fn proposal(&mut self, system: &mut S, state: &[u64], number: u32) -> Scope {
        self.proposals(system, state).get(number)
    }

    /// Finding one proposal takes so long that others should be found only if it is refused.
    #[inline]
    fn one_by_one(&self) -> bool {
        false
    }

    /// Threads that may go on from `to`, which a step from `from` led to, at once and without `to` being kept. Depends only on `from`
    /// and `to`; `to` is empty if the step faulted. `from` is the state whose [`Ample::proposals`] were asked for last, or one that was
    /// passed through after it.
    #[inline]
    fn passing(&mut self, _system: &mut S, _from: &[u64], _to: &[u64]) -> Passing {
        Passing::default()
    }

    /// The first of these successors of `from`, from number `first` on, that some threads may go on from in this way.
    #[inline]
    fn next_passing(
        &mut self,
        system: &mut S,
        from: &[u64],
        successors: &Successors,
        first: usize,
    ) -> Option<(usize, Passing)> {
        let mut each = (first..successors.len())
            .map(|index| (index, self.passing(system, from, successors.state(index))));
        each.find(|(_, passing)| passing.threads != 0)
    }

    /// What the search must check.
    fn proviso(&self) -> Proviso;

    /// A proposal with more moves than this must be refused.
    fn most_moves(&self) -> usize {
        usize::MAX
    }

    /// The name reports use.
    fn name(&self) -> &'static str;
}

/// Explores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct All;

impl crate::Worker for All {
    fn another(&self) -> All {
        All
    }
}

impl<S: ?Sized> Ample<S> for All {
    const PROPOSALS: u32 = 0;

    #[inline]
    fn proposals(&mut self, _: &mut S, _: &[u64]) -> Proposals {
        Proposals::default()
    }

    fn proviso(&self) -> Proviso {
        Proviso::None
    }

    fn name(&self) -> &'static str {
        "off"
    }
}
