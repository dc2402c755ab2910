//! Bitstate hashing: a state is a few bits of a large array (Holzmann, "An improved protocol reachability analysis technique", 1988; a Bloom filter).
//!
//! A state all of whose bits are set already counts as seen, although it may not have been: states can be left out, and what only they lead to. So a search with
//! this store finds violations and never shows that there are none ([`Visited::left_out`]). No state that was added is ever taken for new.
//!
//! How much may be left out is estimated while states are added: a state that is not there is taken for one that is with the probability that [`BITS`] bits at random are all
//! set. These probabilities are added up over the new states; beside each of them about as many states were lost. What only those would have led to is not
//! counted. SPIN prints the same as "hash factor" (bits of the array per state; good from 100 on).

use quotient_seams::{Known, Loaded, Visited};

use crate::hash::{bijective, mix, term};
use crate::memory::Zeroed;
use crate::prefetch_at;

/// Bits of a state.
pub const BITS: u32 = 3;

/// A set of states that may take some for others.
#[derive(Debug)]
pub struct Bitstate {
    words: Zeroed<u64>,
    len: u64,
    /// Bits that are set.
    ones: u64,
    /// States expected to have been taken for others.
    lost: f64,
}

impl Bitstate {
    /// An array of at most so many bytes, a power of two of them; `None` if there is no memory for it.
    pub fn new(bytes: u64) -> Option<Bitstate> {
        let words = 1usize << (bytes.max(64) / 8).ilog2();
        Some(Bitstate { words: Zeroed::new(words)?, len: 0, ones: 0, lost: 0.0 })
    }

    fn bits(&self) -> u64 {
        self.words.len() as u64 * 64
    }

    /// The words and bits of a state with this hash.
    #[inline]
    fn places(&self, hash: u64) -> [(usize, u64); BITS as usize] {
        let step = bijective(hash) | 1;
        std::array::from_fn(|number| {
            let bit = hash.wrapping_add(step.wrapping_mul(number as u64)) & (self.bits() - 1);
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }
}

/// The hash of a state: of its words and its length.
#[inline]
pub(crate) fn state_hash(state: &[u64]) -> u64 {
    let sum = state
        .iter()
        .enumerate()
        .fold(state.len() as u64, |sum, (at, word)| sum.wrapping_add(term(at, *word)));
    mix(sum)
}

impl Visited for Bitstate {
    fn hint_len(&self, _: usize) -> usize {
        0
    }

    #[inline]
    fn load(&mut self, state: &[u64], _: Option<Known<'_>>, _: &mut [u32]) -> Loaded {
        let hash = state_hash(state);
        self.places(hash).iter().for_each(|(word, _)| prefetch_at(&self.words[*word]));
        [hash, 0]
    }

    #[inline]
    fn prepare(&mut self, _: &[u64], [hash, _]: Loaded, _: &mut [u32]) -> u64 {
        hash
    }

    #[inline]
    fn insert(&mut self, hash: u64, _: &[u64]) -> bool {
        let mut set = 0;
        for (word, bit) in self.places(hash) {
            set += u32::from(self.words[word] & bit == 0);
            self.words[word] |= bit;
        }
        if set == 0 {
            return false;
        }
        let full = self.ones as f64 / self.bits() as f64;
        self.lost += full.powi(BITS as i32);
        self.ones += u64::from(set);
        self.len += 1;
        true
    }

    fn contains(&self, hash: u64, _: &[u64]) -> bool {
        self.places(hash).iter().all(|(word, bit)| self.words[*word] & bit != 0)
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self) -> u64 {
        self.words.bytes() as u64
    }

    fn left_out(&self) -> Option<String> {
        let states = self.len.max(1) as f64;
        let coverage = 100.0 * states / (states + self.lost);
        let factor = self.bits() as f64 / states;
        Some(format!(
            "no violation found; bitstate hashing may have left out states (estimated coverage {coverage:.3} %, hash factor {factor:.1})"
        ))
    }

    fn name(&self) -> &'static str {
        "bitstate"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds states; gives how many were taken for others.
    fn taken_for_others(bytes: u64, states: u64) -> (u64, Bitstate) {
        let mut store = Bitstate::new(bytes).expect("there is memory");
        let mut lost = 0;
        for n in 0..states {
            let state = [n, n * n, 7];
            let loaded = store.load(&state, None, &mut []);
            let key = store.prepare(&state, loaded, &mut []);
            lost += u64::from(!store.insert(key, &state));
            assert!(store.contains(key, &state) && !store.insert(key, &state), "it is there now");
        }
        (lost, store)
    }

    #[test]
    fn what_is_lost_is_as_much_as_estimated() {
        // Ample room: nothing is lost. Little room: as much as is estimated, about.
        let (lost, store) = taken_for_others(1 << 22, 10_000);
        assert!(lost == 0 && store.lost < 0.01 && store.len() == 10_000, "{lost} {}", store.lost);
        let (lost, store) = taken_for_others(1 << 16, 100_000);
        let ratio = store.lost / lost as f64;
        assert!(lost > 1_000 && (0.5..1.5).contains(&ratio), "{lost} lost, {} estimated", store.lost);
        assert!(store.left_out().is_some_and(|text| text.contains("coverage")));
    }
}
