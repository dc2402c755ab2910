//! Segments of a set of 64-bit hashes that keep only what the place of an entry does not say (quotienting: Knuth, "The Art of Computer Programming", volume 3,
//! exercise 6.4-13; Cleary, "Compact hash tables using bidirectional linear probing", 1984).
//!
//! A hash is two halves. The upper one, the *place*, chooses the line where an entry belongs; the lower one, the *extra*, is a number that is small as long as the
//! hashed key is small ([`crate::key_set::key_hash`]). The places that choose the same line follow one another, so that as many of their lowest bits as tell that
//! many numbers apart are enough to know the place; they and the extra are what is kept (the *rest*), and beside it how many lines after its own an entry lies, plus
//! one, in three bits, so that no entry is 0. Line and entry say which hash it is: nothing is lost.
//!
//! A line is eight words. Each holds as many entries as fit, in lanes of the same width, from the lowest on; words and lanes are filled in order. How wide a lane has to
//! be depends on the number of lines and on the largest extra, and so changes only when a segment is made anew. An entry is at most [`FARTHEST`] lines
//! after its own: a segment that has no free lane so near is too *crowded* and grows.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::directory::{Segment, home};
use crate::memory::{Plain, Zeroed};
use crate::tree_batch::is_modern;

/// A cache line of entries; all bytes zero is an empty one.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [u64; 8]);

// SAFETY: integers only.
unsafe impl Plain for Line {}

/// Bits that say how far after its line an entry lies.
const AWAY_BITS: u32 = 3;
const AWAY: u64 = (1 << AWAY_BITS) - 1;
/// Lines after its own that an entry can lie, at most.
pub const FARTHEST: usize = AWAY as usize - 1;
/// Bits of a place.
const PLACE_BITS: u32 = 32;
/// Most lanes of a word.
const MOST_LANES: u32 = 6;

/// How entries lie in the words of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Lowest bits of the place that are kept.
    place: u32,
    /// Bits that extras have at most.
    extra: u32,
    /// Lanes of a word, and the bits of each.
    lanes: u32,
    bits: u32,
    /// The lowest and the highest bit of each lane.
    low: u64,
    high: u64,
    /// To divide by `bits`: 2^16 / `bits`, rounded up.
    inverse: u32,
}

impl Format {
    /// The format of a segment that `depth` bits of the place lead to, for extras of so many bits.
    pub fn new(lines: usize, depth: u32, extra: u32) -> Format {
        // So many places choose a line, at most.
        let places = space(depth).div_ceil(lines as u64);
        let place = places.next_power_of_two().trailing_zeros();
        let lanes = (64 / (place + extra + AWAY_BITS)).clamp(1, MOST_LANES);
        let bits = 64 / lanes;
        let low = (0..lanes).fold(0, |low, lane| low | 1 << (lane * bits));
        let inverse = (1u32 << 16).div_ceil(bits);
        Format { place, extra, lanes, bits, low, high: low << (bits - 1), inverse }
    }

    /// Can the entries of the hash be written?
    #[inline(always)]
    pub fn fits(&self, hash: u64) -> bool {
        u64::from(hash as u32) >> self.extra == 0
    }

    /// The entry of a hash in its own line; plus one for each line after it.
    #[inline(always)]
    pub fn entry(&self, hash: u64) -> u64 {
        let place = (hash >> PLACE_BITS) & ((1 << self.place) - 1);
        (u64::from(hash as u32) << self.place | place) << AWAY_BITS | 1
    }

    /// The place, as far as it is kept, the extra, and the distance from its line, of an entry.
    #[inline(always)]
    fn parts(&self, entry: u64) -> (u64, u64, usize) {
        let rest = entry >> AWAY_BITS;
        (rest & ((1 << self.place) - 1), rest >> self.place, (entry & AWAY) as usize - 1)
    }

    /// Entries of a line.
    fn places(&self) -> usize {
        8 * self.lanes as usize
    }

    /// Is one of the entries of a line this one? (`y - low & !y` has the highest bit of a lane set if a lane of `y` is 0, and only then.)
    #[inline(always)]
    pub(crate) fn holds(&self, line: &Line, entry: u64) -> bool {
        self.any_holds(&line.0, entry)
    }

    /// The same of a line's words.
    #[inline(always)]
    pub fn any_holds(&self, words: &[u64; 8], entry: u64) -> bool {
        let wanted = entry.wrapping_mul(self.low);
        let any = words.iter().fold(0, |any, word| {
            let differs = word ^ wanted;
            any | (differs.wrapping_sub(self.low) & !differs)
        });
        any & self.high != 0
    }

