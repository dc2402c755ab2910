//! `quotient test`: every model, program and proof against what its own comments expect (`quotient-expectations`).
//!
//! Each expectation is one run of this program in a process of its own, in the folder of the file: what hangs is ended, what crashes is one
//! failure, and options mean what they mean on the command line.

mod confined;
mod files;
mod report;
mod run;
mod settings;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use quotient_expectations::{Expectation, bless, judge, rewrite};

use super::{options, status, terminal, watch};
use files::Found;
use report::{Outcome, Tested};
use settings::Settings;

// Options of the subcommand.
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Files, or folders to look through for models, programs and proofs
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,

    /// How many runs at a time (default: one for each core)
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<usize>,

    /// End a run that has no answer after this time (for example 30s, 10m); `quotient.toml` can say otherwise
    #[arg(long, value_name = "TIME", value_parser = options::duration)]
    pub(crate) timeout: Option<Duration>,

    /// Write what is found into the files instead: expectations that are not met, and one where there is none
    #[arg(long)]
    pub(crate) bless: bool,

    /// A file without an expectation is named, and is not a failure
    #[arg(long)]
    pub(crate) allow_missing: bool,

    /// Write a report for CI servers to a file (JUnit XML)
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Write the violations that were not expected to a file (SARIF 2.1)
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,

    /// The files are one's own: expectations may name files to write and commands that build
    #[arg(long)]
    pub(crate) trusted: bool,

    /// Name only what is not as expected
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// The exit status where something is not as expected.
const FAILED: u8 = 1;

/// One run to make.
struct Job {
    file: usize,
    expectation: Expectation,
}

/// Runs the subcommand; gives the exit status.
pub(crate) fn main(test: &Test) -> u8 {
    match all(test) {
        Ok(true) => status::HOLDS,
        Ok(false) => FAILED,
        Err(message) => {
            eprintln!("error: {message}");
            status::ERROR
        }
    }
}

fn all(test: &Test) -> Result<bool, String> {
    let started = Instant::now();
    let mut settings = Settings::default();
    let found = files::under(&test.paths, &mut settings)?;
    if found.is_empty() {
        return Err(
            "there is nothing to test: no models, programs or proofs here\nhelp: name files or folders"
                .into(),
        );
    }
    let mut tested: Vec<Tested> = Vec::new();
    let mut jobs: Vec<Job> = Vec::new();
    for (index, file) in found.iter().enumerate() {
        match &file.expectations {
            Err(malformed) => tested.push(Tested::without(file, Outcome::Malformed(malformed.clone()))),
            Ok(all) if all.is_empty() && test.bless => {
                let nothing = Expectation { lines: vec![], options: vec![], clauses: vec![] };
                jobs.push(Job { file: index, expectation: nothing });
            }
            Ok(all) if all.is_empty() => tested.push(Tested::without(file, Outcome::Missing)),
            Ok(all) => jobs.extend(all.iter().map(|e| Job { file: index, expectation: e.clone() })),
        }
    }
    terminal::print(&format!(
        "running {} of {}\n",
        report::count(jobs.len(), "expectation"),
        report::count(found.len(), "file")
    ));
    tested.extend(run_all(test, &found, &jobs));
    let interrupted = watch::interrupt().reason();
    tested.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    let judged = report::Judged { tested: &tested, allow_missing: test.allow_missing };
    terminal::print(&judged.text(started.elapsed()));
    if let Some(reason) = interrupted {
        return Err(format!(
            "stopped ({reason}): {} of {} expectations were not tried",
            jobs.len() - tested.iter().filter(|t| t.line > 0).count(),
            jobs.len()
        ));
    }
    for (path, text) in [(&test.junit, judged.junit()), (&test.sarif, judged.sarif())] {
        if let Some(path) = path {
            std::fs::write(path, text)
                .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
    }
    Ok(judged.met())
}

/// Makes the runs, some at a time; what was blessed is written when all are done.
fn run_all(test: &Test, found: &[Found], jobs: &[Job]) -> Vec<Tested> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let trust = if test.trusted { run::Trust::Own } else { run::Trust::Foreign };
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Tested)>> = Mutex::new(Vec::new());
    let blessed: Mutex<Vec<(usize, Vec<quotient_expectations::Clause>)>> = Mutex::new(Vec::new());
    let lock = |m: &Mutex<Vec<(usize, Tested)>>, entry| {
        m.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(entry)
    };
    std::thread::scope(|scope| {
        for _ in 0..test.jobs.unwrap_or(cores).clamp(1, jobs.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index).filter(|_| !watch::interrupt().raised()) else { return };
                    let file = &found[job.file];
                    let limit = test.timeout.or(file.timeout).unwrap_or(settings::USUAL_TIMEOUT);
                    let (answer, seconds) = run::run(file, &job.expectation.options, limit, trust);
                    let mut outcome = match &answer {
                        run::Answer::Document(document) => match judge(&job.expectation.clauses, document) {
                            differences if differences.is_empty() && !job.expectation.clauses.is_empty() => {
                                Outcome::Met
                            }
                            differences => Outcome::Differs(differences, Box::new(document.clone())),
                        },
                        run::Answer::Stopped => return,
                        run::Answer::None(why) => Outcome::NoAnswer(why.clone()),
                    };
                    if let (true, run::Answer::Document(document), Outcome::Differs(..)) =
                        (test.bless, &answer, &outcome)
                    {
                        let clauses = bless(&job.expectation.clauses, document);
                        blessed
                            .lock()
                            .unwrap_or_else(std::sync::PoisonError::into_inner)
                            .push((index, clauses));
                        outcome = Outcome::Blessed;
                    }
                    let tested = Tested::of(file, &job.expectation, seconds, outcome);
                    if !test.quiet {
                        terminal::print(&tested.line());
                    }
                    lock(&done, (index, tested));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    for (index, clauses) in blessed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        let job = &jobs[index];
        if let Err(error) = write(&found[job.file].path, &job.expectation, &clauses) {
            done.iter_mut()
                .filter(|(i, _)| *i == index)
                .for_each(|(_, t)| t.outcome = Outcome::NoAnswer(error.clone()));
        }
    }
    done.into_iter().map(|(_, tested)| tested).collect()
}

/// Writes an expectation into its file. Its lines are looked for anew: others may have been written before.
fn write(
    path: &Path,
    expectation: &Expectation,
    clauses: &[quotient_expectations::Clause],
) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("cannot bless {}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|e| failed(&e))?;
    let now = quotient_expectations::read(&text).map_err(|e| failed(&e))?;
    let same = now.iter().find(|e| e.options == expectation.options);
    let written = rewrite(&text, same.unwrap_or(expectation), clauses, files::comment(path));
    std::fs::write(path, written).map_err(|e| failed(&e))
}
