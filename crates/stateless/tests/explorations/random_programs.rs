//! Random programs: every mode finds exactly the outcomes of brute force (up to the symmetry), and
//! the optimal mode makes exactly one execution per Mazurkiewicz trace.
//!
//! A slice runs by default. `QUOTIENT_STATELESS_PROGRAMS=50000` checks that many programs of each
//! shape together; `QUOTIENT_STATELESS_SEED` starts elsewhere. A failure prints the seed and the
//! smallest program that fails in the same way.

use std::collections::BTreeSet;

use quotient_stateless::{Algorithm, Configuration, Ending, Outcome, Statistics, Symmetry, explore};
use quotient_thread_programs::generate::{self, Shape};
use quotient_thread_programs::residual::UpTo;
use quotient_thread_programs::{Machine, Program, brute_force, shrink};

const STATES: usize = 200_000;
const INTERLEAVINGS: u64 = 60_000;

fn explored(
    program: &Program,
    algorithm: Algorithm,
    symmetry: Symmetry,
) -> (BTreeSet<(Ending, u64)>, Statistics) {
    let mut machine = Machine::new(program.clone());
    let configuration =
        Configuration { algorithm, symmetry, stop_at_first: false, ..Configuration::default() };
    let mut found = BTreeSet::new();
    let mut up_to = UpTo { machine: &mut machine, symmetry };
    let report = explore(&mut up_to, &configuration, &mut |outcome: Outcome| {
        found.insert((outcome.ending, outcome.hash));
    });
    (found, report.expect("model programs are deterministic").statistics)
}

/// What is wrong with the exploration of this program, if anything.
fn fault(program: &Program, totals: &mut Totals) -> Option<String> {
    let machine = Machine::new(program.clone());
    let all = |symmetry| brute_force::outcomes(&machine, symmetry, STATES).expect("small enough");
    let expected = all(Symmetry::Off);
    let traces = brute_force::traces(&machine, INTERLEAVINGS);
    totals.counted += u64::from(traces.is_some());
    for algorithm in [Algorithm::FlanaganGodefroid, Algorithm::SourceSets, Algorithm::Optimal] {
        let (found, statistics) = explored(program, algorithm, Symmetry::Off);
        if found != expected {
            return Some(format!("{algorithm:?}: {} outcomes of {}", found.len(), expected.len()));
        }
        totals.add(algorithm, Symmetry::Off, &statistics);
        if algorithm == Algorithm::Optimal && statistics.sleep_set_blocked != 0 {
            return Some(format!("optimal: {} executions blocked", statistics.sleep_set_blocked));
        }
        // Sleep sets alone guarantee at most one complete execution per trace, persistent sets alone
        // at least one.
        let right = traces.is_none_or(|traces| match algorithm {
            Algorithm::FlanaganGodefroid => statistics.executions >= traces as u64,
            _ => statistics.executions == traces as u64,
        });
        if !right {
            return Some(format!(
                "{algorithm:?}, count: {} executions, {traces:?} traces",
                statistics.executions
            ));
        }
    }
    for symmetry in [Symmetry::Costarted, Symmetry::Dynamic] {
        let expected = all(symmetry);
        for algorithm in [Algorithm::SourceSets, Algorithm::Optimal] {
            let (found, statistics) = explored(program, algorithm, symmetry);
            if found != expected {
                return Some(format!(
                    "{algorithm:?}, {symmetry:?}: {} outcomes of {}",
                    found.len(),
                    expected.len()
                ));
            }
            if algorithm == Algorithm::Optimal && statistics.sleep_set_blocked != 0 {
                return Some(format!("optimal, {symmetry:?}: {} blocked", statistics.sleep_set_blocked));
            }
            totals.add(algorithm, symmetry, &statistics);
        }
    }
    None
}

#[derive(Default, Debug)]
struct Totals {
    programs: u64,
    counted: u64,
    modes: Vec<(Algorithm, Symmetry, u64, u64, u64)>,
}

impl Totals {
    fn add(&mut self, algorithm: Algorithm, symmetry: Symmetry, statistics: &Statistics) {
        let at = self.modes.iter().position(|m| m.0 == algorithm && m.1 == symmetry).unwrap_or_else(|| {
            self.modes.push((algorithm, symmetry, 0, 0, 0));
            self.modes.len() - 1
        });
        self.modes[at].2 += statistics.executions;
        self.modes[at].3 += statistics.sleep_set_blocked;
        self.modes[at].4 += statistics.images;
    }
}

