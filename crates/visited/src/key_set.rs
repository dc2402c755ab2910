//! A set of 64-bit keys.
//!
//! What is stored is the hash, and the hash is a bijection, so nothing is lost. Eight share a cache line, in no order: all are
//! compared at once, and no decision depends on the place, which nobody could predict.

use std::sync::atomic::AtomicU64;

use crate::claim::{self, Short};
use crate::directory::{Directory, home};
use crate::hash::bijective;
use crate::lines::{Line, Lines};
use crate::memory::Plain;
use crate::prefetch_at;

#[derive(Debug, Default)]
pub(crate) struct KeySet {
    directory: Directory<Lines<Hashes>>,
    /// The hash 0 marks free places: whether it is in the set is kept apart.
    zero: bool,
}

/// A cache line of hashes; 0 is a free place.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Hashes([u64; 8]);

// SAFETY: integers only.
unsafe impl Plain for Hashes {}

impl Hashes {
    /// Is the hash, not 0, in this line?
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn holds(&self, hash: u64) -> bool {
        use std::arch::x86_64::*;
        // SAFETY: SSE2 is part of x86-64; the four loads are the line.
        unsafe {
            let wanted = _mm_set1_epi64x(hash as i64);
            let equal = |pair: usize| {
                // Both halves of a hash have to be equal.
                let halves = _mm_cmpeq_epi32(_mm_load_si128(self.0.as_ptr().add(2 * pair).cast()), wanted);
                _mm_and_si128(halves, _mm_shuffle_epi32::<0b10_11_00_01>(halves))
            };
            let any = _mm_or_si128(_mm_or_si128(equal(0), equal(1)), _mm_or_si128(equal(2), equal(3)));
            _mm_movemask_epi8(any) != 0
        }
    }

    /// Is the hash, not 0, in this line?
    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn holds(&self, hash: u64) -> bool {
        self.0.contains(&hash)
    }

    /// As [`Hashes::holds`], for processors with AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[inline]
    fn holds_avx2(&self, hash: u64) -> bool {
        use std::arch::x86_64::*;
        let wanted = _mm256_set1_epi64x(hash as i64);
        // SAFETY: the two loads are the line.
        let equal = |four: usize| unsafe {
            _mm256_cmpeq_epi64(_mm256_load_si256(self.0.as_ptr().add(4 * four).cast()), wanted)
        };
        let any = _mm256_or_si256(equal(0), equal(1));
        _mm256_testz_si256(any, any) == 0
    }
}

impl Line for Hashes {
    type Entry = u64;

    const PLACES: usize = 8;

    const MOST_USED: (usize, usize) = (3, 4);

    const EMPTY: Self = Hashes([0; 8]);

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.0[7] != 0
    }

    #[inline(always)]
    fn entry(&self, place: usize) -> Option<u64> {
        Some(self.0[place]).filter(|hash| *hash != 0)
    }

    #[inline(always)]
    fn used(&self) -> usize {
        // Places are taken in order: halving, without a decision that a processor could guess wrongly.
        let mut used = usize::from(self.0[3] != 0) * 4;
        used += usize::from(self.0[used + 1] != 0) * 2;
        used + usize::from(self.0[used] != 0)
    }

    #[inline(always)]
    fn set(&mut self, place: usize, hash: u64) {
        self.0[place] = hash;
    }

    #[inline(always)]
    fn hash(hash: u64) -> u64 {
        hash
    }
}

/// Is the hash there? If not, with the line where it belongs. There must be a free place.
///
/// # Safety
/// The processor must have AVX2 if the parameter says so.
#[inline(always)]
unsafe fn find<const AVX2: bool>(lines: &[Hashes], depth: u32, hash: u64) -> Result<(), usize> {
    let mut at = home(hash, depth, lines.len());
    loop {
        // SAFETY: `home` is below the number of lines, and wrapping keeps `at` there.
        let line = unsafe { lines.get_unchecked(at) };
        #[cfg(target_arch = "x86_64")]
        // SAFETY: by this function's contract.
        let holds = if AVX2 { unsafe { line.holds_avx2(hash) } } else { line.holds(hash) };
        #[cfg(not(target_arch = "x86_64"))]
        let holds = line.holds(hash);
        if holds {
            return Ok(());
        }
        if !line.is_full() {
            return Err(at);
        }
        at += 1;
        if at == lines.len() {
            at = 0;
        }
    }
}

