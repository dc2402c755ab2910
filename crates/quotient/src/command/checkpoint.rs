//! `check --checkpoint`, `check --resume` and `quotient status`.
//!
//! A run is resumed with the words it was begun with, which its folder has in a normal form. Limits, and what is written in which form, may change;
//! everything else must be as it was.

use std::ffi::OsString;
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{ArgMatches, Args, CommandFactory};
use quotient::Model;
use quotient::checkpoint::{Checkpoint, Identity, Manifest, Reached, Unusable, is_in_use};
use serde_json::{Value, json};

use super::kind::Given;
use super::options::{self, Options};
use super::terminal::{self, grouped};
use super::{check, status};

/// Options that say how far a search goes and what is told of it, not what is searched.
const FREE: &[&str] = &[
    "max_states",
    "max_depth",
    "max_memory",
    "max_time",
    "workers",
    "full",
    "steps",
    "trace",
    "dot",
    "explore",
    "json",
    "quiet",
    "log_every",
    "statistics",
    "checkpoint",
    "resume",
    "hosts",
    "process",
    "listen",
    "token_file",
    "wait",
];

/// Stands for the file where none is named.
const NOT_NAMED: &str = "not-named";

// Options of `status`.
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// The folder that was given to `check --checkpoint`
    pub(crate) folder: PathBuf,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// The words that an option was given by, in a normal form.
fn words_of(argument: &clap::Arg, matches: &ArgMatches) -> Vec<OsString> {
    let id = argument.get_id().as_str();
    let joined = |prefix: String, value: &OsString| {
        let mut word = OsString::from(prefix);
        word.push(value);
        word
    };
    let values = || matches.get_raw(id).into_iter().flatten().map(OsString::from).collect::<Vec<_>>();
    match (argument.get_long(), argument.get_short()) {
        (Some(long), _) if !argument.get_action().takes_values() => vec![format!("--{long}").into()],
        (Some(long), _) => values().iter().map(|value| joined(format!("--{long}="), value)).collect(),
        (None, Some(short)) => values().iter().map(|value| joined(format!("-{short}"), value)).collect(),
        (None, None) => values(),
    }
}

/// The words that decide what is searched, or (`free`) the others.
fn words(given: &Given, free: bool) -> Vec<OsString> {
    let arguments = given.definition.get_arguments();
    let wanted =
        arguments.filter(|a| given.has(a.get_id().as_str()) && FREE.contains(&a.get_id().as_str()) == free);
    wanted.flat_map(|argument| words_of(argument, &given.matches)).collect()
}

/// The words that decide what is searched, without those of some options.
pub(crate) fn words_but(given: &Given, but: &[&str]) -> Vec<OsString> {
    let arguments = given.definition.get_arguments();
    let wanted = arguments.filter(|argument| {
        let id = argument.get_id().as_str();
        given.has(id) && !FREE.contains(&id) && !but.contains(&id)
    });
    wanted.flat_map(|argument| words_of(argument, &given.matches)).collect()
}

fn identity(given: &Given, model: &Model, process: Option<(usize, usize)>) -> Result<Identity, Unusable> {
    let unread = |error| Unusable::System("the program itself".into(), error);
    Ok(Identity {
        quotient: Identity::build(env!("CARGO_PKG_VERSION")).map_err(unread)?,
        arguments: words(given, false).iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        folder: std::env::current_dir().unwrap_or_default(),
        checksum: check::checksum(model),
        process,
    })
}

/// The folder of one of several processes in the folder that was named.
fn own(folder: &Path, process: Option<(usize, usize)>) -> PathBuf {
    match process {
        None => folder.to_owned(),
        Some((number, _)) => folder.join(format!("process-{number}")),
    }
}

/// The manifests of the processes that have written to a folder, by their numbers.
fn of_processes(folder: &Path) -> Vec<Manifest> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("process-")
            && let Ok(manifest) = Manifest::read(&entry.path())
        {
            all.push(manifest);
        }
    }
    all.sort_by_key(|manifest| manifest.identity.process);
    all
}

