//! Certificates: altered ones are refused, and a solver agrees with every step.

use crate::support::solver::confirms;
use crate::support::{bare, model, read};
use quotient_proof::certificate::certificate;
use quotient_proof::prove::{Options, prove};
use quotient_proof_check::format::{Certificate, Closing, Inequality, Proof, Right, Tree};
use quotient_proof_check::{check, check_text, smtlib};

fn written(name: &str, n: usize) -> Certificate {
    let program = model(name, n);
    let reports = prove(&program, &Options { inverses: true, ..Options::default() });
    certificate(&program, &reports).expect("no overflow").expect("complete")
}

#[test]
fn round_trip_through_text() {
    let text = serde_json::to_string(&written("bakery", 2)).unwrap();
    let names: Vec<usize> = check_text(&text).unwrap().iter().map(|e| e.assertion).collect();
    assert_eq!(names, [0, 1, 2]);
    assert!(check_text("{}").is_err());
    assert!(check_text(&text.replace("certificate 3", "certificate 9")).unwrap_err().contains("format"));
}

/// Every single alteration of these kinds makes the checker refuse:
/// a cover or closing that a step needs is removed, or points elsewhere; a set is dropped.
#[test]
fn one_altered_step_is_refused() {
    let (mut tried, mut refused) = (0, 0);
    for (name, n) in [("bakery", 2), ("priority", 2), ("fischer", 2), ("producer-consumer", 2)] {
        let original = written(name, n);
        assert!(check(&original).is_ok());
        let mut attempt = |altered: &Certificate, what: String| {
            tried += 1;
            let outcome = check(altered);
            refused += usize::from(outcome.is_err());
            assert!(outcome.is_err(), "{name}: accepted although {what}");
        };
        for (p, proof) in original.proofs.iter().enumerate() {
            match proof {
                Proof::Safety { table, .. } => {
                    for (s, covers) in table.covers.iter().enumerate() {
                        for r in (0..covers.len()).filter(|&r| covers[r].len() == 1) {
                            let mut altered = original.clone();
                            let Proof::Safety { table, .. } = &mut altered.proofs[p] else { unreachable!() };
                            table.covers[s][r].clear();
                            attempt(&altered, format!("proof {p}, set {s} lost its cover for rule {r}"));
                        }
                    }
                    let mut altered = original.clone();
                    let Proof::Safety { start, .. } = &mut altered.proofs[p] else { unreachable!() };
                    start.clear();
                    attempt(&altered, format!("proof {p} does not cover the violating states"));
                    let mut altered = original.clone();
                    let Proof::Safety { table, .. } = &mut altered.proofs[p] else { unreachable!() };
                    table.sets.pop();
                    table.covers.pop();
                    attempt(&altered, format!("proof {p} lost a set"));
                }
                // `cells.rs` alters these.
                Proof::Cells { .. } | Proof::Listed { .. } | Proof::Renamed { .. } => {}
                Proof::Relative { entries, .. } => {
                    for (e, entry) in entries.iter().enumerate() {
                        for r in (0..entry.closings.len()).filter(|&r| entry.closings[r].len() == 1) {
                            let mut altered = original.clone();
                            let Proof::Relative { entries, .. } = &mut altered.proofs[p] else {
                                unreachable!()
                            };
                            entries[e].closings[r].clear();
                            attempt(
                                &altered,
                                format!("proof {p}, obligation {e} lost its closing for rule {r}"),
                            );
                            // Closing by the entry's own state before any unfold would be circular.
                            let mut altered = original.clone();
                            let Proof::Relative { entries, .. } = &mut altered.proofs[p] else {
                                unreachable!()
                            };
                            entries[e].direct = Some(Closing::Assertion(entries[e].origin, Vec::new()));
                            attempt(
                                &altered,
                                format!("proof {p}, obligation {e} is closed without an unfold"),
                            );
                        }
                    }
                }
            }
        }
    }
    assert_eq!(tried, refused);
    assert!(tried > 150, "{tried}");
}

