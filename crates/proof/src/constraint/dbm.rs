//! Difference-bound matrices over unbounded integers.
//!
//! Node 0 is the constant zero; node `i > 0` is the integer variable `x_i`. The entry at `(i, j)`
//! is the least known `c` with `x_i - x_j <= c`, or [`INFINITY`]. A strict bound `x < y` is
//! `x - y <= -1`: variables are integers, so this is the same set.
//!
//! **Closure decides satisfiability.** A system of integer difference constraints is satisfiable
//! exactly when its constraint graph has no negative cycle, and then the shortest distances are
//! the tightest implied bounds (the constraint matrix is totally unimodular: rational and integer
//! solutions coincide on integer bounds). Hence, for a *closed* matrix,
//!
//! - projection is the submatrix (every solution of the submatrix extends to the dropped nodes),
//! - entailment of `x_i - x_j <= c` is `entry(i, j) <= c`,
//! - inclusion of two closed matrices over the same nodes is entrywise `<=`.
//!
//! Every public operation keeps the matrix closed; an empty system is reported by the operation
//! that made it empty and its matrix must not be used further.

use super::Overflow;

/// No bound.
pub const INFINITY: i64 = i64::MAX;

/// Finite entries stay within this magnitude, so that a sum of two never leaves `i64`.
const LIMIT: i64 = 1 << 60;

/// A closed, satisfiable difference-bound matrix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dbm {
    nodes: usize,
    entries: Vec<i64>,
}

#[inline]
fn sum(a: i64, b: i64) -> i64 {
    if a == INFINITY || b == INFINITY { INFINITY } else { a + b }
}

impl Dbm {
    /// No constraint on `nodes - 1` variables.
    pub fn universe(nodes: usize) -> Dbm {
        let mut entries = vec![INFINITY; nodes * nodes];
        for i in 0..nodes {
            entries[i * nodes + i] = 0;
        }
        Dbm { nodes, entries }
    }

    /// Number of nodes, the zero node included.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The tightest `c` with `x_i - x_j <= c`.
    #[inline]
    pub fn entry(&self, i: usize, j: usize) -> i64 {
        self.entries[i * self.nodes + j]
    }

    /// Lower bound of a variable, if it has one.
    pub fn lower(&self, i: usize) -> Option<i64> {
        let c = self.entry(0, i);
        (c != INFINITY).then(|| -c)
    }

    /// Upper bound of a variable, if it has one.
    pub fn upper(&self, i: usize) -> Option<i64> {
        let c = self.entry(i, 0);
        (c != INFINITY).then_some(c)
    }

    /// The only value of a variable, if there is only one.
    pub fn constant(&self, i: usize) -> Option<i64> {
        let (up, down) = (self.entry(i, 0), self.entry(0, i));
        (up != INFINITY && down != INFINITY && up == -down).then_some(up)
    }

    /// Adds `x_i - x_j <= c` and closes again; `false` when nothing is left.
    ///
    /// A closed matrix plus one edge needs only the paths through that edge: the new distance from
    /// `p` to `q` is the old one or `p -> i -> j -> q`, since a shortest path uses a new edge at
    /// most once when there is no negative cycle, and a negative cycle through it exists exactly
    /// when `c + d(j, i) < 0`.
    pub fn meet(&mut self, i: usize, j: usize, c: i64) -> Result<bool, Overflow> {
        let n = self.nodes;
        if c >= self.entries[i * n + j] {
            return Ok(true);
        }
        if c.unsigned_abs() > LIMIT as u64 {
            return Err(Overflow);
        }
        if sum(c, self.entries[j * n + i]) < 0 {
            return Ok(false);
        }
        let mut overflow = false;
        for p in 0..n {
            let to_edge = self.entries[p * n + i];
            if to_edge == INFINITY {
                continue;
            }
            let through = to_edge + c;
            if through.unsigned_abs() > LIMIT as u64 {
                // Distances this large may still be dominated; being careful costs only "unknown".
                overflow = true;
                break;
            }
            for q in 0..n {
                let from_edge = self.entries[j * n + q];
                if from_edge == INFINITY {
                    continue;
                }
                let path = through + from_edge;
                let cell = &mut self.entries[p * n + q];
                if path < *cell {
                    overflow |= path.unsigned_abs() > LIMIT as u64;
                    *cell = path;
                }
            }
        }
        if overflow { Err(Overflow) } else { Ok(true) }
    }

