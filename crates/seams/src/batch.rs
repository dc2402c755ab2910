//! Looking up the successors of a few states together.
//!
//! Each stage of a lookup is done for all of them before the next one: what a stage starts loading has arrived when the next
//! one needs it.

use crate::{Known, Loaded, Successors, Visited};

/// The entries `first..end` of a batch come from one state.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// That state.
    pub parent: Known<'a>,
    /// Its first successor.
    pub first: usize,
    /// Behind its last one.
    pub end: usize,
}

/// What a batch of lookups found, with the memory it needs.
#[derive(Debug, Default)]
pub struct Looked {
    /// Which entries were new, in order.
    pub new: Vec<u32>,
    /// For the store, if it [tells](Visited::tells_open) which states wait: the key of each entry, as far as it was computed.
    pub roots: Vec<u64>,
    /// The words of each entry when there are two to four, one entry lies after the other, and each has a hint of two numbers; else 0.
    pub short: usize,
    /// The hints of all entries, each in as much room as the longest needs.
    pub hints: Vec<u32>,
    /// That room.
    pub stride: usize,
    /// For the store to work in: what [`Visited::load`] found.
    pub loaded: Vec<Loaded>,
    /// For the store to work in: what [`Visited::prepare`] found.
    pub keys: Vec<u64>,
    /// For the store to work in: entries that no earlier one of the batch is equal to.
    pub distinct: Vec<u32>,
    /// For the store to work in: an entry seen lately for each value of a small hash, of this batch or another.
    pub lately: Vec<u32>,
}

/// The states of a batch and their hints; there may be more of both than were looked up.
#[derive(Clone, Copy, Debug)]
pub struct Short<'a, const WORDS: usize> {
    /// The states.
    pub states: &'a [[u64; WORDS]],
    /// Their hints.
    pub hints: &'a [[u32; 2]],
}

impl Looked {
    /// The hint of an entry; `len` as given by [`Visited::hint_len`].
    #[inline(always)]
    pub fn hint(&self, entry: usize, len: usize) -> &[u32] {
        if len == 0 { &[] } else { &self.hints[entry * self.stride..][..len] }
    }

    /// The states of the batch and their hints, when all have `WORDS` words, which are two to four, and hints of two numbers.
    #[inline(always)]
    pub fn short<'a, const WORDS: usize>(&'a self, successors: &'a Successors) -> Option<Short<'a, WORDS>> {
        let states = if self.short == WORDS { successors.first_states() } else { return None };
        Some(Short { states, hints: self.hints.as_chunks().0 })
    }

    /// Makes room for the hints of `count` entries of up to `stride` numbers each.
    #[inline(always)]
    pub fn room_for_hints(&mut self, count: usize, stride: usize) {
        self.stride = stride;
        if self.hints.len() < count * stride {
            self.hints.resize(2 * count * stride, 0);
        }
    }

    /// Any store, entries of any lengths.
    #[inline]
    pub fn one_by_one<V: Visited + ?Sized>(
        &mut self,
        visited: &mut V,
        successors: &Successors,
        count: usize,
        groups: &[Group<'_>],
    ) {
        self.short = 0;
        let longest = (0..count).map(|index| visited.hint_len(successors.state(index).len())).max();
        self.room_for_hints(count, longest.unwrap_or(0));
        self.loaded.clear();
        for group in groups {
            for index in group.first..group.end.min(count) {
                let state = successors.state(index);
                let hint = &mut self.hints[index * self.stride..][..visited.hint_len(state.len())];
                self.loaded.push(if state.is_empty() {
                    Loaded::default()
                } else {
                    visited.load(state, Some(group.parent), hint)
                });
            }
        }
        self.keys.clear();
        for (index, &loaded) in self.loaded.iter().enumerate() {
            let state = successors.state(index);
            let hint = &mut self.hints[index * self.stride..][..visited.hint_len(state.len())];
            self.keys.push(if state.is_empty() { 0 } else { visited.prepare(state, loaded, hint) });
        }
        self.new.clear();
        for (index, &key) in self.keys.iter().enumerate() {
            let state = successors.state(index);
            if !state.is_empty() && visited.insert(key, state) {
                self.new.push(index as u32);
            }
        }
    }
}
