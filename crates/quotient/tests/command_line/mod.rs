//! Running the command on models of the project and on files of a test's own.
#![allow(dead_code, reason = "not every test uses all of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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

/// A file that is gone afterwards.
pub struct File(PathBuf);

impl File {
    /// Writes it.
    pub fn new(name: &str, text: &str) -> File {
        let dir = std::env::temp_dir().join(format!("quotient-command-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a temporary folder");
        let path = dir.join(name);
        std::fs::write(&path, text).expect("a temporary file");
        File(path)
    }

    /// Where it is.
    pub fn path(&self) -> &str {
        self.0.to_str().expect("an ordinary path")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
