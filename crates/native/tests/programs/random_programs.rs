//! Random model programs as C programs: what every mode finds natively is what visiting all states of the model finds.
//!
//! `QUOTIENT_RANDOM_C=2000 cargo test -p quotient-native --test programs random_programs` for volume.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::c_source::Observed;
use quotient_native::session::Surroundings;
use quotient_native::{Answer, Binary, Build, Request, check};
use quotient_stateless::{Algorithm, Symmetry};
use quotient_thread_programs::generate::{self, Shape};
use quotient_thread_programs::{Machine, Program, brute_force};

/// Programs per file.
const BATCH: usize = 40;

fn build(programs: &[Program], observed: Observed, name: &str) -> Binary {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = directory.join(format!("{name}.c"));
    std::fs::write(&path, crate::c_source::file(programs, observed))
        .expect("the test directory can be written");
    Build { sources: vec![path], ..Build::default() }.run().unwrap_or_else(|error| panic!("{error}"))
}

struct Mode {
    algorithm: Algorithm,
    symmetry: Symmetry,
    workers: usize,
}

fn run(binary: &Binary, number: usize, mode: &Mode) -> (BTreeSet<u64>, u64, String) {
    let request = Request {
        algorithm: mode.algorithm,
        symmetry: mode.symmetry,
        workers: mode.workers,
        split_after: 0,
        all: true,
        surroundings: Surroundings { arguments: vec![number.to_string().into()], ..Surroundings::default() },
        ..Request::default()
    };
    let report =
        check(binary, &request, &mut |_| true).unwrap_or_else(|error| panic!("program {number}: {error}"));
    let why = match &report.answer {
        Answer::Undecided(why) => why.to_string(),
        Answer::Refused(why, _) => why.clone(),
        Answer::Violated(trace) => format!("{}: {}", trace.failure.kind.text(), trace.failure.text),
        Answer::Holds => "holds".to_owned(),
    };
    (report.outcomes.into_iter().collect(), report.figures.executions, why)
}

/// A generator of programs; are the executions of the optimal mode their traces?
struct Source {
    program: fn(u64) -> Program,
    countable: fn(u64) -> bool,
}

fn shape(seed: u64) -> Shape {
    Shape::ALL[seed as usize % Shape::ALL.len()]
}

/// Unlocking what is not locked is no operation of the C program, so there the counts can differ.
const MIXED: Source = Source {
    program: |seed| generate::program(seed, shape(seed), 8),
    countable: |seed| shape(seed) != Shape::Synchronisation,
};

/// Additions that commute are fewer executions.
const COUNTING: Source = Source {
    program: |seed| {
        let counting = generate::counting_program(seed);
        let (semaphores, barriers) = (vec![0], vec![2]);
        Program { mutexes: 2, locks: 1, conditions: 1, semaphores, barriers, ..counting }
    },
    countable: |_| false,
};

fn compare(source: &Source, observed: Observed, modes: &[Mode], name: &str) {
    let count = std::env::var("QUOTIENT_RANDOM_C").ok().and_then(|n| n.parse().ok()).unwrap_or(BATCH);
    let mut checked = 0;
    for batch in 0..count.div_ceil(BATCH) {
        let seeds = (0..BATCH).map(|i| (batch * BATCH + i) as u64);
        let programs: Vec<Program> = seeds.map(source.program).collect();
        let binary = build(&programs, observed, &format!("{name}-{batch}"));
        for (number, program) in programs.iter().enumerate() {
            let Some(expected) = crate::c_source::outcomes(program, observed, 200_000) else { continue };
            let mut made: Vec<(&Mode, u64)> = Vec::new();
            for mode in modes {
                let (found, executions, why) = run(&binary, number, mode);
                let Mode { algorithm, symmetry, workers } = mode;
                assert_eq!(
                    found,
                    expected,
                    "{algorithm:?}, {symmetry:?}, {workers} processes, seed {} {why}\n{program}",
                    batch * BATCH + number
                );
                let alike = |m: &&(&Mode, u64)| (m.0.algorithm, m.0.symmetry) == (*algorithm, *symmetry);
                if let Some((_, before)) = made.iter().find(alike) {
                    assert_eq!(executions, *before, "{symmetry:?}, {workers} processes\n{program}");
                }
                made.push((mode, executions));
                let countable =
                    (source.countable)((batch * BATCH + number) as u64) && *symmetry == Symmetry::Off;
                if *algorithm == Algorithm::Optimal
                    && countable
                    && let Some(traces) = brute_force::traces(&Machine::new(program.clone()), 200_000)
                {
                    assert_eq!(
                        executions,
                        traces as u64,
                        "executions, seed {}\n{program}",
                        batch * BATCH + number
                    );
                }
            }
            checked += 1;
        }
    }
    assert!(checked * 10 >= count * 9, "too few programs were small enough: {checked} of {count}");
}

#[test]
fn outcomes_are_those_of_all_interleavings() {
    let modes = [
        (Algorithm::Optimal, 1),
        (Algorithm::Optimal, 3),
        (Algorithm::SourceSets, 1),
        (Algorithm::FlanaganGodefroid, 1),
    ]
    .map(|(algorithm, workers)| Mode { algorithm, symmetry: Symmetry::Off, workers });
    compare(&MIXED, Observed::Everything, &modes, "everything");
}

#[test]
fn symmetry_loses_no_outcome() {
    let modes = [
        (Algorithm::Optimal, Symmetry::Costarted, 1),
        (Algorithm::Optimal, Symmetry::Costarted, 3),
        (Algorithm::SourceSets, Symmetry::Costarted, 1),
        (Algorithm::Optimal, Symmetry::Dynamic, 1),
        (Algorithm::Optimal, Symmetry::Dynamic, 3),
        (Algorithm::SourceSets, Symmetry::Dynamic, 1),
    ]
    .map(|(algorithm, symmetry, workers)| Mode { algorithm, symmetry, workers });
    compare(&MIXED, Observed::Variables, &modes, "variables");
}

#[test]
fn counts_of_references_lose_no_outcome() {
    let modes = [(Symmetry::Off, 1), (Symmetry::Off, 3)].map(|(symmetry, workers)| Mode {
        algorithm: Algorithm::Optimal,
        symmetry,
        workers,
    });
    compare(&COUNTING, Observed::Everything, &modes, "counting");
    let modes = [(Symmetry::Costarted, 1), (Symmetry::Dynamic, 1), (Symmetry::Dynamic, 3)]
        .map(|(symmetry, workers)| Mode { algorithm: Algorithm::Optimal, symmetry, workers });
    compare(&COUNTING, Observed::Variables, &modes, "counting-alike");
}