    /// How many words of a line, from the first on, have no free lane.
    #[inline(always)]
    pub fn full_words(&self, words: &[u64; 8]) -> usize {
        let mut full = 0u32;
        for (at, word) in words.iter().enumerate() {
            full |= u32::from(self.is_full(*word)) << at;
        }
        full.trailing_ones() as usize
    }

    /// Has a word no free lane?
    #[inline(always)]
    pub fn is_full(&self, word: u64) -> bool {
        word >> (self.bits * (self.lanes - 1)) != 0
    }

    /// A word with an entry in its first free lane; it must have one.
    #[inline(always)]
    pub fn with(&self, word: u64, entry: u64) -> u64 {
        let used = 64 - word.leading_zeros();
        // Exact for numbers up to 128.
        let taken = ((used + self.bits - 1) * self.inverse) >> 16;
        word | entry << (taken * self.bits)
    }

    /// The entries of a line.
    fn entries(self, line: Line) -> impl Iterator<Item = u64> {
        let mask = u64::MAX >> (64 - self.bits);
        let words = line.0.into_iter();
        let all =
            words.flat_map(move |word| (0..self.lanes).map(move |lane| word >> (lane * self.bits) & mask));
        all.take_while(|entry| *entry != 0)
    }

    /// How many of so many places may be taken. Few entries are outside their own line then.
    fn most(&self, lines: usize) -> usize {
        let places = lines * self.places();
        // The more a line holds, the less the lines differ in how full they are.
        match self.lanes {
            1 => places / 4 * 3,
            2 => places / 5 * 4,
            _ => places / 20 * 17,
        }
    }

    /// Lines for so many entries, with some room.
    fn lines_for(&self, entries: usize) -> usize {
        entries * 10 / (7 * self.places()) + 8
    }
}

/// Places that so many bits lead to.
fn space(depth: u32) -> u64 {
    1 << (PLACE_BITS - depth.min(PLACE_BITS))
}

/// Which line a hash belongs to is decided by its place alone.
#[inline(always)]
pub(crate) fn place_of(hash: u64) -> u64 {
    hash >> PLACE_BITS << PLACE_BITS
}

/// A segment.
#[derive(Debug)]
pub(crate) struct Packed {
    lines: Zeroed<Line>,
    format: Format,
    /// Bits that extras are to have when it is made anew.
    wanted: u32,
    /// Entries; while several threads add some, with the tickets that they hold.
    len: AtomicUsize,
    /// With so many entries it is full.
    limit: usize,
}

impl Packed {
    fn new(lines: usize, depth: u32, extra: u32) -> Option<Packed> {
        let format = Format::new(lines, depth, extra);
        let lines = Zeroed::growing(lines, lines.max(Packed::MOST_UNITS))?;
        let limit = format.most(lines.len());
        Some(Packed { lines, format, wanted: extra, len: AtomicUsize::new(0), limit })
    }

    #[inline(always)]
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Makes the next format one that this hash fits.
    pub(crate) fn want(&mut self, hash: u64) {
        self.wanted = self.wanted.max(32 - (hash as u32).leading_zeros());
    }

    /// Adds an entry that is not there, from its own line `at` on; `false` if it is too crowded there.
    #[inline]
    fn put(&mut self, mut at: usize, entry: u64) -> bool {
        for away in 0..=FARTHEST as u64 {
            if !self.format.is_full(self.lines[at].0[7]) {
                self.put_at(at, entry + away);
                return true;
            }
            at = self.after(at);
        }
        false
    }

    /// Adds an entry to a line with a free lane.
    #[inline(always)]
    pub(crate) fn put_at(&mut self, at: usize, entry: u64) {
        let format = self.format;
        let line = &mut self.lines[at].0;
        // Words are filled in order: halving, without a decision that a processor could guess wrongly.
        let mut word = usize::from(format.is_full(line[3])) * 4;
        word += usize::from(format.is_full(line[word + 1])) * 2;
        word += usize::from(format.is_full(line[word]));
        line[word] = format.with(line[word], entry);
        *self.len.get_mut() += 1;
    }

    #[inline(always)]
    pub(crate) fn after(&self, at: usize) -> usize {
        if at + 1 < self.lines.len() { at + 1 } else { 0 }
    }