/// The folder that a check writes to, if it does.
pub(crate) fn open(
    options: &options::Check,
    given: &Given,
    model: &Model,
) -> Result<Option<Mutex<Checkpoint>>, String> {
    let process = super::cluster::place(options.process, options.hosts.as_ref())?;
    let said = |unusable: Unusable| unusable.to_string();
    let opened = match (&options.checkpoint, &options.resume) {
        (_, Some(folder)) => {
            Checkpoint::resume(&own(folder, process), &identity(given, model, process).map_err(said)?)
        }
        (Some(folder), None) => {
            // What other processes write lies beside it.
            let is_foreign = |name: &std::ffi::OsStr| !name.to_string_lossy().starts_with("process-");
            if let Ok(entries) = std::fs::read_dir(folder)
                && process.is_some()
                && entries.flatten().any(|entry| is_foreign(&entry.file_name()))
            {
                return Err(said(Unusable::NotEmpty(folder.clone())));
            }
            let run = match process {
                Some((0, _)) => random_name().map_err(|e| format!("cannot name the run: {e}"))?,
                _ => String::new(),
            };
            Checkpoint::create(&own(folder, process), identity(given, model, process).map_err(said)?, run)
        }
        (None, None) => return Ok(None),
    };
    match opened {
        Ok(checkpoint) => Ok(Some(Mutex::new(checkpoint))),
        // The command that was meant names the folder of all.
        Err(Unusable::HasCheckpoint(_)) => {
            let folder = options.checkpoint.clone().unwrap_or_default();
            Err(format!(
                "{} holds the checkpoint of another run, and nothing is overwritten\nhelp: `{}` goes on with it; or name another folder",
                folder.display(),
                super::cluster::resuming(&folder, options)
            ))
        }
        Err(unusable) => Err(said(unusable)),
    }
}

fn random_name() -> std::io::Result<String> {
    let mut bytes = [0; 8];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:016x}", u64::from_le_bytes(bytes)))
}

/// The manifest of the process that is to go on, or why it cannot.
fn manifest(folder: &Path, process: Option<(usize, usize)>) -> Result<Manifest, String> {
    let others = of_processes(folder);
    let wrote = others.iter().find_map(|manifest| manifest.identity.process).map(|(_, count)| count);
    match (process, wrote) {
        (None, Some(count)) => Err(format!(
            "the checkpoint in {0} is that of {count} processes\nhelp: `quotient cluster --local {count} check --resume {0}`, or --hosts FILE and --process K as it was begun",
            folder.display()
        )),
        (Some((_, now)), Some(count)) if now != count => Err(format!(
            "the checkpoint in {} is that of {count} processes, and there are {now} here\nhelp: go on with as many as there were",
            folder.display()
        )),
        (Some((_, now)), None) if Manifest::read(folder).is_ok() => Err(format!(
            "the checkpoint in {0} is that of one process, and there are {now} here\nhelp: `quotient check --resume {0}`",
            folder.display()
        )),
        _ => Manifest::read(&own(folder, process)).map_err(|unusable| unusable.to_string()),
    }
}

