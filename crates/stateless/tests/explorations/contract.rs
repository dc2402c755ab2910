//! The interpreter keeps what [`quotient_stateless::Execution`] promises, checked directly on random
//! walks: independent operations commute and leave each other alone, and exchanging threads that are
//! called symmetric maps continuations to continuations with the same outcomes.

use quotient_stateless::operation::dependent;
use quotient_stateless::random::Random;
use quotient_stateless::{Execution, Symmetry, ThreadId};
use quotient_thread_programs::generate::{self, Shape};
use quotient_thread_programs::residual::outcome_hash;
use quotient_thread_programs::{Machine, Program};

fn programs() -> impl Iterator<Item = (u64, Program)> {
    Shape::ALL
        .into_iter()
        .flat_map(|shape| (1..=150).map(move |seed| (seed, generate::program(seed, shape, 13))))
}

/// A random walk; `see` looks at every state.
fn walk(machine: &mut Machine, random: &mut Random, mut see: impl FnMut(&Machine)) {
    machine.restart();
    loop {
        see(machine);
        let enabled = machine.enabled();
        if enabled.is_empty() {
            return;
        }
        let thread = enabled.iter().nth(random.below(enabled.len())).unwrap();
        let ways = machine.pending(thread, 0).unwrap().alternatives as usize;
        machine.step(thread, random.below(ways) as u16);
    }
}

#[test]
fn independent_operations_commute() {
    let mut diamonds = 0;
    for (seed, program) in programs() {
        let mut machine = Machine::new(program.clone());
        walk(&mut machine, &mut Random(seed), |machine| {
            let enabled: Vec<ThreadId> = machine.enabled().iter().collect();
            for (i, &s) in enabled.iter().enumerate() {
                for &t in &enabled[i + 1..] {
                    let (a, b) = (machine.pending(s, 0).unwrap(), machine.pending(t, 0).unwrap());
                    if dependent(s, &a, t, &b) {
                        continue;
                    }
                    diamonds += 1;
                    let mut one = machine.clone();
                    one.step(s, 0);
                    assert_eq!(one.pending(t, 0), Some(b), "{s} changes what {t} does\n{program}");
                    assert!(one.enabled().contains(t), "{s} disables {t}\n{program}");
                    one.step(t, 0);
                    let mut other = machine.clone();
                    other.step(t, 0);
                    other.step(s, 0);
                    assert_eq!(one.state(), other.state(), "{s} and {t} do not commute\n{program}");
                }
            }
        });
    }
    assert!(diamonds > 1000, "{diamonds}");
}

#[test]
fn symmetric_threads_can_be_exchanged() {
    let mut pairs = 0;
    for (seed, program) in programs() {
        let mut machine = Machine::new(program.clone());
        let mut random = Random(seed);
        let mut continuations = Random(seed + 1000);
        walk(&mut machine, &mut random, |machine| {
            let enabled: Vec<ThreadId> = machine.enabled().iter().collect();
            for (i, &a) in enabled.iter().enumerate() {
                for &b in &enabled[i + 1..] {
                    if !machine.clone().symmetric(a, b, Symmetry::Dynamic) {
                        continue;
                    }
                    pairs += 1;
                    let (mut one, mut other) = (machine.clone(), machine.clone());
                    loop {
                        let enabled = one.enabled();
                        assert_eq!(enabled.swapped(a, b), other.enabled(), "{a} and {b}\n{program}");
                        if enabled.is_empty() {
                            break;
                        }
                        let thread = enabled.iter().nth(continuations.below(enabled.len())).unwrap();
                        let image = match thread {
                            t if t == a => b,
                            t if t == b => a,
                            t => t,
                        };
                        let ways = one.pending(thread, 0).unwrap().alternatives;
                        assert_eq!(other.pending(image, 0).unwrap().alternatives, ways);
                        let alternative = continuations.below(ways as usize) as u16;
                        one.step(thread, alternative);
                        other.step(image, alternative);
                    }
                    let hash = |machine: &Machine| outcome_hash(machine, Symmetry::Dynamic);
                    assert_eq!(hash(&one), hash(&other), "{a} and {b}\n{program}");
                }
            }
        });
    }
    assert!(pairs > 300, "{pairs}");
}
