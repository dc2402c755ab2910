//! Which states wait in the next level of a breadth-first search. Exact: an entry is a place in the frontier, and the state
//! found there is compared. Filled lazily; most searches never need it. Never cleared: places of earlier levels are told by their size.

use crate::frontier::Frontier;

/// A hash table of places in the next level.
#[derive(Debug)]
pub(crate) struct OpenLevel {
    /// The upper bits of the hash, and below them the place, counted on from level to level; a power of two of them.
    slots: Vec<u64>,
    /// Entries of this level; at most half as many as slots.
    len: usize,
    /// The first place of this level.
    base: u64,
    /// Everything before this place of the level is in the table.
    filled: usize,
}

/// Bits of a slot that hold a place.
const PLACE_BITS: u32 = 40;
const PLACE: u64 = (1 << PLACE_BITS) - 1;

impl Default for OpenLevel {
    fn default() -> Self {
        // An empty slot looks like a place of an earlier level.
        OpenLevel { slots: Vec::new(), len: 0, base: 1, filled: 0 }
    }
}

impl OpenLevel {
    /// Adds the states of the level that are not in the table yet.
    #[inline]
    fn fill(&mut self, next: &Frontier) {
        while let Some((added, after)) = next.at(self.filled) {
            if 2 * (self.len + 1) > self.slots.len() {
                self.grow(next);
            }
            let hash = hash(added.state);
            self.put(hash, self.base + self.filled as u64);
            self.len += 1;
            self.filled = after;
        }
    }

    #[inline]
    fn put(&mut self, hash: u64, place: u64) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] & PLACE >= self.base {
            at = (at + 1) & mask;
        }
        self.slots[at] = (hash & !PLACE) | place;
    }

    #[cold]
    fn grow(&mut self, next: &Frontier) {
        let larger = vec![0; (2 * self.slots.len()).max(64)];
        for slot in std::mem::replace(&mut self.slots, larger) {
            let place = slot & PLACE;
            if place >= self.base
                && let Some((known, _)) = next.at((place - self.base) as usize)
            {
                self.put(hash(known.state), place);
            }
        }
    }

    /// Does the state wait in `next`?
    #[inline]
    pub(crate) fn contains(&mut self, state: &[u64], next: &Frontier) -> bool {
        self.fill(next);
        if self.slots.is_empty() {
            return false;
        }
        let (hash, mask) = (hash(state), self.slots.len() - 1);
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            let place = slot & PLACE;
            if place < self.base {
                return false;
            }
            if (slot ^ hash) & !PLACE == 0
                && next.at((place - self.base) as usize).is_some_and(|(s, _)| s.state == state)
            {
                return true;
            }
            at = (at + 1) & mask;
        }
    }

    /// Forgets everything: the next level, `next`, becomes the current one.
    pub(crate) fn clear(&mut self, next: &Frontier) {
        self.filled = 0;
        self.len = 0;
        self.base += next.places() as u64;
        // A search of that many places is none of our time; but places must not wrap around.
        if self.base > PLACE / 2 {
            self.slots.fill(0);
            self.base = 1;
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.slots.capacity() as u64 * 8
    }
}

/// A quick one: a collision costs a comparison.
#[inline(always)]
fn hash(state: &[u64]) -> u64 {
    let mut hash = 0u64;
    for word in state {
        hash = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash ^= hash >> 32;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_in_the_level() {
        let mut next = Frontier::default();
        let mut open = OpenLevel::default();
        for n in 0..1000u64 {
            next.push(&[n, 2 * n], &[]);
            if n % 100 == 50 {
                assert!(open.contains(&[n, 2 * n], &next));
            }
        }
        for n in 0..1000 {
            assert!(open.contains(&[n, 2 * n], &next));
            assert!(!open.contains(&[n, 2 * n + 1], &next));
            assert!(!open.contains(&[n], &next));
        }
        for _ in 0..3 {
            open.clear(&next);
            next.clear();
            assert!(!open.contains(&[3, 6], &next));
            next.push(&[4, 8], &[]);
            assert!(open.contains(&[4, 8], &next));
            assert!(!open.contains(&[3, 6], &next));
        }
    }
}
