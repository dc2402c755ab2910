//! The numbers at which growing bounds stop: constants of the program and their neighbours.
//!
//! A bound that keeps growing takes its exact value twice, then the next number of this list, then none at all. So every
//! chain of growing sets is finite, and a bound that the program itself compares with is met on the way.

use std::collections::BTreeSet;

use crate::program::{Program, Right, Tree};

/// More constants than this, and only themselves and their neighbours are used.
const MOST: usize = 24;

/// Ascending.
pub struct Thresholds(Vec<i64>);

impl Thresholds {
    /// Those of a program.
    pub fn of(program: &Program) -> Thresholds {
        let mut constants = BTreeSet::from([0]);
        let mut note = |tree: &Tree| {
            tree.each(&mut |l| {
                constants.insert(l.bound);
            });
        };
        program.rules.iter().for_each(|r| note(&r.guard));
        for assertion in &program.assertions {
            note(&assertion.left);
            let (Right::Constraint(tree) | Right::State(tree)) = &assertion.right;
            note(tree);
        }
        Thresholds::around(constants)
    }

    /// Those around some numbers.
    pub fn around(constants: impl IntoIterator<Item = i64>) -> Thresholds {
        let constants: BTreeSet<i64> = constants.into_iter().chain([0, 1]).collect();
        let small: Vec<i64> = constants.into_iter().filter(|c| c.unsigned_abs() < 1 << 40).collect();
        let mut all = BTreeSet::new();
        for &c in &small {
            all.extend([c - 1, c, c + 1, -c - 1, -c, -c + 1]);
            if small.len() <= MOST {
                all.insert(2 * c);
                all.extend(small.iter().flat_map(|d| [c + d, c - d]));
            }
        }
        Thresholds(all.into_iter().collect())
    }

    /// The least one that is not below a bound.
    pub fn above(&self, bound: i64) -> Option<i64> {
        self.0.get(self.0.partition_point(|t| *t < bound)).copied()
    }
}