/// What `check --resume FOLDER` and further words mean: the words that the run was begun with, as far as they are not given anew.
pub(crate) fn resumed(words: &[OsString]) -> Result<Option<Vec<OsString>>, String> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let is_resume =
        |word: &OsString| word.to_str().is_some_and(|w| w == "--resume" || w.starts_with("--resume="));
    if words.get(1).is_none_or(|word| word != "check") || !words[..end].iter().any(is_resume) {
        return Ok(None);
    }
    let mut definition = Options::command();
    let Some(definition) = definition.find_subcommand_mut("check") else { return Ok(None) };
    definition.build();
    let definition = &*definition;
    // A file need not be named again.
    let mut given = words[1..end].to_vec();
    let read = |given: &[OsString]| definition.clone().try_get_matches_from(given);
    let (named, now) = match read(&given) {
        Err(error) if error.kind() == clap::error::ErrorKind::MissingRequiredArgument => {
            given.push(NOT_NAMED.into());
            (false, read(&given))
        }
        other => (true, other),
    };
    // What is wrong with the words themselves is told as always, when they are read as a whole.
    let Ok(now) = now else { return Ok(None) };
    let now = Given { definition: definition.clone(), matches: now };
    let Some(folder) = now.matches.get_one::<PathBuf>("resume") else { return Ok(None) };
    let process = super::cluster::place(
        now.matches.get_one::<usize>("process").copied(),
        now.matches.get_one::<PathBuf>("hosts"),
    )?;
    let manifest = match manifest(folder, process) {
        Ok(manifest) => manifest,
        // Whether a checkpoint is of use for the file comes first.
        Err(_) if named && Manifest::read(folder).is_err() && of_processes(folder).is_empty() => {
            return Ok(None);
        }
        Err(message) => return Err(message),
    };
    let begun =
        [OsString::from("check")].into_iter().chain(manifest.identity.arguments.iter().map(OsString::from));
    let begun = definition.clone().try_get_matches_from(begun);
    let begun = begun.map_err(|_| {
        format!("{} has options that this version of quotient does not know", folder.display())
    })?;
    let begun = Given { definition: definition.clone(), matches: begun };
    for argument in definition.get_arguments() {
        let id = argument.get_id().as_str();
        if FREE.contains(&id) || !now.has(id) || (id == "file" && !named) {
            continue;
        }
        let (here, there) = (
            words_of(argument, &now.matches),
            if begun.has(id) { words_of(argument, &begun.matches) } else { Vec::new() },
        );
        if here != there {
            let told = |words: &[OsString]| match words {
                [] => "not given".to_owned(),
                words => words.iter().map(|w| w.to_string_lossy()).collect::<Vec<_>>().join(" "),
            };
            return Err(format!(
                "the checkpoint in {} is that of another check: there {}, here {}\nhelp: leave it out; `quotient status {0}` shows the command",
                folder.display(),
                told(&there),
                told(&here)
            ));
        }
    }
    let mut all: Vec<OsString> = words[..2].to_vec();
    all.extend(self::words(&begun, false));
    all.extend(self::words(&now, true));
    // A relative name is one in the folder where the run was begun.
    let here = std::env::current_dir().unwrap_or_default();
    if here != manifest.identity.folder
        && let Some(model) = begun.matches.get_one::<PathBuf>("file")
        && model.is_relative()
        && !model.exists()
    {
        return Err(format!(
            "there is no {} here\nhelp: the run was begun in {}; go on with it there",
            model.display(),
            manifest.identity.folder.display()
        ));
    }
    Ok(Some(all))
}

/// Whether a run goes on, as far as is known.
fn state(folder: &Path, manifest: &Manifest) -> &'static str {
    match (&manifest.verdict, is_in_use(folder)) {
        (_, true) => "running",
        (Some(verdict), false) if verdict != "undecided" => "ended",
        (_, false) => "stopped",
    }
}

fn json_of(folder: &Path, manifest: &Manifest, state: &str) -> Value {
    let searches: Vec<_> =
        manifest.searches.iter().map(|s| serde_json::to_value(s).unwrap_or_default()).collect();
    json!({
        "command": "status",
        "folder": folder,
        "state": state,
        "verdict": manifest.verdict,
        "arguments": manifest.identity.arguments,
        "begun_in": manifest.identity.folder,
        "quotient": manifest.identity.quotient,
        "searches": searches,
        "seconds": manifest.seconds,
        "written": manifest.written,
    })
}

/// Runs `status`; gives the exit status.
pub(crate) fn reached(options: &Status) -> u8 {
    let folder = &options.folder;
    let several = of_processes(folder);
    if !several.is_empty() {
        reached_by_several(folder, &several, options.json);
        return status::HOLDS;
    }
    let manifest = match Manifest::read(folder) {
        Ok(manifest) => manifest,
        Err(unusable) => {
            eprintln!("error: {unusable}");
            return status::ERROR;
        }
    };
    let state = state(folder, &manifest);
    if options.json {
        terminal::print(&format!("{:#}\n", json_of(folder, &manifest, state)));
    } else {
        let mut out = head(folder, &manifest, state);
        search_lines(&mut out, "", &manifest.searches);
        let _ = writeln!(out, "  {:.0} s elapsed; last written {} s ago", manifest.seconds, ago(&manifest));
        if state == "stopped" {
            let _ = writeln!(out, "  go on: quotient check --resume {}", folder.display());
        }
        terminal::print(&out);
    }
    status::HOLDS
}

