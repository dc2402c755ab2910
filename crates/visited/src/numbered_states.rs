//! States as they are, with numbers, for several threads: each can add a state, and read one that another has found.
//!
//! A hash says which of [`SHARDS`] small stores a state belongs to. Each has a lock of its own, which is held for one lookup: with so many more of them than
//! threads, two rarely want the same one. The number of a state is its number within its shard and the shard's.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quotient_seams::{OUT_OF_MEMORY, SharedNumbering, fallible};

use crate::hash::{mix, term};

/// Stores within the store, a power of two.
const SHARDS: usize = 256;

/// States stored whole, that threads share.
#[derive(Debug)]
pub struct NumberedStates {
    shards: Box<[Apart]>,
    /// There was no memory for a state.
    refused: AtomicBool,
    /// There was no number for one.
    full: AtomicBool,
    len: AtomicU64,
}

/// In cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart(Mutex<Shard>);

#[derive(Debug, Default)]
struct Shard {
    /// A power of two of slots, at most three in four used: 0 is free, else the top half of the hash over the number + 1.
    slots: Vec<u64>,
    /// Where the states end in `words`.
    ends: Vec<u32>,
    words: Vec<u64>,
}

/// What a shard could not do.
enum Refused {
    Memory,
    Numbers,
}

impl Shard {
    fn state(&self, number: u32) -> &[u64] {
        let start = (number as usize).checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.words[start..self.ends[number as usize] as usize]
    }

    /// The slot of a state, or the free one where it belongs.
    fn find(&self, hash: u64, state: &[u64]) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut at = (hash as usize / SHARDS) & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            if slot >> 32 == hash >> 32 && self.state(slot as u32 - 1) == state {
                return Ok(slot as u32 - 1);
            }
            at = (at + 1) & mask;
        }
    }

    /// The number of a state within the shard, and whether it is new.
    fn number(&mut self, hash: u64, state: &[u64]) -> Result<(u32, bool), Refused> {
        if 4 * (self.ends.len() + 1) > 3 * self.slots.len() {
            self.grow().ok_or(Refused::Memory)?;
        }
        let at = match self.find(hash, state) {
            Ok(number) => return Ok((number, false)),
            Err(at) => at,
        };
        let number = self.ends.len() as u32;
        if number as usize == u32::MAX as usize / SHARDS {
            return Err(Refused::Numbers);
        }
        let end = u32::try_from(self.words.len() + state.len()).map_err(|_| Refused::Numbers)?;
        fallible(|| self.words.try_reserve(state.len()).and_then(|()| self.ends.try_reserve(1)))
            .map_err(|_| Refused::Memory)?;
        self.words.extend_from_slice(state);
        self.ends.push(end);
        self.slots[at] = hash >> 32 << 32 | u64::from(number + 1);
        Ok((number, true))
    }

    #[cold]
    fn grow(&mut self) -> Option<()> {
        let size = (2 * self.slots.len()).max(64);
        let mut larger = Vec::new();
        fallible(|| larger.try_reserve_exact(size)).ok()?;
        larger.resize(size, 0);
        // Where a slot belongs is in a part of the hash that it does not keep.
        for number in 0..self.ends.len() as u32 {
            let hash = hash_of(self.state(number));
            let mut at = (hash as usize / SHARDS) & (size - 1);
            while larger[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            larger[at] = hash >> 32 << 32 | u64::from(number + 1);
        }
        self.slots = larger;
        Some(())
    }

    fn bytes(&self) -> u64 {
        (8 * self.slots.capacity() + 4 * self.ends.capacity() + 8 * self.words.capacity()) as u64
    }
}

fn hash_of(state: &[u64]) -> u64 {
    mix(state.iter().enumerate().fold(0, |sum, (k, &word)| sum.wrapping_add(term(k, word))))
}

impl NumberedStates {
    /// An empty store.
    pub fn new() -> NumberedStates {
        NumberedStates::default()
    }

    fn shard(&self, number: usize) -> MutexGuard<'_, Shard> {
        self.shards[number].0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for NumberedStates {
    fn default() -> NumberedStates {
        NumberedStates {
            shards: (0..SHARDS).map(|_| Apart::default()).collect(),
            refused: AtomicBool::new(false),
            full: AtomicBool::new(false),
            len: AtomicU64::new(0),
        }
    }
}

impl SharedNumbering for NumberedStates {
    fn number(&self, state: &[u64]) -> Option<(u32, bool)> {
        let hash = hash_of(state);
        let shard = hash as usize % SHARDS;
        let found = self.shard(shard).number(hash, state);
        match found {
            Ok((number, new)) => {
                if new {
                    self.len.fetch_add(1, Ordering::Relaxed);
                }
                Some((number * SHARDS as u32 + shard as u32, new))
            }
            Err(Refused::Memory) => {
                self.refused.store(true, Ordering::Relaxed);
                None
            }
            Err(Refused::Numbers) => {
                self.full.store(true, Ordering::Relaxed);
                None
            }
        }
    }

    fn state(&self, number: u32, out: &mut Vec<u64>) {
        out.clear();
        let shard = self.shard(number as usize % SHARDS);
        out.extend_from_slice(shard.state(number / SHARDS as u32));
    }

    fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    fn bytes(&self) -> u64 {
        (0..SHARDS).map(|shard| self.shard(shard).bytes()).sum()
    }

    fn exhausted(&self) -> Option<&'static str> {
        if self.refused.load(Ordering::Relaxed) {
            return Some(OUT_OF_MEMORY);
        }
        self.full.load(Ordering::Relaxed).then_some("no numbers left for states (2^32)")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn threads_agree_on_numbers() {
        let store = NumberedStates::new();
        let states = |turn: u64| {
            // Of several lengths, each many times, in an order of each thread's own.
            (0..40_000u64).map(move |k| {
                let k = (k * (2 * turn + 1) + turn) % 9_001;
                (0..1 + k % 4).map(|word| k / 4 + word).collect::<Vec<u64>>()
            })
        };
        let numbers: Vec<HashMap<Vec<u64>, u32>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|turn| {
                    let store = &store;
                    scope.spawn(move || {
                        states(turn)
                            .map(|s| (s.clone(), store.number(&s).expect("there is room").0))
                            .collect()
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().expect("it ends")).collect()
        });
        let mut all = HashMap::new();
        let mut read = Vec::new();
        for (state, number) in numbers.iter().flatten() {
            assert_eq!(all.entry(state.clone()).or_insert(*number), number, "one number");
            store.state(*number, &mut read);
            assert_eq!(&read, state);
        }
        assert_eq!(all.len() as u64, store.len());
        assert_eq!(all.values().collect::<std::collections::HashSet<_>>().len(), all.len());
    }
}
