//! The shared tree under several threads, against a set of the standard library: every state is new to exactly one thread, states of all lengths,
//! tables that grow from nothing while threads add to them, levels.
//!
//! `QUOTIENT_SHARED_BATCHES` sets how many batches each thread adds.

use std::collections::{HashMap, HashSet};

use quotient_seams::{Group, Known, Looked, Share, Shared, SharedStore, Successors, Visited};
use quotient_testing::{Random, setting};
use quotient_visited::Tree;

type State = Vec<u64>;

/// Adds batches of states near zero, so that threads meet; gives the states that were new to this thread, with hints.
fn add<V: Visited>(part: &mut V, seed: u64, batches: u64, words: usize) -> HashMap<State, Vec<u32>> {
    let mut random = Random::new(seed);
    let mut mine: HashMap<State, Vec<u32>> = HashMap::new();
    let mut known: Vec<(State, Vec<u32>)> = Vec::new();
    let mut looked = Looked::default();
    for _ in 0..batches {
        let mut successors = Successors::new();
        let parent = if known.is_empty() { None } else { Some(&known[random.below(known.len())]) };
        let empty = (Vec::new(), Vec::new());
        let (base, hint) = parent.unwrap_or(&empty);
        for _ in 0..1 + random.below(100) {
            let mut state = if base.is_empty() { vec![0; 1 + random.below(words)] } else { base.clone() };
            for _ in 0..1 + random.below(3) {
                let at = random.below(state.len());
                state[at] = (random.below(6) as u64) << (32 * random.below(2));
            }
            if random.below(10) == 0 && state.len() < words {
                state.push(0);
            }
            successors.push(&state);
        }
        let group = Group { parent: Known { state: base, hint }, first: 0, end: successors.len() };
        part.insert_batch(&successors, successors.len(), &[group], &mut looked);
        let mut new = Vec::new();
        for &entry in &looked.new {
            let state = successors.state(entry as usize).to_vec();
            let hint = looked.hint(entry as usize, part.hint_len(state.len())).to_vec();
            assert!(mine.insert(state.clone(), hint.clone()).is_none(), "new twice to one thread");
            new.push((state, hint));
        }
        known.extend(new);
    }
    mine
}

/// Threads add states at once; gives what each found new.
fn together(
    tree: &mut Tree,
    tells_open: bool,
    threads: usize,
    words: usize,
) -> Vec<HashMap<State, Vec<u32>>> {
    let batches = setting("QUOTIENT_SHARED_BATCHES", 400);
    let store = tree.share(Shared { workers: threads, tells_open });
    let found = std::thread::scope(|scope| {
        let run = |thread: usize| {
            let mut part = store.part();
            move || add(&mut part, 100 + thread as u64, batches, words)
        };
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(run(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
    });
    tree.take_back(store);
    found
}

#[test]
fn every_state_is_new_to_one_thread() {
    for (words, tells_open) in [(3, false), (4, false), (9, false), (40, false), (5, true), (80, true)] {
        let mut tree = Tree::new();
        let found = together(&mut tree, tells_open, 4, words);
        let mut all: HashSet<&State> = HashSet::new();
        for state in found.iter().flat_map(HashMap::keys) {
            assert!(all.insert(state), "{state:?} is new to two threads ({words} words)");
        }
        assert_eq!(tree.len(), all.len() as u64);
        assert!(all.len() > 1_000, "{} states", all.len());
        // One thread alone finds them all there, with the hints that they were given.
        for (state, hint) in found.iter().flatten() {
            let mut own = vec![0; tree.hint_len(state.len())];
            let loaded = tree.load(state, None, &mut own);
            let key = tree.prepare(state, loaded, &mut own);
            assert_eq!(&own, hint, "{state:?}");
            assert!(tree.contains(key, state) && !tree.insert(key, state));
        }
        let fresh: Vec<u64> = vec![77; words];
        let mut hint = vec![0; tree.hint_len(words)];
        let loaded = tree.load(&fresh, None, &mut hint);
        let key = tree.prepare(&fresh, loaded, &mut hint);
        assert!(tree.insert(key, &fresh), "and what nobody added is new");
        assert_eq!(tree.exhausted(), None);
    }
}

#[test]
fn what_was_found_in_this_level_waits() {
    let mut tree = Tree::new();
    let store = tree.share(Shared { workers: 2, tells_open: true });
    let (mut first, mut second) = (store.part(), store.part());
    let mut looked = Looked::default();
    let mut ask = |part: &mut quotient_visited::Part<'_>, states: &[&[u64]]| {
        let mut successors = Successors::new();
        states.iter().for_each(|state| successors.push(state));
        let group = Group { parent: Known { state: &[], hint: &[] }, first: 0, end: states.len() };
        part.insert_batch(&successors, states.len(), &[group], &mut looked);
        let open = (0..states.len()).map(|entry| part.is_open(&looked, entry, states[entry]));
        (looked.new.clone(), open.collect::<Vec<bool>>())
    };
    let (one, two, three, zero) = (&[1, 1][..], &[2, 2][..], &[3, 3, 3][..], &[0][..]);
    assert_eq!(ask(&mut first, &[one, two, one]), (vec![0, 1], vec![true; 3]));
    assert_eq!(ask(&mut second, &[two, three, zero]), (vec![1, 2], vec![true; 3]));
    assert_eq!(ask(&mut first, &[zero, three]), (vec![], vec![true; 2]));
    store.next_level();
    assert_eq!(ask(&mut second, &[one, &[4, 4], three, zero]), (vec![1], vec![false, true, false, false]));
    store.next_level();
    assert_eq!(ask(&mut first, &[&[4, 4], &[5, 5], zero]), (vec![1], vec![false, true, false]));
    assert_eq!(first.len(), 6);
    tree.take_back(store);
    assert_eq!(tree.len(), 6);
}

/// Levels with many states, then few, then many: the set of a level shrinks and grows again, and tickets of another size are not used in it.
#[test]
fn levels_of_all_sizes() {
    let mut tree = Tree::new();
    let store = tree.share(Shared { workers: 2, tells_open: true });
    let mut parts = [store.part(), store.part()];
    let mut looked = Looked::default();
    let (mut next, mut total) = (0u64, 0);
    for size in [100_000u64, 3, 1, 0, 2, 5_000, 1, 50_000] {
        for (number, part) in parts.iter_mut().enumerate() {
            let mut successors = Successors::new();
            (0..size).for_each(|i| successors.push(&[next + i, 7]));
            let group = Group { parent: Known { state: &[], hint: &[] }, first: 0, end: successors.len() };
            part.insert_batch(&successors, successors.len(), &[group], &mut looked);
            assert_eq!(looked.new.len() as u64, if number == 0 { size } else { 0 });
            assert!((0..successors.len()).all(|entry| part.is_open(&looked, entry, successors.state(entry))));
        }
        next += size;
        total += size;
        store.next_level();
    }
    tree.take_back(store);
    assert_eq!(tree.len(), total);
}
