//! The right side of a proof: which states lead to the one that must be shown reachable.

use std::collections::HashSet;

use crate::constraint::{Overflow, Region};
use crate::domain::{Domain, State};
use crate::explicit::Reachable;
use crate::relative::obligation::{Layout, frame_implied, jointly_satisfiable};
use crate::step::Step;

/// A right state reached by unfolding.
#[derive(Clone, Debug)]
pub struct RightState {
    /// State and frame.
    pub region: Region,
    /// Rules unfolded, the last one nearest to the concluded state.
    pub path: Vec<usize>,
}

/// Limits of a right search.
#[derive(Clone, Copy, Debug)]
pub struct RightLimits {
    /// Unfolds.
    pub depth: usize,
    /// States.
    pub states: usize,
}

/// Searches right states breadth-first. `visit` sees each state (`fact` when the last unfold was a
/// fact: no state remains, only a condition on the frame) and stops the search by returning
/// `true`. Returns whether it was stopped; counts reducts that are satisfiable jointly with the
/// left side in `counter`.
pub struct RightSearch<'a> {
    /// Plain domain.
    pub domain: &'a Domain,
    /// Facts and rules, in source order.
    pub steps: &'a [Step],
    /// Layout of the obligation.
    pub layout: Layout,
    /// Left side.
    pub left: &'a Region,
    /// Limits.
    pub limits: RightLimits,
    /// All reachable states, if known: right states that contain none lead nowhere.
    pub reachable: Option<&'a Reachable>,
    /// Count as the paper does (every jointly satisfiable reduct).
    pub count_joint: bool,
}

impl RightSearch<'_> {
    /// Runs the search.
    pub fn run(
        &self,
        target: &Region,
        counter: &mut usize,
        mut visit: impl FnMut(&RightState, bool) -> Result<bool, Overflow>,
    ) -> Result<bool, Overflow> {
        let mut level = vec![RightState { region: target.clone(), path: Vec::new() }];
        if visit(&level[0], false)? {
            return Ok(true);
        }
        let mut seen: HashSet<Region> = HashSet::from([target.clone()]);
        for _ in 0..self.limits.depth {
            let mut next: Vec<RightState> = Vec::new();
            for state in &level {
                for step in self.steps {
                    let mut reducts = Vec::new();
                    let own = State { sets: Vec::new(), region: state.region.clone() };
                    step.unfold(self.domain, &own, &mut |s, exact| reducts.push((s.region, exact)))?;
                    for (region, exact) in reducts {
                        if self.count_joint {
                            *counter += usize::from(jointly_satisfiable(self.layout, self.left, &region)?);
                        }
                        // A right state may only shrink: an inexact projection is refused.
                        if !exact || !frame_implied(self.layout, self.left, &region)? {
                            continue;
                        }
                        let dead_end = |r: &Reachable| !step.is_fact && !r.meets(&region, self.layout.width);
                        if self.reachable.is_some_and(dead_end) {
                            continue;
                        }
                        if !self.count_joint {
                            *counter += 1;
                        }
                        let mut path = state.path.clone();
                        path.push(step.rule);
                        let reduct = RightState { region, path };
                        if visit(&reduct, step.is_fact)? {
                            return Ok(true);
                        }
                        if !step.is_fact && !seen.contains(&reduct.region) {
                            if seen.len() >= self.limits.states {
                                return Ok(false);
                            }
                            seen.insert(reduct.region.clone());
                            next.push(reduct);
                        }
                    }
                }
            }
            level = next;
        }
        Ok(false)
    }
}
