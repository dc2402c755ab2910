//! A set of nonzero 64-bit keys: open addressing in segments that grow by a fifth.

use crate::directory::{Directory, Segment};
use crate::hash::mix;
use crate::prefetch;

#[derive(Debug, Default)]
pub(crate) struct KeySet {
    directory: Directory<Keys>,
}

/// Slots; 0 is free.
#[derive(Debug, Default)]
struct Keys {
    slots: Box<[u64]>,
    len: u32,
}

/// Slot for a hash in a segment of `capacity` slots, without dividing.
#[inline(always)]
fn home(hash: u64, capacity: usize) -> usize {
    // The top bits chose the segment: use the low half.
    ((u64::from(hash as u32) * capacity as u64) >> 32) as usize
}

impl Keys {
    /// The slot holding `key`, or the free one where it belongs. The segment is never full.
    #[inline(always)]
    fn find(&self, key: u64, hash: u64) -> usize {
        let mut slot = home(hash, self.slots.len());
        loop {
            // SAFETY: `home` is below the capacity, and wrapping keeps `slot` there.
            let found = unsafe { *self.slots.get_unchecked(slot) };
            if found == key || found == 0 {
                return slot;
            }
            slot += 1;
            if slot == self.slots.len() {
                slot = 0;
            }
        }
    }

    #[inline(always)]
    fn insert(&mut self, key: u64, hash: u64) -> bool {
        // At most four in five slots are used.
        if (self.len as usize + 1) * 5 > self.slots.len() * 4 {
            self.grow();
        }
        let slot = self.find(key, hash);
        if self.slots[slot] == key {
            return false;
        }
        self.slots[slot] = key;
        self.len += 1;
        true
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let capacity = (self.slots.len() + self.slots.len() / 5).max(8).next_multiple_of(8);
        let old = std::mem::replace(&mut self.slots, vec![0; capacity].into_boxed_slice());
        for &key in old.iter().filter(|k| **k != 0) {
            let slot = self.find(key, mix(key));
            self.slots[slot] = key;
        }
    }
}

impl Segment for Keys {
    fn bytes(&self) -> usize {
        self.slots.len() * 8
    }

    fn drain_into(self, to: &mut dyn FnMut(u64) -> *mut Self) {
        for &key in self.slots.iter().filter(|k| **k != 0) {
            let hash = mix(key);
            // SAFETY: `to` gives a live segment of the new directory, different from `self`.
            unsafe { &mut *to(hash) }.insert(key, hash);
        }
    }
}

impl KeySet {
    /// Starts loading the slot of a key.
    #[inline(always)]
    pub(crate) fn prefetch(&self, key: u64) {
        let hash = mix(key);
        let keys = self.directory.segment(hash);
        prefetch(&keys.slots, home(hash, keys.slots.len()));
    }

    /// Adds a key that is not 0; `false` when it was there.
    #[inline(always)]
    pub(crate) fn insert(&mut self, key: u64) -> bool {
        debug_assert_ne!(key, 0);
        let hash = mix(key);
        let new = self.directory.segment_mut(hash).insert(key, hash);
        if new {
            self.directory.added();
        }
        new
    }

    #[inline(always)]
    pub(crate) fn contains(&self, key: u64) -> bool {
        let hash = mix(key);
        let keys = self.directory.segment(hash);
        !keys.slots.is_empty() && keys.slots[keys.find(key, hash)] == key
    }

    pub(crate) fn len(&self) -> u64 {
        self.directory.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.directory.bytes()
    }
}
