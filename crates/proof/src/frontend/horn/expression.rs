//! Formulas and terms of SMT-LIB.
//!
//! A name that `let` binds stands for its value, read where only the bindings before the `let` are visible; what that makes of a clause is
//! counted, and a clause that becomes too large or too deep is refused rather than written out. A term whose value depends on conditions is
//! a list of cases that exclude each other.

use quotient_source::Span;

use super::{Binding, Cases, Clause, Result, Sort, not, refuse, truth};
use crate::frontend::sexpr::Sexpr;
use crate::frontend::transitions::{integer, variable};
use crate::language::ast::{Formula, Relation, Term, TermKind};

/// Parts of formulas and terms of one clause, at most.
const MOST_PARTS: usize = 300_000;
/// Formulas and terms within each other, at most.
const MOST_DEPTH: usize = 1_000;
/// Numbers from here on are refused.
const LARGEST: i64 = 1 << 40;

fn parts_of(formula: &Formula) -> usize {
    match formula {
        Formula::And(list) | Formula::Or(list) => 1 + list.iter().map(parts_of).sum::<usize>(),
        Formula::Not(inner) => 1 + parts_of(inner),
        Formula::Compare(_, a, b) => 1 + terms_of(a) + terms_of(b),
        Formula::Range(term, ..) => 1 + terms_of(term),
        Formula::Truth(_) | Formula::In(..) => 1,
    }
}

fn terms_of(term: &Term) -> usize {
    match &term.kind {
        TermKind::Sum(a, b) | TermKind::Difference(a, b) | TermKind::Product(a, b) => {
            1 + terms_of(a) + terms_of(b)
        }
        TermKind::Negative(a) => 1 + terms_of(a),
        TermKind::List(list) => 1 + list.iter().map(terms_of).sum::<usize>(),
        TermKind::Variable(_) | TermKind::Integer(_) => 1,
    }
}

fn cases_of(cases: &Cases) -> usize {
    cases.iter().map(|(c, t)| parts_of(c) + terms_of(t)).sum()
}

