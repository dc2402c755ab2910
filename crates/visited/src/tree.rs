//! The tree store: recursive indexing (Laarman, van de Pol, Weber, "Parallel Recursive State Compression
//! for Free", 2011).
//!
//! A state of n words is the leaves of a balanced binary tree. Each word has a number, each inner node is
//! the pair of its children's numbers and has a number itself; the root, also a pair, is the state. States
//! that differ little share nearly all their nodes, so that a state costs little more than its root: eight
//! bytes. Exact: equal roots mean equal states.
//!
//! Deviation: leaves are 64-bit words, not 32-bit slots, so a leaf is interned like any pair; and the
//! tables grow, which is possible because only inner nodes are referred to by number, and numbers do not
//! depend on where an entry stands. States of different length have root sets of their own.
//!
//! The hint of a state is the numbers of all its nodes but the root. A successor that differs in few words
//! looks up only the nodes above those words.

use crate::interner::Interner;
use crate::key_set::KeySet;
use crate::{Known, Visited};

/// States as trees of shared pairs.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Interner,
    /// Root sets by number of words.
    roots: Vec<KeySet>,
    len: u64,
}

impl Tree {
    /// An empty store.
    pub fn new() -> Tree {
        Tree::default()
    }

    fn roots_of(&self, words: usize) -> Option<&KeySet> {
        self.roots.get(words)
    }
}

/// The tree over n leaves is laid out as a heap: nodes 1 (the root) to 2n - 1, the children of i are 2i
/// and 2i + 1, and node n + k is leaf k. (For n that is no power of two the leaves lie on two levels, in a
/// rotated order: any fixed order will do.) The hint holds nodes 2 to 2n - 1, node i at position i - 2.
#[inline(always)]
fn at(node: usize) -> usize {
    node - 2
}

#[inline(always)]
fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

impl Visited for Tree {
    fn hint_len(&self, words: usize) -> usize {
        (2 * words).saturating_sub(2).max(1)
    }

    #[inline]
    fn prepare(&mut self, state: &[u64], parent: Option<Known<'_>>, hint: &mut [u32]) -> u64 {
        let n = state.len();
        if self.roots.len() <= n {
            self.roots.resize_with(n + 1, KeySet::default);
        }
        if n == 1 {
            // A single word is no pair: intern it, so that the root key is never 0.
            hint[0] = self.nodes.intern(state[0]);
            let key = pair(hint[0], 0);
            self.roots[1].prefetch(key);
            return key;
        }
        match parent {
            Some(known) if known.state.len() == n => {
                hint.copy_from_slice(known.hint);
                // Bottom up, level by level: a node is looked up when one below it was. `dirty` is a small
                // bitmap of nodes for up to 64 words, else everything above a change is redone at once.
                if n <= 64 {
                    let mut dirty: u128 = 0;
                    for (k, &word) in state.iter().enumerate() {
                        if word != known.state[k] {
                            hint[at(n + k)] = self.nodes.intern(word);
                            dirty |= 1 << ((n + k) / 2);
                        }
                    }
                    // Parents have smaller numbers than their children: go downwards.
                    dirty &= !0b11;
                    while dirty != 0 {
                        let node = 127 - dirty.leading_zeros() as usize;
                        dirty &= !(1 << node);
                        let number = self.nodes.intern(pair(hint[at(2 * node)], hint[at(2 * node + 1)]));
                        if number != hint[at(node)] {
                            hint[at(node)] = number;
                            if node / 2 > 1 {
                                dirty |= 1 << (node / 2);
                            }
                        }
                    }
                } else {
                    for (k, &word) in state.iter().enumerate() {
                        if word != known.state[k] {
                            let mut node = n + k;
                            hint[at(node)] = self.nodes.intern(word);
                            while node / 2 > 1 {
                                node /= 2;
                                hint[at(node)] =
                                    self.nodes.intern(pair(hint[at(2 * node)], hint[at(2 * node + 1)]));
                            }
                        }
                    }
                }
            }
            _ => {
                for (k, &word) in state.iter().enumerate() {
                    hint[at(n + k)] = self.nodes.intern(word);
                }
                for node in (2..n).rev() {
                    hint[at(node)] = self.nodes.intern(pair(hint[at(2 * node)], hint[at(2 * node + 1)]));
                }
            }
        }
        let key = pair(hint[at(2)], hint[at(3)]);
        self.roots[n].prefetch(key);
        key
    }

    #[inline]
    fn insert(&mut self, key: u64, state: &[u64]) -> bool {
        let new = self.roots[state.len()].insert(key);
        self.len += u64::from(new);
        new
    }

    #[inline]
    fn contains(&self, key: u64, state: &[u64]) -> bool {
        self.roots_of(state.len()).is_some_and(|roots| roots.contains(key))
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self) -> u64 {
        self.nodes.bytes() + self.roots.iter().filter(|r| r.len() > 0).map(KeySet::bytes).sum::<u64>()
    }

    fn exhausted(&self) -> Option<&'static str> {
        self.nodes.is_full().then_some("the tree store has no numbers left for new nodes (2^32)")
    }

    fn name(&self) -> &'static str {
        "tree"
    }
}
