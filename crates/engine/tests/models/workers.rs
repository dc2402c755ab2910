//! Any number of workers gives the answers of one: verdicts, counts, depth, statements never executed, lengths of counterexamples; on all models and programs of
//! the corpus, with reductions and without. Several workers from the first state on, so that small models count.
//!
//! `QUOTIENT_WORKERS_STATES` sets how large models may be, `QUOTIENT_WORKERS_PROGRAMS` how many random programs there are.

use quotient_engine::{
    Check, CheckError, LoadOptions, Model, Outcome, PartialOrder, SearchKind, StoreKind, Workers,
};
use quotient_reference::{generate, print};
use quotient_search::Limits;
use quotient_testing::{models, setting};

/// So many workers from the start.
fn workers(count: usize) -> Option<Workers> {
    Some(Workers { count, from: 0, narrow: 0 })
}

/// What must not depend on the number of workers.
fn told(outcome: &Outcome, reduced: bool) -> String {
    let s = outcome.statistics;
    let violations: Vec<String> = outcome
        .violations
        .iter()
        .map(|v| {
            // With ample sets several steps can lie between two states that are stored, and paths of as many states have other numbers of them.
            let length = if reduced { 0 } else { v.choices.len() };
            format!("{} at {:?}, {} times, {length} steps", v.kind, v.at, v.count)
        })
        .collect();
    let counts = [s.states, s.transitions, s.expanded, s.depth, s.waiting];
    let unreached: Vec<String> =
        outcome.unreached.iter().map(|u| format!("{}:{}", u.at, u.statement)).collect();
    format!("{:?}\n{counts:?}\n{violations:#?}\n{unreached:?}", outcome.verdict)
}

/// Compares numbers of workers; `false` if the model is too large or not to be checked.
fn compare(name: &str, model: &Model) -> bool {
    let states = Some(setting("QUOTIENT_WORKERS_STATES", 1_500));
    let limited =
        Check { limits: Limits { states, ..Limits::default() }, safety_only: true, ..Check::default() };
    let first = Check { raw: true, all: true, workers: workers(1), ..limited };
    match model.check(&first) {
        Ok(outcome) if outcome.second_look.is_none() => {}
        _ => return false,
    }
    for (raw, partial_order) in
        [(true, PartialOrder::Off), (false, PartialOrder::Off), (false, PartialOrder::On)]
    {
        for all in [false, true] {
            let check = Check { raw, partial_order, all, limits: Limits::default(), ..limited };
            let run = |count| {
                let outcome = model.check(&Check { workers: workers(count), ..check });
                let reduced = partial_order != PartialOrder::Off;
                outcome.map(|outcome| told(&outcome, reduced)).unwrap_or_else(|error| error.to_string())
            };
            let one = run(1);
            for count in [2, 4] {
                assert_eq!(
                    run(count),
                    one,
                    "{name}: {count} workers, raw {raw}, {partial_order:?}, all {all}"
                );
            }
        }
    }
    true
}

#[test]
fn any_number_of_workers_gives_the_answers_of_one() {
    let (paths, mut compared) = (models(), 0);
    for path in &paths {
        if let Ok(model) = Model::load(path, &LoadOptions::default()) {
            compared += usize::from(compare(&path.display().to_string(), &model));
        }
    }
    assert!(compared >= 150, "only {compared} of {} models", paths.len());
}

#[test]
fn random_programs_by_any_number_of_workers() {
    let (count, seed) = (setting("QUOTIENT_WORKERS_PROGRAMS", 60), setting("QUOTIENT_SEED", 190_000));
    let mut compared = 0;
    for seed in seed..seed + count {
        let text = print(&generate(seed, 1 + (seed % 12) as usize));
        if let Ok(model) = Model::from_text("random.pml", &text) {
            compared += u64::from(compare(&format!("seed {seed}\n{text}"), &model));
        }
    }
    assert!(compared * 2 >= count, "only {compared} of {count} programs");
}

/// What only one worker can do is refused where several were asked for, and else done by one.
#[test]
fn what_several_workers_cannot_do_is_refused() {
    let text = "bit x;\nactive proctype P() { do :: x = 1 - x od }\nltl a { []<> (x == 1) }\n";
    let model = Model::from_text("claims.pml", text).expect("loads");
    let refused = |check: Check<'_>| match model.check(&Check { workers: workers(2), ..check }) {
        Err(CheckError::Refused(why)) => why,
        other => panic!("not refused: {other:?}"),
    };
    let safety = Check { safety_only: true, ..Check::default() };
    assert!(refused(Check::default()).contains("infinite runs"));
    assert!(refused(Check { search: SearchKind::DepthFirst, ..safety }).contains("depth-first"));
    assert!(refused(Check { store: StoreKind::Gzip, ..safety }).contains("gzip"));
    for check in [Check::default(), Check { search: SearchKind::DepthFirst, ..safety }] {
        assert!(model.check(&Check { workers: workers(1), ..check }).is_ok() && model.check(&check).is_ok());
    }
    assert_eq!(model.check(&Check { workers: workers(2), ..safety }).expect("checked").workers, 2);
}
