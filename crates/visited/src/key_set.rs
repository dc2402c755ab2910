//! A set of 64-bit keys, mostly pairs of small numbers.
//!
//! What is stored is the hash, and the hash is a bijection, so nothing is lost: the place of an entry says a part of the hash, and only the rest is kept
//! ([`crate::packed`]). All entries of a cache line are compared at once, and no decision depends on the lane, which nobody could predict.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::claim::{self, Short, Word};
use crate::crew::Crew;
use crate::directory::{Directory, Segment, home};
use crate::packed::{FARTHEST, Format, Line, Packed, place_of};
use crate::{prefetch_at, prefetch_to_write};

#[derive(Debug, Default)]
pub(crate) struct KeySet {
    directory: Directory<Packed>,
    /// There was no memory for a hash, which was left out.
    refused: bool,
}

/// Where a hash that is not there belongs.
#[derive(Clone, Copy, Debug)]
enum Absent {
    /// In this line, which has a free lane, as this entry.
    Free(usize, u64),
    /// Nowhere: its line and those near it are full, or lanes are too narrow.
    Crowded,
}

/// Is the hash there? If not, with the place where it belongs.
///
/// # Safety
/// There are as many lines as the format is for.
#[inline(always)]
unsafe fn find(lines: &[Line], format: Format, depth: u32, hash: u64) -> Result<(), Absent> {
    if !format.fits(hash) {
        return Err(Absent::Crowded);
    }
    let mut at = home(place_of(hash), depth, lines.len());
    let nearest = format.entry(hash);
    for entry in nearest..nearest + 1 + FARTHEST as u64 {
        // SAFETY: `home` is below the number of lines, and wrapping keeps `at` there.
        let line = unsafe { lines.get_unchecked(at) };
        if format.holds(line, entry) {
            return Ok(());
        }
        if !format.is_full(line.0[7]) {
            return Err(Absent::Free(at, entry));
        }
        at += 1;
        if at == lines.len() {
            at = 0;
        }
    }
    Err(Absent::Crowded)
}

/// The words of a segment's lines, by the number of the line, for threads that add entries.
#[inline(always)]
fn shared<'a>(lines: &'a Packed) -> impl Fn(usize) -> &'a [AtomicU64; 8] {
    let start = lines.start().cast::<[AtomicU64; 8]>();
    // SAFETY: lines are eight words, which all bits are a value of, and numbers of lines are below their number. They stay where they are, and threads write to them only as `claim`
    // does, while this is borrowed and shared (`crate::shared_tree`).
    move |at| unsafe { &*start.add(at) }
}

/// How many keys ahead the insertion of many looks for full lines.
pub(crate) const AHEAD: usize = 6;

/// Adds keys from number `at` on to the only segment, as [`KeySet::insert_all`] does, until there is no room for one more; gives the
/// number of the key that room must be made for, or of those that follow the last.
///
/// # Safety
/// `new` has room for `len` and the numbers of the keys from `at` on.
#[inline(always)]
unsafe fn insert_until_full(
    lines: &mut Packed,
    hashes: &[u64],
    mut at: usize,
    numbers: &impl Fn(usize) -> u32,
    new: *mut u32,
    len: &mut usize,
) -> usize {
    let (units, format) = (lines.len(), lines.format());
    let mut count = *len;
    let mut room = lines.room();
    while at < hashes.len() {
        if let Some(&later) = hashes.get(at + AHEAD) {
            // Its line has been asked for and is probably there; if it is full, the next one will be needed, too.
            let ahead = lines.as_ptr().wrapping_add(home(place_of(later), 0, units));
            // SAFETY: `home` is below the number of lines. The line after the last one is only asked for.
            let full = format.is_full(unsafe { (*ahead).0[7] });
            prefetch_at(ahead.wrapping_add(usize::from(full)));
        }
        // SAFETY: by this function's contract.
        unsafe {
            *new.add(count) = numbers(at);
            if let Err(absent) = find(lines, format, 0, hashes[at]) {
                let Absent::Free(line, entry) = absent else { break };
                if room == 0 {
                    break;
                }
                room -= 1;
                lines.put_at(line, entry);
                count += 1;
            }
        }
        at += 1;
    }
    *len = count;
    at
}

