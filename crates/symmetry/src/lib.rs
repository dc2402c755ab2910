//! The `Representative` seam: which state stands for this one?
//!
//! A representative maps a state to one of its symmetry class, the same for a given state every time.
//! It is *sound* when states with the same representative are bisimilar for the property asked; the
//! constructor of a representative establishes that or refuses. For now there is one, [`Identity`].

/// Chooses the state that stands for a class of states.
pub trait Representative {
    /// Replaces `state` by its representative, written to `out`; `false` when `state` stands for itself
    /// (and `out` was not touched).
    fn representative(&mut self, state: &[u64], out: &mut Vec<u64>) -> bool;

    /// The name reports use.
    fn name(&self) -> &'static str;
}

/// Every state stands for itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity;

impl Representative for Identity {
    #[inline]
    fn representative(&mut self, _state: &[u64], _out: &mut Vec<u64>) -> bool {
        false
    }

    fn name(&self) -> &'static str {
        "off"
    }
}
