//! Systems whose infinite runs are judged.

use crate::{Successors, System};

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

/// Up to 64 acceptance sets; sets that do not exist are met from the start.
impl Marks for u64 {
    const NONE: u64 = 0;

    #[inline]
    fn add(&mut self, other: u64) {
        *self |= other;
    }

    #[inline]
    fn is_full(self) -> bool {
        self == u64::MAX
    }

    fn exceeds(self, other: u64) -> bool {
        self & !other != 0
    }
}

/// A system with a generalised Büchi condition: a run is reported when it meets every mark infinitely often, in its states
/// or on its steps. Every state of a run must have a successor: a system that stops repeats its last state.
pub trait Omega: System {
    /// The marks.
    type Marks: Marks;

    /// A state may be a core and one of this many layers, such as the location of an automaton that watches: a search stores
    /// the cores once and keeps a little for each layer.
    fn layers(&self) -> u32 {
        1
    }

    /// Takes the layer out of a state, leaving the core.
    fn take_layer(&self, _state: &mut [u64]) -> u32 {
        0
    }

    /// Makes a core a state again.
    fn put_layer(&self, _state: &mut [u64], _layer: u32) {}

    /// The marks of a state.
    fn state_marks(&mut self, state: &[u64]) -> Self::Marks;

    /// The marks of the steps to `successors`, which are what [`System::successors`] gave for `state` and all threads; left
    /// empty when steps have none.
    fn step_marks(&mut self, state: &[u64], successors: &Successors, steps: &mut Vec<Self::Marks>);
}