/// Lowest bits of the two numbers of a key that its place is made of.
const LOW_BITS: u32 = 16;

/// What the set keeps of a key, which is two numbers: a hash without loss. The upper half is spread over all bits; the lower half is small
/// if both numbers are: the pairing of what they have above [`LOW_BITS`] bits (Szudzik, "An elegant pairing function", 2006), which is 0 where they have nothing there,
/// and below the square of a number greater than both.
#[inline(always)]
pub(crate) fn key_hash(key: u64) -> u64 {
    let (first, second) = ((key >> 32) as u32, key as u32);
    let (a, b) = (first >> LOW_BITS, second >> LOW_BITS);
    let extra = if a < b { b * b + a } else { a * a + a + b };
    // A bijection of 32 bits (the finaliser of MurmurHash3, by Austin Appleby), then a difference that the extra decides.
    let mut place = first << LOW_BITS | second & ((1 << LOW_BITS) - 1);
    place ^= place >> 16;
    place = place.wrapping_mul(0x85eb_ca6b);
    place ^= place >> 13;
    place = place.wrapping_mul(0xc2b2_ae35);
    place ^= place >> 16;
    place ^= extra.wrapping_mul(0x9e37_79b1);
    u64::from(place) << 32 | u64::from(extra)
}

impl KeySet {
    /// There is one segment only.
    #[inline(always)]
    pub(crate) fn is_single(&self) -> bool {
        self.directory.is_single()
    }

    /// Starts loading the line of a key with this [`key_hash`]. `SINGLE` as in [`KeySet::is_single`], or false.
    #[inline(always)]
    pub(crate) fn prefetch<const SINGLE: bool>(&self, hash: u64) {
        // The address is inside the segment; nothing depends on that.
        prefetch_at(self.directory.unit::<SINGLE, Line>(place_of(hash)));
    }

