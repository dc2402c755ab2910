//! Using an assertion on the left state of an obligation (the rule AP).
//!
//! A hypothesis says: for every left state `x` and all values of its own variables that satisfy its
//! left side, some right state is reachable. Applied to the left state of an obligation it yields
//! the set of states of which one is known to be reachable; the goal is met when *all* of them are
//! right states (they are a superset of what the hypothesis promises, so this is sound).

use crate::constraint::{Overflow, Region};
use crate::program::{Assertion, Right};
use crate::relative::obligation::{Layout, Obligation, expand};

/// How a table entry's own frame is chosen when it is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Any frame that fits.
    Any,
    /// The frame of the obligation at hand.
    Same,
}

/// Conclusions are regions over the obligation's layout, with the concluded state as columns.
pub type Conclusions = Vec<Region>;

/// Applies an assertion to the left state. `None` when it is not derived to apply.
pub fn apply_assertion(
    layout: Layout,
    left: &Region,
    assertion: &Assertion,
) -> Result<Option<Conclusions>, Overflow> {
    let Right::State(tree) = &assertion.right else { return Ok(None) };
    let k = layout.width;
    let (nodes, extra) = (layout.nodes(), assertion.nodes - (2 * k + 1));
    // Behind the obligation's nodes: the concluded state, then the assertion's own variables.
    let place = move |n: usize| if n <= k { n } else { n - k - 1 + nodes };
    let mut wide = left.clone();
    wide.extend(k + extra);
    for joint in expand(&assertion.left, wide, &place)? {
        // Applies to every left state: the condition, its own variables projected away, is implied.
        let mut condition = joint.clone();
        let outcome = condition.truncate(nodes)?;
        if !(outcome.satisfiable && outcome.exact && left.included_in(&condition)?) {
            continue;
        }
        let mut conclusions = Vec::new();
        for region in expand(tree, joint, &place)? {
            conclusions.push(conclude(layout, &region, nodes)?);
        }
        return Ok(Some(conclusions));
    }
    Ok(None)
}

/// Projects onto the concluded state (at `at`) and the frame. Dropping what cannot be projected
/// exactly only enlarges the set.
fn conclude(layout: Layout, region: &Region, at: usize) -> Result<Region, Overflow> {
    let columns = at..at + layout.width;
    let frame = layout.width + 1..layout.nodes();
    let source: Vec<usize> = std::iter::once(0).chain(columns).chain(frame).collect();
    Ok(region.select(&source)?.0)
}

/// Applies a table entry, itself an obligation `p(X), Phi(X, W) |= p(Y), Psi(Y, W)` for all `W`.
pub fn apply_entry(
    layout: Layout,
    left: &Region,
    entry: &Obligation,
    frame: Frame,
) -> Result<Option<Conclusions>, Overflow> {
    let Some(right) = &entry.right else {
        // The entry says its left states are unreachable.
        return Ok(matches(layout, left, entry)?.then(Vec::new));
    };
    let k = layout.width;
    if frame == Frame::Same {
        if entry.layout.frame != layout.frame || !left.included_in(&entry.left)? {
            return Ok(None);
        }
        let nodes = layout.nodes();
        let mut wide = left.clone();
        wide.extend(k);
        let place = |n: usize| if (1..=k).contains(&n) { n - 1 + nodes } else { n };
        for l in right.inequalities() {
            if !wide.meet_linear(&l.renamed(place)?)? {
                return Ok(Some(Vec::new()));
            }
        }
        return Ok(Some(vec![conclude(layout, &wide, nodes)?]));
    }
    if !matches(layout, left, entry)? {
        return Ok(None);
    }
    let nodes = layout.nodes();
    let mut wide = left.clone();
    wide.extend(k + entry.layout.frame);
    // Entry's columns are ours; its frame lies after the concluded state.
    let place_left = |n: usize| if n <= k { n } else { n - k - 1 + nodes + k };
    for l in entry.left.inequalities() {
        if !wide.meet_linear(&l.renamed(place_left)?)? {
            return Ok(Some(Vec::new()));
        }
    }
    let place_right = |n: usize| match n {
        0 => 0,
        n if n <= k => n - 1 + nodes,
        n => n - k - 1 + nodes + k,
    };
    for l in right.inequalities() {
        if !wide.meet_linear(&l.renamed(place_right)?)? {
            return Ok(Some(Vec::new()));
        }
    }
    Ok(Some(vec![conclude(layout, &wide, nodes)?]))
}

/// Whether every left state is derived to be a left state of the entry for some frame.
fn matches(layout: Layout, left: &Region, entry: &Obligation) -> Result<bool, Overflow> {
    let columns: Vec<usize> = (0..=layout.width).collect();
    let mut known = entry.left.clone();
    if !known.truncate(layout.width + 1)?.exact {
        return Ok(false);
    }
    let (own, _) = left.select(&columns)?;
    own.included_in(&known)
}
