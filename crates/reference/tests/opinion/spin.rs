//! The reference interpreter against SPIN, on random programs.
//!
//! `QUOTIENT_RANDOM_PROGRAMS` sets how many (20 by default, as each costs SPIN a C compilation),
//! `QUOTIENT_SEED` the first seed. Without `spin` or a C compiler the test says so and passes.

use crate::verifier::{Report, verify};
use quotient_promela::ast::Model;
use quotient_reference::generate::{Knobs, generate_with};
use quotient_reference::{Fault, Outcome, interpret, print, shrink};
use quotient_testing::setting;

const LIMIT: usize = 40_000;

/// What came of one program.
#[derive(Debug, PartialEq)]
enum Comparison {
    Agree,
    /// Both found a fault.
    AgreeOnFault,
    /// Too large, or refused by SPIN: not compared.
    Skipped(String),
    Differ(String),
}

/// The words with which SPIN reports a fault.
fn spoken(fault: Fault) -> &'static [&'static str] {
    match fault {
        Fault::IndexOutOfBounds => &["invalid array index"],
        Fault::UninitialisedChannel => &["uninitialized chan", "unknown chan"],
        Fault::DeadChannel => &["bad queue", "uninitialized chan"],
        Fault::WrongNumberOfFields => &["parameters in send", "msg fields", "too many fields"],
        Fault::FewerSent => &["parameters in send", "msg fields"],
        Fault::FewerReceived => &["pars in receive", "msg fields"],
        Fault::PolledRendezvous => &["poll"],
        Fault::BlockedInDStep => &["block in d_step", "blocking sel in d_step"],
        Fault::RendezvousInDStep => &["rv-attempt in d_step"],
        Fault::TooManyProcesses => &["too many processes", "VECTORSZ", "aborting"],
        Fault::Division | Fault::Shift | Fault::EndlessDStep | Fault::NoSuchProcess => &[],
    }
}

fn compare(model: &Model) -> Comparison {
    let outcome = match interpret(model, LIMIT) {
        Ok(outcome) if outcome.beyond_spin => {
            return Comparison::Skipped("SPIN goes another way".to_string());
        }
        Ok(outcome) if outcome.complete => outcome,
        Ok(_) => return Comparison::Skipped("too large".to_string()),
        Err(message) => return Comparison::Skipped(format!("refused: {message}")),
    };
    let report = match verify(&print(model)) {
        Ok(report) => report,
        Err(message) => return Comparison::Skipped(format!("SPIN: {message}")),
    };
    judge(&outcome, &report)
}

fn judge(outcome: &Outcome, report: &Report) -> Comparison {
    let words: Vec<&str> = outcome.faults.iter().flat_map(|f| spoken(*f)).copied().collect();
    if !outcome.faults.is_empty() {
        // From most faults on, SPIN's states are meaningless: only the fault itself is compared.
        let said = report.messages.iter().any(|m| words.iter().any(|w| m.contains(w)));
        // When SPIN goes back over a receive with too few fields it restores those only, and then goes on with messages that nobody
        // sent: its counts are right where there was nothing to go back to.
        let comparable = outcome.faults.iter().all(|f| *f == Fault::FewerSent);
        // An offer that nobody takes is not a move, so that there may be a deadlock besides.
        let deadlock = report.messages.iter().any(|m| m.contains("invalid end state"));
        let same = outcome.states == report.states
            && outcome.transitions + 1 == report.transitions
            && (outcome.invalid_end_states > 0) == deadlock;
        return if said && (same || !comparable) {
            Comparison::AgreeOnFault
        } else {
            Comparison::Differ(format!("faults {:?}, SPIN says {report:?}", outcome.faults))
        };
    }
    let assertion = report.messages.iter().any(|m| m.contains("assertion violated"));
    let deadlock = report.messages.iter().any(|m| m.contains("invalid end state"));
    let errors = outcome.assertion_failures + outcome.invalid_end_states;
    let same = outcome.states == report.states
        && outcome.transitions + 1 == report.transitions
        && errors == report.errors
        && (outcome.assertion_failures > 0) == assertion
        && (outcome.invalid_end_states > 0) == deadlock;
    if same { Comparison::Agree } else { Comparison::Differ(format!("{outcome:?}\nSPIN: {report:?}")) }
}

#[test]
#[ignore = "needs spin"]
fn random_programs_agree_with_spin() {
    let (count, first) = (setting("QUOTIENT_RANDOM_PROGRAMS", 20), setting("QUOTIENT_SEED", 1));
    let (mut agreed, mut faults, mut skipped, mut refused) = (0, 0, 0, 0);
    let mut differences = Vec::new();
    for seed in first..first + count {
        let size = 3 + (seed % 4) as usize;
        let model = generate_with(seed, &Knobs { size, wide_bits: true, ..Knobs::default() });
        match compare(&model) {
            Comparison::Agree => agreed += 1,
            Comparison::AgreeOnFault => faults += 1,
            Comparison::Skipped(why) => {
                if why.starts_with("SPIN") {
                    refused += 1;
                }
                skipped += 1;
                println!("seed {seed} size {size}: skipped, {why}");
            }
            Comparison::Differ(how) => {
                println!("seed {seed} size {size}: {how}");
                differences.push((seed, size, model));
            }
        }
    }
    println!(
        "{count} programs: {agreed} agree, {faults} agree on a fault, {skipped} skipped ({refused} by SPIN)"
    );
    if let Some((seed, size, model)) = differences.first() {
        let small = shrink(model, &mut |m| matches!(compare(m), Comparison::Differ(_)));
        println!("smallest program found for seed {seed}, size {size}:\n{}", print(&small));
        println!("{:?}", compare(&small));
        panic!("{} programs differ, first seed {seed} of size {size}", differences.len());
    }
    assert!(refused * 5 <= count, "SPIN refuses {refused} of {count} programs");
    assert!(agreed * 2 >= count, "only {agreed} of {count} programs could be compared");
}
