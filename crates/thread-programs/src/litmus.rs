//! Litmus programs: a few threads over a few locations, all zero at first, with memory orders; the classics, random ones, and
//! an interpreter.

use std::collections::BTreeMap;

use quotient_stateless::execution::{Ending, Execution, Outcome, Symmetry};
use quotient_stateless::graph::{Access, Change, Label, Location, MemoryProgram, Order};
use quotient_stateless::operation::{Kind, Mode, Operation};
use quotient_stateless::random::Random;
use quotient_stateless::threads::{ThreadId, ThreadSet};

use Order::{Acquire, AcquireRelease, Relaxed, Release, SequentiallyConsistent};

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Instruction {
    /// Reads a location.
    Load(usize, Order),
    /// Writes a constant.
    Store(usize, u64, Order),
    /// Adds a constant.
    Add(usize, u64, Order),
    /// Compares with the first constant and writes the second one; orders of success and failure.
    CompareAndSwap(usize, u64, u64, Order, Order),
    /// A fence.
    Fence(Order),
    /// Skips the next instruction unless the last value read is this one.
    If(u64),
    /// Takes a lock.
    Lock(usize),
    /// Gives it back.
    Unlock(usize),
}

use Instruction::{Add, CompareAndSwap, Fence, If, Load, Lock, Store, Unlock};

/// Threads with their instructions.
pub type Litmus = Vec<Vec<Instruction>>;

/// What an execution shows: the values of all reads in program order, thread by thread, and the final memory.
pub type Shown = (Vec<Vec<u64>>, Vec<u64>);

/// How many locations a program has.
pub fn locations(program: &Litmus) -> usize {
    let location = |i: &Instruction| match *i {
        Load(l, _) | Store(l, ..) | Add(l, ..) | CompareAndSwap(l, ..) => l + 1,
        Fence(_) | If(_) | Lock(_) | Unlock(_) => 0,
    };
    program.iter().flatten().map(location).max().unwrap_or(0)
}

/// How many locks a program has.
pub fn locks(program: &Litmus) -> usize {
    let lock = |i: &Instruction| if let Lock(l) = *i { l + 1 } else { 0 };
    program.iter().flatten().map(lock).max().unwrap_or(0)
}

