//! The shared tree, a batch at a time: the stages of [`crate::tree_batch`], while other threads add to the same tables ([`crate::claim`]).
//!
//! A stage ends where room has to be made, with what for; whoever called makes it and calls again.

use std::sync::atomic::AtomicU64;

use quotient_seams::{Looked, Shared};

use crate::claim::Short;
use crate::hash::slots_hash;
use crate::interner::{Interner, Own};
use crate::key_set::{AHEAD, KeySet, key_hash};
use crate::shared_tree::{Need, Run};
use crate::tree::Length;
use crate::tree_batch::{half_key, is_modern, load_lines};

/// First stages for states of as many words as the interner's keys have slots: where the nodes are looked for that are not the parent's; then their numbers, which
/// make the root. New nodes get their numbers from these, and a thread's own.
#[inline(always)]
pub(crate) fn find_short<const WORDS: usize, const PLACES: usize>(
    nodes: &Interner<WORDS, PLACES>,
    numbers: (&AtomicU64, &mut Own),
    set: &KeySet,
    run: &Run<'_, '_>,
    looked: &mut Looked,
) -> Result<(), Need> {
    if run.states.is_empty() {
        return find_gapped(nodes, numbers, set, run, looked);
    }
    // SAFETY: the processor was asked.
    unsafe {
        if is_modern() {
            find_modern(nodes, numbers, set, run, looked)
        } else {
            find::<false, _, _>(nodes, numbers, set, run, looked)
        }
    }
}

/// As below, for processors with AVX2 and BMI2.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2"))]
#[inline(never)]
unsafe fn find_modern<const WORDS: usize, const PLACES: usize>(
    nodes: &Interner<WORDS, PLACES>,
    numbers: (&AtomicU64, &mut Own),
    set: &KeySet,
    run: &Run<'_, '_>,
    looked: &mut Looked,
) -> Result<(), Need> {
    find::<true, _, _>(nodes, numbers, set, run, looked)
}

#[inline(always)]
fn find<const MODERN: bool, const WORDS: usize, const PLACES: usize>(
    nodes: &Interner<WORDS, PLACES>,
    (numbers, own): (&AtomicU64, &mut Own),
    set: &KeySet,
    run: &Run<'_, '_>,
    looked: &mut Looked,
) -> Result<(), Need> {
    let states = run.states.as_chunks().0;
    load_lines::<false, _, _>(nodes, states, run.groups, looked);
    let Looked { hints, loaded: lines, keys, distinct, .. } = looked;
    let hints = hints.as_chunks_mut::<2>().0;
    keys.clear();
    keys.reserve(distinct.len());
    for (&index, &[first, second]) in distinct.iter().zip(&*lines) {
        let (state, hint) = (&states[index as usize], &mut hints[index as usize]);
        let mut number_of = |line: u64, half: usize| {
            let key = half_key(state, half);
            // SAFETY: nothing moves while this is borrowed.
            let number = unsafe { nodes.shared_id_at::<MODERN>(line, &key) };
            if number != 0 {
                return Ok(number);
            }
            let hash = slots_hash(&key);
            let found = nodes.intern_shared_far(key, hash, numbers, own);
            found.map_err(|_: Short| Need::Node(WORDS as u32, hash))
        };
        let half = (first & 1) as usize;
        hint[half] = number_of(first & !1, half)?;
        if second != 0 {
            hint[1] = number_of(second, 1)?;
        }
        let key = key_hash(u64::from(hint[0]) << 32 | u64::from(hint[1]));
        set.prefetch::<false>(key);
        keys.push(key);
    }
    Ok(())
}

/// As [`find_short`], where not all entries of the batch are looked up, or have no parent.
#[inline(always)]
fn find_gapped<const WORDS: usize, const PLACES: usize>(
    nodes: &Interner<WORDS, PLACES>,
    (numbers, own): (&AtomicU64, &mut Own),
    set: &KeySet,
    run: &Run<'_, '_>,
    looked: &mut Looked,
) -> Result<(), Need> {
    let Looked { hints, loaded, keys, distinct, stride, .. } = looked;
    let state_of = |index: usize| -> &[u64; WORDS] {
        run.successors.state(index).try_into().expect("all states of a run have as many words")
    };
    loaded.clear();
    keys.clear();
    let mut groups = run.groups.iter();
    let mut group = groups.next();
    for &index in &*distinct {
        let index = index as usize;
        while group.is_some_and(|g| g.end <= index) {
            group = groups.next();
        }
        let state = state_of(index);
        let mut changed = u64::MAX;
        if let Some(parent) = group.map(|g| g.parent)
            && parent.state.len() == WORDS
        {
            hints[index * *stride..][..2].copy_from_slice(&parent.hint[..2]);
            changed = state.iter().zip(parent.state).fold(0, |changed, (new, old)| changed | (new ^ old));
        }
        let load = |half: usize| {
            if (changed >> (32 * half)) as u32 != 0 { nodes.load(half_key(state, half)) } else { 0 }
        };
        loaded.push([load(0), load(1)]);
    }
    for (hashes, &index) in loaded.iter().zip(&*distinct) {
        let index = index as usize;
        let hint = &mut hints[index * *stride..][..2];
        for half in 0..2 {
            let hash = hashes[half];
            if hash != 0 {
                let key = half_key(state_of(index), half);
                let found = nodes.intern_shared(key, hash, numbers, own);
                hint[half] = found.map_err(|_: Short| Need::Node(WORDS as u32, hash))?;
            }
        }
        let key = key_hash(u64::from(hint[0]) << 32 | u64::from(hint[1]));
        set.prefetch::<false>(key);
        keys.push(key);
    }
    Ok(())
}

