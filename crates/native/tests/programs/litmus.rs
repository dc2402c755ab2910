//! Litmus programs through the whole tool, in volume: one binary interprets them (`litmus.c`). Under each memory model, what they
//! show is what brute force over the axioms shows, and there are as many executions as consistent graphs.
//!
//! The same with loops that wait: what such a program shows when it comes to its end is what the axioms allow for one and for
//! two iterations of each loop, and it can wait for ever if an iteration fails on the values that are there in the end.
//!
//! `QUOTIENT_RANDOM_LITMUS=8000 cargo test -p quotient-native --test programs litmus` for volume, `QUOTIENT_LITMUS_SEED` to start
//! elsewhere.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use quotient_native::session::Surroundings;
use quotient_native::{Answer, Binary, Build, Report, Request, check};
use quotient_stateless::graph::{Graph, MemoryModel, Order, explore};
use quotient_stateless::random::Random;
use quotient_stateless::{Configuration, Ending, Outcome, Symmetry};
use quotient_testing::setting;
use quotient_thread_programs::axioms;
use quotient_thread_programs::litmus::{self, Instruction, Litmus, LitmusMachine};

use crate::memory_models::{MODELS, expected, finished};

fn binary() -> Binary {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs/litmus.c");
    let flags = vec!["-Wno-tsan".into()];
    Build { sources: vec![source], flags, ..Build::default() }.run().unwrap_or_else(|error| panic!("{error}"))
}

fn run(binary: &Binary, program: &str, memory: MemoryModel) -> Report {
    run_with(binary, vec![program.into()], memory, Symmetry::Off)
}

fn run_with(binary: &Binary, arguments: Vec<OsString>, memory: MemoryModel, symmetry: Symmetry) -> Report {
    let program = format!("{arguments:?}");
    let surroundings = Surroundings { arguments, ..Surroundings::default() };
    let max_time = Some(std::time::Duration::from_secs(20));
    let request =
        Request { memory: Some(memory), symmetry, all: true, surroundings, max_time, ..Request::default() };
    let report = check(binary, &request, &mut |_| true).unwrap_or_else(|error| panic!("{program}: {error}"));
    let unsure = matches!(report.answer, Answer::Undecided(_) | Answer::Refused(..));
    assert!(!unsure, "{program}, {memory:?}: {:?}", report.answer);
    report
}

fn order(order: Order) -> u64 {
    match order {
        Order::Relaxed => 0,
        Order::Acquire => 1,
        Order::Release => 2,
        Order::AcquireRelease => 3,
        Order::SequentiallyConsistent => 4,
    }
}

/// The six numbers of an instruction.
fn numbers(instruction: Instruction) -> [u64; 6] {
    match instruction {
        Instruction::Load(l, o) => [0, l as u64, 0, 0, order(o), 0],
        Instruction::Store(l, v, o) => [1, l as u64, v, 0, order(o), 0],
        Instruction::Add(l, v, o) => [2, l as u64, v, 0, order(o), 0],
        Instruction::CompareAndSwap(l, e, v, o, f) => [3, l as u64, e, v, order(o), order(f)],
        Instruction::Fence(o) => [4, 0, 0, 0, order(o), 0],
        Instruction::If(v) => [5, 0, v, 0, 0, 0],
        Instruction::Lock(l) => [6, l as u64, 0, 0, 0, 0],
        Instruction::Unlock(l) => [7, l as u64, 0, 0, 0, 0],
    }
}

fn argument(threads: impl Iterator<Item = Vec<[u64; 6]>>, locations: usize) -> String {
    let mut out = locations.to_string();
    for thread in threads {
        out.push(';');
        for number in thread.into_iter().flatten() {
            let _ = write!(out, "{number} ");
        }
        out.truncate(out.trim_end().len());
    }
    out
}

