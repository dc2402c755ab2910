//! A conjunction of linear constraints: differences in a matrix, the rest in a list.
//!
//! Soundness, by direction. *Emptiness* is claimed only when derived; a region that is empty for
//! reasons elimination cannot see stays, which costs a proof but never makes one. *Inclusion* is
//! claimed only when each constraint of the larger region is derived from the smaller. *Projection*
//! over-approximates when general inequalities mention the dropped nodes and says so
//! ([`Truncated::exact`]): on the left of an assertion that is sound as it stands, on the right the
//! caller must refuse it.

use super::elimination::{Eliminated, eliminate};
use super::linear::{Linear, Shape};
use super::{Dbm, Overflow};

/// A set of integer points, given by a conjunction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    dbm: Dbm,
    general: Vec<Linear>,
}

/// Outcome of a projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated {
    /// Whether something is left (`false` only when emptiness was derived).
    pub satisfiable: bool,
    /// Whether the result is the projection, not a superset of it.
    pub exact: bool,
}

impl Region {
    /// Everything, over `nodes - 1` variables.
    pub fn universe(nodes: usize) -> Region {
        Region { dbm: Dbm::universe(nodes), general: Vec::new() }
    }

    /// The difference constraints.
    pub fn dbm(&self) -> &Dbm {
        &self.dbm
    }

    /// The constraints that are not differences.
    pub fn general(&self) -> &[Linear] {
        &self.general
    }

    /// Number of nodes, the zero node included.
    pub fn nodes(&self) -> usize {
        self.dbm.nodes()
    }

    /// Adds `x_i - x_j <= c`; `false` when nothing is left.
    pub fn meet(&mut self, i: usize, j: usize, c: i64) -> Result<bool, Overflow> {
        if i == j {
            return Ok(c >= 0);
        }
        Ok(self.dbm.meet(i, j, c)? && (self.general.is_empty() || self.settle()?))
    }

    /// Adds a general inequality; `false` when nothing is left.
    pub fn meet_linear(&mut self, linear: &Linear) -> Result<bool, Overflow> {
        match self.simplified(linear)?.shape() {
            Shape::Truth(t) => Ok(t),
            Shape::Difference(i, j, c) => self.meet(i, j, c),
            Shape::General(g) => {
                if !self.general.contains(&g) {
                    self.general.push(g);
                }
                self.settle()
            }
        }
    }

    /// Rewrites an inequality with what the matrix knows: fixed variables become constants, equal
    /// ones (up to a constant) one representative. Equivalent under the matrix.
    fn simplified(&self, linear: &Linear) -> Result<Linear, Overflow> {
        let mut bound = linear.bound;
        let mut terms = Vec::with_capacity(linear.terms.len());
        for &(x, coefficient) in &linear.terms {
            // x = r + offset for the least such r (the zero node first).
            let r = (0..x).find(|&r| {
                let (a, b) = (self.dbm.entry(x, r), self.dbm.entry(r, x));
                a != super::INFINITY && b != super::INFINITY && a == -b
            });
            match r {
                Some(r) => {
                    let shift = coefficient.checked_mul(self.dbm.entry(x, r)).ok_or(Overflow)?;
                    bound = bound.checked_sub(shift).ok_or(Overflow)?;
                    terms.push((r, coefficient));
                }
                None => terms.push((x, coefficient)),
            }
        }
        Linear::new(terms, bound)
    }

    /// Re-simplifies the general inequalities until nothing changes and tests for emptiness.
    fn settle(&mut self) -> Result<bool, Overflow> {
        loop {
            let mut moved = false;
            for linear in std::mem::take(&mut self.general) {
                match self.simplified(&linear)?.shape() {
                    Shape::Truth(true) => {}
                    Shape::Truth(false) => return Ok(false),
                    Shape::Difference(i, j, c) => {
                        if !self.dbm.meet(i, j, c)? {
                            return Ok(false);
                        }
                        moved = true;
                    }
                    Shape::General(g) => {
                        if !self.general.contains(&g) {
                            self.general.push(g);
                        }
                    }
                }
            }
            if !moved {
                break;
            }
        }
        if self.general.is_empty() {
            return Ok(true);
        }
        Ok(eliminate(self.relevant(None), |_| true)? != Eliminated::Empty)
    }

    /// The general inequalities with the matrix restricted to the nodes they mention: since the
    /// matrix is closed its submatrix is the exact projection, so nothing else can matter.
    fn relevant(&self, extra: Option<&Linear>) -> Vec<Linear> {
        self.with_matrix(extra, 1)
    }

    /// The general inequalities with the matrix restricted to the nodes they mention and those below `kept`. For a
    /// projection onto the nodes below `kept` these matter too: a node that goes links them to what is said about it.
    fn with_matrix(&self, extra: Option<&Linear>, kept: usize) -> Vec<Linear> {
        let mut list: Vec<Linear> = self.general.iter().chain(extra).cloned().collect();
        let mut nodes: Vec<usize> = list.iter().flat_map(|l| l.terms.iter().map(|t| t.0)).collect();
        nodes.extend(0..kept);
        nodes.sort_unstable();
        nodes.dedup();
        for &i in &nodes {
            for &j in &nodes {
                let c = self.dbm.entry(i, j);
                if i != j && c != super::INFINITY {
                    list.push(Linear::difference(i, j, c));
                }
            }
        }
        list
    }

