//! What the exploration itself costs, on model programs whose steps take a few nanoseconds.
//!
//! `cargo run --release -p quotient-stateless --example measure`

use std::time::Instant;

use quotient_stateless::{Algorithm, Configuration, Execution, Symmetry, explore, explore_parallel};
use quotient_thread_programs::{Instruction, Machine, Program, Value, families};

/// Long runs with few races: each of `threads` threads works on its own cell, then takes a lock.
fn mostly_local(threads: usize, work: usize) -> Program {
    let code = |t: u8| {
        let own = Instruction::Store { variable: t, value: Value::Constant(1) };
        let mut code = vec![own; work];
        code.extend([Instruction::Lock(0), Instruction::Unlock(0)]);
        code
    };
    Program { mutexes: 1, ..Program::new((0..threads as u8).map(code).collect(), threads) }
}

fn main() {
    println!(
        "{:<26}{:<12}{:<11}{:>11}{:>11}{:>9}{:>9}{:>10}",
        "program", "algorithm", "symmetry", "executions", "steps/ex", "µs/ex", "ns/step", "program ns"
    );
    let programs: [(&str, Program); 6] = [
        ("load; store, 5", families::load_store(5)),
        ("load; cas, 6", families::load_compare_and_swap(6)),
        ("lock; inc; unlock, 7", families::lock_increment_unlock(7)),
        ("writer and 14 readers", families::writer_and_readers(14)),
        ("3 threads, 40 steps", mostly_local(3, 11)),
        ("4 threads, 330 steps", mostly_local(4, 80)),
    ];
    for (name, program) in programs {
        for algorithm in [Algorithm::SourceSets, Algorithm::Optimal] {
            for symmetry in [Symmetry::Off, Symmetry::Costarted, Symmetry::Dynamic] {
                let mut machine = Machine::new(program.clone());
                let configuration = Configuration { algorithm, symmetry, ..Configuration::default() };
                let mut repeat = 0;
                let start = Instant::now();
                let mut statistics;
                loop {
                    let report = explore(&mut machine, &configuration, &mut |_| {});
                    statistics = report.expect("deterministic").statistics;
                    repeat += 1;
                    if start.elapsed().as_millis() > 100 {
                        break;
                    }
                }
                let nanoseconds = start.elapsed().as_nanos() as f64 / f64::from(repeat);
                println!(
                    "{name:<26}{:<12}{:<11}{:>11}{:>11.1}{:>9.2}{:>9.1}{:>10.1}",
                    format!("{algorithm:?}"),
                    format!("{symmetry:?}"),
                    statistics.executions,
                    statistics.steps as f64 / statistics.executions as f64,
                    nanoseconds / 1000.0 / statistics.executions as f64,
                    nanoseconds / statistics.steps as f64,
                    bare_step(&mut machine),
                );
            }
        }
    }
    workers();
}

/// The same exploration by one and by two workers.
fn workers() {
    let configuration = Configuration { algorithm: Algorithm::SourceSets, ..Configuration::default() };
    for (name, program) in [
        ("load; store, 6", families::load_store(6)),
        ("lock; inc; unlock, 8", families::lock_increment_unlock(8)),
    ] {
        let mut seconds = Vec::new();
        for workers in 1..=2 {
            let start = Instant::now();
            let make = || Machine::new(program.clone());
            let report = explore_parallel(make, &configuration, workers, &|_| {}).expect("deterministic");
            seconds.push(start.elapsed().as_secs_f64());
            let statistics = report.statistics;
            println!(
                "{name}, {workers} worker(s): {} executions, {} blocked, {:.2} s",
                statistics.executions,
                statistics.sleep_set_blocked,
                start.elapsed().as_secs_f64()
            );
        }
        println!("  {:.2} times as fast", seconds[0] / seconds[1]);
    }
}

/// Nanoseconds of a step of the interpreter alone, with the calls the exploration makes.
fn bare_step(machine: &mut Machine) -> f64 {
    let mut steps = 0u64;
    let start = Instant::now();
    while start.elapsed().as_millis() < 5 {
        machine.restart();
        while let Some(thread) = machine.enabled().first() {
            std::hint::black_box(machine.pending(thread, 0));
            machine.step(thread, 0);
            steps += 1;
        }
        std::hint::black_box(machine.outcome());
    }
    start.elapsed().as_nanos() as f64 / steps as f64
}
