//! Numbers for short keys of 32-bit slots: each distinct key gets the next number, from 1.
//!
//! Entries share cache lines, as many as fit, so that a lookup is one memory access. All places of a line are compared
//! and the numbers of those that match are combined: no branch depends on the place, which nobody could predict.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[cfg(not(target_arch = "x86_64"))]
use crate::claim::Word;
use crate::claim::{self, BUSY, Budget, Short};
use crate::crew::Crew;
use crate::directory::{Directory, home};
use crate::hash::slots_hash;
use crate::lines::{Line, Lines};
use crate::memory::Plain;
use crate::prefetch_at;

/// Keys of two slots, five to a line.
pub(crate) type Pairs = Interner<2, 5>;
/// Keys of three slots, four to a line.
pub(crate) type Triples = Interner<3, 4>;
/// Keys of four slots, three to a line.
pub(crate) type Quads = Interner<4, 3>;

/// A cache line of entries: the first slots of all keys, then the second ones and so on, then the numbers. The number 0
/// marks a free place (numbers start at 1); places are taken in order. What is left over stays 0.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Nodes<const SLOTS: usize, const PLACES: usize>([u32; 16]);

// SAFETY: integers only.
unsafe impl<const SLOTS: usize, const PLACES: usize> Plain for Nodes<SLOTS, PLACES> {}

/// Numbers for keys of `SLOTS` slots.
#[derive(Debug, Default)]
pub(crate) struct Interner<const SLOTS: usize, const PLACES: usize> {
    directory: Directory<Lines<Nodes<SLOTS, PLACES>>>,
    full: bool,
}

/// Numbers that a thread takes at once.
const BLOCK: u64 = 1024;

/// What one of several threads may add to an interner without asking.
#[derive(Debug)]
pub(crate) struct Own {
    /// Tickets by segment.
    tickets: Vec<u32>,
    numbers: std::ops::Range<u32>,
    /// How many threads there are.
    workers: usize,
}

impl Own {
    pub(crate) fn new(workers: usize) -> Own {
        Own { tickets: Vec::new(), numbers: 0..0, workers }
    }
}

impl<const SLOTS: usize, const PLACES: usize> Nodes<SLOTS, PLACES> {
    /// The number of a key; 0 when it is not here. (A free place has the number 0, whatever its key.)
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn id(&self, key: &[u32; SLOTS]) -> u32 {
        use std::arch::x86_64::*;
        // SAFETY: by the contract of `id_by` the four words are within the sixteen. SSE2 is part of x86-64.
        Self::id_by(key, |at| unsafe { _mm_loadu_si128(self.0.as_ptr().add(at).cast()) })
    }

