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
    /// The values of the tree being looked up.
    values: Vec<u32>,
}

#[derive(Debug, Default)]
struct Length {
    plan: Plan,
    roots: KeySet,
}

/// The shape of the tree over the slots of a state. Values are numbered: the slots of the state first, then the inner
/// nodes, children before parents; the root is the last.
#[derive(Debug, Default)]
struct Plan {
    slots: usize,
    /// For each inner node, the numbers of its children.
    nodes: Vec<(u32, u32)>,
    /// For each slot, the inner nodes above it; the root left out. Only for up to 64 nodes.
    above: Vec<u64>,
}

/// Most inner nodes for which the nodes above a slot are kept as bits.
const MOST_BITS: usize = 64;

impl Plan {
    fn new(words: usize) -> Plan {
        let slots: Vec<u32> = (0..2 * words as u32).collect();
        let mut plan = Plan { slots: slots.len(), ..Plan::default() };
        plan.add(&slots);
        if plan.nodes.len() <= MOST_BITS {
            plan.above = vec![0; slots.len()];
            let mut below: Vec<Vec<u32>> = slots.iter().map(|s| vec![*s]).collect();
            for (index, &(left, right)) in plan.nodes.iter().enumerate() {
                let mut mine = below[left as usize].clone();
                mine.extend(&below[right as usize]);
                if index + 1 < plan.nodes.len() {
                    mine.iter().for_each(|s| plan.above[*s as usize] |= 1 << index);
                }
                below.push(mine);
            }
        }
        plan
    }

    /// Adds the tree over some slots; gives the number of its root.
    fn add(&mut self, slots: &[u32]) -> u32 {
        if let [slot] = slots {
            return *slot;
        }
        let deal = |first: usize| slots.iter().copied().skip(first).step_by(2).collect::<Vec<_>>();
        let children = (self.add(&deal(0)), self.add(&deal(1)));
        self.nodes.push(children);
        (self.slots + self.nodes.len() - 1) as u32
    }

    /// The pair of an inner node.
    #[inline(always)]
    fn pair(&self, node: usize, values: &[u32]) -> u64 {
        // SAFETY: nodes and children are numbered within the plan, and `values` has room for all of them.
        unsafe {
            let (left, right) = *self.nodes.get_unchecked(node);
            u64::from(*values.get_unchecked(left as usize)) << 32
                | u64::from(*values.get_unchecked(right as usize))
        }
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

/// Copies `from` to the start of `to`. A loop: for a handful of numbers a call costs more than the copying.
#[inline(always)]
fn copy(from: &[u32], to: &mut [u32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
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
        let slots = plan.slots;
        if self.values.len() < slots + plan.nodes.len() {
            self.values.resize(slots + plan.nodes.len(), 0);
        }
        let (low, high) = self.values.split_at_mut(slots);
        // SAFETY: a word is two slots, the low one first, on little-endian machines; alignment of u64 is enough for u32.
        copy(unsafe { std::slice::from_raw_parts(state.as_ptr().cast::<u32>(), slots) }, low);
        match parent {
            Some(known) if known.state.len() == n && !plan.above.is_empty() => {
                copy(known.hint, high);
                let mut dirty: u64 = 0;
                for (k, (&new, &old)) in state.iter().zip(known.state).enumerate() {
                    let changed = new ^ old;
                    if changed != 0 {
                        // SAFETY: two slots for each word.
                        unsafe {
                            if changed as u32 != 0 {
                                dirty |= plan.above.get_unchecked(2 * k);
                            }
                            if changed >> 32 != 0 {
                                dirty |= plan.above.get_unchecked(2 * k + 1);
                            }
                        }
                    }
                }
                // Children have smaller numbers than their parents: upwards.
                while dirty != 0 {
                    let node = dirty.trailing_zeros() as usize;
                    dirty &= dirty - 1;
                    let number = self.nodes.intern(plan.pair(node, &self.values));
                    self.values[slots + node] = number;
                }
            }
            _ => {
                for node in 0..plan.nodes.len() - 1 {
                    let number = self.nodes.intern(plan.pair(node, &self.values));
                    self.values[slots + node] = number;
                }
            }
        }
        copy(&self.values[slots..slots + hint.len()], hint);
        let key = plan.pair(plan.nodes.len() - 1, &self.values);
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
