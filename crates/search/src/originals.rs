//! States as they were found, beside their representatives.
//!
//! A search stores representatives. It goes on from them, too, unless the representative says otherwise
//! ([`quotient_symmetry::Representative::keeps_found`]): then it goes on from the state it found, as in figure 3 of R. Iosif's
//! "Symmetry Reduction Criteria for Software Model Checking". That is sound, since a state and its representative are bisimilar;
//! and its paths are runs of the program as they stand.

use quotient_system::Successors;

use crate::frontier::{Frontier, Item};

/// The successors of a batch before they were replaced by their representatives, if a search goes on from them.
#[derive(Debug, Default)]
pub(crate) struct Originals {
    keeps: bool,
    words: Vec<u64>,
    /// Behind each state's words.
    ends: Vec<usize>,
}

impl Originals {
    pub(crate) fn new(keeps: bool) -> Originals {
        Originals { keeps, ..Originals::default() }
    }

    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }

    /// Forgets the batch.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.ends.clear();
    }

    /// The next entry of the batch, before it is replaced.
    #[inline]
    pub(crate) fn push(&mut self, state: &[u64]) {
        if self.keeps {
            self.words.extend_from_slice(state);
            self.ends.push(self.words.len());
        }
    }

    /// An entry of the batch as it was found; `None` when the search goes on from its representative.
    #[inline]
    pub(crate) fn state(&self, entry: usize) -> Option<&[u64]> {
        self.keeps.then(|| {
            let start = entry.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.words[start..self.ends[entry]]
        })
    }
}

/// A level of a breadth-first search: what is stored, with hints, and what the search goes on from if that differs.
#[derive(Debug, Default)]
pub(crate) struct Level {
    pub(crate) stored: Frontier,
    found: Frontier,
}

/// A state taken from a level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) stored: Item,
    /// Of no words: the search goes on from what is stored.
    found: Item,
}

impl Level {
    /// Adds entry `entry` of a batch.
    #[inline(always)]
    pub(crate) fn push(&mut self, successors: &Successors, found: &Originals, entry: usize, hint: &[u32]) {
        self.stored.push(successors.state(entry), hint);
        if let Some(state) = found.state(entry) {
            self.found.push(state, &[]);
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Taken> {
        Some(Taken { stored: self.stored.pop()?, found: self.found.pop().unwrap_or_default() })
    }

    /// What the search goes on from.
    #[inline]
    pub(crate) fn state(&self, taken: Taken) -> &[u64] {
        if taken.found.is_empty() { self.stored.state(taken.stored) } else { self.found.state(taken.found) }
    }

    pub(crate) fn len(&self) -> u64 {
        self.stored.len()
    }

    /// Forgets everything, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.stored.clear();
        self.found.clear();
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.stored.bytes() + self.found.bytes()
    }
}
