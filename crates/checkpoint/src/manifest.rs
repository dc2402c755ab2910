//! The manifest: whose states these are, and how far they reach. Replaced as a whole: written beside, made durable, renamed.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use quotient_search::Statistics;
use serde::{Deserialize, Serialize};

use crate::Unusable;

pub(crate) const FILE: &str = "run.json";
const FORMAT: &str = "quotient-checkpoint";
/// Of the manifest and the logs.
const VERSION: u32 = 1;

/// What a run must have in common with the one it goes on with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The [build](Identity::build) of the checker.
    pub quotient: String,
    /// The words of the command line that decide what is searched, in a normal form.
    pub arguments: Vec<String>,
    /// Where the command was given.
    pub folder: PathBuf,
    /// The checksum of the model's files.
    pub checksum: String,
    /// The number of the process that wrote it and how many there were, if several searched together.
    #[serde(default)]
    pub process: Option<(usize, usize)>,
}

impl Identity {
    /// A version together with the very program that runs: another build of the same version may encode states otherwise, and nothing would tell.
    pub fn build(version: &str) -> std::io::Result<String> {
        let mut program = File::open(std::env::current_exe()?)?;
        // Piece by piece: room for all of it would have to be cleared first.
        let (mut hasher, mut piece) = (crc32fast::Hasher::new(), vec![0; 1 << 16]);
        loop {
            match program.read(&mut piece)? {
                0 => return Ok(format!("{version} (build {:08x})", hasher.finalize())),
                read => hasher.update(&piece[..read]),
            }
        }
    }

    /// What differs, as an error message.
    pub(crate) fn same(&self, now: &Identity) -> Result<(), String> {
        if self.quotient != now.quotient {
            return Err(format!(
                "the checkpoint was written by quotient {}, and this is {}: states may be encoded otherwise\nhelp: go on with the version that wrote it, or begin again",
                self.quotient, now.quotient
            ));
        }
        if self.process != now.process {
            let told = |process: Option<(usize, usize)>| match process {
                None => "one process".to_owned(),
                Some((number, count)) => format!("process {number} of {count}"),
            };
            return Err(format!(
                "the checkpoint is that of {}, and this is {}\nhelp: go on with as many processes, each with the number that it had",
                told(self.process),
                told(now.process)
            ));
        }
        if self.arguments != now.arguments {
            let missing = |from: &[String], of: &[String]| {
                let words: Vec<&str> = from.iter().filter(|w| !of.contains(w)).map(String::as_str).collect();
                if words.is_empty() { "nothing".to_owned() } else { words.join(" ") }
            };
            return Err(format!(
                "the checkpoint is that of another check: there {}, here {}",
                missing(&self.arguments, &now.arguments),
                missing(&now.arguments, &self.arguments)
            ));
        }
        if self.checksum != now.checksum {
            return Err("the model is not the one that the checkpoint was written for: its text has changed\nhelp: restore the model, or begin again in another folder".to_owned());
        }
        Ok(())
    }
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// Bytes of its log.
    pub bytes: u64,
    /// Distinct states.
    pub states: u64,
    /// Successors generated.
    pub transitions: u64,
    /// Levels complete.
    pub depth: u64,
    /// States that wait.
    pub waiting: u64,
}

impl Reached {
    pub(crate) fn new(bytes: u64, statistics: &Statistics) -> Reached {
        let Statistics { states, transitions, depth, waiting, .. } = *statistics;
        Reached { bytes, states, transitions, depth, waiting }
    }
}

/// The manifest of a folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    format: String,
    version: u32,
    /// The name of the run, where several processes search: all have the same, and those of another run have another.
    #[serde(default)]
    pub(crate) run: String,
    /// Whose states these are.
    #[serde(flatten)]
    pub identity: Identity,
    /// How far each search has come.
    pub searches: Vec<Reached>,
    /// Seconds that all runs have taken until this was written.
    pub seconds: f64,
    /// When that was, in seconds since 1970.
    pub written: u64,
    /// The verdict, when the check has ended by itself.
    pub verdict: Option<String>,
}

impl Manifest {
    pub(crate) fn new(identity: Identity, run: String) -> Manifest {
        let mut manifest = Manifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            run,
            identity,
            searches: Vec::new(),
            seconds: 0.0,
            written: 0,
            verdict: None,
        };
        manifest.touch();
        manifest
    }

    pub(crate) fn touch(&mut self) {
        self.written = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    }

    /// The manifest of a folder.
    pub fn read(folder: &Path) -> Result<Manifest, Unusable> {
        let foreign = |why: String| Unusable::Foreign(folder.to_owned(), why);
        let path = folder.join(FILE);
        let text = fs::read_to_string(&path).map_err(|e| foreign(format!("{}: {e}", path.display())))?;
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|e| foreign(format!("{FILE}: {e}")))?;
        if value["format"] != FORMAT {
            return Err(foreign(format!("{FILE} is something else")));
        }
        if value["version"] != VERSION {
            return Err(Unusable::Differs(format!(
                "{} has version {} of the format, and this quotient reads version {VERSION}",
                path.display(),
                value["version"]
            )));
        }
        serde_json::from_value(value).map_err(|e| foreign(format!("{FILE}: {e}")))
    }

    /// Replaces the manifest of a folder: after a crash it is the old one or the new one.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let (path, beside) = (folder.join(FILE), folder.join("run.json.new"));
        let mut file = File::create(&beside)?;
        file.write_all(serde_json::to_string_pretty(self)?.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        drop(file);
        fs::rename(&beside, &path)?;
        // The new name is durable when the folder is.
        File::open(folder)?.sync_all()
    }
}
