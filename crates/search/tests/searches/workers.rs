//! Any number of workers, against one: levels, counts, paths, ample sets that must lead to open states.

use quotient_seams::{All, Ample, Identity, Model, Proposals, Proviso, Successors, System, Typed, Worker};
use quotient_search::{Cause, Limits, Options, Report, Seams, Stop, Workers, breadth_first_by_workers};
use quotient_visited::Tree;

/// A graph of numbers with many ways to the same ones, and violations at some; the threads of the program are the bits of a number's moves.
#[derive(Clone)]
pub(crate) struct Tangle {
    pub(crate) size: u64,
    pub(crate) wrong: fn(u64) -> bool,
    pub(crate) ends: fn(u64) -> bool,
}

impl Model for Tangle {
    type State = u64;

    fn initial(&self) -> Vec<u64> {
        vec![1, 2]
    }

    fn next(&self, state: &u64) -> Vec<u64> {
        if (self.ends)(*state) {
            return Vec::new();
        }
        let mixed = state.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        [state + 1, state * 2, mixed % self.size, state ^ 5].map(|next| next % self.size).to_vec()
    }

    fn check(&self, state: &u64) -> Result<(), String> {
        if (self.wrong)(*state) { Err("wrong".to_owned()) } else { Ok(()) }
    }

    fn is_valid_end(&self, _: &u64) -> bool {
        false
    }
}

/// Proposes the first thread alone where the state is even, and asks for an open successor.
#[derive(Clone)]
pub(crate) struct Some1;

impl Worker for Some1 {
    fn another(&self) -> Some1 {
        Some1
    }
}

impl<S> Ample<S> for Some1 {
    const PROPOSALS: u32 = 1;

    fn proposals(&mut self, _: &mut S, state: &[u64]) -> Proposals {
        Proposals::alone(u64::from(state.last().is_some_and(|word| word % 2 == 0)))
    }

    fn proviso(&self) -> Proviso {
        Proviso::SomeOpen
    }

    fn name(&self) -> &'static str {
        "some"
    }
}

fn run<A: Ample<Typed<Tangle>> + Worker>(
    tangle: &Tangle,
    ample: A,
    count: usize,
    all: bool,
    limits: Limits,
) -> Report {
    let mut options = Options { all, limits, finish_levels_from: 0, ..Options::default() };
    run_with(tangle, ample, Workers { count, from: 0, narrow: 0 }, &mut options)
}

pub(crate) fn run_with<A: Ample<Typed<Tangle>> + Worker>(
    tangle: &Tangle,
    mut ample: A,
    workers: Workers,
    options: &mut Options<'_>,
) -> Report {
    let mut system = Typed::new(tangle.clone());
    let mut visited = Tree::new();
    let seams = Seams {
        system: &mut system,
        representative: &mut Identity,
        ample: &mut ample,
        visited: &mut visited,
    };
    let report = breadth_first_by_workers(seams, workers, options);
    follow_paths(tangle, &mut system, &report);
    report
}

/// Each path is one of the system, to what it says.
pub(crate) fn follow_paths(tangle: &Tangle, system: &mut Typed<Tangle>, report: &Report) {
    for found in &report.found {
        let mut out = Successors::new();
        system.initial(&mut out).expect("it serialises");
        let mut state = out.state(found.path.choices[0] as usize).to_vec();
        for choice in &found.path.choices[1..] {
            out.clear();
            system.successors(&state, quotient_seams::Scope::All, &mut out).expect("it serialises");
            state = out.state(*choice as usize).to_vec();
        }
        match found.cause {
            Cause::Deadlock => assert!((tangle.ends)(system.unpack(&state))),
            _ => assert!((tangle.wrong)(system.unpack(&state))),
        }
    }
}

/// What must not depend on the number of workers.
pub(crate) fn told(report: &Report) -> (Stop, [u64; 5], Vec<(Cause, usize, u64)>) {
    let s = report.statistics;
    let found = report.found.iter().map(|f| (f.cause, f.path.choices.len(), f.count));
    (report.stop.clone(), [s.states, s.transitions, s.expanded, s.depth, s.waiting], found.collect())
}

#[test]
fn any_number_of_workers_finds_the_same() {
    let never: fn(u64) -> bool = |_| false;
    let some: fn(u64) -> bool = |state| state % 4_973 == 77;
    let far: fn(u64) -> bool = |state| state == 18_888;
    let ends: fn(u64) -> bool = |state| state % 7_011 == 5_000;
    for (wrong, ends) in [(never, never), (some, ends), (far, never), (never, ends)] {
        let tangle = Tangle { size: 20_000, wrong, ends };
        for all in [false, true] {
            let unlimited = Limits::default();
            let shallow = Limits { depth: Some(9), ..unlimited };
            for limits in [unlimited, shallow] {
                let one = told(&run(&tangle, All, 1, all, limits));
                let reduced = told(&run(&tangle, Some1, 1, all, limits));
                for count in [2, 3, 7] {
                    let several = run(&tangle, All, count, all, limits);
                    assert_eq!(several.workers, count);
                    assert_eq!(told(&several), one, "{count} workers");
                    assert_eq!(
                        told(&run(&tangle, Some1, count, all, limits)),
                        reduced,
                        "{count} workers, reduced"
                    );
                }
            }
        }
    }
}

#[test]
fn limits_end_all_workers() {
    let tangle = Tangle { size: 1 << 40, wrong: |_| false, ends: |_| false };
    let limits = Limits { states: Some(200_000), ..Limits::default() };
    let report = run(&tangle, All, 3, false, limits);
    assert!(matches!(report.stop, Stop::Incomplete(_)), "{:?}", report.stop);
    assert!((200_001..205_000).contains(&report.statistics.states), "{}", report.statistics.states);
    let limits = Limits { time: Some(std::time::Duration::from_millis(200)), ..Limits::default() };
    let started = std::time::Instant::now();
    let report = run(&tangle, All, 3, false, limits);
    assert!(matches!(report.stop, Stop::Incomplete(_)), "{:?}", report.stop);
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
}
