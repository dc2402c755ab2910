//! Symmetries that nobody asked for: exchanges and rotations of processes are proposed, and kept if they are proved.
//!
//! A process is a program counter, an entry of the state's first list. The columns that change only in steps of one process are
//! its own. An exchange of two processes takes the counter and the own columns of each to those of the other, in
//! order; a shared column of which each process sets one value of its own (a turn, an owner) has these values exchanged as well. Whether it is a
//! symmetry is for the prover to say: a proposal costs time, never soundness. Only those with a one-level proof within a
//! small budget are kept.

use std::time::Duration;

use quotient_source::{Diagnostics, Span};

use crate::domain::Domain;
use crate::language;
use crate::language::ast::{Assertion, Atom, Claim, Formula, Item, Relation, Term, TermKind};
use crate::limits::Limits;
use crate::program::{Argument, Program};
use crate::prove::{Options, Verdict, prove};

/// Time for all proposals together.
const BUDGET: Duration = Duration::from_millis(500);
/// Processes beyond which nothing is proposed.
const MOST: usize = 12;

/// A proposed map: the column that each column's value comes from, and values exchanged in some columns.
struct Proposal {
    name: String,
    source: Vec<usize>,
    exchanged: Vec<(usize, i64, i64)>,
}

/// Columns that only steps of one process change.
fn own_columns(program: &Program, processes: usize) -> Vec<Vec<usize>> {
    let mut own = vec![Vec::new(); processes];
    for column in processes..program.width() {
        let steps = program.rules.iter().filter(|r| !r.is_fact && !r.unchanged[column]);
        let movers: Vec<Vec<usize>> =
            steps.map(|r| (0..processes).filter(|&p| !r.unchanged[p]).collect()).collect();
        if let Some(&[only]) = movers.first().map(|m| &m[..])
            && movers.iter().all(|m| *m == [only])
        {
            own[only].push(column);
        }
    }
    own
}

/// The value that a process, and no other step, gives to a shared finite column.
fn mark(program: &Program, domain: &Domain, column: usize, process: usize) -> Option<i64> {
    let values = &domain.finite.iter().find(|f| f.column == column)?.values;
    let sets = |own: bool| -> Vec<i64> {
        let rules = program
            .rules
            .iter()
            .filter(|r| !r.is_fact && !r.unchanged[column] && r.unchanged[process] != own);
        let mut found = Vec::new();
        for rule in rules {
            let possible = crate::domain::assigned(rule, column).unwrap_or_else(|| values.clone());
            found.extend(possible);
        }
        found
    };
    let (own, others) = (sets(true), sets(false));
    let mut only: Vec<i64> = own.into_iter().filter(|v| !others.contains(v)).collect();
    only.sort_unstable();
    only.dedup();
    match only[..] {
        [value] => Some(value),
        _ => None,
    }
}

fn proposals(program: &Program) -> Vec<Proposal> {
    let n = program.counters();
    if !(2..=MOST).contains(&n) {
        return Vec::new();
    }
    let own = own_columns(program, n);
    let domain = Domain::of(program);
    let mut out = Vec::new();
    let move_to = |source: &mut Vec<usize>, from: usize, to: usize| -> bool {
        source[to] = from;
        own[from].iter().zip(&own[to]).for_each(|(f, t)| source[*t] = *f);
        own[from].len() == own[to].len()
    };
    let identity: Vec<usize> = (0..program.width()).collect();
    for p in 0..n - 1 {
        let (mut source, q) = (identity.clone(), p + 1);
        if !(move_to(&mut source, p, q) && move_to(&mut source, q, p)) {
            continue;
        }
        let shared = (n..program.width()).filter(|c| !own.iter().flatten().any(|o| o == c));
        let exchanged: Vec<(usize, i64, i64)> = shared
            .filter_map(|c| Some((c, mark(program, &domain, c, p)?, mark(program, &domain, c, q)?)))
            .collect();
        let name = format!("exchange_{}_{}", p + 1, q + 1);
        if !exchanged.is_empty() {
            out.push(Proposal { name: format!("{name}_with_values"), source: source.clone(), exchanged });
        }
        out.push(Proposal { name, source, exchanged: Vec::new() });
    }
    if n > 2 {
        let mut source = identity;
        if (0..n).all(|p| move_to(&mut source, p, (p + 1) % n)) {
            out.push(Proposal { name: "rotation".into(), source, exchanged: Vec::new() });
        }
    }
    out
}

