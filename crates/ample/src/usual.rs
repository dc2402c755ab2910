//! The usual case of looking for ample sets: the state has the shape of the one before, every thread has the role it had there, and
//! nobody's future has changed. Then the proposals are read off the threads' locations, from a few words for each; only those
//! that wait for channels, or that gates may keep others away from, need a closer look.

use std::ops::Range;

use quotient_machine::{Fill, Machine};

use crate::objects::Wait;

/// A byte of a state.
#[inline(always)]
fn byte(state: &[u64], at: u32) -> u8 {
    // SAFETY: the bytes of the words.
    let bytes = unsafe { std::slice::from_raw_parts(state.as_ptr().cast::<u8>(), size_of_val(state)) };
    bytes.get(at as usize).copied().unwrap_or(0)
}

/// What is known of an entry of the tables, whatever the channels hold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// The version of the futures it was found with; 0 before that.
    pub(crate) version: u64,
    /// Threads that can get in the way of the next step.
    pub(crate) in_the_way: u64,
    /// May be in an ample set.
    pub(crate) eligible: bool,
    /// The next step may close a cycle of the control flow.
    pub(crate) closes: bool,
    /// What a look at the state must add: channels, or whether the thread is the youngest.
    pub(crate) depends: bool,
    /// Threads that get in the way by more than touching what these gates are about ([`crate::gates`]).
    pub(crate) in_spite_of_gates: u64,
    pub(crate) gates: u64,
}

impl Known {
    /// Gates that may keep everybody out of the way of a thread's next step.
    #[inline]
    pub(crate) fn gates_for(&self, thread: usize) -> u64 {
        if self.depends || self.in_spite_of_gates & !(1 << thread) != 0 { 0 } else { self.gates }
    }
}

/// What a look at a state's threads found, one bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Looks {
    /// May be able to move.
    pub(crate) movable: u64,
    /// May be in an ample set.
    pub(crate) eligible: u64,
    /// Nobody gets in the way of the next step.
    pub(crate) free: u64,
    /// The next step may close a cycle of the control flow.
    pub(crate) closing: u64,
    /// To be looked at more closely: whether they are movable and free depends on channels or gates.
    pub(crate) special: u64,
}

/// A thread of the shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UsualThread {
    /// The byte of the state that is its location.
    pub(crate) at: u32,
    /// The entry of its first location.
    pub(crate) first: u32,
}

/// What is known of an entry, made for reading off: an entry belongs to one thread, whose bit the masks hold or not.
#[derive(Clone, Copy, Debug)]
struct AtEntry {
    /// The threads in the way of the next step, and flags.
    blockers: u64,
    /// Nobody gets in its way.
    free: u64,
    /// It may be in an ample set.
    eligible: u64,
    /// It may close a cycle of the control flow.
    closing: u64,
    /// It depends on channels, or gates.
    special: u64,
}

/// Flags beside the threads in the way: nothing is known, or it depends on channels, or gates may keep them out of the way.
const UNKNOWN: u64 = 1 << 63;
const DEPENDS: u64 = 1 << 62;
const GATES: u64 = 1 << 61;
const THREADS: u64 = GATES - 1;

const NOTHING: AtEntry = AtEntry { blockers: UNKNOWN, free: 0, eligible: 0, closing: 0, special: 0 };

/// The threads of the shape met last.
#[derive(Debug, Default)]
pub(crate) struct Usual {
    shape: Option<u32>,
    threads: Vec<UsualThread>,
    /// The version of the futures that the entries are about, and the one met last.
    version: u64,
    last_version: u64,
    /// What is known of each entry.
    entries: Vec<AtEntry>,
    /// The gates of each entry, if it is flagged.
    gates: Vec<u64>,
    /// The words of a state that hold locations or keys, and whose locations, byte by byte.
    words: Vec<Word>,
    owners: Vec<u8>,
    /// There are keys.
    keys: bool,
    /// Counts the changes of what [`Usual::key`] is about.
    pub(crate) generation: u64,
    /// How full the channels are that the waits of the tables are about: where it is written, and how full they can be.
    fills: Vec<Option<(u32, u32)>>,
    /// The same, each once: where it is written, and from which length on it is written there that an operation is blocked, or no longer is.
    limits: Vec<(u32, u32)>,
    /// All waits are among them.
    limited: bool,
    /// The threads of the shape being looked at.
    scratch: Vec<UsualThread>,
}

/// What is known of a word of a state.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// Its number.
    number: u32,
    /// Which bits are locations.
    locations: u64,
    /// Which bits are keys, and what they are.
    keys: u64,
    values: u64,
}

/// What became of the threads' locations in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// This is not the usual case.
    Unusual,
    /// No thread that moved may go alone now, or none whatever the channels hold.
    Ends,
    /// As [`Step::Passes`], if gates keep everybody out of the way.
    Gates { thread: u64, closing: u64 },
    /// One may, a bit; it is also among the second if its next step may close a cycle of the control flow.
    Passes { thread: u64, closing: u64 },
}

