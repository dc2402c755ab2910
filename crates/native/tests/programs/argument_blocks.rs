//! Threads that were given heap blocks of their own with equal content are started alike; whoever touches the block of another
//! tells that thread apart.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;

use quotient_native::session::Surroundings;
use quotient_native::{Answer, Build, Report, Request, check};
use quotient_stateless::Symmetry;
use quotient_stateless::random::Random;

const THREADS: usize = 4;

/// Threads that take a lock once, each with a block of its own that holds `value`; `middle` is what main does while they run, `end`
/// what it does after they were joined.
fn source(value: &str, middle: &str, end: &str) -> String {
    format!(
        r"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
struct task {{ pthread_mutex_t *lock; int *sum; int value; }};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum, first, ended;
static void *work(void *a) {{
    struct task *t = a;
    pthread_mutex_lock(t->lock);
    if (!first) first = t->value;
    *t->sum += t->value;
    ended++;
    pthread_mutex_unlock(t->lock);
    OWN
    return 0;
}}
int main(void) {{
    pthread_t t[{THREADS}];
    struct task *tasks[{THREADS}];
    char *between[{THREADS}];
    for (int i = 0; i < {THREADS}; i++) {{
        // Blocks that lie at different distances from each other.
        between[i] = malloc(8 << 2 * i);
        tasks[i] = malloc(sizeof *tasks[i]);
        *tasks[i] = (struct task) {{ &lock, &sum, {value} }};
        pthread_create(&t[i], 0, work, tasks[i]);
    }}
    {middle}
    for (int i = 0; i < {THREADS}; i++) pthread_join(t[i], 0);
    {end}
    return 0;
}}
"
    )
}

fn report(name: &str, source: &str, symmetry: Symmetry) -> Report {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("blocks-{name}"));
    std::fs::write(&path, source.replace("OWN", "")).expect("the test directory can be written");
    let binary = Build { sources: vec![path], ..Build::default() }.run();
    let request = Request { symmetry, ..Request::default() };
    check(&binary.unwrap_or_else(|error| panic!("{error}")), &request, &mut |_| true)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn executions(name: &str, source: &str, symmetry: Symmetry) -> u64 {
    let report = report(name, source, symmetry);
    assert!(matches!(report.answer, Answer::Holds), "{name}: {:?}", report.answer);
    report.figures.executions
}

#[test]
fn blocks_with_equal_content_are_exchanged() {
    let same = source("2", "", "assert(sum == 8);");
    assert_eq!(executions("same.c", &same, Symmetry::Off), 24);
    assert_eq!(executions("same.c", &same, Symmetry::Costarted), 1);
    // Given back by their own threads.
    let own = same.replace("OWN", "free(t);");
    assert_eq!(executions("own.c", &own, Symmetry::Costarted), 1);
}

#[test]
fn blocks_with_different_content_are_not() {
    let different = source("i + 1", "", "assert(sum == 10);");
    assert_eq!(executions("different.c", &different, Symmetry::Costarted), 24);
    let one = source("i == 2", "", "assert(sum == 1);");
    // The third thread alone is different: its place in the order of four.
    assert_eq!(executions("one.c", &one, Symmetry::Costarted), 4);
}

#[test]
fn whoever_touches_a_block_tells_its_thread_apart() {
    for (name, middle, end, least) in [
        // Only if the second thread is the last does the assertion fail.
        ("reads.c", "", "assert(sum == 8); first = tasks[1]->value;", 4),
        ("frees.c", "", "free(tasks[1]);", 4),
        ("all.c", "", "for (int i = 0; i < 4; i++) free(tasks[i]);", 24),
        ("locked.c", "pthread_mutex_lock(&lock); tasks[1]->value++; pthread_mutex_unlock(&lock);", "", 10),
    ] {
        let source = source("2", middle, end);
        let report = report(name, &source, Symmetry::Costarted);
        assert!(matches!(report.answer, Answer::Holds), "{name}: {:?}", report.answer);
        assert!(report.figures.executions >= least, "{name}: {}", report.figures.executions);
    }
    // The thread whose value is changed finds out, and no other does.
    let middle =
        "pthread_mutex_lock(&lock); tasks[3]->value = 5; int before = ended; pthread_mutex_unlock(&lock);";
    let end = "assert(!(first == 5 && before == 0));";
    let report = report("found.c", &source("2", middle, end), Symmetry::Costarted);
    assert!(matches!(report.answer, Answer::Violated(_)), "{:?}", report.answer);
}

