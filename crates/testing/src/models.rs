//! The models of this repository.

use std::path::{Path, PathBuf};

/// The files of `models` and `tests` in any modelling language, in a fixed order.
pub fn models() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders: Vec<PathBuf> = ["models", "tests"].map(|f| root.join(f)).into();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        // The repository is there while its tests run.
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.extension().and_then(|e| e.to_str()) {
                Some("pml" | "bir" | "dve") => files.push(path),
                None if path.is_dir() => folders.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    files
}
