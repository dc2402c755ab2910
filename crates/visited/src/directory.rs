//! Hash tables that grow a part at a time.
//!
//! A table is cut into segments by the top bits of the hash (extendible hashing: Fagin, Nievergelt, Pippenger, Strong,
//! 1979). A segment that is full grows by a fraction while it is small, so that little memory is wasted; at its greatest
//! size it is split in two by one more bit of the hash. No insertion ever waits for more than one segment to be moved.
//!
//! When there is no memory for a larger segment, the old one stays. It is not filled up to the last place, so that there is room for
//! what the batch at hand still adds; a search looks after each batch ([`Directory::is_refused`]) and ends. Only if even that room is
//! used up, memory is asked for in earnest.
//!
//! Inside a segment an entry's home grows with its hash, so that moving a segment reads and writes memory in order.

use std::sync::{Mutex, PoisonError};

use crate::crew::Crew;

/// One part of a table.
pub(crate) trait Segment {
    /// A segment with room for this many units (slots or cache lines); `None` if there is no memory for it.
    fn with_units(units: usize) -> Option<Self>
    where
        Self: Sized;
    /// Its first byte.
    fn start(&self) -> *const u8;
    /// Its units.
    fn units(&self) -> usize;
    /// Units of the first segment; not 0.
    const FIRST_UNITS: usize;
    /// Units at which it is split instead of growing.
    const MOST_UNITS: usize;
    /// The next size.
    fn next_units(units: usize) -> usize;
    /// Whether one more entry needs room to be made first.
    fn is_full(&self) -> bool;
    /// Whether one more entry would take the last free place.
    fn is_packed(&self) -> bool;
    /// Grows to this many units, reached by `depth` bits of the hash; `None` if there is no memory for that.
    fn grow(&mut self, depth: u32, units: usize) -> Option<()>;
    /// The two segments that it is split in, of at least so many units: `depth` bits of the hash lead to each, and the last of these is set for those of the second.
    fn halves(&mut self, depth: u32, units: usize) -> Option<(Self, Self)>
    where
        Self: Sized;
    /// Bytes allocated.
    fn bytes(&self) -> usize;
}

/// Segments whose entries say what they are, so that any of them can be moved to any other.
pub(crate) trait Moved: Segment + Sized {
    /// Moves all entries: to `lower`, or, when there is an `upper`, those whose bit `depth` of the hash (from the top)
    /// is set to that. The new segments are reached by `new_depth` bits.
    fn move_into(&mut self, new_depth: u32, lower: &mut Self, upper: Option<&mut Self>);

    /// [`Segment::grow`], with memory of its own.
    fn grow_elsewhere(&mut self, depth: u32, units: usize) -> Option<()> {
        let mut larger = Self::with_units(units)?;
        self.move_into(depth, &mut larger, None);
        *self = larger;
        Some(())
    }

    /// [`Segment::halves`].
    fn split(&mut self, depth: u32, units: usize) -> Option<(Self, Self)> {
        let mut lower = Self::with_units(units)?;
        let mut upper = Self::with_units(units)?;
        self.move_into(depth, &mut lower, Some(&mut upper));
        Some((lower, upper))
    }
}

/// What a lookup needs of a segment, kept together: one memory access less.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// Its first byte.
    pub(crate) start: *const u8,
    /// Its units.
    pub(crate) units: usize,
    /// Number of hash bits that lead to it.
    pub(crate) depth: u32,
    /// Its number.
    segment: u32,
}

// SAFETY: the segment that `start` points to is owned by the directory that owns the route.
unsafe impl Send for Route {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for Route {}

#[derive(Debug)]
struct Held<S> {
    segment: S,
    /// Number of hash bits that lead here.
    depth: u32,
}

/// How room was made.
#[derive(Debug)]
enum Made<S> {
    /// The segment has grown.
    Grown,
    /// It is split in these.
    Halves(S, S),
}

impl<S: Segment> Held<S> {
    fn make_room(&mut self) -> Option<Made<S>> {
        let units = self.segment.units();
        // 40 bits are never used up by real tables; a bad hash must not split for ever.
        if units < S::MOST_UNITS || self.depth >= 40 {
            self.segment.grow(self.depth, S::next_units(units))?;
            return Some(Made::Grown);
        }
        let (lower, upper) = self.segment.halves(self.depth + 1, S::MOST_UNITS / 2)?;
        Some(Made::Halves(lower, upper))
    }
}

/// The segments of one table.
#[derive(Debug)]
pub(crate) struct Directory<S> {
    /// The way to the segment for each value of the top `bits` bits.
    routes: Vec<Route>,
    bits: u32,
    segments: Vec<Held<S>>,
    len: u64,
    /// How often a segment was moved.
    moves: u64,
    /// There was no memory for a larger segment.
    refused: bool,
}

impl<S: Segment> Default for Directory<S> {
    fn default() -> Self {
        let segment = S::with_units(S::FIRST_UNITS).unwrap_or_else(|| no_memory());
        let route = Route { start: segment.start(), units: segment.units(), depth: 0, segment: 0 };
        Directory {
            routes: vec![route],
            bits: 0,
            segments: vec![Held { segment, depth: 0 }],
            len: 0,
            moves: 0,
            refused: false,
        }
    }
}

impl<S: Segment> Directory<S> {
    /// The way to the segment of a hash.
    #[inline(always)]
    pub(crate) fn route(&self, hash: u64) -> Route {
        // Two shifts, since one by 64 is none.
        let at = (hash >> 1 >> (63 - self.bits)) as usize;
        // SAFETY: there are 2^bits entries.
        unsafe { *self.routes.get_unchecked(at) }
    }