/// A classic: its name, the program, what it may show, and whether sequential consistency, TSO and RC11 allow it.
pub type Classic = (&'static str, Litmus, Shown, [bool; 3]);

/// The classics.
pub fn classics() -> Vec<Classic> {
    let (x, y) = (0, 1);
    let sc = SequentiallyConsistent;
    let sb = |w, r| vec![vec![Store(x, 1, w), Load(y, r)], vec![Store(y, 1, w), Load(x, r)]];
    let mp = |w, f, g, r| vec![vec![Store(x, 1, w), Store(y, 1, f)], vec![Load(y, g), Load(x, r)]];
    let iriw = |w, r| {
        vec![
            vec![Store(x, 1, w)],
            vec![Store(y, 1, w)],
            vec![Load(x, r), Load(y, r)],
            vec![Load(y, r), Load(x, r)],
        ]
    };
    let two = |w| vec![vec![Store(x, 1, w), Store(y, 2, w)], vec![Store(y, 1, w), Store(x, 2, w)]];
    let fenced = |a, f, b| vec![a, Fence(f), b];
    let shows = |reads: &[&[u64]], memory: &[u64]| -> Shown {
        (reads.iter().map(|r| r.to_vec()).collect(), memory.to_vec())
    };
    let both_old = shows(&[&[0], &[0]], &[1, 1]);
    let stale = shows(&[&[], &[1, 0]], &[1, 1]);
    let split = shows(&[&[], &[], &[1, 0], &[1, 0]], &[1, 1]);
    let first = shows(&[&[], &[]], &[1, 1]);
    vec![
        ("SB relaxed", sb(Relaxed, Relaxed), both_old.clone(), [false, true, true]),
        ("SB release/acquire", sb(Release, Acquire), both_old.clone(), [false, true, true]),
        ("SB sc", sb(sc, sc), both_old.clone(), [false, false, false]),
        (
            "SB sc fences",
            vec![
                fenced(Store(x, 1, Relaxed), sc, Load(y, Relaxed)),
                fenced(Store(y, 1, Relaxed), sc, Load(x, Relaxed)),
            ],
            both_old.clone(),
            [false, false, false],
        ),
        (
            "SB acquire-release fences",
            vec![
                fenced(Store(x, 1, Relaxed), AcquireRelease, Load(y, Relaxed)),
                fenced(Store(y, 1, Relaxed), AcquireRelease, Load(x, Relaxed)),
            ],
            both_old,
            [false, true, true],
        ),
        ("MP relaxed", mp(Relaxed, Relaxed, Relaxed, Relaxed), stale.clone(), [false, false, true]),
        ("MP release/acquire", mp(Relaxed, Release, Acquire, Relaxed), stale.clone(), [false, false, false]),
        ("MP without acquire", mp(Relaxed, Release, Relaxed, Relaxed), stale.clone(), [false, false, true]),
        (
            "MP fences",
            vec![
                fenced(Store(x, 1, Relaxed), Release, Store(y, 1, Relaxed)),
                fenced(Load(y, Relaxed), Acquire, Load(x, Relaxed)),
            ],
            stale.clone(),
            [false, false, false],
        ),
        ("MP sc data, relaxed flag", mp(sc, Relaxed, Relaxed, sc), stale, [false, false, true]),
        (
            "LB relaxed",
            vec![vec![Load(x, Relaxed), Store(y, 1, Relaxed)], vec![Load(y, Relaxed), Store(x, 1, Relaxed)]],
            shows(&[&[1], &[1]], &[1, 1]),
            [false, false, false],
        ),
        ("IRIW acquire", iriw(Release, Acquire), split.clone(), [false, false, true]),
        ("IRIW sc", iriw(sc, sc), split.clone(), [false, false, false]),
        (
            "IRIW sc fences",
            vec![
                vec![Store(x, 1, Relaxed)],
                vec![Store(y, 1, Relaxed)],
                fenced(Load(x, Relaxed), sc, Load(y, Relaxed)),
                fenced(Load(y, Relaxed), sc, Load(x, Relaxed)),
            ],
            split,
            [false, false, false],
        ),
        ("2+2W relaxed", two(Relaxed), first.clone(), [false, false, true]),
        ("2+2W release", two(Release), first.clone(), [false, false, true]),
        ("2+2W sc", two(sc), first, [false, false, false]),
        (
            "CoRR",
            vec![vec![Store(x, 1, Relaxed), Store(x, 2, Relaxed)], vec![Load(x, Relaxed), Load(x, Relaxed)]],
            shows(&[&[], &[2, 1]], &[2]),
            [false, false, false],
        ),
        (
            "CoWR",
            vec![vec![Store(x, 1, Relaxed), Load(x, Relaxed)], vec![Store(x, 2, Relaxed)]],
            shows(&[&[0], &[]], &[1]),
            [false, false, false],
        ),
        (
            "two updates of one value",
            vec![vec![Add(x, 1, Relaxed)], vec![Add(x, 1, Relaxed)], vec![Add(x, 1, Relaxed)]],
            shows(&[&[0], &[0], &[1]], &[2]),
            [false, false, false],
        ),
        (
            "release sequence by an update",
            vec![
                vec![Store(y, 7, Relaxed), Store(x, 1, Release)],
                vec![Add(x, 1, Relaxed)],
                vec![Load(x, Acquire), Load(y, Relaxed)],
            ],
            shows(&[&[], &[1], &[2, 0]], &[2, 7]),
            [false, false, false],
        ),
        (
            "release sequence broken by a store (C++20)",
            vec![
                vec![Store(y, 7, Relaxed), Store(x, 1, Release), Store(x, 2, Relaxed)],
                vec![Load(x, Acquire), Load(y, Relaxed)],
            ],
            shows(&[&[], &[2, 0]], &[2, 7]),
            [false, false, true],
        ),
    ]
}

fn order(random: &mut Random, orders: &[Order]) -> Order {
    orders[random.below(orders.len())]
}

/// A random program of at most `most` instructions over two locations.
pub fn random(random: &mut Random, most: usize) -> Litmus {
    let threads = 2 + random.below(3);
    let mut left = most;
    let mut value = 0;
    (0..threads)
        .map(|t| {
            let room = left.saturating_sub(threads - t - 1).clamp(1, 4);
            let length = 1 + random.below(room);
            left = left.saturating_sub(length);
            (0..length)
                .map(|_| {
                    let l = random.below(2);
                    value += 1;
                    match random.below(14) {
                        0..5 => Load(l, order(random, &[Relaxed, Acquire, SequentiallyConsistent])),
                        5..8 => Store(l, value, order(random, &[Relaxed, Release, SequentiallyConsistent])),
                        8..10 => Add(l, 10, any(random)),
                        10 => {
                            let failure = order(random, &[Relaxed, Acquire, SequentiallyConsistent]);
                            CompareAndSwap(l, random.below(4) as u64, 20 + value, any(random), failure)
                        }
                        11 => If(random.below(4) as u64),
                        _ => {
                            Fence(order(random, &[Acquire, Release, AcquireRelease, SequentiallyConsistent]))
                        }
                    }
                })
                .collect()
        })
        .collect()
}

fn any(random: &mut Random) -> Order {
    order(random, &[Relaxed, Acquire, Release, AcquireRelease, SequentiallyConsistent])
}

/// A random program of the shape of the classics: each thread makes two accesses, mostly to different locations, often with a fence
/// between. Other random programs rarely communicate enough to tell a wrong model from a right one.
pub fn like_a_classic(random: &mut Random) -> Litmus {
    let threads = 2 + random.below(3);
    let mut value = 0;
    (0..threads)
        .map(|t| {
            let l = random.below(2);
            let mut thread = Vec::new();
            let accesses = if threads == 4 && t < 2 { 1 } else { 2 };
            for k in 0..accesses {
                let l = if k == 1 && random.below(5) > 0 { 1 - l } else { l };
                let pick = |random: &mut Random, weak: Order| match random.below(4) {
                    0 | 1 => Relaxed,
                    2 => weak,
                    _ => SequentiallyConsistent,
                };
                value += 1;
                thread.push(match random.below(7) {
                    0..3 => Load(l, pick(random, Acquire)),
                    3..6 => Store(l, value, pick(random, Release)),
                    _ => Add(l, 10, pick(random, [Acquire, Release, AcquireRelease][t % 3])),
                });
                if k + 1 < accesses && random.one_in(2) {
                    let sc = SequentiallyConsistent;
                    thread.push(Fence(order(random, &[Acquire, Release, AcquireRelease, sc, sc, sc])));
                }
            }
            thread
        })
        .collect()
}

/// A random program with critical sections of one or two locks.
pub fn with_locks(random: &mut Random) -> Litmus {
    let threads = 2 + random.below(2);
    let mut value = 0;
    (0..threads)
        .map(|_| {
            let mut thread = Vec::new();
            for _ in 0..1 + random.below(2) {
                let lock = random.below(2);
                let inside = random.below(2) + usize::from(random.one_in(3));
                let nested = random.one_in(3);
                thread.push(Lock(lock));
                if nested {
                    thread.push(Lock(1 - lock));
                }
                for _ in 0..inside.min(1) {
                    value += 1;
                    let l = random.below(2);
                    thread.push(if random.one_in(2) { Load(l, Relaxed) } else { Store(l, value, Relaxed) });
                }
                if nested {
                    thread.push(Unlock(1 - lock));
                }
                thread.push(Unlock(lock));
            }
            thread
        })
        .collect()
}

/// A random program in which two or three threads run the same code, beside none to two others.
pub fn with_mates(random: &mut Random) -> Litmus {
    let mut program = match random.below(4) {
        0 => with_locks(random),
        1 => like_a_classic(random),
        _ => self::random(random, 6),
    };
    program.truncate(1 + random.below(3));
    let copied = random.below(program.len());
    if program[copied].len() > 3 {
        program[copied].truncate(3);
    }
    let unlocked = program[copied].iter().filter(|i| matches!(i, Lock(_))).count();
    let given_back = program[copied].iter().filter(|i| matches!(i, Unlock(_))).count();
    if unlocked != given_back {
        program[copied].retain(|i| !matches!(i, Lock(_) | Unlock(_)));
    }
    let copies = if program.len() > 2 { 1 } else { 1 + random.below(2) };
    for _ in 0..copies {
        let at = random.below(program.len() + 1);
        let copy = program[copied].clone();
        program.insert(at.max(copied + 1), copy);
    }
    program
}

/// Executes a litmus program.
pub struct LitmusMachine {
    program: Litmus,
    /// Values of each location in modification order.
    cells: Vec<Vec<u64>>,
    /// 1: free.
    locks: Vec<i64>,
    at: Vec<usize>,
    reads: Vec<Vec<u64>>,
    /// What complete executions have shown, and how often.
    pub shown: BTreeMap<Shown, usize>,
}

/// Locks are locations from here on.
const FIRST_LOCK: u64 = 1000;

impl LitmusMachine {
    /// For a program.
    pub fn new(program: Litmus) -> LitmusMachine {
        let mut machine = LitmusMachine {
            cells: Vec::new(),
            locks: Vec::new(),
            at: Vec::new(),
            reads: Vec::new(),
            program,
            shown: BTreeMap::new(),
        };
        machine.restart();
        machine
    }

    fn instruction(&self, thread: ThreadId) -> Option<Instruction> {
        self.program.get(thread as usize)?.get(*self.at.get(thread as usize)?).copied()
    }

    /// Skips what is not an operation.
    fn settle(&mut self, thread: usize) {
        while let Some(If(value)) = self.program[thread].get(self.at[thread]) {
            let holds = self.reads[thread].last() == Some(value);
            self.at[thread] += if holds { 1 } else { 2 };
        }
    }

    /// What the execution has shown so far.
    pub fn shows(&self) -> Shown {
        let last = |cell: &Vec<u64>| cell.last().copied().unwrap_or(0);
        (self.reads.clone(), self.cells.iter().map(last).collect())
    }
}

impl Execution for LitmusMachine {
    fn max_threads(&self) -> usize {
        self.program.len()
    }

    fn restart(&mut self) {
        self.cells = vec![vec![0]; locations(&self.program)];
        self.locks = vec![1; locks(&self.program)];
        self.at = vec![0; self.program.len()];
        self.reads = vec![Vec::new(); self.program.len()];
        (0..self.program.len()).for_each(|t| self.settle(t));
    }

    fn enabled(&self) -> ThreadSet {
        let can = |t: &ThreadId| match self.instruction(*t) {
            Some(Lock(l)) => self.locks[l] > 0,
            other => other.is_some(),
        };
        (0..self.program.len() as ThreadId).filter(can).collect()
    }

    fn pending(&self, thread: ThreadId, _: u16) -> Option<Operation> {
        self.instruction(thread).map(|_| Operation::new(Kind::Other))
    }

    fn step(&mut self, thread: ThreadId, alternative: u16) {
        let Some(instruction) = self.instruction(thread) else { return };
        let reads = &mut self.reads[thread as usize];
        match instruction {
            Load(l, _) | Add(l, ..) | CompareAndSwap(l, ..) => {
                let cell = &mut self.cells[l];
                let at = cell.len() - 1 - alternative as usize;
                let old = cell[at];
                reads.push(old);
                match instruction {
                    Add(_, k, _) => cell.insert(at + 1, old + k),
                    CompareAndSwap(_, expected, new, ..) if old == expected => cell.insert(at + 1, new),
                    _ => {}
                }
            }
            Store(l, value, _) => {
                let at = self.cells[l].len() - alternative as usize;
                self.cells[l].insert(at, value);
            }
            Lock(l) => self.locks[l] = 0,
            Unlock(l) => self.locks[l] = 1,
            Fence(_) | If(_) => {}
        }
        self.at[thread as usize] += 1;
        self.settle(thread as usize);
    }

    fn outcome(&mut self) -> Outcome {
        let ended = (0..self.program.len() as ThreadId).all(|t| self.instruction(t).is_none());
        if ended {
            *self.shown.entry(self.shows()).or_default() += 1;
        }
        Outcome { ending: if ended { Ending::Finished } else { Ending::Deadlock }, hash: 0 }
    }

    fn symmetric(&mut self, a: ThreadId, b: ThreadId, _: Symmetry) -> bool {
        self.program[a as usize] == self.program[b as usize]
    }
}

impl MemoryProgram for LitmusMachine {
    fn label(&self, thread: ThreadId) -> Option<Label> {
        let access = |l: usize, change, order, failure| {
            let location = Location(l as u64);
            Label::Access(Access { location, bytes: 8, initial: 0, change, order, failure })
        };
        let object = |l: usize, mode, need, order| Label::Object {
            location: Location(FIRST_LOCK + l as u64),
            mode,
            need,
            value: self.locks[l],
            order,
        };
        Some(match self.instruction(thread)? {
            Load(l, order) => access(l, Change::None, order, order),
            Store(l, value, order) => access(l, Change::Store(value), order, order),
            Add(l, k, order) => access(l, Change::Add(k), order, order),
            CompareAndSwap(l, expected, new, order, failure) => {
                access(l, Change::CompareAndSwap { expected, new }, order, failure)
            }
            Fence(order) => Label::Fence(order),
            Lock(l) => object(l, Mode::Acquire, 1, Acquire),
            Unlock(l) => object(l, Mode::Write, 0, Release),
            If(_) => return None,
        })
    }

    fn object_value(&self, location: Location) -> i64 {
        self.locks[(location.0 - FIRST_LOCK) as usize]
    }

    fn ended(&self) -> bool {
        false
    }
}
