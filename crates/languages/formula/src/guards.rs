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

use crate::{Formula as Written, FormulaKind};

/// A formula without temporal operators, and the value it has wherever a proposition is asked.
#[derive(Debug)]
pub struct Guard<'a, E> {
    formula: &'a Written<E>,
    value: bool,
}

/// A formula whose parts without temporal operators, from left to right, are given a meaning, knowing their guards.
pub fn over_atoms<'a, E>(
    formula: &'a Written<E>,
    atom: &mut dyn FnMut(&'a E, &[Guard<'a, E>]) -> Formula,
) -> Formula {
    translate(formula, &mut Vec::new(), atom)
}

fn translate<'a, E>(
    formula: &'a Written<E>,
    guards: &mut Vec<Guard<'a, E>>,
    atom: &mut dyn FnMut(&'a E, &[Guard<'a, E>]) -> Formula,
) -> Formula {
    use FormulaKind as F;
    // Asked now, and asked where the left side has this value.
    let mut here = |f: &'a Written<E>| translate(f, guards, atom);
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
    let mut later = |f: &'a Written<E>| translate(f, &mut Vec::new(), atom);
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
fn imply<'a, E>(formula: &'a Written<E>, value: bool, out: &mut Vec<Guard<'a, E>>) {
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
        _ if !formula.is_temporal() => out.push(Guard { formula, value }),
        _ => {}
    }
}

/// A proposition that is asked only where its guards have their values, and false elsewhere. One that always has a value needs no guards.
pub fn guarded<E>(proposition: Expr, guards: &[Guard<'_, E>], meaning: &mut dyn FnMut(&E) -> Expr) -> Expr {
    // From left to right: a guard may need those before it.
    guards.iter().rev().fold(proposition, |inner, guard| {
        let value = state(guard.formula, meaning);
        let value = if guard.value { value } else { value.negated() };
        Expr::Binary(BinaryOp::And, Box::new(value), Box::new(inner))
    })
}

/// A formula without temporal operators as an expression.
fn state<E>(formula: &Written<E>, meaning: &mut dyn FnMut(&E) -> Expr) -> Expr {
    use FormulaKind as F;
    let (op, a, b) = match &formula.kind {
        F::Atom(e) => return meaning(e),
        F::Not(a) => return state(a, meaning).negated(),
        F::And(a, b) => (BinaryOp::And, state(a, meaning), state(b, meaning)),
        F::Or(a, b) => (BinaryOp::Or, state(a, meaning), state(b, meaning)),
        F::Implies(a, b) => (BinaryOp::Or, state(a, meaning).negated(), state(b, meaning)),
        F::Equivalent(a, b) => (BinaryOp::Eq, state(a, meaning).negated(), state(b, meaning).negated()),
        // Not a guard, by `is_temporal`.
        _ => return Expr::Const(0),
    };
    Expr::Binary(op, Box::new(a), Box::new(b))
}

/// Guards as text that is equal exactly for equal guards, given the same for expressions.
pub(crate) fn write_guards<E>(guards: &[Guard<'_, E>], out: &mut String, atom: &dyn Fn(&E, &mut String)) {
    for guard in guards {
        out.push_str(if guard.value { " if " } else { " unless " });
        write_state(guard.formula, out, atom);
    }
}

fn write_state<E>(formula: &Written<E>, out: &mut String, atom: &dyn Fn(&E, &mut String)) {
    use FormulaKind as F;
    let (name, parts): (_, Vec<&Written<E>>) = match &formula.kind {
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