impl Usual {
    /// Remembers the threads of a state, which have the futures of this version; with `None` for one of them there is nothing usual
    /// about it. `keys`: the bytes that make up their keys.
    pub(crate) fn remember(
        &mut self,
        (shape, state): (u32, &[u64]),
        version: u64,
        threads: impl Iterator<Item = Option<UsualThread>>,
        keys: impl Iterator<Item = Range<u32>>,
    ) {
        let mut usual = true;
        self.scratch.clear();
        self.scratch.extend(threads.map_while(|thread| {
            usual &= thread.is_some();
            thread
        }));
        usual &= self.scratch.len() <= THREADS.count_ones() as usize;
        if !usual {
            self.shape = None;
        } else if self.shape != Some(shape) || self.threads != self.scratch {
            self.shape = Some(shape);
            std::mem::swap(&mut self.threads, &mut self.scratch);
            self.lay_out(state, keys);
        }
        // What is met for the second time will be met again.
        if version != self.version && version == self.last_version {
            self.entries.clear();
            self.version = version;
            self.generation += 1;
        }
        self.last_version = version;
    }

    /// Is this the shape?
    pub(crate) fn is_about(&self, shape: u32) -> bool {
        self.shape == Some(shape)
    }

    /// Remembers what is known of the entry that a thread is at, if it is of the version that is kept.
    #[inline]
    pub(crate) fn note(&mut self, thread: usize, entry: usize, known: Known) {
        if known.version == self.version && self.shape.is_some() {
            if self.entries.len() <= entry {
                self.entries.resize(entry + 1, NOTHING);
                self.gates.resize(entry + 1, 0);
            }
            let bit = |is: bool| u64::from(is) << thread;
            let blockers = known.in_the_way & THREADS & !bit(true);
            let gates = if blockers == 0 { 0 } else { known.gates_for(thread) };
            self.gates[entry] = gates;
            self.entries[entry] = AtEntry {
                blockers: blockers
                    | if known.depends { DEPENDS } else { 0 }
                    | if gates != 0 { GATES } else { 0 },
                free: bit(blockers == 0 && !known.depends),
                eligible: bit(known.eligible),
                closing: bit(known.closes),
                special: bit(known.depends || gates != 0),
            };
        }
    }

    /// Finds where the locations and keys lie in states of the shape.
    #[cold]
    fn lay_out(&mut self, state: &[u64], keys: impl Iterator<Item = Range<u32>>) {
        self.generation += 1;
        self.words.clear();
        self.owners.clear();
        self.fills.clear();
        self.owners.resize(8 * state.len(), 0);
        self.limits.clear();
        self.limited = true;
        self.keys = false;
        let mut all: Vec<Word> =
            (0..state.len() as u32).map(|number| Word { number, ..Word::default() }).collect();
        let bits = |byte: u32| 0xFF << (8 * (byte % 8));
        for (thread, usually) in self.threads.iter().enumerate() {
            all[usually.at as usize / 8].locations |= bits(usually.at);
            self.owners[usually.at as usize] = thread as u8;
        }
        for byte in keys.flatten() {
            let word = &mut all[byte as usize / 8];
            word.keys |= bits(byte);
            word.values |= state[byte as usize / 8] & bits(byte);
            self.keys = true;
        }
        self.words.extend(all.iter().filter(|word| word.locations | word.keys != 0));
    }

    /// Remembers where it is written how full the channels are that the waits are about.
    #[inline]
    pub(crate) fn note_waits(&mut self, machine: &Machine, state: &[u64], waits: &[Wait]) {
        for wait in waits.iter().skip(self.fills.len()) {
            let fill = machine.length_byte(state, wait.channel);
            self.fills.push(fill);
            match fill {
                Some((at, capacity)) => {
                    let limit = (at, if wait.needs_room { capacity } else { 1 });
                    if !self.limits.contains(&limit) {
                        self.limits.push(limit);
                    }
                }
                None => self.limited = false,
            }
            self.generation += 1;
        }
    }

    /// Is there a [`Usual::key`], and does somebody wait for channels?
    pub(crate) fn has_key(&self, gates: usize) -> bool {
        let bits = self.limits.len() + gates;
        self.shape.is_some() && self.limited && !self.limits.is_empty() && bits <= 64
    }

    /// All that the proposals for a state depend on, in the usual case: where the threads stand, which channels are empty or full, as
    /// far as somebody may wait for that, and which gates are closed. `false` when it is not the usual case.
    #[inline]
    pub(crate) fn key(
        &self,
        shape: u32,
        state: &[u64],
        version: u64,
        closed: impl FnOnce() -> u64,
        key: &mut Vec<u64>,
    ) -> bool {
        if self.shape != Some(shape) || self.version != version || !self.has_keys(state) {
            return false;
        }
        key.clear();
        for threads in self.threads.chunks(8) {
            key.push(threads.iter().fold(0, |word, thread| word << 8 | u64::from(byte(state, thread.at))));
        }
        let mut bits = closed();
        for (at, limit) in &self.limits {
            bits = bits << 1 | u64::from(u32::from(byte(state, *at)) >= *limit);
        }
        key.push(bits);
        true
    }

