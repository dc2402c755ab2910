//! A level of a breadth-first search: the states that wait, as they are stored and as they were found.

use quotient_seams::{Known, Looked, Successors, Visited};

use crate::expand::Originals;
use crate::frontier::Frontier;

/// A level of a breadth-first search: what is stored, with hints, and what the search goes on from if that differs.
#[derive(Debug, Default)]
pub(crate) struct Level {
    pub(crate) stored: Frontier,
    found: Frontier,
    /// The ends of its chunks but the last, which workers take one by one.
    marks: Vec<Mark>,
    /// The number of its first state among those that its worker discovered.
    pub(crate) first: u64,
}

/// A place in a level, and the number of states before it.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    stored: usize,
    found: usize,
    states: u64,
}

/// States of a chunk, at least, unless it is a level's last.
const CHUNK: u64 = 512;

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
        self.left = self.left.checked_sub(1)?;
        let (stored, after) = self.level.stored.at(self.stored)?;
        self.stored = after;
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

    /// Called after states were added: ends a chunk where it is large enough.
    #[inline(always)]
    pub(crate) fn mark(&mut self) {
        if self.stored.len() - self.marks.last().map_or(0, |mark| mark.states) >= CHUNK {
            let (stored, found) = (self.stored.places(), self.found.places());
            self.marks.push(Mark { stored, found, states: self.stored.len() });
        }
    }

    /// How many chunks there are.
    pub(crate) fn chunks(&self) -> usize {
        self.marks.len() + 1
    }

    /// The states of a chunk, and the number of its first one among those that its worker discovered.
    pub(crate) fn chunk(&self, number: usize) -> (Cursor<'_>, u64) {
        let start = number.checked_sub(1).map_or(Mark::default(), |before| self.marks[before]);
        let end = self.marks.get(number).map_or(self.len(), |mark| mark.states);
        let Mark { stored, found, states } = start;
        (Cursor { level: self, stored, found, left: end - states }, self.first + states)
    }

    pub(crate) fn len(&self) -> u64 {
        self.stored.len()
    }

    /// Forgets everything, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.stored.clear();
        self.found.clear();
        self.marks.clear();
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.stored.bytes() + self.found.bytes()
    }
}
