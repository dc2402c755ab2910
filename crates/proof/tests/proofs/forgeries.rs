//! Forged certificates: whatever is done to one, the checker accepts nothing that is false, does not panic, and answers soon.
//!
//! Certificates of random programs are altered, one to six times (`support/mutation.rs`): the proofs, and also the program
//! and its assertions, so that proofs of one program are offered for another whose assertions are false. What is accepted is
//! compared with the states counted within a box (`support/enumeration.rs`): safety claims have no reachable violation,
//! relative claims have their partners (not further away, where that is claimed), one-level maps take steps to steps.
//!
//! A slice runs by default. `QUOTIENT_FORGERIES=100000 cargo test --release -p quotient-proof --test proofs forgeries -- --nocapture`
//! runs more of them, from `QUOTIENT_SEED` on.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::support::enumeration::Enumeration;
use crate::support::mutation::alter;
use crate::support::random_program::case;
use crate::support::read;
use quotient_proof::canonical::Map;
use quotient_proof::cells;
use quotient_proof::cells::bounded::{self, Bounded};
use quotient_proof::certificate::certificate;
use quotient_proof::domain::Domain;
use quotient_proof::explicit::explore;
use quotient_proof::invariant;
use quotient_proof::limits::Limits;
use quotient_proof::program::Program;
use quotient_proof::prove::{Options, Proof as Found, Report, prove, violations};
use quotient_proof::safety::{SafetyOptions, SafetyProof, Table};
use quotient_proof_check::format::{Certificate, Derived, Proof};
use quotient_proof_check::{Established, check};
use quotient_testing::Random;
use serde_json::Value;

/// Alterations of each certificate.
const EACH: u64 = 60;

/// Values that the random programs have, and some around them.
const BOX: std::ops::RangeInclusive<i64> = -2..=6;
/// A box to confirm in what looks false in the first: steps may leave that one and come back.
const LARGE_BOX: std::ops::RangeInclusive<i64> = -14..=18;

/// Replaces the proof of a safety claim by an invariant at loop heads with its evidence.
fn prove_by_cells(program: &Program, report: &mut Report) {
    let assertion = &program.assertions[report.assertion];
    if matches!(report.proof, Some(Found::Safety { .. }))
        && let Ok(found) = cells::prove(program, &Domain::of(program), assertion, &Limits::default())
    {
        report.proof = Some(Found::Cells(Box::new(found.cells)));
    }
}

/// Replaces the proof of a safety claim by runs of bounded length.
fn prove_by_runs(program: &Program, report: &mut Report) {
    let assertion = &program.assertions[report.assertion];
    if matches!(report.proof, Some(Found::Safety { .. }))
        && let Bounded::Proved(found) = bounded::prove(program, assertion, &Limits::default())
    {
        report.proof = Some(Found::Cells(Box::new(found.cells)));
    }
}

/// Replaces the proof of a safety claim by an invariant: zones, or all reachable states.
fn prove_by_invariant(program: &Program, report: &mut Report) {
    let assertion = &program.assertions[report.assertion];
    if !matches!(report.proof, Some(Found::Safety { .. })) {
        return;
    }
    let (domain, limits) = (Domain::of(program), Limits::default());
    let Ok(bad) = violations(program, &domain, assertion) else { return };
    let found = match invariant::zones(program, &domain, &[], &bad, &limits) {
        Ok(found) => Some(found),
        Err(_) => invariant::explicit(program, &domain, assertion, &explore(program, 200, &limits)),
    };
    if found.is_some() {
        let proof = Box::new(SafetyProof { table: Table::default(), visited: 0 });
        report.proof = Some(Found::Safety { proof, maps: Vec::new(), invariants: Vec::new(), found });
    }
}

/// Replaces the proof of a relative claim by the list of all states.
fn prove_by_list(program: &Program, report: &mut Report) {
    if let Some(Found::Relative { group, .. }) = &report.proof
        && group.len() == 1
    {
        let renamed = Report { proof: Some(Found::Renamed), ..report.clone() };
        let alone = certificate(program, std::slice::from_ref(&renamed));
        if let Ok(Some(written)) = alone
            && check(&written).is_ok()
        {
            report.proof = Some(Found::Renamed);
            return;
        }
        let reachable = explore(program, 200, &Limits::default());
        let states = reachable.states.iter().zip(&reachable.parents);
        let derived = states.map(|(s, &(before, rule))| Derived { state: s.clone(), rule, before });
        if reachable.complete {
            report.proof = Some(Found::Listed(derived.collect()));
        }
    }
}

