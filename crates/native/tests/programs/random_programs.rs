//! Random model programs as C programs: what every mode finds natively is what visiting all states of the model finds.
//!
//! `QUOTIENT_RANDOM_C=2000 cargo test -p quotient-native --test programs random_programs` for volume.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::c_source::Observed;
use quotient_native::session::Surroundings;
use quotient_native::{Answer, Binary, Build, Request, check};
use quotient_stateless::model::generate::{self, Shape};
use quotient_stateless::model::{Machine, Program, brute_force};
use quotient_stateless::{Algorithm, Symmetry};

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

fn compare(observed: Observed, modes: &[Mode], name: &str) {
    let count = std::env::var("QUOTIENT_RANDOM_C").ok().and_then(|n| n.parse().ok()).unwrap_or(BATCH);
    let mut checked = 0;
    for batch in 0..count.div_ceil(BATCH) {
        let seeds = (0..BATCH).map(|i| (batch * BATCH + i) as u64);
        let shape = |seed: u64| Shape::ALL[seed as usize % Shape::ALL.len()];
        let programs: Vec<Program> = seeds.map(|seed| generate::program(seed, shape(seed), 8)).collect();
        let binary = build(&programs, observed, &format!("{name}-{batch}"));
        for (number, program) in programs.iter().enumerate() {
            let Some(expected) = crate::c_source::outcomes(program, observed, 200_000) else { continue };
            let shape = shape((batch * BATCH + number) as u64);
            for mode in modes {
                let (found, executions, why) = run(&binary, number, mode);
                let Mode { algorithm, symmetry, workers } = mode;
                assert_eq!(
                    found,
                    expected,
                    "{algorithm:?}, {symmetry:?}, {workers} processes, seed {} {why}\n{program}",
                    batch * BATCH + number
                );
                // Reader locks taken twice are no operations of the C program, so there the counts can differ.
                let countable = shape != Shape::Synchronisation && *symmetry == Symmetry::Off;
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
    compare(Observed::Everything, &modes, "everything");
}

#[test]
fn symmetry_loses_no_outcome() {
    let modes = [
        (Algorithm::Optimal, Symmetry::Costarted),
        (Algorithm::SourceSets, Symmetry::Costarted),
        (Algorithm::Optimal, Symmetry::Dynamic),
        (Algorithm::SourceSets, Symmetry::Dynamic),
    ]
    .map(|(algorithm, symmetry)| Mode { algorithm, symmetry, workers: 1 });
    compare(Observed::Variables, &modes, "variables");
}
