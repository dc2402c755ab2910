//! The table of statements and surroundings: the interpreter against SPIN's answers.
//!
//! `QUOTIENT_BLESS=1 cargo test -p quotient-reference --test opinion statement_table -- --ignored` asks SPIN for everything again (1,197
//! programs: twenty minutes) and rewrites `src/statement_table.txt`; without `QUOTIENT_BLESS` it compares.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::verifier::{Report, verify};
use quotient_reference::statement_table::{deviation, interpreted, pinned, table};

/// Errors after which SPIN's counts say nothing, the cause before what follows from it.
const FAULTS: [(&str, &str); 4] = [
    ("poll", "polled-rendezvous"),
    ("rv-attempt in d_step", "rendezvous-in-d_step"),
    ("block in d_step", "blocked-in-d_step"),
    ("blocking sel in d_step", "blocked-in-d_step"),
];

/// What a line of the file says, from what SPIN says.
fn line(report: &Report) -> String {
    let said = |words: &str| report.messages.iter().any(|m| m.contains(words));
    if let Some((_, fault)) = FAULTS.iter().find(|(words, _)| said(words)) {
        return format!("fault {fault}");
    }
    let mut text = format!("states {} transitions {}", report.states, report.transitions.saturating_sub(1));
    for (words, kind) in [("assertion violated", " assertion"), ("invalid end state", " deadlock")] {
        text.push_str(if said(words) { kind } else { "" });
    }
    text
}

#[test]
fn the_interpreter_answers_as_spin_did() {
    let pinned = pinned();
    let entries = table();
    assert_eq!(pinned.len(), entries.len(), "the table and its file differ in length");
    let mut differences = String::new();
    for entry in &entries {
        let expected = pinned.get(entry.name.as_str()).copied().unwrap_or("missing");
        let found = interpreted(&entry.text);
        // Where SPIN is not followed, it must matter.
        if (found != expected) != deviation(&entry.name).is_some() {
            let _ = writeln!(differences, "{}: {found}, SPIN: {expected}\n{}", entry.name, entry.text);
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

#[test]
#[ignore = "asks SPIN about every program of the table: twenty minutes"]
fn the_pinned_answers_are_still_given() {
    let entries = table();
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let answer = verify(&entry.text).map_or("refused".to_string(), |r| line(&r));
                    answers.lock().expect("no thread panics").insert(entry.name.clone(), answer);
                }
            });
        }
    });
    let answers = answers.into_inner().expect("no thread panics");
    if quotient_testing::blessing() {
        let mut text = String::new();
        for (name, answer) in &answers {
            let _ = writeln!(text, "{name}: {answer}");
        }
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/statement_table.txt");
        std::fs::write(file, text).expect("the file can be written");
        return;
    }
    let pinned = pinned();
    let changed: Vec<_> =
        answers.iter().filter(|(n, a)| pinned.get(n.as_str()) != Some(&a.as_str())).collect();
    assert!(changed.is_empty(), "SPIN answers differently: {changed:?}");
}
