//! Random formulas and words.

use quotient_logic::{Formula, Lasso};

/// What is random: numbers, and formulas and words by them.
pub struct Random(quotient_testing::Random);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(quotient_testing::Random::new(seed))
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0.number(n)
    }

    /// A formula with about `size` operators and propositions.
    pub fn formula(&mut self, size: u64, props: u64) -> Formula {
        if size <= 1 {
            return match self.below(12) {
                0 => Formula::True,
                1 => Formula::False,
                _ => Formula::prop(self.below(props) as u32),
            };
        }
        if size == 2 || self.below(10) < 5 {
            let inner = self.formula(size - 1, props);
            return match self.below(8) {
                0..=1 => inner.negated(),
                2 => inner.next(),
                3..=5 => inner.eventually(),
                _ => inner.always(),
            };
        }
        let left = 1 + self.below(size - 2);
        let (a, b) = (self.formula(left, props), self.formula(size - 1 - left, props));
        match self.below(8) {
            0..=1 => a.and(b),
            2..=3 => a.or(b),
            4 => a.release(b),
            5 => a.weak_until(b),
            _ => a.until(b),
        }
    }

    #[allow(dead_code, reason = "each test binary uses a part")]
    pub fn lasso(&mut self, props: u64) -> Lasso {
        let (prefix, cycle) = (self.below(5), 1 + self.below(4));
        // Letters vary between almost random and mostly equal, so that `always` and `never` happen.
        let base = self.0.bits();
        let noise = self.below(3);
        let letter = |random: &mut Random| match noise {
            0 => random.0.bits() & ((1 << props) - 1),
            _ => (base ^ (random.0.bits() & random.0.bits() & random.0.bits())) & ((1 << props) - 1),
        };
        Lasso {
            prefix: (0..prefix).map(|_| letter(self)).collect(),
            cycle: (0..cycle).map(|_| letter(self)).collect(),
        }
    }
}
