//! Random programs with loops that wait: what every mode finds is what visiting all states finds.
//!
//! The oracle is the interpreter below, which shares no code with the checker: it knows nothing of loops, orders or symmetry, and
//! visits every state once. A state from which no end can be reached is a deadlock or livelock.
//!
//! It knows one order of all accesses only. Under TSO and RC11 a program must show all of that as well, and no more if all
//! its orders are sequentially consistent; a try that fails orders nothing under RC11, so there programs with tries may show more.
//!
//! `QUOTIENT_RANDOM_WAITS=2000 cargo test -p quotient-native --test programs random_waits` for volume.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt::Write;
use std::path::PathBuf;

use quotient_native::session::Surroundings;
use quotient_native::{Answer, Binary, Build, Request, check};
use quotient_stateless::graph::MemoryModel;
use quotient_stateless::random::Random;
use quotient_stateless::{Algorithm, Ending, Symmetry};

const BATCH: usize = 40;
const VARIABLES: usize = 3;
const REGISTERS: usize = 4;

/// One operation of a thread. Registers are numbered, `x` is a shared atomic variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Load {
        r: usize,
        x: usize,
    },
    Store {
        x: usize,
        value: i64,
    },
    Add {
        r: usize,
        x: usize,
    },
    /// `r` gets whether it succeeded; expects the value of register `e`, which is not changed.
    Swap {
        r: usize,
        x: usize,
        e: usize,
        plus: i64,
    },
    Exchange {
        r: usize,
        x: usize,
        value: i64,
    },
    Lock,
    TryLock {
        r: usize,
    },
    Unlock,
    /// The plain variable, under the lock.
    Read {
        r: usize,
    },
    Increase,
    Set {
        r: usize,
        value: i64,
    },
    Count {
        r: usize,
    },
    Yield,
    Jump {
        to: usize,
    },
    JumpIf {
        r: usize,
        less: bool,
        value: i64,
        to: usize,
    },
    JumpUnless {
        r: usize,
        value: i64,
        to: usize,
    },
}

type Thread = Vec<Op>;

const STRONG: &str = "memory_order_seq_cst";

/// The memory order of all atomic operations of a program.
fn order_of(seed: usize) -> &'static str {
    let orders = [STRONG, STRONG, "memory_order_acq_rel", "memory_order_relaxed"];
    orders[seed % orders.len()]
}

/// Does a loop have a store? Under a weak memory model it then does not wait: it changes something.
fn stores_in_a_loop(code: &Thread) -> bool {
    let jump = |op: &Op| match *op {
        Op::Jump { to } | Op::JumpIf { to, .. } | Op::JumpUnless { to, .. } => Some(to),
        _ => None,
    };
    code.iter().enumerate().any(|(at, op)| {
        let looped = jump(op).filter(|to| *to <= at).map_or(&[][..], |to| &code[to..at]);
        looped.iter().any(|op| matches!(op, Op::Store { .. }))
    })
}

fn wait(random: &mut Random, code: &mut Thread) {
    use Op::*;
    let (x, y, c) = (random.below(VARIABLES), random.below(VARIABLES), random.below(3) as i64);
    let start = code.len();
    match random.below(9) {
        // while (x != c);
        0 => code.extend([Load { r: 0, x }, JumpUnless { r: 0, value: c, to: start }]),
        // while (x < c) yield;
        1 => code.extend([Yield, Load { r: 0, x }, JumpIf { r: 0, less: true, value: c, to: start }]),
        // while (x == 0 && y == 0);
        2 => code.extend([
            Load { r: 0, x },
            JumpUnless { r: 0, value: 0, to: start + 4 },
            Load { r: 1, x: y },
            JumpIf { r: 1, less: false, value: 0, to: start },
        ]),
        // e = 0; while (!cas(x, e, e + 1)) e = 0;
        3 => code.extend([
            Set { r: 1, value: c },
            Swap { r: 0, x, e: 1, plus: 1 },
            JumpIf { r: 0, less: false, value: 0, to: start },
        ]),
        // do e = x; while (!cas(x, e, e + 1));
        4 => code.extend([
            Load { r: 1, x },
            Swap { r: 0, x, e: 1, plus: 1 },
            JumpIf { r: 0, less: false, value: 0, to: start },
        ]),
        // while (exchange(x, 1) == 1);
        5 => code.extend([Exchange { r: 0, x, value: 1 }, JumpIf { r: 0, less: false, value: 1, to: start }]),
        // while (trylock(m)) yield; d++; unlock(m);
        6 => code.extend([
            Yield,
            TryLock { r: 0 },
            JumpIf { r: 0, less: false, value: 0, to: start },
            Increase,
            Unlock,
        ]),
        // do { lock(m); r = d; unlock(m); } while (r < c);
        7 => code.extend([
            Lock,
            Read { r: 0 },
            Unlock,
            JumpIf { r: 0, less: true, value: c.max(1), to: start },
        ]),
        // while (x != c) y = 1;
        _ => code.extend([
            Load { r: 0, x },
            JumpIf { r: 0, less: false, value: c, to: start + 4 },
            Store { x: y, value: 1 },
            Jump { to: start },
        ]),
    }
}

