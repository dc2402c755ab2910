//! States and transitions with the default options, for every model in `models/` and `tests/promela/`: a change of any of them is seen.
//!
//! `QUOTIENT_BLESS=1 cargo test -p quotient-engine --test models reduced_counts` rewrites `tests/reduced_counts.txt`; look at the difference before
//! committing it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use quotient_engine::{Check, LoadOptions, Model, Verdict};

fn models(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir).expect("the folder is there").flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            models(&path, out);
        } else if path.extension().is_some_and(|e| e == "pml" || e == "bir") {
            out.push(path);
        }
    }
}

fn counts(path: &Path) -> String {
    let model = match Model::load(path, &LoadOptions::default()) {
        Ok(model) => model,
        Err(error) => return format!("error {}", error.to_string().lines().next().unwrap_or_default()),
    };
    // All violations: counts up to the first one would depend on the order of the search.
    match model.check(&Check { all: true, ..Check::default() }) {
        Err(error) => format!("error {}", error.to_string().lines().next().unwrap_or_default()),
        Ok(outcome) => {
            let verdict = match outcome.verdict {
                Verdict::Holds => "holds",
                Verdict::Violated => "violated",
                Verdict::Undecided(_) => "undecided",
            };
            let answers: Vec<String> = outcome
                .answers
                .iter()
                .map(|a| format!("{}/{}", a.statistics.states, a.statistics.transitions))
                .collect();
            format!("{verdict} {}", answers.join(" "))
        }
    }
}

#[test]
fn reduced_counts_are_as_pinned() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join("tests/reduced_counts.txt");
    let mut paths = Vec::new();
    models(&root.join("models"), &mut paths);
    models(&root.join("tests/promela"), &mut paths);
    assert!(paths.len() >= 300, "only {} models found", paths.len());
    let mut found = BTreeMap::new();
    for path in &paths {
        let name = path.strip_prefix(&root).unwrap_or(path).to_string_lossy().replace('\\', "/");
        found.insert(name, counts(path));
    }
    if std::env::var("QUOTIENT_BLESS").is_ok() {
        let mut text = String::new();
        for (name, counts) in &found {
            let _ = writeln!(text, "{name}: {counts}");
        }
        std::fs::write(&file, text).expect("the file can be written");
        return;
    }
    let text = std::fs::read_to_string(&file).expect("the file is there");
    let pinned: BTreeMap<&str, &str> = text.lines().filter_map(|l| l.split_once(": ")).collect();
    let mut changes = String::new();
    for (name, counts) in &found {
        let was = pinned.get(name.as_str()).copied().unwrap_or("not pinned");
        if was != counts {
            let _ = writeln!(changes, "{name}: {counts} instead of {was}");
        }
    }
    for name in pinned.keys().filter(|name| !found.contains_key(**name)) {
        let _ = writeln!(changes, "{name}: pinned, but there is no such model");
    }
    assert!(
        changes.is_empty(),
        "counts have changed; if that is meant, see the head of this test:\n{changes}"
    );
}
