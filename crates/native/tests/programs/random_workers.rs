//! Random workers with their own variables, blocks and errors: symmetry finds all outcomes that visiting all states finds.
//!
//! The workers of a program are alike. They take items from a queue into a variable whose address they give away, keep numbers in others, in a
//! block of the heap, in a thread-local variable, in `errno`, and use some of them later, in an order that can be seen: where
//! they do, that tells them apart, and must be noticed. They ask for their own handles, keep these, and look at them later, or not. The main thread keeps one handle, the last, or all in a block, and uses the last or not, and may
//! get a block of a worker. In many programs all workers wait for one lock before they use what they have, so that this is where they can be exchanged. The oracle is an interpreter of the actions that shares no
//! code with the checker.
//!
//! `QUOTIENT_RANDOM_WORKERS=2000 cargo test -p quotient-native --test programs random_workers` for volume.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use quotient_native::session::Surroundings;
use quotient_native::{Answer, Binary, Build, Report, Request, check};
use quotient_stateless::random::Random;
use quotient_stateless::{Algorithm, Symmetry};

/// Programs per file.
const BATCH: usize = 25;

/// What a worker does. Uses of its own values go to `t` in an order that can be seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Action {
    /// Takes an item from the queue, if there is one, into its variable `item`.
    Get,
    /// Adds `item` to three times `t`.
    AddItem,
    /// Writes a number into its variable `out`, through a pointer.
    Fill(i64),
    /// Copies `item` to `out`, through a pointer.
    OutItem,
    /// Reads `x` into `out`, through a pointer.
    Look,
    /// Adds `out` to three times `t`, through a pointer.
    AddOut,
    /// Adds to three times `t` whether a library function finds 2 in `out`, of which it says afterwards how far it has read.
    Search,
    /// If `item` is 1, lets a call fail, which leaves 34 in `errno`.
    FailIf,
    /// Adds `errno` to three times `t`.
    AddErrno,
    /// Writes `x`.
    Store(i64),
    /// If `x` has this value, writes the next one to `y`.
    IfThen(i64),
    /// Adds `item` to `s` under the lock, beside a number that has no lock and does not change.
    Locked,
    /// Keeps `item` in its block.
    Keep,
    /// Adds what it has kept to three times `t`.
    AddKept,
    /// Keeps `item` in a thread-local variable.
    Own,
    /// Adds that to three times `t`.
    AddOwn,
    /// If `item` is 1, gives its block to the main thread, which reads it in the end.
    Publish,
    /// Adds 1 to `x`, and puts what it was into its block.
    Take,
    /// Maps a page and gives it back.
    Map,
    /// Asks for its own handle, and keeps it: in its block, in a thread-local variable, in a global array at `item`.
    Ask(usize),
    /// Adds to three times `t` a bit of the handle that is kept there.
    AddAsked(usize),
}

/// What the main thread does with the handle of the last worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Join {
    Never,
    /// It joins the worker, then writes what `x` is to `z`.
    Last,
    /// The same, where for a while only the C library has the handle.
    InCallback,
}

/// Where the main thread looks for a block: what this is in C.
const CELLS: [&str; 4] = [
    "&in_data",
    "mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)",
    "calloc(1, sizeof *cell)",
    "&in_frame",
];

#[derive(Clone, Debug)]
struct Program {
    workers: usize,
    items: i64,
    actions: Vec<Action>,
    join: Join,
    cell: usize,
    /// Does the main thread keep all handles, in a block?
    keeps_all: bool,
    /// The action that workers begin together: up to it they go one after the other, then all wait for a lock that the main
    /// thread has. So it is there that they can be exchanged, and only the order of what follows is left to be seen.
    gate: Option<usize>,
}

