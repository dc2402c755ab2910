//! The buffer successors are written to: one arena, no allocation per state.

use crate::ViolationCode;

/// One entry of [`Successors`].
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    start: usize,
    len: u32,
    /// The step that led here went wrong.
    pub violation: Option<ViolationCode>,
}

impl Entry {
    /// Whether a state follows; a violation may end its path.
    pub fn has_state(&self) -> bool {
        self.len > 0
    }
}

/// States with, possibly, the violation met on the way to them.
#[derive(Debug, Default)]
pub struct Successors {
    words: Vec<u64>,
    entries: Vec<Entry>,
}

impl Successors {
    /// An empty buffer.
    pub fn new() -> Successors {
        Successors::default()
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.entries.clear();
    }

    /// Adds a state.
    #[inline]
    pub fn push(&mut self, state: &[u64]) {
        self.push_with(state, None);
    }

    /// Adds a state reached by a step that may have gone wrong.
    #[inline]
    pub fn push_with(&mut self, state: &[u64], violation: Option<ViolationCode>) {
        self.draft(state);
        self.commit(violation);
    }

    /// Adds a violation that ends its path. A draft in progress stays as it is.
    pub fn push_violation(&mut self, violation: ViolationCode) {
        self.entries.push(Entry { start: self.committed(), len: 0, violation: Some(violation) });
    }

    /// Copies `state` behind the last entry and returns it for changing; [`Successors::commit`] makes
    /// it an entry, a second `draft` overwrites it.
    #[inline]
    pub fn draft(&mut self, state: &[u64]) -> &mut [u64] {
        let start = self.committed();
        self.words.truncate(start);
        self.words.extend_from_slice(state);
        &mut self.words[start..]
    }

    /// The current draft.
    #[inline]
    pub fn drafted(&mut self) -> &mut [u64] {
        let start = self.committed();
        &mut self.words[start..]
    }

    /// Makes the draft longer (with zeros) or shorter.
    pub fn resize_draft(&mut self, words: usize) {
        let start = self.committed();
        self.words.resize(start + words, 0);
    }

    /// Makes the draft an entry.
    #[inline]
    pub fn commit(&mut self, violation: Option<ViolationCode>) {
        let start = self.committed();
        self.entries.push(Entry { start, len: (self.words.len() - start) as u32, violation });
    }

    #[inline]
    fn committed(&self) -> usize {
        self.entries.last().map_or(0, |e| e.start + e.len as usize)
    }

    /// Number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// An entry.
    #[inline]
    pub fn entry(&self, index: usize) -> Entry {
        self.entries[index]
    }

    /// The state of an entry; empty for a violation that ends its path.
    #[inline]
    pub fn state(&self, index: usize) -> &[u64] {
        let e = self.entries[index];
        &self.words[e.start..e.start + e.len as usize]
    }

    /// Replaces the state of an entry by one that is not longer (its representative).
    pub fn replace(&mut self, index: usize, state: &[u64]) {
        let e = &mut self.entries[index];
        assert!(state.len() <= e.len as usize, "a representative is never longer than its state");
        self.words[e.start..e.start + state.len()].copy_from_slice(state);
        e.len = state.len() as u32;
    }

    /// Drops every entry from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.entries.truncate(len);
        let words = self.committed();
        self.words.truncate(words);
    }
}
