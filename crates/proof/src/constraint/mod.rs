//! The constraint domain: conjunctions of linear constraints over unbounded integers.
//!
//! [`Dbm`] is the fast, exact core: difference constraints `x - y <= c` as a closed matrix.
//! [`Linear`] is a general linear inequality. [`Region`] combines both: whatever can be said as a
//! difference lives in the matrix, the rest in a list that is decided by exact elimination where
//! that is possible and otherwise answered "not known", in the direction that is sound for the
//! caller. Nothing here rounds, and nothing overflows silently: every operation that could
//! returns [`Overflow`].

mod dbm;
mod elimination;
mod linear;
mod region;

pub use dbm::{Dbm, INFINITY};
pub use linear::Linear;
pub use region::{Region, Truncated};

/// A bound left the range in which the arithmetic is exact, or a condition has more alternatives than can be listed. A proof attempt that meets it ends in
/// "unknown", never in a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

impl std::fmt::Display for Overflow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a bound exceeds the exact range of 60 bits, or a condition has too many alternatives")
    }
}

impl std::error::Error for Overflow {}