/// Checks programs under each model by a few processes at a time, which mostly wait for the checked ones; gives the sums.
fn summed<P: Sync>(programs: &[P], check: impl Fn(usize, &P, MemoryModel) -> usize + Sync) -> [usize; 3] {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut sums = [0; 3];
        while let Some((number, program)) =
            Some(next.fetch_add(1, Relaxed)).and_then(|n| programs.get(n).map(|p| (n, p)))
        {
            for (model, sum) in MODELS.into_iter().zip(&mut sums) {
                *sum += check(number, program, model);
            }
        }
        sums
    };
    std::thread::scope(|scope| {
        let workers = [(); 4].map(|()| scope.spawn(work));
        workers.into_iter().fold([0; 3], |mut all, worker| {
            let sums = worker.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause));
            all.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
            all
        })
    })
}

#[test]
fn litmus_programs_show_what_the_axioms_allow() {
    let count = setting("QUOTIENT_RANDOM_LITMUS", 60);
    let mut random = Random(setting("QUOTIENT_LITMUS_SEED", 5));
    let one = |number: u64| match number % 5 {
        0 | 1 => litmus::random(&mut random, 7),
        2 | 3 => litmus::like_a_classic(&mut random),
        _ => litmus::with_locks(&mut random),
    };
    let programs: Vec<Litmus> = (0..count).map(one).collect();
    let binary = binary();
    let graphs = summed(&programs, |number, program, model| {
        let code = program.iter().map(|t| t.iter().map(|i| numbers(*i)).collect());
        let text = argument(code, litmus::locations(program));
        let by_axioms = axioms::all(program, model);
        let report = run(&binary, &text, model);
        let found: BTreeSet<u64> = report.outcomes.iter().copied().collect();
        assert_eq!(found, expected(&by_axioms), "program {number}, {model:?}: {program:?}");
        let all = by_axioms.graphs() + by_axioms.stuck;
        assert_eq!(report.figures.executions, all as u64, "program {number}, {model:?}: {program:?}");
        assert_eq!(report.memory, model);
        all
    });
    println!("{count} programs, graphs under sc, tso, rc11: {graphs:?}");
    assert!(graphs[0] < graphs[1] && graphs[1] < graphs[2], "the models do not differ: {graphs:?}");
}

/// Threads that were started alike and run the same code are exchanged: what programs show stays the same, and executions are
/// the classes of graphs that the exploration of the same program without C finds (which are those of brute force).
#[test]
fn exchanged_threads_show_the_same() {
    let count = setting("QUOTIENT_RANDOM_LITMUS", 24);
    let mut random = Random(setting("QUOTIENT_LITMUS_SEED", 5) ^ 0xaa);
    let mut programs: Vec<Litmus> = Vec::new();
    while programs.len() < count as usize {
        let program = litmus::with_mates(&mut random);
        // Small ones: what is compared are classes.
        let all: usize = program.iter().map(Vec::len).sum();
        programs.extend((all <= 8 && program.len() <= 4).then_some(program));
    }
    let binary = binary();
    let fewer = AtomicUsize::new(0);
    let executions = summed(&programs, |number, program, model| {
        let code = program.iter().map(|t| t.iter().map(|i| numbers(*i)).collect());
        let arguments =
            || vec![argument(code.clone(), litmus::locations(program)).into(), "anonymous".into()];
        let [plain, exchanged] = [Symmetry::Off, Symmetry::Costarted]
            .map(|symmetry| run_with(&binary, arguments(), model, symmetry));
        let outcomes = |report: &Report| report.outcomes.iter().copied().collect::<BTreeSet<u64>>();
        assert_eq!(outcomes(&exchanged), outcomes(&plain), "program {number}, {model:?}: {program:?}");
        if model != MemoryModel::SequentialConsistency {
            let configuration = Configuration {
                stop_at_first: false,
                symmetry: Symmetry::Costarted,
                ..Configuration::default()
            };
            let mut classes = 0;
            let mut count = |_: &Graph| classes += 1;
            let mut machine = LitmusMachine::new(program.clone());
            explore(&mut machine, model, &configuration, &mut |_: Outcome| {}, &mut count)
                .expect("litmus programs are deterministic");
            assert_eq!(exchanged.figures.executions, classes, "program {number}, {model:?}: {program:?}");
        }
        fewer.fetch_add(usize::from(exchanged.figures.executions < plain.figures.executions), Relaxed);
        exchanged.figures.executions as usize
    });
    let fewer = fewer.into_inner();
    println!(
        "{count} programs with mates, executions under sc, tso, rc11: {executions:?}; {fewer} times fewer"
    );
    assert!(fewer > count as usize, "{fewer} times fewer of {count}");
}

