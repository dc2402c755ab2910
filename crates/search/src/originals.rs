//! States as they were found, beside their representatives.
//!
//! A search stores representatives. It goes on from them, too, unless the representative says otherwise
//! ([`quotient_seams::Representative::keeps_found`]): then it goes on from the state it found, as in figure 3 of R. Iosif's
//! "Symmetry Reduction Criteria for Software Model Checking". That is sound, since a state and its representative are bisimilar;
//! and its paths are runs of the program as they stand.

use quotient_seams::{Known, Looked, Successors, Visited};

use crate::frontier::Frontier;

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

/// Reads a level from the front.
#[derive(Debug)]
pub(crate) struct Cursor<'l> {
    level: &'l Level,
    stored: usize,
    found: usize,
    left: u64,
}

impl<'l> Cursor<'l> {
    /// The next state: what is stored, and what the search goes on from.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<(Known<'l>, &'l [u64])> {
        let (stored, after) = self.level.stored.at(self.stored)?;
        self.stored = after;
        self.left -= 1;
        let mut from = stored.state;
        if let Some((found, after)) = self.level.found.at(self.found) {
            self.found = after;
            from = found.state;
        }
        Some((stored, from))
    }

    /// States that follow.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }
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

    /// Adds the new ones of a batch that was looked up.
    #[inline(always)]
    pub(crate) fn push_new<V: Visited>(
        &mut self,
        successors: &Successors,
        found: &Originals,
        looked: &Looked,
        visited: &V,
    ) {
        if !found.keeps {
            if let Some(short) = looked.short::<2>(successors) {
                return self.stored.push_short(short, &looked.new);
            }
            if let Some(short) = looked.short::<3>(successors) {
                return self.stored.push_short(short, &looked.new);
            }
            if let Some(short) = looked.short::<4>(successors) {
                return self.stored.push_short(short, &looked.new);
            }
        }
        for &entry in &looked.new {
            let entry = entry as usize;
            let hint_len = visited.hint_len(successors.state(entry).len());
            self.push(successors, found, entry, looked.hint(entry, hint_len));
        }
    }

    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor { level: self, stored: 0, found: 0, left: self.len() }
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
