//! Infinite runs and formulas of branching time by any number of workers: the answers of one; and of what holds the states and steps, too.
//!
//! `QUOTIENT_CYCLE_WORKERS` sets how often each model is checked: workers that meet otherwise each time.

use quotient_engine::{
    Check, CheckError, LoadOptions, Model, Outcome, PartialOrder, Question, Symmetry, Verdict,
};
use quotient_search::Limits;
use quotient_testing::{models, setting};

use crate::workers::workers;

/// What must not depend on the number of workers: the verdict; of what holds the counts; of an infinite run the length.
fn told(outcome: &Outcome) -> String {
    let answers = outcome.answers.iter().map(|answer| {
        let s = answer.statistics;
        format!("{} states, {} steps; ", s.states, s.transitions)
    });
    match outcome.verdict {
        Verdict::Violated => "violated".to_owned(),
        ref other => format!("{other:?}: {}", answers.collect::<String>()),
    }
}

/// Up to this length, the shortest run is looked for with success.
const SHORT: usize = 20;

/// The length of the infinite run that was found, if nothing else was.
fn infinite(outcome: &Outcome) -> Option<usize> {
    match &outcome.violations[..] {
        [run] if run.cycle > 0 => Some(run.choices.len()),
        _ => None,
    }
}

/// Compares numbers of workers on questions about a model; whether there was something to compare, and whether something was wrong.
fn compare(name: &str, model: &Model, asked: Check<'_>) -> (bool, bool) {
    let states = Some(setting("QUOTIENT_WORKERS_STATES", 1_500));
    let limits = Limits { states, ..Limits::default() };
    let symmetry = asked.fair.then_some(Symmetry::Off);
    let (mut compared, mut wrong) = (false, false);
    for (raw, partial_order) in [(true, PartialOrder::Off), (false, PartialOrder::On)] {
        let check = Check { raw, partial_order, symmetry, limits, ..asked };
        let Ok(one) = model.check(&Check { workers: workers(1), ..check }) else { continue };
        if matches!(one.verdict, Verdict::Undecided(_)) {
            continue;
        }
        compared = true;
        wrong |= infinite(&one).is_some();
        for count in [2, 3] {
            for _ in 0..setting("QUOTIENT_CYCLE_WORKERS", 1) {
                let several =
                    model.check(&Check { workers: workers(count), limits: Limits::default(), ..check });
                let several = several.unwrap_or_else(|error| panic!("{name}: {error}"));
                let way = format!("{name}: {count} workers, {check:?}");
                assert_eq!(told(&several), told(&one), "{way}");
                // Under fairness there are many things to meet on a run, and it need not be the shortest.
                if let (Some(one), Some(several), false) = (infinite(&one), infinite(&several), asked.fair)
                    && one <= SHORT
                {
                    assert_eq!(several, one, "{way}");
                }
            }
        }
    }
    (compared, wrong)
}

#[test]
fn any_number_of_workers_finds_infinite_runs() {
    let (mut compared, mut wrong) = ([0; 6], [0; 6]);
    for path in models() {
        let Ok(model) = Model::load(&path, &LoadOptions::default()) else { continue };
        let claims = model
            .questions(&Check::default())
            .is_ok_and(|asked| asked.iter().any(|question| *question != Question::Safety));
        let default = Check::default();
        let asked = [
            default,
            Check { progress: true, ..default },
            Check { acceptance: true, ..default },
            Check { fair: true, ..default },
            Check { progress: true, fair: true, ..default },
            Check { acceptance: true, fair: true, ..default },
        ];
        for (number, asked) in asked.into_iter().enumerate() {
            if claims || asked.progress || asked.acceptance {
                let (done, violated) = compare(&path.display().to_string(), &model, asked);
                compared[number] += u32::from(done);
                wrong[number] += u32::from(violated);
            }
        }
    }
    let least = |of: [u32; 6]| [of[0], of[1], of[2], of[4], of[5]].into_iter().min();
    assert!(least(compared) >= Some(3) && compared[1] >= 50, "only {compared:?} models");
    assert!(wrong[1] >= 20 && wrong[4] >= 10, "only {wrong:?} of them wrong");
}

/// Cycles of non-progress and acceptance, of processes without a claim.
#[test]
fn labels_are_met_by_any_number_of_workers() {
    let text = "byte x, y;
active [2] proctype P() { do :: x < 4 -> x++ :: x > 0 -> progress: x-- :: skip od }
active proctype Q() { do :: y = (y + 1) % 3; accept: skip od }";
    let model = Model::from_text("labels.pml", text).expect("loads");
    for (progress, acceptance) in [(true, false), (false, true)] {
        let check = Check { progress, acceptance, ..Check::default() };
        let run = |count| match model.check(&Check { workers: workers(count), ..check }) {
            Ok(outcome) => (told(&outcome), infinite(&outcome)),
            Err(CheckError::Refused(why)) => panic!("refused: {why}"),
            Err(error) => panic!("{error}"),
        };
        assert!(run(1).1.is_some());
        for count in [2, 4, 2, 4] {
            assert_eq!(run(count), run(1), "{count} workers, progress {progress}");
        }
    }
}