fn thread(random: &mut Random) -> Thread {
    use Op::*;
    let mut code = Vec::new();
    for _ in 0..1 + random.below(3) {
        let (x, c) = (random.below(VARIABLES), random.below(3) as i64);
        match random.below(8) {
            0 | 1 => code.push(Store { x, value: c }),
            2 => code.push(Add { r: 2, x }),
            3 => code.push(Load { r: 3, x }),
            4 => code.extend([Lock, Increase, Unlock]),
            // for (i = 0; i < 2 && x != c; i++);
            5 if random.below(2) == 0 => {
                let start = code.len() + 1;
                code.extend([
                    Set { r: 1, value: 0 },
                    Load { r: 0, x },
                    JumpIf { r: 0, less: false, value: c, to: start + 4 },
                    Count { r: 1 },
                    JumpIf { r: 1, less: true, value: 2, to: start },
                ]);
            }
            _ => wait(random, &mut code),
        }
    }
    code
}

fn program(seed: u64) -> Vec<Thread> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let threads = 2 + random.below(2);
    let mut code: Vec<Thread> = (0..threads).map(|_| thread(&mut random)).collect();
    if random.below(2) == 0 {
        code[1] = code[0].clone();
    }
    code
}

fn statement(op: Op, n: usize, order: &str) -> String {
    let cell = |x: usize| format!("&p{n}_x[{x}]");
    match op {
        Op::Load { r, x } => {
            format!("r{r} = atomic_load_explicit({}, {});", cell(x), order.replace("acq_rel", "acquire"))
        }
        Op::Store { x, value } => {
            format!("atomic_store_explicit({}, {value}, {});", cell(x), order.replace("acq_rel", "release"))
        }
        Op::Add { r, x } => format!("r{r} = atomic_fetch_add_explicit({}, 1, {order});", cell(x)),
        Op::Swap { r, x, e, plus } => format!(
            "{{ long e = r{e}; r{r} = atomic_compare_exchange_strong_explicit({}, &e, r{e} + {plus}, {order}, {}); }}",
            cell(x),
            if order == STRONG { STRONG } else { "memory_order_relaxed" }
        ),
        Op::Exchange { r, x, value } => {
            format!("r{r} = atomic_exchange_explicit({}, {value}, {order});", cell(x))
        }
        Op::Lock => "pthread_mutex_lock(&m);".to_owned(),
        Op::TryLock { r } => format!("r{r} = pthread_mutex_trylock(&m) == 0;"),
        Op::Unlock => "pthread_mutex_unlock(&m);".to_owned(),
        Op::Read { r } => format!("r{r} = p{n}_d[0];"),
        Op::Increase => format!("p{n}_d[0]++;"),
        Op::Set { r, value } => format!("r{r} = {value};"),
        Op::Count { r } => format!("r{r}++;"),
        Op::Yield => "sched_yield();".to_owned(),
        Op::Jump { to } => format!("goto L{to};"),
        Op::JumpIf { r, less, value, to } => {
            format!("if (r{r} {} {value}) goto L{to};", if less { "<" } else { "==" })
        }
        Op::JumpUnless { r, value, to } => format!("if (r{r} != {value}) goto L{to};"),
    }
}

