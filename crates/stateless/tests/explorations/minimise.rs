//! Failing schedules get as few context switches as there can be, by comparison with all schedules.

use quotient_stateless::minimise::{minimise, switches};
use quotient_stateless::{Choice, Configuration, Ending, Execution, Outcome, Verdict, explore};
use quotient_thread_programs::generate::{self, Shape};
use quotient_thread_programs::{Machine, Program};

/// The fewest switches of all failing schedules, by plain enumeration.
fn fewest(machine: &mut Machine, ending: Ending) -> Option<usize> {
    fn go(
        machine: &mut Machine,
        prefix: &mut Vec<Choice>,
        ending: Ending,
        best: &mut Option<usize>,
        left: &mut u64,
    ) {
        *left = left.saturating_sub(1);
        machine.restart();
        prefix.iter().for_each(|c| machine.step(c.thread, c.alternative));
        let enabled = machine.enabled();
        if enabled.is_empty() && machine.outcome().ending == ending {
            *best = Some(best.map_or(switches(prefix), |b| b.min(switches(prefix))));
        }
        if *left == 0 || best.is_some_and(|b| switches(prefix) >= b) {
            return;
        }
        let choices: Vec<Choice> = enabled
            .iter()
            .flat_map(|thread| {
                let alternatives = machine.pending(thread, 0).map_or(0, |o| o.alternatives);
                (0..alternatives).map(move |alternative| Choice { thread, alternative })
            })
            .collect();
        for choice in choices {
            prefix.push(choice);
            go(machine, prefix, ending, best, left);
            prefix.pop();
        }
    }
    let (mut best, mut left) = (None, 300_000);
    go(machine, &mut Vec::new(), ending, &mut best, &mut left);
    (left > 0).then_some(best).flatten()
}

fn failing(program: &Program) -> Option<(Ending, Vec<Choice>)> {
    // The last failing execution is rarely the nicest.
    let configuration = Configuration { stop_at_first: false, ..Configuration::default() };
    let report = explore(&mut Machine::new(program.clone()), &configuration, &mut |_| {}).ok()?;
    match report.verdict {
        Verdict::Violated(violation) => Some((violation.ending, violation.schedule.choices)),
        _ => None,
    }
}

#[test]
fn no_schedule_has_fewer_switches() {
    let (mut compared, mut improved, mut greedy_suffices) = (0, 0, 0);
    for seed in 1..=1500 {
        let program = generate::program(seed, Shape::Synchronisation, 10);
        let Some((ending, choices)) = failing(&program) else { continue };
        let mut machine = Machine::new(program.clone());
        let same = &mut |_: &mut Machine, outcome: Outcome| outcome.ending == ending;
        let schedule = quotient_stateless::Schedule { choices: choices.clone() };
        let found = minimise(&mut machine, &schedule, 100_000, &mut || true, same);
        // It fails when it is repeated, and has as many switches as it says.
        machine.restart();
        found.schedule.choices.iter().for_each(|c| machine.step(c.thread, c.alternative));
        assert!(machine.enabled().is_empty(), "seed {seed}: not complete\n{program}");
        assert_eq!(machine.outcome().ending, ending, "seed {seed}\n{program}");
        assert_eq!(switches(&found.schedule.choices), found.switches);
        let small = minimise(&mut machine, &schedule, 12, &mut || true, same);
        let mut left = 5;
        let mut goes_on = || {
            left -= 1;
            left >= 0
        };
        let stopped = minimise(&mut machine, &schedule, 100_000, &mut goes_on, same);
        assert!(stopped.executions <= 5 && stopped.switches <= switches(&choices), "seed {seed}\n{program}");
        assert!(small.executions <= 12 && small.switches <= switches(&choices), "seed {seed}\n{program}");
        if let Some(fewest) = fewest(&mut machine, ending) {
            compared += 1;
            improved += usize::from(fewest < switches(&choices));
            greedy_suffices += usize::from(small.switches == fewest);
            assert!(found.fewest, "seed {seed}: the budget suffices for so small a program\n{program}");
            assert_eq!(found.switches, fewest, "seed {seed}\n{program}");
        }
    }
    println!("{compared} compared, {improved} improved; 12 executions suffice for {greedy_suffices}");
    assert!(compared > 100 && improved > 30, "{compared} compared, {improved} improved");
}
