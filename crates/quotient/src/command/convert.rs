//! `quotient convert`: answers and counterexamples in the formats of other tools.
//!
//! Two kinds of file are read: what `--json` printed (one object, or one per line for several models), and the counterexample that
//! `check --trace` wrote.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use quotient::ViolationKind;
use quotient::outcome::json;
use quotient_explain::{Course, Look};
use quotient_explorer::checking;
use quotient_formats::itf::{About, State, itf};
use quotient_formats::{csv, junit, sarif};
use serde_json::Value;

use super::schedule_file::ScheduleFile;
use super::trail::Numbers;
use super::{replay, several, status, terminal, watch, witness};

// Options of the subcommand.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// What `--json` printed (`-` for standard input), or the file that `check --trace` wrote
    pub(crate) file: PathBuf,

    /// The format
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Format,

    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// A format to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// SARIF 2.1: violations with their places and traces, for code scanning and editors (from --json)
    Sarif,
    /// JUnit XML: a case for each question, for CI servers (from --json)
    Junit,
    /// Comma-separated figures, a row for each model or program (from --json)
    Csv,
    /// Informal Trace Format: the states of a counterexample, for the viewers of Apalache and Quint (from --trace)
    Itf,
    /// SPIN's trail: what processes execute in a counterexample of a Promela model, for `spin -t -p MODEL` (from --trace)
    Trail,
    /// SV-COMP's violation witness in YAML: threads and lines of a counterexample of a C program, for validators (from --trace)
    Witness,
}

/// Runs the subcommand; gives the exit status.
pub(crate) fn main(options: &Convert) -> u8 {
    watch::about(&options.file, false);
    let written = converted(options).and_then(|text| match &options.output {
        None => Ok(terminal::product(&text)),
        Some(path) => {
            several::spare(&[options.file.as_path()], &[("--output", Some(path))])?;
            std::fs::write(path, text)
                .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            Ok(status::HOLDS)
        }
    });
    match written {
        Ok(status) => status,
        Err(message) => {
            let told = if message.starts_with("error: ") { message } else { format!("error: {message}") };
            eprintln!("{told}");
            status::ERROR
        }
    }
}

fn converted(options: &Convert) -> Result<String, String> {
    match options.to {
        Format::Itf => return trace(&options.file),
        Format::Trail => return trail(&options.file),
        Format::Witness => {
            let Some(file) = ScheduleFile::read(&options.file) else {
                let help = "help: such files are written by `quotient check PROGRAM.c --trace FILE`";
                return Err(format!(
                    "{}: not a counterexample of a C program\n{help}",
                    options.file.display()
                ));
            };
            return witness::written(&file);
        }
        Format::Sarif | Format::Junit | Format::Csv => {}
    }
    let documents = documents(&options.file)?;
    Ok(match options.to {
        Format::Sarif => json::text(&sarif::sarif(&documents)),
        Format::Junit => {
            junit::junit("quotient", &documents.iter().flat_map(junit::cases).collect::<Vec<_>>())
        }
        Format::Csv | Format::Itf | Format::Trail | Format::Witness => csv::csv(&documents),
    })
}

/// The documents of a file.
fn documents(file: &Path) -> Result<Vec<Value>, String> {
    let mut text = String::new();
    let read = match file == Path::new("-") {
        true => std::io::stdin().read_to_string(&mut text).map(drop),
        false => std::fs::read_to_string(file).map(|read| text = read),
    };
    read.map_err(|error| format!("{}: {error}", file.display()))?;
    let mut all = Vec::new();
    for document in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
        let document = document.map_err(|error| {
            let help = "help: `quotient check FILE --json` prints what this format is made of";
            format!("{}: not JSON: {error}\n{help}", file.display())
        })?;
        if document["format"] == "quotient-trace" {
            let help = "help: this is a counterexample; `--to itf` and `--to trail` convert it, and `check --json` prints what this format is made of";
            return Err(format!("{}: not an answer of `--json`\n{help}", file.display()));
        }
        if document["quotient"].is_null() || document["verdict"].is_null() {
            let help =
                "help: `quotient check MODEL --json` and `quotient prove FILE --json` print such answers";
            return Err(format!("{}: not an answer of `--json`\n{help}", file.display()));
        }
        if document["schema"] != json::SCHEMA {
            let schema = &document["schema"];
            return Err(format!(
                "{}: version {schema} of the document; this program reads {}",
                file.display(),
                json::SCHEMA
            ));
        }
        all.push(document);
    }
    if all.is_empty() {
        return Err(format!("{}: there is no answer in it", file.display()));
    }
    Ok(all)
}

