//! State stores: implementations of the `Visited` seam, seen before?
//!
//! A store keeps a set of states, exactly: [`Plain`] as they are, [`Tree`] as shared pairs of 32-bit
//! numbers, [`Gzip`] each compressed, [`Collapse`] as shared components. [`Bitstate`] and [`Compaction`] only keep hashes, and may take a state for another. The first two grow by themselves, a segment at a time, so that no insertion waits for a rehash of
//! everything.

mod bitstate;
mod claim;
mod collapse;
mod compaction;
mod crew;
mod directory;
mod gzip;
mod hash;
mod interner;
mod key_set;
mod lines;
mod memory;
mod numbered;
mod numbered_states;
mod packed;
mod plain;
mod plan;
mod pool;
mod shared_batch;
mod shared_tree;
mod tree;
mod tree_batch;

pub use bitstate::Bitstate;
pub use collapse::Collapse;
pub use compaction::Compaction;
pub use gzip::Gzip;
pub use numbered::NumberedTree;
pub use numbered_states::NumberedStates;
pub use plain::Plain;
pub use shared_tree::{Part, SharedTree};
pub use tree::Tree;

#[cfg(not(target_endian = "little"))]
compile_error!("slots are read as halves of words: this needs a little-endian machine");

/// Tells the processor that `slice[index]` will be needed.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], index: usize) {
    prefetch_at(slice.as_ptr().wrapping_add(index));
}

