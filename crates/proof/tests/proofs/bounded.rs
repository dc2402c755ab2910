//! Runs of bounded length, and invariants grown from points: against explicit reachability; where alternatives cannot be listed; evidence
//! that is altered; a solver's opinion.

use std::time::Duration;

use crate::support::random_program::{Claim, case, truth};
use crate::support::read;
use crate::support::solver::confirms;
use quotient_proof::cells::bounded::{self, Bounded};
use quotient_proof::certificate;
use quotient_proof::domain::Domain;
use quotient_proof::limits::Limits;
use quotient_proof::program::Program;
use quotient_proof::prove::{Options, Verdict, prove};
use quotient_proof::refute::violates;
use quotient_proof_check::format::{Cells, Certificate, Evidence, FORMAT, Proof};
use quotient_proof_check::{check, smtlib};

fn certificate(program: &Program, at: usize, cells: Cells) -> Certificate {
    Certificate {
        format: FORMAT.into(),
        program: certificate::program(program, &Domain::of(program)),
        proofs: vec![Proof::Cells { assertion: at, cells }],
    }
}

/// A counter of bits that are set, changed all at once: 4 to the power of `bits` alternatives.
fn bits(bits: usize, claim: &str) -> String {
    let list = |f: &dyn Fn(usize) -> String| (0..bits).map(f).collect::<Vec<_>>().join(", ");
    let (before, after) = (list(&|i| format!("B{i}")), list(&|i| format!("C{i}")));
    let sum = |name: &str| (0..bits).map(|i| format!("{name}{i}")).collect::<Vec<_>>().join(" + ");
    let each =
        list(&|i| format!("B{i} in 0..1, C{i} in 0..1, (B{i} = C{i} ; B{i} < C{i}, N > {i} ; B{i} > C{i})"));
    format!(
        "p({}, 0, N) :- N >= 0.
         p({after}, S', N) :- p({before}, S, N), {each}, S' = S + {} - {}, (N > 0 ; S' <= S).
         assert a: p({before}, S, N) |= {claim}.",
        vec!["0"; bits].join(", "),
        sum("C"),
        sum("B").replace(" + ", " - "),
    )
}

#[test]
fn alternatives_that_cannot_be_listed() {
    let sum = (0..9).map(|i| format!("B{i}")).collect::<Vec<_>>().join(" + ");
    for (claim, holds) in [(format!("S = {sum}"), true), ("S <= 9".into(), true), ("S <= 8".into(), false)] {
        let text = bits(9, &claim);
        let program = read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let options = Options { max_time: Duration::from_secs(60), ..Options::default() };
        let verdict = &prove(&program, &options)[0].verdict;
        assert_eq!(matches!(verdict, Verdict::Proved), holds, "{claim}: {verdict:?}");
        assert_eq!(matches!(verdict, Verdict::Refuted(_)), !holds, "{claim}: {verdict:?}");
    }
}

/// What is proved is true and accepted, what is refuted has a violation at the end of its run; both are told apart from the truth.
#[test]
fn random_programs_against_reachability() {
    let programs = quotient_testing::setting("QUOTIENT_PROOF_VOLUME", 150);
    let first = quotient_testing::setting("QUOTIENT_PROOF_SEED", 1);
    let (mut proved, mut refuted, mut open) = (0, 0, 0);
    for seed in first..first + programs {
        let case = case(seed);
        let program = read(&case.text).expect("well formed");
        for (at, assertion) in case.assertions.iter().enumerate() {
            if !matches!(assertion.claim, Claim::Safety(_)) {
                continue;
            }
            let limits = Limits::default().within(Duration::from_millis(200));
            let holds = truth(&case, assertion);
            match bounded::prove(&program, &program.assertions[at], &limits) {
                Bounded::Proved(found) => {
                    assert!(holds, "proved but false, seed {seed}, c{at}\n{}", case.text);
                    check(&certificate(&program, at, found.cells))
                        .unwrap_or_else(|e| panic!("refused, seed {seed}, c{at}: {e}\n{}", case.text));
                    proved += 1;
                }
                Bounded::Refuted(trace) => {
                    assert!(!holds, "refuted but true, seed {seed}, c{at}\n{}", case.text);
                    let last = &trace.last().expect("a run has states").state;
                    assert_eq!(violates(&program.assertions[at], last), Ok(true), "seed {seed}, c{at}");
                    refuted += 1;
                }
                Bounded::Open(run) => {
                    let last = run.and_then(|r| r.states.last().map(|s| s.1.clone()));
                    let state: Option<Vec<i64>> = last.and_then(|s| s.into_iter().collect());
                    if let Some(state) = state {
                        assert_eq!(violates(&program.assertions[at], &state), Ok(true), "seed {seed}, c{at}");
                    }
                    open += 1;
                }
            }
        }
    }
    println!("{proved} proved, {refuted} refuted, {open} open");
    assert!(proved > 20 && refuted > 20, "{proved} {refuted} {open}");
}

/// Programs with proofs of both kinds.
fn proved() -> Vec<(Program, Certificate)> {
    let sum = (0..6).map(|i| format!("B{i}")).collect::<Vec<_>>().join(" + ");
    let texts = [
        bits(6, &format!("S = {sum}")),
        bits(6, "S <= 6"),
        "p(0,0). p(X+2,Y+1) :- p(X,Y), (X < 7 ; Y > 9, X <> 3). assert a: p(X,Y) |= X = 2 * Y.".into(),
        "p(0,0). p(X',Y') :- p(X,Y), (X < Y, X' = Y ; X >= Y, X' = X - 1), (X <> Y, Y' = 3 ; X = Y, Y' = 0 - 1). assert a: p(X,Y) |= Y <= 3.".into(),
    ];
    let mut out = Vec::new();
    for text in texts {
        let program = read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let Bounded::Proved(found) = bounded::prove(&program, &program.assertions[0], &Limits::default())
        else {
            panic!("not proved: {text}");
        };
        let written = certificate(&program, 0, found.cells);
        assert_eq!(check(&written).map(|l| l.len()), Ok(1), "{text}");
        out.push((program, written));
    }
    out
}

/// Evidence of the kinds that only these proofs have: another alternative, another disjunction, no reason, another cell.
#[test]
fn altered_evidence_is_refused() {
    let (mut tried, mut kinds) = (0, [0; 4]);
    for (_, original) in proved() {
        let Proof::Cells { cells, .. } = &original.proofs[0] else { unreachable!() };
        let mut attempt = |change: &dyn Fn(&mut Cells)| {
            let mut altered = original.clone();
            let Proof::Cells { cells, .. } = &mut altered.proofs[0] else { unreachable!() };
            change(cells);
            tried += 1;
            check(&altered)
        };
        for (at, evidence) in cells.evidence.iter().enumerate() {
            match evidence {
                Evidence::Forced(list, _) => {
                    kinds[0] += 1;
                    for (step, forced) in list.iter().enumerate() {
                        let missing = attempt(&|c| {
                            let Evidence::Forced(list, _) = &mut c.evidence[at] else { unreachable!() };
                            list[step].others.pop();
                        });
                        assert!(missing.is_err() || forced.others.is_empty());
                        let beyond = attempt(&|c| {
                            let Evidence::Forced(list, _) = &mut c.evidence[at] else { unreachable!() };
                            list[step].which = 10_000;
                        });
                        assert!(beyond.is_err());
                        // What was impossible is not possible.
                        let other = attempt(&|c| {
                            let Evidence::Forced(list, _) = &mut c.evidence[at] else { unreachable!() };
                            list[step].left = (list[step].left + 1) % (list[step].others.len() + 1);
                        });
                        assert!(other.is_err() || forced.others.is_empty());
                    }
                }
                Evidence::Choose(..) => {
                    kinds[1] += 1;
                    let beyond = attempt(&|c| {
                        let Evidence::Choose(which, _) = &mut c.evidence[at] else { unreachable!() };
                        *which = 10_000;
                    });
                    assert!(beyond.is_err());
                }
                Evidence::Outside(..) => {
                    kinds[2] += 1;
                    let beyond = attempt(&|c| {
                        let Evidence::Outside(cell, _) = &mut c.evidence[at] else { unreachable!() };
                        *cell = 10_000;
                    });
                    assert!(beyond.is_err());
                }
                _ => {}
            }
        }
        for cell in 0..cells.cells.len() {
            for bound in 0..cells.cells[cell].bounds.len() {
                kinds[3] += 1;
                // Too tight: some state is outside.
                let tight = attempt(&|c| c.cells[cell].bounds[bound].bound -= 1);
                assert!(tight.is_err(), "cell {cell}, bound {bound}");
            }
        }
    }
    assert!(tried > 40 && kinds.iter().all(|k| *k > 0), "{tried} {kinds:?}");
}

/// z3 confirms every run.
#[test]
#[ignore = "needs z3"]
fn z3_confirms_the_runs() {
    for (at, (_, written)) in proved().into_iter().enumerate() {
        assert!(confirms(&format!("program {at}"), &smtlib::export(&written)) > 1);
    }
}

/// A claim that stays open is shown with a run in whole numbers, in text and in JSON.
#[test]
fn open_goals_have_values() {
    // X is the square of Y.
    let text = "p(0,0). p(X',Y+1) :- p(X,Y), X' = X + 2 * Y + 1. assert a: p(X,Y) |= X <> 1000 * Y + 8.";
    let program = read(text).expect("well formed");
    let options = Options { max_time: Duration::from_secs(3), ..Options::default() };
    let reports = prove(&program, &options);
    assert!(matches!(reports[0].verdict, Verdict::Unknown(_)), "{:?}", reports[0].verdict);
    let open = reports[0].open.first().expect("an open goal");
    let state: Option<Vec<i64>> = open.states.last().expect("a state").1.iter().copied().collect();
    assert_eq!(state.map(|s| violates(&program.assertions[0], &s)), Some(Ok(true)));
    let mut map = quotient_source::SourceMap::new();
    map.add("squares.clp", text);
    let shown = quotient_proof::report::text(&program, &map, &reports[0]);
    assert!(shown.contains("open goal") && shown.contains("violates the claim"), "{shown}");
    let json = quotient_proof::report::json(&program, &map, &reports[0]);
    assert!(json["open"][0]["states"].as_array().is_some_and(|s| !s.is_empty()), "{json}");
}
