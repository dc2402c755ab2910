//! Claims written by hand that cannot count steps.
//!
//! Reductions change how often a state is repeated, as far as a claim can see it. That is sound for a claim whose language is closed
//! under stuttering: with a word it has every word in which letters are repeated more or less often. Formulas without `X` are
//! such claims. A `never` claim can be anything, and to decide the question in general is as hard as to complement
//! the automaton; here are two conditions that can be looked up, and that suffice. A letter *a* says which of the claim's
//! conditions hold; q →a q' is a move of the claim on it.
//!
//! 1. If q →a q', then q →a q or q' →a q'. So where a letter is repeated once more the claim can wait, before the move or
//!    after it, and visits all the locations that it visited before.
//! 2. If q →a q' →a q'', then q →a q''; and if q' is an accept location, so is q or q''. So where a letter is
//!    repeated once less the claim can go the short way. By induction it can for any number of repetitions, and if an accept location is
//!    left out, one at an end of the way is visited.
//!
//! Both hold at infinitely many places of a word at once, since the ways between them do not depend on each other. A claim
//! that has reached its end stays there, whatever follows, as if the end were an accept location with all moves to itself.
//!
//! The conditions must be about what steps are known to change (the same that ample sets can respect), and must not fault: a fault
//! is seen where a condition is evaluated, which a short way leaves out. Claims with variables, assertions or several statements in one step are
//! refused. Conditions are compared by their atoms, every combination of which is looked at; combinations that no state has
//! can only lead to a refusal.

use quotient_program::visit;
use quotient_program::{BinaryOp, Expr, Function, Operation, Place, Program, Projection, Root, UnaryOp};

/// Most atoms: all their combinations are tried.
const MOST_ATOMS: usize = 10;
/// Most moves: all pairs of them are tried.
const MOST_MOVES: usize = 128;

/// A move of the claim.
struct Move<'a> {
    from: usize,
    to: usize,
    operation: &'a Operation,
}

/// Whether a claim is known to be closed under stuttering.
pub fn is_invariant(program: &Program, claim: &Function) -> bool {
    let Some(moves) = moves(claim) else { return false };
    let mut atoms = Vec::new();
    for m in &moves {
        if let Operation::When(e) = m.operation
            && (!is_plain(e) || e.may_fault(program, &claim.locals) || !collect(e, &mut atoms))
        {
            return false;
        }
    }
    let ends =
        |l: usize| claim.locations[l].transformations.iter().any(|t| matches!(t.operation, Operation::Exit));
    let accepts = |l: usize| claim.locations[l].accept || ends(l);
    let mut enabled = Vec::with_capacity(moves.len());
    (0..1u32 << atoms.len()).all(|letter| {
        enabled.clear();
        for m in &moves {
            enabled.push(match m.operation {
                Operation::When(e) => holds(e, &atoms, letter),
                Operation::Always => true,
                // Decided below, when the others are known.
                _ => false,
            });
        }
        for (index, m) in moves.iter().enumerate() {
            if matches!(m.operation, Operation::Else) {
                let others = moves.iter().zip(&enabled);
                enabled[index] = !others.filter(|(o, _)| o.from == m.from).any(|(_, enabled)| *enabled);
            }
        }
        let possible = |from: usize, to: usize| {
            from == to && ends(from)
                || moves.iter().zip(&enabled).any(|(m, enabled)| *enabled && (m.from, m.to) == (from, to))
        };
        let taken = || moves.iter().zip(&enabled).filter(|(_, enabled)| **enabled).map(|(m, _)| m);
        taken().all(|first| {
            let waits = possible(first.from, first.from) || possible(first.to, first.to);
            waits
                && taken().filter(|second| second.from == first.to).all(|second| {
                    let kept = !accepts(first.to) || accepts(first.from) || accepts(second.to);
                    kept && possible(first.from, second.to)
                })
        })
    })
}

