//! Several models in one command: which files there are, and the table after their reports.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::kind::Kind;
use super::options;
use super::terminal::grouped;

/// How reports are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// For people.
    Text,
    /// One JSON object.
    Json,
    /// A JSON object per line, one for each model.
    JsonLines,
}

impl Layout {
    /// The layout for so many models.
    pub(crate) fn of(options: &options::Check, models: usize) -> Layout {
        match (options.json, models) {
            (false, _) => Layout::Text,
            (true, 0 | 1) => Layout::Json,
            (true, _) => Layout::JsonLines,
        }
    }
}

/// What came of one model.
pub(crate) struct Checked {
    pub(crate) file: PathBuf,
    pub(crate) verdict: &'static str,
    pub(crate) status: u8,
    /// None where the check never started.
    pub(crate) states: Option<u64>,
    pub(crate) cpu_seconds: f64,
}

/// The files that were named, in order.
pub(crate) fn files(options: &options::Check) -> Vec<&Path> {
    let more = options.native.more.iter().map(PathBuf::as_path);
    std::iter::once(options.input.file.as_path()).chain(more).collect()
}

/// Refuses to write what was asked for over one of the files that are read.
pub(crate) fn spare(inputs: &[&Path], outputs: &[(&str, Option<&Path>)]) -> Result<(), String> {
    let place = |path: &Path| path.canonicalize().ok();
    for (option, output) in outputs {
        if let Some(path) = output
            && let Some(written) = place(path)
            && inputs.iter().any(|input| place(input).as_ref() == Some(&written))
        {
            return Err(format!("{option} would write over {}, which is read", path.display()));
        }
    }
    Ok(())
}

/// What kind of input the files are: all of one kind, where the sources of a C program can have objects and archives with them.
pub(crate) fn kind(options: &options::Check, files: &[&Path]) -> Result<Kind, String> {
    if options.input.language.is_none() && options.native.builds(&options.input.file) {
        return Ok(Kind::Built);
    }
    let of = |file: &Path| Kind::given(file, options.input.language);
    let first = of(files[0]);
    for file in &files[1..] {
        let linked = first == Kind::Source
            && file.extension().is_some_and(|e| ["o", "a", "so"].iter().any(|known| e == *known));
        let other = of(file);
        if other != first && !linked {
            return Err(format!(
                "{} and {} cannot be checked together: {} and {}\nhelp: check them one by one",
                files[0].display(),
                file.display(),
                first.name(),
                other.name()
            ));
        }
    }
    Ok(first)
}

/// An option that is about one model.
pub(crate) fn for_one_model(options: &options::Check) -> Option<&'static str> {
    let one = [
        (options.trace.is_some(), "--trace"),
        (options.dot.is_some(), "--dot"),
        (options.relative.is_some(), "--relative"),
        (options.checkpoint.is_some(), "--checkpoint"),
        (options.disk.is_some(), "--disk"),
        (options.hosts.is_some(), "--hosts"),
        (options.statistics.is_some(), "--statistics"),
        (options.explore, "--explore"),
    ];
    one.into_iter().find_map(|(given, name)| given.then_some(name))
}

/// The table after the reports.
pub(crate) fn table(all: &[Checked]) -> String {
    let mut out = String::from("\n");
    let names: Vec<String> = all.iter().map(|c| c.file.display().to_string()).collect();
    let width = names.iter().map(|n| n.chars().count()).max().unwrap_or(0).max("file".len());
    let _ =
        writeln!(out, "{:width$}  {:9}  {:>4}  {:>13}  {:>9}", "file", "verdict", "exit", "states", "CPU");
    for (name, c) in names.iter().zip(all) {
        let states = c.states.map_or_else(|| "-".to_owned(), grouped);
        let _ = writeln!(
            out,
            "{name:width$}  {:9}  {:>4}  {states:>13}  {:>7.3} s",
            c.verdict, c.status, c.cpu_seconds
        );
    }
    out
}
