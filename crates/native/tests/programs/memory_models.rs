//! Litmus programs compiled from C: under each memory model, what they show is what brute force over the axioms shows, and there are
//! as many executions as consistent graphs.
//!
//! Here programs are compiled as they are; `litmus.rs` interprets them, for volume.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use quotient_native::protocol::FailureKind;
use quotient_native::session::Surroundings;
use quotient_native::{Answer, Binary, Build, Report, Request, check, replay};
use quotient_seams::Incomplete;
use quotient_stateless::Ending;
use quotient_stateless::graph::{MemoryModel, Order};
use quotient_stateless::random::Random;
use quotient_thread_programs::axioms;
use quotient_thread_programs::litmus::{self, Instruction, Litmus};

pub const MODELS: [MemoryModel; 3] =
    [MemoryModel::SequentialConsistency, MemoryModel::Tso, MemoryModel::Rc11];
/// Programs per file.
const BATCH: usize = 40;
/// Room for the values that a thread reads; what is not used holds `UNUSED`.
const READS: usize = 8;
const UNUSED: i64 = -7;

fn order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "memory_order_relaxed",
        Order::Acquire => "memory_order_acquire",
        Order::Release => "memory_order_release",
        Order::AcquireRelease => "memory_order_acq_rel",
        Order::SequentiallyConsistent => "memory_order_seq_cst",
    }
}

fn statement(instruction: Instruction, n: usize, next: usize, plain: bool) -> String {
    match instruction {
        Instruction::Load(l, o) if plain && o != Order::SequentiallyConsistent => {
            format!("r[k++] = ((volatile long *)p{n}_x)[{l}];")
        }
        Instruction::Store(l, v, o) if plain && o != Order::SequentiallyConsistent => {
            format!("((volatile long *)p{n}_x)[{l}] = {v};")
        }
        Instruction::Load(l, o) => format!("r[k++] = atomic_load_explicit(&p{n}_x[{l}], {});", order(o)),
        Instruction::Store(l, v, o) => format!("atomic_store_explicit(&p{n}_x[{l}], {v}, {});", order(o)),
        Instruction::Add(l, v, o) => {
            format!("r[k++] = atomic_fetch_add_explicit(&p{n}_x[{l}], {v}, {});", order(o))
        }
        Instruction::CompareAndSwap(l, expected, new, o, f) => format!(
            "e = {expected}; atomic_compare_exchange_strong_explicit(&p{n}_x[{l}], &e, {new}, {}, {}); r[k++] = e;",
            order(o),
            order(f)
        ),
        Instruction::Fence(o) => format!("atomic_thread_fence({});", order(o)),
        Instruction::If(v) => format!("if (!(k > 0 && r[k - 1] == {v})) goto L{};", next + 1),
        Instruction::Lock(l) => format!("pthread_mutex_lock(&m[{l}]);"),
        Instruction::Unlock(l) => format!("pthread_mutex_unlock(&m[{l}]);"),
    }
}

/// A source file of these programs, with plain accesses for those of weaker orders if asked for.
fn source(programs: &[Litmus], plain: bool) -> String {
    let mut out = String::from(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
         void __quotient_observe_at_end(const void *, unsigned long);\n\
         static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};\n",
    );
    for (n, program) in programs.iter().enumerate() {
        let _ = writeln!(out, "static atomic_long p{n}_x[{}];", litmus::locations(program).max(1));
        let _ = writeln!(out, "static long p{n}_r[{}][{READS}];", program.len());
        for (t, thread) in program.iter().enumerate() {
            let _ = writeln!(out, "static void *p{n}_t{t}(void *me) {{ long *r = me, e = 0; int k = 0;");
            for (i, instruction) in thread.iter().enumerate() {
                let _ = writeln!(out, "  L{i}: {}", statement(*instruction, n, i + 1, plain));
            }
            let end = thread.len();
            let _ = writeln!(out, "  L{end}: L{}: (void)e; (void)k; (void)r; return 0; }}", end + 1);
        }
        let _ = writeln!(out, "static void p{n}(void) {{ pthread_t h;");
        let _ = writeln!(
            out,
            "  for (int t = 0; t < {}; t++) for (int k = 0; k < {READS}; k++) p{n}_r[t][k] = {UNUSED};",
            program.len()
        );
        let _ = writeln!(out, "  __quotient_observe_at_end(p{n}_r, sizeof p{n}_r);");
        if litmus::locations(program) > 0 {
            let _ = writeln!(out, "  __quotient_observe_at_end(p{n}_x, sizeof p{n}_x);");
        }
        for t in 0..program.len() {
            let _ = writeln!(out, "  pthread_create(&h, 0, p{n}_t{t}, p{n}_r[{t}]);");
        }
        out.push_str("}\n");
    }
    out.push_str("int main(int argc, char **argv) { switch (argc > 1 ? atoi(argv[1]) : 0) {\n");
    for n in 0..programs.len() {
        let _ = writeln!(out, "  case {n}: p{n}(); break;");
    }
    out.push_str("  }\n  pthread_exit(0);\n}\n");
    out
}

