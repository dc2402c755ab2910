//! What is known of every step while nobody's future changes.
//!
//! Who can get in the way of a thread's next step depends on where it stands and on what the others may still do. Most steps change
//! nothing about the latter (a thread in a loop may always still do everything the loop does), and there are few combinations of
//! the threads' futures. So what is found out about a thread at a location is kept per combination.

use crate::futures::Futures;
use crate::layout::{Blocked, LaidWait};
use crate::objects::Objects;
use crate::tables::{Entry, Tables};

/// What is known of a thread at a location, whatever the channels hold. The sets have the thread's own bit or none, so that those of
/// all threads of a state can be added up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// The others that can get in the way of its next step.
    pub(crate) blockers: u64,
    /// Gates that may keep all of them out of the way.
    pub(crate) gates: u64,
    /// May be in an ample set.
    pub(crate) eligible: u64,
    /// Nobody gets in the way, whatever the channels hold.
    pub(crate) free: u64,
    /// The next step may close a cycle of the control flow.
    pub(crate) closing: u64,
    /// May be able to move, whatever the channels hold.
    pub(crate) movable: u64,
    /// There are gates, or channels to look at.
    pub(crate) special: u64,
    /// Which channels, in [`Combination::choices`].
    choices: (u32, u32),
    pub(crate) use_as: Use,
}

/// What depends on how full a channel is.
#[derive(Clone, Copy, Debug)]
struct Choice {
    blocked: Blocked,
    /// Threads that get in the way while the operation is blocked.
    blockers: u64,
    /// The thread's bit, if the operation is a way on.
    moves: u64,
}

/// What can be made of something [`Known`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Use {
    /// It has been found out, and a thread that has come here stays.
    Stays = 0,
    /// It has been found out, and a thread that has come here may go on alone at once, if the gates keep everybody out of its way.
    Passes = 1,
    /// A thread here has another future.
    Other = 2,
    /// It has not been found out.
    Unknown = 4,
}

impl Use {
    /// Is it about threads with these futures?
    pub(crate) const fn holds(all: u8) -> bool {
        all & (Use::Other as u8 | Use::Unknown as u8) == 0
    }
}

const NOTHING: Known = Known {
    blockers: 0,
    gates: 0,
    eligible: 0,
    free: 0,
    closing: 0,
    movable: 0,
    special: 0,
    choices: (0, 0),
    use_as: Use::Unknown,
};

/// What a step is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terms {
    /// What it must not write.
    pub(crate) visible: u128,
    /// Gates that somebody may be behind.
    pub(crate) gates: u64,
    /// It must not close a cycle of the control flow.
    pub(crate) breaks_cycles: bool,
    /// The youngest thread, which can end.
    pub(crate) youngest: usize,
}

impl Terms {
    /// May the step at an entry be in an ample set, if it may close a cycle of the control flow or not?
    pub(crate) fn permit(&self, entry: &Entry, closing: bool) -> bool {
        entry.writes & self.visible == 0 && !(self.breaks_cycles && closing)
    }
}

/// What was found out about a place.
#[derive(Clone, Copy, Debug)]
struct Learned {
    /// Who can touch these things matters to it, and what future the thread has.
    things: u128,
    thread: u32,
    place: u32,
}

/// More choices than this are forgotten, with all that is known, when other futures are taken on.
const MOST_CHOICES: usize = 1 << 12;

/// A combination of futures.
#[derive(Clone, Debug)]
pub(crate) struct Combination {
    /// The number of each thread's future.
    futures: Vec<u32>,
    sets: Futures,
    /// Of every location of each thread.
    known: Vec<Known>,
    /// Where something is known.
    learned: Vec<Learned>,
    choices: Vec<Choice>,
}

impl Combination {
    /// Of so many threads, with so many locations, of which nothing is known: without futures yet.
    pub(crate) fn new(threads: usize, locations: usize) -> Combination {
        Combination {
            futures: vec![0; threads],
            sets: Futures::default(),
            known: vec![NOTHING; locations],
            learned: Vec::new(),
            choices: Vec::new(),
        }
    }

    /// The bytes that one takes, with so many locations.
    pub(crate) fn bytes(locations: usize) -> usize {
        size_of::<Combination>() + locations * size_of::<Known>()
    }

