//! The tree store: recursive indexing (Laarman, van de Pol, Weber, "Parallel Recursive State Compression
//! for Free", 2011).
//!
//! A state is the leaves of a tree: 32-bit slots, two to a word. An inner node is the list of its children's values, and
//! its own value is the number that list was given. The root, a pair, is the state. States that differ little share
//! nearly all their nodes, so that a state costs little more than its root: eight bytes. Exact: a position of the tree
//! always has the same kind of node, so that equal roots mean equal states.
//!
//! Deviations: a node has up to four children where that makes the tree lower, two near the root, where most of the
//! distinct nodes are and small entries count. The slots are dealt to the subtrees in turn, like cards, not cut in the
//! middle, so that what varies (usually the processes, which lie together) is spread over both halves, and neither half
//! alone has nearly as many values as there are states. The tables grow; that is possible because only inner nodes are
//! referred to by number, and numbers do not depend on where an entry stands. States of different length have root
//! sets of their own.
//!
//! The hint of a state is the numbers of all its nodes but the root; a successor that differs in few slots looks up only
//! the nodes above those. A state of up to four words is two nodes and the root, and usually only one of them changes.

use quotient_seams::{Group, Known, Loaded, Looked, OUT_OF_MEMORY, Successors, Visited};

use crate::interner::{Pairs, Quads, Triples};
use crate::key_set::{KeySet, key_hash};
use crate::plan::{Node, Plan};

/// States as trees of shared nodes.
#[derive(Debug, Default)]
pub struct Tree {
    pub(crate) nodes: Nodes,
    /// Tree and root set by number of words.
    pub(crate) by_length: Vec<Length>,
    pub(crate) len: u64,
    /// There was no memory for a root.
    pub(crate) refused: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Length {
    pub(crate) plan: Plan,
    pub(crate) roots: KeySet,
    /// Roots found in this level, if threads share the tree and ask for levels.
    pub(crate) fresh: KeySet,
}

/// The inner nodes, by number of children.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    pub(crate) pairs: Pairs,
    pub(crate) triples: Triples,
    pub(crate) quads: Quads,
}

/// States of up to this many words are two nodes and a root.
pub(crate) const SHORT: usize = 4;

impl Nodes {
    /// The number of a node.
    #[inline(always)]
    pub(crate) fn intern(&mut self, node: &Node, slots: &[u32], nodes: &[u32]) -> u32 {
        let [a, b, c, d] = node.values(slots, nodes);
        match node.arity {
            2 => self.pairs.intern([a, b]),
            3 => self.triples.intern([a, b, c]),
            _ => self.quads.intern([a, b, c, d]),
        }
    }

    /// Starts loading a node; gives its hash.
    #[inline(always)]
    pub(crate) fn load(&self, node: &Node, slots: &[u32], nodes: &[u32]) -> u64 {
        let [a, b, c, d] = node.values(slots, nodes);
        match node.arity {
            2 => self.pairs.load([a, b]),
            3 => self.triples.load([a, b, c]),
            _ => self.quads.load([a, b, c, d]),
        }
    }

    /// The number of a node with this hash.
    #[inline(always)]
    pub(crate) fn intern_loaded(&mut self, node: &Node, slots: &[u32], nodes: &[u32], hash: u64) -> u32 {
        let [a, b, c, d] = node.values(slots, nodes);
        match node.arity {
            2 => self.pairs.intern_hashed([a, b], hash),
            3 => self.triples.intern_hashed([a, b, c], hash),
            _ => self.quads.intern_hashed([a, b, c, d], hash),
        }
    }