    /// Do the threads have the keys that are known?
    #[inline(always)]
    fn has_keys(&self, state: &[u64]) -> bool {
        !self.keys
            || self.words.iter().all(|word| {
                state.get(word.number as usize).is_some_and(|bits| bits & word.keys == word.values)
            })
    }

    /// How full the channel of the wait with this number is in a state of the shape.
    #[inline(always)]
    pub(crate) fn fill(&self, machine: &Machine, state: &[u64], wait: usize, channel: i32) -> Option<Fill> {
        match self.fills.get(wait) {
            Some(Some((at, capacity))) => {
                Some(Fill { length: u32::from(byte(state, *at)), capacity: *capacity })
            }
            _ => machine.fill(state, channel),
        }
    }

    /// The entry that a thread is at.
    #[inline(always)]
    fn entry(usually: UsualThread, state: &[u64]) -> usize {
        usually.first as usize + usize::from(byte(state, usually.at))
    }

    /// The entry that a thread of a state of the shape is at.
    #[inline]
    pub(crate) fn entry_of(&self, thread: usize, state: &[u64]) -> usize {
        Usual::entry(self.threads[thread], state)
    }

    /// What is known of the entry that a thread is at.
    #[inline(always)]
    fn at(&self, usually: UsualThread, state: &[u64]) -> &AtEntry {
        self.entries.get(Usual::entry(usually, state)).unwrap_or(&NOTHING)
    }

    /// The threads that get in the way of one's next step in a state of the shape, and the gates that may keep them out of it.
    #[inline]
    pub(crate) fn gates_for(&self, thread: usize, state: &[u64]) -> (u64, u64) {
        let entry = self.entry_of(thread, state);
        let blockers = self.entries[entry].blockers;
        if blockers & GATES == 0 { (0, 0) } else { (blockers & THREADS, self.gates[entry]) }
    }

    /// In the usual case: which threads may be in an ample set, which of them nobody gets in the way of, and which may
    /// close a cycle. Who does get in the way goes to `in_the_way`.
    #[inline(always)]
    pub(crate) fn look(
        &self,
        shape: u32,
        state: &[u64],
        version: u64,
        in_the_way: &mut [u64],
    ) -> Option<Looks> {
        if self.shape != Some(shape) || self.version != version {
            return None;
        }
        if !self.has_keys(state) {
            return None;
        }
        let (mut any, mut looks) = (0, Looks { movable: u64::MAX, ..Looks::default() });
        for (usually, blockers) in self.threads.iter().zip(in_the_way) {
            let here = self.at(*usually, state);
            any |= here.blockers;
            *blockers = here.blockers & THREADS;
            looks.free |= here.free;
            looks.eligible |= here.eligible;
            looks.closing |= here.closing;
            looks.special |= here.special;
        }
        (any & UNKNOWN == 0).then_some(looks)
    }

    /// In the usual case, when all futures are those of the version in `from`, and still are: may the one thread whose location has
    /// changed since go alone behind `to`? The states have this shape.
    #[inline(always)]
    pub(crate) fn step(&self, shape: u32, from: &[u64], to: &[u64], version: u64) -> Step {
        if self.shape != Some(shape) || self.version != version {
            return Step::Unusual;
        }
        let mut moved = None;
        for Word { number, locations, keys, values } in &self.words {
            let number = *number as usize;
            let (Some(from), Some(to)) = (from.get(number), to.get(number)) else { return Step::Unusual };
            if to & keys != *values {
                return Step::Unusual;
            }
            let changed = (from ^ to) & locations;
            if changed != 0 {
                let bit = changed.trailing_zeros() & !7;
                if moved.is_some() || changed >> bit > 0xFF {
                    return Step::Unusual;
                }
                moved = Some((8 * number + bit as usize / 8, (to >> bit) as u8));
            }
        }
        let Some((byte, location)) = moved else { return Step::Ends };
        let thread = usize::from(self.owners[byte]);
        let entry = self.threads[thread].first as usize + usize::from(location);
        let here = self.entries.get(entry).unwrap_or(&NOTHING);
        if here.blockers & UNKNOWN != 0 {
            return Step::Unusual;
        }
        let (thread, closing) = (1 << thread, here.closing);
        match here.blockers & (DEPENDS | GATES) {
            _ if here.eligible == 0 => Step::Ends,
            GATES => Step::Gates { thread, closing },
            _ if here.blockers != 0 => Step::Ends,
            _ => Step::Passes { thread, closing },
        }
    }
}
