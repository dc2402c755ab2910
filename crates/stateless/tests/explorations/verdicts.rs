//! Verdicts, bounds and replay on small programs with known defects, in every algorithm.

use std::ops::ControlFlow;

use quotient_stateless::estimate::estimate;
use quotient_stateless::{
    Algorithm, Bound, Choice, Configuration, Ending, Execution, ExplorationError, Kind, Observer, Operation,
    Outcome, Progress, Report, ThreadId, ThreadSet, Verdict, explore, explore_parallel,
};
use quotient_thread_programs::{Comparison, Condition, Instruction, Machine, Program, Value, families};

use Instruction::*;

const ALGORITHMS: [Algorithm; 3] = [Algorithm::FlanaganGodefroid, Algorithm::SourceSets, Algorithm::Optimal];

fn with_objects(threads: Vec<Vec<Instruction>>) -> Program {
    Program {
        mutexes: 2,
        locks: 1,
        conditions: 1,
        semaphores: vec![0, 1],
        barriers: vec![2, 3],
        ..Program::new(threads, 2)
    }
}

fn run(program: &Program, configuration: Configuration) -> Report {
    explore(&mut Machine::new(program.clone()), &configuration, &mut |_| {}).unwrap()
}

/// Every algorithm gives this ending, and its schedule leads there.
fn check(program: &Program, ending: Ending) {
    for algorithm in ALGORITHMS {
        let report = run(program, Configuration { algorithm, ..Configuration::default() });
        match report.verdict {
            Verdict::Holds => assert_eq!(ending, Ending::Finished, "{algorithm:?}\n{program}"),
            Verdict::Violated(violation) => {
                assert_eq!(violation.ending, ending, "{algorithm:?}\n{program}");
                let mut machine = Machine::new(program.clone());
                machine.restart();
                for Choice { thread, alternative } in violation.schedule.choices {
                    assert!(machine.enabled().contains(thread));
                    machine.step(thread, alternative);
                }
                assert_eq!(machine.outcome().ending, ending);
            }
            Verdict::Undecided(bound) => panic!("{algorithm:?}: {bound:?}\n{program}"),
        }
    }
}

/// Every algorithm finds this among the possible endings.
fn check_possible(program: &Program, ending: Ending) {
    for algorithm in ALGORITHMS {
        let configuration = Configuration { algorithm, stop_at_first: false, ..Configuration::default() };
        let mut found = Vec::new();
        let mut machine = Machine::new(program.clone());
        explore(&mut machine, &configuration, &mut |outcome: Outcome| found.push(outcome.ending)).unwrap();
        assert!(found.contains(&ending), "{algorithm:?}\n{program}");
    }
}

fn assert_that(register: u8, comparison: Comparison, constant: i64) -> Instruction {
    Assert(Condition { register, comparison, constant })
}

#[test]
fn lock_order_inversion_deadlocks() {
    let wrong =
        vec![vec![Lock(0), Lock(1), Unlock(1), Unlock(0)], vec![Lock(1), Lock(0), Unlock(0), Unlock(1)]];
    check(&with_objects(wrong), Ending::Deadlock);
    let right = vec![vec![Lock(0), Lock(1), Unlock(1), Unlock(0)]; 3];
    check(&with_objects(right), Ending::Finished);
}

#[test]
fn lost_update_fails_the_assertion() {
    let increment = vec![Load { register: 0, variable: 0 }, Store { variable: 0, value: Value::Sum(0, 1) }];
    let main =
        vec![Join(ThreadSet(0b011)), Load { register: 0, variable: 0 }, assert_that(0, Comparison::Equal, 2)];
    check(&Program::new(vec![increment.clone(), increment, main.clone()], 1), Ending::Assertion);
    let atomic = vec![FetchAdd { register: 0, variable: 0, amount: 1 }];
    check(&Program::new(vec![atomic.clone(), atomic, main], 1), Ending::Finished);
}

/// Signalling without looking at a flag under the mutex can come too early.
#[test]
fn lost_wake_up_deadlocks() {
    let waiter = vec![Lock(0), Wait { condition: 0, mutex: 0 }, Unlock(0)];
    check(&with_objects(vec![waiter, vec![Signal(0)]]), Ending::Deadlock);
    let is_set = Condition { register: 0, comparison: Comparison::Equal, constant: 1 };
    let waiter = vec![
        Lock(0),
        Load { register: 0, variable: 0 },
        Branch { condition: is_set, target: 5 },
        Wait { condition: 0, mutex: 0 },
        Jump(1),
        Unlock(0),
    ];
    let signaller = vec![Lock(0), Store { variable: 0, value: Value::Constant(1) }, Signal(0), Unlock(0)];
    check(&with_objects(vec![waiter.clone(), signaller]), Ending::Finished);
    // One signal for two waiters; a broadcast reaches both.
    let signal = vec![Lock(0), Store { variable: 0, value: Value::Constant(1) }, Signal(0), Unlock(0)];
    check(&with_objects(vec![waiter.clone(), waiter.clone(), signal]), Ending::Deadlock);
    let broadcast = vec![Lock(0), Store { variable: 0, value: Value::Constant(1) }, Broadcast(0), Unlock(0)];
    check(&with_objects(vec![waiter.clone(), waiter, broadcast]), Ending::Finished);
}

