//! Exact linear arithmetic over the integers: the procedure behind invariants that are not differences.
//!
//! A [`System`] is a conjunction. Its equations are solved as they come: variables become affine forms over fewer and fewer
//! integer *parameters*, by unimodular changes of parameters, so that the integer solutions of the equations are exactly the
//! integer values of the parameters. What is left are inequalities over the parameters, each divided by the common
//! factor of its coefficients with its bound rounded down. These are decided over the rationals by [`Simplex`], whose
//! answer is a combination of rows (Farkas), so that anybody can check it. [`Lattice`] is a set of points closed under
//! integer combinations of differences: affine equalities and congruences.
//!
//! Nothing wraps: every operation that leaves 64 bits gives [`Overflow`](crate::constraint::Overflow), and the caller gives up what it was about.

mod lattice;
mod rational;
mod simplex;
mod system;

pub use lattice::{Congruence, Lattice};
pub use rational::Rational;
pub use simplex::{Optimum, Simplex};
pub use system::{Form, System};

use crate::constraint::Overflow;

fn narrow(value: i128) -> Result<i64, Overflow> {
    // The negative of what fits has to fit, too.
    i64::try_from(value).ok().filter(|v| *v != i64::MIN).ok_or(Overflow)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The greatest common divisor of the coefficients; 1 or more unless all are 0.
pub fn common_factor(coefficients: impl Iterator<Item = i64>) -> i64 {
    let factor = coefficients.fold(0, |g, c| gcd(c.unsigned_abs(), g));
    i64::try_from(factor).unwrap_or(1)
}
