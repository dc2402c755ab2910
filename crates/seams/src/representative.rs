//! The `Representative` seam: which state stands for this one?
//!
//! A representative maps a state to one of its symmetry class, the same for a given state every time. It is *sound* when
//! states with the same representative are bisimilar for the property asked; the constructor of a representative establishes
//! that or refuses.

/// Chooses the state that stands for a class of states of a system of type `S`.
pub trait Representative<S: ?Sized> {
    /// Whether a state may stand for another one than itself.
    const CHANGES: bool = true;

    /// Replaces `state` by its representative, written to `out`; `false` when `state` stands for itself
    /// (and `out` was not touched).
    fn representative(&mut self, system: &S, state: &[u64], out: &mut Vec<u64>) -> bool;

    /// The name reports use.
    fn name(&self) -> &'static str;

    /// Whether the states of a class all have the same representative, as far as the budget of the canonical form goes.
    fn is_canonical(&self) -> bool;

    /// Whether threads may change places.
    fn renames(&self) -> bool;

    /// What a thread of the state that was given last is called in its representative, where that was another state.
    fn new_name(&self, thread: u32) -> u32 {
        thread
    }

    /// As [`Representative::representative`], with every thread in its place. What stands for a state in this way need not be
    /// the same as for its renamings.
    fn with_threads_in_place(&mut self, _system: &S, _state: &[u64], _out: &mut Vec<u64>) -> bool {
        false
    }

    /// A search goes on from this state, a representative, for the first time; the system has just been asked for its successors.
    #[inline]
    fn expanded(&mut self, _system: &S, _state: &[u64]) {}

    /// Whether a search goes on from the states it finds and only stores their representatives. Orders that leave ties as
    /// they are want that: the order of the threads then stays that of the program, whatever was stored on the way.
    fn keeps_found(&self) -> bool {
        false
    }
}

/// Every state stands for itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity;

impl crate::Worker for Identity {
    fn another(&self) -> Identity {
        Identity
    }
}

impl<S: ?Sized> Representative<S> for Identity {
    const CHANGES: bool = false;

    #[inline]
    fn representative(&mut self, _system: &S, _state: &[u64], _out: &mut Vec<u64>) -> bool {
        false
    }

    fn name(&self) -> &'static str {
        "off"
    }

    fn is_canonical(&self) -> bool {
        true
    }

    fn renames(&self) -> bool {
        false
    }
}
