//! `check --checkpoint`, `check --resume` and `quotient status`.
//!
//! A run is resumed with the words it was begun with, which its folder has in a normal form. Limits, and what is written in which form, may change;
//! everything else must be as it was.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{ArgMatches, Args, CommandFactory};
use quotient::Model;
use quotient::checkpoint::{Checkpoint, Identity, Manifest, Reached, Unusable, is_in_use};
use serde_json::json;

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
];

/// Stands for the file where none is named.
const NOT_NAMED: &str = "not-named";

/// Options of `status`.
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

fn identity(given: &Given, model: &Model) -> Result<Identity, Unusable> {
    let unread = |error| Unusable::System("the program itself".into(), error);
    Ok(Identity {
        quotient: Identity::build(env!("CARGO_PKG_VERSION")).map_err(unread)?,
        arguments: words(given, false).iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        folder: std::env::current_dir().unwrap_or_default(),
        checksum: check::checksum(model),
    })
}

/// The folder that a check writes to, if it does.
pub(crate) fn open(
    options: &options::Check,
    given: &Given,
    model: &Model,
) -> Result<Option<Mutex<Checkpoint>>, Unusable> {
    let opened = match (&options.checkpoint, &options.resume) {
        (_, Some(folder)) => Checkpoint::resume(folder, &identity(given, model)?),
        (Some(folder), None) => Checkpoint::create(folder, identity(given, model)?),
        (None, None) => return Ok(None),
    };
    opened.map(|checkpoint| Some(Mutex::new(checkpoint)))
}

/// What `check --resume FOLDER` and further words mean: the words that the run was begun with, as far as they are not given anew.
pub(crate) fn resumed(words: &[OsString]) -> Result<Option<Vec<OsString>>, String> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let is_resume =
        |word: &OsString| word.to_str().is_some_and(|w| w == "--resume" || w.starts_with("--resume="));
    if words.get(1).is_none_or(|word| word != "check") || !words[..end].iter().any(is_resume) {
        return Ok(None);
    }
    let definition = Options::command();
    let Some(definition) = definition.get_subcommands().find(|c| c.get_name() == "check") else {
        return Ok(None);
    };
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
    let manifest = match Manifest::read(folder) {
        Ok(manifest) => manifest,
        // Whether a checkpoint is of use for the file comes first.
        Err(_) if named => return Ok(None),
        Err(unusable) => return Err(unusable.to_string()),
    };
    let begun =
        [OsString::from("check")].into_iter().chain(manifest.identity.arguments.iter().map(OsString::from));
    let begun = definition.clone().try_get_matches_from(begun);
    let begun =
        begun.map_err(|_| format!("{} has words that this quotient does not know", folder.display()))?;
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

/// Runs `status`; gives the exit status.
pub(crate) fn reached(options: &Status) -> u8 {
    let manifest = match Manifest::read(&options.folder) {
        Ok(manifest) => manifest,
        Err(unusable) => {
            eprintln!("error: {unusable}");
            return status::ERROR;
        }
    };
    let running = is_in_use(&options.folder);
    let state = match (&manifest.verdict, running) {
        (_, true) => "running",
        (Some(verdict), false) if verdict != "undecided" => "ended",
        (_, false) => "stopped",
    };
    if options.json {
        let searches: Vec<_> =
            manifest.searches.iter().map(|s| serde_json::to_value(s).unwrap_or_default()).collect();
        let told = json!({
            "command": "status",
            "folder": options.folder,
            "state": state,
            "verdict": manifest.verdict,
            "arguments": manifest.identity.arguments,
            "begun_in": manifest.identity.folder,
            "quotient": manifest.identity.quotient,
            "searches": searches,
            "seconds": manifest.seconds,
            "written": manifest.written,
        });
        terminal::print(&format!("{told:#}\n"));
    } else {
        terminal::print(&told(&options.folder, &manifest, state));
    }
    status::HOLDS
}

fn told(folder: &Path, manifest: &Manifest, state: &str) -> String {
    let mut out = format!("{}: {state}", folder.display());
    if let Some(verdict) = manifest.verdict.as_ref().filter(|_| state == "ended") {
        let _ = write!(out, ", {verdict}");
    }
    let _ = writeln!(out, "\n  quotient check {}", manifest.identity.arguments.join(" "));
    let several = manifest.searches.len() > 1;
    for (number, search) in manifest.searches.iter().enumerate() {
        let Reached { bytes, states, transitions, depth, waiting } = *search;
        let which = if several { format!("search {}: ", number + 1) } else { String::new() };
        let _ = writeln!(
            out,
            "  {which}{} states, {} transitions, depth {}, {} waiting; {:.1} MiB, {:.1} bytes per state",
            grouped(states),
            grouped(transitions),
            grouped(depth),
            grouped(waiting),
            bytes as f64 / (1 << 20) as f64,
            bytes as f64 / states.max(1) as f64
        );
    }
    let ago = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_secs().saturating_sub(manifest.written));
    let _ = writeln!(out, "  {:.0} s elapsed; last written {ago} s ago", manifest.seconds);
    if state == "stopped" {
        let _ = writeln!(out, "  go on: quotient check --resume {}", folder.display());
    }
    out
}
