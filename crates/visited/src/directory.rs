//! Hash tables cut into segments by the top bits of the hash. A segment grows alone, so that growing
//! never means rehashing everything; only the number of segments is raised twice in a table's life,
//! while it is small.

/// One independently growing part of a table.
pub(crate) trait Segment: Default {
    /// Bytes allocated.
    fn bytes(&self) -> usize;
    /// Moves every entry, with its hash, to the segment that `to` gives.
    fn drain_into(self, to: &mut dyn FnMut(u64) -> *mut Self);
}

/// How many segments a table starts with, and the most it gets, as powers of two.
const FIRST_BITS: u32 = 4;
const LAST_BITS: u32 = 12;
/// Average entries per segment that make the table spread out.
const SPREAD_AT: u64 = 2048;

/// The segments of one table.
#[derive(Debug)]
pub(crate) struct Directory<S> {
    segments: Vec<S>,
    shift: u32,
    len: u64,
}

impl<S: Segment> Default for Directory<S> {
    fn default() -> Self {
        Directory { segments: segments(FIRST_BITS), shift: 64 - FIRST_BITS, len: 0 }
    }
}

fn segments<S: Segment>(bits: u32) -> Vec<S> {
    (0..1 << bits).map(|_| S::default()).collect()
}

impl<S: Segment> Directory<S> {
    #[inline(always)]
    pub(crate) fn segment(&self, hash: u64) -> &S {
        // SAFETY: there are 2^(64 - shift) segments, and the shift leaves that many bits.
        unsafe { self.segments.get_unchecked((hash >> self.shift) as usize) }
    }

    #[inline(always)]
    pub(crate) fn segment_mut(&mut self, hash: u64) -> &mut S {
        // SAFETY: as above.
        unsafe { self.segments.get_unchecked_mut((hash >> self.shift) as usize) }
    }

    /// Called after an entry was added.
    #[inline(always)]
    pub(crate) fn added(&mut self) {
        self.len += 1;
        if self.len > SPREAD_AT << (64 - self.shift) && 64 - self.shift < LAST_BITS {
            self.spread();
        }
    }

    #[cold]
    fn spread(&mut self) {
        let bits = (64 - self.shift + 4).min(LAST_BITS);
        let mut next: Vec<S> = segments(bits);
        let shift = 64 - bits;
        let base = next.as_mut_ptr();
        for segment in std::mem::take(&mut self.segments) {
            // SAFETY: `hash >> shift` is below 2^bits, the length of `next`, which stays in place.
            segment.drain_into(&mut |hash| unsafe { base.add((hash >> shift) as usize) });
        }
        self.segments = next;
        self.shift = shift;
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn bytes(&self) -> u64 {
        let held: usize = self.segments.iter().map(Segment::bytes).sum();
        (held + self.segments.len() * size_of::<S>()) as u64
    }
}
