//! The tree store, shared by several threads: the tables are those of [`Tree`], and threads add to them as [`crate::claim`] says.
//!
//! A batch is looked up while reading is allowed (a lock that all threads share, taken once a batch). Where a table has no room, the thread lets go of it,
//! takes the lock for writing, so that no other thread looks, makes room with the help of those that come to look ([`crate::crew`]), and goes on where it was: nodes that were
//! found have their numbers still, and roots that were added are not looked at again. Numbers of nodes are handed out in blocks, so they have
//! gaps; which state is which does not depend on them.
//!
//! For ample sets a search by levels must know of a successor whether it waits in the next level. Then a root goes first to a set of the roots of this
//! level, which is emptied when the level ends, and after that to the set of all: who finds it in the set of all finds it in the other, too, if it
//! waits, whoever added it and when. So the answer does not depend on the order in which threads come, and neither does anything that is decided by it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use quotient_seams::{
    Group, Known, Loaded, Looked, OUT_OF_MEMORY, Share, Shared, SharedStore, Successors, Visited,
};

use crate::claim::Short;
use crate::crew::Crew;
use crate::hash::slots_hash;
use crate::interner::{Interner, Own};
use crate::key_set::{KeySet, key_hash};
use crate::plan::{Node, Plan};
use crate::shared_batch::{Lacks, Tickets, drop_known, find_short, insert_roots};
use crate::tree::{Length, Nodes, SHORT, Tree, slots_of};
use crate::tree_batch::{drop_repeated_alone, drop_repeated_long};

/// Something in cache lines of its own (two, since processors fetch pairs): what threads write all the time must not lie beside what they read all the time.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

/// A tree store that threads have [parts](Part) of.
#[derive(Debug)]
pub struct SharedTree {
    tree: RwLock<Apart<Tree>>,
    how: Shared,
    /// The next numbers of nodes with two, three and four children.
    numbers: Apart<[AtomicU64; 3]>,
    len: Apart<AtomicU64>,
    /// Nothing more can be stored.
    exhausted: AtomicBool,
    /// Levels begun.
    levels: AtomicU64,
    /// Those who make room.
    crew: Crew,
}

/// Segments of a table for each thread, so that several can make room in it, each in some of them.
const SEGMENTS: usize = 4;

/// How often a thread looks whether it can help before it waits to be woken.
const LOOKS: u32 = 1 << 10;

/// In place of a key that was not computed: the entry is equal to an earlier one of its batch. (A key may be this number; it is computed again.)
const UNKNOWN: u64 = u64::MAX;

/// What has to be made before a thread can go on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need {
    /// A tree for states of so many words.
    Length(usize),
    /// Room for a node with so many children and this hash, or numbers.
    Node(u32, u64),
    /// Room for a root of states of so many words, among all roots.
    Root(usize, u64),
    /// The same, among those of this level.
    Fresh(usize, u64),
}

/// One thread's part of a [`SharedTree`].
#[derive(Debug)]
pub struct Part<'a> {
    shared: &'a SharedTree,
    nodes: [Own; 3],
    /// Tickets for roots, by length of states and segment.
    roots: Vec<Vec<u32>>,
    /// Tickets for roots of this level.
    fresh: Vec<Vec<u32>>,
    /// Levels begun when these were taken.
    level: u64,
    /// Hint lengths by number of words, as far as they have been asked for.
    hint_lens: Vec<Option<usize>>,
}

impl Share for Tree {
    type Store = SharedTree;

    fn share(&mut self, how: Shared) -> SharedTree {
        let mut tree = std::mem::take(self);
        for length in tree.by_length.iter_mut().filter(|length| length.plan.slots > 0) {
            length.roots.spread(SEGMENTS * how.workers);
        }
        let Nodes { pairs, triples, quads } = &tree.nodes;
        let numbers = [pairs.next_number(), triples.next_number(), quads.next_number()];
        SharedTree {
            len: Apart(AtomicU64::new(tree.len)),
            exhausted: AtomicBool::new(tree.exhausted().is_some()),
            tree: RwLock::new(Apart(tree)),
            how,
            numbers: Apart(numbers.map(AtomicU64::new)),
            levels: AtomicU64::new(0),
            crew: Crew::default(),
        }
    }