fn build(name: &str, source: &str) -> Binary {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.c"));
    std::fs::write(&path, source).expect("the test directory can be written");
    let flags = vec!["-Wno-unused-label".into(), "-Wno-tsan".into()];
    Build { sources: vec![path], flags, ..Build::default() }.run().unwrap_or_else(|error| panic!("{error}"))
}

fn run(binary: &Binary, number: usize, memory: Option<MemoryModel>) -> Report {
    run_with(binary, number, Request { memory, ..Request::default() })
}

fn run_with(binary: &Binary, number: usize, request: Request) -> Report {
    let arguments = vec![number.to_string().into()];
    let surroundings = Surroundings { arguments, ..Surroundings::default() };
    let request = Request { all: true, surroundings, ..request };
    check(binary, &request, &mut |_| true).unwrap_or_else(|error| panic!("program {number}: {error}"))
}

/// The hash that the runtime makes of memory: word by word.
fn hash(words: &[i64]) -> u64 {
    words.iter().fold(0, |hash: u64, word| {
        (hash ^ *word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_add(1)
    })
}

/// An outcome as the runtime tells it: the values that each thread has read, and memory.
pub fn finished(reads: &[Vec<u64>], memory: &[u64]) -> u64 {
    let mut words = Vec::new();
    for thread in reads {
        let unused = std::iter::repeat_n(UNUSED, READS - thread.len());
        words.extend(thread.iter().map(|v| *v as i64).chain(unused));
    }
    words.extend(memory.iter().map(|v| *v as i64));
    (Ending::Finished as u64) << 56 | hash(&words) >> 8
}

/// Outcomes as the runtime tells them.
pub fn expected(found: &axioms::Found) -> BTreeSet<u64> {
    let mut out: BTreeSet<u64> = found.shown.keys().map(|(reads, memory)| finished(reads, memory)).collect();
    if found.stuck > 0 {
        out.insert((Ending::Deadlock as u64) << 56);
    }
    out
}

/// Compares programs with brute force; gives the numbers of graphs under each model.
fn compare(programs: &[Litmus], name: &str) -> [usize; 3] {
    let mut graphs = [0; 3];
    for (batch, programs) in programs.chunks(BATCH).enumerate() {
        let binary = build(&format!("{name}_{batch}"), &source(programs, false));
        for (number, program) in programs.iter().enumerate() {
            for (model, sum) in MODELS.into_iter().zip(&mut graphs) {
                let by_axioms = axioms::all(program, model);
                let report = run(&binary, number, Some(model));
                let found: BTreeSet<u64> = report.outcomes.iter().copied().collect();
                assert_eq!(found, expected(&by_axioms), "{name} {batch}/{number}, {model:?}: {program:?}");
                let all = by_axioms.graphs() + by_axioms.stuck;
                assert_eq!(
                    report.figures.executions, all as u64,
                    "{name} {batch}/{number}, {model:?}: {program:?}"
                );
                assert_eq!(report.memory, model);
                *sum += all;
            }
        }
    }
    graphs
}

#[test]
fn classics() {
    let programs: Vec<Litmus> = litmus::classics().into_iter().map(|c| c.1).collect();
    compare(&programs, "classics");
}

#[test]
fn random_litmus_programs() {
    let count = BATCH;
    let mut random = Random(5);
    let one = |k: usize, random: &mut Random| match k % 5 {
        0 | 1 => litmus::random(random, 7),
        2 | 3 => litmus::like_a_classic(random),
        _ => litmus::with_locks(random),
    };
    let programs: Vec<Litmus> = (0..count).map(|k| one(k, &mut random)).collect();
    let graphs = compare(&programs, "litmus");
    println!("{count} programs, graphs under sc, tso, rc11: {graphs:?}");
    assert!(graphs[0] < graphs[1] && graphs[1] < graphs[2], "the models do not differ: {graphs:?}");
}

/// On x86, accesses of weaker orders are moves, as plain ones are: programs with plain accesses that race, under TSO, show the same.
#[test]
fn plain_accesses_that_race_are_buffered() {
    let mut random = Random(11);
    let mut programs: Vec<Litmus> = litmus::classics().into_iter().map(|c| c.1).collect();
    programs.extend((0..BATCH).map(|k| match k % 2 {
        0 => litmus::random(&mut random, 7),
        _ => litmus::like_a_classic(&mut random),
    }));
    let mut graphs = 0;
    for (batch, programs) in programs.chunks(BATCH).enumerate() {
        let binary = build(&format!("buffered_{batch}"), &source(programs, true));
        for (number, program) in programs.iter().enumerate() {
            let by_axioms = axioms::all(program, MemoryModel::Tso);
            let request = Request { memory: Some(MemoryModel::Tso), allow_races: true, ..Request::default() };
            let report = run_with(&binary, number, request);
            let found: BTreeSet<u64> = report.outcomes.iter().copied().collect();
            assert_eq!(found, expected(&by_axioms), "{batch}/{number}: {program:?}, {:?}", report.answer);
            let all = by_axioms.graphs() + by_axioms.stuck;
            assert_eq!(report.figures.executions, all as u64, "{batch}/{number}: {program:?}");
            graphs += all;
        }
    }
    println!("{} programs, {graphs} graphs", programs.len());
}

/// Fences of inline assembly, and a lock by plain accesses.
#[test]
fn fences_of_assembly_order_plain_accesses() {
    let cases = [
        ("", true),
        ("__asm__ volatile(\"\" ::: \"memory\")", true),
        ("__asm__ volatile(\"mfence\" ::: \"memory\")", false),
        ("__asm__ volatile(\"lock; addl $0, 0(%%rsp)\" ::: \"memory\", \"cc\")", false),
        ("__sync_synchronize()", false),
    ];
    for (number, (fence, is_violated)) in cases.into_iter().enumerate() {
        let text = format!(
            "#include <assert.h>\n#include <pthread.h>\nstatic volatile int x, y; static int a, b;\n\
             static void *first(void *p) {{ x = 1; {fence}; a = y; return p; }}\n\
             static void *second(void *p) {{ y = 1; {fence}; b = x; return p; }}\n\
             int main(void) {{ pthread_t one, two; pthread_create(&one, 0, first, 0); pthread_create(&two, 0, second, 0);\n\
             pthread_join(one, 0); pthread_join(two, 0); assert(a || b); return 0; }}\n"
        );
        let binary = build(&format!("assembly_fence_{number}"), &text);
        let request = Request { memory: Some(MemoryModel::Tso), allow_races: true, ..Request::default() };
        let report =
            check(&binary, &request, &mut |_| true).unwrap_or_else(|error| panic!("{fence}: {error}"));
        assert_eq!(is_assertion(&report), is_violated, "{fence}: {:?}", report.answer);
        assert!(is_violated || matches!(report.answer, Answer::Holds), "{fence}: {:?}", report.answer);
    }
}

/// Loops that wait for a value, and programs that assume that the first read gives it: what they show when they come to an end is the same.
#[test]
fn loops_that_wait_show_what_assumptions_show() {
    let count: usize =
        std::env::var("QUOTIENT_RANDOM_LITMUS").ok().and_then(|n| n.parse().ok()).unwrap_or(BATCH);
    let mut random = Random(11);
    let (mut waits, mut shown) = (0, 0);
    for batch in 0..count.div_ceil(BATCH) {
        let programs: Vec<Litmus> = (0..BATCH).map(|_| litmus::like_a_classic(&mut random)).collect();
        let plain = source(&programs, false);
        // Some loads become waits for 0 or 1; which, is the same in both texts.
        let mut both = [String::new(), String::new()];
        for line in plain.lines() {
            let load = line.split_once(": r[k++] = atomic_load_explicit(");
            match load.filter(|_| random.below(2) == 0) {
                Some((label, rest)) => {
                    let (load, v) =
                        (format!("atomic_load_explicit({}", rest.trim_end_matches(';')), random.below(2));
                    let _ = writeln!(both[0], "{label}: while ((e = {load}) != {v}); r[k++] = e;");
                    let _ =
                        writeln!(both[1], "{label}: e = {load}; __VERIFIER_assume(e == {v}); r[k++] = e;");
                    waits += 1;
                }
                None => both.iter_mut().for_each(|text| {
                    let _ = writeln!(text, "{line}");
                }),
            }
        }
        both[1].insert_str(0, "void __VERIFIER_assume(int);\n");
        let [loops, assumes] = [("loops", &both[0]), ("assumes", &both[1])]
            .map(|(name, text)| build(&format!("{name}_{batch}"), text));
        for (number, program) in programs.iter().enumerate() {
            for model in MODELS {
                let [of_loops, of_assumes] = [&loops, &assumes].map(|binary| {
                    let report = run(binary, number, Some(model));
                    assert!(
                        // Where every execution is assumed away there is none to compare.
                        !matches!(&report.answer, Answer::Undecided(why) if !matches!(why, Incomplete::Vacuous(_))),
                        "{number}, {model:?}: {:?}",
                        report.answer
                    );
                    let finished = |outcome: &&u64| **outcome >> 56 == Ending::Finished as u64;
                    report.outcomes.iter().filter(finished).copied().collect::<BTreeSet<u64>>()
                });
                assert_eq!(of_loops, of_assumes, "{batch}/{number}, {model:?}: {program:?}");
                shown += of_loops.len();
            }
        }
    }
    println!("{waits} waits, {shown} outcomes");
    assert!(waits > 10 && shown > 100, "{waits} waits, {shown} outcomes");
}

/// The answer of a program of two threads, in short.
fn answer(
    name: &str,
    globals: &str,
    first: &str,
    second: &str,
    after: &str,
    memory: Option<MemoryModel>,
) -> Report {
    let source = format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n{globals}\n\
         static void *first(void *p) {{ (void)p; {first}; return 0; }}\nstatic void *second(void *p) {{ (void)p; {second}; return 0; }}\n\
         int main(void) {{ pthread_t one, two; pthread_create(&one, 0, first, 0); pthread_create(&two, 0, second, 0);\n\
         pthread_join(one, 0); pthread_join(two, 0); {after}; return 0; }}\n"
    );
    let binary = build(name, &source);
    let request = Request { memory, ..Request::default() };
    let report = check(&binary, &request, &mut |_| true).unwrap_or_else(|error| panic!("{name}: {error}"));
    if let Answer::Violated(trace) = &report.answer {
        let again = replay(&binary, &request, &trace.token, false).expect("a replay");
        assert_eq!(again.failure, trace.failure, "{name}: another failure");
        assert_eq!(again.reads, trace.reads, "{name}: other reads");
    }
    report
}

