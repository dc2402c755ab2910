//! Every program of `tests/promela` with the counts its header pins (taken from SPIN; see `bench/README.md`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use quotient_engine::{Check, LoadOptions, Model, SearchKind, StoreKind, Verdict};
use quotient_expectations::{Bound, Expectation, Figure};

fn programs(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir).expect("the corpus is there").flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            programs(&path, out);
        } else if path.extension().is_some_and(|e| e == "pml") {
            out.push(path);
        }
    }
}

/// What the header of a program says.
#[derive(Debug, Default)]
struct Header {
    states: Option<u64>,
    transitions: Option<u64>,
    errors: Option<BTreeSet<String>>,
    /// States of SPIN with its default reductions.
    spin_default: Option<u64>,
}

fn header(text: &str) -> Header {
    let all = quotient_expectations::read(text).expect("expectations");
    let raw = Expectation::with(&all, &["--raw", "--all", "--safety"]);
    let default = Expectation::with(&all, &["--all", "--safety"]);
    let exactly = |figure| raw?.figure(Bound::Exactly, figure);
    Header {
        states: exactly(Figure::States),
        transitions: exactly(Figure::Transitions),
        errors: raw.map(|raw| raw.kinds().into_iter().map(str::to_owned).collect()),
        spin_default: default.and_then(|default| default.figure(Bound::AtMost, Figure::States)),
    }
}

fn check(path: &Path, header: &Header) -> Result<(), String> {
    let model = Model::load(path, &LoadOptions::default()).map_err(|e| e.to_string())?;
    for raw in [true, false] {
        for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
            for store in StoreKind::ALL {
                let how = format!("raw {raw}, {search:?}, {store:?}");
                let check = Check { raw, search, store, all: true, safety_only: true, ..Check::default() };
                let outcome = model.check(&check).map_err(|e| e.to_string())?;
                if let Verdict::Undecided(why) = outcome.verdict {
                    return Err(format!("{how}: undecided, {why}"));
                }
                let kinds: BTreeSet<String> = outcome.violations.iter().map(|v| v.kind.to_string()).collect();
                if header.errors.as_ref().is_some_and(|e| *e != kinds) {
                    return Err(format!("{how}: {kinds:?} instead of {:?}", header.errors));
                }
                let s = outcome.statistics;
                let counts = (Some(s.states), Some(s.transitions));
                if raw && header.states.is_some() && counts != (header.states, header.transitions) {
                    return Err(format!(
                        "{how}: {counts:?} instead of {:?}",
                        (header.states, header.transitions)
                    ));
                }
                if !raw && header.spin_default.is_some_and(|most| s.states > most) {
                    let most = header.spin_default.unwrap_or(0);
                    return Err(format!("{how}: {} states, SPIN has {most} by default", s.states));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn the_corpus_has_its_counts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/promela");
    let mut files = Vec::new();
    programs(&root, &mut files);
    assert!(files.len() >= 150, "only {} programs found", files.len());
    let mut failures = Vec::new();
    for file in &files {
        let header = header(&std::fs::read_to_string(file).expect("readable"));
        assert!(header.errors.is_some(), "{} has no expectation", file.display());
        if let Err(what) = check(file, &header) {
            failures.push(format!("{}: {what}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), files.len(), failures.join("\n"));
    println!("{} programs agree", files.len());
}
