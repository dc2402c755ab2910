//! Proof obligations `p(X), Phi(X, V) |= p(Y), Psi(Y, V)`.
//!
//! `V` is the *frame*: the columns of the state the assertion started from and the other universal
//! variables of its left side. It ties the two sides together while both are unfolded. Both sides
//! are regions over the same layout: nodes `1..=k` are the state's columns, then the frame.

use crate::constraint::{Linear, Overflow, Region};
use crate::program::{Assertion, Right, Tree};

/// Node layout of an obligation.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Number of columns.
    pub width: usize,
    /// Number of frame nodes.
    pub frame: usize,
}

impl Layout {
    /// Layout of obligations of an assertion.
    pub fn of(assertion: &Assertion, width: usize) -> Layout {
        Layout { width, frame: width + assertion.universal - (2 * width + 1) }
    }

    /// Number of nodes.
    pub fn nodes(self) -> usize {
        1 + self.width + self.frame
    }
}

/// One obligation. `right` is `None` for "never": the left state must be unreachable.
#[derive(Clone, Debug)]
pub struct Obligation {
    /// Layout of both regions.
    pub layout: Layout,
    /// Left state and frame.
    pub left: Region,
    /// Right state and frame.
    pub right: Option<Region>,
}

/// Entries of matrices that the alternatives of one tree may hold together: 256 MiB.
const MOST_HELD: usize = 1 << 25;
/// Entries of matrices that may be copied for the alternatives of one tree: some seconds.
const MOST_COPIED: usize = 1 << 31;

/// How a tree's alternatives are listed.
struct Expansion<'a> {
    place: &'a dyn Fn(usize) -> usize,
    out: Vec<Region>,
    /// The first one suffices.
    first_only: bool,
    /// Entries that may still be copied.
    left: &'a mut usize,
}