/// Which waiter is woken is a choice: both are tried.
#[test]
fn any_waiter_may_be_woken() {
    for woken in 0..2 {
        let waiter = |t: i64| {
            vec![
                Lock(0),
                Wait { condition: 0, mutex: 0 },
                Store { variable: 0, value: Value::Constant(t) },
                Unlock(0),
            ]
        };
        let signaller = vec![
            Lock(0),
            Signal(0),
            Unlock(0),
            Load { register: 0, variable: 0 },
            assert_that(0, Comparison::NotEqual, woken + 1),
        ];
        check_possible(&with_objects(vec![waiter(1), waiter(2), signaller]), Ending::Assertion);
    }
}

#[test]
fn timeouts_and_try_locks_are_tried() {
    let waiter = vec![Lock(0), TimedWait { register: 0, condition: 0, mutex: 0 }, Unlock(0)];
    let signaller = vec![Lock(0), Signal(0), Unlock(0)];
    for (comparison, constant) in [(Comparison::NotEqual, 1), (Comparison::NotEqual, 0)] {
        let mut waiter = waiter.clone();
        waiter.push(assert_that(0, comparison, constant));
        check(&with_objects(vec![waiter, signaller.clone()]), Ending::Assertion);
    }
    check(&with_objects(vec![waiter, signaller]), Ending::Finished);
    for outcome in 0..2 {
        let trying = vec![TryLock { register: 0, mutex: 0 }, assert_that(0, Comparison::NotEqual, outcome)];
        check_possible(&with_objects(vec![trying, vec![Lock(0), Unlock(0)]]), Ending::Assertion);
    }
}

#[test]
fn barriers_semaphores_and_creation_order() {
    // After the barrier both stores are seen.
    let side = |mine: u8| {
        vec![
            Store { variable: mine, value: Value::Constant(1) },
            Barrier(0),
            Load { register: 0, variable: 1 - mine },
            assert_that(0, Comparison::Equal, 1),
        ]
    };
    check(&with_objects(vec![side(0), side(1)]), Ending::Finished);
    let mut missing = side(0);
    missing.remove(1);
    check(&with_objects(vec![missing, side(1)]), Ending::Assertion);
    // A semaphore hands over; creation and join order.
    let child = vec![
        SemaphoreWait(0),
        Load { register: 0, variable: 0 },
        assert_that(0, Comparison::Equal, 1),
        Store { variable: 1, value: Value::Constant(1) },
    ];
    let main = vec![
        Create(1),
        Store { variable: 0, value: Value::Constant(1) },
        SemaphorePost(0),
        Join(ThreadSet::only(1)),
        Load { register: 0, variable: 1 },
        assert_that(0, Comparison::Equal, 1),
    ];
    check(&with_objects(vec![main.clone(), child.clone()]), Ending::Finished);
    let mut early = main;
    early.remove(3);
    check(&with_objects(vec![early, child]), Ending::Assertion);
}

/// Readers see both variables equal, writers keep them so; two readers may be inside together.
#[test]
fn readers_and_writers() {
    let store = |variable, value| Store { variable, value: Value::Constant(value) };
    let writer = vec![WriteLock(0), store(0, 1), store(1, 1), Release(0)];
    let same = Condition { register: 0, comparison: Comparison::Equal, constant: 0 };
    let reader = |lock: Instruction| {
        vec![
            lock,
            Load { register: 0, variable: 0 },
            Load { register: 1, variable: 1 },
            Branch { condition: same, target: 6 },
            assert_that(1, Comparison::Equal, 1),
            Jump(7),
            assert_that(1, Comparison::Equal, 0),
            Release(0),
        ]
    };
    check(&with_objects(vec![writer.clone(), reader(ReadLock(0)), reader(ReadLock(0))]), Ending::Finished);
    let mut unlocked = reader(Choose { register: 2, choices: 1 });
    unlocked.pop();
    check(&with_objects(vec![writer, unlocked]), Ending::Assertion);
    // Both inside: a count of readers reaches two.
    let counting = vec![
        ReadLock(0),
        FetchAdd { register: 0, variable: 0, amount: 1 },
        assert_that(0, Comparison::Equal, 0),
        FetchAdd { register: 0, variable: 0, amount: -1 },
        Release(0),
    ];
    check(&with_objects(vec![counting.clone(), counting.clone()]), Ending::Assertion);
    let exclusive: Vec<Instruction> =
        counting.into_iter().map(|i| if i == ReadLock(0) { WriteLock(0) } else { i }).collect();
    check(&with_objects(vec![exclusive.clone(), exclusive]), Ending::Finished);
}