/// A thread's tickets for roots, and for those of this level, by segment.
pub(crate) struct Tickets<'a> {
    pub(crate) roots: &'a mut Vec<u32>,
    pub(crate) fresh: &'a mut Vec<u32>,
}

/// Which set lacks room.
pub(crate) enum Lacks {
    Root,
    Fresh,
}

/// Third stage: forgets the entries whose roots are there already. Adding one holds up whatever the processor has begun to load for those that follow; so all are looked for
/// before any is added.
#[inline(always)]
pub(crate) fn drop_known(sets: &Length, tells_open: bool, looked: &mut Looked) {
    // SAFETY: the processor was asked.
    unsafe {
        match (is_modern(), tells_open) {
            (true, false) => drop_known_modern::<false>(sets, looked),
            (true, true) => drop_known_modern::<true>(sets, looked),
            (false, false) => drop_known_by::<false, false>(sets, looked),
            (false, true) => drop_known_by::<false, true>(sets, looked),
        }
    }
}

/// As below, for processors with AVX2 and BMI2.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2"))]
#[inline(never)]
unsafe fn drop_known_modern<const TELLS_OPEN: bool>(sets: &Length, looked: &mut Looked) {
    drop_known_by::<true, TELLS_OPEN>(sets, looked);
}

#[inline(always)]
fn drop_known_by<const MODERN: bool, const TELLS_OPEN: bool>(
    Length { roots, .. }: &Length,
    looked: &mut Looked,
) {
    let Looked { keys, distinct, roots: computed, .. } = looked;
    let distinct = &mut distinct[..keys.len()];
    let mut absent = 0;
    for at in 0..keys.len() {
        if let Some(&later) = keys.get(at + AHEAD) {
            roots.prefetch_behind(later);
        }
        let (hash, entry) = (keys[at], distinct[at]);
        if TELLS_OPEN {
            computed[entry as usize] = hash;
        }
        let is_absent = !roots.contains_shared::<MODERN>(hash);
        (keys[absent], distinct[absent]) = (hash, entry);
        absent += usize::from(is_absent);
    }
    keys.truncate(absent);
}

/// Last stage: adds the roots from number `at` on.
#[inline(always)]
pub(crate) fn insert_roots(
    sets: &Length,
    how: Shared,
    tickets: &mut Tickets<'_>,
    at: &mut usize,
    looked: &mut Looked,
) -> Result<(), (Lacks, u64)> {
    // SAFETY: the processor was asked.
    unsafe {
        if is_modern() {
            insert_modern(sets, how, tickets, at, looked)
        } else {
            insert::<false>(sets, how, tickets, at, looked)
        }
    }
}

/// As below, for processors with AVX2 and BMI2.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2"))]
#[inline(never)]
unsafe fn insert_modern(
    sets: &Length,
    how: Shared,
    tickets: &mut Tickets<'_>,
    at: &mut usize,
    looked: &mut Looked,
) -> Result<(), (Lacks, u64)> {
    insert::<true>(sets, how, tickets, at, looked)
}

#[inline(always)]
fn insert<const MODERN: bool>(
    Length { roots, fresh, .. }: &Length,
    how: Shared,
    tickets: &mut Tickets<'_>,
    at: &mut usize,
    looked: &mut Looked,
) -> Result<(), (Lacks, u64)> {
    let Looked { keys, distinct, new, .. } = looked;
    new.reserve(keys.len());
    // Other threads may have copies of these lines, and exchanging a word would wait for each, one after the other.
    for &hash in &keys[*at..] {
        roots.prefetch_to_write(hash);
    }
    while let (Some(&hash), Some(&entry)) = (keys.get(*at), distinct.get(*at)) {
        // Who finds it in the set of all from now on finds it here, too.
        if how.tells_open {
            let added = fresh.insert_shared::<MODERN>(hash, how.workers, tickets.fresh);
            added.map_err(|_: Short| (Lacks::Fresh, hash))?;
        }
        let added = roots.insert_shared::<MODERN>(hash, how.workers, tickets.roots);
        if added.map_err(|_: Short| (Lacks::Root, hash))? {
            new.push(entry);
        }
        *at += 1;
    }
    Ok(())
}
