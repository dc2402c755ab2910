//! Formulas over propositions that need not have a value everywhere.
//!
//! In `g != null && g.value == 1` the second proposition is only asked where the first is true. An automaton asks them apart, in any
//! order, or one of them alone. So a proposition whose evaluation may be a fault is asked together with what stands to its left:
//! it becomes `g != null && (g.value == 1)`, a proposition of its own.
//!
//! Why that changes nothing else: in `a && f`, the value of `f` matters only where `a` is true, in `a || f` only where it is false, in
//! `a -> f` only where it is true. There, and at that time, a proposition and the guarded one are the same. What stands under a
//! temporal operator is asked at other times, too, and keeps no guard from outside of it.

use quotient_logic::Formula;
use quotient_program::{BinaryOp, Expr};

use crate::ast;
use crate::ast::FormulaKind;

/// A formula without temporal operators, and the value it has wherever a proposition is asked.
#[derive(Clone, Copy, Debug)]
pub struct Guard<'a> {
    formula: &'a ast::Formula,
    value: bool,
}

/// A formula whose parts without temporal operators, from left to right, are given a meaning, knowing their guards.
pub fn over_atoms<'a>(
    formula: &'a ast::Formula,
    atom: &mut dyn FnMut(&'a ast::Expr, &[Guard<'a>]) -> Formula,
) -> Formula {
    translate(formula, &mut Vec::new(), atom)
}

fn translate<'a>(
    formula: &'a ast::Formula,
    guards: &mut Vec<Guard<'a>>,
    atom: &mut dyn FnMut(&'a ast::Expr, &[Guard<'a>]) -> Formula,
) -> Formula {
    use FormulaKind as F;
    // Asked now, and asked where the left side has this value.
    let mut here = |f: &'a ast::Formula| translate(f, guards, atom);
    match &formula.kind {
        F::Atom(e) => return atom(e, guards),
        F::Not(a) => return here(a).negated(),
        F::Equivalent(a, b) => return here(a).equivalent(here(b)),
        F::Exists(a) => return Formula::Exists(Box::new(here(a))),
        F::All(a) => return Formula::All(Box::new(here(a))),
        F::And(a, b) | F::Or(a, b) | F::Implies(a, b) => {
            let left = here(a);
            let known = guards.len();
            imply(a, !matches!(formula.kind, F::Or(..)), guards);
            let right = translate(b, guards, atom);
            guards.truncate(known);
            return match &formula.kind {
                F::And(..) => left.and(right),
                F::Or(..) => left.or(right),
                _ => left.implies(right),
            };
        }
        _ => {}
    }
    let mut later = |f: &'a ast::Formula| translate(f, &mut Vec::new(), atom);
    match &formula.kind {
        F::Always(a) => later(a).always(),
        F::Eventually(a) => later(a).eventually(),
        F::Next(a) => later(a).next(),
        F::Until(a, b) => later(a).until(later(b)),
        F::WeakUntil(a, b) => later(a).weak_until(later(b)),
        F::Release(a, b) => later(a).release(later(b)),
        _ => Formula::True,
    }
}

/// Adds what is known of the present state when the formula has this value.
fn imply<'a>(formula: &'a ast::Formula, value: bool, out: &mut Vec<Guard<'a>>) {
    use FormulaKind as F;
    match (&formula.kind, value) {
        (F::Not(a), _) => imply(a, !value, out),
        (F::And(a, b), true) | (F::Or(a, b), false) => {
            imply(a, value, out);
            imply(b, value, out);
        }
        (F::Implies(a, b), false) => {
            imply(a, true, out);
            imply(b, false, out);
        }
        _ if is_state(formula) => out.push(Guard { formula, value }),
        _ => {}
    }
}

/// Has the formula no temporal operator?
fn is_state(formula: &ast::Formula) -> bool {
    use FormulaKind as F;
    match &formula.kind {
        F::Atom(_) => true,
        F::Not(a) => is_state(a),
        F::And(a, b) | F::Or(a, b) | F::Implies(a, b) | F::Equivalent(a, b) => is_state(a) && is_state(b),
        _ => false,
    }
}

/// A proposition that is asked only where its guards have their values, and false elsewhere; as it is if it always has a value.
pub fn guarded(proposition: Expr, guards: &[Guard<'_>], meaning: &mut dyn FnMut(&ast::Expr) -> Expr) -> Expr {
    if !proposition.may_fault() {
        return proposition;
    }
    // From left to right: a guard may need those before it.
    guards.iter().rev().fold(proposition, |inner, guard| {
        let value = state(guard.formula, meaning);
        let value = if guard.value { value } else { value.negated() };
        Expr::Binary(BinaryOp::And, Box::new(value), Box::new(inner))
    })
}

/// A formula without temporal operators as an expression.
fn state(formula: &ast::Formula, meaning: &mut dyn FnMut(&ast::Expr) -> Expr) -> Expr {
    use FormulaKind as F;
    let (op, a, b) = match &formula.kind {
        F::Atom(e) => return meaning(e),
        F::Not(a) => return state(a, meaning).negated(),
        F::And(a, b) => (BinaryOp::And, state(a, meaning), state(b, meaning)),
        F::Or(a, b) => (BinaryOp::Or, state(a, meaning), state(b, meaning)),
        F::Implies(a, b) => (BinaryOp::Or, state(a, meaning).negated(), state(b, meaning)),
        F::Equivalent(a, b) => (BinaryOp::Eq, state(a, meaning).negated(), state(b, meaning).negated()),
        // Not a guard, by `is_state`.
        _ => return Expr::Const(0),
    };
    Expr::Binary(op, Box::new(a), Box::new(b))
}

/// Guards as text that is equal exactly for equal guards, given the same for expressions.
pub(super) fn write_guards(guards: &[Guard<'_>], out: &mut String, atom: &dyn Fn(&ast::Expr, &mut String)) {
    for guard in guards {
        out.push_str(if guard.value { " if " } else { " unless " });
        write_state(guard.formula, out, atom);
    }
}

fn write_state(formula: &ast::Formula, out: &mut String, atom: &dyn Fn(&ast::Expr, &mut String)) {
    use FormulaKind as F;
    let (name, parts): (_, Vec<&ast::Formula>) = match &formula.kind {
        F::Atom(e) => return atom(e, out),
        F::Not(a) => ("not", vec![a]),
        F::And(a, b) => ("and", vec![a, b]),
        F::Or(a, b) => ("or", vec![a, b]),
        F::Implies(a, b) => ("implies", vec![a, b]),
        F::Equivalent(a, b) => ("equivalent", vec![a, b]),
        _ => return,
    };
    out.push('(');
    out.push_str(name);
    for part in parts {
        out.push(' ');
        write_state(part, out, atom);
    }
    out.push(')');
}
