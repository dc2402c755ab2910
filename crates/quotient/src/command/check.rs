//! `quotient check`.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use quotient::checkpoint::DiskFolder;
use quotient::search::Limits;
use quotient::source::render_all;
use quotient::trace::text::Detail;
use quotient::trace::{Told, TraceFile};
use quotient::{
    Check, CheckError, Model, Outcome, PartialOrder, Processes, Relative, SearchKind, Verdict, Workers,
};

use super::kind::Given;
use super::progress::ProgressLine;
use super::several::{self, Checked, Layout};
use super::statistics::Recorder;
use super::{human, json, kind, options, status, terminal, usage, watch};

/// What a report needs beside the outcome.
pub(crate) struct Run<'a> {
    pub(crate) file: &'a Path,
    pub(crate) model: &'a Model,
    pub(crate) outcome: &'a Outcome,
    pub(crate) detail: Detail,
    /// Were deadlocks looked for?
    pub(crate) deadlocks: bool,
    pub(crate) wall_seconds: f64,
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_rss_bytes: u64,
}

/// Runs the subcommand; gives the exit status.
pub(crate) fn main(options: &options::Check, given: &Given) -> u8 {
    if super::cluster::is_silent(options) {
        terminal::silence();
    }
    let files = several::files(options);
    let kind = match several::kind(options, &files) {
        Ok(kind) => kind,
        Err(message) => return wrong(&message, None, Layout::of(options, 1)),
    };
    let layout = if kind.is_native() { Layout::of(options, 1) } else { Layout::of(options, files.len()) };
    if let Err(message) = kind::refuse("check", given, kind) {
        return wrong(&message, None, layout);
    }
    let outputs = [
        ("--trace", options.trace.as_deref()),
        ("--dot", options.dot.as_deref()),
        ("--statistics", options.statistics.as_deref()),
    ];
    if let Err(message) = several::spare(&files, &outputs) {
        return wrong(&message, None, layout);
    }
    if kind.is_native() {
        return super::native::check(options);
    }
    if files.len() > 1
        && let Some(option) = several::for_one_model(options)
    {
        let message = format!("{option} is for one model, and there are {}", files.len());
        return wrong(&message, None, layout);
    }
    let mut checked = Vec::new();
    for file in &files {
        if layout == Layout::Text && !checked.is_empty() {
            terminal::print("\n");
        }
        checked.push(one(options, given, file, layout));
    }
    if layout == Layout::Text && checked.len() > 1 {
        terminal::print(&several::table(&checked));
    }
    status::worst(checked.iter().map(|c| c.status))
}