fn check(shape: Shape, programs: u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let programs = number("QUOTIENT_STATELESS_PROGRAMS").map_or(programs, |all| all.div_ceil(4));
    let first = number("QUOTIENT_STATELESS_SEED").unwrap_or(1);
    let mut totals = Totals::default();
    for seed in first..first + programs {
        let program = generate::program(seed, shape, 10);
        totals.programs += 1;
        if let Some(fault) = fault(&program, &mut totals) {
            let kind = fault.split(':').next().map(str::to_owned);
            let same = |p: &Program| {
                self::fault(p, &mut Totals::default()).is_some_and(|f| f.split(':').next() == kind.as_deref())
            };
            let smallest = shrink::shrink(&program, same);
            let again = self::fault(&smallest, &mut Totals::default());
            panic!("{shape:?}, seed {seed}: {fault}\n{program}smallest: {again:?}\n{smallest}");
        }
    }
    println!("{shape:?}: {} programs, traces of {} counted", totals.programs, totals.counted);
    for (algorithm, symmetry, executions, blocked, images) in totals.modes {
        println!(
            "  {algorithm:?}, symmetry {symmetry:?}: {executions} executions, {blocked} blocked, {images} images"
        );
    }
}

/// A data race is found iff two accesses can be next to each other.
#[test]
fn data_races() {
    let number = std::env::var("QUOTIENT_STATELESS_PROGRAMS").ok().and_then(|v| v.parse::<u64>().ok());
    let mut racy = [0, 0];
    for shape in Shape::ALL {
        for seed in 1..=number.map_or(60, |all| all / 50) {
            let program = Program { atomic: false, ..generate::program(seed, shape, 8) };
            let expected =
                brute_force::data_race(&Machine::new(program.clone()), STATES).expect("small enough");
            racy[usize::from(expected)] += 1;
            for (algorithm, symmetry) in [
                (Algorithm::FlanaganGodefroid, Symmetry::Off),
                (Algorithm::SourceSets, Symmetry::Off),
                (Algorithm::Optimal, Symmetry::Off),
                (Algorithm::Optimal, Symmetry::Dynamic),
            ] {
                let configuration = Configuration {
                    algorithm,
                    symmetry,
                    data_races: true,
                    stop_at_first: false,
                    ..Configuration::default()
                };
                let report =
                    explore(&mut Machine::new(program.clone()), &configuration, &mut |_| {}).unwrap();
                let found = report.statistics.racy > 0;
                assert_eq!(found, expected, "{shape:?}, seed {seed}: {algorithm:?}, {symmetry:?}\n{program}");
            }
        }
    }
    assert!(racy[0] > 10 && racy[1] > 10, "{racy:?}");
}

/// Too large to count traces by brute force; the outcomes are still known from all states.
#[test]
fn larger() {
    let number = std::env::var("QUOTIENT_STATELESS_PROGRAMS").ok().and_then(|v| v.parse::<u64>().ok());
    let mut totals = Totals::default();
    for shape in Shape::ALL {
        for seed in 1..=number.map_or(8, |all| all / 500) {
            let program = generate::program(seed, shape, 14);
            let machine = Machine::new(program.clone());
            let (_, plain) = explored(&program, Algorithm::SourceSets, Symmetry::Off);
            if plain.executions > 20_000 {
                continue;
            }
            totals.programs += 1;
            let mut executions = Vec::new();
            for symmetry in [Symmetry::Off, Symmetry::Costarted, Symmetry::Dynamic] {
                let expected = brute_force::outcomes(&machine, symmetry, STATES).expect("small enough");
                for algorithm in [Algorithm::SourceSets, Algorithm::Optimal] {
                    let (found, statistics) = explored(&program, algorithm, symmetry);
                    assert_eq!(
                        found, expected,
                        "{shape:?}, seed {seed}: {algorithm:?}, {symmetry:?}\n{program}"
                    );
                    if algorithm == Algorithm::Optimal {
                        assert_eq!(statistics.sleep_set_blocked, 0, "{shape:?}, seed {seed}\n{program}");
                    }
                    if symmetry == Symmetry::Off {
                        executions.push(statistics.executions);
                    }
                    totals.add(algorithm, symmetry, &statistics);
                }
            }
            assert_eq!(executions[0], executions[1], "{shape:?}, seed {seed}\n{program}");
        }
    }
    println!("larger: {} programs", totals.programs);
    for (algorithm, symmetry, executions, blocked, images) in totals.modes {
        println!(
            "  {algorithm:?}, {symmetry:?}: {executions} executions, {blocked} blocked, {images} images"
        );
    }
}

#[test]
fn memory() {
    check(Shape::Memory, 200);
}

#[test]
fn common_end() {
    check(Shape::CommonEnd, 120);
}

#[test]
fn synchronisation() {
    check(Shape::Synchronisation, 400);
}

#[test]
fn created() {
    check(Shape::Created, 300);
}

/// The programs above have threads that lock for reading what they have locked so already.
#[test]
fn readers_lock_again() {
    use quotient_thread_programs::Instruction::{ReadLock, Release};
    let again = |code: &Vec<_>| {
        let mut held = 0;
        code.iter().any(|instruction| {
            match instruction {
                ReadLock(_) => held += 1,
                Release(_) => held = 0,
                _ => {}
            }
            held == 2
        })
    };
    let programs = Shape::ALL.into_iter().flat_map(|shape| (1..=1_000).map(move |seed| (seed, shape)));
    let programs = programs.map(|(seed, shape)| generate::program(seed, shape, 10));
    let count = programs.filter(|program| program.threads.iter().any(again)).count();
    assert!(count >= 30, "only {count} programs");
}