/// How many keys ahead the insertion of many looks for full lines.
const AHEAD: usize = 6;

/// Adds keys from number `at` on to the only segment, as [`KeySet::insert_all`] does, until there is no room for one more; gives the
/// number of the key that room must be made for, or of those that follow the last.
///
/// # Safety
/// As of [`KeySet::insert_all`]; `new` has room for `len` and the numbers of the keys from `at` on.
#[inline(always)]
unsafe fn insert_until_full<const AVX2: bool>(
    lines: &mut Lines<Hashes>,
    hashes: &[u64],
    mut at: usize,
    numbers: &impl Fn(usize) -> u32,
    new: *mut u32,
    len: &mut usize,
) -> usize {
    let units = lines.len();
    let mut count = *len;
    let mut room = lines.room();
    while at < hashes.len() {
        if let Some(&later) = hashes.get(at + AHEAD) {
            // Its line has been asked for and is probably there; if it is full, the next one will be needed, too.
            let ahead = lines.as_ptr().wrapping_add(home(later, 0, units));
            // SAFETY: `home` is below the number of lines. The line after the last one is only asked for.
            let full = unsafe { (*ahead).is_full() };
            prefetch_at(ahead.wrapping_add(usize::from(full)));
        }
        let hash = hashes[at];
        // SAFETY: by this function's contract; `find` gives a line with a free place.
        unsafe {
            *new.add(count) = numbers(at);
            if let Err(line) = find::<AVX2>(lines, 0, hash) {
                if room == 0 {
                    break;
                }
                room -= 1;
                lines.put_at(line, hash);
                count += 1;
            }
        }
        at += 1;
    }
    *len = count;
    at
}

