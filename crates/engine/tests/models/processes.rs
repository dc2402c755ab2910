//! A check by several processes, here threads with connections between them, gives the answers of one: on all models and on random programs, with reductions and
//! without; divided from the first state on, so that small models count.
//!
//! `QUOTIENT_PROCESSES_STATES` sets how large models may be, `QUOTIENT_PROCESSES_PROGRAMS` how many random programs there are.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use quotient_checkpoint::{Checkpoint, Identity};
use quotient_cluster::Meeting;
use quotient_engine::{
    Check, CheckError, LoadOptions, Model, Outcome, PartialOrder, Processes, Question, Verdict,
};
use quotient_reference::{generate, print};
use quotient_search::Limits;
use quotient_testing::{Folder, models, setting};

use crate::workers::{told, workers};

/// Places on this machine, each with who listens there.
fn places(count: usize) -> (Vec<TcpListener>, Vec<String>) {
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0").expect("there is a port")).collect();
    let names = listeners.iter().map(|l| l.local_addr().expect("it has an address").to_string()).collect();
    (listeners, names)
}

/// The outcomes of all processes; each loads the model by itself.
fn together(
    load: &(impl Fn() -> Model + Sync),
    check: &Check<'_>,
    count: usize,
    folder: Option<&Path>,
) -> Vec<Result<Outcome, CheckError>> {
    let (listeners, hosts) = places(count);
    std::thread::scope(|scope| {
        let threads: Vec<_> = listeners
            .into_iter()
            .enumerate()
            .map(|(process, listener)| {
                let (hosts, token) = (hosts.clone(), b"a token for tests".to_vec());
                let wait = Duration::from_secs(60);
                let meeting = Meeting { hosts, process, listen: None, token, wait, again: String::new() };
                scope.spawn(move || {
                    let cluster = Mutex::new(meeting.meet_at(&listener, &Vec::new()).expect("they meet"));
                    let lost = || panic!("process 0 is lost");
                    let processes = Some(Processes { cluster: &cluster, alone: 0, lost });
                    let checkpoint = folder.map(|folder| Mutex::new(checkpoint(folder, process, count)));
                    let outcome =
                        load().check(&Check { processes, checkpoint: checkpoint.as_ref(), ..*check });
                    cluster.into_inner().expect("nobody panics").finish();
                    outcome
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// The checkpoint of a process: begun or gone on with.
fn checkpoint(folder: &Path, process: usize, count: usize) -> Checkpoint {
    let identity = Identity {
        quotient: "test".into(),
        arguments: Vec::new(),
        folder: folder.into(),
        checksum: String::new(),
        process: Some((process, count)),
    };
    let own = folder.join(format!("process-{process}"));
    match own.exists() {
        true => Checkpoint::resume(&own, &identity).expect("it can be resumed"),
        false => Checkpoint::create(&own, identity, "run".into()).expect("it can be made"),
    }
}

/// The outcomes of processes that were interrupted at a third and at two thirds of this depth.
fn interrupted(
    load: &(impl Fn() -> Model + Sync),
    check: &Check<'_>,
    depth: u64,
) -> Vec<Result<Outcome, CheckError>> {
    let folder = Folder::new();
    for depth in [depth / 3, depth / 3 * 2] {
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        for outcome in together(load, &Check { limits, ..*check }, 2, Some(folder.path())) {
            // They may have found what they were to find.
            assert!(outcome.is_err() || outcome.is_ok_and(|outcome| outcome.verdict != Verdict::Holds));
        }
    }
    together(load, check, 2, Some(folder.path()))
}

/// Compares processes with one; `false` if the model is too large or not to be checked.
fn compare(name: &str, load: &(impl Fn() -> Model + Sync), which: usize) -> bool {
    let states = Some(setting("QUOTIENT_PROCESSES_STATES", 1_500));
    let limited = Check {
        limits: Limits { states, ..Limits::default() },
        safety_only: true,
        workers: workers(1),
        ..Check::default()
    };
    match load().check(&Check { raw: true, all: true, ..limited }) {
        Ok(outcome) if outcome.second_look.is_none() && Some(outcome.statistics.states) < states => {}
        _ => return false,
    }
    let ways = [(true, PartialOrder::Off), (false, PartialOrder::Off), (false, PartialOrder::On)];
    for (way, (raw, partial_order)) in ways.into_iter().enumerate() {
        for all in [false, true] {
            // Meeting takes longer than checking: not each model in each way.
            if !(way + usize::from(all) + which).is_multiple_of(3) {
                continue;
            }
            let check = Check { raw, partial_order, all, limits: Limits::default(), ..limited };
            let reduced = partial_order != PartialOrder::Off;
            let one = load().check(&check);
            let depth = one.as_ref().map_or(0, |outcome| outcome.statistics.depth);
            let one = one.map(|outcome| told(&outcome, reduced)).unwrap_or_else(|error| error.to_string());
            let mut outcomes = together(load, &check, 3, None);
            let whole = outcomes.len();
            if depth > 2 && which.is_multiple_of(2) {
                outcomes.extend(interrupted(load, &check, depth));
            }
            for (number, outcome) in outcomes.into_iter().enumerate() {
                let process = if number < whole { number } else { number - whole };
                let said = outcome.map(|outcome| {
                    // What was never executed only the first process knows.
                    let said = told(&outcome, reduced);
                    if process == 0 { said } else { said.rsplit_once('\n').unwrap_or_default().0.to_owned() }
                });
                let said = said.unwrap_or_else(|error| error.to_string());
                let expected =
                    if process == 0 { &one } else { one.rsplit_once('\n').unwrap_or((&one, "")).0 };
                assert_eq!(
                    said,
                    expected,
                    "{name}: process {process}, raw {raw}, {partial_order:?}, all {all}, interrupted: {}",
                    number >= whole
                );
            }
        }
    }
    true
}

#[test]
fn models_by_several_processes() {
    let (paths, mut compared) = (models(), 0);
    for (which, path) in paths.iter().enumerate() {
        let load = || Model::load(path, &LoadOptions::default());
        if load().is_ok() {
            let load = || load().unwrap_or_else(|_| panic!("it was loaded before"));
            compared += usize::from(compare(&path.display().to_string(), &load, which));
        }
    }
    assert!(compared >= 150, "only {compared} of {} models", paths.len());
}

#[test]
fn random_programs_by_several_processes() {
    let (count, seed) = (setting("QUOTIENT_PROCESSES_PROGRAMS", 60), setting("QUOTIENT_SEED", 390_000));
    let mut compared = 0;
    for seed in seed..seed + count {
        let text = print(&generate(seed, 1 + (seed % 12) as usize));
        let load = || Model::from_text("random.pml", &text);
        if load().is_ok() {
            let load = || load().unwrap_or_else(|_| panic!("it was loaded before"));
            compared += u64::from(compare(&format!("seed {seed}\n{text}"), &load, seed as usize));
        }
    }
    assert!(compared * 2 >= count, "only {compared} of {count} programs");
}

/// What must be the same for infinite runs: the verdict, and of what holds the states and steps; of a run that was found the length, where it is so short that
/// the work allowed is enough. (Which one of several violations is met first may differ.)
fn answers(outcome: &Outcome) -> (String, Option<usize>) {
    let counts = outcome.answers.iter().map(|answer| {
        let s = answer.statistics;
        format!("{} states, {} steps; ", s.states, s.transitions)
    });
    match (&outcome.verdict, &outcome.violations[..]) {
        (Verdict::Violated, [run]) if run.cycle > 0 => ("violated".to_owned(), Some(run.choices.len())),
        (Verdict::Violated, _) => ("violated".to_owned(), None),
        (other, _) => (format!("{other:?}: {}", counts.collect::<String>()), None),
    }
}

/// Compares processes with one on questions about infinite runs; whether there was something to compare, and whether a run was found.
fn compare_runs(
    name: &str,
    load: &(impl Fn() -> Model + Sync),
    asked: Check<'_>,
    which: usize,
) -> (bool, bool) {
    let states = Some(setting("QUOTIENT_PROCESSES_STATES", 1_500));
    let (mut compared, mut found) = (false, false);
    for (raw, partial_order) in
        [(true, PartialOrder::Off), (false, PartialOrder::Off), (false, PartialOrder::On)]
    {
        let limits = Limits { states, ..Limits::default() };
        let check = Check { raw, partial_order, limits, workers: workers(1), ..asked };
        let Ok(one) = load().check(&check) else { continue };
        if matches!(one.verdict, Verdict::Undecided(_)) {
            continue;
        }
        let expected = answers(&one);
        compared = true;
        found |= expected.1.is_some();
        let check = Check { limits: Limits::default(), ..check };
        for (process, outcome) in together(load, &check, 2 + which % 2, None).into_iter().enumerate() {
            let outcome = outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
            let said = answers(&outcome);
            let same_length = match (said.1, expected.1) {
                (Some(one), Some(other)) => one == other || one.min(other) > 12,
                _ => true,
            };
            assert!(
                said.0 == expected.0 && same_length,
                "{said:?}, not {expected:?}: {name}: process {process}, raw {raw}, {partial_order:?}, {asked:?}"
            );
        }
    }
    (compared, found)
}

#[test]
fn infinite_runs_by_several_processes() {
    let (mut compared, mut found) = ([0; 3], [0; 3]);
    for (which, path) in models().iter().enumerate() {
        let load = || Model::load(path, &LoadOptions::default());
        let Ok(model) = load() else { continue };
        let load = || load().unwrap_or_else(|_| panic!("it was loaded before"));
        let default = Check::default();
        let claims = model
            .questions(&default)
            .is_ok_and(|asked| asked.iter().any(|question| *question != Question::Safety));
        let asked = [default, Check { progress: true, ..default }, Check { acceptance: true, ..default }];
        for (number, asked) in asked.into_iter().enumerate() {
            // Meeting takes longer than checking: not each model for progress of processes.
            if if number == 0 { claims } else { which % 5 == number } {
                let (done, run) = compare_runs(&path.display().to_string(), &load, asked, which);
                compared[number] += u32::from(done);
                found[number] += u32::from(run);
            }
        }
    }
    assert!(compared.iter().all(|count| *count >= 3) && found[0] + found[1] >= 5, "{compared:?}, {found:?}");
}

#[test]
fn infinite_runs_of_random_programs_by_several_processes() {
    let (count, seed) = (setting("QUOTIENT_PROCESSES_PROGRAMS", 60), setting("QUOTIENT_SEED", 490_000));
    // Beside the program goes a process that counts round and round: what of it holds depends on whether the others can keep it from that.
    let formulas = [
        "[] <> (round == 0)",
        "<> [] (round == 0)",
        "([] <> (round == 1)) -> ([] <> (round == 2))",
        "([] <> (round == 1)) -> (<> [] (round == 1))",
        "[] ((round == 1) -> <> (round == 2))",
    ];
    let rounds = "byte round;\nactive proctype Round() { do :: round = (round + 1) % 3 od }";
    let (mut compared, mut found) = (0, 0);
    for seed in seed..seed + count {
        let text = print(&generate(seed, 1 + (seed % 12) as usize));
        let formula = formulas[seed as usize % formulas.len()];
        let with_formula = format!("{text}\n{rounds}\nltl f {{ {formula} }}\n");
        let load = || Model::from_text("random.pml", &with_formula);
        if load().is_ok() {
            let load = || load().unwrap_or_else(|_| panic!("it was loaded before"));
            let name = format!("seed {seed}\n{with_formula}");
            let (done, run) = compare_runs(&name, &load, Check::default(), seed as usize);
            compared += u64::from(done);
            found += u64::from(run);
        }
    }
    assert!(compared * 3 >= count && found * 20 >= count, "{compared}, {found} of {count} programs");
}
