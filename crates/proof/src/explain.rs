//! Why a claim holds, or what is in the way of a proof, in the program's names: `quotient prove --explain`.

use quotient_proof_check::format as out;

use crate::cells::proofs::absurd;
use crate::constraint::{Linear, Overflow};
use crate::domain::{Domain, State};
use crate::integer::{Congruence, System};
use crate::program::Program;
use crate::prove::{Proof, Report, Verdict};

/// Sets of states shown at most.
const MOST: usize = 40;

/// A sum of named terms and a constant; `0` if there is nothing in it.
fn sum(terms: &[(String, i64)], constant: i64) -> String {
    let mut text = String::new();
    for (name, c) in terms {
        let term = if c.abs() == 1 { name.clone() } else { format!("{}*{name}", c.abs()) };
        match (text.is_empty(), *c < 0) {
            (true, false) => text = term,
            (true, true) => text = format!("-{term}"),
            (false, false) => text.push_str(&format!(" + {term}")),
            (false, true) => text.push_str(&format!(" - {term}")),
        }
    }
    if text.is_empty() {
        return constant.to_string();
    }
    match constant {
        0 => {}
        c if c > 0 => text.push_str(&format!(" + {c}")),
        c => text.push_str(&format!(" - {}", c.abs())),
    }
    text
}

/// `terms relation bound`, with positive terms on the left and the others on the right.
fn relation(terms: &[(String, i64)], bound: i64, relation: &str, opposite: &str) -> String {
    let left: Vec<(String, i64)> = terms.iter().filter(|t| t.1 > 0).cloned().collect();
    let right: Vec<(String, i64)> = terms.iter().filter(|t| t.1 < 0).map(|t| (t.0.clone(), -t.1)).collect();
    if left.is_empty() {
        return format!("{} {opposite} {}", sum(&right, 0), -bound);
    }
    format!("{} {relation} {}", sum(&left, 0), sum(&right, bound))
}

/// An inequality between columns; node `c + 1` is column `c`.
pub fn inequality(program: &Program, terms: &[(usize, i64)], bound: i64) -> String {
    relation(&named(program, terms), bound, "<=", ">=")
}

fn named(program: &Program, terms: &[(usize, i64)]) -> Vec<(String, i64)> {
    terms.iter().map(|&(n, c)| (program.columns[n - 1].clone(), c)).collect()
}

fn congruence(program: &Program, c: &out::Congruence) -> String {
    let terms = named(program, &c.terms);
    match (c.modulus, &terms[..]) {
        (0, _) if terms.iter().all(|t| t.1 < 0) => {
            let flipped: Vec<(String, i64)> = terms.iter().map(|t| (t.0.clone(), -t.1)).collect();
            relation(&flipped, -c.residue, "=", "=")
        }
        (0, _) => relation(&terms, c.residue, "=", "="),
        (2, [(name, _)]) => format!("{name} is {}", if c.residue == 0 { "even" } else { "odd" }),
        (m, _) => format!("{} = {} modulo {m}", sum(&terms, 0), c.residue),
    }
}

/// The conditions of a cell, without those that the others imply.
pub fn cell(program: &Program, cell: &out::Cell) -> Vec<String> {
    let k = program.width();
    let essential = |bounds: &[out::Inequality], without: usize| -> Result<bool, Overflow> {
        let mut system = System::default();
        let state: Vec<usize> = (0..k).map(|_| system.variable()).collect();
        let place = |terms: &[(usize, i64)], sign: i64| -> Vec<(usize, i64)> {
            terms.iter().map(|&(n, c)| (state[n - 1], sign * c)).collect()
        };
        for c in &cell.congruences {
            let terms: Vec<(usize, i64)> = c.terms.iter().map(|&(n, f)| (n - 1, f)).collect();
            let own = Congruence { terms, residue: c.residue, modulus: c.modulus };
            crate::cells::growth::congruent(&mut system, &state, &own)?;
        }
        for (at, l) in bounds.iter().enumerate() {
            let (sign, bound) = if at == without { (-1, -l.bound - 1) } else { (1, l.bound) };
            system.le(&place(&l.terms, sign), bound)?;
        }
        Ok(absurd(&system)?.is_none())
    };
    let mut bounds = cell.bounds.clone();
    let mut at = bounds.len();
    while at > 0 {
        at -= 1;
        if essential(&bounds, at) == Ok(false) {
            bounds.remove(at);
        }
    }
    let mut parts: Vec<String> = cell.congruences.iter().map(|c| congruence(program, c)).collect();
    parts.extend(bounds.iter().map(|l| inequality(program, &l.terms, l.bound)));
    parts
}

