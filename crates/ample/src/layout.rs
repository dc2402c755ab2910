//! Where a state tells all that its ample sets depend on.
//!
//! What is proposed for a state depends on where its threads stand, which roles they have ([`crate::tables`]), which channels are empty
//! or full as far as somebody may wait for that, and which gates are closed; and on nothing else. All states of one shape whose
//! threads have the same keys have the same [`Layout`]: these things lie in the same words of the state, and the threads have the
//! same roles. So a few masked words make a key under which the proposals are remembered.

use std::ops::Range;

use quotient_machine::Machine;
use quotient_seams::Proposals;

use crate::combination::{Combination, Terms, Use};
use crate::futures::MOST_THREADS;
use crate::memo::{self, Memo};
use crate::objects::Wait;
use crate::tables::{Role, Tables};

/// A word of the state that tells something.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// Its number.
    number: u32,
    /// Which bits are locations, and which of them are those of [`Layout::movers`].
    locations: u64,
    movers: u64,
    /// Which bits are keys, and what they must be.
    keys: u64,
    values: u64,
    /// Which bits are lengths of channels, a byte each; and what to add to each so that its highest bit tells that there is a message,
    /// or no room.
    lengths: u64,
    message: u64,
    no_room: u64,
}

const HIGHEST: u64 = 0x8080_8080_8080_8080;

/// The longest channel whose length a byte of a key can tell.
const LONGEST: u32 = 127;

/// Where a small number lies in a state: its first byte, the lowest, and how many it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    at: u32,
    size: u32,
}

impl Number {
    fn new(bytes: &Range<u32>) -> Number {
        Number { at: bytes.start, size: bytes.end - bytes.start }
    }

    /// The number.
    #[inline(always)]
    pub(crate) fn read(self, state: &[u64]) -> u32 {
        match self.size {
            1 => u32::from(byte(state, self.at)),
            size => (0..size).fold(0, |sum, i| sum | u32::from(byte(state, self.at + i)) << (8 * i)),
        }
    }
}

/// A byte of a state.
#[inline(always)]
fn byte(state: &[u64], at: u32) -> u8 {
    // SAFETY: the bytes of the words.
    let bytes = unsafe { std::slice::from_raw_parts(state.as_ptr().cast::<u8>(), size_of_val(state)) };
    bytes.get(at as usize).copied().unwrap_or(0)
}

/// What a thread may wait for at a location: as [`Wait`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaidWait {
    pub(crate) blocked: Blocked,
    pub(crate) operation: bool,
    pub(crate) other_end: u32,
}

/// When a channel operation is blocked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Blocked {
    /// When this bit of a word of the key is set, or not.
    Told { word: u32, bit: u8, set: bool },
    /// When the channel has so many messages, or fewer.
    Length { length: Number, limit: u32, from_there_on: bool },
    /// A rendezvous is, as far as the channel tells.
    Always,
    /// There is no such channel.
    Never,
}

impl Blocked {
    /// Is it, in a state that tells this?
    #[inline(always)]
    pub(crate) fn is_so(self, key: &[u64], state: &[u64]) -> bool {
        match self {
            Blocked::Told { word, bit, set } => {
                let word = key.get(word as usize).copied().unwrap_or(0);
                (word >> (bit & 63) & 1 == 1) == set
            }
            Blocked::Length { length, limit, from_there_on } => {
                (length.read(state) >= limit) == from_there_on
            }
            Blocked::Always => true,
            Blocked::Never => false,
        }
    }
}

/// A thread of a layout.
#[derive(Clone, Copy, Debug)]
struct LaidThread {
    location: Number,
    /// The place of its first location among all locations of the layout's threads.
    first: u32,
}

/// Whose location a byte is.
#[derive(Clone, Copy, Debug, Default)]
struct Owner {
    thread: u32,
    /// The thread's first place, if the location is one byte.
    first: Option<u32>,
}

