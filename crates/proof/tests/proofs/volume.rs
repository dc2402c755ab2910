//! Random small finite constraint programs with random assertions; every verdict is compared with
//! explicit reachability computed here, by an evaluator that shares nothing with the prover.
//!
//! A slice runs by default; `QUOTIENT_PROOF_VOLUME=20000` sets the number of programs and
//! `QUOTIENT_PROOF_SEED` the first seed. A failure names its seed and prints the program.

use std::time::Duration;

use crate::support::random_program::{case, truth};
use crate::support::read;
use quotient_proof::certificate::certificate;
use quotient_proof::prove::{Options, Verdict, prove};
use quotient_proof::safety::{Order, SafetyOptions};

#[test]
fn verdicts_agree_with_explicit_reachability() {
    let (programs, first) = (
        quotient_testing::setting("QUOTIENT_PROOF_VOLUME", 300),
        quotient_testing::setting("QUOTIENT_PROOF_SEED", 1),
    );
    let (mut proved, mut refuted, mut unknown, mut used, mut checked) = (0, 0, 0, 0, 0);
    let mut found = std::collections::BTreeMap::new();
    for seed in first..first + programs {
        let case = case(seed);
        if std::env::var("QUOTIENT_PROOF_SHOW").is_ok() {
            println!("{}", case.text);
        }
        let program = read(&case.text).unwrap_or_else(|e| panic!("{}\n{e}", case.text));
        let options = Options {
            safety: SafetyOptions {
                order: if seed % 2 == 0 { Order::Breadth } else { Order::Depth },
                evict: seed % 3 == 0,
                // Every fifth program has to be proved by an invariant that is found, if unfolding does not end at once.
                max_stored: if seed % 5 == 0 { 1 } else { 5_000 },
                max_time: Duration::from_secs(1),
                ..SafetyOptions::default()
            },
            max_time: Duration::from_secs(1),
            // Some programs are proved without the guidance of concrete states.
            explore: if seed % 4 == 0 || seed % 10 == 0 { 3 } else { 1_000 },
            ..Options::default()
        };
        let begun = std::time::Instant::now();
        let reports = prove(&program, &options);
        if begun.elapsed() > Duration::from_secs(2) {
            println!("seed {seed} took {:.1} s", begun.elapsed().as_secs_f64());
        }
        // Every certificate must be accepted, or need what the checker says it does not decide.
        let written =
            certificate(&program, &reports).expect("no overflow").expect("every cover is found again");
        match quotient_proof_check::check(&written) {
            Ok(list) => checked += list.len(),
            Err(reason) => {
                let beyond = ["difference", "right side only", "finite column is compared"];
                assert!(
                    beyond.iter().any(|b| reason.contains(b)),
                    "refused, seed {seed}: {reason}\n{}",
                    case.text
                );
            }
        }
        for report in reports {
            let assertion = &case.assertions[report.assertion];
            let holds = truth(&case, assertion);
            let show = || format!("seed {seed}, assertion c{}\n{}", report.assertion, case.text);
            match report.verdict {
                Verdict::Proved => {
                    assert!(holds, "proved but false: {}", show());
                    proved += 1;
                    if let Some((name, _)) = report.found {
                        *found.entry(name).or_insert(0) += 1;
                    }
                    used += usize::from(!assertion.using.is_empty());
                }
                Verdict::Refuted(refutation) => {
                    assert!(!holds, "refuted but true: {}", show());
                    let last = &refutation.trace.last().expect("a trace has a state").state;
                    assert!(
                        case.reachable.contains(&(last[0], last[1])),
                        "trace to an unreachable state: {}",
                        show()
                    );
                    refuted += 1;
                }
                Verdict::Unknown(why) => {
                    unknown += 1;
                    if std::env::var("QUOTIENT_PROOF_UNKNOWN").is_ok() {
                        println!("unknown ({holds}): {why} {:?}: {}", report.notes, show());
                    }
                }
                Verdict::Assumed => panic!("nothing was assumed: {}", show()),
            }
        }
    }
    let total = proved + refuted + unknown;
    println!(
        "{programs} programs, {total} assertions: {proved} proved ({used} with others in use, {checked} by a checked certificate), {refuted} refuted, \
         {unknown} unknown ({:.2} %)",
        100.0 * f64::from(unknown) / f64::from(total)
    );
    println!("by invariants that were found: {found:?}");
    assert!(proved > 0 && refuted > 0 && !found.is_empty());
}