const RELAXED: &str = "#define get(p) atomic_load_explicit(p, memory_order_relaxed)\n\
    #define set(p, v) atomic_store_explicit(p, v, memory_order_relaxed)\nstatic atomic_int x, y; static int a, b;";

fn is_assertion(report: &Report) -> bool {
    matches!(&report.answer, Answer::Violated(t) if t.failure.kind == FailureKind::Assertion)
}

#[test]
fn the_model_follows_the_orders_of_the_program() {
    let weak = answer(
        "sb_weak",
        RELAXED,
        "set(&x, 1); a = get(&y)",
        "set(&y, 1); b = get(&x)",
        "assert(a || b)",
        None,
    );
    assert!(is_assertion(&weak) && weak.memory == MemoryModel::Rc11, "{:?}", weak.answer);
    assert_eq!(weak.assumptions, ["the memory model RC11 (no load buffering)"]);
    let Answer::Violated(trace) = &weak.answer else { panic!("violated") };
    assert_eq!(trace.reads.len(), 1, "{:?}", trace.reads);
    assert!(trace.reads[0].contains("reads the initial value, not what step"), "{:?}", trace.reads);
    assert!(trace.token.to_string().ends_with("@rc11"), "{}", trace.token);
    let strong = answer(
        "sb_strong",
        RELAXED,
        "atomic_store(&x, 1); a = atomic_load(&y)",
        "atomic_store(&y, 1); b = atomic_load(&x)",
        "assert(a || b)",
        None,
    );
    assert!(matches!(strong.answer, Answer::Holds) && strong.memory == MemoryModel::SequentialConsistency);
    assert!(strong.assumptions.is_empty(), "{:?}", strong.assumptions);
}

