//! Which files are tested, and what they expect.

use std::path::{Path, PathBuf};
use std::time::Duration;

use quotient_expectations::{Expectation, Malformed, read};

use super::super::kind::Kind;
use super::settings::Settings;

/// A file to test.
pub(super) struct Found {
    /// Where it is.
    pub(super) path: PathBuf,
    /// What it is.
    pub(super) kind: Kind,
    /// What it expects.
    pub(super) expectations: Result<Vec<Expectation>, Malformed>,
    /// Options for each of its runs, from `quotient.toml`.
    pub(super) options: Vec<String>,
    /// How long a run may take, from there too.
    pub(super) timeout: Option<Duration>,
}

/// How a comment begins in a file.
pub(super) fn comment(path: &Path) -> &'static str {
    match path.extension().and_then(|e| e.to_str()) {
        Some("clp" | "await") => "%",
        Some("smt2") => ";",
        _ => "//",
    }
}

/// The files at or below some paths, in order, each once.
pub(super) fn under(paths: &[PathBuf], settings: &mut Settings) -> Result<Vec<Found>, String> {
    let mut all: Vec<PathBuf> = Vec::new();
    for path in paths {
        match std::fs::metadata(path) {
            Err(error) => return Err(format!("{}: {error}", path.display())),
            Ok(what) if what.is_dir() => {
                let from = all.len();
                below(path, settings, &mut all)?;
                all[from..].sort();
            }
            Ok(_) => all.push(path.clone()),
        }
    }
    let mut seen = std::collections::HashSet::new();
    all.retain(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    all.into_iter().map(|path| open(path, settings)).collect()
}

fn open(path: PathBuf, settings: &mut Settings) -> Result<Found, String> {
    let text = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let folder = settings.of(&path)?;
    Ok(Found {
        kind: Kind::of(&path),
        expectations: read(&String::from_utf8_lossy(&text)),
        options: folder.options.clone(),
        timeout: folder.timeout,
        path,
    })
}

/// What a folder has, and its folders, without hidden ones, those of builds, and what `quotient.toml` leaves out.
fn below(folder: &Path, settings: &mut Settings, all: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let path = if folder == Path::new(".") { PathBuf::from(&name) } else { folder.join(&name) };
        let hidden = name.to_string_lossy().starts_with('.') || name == "target" || name == "node_modules";
        if hidden || settings.of(&path)?.leaves_out(&path) {
            continue;
        }
        match entry.file_type() {
            Ok(what) if what.is_dir() => below(&path, settings, all)?,
            Ok(_) if is_tested(&path) => all.push(path),
            _ => {}
        }
    }
    Ok(())
}

/// Is a file tested where only its folder was named? Its extension says so.
fn is_tested(path: &Path) -> bool {
    quotient_native::build::is_native_source(path)
        || quotient::Language::from_extension(path).is_some()
        || matches!(path.extension().and_then(|e| e.to_str()), Some("clp" | "await" | "smt2"))
}
