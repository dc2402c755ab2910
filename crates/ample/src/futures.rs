//! Who may still touch what, kept up to date from one state to the next.
//!
//! For every thing, the set of threads that may still touch it and of those that may still write it. Most steps change
//! nothing here (a thread in a loop may always still do everything the loop does), so keeping the sets costs a comparison
//! per thread, and the threads that get in the way of a step are found by looking up the few things it touches.

use crate::objects::Mask;
use crate::tables::ones;

/// Sets of threads per thing; one bit per thread.
#[derive(Debug)]
pub struct Futures {
    touching: [u64; 128],
    writing: [u64; 128],
    /// The number of each thread's future.
    current: Vec<u32>,
    /// Counts the changes.
    version: u64,
}

impl Default for Futures {
    fn default() -> Self {
        Futures { touching: [0; 128], writing: [0; 128], current: Vec::new(), version: 1 }
    }
}

/// The most threads a set holds.
pub const MOST_THREADS: usize = 64;

impl Futures {
    /// A thread has the future with this number.
    #[inline]
    pub fn set(&mut self, thread: usize, future: u32, all: &[Mask]) {
        if self.current.get(thread) != Some(&future) {
            self.change(thread, future, all);
        }
    }

    /// The number of a thread's future.
    pub fn of(&self, thread: usize) -> Option<u32> {
        self.current.get(thread).copied()
    }

    /// There are only so many threads.
    #[inline]
    pub fn truncate(&mut self, threads: usize, all: &[Mask]) {
        for thread in threads..self.current.len() {
            self.set(thread, 0, all);
        }
    }

    /// A number that no earlier state of these sets had.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// What was found out with these sets holds no longer.
    #[cold]
    pub fn outdate(&mut self) {
        self.version += 1;
    }

    #[cold]
    fn change(&mut self, thread: usize, future: u32, all: &[Mask]) {
        if self.current.len() <= thread {
            self.current.resize(thread + 1, 0);
        }
        let old = all[std::mem::replace(&mut self.current[thread], future) as usize];
        let new = all[future as usize];
        self.version += 1;
        for bit in ones((old.read | old.write) ^ (new.read | new.write)) {
            self.touching[usize::from(bit)] ^= 1 << thread;
        }
        for bit in ones(old.write ^ new.write) {
            self.writing[usize::from(bit)] ^= 1 << thread;
        }
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
        let all = [Mask::default(), Mask { read: 0b110, write: 0b1000 }, Mask { read: 0b10, write: 0b10 }];
        let mut futures = Futures::default();
        futures.set(0, 1, &all);
        futures.set(3, 2, &all);
        assert_eq!(futures.in_the_way(&[1], &[]), 0b1001);
        assert_eq!(futures.in_the_way(&[], &[1]), 0b1000);
        assert_eq!(futures.in_the_way(&[], &[2, 3]), 0b0001);
        futures.set(0, 2, &all);
        assert_eq!(futures.in_the_way(&[], &[1]), 0b1001);
        futures.truncate(2, &all);
        assert_eq!(futures.in_the_way(&[1, 2, 3], &[]), 0b0001);
    }
}
