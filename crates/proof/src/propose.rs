//! Symmetries that nobody asked for: they are proposed, and kept if they are proved.
//!
//! A process is a program counter, an entry of the state's first list. Proposed are exchanges of two processes, the rotation, the
//! reversal, the exchange of one half of them with the other (so that roles stay together), and the shift of integers that
//! are only compared with each other. A permutation of processes takes a column to one that the images of its writers write and the
//! images of its readers read; values that a process alone gives to a column (a turn, an owner) become those of its image.
//! Whether it is a symmetry is for the prover to say: a proposal costs time, never soundness. Only those with a
//! one-level proof within a small budget are kept.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use quotient_proof_check::format::Certificate;
use quotient_source::{Diagnostics, Span};

use crate::domain::Domain;
use crate::language;
use crate::language::ast::{Assertion, Atom, Claim, Formula, Item, Relation, Term, TermKind};
use crate::limits::Limits;
use crate::program::{Argument, Program, Rule};
use crate::prove::{Options, Verdict, prove};

/// Time for all proposals together.
const BUDGET: Duration = Duration::from_secs(2);
/// Processes beyond which nothing is proposed.
const MOST: usize = 12;
/// Processes up to which all pairs are proposed, not only neighbours.
const MOST_FOR_PAIRS: usize = 6;

/// What is done to the processes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Exchange(usize, usize),
    /// A permutation that exchanges may generate.
    All,
    Shift,
}

/// A proposed map.
struct Proposal {
    name: String,
    kind: Kind,
    /// The column that each column's value comes from.
    source: Vec<usize>,
    /// Values that change on the way to a column.
    values: Vec<(usize, Vec<(i64, i64)>)>,
    /// Columns whose values grow by one.
    shifted: Vec<usize>,
}

/// The processes that a rule is a step of: those that move, or else those whose place it asks for.
fn actors(rule: &Rule, processes: usize) -> u32 {
    let moved = (0..processes).filter(|&p| !rule.unchanged[p]).fold(0, |set, p| set | 1 << p);
    if moved != 0 {
        return moved;
    }
    let mut asked = 0;
    rule.guard.each(&mut |l| {
        l.terms.iter().filter(|t| (1..=processes).contains(&t.0)).for_each(|t| asked |= 1 << (t.0 - 1));
    });
    asked
}

/// How often whom a column is written and read by: sets of processes, those of one rule together, with how often.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Uses {
    writers: BTreeMap<u32, usize>,
    readers: BTreeMap<u32, usize>,
}

impl Uses {
    fn image(&self, to: &[usize]) -> Uses {
        let moved =
            |set: u32| (0..to.len()).filter(|p| set >> p & 1 == 1).fold(0u32, |image, p| image | 1 << to[p]);
        let image = |list: &BTreeMap<u32, usize>| list.iter().map(|(&set, &n)| (moved(set), n)).collect();
        Uses { writers: image(&self.writers), readers: image(&self.readers) }
    }
}

fn uses(program: &Program, processes: usize) -> Vec<Uses> {
    let k = program.width();
    let mut uses = vec![Uses::default(); k];
    for rule in program.rules.iter().filter(|r| !r.is_fact) {
        let actors = actors(rule, processes);
        for column in (0..k).filter(|&c| !rule.unchanged[c]) {
            *uses[column].writers.entry(actors).or_default() += 1;
        }
        rule.guard.each(&mut |l| {
            for &(node, _) in &l.terms {
                let column = match node {
                    n if n <= k && rule.unchanged[n - 1] => n - 1,
                    n if n > k && n <= 2 * k => n - k - 1,
                    _ => continue,
                };
                *uses[column].readers.entry(actors).or_default() += 1;
            }
        });
    }
    uses
}

