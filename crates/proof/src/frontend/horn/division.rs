//! `div` and `mod` by a number, as SMT-LIB has them.

use quotient_source::Span;

use super::{Clause, Result};
use crate::frontend::sexpr::Sexpr;
use crate::frontend::transitions::{integer, variable};
use crate::language::ast::{Formula, Term, TermKind};

impl Clause<'_> {
    /// The value of a term that is a number.
    pub(super) fn number(&mut self, s: &Sexpr) -> Result<Option<i64>> {
        fn value(term: &Term) -> Option<i64> {
            match &term.kind {
                TermKind::Integer(v) => Some(*v),
                TermKind::Negative(inner) => value(inner)?.checked_neg(),
                _ => None,
            }
        }
        Ok(match &self.term(s)?[..] {
            [(_, term)] => value(term),
            _ => None,
        })
    }

    /// The quotient of a division with a rest that is not negative: `term = by * Q + R`, `0 <= R < |by|`. There is exactly one for
    /// every dividend, so it may be named in front of the whole clause, whatever stands around the division.
    pub(super) fn quotient(&mut self, term: &Term, by: i64, span: Span) -> Term {
        let key = written(term);
        if let Some((.., known)) = self.quotients.iter().find(|q| q.0 == key && q.1 == by) {
            return known.clone();
        }
        let own = variable(&self.fresh("quotient"), span);
        let make = |kind| Term { kind, span };
        let back = make(TermKind::Product(Box::new(integer(by, span)), Box::new(own.clone())));
        let rest = make(TermKind::Difference(Box::new(term.clone()), Box::new(back)));
        // Numbers are at most 2^40 here.
        self.ranges.push(Formula::Range(rest, 0, by.abs() - 1));
        self.quotients.push((key, by, own.clone()));
        own
    }
}

/// A term as text, without where it stands.
fn written(term: &Term) -> String {
    match &term.kind {
        TermKind::Variable(name) => name.clone(),
        TermKind::Integer(value) => value.to_string(),
        TermKind::Sum(a, b) => format!("({} + {})", written(a), written(b)),
        TermKind::Difference(a, b) => format!("({} - {})", written(a), written(b)),
        TermKind::Product(a, b) => format!("({} * {})", written(a), written(b)),
        TermKind::Negative(a) => format!("(-{})", written(a)),
        TermKind::List(list) => format!("[{}]", list.iter().map(written).collect::<Vec<_>>().join(",")),
    }
}
