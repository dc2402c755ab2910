//! Running the command on models of the project and on files of a test's own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs `quotient`.
pub fn quotient(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quotient")).args(args).output().expect("the command runs")
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
