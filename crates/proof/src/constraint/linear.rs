//! General linear inequalities with integer coefficients.

use super::Overflow;

/// `sum of coefficient * x_node <= bound`, terms sorted by node, no zero coefficient.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Linear {
    /// `(node, coefficient)`; never node 0.
    pub terms: Vec<(usize, i64)>,
    /// The right-hand side.
    pub bound: i64,
}

/// What an inequality says once simplified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Always or never true.
    Truth(bool),
    /// `x_i - x_j <= c`, where either may be the zero node.
    Difference(usize, usize, i64),
    /// Anything else.
    General(Linear),
}

/// Floor division for a positive divisor.
pub(super) fn floor_div(a: i64, b: i64) -> i64 {
    a.div_euclid(b)
}

pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Linear {
    /// Collects like terms. `Overflow` when a coefficient does.
    pub fn new(terms: impl IntoIterator<Item = (usize, i64)>, bound: i64) -> Result<Linear, Overflow> {
        let mut list: Vec<(usize, i64)> = terms.into_iter().collect();
        list.sort_by_key(|t| t.0);
        let mut merged: Vec<(usize, i64)> = Vec::with_capacity(list.len());
        for (node, coefficient) in list {
            match merged.last_mut() {
                Some(last) if last.0 == node => {
                    last.1 = last.1.checked_add(coefficient).ok_or(Overflow)?;
                }
                _ => merged.push((node, coefficient)),
            }
        }
        merged.retain(|t| t.1 != 0 && t.0 != 0);
        Ok(Linear { terms: merged, bound })
    }

    /// `x_i - x_j <= c`.
    pub fn difference(i: usize, j: usize, c: i64) -> Linear {
        Linear::new([(i, 1), (j, -1)], c).expect("coefficients 1 and -1 cannot overflow")
    }

    /// The complement over the integers: `sum >= bound + 1`.
    pub fn negated(&self) -> Result<Linear, Overflow> {
        let bound = self.bound.checked_add(1).and_then(i64::checked_neg).ok_or(Overflow)?;
        let terms = self.terms.iter().map(|&(n, c)| Ok((n, c.checked_neg().ok_or(Overflow)?)));
        Ok(Linear { terms: terms.collect::<Result<_, Overflow>>()?, bound })
    }

    /// The same inequality with nodes renamed.
    pub fn renamed(&self, rename: impl Fn(usize) -> usize) -> Result<Linear, Overflow> {
        Linear::new(self.terms.iter().map(|&(n, c)| (rename(n), c)), self.bound)
    }

    /// Whether the values (node 0 being zero) satisfy it.
    pub fn holds(&self, values: &[i64]) -> bool {
        let total: i128 = self.terms.iter().map(|&(n, c)| i128::from(c) * i128::from(values[n])).sum();
        total <= i128::from(self.bound)
    }

    /// Divides by the common factor, rounding the bound down: over the integers the left side is a
    /// multiple of the factor, so no solution is lost.
    pub(super) fn shape(mut self) -> Shape {
        let factor = self.terms.iter().fold(0, |g, t| gcd(t.1.unsigned_abs(), g));
        let Ok(factor) = i64::try_from(factor) else { return Shape::General(self) };
        if factor > 1 {
            self.terms.iter_mut().for_each(|t| t.1 /= factor);
            self.bound = floor_div(self.bound, factor);
        }
        match self.terms[..] {
            [] => Shape::Truth(self.bound >= 0),
            [(i, 1)] => Shape::Difference(i, 0, self.bound),
            [(j, -1)] => Shape::Difference(0, j, self.bound),
            [(i, 1), (j, -1)] | [(j, -1), (i, 1)] => Shape::Difference(i, j, self.bound),
            _ => Shape::General(self),
        }
    }
}