/// Bits of a word of the state.
#[derive(Clone, Copy, Debug)]
struct Part {
    number: u32,
    bits: u64,
    /// What they must be, if they are keys.
    values: u64,
}

/// What was found for a state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    pub(crate) proposals: Proposals,
    /// The number of the combination of its futures; [`LATEST`] if it was not kept.
    pub(crate) combination: u32,
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

/// What states of one shape, with the same keys, have in common.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The shape of the states, or more ([`crate::roles`]).
    kind: u32,
    words: Vec<Word>,
    threads: Vec<LaidThread>,
    /// The bits of locations, of those among them whose thread may go on alone somewhere whatever the channels hold, and of keys.
    locations: Vec<Part>,
    movers: Vec<Part>,
    keys: Vec<Part>,
    /// By byte.
    owners: Vec<Owner>,
    /// Of every place (a location of one of the threads): its entry in the tables, the future of a thread there, and where what may be
    /// waited for there begins among the waits.
    entries: Vec<u32>,
    futures: Vec<u32>,
    /// Of every place: may the step from there close a cycle of the control flow, or one from a place that representatives have for it?
    closing: Vec<bool>,
    first_waits: Vec<u32>,
    waits: Vec<LaidWait>,
    /// There may be proposals.
    pub(crate) has_proposals: bool,
    /// A state tells everything.
    tells_all: bool,
    pub(crate) terms: Terms,
    /// Gates that make a difference.
    pub(crate) watched: u64,
    /// What the state read last tells.
    pub(crate) key: Vec<u64>,
    memo: Memo<Found>,
    /// The first is that of the state looked at last, if there is no other with its futures.
    pub(crate) combinations: Vec<Combination>,
    /// The numbers of combinations; none of those that were met only once.
    numbers: Memo<Option<u32>>,
    futures_key: Vec<u64>,
}

/// Combinations of futures that are kept, and the bytes that those of all layouts may take, more or less.
const MOST_COMBINATIONS: usize = 256;
const COMBINATION_BYTES: usize = 16 << 20;

/// What so many layouts may remember each.
fn most_remembered(layouts: usize) -> usize {
    (4 * memo::MOST / layouts.max(1)).min(memo::MOST)
}

/// The combination of the state looked at last, if it has not been kept.
pub(crate) const LATEST: u32 = 0;

impl Layout {
    /// The layout of a state.
    #[cold]
    pub(crate) fn new(
        machine: &Machine,
        tables: &mut Tables,
        (kind, state): (u32, &[u64]),
        closing: &[Vec<bool>],
        terms: impl FnOnce(&Tables) -> Terms,
    ) -> Layout {
        let mut layout = Layout {
            kind,
            words: (0..state.len() as u32).map(|number| Word { number, ..Word::default() }).collect(),
            threads: Vec::new(),
            locations: Vec::new(),
            movers: Vec::new(),
            keys: Vec::new(),
            owners: vec![Owner::default(); 8 * state.len()],
            entries: Vec::new(),
            futures: Vec::new(),
            closing: Vec::new(),
            first_waits: Vec::new(),
            waits: Vec::new(),
            has_proposals: false,
            tells_all: true,
            terms: Terms::default(),
            watched: 0,
            key: Vec::new(),
            memo: Memo::default(),
            combinations: Vec::new(),
            numbers: Memo::default(),
            futures_key: Vec::new(),
        };
        layout.add_keys(state, tables.exchanged_bytes());
        for at in machine.threads_at(state) {
            let keys = tables.key(at).iter().flat_map(|key| machine.local_bytes(at, *key));
            layout.add_keys(state, keys);
        }
        let threads = machine.thread_total(state);
        let arrangement = tables.arrange(machine, state).filter(|_| (2..=MOST_THREADS).contains(&threads));
        if let Some(arrangement) = arrangement {
            layout.has_proposals = true;
            layout.terms = Terms { youngest: threads - 1, ..terms(tables) };
            for (thread, at) in machine.threads_at(state).enumerate() {
                let role = tables.role(machine, state, arrangement, thread, at);
                layout.add_thread(machine.location_bytes(at));
                if layout.add_role(machine, tables, state, role, &closing[thread]) {
                    for byte in machine.location_bytes(at) {
                        layout.words[byte as usize / 8].movers |= bits(byte);
                    }
                }
            }
            layout.first_waits.push(layout.waits.len() as u32);
        }
        layout.words.retain(|w| w.locations | w.keys | w.lengths != 0);
        for Word { number, locations, movers, keys, values, .. } in layout.words.iter().copied() {
            let parts = [&mut layout.locations, &mut layout.movers, &mut layout.keys];
            for (list, (bits, values)) in parts.into_iter().zip([(locations, 0), (movers, 0), (keys, values)])
            {
                if bits != 0 {
                    list.push(Part { number, bits, values });
                }
            }
        }
        layout.number_words();
        layout.combinations.push(Combination::new(layout.threads.len(), layout.entries.len()));
        layout.key = vec![0; layout.words.len() + 1];
        layout
    }

