//! Several workers find what one does.

use std::collections::BTreeSet;
use std::sync::Mutex;

use quotient_stateless::{
    Algorithm, Bound, Configuration, Ending, Execution, ExplorationError, Operation, Outcome, Report,
    Symmetry, ThreadId, ThreadSet, Verdict, explore, explore_parallel,
};
use quotient_thread_programs::generate::{self, Shape};
use quotient_thread_programs::residual::outcome_hash;
use quotient_thread_programs::{Machine, Program, brute_force, families};

/// A machine whose outcomes are taken up to a symmetry.
struct UpTo(Machine, Symmetry);

impl Execution for UpTo {
    fn max_threads(&self) -> usize {
        self.0.max_threads()
    }
    fn restart(&mut self) {
        self.0.restart();
    }
    fn enabled(&self) -> ThreadSet {
        self.0.enabled()
    }
    fn pending(&self, thread: ThreadId, alternative: u16) -> Option<Operation> {
        self.0.pending(thread, alternative)
    }
    fn step(&mut self, thread: ThreadId, alternative: u16) {
        self.0.step(thread, alternative);
    }
    fn outcome(&mut self) -> Outcome {
        Outcome { ending: self.0.ending(), hash: outcome_hash(&self.0, self.1) }
    }
    fn symmetric(&mut self, a: ThreadId, b: ThreadId, symmetry: Symmetry) -> bool {
        self.0.symmetric(a, b, symmetry)
    }
}

fn source_sets(symmetry: Symmetry) -> Configuration {
    Configuration {
        algorithm: Algorithm::SourceSets,
        symmetry,
        stop_at_first: false,
        ..Configuration::default()
    }
}

fn explored(program: &Program, symmetry: Symmetry, workers: usize) -> (BTreeSet<(Ending, u64)>, Report) {
    let found = Mutex::new(BTreeSet::new());
    let make = || UpTo(Machine::new(program.clone()), symmetry);
    let report = explore_parallel(make, &source_sets(symmetry), workers, &|outcome: Outcome| {
        found.lock().unwrap().insert((outcome.ending, outcome.hash));
    });
    (found.into_inner().unwrap(), report.unwrap())
}

#[test]
fn one_execution_per_trace() {
    for (program, traces, orbits) in [
        (families::load_store(4), 576, 24),
        (families::load_compare_and_swap(4), 280, 14),
        (families::lock_increment_unlock(5), 120, 1),
        (families::writer_and_readers(8), 256, 256),
    ] {
        for workers in 1..=3 {
            let (_, report) = explored(&program, Symmetry::Off, workers);
            assert_eq!(report.verdict, Verdict::Holds);
            assert_eq!(report.statistics.executions, traces, "{workers} workers\n{program}");
            let (_, report) = explored(&program, Symmetry::Costarted, workers);
            assert_eq!(report.statistics.executions, orbits, "{workers} workers\n{program}");
        }
    }
}

#[test]
fn outcomes_of_random_programs() {
    let programs = std::env::var("QUOTIENT_STATELESS_PROGRAMS").ok().and_then(|v| v.parse::<u64>().ok());
    let programs = programs.map_or(60, |all| all / 20);
    for shape in Shape::ALL {
        for seed in 1..=programs {
            let program = generate::program(seed, shape, 10);
            let machine = Machine::new(program.clone());
            let mut sequential = machine.clone();
            let alone = explore(&mut sequential, &source_sets(Symmetry::Off), &mut |_| {}).unwrap();
            for symmetry in [Symmetry::Off, Symmetry::Costarted, Symmetry::Dynamic] {
                let expected = brute_force::outcomes(&machine, symmetry, 200_000).unwrap();
                let (found, report) = explored(&program, symmetry, 2);
                assert_eq!(found, expected, "{shape:?}, seed {seed}, {symmetry:?}\n{program}");
                if symmetry == Symmetry::Off {
                    assert_eq!(
                        report.statistics.executions, alone.statistics.executions,
                        "{shape:?}, seed {seed}\n{program}"
                    );
                }
            }
        }
    }
}

#[test]
fn violations_bounds_and_refusals() {
    let make = || Machine::new(families::load_store(4));
    let bounded = Configuration { max_executions: Some(10), ..source_sets(Symmetry::Off) };
    let report = explore_parallel(make, &bounded, 2, &|_| {}).unwrap();
    assert_eq!(report.verdict, Verdict::Undecided(Bound::Executions));
    let optimal = Configuration { algorithm: Algorithm::Optimal, ..source_sets(Symmetry::Off) };
    let refused = explore_parallel(make, &optimal, 2, &|_| {});
    assert!(matches!(refused, Err(ExplorationError::Unsupported(_))));
    let racy = || Machine::new(Program { atomic: false, ..families::load_store(3) });
    let races = Configuration { data_races: true, stop_at_first: true, ..source_sets(Symmetry::Off) };
    let report = explore_parallel(racy, &races, 2, &|_| {}).unwrap();
    assert!(matches!(report.verdict, Verdict::Violated(v) if v.ending == Ending::Race));
}