/// The state with a term for each column.
fn atom(program: &Program, terms: &[Term], span: Span) -> Atom {
    fn fill(argument: &Argument, terms: &mut impl Iterator<Item = Term>, span: Span) -> Term {
        match argument {
            // There are as many terms as columns.
            Argument::Column => terms.next().unwrap_or(Term { kind: TermKind::Integer(0), span }),
            Argument::List(list) => {
                let kind = TermKind::List(list.iter().map(|a| fill(a, terms, span)).collect());
                Term { kind, span }
            }
        }
    }
    let mut terms = terms.iter().cloned();
    let arguments = program.arguments.iter().map(|a| fill(a, &mut terms, span)).collect();
    Atom { name: program.predicate.clone(), name_span: span, arguments, span }
}

fn assertion(program: &Program, proposal: &Proposal, span: Span) -> Assertion {
    let variable = |name: String| Term { kind: TermKind::Variable(name), span };
    let number = |value: i64| Term { kind: TermKind::Integer(value), span };
    let column = |c: usize| variable(format!("C{c}"));
    let (mut left, mut right, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for c in 0..program.width() {
        left.push(column(c));
        match proposal.exchanged.iter().find(|e| e.0 == c) {
            None => right.push(column(proposal.source[c])),
            Some(&(_, one, other)) => {
                let image = variable(format!("D{c}"));
                right.push(image.clone());
                let equal = |a: &Term, b: Term| Formula::Compare(Relation::Equal, a.clone(), b);
                let unlike = |v: i64| Formula::Compare(Relation::Different, column(c), number(v));
                parts.push(Formula::Or(vec![
                    Formula::And(vec![equal(&column(c), number(one)), equal(&image, number(other))]),
                    Formula::And(vec![equal(&column(c), number(other)), equal(&image, number(one))]),
                    Formula::And(vec![unlike(one), unlike(other), equal(&image, column(c))]),
                ]));
            }
        }
    }
    Assertion {
        assumed: false,
        nonincreasing: false,
        name: Some((proposal.name.clone(), span)),
        left: atom(program, &left, span),
        constraint: Formula::And(Vec::new()),
        claim: Claim::State(atom(program, &right, span), Formula::And(parts)),
        using: Vec::new(),
        span,
    }
}

/// The statements of a program with the symmetries that were proposed and proved, in front of the claims and named by them; `None` if
/// there are none, or the program states relative assertions of its own.
pub fn with_symmetries(items: &[Item], program: &Program, limits: &Limits) -> Option<Vec<Item>> {
    if program.assertions.iter().any(|a| a.is_relative()) || program.assertions.is_empty() {
        return None;
    }
    let span = program.rules.first()?.span?;
    let taken = |name: &str| program.assertions.iter().any(|a| a.name == name);
    let offered: Vec<Assertion> =
        proposals(program).iter().filter(|p| !taken(&p.name)).map(|p| assertion(program, p, span)).collect();
    let rules = items.iter().filter(|i| matches!(i, Item::Rule { .. })).cloned();
    let mut trial: Vec<Item> = rules.collect();
    trial.extend(offered.iter().cloned().map(Item::Assertion));
    let trial = language::program(&trial, &mut Diagnostics::new())?;
    let limits = limits.within(BUDGET);
    let options = Options { one_level_only: true, max_time: BUDGET, limits, ..Options::default() };
    let proved: Vec<String> = prove(&trial, &options)
        .iter()
        .filter(|r| r.one_level && matches!(r.verdict, Verdict::Proved))
        .map(|r| trial.assertions[r.assertion].name.clone())
        .collect();
    let mut kept: Vec<Assertion> = offered
        .into_iter()
        .filter(|a| a.name.as_ref().is_some_and(|(name, _)| proved.contains(name)))
        .collect();
    // Adjacent exchanges generate every rotation.
    if kept.len() > 1 {
        kept.retain(|a| a.name.as_ref().is_some_and(|(name, _)| name != "rotation"));
    }
    if kept.is_empty() {
        return None;
    }
    let names: Vec<(String, Span)> = kept.iter().filter_map(|a| a.name.clone()).collect();
    let mut out: Vec<Item> = Vec::new();
    let mut waiting = kept;
    for item in items {
        match item {
            Item::Assertion(claim) => {
                out.extend(std::mem::take(&mut waiting).into_iter().map(Item::Assertion));
                let mut claim = claim.clone();
                claim.using.extend(names.iter().cloned());
                out.push(Item::Assertion(claim));
            }
            rule => out.push(rule.clone()),
        }
    }
    Some(out)
}
