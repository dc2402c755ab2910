//! How many states one stands for.
//!
//! A search goes on from each representative once. The sizes of their classes, added up, are how many states those stored stand for. To find out the size of
//! a class takes longer than a representative, so that only some classes are asked: those whose hash ends in zeros, in ever more zeros as there are more
//! states. Which these are depends on the states alone. As long as every class was asked, the sum is exact. States of which it is known beforehand that each is a class
//! of its own are only counted.

use crate::partition::mix;

/// Most classes whose sizes are kept.
const MOST: usize = 512;

/// Nodes of all graphs of the classes that are kept; where graphs are large, there are fewer.
const NODES: usize = 16_384;

/// Sizes of classes.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// Of the classes whose hashes have zeros here.
    mask: u64,
    kept: Vec<(u64, f64)>,
    /// Classes that were offered, whether their sizes were kept or not.
    offered: u64,
    /// Classes of one state.
    alone: u64,
    /// Nodes of the largest graph.
    nodes: usize,
    /// Of some class it is not known.
    unknown: bool,
}

impl Sizes {
    /// The hash of a representative, if its class is to be asked for.
    #[inline]
    pub(crate) fn takes(&mut self, state: &[u64]) -> Option<u64> {
        self.offered += 1;
        let hash = state.iter().fold(0, |hash, word| mix(hash ^ word));
        (hash & self.mask == 0 && !self.unknown).then_some(hash)
    }

    /// A class of one state.
    #[inline]
    pub(crate) fn put_alone(&mut self) {
        self.alone += 1;
    }

    /// The size of a class, found by a graph with so many nodes.
    pub(crate) fn put(&mut self, hash: u64, size: Option<f64>, nodes: usize) {
        self.nodes = self.nodes.max(nodes);
        match size {
            Some(size) => self.kept.push((hash, size)),
            None => self.unknown = true,
        }
        self.thin();
    }

    fn thin(&mut self) {
        let most = (NODES / self.nodes.max(1)).clamp(32, MOST);
        while self.kept.len() > most {
            self.mask = self.mask << 1 | 1;
            let mask = self.mask;
            self.kept.retain(|(hash, _)| hash & mask == 0);
        }
    }

    /// Adds those of another worker.
    pub(crate) fn add(&mut self, other: &Sizes) {
        self.unknown |= other.unknown;
        self.nodes = self.nodes.max(other.nodes);
        self.offered += other.offered;
        self.alone += other.alone;
        self.mask |= other.mask;
        self.kept.extend(&other.kept);
        let mask = self.mask;
        self.kept.retain(|(hash, _)| hash & mask == 0);
        self.thin();
    }

    /// The average, and whether every class was counted; none if nothing is known.
    pub fn average(&self) -> Option<(f64, bool)> {
        let sum: f64 = self.kept.iter().map(|(_, size)| size).sum();
        let offered = match self.kept.len() {
            0 => 0.0,
            kept => sum / kept as f64 * self.offered as f64,
        };
        let known =
            !self.unknown && self.offered + self.alone > 0 && self.kept.is_empty() == (self.offered == 0);
        let classes = (self.offered + self.alone) as f64;
        known.then(|| ((offered + self.alone as f64) / classes, self.mask == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_counted_and_many_are_sampled() {
        let mut sizes = Sizes::default();
        for state in 0..200u64 {
            let hash = sizes.takes(&[state]).expect("all are taken");
            sizes.put(hash, Some((state % 2) as f64), 9);
        }
        assert_eq!(sizes.average(), Some((0.5, true)));
        // A fifth of all classes has one state each.
        let mut mixed = sizes.clone();
        (0..50).for_each(|_| mixed.put_alone());
        assert_eq!(mixed.average(), Some((0.6, true)));
        let mut other = Sizes::default();
        for state in 200..100_000u64 {
            if let Some(hash) = other.takes(&[state]) {
                other.put(hash, Some(3.0), 9);
            }
        }
        sizes.add(&other);
        assert!(sizes.kept.len() > MOST / 4 && sizes.kept.len() <= MOST);
        let (average, exact) = sizes.average().expect("known");
        assert!(!exact && average > 2.5, "{average}");
        sizes.put(0, None, 9);
        assert_eq!(sizes.average(), None);
    }
}