/// Where a control point is.
fn point(program: &Program, cells: &out::Cells, point: i64) -> String {
    match cells.control {
        None => "in every state".into(),
        Some(column) => match usize::try_from(point).ok().and_then(|p| program.predicates.get(p)) {
            Some((name, _)) if column == 0 => format!("at {name}"),
            _ => format!("where {} = {point}", program.columns[column]),
        },
    }
}

fn invariant(program: &Program, cells: &out::Cells) -> String {
    let mut text = String::new();
    for &head in &cells.heads {
        let own: Vec<&out::Cell> = cells.cells.iter().filter(|c| c.point == head).collect();
        let place = point(program, cells, head);
        match own.len() {
            0 => text.push_str(&format!("  {place}: never reached\n")),
            1 => text.push_str(&format!("  {place}:\n")),
            n => text.push_str(&format!("  {place}, one of {n}:\n")),
        }
        for c in own.into_iter().take(MOST) {
            let parts = cell(program, c);
            let parts = if parts.is_empty() { "anything".into() } else { parts.join(", ") };
            text.push_str(&format!("    {parts}\n"));
        }
    }
    text
}

/// The sets of states in a table or an invariant.
fn sets<'s>(
    program: &Program,
    domain: &Domain,
    list: impl Iterator<Item = &'s State>,
    count: usize,
) -> String {
    let mut text = String::new();
    for state in list.take(MOST) {
        text.push_str(&format!("    {}\n", domain.show(program, state)));
    }
    if count > MOST {
        text.push_str(&format!("    and {} more\n", count - MOST));
    }
    text
}

/// What is known about an assertion and why.
pub fn explain(program: &Program, report: &Report) -> String {
    let assertion = &program.assertions[report.assertion];
    let domain = Domain::of(program);
    let mut text = format!("why {} is {}\n", assertion.name, crate::report::word(&report.verdict));
    match (&report.verdict, &report.proof) {
        (Verdict::Refuted(_), _) => text.push_str("  the trace above ends in a violation\n"),
        (Verdict::Unknown(reason), _) => {
            text.push_str(&format!("  {reason}\n"));
            for note in &report.notes {
                text.push_str(&format!("  {note}\n"));
            }
        }
        (Verdict::Assumed, _) | (_, None) => text.push_str("  it is taken for granted\n"),
        (_, Some(Proof::Cells(cells))) => {
            text.push_str(&invariant(program, cells));
            let unfolded = cells.evidence.iter().any(|e| matches!(e, out::Evidence::Earlier(_)));
            text.push_str(if unfolded {
                "  no violation is the first one: going back a few steps from one leads out of this\n"
            } else {
                "  every step keeps this, and no state of it violates the claim\n"
            });
        }
        (_, Some(Proof::Safety { proof, found, .. })) => {
            if let Some(found) = found {
                let names: Vec<&str> =
                    found.under.iter().map(|&a| program.assertions[a].name.as_str()).collect();
                let under =
                    if names.is_empty() { String::new() } else { format!(", up to {},", names.join(", ")) };
                text.push_str(&format!(
                    "  every reachable state is{under} in one of these ({}):\n",
                    found.name
                ));
                text.push_str(&sets(program, &domain, found.cells.iter(), found.cells.len()));
            }
            let count = proof.table.live().count();
            if count > 0 {
                text.push_str("  none of these is reachable, since their predecessors are among them:\n");
                text.push_str(&sets(program, &domain, proof.table.live(), count));
            }
        }
        (_, Some(Proof::Renamed)) => text.push_str("  it takes each rule, word for word, to a rule\n"),
        (_, Some(Proof::Listed(states))) => {
            let count = states.len();
            text.push_str(&format!(
                "  all {count} reachable states are known; each left one has a partner\n"
            ));
        }
        (_, Some(Proof::Relative { proof, .. })) => {
            let count = proof.entries.len();
            text.push_str(&format!("  {count} obligations; each step on the left is matched on the right\n"));
        }
    }
    text
}

/// A linear inequality of the prover, by columns.
pub fn linear(program: &Program, l: &Linear) -> String {
    inequality(program, &l.terms, l.bound)
}
