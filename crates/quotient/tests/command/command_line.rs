//! Running the command on models of the project and on files of a test's own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use quotient_testing::Folder;

/// `quotient`, or what `QUOTIENT_BINARY` names: whether a test would have failed with an older one.
pub fn command() -> Command {
    Command::new(std::env::var_os("QUOTIENT_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_quotient").into()))
}

/// Runs `quotient`.
pub fn quotient(args: &[&str]) -> Output {
    command().args(args).output().expect("the command runs")
}

/// The path of a model of the project.
pub fn model(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name).display().to_string()
}

/// A file in a folder of its own that is gone afterwards.
pub struct File {
    _folder: Folder,
    path: PathBuf,
}

impl File {
    /// Writes it.
    pub fn new(name: &str, text: &str) -> File {
        let folder = Folder::new();
        File { path: folder.write(name, text), _folder: folder }
    }

    /// Where it is.
    pub fn path(&self) -> &str {
        self.path.to_str().expect("an ordinary path")
    }
}
