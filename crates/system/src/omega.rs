//! Systems whose infinite runs are judged.

use crate::System;

/// What has been met on a part of a run; a cycle is reported when it has met everything.
pub trait Marks: Copy {
    /// Nothing was met.
    const NONE: Self;

    /// Adds what `other` has met.
    fn add(&mut self, other: Self);

    /// Whether everything was met.
    fn is_full(self) -> bool;

    /// Whether `self` has anything that `other` lacks.
    fn exceeds(self, other: Self) -> bool;
}

/// One acceptance set (Büchi).
impl Marks for bool {
    const NONE: bool = false;

    #[inline]
    fn add(&mut self, other: bool) {
        *self |= other;
    }

    #[inline]
    fn is_full(self) -> bool {
        self
    }

    fn exceeds(self, other: bool) -> bool {
        self && !other
    }
}

/// A system with a generalised Büchi condition: a run is reported when it meets every mark infinitely often, in its states
/// or on its steps. Every state of a run must have a successor: a system that stops repeats its last state.
pub trait Omega: System {
    /// The marks.
    type Marks: Marks;

    /// The marks of a state. Those of its steps are written to `steps`, one for each entry that
    /// [`System::successors`] gives for all threads; left empty when steps have none.
    fn judge(&mut self, state: &[u64], steps: &mut Vec<Self::Marks>) -> Self::Marks;
}
