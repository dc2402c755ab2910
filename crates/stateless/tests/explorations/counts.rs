//! Counts of references: where the exploration relies on it that the order of additions does not matter, it finds what brute force
//! finds; where it does matter, this is noticed. `QUOTIENT_STATELESS_PROGRAMS=50000` checks that many random programs.

use std::collections::BTreeSet;

use quotient_stateless::{
    Configuration, Ending, ExplorationError, Outcome, Symmetry, ThreadId, ThreadSet, explore,
};
use quotient_thread_programs::generate::counting_program;
use quotient_thread_programs::program::Instruction::*;
use quotient_thread_programs::program::{Instruction, Program};
use quotient_thread_programs::residual::UpTo;
use quotient_thread_programs::{Machine, brute_force};

type Found = (BTreeSet<(Ending, u64)>, u64);

fn explored(program: &Program, counted: bool, symmetry: Symmetry) -> Result<Found, ExplorationError> {
    let mut machine = Machine::new(program.clone()).counting(counted.then_some(0));
    let configuration = Configuration { symmetry, stop_at_first: false, ..Configuration::default() };
    let mut found = BTreeSet::new();
    let mut up_to = UpTo { machine: &mut machine, symmetry };
    let report = explore(&mut up_to, &configuration, &mut |outcome: Outcome| {
        found.insert((outcome.ending, outcome.hash));
    })?;
    assert_eq!(report.statistics.sleep_set_blocked, 0);
    Ok((found, report.statistics.executions))
}

#[test]
fn random_programs() {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let programs = number("QUOTIENT_STATELESS_PROGRAMS").unwrap_or(400);
    let first = number("QUOTIENT_STATELESS_SEED").unwrap_or(1);
    let (mut settled, mut noticed, mut fewer) = (0, 0, 0);
    for seed in first..first + programs {
        let program = counting_program(seed);
        let machine = Machine::new(program.clone());
        for symmetry in [Symmetry::Off, Symmetry::Costarted, Symmetry::Dynamic] {
            let Some(expected) = brute_force::outcomes(&machine, symmetry, 200_000) else { continue };
            match explored(&program, true, symmetry) {
                Ok((found, executions)) => {
                    assert_eq!(found, expected, "seed {seed}, {symmetry:?}\n{program}");
                    settled += 1;
                    let (_, all) = explored(&program, false, symmetry).expect("nothing is relied on");
                    // A failing compare-and-swap of the count is no read there.
                    let exchanged = |i: &Instruction| matches!(i, CompareAndSwap { variable: 0, .. });
                    let exchanged = program.threads.iter().flatten().any(exchanged);
                    assert!(
                        exchanged || executions <= all,
                        "seed {seed}, {symmetry:?}: {executions} of {all}\n{program}"
                    );
                    fewer += u64::from(executions < all);
                }
                Err(ExplorationError::CountMatters(0)) => noticed += 1,
                Err(other) => panic!("seed {seed}, {symmetry:?}: {other}\n{program}"),
            }
        }
    }
    println!("{settled} settled, {fewer} of them with fewer executions, {noticed} noticed");
    assert!(fewer > programs / 20 && noticed > programs / 20, "{settled}, {fewer}, {noticed}");
}

/// Does main keep its reference until all threads have ended?
#[derive(PartialEq)]
enum Main {
    Joins,
    GoesOn,
}

/// Threads that each take a reference, if asked, and give it back; so does main.
fn with_main(threads: usize, take: bool, waits: Main) -> Program {
    let give = |register| Count { register, variable: 0, amount: -1, watched: Some(1) };
    let mut worker: Vec<Instruction> = Vec::new();
    if take {
        worker.push(Count { register: 0, variable: 0, amount: 1, watched: None });
    }
    worker.push(give(1));
    let all = ThreadSet((1 << (threads + 1)) - 2);
    let mut main: Vec<Instruction> = all.iter().map(|t: ThreadId| Create(t)).collect();
    if waits == Main::Joins {
        main.push(Join(all));
    }
    main.push(give(1));
    let mut code = vec![main];
    code.extend(std::iter::repeat_n(worker, threads));
    let mut program = Program::new(code, 1);
    program.variables[0] = if take { 1 } else { threads as i64 + 1 };
    program
}

#[test]
fn references_that_are_given_back_while_somebody_has_one() {
    for take in [false, true] {
        let program = with_main(4, take, Main::Joins);
        let (found, executions) = explored(&program, true, Symmetry::Off).unwrap();
        assert_eq!(executions, 1);
        let expected = brute_force::outcomes(&Machine::new(program), Symmetry::Off, 200_000);
        assert_eq!(Some(found), expected);
    }
    assert_eq!(explored(&with_main(4, false, Main::Joins), false, Symmetry::Off).unwrap().1, 24);
}

#[test]
fn who_is_the_last_is_noticed() {
    for take in [false, true] {
        let program = with_main(3, take, Main::GoesOn);
        assert_eq!(
            explored(&program, true, Symmetry::Off),
            Err(ExplorationError::CountMatters(0)),
            "{program}"
        );
    }
}