    fn add_keys(&mut self, state: &[u64], bytes: impl IntoIterator<Item = u32>) {
        for byte in bytes {
            let word = &mut self.words[byte as usize / 8];
            word.keys |= bits(byte);
            word.values |= state[byte as usize / 8] & bits(byte);
        }
    }

    fn add_thread(&mut self, location: Range<u32>) {
        let (thread, first) = (self.threads.len() as u32, self.entries.len() as u32);
        self.threads.push(LaidThread { location: Number::new(&location), first });
        let first = (location.len() == 1).then_some(first);
        for byte in location {
            self.words[byte as usize / 8].locations |= bits(byte);
            self.owners[byte as usize] = Owner { thread, first };
        }
    }

    /// Adds the places of a role. Is there one from which a thread may go on alone whatever the channels hold?
    fn add_role(
        &mut self,
        machine: &Machine,
        tables: &Tables,
        state: &[u64],
        role: Role,
        closing: &[bool],
    ) -> bool {
        let mut moves = false;
        self.terms.gates |= role.gates;
        for (number, closing) in (role.first..role.first + role.locations).zip(closing) {
            let entry = &tables.entries[number as usize];
            self.entries.push(number);
            self.futures.push(entry.future);
            self.closing.push(*closing);
            self.first_waits.push(self.waits.len() as u32);
            for wait in &tables.waits[entry.waits.0 as usize..entry.waits.1 as usize] {
                self.add_wait(machine, state, wait);
            }
            moves |= self.terms.permit(entry, *closing) && !entry.depends();
        }
        moves
    }

    fn add_wait(&mut self, machine: &Machine, state: &[u64], wait: &Wait) {
        let Wait { channel, needs_room, operation, other_end } = *wait;
        // A channel that does not exist here exists in no state of the shape.
        let capacity = machine.fill(state, channel).map_or(0, |fill| fill.capacity);
        let limit = if needs_room { capacity } else { 1 };
        let blocked = match machine.length_bytes(state, channel).as_ref().map(Number::new) {
            None => Blocked::Never,
            Some(_) if capacity == 0 => Blocked::Always,
            Some(Number { at, size: 1 }) if capacity <= LONGEST => {
                let word = &mut self.words[at as usize / 8];
                word.lengths |= bits(at);
                let told = if needs_room { &mut word.no_room } else { &mut word.message };
                let (first, last) = (8 * (at % 8), 8 * (at % 8) + 7);
                *told |= u64::from(LONGEST + 1 - limit) << first;
                Blocked::Told {
                    word: word.number,
                    bit: (last - u32::from(needs_room)) as u8,
                    set: needs_room,
                }
            }
            Some(length) => {
                self.tells_all = false;
                Blocked::Length { length, limit, from_there_on: needs_room }
            }
        };
        self.waits.push(LaidWait { blocked, operation, other_end });
    }

