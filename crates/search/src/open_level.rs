//! Which states wait in the next level of a breadth-first search. Exact: an entry is a place in the frontier, and the state
//! found there is compared.

use crate::frontier::Frontier;

/// A hash table of places in the next level.
#[derive(Debug, Default)]
pub(crate) struct OpenLevel {
    /// Key and place + 1; a power of two, at most half full.
    slots: Vec<(u64, u64)>,
    len: usize,
}

impl OpenLevel {
    /// Adds the state at a place of the next level.
    #[inline]
    pub(crate) fn add(&mut self, key: u64, place: usize) {
        if 2 * (self.len + 1) > self.slots.len() {
            self.grow();
        }
        self.put((key, place as u64 + 1));
        self.len += 1;
    }

    fn put(&mut self, entry: (u64, u64)) {
        let mask = self.slots.len() - 1;
        let mut at = home(entry.0) & mask;
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
    pub(crate) fn contains(&self, key: u64, state: &[u64], next: &Frontier) -> bool {
        if self.slots.is_empty() {
            return false;
        }
        let mask = self.slots.len() - 1;
        let mut at = home(key) & mask;
        while self.slots[at].1 != 0 {
            if self.slots[at].0 == key && next.state_at(self.slots[at].1 as usize - 1) == state {
                return true;
            }
            at = (at + 1) & mask;
        }
        false
    }

    /// Forgets everything: the next level has become the current one.
    pub(crate) fn clear(&mut self) {
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

fn home(key: u64) -> usize {
    (key ^ key >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_with_one_key_are_told_apart() {
        let mut next = Frontier::default();
        let mut open = OpenLevel::default();
        for n in 0..1000u64 {
            let place = next.push(&[n, 2 * n], &[]);
            open.add(n % 10, place);
        }
        for n in 0..1000 {
            assert!(open.contains(n % 10, &[n, 2 * n], &next));
            assert!(!open.contains(n % 10, &[n, 2 * n + 1], &next));
            assert!(!open.contains(10, &[n, 2 * n], &next));
        }
        open.clear();
        assert!(!open.contains(3, &[3, 6], &next));
    }
}
