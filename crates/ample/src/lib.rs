//! The `Ample` seam: which of the enabled actions must be explored?
//!
//! An ample-set reduction proposes, before successors are generated, to explore some threads alone. The search generates
//! their moves and takes the proposal when there is at least one, when none of them ends its path in a fault, and when
//! the [`Proviso`] holds; otherwise it asks for the next proposal, and after the last one explores everything.
//!
//! [`All`] proposes nothing. [`AmpleSets`] proposes the threads whose next steps are independent of everything that the
//! others can still do: see [`mod@sets`] for the conditions and why they suffice for which [`Question`]. [`DynamicSets`] does
//! the same for programs with objects.

pub mod dynamic;
pub mod futures;
pub mod objects;
pub mod question;
pub mod sets;
pub mod tables;

pub use dynamic::DynamicSets;
pub use question::Question;
pub use sets::AmpleSets;

use quotient_system::Scope;

/// What a search must see to it that a reduced expansion does not do: postpone another thread for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proviso {
    /// Nothing: either the question does not need it or the proposals take care of it themselves.
    None,
    /// Some successor (as its representative) is still to be explored, or at least does not wait for this state to be
    /// finished: not expanded yet in a breadth-first search, not on the stack in a depth-first search.
    SomeOpen,
}

/// Chooses the threads to explore from a state. Proposals are a function of the state alone, so that a path can be
/// followed again.
pub trait Ample<S: ?Sized> {
    /// How many proposals there may be for a state.
    const PROPOSALS: u32;

    /// Proposal number `attempt` (from 0 on, in order) for the moves to explore from `state`; [`Scope::All`] after the last
    /// one.
    fn propose(&mut self, system: &mut S, state: &[u64], attempt: u32) -> Scope;

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

impl<S: ?Sized> Ample<S> for All {
    const PROPOSALS: u32 = 0;

    #[inline]
    fn propose(&mut self, _: &mut S, _: &[u64], _: u32) -> Scope {
        Scope::All
    }

    fn proviso(&self) -> Proviso {
        Proviso::None
    }

    fn name(&self) -> &'static str {
        "off"
    }
}
