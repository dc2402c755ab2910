//! Strongly connected components that several workers find together: the union-find structure of UFSCC (Bloemen, Laarman, van de Pol, "Multi-core on-the-fly SCC
//! decomposition", PPoPP 2016), with the marks of components (Bloemen, Duret-Lutz, van de Pol, "Explicit state model checking with generalized Büchi and
//! Rabin automata", SPIN 2017).
//!
//! A set of states is a part of a component as far as it is known: strongly connected. Its root has the workers that have entered it, the marks met in it, and a
//! list of those of its states that nobody has finished. When the list is empty, the set is a whole component that nobody need look at again: *dead*.
//!
//! Deviation: where the paper changes sets and lists without locks, here a root is locked for the few instructions that this takes. There are about three such moments for
//! each state, and none for a step to a state that the worker or a dead set has: those only read.
//!
//! Two facts about parents make reading without a lock right: a parent has a larger number than its child, so there are no cycles, and what has become a child never is a root
//! again. A set with several states or a step inside is *cyclic*; only then its marks are those of a run.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use quotient_seams::Marks;

/// At most so many workers: one bit each.
pub(crate) const MOST_WORKERS: usize = 64;

/// States in a chunk of memory.
const CHUNK: usize = 1 << 14;

/// A state, and a set if it is the root of one. All zero: a set by itself that nobody has entered.
struct Node<M: Marks> {
    /// The parent's number + 1; 0 for a root.
    parent: AtomicU32,
    /// The next state of the list, number + 1; 0 at its end.
    next: AtomicU32,
    /// Of a root: the last state of the list, number + 1; 0 while the list is the root alone.
    last: AtomicU32,
    /// Of a root: the first one, number + 1.
    first: AtomicU32,
    /// Of a root: workers that have entered the set.
    workers: AtomicU64,
    /// Of a root: what was met in it.
    marks: M::Shared,
    /// Of a root: [`LOCKED`], [`DEAD`], [`CYCLIC`], [`EMPTY`]; of any state: [`DONE`].
    flags: AtomicU8,
}

const LOCKED: u8 = 1;
const DEAD: u8 = 2;
const CYCLIC: u8 = 4;
/// The list is empty.
const EMPTY: u8 = 8;
/// All successors of the state have been looked at.
const DONE: u8 = 16;

impl<M: Marks> Default for Node<M> {
    fn default() -> Node<M> {
        Node {
            parent: AtomicU32::new(0),
            next: AtomicU32::new(0),
            last: AtomicU32::new(0),
            first: AtomicU32::new(0),
            workers: AtomicU64::new(0),
            marks: M::Shared::default(),
            flags: AtomicU8::new(0),
        }
    }
}

/// What a worker finds when it comes to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// Its component is finished.
    Dead,
    /// This worker has entered its set before.
    Found,
    /// It has entered it now.
    New,
}

type Chunk<M> = Box<[Node<M>]>;

/// The sets of all states.
pub(crate) struct Components<M: Marks> {
    chunks: Box<[OnceLock<Chunk<M>>]>,
}

/// A root while it is locked.
struct Locked<'a, M: Marks> {
    node: &'a Node<M>,
    number: u32,
}

impl<M: Marks> Drop for Locked<'_, M> {
    fn drop(&mut self) {
        self.node.flags.fetch_and(!LOCKED, Ordering::Release);
    }
}

impl<M: Marks> Components<M> {
    /// Every state a set by itself.
    pub(crate) fn new() -> Components<M> {
        Components { chunks: (0..(1usize << 32) / CHUNK).map(|_| OnceLock::new()).collect() }
    }

    fn node(&self, number: u32) -> &Node<M> {
        let chunk = self.chunks[number as usize / CHUNK]
            .get_or_init(|| (0..CHUNK).map(|_| Node::default()).collect());
        &chunk[number as usize % CHUNK]
    }

    pub(crate) fn bytes(&self) -> u64 {
        let used = self.chunks.iter().filter(|chunk| chunk.get().is_some()).count();
        (used * CHUNK * size_of::<Node<M>>()) as u64
    }

    /// The root of a state's set.
    fn root(&self, mut number: u32) -> u32 {
        loop {
            let node = self.node(number);
            let Some(parent) = node.parent.load(Ordering::Acquire).checked_sub(1) else { return number };
            let Some(above) = self.node(parent).parent.load(Ordering::Acquire).checked_sub(1) else {
                return parent;
            };
            // An ancestor stays one: whoever writes last has written a parent that is right.
            node.parent.store(above + 1, Ordering::Release);
            number = above;
        }
    }

    /// Locks a root; `None` if it is none any more.
    fn lock_root(&self, number: u32) -> Option<Locked<'_, M>> {
        let node = self.node(number);
        let mut tried = 0u32;
        while node.flags.fetch_or(LOCKED, Ordering::Acquire) & LOCKED != 0 {
            tried += 1;
            if tried < 64 { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        let locked = Locked { node, number };
        (node.parent.load(Ordering::Relaxed) == 0).then_some(locked)
    }

    /// Locks the root of a state's set.
    fn lock(&self, number: u32) -> Locked<'_, M> {
        loop {
            if let Some(locked) = self.lock_root(self.root(number)) {
                return locked;
            }
        }
    }