    /// Takes on these futures, one for each thread, and forgets what may be different with them.
    pub(crate) fn take_on(&mut self, tables: &Tables, futures: impl Iterator<Item = u32>) {
        let (mut things, mut threads) = (0, 0u64);
        for (thread, (old, new)) in self.futures.iter_mut().zip(futures).enumerate() {
            if *old != new {
                let masks = (tables.futures[*old as usize], tables.futures[new as usize]);
                things |= self.sets.change(thread, masks.0, masks.1);
                threads |= 1 << thread;
                *old = new;
            }
        }
        if self.choices.len() > MOST_CHOICES {
            self.choices.clear();
            things = u128::MAX;
        }
        self.learned.retain(|learned| {
            let stays = learned.things & things == 0 && threads >> learned.thread & 1 == 0;
            if !stays {
                self.known[learned.place as usize] = NOTHING;
            }
            stays
        });
    }

    /// What has been found out about a place.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize) -> &Known {
        &self.known[place]
    }

    /// Finds out what there is to know of a thread at a place, which has this entry in the tables, may close a cycle of the control flow
    /// or not, and has these waits.
    #[cold]
    pub(crate) fn learn(
        &mut self,
        tables: &Tables,
        terms: Terms,
        (thread, place): (usize, usize),
        (entry, closing): (&Entry, bool),
        waits: &[LaidWait],
    ) {
        let (first, _, end) = entry.bits;
        let touched = tables.bits[first as usize..end as usize].iter().map(|bit| u32::from(*bit));
        let others = waits.iter().map(|wait| wait.other_end).chain(entry.at_end.then(Objects::end_of_others));
        let things = touched.chain(others).fold(0u128, |all, bit| all | 1 << bit);
        self.learned.push(Learned { things, thread: thread as u32, place: place as u32 });
        self.known[place] = if entry.future == self.futures[thread] {
            self.find_out(tables, terms, thread, (entry, closing), waits)
        } else {
            Known { use_as: Use::Other, ..NOTHING }
        };
    }

    fn find_out(
        &mut self,
        tables: &Tables,
        terms: Terms,
        thread: usize,
        (entry, closing): (&Entry, bool),
        waits: &[LaidWait],
    ) -> Known {
        let bit = |is: bool| u64::from(is) << thread;
        let (first, middle, end) = entry.bits;
        let written = &tables.bits[first as usize..middle as usize];
        let read = &tables.bits[middle as usize..end as usize];
        let mut blockers = self.sets.in_the_way(written, read);
        let mut movable = !entry.only_channels;
        if entry.at_end && thread != terms.youngest {
            blockers |= self.sets.writing(Objects::end_of_others());
            movable = false;
        }
        let first = self.choices.len() as u32;
        for wait in waits {
            let others = self.sets.writing(wait.other_end);
            match wait.blocked {
                // A rendezvous may be possible all the same.
                Blocked::Always => {
                    blockers |= others;
                    movable |= wait.operation;
                }
                // A fault, sooner or later: no reason to wait.
                Blocked::Never => movable = true,
                blocked => self.choices.push(Choice {
                    blocked,
                    blockers: others & !bit(true),
                    moves: bit(wait.operation),
                }),
            }
        }
        blockers &= !bit(true);
        let choices = (first, self.choices.len() as u32);
        let eligible = terms.permit(entry, closing);
        // No gates that the step itself needs: while they are closed, it is not possible.
        let gates = terms.gates & !entry.needs;
        let useful = blockers != 0 && !entry.depends();
        let gates = if useful { self.find_gates(tables, gates, thread, written, read) } else { 0 };
        // Where no channel decides, a thread that has come here goes on at once, whatever way it came.
        let passes = eligible && !entry.depends() && (blockers == 0 || gates != 0);
        Known {
            blockers,
            gates,
            eligible: bit(eligible),
            free: bit(blockers == 0 && choices.0 == choices.1),
            closing: bit(closing),
            movable: bit(movable),
            special: bit(gates != 0 || choices.0 != choices.1),
            choices,
            use_as: if passes { Use::Passes } else { Use::Stays },
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

    /// What the channels of a state, which tells this, add to the threads in the way of a step; and the thread's bit, if they let it
    /// move.
    #[inline(always)]
    pub(crate) fn choose(&self, known: &Known, key: &[u64], state: &[u64]) -> (u64, u64) {
        let (mut blockers, mut moves) = (0, 0);
        for choice in &self.choices[known.choices.0 as usize..known.choices.1 as usize] {
            match choice.blocked.is_so(key, state) {
                true => blockers |= choice.blockers,
                false => moves |= choice.moves,
            }
        }
        (blockers, moves)
    }
}
