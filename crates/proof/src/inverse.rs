//! The inverse of a relative assertion.
//!
//! A forward search may merge states only along automorphisms of the transition relation. An
//! assertion with a *one-level* proof (each left step is matched by one right step, facts by facts)
//! says that its map preserves steps; when the inverse has such a proof too, steps are preserved in
//! both directions.

use crate::constraint::Linear;
use crate::program::{Assertion, Right, Tree};

fn rename(tree: &Tree, to: &impl Fn(usize) -> usize) -> Option<Tree> {
    Some(match tree {
        Tree::Le(l) => Tree::Le(l.renamed(to).ok()?),
        Tree::And(list) => Tree::And(list.iter().map(|t| rename(t, to)).collect::<Option<_>>()?),
        Tree::Or(list) => Tree::Or(list.iter().map(|t| rename(t, to)).collect::<Option<_>>()?),
    })
}

fn is_true(tree: &Tree) -> bool {
    matches!(tree, Tree::And(list) if list.iter().all(is_true))
}

/// `p(Y) |= p(X), right(X, Y)` when the assertion speaks of all states: the relation read the other way round, which for a
/// permutation is its inverse. Else `p(Y), left(X), right(X, Y) |= p(X)`, with the old left columns as
/// universal variables.
pub fn inverse(assertion: &Assertion, width: usize) -> Option<Assertion> {
    let Right::State(right) = &assertion.right else { return None };
    let k = width;
    if is_true(&assertion.left) && assertion.nodes == 2 * k + 1 {
        let other = |n: usize| match n {
            0 => 0,
            n if n <= k => n + k,
            n => n - k,
        };
        return Some(Assertion {
            name: format!("{} inverse", assertion.name),
            using: Vec::new(),
            right: Right::State(rename(right, &other)?),
            ..assertion.clone()
        });
    }
    // Old left columns become variables, old right columns the new left state.
    let to = move |n: usize| match n {
        0 => 0,
        n if n <= k => 2 * k + n,
        n if n <= 2 * k => n - k,
        n => n + k,
    };
    let equal = (1..=k).flat_map(|column| {
        let (new, old) = (k + column, 2 * k + column);
        [Tree::Le(Linear::difference(new, old, 0)), Tree::Le(Linear::difference(old, new, 0))]
    });
    let nodes = assertion.nodes + k;
    Some(Assertion {
        name: format!("{} inverse", assertion.name),
        span: assertion.span,
        assumed: false,
        nonincreasing: false,
        using: Vec::new(),
        nodes,
        universal: nodes,
        left: Tree::And(vec![rename(&assertion.left, &to)?, rename(right, &to)?]),
        right: Right::State(Tree::And(equal.collect())),
    })
}
