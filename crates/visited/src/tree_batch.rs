//! The tree store, a batch at a time.
//!
//! When all entries of a batch have the same length, as is usual, what depends on the length is found out once, and the
//! addresses that one stage computes for its prefetches serve the next one. A table that grows in between moves: the
//! addresses are then computed again, which is rare.

use quotient_seams::{Group, Looked, Successors};

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
        let Length { plan, roots, .. } = &mut self.by_length[words];
        let nodes = &mut self.nodes;
        looked.short = if words <= 4 { words } else { 0 };
        match words {
            SHORT.. if plan.above.is_empty() && words > SHORT => return false,
            2 => insert_short(&mut nodes.pairs, roots, states.as_chunks().0, groups, looked),
            3 => insert_short(&mut nodes.triples, roots, states.as_chunks().0, groups, looked),
            4 => insert_short(&mut nodes.quads, roots, states.as_chunks().0, groups, looked),
            _ => {
                drop_repeated_long(states, words, looked);
                load_tops(nodes, plan, states, groups, looked);
                find_long_roots(nodes, plan, roots, states, looked);
                insert_roots(roots, looked);
            }
        }
        self.refused |= roots.is_refused();
        self.len += looked.new.len() as u64;
        true
    }
}

/// The key of one half of a short state: the low halves of its words (0), or the high ones (1).
#[inline(always)]
pub(crate) fn half_key<const WORDS: usize>(state: &[u64; WORDS], half: usize) -> [u32; WORDS] {
    debug_assert!(half < 2);
    // SAFETY: there are two slots to a word.
    std::array::from_fn(|word| unsafe { *slots_of(state).get_unchecked(2 * word + half) })
}

