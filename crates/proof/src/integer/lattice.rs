//! Lattices of points: affine equalities and congruences (Granger's domain of linear congruence equalities).
//!
//! A point and integer combinations of vectors. Growing takes in a point or another direction; a chain of growing lattices is
//! finite, since each step raises the rank or divides the index. The dual form, for certificates and for solving, comes
//! from a Smith normal form: rows `a x = c` modulo `m`, where `m = 0` means equality.

use super::narrow;
use crate::constraint::Overflow;

/// `terms = residue` modulo `modulus`; a modulus of 0 means equality.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Congruence {
    /// Coefficients by position.
    pub terms: Vec<(usize, i64)>,
    /// What is left.
    pub residue: i64,
    /// The modulus, 0 or at least 2.
    pub modulus: i64,
}

/// Larger coefficients and moduli are left out of the dual form: the set only gets larger.
const LARGEST: i64 = 1 << 24;

/// `base` plus the integer combinations of `basis`, which is in echelon form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lattice {
    /// One point.
    pub base: Vec<i64>,
    /// Linearly independent directions, by ascending first nonzero position.
    pub basis: Vec<Vec<i64>>,
}

fn first(vector: &[i64]) -> Option<usize> {
    vector.iter().position(|v| *v != 0)
}

/// `one - factor * other`.
fn minus(one: &[i64], other: &[i64], factor: i64) -> Result<Vec<i64>, Overflow> {
    let entry = |(a, b): (&i64, &i64)| narrow(i128::from(*a) - i128::from(*b) * i128::from(factor));
    one.iter().zip(other).map(entry).collect()
}

impl Lattice {
    /// A single point.
    pub fn point(base: Vec<i64>) -> Lattice {
        Lattice { base, basis: Vec::new() }
    }

    /// Every point.
    pub fn all(width: usize) -> Lattice {
        let unit = |i: usize| (0..width).map(|j| i64::from(i == j)).collect();
        Lattice { base: vec![0; width], basis: (0..width).map(unit).collect() }
    }

    /// Whether a direction is a combination of the basis.
    fn spans(&self, vector: &[i64]) -> Result<bool, Overflow> {
        let mut rest = vector.to_vec();
        for own in &self.basis {
            // Echelon form: no vector of the basis is zero.
            let Some(at) = first(own) else { continue };
            if rest[..at].iter().any(|v| *v != 0) || rest[at] % own[at] != 0 {
                return Ok(false);
            }
            rest = minus(&rest, own, rest[at] / own[at])?;
        }
        Ok(rest.iter().all(|v| *v == 0))
    }

