//! Which states are on the stack of a depth-first search: by their keys, since two states with one key only make the
//! search more careful.

/// A bag of keys: linear probing, no marks for what was removed.
#[derive(Debug, Default)]
pub(crate) struct OnStack {
    /// Keys + 1, 0 is free; a power of two, at most half full.
    slots: Vec<u64>,
    len: usize,
}

/// Keys are hashes; where they start is a matter of their low bits. The largest key shares the slot value of the one
/// below it.
fn held(key: u64) -> u64 {
    key.saturating_add(1)
}

impl OnStack {
    fn home(&self, held: u64) -> usize {
        (held ^ held >> 32) as usize & (self.slots.len() - 1)
    }

    pub(crate) fn push(&mut self, key: u64) {
        if 2 * (self.len + 1) > self.slots.len() {
            let larger = vec![0; (2 * self.slots.len()).max(64)];
            for held in std::mem::replace(&mut self.slots, larger) {
                if held != 0 {
                    self.put(held);
                }
            }
        }
        self.put(held(key));
        self.len += 1;
    }

    fn put(&mut self, held: u64) {
        let mut at = self.home(held);
        while self.slots[at] != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = held;
    }

    /// The slot of a key, or the free one that ends the search for it.
    fn find(&self, held: u64) -> usize {
        let mut at = self.home(held);
        while self.slots[at] != 0 && self.slots[at] != held {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    /// Takes out one of the key's entries; what was pushed on by it moves back.
    pub(crate) fn pop(&mut self, key: u64) {
        let mask = self.slots.len() - 1;
        let mut hole = self.find(held(key));
        self.len -= 1;
        let mut at = hole;
        loop {
            self.slots[hole] = 0;
            loop {
                at = (at + 1) & mask;
                if self.slots[at] == 0 {
                    return;
                }
                // It may move to the hole unless its home lies after the hole.
                let home = self.home(self.slots[at]);
                if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                    break;
                }
            }
            self.slots[hole] = self.slots[at];
            hole = at;
        }
    }

    pub(crate) fn contains(&self, key: u64) -> bool {
        !self.slots.is_empty() && self.slots[self.find(held(key))] != 0
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_bag() {
        let mut stack = OnStack::default();
        let mut reference: Vec<u64> = Vec::new();
        let mut seed = 1u64;
        for step in 0..20_000u64 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Few keys, so that some are there twice and many meet.
            let key = (seed >> 33) % 97 * 64;
            if reference.len() > 200 || (seed >> 60).is_multiple_of(2) && !reference.is_empty() {
                let key = reference.swap_remove((seed >> 40) as usize % reference.len());
                stack.pop(key);
            } else {
                stack.push(key);
                reference.push(key);
            }
            for key in (0..100).map(|k| k * 64) {
                assert_eq!(stack.contains(key), reference.contains(&key), "step {step}");
            }
        }
        stack.push(u64::MAX);
        assert!(stack.contains(u64::MAX));
    }
}
