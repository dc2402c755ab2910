//! The usual case of looking for ample sets: the state has the shape of the one before, every thread's table depends on nothing
//! but who it is, nobody's future has changed, and what is known does not depend on what channels hold. Then the proposals
//! are read off the threads' locations, from a few words for each.

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
    /// Gates may keep everybody out of the way of more of them.
    pub(crate) gates: bool,
}

/// A thread of the shape.
#[derive(Clone, Copy, Debug)]
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
}

/// Flags beside the threads in the way: nothing is known, or it depends on channels, or gates may keep them out of the way.
const UNKNOWN: u64 = 1 << 63;
const DEPENDS: u64 = 1 << 62;
const GATES: u64 = 1 << 61;
const THREADS: u64 = GATES - 1;

const NOTHING: AtEntry = AtEntry { blockers: UNKNOWN, free: 0, eligible: 0, closing: 0 };

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
    /// The shape that the following is about.
    laid_out: Option<u32>,
    /// Which bits of each word of a state are locations, and whose, byte by byte.
    masks: Vec<u64>,
    owners: Vec<u8>,
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
    /// Remembers the threads of a shape, which have the futures of this version; with `None` for one of them that there is nothing
    /// usual about it.
    pub(crate) fn remember(
        &mut self,
        shape: u32,
        version: u64,
        threads: impl Iterator<Item = Option<UsualThread>>,
    ) {
        self.threads.clear();
        self.shape = Some(shape);
        for thread in threads {
            match thread {
                Some(thread) => self.threads.push(thread),
                None => self.shape = None,
            }
        }
        if self.threads.len() > THREADS.count_ones() as usize {
            self.shape = None;
        }
        if self.shape != self.laid_out {
            self.lay_out();
        }
        // What is met for the second time will be met again.
        if version != self.version && version == self.last_version {
            self.entries.clear();
            self.version = version;
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
                free: bit(blockers == 0),
                eligible: bit(known.eligible),
                closing: bit(known.closes),
            };
        }
    }

    /// Finds where the locations lie in states of the shape.
    #[cold]
    fn lay_out(&mut self) {
        self.laid_out = self.shape;
        self.masks.clear();
        self.owners.clear();
        for (thread, usually) in self.threads.iter().enumerate() {
            let (word, byte) = (usually.at as usize / 8, usually.at as usize);
            if self.masks.len() <= word {
                self.masks.resize(word + 1, 0);
                self.owners.resize(8 * word + 8, 0);
            }
            self.masks[word] |= 0xFF << (8 * (byte % 8));
            self.owners[byte] = thread as u8;
        }
    }

    /// The entry that a thread is at.
    #[inline(always)]
    fn entry(usually: UsualThread, state: &[u64]) -> usize {
        // SAFETY: the bytes of the words.
        let bytes = unsafe { std::slice::from_raw_parts(state.as_ptr().cast::<u8>(), size_of_val(state)) };
        let location = bytes.get(usually.at as usize).copied().unwrap_or(0);
        usually.first as usize + usize::from(location)
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
        let (mut any, mut looks) = (0, Looks { movable: u64::MAX, ..Looks::default() });
        for (usually, blockers) in self.threads.iter().zip(in_the_way) {
            let here = self.at(*usually, state);
            any |= here.blockers;
            *blockers = here.blockers & THREADS;
            looks.free |= here.free;
            looks.eligible |= here.eligible;
            looks.closing |= here.closing;
        }
        looks.gates = any & GATES != 0;
        (any & (UNKNOWN | DEPENDS) == 0).then_some(looks)
    }

    /// In the usual case, when all futures are those of the version in `from`, and still are: may the one thread whose location has
    /// changed since go alone behind `to`? The states have this shape.
    #[inline(always)]
    pub(crate) fn step(&self, shape: u32, from: &[u64], to: &[u64], version: u64) -> Step {
        let words = self.masks.len();
        if self.shape != Some(shape) || self.version != version || from.len() < words || to.len() < words {
            return Step::Unusual;
        }
        let (from, to, masks) = (&from[..words], &to[..words], &self.masks[..words]);
        let mut moved = None;
        for word in 0..words {
            let changed = (from[word] ^ to[word]) & masks[word];
            if changed != 0 {
                let bit = changed.trailing_zeros() & !7;
                if moved.is_some() || changed >> bit > 0xFF {
                    return Step::Unusual;
                }
                moved = Some((8 * word + bit as usize / 8, (to[word] >> bit) as u8));
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