    /// How many entries fit before it is full.
    #[inline(always)]
    pub(crate) fn room(&self) -> usize {
        self.limit.saturating_sub(self.taken())
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

    /// Is it too full for [tickets](Packed::tickets)?
    pub(crate) fn lacks_tickets(&self, workers: usize) -> bool {
        self.taken() + self.block(workers) > self.limit
    }

    /// Is there no free lane near enough to the line of this hash?
    pub(crate) fn is_crowded(&self, hash: u64, depth: u32) -> bool {
        let mut at = home(place_of(hash), depth, self.lines.len());
        for _ in 0..=FARTHEST {
            if !self.format.is_full(self.lines[at].0[7]) {
                return false;
            }
            at = self.after(at);
        }
        true
    }

    /// Entries that are there, counted.
    pub(crate) fn count(&self) -> usize {
        self.lines.iter().map(|line| self.format.entries(*line).count()).sum()
    }

    /// Places for entries.
    pub(crate) fn places(&self) -> usize {
        self.lines.len() * self.format.places()
    }

    /// Forgets all entries, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.lines.fill(Line([0; 8]));
        *self.len.get_mut() = 0;
    }

    /// The first of the places that choose a line, of so many.
    #[inline(always)]
    fn first_place(lines: usize, depth: u32, line: usize) -> u64 {
        (line as u64 * space(depth)).div_ceil(lines as u64)
    }

    /// The hash of an entry of line `at`, of so many, where `depth` bits of the place lead here; those are left out. `own` is the line's first place.
    #[inline(always)]
    fn hash_of(entry: u64, format: Format, (lines, depth, at): (usize, u32, usize), own: u64) -> u64 {
        let (low, extra, away) = format.parts(entry);
        let first = match away {
            0 => own,
            away => Packed::first_place(lines, depth, if at >= away { at } else { at + lines } - away),
        };
        let place = first + (low.wrapping_sub(first) & ((1 << format.place) - 1));
        place << PLACE_BITS | extra
    }

    /// The hashes of the entries of such a line.
    fn hashes_of(line: Line, format: Format, from: (usize, u32, usize)) -> impl Iterator<Item = u64> {
        let own = Packed::first_place(from.0, from.1, from.2);
        format.entries(line).map(move |entry| Packed::hash_of(entry, format, from, own))
    }

    /// The hashes of all entries.
    fn hashes(&self, depth: u32) -> impl Iterator<Item = u64> {
        let (format, lines) = (self.format, self.lines.len());
        let each = self.lines.iter().enumerate();
        each.flat_map(move |(at, line)| Packed::hashes_of(*line, format, (lines, depth, at)))
    }

    /// A segment of at least so many lines with hashes that can be gone through again; larger if they would be too crowded in it.
    fn with<H: Iterator<Item = u64>>(
        hashes: impl Fn() -> H,
        depth: u32,
        mut lines: usize,
        extra: u32,
    ) -> Option<Packed> {
        loop {
            let mut segment = Packed::new(lines, depth, extra)?;
            let format = segment.format;
            if hashes().all(|hash| segment.put(home(place_of(hash), depth, lines), format.entry(hash))) {
                return Some(segment);
            }
            lines += lines / 2;
        }
    }
}

impl std::ops::Deref for Packed {
    type Target = [Line];

    #[inline(always)]
    fn deref(&self) -> &[Line] {
        &self.lines
    }
}

impl Segment for Packed {
    fn with_units(units: usize) -> Option<Self> {
        Packed::new(units, 0, 0)
    }

    #[inline(always)]
    fn start(&self) -> *const u8 {
        self.lines.start().cast()
    }

    #[inline(always)]
    fn units(&self) -> usize {
        self.lines.count()
    }

    const FIRST_UNITS: usize = 8;

    // 32 MiB.
    const MOST_UNITS: usize = 1 << 19;

    fn next_units(units: usize) -> usize {
        // Small tables double; large ones grow by less, so that little is wasted.
        if units < 1 << 10 { units * 2 } else { (units + units / 8 * 3).min(Self::MOST_UNITS) }
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.taken() >= self.limit
    }

    fn is_packed(&self) -> bool {
        self.taken() + 1 >= self.places()
    }

    fn halves(&mut self, depth: u32, units: usize) -> Option<(Self, Self)> {
        let format = Format::new(units, depth, self.wanted);
        let lines = format.lines_for(self.count() / 2).max(units);
        let half = |upper: bool| {
            let is_of = move |hash: &u64| (hash >> (63 - (depth - 1)) & 1 == 1) == upper;
            Packed::with(|| self.hashes(depth - 1).filter(is_of), depth, lines, self.wanted)
        };
        Some((half(false)?, half(true)?))
    }

