//! Vector clocks: of each thread how much of it is known.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::protocol::THREADS;

/// A vector clock.
pub type Clock = [u32; THREADS];

/// How many components of clocks are in use: those of threads that have a number, in groups of eight. All others are 0.
static WIDTH: AtomicUsize = AtomicUsize::new(8);

/// There are so many threads with a number, or others with a component. It never gets less: what was in use is cleared.
pub fn note_threads(count: usize) {
    WIDTH.fetch_max(count.next_multiple_of(8).min(THREADS), Relaxed);
}

#[inline]
fn width() -> usize {
    WIDTH.load(Relaxed).min(THREADS)
}

/// Joins `from` into `into`.
#[inline]
pub fn join(into: &mut Clock, from: &Clock) {
    let width = width();
    for (a, b) in into[..width].iter_mut().zip(&from[..width]) {
        *a = (*a).max(*b);
    }
}

/// A clock of nobody.
#[inline]
pub fn clear(clock: &mut Clock) {
    clock[..width()].fill(0);
}