    /// The words that are told are fewer than those of the state.
    fn number_words(&mut self) {
        for wait in &mut self.waits {
            if let Blocked::Told { word, .. } = &mut wait.blocked {
                *word = self.words.iter().position(|w| w.number == *word).unwrap_or(0) as u32;
            }
        }
    }

    /// Is this the layout of a state? Takes down what the state tells.
    #[inline(always)]
    pub(crate) fn reads(&mut self, kind: u32, state: &[u64]) -> bool {
        if self.kind != kind {
            return false;
        }
        let mut other = 0;
        for (word, slot) in self.words.iter().zip(&mut self.key) {
            let bits = state.get(word.number as usize).copied().unwrap_or(0);
            other |= bits & word.keys ^ word.values;
            let lengths = bits & word.lengths;
            let message = (lengths + word.message) & HIGHEST;
            let no_room = (lengths + word.no_room) & HIGHEST;
            *slot = bits & word.locations | message | no_room >> 1;
        }
        other == 0
    }

    /// What was found for a state that tells what the last one read told, with these gates closed.
    #[inline(always)]
    pub(crate) fn remembered(&mut self, closed: u64) -> Option<Found> {
        if let Some(last) = self.key.last_mut() {
            *last = closed;
        }
        self.memo.find(&self.key).copied()
    }

    /// Remembers what was found for the state that was asked for last; there are so many layouts.
    #[cold]
    pub(crate) fn remember(&mut self, found: Found, layouts: usize) {
        if self.tells_all {
            self.memo.keep(&self.key, found, most_remembered(layouts));
        }
    }

    /// The place of a thread.
    #[inline(always)]
    pub(crate) fn place(&self, thread: usize, state: &[u64]) -> usize {
        let LaidThread { location, first } = self.threads[thread];
        (first + location.read(state)) as usize
    }

    /// The entry of a place in the tables.
    #[inline(always)]
    pub(crate) fn entry(&self, place: usize) -> usize {
        self.entries[place] as usize
    }

    /// Does the location of one of the movers differ?
    #[inline(always)]
    fn has_mover(&self, from: &[u64], to: &[u64]) -> bool {
        let changed = |m: &Part| match (from.get(m.number as usize), to.get(m.number as usize)) {
            (Some(from), Some(to)) => (from ^ to) & m.bits,
            _ => 0,
        };
        self.movers.iter().fold(0, |all, mover| all | changed(mover)) != 0
    }

    /// There are threads that may go on alone somewhere, whatever the channels hold.
    #[inline(always)]
    pub(crate) fn may_pass(&self) -> bool {
        !self.movers.is_empty()
    }

    /// The one thread whose place differs between two states of the shape, and its place in the second; none if it is known to stay there.
    #[inline(always)]
    pub(crate) fn moved(&self, from: &[u64], to: &[u64]) -> Option<(usize, usize)> {
        if self.movers.len() < self.locations.len() && !self.has_mover(from, to) {
            return None;
        }
        let (mut words, mut last, mut changed) = (0, 0, 0);
        for Part { number, bits, .. } in &self.locations {
            let number = *number as usize;
            let here = (from.get(number)? ^ to.get(number)?) & bits;
            if here != 0 {
                words += 1;
                (last, changed) = (number, here);
            }
        }
        let first = changed.trailing_zeros() & !7;
        if words == 1
            && changed >> first <= 0xFF
            && let Owner { thread, first: Some(place) } = self.owners[8 * last + first as usize / 8]
        {
            return Some((thread as usize, place as usize + usize::from((to[last] >> first) as u8)));
        }
        if words == 0 { None } else { self.moved_among_several(from, to) }
    }

    /// As [`Layout::moved`], where several bytes have changed.
    #[cold]
    #[inline(never)]
    fn moved_among_several(&self, from: &[u64], to: &[u64]) -> Option<(usize, usize)> {
        let mut moved = (0..self.threads.len()).filter(|t| self.place(*t, from) != self.place(*t, to));
        match (moved.next(), moved.next()) {
            (Some(thread), None) => Some((thread, self.place(thread, to))),
            _ => None,
        }
    }