#[test]
fn threads_of_cpp_with_equal_functions_are_exchanged() {
    let source = r"
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>
struct Account {
    std::mutex m;
    int n = 0;
    void add(int k) { std::lock_guard<std::mutex> guard(m); n += k; }
};
int main() {
    Account account;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) threads.emplace_back([&account] { account.add(2); });
    for (auto &t : threads) t.join();
    assert(account.n == 8);
    return 0;
}
";
    assert_eq!(executions("vector.cpp", source, Symmetry::Off), 24);
    assert_eq!(executions("vector.cpp", source, Symmetry::Costarted), 1);
    let numbered = source.replace("[&account] { account.add(2); }", "[&account, i] { account.add(i); }");
    let numbered = numbered.replace("account.n == 8", "account.n == 6");
    assert_eq!(executions("numbered.cpp", &numbered, Symmetry::Costarted), 24);
}

/// What a worker does with its block, or the main thread with one of the blocks, under the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Action {
    /// Adds the value in the block to three times `t`.
    Tell,
    /// Puts `x` into the block, and adds 1 to `x`.
    Take,
    /// Adds 1 to the value in the block.
    Add,
    /// Puts a number into `x`.
    Set(i64),
    /// If the value in the block is 1, adds 2 to `x`.
    If,
}

#[derive(Clone, Debug)]
struct Program {
    /// What the blocks hold at first.
    values: Vec<i64>,
    worker: Vec<Action>,
    /// What the main thread does while they run, each with which block.
    middle: Vec<(Action, usize)>,
    /// After they were joined.
    end: Vec<(Action, usize)>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    x: i64,
    t: i64,
    values: Vec<i64>,
    at: Vec<usize>,
    main: usize,
}

impl State {
    fn act(&mut self, action: Action, block: usize) {
        let value = &mut self.values[block];
        match action {
            Action::Tell => self.t = self.t * 3 + *value,
            Action::Take => (*value, self.x) = (self.x, self.x + 1),
            Action::Add => *value += 1,
            Action::Set(number) => self.x = number,
            Action::If => self.x += if *value == 1 { 2 } else { 0 },
        }
    }
}

fn random_program(seed: u64) -> Program {
    let mut random = Random(seed);
    let action = |random: &mut Random| match random.below(6) {
        0 | 1 => Action::Tell,
        2 => Action::Take,
        3 => Action::Add,
        4 => Action::Set(random.below(3) as i64),
        _ => Action::If,
    };
    let workers = 2 + random.below(2);
    let mut values = vec![random.below(2) as i64; workers];
    if random.one_in(3) {
        values[random.below(workers)] ^= 1;
    }
    let worker = (0..1 + random.below(4 - workers)).map(|_| action(&mut random)).collect();
    let mut some = |most: usize| {
        let count = random.below(most + 1);
        (0..count).map(|_| (action(&mut random), random.below(workers))).collect()
    };
    Program { values, worker, middle: some(1), end: some(2) }
}

impl Program {
    /// All outcomes, by visiting all states.
    fn outcomes(&self) -> BTreeSet<u64> {
        let workers = self.values.len();
        let start = State { x: 0, t: 0, values: self.values.clone(), at: vec![0; workers], main: 0 };
        let (mut seen, mut left, mut found) = (HashSet::from([start.clone()]), vec![start], BTreeSet::new());
        while let Some(state) = left.pop() {
            let mut next = Vec::new();
            for (worker, &at) in state.at.iter().enumerate().filter(|(_, at)| **at < self.worker.len()) {
                let mut step = state.clone();
                step.act(self.worker[at], worker);
                step.at[worker] += 1;
                next.push(step);
            }
            if let Some((action, block)) = self.middle.get(state.main) {
                let mut step = state.clone();
                step.act(*action, *block);
                step.main += 1;
                next.push(step);
            }
            if next.is_empty() {
                let mut last = state;
                self.end.iter().for_each(|(action, block)| last.act(*action, *block));
                found.insert(observed(&[last.x, last.t]));
            }
            left.extend(next.into_iter().filter(|state| seen.insert(state.clone())));
        }
        found
    }

