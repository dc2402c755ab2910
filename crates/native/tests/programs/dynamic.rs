//! Dynamic symmetry on machine code: what it finds, what it must not believe, and that nothing is lost.

use std::collections::BTreeSet;
use std::path::PathBuf;

use quotient_native::{Answer, Binary, Build, Report, Request, check};
use quotient_stateless::{Algorithm, Symmetry};

fn build(name: &str, source: &str) -> Binary {
    build_file(&format!("{name}.c"), source, &[])
}

fn build_file(name: &str, source: &str, flags: &[&str]) -> Binary {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, source).expect("the test directory can be written");
    Build { sources: vec![path], flags: flags.iter().map(Into::into).collect(), compiler: None }
        .run()
        .unwrap_or_else(|e| panic!("{e}"))
}

fn explored(binary: &Binary, algorithm: Algorithm, symmetry: Symmetry) -> Report {
    let request = Request { algorithm, symmetry, all: true, ..Request::default() };
    check(binary, &request, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
}

fn program(globals: &str, routines: &[&str], started: &[usize]) -> String {
    let mut text = format!(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
         void __quotient_observe(long value);\n{globals}\n"
    );
    for (k, body) in routines.iter().enumerate() {
        text += &format!("static void *routine{k}(void *number) {{ {body} return 0; }}\n");
    }
    let n = started.len();
    text += &format!("int main(void) {{\n    pthread_t t[{n}];\n");
    for (k, routine) in started.iter().enumerate() {
        text += &format!("    pthread_create(&t[{k}], 0, routine{routine}, (void *){k}L);\n");
    }
    text += &format!("    for (int i = 0; i < {n}; i++) pthread_join(t[i], 0);\n");
    text + "    __quotient_observe(x * 100 + y);\n    return 0;\n}\n"
}

/// The three smallest programs on which the published algorithm loses an outcome (`quotient-stateless` has them as models): the
/// threads' code differs at first and is the same later.
#[test]
fn nothing_is_lost_on_the_counterexamples() {
    let globals = "static atomic_int x, y;";
    let load = |v: &str| format!("int r = atomic_load(&{v}); ");
    let end = "atomic_store(&x, 2); atomic_store(&y, r + 1);";
    let first = [load("y") + end, "int r = 0; ".to_owned() + end];
    let second = [load("x") + "atomic_store(&x, 1);", "atomic_store(&x, 1);".to_owned()];
    let third = [load("x") + "atomic_fetch_add(&y, 1);", "atomic_store(&x, 1);".to_owned()];
    for (name, routines, started) in
        [("first", &first, vec![0, 1]), ("second", &second, vec![0, 1]), ("third", &third, vec![0, 0, 1])]
    {
        let routines: Vec<&str> = routines.iter().map(String::as_str).collect();
        let binary = build(name, &program(globals, &routines, &started));
        let expected: BTreeSet<u64> =
            explored(&binary, Algorithm::SourceSets, Symmetry::Off).outcomes.into_iter().collect();
        for algorithm in [Algorithm::SourceSets, Algorithm::Optimal] {
            let report = explored(&binary, algorithm, Symmetry::Dynamic);
            assert!(matches!(report.answer, Answer::Holds), "{name}: {:?}", report.answer);
            let found: BTreeSet<u64> = report.outcomes.into_iter().collect();
            assert_eq!(found, expected, "{name}, {algorithm:?}, {:?}", report.notes);
        }
    }
}

/// Threads with different code before, and the same code after some point, are found to be symmetric there.
#[test]
fn different_pasts_lead_to_symmetric_states() {
    let globals = "static atomic_int x, y, z;";
    let tail = "int r = atomic_load(&x); atomic_store(&x, r + 1);";
    let first = format!("atomic_fetch_add(&y, 1); {tail}");
    let second = format!("atomic_fetch_add(&z, 1); {tail}");
    let binary = build("pasts", &program(globals, &[&first, &second], &[0, 1]));
    let off = explored(&binary, Algorithm::Optimal, Symmetry::Off);
    let costarted = explored(&binary, Algorithm::Optimal, Symmetry::Costarted);
    let dynamic = explored(&binary, Algorithm::Optimal, Symmetry::Dynamic);
    assert_eq!(off.figures.executions, 4);
    assert_eq!(costarted.figures.executions, 4, "they were not started alike");
    assert!(dynamic.figures.executions < 4 && dynamic.figures.pruned > 0, "{:?}", dynamic.notes);
    let set = |report: &Report| report.outcomes.iter().copied().collect::<BTreeSet<u64>>();
    assert_eq!(set(&dynamic), set(&off));
    assert!(dynamic.notes.iter().any(|n| n == "symmetric at some point: T1 and T2"), "{:?}", dynamic.notes);
}

/// The same number of executions as for threads started alike, where that is what makes them symmetric.
/// What threads were given is freed or moved after they were joined.
#[test]
fn a_block_is_given_back_after_the_joins() {
    for (name, end) in
        [("freed", "free(given);"), ("moved", "given = realloc(given, 100); x = given[0] + given[1];")]
    {
        let binary = build(
            name,
            &format!(
                "#include <pthread.h>\n#include <stdlib.h>\nint x;\nvoid __quotient_observe(long value);\n\
                 static void *routine(void *number) {{ ++*(int *)number; return 0; }}\n\
                 int main(void) {{ pthread_t t[2]; int *given = calloc(2, sizeof *given);\n\
                 for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, routine, &given[i]);\n\
                 for (int i = 0; i < 2; i++) pthread_join(t[i], 0);\n{end} __quotient_observe(x); return 0; }}"
            ),
        );
        let mut seen = BTreeSet::new();
        for symmetry in [Symmetry::Off, Symmetry::Costarted, Symmetry::Dynamic] {
            let report = explored(&binary, Algorithm::Optimal, symmetry);
            assert!(matches!(report.answer, Answer::Holds), "{name}, {symmetry:?}: {:?}", report.answer);
            seen.extend(report.outcomes);
        }
        assert_eq!(seen.len(), 1, "{name}");
    }
}

#[test]
fn closed_forms() {
    let globals = "static atomic_int x, y; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;";
    let kinds = [
        ("load_store", "int r = atomic_load(&x); atomic_store(&x, r + 1);", 4, 24),
        ("fetch_add", "atomic_fetch_add(&x, 1);", 5, 1),
        ("swap", "int r = atomic_load(&x); atomic_compare_exchange_strong(&x, &r, r + 1);", 4, 14),
        ("mutex", "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);", 4, 1),
        ("heap", "int *p = malloc(4); *p = 1; atomic_fetch_add(&x, *p); free(p);", 4, 1),
    ];
    for (name, body, n, orbits) in kinds {
        let binary = build(name, &program(globals, &[body], &vec![0; n]));
        let report = explored(&binary, Algorithm::Optimal, Symmetry::Dynamic);
        assert!(matches!(report.answer, Answer::Holds), "{name}: {:?}", report.answer);
        // Different pasts can lead to like states, so there can be fewer than orbits.
        let executions = report.figures.executions;
        assert!(executions <= orbits, "{name}: {executions} executions, {:?}", report.notes);
    }
}

/// What tells threads apart is noticed: in the state in which both are about to make their first step.
#[test]
fn reasons_against() {
    let globals = "static atomic_int x, y; static int *p; static __thread long own;";
    let cases = [
        ("", ""),
        ("int local = 1; if (number) p = &local;", "a global refers to"),
        ("long mine = (long)number; if (mine > 5) atomic_store(&x, mine);", ""),
        ("int *q = malloc(number ? 8 : 4);", "allocated"),
        ("own = (long)number;", "thread-local"),
        ("if (pthread_self() == 0) atomic_store(&y, 1);", ""),
        ("if (pthread_self() < 100) atomic_store(&y, 1);", "identity"),
    ];
    for (k, (before, reason)) in cases.into_iter().enumerate() {
        // Its result is looked at: else the order of the two would not matter.
        let body = format!("{before} if (atomic_fetch_add(&x, 1) < 0) return 0;");
        let binary = build(&format!("reason{k}"), &program(globals, &[&body], &[0, 0]));
        let report = explored(&binary, Algorithm::Optimal, Symmetry::Dynamic);
        let noticed = !reason.is_empty() && report.notes.iter().any(|n| n.contains(reason));
        assert_eq!(noticed, !reason.is_empty(), "{k}: {:?}, {:?}", report.answer, report.notes);
        // Two executions, unless nothing is against it.
        assert_eq!(
            report.figures.executions,
            if reason.is_empty() { 1 } else { 2 },
            "{k}: {:?}",
            report.notes
        );
    }
    let live = "long mine = (long)number; atomic_fetch_add(&x, 1); atomic_store(&y, mine);";
    let binary = build("reason_live", &program(globals, &[live], &[0, 0]));
    let report = explored(&binary, Algorithm::Optimal, Symmetry::Dynamic);
    assert!(report.notes.iter().any(|n| n.contains("live locals differ")), "{:?}", report.notes);
    let off = explored(&binary, Algorithm::Optimal, Symmetry::Off);
    assert_eq!(report.figures.executions, off.figures.executions);
}

/// What is read only where an exception is caught, or where `longjmp` comes back to, tells workers apart as everything else does: no jump leads there.
#[test]
fn locals_that_are_read_after_an_exception() {
    let program = |head: &str, take: &str, routine: &str| {
        format!(
            "#include <pthread.h>\n#include <assert.h>\n{head}\nint go, out; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n{take}\n{routine}\n\
             int main() {{ pthread_t p[2]; for (long i = 0; i < 2; i++) pthread_create(&p[i], 0, w, (void *)(i + 1));\n\
             for (int i = 0; i < 2; i++) pthread_join(p[i], 0); assert(out != 2); return 0; }}\n"
        )
    };
    let take = "__attribute__((noinline)) void take(void) { pthread_mutex_lock(&m); int g = go++; pthread_mutex_unlock(&m); if (g == 0) LEAVE; }";
    let caught = program(
        "",
        &take.replace("LEAVE", "throw 1"),
        "void *w(void *a) { long id = (long)a; try { take(); } catch (int) { out = (int)id; } return 0; }",
    );
    let jumped = program(
        "#include <setjmp.h>\n__thread jmp_buf back;",
        &take.replace("LEAVE", "longjmp(back, 1)"),
        "void *w(void *a) { volatile long id = (long)a; if (setjmp(back)) { out = (int)id; return 0; } take(); return 0; }",
    );
    for (name, source) in [("caught.cpp", caught), ("jumped.c", jumped)] {
        let binary = build_file(name, &source, &["-O0"]);
        for symmetry in [Symmetry::Off, Symmetry::Costarted, Symmetry::Dynamic] {
            let report = explored(&binary, Algorithm::Optimal, symmetry);
            assert!(
                matches!(report.answer, Answer::Violated(_)),
                "{name}, {symmetry:?}: {:?}",
                report.answer
            );
        }
    }
}

/// A function that ends with a call from which nobody comes back has a rest that is understood: `exit` in `main`, `pthread_exit` in a worker.
#[test]
fn ends_without_a_return() {
    let source = |worker: &str, main: &str| {
        format!(
            "#include <pthread.h>\n#include <stdlib.h>\nstatic int x;\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
             static void *work(void *a) {{\n    for (int i = 0; i < 2; i++) {{ pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); }}\n    {worker}\n}}\n\
             int main(void) {{\n    pthread_t t, u;\n    if (pthread_create(&t, 0, work, 0)) exit(1);\n    if (pthread_create(&u, 0, work, 0)) exit(1);\n    \
             pthread_join(t, 0);\n    pthread_join(u, 0);\n    if (x != 4) abort();\n    {main}\n}}\n"
        )
    };
    for (name, worker, main) in [
        ("return", "return a;", "return 0;"),
        ("exit", "return a;", "exit(0);"),
        ("pthread_exit", "pthread_exit(0);", "return 0;"),
        ("both", "pthread_exit(a);", "exit(0);"),
    ] {
        let binary = build(&format!("ends-{name}"), &source(worker, main));
        let [off, dynamic] = [Symmetry::Off, Symmetry::Dynamic].map(|symmetry| {
            let report = explored(&binary, Algorithm::Optimal, symmetry);
            assert!(matches!(report.answer, Answer::Holds), "{name}: {:?}", report.answer);
            report.figures.executions
        });
        assert_eq!((off, dynamic), (6, 2), "{name}");
    }
}
