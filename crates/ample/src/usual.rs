//! The usual case of looking for ample sets: the state has the shape of the one before, every thread's table depends on nothing
//! but who it is, nobody's future has changed, and what is known does not depend on what channels hold. Then the proposals
//! are read off the threads' locations, from one word for each.

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
}

/// A thread of the shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsualThread {
    /// The byte of the state that is its location.
    pub(crate) at: u32,
    /// The entry of its first location.
    pub(crate) first: u32,
}

/// Flags of the word for an entry; below them, the threads in the way of the next step.
const UNKNOWN: u64 = 1 << 63;
const INELIGIBLE: u64 = 1 << 62;
const CLOSES: u64 = 1 << 61;
const DEPENDS: u64 = 1 << 60;
const THREADS: u64 = DEPENDS - 1;

/// The threads of the shape met last.
#[derive(Debug, Default)]
pub(crate) struct Usual {
    shape: Option<u32>,
    threads: Vec<UsualThread>,
    /// The version of the futures that the words are about, and the one met last.
    version: u64,
    last_version: u64,
    /// What is known of each entry.
    words: Vec<u64>,
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
    /// One may.
    Passes {
        thread: usize,
        /// Its next step may close a cycle of the control flow.
        closes: bool,
    },
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
            self.words.clear();
            self.version = version;
        }
        self.last_version = version;
    }

    /// Remembers what is known of the entry that a thread is at, if it is of the version that words are kept of.
    #[inline]
    pub(crate) fn note(&mut self, thread: usize, entry: usize, known: Known) {
        if known.version == self.version && self.shape.is_some() {
            if self.words.len() <= entry {
                self.words.resize(entry + 1, UNKNOWN);
            }
            let flag = |is: bool, bit| if is { bit } else { 0 };
            self.words[entry] = known.in_the_way & THREADS & !(1 << thread)
                | flag(!known.eligible, INELIGIBLE)
                | flag(known.closes, CLOSES)
                | flag(known.depends, DEPENDS);
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

    /// The word for the entry that a thread is at.
    #[inline(always)]
    fn word(&self, usually: UsualThread, state: &[u64]) -> u64 {
        // SAFETY: the bytes of the words.
        let bytes = unsafe { std::slice::from_raw_parts(state.as_ptr().cast::<u8>(), size_of_val(state)) };
        let location = bytes.get(usually.at as usize).copied().unwrap_or(0);
        self.words.get(usually.first as usize + usize::from(location)).copied().unwrap_or(UNKNOWN)
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
        let (mut any, mut ineligible, mut closing, mut free, mut bit) = (0, 0, 0, 0, 1u64);
        for (usually, blockers) in self.threads.iter().zip(in_the_way) {
            let word = self.word(*usually, state);
            any |= word;
            *blockers = word & THREADS;
            free |= if word & THREADS == 0 { bit } else { 0 };
            ineligible |= if word & INELIGIBLE != 0 { bit } else { 0 };
            closing |= if word & CLOSES != 0 { bit } else { 0 };
            bit <<= 1;
        }
        let eligible = bit.wrapping_sub(1) & !ineligible;
        (any & (UNKNOWN | DEPENDS) == 0).then_some(Looks { movable: u64::MAX, eligible, free, closing })
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
        let word = self.words.get(entry).copied().unwrap_or(UNKNOWN);
        if word & UNKNOWN != 0 {
            return Step::Unusual;
        }
        if word & (INELIGIBLE | DEPENDS | THREADS) != 0 {
            return Step::Ends;
        }
        Step::Passes { thread, closes: word & CLOSES != 0 }
    }
}
