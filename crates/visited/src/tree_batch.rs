//! The tree store, a batch at a time.
//!
//! When all entries of a batch have the same length, as is usual, what depends on the length is found out once, and the
//! addresses that one stage computes for its prefetches serve the next one. A table that grows in between moves: the
//! addresses are then computed again, which is rare.

use quotient_system::Successors;

use crate::batch::{Group, Looked};
use crate::hash::slots_hash;
use crate::interner::Interner;
use crate::key_set::{KeySet, key_hash};
use crate::tree::{SHORT, Tree};

impl Tree {
    /// Adds entries of one length; `false` when they are not, and nothing was done.
    #[inline(always)]
    pub(crate) fn insert_uniform(
        &mut self,
        successors: &Successors,
        count: usize,
        _groups: &[Group<'_>],
        looked: &mut Looked,
    ) -> bool {
        let Some((states, words)) = successors.uniform(count) else { return false };
        if !(2..=SHORT).contains(&words) {
            return false;
        }
        self.room_for_length(words);
        looked.new.clear();
        let roots = &mut self.by_length[words].roots;
        let nodes = &mut self.nodes;
        match words {
            2 => insert_short(&mut nodes.pairs, roots, states.as_chunks().0, looked),
            3 => insert_short(&mut nodes.triples, roots, states.as_chunks().0, looked),
            _ => insert_short(&mut nodes.quads, roots, states.as_chunks().0, looked),
        }
        self.len += looked.new.len() as u64;
        true
    }
}

/// The two keys of a short state: the low halves of its words, and the high ones.
#[inline(always)]
fn halves<const WORDS: usize>(state: &[u64; WORDS]) -> [[u32; WORDS]; 2] {
    [state.map(|word| word as u32), state.map(|word| (word >> 32) as u32)]
}

/// Adds states of as many words as the interner's keys have slots.
#[inline(always)]
fn insert_short<const WORDS: usize, const PLACES: usize>(
    nodes: &mut Interner<WORDS, PLACES>,
    roots: &mut KeySet,
    states: &[[u64; WORDS]],
    looked: &mut Looked,
) {
    load_lines(nodes, states, &mut looked.loaded);
    find_roots(nodes, roots, states, &mut looked.loaded, &mut looked.keys);
    roots.insert_all(&looked.keys, &mut looked.new);
}

/// First stage: where the two nodes of each state are looked for.
#[inline(never)]
fn load_lines<const WORDS: usize, const PLACES: usize>(
    nodes: &Interner<WORDS, PLACES>,
    states: &[[u64; WORDS]],
    lines: &mut Vec<[u64; 2]>,
) {
    lines.clear();
    lines.extend(states.iter().map(|state| {
        let [low, high] = halves(state);
        [nodes.line_of(&low), nodes.line_of(&high)]
    }));
}

/// Second stage: the nodes' numbers, which make the root.
#[inline(never)]
fn find_roots<const WORDS: usize, const PLACES: usize>(
    nodes: &mut Interner<WORDS, PLACES>,
    roots: &KeySet,
    states: &[[u64; WORDS]],
    lines: &mut [[u64; 2]],
    keys: &mut Vec<u64>,
) {
    keys.clear();
    keys.reserve(states.len());
    for (index, state) in states.iter().enumerate() {
        let [low, high] = halves(state);
        // SAFETY: there is a pair of lines for each state; whenever lines move, those from this state on are looked for
        // again.
        let (mut a, mut b) = unsafe {
            let lines = lines.get_unchecked(index);
            (nodes.id_at(lines[0], &low), nodes.id_at(lines[1], &high))
        };
        if a == 0 || b == 0 {
            let moves = nodes.moves();
            (a, b) = (nodes.intern_far(low, slots_hash(&low)), nodes.intern_far(high, slots_hash(&high)));
            if nodes.moves() != moves {
                for (lines, state) in lines.iter_mut().zip(states).skip(index + 1) {
                    *lines = halves(state).map(|key| nodes.line_of(&key));
                }
            }
        }
        let key = key_hash(u64::from(a) << 32 | u64::from(b));
        roots.prefetch(key);
        // SAFETY: there is room for one key per state.
        unsafe {
            *keys.as_mut_ptr().add(index) = key;
        }
    }
    // SAFETY: all were written.
    unsafe { keys.set_len(states.len()) };
}