    fn take_back(&mut self, store: SharedTree) {
        store.next_level();
        let Apart(mut tree) = store.tree.into_inner().unwrap_or_else(PoisonError::into_inner);
        let numbers = store.numbers.0.map(AtomicU64::into_inner);
        tree.nodes.pairs.numbered(numbers[0]);
        tree.nodes.triples.numbered(numbers[1]);
        tree.nodes.quads.numbered(numbers[2]);
        tree.len = store.len.0.into_inner();
        *self = tree;
    }
}

impl SharedStore for SharedTree {
    type Part<'a> = Part<'a>;

    fn part(&self) -> Part<'_> {
        Part {
            shared: self,
            nodes: std::array::from_fn(|_| Own::new(self.how.workers)),
            roots: Vec::new(),
            fresh: Vec::new(),
            level: 0,
            hint_lens: Vec::new(),
        }
    }

    fn next_level(&self) {
        if !self.how.tells_open {
            return;
        }
        let mut tree = self.tree.write().unwrap_or_else(PoisonError::into_inner);
        tree.0.by_length.iter_mut().for_each(|length| length.fresh.clear());
        self.levels.fetch_add(1, Ordering::Relaxed);
    }
}

impl SharedTree {
    #[inline(always)]
    fn read(&self) -> RwLockReadGuard<'_, Apart<Tree>> {
        match self.tree.try_read() {
            Ok(tree) => tree,
            Err(_) => self.read_later(),
        }
    }

    /// Somebody makes room: helps until it is done.
    #[cold]
    #[inline(never)]
    fn read_later(&self) -> RwLockReadGuard<'_, Apart<Tree>> {
        for _ in 0..LOOKS {
            while self.crew.help() {}
            if let Ok(tree) = self.tree.try_read() {
                return tree;
            }
            std::hint::spin_loop();
        }
        self.tree.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something while nobody makes room, and again whenever there had to be more; `false` if there is none to be had.
    #[inline(always)]
    fn retry(&self, mut work: impl FnMut(&Tree) -> Result<(), Need>) -> bool {
        loop {
            let tree = self.read();
            let done = work(&tree.0);
            // Nobody can make room while this thread looks.
            drop(tree);
            match done {
                Ok(()) => return true,
                Err(need) if self.make(need) => {}
                Err(_) => return false,
            }
        }
    }

    /// Makes room while no other thread looks; `false` if there is none to be had.
    #[cold]
    #[inline(never)]
    fn make(&self, need: Need) -> bool {
        let mut tree = self.tree.write().unwrap_or_else(PoisonError::into_inner);
        let tree = &mut tree.0;
        let workers = self.how.workers;
        match need {
            Need::Length(words) => tree.room_for_length(words),
            Need::Root(words, hash) | Need::Fresh(words, hash) => {
                let Length { roots, fresh, .. } = &mut tree.by_length[words];
                let set = if matches!(need, Need::Fresh(..)) { fresh } else { roots };
                set.make_shared_room(hash, workers, &self.crew);
                tree.refused |= set.is_refused();
            }
            Need::Node(children, hash) => {
                let Nodes { pairs, triples, quads } = &mut tree.nodes;
                let next = self.numbers.0[children as usize - 2].load(Ordering::Relaxed);
                match children {
                    2 => make_node_room(pairs, next, hash, (workers, &self.crew)),
                    3 => make_node_room(triples, next, hash, (workers, &self.crew)),
                    _ => make_node_room(quads, next, hash, (workers, &self.crew)),
                }
            }
        }
        let exhausted = tree.exhausted().is_some();
        self.exhausted.fetch_or(exhausted, Ordering::Relaxed);
        !exhausted
    }
}

fn make_node_room<const SLOTS: usize, const PLACES: usize>(
    nodes: &mut Interner<SLOTS, PLACES>,
    next: u64,
    hash: u64,
    (workers, crew): (usize, &Crew),
) {
    nodes.numbered(next);
    nodes.make_shared_room(hash, workers, crew);
}