impl Clause<'_> {
    /// Counts what was made for this place; values of `let` are written out at each use.
    pub(super) fn spend(&mut self, parts: usize, span: Span) -> Result<()> {
        self.parts = self.parts.saturating_add(parts);
        if self.parts > MOST_PARTS {
            return refuse(span, "the clause is too large once its `let` and `ite` are written out");
        }
        Ok(())
    }

    /// Reads one level further down.
    pub(super) fn deeper<T>(&mut self, span: Span, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MOST_DEPTH {
            return refuse(span, "nested too deeply once `let` is written out");
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    /// Reads the inside of a `let` with its bindings. One directly inside the other, there may be thousands.
    pub(super) fn with_let<T>(
        &mut self,
        list: &Sexpr,
        inner: &Sexpr,
        run: impl FnOnce(&mut Self, &Sexpr) -> Result<T>,
    ) -> Result<T> {
        let visible = self.bindings.len();
        self.bind(list)?;
        let mut inner = inner;
        while let Some([word, list, next]) = inner.list()
            && word.atom() == Some("let")
        {
            self.bind(list)?;
            inner = next;
        }
        let result = run(self, inner);
        self.bindings.truncate(visible);
        result
    }

    pub(super) fn formula(&mut self, s: &Sexpr) -> Result<Formula> {
        self.deeper(s.span(), |me| me.formula_here(s))
    }

    fn formula_here(&mut self, s: &Sexpr) -> Result<Formula> {
        let span = s.span();
        self.spend(1, span)?;
        if let Some(name) = s.atom() {
            return match (name, self.lookup(name).cloned()) {
                (_, Some(Binding::Let(value, visible))) => self.within(visible, |me| me.formula(&value)),
                (_, Some(Binding::Variable(own, Sort::Bool))) => {
                    Ok(Formula::Compare(Relation::Equal, variable(&own, span), integer(1, span)))
                }
                ("true", None) => Ok(Formula::Truth(true)),
                ("false", None) => Ok(Formula::Truth(false)),
                _ if self.predicates.iter().any(|p| p.name == name) => self.misplaced(span),
                _ => refuse(span, format!("`{name}` is not a formula")),
            };
        }
        let parts = s.list().unwrap_or_default();
        let Some((operator, rest)) = parts.split_first().and_then(|(o, r)| Some((o.atom()?, r))) else {
            return refuse(span, "expected a formula");
        };
        match (operator, rest) {
            ("and", _) => Ok(Formula::And(rest.iter().map(|f| self.formula(f)).collect::<Result<_>>()?)),
            ("or", _) => Ok(Formula::Or(rest.iter().map(|f| self.formula(f)).collect::<Result<_>>()?)),
            ("not", [inner]) => Ok(not(self.formula(inner)?)),
            ("=>", [conditions @ .., last]) => {
                let mut list = Vec::new();
                for condition in conditions {
                    list.push(not(self.formula(condition)?));
                }
                list.push(self.formula(last)?);
                Ok(Formula::Or(list))
            }
            ("xor", [a, b]) => Ok(not(self.same(a, b)?)),
            ("ite", [c, a, b]) => {
                let (c, a, b) = (self.formula(c)?, self.formula(a)?, self.formula(b)?);
                self.spend(parts_of(&c), span)?;
                Ok(Formula::Or(vec![Formula::And(vec![c.clone(), a]), Formula::And(vec![not(c), b])]))
            }
            ("let", [list, inner]) => self.with_let(list, inner, |me, inner| me.formula(inner)),
            ("=" | "distinct", [a, b]) if self.is_boolean(a)? || self.is_boolean(b)? => {
                let same = self.same(a, b)?;
                Ok(if operator == "=" { same } else { not(same) })
            }
            ("=" | "distinct" | "<" | "<=" | ">" | ">=", [_, _, ..]) => self.comparison(operator, rest),
            _ if self.predicates.iter().any(|p| p.name == operator) => self.misplaced(span),
            _ => refuse(span, format!("`{operator}` is not supported here")),
        }
    }

    fn misplaced<T>(&self, span: Span) -> Result<T> {
        refuse(span, "a predicate below a disjunction or negation, or in a head of several parts")
    }

    /// Two formulas have the same truth.
    fn same(&mut self, a: &Sexpr, b: &Sexpr) -> Result<Formula> {
        let span = a.span();
        let (a, b) = (self.formula(a)?, self.formula(b)?);
        self.spend(parts_of(&a) + parts_of(&b), span)?;
        let neither = Formula::And(vec![not(a.clone()), not(b.clone())]);
        Ok(Formula::Or(vec![Formula::And(vec![a, b]), neither]))
    }

    fn comparison(&mut self, operator: &str, terms: &[Sexpr]) -> Result<Formula> {
        let relation = match operator {
            "=" => Relation::Equal,
            "distinct" => Relation::Different,
            "<" => Relation::Less,
            "<=" => Relation::AtMost,
            ">" => Relation::Greater,
            _ => Relation::AtLeast,
        };
        if let ("distinct", [_, _, third, ..]) = (operator, terms) {
            return refuse(third.span(), "`distinct` of more than two terms");
        }
        let values = terms.iter().map(|t| self.term(t)).collect::<Result<Vec<_>>>()?;
        let mut all = Vec::new();
        for (at, pair) in values.windows(2).enumerate() {
            self.spend_on_pairs(&pair[0], &pair[1], terms[at].span())?;
            let mut cases = Vec::new();
            for (c, x) in &pair[0] {
                for (d, y) in &pair[1] {
                    let here = Formula::Compare(relation, x.clone(), y.clone());
                    cases.push(Formula::And(vec![c.clone(), d.clone(), here]));
                }
            }
            all.push(if cases.len() == 1 { cases.remove(0) } else { Formula::Or(cases) });
        }
        Ok(Formula::And(all))
    }

    fn spend_on_pairs(&mut self, left: &Cases, right: &Cases, span: Span) -> Result<()> {
        if left.len() == 1 && right.len() == 1 {
            return Ok(());
        }
        let all = cases_of(left).saturating_mul(right.len());
        self.spend(all.saturating_add(cases_of(right).saturating_mul(left.len())), span)
    }

    /// Whether it is a formula rather than a term.
    fn is_boolean(&mut self, s: &Sexpr) -> Result<bool> {
        self.deeper(s.span(), |me| {
            me.spend(1, s.span())?;
            match s {
                Sexpr::Atom(name, _) => match me.lookup(name).cloned() {
                    Some(Binding::Variable(_, sort)) => Ok(sort == Sort::Bool),
                    Some(Binding::Let(value, visible)) => me.within(visible, |me| me.is_boolean(&value)),
                    None => Ok(name == "true" || name == "false"),
                },
                Sexpr::Numeral(..) => Ok(false),
                Sexpr::List(parts, _) => match (parts.first().and_then(Sexpr::atom), &parts[..]) {
                    (Some("ite"), [_, _, value, _]) => me.is_boolean(value),
                    (Some("let"), [_, list, inner]) => {
                        me.with_let(list, inner, |me, inner| me.is_boolean(inner))
                    }
                    (Some(o), _) => {
                        let formulas =
                            ["and", "or", "not", "=>", "xor", "=", "distinct", "<", "<=", ">", ">="];
                        Ok(formulas.contains(&o) || me.predicates.iter().any(|p| p.name == o))
                    }
                    (None, _) => Ok(false),
                },
            }
        })
    }

    pub(super) fn term(&mut self, s: &Sexpr) -> Result<Cases> {
        self.deeper(s.span(), |me| me.term_here(s))
    }

    fn term_here(&mut self, s: &Sexpr) -> Result<Cases> {
        let span = s.span();
        self.spend(1, span)?;
        if let Some(number) = s.numeral() {
            let digits = number.strip_prefix('-').unwrap_or(number);
            if !digits.bytes().all(|b| b.is_ascii_digit()) {
                return refuse(span, format!("`{number}` is not an integer"));
            }
            return match number.parse::<i64>() {
                Ok(value) if (-LARGEST..=LARGEST).contains(&value) => {
                    Ok(vec![(truth(), integer(value, span))])
                }
                _ => refuse(span, "the number is too large"),
            };
        }
        if let Some(name) = s.atom() {
            return match self.lookup(name).cloned() {
                Some(Binding::Let(value, visible)) => self.within(visible, |me| me.term(&value)),
                Some(Binding::Variable(own, Sort::Int)) => Ok(vec![(truth(), variable(&own, span))]),
                _ => refuse(span, format!("`{name}` is not an integer term")),
            };
        }
        let parts = s.list().unwrap_or_default();
        let Some((operator, rest)) = parts.split_first().and_then(|(o, r)| Some((o.atom()?, r))) else {
            return refuse(span, "expected a term");
        };
        let make = |kind| Term { kind, span };
        match (operator, rest) {
            ("ite", [c, a, b]) => {
                let c = self.formula(c)?;
                let mut out = Vec::new();
                for (condition, value) in [(c.clone(), a), (not(c), b)] {
                    let cases = self.term(value)?;
                    self.spend(parts_of(&condition) * cases.len(), span)?;
                    out.extend(
                        cases.into_iter().map(|(own, t)| (Formula::And(vec![condition.clone(), own]), t)),
                    );
                }
                Ok(out)
            }
            ("let", [list, inner]) => self.with_let(list, inner, |me, inner| me.term(inner)),
            ("-", [one]) => {
                let cases = self.term(one)?;
                Ok(cases.into_iter().map(|(c, t)| (c, make(TermKind::Negative(Box::new(t))))).collect())
            }
            ("-", [first, more @ ..]) => {
                let (left, right) = (self.term(first)?, self.joined(more, span, TermKind::Sum)?);
                self.pairs(&left, &right, span, TermKind::Difference)
            }
            ("+", [_, ..]) => self.joined(rest, span, TermKind::Sum),
            ("*", [_, ..]) => self.joined(rest, span, TermKind::Product),
            ("div" | "mod", [dividend, divisor]) => {
                let divisor_span = divisor.span();
                let Some(by) = self.number(divisor)?.filter(|d| *d != 0) else {
                    return refuse(
                        divisor_span,
                        format!("`{operator}` by anything but a number other than 0"),
                    );
                };
                let mut out = Vec::new();
                for (condition, term) in self.term(dividend)? {
                    self.spend(terms_of(&term), span)?;
                    let quotient = self.quotient(&term, by, span);
                    let value = if operator == "div" {
                        quotient
                    } else {
                        let back = make(TermKind::Product(Box::new(integer(by, span)), Box::new(quotient)));
                        make(TermKind::Difference(Box::new(term), Box::new(back)))
                    };
                    out.push((condition, value));
                }
                Ok(out)
            }
            ("abs", [one]) => {
                let mut out = Vec::new();
                let cases = self.term(one)?;
                self.spend(2 * cases_of(&cases), span)?;
                for (condition, term) in cases {
                    let negative = Formula::Compare(Relation::Less, term.clone(), integer(0, span));
                    let minus = make(TermKind::Negative(Box::new(term.clone())));
                    out.push((Formula::And(vec![condition.clone(), not(negative.clone())]), term));
                    out.push((Formula::And(vec![condition, negative]), minus));
                }
                Ok(out)
            }
            _ if self.predicates.iter().any(|p| p.name == operator) => self.misplaced(span),
            _ => refuse(span, format!("`{operator}` is not supported here")),
        }
    }

    /// A sum or product of any number of terms, as a tree that is not deep.
    fn joined(
        &mut self,
        terms: &[Sexpr],
        span: Span,
        kind: fn(Box<Term>, Box<Term>) -> TermKind,
    ) -> Result<Cases> {
        match terms {
            [one] => self.term(one),
            _ => {
                let (left, right) = terms.split_at(terms.len() / 2);
                let (left, right) = (self.joined(left, span, kind)?, self.joined(right, span, kind)?);
                self.pairs(&left, &right, span, kind)
            }
        }
    }

    fn pairs(
        &mut self,
        left: &Cases,
        right: &Cases,
        span: Span,
        kind: fn(Box<Term>, Box<Term>) -> TermKind,
    ) -> Result<Cases> {
        self.spend_on_pairs(left, right, span)?;
        let mut out = Vec::new();
        for (c, x) in left {
            for (d, y) in right {
                let term = Term { kind: kind(Box::new(x.clone()), Box::new(y.clone())), span };
                out.push((Formula::And(vec![c.clone(), d.clone()]), term));
            }
        }
        Ok(out)
    }
}
