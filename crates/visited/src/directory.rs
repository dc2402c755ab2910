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
    /// Moves all entries: to `lower`, or, when there is an `upper`, those whose bit `depth` of the hash (from the top)
    /// is set to that. The new segments are reached by `new_depth` bits.
    fn move_into(&mut self, new_depth: u32, lower: &mut Self, upper: Option<&mut Self>);
    /// Grows to this many units, reached by `depth` bits of the hash; `None` if there is no memory for that.
    fn grow(&mut self, depth: u32, units: usize) -> Option<()>
    where
        Self: Sized,
    {
        let mut larger = Self::with_units(units)?;
        self.move_into(depth, &mut larger, None);
        *self = larger;
        Some(())
    }
    /// Bytes allocated.
    fn bytes(&self) -> usize;
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

    /// The number of the segment of a hash, and the segment.
    #[inline]
    pub(crate) fn numbered_segment(&self, hash: u64) -> (usize, &S) {
        let number = self.number(hash);
        (number, &self.segments[number].segment)
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
            if self.make_room(self.number(hash), hash).is_none() {
                self.refuse(hash);
                break;
            }
            made = true;
        }
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
    fn make_room(&mut self, number: usize, hash: u64) -> Option<()> {
        self.moves += 1;
        let Held { segment, depth } = &mut self.segments[number];
        let depth = *depth;
        let units = segment.units();
        // 40 bits are never used up by real tables; a bad hash must not split for ever.
        if units < S::MOST_UNITS || depth >= 40 {
            segment.grow(depth, S::next_units(units))?;
            self.renew(number);
            return Some(());
        }
        let mut lower = S::with_units(S::MOST_UNITS / 2)?;
        let mut upper = S::with_units(S::MOST_UNITS / 2)?;
        segment.move_into(depth + 1, &mut lower, Some(&mut upper));
        self.segments[number] = Held { segment: lower, depth: depth + 1 };
        let second = self.segments.len() as u32;
        self.segments.push(Held { segment: upper, depth: depth + 1 });
        if depth == self.bits {
            self.routes = self.routes.iter().flat_map(|r| [*r, *r]).collect();
            self.bits += 1;
        }
        // The entries that led to the old segment are consecutive; the second half of them leads to the new one.
        let span = 1usize << (self.bits - depth);
        let at = (hash >> 1 >> (63 - self.bits)) as usize;
        let first = at & !(span - 1);
        self.routes[first + span / 2..first + span].iter_mut().for_each(|r| r.segment = second);
        self.renew(number);
        self.renew(second as usize);
        Some(())
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