fn source(programs: &[Vec<Thread>], first: u64) -> String {
    let mut out = "\
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
void __quotient_observe_at_end(const void *, unsigned long);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_t handle[8];
"
    .to_owned();
    for (n, threads) in programs.iter().enumerate() {
        let order = order_of(first as usize + n);
        let _ = writeln!(out, "static atomic_long p{n}_x[{VARIABLES}]; static long p{n}_d[1];");
        for (t, code) in threads.iter().enumerate() {
            let _ = writeln!(out, "static void *p{n}_t{t}(void *me) {{ long r0 = 0, r1 = 0, r2 = 0, r3 = 0;");
            for (at, op) in code.iter().enumerate() {
                let _ = writeln!(out, "  L{at}: {}", statement(*op, n, order));
            }
            let _ = writeln!(out, "  L{}: (void)(r0 + r1 + r2 + r3); return 0; }}", code.len());
        }
        let _ = writeln!(out, "static void p{n}(void) {{");
        let _ = writeln!(out, "  __quotient_observe_at_end(p{n}_x, sizeof p{n}_x);");
        let _ = writeln!(out, "  __quotient_observe_at_end(p{n}_d, sizeof p{n}_d);");
        for (t, code) in threads.iter().enumerate() {
            let same = threads.iter().position(|c| c == code).unwrap_or(t);
            let _ = writeln!(out, "  pthread_create(&handle[{t}], 0, p{n}_t{same}, 0);");
        }
        out.push_str("}\n");
    }
    out.push_str("int main(int argc, char **argv) {\n  switch (argc > 1 ? atoi(argv[1]) : 0) {\n");
    for n in 0..programs.len() {
        let _ = writeln!(out, "  case {n}: p{n}(); break;");
    }
    out.push_str("  }\n  pthread_exit(0);\n}\n");
    out
}

/// A state of the interpreter.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    at: Vec<usize>,
    registers: Vec<[i64; REGISTERS]>,
    x: [i64; VARIABLES],
    d: i64,
    owner: Option<usize>,
}

/// The state after a step of thread `t`, if it can make one.
fn step(threads: &[Thread], from: &State, t: usize) -> Option<State> {
    let op = *threads[t].get(from.at[t])?;
    let mut s = from.clone();
    s.at[t] += 1;
    let registers = &mut s.registers[t];
    let mut jump = None;
    match op {
        Op::Load { r, x } => registers[r] = s.x[x],
        Op::Store { x, value } => s.x[x] = value,
        Op::Add { r, x } => {
            registers[r] = s.x[x];
            s.x[x] += 1;
        }
        Op::Swap { r, x, e, plus } => {
            let success = s.x[x] == registers[e];
            if success {
                s.x[x] = registers[e] + plus;
            }
            registers[r] = i64::from(success);
        }
        Op::Exchange { r, x, value } => registers[r] = std::mem::replace(&mut s.x[x], value),
        Op::Lock if s.owner.is_some() => return None,
        Op::Lock => s.owner = Some(t),
        Op::TryLock { r } => {
            registers[r] = i64::from(s.owner.is_none());
            s.owner = s.owner.or(Some(t));
        }
        Op::Unlock => s.owner = None,
        Op::Read { r } => registers[r] = s.d,
        Op::Increase => s.d += 1,
        Op::Set { r, value } => registers[r] = value,
        Op::Count { r } => registers[r] += 1,
        Op::Yield => {}
        Op::Jump { to } => jump = Some(to),
        Op::JumpIf { r, less, value, to } => {
            let is = if less { registers[r] < value } else { registers[r] == value };
            jump = is.then_some(to);
        }
        Op::JumpUnless { r, value, to } => jump = (registers[r] != value).then_some(to),
    }
    if let Some(to) = jump {
        s.at[t] = to;
    }
    Some(s)
}