/// Does the processor have what the faster copies of the functions below are compiled for?
#[inline(always)]
pub(crate) fn is_modern() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Adds states of as many words as the interner's keys have slots.
#[inline(always)]
fn insert_short<const WORDS: usize, const PLACES: usize>(
    nodes: &mut Interner<WORDS, PLACES>,
    roots: &mut KeySet,
    states: &[[u64; WORDS]],
    groups: &[Group<'_>],
    looked: &mut Looked,
) {
    looked.room_for_hints(states.len(), 2);
    // SAFETY: the processor was asked.
    unsafe {
        match (is_modern(), nodes.is_single() && roots.is_single()) {
            (true, true) => short_stages_modern::<true, _, _>(nodes, roots, states, groups, looked),
            (true, false) => short_stages_modern::<false, _, _>(nodes, roots, states, groups, looked),
            (false, _) => short_stages::<false, _, _>(nodes, roots, states, groups, looked),
        }
    }
}

/// As below, for processors with AVX2 and BMI2.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2"))]
#[inline(never)]
unsafe fn short_stages_modern<const SINGLE: bool, const WORDS: usize, const PLACES: usize>(
    nodes: &mut Interner<WORDS, PLACES>,
    roots: &mut KeySet,
    states: &[[u64; WORDS]],
    groups: &[Group<'_>],
    looked: &mut Looked,
) {
    short_stages::<SINGLE, _, _>(nodes, roots, states, groups, looked);
}

/// The stages for short states. `SINGLE`: nodes and roots have one segment each.
#[inline(always)]
fn short_stages<const SINGLE: bool, const WORDS: usize, const PLACES: usize>(
    nodes: &mut Interner<WORDS, PLACES>,
    roots: &mut KeySet,
    states: &[[u64; WORDS]],
    groups: &[Group<'_>],
    looked: &mut Looked,
) {
    drop_repeated(states, looked);
    load_lines::<SINGLE, _, _>(nodes, states, groups, looked);
    find_roots::<SINGLE, _, _>(nodes, roots, states, looked);
    insert(roots, looked);
}

/// Last stage: adds the roots.
#[inline(always)]
fn insert(roots: &mut KeySet, looked: &mut Looked) {
    let Looked { keys, new, distinct, .. } = looked;
    assert!(keys.len() == distinct.len(), "there is a key for each distinct entry");
    // SAFETY: by the assertion.
    roots.insert_all(keys, |at| unsafe { *distinct.get_unchecked(at) }, new);
}

/// The last stage on its own.
#[inline(always)]
fn insert_roots(roots: &mut KeySet, looked: &mut Looked) {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline(never)]
    fn modern(roots: &mut KeySet, looked: &mut Looked) {
        insert(roots, looked);
    }
    if is_modern() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor was asked.
        unsafe {
            modern(roots, looked);
        }
    } else {
        insert(roots, looked);
    }
}

/// Logarithm of the number of entries remembered by [`drop_repeated`].
const LATELY_BITS: u32 = 9;

/// Before anything is looked up: which entries are not equal to an earlier one, as far as a small table remembers those.
/// Processes that do not disturb one another lead to the same states in any order, and these states follow one another
/// closely: between a tenth and a half of a batch goes here.
#[inline(always)]
pub(crate) fn drop_repeated<const WORDS: usize>(states: &[[u64; WORDS]], looked: &mut Looked) {
    let Looked { distinct, lately, .. } = looked;
    lately.resize(1 << LATELY_BITS, 0);
    distinct.clear();
    distinct.reserve(states.len());
    let mut len = 0;
    for (index, state) in states.iter().enumerate() {
        let mut hash = 0u64;
        for word in state {
            hash = (hash.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        // SAFETY: the hash is below the table's length; `earlier` is at most `index`; there is room for all.
        unsafe {
            let slot = lately.get_unchecked_mut((hash >> (64 - LATELY_BITS)) as usize);
            // The table is never cleared: it may hold an entry of another batch, which then stands for the one of this
            // batch with its number, if there is one. Equality decides, not the table.
            let earlier = (*slot as usize).min(index);
            *slot = index as u32;
            let other = states.get_unchecked(earlier);
            let mut differs = 0;
            for word in 0..WORDS {
                differs |= state[word] ^ other[word];
            }
            *distinct.as_mut_ptr().add(len) = index as u32;
            len += usize::from(differs != 0 || earlier == index);
        }
    }
    // SAFETY: so many were written.
    unsafe { distinct.set_len(len) };
}

/// The same on its own.
pub(crate) fn drop_repeated_alone<const WORDS: usize>(states: &[[u64; WORDS]], looked: &mut Looked) {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline(never)]
    fn modern<const WORDS: usize>(states: &[[u64; WORDS]], looked: &mut Looked) {
        drop_repeated(states, looked);
    }
    if is_modern() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor was asked.
        unsafe {
            modern(states, looked);
        }
    } else {
        drop_repeated(states, looked);
    }
}

/// As above, for longer states: only those with the same hash are compared.
#[inline(never)]
pub(crate) fn drop_repeated_long(states: &[u64], words: usize, looked: &mut Looked) {
    let Looked { distinct, lately, keys: hashes, .. } = looked;
    lately.resize(1 << LATELY_BITS, 0);
    distinct.clear();
    hashes.clear();
    for (index, state) in states.chunks_exact(words).enumerate() {
        let mut folded = [0u64; 4];
        let (fours, rest) = state.as_chunks::<4>();
        for four in fours {
            folded = std::array::from_fn(|lane| folded[lane].rotate_left(7) ^ four[lane]);
        }
        let folded = folded.iter().chain(rest).fold(0u64, |hash, word| hash.rotate_left(13) ^ word);
        let hash = folded.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hashes.push(hash);
        let slot = &mut lately[(hash >> (64 - LATELY_BITS)) as usize];
        let earlier = (*slot as usize).min(index);
        *slot = index as u32;
        let repeated = earlier < index
            && hashes[earlier] == hash
            && states[earlier * words..][..words] == states[index * words..][..words];
        if !repeated {
            distinct.push(index as u32);
        }
    }
}

/// First stage: where the nodes of each distinct state are looked for that are not the parent's. Usually only one half has
/// changed: its line, with the half's number in the lowest bit (lines are aligned), and 0. When both have, the second is the
/// line of the upper half. The hint is the parent's for the moment.
#[inline(always)]
pub(crate) fn load_lines<const SINGLE: bool, const WORDS: usize, const PLACES: usize>(
    nodes: &Interner<WORDS, PLACES>,
    states: &[[u64; WORDS]],
    groups: &[Group<'_>],
    looked: &mut Looked,
) {
    let Looked { hints, loaded: lines, distinct, .. } = looked;
    let hints = hints.as_chunks_mut::<2>().0;
    lines.clear();
    lines.reserve(distinct.len());
    let mut done = 0;
    for group in groups {
        // Not of this length: all is new.
        let mut parent = [0; WORDS];
        let mut all = u64::MAX;
        let mut hint = [0; 2];
        if let (Ok(state), Ok(known)) = (group.parent.state.try_into(), group.parent.hint.try_into()) {
            (parent, hint, all) = (state, known, 0);
        }
        while let Some(&index) = distinct.get(done)
            && (index as usize) < group.end
        {
            let index = index as usize;
            // SAFETY: `index` is below the number of states, and there is room for as many hints, and for as many lines as
            // there are distinct ones.
            unsafe {
                let state = states.get_unchecked(index);
                *hints.get_unchecked_mut(index) = hint;
                let mut changed = all;
                for word in 0..WORDS {
                    changed |= state[word] ^ parent[word];
                }
                let half = usize::from(changed as u32 == 0);
                let line = nodes.line_of::<SINGLE>(&half_key(state, half)) | half as u64;
                let both = changed as u32 != 0 && changed >> 32 != 0;
                let second = if both { nodes.line_of::<SINGLE>(&half_key(state, 1)) } else { 0 };
                *lines.as_mut_ptr().add(done) = [line, second];
            }
            done += 1;
        }
    }
    assert!(done == distinct.len(), "every state is in a group");
    // SAFETY: so many were written.
    unsafe { lines.set_len(done) };
}

/// Second stage: the nodes' numbers, which make the root.
#[inline(always)]
fn find_roots<const SINGLE: bool, const WORDS: usize, const PLACES: usize>(
    nodes: &mut Interner<WORDS, PLACES>,
    roots: &KeySet,
    states: &[[u64; WORDS]],
    looked: &mut Looked,
) {
    let Looked { hints, loaded: lines, keys, distinct, .. } = looked;
    let hints = hints.as_chunks_mut::<2>().0;
    keys.clear();
    keys.reserve(distinct.len());
    for (at, &index) in distinct.iter().enumerate() {
        let index = index as usize;
        // SAFETY: the first stage made a hint and a pair of lines for each distinct state.
        let (state, hint, [first, second]) = unsafe {
            (states.get_unchecked(index), hints.get_unchecked_mut(index), *lines.get_unchecked(at))
        };
        let half = (first & 1) as usize;
        let key = half_key(state, half);
        // SAFETY: whenever lines move, those from this state on are looked for again.
        let id = unsafe { nodes.id_at(first & !1, &key) };
        // SAFETY: a half is 0 or 1.
        unsafe { *hint.get_unchecked_mut(half) = id };
        if second != 0 || id == 0 {
            let moves = nodes.moves();
            if id == 0 {
                hint[half] = nodes.intern_far(key, slots_hash(&key));
            }
            if second != 0 {
                hint[1] = nodes.intern(half_key(state, 1));
            }
            if nodes.moves() != moves {
                look_again(nodes, states, &distinct[at + 1..], &mut lines[at + 1..]);
            }
        }
        let key = key_hash(u64::from(hint[0]) << 32 | u64::from(hint[1]));
        roots.prefetch::<SINGLE>(key);
        // SAFETY: there is room for one key per state.
        unsafe {
            *keys.as_mut_ptr().add(at) = key;
        }
    }
    // SAFETY: all were written.
    unsafe { keys.set_len(distinct.len()) };
}

/// Lines have moved: where those of some states are now.
#[cold]
#[inline(never)]
fn look_again<const WORDS: usize, const PLACES: usize>(
    nodes: &Interner<WORDS, PLACES>,
    states: &[[u64; WORDS]],
    distinct: &[u32],
    lines: &mut [[u64; 2]],
) {
    for (lines, &index) in lines.iter_mut().zip(distinct) {
        let half = lines[0] & 1;
        lines[0] = nodes.line_of::<false>(&half_key(&states[index as usize], half as usize)) | half;
    }
}

/// First stage for longer states: looks up the nodes up to the two below the root, and starts loading those of the two whose
/// slots changed. Gives their hashes, 0 for one that is the parent's.
#[inline(never)]
fn load_tops(nodes: &mut Nodes, plan: &Plan, states: &[u64], groups: &[Group<'_>], looked: &mut Looked) {
    let words = plan.slots / 2;
    let stride = plan.nodes.len();
    looked.room_for_hints(states.len() / words, stride);
    let Looked { hints, loaded, distinct, .. } = looked;
    loaded.clear();
    let tops = 1 << plan.tops[0] | 1 << plan.tops[1];
    let mut distinct = distinct.iter().map(|index| *index as usize).peekable();
    for group in groups {
        while let Some(index) = distinct.next_if(|index| *index < group.end) {
            let state = &states[index * words..][..words];
            let hint = &mut hints[index * stride..][..stride];
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
            loaded.push(plan.tops.map(|top| {
                if dirty >> top & 1 == 1 { nodes.load(&plan.nodes[top], slots, hint) } else { 0 }
            }));
        }
    }
    assert!(distinct.next().is_none(), "every state is in a group");
}

/// Second stage for longer states: the two nodes below the root, which make it.
#[inline(never)]
fn find_long_roots(nodes: &mut Nodes, plan: &Plan, roots: &KeySet, states: &[u64], looked: &mut Looked) {
    let words = plan.slots / 2;
    let stride = plan.nodes.len();
    let Looked { hints, loaded, keys, distinct, .. } = looked;
    keys.clear();
    for (hashes, &index) in loaded.iter().zip(&*distinct) {
        let index = index as usize;
        let hint = &mut hints[index * stride..][..stride];
        for (&top, &hash) in plan.tops.iter().zip(hashes) {
            if hash != 0 {
                let slots = slots_of(&states[index * words..][..words]);
                hint[top] = nodes.intern_loaded(&plan.nodes[top], slots, hint, hash);
            }
        }
        let key = key_hash(u64::from(hint[plan.tops[0]]) << 32 | u64::from(hint[plan.tops[1]]));
        roots.prefetch::<false>(key);
        keys.push(key);
    }
}
