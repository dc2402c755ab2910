//! Random Promela programs through every combination of options, against the reference interpreter, which shares no
//! code with the engine.
//!
//! `QUOTIENT_RANDOM_PROGRAMS` sets how many programs (a slice by default), `QUOTIENT_SEED` the first seed. Every failure is
//! shrunk and printed as a program, up to [`MOST_FAILURES`] of them.

use std::collections::BTreeSet;

use quotient_engine::{Check, Model, PartialOrder, SearchKind, StoreKind};
use quotient_promela::ast;
use quotient_reference::{Outcome, generate, interpret, print, shrink};
use quotient_testing::setting;

/// Programs with more states than this are skipped.
const LIMIT: usize = 20_000;

/// So many failures end a run: a volume goes on after one, since the next may have another cause.
const MOST_FAILURES: usize = 10;

/// The kinds of violation, as both sides can tell them.
fn expected_kinds(outcome: &Outcome) -> BTreeSet<String> {
    let mut kinds = BTreeSet::new();
    if outcome.assertion_failures > 0 {
        kinds.insert("assertion".to_owned());
    }
    if outcome.invalid_end_states > 0 {
        kinds.insert("deadlock".to_owned());
    }
    if outcome.faults.iter().any(|f| f.goes_on()) {
        kinds.insert("channel".to_owned());
    }
    kinds
}

/// What one combination of options answers.
struct Answer {
    states: u64,
    transitions: u64,
    /// Kinds of violation.
    kinds: BTreeSet<String>,
    /// What is violated where.
    places: BTreeSet<(String, Option<String>)>,
    /// Statements never executed.
    unreached: BTreeSet<String>,
    /// The report says that it does not know of others.
    open: bool,
}

fn answer(model: &Model, check: &Check<'_>) -> Result<Answer, String> {
    let outcome = model.check(check).map_err(|e| e.to_string())?;
    if let quotient_engine::Verdict::Undecided(why) = &outcome.verdict {
        return Err(format!("undecided: {why}"));
    }
    Ok(Answer {
        states: outcome.statistics.states,
        transitions: outcome.statistics.transitions,
        kinds: outcome.violations.iter().map(|v| v.kind.to_string()).collect(),
        places: outcome.violations.iter().map(|v| (v.kind.to_string(), v.at.clone())).collect(),
        // The end of a process may be left out of the program.
        unreached: outcome
            .unreached
            .iter()
            .filter(|u| u.statement != "the end of the process")
            .map(|u| format!("{} {} {}", u.process, u.at, u.statement))
            .collect(),
        open: outcome.notes.iter().any(|note| note.starts_with("not known whether these were ever executed")),
    })
}

/// Compares all combinations with the reference. `None`: not comparable (too large, or a fault makes counts moot).
fn differs(tree: &ast::Model) -> Option<Result<(), String>> {
    let expected = interpret(tree, LIMIT).ok().filter(|o| o.complete)?;
    let text = print(tree);
    let model = match Model::from_text("random.pml", &text) {
        Ok(model) => model,
        Err(error) => return Some(Err(format!("refused: {error}"))),
    };
    Some(compare(&model, &expected))
}

/// Every combination of reductions.
fn reductions() -> [(bool, PartialOrder); 3] {
    [(true, PartialOrder::Off), (false, PartialOrder::Off), (false, PartialOrder::On)]
}

fn compare(model: &Model, expected: &Outcome) -> Result<(), String> {
    let wanted = expected_kinds(expected);
    // What the first, unreduced, combination found: the others must find the same in the same places.
    let mut first: Option<Answer> = None;
    for (raw, partial_order) in reductions() {
        for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
            for store in [StoreKind::Tree, StoreKind::Plain] {
                let name = format!("raw {raw}, partial order {partial_order:?}, {search:?}, {store:?}");
                let check = Check { raw, partial_order, search, store, all: true, ..Check::default() };
                let found = answer(model, &check).map_err(|e| format!("{name}: {e}"))?;
                let exact = (expected.states as u64, expected.transitions as u64);
                if !expected.faults.iter().all(|f| f.goes_on()) {
                    // Other faults end the path, each side has its own way there: only that there is one can be compared.
                    if found.kinds.iter().all(|k| k == "assertion" || k == "deadlock") {
                        return Err(format!("{name}: no fault, the reference has {:?}", expected.faults));
                    }
                } else {
                    if found.kinds != wanted {
                        return Err(format!("{name}: {:?} instead of {wanted:?}", found.kinds));
                    }
                    if raw && (found.states, found.transitions) != exact {
                        let Answer { states, transitions, .. } = found;
                        return Err(format!(
                            "{name}: {states} states, {transitions} transitions instead of {exact:?}"
                        ));
                    }
                    if !raw && found.states > exact.0 {
                        let states = found.states;
                        return Err(format!("{name}: {states} states, more than {} in all", exact.0));
                    }
                    // Stopping at the first violation must find one exactly when there is one.
                    let stopped = answer(model, &Check { all: false, ..check })
                        .map_err(|e| format!("{name}, first: {e}"))?
                        .kinds;
                    if stopped.is_empty() != wanted.is_empty() || !stopped.is_subset(&wanted) {
                        return Err(format!("{name}, first: {stopped:?} instead of one of {wanted:?}"));
                    }
                }
                let first = first.get_or_insert_with(|| Answer {
                    places: found.places.clone(),
                    unreached: found.unreached.clone(),
                    open: found.open,
                    kinds: BTreeSet::new(),
                    states: 0,
                    transitions: 0,
                });
                if found.places != first.places {
                    return Err(format!("{name}: {:?} instead of {:?}", found.places, first.places));
                }
                // Reductions take ends out that nobody notices: then a process that arrives at its end has ended, and need not
                // wait until it is the youngest.
                let statements = |all: &BTreeSet<String>| -> BTreeSet<String> {
                    all.iter().filter(|s| raw || !s.ends_with("the end of the process")).cloned().collect()
                };
                let (is, was) = (statements(&found.unreached), statements(&first.unreached));
                if is != was && !(found.open && is.is_subset(&was)) {
                    return Err(format!("{name}: never executed: {is:?} instead of {was:?}"));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn every_combination_agrees_with_the_reference() {
    let programs = setting("QUOTIENT_RANDOM_PROGRAMS", 300);
    let first = setting("QUOTIENT_SEED", 7_000_000);
    let mut compared = 0;
    let mut failures = Vec::new();
    for seed in first..first + programs {
        let tree = generate(seed, 1 + (seed % 12) as usize);
        match differs(&tree) {
            None => {}
            Some(Ok(())) => compared += 1,
            Some(Err(what)) => {
                // Shrinking must not turn a wrong answer into a program that is rightly refused.
                let refused = what.starts_with("refused");
                let small = shrink(
                    &tree,
                    &mut |t| matches!(differs(t), Some(Err(w)) if w.starts_with("refused") == refused && !w.contains("no process")),
                );
                let small_what = match differs(&small) {
                    Some(Err(what)) => what,
                    _ => what,
                };
                failures.push(seed);
                println!("seed {seed}: {small_what}\n\n{}", print(&small));
                if failures.len() == MOST_FAILURES {
                    break;
                }
            }
        }
    }
    assert!(failures.is_empty(), "the answers differ for the seeds {failures:?}");
    println!("{compared} of {programs} programs compared");
    assert!(compared * 2 > programs, "only {compared} of {programs} programs could be compared");
}
