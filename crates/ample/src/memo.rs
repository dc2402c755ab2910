//! What was found before: a cache, exact because whole keys are compared.
//!
//! What is proposed for a state depends on a few of its words ([`crate::layout`]); and so does, in programs with objects
//! ([`crate::frames`]), what can be said of a state's threads without executing their steps. There are far fewer such combinations than states.

/// Slots; a key may be in one of them only. Doubled while keys displace each other.
const FIRST: usize = 64;
/// The most that there should be of them.
pub(crate) const MOST: usize = 1 << 14;

/// Keys that are not found before it is asked whether enough others are.
const PATIENCE: u32 = 1 << 12;

/// The cache.
#[derive(Clone, Debug)]
pub(crate) struct Memo<V> {
    /// A power of two of them, or none.
    slots: Vec<Option<V>>,
    /// The keys of the slots, each as many words.
    keys: Vec<u64>,
    width: usize,
    displaced: usize,
    /// How often something was found, and how often not, lately.
    found: u32,
    missed: u32,
    /// It is not worth it.
    off: bool,
}

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Memo { slots: Vec::new(), keys: Vec::new(), width: 0, displaced: 0, found: 0, missed: 0, off: false }
    }
}

impl<V> Memo<V> {
    /// The slot of a key, and where its words begin.
    #[inline(always)]
    fn slot(&self, key: &[u64]) -> (usize, usize) {
        let slot = hash(key) & self.slots.len().wrapping_sub(1);
        (slot, slot * self.width)
    }

    /// What was found for a key; keys must all have the same length.
    #[inline(always)]
    pub(crate) fn find(&mut self, key: &[u64]) -> Option<&V> {
        if self.slots.is_empty() {
            return None;
        }
        let (slot, first) = self.slot(key);
        let found = self.slots[slot].as_ref()?;
        let kept = &self.keys[first..first + self.width];
        kept.iter().zip(key).all(|(kept, word)| kept == word).then(|| {
            self.found += 1;
            found
        })
    }

    /// Keeps what was found for a key, in at most so many slots.
    #[cold]
    pub(crate) fn keep(&mut self, key: &[u64], found: V, most: usize) {
        self.missed += 1;
        if self.missed > PATIENCE && !self.off {
            let worth = self.found > self.missed / 2;
            (self.found, self.missed) = (0, 0);
            if !worth {
                *self = Memo { off: true, ..Memo::default() };
            }
        }
        if self.off {
            return;
        }
        if self.slots.is_empty() || self.displaced > self.slots.len() / 4 && self.slots.len() < most {
            self.width = key.len();
            self.grow();
        }
        let (slot, first) = self.slot(key);
        self.displaced += usize::from(self.slots[slot].is_some());
        self.keys[first..first + self.width].copy_from_slice(key);
        self.slots[slot] = Some(found);
    }

    fn grow(&mut self) {
        let width = self.width;
        self.displaced = 0;
        let slots = (2 * self.slots.len()).max(FIRST);
        let keys = std::mem::replace(&mut self.keys, vec![0; slots * width]);
        let empty = std::iter::repeat_with(|| None).take(slots).collect();
        let kept = std::mem::replace(&mut self.slots, empty);
        for (number, value) in kept.into_iter().enumerate().filter(|(_, value)| value.is_some()) {
            let key = &keys[number * width..(number + 1) * width];
            let (slot, first) = self.slot(key);
            self.keys[first..first + width].copy_from_slice(key);
            self.slots[slot] = value;
        }
    }
}

#[inline(always)]
fn hash(key: &[u64]) -> usize {
    let mut hash = 0u64;
    for word in key {
        hash = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash ^= hash >> 32;
    }
    hash as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_was_kept() {
        let mut memo = Memo::<u64>::default();
        let mut found = 0;
        for round in 0..4u64 {
            for n in 0..1000u64 {
                let key = [n, n / 7];
                match memo.find(&key) {
                    Some(value) => {
                        assert_eq!(*value, n + 1);
                        found += u64::from(round > 0);
                    }
                    None => memo.keep(&key, n + 1, MOST),
                }
            }
        }
        assert!(found > 1000, "only {found} were found again");
        assert_eq!(memo.find(&[1000, 142]), None);
    }
}