#[test]
fn locks_and_other_primitives_order() {
    let sc = Some(MemoryModel::SequentialConsistency);
    let both = |name: &str, globals: &str, first: &str, second: &str, after: &str| {
        let globals = format!("{RELAXED}\n{globals}");
        let graphs = answer(name, &globals, first, second, after, Some(MemoryModel::Rc11));
        let sequences = answer(name, &globals, first, second, after, sc);
        let text = |report: &Report| match &report.answer {
            Answer::Violated(trace) => trace.message(),
            other => format!("{other:?}"),
        };
        assert_eq!(text(&graphs), text(&sequences), "{name}");
        matches!(graphs.answer, Answer::Holds)
    };
    let mutex = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;";
    let locked = "pthread_mutex_lock(&m); a++; set(&x, get(&x) + 1); pthread_mutex_unlock(&m)";
    assert!(both("weak_mutex", mutex, locked, locked, "assert(a == 2 && get(&x) == 2)"));
    let semaphore =
        "static sem_t s; __attribute__((constructor)) static void start(void) { sem_init(&s, 0, 0); }";
    assert!(both(
        "weak_semaphore",
        semaphore,
        "a = 1; set(&x, 1); sem_post(&s)",
        "sem_wait(&s); assert(a && get(&x))",
        ""
    ));
    let condition = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER;";
    let wait = "pthread_mutex_lock(&m); while (!a) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); assert(get(&x) == 1)";
    let signal =
        "set(&x, 1); pthread_mutex_lock(&m); a = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m)";
    assert!(both("weak_condition", condition, signal, wait, ""));
    let lost = "set(&x, 1); pthread_cond_signal(&c); pthread_mutex_lock(&m); a = 1; pthread_mutex_unlock(&m)";
    assert!(!both("weak_lost_signal", condition, lost, wait, ""));
    let barrier = "static pthread_barrier_t w; __attribute__((constructor)) static void start(void) { pthread_barrier_init(&w, 0, 2); }";
    assert!(both(
        "weak_barrier",
        barrier,
        "a = 1; set(&x, 1); pthread_barrier_wait(&w); assert(b && get(&y))",
        "b = 1; set(&y, 1); pthread_barrier_wait(&w); assert(a && get(&x))",
        ""
    ));
    let readers = "static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;";
    assert!(both(
        "weak_rwlock",
        readers,
        "pthread_rwlock_wrlock(&l); a = 1; set(&x, 1); pthread_rwlock_unlock(&l)",
        "pthread_rwlock_rdlock(&l); assert(get(&x) == a); pthread_rwlock_unlock(&l)",
        ""
    ));
    let order = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;";
    let take = |l: &str, r: &str| {
        format!(
            "set(&x, 1); pthread_mutex_lock(&{l}); pthread_mutex_lock(&{r}); pthread_mutex_unlock(&{r}); pthread_mutex_unlock(&{l})"
        )
    };
    assert!(!both("weak_deadlock", order, &take("m", "n"), &take("n", "m"), ""));
}

