//! Symbolic values of a program's columns: linear sums over the state before a step, and conditions
//! on them. Constants are folded, so that what does not depend on the state decides itself.

use std::collections::BTreeMap;

use quotient_source::Span;

use super::transitions::{Columns, integer, variable};
use crate::language::ast::{Formula, Relation, Term, TermKind};

/// A linear sum over columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    terms: BTreeMap<usize, i64>,
    constant: i64,
}

impl Sum {
    /// A number.
    pub(super) fn constant(value: i64) -> Sum {
        Sum { terms: BTreeMap::new(), constant: value }
    }

    /// The value of a column before the step.
    pub(super) fn column(at: usize) -> Sum {
        Sum { terms: BTreeMap::from([(at, 1)]), constant: 0 }
    }

    /// The number, if it is one.
    pub(super) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The column whose value it is, unchanged.
    pub(super) fn as_column(&self) -> Option<usize> {
        match (self.terms.iter().next(), self.terms.len(), self.constant) {
            (Some((&at, 1)), 1, 0) => Some(at),
            _ => None,
        }
    }

    /// `self + other * by`; `None` on overflow.
    pub(super) fn plus(&self, other: &Sum, by: i64) -> Option<Sum> {
        let mut out = self.clone();
        out.constant = out.constant.checked_add(other.constant.checked_mul(by)?)?;
        for (&at, &c) in &other.terms {
            let entry = out.terms.entry(at).or_insert(0);
            *entry = entry.checked_add(c.checked_mul(by)?)?;
        }
        out.terms.retain(|_, c| *c != 0);
        Some(out)
    }

    /// The smallest and largest value when column `at` lies within `range(at)`.
    pub(super) fn bounds(&self, range: &dyn Fn(usize) -> (i64, i64)) -> (i128, i128) {
        let (mut low, mut high) = (i128::from(self.constant), i128::from(self.constant));
        for (&at, &c) in &self.terms {
            let (l, h) = range(at);
            let (a, b) = (i128::from(c) * i128::from(l), i128::from(c) * i128::from(h));
            low += a.min(b);
            high += a.max(b);
        }
        (low, high)
    }

    /// As a term of the `.clp` language.
    pub(super) fn term(&self, columns: &Columns, span: Span) -> Term {
        let make = |kind| Term { kind, span };
        let mut out: Option<Term> = None;
        for (&at, &c) in &self.terms {
            let name = variable(&columns.variables[at], span);
            let size = match c.unsigned_abs() {
                1 => name,
                n => make(TermKind::Product(
                    Box::new(integer(i64::try_from(n).unwrap_or(i64::MAX), span)),
                    Box::new(name),
                )),
            };
            out = Some(match (out, c > 0) {
                (None, true) => size,
                (None, false) => make(TermKind::Negative(Box::new(size))),
                (Some(before), true) => make(TermKind::Sum(Box::new(before), Box::new(size))),
                (Some(before), false) => make(TermKind::Difference(Box::new(before), Box::new(size))),
            });
        }
        match (out, self.constant) {
            (None, c) => integer(c, span),
            (Some(t), 0) => t,
            (Some(t), c) if c > 0 => make(TermKind::Sum(Box::new(t), Box::new(integer(c, span)))),
            (Some(t), c) => make(TermKind::Difference(
                Box::new(t),
                Box::new(integer(c.checked_neg().unwrap_or(i64::MAX), span)),
            )),
        }
    }
}

/// A condition on the state before a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// Always or never.
    Truth(bool),
    /// The sum, compared with 0.
    Compare(Relation, Sum),
    /// The process stands at the location.
    At(usize, i64),
    /// All.
    And(Vec<Condition>),
    /// Some.
    Or(Vec<Condition>),
    /// Not.
    Not(Box<Condition>),
}

impl Condition {
    /// `a relation b`; `None` on overflow.
    pub(super) fn compare(relation: Relation, a: &Sum, b: &Sum) -> Option<Condition> {
        let sum = a.plus(b, -1)?;
        Some(match sum.as_constant() {
            Some(value) => Condition::Truth(match relation {
                Relation::Equal => value == 0,
                Relation::Different => value != 0,
                Relation::Less => value < 0,
                Relation::AtMost => value <= 0,
                Relation::Greater => value > 0,
                Relation::AtLeast => value >= 0,
            }),
            None => Condition::Compare(relation, sum),
        })
    }

    /// Both.
    pub(super) fn and(self, other: Condition) -> Condition {
        match (self, other) {
            (Condition::Truth(false), _) | (_, Condition::Truth(false)) => Condition::Truth(false),
            (Condition::Truth(true), c) | (c, Condition::Truth(true)) => c,
            (Condition::And(mut a), Condition::And(b)) => {
                a.extend(b);
                Condition::And(a)
            }
            (Condition::And(mut a), c) => {
                a.push(c);
                Condition::And(a)
            }
            (a, b) => Condition::And(vec![a, b]),
        }
    }

    /// One of them.
    pub(super) fn or(self, other: Condition) -> Condition {
        match (self, other) {
            (Condition::Truth(true), _) | (_, Condition::Truth(true)) => Condition::Truth(true),
            (Condition::Truth(false), c) | (c, Condition::Truth(false)) => c,
            (Condition::Or(mut a), Condition::Or(b)) => {
                a.extend(b);
                Condition::Or(a)
            }
            (Condition::Or(mut a), c) => {
                a.push(c);
                Condition::Or(a)
            }
            (a, b) => Condition::Or(vec![a, b]),
        }
    }

    /// The opposite.
    pub(super) fn negated(self) -> Condition {
        match self {
            Condition::Truth(value) => Condition::Truth(!value),
            Condition::Not(inner) => *inner,
            Condition::Compare(relation, sum) => {
                let relation = match relation {
                    Relation::Equal => Relation::Different,
                    Relation::Different => Relation::Equal,
                    Relation::Less => Relation::AtLeast,
                    Relation::AtLeast => Relation::Less,
                    Relation::Greater => Relation::AtMost,
                    Relation::AtMost => Relation::Greater,
                };
                Condition::Compare(relation, sum)
            }
            other => Condition::Not(Box::new(other)),
        }
    }

    /// As a formula of the `.clp` language.
    pub(super) fn formula(&self, columns: &Columns, span: Span) -> Formula {
        let all = |list: &[Condition]| list.iter().map(|c| c.formula(columns, span)).collect();
        match self {
            Condition::Truth(value) => Formula::Truth(*value),
            Condition::Compare(relation, sum) => {
                // Positive columns on the left, the rest on the right.
                let (mut left, mut right) = (Sum::default(), Sum::default());
                for (&at, &c) in &sum.terms {
                    if c > 0 {
                        left.terms.insert(at, c);
                    } else {
                        right.terms.insert(at, c.saturating_neg());
                    }
                }
                if left.terms.is_empty() {
                    left.constant = sum.constant;
                } else {
                    right.constant = sum.constant.saturating_neg();
                }
                Formula::Compare(*relation, left.term(columns, span), right.term(columns, span))
            }
            Condition::At(process, location) => Formula::Compare(
                Relation::Equal,
                variable(&columns.counters[*process], span),
                integer(*location, span),
            ),
            Condition::And(list) => Formula::And(all(list)),
            Condition::Or(list) => Formula::Or(all(list)),
            Condition::Not(inner) => Formula::Not(Box::new(inner.formula(columns, span))),
        }
    }
}