    fn grow(&mut self, depth: u32, units: usize) -> Option<()> {
        let (before, old) = (self.lines.len(), self.format);
        let new = Format::new(units, depth, self.wanted);
        if new.lanes < old.lanes || !self.lines.grow(units) {
            let lines = new.lines_for(self.count()).max(units);
            *self = Packed::with(|| self.hashes(depth), depth, lines, self.wanted)?;
            return Some(());
        }
        (self.format, self.limit) = (new, new.most(units));
        // SAFETY: the processor was asked.
        let mut waiting = unsafe {
            if is_modern() {
                spread_modern(&mut self.lines, before, old, new, depth)
            } else {
                spread(&mut self.lines, before, old, new, depth)
            }
        };
        *self.len.get_mut() -= waiting.len();
        while let Some(&hash) = waiting.last() {
            if !self.put(home(place_of(hash), depth, units), new.entry(hash)) {
                let hashes = || self.hashes(depth).chain(waiting.iter().copied());
                *self = Packed::with(hashes, depth, units + units / 2, self.wanted)?;
                return Some(());
            }
            waiting.pop();
        }
        Some(())
    }

    fn bytes(&self) -> usize {
        self.lines.bytes()
    }
}

/// Moves the entries of the first `before` of these lines to where they belong among all, in another format. In place, so that no memory is given back to be cleared again. From the last line to
/// the first, entries go to their new lines: homes grow with the place, so that these are after the line read, among those read already. Entries that
/// had been pushed out of their line may belong before it: they have to wait, as those that would wrap around, and those that find no free lane. The hashes of these are the result.
#[inline(always)]
fn spread(lines: &mut [Line], before: usize, old: Format, new: Format, depth: u32) -> Vec<u64> {
    let (units, places) = (lines.len(), new.places() as u8);
    // How many entries each line has got; and the word and the lowest bit of each lane.
    let mut used = vec![0u8; units];
    let lanes: [(usize, u32); 8 * MOST_LANES as usize] =
        std::array::from_fn(|lane| (lane / new.lanes as usize % 8, lane as u32 % new.lanes * new.bits));
    let mut waiting = Vec::new();
    let mask = u64::MAX >> (64 - old.bits);
    for from in (0..before).rev() {
        let first = Packed::first_place(before, depth, from);
        for mut word in std::mem::replace(&mut lines[from], Line([0; 8])).0 {
            while word != 0 {
                let hash = Packed::hash_of(word & mask, old, (before, depth, from), first);
                // Two shifts, since one by 64 is none.
                word = word >> 1 >> (old.bits - 1);
                let own = home(place_of(hash), depth, units);
                let mut at = own;
                // SAFETY: `home` is below the number of lines, and so is what `at` becomes; there are as many numbers of entries as lines, and lanes as
                // entries of a line.
                unsafe {
                    while *used.get_unchecked(at) == places && at < own + FARTHEST && at + 1 < units {
                        at += 1;
                    }
                    let lane = *used.get_unchecked(at);
                    if own < from || lane == places {
                        waiting.push(hash);
                        continue;
                    }
                    *used.get_unchecked_mut(at) = lane + 1;
                    let (word, bit) = *lanes.get_unchecked(lane as usize);
                    *lines.get_unchecked_mut(at).0.get_unchecked_mut(word) |=
                        (new.entry(hash) + (at - own) as u64) << bit;
                }
            }
        }
    }
    waiting
}

/// As above, for processors with AVX2 and BMI2.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2"))]
#[inline(never)]
unsafe fn spread_modern(lines: &mut [Line], before: usize, old: Format, new: Format, depth: u32) -> Vec<u64> {
    spread(lines, before, old, new, depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_and_entry_say_which_hash_it_is() {
        for (lines, depth, extra) in
            [(8, 0, 0), (8, 0, 32), (1000, 0, 9), (5000, 3, 4), (1 << 19, 0, 16), (777_777, 5, 11)]
        {
            let format = Format::new(lines, depth, extra);
            let mut hash = 1u64;
            for _ in 0..20_000 {
                hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(77);
                let place = (hash >> 32) & (space(depth) - 1);
                let hash = place << 32 | (hash & ((1 << extra) - 1));
                let own = home(place_of(hash), depth, lines);
                assert!(own < lines && format.fits(hash));
                for away in 0..=FARTHEST {
                    let entry = format.entry(hash) + away as u64;
                    assert!(entry != 0 && (format.bits == 64 || entry >> format.bits == 0), "{format:?}");
                    let line = Line([entry, 0, 0, 0, 0, 0, 0, 0]);
                    let found = Packed::hashes_of(line, format, (lines, depth, (own + away) % lines));
                    assert!(found.eq([hash]), "{format:?} {lines} {depth} {away}");
                }
            }
        }
    }
}
