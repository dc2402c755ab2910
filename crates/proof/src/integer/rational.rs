//! Fractions in 64 bits, checked.

use std::cmp::Ordering;

use super::{gcd, narrow};
use crate::constraint::Overflow;

/// A fraction in lowest terms, the denominator positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rational {
    numerator: i64,
    denominator: i64,
}

type Checked = Result<Rational, Overflow>;

fn gcd_wide(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        if let (Ok(a), Ok(b)) = (u64::try_from(a), u64::try_from(b)) {
            return gcd(a, b).into();
        }
        (a, b) = (b, a % b);
    }
    a
}

impl Rational {
    /// 0.
    pub const ZERO: Rational = Rational { numerator: 0, denominator: 1 };
    /// 1.
    pub const ONE: Rational = Rational { numerator: 1, denominator: 1 };

    /// A whole number.
    pub fn whole(value: i64) -> Rational {
        Rational { numerator: value, denominator: 1 }
    }

    fn reduced(numerator: i128, denominator: i128) -> Checked {
        let factor = gcd_wide(numerator.unsigned_abs(), denominator.unsigned_abs());
        let factor = i128::try_from(factor).map_err(|_| Overflow)?;
        let factor = if denominator < 0 { -factor } else { factor };
        Ok(Rational { numerator: narrow(numerator / factor)?, denominator: narrow(denominator / factor)? })
    }

    /// The numerator.
    pub fn numerator(self) -> i64 {
        self.numerator
    }

    /// The denominator.
    pub fn denominator(self) -> i64 {
        self.denominator
    }

    /// Whether it is 0.
    pub fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// Whether it is above 0.
    pub fn is_positive(self) -> bool {
        self.numerator > 0
    }

    /// Whether it is below 0.
    pub fn is_negative(self) -> bool {
        self.numerator < 0
    }

    /// The largest whole number that is not above it.
    pub fn floor(self) -> i64 {
        self.numerator.div_euclid(self.denominator)
    }

    /// The sum.
    pub fn plus(self, other: Rational) -> Checked {
        if self.denominator == 1 && other.denominator == 1 {
            return Ok(Rational::whole(narrow(i128::from(self.numerator) + i128::from(other.numerator))?));
        }
        let (a, b) = (i128::from(self.numerator), i128::from(self.denominator));
        let (c, d) = (i128::from(other.numerator), i128::from(other.denominator));
        let sum = (a * d).checked_add(c * b).ok_or(Overflow)?;
        Rational::reduced(sum, b * d)
    }

    /// The difference.
    pub fn minus(self, other: Rational) -> Checked {
        self.plus(other.negated())
    }

    /// The product.
    pub fn times(self, other: Rational) -> Checked {
        let (a, b) = (i128::from(self.numerator), i128::from(self.denominator));
        let (c, d) = (i128::from(other.numerator), i128::from(other.denominator));
        if b == 1 && d == 1 {
            return Ok(Rational::whole(narrow(a * c)?));
        }
        Rational::reduced(a * c, b * d)
    }

    /// The quotient; the divisor is not 0.
    pub fn over(self, other: Rational) -> Checked {
        let (a, b) = (i128::from(self.numerator), i128::from(self.denominator));
        let (c, d) = (i128::from(other.numerator), i128::from(other.denominator));
        Rational::reduced(a * d, b * c)
    }

    /// The negative.
    pub fn negated(self) -> Rational {
        Rational { numerator: -self.numerator, ..self }
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Rational) -> Ordering {
        let left = i128::from(self.numerator) * i128::from(other.denominator);
        left.cmp(&(i128::from(other.numerator) * i128::from(self.denominator)))
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Rational) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
