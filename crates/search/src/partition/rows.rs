//! States with a few numbers each, packed one after the other into blocks: what partitions of a search write to each other.
//!
//! A block is a list of runs of rows of the same length: the number of words of a row and how many rows follow, then the rows, each as what differs from the one before.

/// A row: its numbers and its state.
type Row<'r, const N: usize> = (&'r [u64; N], &'r [u64]);

/// Rows that wait to be written.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    numbers: Vec<u64>,
    /// The row added last, as it is.
    last: Vec<u64>,
    /// Where the count of the current run is.
    count_at: usize,
}

impl Rows {
    /// Adds a row: numbers, then a state.
    pub(crate) fn push<const N: usize>(&mut self, numbers: [u64; N], state: &[u64]) {
        let words = N + state.len();
        let row = numbers.iter().chain(state);
        if words == self.last.len() {
            for (last, word) in self.last.iter_mut().zip(row) {
                self.numbers.push(word ^ *last);
                *last = *word;
            }
        } else {
            self.numbers.extend([words as u64, 0]);
            self.count_at = self.numbers.len() - 1;
            self.last.clear();
            self.last.extend(row);
            self.numbers.extend_from_slice(&self.last);
        }
        self.numbers[self.count_at] += 1;
    }

    /// Words that wait.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The block of everything that waits, as bytes; forgets it.
    pub(crate) fn take(&mut self, block: &mut Vec<u8>) {
        block.clear();
        block.extend(self.numbers.iter().flat_map(|number| number.to_le_bytes()));
        self.numbers.clear();
        self.last.clear();
    }
}

/// Numbers in few bytes: for each, which of its bytes are not zero, and these.
impl Rows {
    /// As [`Rows::take`] for a network, where bytes count; added to what `block` has.
    pub(crate) fn take_short(&mut self, block: &mut Vec<u8>) {
        for number in self.numbers.drain(..) {
            let (bytes, at) = (number.to_le_bytes(), block.len());
            block.push(0);
            for (index, byte) in bytes.iter().enumerate().filter(|(_, byte)| **byte != 0) {
                block[at] |= 1 << index;
                block.push(*byte);
            }
        }
        self.last.clear();
    }
}

/// Reads the rows of a block.
#[derive(Debug, Default)]
pub(crate) struct Block {
    numbers: Vec<u64>,
    /// The next row, its words, and how many rows of the run are left.
    at: usize,
    words: usize,
    left: u64,
    /// The row is not the first of its run.
    follows: bool,
}

impl Block {
    /// Reads another block.
    pub(crate) fn read(&mut self, block: &[u8]) {
        self.numbers.clear();
        self.numbers.extend(block.as_chunks().0.iter().map(|number| u64::from_le_bytes(*number)));
        (self.at, self.words, self.left, self.follows) = (0, 0, 0, false);
    }

    /// Reads what [`Rows::take_short`] has written; `None` if it cannot be that.
    pub(crate) fn read_short(&mut self, mut block: &[u8]) -> Option<()> {
        self.read(&[]);
        while let Some((mask, rest)) = block.split_first() {
            let (bytes, rest) = rest.split_at_checked(mask.count_ones() as usize)?;
            let (mut number, mut bytes) = ([0; 8], bytes.iter());
            for (_, to) in number.iter_mut().enumerate().filter(|(index, _)| mask >> index & 1 == 1) {
                *to = *bytes.next()?;
            }
            self.numbers.push(u64::from_le_bytes(number));
            block = rest;
        }
        Some(())
    }

    /// Goes to the next row; `None` if the block is none of ours, `Some(false)` at its end.
    fn go(&mut self) -> Option<bool> {
        if self.left == 0 {
            if self.at == self.numbers.len() {
                return Some(false);
            }
            let (words, count) = (*self.numbers.get(self.at)?, *self.numbers.get(self.at + 1)?);
            (self.words, self.left) = (usize::try_from(words).ok()?, count);
            (self.at, self.follows) = (self.at + 2, false);
            let rest = (self.numbers.len() - self.at) as u64;
            if count == 0 || words == 0 || words.checked_mul(count).is_none_or(|all| all > rest) {
                return None;
            }
        }
        if self.follows {
            let (before, row) = self.numbers[self.at - self.words..].split_at_mut(self.words);
            for (word, last) in row.iter_mut().zip(before) {
                *word ^= *last;
            }
        }
        self.follows = true;
        self.left -= 1;
        self.at += self.words;
        Some(true)
    }

    /// The next row: its numbers and its state. `Err` if it is none of ours.
    pub(crate) fn next<const N: usize>(&mut self) -> Result<Option<Row<'_, N>>, ()> {
        match self.go() {
            Some(true) => self.numbers[self.at - self.words..self.at].split_first_chunk().ok_or(()).map(Some),
            Some(false) => Ok(None),
            None => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_pushed_is_read() {
        let rows: Vec<([u64; 2], Vec<u64>)> = (0..1000u64)
            .map(|n| ([n, n * n % 7], (0..1 + n / 100 % 3).map(|i| n * (i + 1)).collect()))
            .collect();
        let (mut out, mut bytes, mut block) = (Rows::default(), Vec::new(), Block::default());
        for part in rows.chunks(333) {
            part.iter().for_each(|(numbers, state)| out.push(*numbers, state));
            assert!(out.len() > part.len());
            out.take(&mut bytes);
            block.read(&bytes);
            for (numbers, state) in part {
                assert_eq!(block.next::<2>(), Ok(Some((numbers, &state[..]))));
            }
            assert_eq!(block.next::<2>(), Ok(None));
            let mut short = Vec::new();
            part.iter().for_each(|(numbers, state)| out.push(*numbers, state));
            out.take_short(&mut short);
            assert!(short.len() * 2 < bytes.len());
            block.read_short(&short).unwrap();
            for (numbers, state) in part {
                assert_eq!(block.next::<2>(), Ok(Some((numbers, &state[..]))));
            }
            // What is cut off is told, or ends between two rows of different lengths.
            block.read(&bytes[..bytes.len() - 8]);
            assert!((0..part.len() + 1).any(|_| block.next::<2>().is_err()));
        }
    }
}