/// The value that a process, and no other step, gives to a finite column.
fn mark(program: &Program, domain: &Domain, column: usize, process: usize) -> Option<i64> {
    let values = &domain.finite.iter().find(|f| f.column == column)?.values;
    let sets = |own: bool| -> Vec<i64> {
        let rules = program
            .rules
            .iter()
            .filter(|r| !r.is_fact && !r.unchanged[column] && r.unchanged[process] != own);
        rules
            .flat_map(|rule| crate::domain::assigned(rule, column).unwrap_or_else(|| values.clone()))
            .collect()
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

/// Where the values of each column come from under a permutation of the processes; `None` if the columns do not fit.
fn sources(to: &[usize], uses: &[Uses]) -> Option<Vec<usize>> {
    let mut groups: HashMap<&Uses, Vec<usize>> = HashMap::new();
    for (column, key) in uses.iter().enumerate().skip(to.len()) {
        groups.entry(key).or_default().push(column);
    }
    let mut source = vec![0; uses.len()];
    to.iter().enumerate().for_each(|(p, &q)| source[q] = p);
    for (own, columns) in &groups {
        let images = groups.get(&own.image(to))?;
        if images.len() != columns.len() {
            return None;
        }
        columns.iter().zip(images).for_each(|(from, to)| source[*to] = *from);
    }
    Some(source)
}

/// Columns that are compared with each other only, directly or through others, and not with numbers.
fn comparable(program: &Program, domain: &Domain) -> Vec<Vec<usize>> {
    let k = program.width();
    let column = |n: usize| (1..=2 * k).contains(&n).then(|| (n - 1) % k);
    let mut class: Vec<usize> = (0..k).collect();
    let mut fixed: Vec<usize> = domain.finite.iter().map(|f| f.column).collect();
    for rule in &program.rules {
        rule.guard.each(&mut |l| {
            let named: Vec<usize> = l.terms.iter().filter_map(|t| column(t.0)).collect();
            match (&l.terms[..], &named[..]) {
                ([(_, 1), (_, -1)] | [(_, -1), (_, 1)], &[a, b]) => {
                    let (old, new) = (class[a], class[b]);
                    class.iter_mut().filter(|c| **c == old).for_each(|c| *c = new);
                }
                _ => fixed.extend(named),
            }
        });
    }
    let fixed: Vec<usize> = fixed.into_iter().map(|c| class[c]).collect();
    let roots = (0..k).filter(|c| class[*c] == *c && !fixed.contains(c));
    roots.map(|root| (0..k).filter(|&c| class[c] == root).collect()).collect()
}

fn proposals(program: &Program) -> Vec<Proposal> {
    let n = program.counters();
    let domain = Domain::of(program);
    let mut out = Vec::new();
    if (2..=MOST).contains(&n) {
        let mut permutations: Vec<(String, Kind, Vec<usize>)> = Vec::new();
        let exchange = |p: usize, q: usize| {
            let to = (0..n)
                .map(|x| {
                    if x == p {
                        q
                    } else if x == q {
                        p
                    } else {
                        x
                    }
                })
                .collect();
            (format!("exchange_{}_{}", p + 1, q + 1), Kind::Exchange(p, q), to)
        };
        permutations.extend((1..n).map(|q| exchange(q - 1, q)));
        if n > 2 {
            permutations.push(("rotation".into(), Kind::All, (0..n).map(|p| (p + 1) % n).collect()));
            permutations.push(("reversal".into(), Kind::All, (0..n).rev().collect()));
        }
        if n > 2 && n.is_multiple_of(2) {
            permutations.push(("halves".into(), Kind::All, (0..n).map(|p| (p + n / 2) % n).collect()));
        }
        if n <= MOST_FOR_PAIRS {
            permutations
                .extend((2..n).flat_map(|q| (0..q - 1).map(move |p| (p, q))).map(|(p, q)| exchange(p, q)));
        }
        let uses = uses(program, n);
        let writers: Vec<Uses> =
            uses.iter().map(|u| Uses { readers: BTreeMap::new(), ..u.clone() }).collect();
        let marks: Vec<Vec<Option<i64>>> = (0..program.width())
            .map(|c| (0..n).map(|p| if c < n { None } else { mark(program, &domain, c, p) }).collect())
            .collect();
        for (name, kind, to) in permutations {
            let Some(source) = sources(&to, &uses).or_else(|| sources(&to, &writers)) else { continue };
            let changed = |column: usize| -> Option<(usize, Vec<(i64, i64)>)> {
                let pair = |p: usize| Some((marks[source[column]][p]?, marks[column][to[p]]?));
                let pairs: Vec<(i64, i64)> = (0..n).filter_map(pair).collect();
                pairs.iter().any(|(a, b)| a != b).then_some((column, pairs))
            };
            let values: Vec<(usize, Vec<(i64, i64)>)> = (n..program.width()).filter_map(changed).collect();
            if !values.is_empty() {
                let (name, source) = (format!("{name}_with_values"), source.clone());
                out.push(Proposal { name, kind, source, values, shifted: Vec::new() });
            }
            out.push(Proposal { name, kind, source, values: Vec::new(), shifted: Vec::new() });
        }
    }
    for (number, shifted) in comparable(program, &domain).into_iter().enumerate() {
        let source = (0..program.width()).collect();
        let name = if number == 0 { "shift".into() } else { format!("shift_{}", number + 1) };
        out.push(Proposal { name, kind: Kind::Shift, source, values: Vec::new(), shifted });
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
        let from = column(proposal.source[c]);
        if proposal.shifted.contains(&c) {
            let kind = TermKind::Sum(from.into(), number(1).into());
            right.push(Term { kind, span });
            continue;
        }
        let Some((_, pairs)) = proposal.values.iter().find(|v| v.0 == c) else {
            right.push(from);
            continue;
        };
        let image = variable(format!("D{c}"));
        right.push(image.clone());
        let equal = |a: &Term, b: Term| Formula::Compare(Relation::Equal, a.clone(), b);
        let unlike = |v: i64| Formula::Compare(Relation::Different, from.clone(), number(v));
        let pair =
            |&(a, b): &(i64, i64)| Formula::And(vec![equal(&from, number(a)), equal(&image, number(b))]);
        let mut cases: Vec<Formula> = pairs.iter().map(pair).collect();
        let mut other: Vec<Formula> = pairs.iter().map(|p| unlike(p.0)).collect();
        other.push(equal(&image, from.clone()));
        cases.push(Formula::And(other));
        parts.push(Formula::Or(cases));
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

/// The rules of a program with assertions.
fn with_rules(items: &[Item], assertions: &[Assertion]) -> Option<Program> {
    let rules = items.iter().filter(|i| matches!(i, Item::Rule { .. })).cloned();
    let all: Vec<Item> = rules.chain(assertions.iter().cloned().map(Item::Assertion)).collect();
    language::program(&all, &mut Diagnostics::new())
}

/// The symmetries that were proposed and proved, without those that others of them generate.
fn symmetries(items: &[Item], program: &Program, limits: &Limits) -> Option<Vec<Assertion>> {
    let span = program.rules.first()?.span?;
    let taken = |name: &str| program.assertions.iter().any(|a| a.name == name);
    let mut offers = proposals(program);
    offers.retain(|p| !taken(&p.name));
    // Exchanges come first: what they generate is not kept beside them.
    offers.sort_by_key(|p| !matches!(p.kind, Kind::Exchange(..)));
    let offered: Vec<Assertion> = offers.iter().map(|p| assertion(program, p, span)).collect();
    let trial = with_rules(items, &offered)?;
    let limits = limits.within(BUDGET);
    let options = Options { one_level_only: true, max_time: BUDGET, limits, ..Options::default() };
    let proved: Vec<usize> = prove(&trial, &options)
        .iter()
        .filter(|r| r.one_level && matches!(r.verdict, Verdict::Proved))
        .map(|r| r.assertion)
        .collect();
    let mut joined: Vec<usize> = (0..program.counters()).collect();
    let mut kept = Vec::new();
    for (number, (offer, assertion)) in offers.iter().zip(offered).enumerate() {
        let new = match offer.kind {
            _ if !proved.contains(&number) => false,
            Kind::Exchange(p, q) => {
                let (old, new) = (joined[q], joined[p]);
                joined.iter_mut().filter(|j| **j == old).for_each(|j| *j = new);
                old != new
            }
            // Exchanges generate every permutation that stays within what they join.
            Kind::All => (0..joined.len()).any(|p| joined[p] != joined[offer.source[p]]),
            Kind::Shift => true,
        };
        if new {
            kept.push(assertion);
        }
    }
    (!kept.is_empty()).then_some(kept)
}

/// The statements of a program with the symmetries that were proposed and proved, in front of the claims and named by them; `None` if
/// there are none, or the program states relative assertions of its own.
pub fn with_symmetries(items: &[Item], program: &Program, limits: &Limits) -> Option<Vec<Item>> {
    if program.assertions.iter().any(|a| a.is_relative()) || program.assertions.is_empty() {
        return None;
    }
    let mut waiting = symmetries(items, program, limits)?;
    let names: Vec<(String, Span)> = waiting.iter().filter_map(|a| a.name.clone()).collect();
    let mut out: Vec<Item> = Vec::new();
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

/// A certificate of the symmetries that were proposed and proved, with their inverses, for a forward search.
pub fn certificate(items: &[Item], limits: &Limits) -> Option<Certificate> {
    let program = language::program(items, &mut Diagnostics::new())?;
    let kept = symmetries(items, &program, limits)?;
    let program = with_rules(items, &kept)?;
    let options =
        Options { one_level_only: true, inverses: true, limits: limits.clone(), ..Options::default() };
    let reports = prove(&program, &options);
    crate::certificate::certificate(&program, &reports).ok()?
}