/// A program of two processes and its image under their exchange, which also exchanges the values 1 and 2 of a shared column (or leaves
/// all numbers in it as they are), with a claim that the exchange keeps.
fn symmetric(seed: u64) -> String {
    let mut r = Random::new(seed);
    let turn = r.number(2) == 0;
    let mut text = String::from("p([0,0],0).\n");
    for _ in 0..2 + r.number(3) {
        let (from, to, other) = (r.number(3), r.number(3), r.number(3));
        let value = 1 + r.number(2);
        let (effect, guard) = match (turn, r.number(4)) {
            (true, 0) => (format!("{value}"), "true".to_owned()),
            (true, 1) => ("0".into(), format!("X = {value}")),
            (true, 2) => (format!("{value}"), "X = 0".into()),
            (true, _) => ("X".into(), format!("X <> {value}")),
            (false, 0) => ("X+1".into(), format!("X < {value}")),
            (false, 1) => ("X-1".into(), format!("X >= {value}")),
            (false, 2) => ("0".into(), "true".into()),
            (false, _) => ("X".into(), format!("X <= {value}")),
        };
        let relation = r.one(&["=", "<>", "<", ">="]);
        // Of the second process, with 1 and 2 exchanged.
        let swapped = |s: &str| match turn {
            true => s
                .chars()
                .map(|c| {
                    if c == '1' {
                        '2'
                    } else if c == '2' {
                        '1'
                    } else {
                        c
                    }
                })
                .collect(),
            false => s.to_owned(),
        };
        text += &format!("p([{to},P2],{effect}) :- p([{from},P2],X), {guard}, P2 {relation} {other}.\n");
        text += &format!(
            "p([P1,{to}],{}) :- p([P1,{from}],X), {}, P1 {relation} {other}.\n",
            swapped(&effect),
            swapped(&guard)
        );
    }
    text += match turn {
        true => "assert exchange: p([P1,P2],X) |= p([P2,P1],Y), (X,Y) in {(0,0),(1,2),(2,1)}.\n",
        false => "assert exchange: p([P1,P2],X) |= p([P2,P1],X).\n",
    };
    let (place, bound) = (r.number(3), r.number(4));
    text += &match r.number(3) {
        0 => format!("assert p([{place},{place}],X) |= false using exchange.\n"),
        1 if !turn => format!("assert p([P1,P2],X) |= X <= {bound} using exchange.\n"),
        _ => format!("assert p([P1,P2],X), P1 = {place}, P2 = {place} |= X = 0 using exchange.\n"),
    };
    text
}

/// Replaces the exchange's proof by one rule by rule, and the claim's by zones up to the exchange, where these prove it.
fn prove_by_exchange(program: &Program, reports: &mut [Report]) {
    let (domain, limits) = (Domain::of(program), Limits::default());
    for report in reports {
        let assertion = &program.assertions[report.assertion];
        if assertion.is_relative() {
            report.proof = Some(Found::Renamed);
            continue;
        }
        let Ok(map) = Map::of(program, &domain, 0) else { continue };
        let Ok(bad) = violations(program, &domain, assertion) else { continue };
        if let Ok(found) = invariant::zones(program, &domain, &[map], &bad, &limits) {
            let proof = Box::new(SafetyProof { table: Table::default(), visited: 0 });
            let found = Some(found);
            report.proof = Some(Found::Safety { proof, maps: Vec::new(), invariants: Vec::new(), found });
        }
    }
}

fn original(seed: u64) -> Option<Certificate> {
    let by_exchange = seed % 5 == 3;
    let text = if by_exchange { symmetric(seed) } else { case(seed).text };
    let program = read(&text).unwrap_or_else(|e| panic!("generated programs are well formed: {e}\n{text}"));
    let limit = Duration::from_millis(200);
    let safety = SafetyOptions { max_stored: 200, max_time: limit, ..SafetyOptions::default() };
    let options = Options { safety, max_time: limit, explore: 200, inverses: true, ..Options::default() };
    let mut reports = prove(&program, &options);
    if by_exchange {
        prove_by_exchange(&program, &mut reports);
    } else if seed.is_multiple_of(8) {
        reports.iter_mut().for_each(|report| prove_by_runs(&program, report));
    } else if seed.is_multiple_of(4) {
        reports.iter_mut().for_each(|report| prove_by_cells(&program, report));
    } else if seed % 4 == 1 {
        reports.iter_mut().for_each(|report| prove_by_list(&program, report));
    } else if seed.is_multiple_of(2) {
        reports.iter_mut().for_each(|report| prove_by_invariant(&program, report));
    }
    let written = certificate(&program, &reports).ok()??;
    (!written.proofs.is_empty() && check(&written).is_ok()).then_some(written)
}

/// Whether an established claim is false, as far as counting within a box can tell.
fn is_false(forged: &Certificate, claim: &Established, enumeration: &Enumeration) -> bool {
    if !claim.assumptions.is_empty() {
        return false;
    }
    let assertion = &forged.program.assertions[claim.assertion];
    let found = enumeration.explore();
    if enumeration.violation(&found, assertion, claim.length_bounded).is_some() {
        return true;
    }
    let without_invariants = forged.proofs.iter().any(|p| {
        matches!(p, Proof::Relative { group, invariants, .. } if *group == [claim.assertion] && invariants.is_empty())
    });
    claim.one_level
        && claim.one_level_inverse
        && without_invariants
        && enumeration.unmatched_step(assertion).is_some()
}

