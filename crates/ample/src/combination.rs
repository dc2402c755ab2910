//! What is known of every step while nobody's future changes.
//!
//! Who can get in the way of a thread's next step depends on where it stands and on what the others may still do. Most steps change
//! nothing about the latter (a thread in a loop may always still do everything the loop does), and there are few combinations of
//! the threads' futures. So what is found out about a thread at a location is kept per combination.

use crate::futures::Futures;
use crate::layout::LaidWait;
use crate::objects::Objects;
use crate::tables::{Entry, Tables};

/// What is known of a thread at a location, whatever the channels hold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// The others that can get in the way of its next step.
    pub(crate) blockers: u64,
    /// Gates that may keep all of them out of the way.
    pub(crate) gates: u64,
    flags: u8,
}

/// It has been found out.
const FOUND: u8 = 1;
/// May be in an ample set.
const ELIGIBLE: u8 = 2;
/// The next step may close a cycle of the control flow.
const CLOSES: u8 = 4;
/// What a look at the state must add: channels, or whether the thread is the youngest.
const DEPENDS: u8 = 8;
/// With these futures it may go alone, whatever the channels hold, unless gates are open.
const PASSES: u8 = 16;

impl Known {
    pub(crate) const fn is_found(self) -> bool {
        self.flags & FOUND != 0
    }

    pub(crate) const fn eligible(self) -> bool {
        self.flags & ELIGIBLE != 0
    }

    pub(crate) const fn closes(self) -> bool {
        self.flags & CLOSES != 0
    }

    pub(crate) const fn depends(self) -> bool {
        self.flags & DEPENDS != 0
    }

    /// With these futures it may go alone, whatever the channels hold, if gates keep everybody out of its way that might get there.
    pub(crate) const fn passes(self) -> bool {
        self.flags & PASSES != 0
    }

    /// It is known that it does not.
    pub(crate) const fn stays(self) -> bool {
        self.flags & (FOUND | PASSES) == FOUND
    }
}

/// What a step is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terms {
    /// What it must not write.
    pub(crate) visible: u128,
    /// Gates that somebody may be behind.
    pub(crate) gates: u64,
    /// It must not close a cycle of the control flow.
    pub(crate) breaks_cycles: bool,
}

/// A combination of futures.
#[derive(Debug)]
pub(crate) struct Combination {
    /// The number of each thread's future.
    pub(crate) futures: Vec<u32>,
    sets: Futures,
    /// Of every location of each thread.
    known: Vec<Known>,
}

impl Combination {
    /// Nothing is known of these futures, with so many locations of threads.
    pub(crate) fn new(tables: &Tables, futures: Vec<u32>, locations: usize) -> Combination {
        let sets = Futures::new(futures.iter().map(|f| tables.futures[*f as usize]));
        Combination { futures, sets, known: vec![Known::default(); locations] }
    }

    /// What has been found out about a place.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize) -> Known {
        self.known[place]
    }

    /// Finds out what there is to know of a thread at a place, which has this entry in the tables.
    #[cold]
    pub(crate) fn learn(
        &mut self,
        tables: &Tables,
        terms: Terms,
        thread: usize,
        place: usize,
        entry: usize,
    ) -> Known {
        self.known[place] = self.find_out(tables, terms, thread, entry);
        self.known[place]
    }

    fn find_out(&self, tables: &Tables, terms: Terms, thread: usize, entry: usize) -> Known {
        let entry = &tables.entries[entry];
        if entry.future != self.futures[thread] {
            // Nobody with these futures stands here.
            return Known { flags: FOUND, ..Known::default() };
        }
        let (first, middle, end) = entry.bits;
        let written = &tables.bits[first as usize..middle as usize];
        let read = &tables.bits[middle as usize..end as usize];
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let eligible = entry.writes & terms.visible == 0 && !(terms.breaks_cycles && entry.closes_cycle);
        let blockers = self.sets.in_the_way(written, read) & !(1 << thread);
        // No gates that the step itself needs: while they are closed, it is not possible.
        let gates = terms.gates & !entry.needs;
        let useful = blockers != 0 && !entry.depends();
        let gates = if useful { self.find_gates(tables, gates, thread, written, read) } else { 0 };
        let passes = eligible && !entry.depends() && (blockers == 0 || gates != 0);
        Known {
            blockers,
            gates,
            flags: FOUND
                | flag(passes, PASSES)
                | flag(eligible, ELIGIBLE)
                | flag(entry.closes_cycle, CLOSES)
                | flag(entry.depends(), DEPENDS),
        }
    }

    /// The gates, of these, of one of the things that a step touches, if nobody gets in its way by the others.
    fn find_gates(&self, tables: &Tables, among: u64, thread: usize, written: &[u8], read: &[u8]) -> u64 {
        for bit in written.iter().chain(read).filter(|bit| tables.gates.bits >> **bit & 1 == 1) {
            let gates = tables.gates.about(1 << bit) & among;
            let without = |bits: &[u8]| bits.iter().copied().filter(|b| b != bit).collect::<Vec<u8>>();
            let others = self.sets.in_the_way(&without(written), &without(read));
            if gates != 0 && others & !(1 << thread) == 0 {
                return gates;
            }
        }
        0
    }

    /// What the state adds to the threads in the way of a step, and whether the step may be possible. `waits`: what it waits for.
    #[inline]
    pub(crate) fn look_at(
        &self,
        entry: &Entry,
        waits: &[LaidWait],
        youngest: bool,
        mut in_the_way: u64,
        (key, state): (&[u64], &[u64]),
    ) -> (u64, bool) {
        let mut movable = !entry.only_channels;
        if entry.at_end && !youngest {
            in_the_way |= self.sets.writing(Objects::end_of_others());
            movable = false;
        }
        for wait in waits {
            let blocked = wait.is_blocked(key, state);
            if blocked {
                in_the_way |= self.sets.writing(wait.other_end);
            }
            movable |= wait.operation && (!blocked || wait.rendezvous) || wait.faults();
        }
        (in_the_way, movable)
    }
}