    /// There is one segment only.
    #[inline(always)]
    pub(crate) fn is_single(&self) -> bool {
        self.bits == 0
    }

    /// Where the unit of a hash begins. `SINGLE` says that there is one segment only.
    #[inline(always)]
    pub(crate) fn unit<const SINGLE: bool, U>(&self, hash: u64) -> *const U {
        debug_assert!(!SINGLE || self.is_single());
        let route = if SINGLE { Route { depth: 0, ..self.route(0) } } else { self.route(hash) };
        route.start.cast::<U>().wrapping_add(home(hash, route.depth, route.units))
    }

    #[inline(always)]
    fn number(&self, hash: u64) -> usize {
        self.route(hash).segment as usize
    }

    /// After a segment was replaced.
    fn renew(&mut self, number: usize) {
        let Held { segment, depth } = &self.segments[number];
        let (start, units, depth) = (segment.start(), segment.units(), *depth);
        let segment = number as u32;
        for route in self.routes.iter_mut().filter(|r| r.segment == segment) {
            *route = Route { start, units, depth, segment };
        }
    }

    /// The segment of a hash, and the number of hash bits that lead to it.
    #[inline(always)]
    pub(crate) fn segment(&self, hash: u64) -> (&S, u32) {
        // SAFETY: the index holds numbers of segments.
        let held = unsafe { self.segments.get_unchecked(self.number(hash)) };
        (&held.segment, held.depth)
    }

    /// The segment of a hash, for changing its entries.
    #[inline(always)]
    pub(crate) fn segment_mut(&mut self, hash: u64) -> &mut S {
        let number = self.number(hash);
        // SAFETY: as above.
        unsafe { &mut self.segments.get_unchecked_mut(number).segment }
    }

    /// The number of the segment of a hash, the segment, and the number of hash bits that lead to it.
    #[inline(always)]
    pub(crate) fn numbered_segment(&self, hash: u64) -> (usize, &S, u32) {
        let number = self.number(hash);
        // SAFETY: as above.
        let held = unsafe { self.segments.get_unchecked(number) };
        (number, &held.segment, held.depth)
    }

    /// All segments, for changing their entries.
    pub(crate) fn segments_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.segments.iter_mut().map(|held| &mut held.segment)
    }

    /// Makes room for one more entry where this hash belongs; `false` when there was room.
    #[inline(always)]
    pub(crate) fn make_room_for(&mut self, hash: u64) -> bool {
        self.make_room_until(hash, S::is_full)
    }

    /// Makes room where this hash belongs as long as something is said of the segment; `false` when that was not so.
    #[inline(always)]
    pub(crate) fn make_room_until(&mut self, hash: u64, is_full: impl Fn(&S) -> bool) -> bool {
        let mut made = false;
        // SAFETY: as above.
        while is_full(&unsafe { self.segments.get_unchecked(self.number(hash)) }.segment) {
            if self.make_room(self.number(hash)).is_none() {
                self.refuse(hash);
                break;
            }
            made = true;
        }
        made
    }

    /// As [`Directory::make_room_until`], by a crew.
    pub(crate) fn make_room_together_until(&mut self, hash: u64, crew: &Crew, is_full: impl Fn(&S) -> bool)
    where
        S: Send,
    {
        while is_full(self.segment(hash).0) {
            if !self.make_room_together(hash, crew) {
                self.refuse(hash);
                break;
            }
        }
    }

    /// Makes more room where this hash belongs, although its segment is not full; `false` if there is no memory for that.
    #[cold]
    #[inline(never)]
    pub(crate) fn make_more_room(&mut self, hash: u64) -> bool {
        let made = self.make_room(self.number(hash)).is_some();
        self.refused |= !made;
        made
    }

