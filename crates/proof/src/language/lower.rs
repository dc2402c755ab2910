//! From syntax to normal form: columns, linear terms, negation normal form, names.

use std::collections::HashMap;

use quotient_source::{Diagnostic, Diagnostics, Span};

use super::ast::{self, Atom, Claim, Formula, Item, Relation, Term, TermKind};
use super::expand::expand;
use crate::constraint::Linear;
use crate::program::{Argument, Assertion, Program, Right, Rule, Tree};

/// A linear term: coefficients by node, and a constant.
#[derive(Clone, Default)]
struct Sum {
    terms: Vec<(usize, i64)>,
    constant: i64,
}

/// Names of one statement.
struct Scope {
    nodes: HashMap<String, usize>,
    next: usize,
}

impl Scope {
    fn node(&mut self, name: &str) -> usize {
        if name == "_" {
            self.next += 1;
            return self.next - 1;
        }
        if let Some(&node) = self.nodes.get(name) {
            return node;
        }
        self.nodes.insert(name.to_string(), self.next);
        self.next += 1;
        self.next - 1
    }
}

struct Lowering<'a> {
    diagnostics: &'a mut Diagnostics,
    /// Predicate, shape and where it was first seen.
    first: Option<(String, Vec<Argument>, Span)>,
    /// For each column, the variables it is called in rules and claims, and how often.
    names: Vec<Vec<(String, usize)>>,
}

fn shape(term: &Term) -> Argument {
    match &term.kind {
        TermKind::List(list) => Argument::List(list.iter().map(shape).collect()),
        _ => Argument::Column,
    }
}

fn flatten<'t>(term: &'t Term, out: &mut Vec<&'t Term>) {
    match &term.kind {
        TermKind::List(list) => list.iter().for_each(|t| flatten(t, out)),
        _ => out.push(term),
    }
}

fn describe(arguments: &[Argument]) -> String {
    let parts: Vec<String> = arguments
        .iter()
        .map(|a| match a {
            Argument::Column => "a value".to_string(),
            Argument::List(l) => format!("a list of {}", l.len()),
        })
        .collect();
    format!("{} ({})", arguments.len(), parts.join(", "))
}

/// Lowers a whole program.
pub(super) fn lower(items: &[Item], diagnostics: &mut Diagnostics) -> Program {
    let mut lowering = Lowering { diagnostics, first: None, names: Vec::new() };
    // The predicate is defined by rule heads; everything else must agree with them.
    for item in items {
        if let Item::Rule { head, .. } = item {
            lowering.define(head);
        }
    }
    let mut program = Program {
        predicate: lowering.first.as_ref().map_or_else(|| "p".into(), |f| f.0.clone()),
        arguments: lowering.first.as_ref().map_or_else(Vec::new, |f| f.1.clone()),
        columns: Vec::new(),
        predicates: Vec::new(),
        rules: Vec::new(),
        assertions: Vec::new(),
    };
    if lowering.first.is_none() {
        lowering.diagnostics.push(
            Diagnostic::global("the program has no facts and no rules")
                .help("start with a fact such as `p(0).`"),
        );
        return program;
    }
    let mut assertions = Vec::new();
    for item in items {
        match item {
            Item::Rule { head, body, constraint, span } => {
                let rule = lowering.rule(head, body.as_ref(), constraint, *span);
                if rule.is_none() {
                    lowering.unreadable(*span);
                }
                program.rules.extend(rule);
            }
            Item::Assertion(assertion) => assertions.extend(expand(assertion, lowering.diagnostics)),
        }
    }
    let mut names: Vec<(String, String)> = Vec::new();
    for (number, assertion) in assertions.iter().enumerate() {
        let name = match &assertion.name {
            Some((name, span)) => {
                if names.iter().any(|n| n.0 == *name) {
                    lowering.diagnostics.push(Diagnostic::error(
                        *span,
                        format!("`{name}` is already the name of an assertion"),
                    ));
                }
                name.clone()
            }
            None => format!("a{}", number + 1),
        };
        let family =
            assertion.name.as_ref().map_or(name.clone(), |n| n.0.split('.').next().unwrap_or("").into());
        names.push((name, family));
    }
    for (number, assertion) in assertions.iter().enumerate() {
        let mut using = Vec::new();
        for (name, span) in &assertion.using {
            let found: Vec<usize> =
                (0..names.len()).filter(|&i| names[i].0 == *name || names[i].1 == *name).collect();
            if found.is_empty() {
                lowering.diagnostics.push(
                    Diagnostic::error(*span, format!("there is no assertion named `{name}`"))
                        .help("name an assertion with `assert name: …`"),
                );
            }
            using.extend(found);
        }
        let lowered = lowering.assertion(assertion, names[number].0.clone(), using);
        if lowered.is_none() {
            lowering.unreadable(assertion.span);
        }
        program.assertions.extend(lowered);
    }
    for (column, name) in lowering.names.iter().enumerate() {
        // The most frequent one; of those, the first.
        let most = name.iter().rev().max_by_key(|n| n.1).map(|n| n.0.clone());
        program.columns.push(most.unwrap_or_else(|| format!("A{}", column + 1)));
    }
    // Printed names must not collide.
    for column in 1..program.columns.len() {
        if program.columns[..column].contains(&program.columns[column]) {
            program.columns[column] = format!("A{}", column + 1);
        }
    }
    if !program.rules.iter().any(|r| r.is_fact) && !lowering.diagnostics.has_errors() {
        let span = items.iter().find_map(|i| match i {
            Item::Rule { head, .. } => Some(head.span),
            Item::Assertion(_) => None,
        });
        let mut d = Diagnostic::global("no fact says where the program starts, so no state is reachable")
            .help("add a fact such as `p(0).`");
        d.span = span;
        lowering.diagnostics.push(d);
    }
    program
}

