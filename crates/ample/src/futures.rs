//! Who may still touch what.
//!
//! For every thing, the set of threads that may still touch it and of those that may still write it: the threads that get in the
//! way of a step are found by looking up the few things it touches.

use crate::objects::Mask;
use crate::tables::ones;

/// Sets of threads per thing; one bit per thread.
#[derive(Debug)]
pub struct Futures {
    touching: [u64; 128],
    writing: [u64; 128],
}

/// The most threads a set holds.
pub const MOST_THREADS: usize = 64;

impl Futures {
    /// The sets of threads with these futures; there are at most [`MOST_THREADS`].
    pub fn new(futures: impl Iterator<Item = Mask>) -> Futures {
        let mut sets = Futures { touching: [0; 128], writing: [0; 128] };
        for (thread, future) in futures.enumerate() {
            for bit in ones(future.read | future.write) {
                sets.touching[usize::from(bit)] |= 1 << thread;
            }
            for bit in ones(future.write) {
                sets.writing[usize::from(bit)] |= 1 << thread;
            }
        }
        sets
    }

    /// The threads that may still touch one of the things `written` or write one of the things `read`.
    #[inline]
    pub fn in_the_way(&self, written: &[u8], read: &[u8]) -> u64 {
        let touching = written.iter().fold(0, |set, bit| set | self.touching[usize::from(*bit & 127)]);
        read.iter().fold(touching, |set, bit| set | self.writing[usize::from(*bit & 127)])
    }

    /// The threads that may still write a thing.
    #[inline]
    pub fn writing(&self, bit: u32) -> u64 {
        self.writing[bit as usize & 127]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_found_by_what_they_touch() {
        let (a, b) = (Mask { read: 0b110, write: 0b1000 }, Mask { read: 0b10, write: 0b10 });
        let futures = Futures::new([a, Mask::default(), Mask::default(), b].into_iter());
        assert_eq!(futures.in_the_way(&[1], &[]), 0b1001);
        assert_eq!(futures.in_the_way(&[], &[1]), 0b1000);
        assert_eq!(futures.in_the_way(&[], &[2, 3]), 0b0001);
        assert_eq!(futures.in_the_way(&[2, 4], &[]), 0b0001);
        assert_eq!(futures.writing(1), 0b1000);
    }
}