/// Starts loading what is at an address for who will write there: other processors give their copies up while something else is done.
#[inline(always)]
fn prefetch_to_write<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching has no effect but on caches, whatever the address is; processors that do not know this instruction do nothing.
    unsafe {
        std::arch::asm!("prefetchw [{at}]", at = in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    prefetch_at(at);
}

/// Tells the processor that what lies at this address will be needed.
#[inline(always)]
pub(crate) fn prefetch_at<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching has no effect on memory and takes any address.
    unsafe {
        std::arch::x86_64::_mm_prefetch(address.cast::<i8>(), std::arch::x86_64::_MM_HINT_T0);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use quotient_seams::{Known, Loaded, Numbering, Part, PartKind, Parts, Visited};

    use super::*;

    /// A random walk over states of varying length, each a small change of an earlier one.
    fn agrees_with_a_hash_set(mut store: impl Visited, steps: usize) {
        let mut seed = 12345u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed >> 33
        };
        let mut reference: HashSet<Vec<u64>> = HashSet::new();
        let mut known: Vec<(Vec<u64>, Vec<u32>)> = Vec::new();
        for step in 0..steps {
            let parent = (!known.is_empty()).then(|| random() as usize % known.len());
            let mut state = parent.map_or_else(|| vec![1, 2, 3], |p| known[p].0.clone());
            match random() % 20 {
                0 => state.push(random() % 3),
                1 if state.len() > 1 => {
                    state.pop();
                }
                _ => {
                    let at = random() as usize % state.len();
                    state[at] = random() % 7;
                }
            }
            let mut hint = vec![0; store.hint_len(state.len())];
            let parent = parent.map(|p| Known { state: &known[p].0, hint: &known[p].1 });
            let loaded = store.load(&state, parent, &mut hint);
            let key = store.prepare(&state, loaded, &mut hint);
            let mut fresh = vec![0; hint.len()];
            let loaded = store.load(&state, None, &mut fresh);
            assert_eq!(key, store.prepare(&state, loaded, &mut fresh), "the hint changes nothing");
            assert_eq!(hint, fresh);
            assert_eq!(store.contains(key, &state), reference.contains(&state), "step {step}");
            assert_eq!(store.insert(key, &state), reference.insert(state.clone()), "step {step}");
            assert!(store.contains(key, &state));
            known.push((state, hint));
        }
        assert_eq!(store.len(), reference.len() as u64);
        for state in &reference {
            let mut hint = vec![0; store.hint_len(state.len())];
            let loaded = store.load(state, None, &mut hint);
            let key = store.prepare(state, loaded, &mut hint);
            assert!(!store.insert(key, state));
        }
        assert!(store.bytes() > 0);
        assert_eq!(store.exhausted(), None);
    }

    /// Numbers are consecutive and stay, whatever the lengths of states.
    fn numbers_states(mut store: impl Numbering, steps: usize) {
        let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
        let mut seed = 1u64;
        for _ in 0..steps {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let state: Vec<u64> = (0..1 + (seed >> 60) % 7).map(|i| (seed >> (20 + 3 * i)) % 5).collect();
            let next = known.len() as u32;
            let expected = *known.entry(state.clone()).or_insert(next);
            assert_eq!(store.number_of(&state), expected);
            assert_eq!(store.len() as usize, known.len());
        }
        assert!(store.bytes() > 0 && store.exhausted().is_none());
    }

    #[test]
    fn stores_number_their_states() {
        numbers_states(NumberedTree::new(), 50_000);
        numbers_states(Plain::new(), 50_000);
        numbers_states(Gzip::new(), 5_000);
        numbers_states(Collapse::new(quotient_seams::Whole), 50_000);
        let boxed: Box<dyn Numbering> = Box::new(Gzip::new());
        numbers_states(boxed, 1_000);
    }

    #[test]
    fn a_numbered_tree_is_a_set() {
        agrees_with_a_hash_set(NumberedTree::new(), 60_000);
    }

    #[test]
    fn plain_is_a_set() {
        agrees_with_a_hash_set(Plain::new(), 60_000);
    }

    #[test]
    fn tree_is_a_set() {
        agrees_with_a_hash_set(Tree::new(), 60_000);
    }

    #[test]
    fn gzip_is_a_set() {
        agrees_with_a_hash_set(Gzip::new(), 5_000);
    }

    /// Cuts every state after the first word, which holds its length, in parts that depend on that.
    struct ByLength(Vec<Part>);

    impl Parts for ByLength {
        fn parts(&mut self, state: &[u64]) -> &[Part] {
            use PartKind::*;
            self.0.clear();
            self.0.push(Part { kind: Globals, start: 0 });
            let kinds = [Thread, Store, Object, Thread, Control, Store, Object, Object];
            let cuts = (1..state.len() as u32).map(|word| 8 * word + word % 3);
            self.0.extend(kinds.iter().cycle().zip(cuts).map(|(kind, start)| Part { kind: *kind, start }));
            &self.0
        }
    }

    /// Puts the length in front.
    struct WithLength<V>(V);

    impl<V: Visited> Visited for WithLength<V> {
        fn hint_len(&self, words: usize) -> usize {
            self.0.hint_len(words + 1)
        }

        fn load(&mut self, state: &[u64], _: Option<Known<'_>>, hint: &mut [u32]) -> Loaded {
            self.0.load(&[&[state.len() as u64], state].concat(), None, hint)
        }

        fn prepare(&mut self, state: &[u64], loaded: Loaded, hint: &mut [u32]) -> u64 {
            self.0.prepare(&[&[state.len() as u64], state].concat(), loaded, hint)
        }

        fn insert(&mut self, key: u64, state: &[u64]) -> bool {
            self.0.insert(key, &[&[state.len() as u64], state].concat())
        }

        fn contains(&self, key: u64, state: &[u64]) -> bool {
            self.0.contains(key, &[&[state.len() as u64], state].concat())
        }

        fn len(&self) -> u64 {
            self.0.len()
        }

        fn bytes(&self) -> u64 {
            self.0.bytes()
        }

        fn name(&self) -> &'static str {
            self.0.name()
        }
    }

    #[test]
    fn collapse_is_a_set() {
        agrees_with_a_hash_set(Collapse::new(quotient_seams::Whole), 60_000);
        agrees_with_a_hash_set(WithLength(Collapse::new(ByLength(Vec::new()))), 60_000);
        let boxed: Box<dyn Visited> = Box::new(WithLength(Collapse::new(ByLength(Vec::new()))));
        agrees_with_a_hash_set(boxed, 1_000);
    }
}