/// A loop that waits.
#[derive(Clone, Copy, Debug)]
enum Wait {
    /// Until the location has this value.
    Until(usize, u64, Order),
    /// The same with a fence in the loop.
    Fenced(usize, u64, Order, Order),
    /// The same under a lock.
    Locked(usize, u64, Order),
    /// While the location has this value, by a compare-and-swap that puts it there again.
    Swapping(usize, u64, Order, Order),
}

#[derive(Clone, Copy, Debug)]
enum Item {
    Once(Instruction),
    Wait(Wait),
}

impl Wait {
    fn numbers(self) -> [u64; 6] {
        match self {
            Wait::Until(l, v, o) => [8, l as u64, v, 0, order(o), 0],
            Wait::Fenced(l, v, o, f) => [9, l as u64, v, 0, order(o), order(f)],
            Wait::Locked(l, v, o) => [10, l as u64, v, 0, order(o), 0],
            Wait::Swapping(l, v, o, f) => [11, l as u64, v, 0, order(o), order(f)],
        }
    }

    /// One iteration; it reads once.
    fn iteration(self) -> Vec<Instruction> {
        match self {
            Wait::Until(l, _, o) => vec![Instruction::Load(l, o)],
            Wait::Fenced(l, _, o, f) => vec![Instruction::Load(l, o), Instruction::Fence(f)],
            Wait::Locked(l, _, o) => {
                vec![Instruction::Lock(0), Instruction::Load(l, o), Instruction::Unlock(0)]
            }
            Wait::Swapping(l, v, o, f) => vec![Instruction::CompareAndSwap(l, v, v, o, f)],
        }
    }

    fn location(self) -> usize {
        match self {
            Wait::Until(l, ..) | Wait::Fenced(l, ..) | Wait::Locked(l, ..) | Wait::Swapping(l, ..) => l,
        }
    }

    /// Does it go round again after this value?
    fn fails(self, value: u64) -> bool {
        match self {
            Wait::Until(_, v, _) | Wait::Fenced(_, v, ..) | Wait::Locked(_, v, _) => value != v,
            Wait::Swapping(_, v, ..) => value == v,
        }
    }
}

/// What a read of an unrolled program has to be.
#[derive(Clone, Copy)]
enum Role {
    /// Anything, and it is shown.
    Shown,
    /// That of an iteration after which the loop goes round; not shown.
    Fails(Wait),
    /// That of the last iteration; shown.
    Succeeds(Wait),
    /// That of an iteration which is repeated for ever: it fails on the value that is there in the end.
    Stays(Wait),
}

/// An unrolled thread, with the roles of its reads; ends at a loop that goes on for ever.
type Unrolled = (Vec<Instruction>, Vec<Role>);