/// What the set keeps of a key: a hash without loss.
#[inline(always)]
pub(crate) fn key_hash(key: u64) -> u64 {
    bijective(key)
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
        prefetch_at(self.directory.unit::<SINGLE, Hashes>(hash));
    }

    /// Adds a key, given its [`key_hash`]; `false` when it was there.
    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        if hash == 0 {
            return !std::mem::replace(&mut self.zero, true);
        }
        // SAFETY: nothing is asked of the processor.
        unsafe { self.insert_nonzero::<false>(hash) }
    }

    /// # Safety
    /// The processor must have AVX2 if the parameter says so.
    #[inline(always)]
    unsafe fn insert_nonzero<const AVX2: bool>(&mut self, hash: u64) -> bool {
        debug_assert_ne!(hash, 0);
        let (lines, depth) = self.directory.segment(hash);
        // SAFETY: by this function's contract.
        match unsafe { find::<AVX2>(lines, depth, hash) } {
            Ok(()) => false,
            Err(line) => {
                self.insert_new(hash, line);
                true
            }
        }
    }

    /// Adds keys, given their [`key_hash`]es, none of them 0; `new` gets the numbers of those that were not there.
    ///
    /// # Safety
    /// The processor must have AVX2 if the parameter says so. There must be a number for each key.
    #[inline(always)]
    pub(crate) unsafe fn insert_all<const AVX2: bool>(
        &mut self,
        hashes: &[u64],
        numbers: impl Fn(usize) -> u32,
        new: &mut Vec<u32>,
    ) {
        new.clear();
        new.reserve(hashes.len());
        let (mut at, mut len) = (0, 0);
        while at < hashes.len() {
            if let Some(lines) = self.directory.only_mut() {
                let before = len;
                // SAFETY: room for one number per key was reserved; the rest by this function's contract.
                at = unsafe {
                    insert_until_full::<AVX2>(lines, hashes, at, &numbers, new.as_mut_ptr(), &mut len)
                };
                self.directory.added((len - before) as u64);
            }
            // Where room has to be made, or there are several segments.
            if let Some(&hash) = hashes.get(at) {
                // SAFETY: as above.
                unsafe {
                    *new.as_mut_ptr().add(len) = numbers(at);
                    len += usize::from(self.insert_nonzero::<AVX2>(hash));
                }
                at += 1;
            }
        }
        // SAFETY: so many were written.
        unsafe { new.set_len(len) };
    }

    #[inline(always)]
    fn insert_new(&mut self, hash: u64, mut line: usize) {
        if self.directory.make_room_for(hash) {
            let route = self.directory.route(hash);
            line = home(hash, route.depth, route.units);
        }
        self.directory.segment_mut(hash).put_from(line, hash);
        self.directory.added(1);
    }

    /// Adds a hash, not 0, while other threads add some as well; whether it is new. Fails where there is no room in its segment. `tickets` are
    /// this thread's, by segment; `workers` says how many threads there are.
    #[inline(always)]
    pub(crate) fn insert_shared(
        &self,
        hash: u64,
        workers: usize,
        tickets: &mut Vec<u32>,
    ) -> Result<bool, Short> {
        debug_assert_ne!(hash, 0);
        let route = self.directory.route(hash);
        let at = home(hash, route.depth, route.units);
        // SAFETY: the route leads to `units` lines of eight words, which all bits are a value of. They stay, and threads write to them only as `claim`
        // does, while this is borrowed and shared (`crate::shared_tree`).
        let line = |at: usize| unsafe { &*route.start.cast::<[AtomicU64; 8]>().add(at) };
        let (number, lines) = self.directory.numbered_segment(hash);
        if tickets.len() <= number {
            tickets.resize(number + 1, 0);
        }
        loop {
            let found = claim::insert(line, route.units, at, hash, &mut tickets[number]);
            if found.is_ok() {
                return found;
            }
            tickets[number] = lines.tickets(workers);
            if tickets[number] == 0 {
                return Err(Short);
            }
        }
    }

    /// Is a hash, not 0, there, while other threads add some?
    #[inline(always)]
    pub(crate) fn contains_shared(&self, hash: u64) -> bool {
        debug_assert_ne!(hash, 0);
        let route = self.directory.route(hash);
        let at = home(hash, route.depth, route.units);
        // SAFETY: as in `insert_shared`.
        let line = |at: usize| unsafe { &*route.start.cast::<[AtomicU64; 8]>().add(at) };
        claim::find(line, route.units, at, hash)
    }

    /// Makes room for hashes of several threads in the segment of this one.
    pub(crate) fn make_shared_room(&mut self, hash: u64, workers: usize) {
        self.directory.make_room_until(hash, |lines| lines.lacks_tickets(workers));
    }

    /// Forgets everything. Keeps the memory, unless that is far more than was needed.
    pub(crate) fn clear(&mut self) {
        let (mut used, mut places) = (0usize, 0usize);
        for lines in self.directory.segments_mut() {
            places += lines.len() * Hashes::PLACES;
            used += lines
                .iter()
                .map(|line| (0..Hashes::PLACES).take_while(|place| line.entry(*place).is_some()).count())
                .sum::<usize>();
        }
        if used * 16 < places && places > 1 << 12 {
            *self = KeySet::default();
        } else if used > 0 {
            self.directory.segments_mut().for_each(Lines::clear);
        }
    }

    /// The hash 0 is in the set.
    pub(crate) fn has_zero(&self) -> bool {
        self.zero
    }

    #[inline(always)]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        if hash == 0 {
            return self.zero;
        }
        let (lines, depth) = self.directory.segment(hash);
        // SAFETY: nothing is asked of the processor.
        unsafe { find::<false>(lines, depth, hash) }.is_ok()
    }

    /// Whether memory has run out.
    pub(crate) fn is_refused(&self) -> bool {
        self.directory.is_refused()
    }

    pub(crate) fn len(&self) -> u64 {
        self.directory.len() + u64::from(self.zero)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.directory.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_set_also_when_hashes_are_crowded() {
        let mut set = KeySet::default();
        // Keys whose hashes are neighbours: the inverse of the bijection is not needed, a search for them is enough.
        let mut keys: Vec<u64> = (0..200_000u64).collect();
        keys.sort_by_key(|k| bijective(*k));
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
}