    /// Whether `x_i - x_j <= c` can be added without emptying the set.
    #[inline]
    pub fn admits(&self, i: usize, j: usize, c: i64) -> bool {
        sum(c, self.entry(j, i)) >= 0
    }

    /// Adds unconstrained variables at the end.
    pub fn extend(&mut self, more: usize) {
        if more == 0 {
            return;
        }
        let (old, new) = (self.nodes, self.nodes + more);
        let mut entries = vec![INFINITY; new * new];
        for i in 0..old {
            entries[i * new..i * new + old].copy_from_slice(&self.entries[i * old..(i + 1) * old]);
        }
        for i in old..new {
            entries[i * new + i] = 0;
        }
        self.nodes = new;
        self.entries = entries;
    }

    /// Keeps the first `nodes` nodes: the exact projection, since the matrix is closed.
    pub fn truncate(&mut self, nodes: usize) {
        if nodes >= self.nodes {
            return;
        }
        let old = self.nodes;
        for i in 1..nodes {
            self.entries.copy_within(i * old..i * old + nodes, i * nodes);
        }
        self.entries.truncate(nodes * nodes);
        self.nodes = nodes;
    }

    /// Moves the values of the nodes `from` to fresh nodes at the end, in order, leaves the old
    /// nodes unconstrained, and adds `more` unconstrained nodes after them. This is how an
    /// assignment is undone: the old node becomes the value before it.
    pub fn displace(&mut self, from: &[usize], more: usize) {
        let old = self.nodes;
        self.extend(from.len() + more);
        let n = self.nodes;
        for (k, &node) in from.iter().enumerate() {
            for j in 0..n {
                self.entries.swap(node * n + j, (old + k) * n + j);
            }
            for j in 0..n {
                self.entries.swap(j * n + node, j * n + old + k);
            }
        }
    }

    /// The matrix over `source.len()` nodes whose node `k` is this one's node `source[k]`:
    /// projection and renaming in one step. `source[0]` must be 0; entries may repeat, which makes
    /// equal variables (the result is closed because distances in a closed matrix satisfy the
    /// triangle inequality for repeated nodes too).
    pub fn select(&self, source: &[usize]) -> Dbm {
        let nodes = source.len();
        let mut entries = Vec::with_capacity(nodes * nodes);
        for &i in source {
            let row = &self.entries[i * self.nodes..(i + 1) * self.nodes];
            entries.extend(source.iter().map(|&j| row[j]));
        }
        Dbm { nodes, entries }
    }

    /// Whether every solution is one of `other` (same nodes).
    #[inline]
    pub fn included_in(&self, other: &Dbm) -> bool {
        self.nodes == other.nodes && self.entries.iter().zip(&other.entries).all(|(a, b)| a <= b)
    }

