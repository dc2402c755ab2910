//! States expanded together by a breadth-first search.

use std::ops::Range;

use crate::expand::Turn;
use quotient_seams::{Group, Known};

/// A state that must be expanded further: the moves explored so far are not enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Again<'l> {
    /// What is stored.
    pub(crate) stored: Known<'l>,
    /// What the search goes on from.
    pub(crate) from: &'l [u64],
    /// What was tried.
    pub(crate) turn: Turn,
    /// The state's number.
    pub(crate) number: u64,
}

/// The states of a batch and which entries are their successors. Those that are expanded once more come first.
#[derive(Debug)]
pub(crate) struct Batch<'l> {
    pub(crate) groups: Vec<Group<'l>>,
    /// What was tried of each, if not all moves are explored.
    turns: Vec<Turn>,
    reduces: bool,
    /// What the search goes on from where that is not what is stored: of all states or of none.
    found: Vec<&'l [u64]>,
    /// Numbers of the states that are expanded once more.
    late: Vec<u64>,
}

impl<'l> Batch<'l> {
    /// An empty one; `reduces` when not all moves are explored.
    pub(crate) fn new(reduces: bool) -> Batch<'l> {
        let (groups, turns, found, late) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Batch { groups, turns, reduces, found, late }
    }

    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.groups.clear();
        self.turns.clear();
        self.found.clear();
        self.late.clear();
    }

    /// Adds a state, `stored` or `from` as in [`Again`], with its successors.
    #[inline(always)]
    pub(crate) fn push(&mut self, parent: Known<'l>, from: &'l [u64], turn: Turn, entries: Range<usize>) {
        self.groups.push(Group { parent, first: entries.start, end: entries.end });
        if self.reduces {
            self.turns.push(turn);
        }
        if !std::ptr::eq(from, parent.state) {
            self.found.push(from);
        }
    }

    /// The state added last is expanded once more.
    pub(crate) fn is_late(&mut self, number: u64) {
        self.late.push(number);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// How far the moves of a state have been explored, if not all are.
    #[inline(always)]
    pub(crate) fn turn(&self, index: usize) -> Turn {
        self.turns[index]
    }

    /// The number of a state that is expanded once more.
    #[inline(always)]
    pub(crate) fn late(&self, index: usize) -> Option<u64> {
        self.late.get(index).copied()
    }

    /// What the search goes on from.
    pub(crate) fn from(&self, index: usize) -> &'l [u64] {
        self.found.get(index).copied().unwrap_or(self.groups[index].parent.state)
    }

    /// A state, by its number, whose moves were explored and are not enough.
    pub(crate) fn again(&self, index: usize, number: u64) -> Again<'l> {
        let (stored, from) = (self.groups[index].parent, self.from(index));
        Again { stored, from, turn: self.turns[index].explored(), number }
    }
}
