//! A set of 64-bit keys: linear probing in order of the hash.
//!
//! What is stored is the hash, and the hash is a bijection, so nothing is lost. The slots of a segment are sorted by it
//! (Amble and Knuth, "Ordered hash tables", 1974): a search ends at the first greater entry, so that a key which is not
//! there is found missing as fast as another one is found, also in a full table; and a segment is moved to a larger one in
//! a single pass from left to right.

use crate::directory::{Directory, Route, Segment, home};
use crate::hash::bijective;
use crate::memory::Zeroed;
use crate::prefetch_at;

#[derive(Debug, Default)]
pub(crate) struct KeySet {
    directory: Directory<Hashes>,
    /// The hash 0 marks free slots: whether it is in the set is kept apart.
    zero: bool,
}

/// Hashes in order, with gaps; 0 is free. Behind the last home there is room for entries pushed beyond it.
#[derive(Debug)]
struct Hashes {
    slots: Zeroed<u64>,
    homes: usize,
    len: usize,
    /// Entries were pushed so far beyond the last home that there is hardly any room left.
    crowded: bool,
}

/// Slots behind the last home.
const BEYOND: usize = 64;

/// Slots at the end that stay free.
const SPARE: usize = 8;

/// The slot of `hash`, or the one where it belongs (free, or holding a greater hash), with what it holds.
#[inline(always)]
fn find(route: Route, hash: u64) -> (usize, u64) {
    let slots = route.start.cast::<u64>();
    let mut slot = home(hash, route.depth, route.units);
    // SAFETY: `home` is below the number of homes; there is a free slot behind it with `SPARE` slots after it, and the count
    // ends there.
    unsafe {
        loop {
            // How many of the next slots hold something smaller: since they are in order, these come first. A free slot, 0,
            // counts as the greatest number. Counting takes no decision that a processor could guess wrongly.
            let smaller = |ahead: usize| usize::from((*slots.add(slot + ahead)).wrapping_sub(1) < hash - 1);
            let count = smaller(0) + smaller(1) + smaller(2) + smaller(3);
            slot += count;
            if count < 4 {
                return (slot, *slots.add(slot));
            }
        }
    }
}

impl Hashes {
    /// Puts a hash at the slot that `find` gave, moving what is there and behind it.
    #[inline(always)]
    fn insert_at(&mut self, slot: usize, hash: u64) {
        // SAFETY: the last slot is always free, so the search for a free one ends inside.
        unsafe {
            let start = self.slots.as_mut_ptr();
            let mut at = start.add(slot);
            let mut carried = hash;
            while carried != 0 {
                carried = std::mem::replace(&mut *at, carried);
                at = at.add(1);
            }
            self.crowded |= at.offset_from_unsigned(start) + SPARE >= self.slots.len();
        }
        self.len += 1;
    }
}

impl Segment for Hashes {
    fn with_units(units: usize) -> Self {
        let slots = Zeroed::growing(units + BEYOND, Self::MOST_UNITS + BEYOND);
        Hashes { slots, homes: units, len: 0, crowded: false }
    }

    fn units(&self) -> usize {
        self.homes
    }

    fn start(&self) -> *const u8 {
        self.slots.as_ptr().cast()
    }

    const FIRST_UNITS: usize = 16;

    // 32 MiB.
    const MOST_UNITS: usize = 1 << 22;

    fn next_units(units: usize) -> usize {
        // Small tables double; large ones grow by less, so that little is wasted.
        if units < 1 << 12 { (units * 2).max(16) } else { (units + units / 4).min(Self::MOST_UNITS) }
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        // At most five in six slots are used.
        (self.len + 1) * 6 > self.homes * 5 || self.crowded
    }

    fn move_into(&mut self, new_depth: u32, lower: &mut Self, mut upper: Option<&mut Self>) {
        // In order: each entry goes to its home or right behind the one before.
        let mut free = [0, 0];
        for &hash in self.slots.iter().filter(|h| **h != 0) {
            let to_upper = upper.is_some() && hash >> (64 - new_depth) & 1 == 1;
            let to = match &mut upper {
                Some(upper) if to_upper => &mut **upper,
                _ => &mut *lower,
            };
            let free = &mut free[usize::from(to_upper)];
            let slot = home(hash, new_depth, to.homes).max(*free);
            to.crowded |= slot + SPARE >= to.slots.len();
            to.slots[slot] = hash;
            to.len += 1;
            *free = slot + 1;
        }
    }

