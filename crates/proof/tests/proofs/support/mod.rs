//! What the tests share: reading programs, proving, checking certificates.
#![allow(dead_code, reason = "each test uses a part of it")]

pub mod enumeration;
pub mod mutation;
pub mod random_program;
pub mod solver;

use std::path::Path;

use quotient_promela::ParseOptions;
use quotient_proof::certificate::certificate;
use quotient_proof::program::Program;
use quotient_proof::prove::{Options, Report, Verdict, prove};
use quotient_proof::{check_assumptions, frontend, language, models};
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

/// Reads a file in its language, or gives its mistakes.
pub fn load(path: &Path) -> Result<Program, String> {
    let (mut map, mut diagnostics) = (SourceMap::new(), Diagnostics::new());
    let items = frontend::read(&mut map, path, &ParseOptions::default(), &mut diagnostics).expect("readable");
    let program = if diagnostics.has_errors() { None } else { language::program(&items, &mut diagnostics) };
    program.ok_or_else(|| diagnostics.iter().map(|d| render(&map, d, false)).collect::<Vec<_>>().join("\n"))
}

/// The same for a text of this name.
pub fn load_text(name: &str, text: &str) -> Result<Program, String> {
    let path = std::env::temp_dir().join(format!("quotient-frontend-{}-{name}", std::process::id()));
    std::fs::write(&path, text).expect("writable");
    let result = load(&path);
    std::fs::remove_file(&path).expect("just written");
    result.map_err(|e| e.replace(&path.display().to_string(), name))
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