    /// Starts loading those of the two nodes of a state of two to [`SHORT`] words that are not the parent's: the low halves of
    /// its words, and the high ones. Gives their hashes, 0 for one that is the parent's.
    #[inline(always)]
    fn load_short(&self, state: &[u64], parent: Option<Known<'_>>, hint: &mut [u32]) -> Loaded {
        let mut changed = u64::MAX;
        if let Some(known) = parent
            && known.state.len() == state.len()
        {
            hint.copy_from_slice(known.hint);
            changed = state.iter().zip(known.state).fold(0, |changed, (new, old)| changed | (new ^ old));
        }
        let low = changed as u32 != 0;
        let up = high(changed) != 0;
        match *state {
            [a, b, c] => [
                if low { self.triples.load([a as u32, b as u32, c as u32]) } else { 0 },
                if up { self.triples.load([high(a), high(b), high(c)]) } else { 0 },
            ],
            [a, b] => [
                if low { self.pairs.load([a as u32, b as u32]) } else { 0 },
                if up { self.pairs.load([high(a), high(b)]) } else { 0 },
            ],
            [a, b, c, d] => [
                if low { self.quads.load([a as u32, b as u32, c as u32, d as u32]) } else { 0 },
                if up { self.quads.load([high(a), high(b), high(c), high(d)]) } else { 0 },
            ],
            _ => [0; 2],
        }
    }

    /// The root of a state of up to [`SHORT`] words.
    #[inline(always)]
    fn short(&mut self, state: &[u64], loaded: Loaded, hint: &mut [u32]) -> u64 {
        if let [word] = *state {
            return word.rotate_left(32);
        }
        for half in 0..2 {
            let (hash, of) = (loaded[half], |word: u64| (word >> (32 * half)) as u32);
            if hash != 0 {
                hint[half] = match *state {
                    [a, b, c] => self.triples.intern_hashed([of(a), of(b), of(c)], hash),
                    [a, b] => self.pairs.intern_hashed([of(a), of(b)], hash),
                    [a, b, c, d] => self.quads.intern_hashed([of(a), of(b), of(c), of(d)], hash),
                    _ => unreachable!("a short state has one to four words"),
                };
            }
        }
        u64::from(hint[0]) << 32 | u64::from(hint[1])
    }
}

#[inline(always)]
fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

impl Tree {
    /// An empty store.
    pub fn new() -> Tree {
        Tree::default()
    }

    /// Makes sure that states of this length have a tree.
    #[inline(always)]
    pub(crate) fn room_for_length(&mut self, words: usize) {
        if self.by_length.get(words).is_none_or(|l| l.plan.slots == 0) {
            self.prepare_length(words);
        }
    }

    /// The pair that a state is, among states of its length.
    #[inline(always)]
    pub(crate) fn root(&mut self, state: &[u64], loaded: Loaded, hint: &mut [u32]) -> u64 {
        if state.len() <= SHORT {
            self.nodes.short(state, loaded, hint)
        } else {
            self.long(state, loaded, hint)
        }
    }

    #[cold]
    #[inline(never)]
    fn prepare_length(&mut self, words: usize) {
        if self.by_length.len() <= words {
            self.by_length.resize_with(words + 1, Length::default);
        }
        self.by_length[words].plan = Plan::new(words);
    }

    /// Looks up the nodes of a longer state up to the two below the root, and starts loading those of the two whose
    /// slots changed. Gives their hashes, 0 for one that is the parent's.
    #[inline(never)]
    fn load_long(&mut self, state: &[u64], parent: Option<Known<'_>>, hint: &mut [u32]) -> Loaded {
        let plan = &self.by_length[state.len()].plan;
        let (tops, slots) = (plan.tops, slots_of(state));
        let mut both = [true; 2];
        match parent {
            Some(known) if known.state.len() == state.len() && !plan.above.is_empty() => {
                hint.copy_from_slice(known.hint);
                let mut dirty = plan.above_changes(state, known.state);
                both = tops.map(|top| dirty >> top & 1 == 1);
                dirty &= !(1 << tops[0] | 1 << tops[1]);
                // Children have smaller numbers than their parents: upwards.
                while dirty != 0 {
                    let node = dirty.trailing_zeros() as usize;
                    dirty &= dirty - 1;
                    hint[node] = self.nodes.intern(&plan.nodes[node], slots, hint);
                }
            }
            _ => {
                for (node, children) in plan.nodes.iter().enumerate().filter(|(n, _)| !tops.contains(n)) {
                    hint[node] = self.nodes.intern(children, slots, hint);
                }
            }
        }
        std::array::from_fn(|half| {
            if both[half] { self.nodes.load(&plan.nodes[tops[half]], slots, hint) } else { 0 }
        })
    }

