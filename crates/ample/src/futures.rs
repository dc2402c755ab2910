//! Who may still touch what.
//!
//! For every thing, the set of threads that may still touch it and of those that may still write it: the threads that get in the
//! way of a step are found by looking up the few things it touches. From one state to the next little changes.

use crate::objects::Mask;
use crate::tables::ones;

/// Sets of threads per thing; one bit per thread.
#[derive(Clone, Debug)]
pub struct Futures {
    touching: [u64; 128],
    writing: [u64; 128],
}

/// The most threads a set holds.
pub const MOST_THREADS: usize = 64;

impl Default for Futures {
    fn default() -> Self {
        Futures { touching: [0; 128], writing: [0; 128] }
    }
}

impl Futures {
    /// The future of a thread changes. Gives the things whose sets did.
    pub fn change(&mut self, thread: usize, old: Mask, new: Mask) -> u128 {
        let (touched, written) = ((old.read | old.write) ^ (new.read | new.write), old.write ^ new.write);
        for bit in ones(touched) {
            self.touching[usize::from(bit)] ^= 1 << thread;
        }
        for bit in ones(written) {
            self.writing[usize::from(bit)] ^= 1 << thread;
        }
        touched | written
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
    fn sets_follow_the_threads() {
        let (a, b) = (Mask { read: 0b110, write: 0b1000 }, Mask { read: 0b10, write: 0b10 });
        let mut futures = Futures::default();
        futures.change(0, Mask::default(), a);
        futures.change(3, Mask::default(), b);
        assert_eq!(futures.in_the_way(&[1], &[]), 0b1001);
        assert_eq!(futures.in_the_way(&[], &[1]), 0b1000);
        assert_eq!(futures.in_the_way(&[], &[2, 3]), 0b0001);
        assert_eq!(futures.writing(3), 0b0001);
        futures.change(0, a, b);
        assert_eq!(futures.in_the_way(&[], &[1]), 0b1001);
        futures.change(3, b, Mask::default());
        assert_eq!(futures.in_the_way(&[1, 2, 3], &[]), 0b0001);
    }
}
