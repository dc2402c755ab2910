//! Any number of workers gives the answers of one: verdicts, counts, depth, statements never executed, lengths of counterexamples; on all models and programs of
//! the corpus, with reductions and without; and so does a check that was interrupted and resumed. Several workers from the first state on, so that small models count.
//!
//! `QUOTIENT_WORKERS_STATES` sets how large models may be, `QUOTIENT_WORKERS_PROGRAMS` how many random programs there are.

use std::sync::Mutex;

use quotient_checkpoint::{Checkpoint, Identity};
use quotient_engine::{
    Check, CheckError, LoadOptions, Model, Outcome, PartialOrder, SearchKind, StoreKind, Verdict, Workers,
};
use quotient_reference::{generate, print};
use quotient_search::Limits;
use quotient_testing::{Folder, models, setting};

/// So many workers from the start.
pub(crate) fn workers(count: usize) -> Option<Workers> {
    Some(Workers { count, from: 0, narrow: 0 })
}

/// What must not depend on the number of workers.
pub(crate) fn told(outcome: &Outcome, reduced: bool) -> String {
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

/// What a check says that was interrupted half way, and once more, and resumed from its checkpoint; `whole` is what it says otherwise.
fn interrupted(model: &Model, check: &Check<'_>, whole: &str) -> String {
    let counts = whole.lines().nth(1).unwrap_or_default().trim_matches(['[', ']']);
    let Some(depth) = counts.split(", ").nth(3).and_then(|depth| depth.parse::<u64>().ok()) else {
        return whole.to_owned();
    };
    let folder = Folder::new();
    let identity = Identity {
        quotient: "test".into(),
        arguments: Vec::new(),
        folder: folder.path().into(),
        checksum: String::new(),
        process: None,
    };
    let path = folder.path().join("run");
    let mut checkpoint = Checkpoint::create(&path, identity.clone(), String::new()).expect("it can be made");
    for depth in [depth / 3, depth / 3 * 2] {
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        let held = Mutex::new(checkpoint);
        let stopped = model.check(&Check { limits, checkpoint: Some(&held), ..*check });
        // It may have found what it was to find.
        if let Ok(outcome) = stopped {
            assert_ne!(outcome.verdict, Verdict::Holds, "nothing can be concluded at depth {depth}");
        }
        drop(held);
        checkpoint = Checkpoint::resume(&path, &identity).expect("it can be resumed");
    }
    let held = Mutex::new(checkpoint);
    let outcome = model.check(&Check { checkpoint: Some(&held), ..*check });
    let reduced = check.partial_order != PartialOrder::Off;
    outcome.map(|outcome| told(&outcome, reduced)).unwrap_or_else(|error| error.to_string())
}

/// Compares numbers of workers; `false` if the model is too large or not to be checked.
fn compare(name: &str, model: &Model, resumes: bool) -> bool {
    let states = Some(setting("QUOTIENT_WORKERS_STATES", 1_500));
    let limited =
        Check { limits: Limits { states, ..Limits::default() }, safety_only: true, ..Check::default() };
    let first = Check { raw: true, all: true, workers: workers(1), ..limited };
    match model.check(&first) {
        Ok(outcome) if outcome.second_look.is_none() && Some(outcome.statistics.states) < states => {}
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
            if resumes && all != raw {
                for count in [1, 2] {
                    let goes_on = interrupted(model, &Check { workers: workers(count), ..check }, &one);
                    assert_eq!(
                        goes_on, one,
                        "{name}: resumed, {count} workers, raw {raw}, {partial_order:?}"
                    );
                }
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
            // Each is written to the disk several times.
            let resumes = compared % 5 == 0;
            compared += usize::from(compare(&path.display().to_string(), &model, resumes));
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
            compared += u64::from(compare(&format!("seed {seed}\n{text}"), &model, seed % 3 == 0));
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
    assert!(refused(Check { fair: true, ..Check::default() }).contains("fair runs"));
    assert!(refused(Check { search: SearchKind::DepthFirst, ..safety }).contains("depth-first"));
    assert!(refused(Check { store: StoreKind::Gzip, ..safety }).contains("gzip"));
    for check in [Check::default(), Check { search: SearchKind::DepthFirst, ..safety }] {
        assert!(model.check(&Check { workers: workers(1), ..check }).is_ok() && model.check(&check).is_ok());
    }
    assert_eq!(model.check(&Check { workers: workers(2), ..safety }).expect("checked").workers, 2);
}
