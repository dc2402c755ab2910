//! Every store, filled in batches as a search does, against a set of the standard library: states of all lengths, few
//! differences between a state and its parent, repeated states within a batch, states replaced by shorter ones.

use std::collections::HashSet;

use quotient_seams::{Group, Known, Looked, Successors, Visited};
use quotient_testing::Random;
use quotient_visited::{Gzip, Plain, Tree};

/// A state that was stored, with its hint.
type Stored = (Vec<u64>, Vec<u32>);

/// One batch of successors of states stored before.
fn batch<V: Visited>(
    random: &mut Random,
    store: &mut V,
    stored: &mut Vec<Stored>,
    seen: &mut HashSet<Vec<u64>>,
) {
    let mut successors = Successors::new();
    let mut ranges = Vec::new();
    // Most batches have states of one length.
    let mixed = random.below(4) == 0;
    let length = stored[random.below(stored.len())].0.len();
    for _ in 0..1 + random.below(20) {
        let parent = loop {
            let parent = random.below(stored.len());
            if mixed || stored[parent].0.len() == length {
                break parent;
            }
        };
        let first = successors.len();
        for _ in 0..random.below(6) {
            let mut state = stored[parent].0.clone();
            for _ in 0..random.below(3) {
                let word = random.below(state.len());
                state[word] ^= 1 << (8 * random.below(8));
            }
            if random.below(8) == 0 && mixed {
                state.push(random.below(3) as u64);
            }
            successors.push(&state);
            if state.len() > 1 && random.below(3) == 0 {
                let shorter = state[..state.len() - 1].to_vec();
                successors.replace(successors.len() - 1, &shorter);
            }
        }
        ranges.push((parent, first, successors.len()));
    }
    let groups: Vec<Group<'_>> = ranges
        .iter()
        .map(|&(parent, first, end)| {
            let parent = Known { state: &stored[parent].0, hint: &stored[parent].1 };
            Group { parent, first, end }
        })
        .collect();
    let mut looked = Looked::default();
    store.insert_batch(&successors, successors.len(), &groups, &mut looked);
    let mut expected = Vec::new();
    for entry in 0..successors.len() {
        if seen.insert(successors.state(entry).to_vec()) {
            expected.push(entry as u32);
        }
    }
    assert_eq!(looked.new, expected, "{}", store.name());
    for &entry in &looked.new {
        let state = successors.state(entry as usize).to_vec();
        let hint = looked.hint(entry as usize, store.hint_len(state.len())).to_vec();
        stored.push((state, hint));
    }
    assert_eq!(store.len(), seen.len() as u64, "{}", store.name());
}

fn compare<V: Visited>(new: impl Fn() -> V) {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mut store = new();
        let mut seen = HashSet::new();
        let mut stored = Vec::new();
        for words in [1 + random.below(6), 1 + random.below(40)] {
            let state = vec![0; words];
            let mut hint = vec![0; store.hint_len(words)];
            let loaded = store.load(&state, None, &mut hint);
            let key = store.prepare(&state, loaded, &mut hint);
            assert_eq!(store.insert(key, &state), seen.insert(state.clone()));
            stored.push((state, hint));
        }
        for _ in 0..300 {
            batch(&mut random, &mut store, &mut stored, &mut seen);
        }
        assert!(seen.len() > 100, "seed {seed}: {} states", seen.len());
    }
}

#[test]
fn the_tree_is_a_set() {
    compare(Tree::new);
}

#[test]
fn the_plain_store_is_a_set() {
    compare(Plain::new);
}

#[test]
fn the_gzip_store_is_a_set() {
    compare(Gzip::new);
}