/// Ways of a difference between workers to something that can be seen.
const WAYS: [&[Action]; 15] = [
    &[Action::Get, Action::AddItem],
    &[Action::Get, Action::OutItem, Action::AddOut],
    &[Action::Get, Action::FailIf, Action::AddErrno],
    &[Action::Get, Action::Keep, Action::AddKept],
    &[Action::Get, Action::Own, Action::AddOwn],
    &[Action::Get, Action::OutItem, Action::Search],
    &[Action::Get, Action::Publish, Action::Take],
    &[Action::Look, Action::Store(1), Action::AddOut],
    &[Action::Get],
    &[Action::Ask(0), Action::Get, Action::AddAsked(0)],
    &[Action::Ask(1), Action::Get, Action::AddAsked(1)],
    &[Action::Get, Action::Ask(2), Action::AddAsked(2)],
    &[Action::Get, Action::Ask(2), Action::Take],
    &[Action::Ask(0), Action::Get, Action::Ask(1), Action::Get],
    &[Action::Get, Action::Ask(0), Action::Look, Action::AddOut],
];

/// The first seeds are the ways by themselves, so that a short run has all of them.
fn program(seed: u64) -> Program {
    let mut random = Random(seed);
    let way = WAYS[seed as usize % WAYS.len()];
    if seed < (WAYS.len() * CELLS.len()) as u64
        && (way.contains(&Action::Publish) || seed < WAYS.len() as u64)
    {
        let cell = seed as usize / WAYS.len();
        let gate = Some(way.len() - 1).filter(|gate| *gate > 0);
        return Program {
            workers: 2,
            items: 2,
            actions: way.to_vec(),
            join: Join::Never,
            cell,
            keeps_all: false,
            gate,
        };
    }
    // Three workers that take a lock three times each have millions of executions.
    let asks = way.iter().any(|action| matches!(action, Action::Ask(_)));
    let workers = 2 + usize::from(random.one_in(6) && !asks);
    let mut actions = way.to_vec();
    for _ in 0..if workers == 2 { random.below(3) } else { 0 } {
        let number = random.below(3) as i64;
        let action = match random.below(14) {
            0 => Action::Get,
            1 => Action::Fill(number),
            2 => Action::Look,
            3 => Action::AddOut,
            4 => Action::Store(number),
            5 => Action::IfThen(number),
            6 => Action::Locked,
            7 => Action::Keep,
            8 => Action::Own,
            9 => Action::Take,
            10 => Action::FailIf,
            11 => Action::Ask(random.below(3)),
            12 => Action::AddAsked(random.below(3)),
            _ => Action::Map,
        };
        actions.insert(random.below(actions.len() + 1), action);
    }
    let join = [Join::Never, Join::Never, Join::Last, Join::InCallback][random.below(4)];
    let gate = (random.below(2) == 0).then(|| random.below(actions.len()));
    Program {
        workers,
        items: 1 + random.below(2) as i64,
        actions,
        join,
        cell: random.below(CELLS.len()),
        keeps_all: random.below(2) == 0,
        gate,
    }
}

/// A worker's own state.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Worker {
    at: usize,
    /// Between the two steps of `IfThen`.
    half: bool,
    item: i64,
    out: i64,
    error: i64,
    kept: i64,
    own: i64,
    /// Where it has kept its handle.
    asked: [bool; 2],
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    x: i64,
    y: i64,
    z: i64,
    t: i64,
    s: i64,
    queue: i64,
    workers: Vec<Worker>,
    /// Whose block the main thread has.
    published: Option<usize>,
    /// Whose handles lie in the global array.
    ids: [Option<usize>; 3],
    main_done: bool,
}

impl Program {
    /// All outcomes, by visiting all states.
    fn outcomes(&self) -> BTreeSet<u64> {
        let start = State {
            x: 0,
            y: 0,
            z: 0,
            t: 0,
            s: 0,
            queue: self.items,
            workers: vec![Worker::default(); self.workers],
            published: None,
            ids: [None; 3],
            main_done: self.join == Join::Never,
        };
        let (mut seen, mut left, mut found) = (HashSet::from([start.clone()]), vec![start], BTreeSet::new());
        while let Some(state) = left.pop() {
            let ended = |w: &Worker| w.at == self.actions.len();
            if state.workers.iter().all(ended) && state.main_done {
                let block = state.published.map_or(0, |worker| state.workers[worker].kept);
                found.insert(code(&[state.x, state.y, state.z, state.t, state.s, state.queue, block]));
            }
            let mut next: Vec<State> = (0..self.workers)
                .filter(|&w| !ended(&state.workers[w]) && self.may_step(&state.workers, w))
                .map(|w| self.step(&state, w))
                .collect();
            if !state.main_done && ended(&state.workers[self.workers - 1]) {
                next.push(State { z: state.x + 1, main_done: true, ..state.clone() });
            }
            left.extend(next.into_iter().filter(|state| seen.insert(state.clone())));
        }
        found
    }

