//! What was found before: a cache, exact because whole keys are compared.
//!
//! What is proposed for a state depends, in the usual case ([`crate::usual`]), on nothing but where the threads stand, which channel operations
//! are blocked, and which gates are closed; and so does, in programs with objects ([`crate::dynamic`]), what can be said of a state's threads
//! without executing their steps. There are far fewer such combinations than states.

/// Slots; a key may be in one of them only. Doubled while keys displace each other, up to the most.
const FIRST: usize = 64;
const MOST: usize = 1 << 14;

/// The cache.
#[derive(Debug, Default)]
pub(crate) struct Memo<V> {
    /// What the keys are about; without slots there are none.
    generation: u64,
    slots: Vec<(Vec<u64>, V)>,
    displaced: usize,
    /// The key being looked up, never empty, and its slot.
    pub(crate) key: Vec<u64>,
    slot: usize,
}

impl<V: Clone + Default> Memo<V> {
    /// Forgets everything. Keys are about something else from now on, or it is not `worthwhile`.
    #[cold]
    pub(crate) fn begin(&mut self, generation: u64, worthwhile: bool) {
        self.generation = generation;
        self.displaced = 0;
        self.slots.clear();
        self.slots.resize(if worthwhile { FIRST } else { 0 }, Default::default());
    }

    /// Was it told what to do about these keys?
    #[inline]
    pub(crate) fn was_made_for(&self, generation: u64) -> bool {
        self.generation == generation
    }

    /// Does it keep keys about this?
    #[inline]
    pub(crate) fn is_about(&self, generation: u64) -> bool {
        !self.slots.is_empty() && self.generation == generation
    }

    /// What was found for the key.
    #[inline]
    pub(crate) fn find(&mut self) -> Option<&V> {
        self.slot = hash(&self.key) & (self.slots.len() - 1);
        let (key, value) = &self.slots[self.slot];
        (*key == self.key).then_some(value)
    }

    /// Keeps what was found for the key that was looked up last.
    #[cold]
    pub(crate) fn keep(&mut self, found: V) {
        if self.displaced > self.slots.len() / 4 && self.slots.len() < MOST {
            self.grow();
        }
        let (key, value) = &mut self.slots[self.slot];
        self.displaced += usize::from(!key.is_empty());
        key.clone_from(&self.key);
        *value = found;
    }

    fn grow(&mut self) {
        let larger = vec![Default::default(); 2 * self.slots.len()];
        let mask = larger.len() - 1;
        for (key, value) in std::mem::replace(&mut self.slots, larger) {
            if !key.is_empty() {
                let slot = hash(&key) & mask;
                self.slots[slot] = (key, value);
            }
        }
        self.displaced = 0;
        self.slot = hash(&self.key) & mask;
    }
}

#[inline]
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
        memo.begin(1, true);
        let mut found = 0;
        for round in 0..4u64 {
            for n in 0..1000u64 {
                memo.key = vec![n, n / 7];
                match memo.find() {
                    Some(value) => {
                        assert_eq!(*value, n + 1);
                        found += u64::from(round > 0);
                    }
                    None => memo.keep(n + 1),
                }
            }
        }
        assert!(found > 1000, "only {found} were found again");
        memo.begin(2, true);
        memo.key = vec![3];
        assert_eq!(memo.find(), None);
        memo.begin(3, false);
        assert!(!memo.is_about(3) && memo.was_made_for(3));
    }
}