    fn source(&self, n: usize) -> String {
        let workers = self.values.len();
        let worker: String = self.worker.iter().map(|a| statement(*a, "a")).collect();
        let by_main = |actions: &[(Action, usize)]| -> String {
            actions.iter().map(|(action, block)| statement(*action, &format!("blocks[{block}]"))).collect()
        };
        let values: Vec<String> = self.values.iter().map(i64::to_string).collect();
        format!(
            "static void *worker{n}(void *a) {{ {worker} return 0; }}
static void program{n}(void) {{
  long values[] = {{ {} }}, *blocks[{workers}];
  pthread_t t[{workers}];
  for (int i = 0; i < {workers}; i++) {{
    free(malloc(8 << i * 3));
    blocks[i] = malloc(24);
    blocks[i][0] = values[i];
    blocks[i][1] = blocks[i][2] = 7;
    pthread_create(&t[i], 0, worker{n}, blocks[i]);
  }}
  {}
  for (int i = 0; i < {workers}; i++) pthread_join(t[i], 0);
  {}
}}
",
            values.join(", "),
            by_main(&self.middle),
            by_main(&self.end)
        )
    }
}

fn statement(action: Action, block: &str) -> String {
    let what = match action {
        Action::Tell => "tell".to_owned(),
        Action::Take => "take".to_owned(),
        Action::Add => "add".to_owned(),
        Action::Set(number) => format!("set{number}"),
        Action::If => "if_one".to_owned(),
    };
    format!("{what}({block}); ")
}

const BEGINNING: &str = "
#include <pthread.h>
#include <stdlib.h>
void __quotient_observe(long);
static long x, t;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#define LOCKED(name, statement) static void name(long *b) { \\
  (void)b; pthread_mutex_lock(&m); statement; pthread_mutex_unlock(&m); }
LOCKED(tell, t = t * 3 + *b)
LOCKED(take, *b = x++)
LOCKED(add, ++*b)
LOCKED(set0, x = 0)
LOCKED(set1, x = 1)
LOCKED(set2, x = 2)
LOCKED(if_one, if (*b == 1) x += 2)
";

/// The hash that the runtime makes of what is observed.
fn observed(words: &[i64]) -> u64 {
    let hash = words.iter().fold(0, |hash: u64, word| {
        (hash ^ *word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_add(1)
    });
    hash >> 8
}

/// `QUOTIENT_RANDOM_BLOCKS=2000 cargo test -p quotient-native --test programs argument_blocks` for volume.
#[test]
fn random_programs_lose_no_outcome() {
    const BATCH: usize = 25;
    let count =
        std::env::var("QUOTIENT_RANDOM_BLOCKS").ok().and_then(|n| n.parse().ok()).unwrap_or(2 * BATCH);
    let mut exchanged = 0;
    for batch in 0..count.div_ceil(BATCH) {
        let programs: Vec<Program> = (0..BATCH).map(|i| random_program((batch * BATCH + i) as u64)).collect();
        let mut text = BEGINNING.to_owned();
        programs.iter().enumerate().for_each(|(n, program)| text += &program.source(n));
        text += "int main(int count, char **arguments) {\n  (void)count;\n  switch (atoi(arguments[1])) {\n";
        (0..BATCH).for_each(|n| text += &format!("  case {n}: program{n}(); break;\n"));
        text += "  }\n  __quotient_observe(x);\n  __quotient_observe(t);\n  return 0;\n}\n";
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("blocks-random-{batch}.c"));
        std::fs::write(&path, text).expect("the test directory can be written");
        let build = Build { sources: vec![path], ..Build::default() };
        let binary = build.run().unwrap_or_else(|error| panic!("{error}"));
        for (number, program) in programs.iter().enumerate() {
            let expected = program.outcomes();
            for symmetry in [Symmetry::Costarted, Symmetry::Dynamic] {
                let surroundings =
                    Surroundings { arguments: vec![number.to_string().into()], ..Surroundings::default() };
                let request = Request { symmetry, all: true, surroundings, ..Request::default() };
                let report =
                    check(&binary, &request, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
                assert!(matches!(report.answer, Answer::Holds), "{:?}: {program:?}", report.answer);
                let found: BTreeSet<u64> =
                    report.outcomes.into_iter().map(|outcome| outcome & ((1 << 56) - 1)).collect();
                assert_eq!(found, expected, "seed {}, {symmetry:?}\n{program:?}", batch * BATCH + number);
                exchanged += usize::from(symmetry == Symmetry::Costarted && report.figures.pruned > 0);
            }
        }
    }
    assert!(exchanged * 5 > count, "symmetry was found in {exchanged} of {count} programs only");
}