/// What several processes have reached: those whose folders are here.
fn reached_by_several(folder: &Path, all: &[Manifest], json: bool) {
    let own_state = |manifest: &Manifest| state(&own(folder, manifest.identity.process), manifest);
    let states: Vec<&str> = all.iter().map(own_state).collect();
    let state = match states.contains(&"running") {
        true => "running",
        false if states.contains(&"stopped") => "stopped",
        false => "ended",
    };
    let first = &all[0];
    let count = first.identity.process.map_or(all.len(), |process| process.1);
    // What all have: what the states of each add up to.
    let mut searches: Vec<Reached> = Vec::new();
    for manifest in all {
        searches.resize(searches.len().max(manifest.searches.len()), Reached::default());
        for (sum, search) in searches.iter_mut().zip(&manifest.searches) {
            *sum = Reached {
                bytes: sum.bytes + search.bytes,
                states: sum.states + search.states,
                transitions: sum.transitions + search.transitions,
                depth: sum.depth.max(search.depth),
                waiting: sum.waiting + search.waiting,
            };
        }
    }
    let seconds = all.iter().map(|manifest| manifest.seconds).fold(0.0, f64::max);
    if json {
        let mut sum = first.clone();
        (sum.searches, sum.seconds) = (searches, seconds);
        let mut told = json_of(folder, &sum, state);
        told["processes"] = all
            .iter()
            .zip(states)
            .map(|(manifest, state)| json_of(&own(folder, manifest.identity.process), manifest, state))
            .collect();
        told["process_count"] = json!(count);
        return terminal::print(&format!("{told:#}\n"));
    }
    let mut out = head(folder, first, state);
    search_lines(&mut out, "", &searches);
    for (manifest, state) in all.iter().zip(states) {
        let number = manifest.identity.process.map_or(0, |process| process.0);
        let which = format!("process {number} ({state}, {} s ago): ", ago(manifest));
        search_lines(&mut out, &which, &manifest.searches);
    }
    if all.len() < count {
        let _ = writeln!(out, "  {} of {count} processes have written here", all.len());
    }
    let _ = writeln!(out, "  {seconds:.0} s elapsed");
    if state == "stopped" {
        let _ = writeln!(
            out,
            "  go on: quotient cluster --local {count} check --resume {0}, or quotient check --resume {0} --hosts FILE --process K",
            folder.display()
        );
    }
    terminal::print(&out);
}

fn ago(manifest: &Manifest) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs().saturating_sub(manifest.written))
}

fn head(folder: &Path, manifest: &Manifest, state: &str) -> String {
    let mut out = format!("{}: {state}", folder.display());
    if let Some(verdict) = manifest.verdict.as_ref().filter(|_| state == "ended") {
        let _ = write!(out, ", {verdict}");
    }
    let _ = writeln!(out, "\n  quotient check {}", manifest.identity.arguments.join(" "));
    out
}

fn search_lines(out: &mut String, whose: &str, searches: &[Reached]) {
    for (number, search) in searches.iter().enumerate() {
        let Reached { bytes, states, transitions, depth, waiting } = *search;
        let which = if searches.len() > 1 { format!("search {}: ", number + 1) } else { String::new() };
        let _ = writeln!(
            out,
            "  {whose}{which}{} states, {} transitions, depth {}, {} waiting; {:.1} MiB, {:.1} bytes per state",
            grouped(states),
            grouped(transitions),
            grouped(depth),
            grouped(waiting),
            bytes as f64 / (1 << 20) as f64,
            bytes as f64 / states.max(1) as f64
        );
    }
}