/// Where the lookups of a batch have come to.
pub(crate) struct Run<'a, 'g> {
    pub(crate) successors: &'a Successors,
    pub(crate) groups: &'a [Group<'g>],
    /// Words of each entry.
    pub(crate) words: usize,
    /// The words of all, one entry after the other, if these are all entries of the batch.
    pub(crate) states: &'a [u64],
}

impl Part<'_> {
    /// Adds the entries of a batch that `looked.distinct` names, which all have the same number of words.
    fn insert_run(&mut self, run: &Run<'_, '_>, looked: &mut Looked) {
        let shared = self.shared;
        let (mut found, mut at) = (false, 0);
        shared.retry(|tree| {
            if !found {
                self.find_keys(tree, run, looked)?;
                drop_known(&tree.by_length[run.words], shared.how.tells_open, looked);
                found = true;
            }
            self.insert_keys(tree, run.words, &mut at, looked)
        });
    }

    /// First stages: the roots of the entries, and their hints. Can be done again.
    #[inline(always)]
    fn find_keys(&mut self, tree: &Tree, run: &Run<'_, '_>, looked: &mut Looked) -> Result<(), Need> {
        let Some(length) = tree.by_length.get(run.words).filter(|l| l.plan.slots > 0) else {
            return Err(Need::Length(run.words));
        };
        let set = &length.roots;
        let [two, three, four] = &self.shared.numbers.0;
        let [pairs, triples, quads] = &mut self.nodes;
        match run.words {
            1 => {
                looked.keys.clear();
                let Looked { keys, distinct, .. } = looked;
                keys.extend(distinct.iter().map(|at| {
                    let key = key_hash(run.successors.state(*at as usize)[0].rotate_left(32));
                    set.prefetch::<false>(key);
                    key
                }));
                Ok(())
            }
            2 => find_short::<2, 5>(&tree.nodes.pairs, (two, pairs), set, run, looked),
            3 => find_short::<3, 4>(&tree.nodes.triples, (three, triples), set, run, looked),
            4 => find_short::<4, 3>(&tree.nodes.quads, (four, quads), set, run, looked),
            _ => self.long(tree, &length.plan, set, run, looked),
        }
    }

    /// The number of a node.
    #[inline(always)]
    fn intern(&mut self, nodes: &Nodes, node: &Node, slots: &[u32], hint: &[u32]) -> Result<u32, Need> {
        let [a, b, c, d] = node.values(slots, hint);
        let hash = match node.arity {
            2 => slots_hash(&[a, b]),
            3 => slots_hash(&[a, b, c]),
            _ => slots_hash(&[a, b, c, d]),
        };
        let [two, three, four] = &self.shared.numbers.0;
        let [pairs, triples, quads] = &mut self.nodes;
        let found = match node.arity {
            2 => nodes.pairs.intern_shared([a, b], hash, two, pairs),
            3 => nodes.triples.intern_shared([a, b, c], hash, three, triples),
            _ => nodes.quads.intern_shared([a, b, c, d], hash, four, quads),
        };
        found.map_err(|_: Short| Need::Node(node.arity, hash))
    }

    /// As [`short`], for longer states.
    #[inline(never)]
    fn long(
        &mut self,
        tree: &Tree,
        plan: &Plan,
        set: &KeySet,
        run: &Run<'_, '_>,
        looked: &mut Looked,
    ) -> Result<(), Need> {
        let Looked { hints, loaded, keys, distinct, stride, .. } = looked;
        loaded.clear();
        keys.clear();
        let count = plan.nodes.len();
        let mut groups = run.groups.iter();
        let mut group = groups.next();
        for &index in &*distinct {
            let index = index as usize;
            while group.is_some_and(|g| g.end <= index) {
                group = groups.next();
            }
            let state = run.successors.state(index);
            let slots = slots_of(state);
            let hint = &mut hints[index * *stride..][..count];
            // The nodes above what has changed, or all. Children have smaller numbers than their parents: upwards.
            let mut changed = [true; 2];
            match group.map(|g| g.parent) {
                Some(parent) if parent.state.len() == run.words && !plan.above.is_empty() => {
                    hint.copy_from_slice(parent.hint);
                    let mut dirty = plan.above_changes(state, parent.state);
                    changed = plan.tops.map(|top| dirty >> top & 1 == 1);
                    dirty &= !(1 << plan.tops[0] | 1 << plan.tops[1]);
                    while dirty != 0 {
                        let node = dirty.trailing_zeros() as usize;
                        dirty &= dirty - 1;
                        hint[node] = self.intern(&tree.nodes, &plan.nodes[node], slots, hint)?;
                    }
                }
                _ => {
                    for (node, children) in plan.nodes.iter().enumerate() {
                        if !plan.tops.contains(&node) {
                            hint[node] = self.intern(&tree.nodes, children, slots, hint)?;
                        }
                    }
                }
            }
            loaded.push(std::array::from_fn(|half| {
                if changed[half] { tree.nodes.load(&plan.nodes[plan.tops[half]], slots, hint) } else { 0 }
            }));
        }
        for (hashes, &index) in loaded.iter().zip(&*distinct) {
            let index = index as usize;
            let hint = &mut hints[index * *stride..][..count];
            let slots = slots_of(run.successors.state(index));
            for (&top, &hash) in plan.tops.iter().zip(hashes) {
                if hash != 0 {
                    hint[top] = self.intern(&tree.nodes, &plan.nodes[top], slots, hint)?;
                }
            }
            let key = key_hash(u64::from(hint[plan.tops[0]]) << 32 | u64::from(hint[plan.tops[1]]));
            set.prefetch::<false>(key);
            keys.push(key);
        }
        Ok(())
    }

    /// Last stage: adds the roots from number `at` on.
    #[inline(always)]
    fn insert_keys(
        &mut self,
        tree: &Tree,
        words: usize,
        at: &mut usize,
        looked: &mut Looked,
    ) -> Result<(), Need> {
        if self.roots.len() <= words {
            self.roots.resize_with(words + 1, Vec::new);
            self.fresh.resize_with(words + 1, Vec::new);
        }
        let (roots, fresh) = (&mut self.roots[words], &mut self.fresh[words]);
        let sets = &tree.by_length[words];
        let added = insert_roots(sets, self.shared.how, &mut Tickets { roots, fresh }, at, looked);
        added.map_err(|(which, hash)| match which {
            Lacks::Root => Need::Root(words, hash),
            Lacks::Fresh => Need::Fresh(words, hash),
        })
    }

    /// The tickets for a set that was emptied are void.
    fn see_level(&mut self) {
        let level = self.shared.levels.load(Ordering::Relaxed);
        if self.level != level {
            self.level = level;
            self.fresh.iter_mut().for_each(Vec::clear);
        }
    }
}