/// The moves of a claim that does nothing but look.
fn moves(claim: &Function) -> Option<Vec<Move<'_>>> {
    if !claim.locals.is_empty() || claim.provided.is_some() {
        return None;
    }
    let mut moves = Vec::new();
    for (from, location) in claim.locations.iter().enumerate() {
        let ts = &location.transformations;
        if location.deterministic || ts.windows(2).any(|w| w[0].rank != w[1].rank) {
            return None;
        }
        for t in ts {
            match (&t.operation, t.target) {
                (Operation::Exit, _) => {}
                (operation @ (Operation::When(_) | Operation::Always | Operation::Else), Some(to))
                    if t.actions.is_empty() && !t.keeps_control =>
                {
                    moves.push(Move { from, to: to.0 as usize, operation });
                }
                _ => return None,
            }
        }
    }
    (moves.len() <= MOST_MOVES).then_some(moves)
}

/// Only values of variables, channels and locations.
fn is_plain(e: &Expr) -> bool {
    !visit::any(e, |e| {
        !matches!(
            e,
            Expr::Const(_)
                | Expr::Load(_)
                | Expr::Unary(..)
                | Expr::Binary(..)
                | Expr::Conditional(..)
                | Expr::Length(_)
                | Expr::Full(_)
                | Expr::Empty(_)
                | Expr::At { .. }
                | Expr::Oldest(_)
                | Expr::Spanned(..)
        )
    })
}

fn strip(e: &Expr) -> &Expr {
    match e {
        Expr::Spanned(inner, _) => strip(inner),
        other => other,
    }
}

/// Adds the atoms of a condition; `false` when there are too many.
fn collect<'a>(e: &'a Expr, atoms: &mut Vec<&'a Expr>) -> bool {
    match strip(e) {
        Expr::Const(_) => true,
        Expr::Unary(UnaryOp::Not, a) => collect(a, atoms),
        Expr::Binary(BinaryOp::And | BinaryOp::Or, a, b) => collect(a, atoms) && collect(b, atoms),
        atom => {
            if !atoms.iter().any(|known| same(known, atom)) {
                atoms.push(atom);
            }
            atoms.len() <= MOST_ATOMS
        }
    }
}

/// The value of a condition where the atoms have these values, one bit each.
fn holds(e: &Expr, atoms: &[&Expr], letter: u32) -> bool {
    match strip(e) {
        Expr::Const(value) => *value != 0,
        Expr::Unary(UnaryOp::Not, a) => !holds(a, atoms, letter),
        Expr::Binary(BinaryOp::And, a, b) => holds(a, atoms, letter) && holds(b, atoms, letter),
        Expr::Binary(BinaryOp::Or, a, b) => holds(a, atoms, letter) || holds(b, atoms, letter),
        atom => atoms.iter().position(|known| same(known, atom)).is_some_and(|at| letter >> at & 1 == 1),
    }
}

/// Whether two expressions are written alike. What is not known to be is taken for another atom.
fn same(a: &Expr, b: &Expr) -> bool {
    match (strip(a), strip(b)) {
        (Expr::Const(a), Expr::Const(b)) => a == b,
        (Expr::Load(a), Expr::Load(b)) => same_place(a, b),
        (Expr::Unary(op_a, a), Expr::Unary(op_b, b)) => op_a == op_b && same(a, b),
        (Expr::Binary(op_a, a1, a2), Expr::Binary(op_b, b1, b2)) => {
            op_a == op_b && same(a1, b1) && same(a2, b2)
        }
        (Expr::Length(a), Expr::Length(b))
        | (Expr::Full(a), Expr::Full(b))
        | (Expr::Empty(a), Expr::Empty(b)) => same(a, b),
        (Expr::At { thread: a, label: la }, Expr::At { thread: b, label: lb }) => la == lb && same(a, b),
        (Expr::Oldest(a), Expr::Oldest(b)) => a == b,
        _ => false,
    }
}

fn same_place(a: &Place, b: &Place) -> bool {
    let root = matches!((&a.root, &b.root), (Root::Global(a), Root::Global(b)) if a == b);
    root && a.path.len() == b.path.len()
        && a.path.iter().zip(&b.path).all(|pair| match pair {
            (Projection::Field(a), Projection::Field(b)) => a == b,
            (Projection::Index(a), Projection::Index(b)) => same(a, b),
            _ => false,
        })
}
