//! The reference interpreter on the project's own test programs, whose counts come from SPIN.

use quotient_expectations::{Bound, Expectation, Figure};
use quotient_promela::{ParseOptions, parse_file};
use quotient_reference::{Fault, Outcome, interpret};
use quotient_source::SourceMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a program expects of the search without reductions.
#[derive(Debug, PartialEq, Eq)]
struct Expected {
    states: usize,
    transitions: usize,
    errors: BTreeSet<String>,
}

fn expected(text: &str) -> Option<Expected> {
    let all = quotient_expectations::read(text).expect("expectations");
    let raw = Expectation::with(&all, &["--raw", "--all", "--safety"])?;
    let figure = |figure| raw.figure(Bound::Exactly, figure).map(|n| n as usize);
    Some(Expected {
        states: figure(Figure::States)?,
        transitions: figure(Figure::Transitions)?,
        errors: raw.kinds().into_iter().map(str::to_string).collect(),
    })
}

fn found(outcome: &Outcome) -> Expected {
    let mut errors = BTreeSet::new();
    if outcome.assertion_failures > 0 {
        errors.insert("assertion".to_string());
    }
    if outcome.invalid_end_states > 0 {
        errors.insert("deadlock".to_string());
    }
    errors.extend(outcome.faults.iter().map(|fault| word(*fault).to_string()));
    Expected { states: outcome.states, transitions: outcome.transitions, errors }
}

/// The word for a fault in the expectations.
fn word(fault: Fault) -> &'static str {
    match fault {
        Fault::IndexOutOfBounds => "index",
        Fault::Division | Fault::Shift => "division",
        Fault::UninitialisedChannel
        | Fault::DeadChannel
        | Fault::WrongNumberOfFields
        | Fault::FewerSent
        | Fault::FewerReceived
        | Fault::PolledRendezvous => "channel",
        Fault::BlockedInDStep | Fault::RendezvousInDStep | Fault::EndlessDStep => "d_step",
        Fault::TooManyProcesses | Fault::NoSuchProcess => "reference",
    }
}

fn programs(folder: &Path, list: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("corpus folder").map(|e| e.expect("corpus entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            programs(&path, list);
        } else if path.extension().is_some_and(|e| e == "pml") {
            list.push(path);
        }
    }
}

/// Constructs the interpreter refuses, by folder or file of the corpus.
const UNSUPPORTED: [&str; 3] = ["priorities/", "trace/", "processes/last.pml"];

#[test]
fn corpus_counts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/promela");
    let mut list = Vec::new();
    programs(&root, &mut list);
    let (mut compared, mut refused) = (0, Vec::new());
    let mut wrong = Vec::new();
    for path in list {
        let text = std::fs::read_to_string(&path).expect("corpus program");
        let Some(expected) = expected(&text) else { continue };
        let shown = path.strip_prefix(&root).expect("inside the corpus").display().to_string();
        let mut map = SourceMap::new();
        let parsed = parse_file(&mut map, &path, &ParseOptions::default()).expect("corpus program");
        match interpret(&parsed.model, 200_000) {
            Err(message) => refused.push((shown, message)),
            Ok(outcome) => {
                compared += 1;
                let found = found(&outcome);
                if found != expected {
                    wrong.push(format!("{shown}: expected {expected:?}, found {found:?}"));
                }
            }
        }
    }
    refused.retain(|(shown, _)| !UNSUPPORTED.iter().any(|prefix| shown.starts_with(prefix)));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused.is_empty(), "{refused:?}");
    assert!(compared >= 300, "only {compared} programs were compared");
}