/// Checks one model and prints its report.
fn one(options: &options::Check, given: &Given, file: &Path, layout: Layout) -> Checked {
    let (started, before) = (Instant::now(), usage::cpu_seconds());
    let ended = |verdict, status, states| Checked {
        file: file.to_owned(),
        verdict,
        status,
        states,
        cpu_seconds: usage::cpu_seconds() - before,
    };
    let error = |message: &str| ended("error", wrong(message, Some(file), layout), None);
    watch::about(file, options.json);
    let mut model = match Model::load_as(file, options.input.language, &options.load_options()) {
        Ok(model) => model,
        Err(unloaded) => {
            eprintln!("{}", unloaded.render(terminal::colour()));
            if layout != Layout::Text {
                terminal::print(&json::written(&json::unloaded(&unloaded, file), layout));
            }
            return ended("error", status::ERROR, None);
        }
    };
    for warning in render_all(&model.sources, &model.warnings, terminal::colour()) {
        eprintln!("{warning}\n");
    }
    // As with SPIN, `xr` and `xs` are of interest where there is partial order reduction.
    if options.raw || options.por == PartialOrder::Off {
        model.allow_shared_channels(if options.raw { "--raw" } else { "--por off" });
    }
    let model = model;
    let relative = match options.relative.as_deref().map(|path| load_relative(path, &model)).transpose() {
        Ok(relative) => relative,
        Err(message) => return error(&message),
    };
    let symmetry = options.symmetry.map(|symmetry| symmetry.of_states);
    if symmetry == Some(None) {
        return error("--symmetry costarted and dynamic are for C and C++ programs");
    }
    let check = Check {
        search: options.search.unwrap_or_default(),
        store: options.store,
        workers: options.workers.map(Workers::new),
        partial_order: options.por,
        raw: options.raw,
        symmetry: symmetry.flatten(),
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
        interrupt: Some(watch::interrupt()),
        journal: Some(watch::journal()),
        checkpoint: None,
        disk: None,
        processes: None,
        timed: false,
        relative: relative.as_ref(),
        explain_symmetry: options.explain.contains(&options::Explained::Symmetry),
        told: if options.json || options.full { Told::Everything } else { Told::Changes },
    };
    let proposed = options.propose.then(|| Relative::proposed(&model, &check));
    let check = match &proposed {
        Some(Ok(proposed)) => Check { relative: Some(proposed), ..check },
        _ => check,
    };
    if let Err(message) = unserved(&model, &check, given) {
        return error(&message);
    }
    let checkpoint = match super::checkpoint::open(options, given, &model) {
        Ok(checkpoint) => checkpoint,
        Err(message) => return error(&message),
    };
    // A check that cannot be begun leaves nothing behind.
    let leave = || {
        if let Some(checkpoint) = &checkpoint {
            checkpoint.lock().unwrap_or_else(PoisonError::into_inner).leave();
            if let (Some(folder), Some(_)) = (&options.checkpoint, &options.hosts) {
                // Where others have something in it, it stays.
                let _ = std::fs::remove_dir(folder);
            }
        }
    };
    let disk = match options.disk.as_deref().map(DiskFolder::create).transpose() {
        Ok(disk) => disk.map(Mutex::new),
        Err(unusable) => {
            leave();
            return error(&unusable.to_string());
        }
    };
    let disk = disk.as_ref().map(quotient::Disk::new);
    // What cannot be done is refused before anybody waits.
    if options.hosts.is_some()
        && let Err(refused) = model.check_processes(&Check { checkpoint: checkpoint.as_ref(), ..check })
    {
        leave();
        return error(&refused.to_string());
    }
    let cluster = match super::cluster::meet(options, given, &model, checkpoint.as_ref()) {
        Ok(cluster) => cluster,
        Err(message) => {
            leave();
            return error(&message);
        }
    };
    let alone = quotient::search::FINISH_LEVELS_FROM;
    let processes = cluster.as_ref().map(|cluster| Processes { cluster, alone, lost: super::cluster::lost });
    let check = Check { checkpoint: checkpoint.as_ref(), disk, processes, ..check };
    let mut recorder = match options.statistics.as_deref().map(Recorder::new).transpose() {
        Ok(recorder) => recorder,
        Err(message) => return error(&message),
    };
    let mut progress =
        ProgressLine::new(options.quiet || super::cluster::is_silent(options), options.log_every);
    let result = model.check_with(&check, &mut |statistics| {
        watch::journal().progress(statistics);
        progress.search(statistics);
        if let Some(recorder) = &mut recorder {
            recorder.note(statistics);
        }
    });
    progress.clear();
    let mut outcome = match result {
        Ok(outcome) => outcome,
        Err(failure) => {
            leave();
            let (verdict, status) = failure_status(&failure);
            eprintln!("error: {failure}");
            print_failure(&failure, file, layout);
            return ended(verdict, status, None);
        }
    };
    if let Some(checkpoint) = &checkpoint {
        let mut checkpoint = checkpoint.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = options.checkpoint.as_ref().or(options.resume.as_ref());
        let command = super::cluster::resuming(folder.map_or(checkpoint.folder(), PathBuf::as_path), options);
        if let Err(why) = checkpoint.ended(outcome.verdict.name()) {
            outcome.notes.push(format!("the checkpoint was not written to its end: {why}"));
        }
        if matches!(outcome.verdict, Verdict::Undecided(_)) {
            outcome.notes.push(format!("`{command}` goes on from here"));
        }
    }
    if let Some(cluster) = &cluster {
        let cluster = cluster.lock().unwrap_or_else(PoisonError::into_inner);
        let (processes, sent) = (cluster.processes(), cluster.sent());
        outcome.notes.push(match outcome.statistics.transitions {
            // Stopped before the processes had told each other what they did.
            0 => format!("{processes} processes; this one has sent {sent} bytes"),
            transitions => {
                let each = sent as f64 / transitions as f64;
                format!("{processes} processes; this one has sent {each:.2} bytes per transition")
            }
        });
    }
    if let Some(mut recorder) = recorder {
        recorder.note(&outcome.statistics);
        if let Err(why) = recorder.finish() {
            outcome.notes.push(format!("the statistics were not written to their end: {why}"));
        }
    }
    if let Some(Err(why)) = &proposed {
        outcome.notes.push(format!("--propose brought nothing: {why}"));
    }
    let run = Run {
        file,
        model: &model,
        outcome: &outcome,
        detail: Detail { full: options.full, steps: options.steps },
        deadlocks: check.deadlocks,
        wall_seconds: started.elapsed().as_secs_f64(),
        cpu_seconds: usage::cpu_seconds() - before,
        peak_rss_bytes: usage::peak_rss_bytes(),
    };
    if let Some(cluster) = &cluster {
        // The others may go.
        cluster.lock().unwrap_or_else(PoisonError::into_inner).finish();
        if super::cluster::is_silent(options) {
            let process = options.process.unwrap_or(0);
            if let Verdict::Undecided(why) = &outcome.verdict {
                eprintln!("process {process}: {why}");
            }
            // What it has to say of its own checkpoint nobody else says.
            if let Some(checkpoint) = &checkpoint {
                for note in checkpoint.lock().unwrap_or_else(PoisonError::into_inner).told() {
                    eprintln!("process {process}: {note}");
                }
            }
            return ended(outcome.verdict.name(), exit_status(&outcome), Some(outcome.statistics.states));
        }
    }
    let text = match layout {
        Layout::Text => human::report(&run, options.trace.as_deref()),
        Layout::Json | Layout::JsonLines => json::written(&json::report(&run), layout),
    };
    terminal::report(&text, exit_status(&outcome));
    // The answer is given: whatever fails from here on does not change it.
    let drawn = options.dot.as_deref().map_or(Ok(()), |path| write_drawing(path, &model, &check));
    let traced = options.trace.as_deref().map_or(Ok(()), |path| write_trace(path, options, &model, &outcome));
    if let (Layout::Text, Ok(()), Some(path), [_, ..]) =
        (layout, &traced, &options.trace, &outcome.violations[..])
    {
        let again = format!("\n  to see it again: quotient replay {}\n", path.display());
        terminal::report(&again, exit_status(&outcome));
    }
    for message in [drawn, traced].into_iter().filter_map(Result::err) {
        eprintln!("error: {message}");
    }
    let checked = ended(outcome.verdict.name(), exit_status(&outcome), Some(outcome.statistics.states));
    if options.explore {
        explore(options, file, model, outcome, checked.cpu_seconds);
    }
    checked
}

