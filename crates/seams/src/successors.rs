//! The buffer successors are written to: one arena, no allocation per state.

use crate::ViolationCode;

/// One entry of [`Successors`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
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
    /// End of the last entry; what lies after is a draft.
    end: usize,
    entries: Vec<Entry>,
    /// Entries with a violation.
    violations: usize,
    /// Marks of the first entries; those after have none.
    marks: Vec<u64>,
    /// Entries that are remarks, in order; hardly ever any.
    remarks: Vec<usize>,
}

impl Successors {
    /// An empty buffer.
    pub fn new() -> Successors {
        Successors::default()
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.end = 0;
        self.entries.clear();
        self.violations = 0;
        self.marks.clear();
        self.remarks.clear();
    }

    /// Forgets the entries from number `len` on.
    pub fn truncate(&mut self, len: usize) {
        if let Some(first) = self.entries.get(len) {
            self.end = first.start;
            self.words.truncate(first.start);
            self.violations -= self.entries[len..].iter().filter(|e| e.violation.is_some()).count();
            self.entries.truncate(len);
            self.marks.truncate(len);
            self.remarks.retain(|entry| *entry < len);
        }
    }

    /// Gives marks to the entries from `first` on: acceptance sets that the steps to them are in (see [`crate::Omega`]).
    pub fn mark(&mut self, first: usize, marks: u64) {
        self.marks.resize(first, 0);
        self.marks.resize(self.entries.len(), marks);
    }

    /// The marks of an entry.
    #[inline]
    pub fn marks(&self, index: usize) -> u64 {
        self.marks.get(index).copied().unwrap_or(0)
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
        self.violations += 1;
        self.entries.push(Entry { start: self.end, len: 0, violation: Some(violation) });
    }

    /// Adds a *remark*: something is wrong with the state although nobody has moved. Whether the state has successors does not
    /// depend on it.
    #[cold]
    pub fn push_remark(&mut self, violation: ViolationCode) {
        self.remarks.push(self.entries.len());
        self.push_violation(violation);
    }

    /// Whether none of these entries is a move: there are none, or only remarks.
    #[inline]
    pub fn is_still(&self, mut entries: std::ops::Range<usize>) -> bool {
        entries.is_empty() || !self.remarks.is_empty() && entries.all(|entry| self.remarks.contains(&entry))
    }

    /// Copies `state` after the last entry and returns it for changing; [`Successors::commit`] makes
    /// it an entry, a second `draft` overwrites it.
    #[inline(always)]
    pub fn draft(&mut self, state: &[u64]) -> &mut [u64] {
        let start = self.end;
        if self.words.capacity() - start < state.len() {
            self.words.truncate(start);
            self.words.reserve(state.len());
        }
        // SAFETY: the room was just reserved, and `state` is not part of this buffer, which is borrowed mutably. A loop,
        // because states are short.
        unsafe {
            let to = self.words.as_mut_ptr().add(start);
            for (index, word) in state.iter().enumerate() {
                to.add(index).write(*word);
            }
            self.words.set_len(start + state.len());
        }
        // SAFETY: that many words were just written.
        unsafe { self.words.get_unchecked_mut(start..) }
    }

    /// Copies an entry's state after the last entry and returns it for changing, as [`Successors::draft`] does.
    pub fn draft_copy(&mut self, index: usize) -> &mut [u64] {
        let e = self.entries[index];
        self.words.truncate(self.end);
        self.words.extend_from_within(e.start..e.start + e.len as usize);
        &mut self.words[self.end..]
    }

    /// The current draft.
    #[inline(always)]
    pub fn drafted(&mut self) -> &mut [u64] {
        // SAFETY: the words up to `end` are those of the entries.
        unsafe { self.words.get_unchecked_mut(self.end..) }
    }

    /// Makes the draft an entry.
    #[inline(always)]
    pub fn commit(&mut self, violation: Option<ViolationCode>) {
        let start = self.end;
        self.end = self.words.len();
        self.violations += usize::from(violation.is_some());
        self.entries.push(Entry { start, len: (self.end - start) as u32, violation });
    }

