//! What a test says: a line for each run, what is not as expected, the figures; for CI servers as JUnit and SARIF.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use quotient_expectations::{Difference, Expectation, Malformed, quoted};
use quotient_formats::junit::{Case, CaseOutcome, junit};
use serde_json::Value;

use super::files::Found;
use super::run;

/// A run, or a file without one.
pub(super) struct Tested {
    pub(super) file: PathBuf,
    /// The line of the expectation; 0 without one.
    pub(super) line: u32,
    /// The options of the expectation.
    options: String,
    /// The command that repeats it.
    command: String,
    seconds: f64,
    pub(super) outcome: Outcome,
}

/// What came of it.
pub(super) enum Outcome {
    /// Everything is as expected.
    Met,
    /// It is written as found.
    Blessed,
    /// Something is not as expected; the answer.
    Differs(Vec<Difference>, Box<Value>),
    /// There is no answer: why.
    NoAnswer(String),
    /// Nothing is expected.
    Missing,
    /// What is expected cannot be read.
    Malformed(Malformed),
}

/// A number of things.
pub(super) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

impl Tested {
    /// A run.
    pub(super) fn of(file: &Found, expectation: &Expectation, seconds: f64, outcome: Outcome) -> Tested {
        let mut words = run::words(file, &expectation.options);
        words[1] = file.path.display().to_string();
        Tested {
            file: file.path.clone(),
            line: expectation.lines.first().copied().unwrap_or(1),
            options: quoted(&expectation.options),
            command: format!("quotient {}", quoted(&words)),
            seconds,
            outcome,
        }
    }

    /// A file of which no run was made.
    pub(super) fn without(file: &Found, outcome: Outcome) -> Tested {
        let line = if let Outcome::Malformed(malformed) = &outcome { malformed.line } else { 0 };
        Tested {
            file: file.path.clone(),
            line,
            options: String::new(),
            command: String::new(),
            seconds: 0.0,
            outcome,
        }
    }

    fn name(&self) -> String {
        match self.options.is_empty() {
            true => self.file.display().to_string(),
            false => format!("{} ({})", self.file.display(), self.options),
        }
    }

    /// A line for the reader who waits.
    pub(super) fn line(&self) -> String {
        let said = match &self.outcome {
            Outcome::Met => "ok",
            Outcome::Blessed => "blessed",
            Outcome::Differs(..) | Outcome::NoAnswer(_) | Outcome::Malformed(_) => "FAILED",
            Outcome::Missing => "no expectation",
        };
        format!("test {} ... {said}\n", self.name())
    }

    fn is_failure(&self) -> bool {
        matches!(self.outcome, Outcome::Differs(..) | Outcome::NoAnswer(_) | Outcome::Malformed(_))
    }

    /// What is wrong, in lines.
    fn details(&self) -> String {
        let mut out = String::new();
        match &self.outcome {
            Outcome::Differs(differences, _) => {
                for Difference { expected, found } in differences {
                    let _ = writeln!(out, "  expected: {expected}\n  found:    {found}");
                }
            }
            Outcome::NoAnswer(why) => {
                let _ = writeln!(out, "  {why}");
            }
            Outcome::Malformed(malformed) => {
                let _ = writeln!(out, "  {}", malformed.message);
            }
            Outcome::Missing => out.push_str("  nothing is expected of this file\n"),
            Outcome::Met | Outcome::Blessed => {}
        }
        if !self.command.is_empty() {
            let _ = writeln!(out, "  {}", self.command);
        }
        out
    }
}

/// All of it.
pub(super) struct Judged<'a> {
    pub(super) tested: &'a [Tested],
    pub(super) allow_missing: bool,
}

impl Judged<'_> {
    fn missing(&self) -> impl Iterator<Item = &Tested> {
        self.tested.iter().filter(|t| matches!(t.outcome, Outcome::Missing))
    }

    /// Is everything as it should be?
    pub(super) fn met(&self) -> bool {
        !self.tested.iter().any(Tested::is_failure) && (self.allow_missing || self.missing().next().is_none())
    }

    /// For people.
    pub(super) fn text(&self, elapsed: Duration) -> String {
        let mut out = String::new();
        let failures: Vec<&Tested> = self.tested.iter().filter(|t| t.is_failure()).collect();
        if !failures.is_empty() {
            out.push_str("\nfailures:\n");
        }
        for failure in &failures {
            let _ = write!(out, "\n{}:{}\n{}", failure.file.display(), failure.line, failure.details());
        }
        let missing: Vec<&Tested> = self.missing().collect();
        if !missing.is_empty() {
            out.push_str(
                "\nwithout an expectation (write `quotient: holds` in a comment, or use --bless):\n",
            );
        }
        for file in &missing {
            let _ = writeln!(out, "  {}", file.file.display());
        }
        let of = |is: fn(&Outcome) -> bool| self.tested.iter().filter(|t| is(&t.outcome)).count();
        let blessed = of(|o| matches!(o, Outcome::Blessed));
        let _ = writeln!(
            out,
            "\ntest result: {}. {} passed; {} failed;{} {} without an expectation; finished in {:.2} s",
            if self.met() { "ok" } else { "FAILED" },
            of(|o| matches!(o, Outcome::Met)),
            failures.len(),
            if blessed > 0 { format!(" {blessed} blessed;") } else { String::new() },
            missing.len(),
            elapsed.as_secs_f64()
        );
        out
    }

    /// For CI servers.
    pub(super) fn junit(&self) -> String {
        let case = |t: &Tested| {
            let outcome = match &t.outcome {
                Outcome::Met | Outcome::Blessed => CaseOutcome::Passed,
                Outcome::Differs(differences, _) => {
                    let first = differences.first();
                    let message = first
                        .map_or_else(String::new, |d| format!("expected {}, found {}", d.expected, d.found));
                    CaseOutcome::Failed(message, t.details())
                }
                Outcome::NoAnswer(why) => CaseOutcome::Error(why.clone(), t.details()),
                Outcome::Malformed(malformed) => CaseOutcome::Error(malformed.to_string(), t.details()),
                Outcome::Missing if self.allow_missing => {
                    CaseOutcome::Skipped("nothing is expected of this file".into())
                }
                Outcome::Missing => {
                    CaseOutcome::Error("nothing is expected of this file".into(), t.details())
                }
            };
            let name = if t.options.is_empty() { "check".to_owned() } else { t.options.clone() };
            Case { class: t.file.display().to_string(), name, seconds: t.seconds, outcome }
        };
        junit("quotient test", &self.tested.iter().map(case).collect::<Vec<_>>())
    }

    /// The answers that were not expected, for code scanning. Places are relative to where the test was started.
    pub(super) fn sarif(&self) -> String {
        let document = |t: &Tested| match &t.outcome {
            Outcome::Differs(_, document) => {
                let mut document = (**document).clone();
                let folder = t.file.parent().map(|f| f.display().to_string()).filter(|f| !f.is_empty());
                if let Some(folder) = folder {
                    relocate(&mut document, &folder);
                }
                Some(document)
            }
            _ => None,
        };
        let documents: Vec<Value> = self.tested.iter().filter_map(document).collect();
        quotient::outcome::json::text(&quotient_formats::sarif::sarif(&documents))
    }
}

/// Puts a folder before the files of a document, which are relative to it.
fn relocate(document: &mut Value, folder: &str) {
    match document {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(path)
                        if matches!(key.as_str(), "file" | "at") && !path.starts_with('/') =>
                    {
                        *path = format!("{folder}/{path}");
                    }
                    other => relocate(other, folder),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| relocate(value, folder)),
        _ => {}
    }
}
