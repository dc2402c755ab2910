//! The plain store: states as they are, in a slab, found through a table of (tag, number) words. The fastest
//! when states are short, and the largest.
//!
//! The hint of a long state is its hash before the last mixing, a sum over its words: a successor that differs in
//! few words is hashed by difference. Short states are hashed from the start, which is as fast.

use crate::directory::{Directory, Moved, Segment};
use crate::hash::{mix, term};
use crate::memory::Zeroed;
use crate::prefetch;
use quotient_seams::{Known, Loaded, Numbering, OUT_OF_MEMORY, Visited};

/// States stored whole.
#[derive(Debug, Default)]
pub struct Plain {
    /// One slab and table per length of state.
    by_length: Vec<Slab>,
    len: u64,
    full: bool,
    /// There was no memory for a state.
    refused: bool,
}

/// Words in one chunk of a slab: growing never copies states. The first chunks are smaller.
const CHUNK: usize = 1 << 19;
const FIRST_CHUNK: usize = 1 << 12;
/// States of up to this many words are hashed from the start.
const SHORT: usize = 6;

#[derive(Debug, Default)]
struct Slab {
    words: usize,
    /// States per chunk, a power of two (the first chunk is cut short).
    shift: u32,
    chunks: Vec<Zeroed<u64>>,
    count: u32,
    /// The numbers of the states, if they are asked for: those of all lengths are counted together.
    numbers: Vec<u32>,
    table: Directory<Table>,
}

/// Slots: 0 is free, else the top half of the hash over the state's number + 1.
#[derive(Debug)]
struct Table {
    slots: Zeroed<u64>,
    len: usize,
}

/// As [`crate::directory::home`], from the top half of the hash alone: that is all a slot keeps of it.
#[inline(always)]
fn home(hash: u64, depth: u32, units: usize) -> usize {
    ((u64::from(((hash >> 32) as u32) << depth) * units as u64) >> 32) as usize
}

impl Table {
    /// Calls `same` with the number of each state whose tag matches, until it says yes; otherwise gives the
    /// free slot where the state belongs. There must be a free slot.
    #[inline(always)]
    fn find(&self, hash: u64, depth: u32, mut same: impl FnMut(u32) -> bool) -> Result<u32, usize> {
        let mut at = home(hash, depth, self.slots.len());
        loop {
            // SAFETY: `home` is below the capacity, and wrapping keeps `at` there.
            let slot = unsafe { *self.slots.get_unchecked(at) };
            if slot == 0 {
                return Err(at);
            }
            if slot >> 32 == hash >> 32 && same(slot as u32 - 1) {
                return Ok(slot as u32 - 1);
            }
            at += 1;
            if at == self.slots.len() {
                at = 0;
            }
        }
    }
}

impl Segment for Table {
    fn with_units(units: usize) -> Option<Self> {
        Some(Table { slots: Zeroed::new(units)?, len: 0 })
    }

    fn units(&self) -> usize {
        self.slots.len()
    }

    fn start(&self) -> *const u8 {
        self.slots.as_ptr().cast()
    }

    const FIRST_UNITS: usize = 16;

    // 32 MiB.
    const MOST_UNITS: usize = 1 << 22;

    fn next_units(units: usize) -> usize {
        if units < 1 << 16 { (units * 2).max(16) } else { (units + units / 2).min(Self::MOST_UNITS) }
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        // At most two in three slots are used.
        (self.len + 1) * 3 > self.slots.len() * 2
    }

    fn is_packed(&self) -> bool {
        self.len + 1 >= self.slots.len()
    }

    fn grow(&mut self, depth: u32, units: usize) -> Option<()> {
        self.grow_elsewhere(depth, units)
    }

    fn halves(&mut self, depth: u32, units: usize) -> Option<(Self, Self)> {
        self.split(depth, units)
    }

    fn bytes(&self) -> usize {
        self.slots.bytes()
    }
}

impl Moved for Table {
    fn move_into(&mut self, new_depth: u32, lower: &mut Self, mut upper: Option<&mut Self>) {
        for &slot in self.slots.iter().filter(|s| **s != 0) {
            let to = match &mut upper {
                Some(upper) if slot >> (64 - new_depth) & 1 == 1 => &mut **upper,
                _ => &mut *lower,
            };
            if let Err(at) = to.find(slot, new_depth, |_| false) {
                to.slots[at] = slot;
                to.len += 1;
            }
        }
    }
}

impl Slab {
    #[inline(always)]
    fn state(&self, number: u32) -> &[u64] {
        let (chunk, within) = (number >> self.shift, number & ((1 << self.shift) - 1));
        let start = within as usize * self.words;
        // SAFETY: numbers come from the table, which holds those of stored states.
        unsafe { self.chunks.get_unchecked(chunk as usize).get_unchecked(start..start + self.words) }
    }

