//! Replay files of C and C++ programs: the schedule, with everything that the program was compiled and run with.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::native::{NativeOptions, PeerScript};

/// A schedule with the program that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScheduleFile {
    /// Always `quotient-schedule`.
    format: String,
    version: u32,
    pub(crate) program: PathBuf,
    more: Vec<PathBuf>,
    pub(crate) defines: Vec<String>,
    pub(crate) includes: Vec<PathBuf>,
    flags: Vec<String>,
    arguments: Vec<String>,
    stdin: Option<PathBuf>,
    files: Vec<PathBuf>,
    #[serde(default)]
    peer: Option<PeerScript>,
    nondet: Vec<i64>,
    allow_races: bool,
    leaks: bool,
    spurious: bool,
    step_time: u64,
    pub(crate) schedule: String,
    /// What goes wrong, in words.
    pub(crate) message: String,
}

const FORMAT: &str = "quotient-schedule";
const VERSION: u32 = 1;

impl ScheduleFile {
    /// The schedule of a program with these options.
    pub(crate) fn new(
        program: &Path,
        options: &NativeOptions,
        defines: &[String],
        includes: &[PathBuf],
        (schedule, message): (String, String),
    ) -> ScheduleFile {
        let text =
            |words: &[std::ffi::OsString]| words.iter().map(|w| w.to_string_lossy().into_owned()).collect();
        ScheduleFile {
            format: FORMAT.into(),
            version: VERSION,
            program: program.to_owned(),
            more: options.more.clone(),
            defines: defines.to_vec(),
            includes: includes.to_vec(),
            flags: text(&options.flags),
            arguments: text(&options.arguments),
            stdin: options.stdin.clone(),
            files: options.files.clone(),
            peer: options.peer.clone(),
            nondet: options.nondet.clone(),
            allow_races: options.allow_races,
            leaks: options.leaks,
            spurious: options.spurious,
            step_time: options.step_time,
            schedule,
            message,
        }
    }

    /// The options that it was made with.
    pub(crate) fn options(&self) -> NativeOptions {
        NativeOptions {
            more: self.more.clone(),
            allow_races: self.allow_races,
            leaks: self.leaks,
            spurious: self.spurious,
            step_time: self.step_time,
            nondet: self.nondet.clone(),
            arguments: self.arguments.iter().map(Into::into).collect(),
            stdin: self.stdin.clone(),
            files: self.files.clone(),
            peer: self.peer.clone(),
            flags: self.flags.iter().map(Into::into).collect(),
        }
    }

    /// The file's text.
    pub(crate) fn text(&self) -> String {
        // Nothing in it is without a form in JSON.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Writes the file, never over one that is read.
    pub(crate) fn write(&self, path: &Path) -> Result<(), String> {
        let mut spared = self
            .more
            .iter()
            .chain([&self.program])
            .chain(&self.files)
            .chain(&self.stdin)
            .chain(self.peer.as_ref().map(|peer| &peer.path));
        let same =
            |a: &Path, b: &Path| matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
        if let Some(read) = spared.find(|read| same(path, read)) {
            return Err(format!("{} would be written over", read.display()));
        }
        std::fs::write(path, self.text()).map_err(|e| format!("cannot write {}: {e}", path.display()))
    }

    /// Reads a file; none if it is something else.
    pub(crate) fn read(path: &Path) -> Option<ScheduleFile> {
        let text = std::fs::read_to_string(path).ok()?;
        let file: ScheduleFile = serde_json::from_str(&text).ok()?;
        (file.format == FORMAT && file.version == VERSION).then_some(file)
    }
}
