//! What the tests share: reading programs, proving, checking certificates.
#![allow(dead_code, reason = "each test uses a part of it")]

pub mod enumeration;
pub mod mutation;
pub mod random_program;

use quotient_proof::certificate::certificate;
use quotient_proof::program::Program;
use quotient_proof::prove::{Options, Report, Verdict, prove};
use quotient_proof::{check_assumptions, language, models};
use quotient_source::{Diagnostics, SourceMap, render};

/// Reads a program or returns its rendered mistakes.
pub fn read(text: &str) -> Result<Program, String> {
    let mut map = SourceMap::new();
    let file = map.add("test.clp", text);
    let mut diagnostics = Diagnostics::new();
    let program = language::read(&map, file, &mut diagnostics);
    if let Some(p) = &program {
        check_assumptions(p, &mut diagnostics);
    }
    let messages: Vec<String> = diagnostics.iter().map(|d| render(&map, d, false)).collect();
    program.filter(|_| !diagnostics.has_errors()).ok_or(messages.join("\n"))
}

/// A generated model.
pub fn model(name: &str, n: usize) -> Program {
    read(&models::generate(name, n).expect("the model exists")).expect("generated models are well formed")
}

/// Proves everything, and has every proof checked by the independent checker.
pub fn run(program: &Program, options: &Options) -> Vec<Report> {
    let reports = prove(program, options);
    let certificate =
        certificate(program, &reports).expect("no overflow").expect("every cover is found again");
    match quotient_proof_check::check(&certificate) {
        Ok(established) => {
            for report in &reports {
                let proved = matches!(report.verdict, Verdict::Proved);
                let found = established.iter().find(|e| e.assertion == report.assertion);
                assert_eq!(proved, found.is_some(), "{}", program.assertions[report.assertion].name);
                if let Some(found) = found {
                    assert_eq!(found.one_level, report.one_level);
                    assert_eq!(found.one_level_inverse, report.one_level_inverse == Some(true));
                    assert_eq!(found.assumptions, report.conditional_on);
                }
            }
        }
        Err(reason) => panic!("the checker refuses the certificate: {reason}"),
    }
    reports
}

/// The verdict on an assertion, as a word.
pub fn word(program: &Program, reports: &[Report], name: &str) -> &'static str {
    let at = program.assertions.iter().position(|a| a.name == name).expect("the assertion exists");
    quotient_proof::report::word(
        &reports.iter().find(|r| r.assertion == at).expect("it has a report").verdict,
    )
}

/// The last claim of a generated model alone: no hint, no symmetry.
pub fn bare(name: &str, n: usize) -> Program {
    let mut program = model(name, n);
    let mut claim = program.assertions.pop().expect("a claim");
    claim.using.clear();
    program.assertions = vec![claim];
    program
}
