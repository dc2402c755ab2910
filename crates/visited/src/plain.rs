//! The plain store: states as they are, in a slab, found through a table of (tag, number) words. The fastest
//! when states are short, and the largest.
//!
//! The hint of a state is its hash before the last mixing, a sum over its words: a successor that differs in
//! few words is hashed by difference.

use crate::directory::{Directory, Segment};
use crate::hash::{mix, term};
use crate::{Known, Visited, prefetch};

/// States stored whole.
#[derive(Debug, Default)]
pub struct Plain {
    /// One slab and table per length of state.
    by_length: Vec<Slab>,
    len: u64,
    full: bool,
}

/// Words in one chunk of a slab: growing never copies states.
const CHUNK: usize = 1 << 17;

#[derive(Debug, Default)]
struct Slab {
    words: usize,
    per_chunk: usize,
    chunks: Vec<Vec<u64>>,
    count: u32,
    table: Directory<Table>,
}

/// Slots: 0 is free, else the top half of the hash over the state's number + 1.
#[derive(Debug, Default)]
struct Table {
    slots: Box<[u64]>,
    len: u32,
}

#[inline(always)]
fn home(hash: u64, capacity: usize) -> usize {
    // Bits 32 to 51: the tag's bits that did not choose the segment (at most 12).
    (((hash >> 32 & 0xf_ffff) * capacity as u64) >> 20) as usize
}

impl Table {
    /// Calls `same` with the number of each state whose tag matches, until it says yes; otherwise gives the
    /// free slot where the state belongs.
    #[inline(always)]
    fn find(&self, hash: u64, mut same: impl FnMut(u32) -> bool) -> Result<u32, usize> {
        let mut at = home(hash, self.slots.len());
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

    /// Makes room for one more: at most four in five slots are used.
    #[inline(always)]
    fn reserve(&mut self) {
        if (self.len as usize + 1) * 5 > self.slots.len() * 4 {
            self.grow();
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let capacity = (self.slots.len() + self.slots.len() / 3).max(8).next_multiple_of(8);
        let old = std::mem::replace(&mut self.slots, vec![0; capacity].into_boxed_slice());
        for &slot in old.iter().filter(|s| **s != 0) {
            self.place(slot);
        }
    }

    fn place(&mut self, slot: u64) {
        if let Err(at) = self.find(slot, |_| false) {
            self.slots[at] = slot;
        }
    }
}

impl Segment for Table {
    fn bytes(&self) -> usize {
        self.slots.len() * 8
    }

    fn drain_into(self, to: &mut dyn FnMut(u64) -> *mut Self) {
        for &slot in self.slots.iter().filter(|s| **s != 0) {
            // SAFETY: `to` gives a live segment of the new directory, different from `self`. The top half
            // of a slot is the top half of the hash, which is all the directory looks at.
            let table = unsafe { &mut *to(slot) };
            table.reserve();
            table.place(slot);
            table.len += 1;
        }
    }
}

impl Slab {
    #[inline(always)]
    fn state(&self, number: u32) -> &[u64] {
        let (chunk, within) = (number as usize / self.per_chunk, number as usize % self.per_chunk);
        &self.chunks[chunk][within * self.words..(within + 1) * self.words]
    }

    fn push(&mut self, state: &[u64]) {
        if (self.count as usize).is_multiple_of(self.per_chunk) {
            self.chunks.push(Vec::with_capacity(self.per_chunk * self.words));
        }
        self.chunks.last_mut().expect("a chunk was just made sure of").extend_from_slice(state);
        self.count += 1;
    }
}

impl Plain {
    /// An empty store.
    pub fn new() -> Plain {
        Plain::default()
    }
}

impl Visited for Plain {
    fn hint_len(&self, _words: usize) -> usize {
        2
    }

    #[inline]
    fn prepare(&mut self, state: &[u64], parent: Option<Known<'_>>, hint: &mut [u32]) -> u64 {
        let words = state.len();
        if self.by_length.len() <= words {
            self.by_length.resize_with(words + 1, Slab::default);
        }
        let mut sum = 0u64;
        match parent {
            Some(known) if known.state.len() == words => {
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
        hint[0] = sum as u32;
        hint[1] = (sum >> 32) as u32;
        let hash = mix(sum);
        let table = self.by_length[words].table.segment(hash);
        prefetch(&table.slots, home(hash, table.slots.len()));
        hash
    }

    #[inline]
    fn touch(&self, key: u64, words: usize) {
        let slab = &self.by_length[words];
        let table = slab.table.segment(key);
        if table.slots.is_empty() {
            return;
        }
        // Only the first candidate: it is nearly always the only one.
        let _ = table.find(key, |number| {
            prefetch(slab.state(number), 0);
            true
        });
    }

    #[inline]
    fn insert(&mut self, key: u64, state: &[u64]) -> bool {
        let slab = &mut self.by_length[state.len()];
        if slab.per_chunk == 0 {
            slab.words = state.len();
            slab.per_chunk = (CHUNK / state.len()).max(1);
        }
        slab.table.segment_mut(key).reserve();
        let table = slab.table.segment(key);
        let Err(at) = table.find(key, |number| slab.state(number) == state) else { return false };
        if slab.count == u32::MAX - 1 {
            self.full = true;
            return false;
        }
        let slot = key >> 32 << 32 | u64::from(slab.count + 1);
        let table = slab.table.segment_mut(key);
        table.slots[at] = slot;
        table.len += 1;
        slab.table.added();
        slab.push(state);
        self.len += 1;
        true
    }

    #[inline]
    fn contains(&self, key: u64, state: &[u64]) -> bool {
        self.by_length.get(state.len()).is_some_and(|slab| {
            let table = slab.table.segment(key);
            !table.slots.is_empty() && table.find(key, |number| slab.state(number) == state).is_ok()
        })
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self) -> u64 {
        let slabs = self.by_length.iter().filter(|s| s.count > 0);
        slabs.map(|s| s.table.bytes() + s.chunks.iter().map(|c| c.capacity() as u64 * 8).sum::<u64>()).sum()
    }

    fn exhausted(&self) -> Option<&'static str> {
        self.full.then_some("the plain store has no numbers left for new states (2^32)")
    }

    fn name(&self) -> &'static str {
        "plain"
    }
}
