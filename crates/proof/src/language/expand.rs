//! Symmetry declarations written out as assertions.
//!
//! `symmetric p(…) under permutations {(P1,T1), …, (Pn,Tn)}` stands for one assertion for each
//! adjacent transposition: they generate every permutation of the blocks, and the prover composes
//! them. `under rotations` stands for the shift by one. `with ids K from 1` adds that the value
//! `i` of `K`, the number of a block, becomes the number of the block that takes its place; other
//! values stay. (When each generator maps reachable states to reachable states, so does every
//! product of generators.)

use quotient_source::{Diagnostic, Diagnostics, Span};

use super::ast::*;

fn variable(name: &str, span: Span) -> Term {
    Term { kind: TermKind::Variable(name.to_string()), span }
}

fn integer(value: i64, span: Span) -> Term {
    Term { kind: TermKind::Integer(value), span }
}

/// Replaces variables in a term.
fn rename(term: &Term, to: &dyn Fn(&str) -> Option<String>) -> Term {
    let boxed = |t: &Term| Box::new(rename(t, to));
    let kind = match &term.kind {
        TermKind::Variable(name) => TermKind::Variable(to(name).unwrap_or_else(|| name.clone())),
        TermKind::Integer(v) => TermKind::Integer(*v),
        TermKind::Sum(a, b) => TermKind::Sum(boxed(a), boxed(b)),
        TermKind::Difference(a, b) => TermKind::Difference(boxed(a), boxed(b)),
        TermKind::Product(a, b) => TermKind::Product(boxed(a), boxed(b)),
        TermKind::Negative(a) => TermKind::Negative(boxed(a)),
        TermKind::List(list) => TermKind::List(list.iter().map(|t| rename(t, to)).collect()),
    };
    Term { kind, span: term.span }
}

/// One assertion per generator; anything else is returned unchanged.
pub(super) fn expand(assertion: &Assertion, diagnostics: &mut Diagnostics) -> Vec<Assertion> {
    let Claim::Symmetric { group, blocks, identities, first } = &assertion.claim else {
        return vec![assertion.clone()];
    };
    let size = blocks[0].0.len();
    for (block, span) in blocks {
        if block.len() != size {
            diagnostics.push(
                Diagnostic::error(
                    *span,
                    format!("this block has {} variables, the first {size}", block.len()),
                )
                .related(blocks[0].1, "first block"),
            );
            return Vec::new();
        }
    }
    if blocks.len() < 2 {
        diagnostics.push(Diagnostic::error(blocks[0].1, "a symmetry needs at least two blocks"));
        return Vec::new();
    }
    let known = |name: &str| {
        fn occurs(t: &Term, name: &str) -> bool {
            match &t.kind {
                TermKind::Variable(v) => v == name,
                TermKind::List(list) => list.iter().any(|t| occurs(t, name)),
                _ => false,
            }
        }
        assertion.left.arguments.iter().any(|t| occurs(t, name))
    };
    for (name, span) in blocks.iter().flat_map(|b| &b.0).chain(identities) {
        if !known(name) {
            diagnostics.push(
                Diagnostic::error(*span, format!("`{name}` is not an argument of the state"))
                    .related(assertion.left.span, "the state"),
            );
            return Vec::new();
        }
    }
    let n = blocks.len();
    // Generators as functions: the block that comes to stand at place i.
    let generators: Vec<Vec<usize>> = match group {
        Group::Rotations => vec![(0..n).map(|i| (i + n - 1) % n).collect()],
        Group::Permutations => (0..n - 1)
            .map(|g| {
                let mut order: Vec<usize> = (0..n).collect();
                order.swap(g, g + 1);
                order
            })
            .collect(),
    };
    let single = generators.len() == 1;
    let mut out = Vec::new();
    for (number, order) in generators.iter().enumerate() {
        let image = |name: &str| -> Option<String> {
            for (place, (block, _)) in blocks.iter().enumerate() {
                if let Some(at) = block.iter().position(|b| b.0 == name) {
                    return Some(blocks[order[place]].0[at].0.clone());
                }
            }
            identities.iter().find(|i| i.0 == name).map(|i| format!("{}''", i.0))
        };
        let arguments = assertion.left.arguments.iter().map(|t| rename(t, &image)).collect();
        let mut maps = Vec::new();
        for (name, span) in identities {
            let (k, image) = (variable(name, *span), variable(&format!("{name}''"), *span));
            // The block numbered first + order[place] moves to place.
            let last = first + n as i64 - 1;
            let mut cases: Vec<Formula> = (0..n)
                .map(|place| {
                    let from = integer(first + order[place] as i64, *span);
                    let to = integer(first + place as i64, *span);
                    Formula::And(vec![
                        Formula::Compare(Relation::Equal, k.clone(), from),
                        Formula::Compare(Relation::Equal, image.clone(), to),
                    ])
                })
                .collect();
            for (relation, limit) in [(Relation::Less, *first), (Relation::Greater, last)] {
                cases.push(Formula::And(vec![
                    Formula::Compare(relation, k.clone(), integer(limit, *span)),
                    Formula::Compare(Relation::Equal, image.clone(), k.clone()),
                ]));
            }
            maps.push(Formula::Or(cases));
        }
        let name = assertion.name.as_ref().map(|(name, span)| {
            (if single { name.clone() } else { format!("{name}.{}", number + 1) }, *span)
        });
        let right = Atom { arguments, ..assertion.left.clone() };
        out.push(Assertion { name, claim: Claim::State(right, Formula::And(maps)), ..assertion.clone() });
    }
    out
}