#[test]
fn choices_are_tried() {
    let choosing = vec![Choose { register: 0, choices: 3 }, assert_that(0, Comparison::NotEqual, 2)];
    check(&Program::new(vec![choosing], 0), Ending::Assertion);
}

/// Peterson's algorithm keeps the critical sections apart; without the turn it deadlocks or fails.
#[test]
fn peterson() {
    let side = |me: u8| {
        let other = 1 - me;
        let clear = Condition { register: 0, comparison: Comparison::Equal, constant: 0 };
        let mine = Condition { register: 1, comparison: Comparison::Equal, constant: i64::from(me) };
        vec![
            Store { variable: me, value: Value::Constant(1) },
            Store { variable: 2, value: Value::Constant(i64::from(other)) },
            Load { register: 0, variable: other },
            Branch { condition: clear, target: 7 },
            Load { register: 1, variable: 2 },
            Branch { condition: mine, target: 7 },
            // One round only: give up instead of spinning.
            Jump(100),
            FetchAdd { register: 2, variable: 3, amount: 1 },
            assert_that(2, Comparison::Equal, 0),
            FetchAdd { register: 2, variable: 3, amount: -1 },
            Store { variable: me, value: Value::Constant(0) },
        ]
    };
    check(&Program::new(vec![side(0), side(1)], 4), Ending::Finished);
    let mut wrong = side(1);
    wrong[2] = Set { register: 0, value: Value::Constant(0) };
    check(&Program::new(vec![side(0), wrong], 4), Ending::Assertion);
}

#[test]
fn data_races() {
    let racy = |atomic| Program { atomic, ..families::load_store(2) };
    for algorithm in ALGORITHMS {
        let configuration = Configuration { algorithm, data_races: true, ..Configuration::default() };
        let Verdict::Violated(violation) = run(&racy(false), configuration).verdict else {
            panic!("{algorithm:?}: the race was not found");
        };
        assert_eq!(violation.ending, Ending::Race);
        let (earlier, later) = violation.race.unwrap();
        assert_ne!(violation.schedule.choices[earlier].thread, violation.schedule.choices[later].thread);
        assert_eq!(run(&racy(true), configuration).verdict, Verdict::Holds);
        let locked = Program { atomic: false, ..families::lock_increment_unlock(3) };
        assert_eq!(run(&locked, configuration).verdict, Verdict::Holds);
    }
}

#[test]
fn bounds_are_not_verdicts() {
    let program = families::load_store(3);
    let undecided = |configuration: Configuration| match run(&program, configuration).verdict {
        Verdict::Undecided(bound) => bound,
        other => panic!("{other:?}"),
    };
    for algorithm in ALGORITHMS {
        let base = Configuration { algorithm, ..Configuration::default() };
        assert_eq!(undecided(Configuration { max_executions: Some(5), ..base }), Bound::Executions);
        assert_eq!(undecided(Configuration { max_preemptions: Some(0), ..base }), Bound::Preemptions);
        assert_eq!(undecided(Configuration { max_steps: 4, ..base }), Bound::Steps);
        let no_time = Some(std::time::Duration::ZERO);
        assert_eq!(undecided(Configuration { max_time: no_time, ..base }), Bound::Time);
        // A bound that is not reached does not matter; two threads in each other's way need one switch.
        assert_eq!(run(&program, Configuration { max_preemptions: Some(6), ..base }).verdict, Verdict::Holds);
    }
}

/// Few preemptions suffice for the lost update, none do not.
#[test]
fn preemption_bound() {
    let increment = vec![Load { register: 0, variable: 0 }, Store { variable: 0, value: Value::Sum(0, 1) }];
    let main =
        vec![Join(ThreadSet(0b011)), Load { register: 0, variable: 0 }, assert_that(0, Comparison::Equal, 2)];
    let program = Program::new(vec![increment.clone(), increment, main], 1);
    let bounded = |bound| Configuration { max_preemptions: Some(bound), ..Configuration::default() };
    assert_eq!(run(&program, bounded(0)).verdict, Verdict::Undecided(Bound::Preemptions));
    assert!(matches!(run(&program, bounded(1)).verdict, Verdict::Violated(_)));
}

