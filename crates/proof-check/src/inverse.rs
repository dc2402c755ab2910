//! One-level proofs of inverses: that a map not only takes every step to a step, but back again.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::Established;
use crate::effort::Effort;
use crate::format::{Assertion, Entry, Inequality, Program, Right, Tree, Unreachable};
use crate::relative::Check;
use crate::trees::Refusal;
use crate::unreachable::{Context, Index};

fn renamed(tree: &Tree, to: &dyn Fn(usize) -> usize) -> Tree {
    match tree {
        Tree::Le(l) => {
            Tree::Le(Inequality { terms: l.terms.iter().map(|&(n, c)| (to(n), c)).collect(), bound: l.bound })
        }
        Tree::And(list) => Tree::And(list.iter().map(|t| renamed(t, to)).collect()),
        Tree::Or(list) => Tree::Or(list.iter().map(|t| renamed(t, to)).collect()),
    }
}

fn is_true(tree: &Tree) -> bool {
    matches!(tree, Tree::And(list) if list.iter().all(is_true))
}

/// An assertion about all states, read the other way round: `p(Y) |= p(X), right(X, Y)`. Any other:
/// `p(Y), left(X), right(X, Y) |= p(X)`, where the left state becomes variables.
pub fn inverse(assertion: &Assertion, k: usize) -> Result<Assertion, Refusal> {
    let Right::State(right) = &assertion.right else { return Err("not a relative assertion".into()) };
    if is_true(&assertion.left) && assertion.nodes == 2 * k + 1 {
        let other = |n: usize| {
            if n == 0 || n > 2 * k {
                n
            } else if n <= k {
                n + k
            } else {
                n - k
            }
        };
        return Ok(Assertion { right: Right::State(renamed(right, &other)), ..assertion.clone() });
    }
    let to = |n: usize| match n {
        n if n <= k => 2 * k + n,
        n if n <= 2 * k => n - k,
        n => n + k,
    };
    let equal = |column: usize| {
        let (state, variable) = (k + column, 2 * k + column);
        let le = |a: usize, b: usize| Tree::Le(Inequality { terms: vec![(a, 1), (b, -1)], bound: 0 });
        [le(state, variable), le(variable, state)]
    };
    let nodes = assertion.nodes + k;
    Ok(Assertion {
        name: String::new(),
        assumed: false,
        nonincreasing: false,
        nodes,
        universal: nodes,
        left: Tree::And(vec![renamed(&assertion.left, &to), renamed(right, &to)]),
        right: Right::State(Tree::And((1..=k).flat_map(equal).collect())),
    })
}

/// Checks a one-level proof of the inverse of the only assertion of a group.
pub fn check(
    program: &Program,
    group: &[usize],
    entries: &[Entry],
    known: &BTreeMap<usize, Established>,
    effort: &Effort,
) -> Result<(), Refusal> {
    let [index] = group else { return Err("it belongs to several assertions".into()) };
    let mut wide = program.clone();
    wide.assertions.push(inverse(&program.assertions[*index], program.columns.len())?);
    let own = [wide.assertions.len() - 1];
    // The inverse is the assertion after the last one of the program, for the prover as well.
    let dead = Unreachable::default();
    let unreachable = Context { program: &wide, invariants: Vec::new(), maps: &[], effort };
    let check = Check {
        program: &wide,
        invariants: Vec::new(),
        group: &own,
        known,
        length_bounded: true,
        one_level: true,
        split: false,
        entries,
        dead: &dead,
        index: Index::of(&wide, &dead.sets),
        unreachable: &unreachable,
        effort,
        used: RefCell::new(Vec::new()),
    };
    check.run()
}