    /// Does the gate let a worker go on?
    fn may_step(&self, workers: &[Worker], number: usize) -> bool {
        let Some(gate) = self.gate else { return true };
        let at = workers[number].at;
        if at < gate {
            return workers[..number].iter().all(|w| w.at >= gate);
        }
        let has_lock = |w: &Worker| w.at == gate && w.half;
        let others = workers.iter().enumerate().filter(|(n, _)| *n != number);
        workers.iter().all(|w| w.at >= gate) && (at > gate || !others.into_iter().any(|(_, w)| has_lock(w)))
    }

    fn step(&self, state: &State, number: usize) -> State {
        let mut state = state.clone();
        let mut w = std::mem::take(&mut state.workers[number]);
        let mut ends = true;
        let mut seen = |value: i64| state.t = state.t * 3 + value;
        match self.actions[w.at] {
            Action::Get if state.queue > 0 => {
                w.item = state.queue;
                state.queue -= 1;
            }
            Action::Get | Action::Map => {}
            Action::AddItem => seen(w.item),
            Action::Fill(number) => w.out = number,
            Action::OutItem => w.out = w.item,
            Action::Look => w.out = state.x,
            Action::AddOut => seen(w.out),
            Action::Search => seen(i64::from(w.out == 2)),
            Action::FailIf => w.error = if w.item == 1 { 34 } else { w.error },
            Action::AddErrno => seen(w.error),
            Action::Store(number) => state.x = number,
            Action::IfThen(number) if !w.half => {
                ends = state.x != number;
                w.half = !ends;
            }
            Action::IfThen(number) => {
                state.y = number + 1;
                w.half = false;
            }
            Action::Locked => state.s += w.item,
            Action::Keep => w.kept = w.item,
            Action::AddKept => seen(w.kept),
            Action::Own => w.own = w.item,
            Action::AddOwn => seen(w.own),
            Action::Publish if w.item == 1 => state.published = Some(number),
            Action::Publish => {}
            Action::Take => {
                w.kept = state.x;
                state.x += 1;
            }
            Action::Ask(2) => state.ids[w.item as usize] = Some(number),
            Action::Ask(place) => w.asked[place] = true,
            // Workers are numbered from 1 for the runtime, and handles are as far apart as stacks are.
            Action::AddAsked(2) => seen(state.ids[w.item as usize].map_or(0, |n| (n as i64 + 1) & 1)),
            Action::AddAsked(place) => seen(i64::from(w.asked[place]) & (number as i64 + 1)),
        }
        w.at += usize::from(ends);
        state.workers[number] = w;
        state
    }