fn hash(words: impl Iterator<Item = i64>) -> u64 {
    words.fold(0, |hash: u64, word| {
        (hash ^ word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_add(1)
    })
}

/// The outcomes; `None` if there are too many states.
fn outcomes(threads: &[Thread], limit: usize) -> Option<BTreeSet<u64>> {
    let start = State {
        at: vec![0; threads.len()],
        registers: vec![[0; REGISTERS]; threads.len()],
        x: [0; VARIABLES],
        d: 0,
        owner: None,
    };
    let mut numbers: HashMap<State, usize> = HashMap::from([(start.clone(), 0)]);
    let mut from: Vec<Vec<usize>> = vec![Vec::new()];
    let mut left = VecDeque::from([(0, start)]);
    let (mut ends, mut found) = (Vec::new(), BTreeSet::new());
    while let Some((number, state)) = left.pop_front() {
        if state.at.iter().zip(threads).all(|(at, code)| *at == code.len()) {
            ends.push(number);
            let words = state.x.into_iter().chain([state.d]);
            found.insert((Ending::Finished as u64) << 56 | hash(words) >> 8);
        }
        for t in 0..threads.len() {
            let Some(next) = step(threads, &state, t) else { continue };
            let fresh = numbers.len();
            let to = *numbers.entry(next.clone()).or_insert(fresh);
            if to == fresh {
                if fresh > limit {
                    return None;
                }
                from.push(Vec::new());
                left.push_back((to, next));
            }
            from[to].push(number);
        }
    }
    let mut reaches = vec![false; from.len()];
    while let Some(number) = ends.pop() {
        if !std::mem::replace(&mut reaches[number], true) {
            ends.extend(&from[number]);
        }
    }
    if reaches.contains(&false) {
        found.insert((Ending::Deadlock as u64) << 56);
    }
    Some(found)
}

fn build(programs: &[Vec<Thread>], first: u64) -> Binary {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("waits-{first}.c"));
    std::fs::write(&path, source(programs, first)).expect("the test directory can be written");
    Build { sources: vec![path], ..Build::default() }.run().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn loops_that_wait_lose_no_outcome() {
    let volume =
        |name: &str, usual: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let count = volume("QUOTIENT_RANDOM_WAITS", BATCH as u64);
    let first = volume("QUOTIENT_RANDOM_WAITS_FROM", 0);
    let sc = MemoryModel::SequentialConsistency;
    let modes = [
        (sc, Algorithm::Optimal, Symmetry::Off, 1),
        (sc, Algorithm::Optimal, Symmetry::Off, 2),
        (sc, Algorithm::SourceSets, Symmetry::Off, 1),
        (sc, Algorithm::FlanaganGodefroid, Symmetry::Off, 1),
        (sc, Algorithm::Optimal, Symmetry::Costarted, 1),
        (sc, Algorithm::Optimal, Symmetry::Dynamic, 1),
        (MemoryModel::Tso, Algorithm::Optimal, Symmetry::Off, 1),
        (MemoryModel::Rc11, Algorithm::Optimal, Symmetry::Off, 1),
    ];
    let (mut checked, mut stuck, mut weak, mut more) = (0, 0, 0, 0);
    for batch in (first..first + count).step_by(BATCH) {
        let programs: Vec<Vec<Thread>> = (batch..batch + BATCH as u64).map(program).collect();
        let binary = build(&programs, batch);
        for (number, threads) in programs.iter().enumerate() {
            let Some(expected) = outcomes(threads, 100_000) else { continue };
            stuck += u64::from(expected.contains(&((Ending::Deadlock as u64) << 56)));
            let seed = batch as usize + number;
            let strong = order_of(seed) == STRONG;
            let tries = threads.iter().flatten().any(|op| matches!(op, Op::TryLock { .. }));
            for (memory, algorithm, symmetry, workers) in modes {
                if memory != sc && threads.iter().any(stores_in_a_loop) {
                    continue;
                }
                let arguments = vec![number.to_string().into()];
                let request = Request {
                    memory: Some(memory),
                    algorithm,
                    symmetry,
                    workers,
                    split_after: 0,
                    all: true,
                    max_steps: 500,
                    surroundings: Surroundings { arguments, ..Surroundings::default() },
                    ..Request::default()
                };
                let report =
                    check(&binary, &request, &mut |_| true).unwrap_or_else(|e| panic!("{number}: {e}"));
                let said_nothing = |code: &u64| code >> 56 == Ending::Infeasible as u64;
                let found: BTreeSet<u64> =
                    report.outcomes.iter().copied().filter(|c| !said_nothing(c)).collect();
                assert!(
                    !matches!(report.answer, Answer::Undecided(_) | Answer::Refused(..)),
                    "seed {seed}, {memory:?} {algorithm:?} {symmetry:?}: {:?}\n{threads:#?}",
                    report.answer
                );
                if memory == sc || strong && !(memory == MemoryModel::Rc11 && tries) {
                    let mode = format!("{memory:?} {algorithm:?} {symmetry:?} {workers}");
                    assert_eq!(found, expected, "seed {seed}, {mode}\n{threads:?}");
                } else {
                    assert!(found.is_superset(&expected), "seed {seed}, {memory:?}\n{threads:?}");
                }
                weak += u64::from(memory == MemoryModel::Rc11);
                more += u64::from(found.len() > expected.len());
            }
            checked += 1;
        }
    }
    println!(
        "{checked} programs, {stuck} can get stuck; {weak} under RC11; {more} times weak memory showed more"
    );
    assert!(checked * 10 >= count * 8, "too few programs were small enough: {checked} of {count}");
    assert!(stuck * 10 >= count, "too few programs get stuck: {stuck} of {count}");
    assert!(stuck * 10 <= count * 9, "too many programs get stuck: {stuck} of {count}");
    assert!(weak * 10 >= count * 6, "too few programs under weak memory: {weak} of {count}");
}