    /// A worker comes to a state.
    pub(crate) fn claim(&self, number: u32, worker: usize) -> Claim {
        let own = 1 << worker;
        let root = self.node(self.root(number));
        if root.workers.load(Ordering::Acquire) & own != 0 {
            // What is dead stays so; of what this worker has entered, it is the last to be told.
            return if root.flags.load(Ordering::Acquire) & DEAD != 0 { Claim::Dead } else { Claim::Found };
        }
        if root.flags.load(Ordering::Acquire) & DEAD != 0 {
            return Claim::Dead;
        }
        let locked = self.lock(number);
        if locked.node.flags.load(Ordering::Relaxed) & DEAD != 0 {
            Claim::Dead
        } else if locked.node.workers.fetch_or(own, Ordering::Release) & own != 0 {
            Claim::Found
        } else {
            Claim::New
        }
    }

    /// Are two states in one set?
    pub(crate) fn same(&self, one: u32, other: u32) -> bool {
        loop {
            let (a, b) = (self.root(one), self.root(other));
            if a == b {
                return true;
            }
            // If the first is a root still, it was when the second one was found to be another.
            if self.node(a).parent.load(Ordering::Acquire) == 0 {
                return false;
            }
        }
    }

    /// Makes two sets one.
    pub(crate) fn unite(&self, one: u32, other: u32) {
        loop {
            let (a, b) = (self.root(one), self.root(other));
            if a == b {
                return;
            }
            // In the order of numbers, so that nobody waits for somebody who waits. The smaller one becomes a child.
            let Some(low) = self.lock_root(a.min(b)) else { continue };
            let Some(high) = self.lock_root(a.max(b)) else { continue };
            let (child, root) = (low.node, high.node);
            root.workers.fetch_or(child.workers.load(Ordering::Relaxed), Ordering::Relaxed);
            M::met_in(&child.marks).add_to(&root.marks);
            root.flags.fetch_or(CYCLIC, Ordering::Relaxed);
            self.append(&high, &low);
            child.parent.store(high.number + 1, Ordering::Release);
            return;
        }
    }

    /// The first and last state of a set's list.
    fn ends(set: &Locked<'_, M>) -> Option<(u32, u32)> {
        if set.node.flags.load(Ordering::Relaxed) & EMPTY != 0 {
            return None;
        }
        let end = |of: &AtomicU32| of.load(Ordering::Relaxed).checked_sub(1).unwrap_or(set.number);
        Some((end(&set.node.first), end(&set.node.last)))
    }

    fn put_ends(set: &Locked<'_, M>, ends: Option<(u32, u32)>) {
        match ends {
            None => {
                set.node.flags.fetch_or(EMPTY, Ordering::Relaxed);
            }
            Some((first, last)) => {
                set.node.flags.fetch_and(!EMPTY, Ordering::Relaxed);
                set.node.first.store(first + 1, Ordering::Relaxed);
                set.node.last.store(last + 1, Ordering::Relaxed);
            }
        }
    }

    fn append(&self, to: &Locked<'_, M>, from: &Locked<'_, M>) {
        let ends = match (Self::ends(to), Self::ends(from)) {
            (None, one) | (one, None) => one,
            (Some((first, middle)), Some((next, last))) => {
                self.node(middle).next.store(next + 1, Ordering::Relaxed);
                Some((first, last))
            }
        };
        Self::put_ends(to, ends);
    }

    /// Has somebody looked at all successors of the state?
    pub(crate) fn is_done(&self, number: u32) -> bool {
        self.node(number).flags.load(Ordering::Acquire) & DONE != 0
    }

    /// All successors of a state have been looked at; whether this worker is the first to say so.
    pub(crate) fn done(&self, number: u32) -> bool {
        self.node(number).flags.fetch_or(DONE, Ordering::AcqRel) & DONE == 0
    }

    /// A state of the set that nobody has finished; `None` if there is none, and the set is dead from now on. Each time another one, as far as there are others.
    pub(crate) fn pick(&self, number: u32) -> Option<u32> {
        let set = self.lock(number);
        while let Some((first, last)) = Self::ends(&set) {
            let node = self.node(first);
            let next = node.next.load(Ordering::Relaxed).checked_sub(1).filter(|_| first != last);
            let done = node.flags.load(Ordering::Acquire) & DONE != 0;
            node.next.store(0, Ordering::Relaxed);
            match (next, done) {
                (None, false) => return Some(first),
                (None, true) => Self::put_ends(&set, None),
                (Some(next), true) => Self::put_ends(&set, Some((next, last))),
                (Some(next), false) => {
                    self.node(last).next.store(first + 1, Ordering::Relaxed);
                    Self::put_ends(&set, Some((next, first)));
                    return Some(first);
                }
            }
        }
        set.node.flags.fetch_or(DEAD, Ordering::Release);
        None
    }

    /// Adds marks to the set of a state, of the state itself or of a step inside (`cyclic`); whether there is a run that meets everything now.
    pub(crate) fn meet(&self, number: u32, marks: M, cyclic: bool) -> bool {
        let root = self.node(self.root(number));
        // Often there is nothing to add: flags and marks of a set only grow, and those of a root go to the one above it.
        if (!cyclic || root.flags.load(Ordering::Relaxed) & CYCLIC != 0)
            && let all = M::met_in(&root.marks)
            && !marks.exceeds(all)
        {
            return all.is_full() && root.flags.load(Ordering::Acquire) & CYCLIC != 0;
        }
        let set = self.lock(number);
        let all = marks.add_to(&set.node.marks);
        let flags = set.node.flags.fetch_or(if cyclic { CYCLIC } else { 0 }, Ordering::Relaxed);
        all.is_full() && (cyclic || flags & CYCLIC != 0)
    }

    /// Has anybody entered the state's set?
    pub(crate) fn is_entered(&self, number: u32) -> bool {
        self.node(self.root(number)).workers.load(Ordering::Acquire) != 0
    }
}