    /// The root of a longer state.
    #[inline(always)]
    fn long(&mut self, state: &[u64], loaded: Loaded, hint: &mut [u32]) -> u64 {
        let plan = &self.by_length[state.len()].plan;
        for (top, hash) in plan.tops.into_iter().zip(loaded) {
            if hash != 0 {
                hint[top] = self.nodes.intern_loaded(&plan.nodes[top], slots_of(state), hint, hash);
            }
        }
        u64::from(hint[plan.tops[0]]) << 32 | u64::from(hint[plan.tops[1]])
    }
}

/// The slots of a state.
#[inline(always)]
pub(crate) fn slots_of(state: &[u64]) -> &[u32] {
    // SAFETY: a word is two slots, the low one first, on little-endian machines; alignment of u64 is enough for u32.
    unsafe { std::slice::from_raw_parts(state.as_ptr().cast::<u32>(), 2 * state.len()) }
}

impl Tree {
    /// What has run out.
    #[cold]
    fn reason(&self) -> Option<&'static str> {
        let Nodes { pairs, triples, quads } = &self.nodes;
        let memory = self.refused || pairs.is_refused() || triples.is_refused() || quads.is_refused();
        let numbers = "the tree store has no numbers left for new nodes (2^32)";
        Some(if memory { OUT_OF_MEMORY } else { numbers })
    }
}

impl Visited for Tree {
    #[inline]
    fn hint_len(&self, words: usize) -> usize {
        if words <= SHORT {
            return if words < 2 { 0 } else { 2 };
        }
        match self.by_length.get(words) {
            Some(length) if length.plan.slots > 0 => length.plan.nodes.len(),
            _ => Plan::nodes_of(words),
        }
    }

    #[inline(always)]
    fn load(&mut self, state: &[u64], parent: Option<Known<'_>>, hint: &mut [u32]) -> Loaded {
        let n = state.len();
        self.room_for_length(n);
        if n <= SHORT {
            self.nodes.load_short(state, parent, hint)
        } else {
            self.load_long(state, parent, hint)
        }
    }

    #[inline(always)]
    fn prepare(&mut self, state: &[u64], loaded: Loaded, hint: &mut [u32]) -> u64 {
        let key = key_hash(self.root(state, loaded, hint));
        self.by_length[state.len()].roots.prefetch::<false>(key);
        key
    }

    #[inline(always)]
    fn insert(&mut self, key: u64, state: &[u64]) -> bool {
        let roots = &mut self.by_length[state.len()].roots;
        let new = roots.insert(key);
        if new {
            self.refused |= roots.is_refused();
        }
        self.len += u64::from(new);
        new
    }

    // Once in the program, and compiled here: a batch is long.
    #[inline(never)]
    fn insert_batch(
        &mut self,
        successors: &Successors,
        count: usize,
        groups: &[Group<'_>],
        looked: &mut Looked,
    ) {
        if !self.insert_uniform(successors, count, groups, looked) {
            looked.one_by_one(self, successors, count, groups);
        }
    }

    #[inline]
    fn contains(&self, key: u64, state: &[u64]) -> bool {
        self.by_length.get(state.len()).is_some_and(|l| l.roots.contains(key))
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self) -> u64 {
        let used = self.by_length.iter().filter(|l| l.plan.slots > 0);
        let roots = used.flat_map(|l| [&l.roots, &l.fresh]);
        let nodes = self.nodes.pairs.bytes() + self.nodes.triples.bytes() + self.nodes.quads.bytes();
        nodes + roots.map(KeySet::bytes).sum::<u64>()
    }

    #[inline]
    fn exhausted(&self) -> Option<&'static str> {
        let Nodes { pairs, triples, quads } = &self.nodes;
        if self.refused | pairs.is_full() | triples.is_full() | quads.is_full() {
            self.reason()
        } else {
            None
        }
    }

    fn name(&self) -> &'static str {
        "tree"
    }
}
