//! Segments whose units are cache lines of entries.
//!
//! An entry belongs into the line that its hash chooses, or, when that is full, into the next one with a free place. Places of
//! a line are taken in order and entries are never removed, so that a search may end at the first line with a free place. A
//! lookup is one memory access, mostly.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::directory::{Moved, Segment, home};
use crate::memory::{Plain, Zeroed};

/// A cache line of entries; all bytes zero is an empty one.
pub(crate) trait Line: Plain {
    /// What is stored.
    type Entry: Copy;
    /// Entries that fit.
    const PLACES: usize;
    /// Of so many places (the second) so many (the first) may be used before room is made.
    const MOST_USED: (usize, usize);
    /// The empty line.
    const EMPTY: Self;
    /// No place is free.
    fn is_full(&self) -> bool;
    /// The entry at a place; `None` when it is free.
    fn entry(&self, place: usize) -> Option<Self::Entry>;
    /// How many places are taken; one at least is free.
    fn used(&self) -> usize;
    /// Writes an entry to a free place.
    fn set(&mut self, place: usize, entry: Self::Entry);
    /// The hash that chooses the line of an entry.
    fn hash(entry: Self::Entry) -> u64;
}

/// A segment of lines.
#[derive(Debug)]
pub(crate) struct Lines<L> {
    lines: Zeroed<L>,
    /// Entries; while several threads add some, with the tickets that they hold.
    len: AtomicUsize,
    /// With so many entries it is full.
    limit: usize,
}

impl<L: Line> Lines<L> {
    fn limit(lines: usize) -> usize {
        let (used, of) = L::MOST_USED;
        lines * L::PLACES * used / of
    }

    /// Adds an entry to the first line with a free place, from `at` on.
    #[inline(always)]
    pub(crate) fn put_from(&mut self, mut at: usize, entry: L::Entry) {
        let lines = &mut *self.lines;
        while lines[at].is_full() {
            at += 1;
            if at == lines.len() {
                at = 0;
            }
        }
        lines[at].set(lines[at].used(), entry);
        *self.len.get_mut() += 1;
    }

    #[inline(always)]
    fn taken(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Tickets that one of so many threads takes at once: all that are held and not used together are few beside the limit.
    fn block(&self, workers: usize) -> usize {
        (self.limit / (64 * workers)).clamp(1, 1024)
    }

    /// Takes tickets for as many entries, for one of so many threads; 0 if it is too full.
    pub(crate) fn tickets(&self, workers: usize) -> u32 {
        let block = self.block(workers);
        if self.len.fetch_add(block, Ordering::Relaxed) + block <= self.limit {
            return block as u32;
        }
        self.len.fetch_sub(block, Ordering::Relaxed);
        0
    }

    /// Is it too full for [tickets](Lines::tickets)?
    pub(crate) fn lacks_tickets(&self, workers: usize) -> bool {
        self.taken() + self.block(workers) > self.limit
    }

    fn put(&mut self, entry: L::Entry, depth: u32) {
        self.put_from(home(L::hash(entry), depth, self.lines.len()), entry);
    }
}

impl<L: Line> std::ops::Deref for Lines<L> {
    type Target = [L];

    #[inline(always)]
    fn deref(&self) -> &[L] {
        &self.lines
    }
}

impl<L: Line> Segment for Lines<L> {
    fn with_units(units: usize) -> Option<Self> {
        let lines = Zeroed::growing(units, Self::MOST_UNITS)?;
        Some(Lines { lines, len: AtomicUsize::new(0), limit: Self::limit(units) })
    }

    fn units(&self) -> usize {
        self.lines.len()
    }

    fn start(&self) -> *const u8 {
        self.lines.start().cast()
    }

    const FIRST_UNITS: usize = 4;

    // 32 MiB.
    const MOST_UNITS: usize = 1 << 19;

    fn next_units(units: usize) -> usize {
        // Small tables double; large ones grow by less, so that little is wasted.
        if units < 1 << 10 { (units * 2).max(4) } else { (units + units / 4).min(Self::MOST_UNITS) }
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.taken() >= self.limit
    }

    fn is_packed(&self) -> bool {
        self.taken() + 1 >= self.lines.len() * L::PLACES
    }

    fn grow(&mut self, depth: u32, units: usize) -> Option<()> {
        let before = self.lines.len();
        if !self.lines.grow(units) {
            return self.grow_elsewhere(depth, units);
        }
        // In place, so that no memory is given back to be cleared again. From the last line to the first, entries go to their
        // new lines: homes grow with the hash, so that these are after the line read, among those read already. Entries that
        // had been pushed out of their line may belong before it: they have to wait, as those that would wrap around.
        let lines = &mut *self.lines;
        let mut used = vec![0u8; units];
        let mut waiting = Vec::new();
        for from in (0..before).rev() {
            let line = std::mem::replace(&mut lines[from], L::EMPTY);
            for entry in (0..L::PLACES).map_while(|place| line.entry(place)) {
                let mut at = home(L::hash(entry), depth, units);
                // SAFETY: `at` is below `units`, which both have.
                while at >= from && unsafe { *used.get_unchecked(at) } as usize == L::PLACES {
                    at = if at + 1 < units { at + 1 } else { 0 };
                }
                if at < from {
                    waiting.push(entry);
                    continue;
                }
                // SAFETY: as above.
                unsafe {
                    let used = used.get_unchecked_mut(at);
                    lines.get_unchecked_mut(at).set(*used as usize, entry);
                    *used += 1;
                }
            }
        }
        self.limit = Self::limit(units);
        *self.len.get_mut() -= waiting.len();
        for entry in waiting {
            self.put(entry, depth);
        }
        Some(())
    }

    fn halves(&mut self, depth: u32, units: usize) -> Option<(Self, Self)> {
        self.split(depth, units)
    }

    fn bytes(&self) -> usize {
        self.lines.bytes()
    }
}

impl<L: Line> Moved for Lines<L> {
    fn move_into(&mut self, new_depth: u32, lower: &mut Self, mut upper: Option<&mut Self>) {
        for line in self.lines.iter() {
            for entry in (0..L::PLACES).map_while(|place| line.entry(place)) {
                match &mut upper {
                    Some(upper) if L::hash(entry) >> (64 - new_depth) & 1 == 1 => upper.put(entry, new_depth),
                    _ => lower.put(entry, new_depth),
                }
            }
        }
    }
}