    /// There is no memory to make room with. What is free must do for the rest of a batch.
    #[cold]
    #[inline(never)]
    fn refuse(&mut self, hash: u64) {
        self.refused = true;
        if self.segment(hash).0.is_packed() {
            no_memory();
        }
    }

    /// Was there no memory for what was added last? Everything is still there, but nothing more must be added.
    #[inline(always)]
    pub(crate) fn is_refused(&self) -> bool {
        self.refused
    }

    /// The only segment, if there is but one.
    #[inline(always)]
    pub(crate) fn only_mut(&mut self) -> Option<&mut S> {
        if self.is_single() { self.segments.first_mut().map(|held| &mut held.segment) } else { None }
    }

    /// Called after entries were added.
    #[inline(always)]
    pub(crate) fn added(&mut self, entries: u64) {
        self.len += entries;
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, number: usize) -> Option<()> {
        let made = self.segments[number].make_room()?;
        self.settle(number, made);
        Some(())
    }

    /// Makes room in the segment of this hash and in all that are not larger: they fill alike, so that all would need it soon, one after the other. A crew does it
    /// together. `false` if there was no memory for some.
    #[cold]
    #[inline(never)]
    pub(crate) fn make_room_together(&mut self, hash: u64, crew: &Crew) -> bool
    where
        S: Send,
    {
        let most = self.segment(hash).0.units();
        let each = self.segments.iter_mut().enumerate().filter(|(_, held)| held.segment.units() <= most);
        let pieces: Vec<_> = each.map(|(number, held)| Mutex::new((number, held, None))).collect();
        crew.each(pieces.len(), &|piece| {
            let (_, held, made) = &mut *pieces[piece].lock().unwrap_or_else(PoisonError::into_inner);
            *made = held.make_room();
        });
        let made = pieces.into_iter().map(|piece| {
            let (number, _, made) = piece.into_inner().unwrap_or_else(PoisonError::into_inner);
            (number, made)
        });
        let mut all = true;
        for (number, made) in made.collect::<Vec<_>>() {
            match made {
                Some(made) => self.settle(number, made),
                None => all = false,
            }
        }
        self.refused |= !all;
        all
    }

    /// Splits segments until there are at least so many, as far as there is memory for that.
    pub(crate) fn spread(&mut self, least: usize) {
        while self.segments.len() < least {
            for number in 0..self.segments.len() {
                let Held { segment, depth } = &mut self.segments[number];
                let units = (segment.units() / 2).max(S::FIRST_UNITS);
                match segment.halves(*depth + 1, units) {
                    Some((lower, upper)) => self.settle(number, Made::Halves(lower, upper)),
                    None => return,
                }
            }
        }
    }

    /// Room was made in a segment: the ways to it are made again.
    fn settle(&mut self, number: usize, made: Made<S>) {
        self.moves += 1;
        let Made::Halves(lower, upper) = made else { return self.renew(number) };
        let depth = self.segments[number].depth;
        self.segments[number] = Held { segment: lower, depth: depth + 1 };
        let second = self.segments.len() as u32;
        self.segments.push(Held { segment: upper, depth: depth + 1 });
        if depth == self.bits {
            self.routes = self.routes.iter().flat_map(|r| [*r, *r]).collect();
            self.bits += 1;
        }
        // The entries that led to the old segment are consecutive; the second half of them leads to the new one.
        let old = self.routes.iter_mut().filter(|r| r.segment as usize == number);
        old.skip(1 << (self.bits - depth - 1)).for_each(|r| r.segment = second);
        self.renew(number);
        self.renew(second as usize);
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Changes whenever a segment moves.
    #[inline(always)]
    pub(crate) fn moves(&self) -> u64 {
        self.moves
    }

    pub(crate) fn bytes(&self) -> u64 {
        let held: usize = self.segments.iter().map(|h| h.segment.bytes()).sum();
        held as u64
            + (self.routes.len() * size_of::<Route>()) as u64
            + (self.segments.len() * size_of::<Held<S>>()) as u64
    }
}

/// Ends as every allocation does that cannot be had and cannot be done without.
#[cold]
fn no_memory() -> ! {
    // More than there can be: an allocator with an answer of its own is asked first.
    drop(Vec::<u8>::with_capacity(isize::MAX as usize));
    std::alloc::handle_alloc_error(std::alloc::Layout::new::<u8>())
}

/// Position of a hash among `units`, by the bits that did not choose the segment: it grows with the hash.
#[inline(always)]
pub(crate) fn home(hash: u64, depth: u32, units: usize) -> usize {
    ((((hash << depth) >> 32) * units as u64) >> 32) as usize
}
