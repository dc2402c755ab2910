//! Systems whose infinite runs are judged.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Successors, System};

/// What threads are called in one state, as seen from another: a renaming of threads.
pub trait Names: Copy {
    /// Whether anybody asks for names.
    const ASKED: bool;

    /// The identity renaming.
    const OWN: Self;

    /// The renaming that gives thread `t` the name `new(t)`.
    fn of(new: impl Fn(u32) -> u32) -> Self;

    /// Undoes `last`, then renames by `self`.
    fn before(self, last: Self) -> Self;
}

/// Nobody asks for names.
impl Names for () {
    const ASKED: bool = false;
    const OWN: () = ();

    #[inline]
    fn of(_: impl Fn(u32) -> u32) {}

    #[inline]
    fn before(self, (): ()) {}
}

/// What has been met on a part of a run; a cycle is reported when it has met everything.
pub trait Marks: Copy {
    /// What marks have to know about the names of threads: nothing, `()`, unless they are about threads.
    type Names: Names;

    /// Nothing was met.
    const NONE: Self;

    /// The same, with threads called by their new names.
    #[inline]
    fn renamed(self, _names: Self::Names) -> Self {
        self
    }

    /// Adds that a run can go on so that the thread `one(t)` has the part that the thread `other(t)` had, for all `t`.
    #[inline]
    fn identify(&mut self, _one: Self::Names, _other: Self::Names) {}

    /// Adds what `other` has met.
    fn add(&mut self, other: Self);

    /// Whether everything was met.
    fn is_full(self) -> bool;

    /// Whether `self` has anything that `other` lacks.
    fn exceeds(self, other: Self) -> bool;

    /// Marks that several threads add to; nothing was met at first.
    type Shared: Default + Send + Sync;

    /// Adds to what threads share, without [names](Marks::identify); gives all that was met by then.
    fn add_to(self, shared: &Self::Shared) -> Self;

    /// What threads have met.
    fn met_in(shared: &Self::Shared) -> Self;
}

/// Up to 64 acceptance sets; sets that do not exist are met from the start.
impl Marks for u64 {
    type Names = ();
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

    type Shared = AtomicU64;

    #[inline]
    fn add_to(self, shared: &AtomicU64) -> u64 {
        shared.fetch_or(self, Ordering::Relaxed) | self
    }

    #[inline]
    fn met_in(shared: &AtomicU64) -> u64 {
        shared.load(Ordering::Relaxed)
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