    /// Lets generated code add up to `most` states of `words` words each: it is given where the next words go, where the next
    /// entries go, and the index of the first of those words, and gives how many it has added. An entry is laid out as
    /// declared: the index of the first word, the number of words, and 0 for no violation.
    ///
    /// # Safety
    /// What was said to be added has been written, words and entries, in the order of the words.
    #[inline(always)]
    pub unsafe fn write(
        &mut self,
        most: usize,
        words: usize,
        write: impl FnOnce(*mut u64, *mut Entry, usize) -> usize,
    ) {
        let (start, len) = (self.end, self.entries.len());
        if self.words.capacity() - start < most * words {
            self.words.truncate(start);
            self.words.reserve(most * words);
        }
        self.entries.reserve(most);
        // SAFETY: the room was just made sure of; by this function's contract, so much was written.
        unsafe {
            let (at, entry) = (self.words.as_mut_ptr().add(start), self.entries.as_mut_ptr().add(len));
            let count = write(at, entry, start);
            self.end = start + count * words;
            self.words.set_len(self.end);
            self.entries.set_len(len + count);
        }
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
        // SAFETY: the words of an entry stay until `clear`, which removes the entry too: `draft` cuts off only what lies
        // after the last entry.
        unsafe { self.words.get_unchecked(e.start..e.start + e.len as usize) }
    }

    /// The state of an entry, for changing.
    #[inline]
    pub fn state_mut(&mut self, index: usize) -> &mut [u64] {
        let e = self.entries[index];
        &mut self.words[e.start..e.start + e.len as usize]
    }

    /// The states of the first `count` entries, one after the other, and their length, if that is the same for all.
    #[inline]
    pub fn uniform(&self, count: usize) -> Option<(&[u64], usize)> {
        let entries = &self.entries[..count];
        let len = entries.first()?.len;
        let same = entries.iter().fold(0, |differs, e| differs | (e.len ^ len)) == 0;
        // Entries lie in order, one after the other, unless some were replaced by shorter ones: then there are gaps, and the
        // last one lies further on.
        let last = entries.last()?.start;
        let dense = last == (count - 1) * len as usize;
        (same && dense).then(|| (&self.words[..count * len as usize], len as usize))
    }

    /// The states as far as each has `WORDS` words and lies after the one before, which [`Successors::uniform`] must have said of
    /// those looked at.
    #[inline(always)]
    pub fn first_states<const WORDS: usize>(&self) -> &[[u64; WORDS]] {
        self.words.as_chunks().0
    }

    /// The first entry with a violation.
    #[inline]
    pub fn first_violation(&self) -> Option<usize> {
        if self.violations == 0 { None } else { self.entries.iter().position(|e| e.violation.is_some()) }
    }

    /// Whether an entry has a violation or no state.
    #[inline]
    pub fn has_violations(&self) -> bool {
        self.violations > 0
    }

    /// Replaces the state of an entry by one that is not longer (its representative).
    pub fn replace(&mut self, index: usize, state: &[u64]) {
        let e = &mut self.entries[index];
        assert!(state.len() <= e.len as usize, "a representative is never longer than its state");
        self.words[e.start..e.start + state.len()].copy_from_slice(state);
        e.len = state.len() as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_is_not_a_move() {
        let mut out = Successors::new();
        out.push_remark(ViolationCode::from_index(3));
        assert!(out.is_still(0..0) && out.is_still(0..1) && out.has_violations());
        out.push_violation(ViolationCode::from_index(4));
        assert!(!out.is_still(0..2) && !out.is_still(1..2));
        out.truncate(1);
        out.push(&[7]);
        assert!(out.is_still(0..1) && !out.is_still(0..2));
        out.clear();
        out.push_violation(ViolationCode::from_index(3));
        assert!(!out.is_still(0..1));
    }

    #[test]
    fn states_with_gaps_between_them_are_not_uniform() {
        let mut out = Successors::new();
        out.push(&[1, 2, 3]);
        out.push(&[4, 5, 6]);
        assert_eq!(out.uniform(2), Some((&[1, 2, 3, 4, 5, 6][..], 3)));
        out.replace(0, &[7, 8]);
        assert_eq!(out.uniform(2), None);
        // All are as long as each other again, but not one after the other.
        out.replace(1, &[9, 10]);
        assert_eq!(out.uniform(2), None);
        assert_eq!(out.uniform(1), Some((&[7, 8][..], 2)));
        assert_eq!((out.state(0), out.state(1)), (&[7, 8][..], &[9, 10][..]));
    }
}
