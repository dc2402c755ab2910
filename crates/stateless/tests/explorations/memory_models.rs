//! Execution graphs of litmus programs against brute force over the axioms: every consistent graph exactly once.
//!
//! A slice runs by default. `QUOTIENT_LITMUS_PROGRAMS=8000` checks that many random programs under each model, half of them shaped
//! like the classics; `QUOTIENT_LITMUS_SEED` starts elsewhere.

use std::collections::HashSet;

use quotient_stateless::graph::{Graph, MemoryModel, explore};
use quotient_stateless::model::axioms;
use quotient_stateless::model::litmus::{self, Litmus, LitmusMachine};
use quotient_stateless::random::Random;
use quotient_stateless::{Configuration, Outcome, Statistics};

const MODELS: [MemoryModel; 3] = [MemoryModel::SequentialConsistency, MemoryModel::Tso, MemoryModel::Rc11];

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A graph without the order in which it was made.
fn fingerprint(graph: &Graph) -> String {
    let events: Vec<_> = graph
        .events()
        .map(|(id, event)| {
            let place = graph.place(event.location).map(|p| p.position(id));
            (id, event.part, event.from, place)
        })
        .collect();
    format!("{events:?}")
}

/// Explores; gives counters and how many graphs came up more than once.
fn explored(program: &Litmus, model: MemoryModel) -> (LitmusMachine, Statistics, usize) {
    let mut machine = LitmusMachine::new(program.clone());
    let configuration = Configuration { stop_at_first: false, ..Configuration::default() };
    let (mut seen, mut twice) = (HashSet::new(), 0);
    let mut graphs = |graph: &Graph| twice += usize::from(!seen.insert(fingerprint(graph)));
    let report = explore(&mut machine, model, &configuration, &mut |_: Outcome| {}, &mut graphs);
    let statistics = report.expect("litmus programs are deterministic").statistics;
    (machine, statistics, twice)
}

/// Compares with brute force; gives the number of graphs.
fn compare(program: &Litmus, model: MemoryModel, name: &str) -> usize {
    let expected = axioms::all(program, model);
    let (machine, statistics, twice) = explored(program, model);
    assert_eq!(machine.shown, expected.shown, "{name} under {model:?}: {program:?}");
    assert_eq!(twice, 0, "{name} under {model:?}: a graph came up twice: {program:?}");
    let complete: usize = machine.shown.values().sum();
    let stuck = statistics.executions as usize - complete;
    assert_eq!(stuck, expected.stuck, "{name} under {model:?}: threads that wait for ever: {program:?}");
    expected.graphs()
}

#[test]
fn classics() {
    for (name, program, shown, allowed) in litmus::classics() {
        for (model, allowed) in MODELS.into_iter().zip(allowed) {
            compare(&program, model, name);
            let found = axioms::all(&program, model).shown.contains_key(&shown);
            assert_eq!(found, allowed, "{name} under {model:?}");
        }
    }
}

#[test]
fn the_smallest_thing_that_views_lose() {
    // Sequentially consistent accesses are not simply in one order: `psc` has to be looked at on the graph.
    let (_, program, shown, _) =
        litmus::classics().into_iter().find(|c| c.0 == "MP sc data, relaxed flag").expect("it is a classic");
    assert!(explored(&program, MemoryModel::Rc11).0.shown.contains_key(&shown));
}

#[test]
fn random_programs() {
    let count = from_environment("QUOTIENT_LITMUS_PROGRAMS", 200);
    let mut random = Random(from_environment("QUOTIENT_LITMUS_SEED", 1));
    let mut graphs = [0; 3];
    for number in 0..count {
        let program = if number % 2 == 0 {
            litmus::random(&mut random, 7)
        } else {
            litmus::like_a_classic(&mut random)
        };
        for (model, sum) in MODELS.into_iter().zip(&mut graphs) {
            *sum += compare(&program, model, &format!("program {number}"));
        }
    }
    println!("{count} programs, graphs under sc, tso, rc11: {graphs:?}");
    assert!(graphs[0] < graphs[1] && graphs[1] < graphs[2], "the models do not differ: {graphs:?}");
}

#[test]
fn random_programs_with_locks() {
    let count = from_environment("QUOTIENT_LITMUS_PROGRAMS", 200) / 8;
    let mut random = Random(from_environment("QUOTIENT_LITMUS_SEED", 1) ^ 77);
    for number in 0..count {
        let program = litmus::with_locks(&mut random);
        for model in MODELS {
            compare(&program, model, &format!("program {number} with locks"));
        }
    }
}