    /// Adds a state; `None` if there is no memory for it.
    #[inline]
    fn push(&mut self, state: &[u64]) -> Option<()> {
        let within = (self.count & ((1 << self.shift) - 1)) as usize;
        let chunk = (self.count >> self.shift) as usize;
        if chunk == self.chunks.len() {
            // The first chunk starts small and is replaced once by a whole one.
            let first = chunk == 0 && FIRST_CHUNK / self.words > 0;
            let words =
                if first { FIRST_CHUNK.min(self.words << self.shift) } else { self.words << self.shift };
            self.chunks.push(Zeroed::new(words.max(self.words))?);
        }
        let start = within * self.words;
        if start + self.words > self.chunks[chunk].len() {
            let mut whole = Zeroed::new(self.words << self.shift)?;
            let old = &self.chunks[chunk];
            whole[..old.len()].copy_from_slice(old);
            self.chunks[chunk] = whole;
        }
        self.chunks[chunk][start..start + self.words].copy_from_slice(state);
        self.count += 1;
        Some(())
    }
}

impl Plain {
    /// An empty store.
    pub fn new() -> Plain {
        Plain::default()
    }

    #[cold]
    fn prepare_length(&mut self, words: usize) {
        if self.by_length.len() <= words {
            self.by_length.resize_with(words + 1, Slab::default);
        }
        let slab = &mut self.by_length[words];
        slab.words = words;
        slab.shift = (CHUNK / words).max(1).ilog2();
    }
}

impl Numbering for Plain {
    fn number(&mut self, key: u64, state: &[u64]) -> u32 {
        let next = self.len;
        if next >= u64::from(u32::MAX) {
            self.full = true;
            return 0;
        }
        let new = self.insert(key, state);
        let slab = &mut self.by_length[state.len()];
        if new {
            slab.numbers.push(next as u32);
            return next as u32;
        }
        let (table, depth) = slab.table.segment(key);
        let found = table.find(key, depth, |number| slab.state(number) == state);
        found.map_or(0, |number| slab.numbers[number as usize])
    }
}

impl Visited for Plain {
    fn hint_len(&self, words: usize) -> usize {
        if words <= SHORT { 0 } else { 2 }
    }

    #[inline]
    fn load(&mut self, state: &[u64], parent: Option<Known<'_>>, hint: &mut [u32]) -> Loaded {
        let words = state.len();
        if self.by_length.get(words).is_none_or(|s| s.words == 0) {
            self.prepare_length(words);
        }
        let mut sum = 0u64;
        match parent {
            Some(known) if words > SHORT && known.state.len() == words => {
                sum = u64::from(known.hint[0]) | u64::from(known.hint[1]) << 32;
                for (k, (&new, &old)) in state.iter().zip(known.state).enumerate() {
                    if new != old {
                        sum = sum.wrapping_add(term(k, new)).wrapping_sub(term(k, old));
                    }
                }
            }
            _ => {
                for (k, &word) in state.iter().enumerate() {
                    sum = sum.wrapping_add(term(k, word));
                }
            }
        }
        if words > SHORT {
            hint[0] = sum as u32;
            hint[1] = (sum >> 32) as u32;
        }
        let hash = mix(sum);
        let (table, depth) = self.by_length[words].table.segment(hash);
        prefetch(&table.slots, home(hash, depth, table.slots.len()));
        [hash, 0]
    }

    #[inline]
    fn prepare(&mut self, state: &[u64], [key, _]: Loaded, _hint: &mut [u32]) -> u64 {
        let slab = &self.by_length[state.len()];
        let (table, depth) = slab.table.segment(key);
        // Only the first candidate: it is nearly always the only one.
        let _ = table.find(key, depth, |number| {
            prefetch(slab.state(number), 0);
            true
        });
        key
    }

    #[inline]
    fn insert(&mut self, key: u64, state: &[u64]) -> bool {
        let slab = &mut self.by_length[state.len()];
        slab.table.make_room_for(key);
        self.refused |= slab.table.is_refused();
        let (table, depth) = slab.table.segment(key);
        let Err(at) = table.find(key, depth, |number| slab.state(number) == state) else { return false };
        if slab.count == u32::MAX - 1 {
            self.full = true;
            return false;
        }
        let slot = key >> 32 << 32 | u64::from(slab.count + 1);
        if slab.push(state).is_none() {
            self.refused = true;
            return false;
        }
        let table = slab.table.segment_mut(key);
        table.slots[at] = slot;
        table.len += 1;
        slab.table.added(1);
        self.len += 1;
        true
    }

    #[inline]
    fn contains(&self, key: u64, state: &[u64]) -> bool {
        self.by_length.get(state.len()).is_some_and(|slab| {
            let (table, depth) = slab.table.segment(key);
            table.find(key, depth, |number| slab.state(number) == state).is_ok()
        })
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self) -> u64 {
        let slabs = self.by_length.iter().filter(|s| s.count > 0);
        slabs
            .map(|s| {
                let chunks: u64 = s.chunks.iter().map(|c| c.bytes() as u64).sum();
                s.table.bytes() + chunks + 4 * s.numbers.capacity() as u64
            })
            .sum()
    }

    fn exhausted(&self) -> Option<&'static str> {
        if self.refused {
            return Some(OUT_OF_MEMORY);
        }
        self.full.then_some("the plain store has no numbers left for new states (2^32)")
    }

    fn name(&self) -> &'static str {
        "plain"
    }
}