    fn source(&self, n: usize) -> String {
        let mut text = format!(
            "static void *worker{n}(void *a) {{\n  long item = 0, out = 0;\n  long *block = malloc(16);\n  block[0] = block[1] = 0;\n  (void)a;\n"
        );
        for (at, action) in self.actions.iter().enumerate() {
            let statement = match action {
                Action::Get => "get(&item);".to_owned(),
                Action::AddItem => "sum(&item);".to_owned(),
                Action::Fill(number) => format!("fill(&out, {number});"),
                Action::OutItem => "fill(&out, item);".to_owned(),
                Action::Look => "look(&out);".to_owned(),
                Action::AddOut => "sum(&out);".to_owned(),
                Action::Search => "search(&out);".to_owned(),
                Action::FailIf => "if (item == 1) strtol(\"99999999999999999999\", 0, 10);".to_owned(),
                Action::AddErrno => "tell();".to_owned(),
                Action::Store(number) => format!("atomic_store(&x, {number});"),
                Action::IfThen(number) => {
                    format!("if (atomic_load(&x) == {number}) atomic_store(&y, {number} + 1);")
                }
                Action::Locked => {
                    "pthread_mutex_lock(&m); pair.s += item * pair.one; pthread_mutex_unlock(&m);".to_owned()
                }
                Action::Keep => "keep(&block[0], &item);".to_owned(),
                Action::AddKept => "sum(&block[0]);".to_owned(),
                Action::Own => "keep(&own, &item);".to_owned(),
                Action::AddOwn => "sum(&own);".to_owned(),
                Action::Publish => "publish(&item, block);".to_owned(),
                Action::Take => "take(block);".to_owned(),
                Action::Ask(place) => {
                    ["block[1] = (long)pthread_self();", "mine = pthread_self();", "ask(&item);"][*place].to_owned()
                }
                Action::AddAsked(place) => {
                    ["bit((pthread_t *)&block[1]);", "bit(&mine);", "bit(&ids[item]);"][*place].to_owned()
                }
                Action::Map => {
                    "{ char *p = mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); p[1] = 1; munmap(p, 4096); }"
                        .to_owned()
                }
            };
            let _ = if self.gate == Some(at) {
                writeln!(
                    text,
                    "  sem_post(&ready); pthread_mutex_lock(&n); {statement} pthread_mutex_unlock(&n);"
                )
            } else {
                writeln!(text, "  {statement}")
            };
        }
        let publishes = self.actions.contains(&Action::Publish);
        let end = ["return 0;", "pthread_exit(0);"][n % 2];
        let free = if publishes { "" } else { "  free(block);\n" };
        let _ = writeln!(
            text,
            "{free}  pthread_mutex_lock(&m); done++; pthread_cond_signal(&c); pthread_mutex_unlock(&m);\n  {end}\n}}"
        );
        let join = match self.join {
            Join::Never => "",
            Join::Last => "  pthread_join(tid, 0);\n  atomic_store(&z, atomic_load(&x) + 1);\n",
            Join::InCallback => {
                "  char three[3] = { 0 };\n  bsearch((void *)tid, three, 3, 1, compare);\n  atomic_store(&z, atomic_load(&x) + 1);\n"
            }
        };
        let (workers, items) = (self.workers, self.items);
        let [open, wait, close] = match self.gate {
            Some(_) => [
                "sem_init(&ready, 0, 0); pthread_mutex_lock(&n); ",
                "sem_wait(&ready); ",
                "  pthread_mutex_unlock(&n);\n",
            ],
            None => [""; 3],
        };
        let (tid, each) = if self.keeps_all {
            (format!("pthread_t *all = malloc({workers} * sizeof *all);"), "&all[i]")
        } else {
            ("pthread_t tid;".to_owned(), "&tid")
        };
        let last = if self.keeps_all { format!("all[{}]", workers - 1) } else { "tid".to_owned() };
        let join = join.replace("tid", &last);
        let cell = if publishes { CELLS[self.cell] } else { "&in_data" };
        let _ = writeln!(
            text,
            "static void program{n}(void) {{\n  {tid}\n  long *in_frame = 0;\n  cell = {cell};\n  queue = {items};\n  {open}for (int i = 0; i < {workers}; i++) {{ pthread_create({each}, 0, worker{n}, 0); {wait}}}\n{close}{join}  pthread_mutex_lock(&m); while (done < {workers}) pthread_cond_wait(&c, &m); published = *cell ? **cell : 0; pthread_mutex_unlock(&m);\n}}"
        );
        text
    }
}

const BEGINNING: &str = "
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
void __quotient_observe(long);
static atomic_long x, y, z;
static long queue, t, published;
static long *in_data, **cell;
static __thread long own;
static __thread pthread_t mine;
static pthread_t ids[3];
static struct { int s, one; } pair = { 0, 1 };
static int done;
static sem_t ready;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int get(long *item) {
  int got = 0;
  pthread_mutex_lock(&m);
  if (queue > 0) { *item = queue--; got = 1; }
  pthread_mutex_unlock(&m);
  return got;
}
static void fill(long *out, long number) { *out = number; }
static void look(long *out) { *out = atomic_load(&x); }
static void sum(const long *value) { pthread_mutex_lock(&m); t = t * 3 + *value; pthread_mutex_unlock(&m); }
static void search(const long *value) {
  pthread_mutex_lock(&m);
  t = t * 3 + (strchr((const char *)value, 2) != 0);
  pthread_mutex_unlock(&m);
}
static void ask(const long *item) { pthread_mutex_lock(&m); ids[*item] = pthread_self(); pthread_mutex_unlock(&m); }
static void bit(const pthread_t *id) { pthread_mutex_lock(&m); t = t * 3 + (long)(*id >> 23 & 1); pthread_mutex_unlock(&m); }
static void tell(void) { pthread_mutex_lock(&m); t = t * 3 + errno; pthread_mutex_unlock(&m); }
static void keep(long *to, const long *from) { *to = *from; }
static void publish(const long *item, long *block) { pthread_mutex_lock(&m); if (*item == 1) *cell = block; pthread_mutex_unlock(&m); }
static void take(long *to) { *to = atomic_fetch_add(&x, 1); }
static int calls;
static int compare(const void *handle, const void *element) {
  (void)element;
  if (calls++ == 0) return atomic_load(&x) > 100 ? -1 : 1;
  pthread_join((pthread_t)handle, 0);
  return 0;
}
";

