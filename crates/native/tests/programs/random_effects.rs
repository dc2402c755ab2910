//! Random programs of calls that touch files, descriptors, a stream, the environment and random numbers: the outcomes found are
//! those of all orders of the calls, as a little operating system executes them; and every schedule that was explored ends in
//! the same outcome on kernel threads.
//!
//! `QUOTIENT_RANDOM_EFFECTS=500 cargo test -p quotient-native --test programs random_effects` for volume; `QUOTIENT_SEED` is the first batch of ten programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::little_system::{Call, Program, c_source, outcomes};
use quotient_native::session::Surroundings;
use quotient_native::{Answer, Binary, Build, Record, Report, Request, check, replay};

/// Programs per file.
const BATCH: usize = 10;
/// Schedules of a program that are repeated without `QUOTIENT_RANDOM_EFFECTS`; with it, all.
const SCHEDULES: usize = 2;

fn asked() -> Option<usize> {
    std::env::var("QUOTIENT_RANDOM_EFFECTS").ok().and_then(|n| n.parse().ok())
}

/// Few calls in a short run. In a long one some programs have all that are possible, which can take a minute.
fn most_calls(seed: u64) -> usize {
    match asked() {
        None => 6,
        Some(_) if seed.is_multiple_of(50) => 12,
        Some(_) => 8,
    }
}

fn build(programs: &[Program], name: &str) -> Binary {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.c"));
    std::fs::write(&path, c_source(programs)).expect("the test directory can be written");
    Build { sources: vec![path], flags: vec!["-w".into()], ..Build::default() }
        .run()
        .unwrap_or_else(|e| panic!("{e}"))
}

fn request(number: usize) -> Request {
    Request {
        surroundings: Surroundings { arguments: vec![number.to_string().into()], ..Surroundings::default() },
        record: Record::All,
        ..Request::default()
    }
}

/// What an execution that observes `number` is known by (see `__quotient_observe`).
fn hash(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_add(1) >> 8
}

/// The outcome that an execution prints.
fn printed(output: &str) -> Option<u64> {
    let line = output.lines().find_map(|line| line.rsplit_once("outcome "))?;
    u64::from_str_radix(line.1, 16).ok()
}

/// Repeats the schedules of the exploration on kernel threads: each ends as it did there.
fn repeat(
    binary: &Binary,
    number: usize,
    report: &Report,
    hashes: &BTreeMap<u64, u64>,
    program: &Program,
) -> usize {
    let recorded = report.recorded.as_ref().expect("there is room for the schedules");
    assert_eq!(recorded.len() as u64, report.figures.executions, "{program:?}");
    let most = if asked().is_some() { usize::MAX } else { SCHEDULES };
    for (code, token) in recorded.iter().take(most) {
        let trace = replay(binary, &request(number), token, true).unwrap_or_else(|e| panic!("{number}: {e}"));
        assert!(!trace.lost, "{token}\n{program:?}");
        let explored = hashes.get(code).copied();
        assert!(explored.is_some(), "{code:x} {token}\n{program:?}");
        assert_eq!(printed(&trace.trace.output), explored, "{token}\n{program:?}");
    }
    recorded.len().min(most)
}

#[test]
fn outcomes_are_those_of_all_orders() {
    let count = asked().unwrap_or(BATCH);
    let (mut several, mut repeated) = (0, 0);
    let first = std::env::var("QUOTIENT_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    for batch in first..first + count.div_ceil(BATCH) {
        // Most programs in which no order matters are left out.
        let seeds = (batch as u64 * 1_000_000 + 1..).filter(|seed| {
            seed.is_multiple_of(16) || outcomes(&Program::random(*seed, most_calls(*seed))).len() > 1
        });
        let programs: Vec<Program> =
            seeds.take(BATCH).map(|seed| Program::random(seed, most_calls(seed))).collect();
        let binary = build(&programs, &format!("random-effects-{batch}"));
        for (number, program) in programs.iter().enumerate() {
            let expected = outcomes(program);
            let report = check(&binary, &request(number), &mut |_| true)
                .unwrap_or_else(|e| panic!("{number}: {e}\n{program:?}"));
            assert!(matches!(report.answer, Answer::Holds), "{number}: {:?}\n{program:?}", report.answer);
            let hashes: BTreeMap<u64, u64> = expected.iter().map(|o| (hash(*o), *o)).collect();
            let found: BTreeSet<Option<u64>> =
                report.outcomes.iter().map(|o| hashes.get(o).copied()).collect();
            let wanted: BTreeSet<Option<u64>> = expected.iter().map(|o| Some(*o)).collect();
            assert_eq!(found, wanted, "program {number} of batch {batch}\n{program:?}");
            several += usize::from(expected.len() > 1);
            repeated += repeat(&binary, number, &report, &hashes, program);
        }
        if asked().is_some() {
            println!("batch {batch}: {repeated} schedules repeated so far");
        }
    }
    println!(
        "{count} programs, {several} with several outcomes, {repeated} schedules repeated on kernel threads"
    );
    assert!(several * 3 >= count, "too few programs have orders that matter: {several} of {count}");
}

/// What the comparison is about must be made: every kind of call occurs.
#[test]
fn the_generator_makes_every_kind_of_call() {
    let mut kinds: BTreeSet<String> = BTreeSet::new();
    for program in (1..500).map(|seed| Program::random(seed, 12)) {
        assert!(program.threads.len() <= 3 && program.threads.iter().all(|calls| calls.len() <= 4));
        let name = |call: &Call| format!("{call:?}").split('(').next().unwrap_or_default().to_owned();
        kinds.extend(program.threads.iter().flatten().map(name));
    }
    assert_eq!(kinds.len() as u64, Call::KINDS, "{kinds:?}");
}
