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
use crate::plan::Plan;
use crate::tree::{Length, Nodes, SHORT, Tree, slots_of};

impl Tree {
    /// Adds entries of one length; `false` when they are not, and nothing was done.
    #[inline(always)]
    pub(crate) fn insert_uniform(
        &mut self,
        successors: &Successors,
        count: usize,
        groups: &[Group<'_>],
        looked: &mut Looked,
    ) -> bool {
        let Some((states, words)) = successors.uniform(count) else { return false };
        if words < 2 {
            return false;
        }
        self.room_for_length(words);
        looked.new.clear();
        let Length { plan, roots } = &mut self.by_length[words];
        let nodes = &mut self.nodes;
        match words {
            SHORT.. if plan.above.is_empty() && words > SHORT => return false,
            2 => insert_short(&mut nodes.pairs, roots, states.as_chunks().0, looked),
            3 => insert_short(&mut nodes.triples, roots, states.as_chunks().0, looked),
            4 => insert_short(&mut nodes.quads, roots, states.as_chunks().0, looked),
            _ => {
                load_tops(nodes, plan, states, count, groups, looked);
                find_long_roots(nodes, plan, roots, states, looked);
                roots.insert_all(&looked.keys, &mut looked.new);
            }
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

/// First stage for longer states: looks up the nodes up to the two below the root, and starts loading those of the two whose
/// slots changed. Gives their hashes, 0 for one that is the parent's.
#[inline(never)]
fn load_tops(
    nodes: &mut Nodes,
    plan: &Plan,
    states: &[u64],
    count: usize,
    groups: &[Group<'_>],
    looked: &mut Looked,
) {
    let words = plan.slots / 2;
    let stride = plan.nodes.len();
    looked.room_for_hints(count, stride);
    looked.loaded.clear();
    let tops = 1 << plan.tops[0] | 1 << plan.tops[1];
    for group in groups {
        for index in group.first..group.end.min(count) {
            let state = &states[index * words..][..words];
            let hint = &mut looked.hints[index * stride..][..stride];
            let mut dirty = u64::MAX >> (64 - stride);
            if group.parent.state.len() == words {
                hint.copy_from_slice(group.parent.hint);
                dirty = plan.above_changes(state, group.parent.state);
            }
            let slots = slots_of(state);
            // Children have smaller numbers than their parents: upwards.
            let mut below = dirty & !tops;
            while below != 0 {
                let node = below.trailing_zeros() as usize;
                below &= below - 1;
                hint[node] = nodes.intern(&plan.nodes[node], slots, hint);
            }
            looked.loaded.push(plan.tops.map(|top| {
                if dirty >> top & 1 == 1 { nodes.load(&plan.nodes[top], slots, hint) } else { 0 }
            }));
        }
    }
}

/// Second stage for longer states: the two nodes below the root, which make it.
#[inline(never)]
fn find_long_roots(nodes: &mut Nodes, plan: &Plan, roots: &KeySet, states: &[u64], looked: &mut Looked) {
    let words = plan.slots / 2;
    let stride = plan.nodes.len();
    looked.keys.clear();
    for (index, hashes) in looked.loaded.iter().enumerate() {
        // SAFETY: `load_tops` has made room for a hint of each, and there are as many states.
        let hint = unsafe { looked.hints.get_unchecked_mut(index * stride..(index + 1) * stride) };
        for (&top, &hash) in plan.tops.iter().zip(hashes) {
            if hash != 0 {
                let slots = slots_of(&states[index * words..][..words]);
                hint[top] = nodes.intern_loaded(&plan.nodes[top], slots, hint, hash);
            }
        }
        let key = key_hash(u64::from(hint[plan.tops[0]]) << 32 | u64::from(hint[plan.tops[1]]));
        roots.prefetch(key);
        looked.keys.push(key);
    }
}
