//! States waiting to be expanded, with their hints, packed one after the other.

use quotient_seams::{Known, Short};
/// The states of one breadth-first level, in order.
#[derive(Debug, Default)]
pub(crate) struct Frontier {
    /// Per state: a header (words, hint length), the words, the hint two to a word.
    data: Vec<u64>,
    len: u64,
}

impl Frontier {
    #[inline]
    pub(crate) fn push(&mut self, state: &[u64], hint: &[u32]) {
        let size = 1 + state.len() + hint.len().div_ceil(2);
        self.data.reserve(size);
        let start = self.data.len();
        // SAFETY: the room was just reserved, and all of it is written: the header, the words, the hint two to a word, the
        // last one perhaps alone. Short states and hints, the usual ones, are written without a loop or a call.
        unsafe {
            let mut to = self.data.as_mut_ptr().add(start);
            *to = state.len() as u64 | (hint.len() as u64) << 32;
            to = to.add(1);
            match *state {
                [a, b] => to.cast::<[u64; 2]>().write([a, b]),
                [a, b, c] => to.cast::<[u64; 3]>().write([a, b, c]),
                [a, b, c, d] => to.cast::<[u64; 4]>().write([a, b, c, d]),
                _ => to.copy_from_nonoverlapping(state.as_ptr(), state.len()),
            }
            to = to.add(state.len());
            match *hint {
                [] => {}
                [a, b] => *to = u64::from(a) | u64::from(b) << 32,
                _ => {
                    if let Some(&last) = hint.last() {
                        *to.add(hint.len().div_ceil(2) - 1) = u64::from(last);
                    }
                    to.cast::<u32>().copy_from_nonoverlapping(hint.as_ptr(), hint.len());
                }
            }
            self.data.set_len(start + size);
        }
        self.len += 1;
    }

    /// Adds some of these states, each with its hint.
    #[inline(always)]
    pub(crate) fn push_short<const WORDS: usize>(&mut self, short: Short<'_, WORDS>, which: &[u32]) {
        let size = WORDS + 2;
        self.data.reserve(size * which.len());
        // SAFETY: the room was just reserved, and all of it is written.
        unsafe {
            let mut to = self.data.as_mut_ptr().add(self.data.len());
            for &entry in which {
                let (state, hint) = (&short.states[entry as usize], short.hints[entry as usize]);
                *to = WORDS as u64 | 2 << 32;
                to.add(1).cast::<[u64; WORDS]>().write(*state);
                *to.add(1 + WORDS) = u64::from(hint[0]) | u64::from(hint[1]) << 32;
                to = to.add(size);
            }
            self.data.set_len(self.data.len() + size * which.len());
        }
        self.len += which.len() as u64;
    }

    /// The state at a place (0 is the first one's) and the place after it.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize) -> Option<(Known<'_>, usize)> {
        let header = *self.data.get(place)?;
        let (words, hint) = (header as u32 as usize, (header >> 32) as usize);
        // SAFETY: places are those that `push` wrote a header at: so many words follow, and the hint two to a word. A u64 is
        // two u32s in order of significance on little-endian machines, the only ones this is compiled for (checked
        // below); alignment of u64 is enough for u32.
        let known = unsafe {
            let start = self.data.as_ptr().add(place + 1);
            Known {
                state: std::slice::from_raw_parts(start, words),
                hint: std::slice::from_raw_parts(start.add(words).cast::<u32>(), hint),
            }
        };
        Some((known, place + 1 + words + hint.div_ceil(2)))
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Words of a state with this header, the header among them.
    #[inline(always)]
    pub(crate) fn size_of(header: u64) -> usize {
        1 + header as u32 as usize + ((header >> 32) as usize).div_ceil(2)
    }

    /// Everything: per state a header, the words, the hint.
    pub(crate) fn words(&self) -> &[u64] {
        &self.data
    }

    /// Replaces everything by so many states, which are written as [`Frontier::words`] gives them.
    pub(crate) fn fill(&mut self, len: u64, write: impl FnOnce(&mut Vec<u64>)) {
        self.data.clear();
        write(&mut self.data);
        self.len = len;
    }

    /// Behind the last place.
    pub(crate) fn places(&self) -> usize {
        self.data.len()
    }

    /// Forgets everything, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.data.clear();
        self.len = 0;
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.data.capacity() as u64 * 8
    }
}

#[cfg(not(target_endian = "little"))]
compile_error!("packed hints and states assume a little-endian machine");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_what_was_pushed() {
        let mut frontier = Frontier::default();
        frontier.push(&[1, 2], &[3, 4, 5]);
        frontier.push(&[6], &[]);
        let (first, place) = frontier.at(0).unwrap();
        assert_eq!((first.state, first.hint), (&[1, 2][..], &[3, 4, 5][..]));
        let (second, place) = frontier.at(place).unwrap();
        assert_eq!((second.state, second.hint), (&[6][..], &[][..]));
        assert!(frontier.at(place).is_none());
    }
}