#[test]
fn memory_that_becomes_something_new() {
    // Plain writes that are ordered begin a new life of an atomic variable, and so does memory that is allocated again.
    let publish =
        "#define RELEASE memory_order_release\n#define ACQUIRE memory_order_acquire\nstatic atomic_int f;";
    let globals = format!(
        "{RELAXED}\n{publish}\nstruct cell {{ atomic_int v; }}; static struct cell *c; static int plain;"
    );
    let rc11 = Some(MemoryModel::Rc11);
    let first = "struct cell *n = malloc(sizeof *n); atomic_init(&n->v, 1); atomic_store_explicit(&n->v, 2, memory_order_relaxed); \
        free(n); n = malloc(sizeof *n); atomic_init(&n->v, 3); c = n; atomic_store_explicit(&f, 1, RELEASE)";
    let second = "if (atomic_load_explicit(&f, ACQUIRE)) assert(get(&c->v) == 3)";
    let report = answer("new_life", &globals, first, second, "free(c)", rc11);
    assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
    let first =
        "__atomic_store_n(&plain, 1, __ATOMIC_RELAXED); plain = 2; atomic_store_explicit(&f, 1, RELEASE)";
    let second =
        "if (atomic_load_explicit(&f, ACQUIRE)) assert(__atomic_load_n(&plain, __ATOMIC_RELAXED) == 2)";
    let report = answer("plain_write_of_atomic", &globals, first, second, "", rc11);
    assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
    assert_eq!(report.figures.executions, 2);
}

