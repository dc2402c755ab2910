//! `quotient check`.

use std::path::Path;
use std::time::Instant;

use quotient::search::Limits;
use quotient::source::render;
use quotient::trace::TraceFile;
use quotient::trace::text::Detail;
use quotient::{Check, CheckError, Model, Outcome, PartialOrder, Relative, SearchKind, StoreKind, Verdict};

use super::terminal::{self, Progress};
use super::{human, json, options, status, usage};

/// What a report needs beside the outcome.
pub(crate) struct Run<'a> {
    pub(crate) file: &'a Path,
    pub(crate) model: &'a Model,
    pub(crate) outcome: &'a Outcome,
    pub(crate) detail: Detail,
    pub(crate) wall_seconds: f64,
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_rss_bytes: u64,
}

/// Runs the subcommand; gives the exit status.
pub(crate) fn main(options: &options::Check) -> u8 {
    if options.input.language.is_none()
        && (super::native::is_native(&options.input.file) || options.native.builds(&options.input.file))
    {
        return super::native::check(options);
    }
    let started = Instant::now();
    let model = match Model::load(&options.input.file, &options.load_options()) {
        Ok(model) => model,
        Err(error) => {
            eprintln!("{}", error.render(terminal::colour()));
            if options.json {
                terminal::print(&json::error(&error.to_string()));
            }
            return status::ERROR;
        }
    };
    for warning in model.warnings.iter() {
        eprintln!("{}\n", render(&model.sources, warning, terminal::colour()));
    }
    let relative = match options.relative.as_deref().map(|path| load_relative(path, &model)).transpose() {
        Ok(relative) => relative,
        Err(message) => {
            eprintln!("error: {message}");
            if options.json {
                terminal::print(&json::error(&message));
            }
            return status::ERROR;
        }
    };
    terminal::catch_interrupts();
    let symmetry = match options.symmetry {
        None => None,
        Some(options::Symmetry::Model(symmetry)) => Some(symmetry),
        Some(options::Symmetry::Costarted | options::Symmetry::Dynamic) => {
            eprintln!("error: --symmetry costarted and dynamic are for C and C++ programs");
            return status::ERROR;
        }
    };
    let check = Check {
        search: match options.search {
            None => SearchKind::Usual,
            Some(options::Search::Bfs) => SearchKind::BreadthFirst,
            Some(options::Search::Dfs) => SearchKind::DepthFirst,
        },
        store: match options.store {
            options::Store::Tree => StoreKind::Tree,
            options::Store::Plain => StoreKind::Plain,
            options::Store::Gzip => StoreKind::Gzip,
            options::Store::Collapse => StoreKind::Collapse,
        },
        partial_order: match options.por {
            options::Por::Si => PartialOrder::SymmetricIndependence,
            options::Por::On => PartialOrder::On,
            options::Por::Off => PartialOrder::Off,
        },
        raw: options.raw,
        symmetry,
        audit: options.audit.unwrap_or(0),
        all: options.all,
        deadlocks: !options.no_deadlock,
        safety_only: options.safety,
        claim: options.claim.as_deref(),
        acceptance: options.acceptance,
        progress: options.progress,
        fair: options.fair,
        limits: Limits {
            states: options.max_states,
            depth: options.max_depth,
            memory: options.max_memory,
            time: options.max_time,
        },
        interrupt: Some(&terminal::INTERRUPTED),
        relative: relative.as_ref(),
    };
    if let Some(path) = &options.dot {
        let written = model.dot(&check).map_err(|e| e.to_string()).and_then(|text| {
            std::fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
        });
        if let Err(error) = written {
            eprintln!("error: {error}");
            return status::ERROR;
        }
    }
    let mut progress = Progress::new(!options.quiet);
    let result = model.check_with(&check, &mut |statistics| progress.show(statistics));
    progress.clear();
    let outcome = match result {
        Ok(outcome) => outcome,
        Err(error) => return failed(&error, options.json),
    };
    if let Some(path) = &options.trace
        && let Err(code) = write_trace(path, options, &model, &outcome)
    {
        return code;
    }
    let run = Run {
        file: &options.input.file,
        model: &model,
        outcome: &outcome,
        detail: Detail { full: options.full, steps: options.steps },
        wall_seconds: started.elapsed().as_secs_f64(),
        cpu_seconds: usage::cpu_seconds(),
        peak_rss_bytes: usage::peak_rss_bytes(),
    };
    terminal::print(&if options.json {
        json::report(&run)
    } else {
        human::report(&run, options.trace.as_deref())
    });
    exit_status(&outcome)
}

fn load_relative(path: &Path, model: &Model) -> Result<Relative, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    Relative::new(model, &text).map_err(|refused| format!("{} cannot be used: {refused}", path.display()))
}

fn failed(error: &CheckError, as_json: bool) -> u8 {
    eprintln!("error: {error}");
    if as_json {
        terminal::print(&json::error(&error.to_string()));
    }
    match error {
        CheckError::Exhausted(_) => status::UNDECIDED,
        CheckError::NotReplayable(_)
        | CheckError::WrongRepresentatives(_)
        | CheckError::WrongAmpleSets(_) => status::BUG,
        CheckError::Refused(_) => status::ERROR,
    }
}

/// The exit status of an outcome.
pub(crate) fn exit_status(outcome: &Outcome) -> u8 {
    match outcome.verdict {
        Verdict::Holds => status::HOLDS,
        Verdict::Undecided(_) => status::UNDECIDED,
        Verdict::Violated if outcome.violations.iter().all(|v| v.kind == "deadlock") => status::DEADLOCK,
        Verdict::Violated if outcome.violations.iter().any(|v| kind_status(&v.kind) == status::SAFETY) => {
            status::SAFETY
        }
        Verdict::Violated => {
            outcome.violations.iter().map(|v| kind_status(&v.kind)).max().unwrap_or(status::SAFETY)
        }
    }
}

/// The exit status of one kind of violation.
pub(crate) fn kind_status(kind: &str) -> u8 {
    match kind {
        "deadlock" => status::DEADLOCK,
        "ltl" | "ctl" | "never" | "acceptance" | "non-progress" => status::LIVENESS,
        _ => status::SAFETY,
    }
}

/// The checksum of a model's files.
pub(crate) fn checksum(model: &Model) -> String {
    TraceFile::checksum(model.sources.files().map(|f| model.sources.text(f)))
}

fn write_trace(path: &Path, options: &options::Check, model: &Model, outcome: &Outcome) -> Result<(), u8> {
    let Some(violation) = outcome.violations.first() else { return Ok(()) };
    let file = TraceFile {
        format: "quotient-trace".into(),
        version: TraceFile::VERSION,
        model: options.input.file.display().to_string(),
        defines: options.input.load_options().defines,
        raw: options.raw || options.relative.is_some(),
        checksum: checksum(model),
        question: violation.question.to_string(),
        properties: options
            .load_options()
            .properties
            .into_iter()
            .map(|(keyword, text)| (keyword.name().to_owned(), text))
            .collect(),
        choices: violation.choices.clone(),
        cycle: violation.cycle,
        kind: violation.kind.clone(),
        message: violation.message.clone(),
    };
    file.write(path).map_err(|error| {
        eprintln!("error: cannot write {}: {error}", path.display());
        status::ERROR
    })
}