/// The hash that the runtime makes of what is observed, as an outcome of an execution that has ended well.
fn code(words: &[i64]) -> u64 {
    let hash = words.iter().fold(0, |hash: u64, word| {
        (hash ^ *word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_add(1)
    });
    hash >> 8
}

fn build(programs: &[Program], name: &str) -> Binary {
    let mut text = BEGINNING.to_owned();
    programs.iter().enumerate().for_each(|(n, program)| text += &program.source(n));
    text += "int main(int count, char **arguments) {\n  (void)count;\n  switch (atoi(arguments[1])) {\n";
    for n in 0..programs.len() {
        let _ = writeln!(text, "  case {n}: program{n}(); break;");
    }
    text += "  }\n  __quotient_observe(x);\n  __quotient_observe(y);\n  __quotient_observe(z);\n  __quotient_observe(t);\n  __quotient_observe(pair.s);\n  __quotient_observe(queue);\n  __quotient_observe(published);\n  return 0;\n}\n";
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.c"));
    std::fs::write(&path, text).expect("the test directory can be written");
    Build { sources: vec![path], ..Build::default() }.run().unwrap_or_else(|error| panic!("{error}"))
}

/// All executions, or those up to the first violation.
fn explored(binary: &Binary, number: usize, algorithm: Algorithm, symmetry: Symmetry, all: bool) -> Report {
    let request = Request {
        algorithm,
        symmetry,
        all,
        surroundings: Surroundings { arguments: vec![number.to_string().into()], ..Surroundings::default() },
        ..Request::default()
    };
    check(binary, &request, &mut |_| true).unwrap_or_else(|error| panic!("program {number}: {error}"))
}

fn counts() -> (usize, u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    (number("QUOTIENT_RANDOM_WORKERS").unwrap_or(BATCH as u64) as usize, number("QUOTIENT_SEED").unwrap_or(0))
}

#[test]
fn no_outcome_is_lost() {
    let (count, first) = counts();
    let mut exchanged = 0;
    for batch in 0..count.div_ceil(BATCH) {
        let seed = |i: usize| first + (batch * BATCH + i) as u64;
        let programs: Vec<Program> = (0..BATCH).map(|i| program(seed(i))).collect();
        let binary = build(&programs, &format!("workers-{batch}"));
        for (number, program) in programs.iter().enumerate() {
            let expected = program.outcomes();
            let modes = [
                (Algorithm::Optimal, Symmetry::Costarted),
                (Algorithm::Optimal, Symmetry::Dynamic),
                (Algorithm::SourceSets, Symmetry::Dynamic),
            ];
            for (algorithm, symmetry) in modes {
                let report = explored(&binary, number, algorithm, symmetry, true);
                let Report { answer, outcomes, figures, notes, .. } = report;
                let context = format!("seed {}, {symmetry:?}, {notes:?}\n{program:?}", seed(number));
                assert!(matches!(answer, Answer::Holds), "{answer:?}: {context}");
                let found: BTreeSet<u64> =
                    outcomes.into_iter().map(|outcome| outcome & ((1 << 56) - 1)).collect();
                assert_eq!(found, expected, "{context}");
                exchanged += usize::from(modes[1] == (algorithm, symmetry) && figures.pruned > 0);
            }
        }
    }
    assert!(exchanged * 4 > count, "symmetry was found in {exchanged} of {count} programs only");
}

/// What a worker does with `g`, which has a lock, an atomic variable beside it, or nothing to order its accesses.
const STEPS: [&str; 8] = [
    "pthread_mutex_lock(&m); g++; pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); g++; pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&other); h++; pthread_mutex_unlock(&other);",
    "atomic_fetch_add(&x, 1);",
    "if (atomic_fetch_add(&x, 1) == 1) g++;",
    "if (atomic_load(&y) == 1) g++;",
    "atomic_store(&y, 1);",
    "if (atomic_load(&x) == 2 && g > 9) atomic_store(&y, 2);",
];

/// What the main thread does in the end.
const ENDS: [&str; 5] = [
    "pthread_join(tid, 0); g++;",
    "pthread_mutex_lock(&m); while (done < K) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); if (g > 9) h = 1;",
    "while (atomic_load(&x) < 2) return; g++;",
    "pthread_mutex_lock(&m); g++; pthread_mutex_unlock(&m);",
    "",
];

/// One of two workers writes to `g` before they wait for one lock, and whoever gets that first writes to it, too: a race if it is
/// the other one. That this is not the same in both orders, only the history of accesses tells.
const HISTORY: &str = "
static void *worker0(void *a) {
  (void)a;
  if (atomic_fetch_add(&x, 1) == 0) { sem_post(&ready); g++; } else sem_post(&ready);
  pthread_mutex_lock(&n);
  if (atomic_fetch_add(&y, 1) == 0) g++;
  pthread_mutex_unlock(&n);
  return 0;
}
static void program0(void) {
  pthread_t tid;
  sem_init(&ready, 0, 0);
  pthread_mutex_lock(&n);
  for (int i = 0; i < 2; i++) { pthread_create(&tid, 0, worker0, 0); sem_wait(&ready); }
  pthread_mutex_unlock(&n);
}
";

/// Data races are found with symmetry where they are found without.
#[test]
fn no_race_is_lost() {
    let (count, first) = counts();
    let mut raced = 0;
    for batch in 0..count.div_ceil(BATCH) {
        let mut text = BEGINNING.to_owned();
        text += "static int g, h;\nstatic pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;\n";
        let mut sources = Vec::new();
        for n in 0..BATCH {
            if first == 0 && batch == 0 && n == 0 {
                sources.push(HISTORY.to_owned());
                continue;
            }
            let mut random = Random(first + (batch * BATCH + n) as u64);
            let workers = 2 + random.below(2);
            let steps: Vec<&str> =
                (0..1 + random.below(7 - 2 * workers)).map(|_| STEPS[random.below(8)]).collect();
            let end = ENDS[random.below(5)].replace('K', &workers.to_string());
            sources.push(format!(
                "static void *worker{n}(void *a) {{ (void)a; {} pthread_mutex_lock(&m); done++; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }}\nstatic void program{n}(void) {{ pthread_t tid; for (int i = 0; i < {workers}; i++) pthread_create(&tid, 0, worker{n}, 0); {end} }}\n",
                steps.join(" ")
            ));
        }
        text += &sources.concat();
        text += "int main(int count, char **arguments) {\n  (void)count;\n  switch (atoi(arguments[1])) {\n";
        (0..BATCH).for_each(|n| text += &format!("  case {n}: program{n}(); break;\n"));
        text += "  }\n  pthread_exit(0);\n}\n";
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("races-{batch}.c"));
        std::fs::write(&path, text).expect("the test directory can be written");
        let build = Build { sources: vec![path], ..Build::default() };
        let binary = build.run().unwrap_or_else(|error| panic!("{error}"));
        for (number, source) in sources.iter().enumerate() {
            let kind = |symmetry| match explored(&binary, number, Algorithm::Optimal, symmetry, false).answer
            {
                Answer::Holds => None,
                Answer::Violated(run) => Some(run.failure.kind),
                other => panic!("{other:?}\n{source}"),
            };
            let [off, dynamic] = [Symmetry::Off, Symmetry::Dynamic].map(kind);
            assert_eq!(off, dynamic, "seed {}\n{source}", first + (batch * BATCH + number) as u64);
            raced += usize::from(off.is_some());
        }
    }
    assert!(raced * 20 > count && raced * 10 < count * 9, "{raced} of {count} have a race");
}