/// A program that changes from one execution to the next is refused.
#[test]
fn not_deterministic() {
    struct Fickle {
        machine: Machine,
        restarts: u32,
    }
    impl Execution for Fickle {
        fn max_threads(&self) -> usize {
            self.machine.max_threads()
        }
        fn restart(&mut self) {
            self.restarts += 1;
            self.machine.restart();
        }
        fn enabled(&self) -> ThreadSet {
            self.machine.enabled()
        }
        fn pending(&self, thread: ThreadId, alternative: u16) -> Option<Operation> {
            let operation = self.machine.pending(thread, alternative)?;
            Some(if self.restarts < 3 { operation } else { Operation::new(Kind::Other) })
        }
        fn step(&mut self, thread: ThreadId, alternative: u16) {
            self.machine.step(thread, alternative);
        }
        fn outcome(&mut self) -> Outcome {
            self.machine.outcome()
        }
    }
    let mut fickle = Fickle { machine: Machine::new(families::load_store(2)), restarts: 0 };
    let result = explore(&mut fickle, &Configuration::default(), &mut |_| {});
    assert!(matches!(result, Err(ExplorationError::NotDeterministic { .. })), "{result:?}");
}

/// Thread 2 is blocked for ever only in runs that end because thread 0 sleeps: that thread 1 disabled it
/// must be seen there, or the order lock, store, load is never tried.
#[test]
fn blocked_while_others_sleep() {
    let program = with_objects(vec![
        vec![Store { variable: 0, value: Value::Constant(1) }],
        vec![Load { register: 0, variable: 1 }, Lock(0)],
        vec![Lock(0), Load { register: 0, variable: 0 }],
    ]);
    for algorithm in [Algorithm::SourceSets, Algorithm::Optimal] {
        let configuration = Configuration { algorithm, stop_at_first: false, ..Configuration::default() };
        assert_eq!(run(&program, configuration).statistics.executions, 3, "{algorithm:?}");
    }
}

/// No thread, a thread without code, as many threads as there can be, and one more.
#[test]
fn extremes() {
    let own = |t: usize| vec![Store { variable: t as u8, value: Value::Constant(1) }];
    for threads in [vec![], vec![vec![]], (0..64).map(own).collect()] {
        for algorithm in ALGORITHMS {
            let program = Program::new(threads.clone(), 64);
            let report = run(&program, Configuration { algorithm, ..Configuration::default() });
            assert_eq!((report.verdict, report.statistics.executions), (Verdict::Holds, 1));
        }
        let make = || Machine::new(Program::new(threads.clone(), 64));
        let configuration = Configuration { algorithm: Algorithm::SourceSets, ..Configuration::default() };
        let report = explore_parallel(make, &configuration, 2, &|_| {}).unwrap();
        assert_eq!((report.verdict, report.statistics.executions), (Verdict::Holds, 1));
    }
    let mut machine = Machine::new(Program::new((0..65).map(own).collect(), 65));
    let refused = explore(&mut machine, &Configuration::default(), &mut |_| {});
    assert_eq!(refused, Err(ExplorationError::TooManyThreads(65)));
}

/// An execution that does not end is cut, and then nothing is claimed.
#[test]
fn endless_loops() {
    let spin = vec![Load { register: 0, variable: 0 }, Jump(0)];
    let program = Program::new(vec![spin, vec![Store { variable: 0, value: Value::Constant(1) }]], 1);
    for algorithm in ALGORITHMS {
        let configuration = Configuration {
            algorithm,
            max_steps: 30,
            max_executions: Some(1000),
            ..Configuration::default()
        };
        assert!(matches!(run(&program, configuration).verdict, Verdict::Undecided(_)), "{algorithm:?}");
    }
    // Without visible operations the interpreter itself gives up.
    check(&Program::new(vec![vec![Jump(0)]], 0), Ending::Assertion);
}

/// An observer sees every execution as it was, and can end the exploration.
#[test]
fn observers_see_the_run() {
    struct Third(Vec<usize>);
    impl Observer for Third {
        fn execution(&mut self, _: Outcome, progress: &Progress<'_>) -> ControlFlow<()> {
            self.0.push(progress.run.len());
            if progress.statistics.executions == 3 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }
    let mut observer = Third(Vec::new());
    let mut machine = Machine::new(families::load_store(3));
    let report = explore(&mut machine, &Configuration::default(), &mut observer).unwrap();
    assert_eq!(report.verdict, Verdict::Undecided(Bound::Stopped));
    assert_eq!(observer.0, [6, 6, 6]);
}

/// The mean of many probes is the number of traces.
#[test]
fn estimates() {
    let of = |program| estimate(&mut Machine::new(program), 40_000, 1000, 1);
    for (program, traces) in [
        (families::writer_and_readers(4), 16.0),
        (families::lock_increment_unlock(4), 24.0),
        (families::load_compare_and_swap(4), 280.0),
        (families::load_store(4), 576.0),
        (families::created_in_a_loop(families::load_store(5)), 14_400.0),
    ] {
        let estimate = of(program);
        assert!((0.8 * traces..=1.2 * traces).contains(&estimate), "{estimate} for {traces}");
    }
}
