//! Numbers for vectors of bytes: each distinct vector gets the next number, from 0.
//!
//! The vectors lie one after the other; a table of numbers finds them. A slot of the table is four bytes and no hash is
//! kept, so that a short vector costs little more than its bytes: comparing reads the vector itself.

use quotient_seams::fallible;

use crate::hash::{mix, term};

/// Vectors of bytes, numbered.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    bytes: Vec<u8>,
    /// Where each vector starts, relative to its block's first byte.
    starts: Vec<u32>,
    /// The first byte of every [`BLOCK`] vectors.
    blocks: Vec<usize>,
    /// Numbers + 1; 0 is free. At most three in four are used.
    slots: Vec<u32>,
    full: bool,
    /// There was no memory for a vector.
    refused: bool,
}

/// Vectors whose places are relative to one byte.
const BLOCK: usize = 1 << 16;

fn hash(bytes: &[u8]) -> u64 {
    let mut sum = bytes.len() as u64;
    for (index, chunk) in bytes.chunks(8).enumerate() {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum = sum.wrapping_add(term(index, u64::from_le_bytes(word)));
    }
    mix(sum)
}

/// Makes room by a quarter at a time, so that little memory waits unused; `None` if there is no memory.
fn grow<T>(list: &mut Vec<T>, more: usize) -> Option<()> {
    if list.capacity() - list.len() < more {
        fallible(|| list.try_reserve_exact(more.max(list.len() / 4).max(64))).ok()?;
    }
    Some(())
}

impl Pool {
    fn start(&self, number: usize) -> usize {
        self.blocks[number / BLOCK] + self.starts[number] as usize
    }

    fn vector(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let end = if number + 1 < self.starts.len() { self.start(number + 1) } else { self.bytes.len() };
        &self.bytes[self.start(number)..end]
    }

    /// The number of a vector, or the free slot where it belongs.
    fn look(&self, vector: &[u8]) -> Result<u32, usize> {
        let mut at = ((u128::from(hash(vector)) * self.slots.len() as u128) >> 64) as usize;
        loop {
            match self.slots[at] {
                0 => return Err(at),
                slot if self.vector(slot - 1) == vector => return Ok(slot - 1),
                _ => at = if at + 1 == self.slots.len() { 0 } else { at + 1 },
            }
        }
    }

    /// The number of a vector, if it has one.
    pub(crate) fn find(&self, vector: &[u8]) -> Option<u32> {
        if self.slots.is_empty() { None } else { self.look(vector).ok() }
    }

    /// The number of a vector, and whether it is new.
    pub(crate) fn number(&mut self, vector: &[u8]) -> (u32, bool) {
        if (self.starts.len() + 1) * 4 > self.slots.len() * 3 && self.rehash().is_none() {
            self.refused = true;
            // A lookup needs a free slot.
            if self.starts.len() + 1 >= self.slots.len() {
                return (u32::MAX, false);
            }
        }
        let at = match self.look(vector) {
            Ok(number) => return (number, false),
            Err(at) => at,
        };
        let number = self.starts.len();
        if number.is_multiple_of(BLOCK) {
            self.blocks.push(self.bytes.len());
        }
        let start = u32::try_from(self.bytes.len() - self.blocks[number / BLOCK]);
        let (Ok(start), true) = (start, number < u32::MAX as usize - 1) else {
            self.full = true;
            return (u32::MAX, false);
        };
        if grow(&mut self.starts, 1).and_then(|()| grow(&mut self.bytes, vector.len())).is_none() {
            self.refused = true;
            return (u32::MAX, false);
        }
        self.starts.push(start);
        self.bytes.extend_from_slice(vector);
        self.slots[at] = number as u32 + 1;
        (number as u32, true)
    }

    #[cold]
    fn rehash(&mut self) -> Option<()> {
        let count = (self.slots.len() + self.slots.len() / 2).max(64);
        let mut slots = Vec::new();
        fallible(|| slots.try_reserve_exact(count)).ok()?;
        slots.resize(count, 0);
        self.slots = slots;
        for number in 0..self.starts.len() as u32 {
            if let Err(at) = self.look(self.vector(number)) {
                self.slots[at] = number + 1;
            }
        }
        Some(())
    }

    /// How many vectors there are.
    pub(crate) fn len(&self) -> u64 {
        self.starts.len() as u64
    }

    /// Whether memory has run out.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused
    }

    /// Whether vectors were refused.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    pub(crate) fn bytes(&self) -> u64 {
        let lists = 4 * self.starts.capacity() + 8 * self.blocks.capacity() + 4 * self.slots.capacity();
        (self.bytes.capacity() + lists) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn numbers_are_consecutive_and_stay() {
        let mut pool = Pool::default();
        let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut seed = 7u64;
        for _ in 0..400_000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let vector: Vec<u8> = (0..(seed >> 60) % 11).map(|i| (seed >> (20 + 3 * i)) as u8 % 4).collect();
            let next = known.len() as u32;
            assert_eq!(pool.find(&vector), known.get(&vector).copied());
            let expected = *known.entry(vector.clone()).or_insert(next);
            assert_eq!(pool.number(&vector), (expected, expected == next));
        }
        assert!(known.len() > BLOCK, "{} vectors", known.len());
        assert_eq!(pool.len(), known.len() as u64);
    }
}