impl Visited for Part<'_> {
    #[inline]
    fn hint_len(&self, words: usize) -> usize {
        match words {
            0 | 1 => 0,
            2..=SHORT => 2,
            _ => self.hint_lens.get(words).copied().flatten().unwrap_or_else(|| Plan::nodes_of(words)),
        }
    }

    fn load(&mut self, _: &[u64], _: Option<Known<'_>>, _: &mut [u32]) -> Loaded {
        Loaded::default()
    }

    fn prepare(&mut self, state: &[u64], _: Loaded, hint: &mut [u32]) -> u64 {
        let mut one = Successors::new();
        one.push(state);
        let mut looked = Looked { distinct: vec![0], ..Looked::default() };
        looked.room_for_hints(1, hint.len());
        let run = Run { successors: &one, groups: &[], words: state.len(), states: &[] };
        let shared = self.shared;
        if !shared.retry(|tree| self.find_keys(tree, &run, &mut looked)) {
            return 0;
        }
        hint.copy_from_slice(&looked.hints[..hint.len()]);
        looked.keys[0]
    }

    fn insert(&mut self, key: u64, state: &[u64]) -> bool {
        self.see_level();
        let mut looked = Looked { distinct: vec![0], keys: vec![key], roots: vec![0], ..Looked::default() };
        let shared = self.shared;
        let (mut found, mut at) = (false, 0);
        shared.retry(|tree| {
            if !found {
                drop_known(&tree.by_length[state.len()], shared.how.tells_open, &mut looked);
                found = true;
            }
            self.insert_keys(tree, state.len(), &mut at, &mut looked)
        });
        shared.len.0.fetch_add(looked.new.len() as u64, Ordering::Relaxed);
        !looked.new.is_empty()
    }

    #[inline(never)]
    fn insert_batch(
        &mut self,
        successors: &Successors,
        count: usize,
        groups: &[Group<'_>],
        looked: &mut Looked,
    ) {
        self.see_level();
        looked.new.clear();
        looked.short = 0;
        if self.shared.how.tells_open {
            looked.roots.clear();
            looked.roots.resize(count, UNKNOWN);
        }
        if let Some((states, words)) = successors.uniform(count)
            && words > 1
        {
            match words {
                2 => drop_repeated_alone::<2>(states.as_chunks().0, looked),
                3 => drop_repeated_alone::<3>(states.as_chunks().0, looked),
                4 => drop_repeated_alone::<4>(states.as_chunks().0, looked),
                _ => drop_repeated_long(states, words, looked),
            }
            looked.short = if words <= SHORT { words } else { 0 };
            self.know_hint_len(words);
            looked.room_for_hints(count, self.hint_len(words));
            self.insert_run(&Run { successors, groups, words, states }, looked);
        } else {
            let mut stride = 0;
            for index in 0..count {
                let words = successors.state(index).len();
                self.know_hint_len(words);
                stride = stride.max(self.hint_len(words));
            }
            looked.room_for_hints(count, stride);
            let mut first = 0;
            while first < count {
                let words = successors.state(first).len();
                let end = (first..count).find(|i| successors.state(*i).len() != words).unwrap_or(count);
                if words > 0 {
                    looked.distinct.clear();
                    looked.distinct.extend(first as u32..end as u32);
                    self.insert_run(&Run { successors, groups, words, states: &[] }, looked);
                }
                first = end;
            }
        }
        self.shared.len.0.fetch_add(looked.new.len() as u64, Ordering::Relaxed);
    }

    fn contains(&self, key: u64, state: &[u64]) -> bool {
        // Nobody must write while plain reads are done.
        let tree = self.shared.tree.write().unwrap_or_else(PoisonError::into_inner);
        tree.0.by_length.get(state.len()).is_some_and(|l| l.roots.contains(key))
    }

    #[inline]
    fn len(&self) -> u64 {
        self.shared.len.0.load(Ordering::Relaxed)
    }

    fn bytes(&self) -> u64 {
        self.shared.read().0.bytes()
    }

    #[inline]
    fn exhausted(&self) -> Option<&'static str> {
        if !self.shared.exhausted.load(Ordering::Relaxed) {
            return None;
        }
        Some(self.shared.read().0.exhausted().unwrap_or(OUT_OF_MEMORY))
    }

    fn tells_open(&self) -> bool {
        self.shared.how.tells_open
    }

    fn is_open(&mut self, looked: &Looked, entry: usize, state: &[u64]) -> bool {
        if state.is_empty() {
            return false;
        }
        let key = match looked.roots[entry] {
            UNKNOWN => self.prepare(state, Loaded::default(), &mut vec![0; self.hint_len(state.len())]),
            key => key,
        };
        let tree = self.shared.read();
        tree.0.by_length.get(state.len()).is_some_and(|length| length.fresh.contains_shared::<false>(key))
    }

    fn name(&self) -> &'static str {
        "tree"
    }
}

impl Part<'_> {
    #[inline]
    fn know_hint_len(&mut self, words: usize) {
        if words > SHORT && self.hint_lens.get(words).copied().flatten().is_none() {
            if self.hint_lens.len() <= words {
                self.hint_lens.resize(words + 1, None);
            }
            self.hint_lens[words] = Some(Plan::nodes_of(words));
        }
    }
}
