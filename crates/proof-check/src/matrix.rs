//! The checker's decision procedure: difference constraints, by shortest paths.
//!
//! Deliberately plain: a matrix of bounds, kept closed in 128-bit arithmetic. A few constraints are added one at a
//! time, each with the paths through it; many at once by Floyd and Warshall. Integer difference constraints are
//! satisfiable exactly when no diagonal entry becomes negative, and a closed matrix lists the tightest
//! implied bounds.
//!
//! No sum leaves the range: an entry of a matrix with solutions is a sum along a path without repeated nodes, so at most
//! as many bounds as there are nodes, and bounds are below 2^62 (`validate.rs`). With a negative cycle the sums would
//! double with each node, so closing stops at the first one. A matrix without solutions has one form, whatever it
//! was made of: nothing is added to it, and its only constraint is a false one.

use crate::format::Inequality;

/// A conjunction of difference constraints over nodes `0..n`, node 0 being zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    nodes: usize,
    bound: Vec<i128>,
    empty: bool,
}

/// No bound.
const FREE: i128 = i128::MAX;

/// `x_i - x_j <= c`, from an inequality; `None` when it is not a difference.
pub fn difference(inequality: &Inequality) -> Option<(usize, usize, i128)> {
    let c = i128::from(inequality.bound);
    match inequality.terms[..] {
        [(i, 1)] => Some((i, 0, c)),
        [(j, -1)] => Some((0, j, c)),
        [(i, 1), (j, -1)] | [(j, -1), (i, 1)] => Some((i, j, c)),
        _ => None,
    }
}

impl Matrix {
    /// No constraints.
    pub fn new(nodes: usize) -> Matrix {
        let mut bound = vec![FREE; nodes * nodes];
        for i in 0..nodes {
            bound[i * nodes + i] = 0;
        }
        Matrix { nodes, bound, empty: false }
    }

    /// Whether it has no solution.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The bound on `x_i - x_j`.
    pub fn get(&self, i: usize, j: usize) -> Option<i128> {
        let bound = self.bound[i * self.nodes + j];
        (bound != FREE).then_some(bound)
    }

    /// The value of a node, when it has only one.
    pub fn constant(&self, i: usize) -> Option<i128> {
        let (up, down) = (self.get(i, 0)?, self.get(0, i)?);
        (up == -down).then_some(up)
    }

    /// Whether a node may have this value, as far as its own bounds say.
    pub fn may_be(&self, i: usize, value: i128) -> bool {
        self.get(i, 0).is_none_or(|up| value <= up) && self.get(0, i).is_none_or(|down| -value <= down)
    }

    /// Adds constraints and closes.
    pub fn add(&mut self, constraints: impl IntoIterator<Item = (usize, usize, i128)>) {
        if self.empty {
            return;
        }
        let n = self.nodes;
        let new: Vec<(usize, usize, i128)> =
            constraints.into_iter().filter(|&(i, j, c)| c < self.bound[i * n + j]).collect();
        if new.len() > n {
            for (i, j, c) in new {
                self.bound[i * n + j] = self.bound[i * n + j].min(c);
            }
            self.close();
        } else {
            for (i, j, c) in new {
                self.add_one(i, j, c);
            }
        }
    }

    /// Adds one constraint to a closed matrix: every path that becomes shorter uses it, once.
    fn add_one(&mut self, i: usize, j: usize, c: i128) {
        let n = self.nodes;
        if self.empty || c >= self.bound[i * n + j] {
            return;
        }
        let back = self.bound[j * n + i];
        if back != FREE && back + c < 0 {
            self.bound[i * n + j] = c;
            self.empty = true;
            return;
        }
        // What leaves j, as it is now: row j does not change, since a path from j through the constraint returns to j.
        let from_j: Vec<(usize, i128)> =
            (0..n).map(|b| (b, self.bound[j * n + b])).filter(|(_, bound)| *bound != FREE).collect();
        for a in 0..n {
            let to_i = self.bound[a * n + i];
            if to_i == FREE {
                continue;
            }
            for &(b, rest) in &from_j {
                let cell = &mut self.bound[a * n + b];
                *cell = (*cell).min(to_i + c + rest);
            }
        }
    }

    /// Shortest paths (Floyd and Warshall).
    fn close(&mut self) {
        let n = self.nodes;
        for k in 0..n {
            for i in 0..n {
                let first = self.bound[i * n + k];
                if first == FREE {
                    continue;
                }
                for j in 0..n {
                    let second = self.bound[k * n + j];
                    if second != FREE && first + second < self.bound[i * n + j] {
                        self.bound[i * n + j] = first + second;
                    }
                }
            }
            // Before the next node: through a negative cycle, sums would grow without bound.
            if (0..n).any(|i| self.bound[i * n + i] < 0) {
                self.empty = true;
                return;
            }
        }
    }

    /// Whether `x_i - x_j <= c` follows.
    pub fn implies(&self, (i, j, c): (usize, usize, i128)) -> bool {
        self.empty || self.get(i, j).is_some_and(|b| b <= c)
    }

    /// Adds free nodes at the end.
    pub fn extended(&self, more: usize) -> Matrix {
        self.placed(self.nodes + more, &|n| n)
    }

    /// The same constraints on the nodes `place(n)` of a larger matrix; `place` must not identify nodes, and keep 0.
    /// Closed again, since the other nodes are free.
    pub fn placed(&self, nodes: usize, place: &dyn Fn(usize) -> usize) -> Matrix {
        let mut out = Matrix::new(nodes);
        let to: Vec<usize> = (0..self.nodes).map(place).collect();
        for i in 0..self.nodes {
            for j in 0..self.nodes {
                out.bound[to[i] * nodes + to[j]] = self.bound[i * self.nodes + j];
            }
        }
        out.empty = self.empty;
        out
    }

    /// Projection onto the listed nodes, in that order (node 0 must come first). Exact, because
    /// the matrix is closed.
    pub fn select(&self, nodes: &[usize]) -> Matrix {
        let n = self.nodes;
        let bound = nodes.iter().flat_map(|&i| nodes.iter().map(move |&j| self.bound[i * n + j]));
        Matrix { nodes: nodes.len(), bound: bound.collect(), empty: self.empty }
    }

    /// Constraints with the same solutions: every finite bound, or one that is false.
    pub fn constraints(&self) -> Vec<(usize, usize, i128)> {
        let n = self.nodes;
        if self.empty {
            return vec![(0, 0, -1)];
        }
        let all = (0..n * n).filter(|at| at / n != at % n);
        all.filter(|&at| self.bound[at] != FREE).map(|at| (at / n, at % n, self.bound[at])).collect()
    }

    /// Whether every solution of `self` is one of `other` (same nodes).
    pub fn included_in(&self, other: &Matrix) -> bool {
        self.empty || (!other.empty && self.bound.iter().zip(&other.bound).all(|(own, limit)| own <= limit))
    }
}