impl Lowering<'_> {
    /// Nothing is ever dropped in silence: a statement that could not be lowered has an error.
    fn unreadable(&mut self, span: Span) {
        if !self.diagnostics.has_errors() {
            self.diagnostics.push(Diagnostic::error(span, "a coefficient or constant here is too large"));
        }
    }

    fn define(&mut self, head: &Atom) {
        let arguments: Vec<Argument> = head.arguments.iter().map(shape).collect();
        if self.first.is_none() {
            let mut flat = Vec::new();
            head.arguments.iter().for_each(|t| flatten(t, &mut flat));
            self.names = vec![Vec::new(); flat.len()];
            self.first = Some((head.name.clone(), arguments, head.name_span));
        }
    }

    /// Checks predicate and arity; the flattened arguments when they fit.
    fn columns<'t>(&mut self, atom: &'t Atom) -> Option<Vec<&'t Term>> {
        let (name, arguments, span) = self.first.clone()?;
        if atom.name != name {
            self.diagnostics.push(
                Diagnostic::error(atom.name_span, format!("unknown predicate `{}`", atom.name))
                    .related(span, format!("the program is about `{name}`"))
                    .help(format!("a program describes one predicate; write `{name}(…)`")),
            );
            return None;
        }
        let own: Vec<Argument> = atom.arguments.iter().map(shape).collect();
        if own != arguments {
            self.diagnostics.push(
                Diagnostic::error(
                    atom.span,
                    format!("`{name}` has {} arguments, not {}", describe(&arguments), describe(&own)),
                )
                .related(span, "as first written here"),
            );
            return None;
        }
        let mut flat = Vec::new();
        atom.arguments.iter().for_each(|t| flatten(t, &mut flat));
        for (column, term) in flat.iter().enumerate() {
            if let TermKind::Variable(v) = &term.kind
                && v != "_"
            {
                let name = v.trim_end_matches('\'');
                match self.names[column].iter_mut().find(|n| n.0 == name) {
                    Some(known) => known.1 += 1,
                    None => self.names[column].push((name.to_string(), 1)),
                }
            }
        }
        Some(flat)
    }

    fn sum(&mut self, term: &Term, scope: &mut Scope) -> Option<Sum> {
        let too_large = |d: &mut Diagnostics| {
            d.push(Diagnostic::error(term.span, "a coefficient or constant is too large"));
        };
        Some(match &term.kind {
            TermKind::Variable(name) => Sum { terms: vec![(scope.node(name), 1)], constant: 0 },
            TermKind::Integer(value) => Sum { terms: Vec::new(), constant: *value },
            TermKind::Negative(a) => scale(self.sum(a, scope)?, -1)?,
            TermKind::Sum(a, b) => add(self.sum(a, scope)?, self.sum(b, scope)?)?,
            TermKind::Difference(a, b) => add(self.sum(a, scope)?, scale(self.sum(b, scope)?, -1)?)?,
            TermKind::Product(a, b) => {
                let (left, right) = (self.sum(a, scope)?, self.sum(b, scope)?);
                let product = match (left.terms.is_empty(), right.terms.is_empty()) {
                    (true, _) => scale(right, left.constant),
                    (_, true) => scale(left, right.constant),
                    _ => {
                        self.diagnostics.push(
                            Diagnostic::error(term.span, "a product of two variables is not linear")
                                .label("non-linear")
                                .help("only products with a number are allowed"),
                        );
                        return None;
                    }
                };
                if product.is_none() {
                    too_large(self.diagnostics);
                }
                product?
            }
            TermKind::List(_) => {
                self.diagnostics
                    .push(Diagnostic::error(term.span, "a list cannot be compared or computed with"));
                return None;
            }
        })
    }

    fn compare(&mut self, relation: Relation, left: &Sum, right: &Sum, span: Span) -> Tree {
        let le = |a: &Sum, b: &Sum, slack: i64| -> Option<Tree> {
            let d = add(a.clone(), scale(b.clone(), -1)?)?;
            let bound = d.constant.checked_neg()?.checked_sub(slack)?;
            (bound.unsigned_abs() <= 1 << 50).then_some(())?;
            Some(Tree::Le(Linear::new(d.terms, bound).ok()?))
        };
        let tree = match relation {
            Relation::AtMost => le(left, right, 0),
            Relation::AtLeast => le(right, left, 0),
            Relation::Less => le(left, right, 1),
            Relation::Greater => le(right, left, 1),
            Relation::Equal => le(left, right, 0).zip(le(right, left, 0)).map(|(a, b)| Tree::And(vec![a, b])),
            Relation::Different => {
                le(left, right, 1).zip(le(right, left, 1)).map(|(a, b)| Tree::Or(vec![a, b]))
            }
        };
        tree.unwrap_or_else(|| {
            self.diagnostics.push(Diagnostic::error(span, "a coefficient or constant is too large"));
            Tree::truth()
        })
    }

    fn formula(&mut self, formula: &Formula, positive: bool, scope: &mut Scope) -> Option<Tree> {
        let flip = |relation: Relation| match relation {
            _ if positive => relation,
            Relation::Equal => Relation::Different,
            Relation::Different => Relation::Equal,
            Relation::Less => Relation::AtLeast,
            Relation::AtLeast => Relation::Less,
            Relation::Greater => Relation::AtMost,
            Relation::AtMost => Relation::Greater,
        };
        let join = |conjunction: bool, list: Vec<Tree>| {
            if conjunction == positive { Tree::And(list) } else { Tree::Or(list) }
        };
        Some(match formula {
            Formula::Truth(value) if *value == positive => Tree::truth(),
            Formula::Truth(_) => Tree::Or(Vec::new()),
            Formula::Not(inner) => self.formula(inner, !positive, scope)?,
            Formula::And(list) | Formula::Or(list) => {
                let parts = list.iter().map(|f| self.formula(f, positive, scope)).collect::<Option<_>>()?;
                join(matches!(formula, Formula::And(_)), parts)
            }
            Formula::Compare(relation, a, b) => {
                let (left, right) = (self.sum(a, scope)?, self.sum(b, scope)?);
                self.compare(flip(*relation), &left, &right, a.span.to(b.span))
            }
            Formula::Range(term, low, high) => {
                let sum = self.sum(term, scope)?;
                let parts = [(Relation::AtLeast, *low), (Relation::AtMost, *high)].map(|(r, c)| {
                    self.compare(flip(r), &sum, &Sum { constant: c, ..Sum::default() }, term.span)
                });
                join(true, parts.into())
            }
            Formula::In(terms, values, span) => {
                let sums = terms.iter().map(|t| self.sum(t, scope)).collect::<Option<Vec<_>>>()?;
                let mut cases = Vec::new();
                for (tuple, _) in values {
                    let parts = sums.iter().zip(tuple).map(|(s, v)| {
                        let value = Sum { constant: *v, ..Sum::default() };
                        self.compare(flip(Relation::Equal), s, &value, *span)
                    });
                    let parts: Vec<Tree> = parts.collect();
                    cases.push(join(true, parts));
                }
                join(false, cases)
            }
        })
    }

    /// `node = term`, or nothing when the variable can simply be that node.
    fn bind(&mut self, term: &Term, node: usize, scope: &mut Scope) -> Option<Tree> {
        if let TermKind::Variable(name) = &term.kind
            && (name == "_" || !scope.nodes.contains_key(name))
        {
            if name != "_" {
                scope.nodes.insert(name.clone(), node);
            }
            return Some(Tree::truth());
        }
        let sum = self.sum(term, scope)?;
        let own = Sum { terms: vec![(node, 1)], constant: 0 };
        Some(self.compare(Relation::Equal, &own, &sum, term.span))
    }

    fn rule(&mut self, head: &Atom, body: Option<&Atom>, constraint: &Formula, span: Span) -> Option<Rule> {
        let after = self.columns(head)?;
        let before = match body {
            Some(body) => Some(self.columns(body)?),
            None => None,
        };
        let k = after.len();
        let mut scope = Scope { nodes: HashMap::new(), next: 2 * k + 1 };
        let (mut parts, mut unchanged) = (Vec::new(), vec![false; k]);
        // Plain variables of the head first, so that terms may refer to them in any order.
        let plain = |t: &Term| matches!(t.kind, TermKind::Variable(_));
        let mut late = Vec::new();
        for (i, term) in after.iter().enumerate() {
            if plain(term) {
                parts.push(self.bind(term, i + 1, &mut scope)?);
            } else {
                late.push((*term, i + 1));
            }
        }
        for (i, term) in before.iter().flatten().enumerate() {
            match &term.kind {
                TermKind::Variable(name) if name != "_" && scope.nodes.get(name) == Some(&(i + 1)) => {
                    unchanged[i] = true;
                }
                TermKind::Variable(_) => parts.push(self.bind(term, k + i + 1, &mut scope)?),
                _ => late.push((*term, k + i + 1)),
            }
        }
        for (term, node) in late {
            parts.push(self.bind(term, node, &mut scope)?);
        }
        parts.push(self.formula(constraint, true, &mut scope)?);
        let guard = Tree::And(parts);
        Some(Rule { span: Some(span), is_fact: body.is_none(), unchanged, nodes: scope.next, guard })
    }

    fn assertion(&mut self, source: &ast::Assertion, name: String, using: Vec<usize>) -> Option<Assertion> {
        let state = self.columns(&source.left)?;
        let k = state.len();
        let mut scope = Scope { nodes: HashMap::new(), next: 2 * k + 1 };
        let mut left = Vec::new();
        let (plain, other): (Vec<_>, Vec<_>) =
            state.iter().enumerate().partition(|(_, t)| matches!(t.kind, TermKind::Variable(_)));
        for (i, term) in plain.into_iter().chain(other) {
            left.push(self.bind(term, i + 1, &mut scope)?);
        }
        left.push(self.formula(&source.constraint, true, &mut scope)?);
        let universal = scope.next;
        let right = match &source.claim {
            Claim::State(atom, constraint) => {
                let state = self.columns(atom)?;
                let mut parts = Vec::new();
                for (i, term) in state.iter().enumerate() {
                    parts.push(self.bind(term, k + i + 1, &mut scope)?);
                }
                parts.push(self.formula(constraint, true, &mut scope)?);
                Right::State(Tree::And(parts))
            }
            Claim::Constraint(constraint) => {
                let tree = self.formula(constraint, true, &mut scope)?;
                if scope.next > universal {
                    self.diagnostics.push(
                        Diagnostic::error(
                            source.span,
                            "a variable occurs only in the constraint that is claimed",
                        )
                        .help("every variable of a safety claim must occur on the left side"),
                    );
                    return None;
                }
                Right::Constraint(tree)
            }
            Claim::Symmetric { .. } => return None,
        };
        Some(Assertion {
            name,
            span: Some(source.span),
            assumed: source.assumed,
            nonincreasing: source.nonincreasing,
            using,
            nodes: scope.next,
            universal,
            left: Tree::And(left),
            right,
        })
    }
}

fn add(mut a: Sum, b: Sum) -> Option<Sum> {
    a.constant = a.constant.checked_add(b.constant)?;
    a.terms.extend(b.terms);
    Some(a)
}

fn scale(mut a: Sum, by: i64) -> Option<Sum> {
    a.constant = a.constant.checked_mul(by)?;
    for term in &mut a.terms {
        term.1 = term.1.checked_mul(by).filter(|c| c.unsigned_abs() <= 1 << 40)?;
    }
    Some(a)
}