impl Expansion<'_> {
    fn run(&mut self, agenda: &[&Tree], mut region: Region) -> Result<(), Overflow> {
        let entries = region.nodes() * region.nodes();
        let Some((first, rest)) = agenda.split_first() else {
            if (self.out.len() + 1).saturating_mul(entries) > MOST_HELD && !self.out.is_empty() {
                return Err(Overflow);
            }
            self.out.push(region);
            return Ok(());
        };
        match first {
            Tree::Le(l) => {
                if region.meet_linear(&l.renamed(self.place)?)? {
                    self.run(rest, region)?;
                }
            }
            Tree::And(list) => {
                let next: Vec<&Tree> = list.iter().chain(rest.iter().copied()).collect();
                self.run(&next, region)?;
            }
            Tree::Or(list) => {
                for t in list {
                    *self.left = self.left.checked_sub(entries).ok_or(Overflow)?;
                    let next: Vec<&Tree> = std::iter::once(t).chain(rest.iter().copied()).collect();
                    self.run(&next, region.clone())?;
                    if self.first_only && !self.out.is_empty() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Every satisfiable way to satisfy `tree` within `region`, choosing alternatives in order; nodes
/// of the tree are renamed by `place`. `Overflow`, too, where there are too many of them.
pub fn expand(tree: &Tree, region: Region, place: &dyn Fn(usize) -> usize) -> Result<Vec<Region>, Overflow> {
    let mut left = MOST_COPIED;
    let mut all = Expansion { place, out: Vec::new(), first_only: false, left: &mut left };
    all.run(&[tree], region)?;
    Ok(all.out)
}

/// Whether some state satisfies `tree`; `Overflow` where this is not seen while `left` entries of matrices are copied.
pub fn satisfiable(tree: &Tree, nodes: usize, left: &mut usize) -> Result<bool, Overflow> {
    let mut some = Expansion { place: &|n| n, out: Vec::new(), first_only: true, left };
    some.run(&[tree], Region::universe(nodes))?;
    Ok(!some.out.is_empty())
}

/// What a region says about the frame alone, as inequalities at the same nodes.
///
/// Exact: the frame's submatrix of a closed matrix is its projection. General inequalities that
/// also mention columns cannot be kept; then the answer is `None`.
pub fn about_frame(layout: Layout, region: &Region) -> Result<Option<Vec<Linear>>, Overflow> {
    let source: Vec<usize> = std::iter::once(0).chain(layout.width + 1..layout.nodes()).collect();
    let (frame, exact) = region.select(&source)?;
    if !exact {
        return Ok(None);
    }
    let back = |n: usize| if n == 0 { 0 } else { n + layout.width };
    frame.inequalities().iter().map(|l| l.renamed(back)).collect::<Result<Vec<_>, _>>().map(Some)
}

/// The obligations of an assertion: one for each disjunct on the left; where the right side is a
/// disjunction, the left is split by which disjunct can be met (the rule SPL). What no disjunct can
/// match must be unreachable. Nothing is lost: the parts together are the whole left side. `None` where `stopped` says so.
pub fn obligations(
    assertion: &Assertion,
    width: usize,
    stopped: &dyn Fn() -> bool,
) -> Result<Option<Vec<Obligation>>, Overflow> {
    let layout = Layout::of(assertion, width);
    let k = width;
    let mut start = Region::universe(layout.nodes());
    for column in 1..=k {
        // The current left state is the one the assertion speaks of.
        if !(start.meet(column, k + column, 0)? && start.meet(k + column, column, 0)?) {
            return Ok(Some(Vec::new()));
        }
    }
    // Node 2k + j of the assertion is its j-th universal variable, and so it is in the layout.
    let lefts = expand(&assertion.left, start, &|n| n)?;
    let Right::State(tree) = &assertion.right else {
        return Ok(Some(Vec::new()));
    };
    // On the right the assertion's left columns are frame, its right columns the state.
    let swap = move |n: usize| match n {
        n if (1..=k).contains(&n) => n + k,
        n if (k + 1..=2 * k).contains(&n) => n - k,
        n => n,
    };
    let wide = Region::universe(assertion.nodes);
    let mut rights = Vec::new();
    for mut right in expand(tree, wide, &swap)? {
        let outcome = right.truncate(layout.nodes())?;
        if outcome.satisfiable && outcome.exact {
            rights.push(right);
        }
    }
    let mut out = Vec::new();
    for left in lefts {
        let mut rest = vec![left];
        for right in &rights {
            let Some(condition) = about_frame(layout, right)? else { continue };
            let mut next = Vec::new();
            for part in rest {
                if stopped() {
                    return Ok(None);
                }
                let mut inside = part.clone();
                let mut alive = true;
                for l in &condition {
                    alive = alive && inside.meet_linear(l)?;
                }
                if !alive {
                    next.push(part);
                    continue;
                }
                let mut outer = Region::universe(layout.nodes());
                for l in &condition {
                    outer.meet_linear(l)?;
                }
                next.extend(part.subtract(&outer)?);
                out.push(Obligation { layout, left: inside, right: Some(right.clone()) });
            }
            rest = next;
        }
        out.extend(rest.into_iter().map(|left| Obligation { layout, left, right: None }));
    }
    Ok(Some(out))
}

/// Whether the left side is derived to imply everything `right` says about the frame: without it
/// no unfolding of `right` can ever match, since unfolding only adds constraints.
pub fn frame_implied(layout: Layout, left: &Region, right: &Region) -> Result<bool, Overflow> {
    if left.general().is_empty() && right.general().is_empty() {
        let frame = || std::iter::once(0).chain(layout.width + 1..layout.nodes());
        return Ok(frame().all(|i| frame().all(|j| left.dbm().entry(i, j) <= right.dbm().entry(i, j))));
    }
    match about_frame(layout, right)? {
        None => Ok(false),
        Some(list) => {
            for l in &list {
                if !left.implies(l)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

/// Whether both sides together can be satisfied (columns of the two states are different nodes).
pub fn jointly_satisfiable(layout: Layout, left: &Region, right: &Region) -> Result<bool, Overflow> {
    let mut both = left.clone();
    let offset = layout.nodes() - 1;
    both.extend(layout.width);
    let place = |n: usize| if (1..=layout.width).contains(&n) { n + offset } else { n };
    for l in right.inequalities() {
        if !both.meet_linear(&l.renamed(place)?)? {
            return Ok(false);
        }
    }
    Ok(true)
}