/// Shows the first counterexample in the browser, until the user ends it.
fn explore(options: &options::Check, file: &Path, model: Model, outcome: Outcome, seconds: f64) {
    let Some(violation) = outcome.violations.first() else {
        return eprintln!("note: there is no counterexample to explore; `quotient explore` opens any model");
    };
    let (choices, cycle) = (&violation.choices, violation.cycle);
    let found =
        quotient_explorer::checking::in_position(&model, violation.question, choices, cycle, violation.how);
    let Some((position, cycle)) = found else {
        return eprintln!("error: the model as written has no run like the counterexample");
    };
    let position = super::explore::to_its_end(&model, position, violation.kind.as_str());
    let message = Some(violation.message.clone());
    let opening = quotient_explorer::session::Opening { position, cycle, step: None, message };
    let load = options.load_options();
    let opened = super::explore::Opened {
        loader: super::explore::loader(file, options.input.language, &load),
        about: super::explore::about(file, options.input.language, &load),
        model,
        name: file.display().to_string(),
        model_file: file.display().to_string(),
        defines: load.defines,
        opening,
        outcome: Some((outcome, seconds)),
    };
    super::explore::serve(opened, &super::explore::Serving::default());
}

/// Options that do not serve what is asked of the model: cycles are looked for depth first, and a formula of branching time needs the
/// whole graph, which is explored breadth first.
fn unserved(model: &Model, check: &Check<'_>, given: &Given) -> Result<(), String> {
    let (search, depth) = (given.has("search"), given.has("max_depth"));
    if !search && !depth {
        return Ok(());
    }
    for question in model.searched_otherwise(check).map_err(|e| e.to_string())? {
        let (only, why) = match model.is_branching(question) {
            true => (
                SearchKind::BreadthFirst,
                "it is answered on the whole graph, which is explored breadth first",
            ),
            false => (SearchKind::DepthFirst, "cycles are looked for depth first"),
        };
        let option = match () {
            () if search && check.search != only => "--search",
            () if depth && model.is_branching(question) => "--max-depth",
            () => continue,
        };
        let text = model.question_text(question);
        return Err(format!(
            "{option} does not apply to this question: {text}\nnote: {why}\nhelp: leave {option} out; or leave the question out (--safety, for claims of the model)"
        ));
    }
    Ok(())
}