    /// Whether it contains `base` and all that the directions lead to.
    pub fn contains(&self, base: &[i64], directions: &[Vec<i64>]) -> Result<bool, Overflow> {
        if !self.spans(&minus(base, &self.base, 1)?)? {
            return Ok(false);
        }
        for d in directions {
            if !self.spans(d)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn add(&mut self, vector: Vec<i64>) -> Result<(), Overflow> {
        let mut rest = vector;
        while let Some(at) = first(&rest) {
            let Some(place) = self.basis.iter().position(|own| first(own).is_some_and(|f| f >= at)) else {
                self.basis.push(rest);
                return Ok(());
            };
            if first(&self.basis[place]) != Some(at) {
                self.basis.insert(place, rest);
                return Ok(());
            }
            // Euclid's algorithm on the two leading entries.
            let own = &self.basis[place];
            let reduced = minus(&rest, own, rest[at].div_euclid(own[at]))?;
            if reduced[at] == 0 {
                rest = reduced;
            } else {
                rest = std::mem::replace(&mut self.basis[place], reduced);
            }
        }
        Ok(())
    }

    /// Takes in `base` and all that the directions lead to. Numbers that are too large make it every point.
    pub fn take_in(&mut self, base: &[i64], directions: &[Vec<i64>]) {
        let mut grown = self.clone();
        let mut add = || -> Result<(), Overflow> {
            grown.add(minus(base, &grown.base, 1)?)?;
            directions.iter().try_for_each(|d| grown.add(d.clone()))
        };
        *self = match add() {
            Ok(()) => grown,
            Err(Overflow) => Lattice::all(self.base.len()),
        };
    }

    /// The equalities and congruences that say which points these are, except those with large numbers.
    pub fn congruences(&self) -> Vec<Congruence> {
        let Ok((rows, moduli)) = smith(&self.basis, self.base.len()) else { return Vec::new() };
        let mut out = Vec::new();
        for (row, modulus) in rows.into_iter().zip(moduli) {
            if modulus == 1 || modulus > LARGEST || row.iter().any(|c| c.abs() > LARGEST) {
                continue;
            }
            let value: i128 = row.iter().zip(&self.base).map(|(c, x)| i128::from(*c) * i128::from(*x)).sum();
            let value = if modulus == 0 { value } else { value.rem_euclid(modulus.into()) };
            let Ok(residue) = narrow(value) else { continue };
            let reduced = |c: i64| match modulus {
                0 => c,
                m => {
                    let r = c.rem_euclid(m);
                    if 2 * r > m { r - m } else { r }
                }
            };
            let terms: Vec<(usize, i64)> =
                row.into_iter().map(reduced).enumerate().filter(|t| t.1 != 0).collect();
            if !terms.is_empty() {
                out.push(Congruence { terms, residue, modulus });
            }
        }
        out
    }
}

/// Rows `U` and moduli `d` such that the integer combinations of the vectors are the `x` with `(U x)_i = 0` modulo `d_i`.
fn smith(vectors: &[Vec<i64>], n: usize) -> Result<(Vec<Vec<i64>>, Vec<i64>), Overflow> {
    let m = vectors.len();
    let mut a: Vec<Vec<i64>> = (0..n).map(|i| vectors.iter().map(|v| v[i]).collect()).collect();
    let mut u: Vec<Vec<i64>> = (0..n).map(|i| (0..n).map(|j| i64::from(i == j)).collect()).collect();
    let mut t = 0;
    while t < n.min(m) {
        let pivot = (t..n)
            .flat_map(|i| (t..m).map(move |j| (i, j)))
            .filter(|&(i, j)| a[i][j] != 0)
            .min_by_key(|&(i, j)| a[i][j].unsigned_abs());
        let Some((i, j)) = pivot else { break };
        a.swap(t, i);
        u.swap(t, i);
        a.iter_mut().for_each(|row| row.swap(t, j));
        let mut done = true;
        for i in t + 1..n {
            let q = a[i][t].div_euclid(a[t][t]);
            if q != 0 {
                a[i] = minus(&a[i], &a[t], q)?;
                u[i] = minus(&u[i], &u[t], q)?;
            }
            done &= a[i][t] == 0;
        }
        for j in t + 1..m {
            let q = a[t][j].div_euclid(a[t][t]);
            if q != 0 {
                for row in &mut a {
                    row[j] = narrow(i128::from(row[j]) - i128::from(q) * i128::from(row[t]))?;
                }
            }
            done &= a[t][j] == 0;
        }
        t += usize::from(done);
    }
    let moduli = (0..n).map(|i| if i < t { a[i][i].abs() } else { 0 }).collect();
    Ok((u, moduli))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dual_form_describes_the_same_points() {
        // (1,2) + (2,0), (1,3): by brute force in a box.
        let mut lattice = Lattice::point(vec![1, 2, 5]);
        lattice.take_in(&[3, 2, 5], &[vec![1, 3, 0]]);
        let rows = lattice.congruences();
        for x in -6..8 {
            for y in -6..8 {
                for z in 4..7 {
                    let point = [x, y, z];
                    let holds = rows.iter().all(|r| {
                        let v = r.terms.iter().map(|t| t.1 * point[t.0]).sum::<i64>() - r.residue;
                        if r.modulus == 0 { v == 0 } else { v % r.modulus == 0 }
                    });
                    let own = (-20..20).any(|a| (-20..20).any(|b| point == [1 + 2 * a + b, 2 + 3 * b, 5]));
                    assert_eq!(holds, own, "{point:?}");
                    assert_eq!(lattice.contains(&point, &[]), Ok(own), "{point:?}");
                }
            }
        }
    }

    #[test]
    fn growing_ends() {
        let mut lattice = Lattice::point(vec![0, 0]);
        for (x, y) in [(12, 18), (8, 12), (2, 3), (4, 6)] {
            lattice.take_in(&[x, y], &[]);
        }
        assert_eq!(lattice.basis, vec![vec![2, 3]]);
        lattice.take_in(&[0, 1], &[]);
        assert_eq!(lattice.basis.len(), 2);
    }
}
