//! The checker's decision procedure: difference constraints, by shortest paths.
//!
//! Deliberately plain: a matrix of optional bounds, closed by Floyd and Warshall after every batch
//! of constraints, in 128-bit arithmetic (bounds are 64-bit numbers and paths short, so no sum can
//! leave the range). Integer difference constraints are satisfiable exactly when no diagonal entry
//! becomes negative, and a closed matrix lists the tightest implied bounds.

use crate::format::Inequality;

/// A conjunction of difference constraints over nodes `0..n`, node 0 being zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    nodes: usize,
    bound: Vec<Option<i128>>,
    empty: bool,
}

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
        let mut bound = vec![None; nodes * nodes];
        for i in 0..nodes {
            bound[i * nodes + i] = Some(0);
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
        self.bound[i * self.nodes + j]
    }

    /// The value of a node, when it has only one.
    pub fn constant(&self, i: usize) -> Option<i128> {
        let (up, down) = (self.get(i, 0)?, self.get(0, i)?);
        (up == -down).then_some(up)
    }

    /// Adds constraints and closes.
    pub fn add(&mut self, constraints: impl IntoIterator<Item = (usize, usize, i128)>) {
        let n = self.nodes;
        let mut changed = false;
        for (i, j, c) in constraints {
            let cell = &mut self.bound[i * n + j];
            if cell.is_none_or(|old| c < old) {
                *cell = Some(c);
                changed = true;
            }
        }
        if !changed {
            return;
        }
        for k in 0..n {
            for i in 0..n {
                let Some(first) = self.bound[i * n + k] else { continue };
                for j in 0..n {
                    let Some(second) = self.bound[k * n + j] else { continue };
                    let cell = &mut self.bound[i * n + j];
                    if cell.is_none_or(|old| first + second < old) {
                        *cell = Some(first + second);
                    }
                }
            }
        }
        self.empty |= (0..n).any(|i| self.bound[i * n + i].is_some_and(|c| c < 0));
    }

    /// Whether `x_i - x_j <= c` follows.
    pub fn implies(&self, (i, j, c): (usize, usize, i128)) -> bool {
        self.empty || self.get(i, j).is_some_and(|b| b <= c)
    }

    /// Adds free nodes at the end.
    pub fn extended(&self, more: usize) -> Matrix {
        let mut out = Matrix::new(self.nodes + more);
        for i in 0..self.nodes {
            for j in 0..self.nodes {
                out.bound[i * out.nodes + j] = self.get(i, j);
            }
        }
        out.empty = self.empty;
        out
    }

    /// Projection onto the listed nodes, in that order (node 0 must come first). Exact, because
    /// the matrix is closed.
    pub fn select(&self, nodes: &[usize]) -> Matrix {
        let bound = nodes.iter().flat_map(|&i| nodes.iter().map(move |&j| (i, j)));
        let bound = bound.map(|(i, j)| self.get(i, j)).collect();
        Matrix { nodes: nodes.len(), bound, empty: self.empty }
    }

    /// Every finite bound.
    pub fn constraints(&self) -> Vec<(usize, usize, i128)> {
        let n = self.nodes;
        let all = (0..n * n).filter(|at| at / n != at % n);
        all.filter_map(|at| self.bound[at].map(|c| (at / n, at % n, c))).collect()
    }

    /// Whether every solution of `self` is one of `other` (same nodes).
    pub fn included_in(&self, other: &Matrix) -> bool {
        self.empty || (!other.empty && other.constraints().into_iter().all(|c| self.implies(c)))
    }
}
