//! A level of a breadth-first search: the states that wait, as they are stored and as they were found.
//!
//! They wait in chunks, which workers take one by one. The first ones, which a processor's cache has room for, wait as they are, the others packed
//! ([`crate::packed_states`]); those found last are not packed yet. Who expands a level unpacks one chunk after the other.

use quotient_seams::{Known, Looked, Successors, Visited};

use crate::expand::Originals;
use crate::frontier::Frontier;
use crate::packed_states::PackedStates;

/// A level of a breadth-first search: what is stored, with hints, and what the search goes on from if that differs.
#[derive(Debug, Default)]
pub(crate) struct Level {
    /// The chunks that are not packed, once there are packed ones; before, they are in the last one.
    plain: Chunk,
    /// Their ends.
    marks: Vec<Mark>,
    packed: Vec<Packed>,
    packed_bytes: u64,
    /// What is after them.
    last: Chunk,
    /// New states are packed.
    packs: bool,
    /// Nothing is to be packed: states are looked up by their places.
    pub(crate) keeps: bool,
    scratch: Vec<u8>,
    /// The number of its first state among those that its worker discovered.
    pub(crate) first: u64,
}

/// A place in chunks that are not packed, and the number of states before it.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    stored: usize,
    found: usize,
    end: u64,
}

/// States of a level.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) stored: Frontier,
    found: Frontier,
}

/// A chunk that is packed.
#[derive(Debug)]
struct Packed {
    stored: PackedStates,
    found: PackedStates,
    /// States up to its end.
    end: u64,
}

/// States of a chunk, at least, unless it is a level's last: few of those that are not packed, so that workers have equal parts of small levels, too.
const CHUNK: u64 = 64;

/// States of a chunk that is packed.
const PACKED_CHUNK: u64 = 512;

/// Words of the states that are not packed; 2 MiB.
const PLAIN: usize = 1 << 18;

/// Reads a chunk from the front.
#[derive(Debug)]
pub(crate) struct Cursor<'l> {
    chunk: &'l Chunk,
    stored: usize,
    found: usize,
    left: u64,
    /// States of the level after the chunk.
    behind: u64,
}

impl<'l> Cursor<'l> {
    /// The next state: what is stored, and what the search goes on from.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<(Known<'l>, &'l [u64])> {
        self.left = self.left.checked_sub(1)?;
        let (stored, after) = self.chunk.stored.at(self.stored)?;
        self.stored = after;
        let mut from = stored.state;
        if let Some((found, after)) = self.chunk.found.at(self.found) {
            self.found = after;
            from = found.state;
        }
        Some((stored, from))
    }

    /// States of the level that follow.
    pub(crate) fn left(&self) -> u64 {
        self.left + self.behind
    }
}

impl Level {
    /// Adds entry `entry` of a batch.
    #[inline(always)]
    pub(crate) fn push(&mut self, successors: &Successors, found: &Originals, entry: usize, hint: &[u32]) {
        self.last.stored.push(successors.state(entry), hint);
        if let Some(state) = found.state(entry) {
            self.last.found.push(state, &[]);
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
            let stored = &mut self.last.stored;
            if let Some(short) = looked.short::<2>(successors) {
                return stored.push_short(short, &looked.new);
            }
            if let Some(short) = looked.short::<3>(successors) {
                return stored.push_short(short, &looked.new);
            }
            if let Some(short) = looked.short::<4>(successors) {
                return stored.push_short(short, &looked.new);
            }
        }
        for &entry in &looked.new {
            let entry = entry as usize;
            let hint_len = visited.hint_len(successors.state(entry).len());
            self.push(successors, found, entry, looked.hint(entry, hint_len));
        }
    }

    /// Called after states were added: ends a chunk where it is large enough.
    #[inline(always)]
    pub(crate) fn mark(&mut self) {
        let (before, size) = match self.packs {
            true => (0, PACKED_CHUNK),
            false => (self.marks.last().map_or(0, |mark| mark.end), CHUNK),
        };
        if self.last.stored.len() - before >= size {
            self.end_chunk();
        }
    }

    #[inline(never)]
    fn end_chunk(&mut self) {
        let Chunk { stored, found } = &mut self.last;
        if self.packs {
            let end = self.before_last() + self.last.stored.len();
            let Chunk { stored, found } = &mut self.last;
            let mut pack = |states: &Frontier| match states.len() {
                0 => PackedStates::default(),
                _ => PackedStates::new(states, &mut self.scratch),
            };
            let chunk = Packed { stored: pack(stored), found: pack(found), end };
            self.packed_bytes += chunk.stored.bytes() + chunk.found.bytes();
            self.packed.push(chunk);
            stored.clear();
            found.clear();
            return;
        }
        let mark = Mark { stored: stored.places(), found: found.places(), end: stored.len() };
        self.marks.push(mark);
        if mark.stored + mark.found > PLAIN && !self.keeps {
            self.packs = true;
            std::mem::swap(&mut self.plain, &mut self.last);
        }
    }

    /// States of the chunks that have ended, if some are packed.
    fn before_last(&self) -> u64 {
        let plain = self.marks.last().map_or(0, |mark| mark.end);
        if self.packs { self.packed.last().map_or(plain, |chunk| chunk.end) } else { 0 }
    }

