//! What a search has found, kept in a folder, so that another run can go on from there: after Ctrl-C, a limit, `kill -9` or a power cut.
//!
//! A folder has a [manifest](manifest), `run.json`, which says whose states these are and how far they reach, and a [log](log) for each search of
//! the check, `search-1.log` and so on. What is written into a log and when a search can go on from it is the search's business
//! (`search/restart`); here it is kept from being torn: blocks have checksums, a cut is a block of its own, and the manifest is replaced by renaming.
//! One process at a time has a folder; a lock on the manifest's neighbour `lock` says so.

mod log;
mod manifest;
mod spool;

pub use log::SearchLog;
pub use manifest::{Identity, Manifest, Reached};
pub use spool::{DiskFolder, DiskUse};

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A folder that a check writes to.
#[derive(Debug)]
pub struct Checkpoint {
    folder: PathBuf,
    manifest: Manifest,
    /// Searches begun by this process.
    searches: usize,
    /// Whether there may be logs to read.
    resumes: bool,
    /// What a user has to know about what was read.
    notes: Vec<String>,
    told: Vec<String>,
    began: Instant,
    /// Seconds of the runs before.
    before: f64,
    /// Held as long as this process writes.
    _lock: File,
}

/// Why a folder cannot be used.
#[derive(Debug)]
pub enum Unusable {
    /// There is something in it already.
    NotEmpty(PathBuf),
    /// There is a checkpoint in it already.
    HasCheckpoint(PathBuf),
    /// There is no checkpoint in it.
    Foreign(PathBuf, String),
    /// Another process writes to it.
    InUse(PathBuf),
    /// Another run than this one has written it: what differs.
    Differs(String),
    /// The system said no.
    System(PathBuf, std::io::Error),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::NotEmpty(folder) => write!(
                f,
                "{} is not empty, and nothing is overwritten\nhelp: name a folder that does not exist",
                folder.display()
            ),
            Unusable::HasCheckpoint(folder) => write!(
                f,
                "{0} holds the checkpoint of another run, and nothing is overwritten\nhelp: `quotient check --resume {0}` goes on with it; or name another folder",
                folder.display()
            ),
            Unusable::Foreign(folder, why) => write!(
                f,
                "{} holds no checkpoint: {why}\nhelp: name the folder that was given to --checkpoint",
                folder.display()
            ),
            Unusable::InUse(folder) => write!(
                f,
                "another process is writing to {0}\nhelp: `quotient status {0}` says what it has reached",
                folder.display()
            ),
            Unusable::Differs(what) => f.write_str(what),
            Unusable::System(path, error) => write!(f, "cannot use {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for Unusable {}

/// The lock of a folder, if nobody else has it.
fn lock(folder: &Path) -> Result<File, Unusable> {
    let path = folder.join("lock");
    let system = |error| Unusable::System(path.clone(), error);
    let file = File::options().create(true).append(true).open(&path).map_err(system)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Unusable::InUse(folder.to_owned())),
        Err(TryLockError::Error(error)) => Err(system(error)),
    }
}

/// Is a process writing to this folder?
pub fn is_in_use(folder: &Path) -> bool {
    File::open(folder.join("lock"))
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

impl Checkpoint {
    /// Begins a checkpoint in a folder that is empty or does not exist, of a run with this name.
    pub fn create(folder: &Path, identity: Identity, run: String) -> Result<Checkpoint, Unusable> {
        let system = |error| Unusable::System(folder.to_owned(), error);
        fs::create_dir_all(folder).map_err(system)?;
        if folder.join(manifest::FILE).exists() {
            return Err(Unusable::HasCheckpoint(folder.to_owned()));
        }
        if fs::read_dir(folder).map_err(system)?.next().is_some() {
            return Err(Unusable::NotEmpty(folder.to_owned()));
        }
        let lock = lock(folder)?;
        let manifest = Manifest::new(identity, run);
        manifest.write(folder).map_err(system)?;
        Ok(Checkpoint::with(folder, manifest, false, lock))
    }

    /// Goes on with the checkpoint in a folder, if it is that of the same run.
    pub fn resume(folder: &Path, identity: &Identity) -> Result<Checkpoint, Unusable> {
        let manifest = Manifest::read(folder)?;
        manifest.identity.same(identity).map_err(Unusable::Differs)?;
        let lock = lock(folder)?;
        Ok(Checkpoint::with(folder, manifest, true, lock))
    }

    fn with(folder: &Path, manifest: Manifest, resumes: bool, lock: File) -> Checkpoint {
        Checkpoint {
            folder: folder.to_owned(),
            before: manifest.seconds,
            manifest,
            searches: 0,
            resumes,
            notes: Vec::new(),
            told: Vec::new(),
            began: Instant::now(),
            _lock: lock,
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Takes over the name of the run from the first process, if it has none; `false` if it is that of another run.
    pub fn joins(&mut self, run: &str) -> Result<bool, String> {
        if self.manifest.run.is_empty() {
            self.manifest.run = run.to_owned();
            self.save()?;
        }
        Ok(self.manifest.run == run)
    }

    /// The name of the run.
    pub fn run(&self) -> &str {
        &self.manifest.run
    }

    /// Whether it goes on with what an earlier run has written.
    pub fn resumes(&self) -> bool {
        self.resumes
    }

    /// The log of the next search of the check.
    pub fn log(&mut self) -> Result<SearchLog<'_>, String> {
        self.searches += 1;
        SearchLog::open(self, self.searches)
    }

    /// Notes something that a user has to know.
    pub fn note(&mut self, what: String) {
        self.notes.push(what);
    }

    /// What a user has to know, once.
    pub fn take_notes(&mut self) -> Vec<String> {
        let notes = std::mem::take(&mut self.notes);
        self.told.extend_from_slice(&notes);
        notes
    }

    /// All notes that were taken.
    pub fn told(&self) -> &[String] {
        &self.told
    }

    /// The check has ended with this verdict.
    pub fn ended(&mut self, verdict: &str) -> Result<(), String> {
        self.manifest.verdict = Some(verdict.to_owned());
        self.save()
    }

    /// The check could not be begun: leaves the folder as it was found.
    pub fn leave(&mut self) {
        if !self.resumes && self.searches == 0 {
            // Nothing in it is of use to anybody; where it cannot be removed, it stays.
            let _ = fs::remove_file(self.folder.join(manifest::FILE));
            let _ = fs::remove_file(self.folder.join("lock"));
            let _ = fs::remove_dir(&self.folder);
        }
    }

    /// Replaces the manifest.
    fn save(&mut self) -> Result<(), String> {
        self.manifest.seconds = self.before + self.began.elapsed().as_secs_f64();
        self.manifest.touch();
        self.manifest
            .write(&self.folder)
            .map_err(|e| format!("{}: {e}", self.folder.join(manifest::FILE).display()))
    }
}

/// How often a search writes what it has, and how often it waits for the disk.
const WRITES_EVERY: Duration = Duration::from_millis(250);
const SYNCS_EVERY: Duration = Duration::from_secs(2);