/// Prints an error of the user; gives the exit status.
fn wrong(message: &str, file: Option<&Path>, layout: Layout) -> u8 {
    eprintln!("error: {message}");
    print_error(message, file, layout);
    status::ERROR
}

fn print_error(message: &str, file: Option<&Path>, layout: Layout) {
    if layout != Layout::Text {
        terminal::print(&json::written(&json::error(message, file), layout));
    }
}

/// Prints why there is no outcome; the error itself was told on standard error.
fn print_failure(failure: &CheckError, file: &Path, layout: Layout) {
    let (verdict, message) = (failure_status(failure).0, failure.to_string());
    let name = file.display().to_string();
    terminal::print(&match (layout, failure) {
        (Layout::Text, _) => format!("{name}: {verdict}\n  {message}\n"),
        (_, CheckError::Exhausted(e)) => {
            let verdict = Verdict::Undecided(e.what.clone());
            let nothing = serde_json::json!({});
            json::written(&json::header(Some(&name)).answer(&verdict, nothing), layout)
        }
        _ => json::written(&json::error(&message, Some(file)), layout),
    });
}

/// The verdict and exit status of a check without an outcome.
pub(crate) fn failure_status(error: &CheckError) -> (&'static str, u8) {
    match error {
        CheckError::Exhausted(_) => ("undecided", status::UNDECIDED),
        CheckError::NotReplayable(_)
        | CheckError::WrongRepresentatives(_)
        | CheckError::WrongAmpleSets(_) => ("error", status::BUG),
        CheckError::Refused(_) => ("error", status::ERROR),
    }
}

fn load_relative(path: &Path, model: &Model) -> Result<Relative, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    Relative::new(model, &text).map_err(|refused| format!("{} cannot be used: {refused}", path.display()))
}

/// The exit status of an outcome.
pub(crate) fn exit_status(outcome: &Outcome) -> u8 {
    match outcome.verdict {
        Verdict::Holds => status::HOLDS,
        Verdict::Undecided(_) => status::UNDECIDED,
        Verdict::Violated => status::worst(outcome.violations.iter().map(|v| v.kind.status())),
    }
}

/// The checksum of a model's files.
pub(crate) fn checksum(model: &Model) -> String {
    TraceFile::checksum(model.sources.files().map(|f| model.sources.text(f)))
}

fn write_drawing(path: &Path, model: &Model, check: &Check<'_>) -> Result<(), String> {
    let text = model.dot(check).map_err(|e| format!("{} was not written: {e}", path.display()))?;
    std::fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

fn write_trace(
    path: &Path,
    options: &options::Check,
    model: &Model,
    outcome: &Outcome,
) -> Result<(), String> {
    let Some(violation) = outcome.violations.first() else {
        // What an earlier check has left there is not of this one.
        eprintln!("note: there is no counterexample, and {} was not written", path.display());
        return Ok(());
    };
    let file = TraceFile {
        raw: violation.how.raw,
        all: violation.how.all,
        checksum: checksum(model),
        question: violation.question.to_string(),
        choices: violation.choices.clone(),
        cycle: violation.cycle,
        kind: violation.kind.to_string(),
        message: violation.message.clone(),
        ..super::explore::about(&options.input.file, options.input.language, &options.load_options())
    };
    file.write(path).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
