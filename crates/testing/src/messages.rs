//! Erroneous inputs with what is reported about them beside them.

use std::fs;
use std::path::{Path, PathBuf};

/// Reads every `NAME.EXTENSION` of `folder` (at least `least` of them) and compares what `reported` says about it (given the file's
/// name and text) with `NAME.stderr`. `QUOTIENT_BLESS=1` writes the expected files anew.
pub fn messages(folder: &Path, extension: &str, least: usize, reported: impl Fn(&str, &str) -> String) {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("a readable folder").path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == extension));
    files.sort();
    assert!(files.len() >= least, "only {} files", files.len());
    let mut differing = Vec::new();
    for path in files {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let found = reported(&name, &fs::read_to_string(&path).expect("a readable file"));
        assert!(found.contains("error") || found.contains("warning"), "{name} reports nothing");
        let expected = path.with_extension("stderr");
        if crate::blessing() {
            fs::write(&expected, &found).expect("the expected file can be written");
        } else if fs::read_to_string(&expected).unwrap_or_default() != found {
            differing.push(format!("--- {name}\n{found}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