    /// As [`Nodes::id`], of a line that other threads may add to; [`BUSY`] if the key is perhaps being written.
    ///
    /// # Safety
    /// `line` is a line of this kind that stays where it is, and that threads only write to as [`crate::claim`] does.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn shared_id<const MODERN: bool>(line: *const Self, key: &[u32; SLOTS]) -> u32 {
        // A number that was read is followed by its whole key.
        // SAFETY: by the contracts of this function and of `id_by`, the four words are in the line.
        Self::id_by(key, |at| unsafe { claim::load::<MODERN>(line.cast::<u32>().add(at)) })
    }

    /// As [`Nodes::id`], of a line that other threads may add to; [`BUSY`] if the key is perhaps being written.
    ///
    /// # Safety
    /// `line` is a line of this kind that stays where it is, and that threads only write to as [`crate::claim`] does.
    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    unsafe fn shared_id<const MODERN: bool>(line: *const Self, key: &[u32; SLOTS]) -> u32 {
        // SAFETY: by this function's contract.
        let cells = unsafe { &*line.cast::<[AtomicU32; 16]>() };
        for place in 0..PLACES {
            let number = cells[SLOTS * PLACES + place].look();
            let same = (0..SLOTS).all(|slot| cells[slot * PLACES + place].peek() == key[slot]);
            if number == 0 || number == BUSY || same {
                return number;
            }
        }
        0
    }

    /// The number of a key in the line that `load` reads four words from, those at a word's number and the three after it.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn id_by(key: &[u32; SLOTS], load_at: impl Fn(usize) -> std::arch::x86_64::__m128i) -> u32 {
        use std::arch::x86_64::*;
        const { assert!(SLOTS * PLACES + PLACES <= 16 && 3 <= PLACES && PLACES <= 5) };
        // The numbers of four places from `first` on whose keys are equal. With three places the fourth is the left-over
        // word after the last number, which is 0.
        let four = |first: usize| {
            let load = |at: usize| {
                // Slot arrays start at multiples of PLACES up to SLOTS * PLACES; for three places that is at
                // most 12, for four at most 12, and for five, with two slots, at most 10, plus a `first` of 1 at most:
                // the four words end within the sixteen.
                debug_assert!(at + first + 4 <= 16);
                load_at(at + first)
            };
            let mut ids = load(SLOTS * PLACES);
            for (slot, &value) in key.iter().enumerate() {
                // SAFETY: SSE2 is part of x86-64.
                unsafe {
                    let equal = _mm_cmpeq_epi32(load(slot * PLACES), _mm_set1_epi32(value as i32));
                    ids = _mm_and_si128(ids, equal);
                }
            }
            ids
        };
        // At most one place matches: combining the lanes gives its number.
        // SAFETY: as above.
        unsafe {
            let mut ids = four(0);
            if PLACES == 5 {
                ids = _mm_or_si128(ids, four(1));
            }
            ids = _mm_or_si128(ids, _mm_shuffle_epi32::<0b01_00_11_10>(ids));
            ids = _mm_or_si128(ids, _mm_shuffle_epi32::<0b10_11_00_01>(ids));
            _mm_cvtsi128_si32(ids) as u32
        }
    }

    /// The number of a key; 0 when it is not here. (A free place has the number 0, whatever its key.)
    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn id(&self, key: &[u32; SLOTS]) -> u32 {
        (0..PLACES).find(|place| self.key(*place) == *key).map_or(0, |place| self.number(place))
    }

    fn key(&self, place: usize) -> [u32; SLOTS] {
        std::array::from_fn(|slot| self.0[slot * PLACES + place])
    }

    #[inline(always)]
    fn number(&self, place: usize) -> u32 {
        self.0[SLOTS * PLACES + place]
    }
}

impl<const SLOTS: usize, const PLACES: usize> Line for Nodes<SLOTS, PLACES> {
    type Entry = ([u32; SLOTS], u32);

    const PLACES: usize = PLACES;

    // Few keys are outside their first line then.
    const MOST_USED: (usize, usize) = (3, 5);

    const EMPTY: Self = Nodes([0; 16]);

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.number(PLACES - 1) != 0
    }

    #[inline(always)]
    fn entry(&self, place: usize) -> Option<Self::Entry> {
        let number = self.number(place);
        (number != 0).then(|| (self.key(place), number))
    }

    fn used(&self) -> usize {
        (0..PLACES).take_while(|place| self.number(*place) != 0).count()
    }

    fn set(&mut self, place: usize, (key, id): Self::Entry) {
        for (slot, value) in key.iter().enumerate() {
            self.0[slot * PLACES + place] = *value;
        }
        self.0[SLOTS * PLACES + place] = id;
    }

    #[inline(always)]
    fn hash((key, _): Self::Entry) -> u64 {
        slots_hash(&key)
    }
}

impl<const SLOTS: usize, const PLACES: usize> Lines<Nodes<SLOTS, PLACES>> {
    /// The number of `key`, or the line where it belongs. There must be a free place.
    #[inline(always)]
    fn find(&self, key: &[u32; SLOTS], hash: u64, depth: u32) -> Result<u32, usize> {
        let mut at = home(hash, depth, self.len());
        loop {
            // SAFETY: `home` is below the number of lines, and wrapping keeps `at` there.
            let line = unsafe { self.get_unchecked(at) };
            let id = line.id(key);
            if id != 0 {
                return Ok(id);
            }
            if !line.is_full() {
                return Err(at);
            }
            at += 1;
            if at == self.len() {
                at = 0;
            }
        }
    }
}

