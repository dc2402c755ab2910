//! Replay files: what is needed to repeat a path later.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A path with the model it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFile {
    /// Always `quotient-trace`.
    pub format: String,
    /// Version of this format.
    pub version: u32,
    /// The model's file, as it was named.
    pub model: String,
    /// Definitions given with `-D`.
    pub defines: Vec<(String, String)>,
    /// The language given with `--language`.
    #[serde(default)]
    pub language: Option<String>,
    /// Folders given with `-I`.
    #[serde(default)]
    pub include_dirs: Vec<PathBuf>,
    /// Whether the reductions of the program were off (`--raw`): choices are counted differently.
    pub raw: bool,
    /// Whether all violations were looked for (`--all`), for the same reason.
    #[serde(default)]
    pub all: bool,
    /// A checksum of the model's text, to notice that it has changed.
    pub checksum: String,
    /// What was asked: `safety`, `claim N` (the N-th one, from 0), `acceptance` or `progress`.
    #[serde(default = "safety")]
    pub question: String,
    /// Properties given apart from the model: `ltl`, `ctl` or `invariant`, and the text.
    #[serde(default)]
    pub properties: Vec<(String, String)>,
    /// The choices.
    pub choices: Vec<u32>,
    /// How many steps at the end are repeated for ever.
    #[serde(default)]
    pub cycle: usize,
    /// Kind of the violation at the end.
    pub kind: String,
    /// The violation in words.
    pub message: String,
}

fn safety() -> String {
    "safety".into()
}

/// What is wrong with a replay file.
#[derive(Debug)]
pub enum FileError {
    /// It cannot be read or written.
    Io(std::io::Error),
    /// It is not a replay file.
    Format(String),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Io(e) => write!(f, "{e}"),
            FileError::Format(what) => write!(f, "not a replay file: {what}"),
        }
    }
}

impl std::error::Error for FileError {}

impl TraceFile {
    /// The version this program writes and reads.
    pub const VERSION: u32 = 1;

    /// Writes the file.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let text = serde_json::to_string_pretty(self).map_err(|e| FileError::Format(e.to_string()))?;
        std::fs::write(path, text + "\n").map_err(FileError::Io)
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<TraceFile, FileError> {
        let text = std::fs::read_to_string(path).map_err(FileError::Io)?;
        if !text.trim_start().starts_with('{') {
            return Err(FileError::Format("it is not JSON".to_owned()));
        }
        let file: TraceFile = serde_json::from_str(&text).map_err(|e| FileError::Format(e.to_string()))?;
        if file.format != "quotient-trace" {
            return Err(FileError::Format(format!("its format is `{}`", file.format)));
        }
        if file.version != TraceFile::VERSION {
            return Err(FileError::Format(format!(
                "its version is {}, this is {}",
                file.version,
                Self::VERSION
            )));
        }
        Ok(file)
    }

    /// A checksum of texts (64-bit FNV-1a): it notices changes, it does not resist attacks.
    pub fn checksum<'a>(texts: impl Iterator<Item = &'a str>) -> String {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in texts.flat_map(|t| t.bytes().chain([0])) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        format!("{hash:016x}")
    }
}
