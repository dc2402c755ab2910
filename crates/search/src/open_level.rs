//! Which states wait in the next level of a breadth-first search. Exact: an entry is a place in the frontier, and the state
//! found there is compared. Filled when first asked: most searches seldom do.

use crate::frontier::Frontier;

/// A hash table of places in the next level.
#[derive(Debug, Default)]
pub(crate) struct OpenLevel {
    /// Hash and place + 1; a power of two, at most half full.
    slots: Vec<(u64, u64)>,
    len: usize,
    /// Everything before this place of the level is in the table.
    filled: usize,
}

impl OpenLevel {
    /// Adds the state at a place of the next level.
    fn add(&mut self, state: &[u64], place: usize) {
        if 2 * (self.len + 1) > self.slots.len() {
            self.grow();
        }
        self.put((hash(state), place as u64 + 1));
        self.len += 1;
    }

    fn put(&mut self, entry: (u64, u64)) {
        let mask = self.slots.len() - 1;
        let mut at = entry.0 as usize & mask;
        while self.slots[at].1 != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = entry;
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![(0, 0); (2 * self.slots.len()).max(64)];
        for entry in std::mem::replace(&mut self.slots, larger) {
            if entry.1 != 0 {
                self.put(entry);
            }
        }
    }

    /// Does the state wait in `next`?
    pub(crate) fn contains(&mut self, state: &[u64], next: &Frontier) -> bool {
        while let Some((added, after)) = next.state_at(self.filled) {
            self.add(added, self.filled);
            self.filled = after;
        }
        if self.slots.is_empty() {
            return false;
        }
        let (hash, mask) = (hash(state), self.slots.len() - 1);
        let mut at = hash as usize & mask;
        while self.slots[at].1 != 0 {
            if self.slots[at].0 == hash
                && next.state_at(self.slots[at].1 as usize - 1).is_some_and(|(s, _)| s == state)
            {
                return true;
            }
            at = (at + 1) & mask;
        }
        false
    }

    /// Forgets everything: the next level has become the current one.
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
        if self.len == 0 {
            return;
        }
        // Small after a large level, so that clearing costs no more than filling did.
        let wanted = (4 * self.len).next_power_of_two().max(64);
        self.slots.truncate(wanted);
        self.slots.fill((0, 0));
        self.len = 0;
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.slots.capacity() as u64 * 16
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
        open.clear();
        next.clear();
        assert!(!open.contains(&[3, 6], &next));
    }
}
