//! A tree store that gives every state a number.
//!
//! The nodes are those of [`Tree`]; roots, with the length of the state as a third part, are numbered like inner nodes. A
//! state costs twelve bytes more than in the plain set.

use quotient_seams::{Known, Loaded, Numbering, OUT_OF_MEMORY, Visited};

use crate::Tree;
use crate::interner::Triples;

/// States as trees of shared nodes, numbered.
#[derive(Debug, Default)]
pub struct NumberedTree {
    tree: Tree,
    roots: Triples,
    len: u32,
}

/// The key of a root.
#[inline(always)]
fn triple(key: u64, state: &[u64]) -> [u32; 3] {
    [(key >> 32) as u32, key as u32, state.len() as u32]
}

impl NumberedTree {
    /// An empty store.
    pub fn new() -> NumberedTree {
        NumberedTree::default()
    }
}

impl Numbering for NumberedTree {
    #[inline]
    fn number(&mut self, key: u64, state: &[u64]) -> u32 {
        let number = self.roots.intern(triple(key, state));
        if number == u32::MAX && self.roots.is_full() {
            return 0;
        }
        self.len = self.len.max(number);
        number - 1
    }
}

impl Visited for NumberedTree {
    fn hint_len(&self, words: usize) -> usize {
        self.tree.hint_len(words)
    }

    #[inline]
    fn load(&mut self, state: &[u64], parent: Option<Known<'_>>, hint: &mut [u32]) -> Loaded {
        self.tree.load(state, parent, hint)
    }

    #[inline]
    fn prepare(&mut self, state: &[u64], loaded: Loaded, hint: &mut [u32]) -> u64 {
        let root = self.tree.root(state, loaded, hint);
        self.roots.load(triple(root, state));
        root
    }

    #[inline]
    fn insert(&mut self, key: u64, state: &[u64]) -> bool {
        let before = self.len;
        self.number(key, state) == before
    }

    fn contains(&self, key: u64, state: &[u64]) -> bool {
        self.roots.contains(triple(key, state))
    }

    fn len(&self) -> u64 {
        u64::from(self.len)
    }

    fn bytes(&self) -> u64 {
        self.tree.bytes() + self.roots.bytes()
    }

    fn exhausted(&self) -> Option<&'static str> {
        if self.roots.is_refused() {
            return Some(OUT_OF_MEMORY);
        }
        if self.roots.is_full() { Some("no numbers left for states (2^32)") } else { self.tree.exhausted() }
    }

    fn name(&self) -> &'static str {
        "tree"
    }
}
