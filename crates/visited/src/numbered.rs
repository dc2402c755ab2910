//! A tree store that gives every state a number, for searches that keep something with each state.
//!
//! The nodes are those of [`Tree`]; roots, with the length of the state as a third part, are numbered like inner nodes. A
//! state costs twelve bytes more than in the plain set.

use crate::Tree;
use crate::interner::Triples;
use quotient_seams::{Known, Loaded, OUT_OF_MEMORY, Visited};

/// States numbered from 0 in the order of their first lookup.
#[derive(Debug, Default)]
pub struct Numbered {
    tree: Tree,
    roots: Triples,
    len: u32,
}

/// A state about to be looked up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prepared {
    key: [u32; 3],
    hash: u64,
}

impl Numbered {
    /// An empty store.
    pub fn new() -> Numbered {
        Numbered::default()
    }

    /// As [`Visited::hint_len`].
    pub fn hint_len(&self, words: usize) -> usize {
        self.tree.hint_len(words)
    }

    /// As [`Visited::load`].
    #[inline]
    pub fn load(&mut self, state: &[u64], parent: Option<Known<'_>>, hint: &mut [u32]) -> Loaded {
        self.tree.load(state, parent, hint)
    }

    /// As [`Visited::prepare`].
    #[inline]
    pub fn prepare(&mut self, state: &[u64], loaded: Loaded, hint: &mut [u32]) -> Prepared {
        let root = self.tree.root(state, loaded, hint);
        let key = [(root >> 32) as u32, root as u32, state.len() as u32];
        Prepared { key, hash: self.roots.load(key) }
    }

    /// The number of a state; it gets the next one if it has none.
    #[inline]
    pub fn number(&mut self, prepared: Prepared) -> u32 {
        let number = self.roots.intern_hashed(prepared.key, prepared.hash);
        self.len = self.len.max(number);
        number.saturating_sub(1)
    }

    /// The number of a state, without hints.
    pub fn number_of(&mut self, state: &[u64]) -> u32 {
        let mut hint = vec![0; self.hint_len(state.len())];
        let loaded = self.load(state, None, &mut hint);
        let prepared = self.prepare(state, loaded, &mut hint);
        self.number(prepared)
    }

    /// How many numbers were given.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.tree.bytes() + self.roots.bytes()
    }

    /// As [`Visited::exhausted`].
    pub fn exhausted(&self) -> Option<&'static str> {
        if self.roots.is_refused() {
            return Some(OUT_OF_MEMORY);
        }
        if self.roots.is_full() { Some("no numbers left for states (2^32)") } else { self.tree.exhausted() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn numbers_are_consecutive_and_stay() {
        let mut store = Numbered::new();
        let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
        let mut seed = 1u64;
        for _ in 0..50_000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let state: Vec<u64> = (0..1 + (seed >> 60) % 7).map(|i| (seed >> (20 + 3 * i)) % 5).collect();
            let next = known.len() as u32;
            let expected = *known.entry(state.clone()).or_insert(next);
            assert_eq!(store.number_of(&state), expected);
            assert_eq!(store.len() as usize, known.len());
        }
    }
}
