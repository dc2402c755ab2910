//! The control flow of a function: where it goes back, and where a thread keeps control at the end of a `d_step`.
//!
//! Whether a thread goes on alone after a `d_step`, because an `atomic` is around it, is said by the transformation that enters
//! it: those inside do not tell, nor the one that leads out.

use quotient_program::{Function, Operation};

/// The locations inside a `d_step` after which the thread keeps control.
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

#[derive(Clone, Copy, PartialEq)]
enum Colour {
    New,
    Open,
    Done,
}

/// Where the control flow goes back: every cycle of it has a transformation that a depth-first walk finds to lead to a location that the walk has
/// not left yet. Walks from `starts` over the locations that are `inside`, which is asked whenever one is come to, and tells `back` from where to where a
/// transformation goes back. What they know and change is `memory`.
pub(crate) fn going_back<M>(
    function: &Function,
    starts: impl Iterator<Item = usize>,
    memory: &mut M,
    inside: impl Fn(&M, usize) -> bool,
    back: impl Fn(&mut M, usize, usize),
) {
    let mut colour = vec![Colour::New; function.locations.len()];
    for start in starts {
        if colour[start] != Colour::New || !inside(memory, start) {
            continue;
        }
        // (location, next transformation to look at)
        let mut stack = vec![(start, 0)];
        colour[start] = Colour::Open;
        while let Some((location, next)) = stack.pop() {
            let Some(t) = function.locations[location].transformations.get(next) else {
                colour[location] = Colour::Done;
                continue;
            };
            stack.push((location, next + 1));
            let Some(target) = t.target.map(|l| l.0 as usize) else { continue };
            if !inside(memory, target) {
                continue;
            }
            match colour[target] {
                Colour::New => {
                    colour[target] = Colour::Open;
                    stack.push((target, 0));
                }
                Colour::Open => back(memory, location, target),
                Colour::Done => {}
            }
        }
    }
}