/// States and SPIN's statements are those of models.
fn of_a_model(file: &Path) -> Result<(), String> {
    match ScheduleFile::read(file) {
        Some(_) => {
            let help = "help: this is a counterexample of a C program; `--to witness` converts it, and `quotient draw` draws it";
            Err(format!("{}: not a counterexample of a model\n{help}", file.display()))
        }
        None => Ok(()),
    }
}

/// A counterexample, executed again on the model as written, in typed values.
fn trace(file: &Path) -> Result<String, String> {
    of_a_model(file)?;
    let replay::Opened { file, path, question, model, .. } = replay::open(file, None)?;
    let lost = "the model has no run like the one in the trace";
    let (position, cycle) =
        checking::in_position(&model, question, &file.choices, file.cycle, super::replay::how(&file))
            .ok_or(lost)?;
    let mut machine = model.as_written().map_err(|error| error.to_string())?;
    let course = Course::follow(&mut machine, &position, watch::interrupt()).ok_or(lost)?;
    let mut states = Vec::with_capacity(course.len() + 1);
    for steps in 0..=course.len() {
        let (state, names) = course.state(&mut machine, steps);
        let leaves = Look::new(&machine, &state, &names).leaves();
        let variables = leaves.into_iter().map(|leaf| (leaf.full, leaf.value)).collect();
        let rows = steps
            .checked_sub(1)
            .map(|last| &course.rows[course.first_row[last] as usize..course.first_row[steps] as usize]);
        let step = rows.and_then(|rows| {
            let text = |row: &quotient_explain::Row| {
                machine.transformation(row.transformation).map(|(_, _, t)| t.text.clone())
            };
            let statements: Vec<String> = rows.iter().filter_map(text).collect();
            Some((
                course.called.get(&rows.first()?.thread).cloned().unwrap_or_default(),
                statements.join("; "),
            ))
        });
        states.push(State { step, variables });
    }
    let about = About {
        source: path.display().to_string(),
        description: file.message.clone(),
        // The state after the last step is the one at which the cycle begins: it is not listed twice.
        cycle: (cycle > 0).then(|| course.len() - cycle),
    };
    if cycle > 0 {
        states.pop();
    }
    Ok(json::text(&itf(&about, &states)))
}

/// A counterexample, executed again on the model as written, as SPIN's trail.
fn trail(file: &Path) -> Result<String, String> {
    of_a_model(file)?;
    let replay::Opened { file, question, model, .. } = replay::open(file, None)?;
    let numbers = Numbers::of(&model)?;
    let lost = "the model has no run like the one in the trace";
    let (position, cycle) =
        checking::in_position(&model, question, &file.choices, file.cycle, super::replay::how(&file))
            .ok_or(lost)?;
    let mut machine = model.as_written().map_err(|error| error.to_string())?;
    let course = Course::follow(&mut machine, &position, watch::interrupt()).ok_or(lost)?;
    let begin = (cycle > 0).then(|| course.first_row[course.len() - cycle] as usize);
    let (mut lines, begin) = numbers.lines(&machine, &course.rows, begin)?;
    if file.kind == ViolationKind::Deadlock.as_str() {
        let (state, _) = course.state(&mut machine, course.len());
        lines.extend(numbers.ends(&mut machine, state.to_vec()));
    }
    Ok(quotient_formats::trail::write(&lines, begin))
}