impl<const SLOTS: usize, const PLACES: usize> Interner<SLOTS, PLACES> {
    /// Starts loading the line of a key; gives its hash.
    #[inline(always)]
    pub(crate) fn load(&self, key: [u32; SLOTS]) -> u64 {
        let hash = slots_hash(&key);
        let route = self.directory.route(hash);
        let lines = route.start.cast::<Nodes<SLOTS, PLACES>>();
        prefetch_at(lines.wrapping_add(home(hash, route.depth, route.units)));
        hash
    }

    /// There is one segment only.
    #[inline(always)]
    pub(crate) fn is_single(&self) -> bool {
        self.directory.is_single()
    }

    /// The address of the line where a key is looked for first, which is being loaded. Good until [`Interner::moves`]
    /// changes. `SINGLE` as in [`Interner::is_single`].
    #[inline(always)]
    pub(crate) fn line_of<const SINGLE: bool>(&self, key: &[u32; SLOTS]) -> u64 {
        let line = self.directory.unit::<SINGLE, Nodes<SLOTS, PLACES>>(slots_hash(key));
        prefetch_at(line);
        line.expose_provenance() as u64
    }

    /// Changes whenever lines move.
    #[inline(always)]
    pub(crate) fn moves(&self) -> u64 {
        self.directory.moves()
    }

    /// The number of a key; 0 when it is not in its line.
    ///
    /// # Safety
    /// `line` is what [`Interner::line_of`] gave for the key, and no line has moved since.
    #[inline(always)]
    pub(crate) unsafe fn id_at(&self, line: u64, key: &[u32; SLOTS]) -> u32 {
        // SAFETY: by this function's contract.
        unsafe { &*std::ptr::with_exposed_provenance::<Nodes<SLOTS, PLACES>>(line as usize) }.id(key)
    }

    /// Has a key a number?
    pub(crate) fn contains(&self, key: [u32; SLOTS]) -> bool {
        let hash = slots_hash(&key);
        let (lines, depth) = self.directory.segment(hash);
        lines.find(&key, hash, depth).is_ok()
    }

    /// The number of a key, a new one if it has none.
    #[inline(always)]
    pub(crate) fn intern(&mut self, key: [u32; SLOTS]) -> u32 {
        self.intern_hashed(key, slots_hash(&key))
    }

    /// The number of a key with this hash, a new one if it has none.
    #[inline(always)]
    pub(crate) fn intern_hashed(&mut self, key: [u32; SLOTS], hash: u64) -> u32 {
        let route = self.directory.route(hash);
        let at = home(hash, route.depth, route.units);
        // SAFETY: the route leads to `units` lines, and `home` is below that.
        let line = unsafe { &*route.start.cast::<Nodes<SLOTS, PLACES>>().add(at) };
        let id = line.id(&key);
        if id != 0 { id } else { self.intern_far(key, hash) }
    }

    /// The number of a key that is not in its first line.
    #[cold]
    #[inline(never)]
    pub(crate) fn intern_far(&mut self, key: [u32; SLOTS], hash: u64) -> u32 {
        let (lines, depth) = self.directory.segment(hash);
        match lines.find(&key, hash, depth) {
            Ok(id) => id,
            Err(_) => self.intern_new(key, hash),
        }
    }

    /// The number of a key with this hash, while other threads add keys as well: a new one if it has none. Fails where there is no room in the
    /// key's segment, or no number.
    #[inline(always)]
    pub(crate) fn intern_shared(
        &self,
        key: [u32; SLOTS],
        hash: u64,
        numbers: &AtomicU64,
        own: &mut Own,
    ) -> Result<u32, Short> {
        let route = self.directory.route(hash);
        let at = home(hash, route.depth, route.units);
        // SAFETY: the route leads to `units` lines, and `home` is below that. They stay, and threads write to them only as `claim` does, while
        // this is borrowed and shared (`crate::shared_tree`).
        let id = unsafe {
            Nodes::<SLOTS, PLACES>::shared_id::<false>(
                route.start.cast::<Nodes<SLOTS, PLACES>>().add(at),
                &key,
            )
        };
        if id != 0 && id != BUSY { Ok(id) } else { self.intern_shared_far(key, hash, numbers, own) }
    }