/// How many of the claims of a certificate are false, whether or not it is accepted.
fn false_claims(forged: &Certificate) -> usize {
    let claims: BTreeSet<usize> = forged
        .proofs
        .iter()
        .flat_map(|p| match p {
            Proof::Safety { assertion, .. }
            | Proof::Cells { assertion, .. }
            | Proof::Renamed { assertion }
            | Proof::Listed { assertion, .. } => vec![*assertion],
            Proof::Relative { group, .. } => group.clone(),
        })
        .filter(|&a| a < forged.program.assertions.len() && !forged.program.assertions[a].assumed)
        .collect();
    let Some(enumeration) = Enumeration::new(&forged.program, BOX) else { return 0 };
    let found = enumeration.explore();
    let wrong = |a: &usize| enumeration.violation(&found, &forged.program.assertions[*a], false).is_some();
    claims.iter().filter(|a| wrong(a)).count()
}

/// A program whose parts fit together well enough to be enumerated.
fn enumerable(forged: &Certificate) -> bool {
    let program = &forged.program;
    let k = program.columns.len();
    quotient_proof_check::validate::program(&forged.program).is_ok()
        && k <= 3
        && program.rules.iter().all(|r| r.nodes < 50)
        && program.assertions.iter().all(|a| a.nodes < 50)
}

#[test]
fn no_forged_certificate_is_accepted() {
    let (wanted, mut seed) = (
        quotient_testing::setting("QUOTIENT_FORGERIES", 3_000),
        quotient_testing::setting("QUOTIENT_SEED", 1),
    );
    let soon = if cfg!(debug_assertions) { Duration::from_secs(10) } else { Duration::from_secs(1) };
    let (mut tried, mut unreadable, mut accepted, mut false_ones, mut slowest) = (0, 0, 0, 0, Duration::ZERO);
    let mut other: Option<Value> = None;
    // Certificates with each kind of proof.
    let mut kinds = [0; 6];
    while tried < wanted {
        seed += 1;
        let Some(written) = original(seed) else { continue };
        let kind = |p: &Proof| match p {
            Proof::Safety { under: Some(_), .. } => 5,
            Proof::Safety { .. } => 0,
            Proof::Cells { .. } => 1,
            Proof::Listed { .. } => 2,
            Proof::Relative { .. } => 3,
            Proof::Renamed { .. } => 4,
        };
        written.proofs.iter().for_each(|p| kinds[kind(p)] += 1);
        let value = serde_json::to_value(&written).expect("certificates can be written");
        let mut lender = other.replace(value.clone()).unwrap_or_else(|| value.clone());
        for attempt in 0..EACH.min(wanted - tried) {
            tried += 1;
            let mut r = Random::new(seed.wrapping_mul(1_000_003) + attempt);
            let mut forged = value.clone();
            for _ in 0..1 + r.number(6) {
                alter(&mut forged, &mut lender, &mut r);
            }
            let Ok(forged) = serde_json::from_value::<Certificate>(forged) else {
                unreadable += 1;
                continue;
            };
            let begun = Instant::now();
            let outcome = check(&forged);
            slowest = slowest.max(begun.elapsed());
            let show =
                || format!("seed {seed}, attempt {attempt}: {}", serde_json::to_string(&forged).unwrap());
            assert!(begun.elapsed() < soon, "took {:?}: {}", begun.elapsed(), show());
            let enumerable = enumerable(&forged);
            let Ok(list) = outcome else {
                false_ones += usize::from(enumerable && false_claims(&forged) > 0);
                continue;
            };
            accepted += 1;
            assert!(enumerable || forged.program.columns.len() > 3, "not checked: {}", show());
            for claim in &list {
                let within = |range| {
                    Enumeration::new(&forged.program, range).is_some_and(|e| is_false(&forged, claim, &e))
                };
                assert!(!(within(BOX) && within(LARGE_BOX)), "accepted claim {claim:?} is false: {}", show());
            }
        }
    }
    println!(
        "{tried} forged certificates: {unreadable} unreadable, {accepted} accepted, all of them true; \
         {false_ones} refused with claims that are false; slowest {:.3} s",
        slowest.as_secs_f64()
    );
    println!("proofs in the originals: {kinds:?} (tables, cells, lists, relative, renamed, up to renaming)");
    assert!(wanted < 3_000 || kinds.iter().all(|k| *k > 0), "{kinds:?}");
    // Both kinds were met: harmless alterations, and claims that are false.
    assert!(accepted * 50 > tried && false_ones as u64 * 50 > tried);
}
