//! The `Ample` seam: which of the enabled actions must be explored?
//!
//! An ample-set reduction proposes, before successors are generated, to explore one thread alone; the
//! search generates that thread's moves and asks the reduction to confirm (cycle proviso). For now
//! there is one implementation, [`All`].

use quotient_system::Scope;

/// Chooses the threads to explore from a state.
pub trait Ample {
    /// The moves that must be explored from `state`. [`Scope::All`] is always right.
    fn choose(&mut self, state: &[u64]) -> Scope;

    /// The name reports use.
    fn name(&self) -> &'static str;
}

/// Explores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct All;

impl Ample for All {
    #[inline]
    fn choose(&mut self, _state: &[u64]) -> Scope {
        Scope::All
    }

    fn name(&self) -> &'static str {
        "off"
    }
}
