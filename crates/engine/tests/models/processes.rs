//! A check by several processes, here threads with connections between them, gives the answers of one: on all models and on random programs, with reductions and
//! without; divided from the first state on, so that small models count.
//!
//! `QUOTIENT_PROCESSES_STATES` sets how large models may be, `QUOTIENT_PROCESSES_PROGRAMS` how many random programs there are.

use std::net::TcpListener;
use std::sync::Mutex;
use std::time::Duration;

use quotient_cluster::Meeting;
use quotient_engine::{Check, CheckError, LoadOptions, Model, Outcome, PartialOrder, Processes};
use quotient_reference::{generate, print};
use quotient_search::Limits;
use quotient_testing::{models, setting};

use crate::workers::{told, workers};

/// Places on this machine that are free.
fn places(count: usize) -> Vec<String> {
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0").expect("there is a port")).collect();
    listeners.iter().map(|l| l.local_addr().expect("it has an address").to_string()).collect()
}

/// The outcomes of all processes; each loads the model by itself.
fn together(
    load: &(impl Fn() -> Model + Sync),
    check: &Check<'_>,
    count: usize,
) -> Vec<Result<Outcome, CheckError>> {
    let hosts = places(count);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|process| {
                let (hosts, token) = (hosts.clone(), b"a token for tests".to_vec());
                let wait = Duration::from_secs(60);
                let meeting = Meeting { hosts, process, listen: None, token, wait };
                scope.spawn(move || {
                    let cluster = Mutex::new(meeting.meet(&Vec::new()).expect("they meet"));
                    let lost = || panic!("process 0 is lost");
                    let processes = Some(Processes { cluster: &cluster, alone: 0, lost });
                    let outcome = load().check(&Check { processes, ..*check });
                    cluster.into_inner().expect("nobody panics").finish();
                    outcome
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
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
            let one = load().check(&check).map(|outcome| told(&outcome, reduced));
            let one = one.unwrap_or_else(|error| error.to_string());
            for (process, outcome) in together(load, &check, 3).into_iter().enumerate() {
                let said = outcome.map(|outcome| {
                    // What was never executed only the first process knows.
                    let said = told(&outcome, reduced);
                    if process == 0 { said } else { said.rsplit_once('\n').unwrap_or_default().0.to_owned() }
                });
                let said = said.unwrap_or_else(|error| error.to_string());
                let expected =
                    if process == 0 { &one } else { one.rsplit_once('\n').unwrap_or((&one, "")).0 };
                assert_eq!(
                    said, expected,
                    "{name}: process {process}, raw {raw}, {partial_order:?}, all {all}"
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