    /// States that are not packed, which are all if they are to be looked up by their places.
    pub(crate) fn last(&self) -> &Frontier {
        &self.last.stored
    }

    /// How many chunks there are.
    pub(crate) fn chunks(&self) -> usize {
        let ended = if self.packs { 0 } else { self.marks.last().map_or(0, |mark| mark.end) };
        self.marks.len() + self.packed.len() + usize::from(self.last.stored.len() > ended)
    }

    /// The states of the chunks from number `first` on, `most` at most, as far as they lie together: at least one. With them how many chunks these are, and the number of the first state among
    /// those that its worker discovered. `buffer` is for a chunk that has to be unpacked.
    pub(crate) fn part<'l>(
        &'l self,
        first: usize,
        most: usize,
        buffer: &'l mut Chunk,
    ) -> (Cursor<'l>, usize, u64) {
        let (marks, packed) = (self.marks.len(), self.packed.len());
        // Where the chunk before ends.
        let mut start = match first.checked_sub(1) {
            Some(before) if before < marks => self.marks[before],
            _ => Mark::default(),
        };
        if let Some(before) = first.checked_sub(marks + 1) {
            start.end = self.packed[before.min(packed - 1)].end;
        }
        let (chunk, count, end): (&Chunk, usize, u64);
        if first < marks {
            let last = first.saturating_add(most.max(1)).min(marks);
            (chunk, count, end) =
                (if self.packs { &self.plain } else { &self.last }, last - first, self.marks[last - 1].end);
        } else if let Some(one) = self.packed.get(first - marks) {
            let states = one.end - start.end;
            one.stored.unpack(states, &mut buffer.stored);
            one.found.unpack(if one.found.bytes() > 0 { states } else { 0 }, &mut buffer.found);
            (start.stored, start.found) = (0, 0);
            (chunk, count, end) = (buffer, 1, one.end);
        } else {
            if self.packs {
                (start.stored, start.found) = (0, 0);
            }
            (chunk, count, end) = (&self.last, 1, self.len());
        }
        let (left, behind) = (end - start.end, self.len() - end);
        (
            Cursor { chunk, stored: start.stored, found: start.found, left, behind },
            count,
            self.first + start.end,
        )
    }

    /// All states as they are stored, in order.
    pub(crate) fn each<E>(&self, mut see: impl FnMut(Known<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut buffer = Chunk::default();
        let mut done = 0;
        while done < self.chunks() {
            let (mut cursor, count, _) = self.part(done, usize::MAX, &mut buffer);
            done += count;
            while let Some((stored, _)) = cursor.next() {
                see(stored)?;
            }
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> u64 {
        self.before_last() + self.last.stored.len()
    }

    /// Forgets everything, keeps the memory that is not packed.
    pub(crate) fn clear(&mut self) {
        if self.packs {
            std::mem::swap(&mut self.plain, &mut self.last);
            self.plain.clear();
        }
        self.packs = false;
        self.marks.clear();
        self.packed.clear();
        self.packed_bytes = 0;
        self.last.clear();
    }

    pub(crate) fn bytes(&self) -> u64 {
        let packed = (self.packed.capacity() * size_of::<Packed>()) as u64 + self.packed_bytes;
        packed + self.plain.bytes() + self.last.bytes()
    }
}

impl Chunk {
    fn clear(&mut self) {
        self.stored.clear();
        self.found.clear();
    }

    fn bytes(&self) -> u64 {
        self.stored.bytes() + self.found.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels of all sizes, with chunks that wait in all ways, cleared in between.
    #[test]
    fn chunks_have_all_states_in_order() {
        let mut level = Level::default();
        for (count, keeps, finds) in [
            (0, false, false),
            (5, false, true),
            (512, false, false),
            (100_000, false, true),
            (300_000, false, false),
            (90_000, true, false),
        ] {
            level.clear();
            level.keeps = keeps;
            level.first = 7;
            for n in 0..count {
                level.last.stored.push(&[n, n / 7, 3], &[n as u32, 4]);
                if finds {
                    level.last.found.push(&[n, 9], &[]);
                }
                if n % 50 == 0 {
                    level.mark();
                }
            }
            assert_eq!(level.len(), count);
            assert_eq!(keeps, !level.packs && count > 80_000);
            for most in [1, 3, usize::MAX] {
                let (mut buffer, mut n, mut done) = (Chunk::default(), 0, 0);
                while done < level.chunks() {
                    let (mut cursor, chunks, first) = level.part(done, most, &mut buffer);
                    assert_eq!(first, 7 + n);
                    assert!(cursor.left > 0 && (1..=most).contains(&chunks));
                    assert!(
                        cursor.left <= (CHUNK + 50) * chunks as u64
                            || chunks == 1 && cursor.left <= PACKED_CHUNK + 50
                    );
                    done += chunks;
                    while let Some((stored, from)) = cursor.next() {
                        assert_eq!((stored.state, stored.hint), (&[n, n / 7, 3][..], &[n as u32, 4][..]));
                        let found = [n, 9];
                        assert_eq!(from, if finds { &found[..] } else { stored.state });
                        n += 1;
                        assert_eq!(cursor.left(), count - n);
                    }
                }
                assert_eq!((n, done), (count, level.chunks()));
            }
        }
    }
}
