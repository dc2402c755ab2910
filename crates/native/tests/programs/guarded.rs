//! Threads that change the same memory under a lock can be exchanged whoever was the last to do so; without the lock they cannot.
//!
//! A slice of what `quotient-bench inspect` prints as a table: the programs that have the shapes of those of Yang, Chen,
//! Gopalakrishnan and Wang (2009).

use std::path::{Path, PathBuf};

use quotient_native::protocol::FailureKind;
use quotient_native::{Answer, Binary, Build, Report, Request, check};
use quotient_stateless::Symmetry;

fn example(name: &str, define: &str) -> Binary {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/c").join(name);
    Build { sources: vec![path], flags: vec![define.into()], compiler: None }
        .run()
        .unwrap_or_else(|e| panic!("{e}"))
}

fn explored(binary: &Binary, symmetry: Symmetry) -> Report {
    let request = Request { symmetry, ..Request::default() };
    check(binary, &request, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
}

/// Three critical sections in each of `n` threads: `(3n)! / 3!^n` traces. Of threads that have come equally far one is let go on, which
/// leaves the standard Young tableaux with `n` rows of three.
#[test]
fn orders_of_critical_sections() {
    for (n, traces, tableaux) in [(2, 20, 5), (3, 1680, 42), (4, 369_600, 462)] {
        let binary = example("downloader_buffers.c", &format!("-DSEGMENTS={n}"));
        if n < 4 {
            assert_eq!(explored(&binary, Symmetry::Off).figures.executions, traces);
        }
        let report = explored(&binary, Symmetry::Dynamic);
        assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
        assert_eq!(report.figures.executions, tableaux, "{n} threads: {:?}", report.notes);
    }
}

/// The paper's reduction is 8 times with two workers, counted from an exploration that makes executions more than once.
#[test]
fn workers_that_take_turns() {
    let binary = example("file_scanner.c", "-DWORKERS=2");
    let [off, dynamic] = [Symmetry::Off, Symmetry::Dynamic].map(|symmetry| explored(&binary, symmetry));
    assert!(matches!((&off.answer, &dynamic.answer), (Answer::Holds, Answer::Holds)));
    assert_eq!(off.figures.executions, 3072);
    assert!(
        dynamic.figures.executions <= 473,
        "{} executions: {:?}",
        dynamic.figures.executions,
        dynamic.notes
    );
}

fn verdicts(name: &str, source: &str) -> [Option<FailureKind>; 2] {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.c"));
    std::fs::write(&path, source).expect("the test directory can be written");
    let binary = Build { sources: vec![path], flags: Vec::new(), compiler: None }
        .run()
        .unwrap_or_else(|e| panic!("{e}"));
    [Symmetry::Off, Symmetry::Dynamic].map(|symmetry| match explored(&binary, symmetry).answer {
        Answer::Violated(trace) => Some(trace.failure.kind),
        Answer::Holds => None,
        other => panic!("{name}, {symmetry:?}: {other:?}"),
    })
}

const START: &str = "
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int x;
static atomic_int turn;
";

const MAIN: &str = "
int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
";

/// Memory that is under a lock most of the time is not guarded: the race is found with symmetry as well.
#[test]
fn a_lock_that_is_not_always_taken_guards_nothing() {
    let locked = "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);";
    let another = "pthread_mutex_lock(&other); x++; pthread_mutex_unlock(&other);";
    let race = Some(FailureKind::Race);
    for (name, last, expected) in [
        ("always", locked.to_owned(), None),
        ("once", "if (atomic_fetch_add(&turn, 1) == 0) x++;".to_owned(), race),
        ("read", "if (atomic_fetch_add(&turn, 1) == 0 && x > 100) atomic_store(&turn, 9);".to_owned(), race),
        ("another", format!("if (atomic_fetch_add(&turn, 1) == 1) {{ {another} }}"), race),
    ] {
        let worker = format!("static void *worker(void *a) {{ {locked} {locked} {last} return 0; }}");
        let found = verdicts(&format!("guard_{name}"), &format!("{START}{worker}{MAIN}"));
        assert_eq!(found, [expected; 2], "{name}");
    }
}

/// A mutex that is initialised while somebody has it orders nothing.
#[test]
fn a_lock_that_is_initialised_again_guards_nothing() {
    let worker = "static void *worker(void *a) {
        pthread_mutex_lock(&m); x++;
        if (atomic_fetch_add(&turn, 1) == 1) pthread_mutex_init(&m, 0);
        else pthread_mutex_unlock(&m);
        return 0; }";
    let found = verdicts("guard_again", &format!("{START}{worker}{MAIN}"));
    assert_eq!(found[0], found[1], "the same with symmetry");
    assert_eq!(found[0], Some(FailureKind::Race), "nothing orders the accesses before and after");
}