    /// What tells the layout of a state of this shape from others.
    pub(crate) fn identity(&self, state: &[u64]) -> Vec<u64> {
        let word = |key: &Part| state.get(key.number as usize).map_or(0, |word| word & key.bits);
        std::iter::once(u64::from(self.kind)).chain(self.keys.iter().map(word)).collect()
    }

    /// There are keys.
    #[inline(always)]
    pub(crate) fn keyed(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Do the threads of a state of the shape have the keys of this layout?
    #[inline]
    pub(crate) fn has_keys(&self, state: &[u64]) -> bool {
        let has = |key: &Part| state.get(key.number as usize).is_some_and(|w| w & key.bits == key.values);
        self.keys.iter().all(has)
    }

    /// Finds out about a thread at a place, with a combination of futures, if that has not been done.
    #[inline(always)]
    pub(crate) fn learn(&mut self, tables: &Tables, combination: u32, thread: usize, place: usize) {
        let combination = &mut self.combinations[combination as usize];
        if combination.at(place).use_as == Use::Unknown {
            let entry = &tables.entries[self.entries[place] as usize];
            let waits = self.first_waits[place] as usize..self.first_waits[place + 1] as usize;
            let entry = (entry, self.closing[place]);
            combination.learn(tables, self.terms, (thread, place), entry, &self.waits[waits]);
        }
    }

    /// Adds up what is known of the threads of a state, as it was with this combination of futures; `None` if it is another one,
    /// or not everything is known.
    #[inline(always)]
    pub(crate) fn look(&self, state: &[u64], combination: u32, in_the_way: &mut [u64]) -> Option<Looks> {
        let combination = self.combinations.get(combination as usize)?;
        let mut looks = Looks::default();
        let mut uses = 0;
        for (thread, blockers) in self.threads.iter().zip(in_the_way) {
            let place = thread.first + thread.location.read(state);
            let known = combination.at(place as usize);
            uses |= known.use_as as u8;
            *blockers = known.blockers;
            looks.eligible |= known.eligible;
            looks.free |= known.free;
            looks.closing |= known.closing;
            looks.movable |= known.movable;
            looks.special |= known.special;
        }
        Use::holds(uses).then_some(looks)
    }

    /// The number of the combination of a state's futures, with which everything is known about it. There are so many layouts.
    #[inline(never)]
    pub(crate) fn combination(&mut self, tables: &Tables, state: &[u64], layouts: usize) -> u32 {
        let number = self.find_combination(tables, state, layouts);
        for thread in 0..self.threads.len() {
            self.learn(tables, number, thread, self.place(thread, state));
        }
        number
    }

    fn find_combination(&mut self, tables: &Tables, state: &[u64], layouts: usize) -> u32 {
        let future =
            |thread: &LaidThread| self.futures[(thread.first + thread.location.read(state)) as usize];
        self.futures_key.clear();
        for threads in self.threads.chunks(2) {
            let key = threads.iter().fold(0, |key, thread| key << 32 | u64::from(future(thread)));
            self.futures_key.push(key);
        }
        let met = self.numbers.find(&self.futures_key).copied();
        if let Some(Some(number)) = met {
            return number;
        }
        let [latest, ..] = &mut self.combinations[..] else { return LATEST };
        latest.take_on(tables, self.threads.iter().map(future));
        // What is met for the second time will be met again.
        let most = COMBINATION_BYTES / Combination::bytes(self.entries.len()) / layouts.max(1);
        let number = (met.is_some() && self.combinations.len() < most.min(MOST_COMBINATIONS)).then(|| {
            self.combinations.push(self.combinations[LATEST as usize].clone());
            self.combinations.len() as u32 - 1
        });
        self.numbers.keep(&self.futures_key, number, most_remembered(layouts));
        number.unwrap_or(LATEST)
    }
}

/// The bits of a byte within its word.
fn bits(byte: u32) -> u64 {
    0xFF << (8 * (byte % 8))
}