    /// As [`Interner::id_at`], while other threads add keys; 0 also if the key is perhaps being written.
    ///
    /// # Safety
    /// As there; `MODERN`: the processor has AVX.
    #[inline(always)]
    pub(crate) unsafe fn shared_id_at<const MODERN: bool>(&self, line: u64, key: &[u32; SLOTS]) -> u32 {
        let line = std::ptr::with_exposed_provenance::<Nodes<SLOTS, PLACES>>(line as usize);
        // SAFETY: by this function's contract; threads write to lines only as `claim` does while this is borrowed and shared (`crate::shared_tree`).
        let id = unsafe { Nodes::<SLOTS, PLACES>::shared_id::<MODERN>(line, key) };
        if id == BUSY { 0 } else { id }
    }

    /// The number of a key that is not in its first line, or perhaps being written there.
    #[cold]
    #[inline(never)]
    pub(crate) fn intern_shared_far(
        &self,
        key: [u32; SLOTS],
        hash: u64,
        numbers: &AtomicU64,
        own: &mut Own,
    ) -> Result<u32, Short> {
        let route = self.directory.route(hash);
        let at = home(hash, route.depth, route.units);
        // SAFETY: as above; a line is sixteen words, which all bits are a value of.
        let line = |at: usize| unsafe { &*route.start.cast::<[AtomicU32; 16]>().add(at) };
        let (number, lines, _) = self.directory.numbered_segment(hash);
        if own.tickets.len() <= number {
            own.tickets.resize(number + 1, 0);
        }
        loop {
            let mut budget = Budget { tickets: own.tickets[number], numbers: own.numbers.clone() };
            let found = claim::intern::<_, SLOTS, PLACES>(line, route.units, at, &key, &mut budget);
            (own.tickets[number], own.numbers) = (budget.tickets, budget.numbers);
            if found.is_ok() {
                return found;
            }
            if own.numbers.is_empty() {
                let first = numbers.fetch_add(BLOCK, Ordering::Relaxed);
                if first + BLOCK > u64::from(BUSY) {
                    return Err(Short::Tickets);
                }
                own.numbers = first as u32..(first + BLOCK) as u32;
            }
            if own.tickets[number] == 0 {
                own.tickets[number] = lines.tickets(own.workers);
                if own.tickets[number] == 0 {
                    return Err(Short::Tickets);
                }
            }
        }
    }

    /// Makes room for keys of several threads in the segment of this hash, with their help.
    pub(crate) fn make_shared_room(&mut self, hash: u64, workers: usize, crew: &Crew) {
        self.directory.make_room_together_until(hash, crew, |lines| lines.lacks_tickets(workers));
        self.full |= self.directory.is_refused();
    }

    /// The first number that was not given to a key.
    pub(crate) fn next_number(&self) -> u64 {
        self.directory.len() + 1
    }

    /// Notes that numbers below this one have been given to keys, perhaps not all of them.
    pub(crate) fn numbered(&mut self, next: u64) {
        self.directory.added((next - 1).saturating_sub(self.directory.len()));
        self.full |= next > u64::from(BUSY);
    }

    fn intern_new(&mut self, key: [u32; SLOTS], hash: u64) -> u32 {
        let next = self.directory.len() + 1;
        if next > u64::from(u32::MAX) {
            self.full = true;
            return u32::MAX;
        }
        self.directory.make_room_for(hash);
        self.full |= self.directory.is_refused();
        let (lines, depth) = self.directory.segment(hash);
        if let Err(free) = lines.find(&key, hash, depth) {
            self.directory.segment_mut(hash).put_from(free, (key, next as u32));
        }
        self.directory.added(1);
        next as u32
    }

    /// Whether numbers or memory have run out; keys interned since then may have no number of their own.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Whether memory has run out.
    pub(crate) fn is_refused(&self) -> bool {
        self.directory.is_refused()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.directory.bytes()
    }
}
