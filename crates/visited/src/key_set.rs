//! A set of 64-bit keys: open addressing.

use crate::directory::{Directory, Segment, home};
use crate::hash::mix;
use crate::memory::Zeroed;
use crate::prefetch;

#[derive(Debug, Default)]
pub(crate) struct KeySet {
    directory: Directory<Keys>,
    /// The key 0 marks free slots: whether it is in the set is kept apart.
    zero: bool,
}

/// Slots; 0 is free.
#[derive(Debug)]
struct Keys {
    slots: Zeroed<u64>,
    len: usize,
}

impl Default for Keys {
    fn default() -> Self {
        Keys::with_units(0)
    }
}

impl Keys {
    /// The slot holding `key`, or the free one where it belongs. There must be a free slot.
    #[inline(always)]
    fn find(&self, key: u64, hash: u64, depth: u32) -> usize {
        let mut slot = home(hash, depth, self.slots.len());
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
}

impl Segment for Keys {
    fn with_units(units: usize) -> Self {
        Keys { slots: Zeroed::new(units), len: 0 }
    }

    fn units(&self) -> usize {
        self.slots.len()
    }

    // 32 MiB.
    const MOST_UNITS: usize = 1 << 22;

    fn next_units(units: usize) -> usize {
        // Small tables double; large ones grow by less, so that little is wasted.
        if units < 1 << 12 { (units * 2).max(16) } else { (units + units / 5).min(Self::MOST_UNITS) }
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        // At most five in six slots are used: about six are looked at for a key that is there.
        (self.len + 1) * 6 > self.slots.len() * 5
    }

    fn move_into(&mut self, new_depth: u32, lower: &mut Self, mut upper: Option<&mut Self>) {
        for &key in self.slots.iter().filter(|k| **k != 0) {
            let hash = mix(key);
            let to = match &mut upper {
                Some(upper) if hash >> (64 - new_depth) & 1 == 1 => &mut **upper,
                _ => &mut *lower,
            };
            let slot = to.find(key, hash, new_depth);
            to.slots[slot] = key;
            to.len += 1;
        }
    }

    fn bytes(&self) -> usize {
        self.slots.bytes()
    }
}

impl KeySet {
    /// Starts loading the slot of a key.
    #[inline(always)]
    pub(crate) fn prefetch(&self, key: u64) {
        let hash = mix(key);
        let (keys, depth) = self.directory.segment(hash);
        prefetch(&keys.slots, home(hash, depth, keys.slots.len()));
    }

    /// Adds a key; `false` when it was there.
    #[inline(always)]
    pub(crate) fn insert(&mut self, key: u64) -> bool {
        if key == 0 {
            return !std::mem::replace(&mut self.zero, true);
        }
        let hash = mix(key);
        let (keys, depth) = self.directory.segment_with_room(hash);
        let slot = keys.find(key, hash, depth);
        // SAFETY: `find` gives a slot of the segment.
        let slot = unsafe { keys.slots.get_unchecked_mut(slot) };
        if *slot == key {
            return false;
        }
        *slot = key;
        keys.len += 1;
        self.directory.added();
        true
    }

    #[inline(always)]
    pub(crate) fn contains(&self, key: u64) -> bool {
        if key == 0 {
            return self.zero;
        }
        let hash = mix(key);
        let (keys, depth) = self.directory.segment(hash);
        !keys.slots.is_empty() && keys.slots[keys.find(key, hash, depth)] == key
    }

    pub(crate) fn len(&self) -> u64 {
        self.directory.len() + u64::from(self.zero)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.directory.bytes()
    }
}