    /// Adds a key, given its [`key_hash`]; `false` when it was there.
    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        let (lines, depth) = self.directory.segment(hash);
        // SAFETY: the format is that of the segment.
        match unsafe { find(lines, lines.format(), depth, hash) } {
            Ok(()) => false,
            Err(Absent::Free(line, entry)) if lines.room() > 0 => {
                self.directory.segment_mut(hash).put_at(line, entry);
                self.directory.added(1);
                true
            }
            Err(_) => self.insert_with_room(hash),
        }
    }

    /// Adds keys, given their [`key_hash`]es; `new` gets the numbers of those that were not there.
    #[inline(always)]
    pub(crate) fn insert_all(&mut self, hashes: &[u64], numbers: impl Fn(usize) -> u32, new: &mut Vec<u32>) {
        new.clear();
        new.reserve(hashes.len());
        let (mut at, mut len) = (0, 0);
        while at < hashes.len() {
            if let Some(lines) = self.directory.only_mut() {
                let before = len;
                // SAFETY: room for one number per key was reserved.
                at = unsafe { insert_until_full(lines, hashes, at, &numbers, new.as_mut_ptr(), &mut len) };
                self.directory.added((len - before) as u64);
            }
            // Where room has to be made, or there are several segments.
            if let Some(&hash) = hashes.get(at) {
                // SAFETY: as above.
                unsafe {
                    *new.as_mut_ptr().add(len) = numbers(at);
                }
                len += usize::from(self.insert(hash));
                at += 1;
            }
        }
        // SAFETY: so many were written.
        unsafe { new.set_len(len) };
    }

    /// Adds a hash that is not there to a segment that has to grow first.
    #[cold]
    #[inline(never)]
    fn insert_with_room(&mut self, hash: u64) -> bool {
        self.directory.make_room_for(hash);
        loop {
            let (lines, depth) = self.directory.segment(hash);
            // SAFETY: the format is that of the segment.
            if let Err(Absent::Free(line, entry)) = unsafe { find(lines, lines.format(), depth, hash) } {
                self.directory.segment_mut(hash).put_at(line, entry);
                self.directory.added(1);
                return true;
            }
            if !self.make_wider(hash) {
                return false;
            }
        }
    }

    /// Makes a segment that has no lane for a hash anew; `false` if there is no memory for that, and the hash is left out.
    fn make_wider(&mut self, hash: u64) -> bool {
        self.directory.segment_mut(hash).want(hash);
        let made = self.directory.make_more_room(hash);
        self.refused |= !made;
        made
    }

    /// Adds a hash while other threads add some as well; whether it is new. Fails where there is no room in its segment. `tickets` are
    /// this thread's, by segment; `workers` says how many threads there are; `MODERN`: the processor has AVX.
    #[inline(always)]
    pub(crate) fn insert_shared<const MODERN: bool>(
        &self,
        hash: u64,
        workers: usize,
        tickets: &mut Vec<u32>,
    ) -> Result<bool, Short> {
        let (number, lines, depth) = self.directory.numbered_segment(hash);
        let format = lines.format();
        if !format.fits(hash) {
            return Err(Short::Lanes);
        }
        let at = home(place_of(hash), depth, lines.units());
        if tickets.len() <= number {
            tickets.resize(number + 1, 0);
        }
        loop {
            let entry = format.entry(hash);
            let found = claim::insert::<MODERN, _>(
                shared(lines),
                lines.units(),
                at,
                format,
                entry,
                &mut tickets[number],
            );
            if found != Err(Short::Tickets) {
                return found;
            }
            tickets[number] = lines.tickets(workers);
            if tickets[number] == 0 {
                return Err(Short::Tickets);
            }
        }
    }

    /// If the line of a hash, which has been asked for, is full: starts loading the next one, which will be needed, too.
    #[inline(always)]
    pub(crate) fn prefetch_behind(&self, hash: u64) {
        let (_, lines, depth) = self.directory.numbered_segment(hash);
        let at = home(place_of(hash), depth, lines.units());
        if lines.format().is_full(shared(lines)(at)[7].load(Ordering::Relaxed)) {
            prefetch_at(lines.start().cast::<Line>().wrapping_add(at + 1));
        }
    }

    /// Starts loading the line of a hash for who will write to it.
    #[inline(always)]
    pub(crate) fn prefetch_to_write(&self, hash: u64) {
        prefetch_to_write(self.directory.unit::<false, Line>(place_of(hash)));
    }

    /// Is a hash there, while other threads add some? What is there since before they began is found.
    #[inline(always)]
    pub(crate) fn contains_shared<const MODERN: bool>(&self, hash: u64) -> bool {
        let (_, lines, depth) = self.directory.numbered_segment(hash);
        let (at, format) = (home(place_of(hash), depth, lines.units()), lines.format());
        let words = AtomicU64::eight::<MODERN>(shared(lines)(at));
        // No decision but this one, which is rarely so: nobody could predict others.
        let is_here = format.any_holds(&words, format.entry(hash)) & format.fits(hash);
        if format.is_full(words[7]) & !is_here { self.contains_shared_far(hash) } else { is_here }
    }

    /// The same of a hash whose own line is full.
    #[cold]
    #[inline(never)]
    fn contains_shared_far(&self, hash: u64) -> bool {
        let (_, lines, depth) = self.directory.numbered_segment(hash);
        let (at, format) = (home(place_of(hash), depth, lines.units()), lines.format());
        format.fits(hash)
            && claim::find::<false, _>(shared(lines), lines.units(), at, format, format.entry(hash))
    }

    /// Makes room for hashes of several threads in the segment of this one, for which there was none, with their help.
    pub(crate) fn make_shared_room(&mut self, hash: u64, workers: usize, crew: &Crew) {
        self.directory.make_room_together_until(hash, crew, |lines| lines.lacks_tickets(workers));
        while !self.is_refused() {
            let (lines, depth) = self.directory.segment(hash);
            if lines.format().fits(hash) && !lines.is_crowded(hash, depth) {
                break;
            }
            // What is too large for one will soon be for others.
            self.directory.segments_mut().for_each(|lines| lines.want(hash));
            self.directory.make_room_together(hash, crew);
        }
    }

    /// Cuts the table into at least so many segments.
    pub(crate) fn spread(&mut self, least: usize) {
        self.directory.spread(least);
    }

    /// Forgets everything. Keeps the memory, unless that is far more than was needed.
    pub(crate) fn clear(&mut self) {
        let (mut used, mut places) = (0usize, 0usize);
        for lines in self.directory.segments_mut() {
            places += lines.places();
            used += lines.count();
        }
        if used * 16 < places && places > 1 << 12 {
            *self = KeySet::default();
        } else if used > 0 {
            self.directory.segments_mut().for_each(Packed::clear);
        }
    }

    #[inline(always)]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        let (lines, depth) = self.directory.segment(hash);
        // SAFETY: the format is that of the segment.
        unsafe { find(lines, lines.format(), depth, hash) }.is_ok()
    }

    /// Whether memory has run out.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused || self.directory.is_refused()
    }

    pub(crate) fn len(&self) -> u64 {
        self.directory.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.directory.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn is_a_set_also_when_hashes_are_crowded() {
        let mut set = KeySet::default();
        // Keys whose hashes are neighbours.
        let mut keys: Vec<u64> = (0..200_000u64).collect();
        keys.sort_by_key(|k| key_hash(*k));
        for &key in keys.iter().take(3000).chain(keys.iter().rev().take(3000)) {
            let key = key_hash(key);
            assert!(!set.contains(key));
            assert!(set.insert(key));
            assert!(!set.insert(key));
        }
        for &key in &keys {
            let key = key_hash(key);
            let there = set.contains(key);
            assert_eq!(set.insert(key), !there);
        }
        assert_eq!(set.len(), 200_000);
    }

    #[test]
    fn grows_in_place() {
        let mut set = KeySet::default();
        let hash = |k: u64| key_hash(k * 3 + 1);
        for k in 0..1_000_000 {
            assert!(set.insert(hash(k)));
        }
        assert!((0..1_000_000).all(|k| set.contains(hash(k)) && !set.insert(hash(k))));
        assert!((1_000_000..1_100_000).all(|k| !set.contains(hash(k))));
        assert_eq!(set.len(), 1_000_000);
    }

    #[test]
    fn hashing_loses_nothing() {
        let edges = [0, 1, 2, 0xffff, 0x1_0000, 0x1_0001, 0x2_ffff, 0x3_0000, u32::MAX - 1, u32::MAX];
        let keys = edges.iter().flat_map(|a| edges.map(|b| u64::from(*a) << 32 | u64::from(b)));
        let keys: Vec<u64> = keys.chain((0..100_000).map(|k| k * 0x1_0000_7a01)).collect();
        let distinct: HashSet<u64> = keys.iter().copied().collect();
        let hashes: HashSet<u64> = distinct.iter().map(|key| key_hash(*key)).collect();
        assert_eq!(hashes.len(), distinct.len());
        assert!(hashes.contains(&(u64::from(u32::MAX) | key_hash(u64::MAX) >> 32 << 32)));
    }

    /// Numbers that become larger as more keys are added, then any: lanes change their width in both directions, segments are split.
    #[test]
    fn numbers_of_all_sizes() {
        let mut set = KeySet::default();
        let mut reference = HashSet::new();
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed >> 16
        };
        let mut batch = Vec::new();
        let mut new = Vec::new();
        let mut most = 4u64;
        while most < 1 << 31 {
            for _ in 0..60 {
                batch.clear();
                for _ in 0..1000 {
                    batch.push(((random() % most) << 32) | (random() % (1 + most / 3)));
                }
                let hashes: Vec<u64> = batch.iter().map(|key| key_hash(*key)).collect();
                set.insert_all(&hashes, |at| at as u32, &mut new);
                let expected: Vec<u32> =
                    (0..1000).filter(|at| reference.insert(batch[*at as usize])).collect();
                assert_eq!(new, expected);
            }
            most += most / 2;
        }
        assert_eq!(set.len(), reference.len() as u64);
        assert!(reference.iter().all(|key| set.contains(key_hash(*key))));
        assert!((0..100_000).all(|_| {
            let key = random() << 20;
            set.contains(key_hash(key)) == reference.contains(&key)
        }));
        assert!(!set.is_refused());
    }
}
