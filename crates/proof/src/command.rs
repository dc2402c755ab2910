//! The commands, without argument parsing: what `quotient prove` does.
//!
//! Exit status: 0 everything asked was proved; 10 something was refuted; 5 something is unknown
//! (and nothing refuted); 2 the input could not be used.

use std::io::Write;
use std::path::PathBuf;

use quotient_source::{Diagnostics, SourceMap, render};

use crate::check_assumptions;
use crate::program::Program;
use crate::prove::{Options, Report, Verdict, prove};
use crate::{language, models, report};

/// What to do.
#[derive(Clone, Debug, Default)]
pub struct ProveOptions {
    /// The program, unless a model is generated.
    pub file: Option<PathBuf>,
    /// Print the generated model instead.
    pub generate: Option<(String, usize)>,
    /// Prove only the assertions with these names (and what they use).
    pub only: Vec<String>,
    /// JSON instead of text.
    pub json: bool,
    /// Colour in diagnostics.
    pub colour: bool,
    /// Where to write the certificate.
    pub certificate: Option<PathBuf>,
    /// Where to write entailments as SMT-LIB files.
    pub smtlib: Option<PathBuf>,
    /// How to prove.
    pub options: Options,
}

/// Reads a program; mistakes go to `stderr`.
pub fn load(path: &PathBuf, colour: bool, stderr: &mut dyn Write) -> Result<(SourceMap, Program), i32> {
    let mut map = SourceMap::new();
    let file = match map.load(path) {
        Ok(file) => file,
        Err(error) => {
            let _ = writeln!(stderr, "error: cannot read {}: {error}", path.display());
            return Err(2);
        }
    };
    let mut diagnostics = Diagnostics::new();
    let mut program = language::read(&map, file, &mut diagnostics);
    if let Some(p) = &program {
        check_assumptions(p, &mut diagnostics);
        if diagnostics.has_errors() {
            program = None;
        }
    }
    for diagnostic in diagnostics.iter() {
        let _ = writeln!(stderr, "{}", render(&map, diagnostic, colour));
    }
    program.map(|p| (map, p)).ok_or(2)
}

/// Keeps the named assertions and everything they use.
fn restrict(program: &mut Program, only: &[String], stderr: &mut dyn Write) -> Result<(), i32> {
    if only.is_empty() {
        return Ok(());
    }
    let mut keep = vec![false; program.assertions.len()];
    let mut agenda = Vec::new();
    for name in only {
        let family = format!("{name}.");
        let found: Vec<usize> = (0..keep.len())
            .filter(|&i| program.assertions[i].name == *name || program.assertions[i].name.starts_with(&family))
            .collect();
        if found.is_empty() {
            let _ = writeln!(stderr, "error: there is no assertion named `{name}`");
            return Err(2);
        }
        agenda.extend(found);
    }
    while let Some(at) = agenda.pop() {
        if !std::mem::replace(&mut keep[at], true) {
            agenda.extend(&program.assertions[at].using);
        }
    }
    let renumber: Vec<usize> =
        keep.iter().scan(0, |next, k| Some(std::mem::replace(next, *next + usize::from(*k)))).collect();
    let old = std::mem::take(&mut program.assertions);
    for (mut assertion, _) in old.into_iter().zip(keep).filter(|(_, k)| *k) {
        assertion.using.iter_mut().for_each(|u| *u = renumber[*u]);
        program.assertions.push(assertion);
    }
    Ok(())
}

/// Exit status for a list of reports.
pub fn status(reports: &[Report]) -> i32 {
    if reports.iter().any(|r| matches!(r.verdict, Verdict::Refuted(_))) {
        10
    } else if reports.iter().any(|r| matches!(r.verdict, Verdict::Unknown(_))) {
        5
    } else {
        0
    }
}

/// `quotient prove`.
pub fn prove_main(options: &ProveOptions, stdout: &mut dyn Write, stderr: &mut dyn Write) -> i32 {
    if let Some((name, n)) = &options.generate {
        return match models::generate(name, *n) {
            Ok(text) => {
                let _ = write!(stdout, "{text}");
                0
            }
            Err(message) => {
                let _ = writeln!(stderr, "error: {message}");
                2
            }
        };
    }
    let Some(path) = &options.file else {
        let _ = writeln!(stderr, "error: no file given");
        return 2;
    };
    let (map, mut program) = match load(path, options.colour, stderr) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    if let Err(status) = restrict(&mut program, &options.only, stderr) {
        return status;
    }
    if program.assertions.is_empty() {
        let _ = writeln!(stderr, "error: {} asserts nothing; add `assert p(…) |= ….`", path.display());
        return 2;
    }
    let reports = prove(&program, &options.options);
    if options.json {
        let _ = writeln!(stdout, "{}", report::json(&program, &map, &reports));
    } else {
        for r in &reports {
            let _ = write!(stdout, "{}", report::text(&program, &map, r));
        }
    }
    status(&reports)
}