#[test]
fn false_claims_are_refused() {
    // A claim that is false of the program, under the old proof.
    let mut altered = written("bakery", 2);
    let mutex = altered.program.assertions.iter_mut().find(|a| a.name == "mutex").unwrap();
    mutex.left = Tree::And(Vec::new());
    assert!(check(&altered).is_err());
    // A proof that is not within one level, or not length-non-increasing, called so.
    let mut altered = written("priority", 2);
    let Proof::Relative { one_level, .. } = &mut altered.proofs[0] else { panic!("swap comes first") };
    *one_level = true;
    assert!(check(&altered).is_err());
    let program = read("p(0). p(1) :- p(0). p(2) :- p(1). p(3) :- p(2). assert far: p(1) |= p(3).").unwrap();
    // Without all states at hand it is proved by unfolding.
    let few = Options { explore: 2, ..Options::default() };
    let mut altered = certificate(&program, &prove(&program, &few)).unwrap().unwrap();
    assert!(check(&altered).is_ok());
    let Proof::Relative { length_bounded, .. } = &mut altered.proofs[0] else { panic!("it is relative") };
    *length_bounded = true;
    assert!(check(&altered).is_err());
    // A map that was never proved.
    let mut altered = written("bakery", 2);
    altered.proofs.remove(0);
    assert!(check(&altered).is_err());
    // An assertion strengthened after its proof.
    let mut altered = written("philosophers", 3);
    let turn = &mut altered.program.assertions[0];
    turn.right = Right::State(Tree::Or(Vec::new()));
    assert!(check(&altered).is_err());
}

/// Steps of a proof that are asked unless `QUOTIENT_PROOF_LARGE` is set: then it is all of them.
const SAMPLE: usize = 60;

/// Confirms exported steps with z3.
fn confirmed(name: &str, n: usize) {
    confirmed_certificate(name, n, &written(name, n));
}

fn confirmed_certificate(name: &str, n: usize, certificate: &Certificate) {
    let mut files: Vec<(String, String)> = smtlib::export(certificate);
    if std::env::var_os("QUOTIENT_PROOF_LARGE").is_none() {
        let every = files.len().div_ceil(SAMPLE);
        files = files.into_iter().step_by(every).collect();
    }
    confirms(&format!("{name}-{n}"), &files);
}

#[test]
#[ignore = "needs z3"]
fn z3_confirms_the_steps() {
    confirmed("bakery", 2);
    confirmed("priority", 2);
    for (name, n) in [("bakery", 4), ("fischer", 2), ("producer-consumer", 3)] {
        confirmed(name, n);
    }
}

#[test]
#[ignore = "needs z3"]
fn z3_confirms_invariants() {
    for (name, n) in [("bakery", 2), ("fischer", 2)] {
        let program = bare(name, n);
        let reports = prove(&program, &Options::default());
        assert!(reports[0].found.is_some());
        let certificate = certificate(&program, &reports).expect("no overflow").expect("complete");
        confirmed_certificate(name, n, &certificate);
    }
}

#[test]
#[ignore = "needs z3"]
fn z3_confirms_szymanski() {
    confirmed("szymanski", 2);
}

/// Symmetries rule by rule, and zones up to them.
#[test]
#[ignore = "needs z3"]
fn z3_confirms_exchanges() {
    let text = quotient_proof::models::generate("bakery", 6).expect("the model exists");
    let lines = text.lines().filter(|l| !l.starts_with("assert nonneg"));
    let text: String = lines.map(|l| l.replace("using nonneg, swap", "using swap") + "\n").collect();
    let program = read(&text).expect("well formed");
    let reports = prove(&program, &Options { inverses: true, ..Options::default() });
    let written = certificate(&program, &reports).expect("no overflow").expect("complete");
    assert!(matches!(written.proofs[0], Proof::Renamed { .. }), "{:?}", reports[0].verdict);
    let last = written.proofs.last();
    assert!(matches!(last, Some(Proof::Safety { under: Some(_), .. })), "{:?}", reports.last());
    confirmed_certificate("bakery", 6, &written);
}

/// Rules with many alternatives are compared, not unfolded; a rule that has no image is noticed.
#[test]
fn symmetries_rule_by_rule() {
    let program = model("bakery", 6);
    let reports = prove(&program, &Options { inverses: true, ..Options::default() });
    let swap = &reports[0];
    assert!(matches!(swap.proof, Some(quotient_proof::prove::Proof::Renamed)), "{:?}", swap.verdict);
    assert!(swap.one_level && swap.nonincreasing && swap.one_level_inverse == Some(true));
    let written = certificate(&program, &reports).expect("no overflow").expect("complete");
    check(&written).expect("accepted");
    // Any rule or fact that changes, or is gone, has no partner any more.
    let alone = Certificate { proofs: vec![Proof::Renamed { assertion: 0 }], ..written.clone() };
    check(&alone).expect("accepted");
    for rule in 0..alone.program.rules.len() {
        let mut altered = alone.clone();
        altered.program.rules.remove(rule);
        let touched = check(&altered).is_err();
        // Rules of the other four processes are their own images.
        assert_eq!(touched, (1..=6).contains(&rule), "rule {rule}");
    }
    let mut altered = alone.clone();
    altered.program.rules[0].guard = Tree::Le(Inequality { terms: vec![(7, 1)], bound: 0 });
    assert!(check(&altered).is_err(), "another fact");
}
