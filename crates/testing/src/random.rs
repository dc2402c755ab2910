//! A small random number generator whose sequence is part of this crate's interface.
//!
//! Programs are named by their seed, so the sequence must never depend on a library version. This is
//! SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): one
//! 64-bit counter and a mixing function; its quality is more than enough to choose statements.

/// The generator.
#[derive(Clone, Debug)]
pub struct Random {
    counter: u64,
}

impl Random {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Random { counter: seed }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.counter = self.counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.counter;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..bound`; 0 when `bound` is 0. The bias of the remainder is irrelevant here.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.bits() % bound as u64) as usize }
    }

    /// A number in `0..bound`; `bound` is not 0.
    pub fn number(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((high - low + 1).max(1) as usize) as i32
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u32) -> bool {
        (self.below(100) as u32) < percent
    }

    /// One of the items, of which there is at least one.
    pub fn one<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// One of the items, or `None` of an empty slice.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { Some(&items[self.below(items.len())]) }
    }

    /// An index into `weights`, each with a probability proportional to its weight; `None` when all are 0.
    pub fn weighted(&mut self, weights: &[u32]) -> Option<usize> {
        let total: u32 = weights.iter().sum();
        if total == 0 {
            return None;
        }
        let mut rest = self.below(total as usize) as u32;
        for (index, weight) in weights.iter().enumerate() {
            if rest < *weight {
                return Some(index);
            }
            rest -= weight;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// The published first outputs of SplitMix64 for seed 1234567: the sequence may never change.
    #[test]
    fn sequence_is_splitmix64() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
        assert_eq!(random.bits(), 9_817_491_932_198_370_423);
    }

    #[test]
    fn weights_of_zero_are_never_chosen() {
        let mut random = Random::new(1);
        for _ in 0..1000 {
            assert_eq!(random.weighted(&[0, 3, 0]), Some(1));
        }
        assert_eq!(random.weighted(&[0, 0]), None);
    }
}
