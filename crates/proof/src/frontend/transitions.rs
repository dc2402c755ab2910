//! Programs with program counters, as rules: one column for each process, in the list that is the
//! predicate's first argument, then one for each variable.

use std::collections::BTreeMap;

use quotient_source::Span;

use crate::language::ast::{Atom, Formula, Item, Term, TermKind};

/// The predicate every translated program defines.
pub(super) const PREDICATE: &str = "p";

/// The columns of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// Names of the program counters.
    pub(super) counters: Vec<String>,
    /// Names of the variables.
    pub(super) variables: Vec<String>,
}

/// A step of one process.
pub(super) struct Transition {
    /// The statement.
    pub(super) span: Span,
    /// The process.
    pub(super) process: usize,
    /// Where it stands before.
    pub(super) from: i64,
    /// Where it stands after.
    pub(super) to: i64,
    /// The condition, on the state before.
    pub(super) guard: Formula,
    /// New values of variables, as terms over the state before.
    pub(super) assigned: BTreeMap<usize, Term>,
}

pub(super) fn variable(name: &str, span: Span) -> Term {
    Term { kind: TermKind::Variable(name.into()), span }
}

pub(super) fn integer(value: i64, span: Span) -> Term {
    Term { kind: TermKind::Integer(value), span }
}

impl Columns {
    fn atom(&self, counters: Vec<Term>, variables: Vec<Term>, span: Span) -> Atom {
        let mut arguments = Vec::new();
        if !counters.is_empty() {
            arguments.push(Term { kind: TermKind::List(counters), span });
        }
        arguments.extend(variables);
        Atom { name: PREDICATE.into(), name_span: span, arguments, span }
    }

    fn names(list: &[String], span: Span) -> Vec<Term> {
        list.iter().map(|name| variable(name, span)).collect()
    }

    /// The state with every column a variable.
    pub(super) fn state(&self, span: Span) -> Atom {
        self.atom(Columns::names(&self.counters, span), Columns::names(&self.variables, span), span)
    }

    /// An initial state; a variable without a value may have any.
    pub(super) fn fact(&self, counters: &[i64], values: &[Option<i64>], span: Span) -> Item {
        let counters = counters.iter().map(|&c| integer(c, span)).collect();
        let variables = self.variables.iter().zip(values);
        let variables =
            variables.map(|(name, v)| v.map_or_else(|| variable(name, span), |v| integer(v, span)));
        let head = self.atom(counters, variables.collect(), span);
        Item::Rule { head, body: None, constraint: Formula::And(Vec::new()), span }
    }

    /// A step as a rule.
    pub(super) fn rule(&self, step: Transition) -> Item {
        let span = step.span;
        let place = |at: i64| {
            let mut counters = Columns::names(&self.counters, span);
            counters[step.process] = integer(at, span);
            counters
        };
        let before = Columns::names(&self.variables, span);
        let mut after = before.clone();
        for (at, term) in step.assigned {
            after[at] = term;
        }
        Item::Rule {
            head: self.atom(place(step.to), after, span),
            body: Some(self.atom(place(step.from), before, span)),
            constraint: step.guard,
            span,
        }
    }
}