#[test]
fn a_race_that_only_another_order_of_the_same_graph_shows() {
    // The first thread reads `next` after the second one has written it, although its atomic accesses come first.
    let globals = "static struct { int value, next; } node[2] = {{0, 0}, {1, 0}}; static atomic_int top = 2;";
    let first = "int seen = atomic_load(&top); int next = node[seen - 1].next; atomic_compare_exchange_strong(&top, &seen, next)";
    let second = "int seen = atomic_exchange(&top, 1); if (seen == 2) node[seen - 1].next = 7";
    for memory in MODELS {
        let report = answer("race_in_a_graph", globals, first, second, "", Some(memory));
        let is_race = matches!(&report.answer, Answer::Violated(t) if t.failure.kind == FailureKind::Race);
        assert!(is_race, "{memory:?}: {:?}", report.answer);
    }
}

#[test]
fn arrivals_at_a_barrier_are_independent() {
    let source = |destroyed: &str| {
        format!(
            "#include <pthread.h>\n#include <stdatomic.h>\n#include <assert.h>\nstatic pthread_barrier_t b, c; static int before[5]; \
             static atomic_int serial;\n\
             static void *f(void *n) {{ int me = (int)(long)n; before[me] = 1; int s = pthread_barrier_wait(&b);\n\
             for (int i = 0; i < 5; i++) assert(before[i] == 1);\n\
             if (s) atomic_fetch_add_explicit(&serial, 1, memory_order_relaxed);\n\
             pthread_barrier_wait(&c); before[me] = 2; return 0; }}\n\
             int main(void) {{ pthread_t t[5]; pthread_barrier_init(&b, 0, 5); pthread_barrier_init(&c, 0, 5);\n\
             for (long i = 0; i < 5; i++) pthread_create(&t[i], 0, f, (void *)i);\n{destroyed}\n\
             for (int i = 0; i < 5; i++) pthread_join(t[i], 0);\nassert(serial == 1); return 0; }}\n"
        )
    };
    let ordered = build("graph_barrier", &source(""));
    let early = build("graph_barrier_destroyed", &source("pthread_barrier_destroy(&b);"));
    for memory in MODELS {
        let request = Request { memory: Some(memory), ..Request::default() };
        let report = check(&ordered, &request, &mut |_| true).expect("an answer");
        assert!(matches!(report.answer, Answer::Holds), "{memory:?}: {:?}", report.answer);
        // One for each thread that may be the serial one.
        assert_eq!(report.figures.executions, 5, "{memory:?}");
        let report = check(&early, &request, &mut |_| true).expect("an answer");
        let Answer::Violated(trace) = &report.answer else { panic!("{memory:?}: {:?}", report.answer) };
        assert_eq!(trace.failure.kind, FailureKind::Misuse, "{memory:?}: {}", trace.message());
    }
}

#[test]
fn what_is_not_covered_is_named() {
    let globals = format!("{RELAXED}\nstatic union {{ int whole; char part[4]; }} u;");
    let first = "__atomic_store_n(&u.whole, 1, __ATOMIC_RELAXED)";
    let second = "a = __atomic_load_n(&u.part[0], __ATOMIC_RELAXED)";
    let explicit = answer("mixed_sizes", &globals, first, second, "", Some(MemoryModel::Rc11));
    let Answer::Refused(why, _) = &explicit.answer else { panic!("{:?}", explicit.answer) };
    assert!(why.contains("atomic accesses of different sizes to the same memory"), "{why}");
    let chosen = answer("mixed_sizes", &globals, first, second, "", None);
    assert!(matches!(chosen.answer, Answer::Holds), "{:?}", chosen.answer);
    assert!(
        chosen
            .assumptions
            .iter()
            .any(|a| a.starts_with("sequential consistency") && a.contains("different sizes")),
        "{:?}",
        chosen.assumptions
    );
}
