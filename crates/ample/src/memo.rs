//! Proposals that were found before: a cache, exact because whole keys are compared.
//!
//! What is proposed for a state depends, in the usual case ([`crate::usual`]), on nothing but where the threads stand, which channel operations
//! are blocked, and which gates are closed. Where threads wait for channels, finding that out takes longer than looking it up,
//! and there are far fewer such combinations than states.

use crate::Proposals;

/// Slots; a key may be in one of them only. Doubled while keys displace each other, up to the most.
const FIRST: usize = 64;
const MOST: usize = 1 << 14;

/// The cache.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// What the keys are about, and how many words they have; without words there are none.
    generation: u64,
    words: usize,
    /// The keys, slot by slot, each behind a word that says that there is one.
    keys: Vec<u64>,
    values: Vec<Proposals>,
    displaced: usize,
    /// The key being looked up, and its slot.
    pub(crate) key: Vec<u64>,
    slot: usize,
}

impl Memo {
    /// Forgets everything. Keys are about something else from now on and have so many words, or it is not worthwhile.
    #[cold]
    pub(crate) fn begin(&mut self, generation: u64, words: Option<usize>) {
        self.generation = generation;
        self.words = words.unwrap_or(0);
        self.displaced = 0;
        self.resize(if words.is_some() { FIRST } else { 0 });
    }

    /// Was it told what to do about these keys?
    #[inline]
    pub(crate) fn was_made_for(&self, generation: u64) -> bool {
        self.generation == generation
    }

    /// Does it keep keys about this?
    #[inline]
    pub(crate) fn is_about(&self, generation: u64) -> bool {
        self.words > 0 && self.generation == generation
    }

    fn resize(&mut self, slots: usize) {
        self.keys.clear();
        self.keys.resize(slots * (self.words + 1), 0);
        self.values.clear();
        self.values.resize(slots, Proposals::default());
    }

    /// What was found for the key.
    #[inline]
    pub(crate) fn find(&mut self) -> Option<Proposals> {
        let mut hash = 0u64;
        for word in &self.key {
            hash = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            hash ^= hash >> 32;
        }
        self.slot = hash as usize & (self.values.len() - 1);
        let start = self.slot * (self.words + 1);
        let here = &self.keys[start..start + self.words + 1];
        (here[0] == 1 && here[1..] == self.key[..]).then(|| self.values[self.slot])
    }

    /// Keeps what was found for the key that was looked up last.
    #[cold]
    pub(crate) fn keep(&mut self, found: Proposals) {
        let start = self.slot * (self.words + 1);
        self.displaced += usize::from(self.keys[start] == 1);
        self.keys[start] = 1;
        self.keys[start + 1..start + 1 + self.words].copy_from_slice(&self.key);
        self.values[self.slot] = found;
        if self.displaced > self.values.len() && self.values.len() < MOST {
            self.displaced = 0;
            self.resize(2 * self.values.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_was_kept() {
        let mut memo = Memo::default();
        memo.begin(1, Some(2));
        let mut found = 0;
        for round in 0..4u64 {
            for n in 0..1000u64 {
                memo.key = vec![n, n / 7];
                match memo.find() {
                    Some(proposals) => {
                        assert_eq!(proposals, Proposals::alone(n + 1));
                        found += u64::from(round > 0);
                    }
                    None => memo.keep(Proposals::alone(n + 1)),
                }
            }
        }
        assert!(found > 1000, "only {found} were found again");
        memo.begin(2, Some(1));
        memo.key = vec![3];
        assert_eq!(memo.find(), None);
        memo.begin(3, None);
        assert!(!memo.is_about(3) && memo.was_made_for(3));
    }
}