    /// Whether `linear` is derived to hold everywhere in the region.
    pub fn implies(&self, linear: &Linear) -> Result<bool, Overflow> {
        let linear = match self.simplified(linear)?.shape() {
            Shape::Truth(t) => return Ok(t),
            Shape::Difference(i, j, c) if self.dbm.entry(i, j) <= c => return Ok(true),
            Shape::Difference(i, j, c) => Linear::difference(i, j, c),
            Shape::General(g) => g,
        };
        if self.general.is_empty() && linear.terms.len() <= 1 {
            return Ok(false);
        }
        let negated = linear.negated()?;
        Ok(eliminate(self.relevant(Some(&negated)), |_| true)? == Eliminated::Empty)
    }

    /// Whether every point is derived to be one of `other` (same nodes).
    pub fn included_in(&self, other: &Region) -> Result<bool, Overflow> {
        if self.general.is_empty() {
            if !self.dbm.included_in(&other.dbm) {
                return Ok(false);
            }
        } else {
            for (i, j, c) in other.dbm.constraints() {
                if self.dbm.entry(i, j) > c && !self.implies(&Linear::difference(i, j, c))? {
                    return Ok(false);
                }
            }
        }
        for linear in &other.general {
            if !self.implies(linear)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds unconstrained variables at the end.
    pub fn extend(&mut self, more: usize) {
        self.dbm.extend(more);
    }

    /// Moves the values of the nodes `from` to fresh nodes at the end; see [`Dbm::displace`].
    pub fn displace(&mut self, from: &[usize], more: usize) {
        let old = self.dbm.nodes();
        self.dbm.displace(from, more);
        for linear in &mut self.general {
            for term in &mut linear.terms {
                if let Some(k) = from.iter().position(|&f| f == term.0) {
                    term.0 = old + k;
                }
            }
            linear.terms.sort_by_key(|t| t.0);
        }
    }

    /// Projects away the nodes from `nodes` on.
    pub fn truncate(&mut self, nodes: usize) -> Result<Truncated, Overflow> {
        let mut outcome = Truncated { satisfiable: true, exact: true };
        if self.general.iter().any(|l| l.terms.iter().any(|t| t.0 >= nodes)) {
            match eliminate(self.with_matrix(None, nodes), |n| n >= nodes)? {
                Eliminated::Empty => return Ok(Truncated { satisfiable: false, exact: true }),
                Eliminated::GaveUp => {
                    self.general.retain(|l| l.terms.iter().all(|t| t.0 < nodes));
                    outcome.exact = false;
                }
                Eliminated::Rest(list, exact) => {
                    outcome.exact = exact;
                    self.general.clear();
                    self.dbm.truncate(nodes);
                    for linear in &list {
                        if !self.meet_linear(linear)? {
                            outcome.satisfiable = false;
                        }
                    }
                }
            }
        }
        self.dbm.truncate(nodes);
        Ok(outcome)
    }

    /// Renames: node `k` of the result is node `source[k]` of this region. Nodes that general
    /// inequalities mention must all be selected, else those inequalities are dropped and the
    /// second component is `false` (a superset).
    pub fn select(&self, source: &[usize]) -> Result<(Region, bool), Overflow> {
        let mut out = Region { dbm: self.dbm.select(source), general: Vec::new() };
        let mut exact = true;
        for linear in &self.general {
            let place = |n: usize| source.iter().position(|&s| s == n);
            if linear.terms.iter().all(|t| place(t.0).is_some()) {
                let renamed = linear.renamed(|n| place(n).expect("just checked to be selected"))?;
                out.general.push(renamed);
            } else {
                exact = false;
            }
        }
        out.general.sort();
        Ok((out, exact))
    }

    /// Every constraint as an inequality, implied ones left out where that is easy to see.
    pub fn inequalities(&self) -> Vec<Linear> {
        let essential = self.dbm.essential();
        let mut list: Vec<Linear> =
            essential.into_iter().map(|(i, j, c)| Linear::difference(i, j, c)).collect();
        list.extend(self.general.iter().cloned());
        list
    }

    /// The points of `self` outside `other`, as disjoint regions: the first constraint violated,
    /// the first kept and the second violated, and so on.
    pub fn subtract(&self, other: &Region) -> Result<Vec<Region>, Overflow> {
        let (mut rest, mut out) = (self.clone(), Vec::new());
        for linear in other.inequalities() {
            if rest.implies(&linear)? {
                continue;
            }
            let mut outside = rest.clone();
            if outside.meet_linear(&linear.negated()?)? {
                out.push(outside);
            }
            if !rest.meet_linear(&linear)? {
                break;
            }
        }
        Ok(out)
    }

    /// A point, as values of nodes `1..` with 0 in front; `None` when the search for one fails
    /// (only possible with general inequalities).
    pub fn solution(&self) -> Result<Option<Vec<i64>>, Overflow> {
        if self.general.is_empty() {
            return self.dbm.solution().map(Some);
        }
        let mut rest = self.clone();
        for i in 1..self.nodes() {
            let (low, up) = (rest.dbm.lower(i), rest.dbm.upper(i));
            let start = low.or(up.map(|u| u.min(0))).unwrap_or(0);
            let found = (0..64).map(|k| start + k).chain((1..64).map(|k| start - k)).find_map(|v| {
                let mut next = rest.clone();
                let ok = next.meet(i, 0, v).ok()? && next.meet(0, i, -v).ok()?;
                ok.then_some(next)
            });
            match found {
                Some(next) => rest = next,
                None => return Ok(None),
            }
        }
        rest.dbm.solution().map(|v| self.general.iter().all(|l| l.holds(&v)).then_some(v))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn linear(terms: &[(usize, i64)], bound: i64) -> Linear {
        Linear::new(terms.iter().copied(), bound).unwrap()
    }

    #[test]
    fn constants_turn_sums_into_differences() {
        // x + y <= 5 under x = 2 is y <= 3.
        let mut r = Region::universe(3);
        assert!(r.meet_linear(&linear(&[(1, 1), (2, 1)], 5)).unwrap());
        assert_eq!(r.general().len(), 1);
        assert!(r.meet(1, 0, 2).unwrap() && r.meet(0, 1, -2).unwrap());
        assert_eq!((r.general().len(), r.dbm().upper(2)), (0, Some(3)));
    }

    #[test]
    fn parity_is_found_by_tightening() {
        // 2x + 2y = 1 has no integer solution.
        let mut r = Region::universe(3);
        assert!(r.meet_linear(&linear(&[(1, 2), (2, 2)], 1)).unwrap());
        assert!(!r.meet_linear(&linear(&[(1, -2), (2, -2)], -1)).unwrap());
    }

    #[test]
    fn inexact_projections_say_so() {
        // 2y = x: projecting y away forgets that x is even.
        let mut r = Region::universe(3);
        assert!(r.meet_linear(&linear(&[(1, 1), (2, -2)], 0)).unwrap());
        assert!(r.meet_linear(&linear(&[(1, -1), (2, 2)], 0)).unwrap());
        assert!(!r.truncate(2).unwrap().exact);
        // y = x + z: exact.
        let mut r = Region::universe(4);
        assert!(r.meet_linear(&linear(&[(3, 1), (1, -1), (2, -1)], 0)).unwrap());
        assert!(r.meet_linear(&linear(&[(3, -1), (1, 1), (2, 1)], 0)).unwrap());
        assert!(r.meet(3, 0, 4).unwrap());
        assert!(r.truncate(3).unwrap().exact);
        assert!(r.implies(&linear(&[(1, 1), (2, 1)], 4)).unwrap());
    }

    proptest! {
        /// Claims of emptiness, inclusion and exact projection against enumeration in a box.
        #[test]
        fn claims_hold_in_a_box(
            rows in prop::collection::vec((prop::array::uniform3(-2i64..3), -4i64..5), 0..5),
            goal in (prop::array::uniform3(-2i64..3), -4i64..5),
        ) {
            let to_linear = |(c, b): &([i64; 3], i64)| linear(&[(1, c[0]), (2, c[1]), (3, c[2])], *b);
            let mut list: Vec<Linear> = rows.iter().map(to_linear).collect();
            for v in 1..4 {
                list.push(linear(&[(v, 1)], 3));
                list.push(linear(&[(v, -1)], 3));
            }
            let mut points = Vec::new();
            for x in -3..4 { for y in -3..4 { for z in -3..4 {
                let p = vec![0, x, y, z];
                if list.iter().all(|l| l.holds(&p)) { points.push(p); }
            }}}
            let mut r = Region::universe(4);
            let alive = list.iter().all(|l| r.meet_linear(l).unwrap());
            if !alive {
                prop_assert!(points.is_empty());
                return Ok(());
            }
            if let Some(p) = r.solution().unwrap() {
                prop_assert!(points.contains(&p));
            }
            let goal = to_linear(&goal);
            if r.implies(&goal).unwrap() {
                prop_assert!(points.iter().all(|p| goal.holds(p)));
            }
            let mut other = Region::universe(4);
            if other.meet_linear(&goal).unwrap() {
                let outside = r.subtract(&other).unwrap();
                for p in &points {
                    let covered = outside.iter().any(|o| o.inequalities().iter().all(|l| l.holds(p)));
                    prop_assert_eq!(covered, !goal.holds(p));
                }
            }
            let mut q = r.clone();
            let outcome = q.truncate(3).unwrap();
            for x in -3..4 { for y in -3..4 {
                let extends = points.iter().any(|p| p[1] == x && p[2] == y);
                let inside = outcome.satisfiable && q.inequalities().iter().all(|l| l.holds(&[0, x, y]));
                prop_assert!(!extends || inside);
                if outcome.exact { prop_assert_eq!(extends, inside); }
            }}
        }
    }
}