    /// The finite off-diagonal constraints `(i, j, c)`.
    pub fn constraints(&self) -> impl Iterator<Item = (usize, usize, i64)> + '_ {
        let n = self.nodes;
        self.entries.iter().enumerate().filter_map(move |(at, &c)| {
            let (i, j) = (at / n, at % n);
            (i != j && c != INFINITY).then_some((i, j, c))
        })
    }

    /// Constraints that are not implied by two others: what a reader or a certificate needs.
    ///
    /// Removing implied edges one by one, each judged against those still kept, never removes
    /// both of two edges that imply each other (as happens between equal variables).
    pub fn essential(&self) -> Vec<(usize, usize, i64)> {
        let n = self.nodes;
        let mut kept = self.entries.clone();
        for i in 0..n {
            for j in 0..n {
                let c = kept[i * n + j];
                if i == j || c == INFINITY {
                    continue;
                }
                let implied = (0..n).any(|k| k != i && k != j && sum(kept[i * n + k], kept[k * n + j]) <= c);
                if implied {
                    kept[i * n + j] = INFINITY;
                }
            }
        }
        let reduced = Dbm { nodes: n, entries: kept };
        // Greedy removal over single intermediate nodes is exact only if what remains closes to
        // the same matrix; with zero cycles it may not, and then everything is listed.
        let list: Vec<_> = reduced.constraints().collect();
        let mut again = Dbm::universe(n);
        let same = list.iter().all(|&(i, j, c)| again.meet(i, j, c) == Ok(true)) && again == *self;
        if same { list } else { self.constraints().collect() }
    }

    /// A solution, as values of nodes `1..`; the zero node is 0.
    ///
    /// Fixing variables one after another to any value within their current bounds never empties
    /// a closed matrix (projection onto the fixed ones is exact).
    pub fn solution(&self) -> Result<Vec<i64>, Overflow> {
        let mut rest = self.clone();
        let mut values = vec![0; self.nodes];
        for (i, slot) in values.iter_mut().enumerate().skip(1) {
            let value = match (rest.lower(i), rest.upper(i)) {
                (Some(low), Some(up)) => 0.clamp(low, up),
                (Some(low), None) => low.max(0),
                (None, Some(up)) => up.min(0),
                (None, None) => 0,
            };
            rest.meet(i, 0, value)?;
            rest.meet(0, i, -value)?;
            *slot = value;
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Edge = (usize, usize, i64);

    fn holds(edges: &[Edge], point: &[i64]) -> bool {
        edges.iter().all(|&(i, j, c)| point[i] - point[j] <= c)
    }

    /// Every point of a small cube, with the zero node in front.
    fn cube(variables: usize, low: i64, high: i64) -> Vec<Vec<i64>> {
        let mut points = vec![vec![0]];
        for _ in 0..variables {
            points = points
                .into_iter()
                .flat_map(|p| (low..=high).map(move |v| [p.clone(), vec![v]].concat()))
                .collect();
        }
        points
    }

    fn build(nodes: usize, edges: &[Edge]) -> Option<Dbm> {
        let mut d = Dbm::universe(nodes);
        edges.iter().all(|&(i, j, c)| d.meet(i, j, c).unwrap()).then_some(d)
    }

    proptest! {
        /// Membership, emptiness, tightness, projection and inclusion against brute force: bounds
        /// within the box [-4, 4] make enumeration complete.
        #[test]
        fn agrees_with_enumeration(
            raw in prop::collection::vec((0usize..4, 0usize..4, -4i64..5), 0..8),
            other in prop::collection::vec((0usize..4, 0usize..4, -4i64..5), 0..4),
        ) {
            let boxed: Vec<Edge> = (1..4).flat_map(|v| [(v, 0, 4), (0, v, 4)]).collect();
            let edges: Vec<Edge> = raw.into_iter().filter(|e| e.0 != e.1).chain(boxed.clone()).collect();
            let points: Vec<_> = cube(3, -4, 4).into_iter().filter(|p| holds(&edges, p)).collect();
            let Some(d) = build(4, &edges) else {
                prop_assert!(points.is_empty());
                return Ok(());
            };
            prop_assert!(!points.is_empty());
            for i in 0..4 {
                for j in 0..4 {
                    let tight = points.iter().map(|p| p[i] - p[j]).max().unwrap();
                    prop_assert_eq!(d.entry(i, j), tight);
                }
            }
            prop_assert!(holds(&edges, &d.solution().unwrap()));
            let mut projected = d.clone();
            projected.truncate(3);
            for p in cube(2, -4, 4) {
                let extends = points.iter().any(|q| q[..3] == p[..]);
                let inside = projected.constraints().all(|(i, j, c)| p[i] - p[j] <= c);
                prop_assert_eq!(extends, inside);
            }
            let essential = build(4, &d.essential()).unwrap();
            prop_assert_eq!(&essential, &d);
            let other: Vec<Edge> = other.into_iter().filter(|e| e.0 != e.1).chain(boxed).collect();
            if let Some(e) = build(4, &other) {
                prop_assert_eq!(d.included_in(&e), points.iter().all(|p| holds(&other, p)));
            }
        }
    }

    #[test]
    fn displacing_undoes_an_assignment() {
        // x1 = 5 after "x1 := x2 + 1": before it, x2 = 4 and x1 is free.
        let mut d = Dbm::universe(3);
        assert!(d.meet(1, 0, 5).unwrap() && d.meet(0, 1, -5).unwrap());
        d.displace(&[1], 0);
        assert!(d.meet(3, 2, 1).unwrap() && d.meet(2, 3, -1).unwrap());
        d.truncate(3);
        assert_eq!((d.constant(2), d.lower(1), d.upper(1)), (Some(4), None, None));
    }

    #[test]
    fn large_bounds_are_refused() {
        let mut d = Dbm::universe(3);
        assert_eq!(d.meet(1, 0, i64::MAX - 1), Err(Overflow));
        assert_eq!(d.meet(1, 2, 1 << 60), Ok(true));
        assert_eq!(d.meet(2, 0, 1 << 60), Err(Overflow));
    }
}