    fn grow(&mut self, depth: u32, units: usize) {
        if !self.slots.grow(units + BEYOND) {
            let mut larger = Self::with_units(units);
            self.move_into(depth, &mut larger, None);
            *self = larger;
            return;
        }
        // In place, so that no memory is given back to be cleared again. First all entries move to the far end, from
        // right to left: that end is at least as far from the old end as the entries moved so far are many.
        let slots = &mut *self.slots;
        let (start, end) = (slots.as_mut_ptr(), slots.len());
        let mut first = end;
        // SAFETY: `first` is never smaller than the number of slots not looked at yet, so `first - 1` is at least `from`. A
        // free slot's 0 is written there too, which does no harm: what lies between is free.
        unsafe {
            for from in (0..self.homes + BEYOND).rev() {
                let hash = std::mem::replace(&mut *start.add(from), 0);
                *start.add(first - 1) = hash;
                first -= usize::from(hash != 0);
            }
        }
        // Then each goes to its home or right behind the one before, from left to right. It never passes its own place:
        // the entries behind it need the slots behind it.
        let mut free = 0;
        for from in first..end {
            // SAFETY: `from` is below the end, and so is `slot`, by the assertion.
            unsafe {
                let hash = std::mem::replace(&mut *start.add(from), 0);
                let slot = home(hash, depth, units).max(free);
                assert!(slot <= from, "entries fit in order");
                *start.add(slot) = hash;
                free = slot + 1;
            }
        }
        self.homes = units;
        self.crowded = free + SPARE > end;
    }

    fn bytes(&self) -> usize {
        self.slots.bytes()
    }
}

/// What the set keeps of a key: a hash without loss.
#[inline(always)]
pub(crate) fn key_hash(key: u64) -> u64 {
    bijective(key)
}

impl KeySet {
    /// Starts loading the slot of a key with this [`key_hash`].
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        let route = self.directory.route(hash);
        // The address is inside the segment; nothing depends on that.
        prefetch_at(route.start.cast::<u64>().wrapping_add(home(hash, route.depth, route.units)));
    }

    /// Adds a key, given its [`key_hash`]; `false` when it was there.
    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        if hash == 0 {
            return !std::mem::replace(&mut self.zero, true);
        }
        let (slot, held) = find(self.directory.route(hash), hash);
        if held == hash {
            return false;
        }
        self.insert_new(hash, slot);
        true
    }

    /// Adds keys, given their [`key_hash`]es; `new` gets the numbers of those that were not there.
    #[inline(never)]
    pub(crate) fn insert_all(&mut self, hashes: &[u64], new: &mut Vec<u32>) {
        new.reserve(hashes.len());
        let mut len = new.len();
        for (number, &hash) in hashes.iter().enumerate() {
            // SAFETY: room for one number per key was reserved.
            unsafe { *new.as_mut_ptr().add(len) = number as u32 };
            len += usize::from(self.insert(hash));
        }
        // SAFETY: so many were written.
        unsafe { new.set_len(len) };
    }

    #[inline(always)]
    fn insert_new(&mut self, hash: u64, mut slot: usize) {
        if self.directory.make_room_for(hash) {
            slot = find(self.directory.route(hash), hash).0;
        }
        self.directory.segment_mut(hash).insert_at(slot, hash);
        self.directory.added();
    }

    #[inline(always)]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        if hash == 0 { self.zero } else { find(self.directory.route(hash), hash).1 == hash }
    }

    pub(crate) fn len(&self) -> u64 {
        self.directory.len() + u64::from(self.zero)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.directory.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_set_also_when_hashes_are_crowded() {
        let mut set = KeySet::default();
        // Keys whose hashes are neighbours: the inverse of the bijection is not needed, a search for them is enough.
        let mut keys: Vec<u64> = (0..200_000u64).collect();
        keys.sort_by_key(|k| bijective(*k));
        for &key in keys.iter().take(3000).chain(keys.iter().rev().take(3000)) {
            let key = key_hash(key);
            assert!(!set.contains(key));
            assert!(set.insert(key));
            assert!(!set.insert(key));
        }
        for &key in &keys {
            let key = key_hash(key);
            let there = set.contains(key);
            assert_eq!(set.insert(key), !there);
        }
        assert_eq!(set.len(), 200_000);
    }

    #[test]
    fn grows_in_place() {
        let mut set = KeySet::default();
        let hash = |k: u64| key_hash(k * 3 + 1);
        for k in 0..1_000_000 {
            assert!(set.insert(hash(k)));
        }
        assert!((0..1_000_000).all(|k| set.contains(hash(k)) && !set.insert(hash(k))));
        assert!((1_000_000..1_100_000).all(|k| !set.contains(hash(k))));
        assert_eq!(set.len(), 1_000_000);
    }
}
