//! Hash compaction: of a state only a hash of 64 bits is kept (Wolper and Leroy, "Reliable hashing without collision detection", 1993).
//!
//! Two states with the same hash count as one: states can be left out, so a search with this store never shows that there are no violations. How likely that is, is
//! known: of n states, n (n - 1) / 2 pairs each meet with probability 2^-64. About ten bytes a state, whatever its size.

use quotient_seams::{Known, Loaded, OUT_OF_MEMORY, Visited};

use crate::bitstate::state_hash;
use crate::key_set::KeySet;

/// Hashes of states.
#[derive(Debug, Default)]
pub struct Compaction {
    hashes: KeySet,
}

impl Compaction {
    /// An empty store.
    pub fn new() -> Compaction {
        Compaction::default()
    }
}

impl Visited for Compaction {
    fn hint_len(&self, _: usize) -> usize {
        0
    }

    #[inline]
    fn load(&mut self, state: &[u64], _: Option<Known<'_>>, _: &mut [u32]) -> Loaded {
        let hash = state_hash(state);
        self.hashes.prefetch::<false>(hash);
        [hash, 0]
    }

    #[inline]
    fn prepare(&mut self, _: &[u64], [hash, _]: Loaded, _: &mut [u32]) -> u64 {
        hash
    }

    #[inline]
    fn insert(&mut self, hash: u64, _: &[u64]) -> bool {
        self.hashes.insert(hash)
    }

    fn contains(&self, hash: u64, _: &[u64]) -> bool {
        self.hashes.contains(hash)
    }

    fn len(&self) -> u64 {
        self.hashes.len()
    }

    fn bytes(&self) -> u64 {
        self.hashes.bytes()
    }

    fn exhausted(&self) -> Option<&'static str> {
        self.hashes.is_refused().then_some(OUT_OF_MEMORY)
    }

    fn left_out(&self) -> Option<String> {
        let states = self.len() as f64;
        let omission = (states * (states - 1.0) / 2.0 / 2f64.powi(64)).clamp(0.0, 1.0);
        Some(format!(
            "no violation found; hash compaction may have left out states (probability that it has: at most {omission:.1e})"
        ))
    }

    fn name(&self) -> &'static str {
        "hash"
    }
}
