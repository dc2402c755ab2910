//! Which states are on the stack of a depth-first search: by their keys, since two states with one key only make the
//! search more careful.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Keys are hashes already.
#[derive(Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        // The top bits choose the bucket's tag, the low ones the bucket.
        self.0 = key ^ key >> 32;
    }
}

/// A bag of keys.
#[derive(Debug, Default)]
pub(crate) struct OnStack {
    counts: HashMap<u64, u32, BuildHasherDefault<KeyHasher>>,
}

impl OnStack {
    pub(crate) fn push(&mut self, key: u64) {
        *self.counts.entry(key).or_insert(0) += 1;
    }

    pub(crate) fn pop(&mut self, key: u64) {
        if let Some(count) = self.counts.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&key);
            }
        }
    }

    pub(crate) fn contains(&self, key: u64) -> bool {
        self.counts.contains_key(&key)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.counts.capacity() * 17
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_bag() {
        let mut stack = OnStack::default();
        stack.push(7);
        stack.push(7);
        stack.pop(7);
        assert!(stack.contains(7));
        stack.pop(7);
        assert!(!stack.contains(7));
    }
}