/// A thread with its loops unrolled in every way: once, twice, for ever.
fn unrolled(thread: &[Item]) -> Vec<Unrolled> {
    let mut done: Vec<Unrolled> = Vec::new();
    let mut open: Vec<Unrolled> = vec![(Vec::new(), Vec::new())];
    for item in thread {
        let mut next = Vec::new();
        for (code, roles) in open {
            let with = |iterations: usize, more: &[Instruction], added: &[Role]| {
                let (mut code, mut roles) = (code.clone(), roles.clone());
                (0..iterations).for_each(|_| code.extend_from_slice(more));
                roles.extend_from_slice(added);
                (code, roles)
            };
            match *item {
                Item::Once(instruction) => {
                    let reads = !matches!(
                        instruction,
                        Instruction::Store(..)
                            | Instruction::Fence(_)
                            | Instruction::Lock(_)
                            | Instruction::Unlock(_)
                    );
                    next.push(with(1, &[instruction], if reads { &[Role::Shown] } else { &[] }));
                }
                Item::Wait(wait) => {
                    let iteration = wait.iteration();
                    next.push(with(1, &iteration, &[Role::Succeeds(wait)]));
                    next.push(with(2, &iteration, &[Role::Fails(wait), Role::Succeeds(wait)]));
                    done.push(with(1, &iteration, &[Role::Stays(wait)]));
                }
            }
        }
        open = next;
    }
    done.extend(open);
    done
}

/// What the program shows by the axioms.
fn shown_with_waits(program: &[Vec<Item>], model: MemoryModel, locations: usize) -> BTreeSet<u64> {
    let ways: Vec<Vec<Unrolled>> = program.iter().map(|thread| unrolled(thread)).collect();
    let mut out = BTreeSet::new();
    let mut chosen = vec![0; program.len()];
    loop {
        let threads: Vec<&Unrolled> = ways.iter().zip(&chosen).map(|(w, k)| &w[*k]).collect();
        let code: Litmus = threads.iter().map(|t| t.0.clone()).collect();
        let stays = threads.iter().any(|t| t.1.iter().any(|r| matches!(r, Role::Stays(_))));
        for (reads, memory) in axioms::all(&code, model).shown.keys() {
            let last = |wait: Wait| memory.get(wait.location()).copied().unwrap_or(0);
            let fits = |(value, role): (&u64, &Role)| match *role {
                Role::Shown => true,
                Role::Fails(wait) => wait.fails(*value),
                Role::Succeeds(wait) => !wait.fails(*value),
                Role::Stays(wait) => wait.fails(*value) && last(wait) == *value,
            };
            if !reads.iter().zip(&threads).all(|(values, t)| values.iter().zip(&t.1).all(fits)) {
                continue;
            }
            if stays {
                out.insert((Ending::Deadlock as u64) << 56);
                continue;
            }
            let is_shown = |(value, role): (&u64, &Role)| (!matches!(role, Role::Fails(_))).then_some(*value);
            let kept: Vec<Vec<u64>> = reads
                .iter()
                .zip(&threads)
                .map(|(values, t)| values.iter().zip(&t.1).filter_map(is_shown).collect())
                .collect();
            let memory: Vec<u64> = (0..locations).map(|l| memory.get(l).copied().unwrap_or(0)).collect();
            out.insert(finished(&kept, &memory));
        }
        // The next choice, as with the digits of a number.
        let Some(at) = (0..chosen.len()).find(|t| chosen[*t] + 1 < ways[*t].len()) else { return out };
        chosen[at] += 1;
        chosen[..at].fill(0);
    }
}

