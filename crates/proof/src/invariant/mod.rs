//! Invariants that are found, not asked for.
//!
//! Tried in this order, each cheaper and weaker than the next, for a safety claim that backward unfolding alone does not settle
//! at once:
//!
//! 1. explicit search ([`finite`]): if it ends, its states are the invariant;
//! 2. intervals over all states, one cell ([`cells`]);
//! 3. zones in cells, one for each combination of program locations, up to proved exchanges of processes ([`cells`]).
//!
//! An invariant is a list of sets of states, [`Found`]: every fact lies in one of them, and every step from one of them leads into
//! one of them. That is checked by construction here, and again, from the certificate, by `quotient-proof-check`. If no
//! state of it violates the claim, the claim is proved; otherwise what holds in every state (one cell) strengthens the
//! backward proof.

mod cells;
mod finite;
mod forward;
pub mod thresholds;

use crate::canonical::Map;
use crate::constraint::{Linear, Overflow};
use crate::domain::{Domain, State};
use crate::explicit::Reachable;
use crate::limits::{Limits, Reached};
use crate::program::{Assertion, Program, Tree};

pub use cells::{Grain, Shape};

/// An inductive invariant: the states of these sets.
#[derive(Clone, Debug)]
pub struct Found {
    /// What it is, for the report.
    pub name: &'static str,
    /// The sets.
    pub cells: Vec<State>,
    /// Relative assertions up to which the sets contain every reachable state; none: as they are.
    pub under: Vec<usize>,
}

/// Why a domain gave no invariant.
#[derive(Clone, Debug)]
pub enum Failed {
    /// This set of states may be reachable, as far as the domain can tell, and violates the claim.
    Meets(Box<State>),
    /// More cells than are worth it.
    TooMany,
    /// A limit was reached.
    Limit(Reached),
    /// Arithmetic left the exact range.
    Overflow,
}

impl From<Overflow> for Failed {
    fn from(_: Overflow) -> Failed {
        Failed::Overflow
    }
}

/// All reachable states, if they were explored and none violates the claim.
pub fn explicit(
    program: &Program,
    domain: &Domain,
    assertion: &Assertion,
    reachable: &Reachable,
) -> Option<Found> {
    let cells = finite::cells(program, domain, assertion, reachable)?;
    Some(Found { name: "all reachable states", cells, under: Vec::new() })
}

/// Bounds that hold in every state.
pub fn intervals(program: &Program, domain: &Domain, limits: &Limits) -> Result<Found, Failed> {
    let cells = cells::fixpoint(program, domain, Grain::One, Shape::Intervals, &[], &[], limits)?;
    Ok(Found { name: "intervals", cells, under: Vec::new() })
}

/// Differences in cells by program location, none of which meets a set of `bad`. States are renamed by the maps, which take rules to
/// rules and `bad` to itself, so that processes are sorted by their places.
pub fn zones(
    program: &Program,
    domain: &Domain,
    maps: &[Map],
    bad: &[State],
    limits: &Limits,
) -> Result<Found, Failed> {
    let cells = cells::fixpoint(program, domain, Grain::Locations, Shape::Zones, maps, bad, limits)?;
    let name = if maps.is_empty() { "zones by location" } else { "zones by location, processes exchanged" };
    Ok(Found { name, cells, under: maps.iter().map(|m| m.assertion).collect() })
}

/// Whether two sets have no state in common.
pub fn disjoint(one: &State, other: &State) -> Result<bool, Overflow> {
    if one.sets.iter().zip(&other.sets).any(|(a, b)| a & b == 0) {
        return Ok(true);
    }
    let mut region = one.region.clone();
    for l in other.region.inequalities() {
        if !region.meet_linear(&l)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Found {
    /// Whether no state of it is in one of these sets.
    pub fn excludes(&self, bad: &[State]) -> Result<bool, Overflow> {
        for cell in &self.cells {
            for other in bad {
                if !disjoint(cell, other)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// As a condition on the columns.
    pub fn tree(&self, domain: &Domain) -> Result<Tree, Overflow> {
        let mut all = Vec::new();
        for cell in &self.cells {
            let mut parts = Vec::new();
            for (f, set) in domain.finite.iter().zip(&cell.sets) {
                let node = f.column + 1;
                let values = f.values.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1);
                let equal = |v: i64| {
                    Ok(Tree::And(vec![
                        Tree::Le(Linear::new([(node, 1)], v)?),
                        Tree::Le(Linear::new([(node, -1)], v.checked_neg().ok_or(Overflow)?)?),
                    ]))
                };
                let values: Vec<Tree> = values.map(|(_, &v)| equal(v)).collect::<Result<_, Overflow>>()?;
                if values.len() < f.values.len() {
                    parts.push(Tree::Or(values));
                }
            }
            let place = |n: usize| if n == 0 { 0 } else { domain.data[n - 1] + 1 };
            for l in cell.region.inequalities() {
                parts.push(Tree::Le(l.renamed(place)?));
            }
            all.push(Tree::And(parts));
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Tree::Or(all) })
    }

    /// Whether it says anything at all.
    pub fn is_trivial(&self, domain: &Domain) -> bool {
        let all = domain.universe();
        self.cells.iter().any(|c| c.sets == all.sets && c.region.inequalities().is_empty())
    }
}
