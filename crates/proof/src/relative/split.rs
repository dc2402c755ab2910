//! Splitting obligations by the values of finite columns (the rule SPL).
//!
//! No reachable state has a value outside a finite column's values, so the cases cover every left
//! state that matters.

use crate::constraint::Overflow;
use crate::domain::Domain;
use crate::relative::obligation::Obligation;

/// How far obligations are split before they are unfolded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grain {
    /// Not at all.
    Whole,
    /// One case for each vector of locations.
    Locations,
    /// One case for each vector of values of all finite columns.
    Values,
}

/// The cases of an obligation at the given grain; `finite` is the program's split domain. Cases
/// for which `skip` holds on the left columns' constants (where known) are left out.
pub fn split(
    obligation: &Obligation,
    finite: &Domain,
    grain: Grain,
    limit: usize,
) -> Result<Option<Vec<Obligation>>, Overflow> {
    let mut list = vec![obligation.clone()];
    if grain == Grain::Whole {
        return Ok(Some(list));
    }
    for column in finite.finite.iter().filter(|f| grain == Grain::Values || f.location) {
        let mut next = Vec::new();
        for part in &list {
            for &value in &column.values {
                let mut one = part.clone();
                let node = column.column + 1;
                if one.left.meet(node, 0, value)? && one.left.meet(0, node, -value)? {
                    next.push(one);
                }
            }
            if next.len() > limit {
                return Ok(None);
            }
        }
        list = next;
    }
    Ok(Some(list))
}
