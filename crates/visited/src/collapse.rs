//! The collapse store: components of states are kept once and referred to by number.
//!
//! After section 4 of Robby, Dwyer, Hatcliff and Iosif, "Space-Reduction Strategies for Model Checking Dynamic Software": pools
//! for the values of objects, for the stores of threads, for threads (where each stands, and the number of its store), for heaps
//! (the numbers of its objects) and lists of threads, and for globals; a state is the triple of the last three numbers. The
//! symmetry order has numbered objects and threads before the store sees a state, so that references are small numbers that
//! recur, as there.
//!
//! Deviations: types of objects and the functions of frames are part of the globals' vector, as the number of the state's shape,
//! which also says where the parts lie. A number takes as many bytes as it needs (seven bits each). The triple is kept as two
//! pairs, of globals with heap and of that with the threads, since a step often changes only one of them.
//!
//! Exact: equal triples have equal globals, hence the same list of parts; numbers in a vector end themselves, and the lengths
//! of all other bytes in it are given by the list; so each vector says which vectors it was made of, down to the bytes.

use std::fmt;

use quotient_seams::{Known, Loaded, Numbering, OUT_OF_MEMORY, PartKind, Parts, Visited};

use crate::interner::Pairs;
use crate::key_set::{KeySet, key_hash};
use crate::pool::Pool;

/// States as numbers of shared components.
pub struct Collapse<P> {
    parts: P,
    globals: Pool,
    objects: Pool,
    stores: Pool,
    threads: Pool,
    heaps: Pool,
    thread_lists: Pool,
    /// Globals with heap.
    pairs: Pairs,
    states: KeySet,
    /// The numbers of the states, by their pairs, if they are asked for: then nothing is in the set above.
    numbers: Pairs,
    len: u32,
    scratch: Scratch,
}

#[derive(Debug, Default)]
struct Scratch {
    bytes: Vec<u8>,
    heap: Vec<u8>,
    thread: Vec<u8>,
    thread_list: Vec<u8>,
}

impl<P> fmt::Debug for Collapse<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collapse").field("states", &self.states.len()).finish_non_exhaustive()
    }
}

/// Appends a number, seven bits to a byte, the last byte below 128.
fn append(to: &mut Vec<u8>, mut number: u32) {
    while number >= 128 {
        to.push(number as u8 | 128);
        number >>= 7;
    }
    to.push(number as u8);
}

impl<P: Parts> Collapse<P> {
    /// An empty store for states of these parts.
    pub fn new(parts: P) -> Collapse<P> {
        Collapse {
            parts,
            globals: Pool::default(),
            objects: Pool::default(),
            stores: Pool::default(),
            threads: Pool::default(),
            heaps: Pool::default(),
            thread_lists: Pool::default(),
            pairs: Pairs::default(),
            states: KeySet::default(),
            numbers: Pairs::default(),
            len: 0,
            scratch: Scratch::default(),
        }
    }

    /// The pair of numbers that is the state.
    fn collapse(&mut self, state: &[u64]) -> u64 {
        let Scratch { bytes, heap, thread, thread_list } = &mut self.scratch;
        bytes.clear();
        bytes.extend(state.iter().flat_map(|word| word.to_le_bytes()));
        heap.clear();
        thread.clear();
        thread_list.clear();
        let mut globals = 0;
        let mut open = false;
        let parts = self.parts.parts(state);
        for (index, part) in parts.iter().enumerate() {
            let end = parts.get(index + 1).map_or(bytes.len(), |next| next.start as usize);
            let here = &bytes[(part.start as usize).min(end)..end];
            match part.kind {
                PartKind::Globals => globals = self.globals.number(here).0,
                PartKind::Object => append(heap, self.objects.number(here).0),
                PartKind::Thread => {
                    if open {
                        append(thread_list, self.threads.number(thread).0);
                        thread.clear();
                    }
                    open = true;
                    thread.extend_from_slice(here);
                }
                PartKind::Control => thread.extend_from_slice(here),
                PartKind::Store => append(thread, self.stores.number(here).0),
            }
        }
        if open {
            append(thread_list, self.threads.number(thread).0);
        }
        let heap = self.heaps.number(heap).0;
        let threads = self.thread_lists.number(thread_list).0;
        u64::from(self.pairs.intern([globals, heap])) << 32 | u64::from(threads)
    }

    fn pools(&self) -> [&Pool; 6] {
        [&self.globals, &self.objects, &self.stores, &self.threads, &self.heaps, &self.thread_lists]
    }
}

impl<P: Parts> Numbering for Collapse<P> {
    fn number(&mut self, key: u64, _state: &[u64]) -> u32 {
        // A key says which pair it is of: hashing it is one to one.
        let number = self.numbers.intern([(key >> 32) as u32, key as u32]);
        if number == u32::MAX && self.numbers.is_full() {
            return 0;
        }
        self.len = self.len.max(number);
        number - 1
    }
}

impl<P: Parts> Visited for Collapse<P> {
    fn hint_len(&self, _words: usize) -> usize {
        0
    }

    fn load(&mut self, state: &[u64], _parent: Option<Known<'_>>, _hint: &mut [u32]) -> Loaded {
        let key = key_hash(self.collapse(state));
        self.states.prefetch::<false>(key);
        [key, 0]
    }

    fn prepare(&mut self, _state: &[u64], [key, _]: Loaded, _hint: &mut [u32]) -> u64 {
        key
    }

    fn insert(&mut self, key: u64, _state: &[u64]) -> bool {
        self.states.insert(key)
    }

    fn contains(&self, key: u64, _state: &[u64]) -> bool {
        self.states.contains(key)
    }

    fn len(&self) -> u64 {
        self.states.len() + u64::from(self.len)
    }

    fn bytes(&self) -> u64 {
        let pools: u64 = self.pools().iter().map(|pool| pool.bytes()).sum();
        // A table takes room from the start: only the one that is used counts.
        let states = if self.len > 0 { self.numbers.bytes() } else { self.states.bytes() };
        pools + self.pairs.bytes() + states
    }

    fn exhausted(&self) -> Option<&'static str> {
        let pairs = [&self.pairs, &self.numbers];
        if pairs.iter().any(|p| p.is_refused())
            || self.states.is_refused()
            || self.pools().iter().any(|p| p.is_refused())
        {
            return Some(OUT_OF_MEMORY);
        }
        let full = pairs.iter().any(|p| p.is_full()) || self.pools().iter().any(|pool| pool.is_full());
        full.then_some("no numbers left for components of states (2^32)")
    }

    fn name(&self) -> &'static str {
        "collapse"
    }
}