/// A random program with one or two loops that wait.
fn with_waits(random: &mut Random) -> Vec<Vec<Item>> {
    let orders = |random: &mut Random, strong: Order| {
        [Order::Relaxed, Order::Relaxed, strong, Order::SequentiallyConsistent][random.below(4)]
    };
    let threads = 2 + random.below(2);
    let mut program: Vec<Vec<Item>> = vec![Vec::new(); threads];
    for thread in &mut program {
        for _ in 0..1 + random.below(2) {
            let (l, v) = (random.below(2), 1 + random.below(2) as u64);
            match random.below(8) {
                0 | 1 => thread.push(Item::Once(Instruction::Load(l, orders(random, Order::Acquire)))),
                2..5 => thread.push(Item::Once(Instruction::Store(l, v, orders(random, Order::Release)))),
                5 => thread.push(Item::Once(Instruction::Add(l, 1, orders(random, Order::AcquireRelease)))),
                6 => {
                    let strong = [Order::AcquireRelease, Order::SequentiallyConsistent][random.below(2)];
                    thread.push(Item::Once(Instruction::Fence(strong)));
                }
                _ => thread.extend(
                    [Instruction::Lock(0), Instruction::Store(l, v, Order::Relaxed), Instruction::Unlock(0)]
                        .map(Item::Once),
                ),
            }
        }
    }
    for t in 0..1 + random.below(2) {
        // Mostly for something that somebody else writes.
        let stored = |item: &Item| match *item {
            Item::Once(Instruction::Store(l, v, _)) => Some((l, v)),
            _ => None,
        };
        let others = program.iter().enumerate().filter(|(other, _)| *other != t);
        let stores: Vec<(usize, u64)> =
            others.flat_map(|(_, thread)| thread.iter().filter_map(stored)).collect();
        let (l, v) = match stores.len() {
            0 => (random.below(2), random.below(3) as u64),
            n if random.below(5) > 0 => stores[random.below(n)],
            _ => (random.below(2), random.below(3) as u64),
        };
        let (o, f) = (orders(random, Order::Acquire), orders(random, Order::Acquire));
        let wait = match random.below(5) {
            0 => Wait::Until(l, v, o),
            1 => Wait::Fenced(l, v, o, [Order::Acquire, Order::SequentiallyConsistent][random.below(2)]),
            2 | 3 => Wait::Locked(l, v, o),
            _ => Wait::Swapping(l, random.below(2) as u64, o, f),
        };
        // Not within a critical section.
        let outside = |at: &usize| {
            !program[t][..*at].iter().rev().any(|i| matches!(i, Item::Once(Instruction::Lock(_))))
                || program[t][*at..].iter().all(|i| !matches!(i, Item::Once(Instruction::Unlock(_))))
        };
        let places: Vec<usize> = (0..=program[t].len()).filter(outside).collect();
        program[t].insert(places[random.below(places.len())], Item::Wait(wait));
    }
    program
}

#[test]
fn waits_show_what_the_axioms_allow() {
    let count = setting("QUOTIENT_RANDOM_LITMUS", 60);
    let mut random = Random(setting("QUOTIENT_LITMUS_SEED", 5) ^ 0x55);
    let programs: Vec<Vec<Vec<Item>>> = (0..count).map(|_| with_waits(&mut random)).collect();
    let binary = binary();
    let stuck = AtomicUsize::new(0);
    let outcomes = summed(&programs, |number, program, model| {
        let code = program.iter().map(|thread| {
            let of = |item: &Item| match *item {
                Item::Once(instruction) => numbers(instruction),
                Item::Wait(wait) => wait.numbers(),
            };
            thread.iter().map(of).collect()
        });
        let text = argument(code, 2);
        let expected = shown_with_waits(program, model, 2);
        let report = run(&binary, &text, model);
        let said_nothing = |code: &u64| code >> 56 == Ending::Infeasible as u64;
        let found: BTreeSet<u64> = report.outcomes.iter().copied().filter(|c| !said_nothing(c)).collect();
        assert_eq!(found, expected, "program {number}, {model:?}: {program:?}\n{text}");
        stuck.fetch_add(usize::from(expected.contains(&((Ending::Deadlock as u64) << 56))), Relaxed);
        expected.len()
    });
    let stuck = stuck.into_inner();
    println!(
        "{count} programs, outcomes under sc, tso, rc11: {outcomes:?}; {stuck} times one can wait for ever"
    );
    assert!(outcomes[0] < outcomes[2] && stuck > 0 && stuck < 3 * count as usize, "{outcomes:?}, {stuck}");
}
