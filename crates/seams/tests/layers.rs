//! The layers of the workspace: which crate may use which other one.
//!
//! What must not happen is the point: the seams know nobody; searches, stores and representatives know the seams alone; front
//! ends know programs and not how these are checked; the checker of certificates knows nothing of the prover.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Each crate, without the prefix `quotient-`, and the crates that it may use. What only its tests use does not count.
const LAYERS: &[(&str, &[&str])] = &[
    ("seams", &[]),
    ("search", &["seams"]),
    ("checkpoint", &["search"]),
    ("cluster", &["search"]),
    ("visited", &["seams"]),
    ("symmetry", &["seams"]),
    ("source", &[]),
    ("logic", &[]),
    ("program", &["source"]),
    ("front-end", &["logic", "program", "source"]),
    ("formula", &["front-end", "logic", "program", "source"]),
    ("promela", &["formula", "front-end", "program", "source"]),
    ("bir", &["formula", "front-end", "program", "source"]),
    ("dve", &["formula", "front-end", "program", "source"]),
    ("languages", &["bir", "dve", "front-end", "promela"]),
    ("identity", &["program", "source", "symmetry"]),
    ("residual", &["program", "source"]),
    ("machine", &["identity", "program", "seams", "source", "symmetry"]),
    ("ample", &["identity", "machine", "program", "residual", "seams"]),
    ("outcome", &["seams", "source"]),
    ("explain", &["machine", "outcome", "program", "seams", "source"]),
    ("trace", &["explain", "machine", "outcome", "program", "seams", "source"]),
    ("stateless", &[]),
    ("native-runtime", &["stateless"]),
    ("native", &["outcome", "seams", "stateless"]),
    ("proof-check", &[]),
    ("proof", &["outcome", "program", "promela", "proof-check", "seams", "source"]),
    ("expectations", &[]),
    ("formats", &["outcome"]),
    ("lsp", &["front-end", "languages", "program", "source"]),
    ("testing", &[]),
    ("thread-programs", &["stateless"]),
    ("reference", &["bir", "dve", "promela", "source", "testing"]),
];

/// Crates that put all others together: the engine, which only the command uses, and the command.
const TOGETHER: &[&str] = &["bench", "engine", "explorer", "quotient"];

/// What `cargo metadata` tells of the workspace.
fn metadata() -> Value {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo writes JSON")
}

/// The crates of the workspace with those they use.
fn uses() -> BTreeMap<String, Vec<String>> {
    let name = |of: &Value| {
        let name = of["name"].as_str().unwrap_or_default();
        name.strip_prefix("quotient-").unwrap_or(name).to_owned()
    };
    // A dependency in the workspace has a path; its kind is null unless it is for tests or the build script.
    let used = |package: &Value| {
        let all = package["dependencies"].as_array().into_iter().flatten();
        all.filter(|d| d["path"].is_string() && d["kind"] != "dev").map(name).collect()
    };
    metadata()["packages"].as_array().into_iter().flatten().map(|p| (name(p), used(p))).collect()
}

#[test]
fn every_crate_uses_only_what_its_layer_allows() {
    let crates = uses();
    assert!(crates.len() >= LAYERS.len(), "cargo tells of {} crates only", crates.len());
    let mut wrong = Vec::new();
    for (name, used) in &crates {
        if TOGETHER.contains(&name.as_str()) {
            // Nobody prints or exits below the command.
            if name == "engine" && used.iter().any(|u| TOGETHER.contains(&u.as_str())) {
                wrong.push("engine must not use the command".to_owned());
            }
            continue;
        }
        let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| layer == name) else {
            wrong.push(format!("{name} has no row in LAYERS: say there what it may use"));
            continue;
        };
        let more = used.iter().filter(|u| !allowed.contains(&u.as_str()));
        wrong.extend(more.map(|u| format!("{name} must not use {u}")));
    }
    let gone = LAYERS.iter().filter(|(name, _)| !crates.contains_key(*name));
    wrong.extend(
        gone.map(|(name, _)| format!("{name} has a row in LAYERS and is not a crate of the workspace")),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The table itself: it can be read from top to bottom, so nothing goes round in a circle.
#[test]
fn rows_name_crates_of_earlier_rows() {
    for (index, (name, allowed)) in LAYERS.iter().enumerate() {
        for used in *allowed {
            assert!(LAYERS[..index].iter().any(|(earlier, _)| earlier == used), "{name} may use {used}");
        }
    }
}

/// Crates without tests of their own say so (`test = false`), which saves compiling them twice. A test would then never run.
#[test]
fn no_test_is_left_out() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    for target in targets.filter(|target| target["test"] == false && target["kind"][0] == "lib") {
        let root = Path::new(target["src_path"].as_str().expect("a path"));
        let mut folders = vec![root.parent().expect("a folder").to_owned()];
        // The table of languages has the languages' own crates beside it.
        while let Some(folder) = folders.pop().filter(|folder| !folder.ends_with("languages")) {
            for entry in std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
                if entry.is_dir() {
                    folders.push(entry);
                } else if entry.extension().is_some_and(|e| e == "rs") {
                    let text = std::fs::read_to_string(&entry).expect("a source");
                    assert!(!text.contains("#[test]"), "{} is never run", entry.display());
                }
            }
        }
    }
}
