//! Where a thread keeps control at the end of a `d_step`.
//!
//! Whether a thread goes on alone behind a `d_step`, because an `atomic` is around it, is said by the transformation that enters
//! it: those inside do not tell, nor the one that leads out.

use quotient_program::{Function, Operation};

/// The locations inside a `d_step` behind which the thread keeps control.
pub(crate) fn kept_behind(function: &Function) -> Vec<bool> {
    let mut kept = vec![false; function.locations.len()];
    let entering =
        |t: &&quotient_program::Transformation| matches!(t.operation, Operation::Enter) && t.keeps_control;
    let entered = function.locations.iter().flat_map(|l| &l.transformations).filter(entering);
    let mut waiting: Vec<usize> = entered.filter_map(|t| t.target).map(|l| l.0 as usize).collect();
    while let Some(location) = waiting.pop() {
        let here = &function.locations[location];
        if here.deterministic && !std::mem::replace(&mut kept[location], true) {
            waiting.extend(here.transformations.iter().filter_map(|t| t.target).map(|l| l.0 as usize));
        }
    }
    kept
}
