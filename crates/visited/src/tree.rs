//! The tree store: recursive indexing (Laarman, van de Pol, Weber, "Parallel Recursive State Compression
//! for Free", 2011).
//!
//! A state is the leaves of a binary tree: 32-bit slots, two to a word. An inner node is the pair of its
//! children's values, and its own value is the number that pair was given. The root, also a pair, is the state.
//! States that differ little share nearly all their nodes, so that a state costs little more than its root: eight
//! bytes. Exact: equal roots mean equal states.
//!
//! Deviations: the slots are dealt to the subtrees alternately, like cards, not cut in the middle, so that what varies
//! (usually the processes, which lie together) is spread over both halves, and neither half alone has nearly as many
//! values as there are states. The tables grow; that is possible because only inner nodes are referred to by number,
//! and numbers do not depend on where an entry stands. States of different length have root sets of their own.
//!
//! The hint of a state is the numbers of all its nodes but the root. A successor that differs in few slots
//! looks up only the nodes above those.

use crate::interner::Interner;
use crate::key_set::KeySet;
use crate::{Known, Visited};

/// States as trees of shared pairs.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Interner,
    /// Tree and root set by number of words.
    by_length: Vec<Length>,
    len: u64,
}

#[derive(Debug, Default)]
struct Length {
    plan: Plan,
    roots: KeySet,
}

/// A child of an inner node: a slot of the state, or an inner node.
#[derive(Clone, Copy, Debug)]
enum Child {
    Slot(u32),
    Node(u32),
}

/// The shape of the tree over the slots of a state.
#[derive(Debug, Default)]
struct Plan {
    /// Inner nodes, children first; the root is the last.
    nodes: Vec<(Child, Child)>,
    /// For each slot, the nodes above it; the root left out. Only for up to 128 nodes.
    above: Vec<u128>,
}

/// Most inner nodes for which the nodes above a slot are kept as bits.
const MOST_BITS: usize = 128;

impl Plan {
    fn new(words: usize) -> Plan {
        let mut plan = Plan::default();
        let slots: Vec<u32> = (0..2 * words as u32).collect();
        plan.add(&slots);
        if plan.nodes.len() <= MOST_BITS {
            plan.above = vec![0; slots.len()];
            let mut below: Vec<Vec<u32>> = Vec::new();
            for (index, (left, right)) in plan.nodes.iter().enumerate() {
                let mut mine = Vec::new();
                for child in [left, right] {
                    match child {
                        Child::Slot(slot) => mine.push(*slot),
                        Child::Node(node) => mine.extend(&below[*node as usize]),
                    }
                }
                if index + 1 < plan.nodes.len() {
                    mine.iter().for_each(|s| plan.above[*s as usize] |= 1 << index);
                }
                below.push(mine);
            }
        }
        plan
    }

    /// Adds the tree over some slots; gives its root.
    fn add(&mut self, slots: &[u32]) -> Child {
        if let [slot] = slots {
            return Child::Slot(*slot);
        }
        let deal = |first: usize| slots.iter().copied().skip(first).step_by(2).collect::<Vec<_>>();
        let children = (self.add(&deal(0)), self.add(&deal(1)));
        self.nodes.push(children);
        Child::Node(self.nodes.len() as u32 - 1)
    }
}

impl Tree {
    /// An empty store.
    pub fn new() -> Tree {
        Tree::default()
    }

    #[cold]
    fn prepare_length(&mut self, words: usize) {
        if self.by_length.len() <= words {
            self.by_length.resize_with(words + 1, Length::default);
        }
        self.by_length[words].plan = Plan::new(words);
    }
}

/// A slot of a state: words hold two, the low one first.
#[inline(always)]
fn slot(state: &[u64], slot: u32) -> u32 {
    let word = state[slot as usize / 2];
    if slot.is_multiple_of(2) { word as u32 } else { (word >> 32) as u32 }
}

#[inline(always)]
fn value(child: Child, state: &[u64], hint: &[u32]) -> u32 {
    match child {
        Child::Slot(s) => slot(state, s),
        Child::Node(n) => hint[n as usize],
    }
}

#[inline(always)]
fn pair((left, right): (Child, Child), state: &[u64], hint: &[u32]) -> u64 {
    u64::from(value(left, state, hint)) << 32 | u64::from(value(right, state, hint))
}

impl Visited for Tree {
    fn hint_len(&self, words: usize) -> usize {
        2 * words - 2
    }

    #[inline]
    fn prepare(&mut self, state: &[u64], parent: Option<Known<'_>>, hint: &mut [u32]) -> u64 {
        let n = state.len();
        if self.by_length.get(n).is_none_or(|l| l.plan.nodes.is_empty()) {
            self.prepare_length(n);
        }
        let Length { plan, roots } = &self.by_length[n];
        match parent {
            Some(known) if known.state.len() == n && !plan.above.is_empty() => {
                hint.copy_from_slice(known.hint);
                let mut dirty: u128 = 0;
                for (k, (&new, &old)) in state.iter().zip(known.state).enumerate() {
                    let changed = new ^ old;
                    if changed as u32 != 0 {
                        dirty |= plan.above[2 * k];
                    }
                    if changed >> 32 != 0 {
                        dirty |= plan.above[2 * k + 1];
                    }
                }
                // Children have smaller numbers than their parents: upwards.
                while dirty != 0 {
                    let node = dirty.trailing_zeros() as usize;
                    dirty &= dirty - 1;
                    hint[node] = self.nodes.intern(pair(plan.nodes[node], state, hint));
                }
            }
            _ => {
                for node in 0..plan.nodes.len() - 1 {
                    hint[node] = self.nodes.intern(pair(plan.nodes[node], state, hint));
                }
            }
        }
        let key = pair(plan.nodes[plan.nodes.len() - 1], state, hint);
        roots.prefetch(key);
        key
    }

    #[inline]
    fn insert(&mut self, key: u64, state: &[u64]) -> bool {
        let new = self.by_length[state.len()].roots.insert(key);
        self.len += u64::from(new);
        new
    }

    #[inline]
    fn contains(&self, key: u64, state: &[u64]) -> bool {
        self.by_length.get(state.len()).is_some_and(|l| l.roots.contains(key))
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self) -> u64 {
        let roots = self.by_length.iter().map(|l| &l.roots).filter(|r| r.len() > 0);
        self.nodes.bytes() + roots.map(KeySet::bytes).sum::<u64>()
    }

    fn exhausted(&self) -> Option<&'static str> {
        self.nodes.is_full().then_some("the tree store has no numbers left for new nodes (2^32)")
    }

    fn name(&self) -> &'static str {
        "tree"
    }
}
