//! The `Visited` seam: seen before?
//!
//! Looking up a state is split in three, so that a search can work on a batch of states and let the
//! memory system fetch what the next call needs: [`Visited::load`] hashes (using what is known of the
//! predecessor, since a step changes little) and starts loading, [`Visited::prepare`] goes on where a second access
//! depends on the first, [`Visited::insert`] decides. [`Visited::insert_batch`] does all that for the successors of a few
//! states at once, which is the fastest way.

use crate::{Group, Looked, Successors};

/// Why a store is exhausted when there is no memory for it.
pub const OUT_OF_MEMORY: &str = "out of memory";

/// A state that is in the store already, with the hint computed for it.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The state.
    pub state: &'a [u64],
    /// Its hint.
    pub hint: &'a [u32],
}

/// What [`Visited::load`] found out about a state.
pub type Loaded = [u64; 2];

/// A set of states.
pub trait Visited {
    /// Size of the hint kept with a state of `words` words while it waits to be expanded. A hint makes
    /// [`Visited::prepare`] of its successors cheap.
    fn hint_len(&self, words: usize) -> usize;

    /// Hashes `state`, cheaply if `parent` differs from it in few words, and starts loading what `prepare` will read. What
    /// it gives is for `prepare`; the hint may be unfinished.
    fn load(&mut self, state: &[u64], parent: Option<Known<'_>>, hint: &mut [u32]) -> Loaded;

    /// Computes the key of `state` and finishes its hint; starts loading what `insert` will read.
    fn prepare(&mut self, state: &[u64], loaded: Loaded, hint: &mut [u32]) -> u64;

    /// Adds the state; `false` when it was there.
    fn insert(&mut self, key: u64, state: &[u64]) -> bool;

    /// Adds the first `count` entries of `successors`, in order. `groups` says which entries are successors of which
    /// state. Afterwards `looked` holds the numbers of the entries that were new, with their hints.
    #[inline]
    fn insert_batch(
        &mut self,
        successors: &Successors,
        count: usize,
        groups: &[Group<'_>],
        looked: &mut Looked,
    ) {
        looked.one_by_one(self, successors, count, groups);
    }

    /// Is it there?
    fn contains(&self, key: u64, state: &[u64]) -> bool;

    /// Number of states.
    fn len(&self) -> u64;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held.
    fn bytes(&self) -> u64;

    /// Why nothing more can be stored, once that is so. A search must look after each batch, since what
    /// was inserted then may have been lost.
    fn exhausted(&self) -> Option<&'static str> {
        None
    }

    /// Whether it knows which states wait in the next level of the search ([`Visited::is_open`]).
    fn tells_open(&self) -> bool {
        false
    }

    /// Does an entry of the batch just inserted wait in the next level, whoever found it?
    fn is_open(&mut self, _looked: &Looked, _entry: usize, _state: &[u64]) -> bool {
        false
    }

    /// For a store that may take a state for another: as a sentence, how much may have been left out. A search with it never shows that
    /// nothing is wrong.
    fn left_out(&self) -> Option<String> {
        None
    }

    /// The name reports use.
    fn name(&self) -> &'static str;
}

/// How a store is shared.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    /// How many threads there are, at most.
    pub workers: usize,
    /// [`Visited::tells_open`].
    pub tells_open: bool,
}

/// A store that several threads can use at once.
pub trait Share: Visited + Sized {
    /// What it is while it is shared.
    type Store: SharedStore;

    /// Makes it one that is shared, with what it holds; leaves an empty one.
    fn share(&mut self, how: Shared) -> Self::Store;

    /// Makes it one that is not shared.
    fn take_back(&mut self, store: Self::Store);
}

/// A store while several threads use it.
pub trait SharedStore: Send + Sync {
    /// One thread's part of it. Of several parts that add the same state, one finds it new.
    type Part<'a>: Visited + Send
    where
        Self: 'a;

    /// A part for another thread.
    fn part(&self) -> Self::Part<'_>;

    /// The search begins its next level: what was added up to now does not wait any longer. No part must be in use.
    fn next_level(&self);
}

/// A store that gives every state a number, for searches that keep something with each state. Whoever asks for numbers asks for
/// nothing else: a state that was only inserted has none.
pub trait Numbering: Visited {
    /// The number of a state: the next one, from 0 on, if it was not there. Key as given by [`Visited::prepare`]. Nothing may be concluded
    /// from numbers once the store is [exhausted](Visited::exhausted).
    fn number(&mut self, key: u64, state: &[u64]) -> u32;

    /// The number of a state, without hints.
    fn number_of(&mut self, state: &[u64]) -> u32 {
        let mut hint = vec![0; self.hint_len(state.len())];
        let loaded = self.load(state, None, &mut hint);
        let key = self.prepare(state, loaded, &mut hint);
        self.number(key, state)
    }
}

/// States with numbers, which several threads add and read.
pub trait SharedNumbering: Sync {
    /// The number of a state, and whether it is new: one of its own, if it was not there. `None` when there is no room for it.
    fn number(&self, state: &[u64]) -> Option<(u32, bool)>;

    /// The state with this number.
    fn state(&self, number: u32, out: &mut Vec<u64>);

    /// Number of states.
    fn len(&self) -> u64;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held.
    fn bytes(&self) -> u64;

    /// Why there is no room, once that is so.
    fn exhausted(&self) -> Option<&'static str>;
}

/// A store chosen while the program runs.
impl<V: Numbering + ?Sized> Numbering for Box<V> {
    fn number(&mut self, key: u64, state: &[u64]) -> u32 {
        (**self).number(key, state)
    }
}

/// A store chosen while the program runs.
impl<V: Visited + ?Sized> Visited for Box<V> {
    fn hint_len(&self, words: usize) -> usize {
        (**self).hint_len(words)
    }

    fn load(&mut self, state: &[u64], parent: Option<Known<'_>>, hint: &mut [u32]) -> Loaded {
        (**self).load(state, parent, hint)
    }

    fn prepare(&mut self, state: &[u64], loaded: Loaded, hint: &mut [u32]) -> u64 {
        (**self).prepare(state, loaded, hint)
    }

    fn insert(&mut self, key: u64, state: &[u64]) -> bool {
        (**self).insert(key, state)
    }

    fn insert_batch(
        &mut self,
        successors: &Successors,
        count: usize,
        groups: &[Group<'_>],
        looked: &mut Looked,
    ) {
        (**self).insert_batch(successors, count, groups, looked);
    }

    fn contains(&self, key: u64, state: &[u64]) -> bool {
        (**self).contains(key, state)
    }

    fn len(&self) -> u64 {
        (**self).len()
    }

    fn bytes(&self) -> u64 {
        (**self).bytes()
    }

    fn exhausted(&self) -> Option<&'static str> {
        (**self).exhausted()
    }

    fn left_out(&self) -> Option<String> {
        (**self).left_out()
    }

    fn name(&self) -> &'static str {
        (**self).name()
    }
}
