//! Programs of `n` like threads: executions of the optimal mode are the Mazurkiewicz traces, with
//! symmetry their orbits. The figures are closed forms or counts that two other checkers agree on.
//!
//! `QUOTIENT_STATELESS_FULL=1` adds the sizes that take longer.

use quotient_stateless::{Algorithm, Configuration, Statistics, Symmetry, Verdict, explore};
use quotient_thread_programs::{Machine, Program, families};

fn count(program: Program, algorithm: Algorithm, symmetry: Symmetry) -> Statistics {
    let mut machine = Machine::new(program);
    let configuration = Configuration { algorithm, symmetry, ..Configuration::default() };
    let report = explore(&mut machine, &configuration, &mut |_| {}).unwrap();
    assert_eq!(report.verdict, Verdict::Holds);
    report.statistics
}

fn full() -> bool {
    std::env::var_os("QUOTIENT_STATELESS_FULL").is_some()
}

fn check(family: fn(usize) -> Program, n: usize, traces: u64, orbits: u64) {
    let optimal = count(family(n), Algorithm::Optimal, Symmetry::Off);
    assert_eq!(optimal.executions, traces, "traces, n = {n}");
    assert_eq!(optimal.sleep_set_blocked, 0, "n = {n}");
    let costarted = count(family(n), Algorithm::SourceSets, Symmetry::Costarted);
    assert_eq!(costarted.executions, orbits, "orbits, n = {n}");
    assert_eq!(costarted.sleep_set_blocked, 0, "n = {n}");
    let optimal = count(family(n), Algorithm::Optimal, Symmetry::Costarted);
    assert_eq!(optimal.sleep_set_blocked, 0, "n = {n}");
    assert_eq!(optimal.executions, orbits, "n = {n}, optimal");
    // Different pasts can lead to like states, so there can be fewer classes of states than orbits.
    let dynamic = count(family(n), Algorithm::SourceSets, Symmetry::Dynamic);
    assert!(dynamic.executions <= orbits, "n = {n}: {} executions", dynamic.executions);
    for algorithm in [Algorithm::SourceSets, Algorithm::Optimal] {
        let started = count(family(n), algorithm, Symmetry::Costarted);
        let created = count(families::created_in_a_loop(family(n)), algorithm, Symmetry::Costarted);
        assert_eq!(created.executions, orbits, "orbits of threads created in a loop, n = {n}, {algorithm:?}");
        // The main thread's own steps move horizons; creation itself needs no images, which would be n! times as many.
        let (more, few) = (created.images, started.images);
        assert!(more <= n as u64 * few, "n = {n}, {algorithm:?}: {more} images, {few} if not created");
    }
    println!(
        "n = {n}: {traces} traces; {orbits} orbits, {} executions of the optimal mode; {} up to like states",
        optimal.executions, dynamic.executions
    );
}

fn factorial(n: usize) -> u64 {
    (1..=n as u64).product()
}

#[test]
fn load_store() {
    for n in 1..=if full() { 6 } else { 5 } {
        check(families::load_store, n, factorial(n) * factorial(n), factorial(n));
    }
}

#[test]
fn load_compare_and_swap() {
    let figures = [(3, 27, 5), (4, 280, 14), (5, 4025, 43), (6, 75876, 143)];
    for (n, traces, orbits) in figures.into_iter().filter(|f| f.0 < 6 || full()) {
        check(families::load_compare_and_swap, n, traces, orbits);
    }
}

#[test]
fn lock_increment_unlock() {
    for n in 1..=6 {
        check(families::lock_increment_unlock, n, factorial(n), 1);
    }
}

#[test]
fn fetch_add() {
    for n in 1..=6 {
        check(families::fetch_add, n, factorial(n), 1);
    }
}

#[test]
fn writer_and_readers() {
    for n in 1..=8 {
        let optimal = count(families::writer_and_readers(n), Algorithm::Optimal, Symmetry::Off);
        assert_eq!((optimal.executions, optimal.sleep_set_blocked), (1 << n, 0));
    }
}
