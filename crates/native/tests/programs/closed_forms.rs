//! Kernels of N like threads whose numbers of traces and orbits are known.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use quotient_native::{Answer, Build, Figures, Request, check};
use quotient_stateless::Symmetry;

const SOURCE: &str = r"
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static int counter, slot[8];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *worker(void *a) {
#if KIND == 0
    int r = atomic_load(&x);
    atomic_store(&x, r + 1);
#elif KIND == 1
    int r = atomic_load(&x);
    atomic_compare_exchange_strong(&x, &r, r + 1);
#elif KIND == 2
    slot[atomic_fetch_add(&x, 1)] = 1;
#elif KIND == 6
    atomic_fetch_add(&x, 1);
#elif KIND == 5
    pthread_exit(0);
#else
    pthread_mutex_lock(&m);
    counter++;
#if KIND == 4
    *(int *)a += 1;
#endif
    pthread_mutex_unlock(&m);
#endif
    return 0;
}
int main(void) {
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], 0, worker, KIND == 4 ? &slot[i] : 0);
    for (int i = 0; i < N; i++) pthread_join(t[i], 0);
    return 0;
}
";

fn executions(kind: u32, n: u32, symmetry: Symmetry) -> u64 {
    figures(kind, n, &Request { symmetry, ..Request::default() }).executions
}

fn figures(kind: u32, n: u32, request: &Request) -> Figures {
    // Written once: another test may be compiling it.
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let path = FILE.get_or_init(|| {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kernels.c");
        std::fs::write(&path, SOURCE).expect("the test directory can be written");
        path
    });
    let flags: Vec<OsString> = vec![format!("-DKIND={kind}").into(), format!("-DN={n}").into()];
    let binary =
        Build { sources: vec![path.clone()], flags, compiler: None }.run().unwrap_or_else(|e| panic!("{e}"));
    let report = check(&binary, request, &mut |_| true);
    let report = report.unwrap_or_else(|e| panic!("{e}"));
    assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
    report.figures
}

/// Leaving a thread from within has nothing to do with other threads that do so.
#[test]
fn ends_of_threads_are_independent() {
    assert_eq!(executions(5, 3, Symmetry::Off), 1);
}

#[test]
fn several_processes_make_the_same_executions() {
    let several = Request { workers: 3, split_after: 5, ..Request::default() };
    let mut copies = 0;
    for (kind, n, traces) in [(0, 4, 576), (0, 5, 14_400), (1, 5, 4025), (2, 6, 720), (3, 6, 720)] {
        let found = figures(kind, n, &several);
        assert_eq!((found.executions, found.blocked), (traces, 0), "kind {kind}, {n} threads");
        copies += found.copies - found.copies_lost;
    }
    assert!(copies > 10, "only {copies} copies were of use");
}

#[test]
fn several_processes_make_the_same_executions_up_to_symmetry() {
    for symmetry in [Symmetry::Costarted, Symmetry::Dynamic] {
        let several = Request { workers: 3, split_after: 5, symmetry, ..Request::default() };
        let mut copies = 0;
        for (kind, n) in [(0, 5), (1, 5), (1, 6)] {
            let found = figures(kind, n, &several);
            let alone = Request { workers: 1, symmetry, ..Request::default() };
            let alone = figures(kind, n, &alone).executions;
            assert_eq!(
                (found.executions, found.blocked),
                (alone, 0),
                "kind {kind}, {n} threads, {symmetry:?}"
            );
            copies += found.copies - found.copies_lost;
        }
        assert!(copies > 5, "{symmetry:?}: only {copies} copies were of use");
    }
}

/// Kind (load and store, load and compare-and-swap, fetch-add, mutex, mutex with an argument of its own; 6: fetch-add whose result nobody uses), threads,
/// traces, orbits.
fn check_all(expected: &[(u32, u32, u64, u64)]) {
    for &(kind, n, traces, orbits) in expected {
        assert_eq!(executions(kind, n, Symmetry::Costarted), orbits, "orbits, kind {kind}, {n} threads");
        assert_eq!(executions(kind, n, Symmetry::Off), traces, "traces, kind {kind}, {n} threads");
    }
}

#[test]
#[ignore = "takes two minutes"]
fn six_threads() {
    check_all(&[(0, 6, 518_400, 720), (1, 6, 75_876, 143)]);
}

#[test]
fn executions_are_traces_and_orbits() {
    check_all(&[
        (0, 3, 36, 6),
        (0, 4, 576, 24),
        (0, 5, 14_400, 120),
        (1, 3, 27, 5),
        (1, 4, 280, 14),
        (1, 5, 4025, 43),
        (2, 3, 6, 1),
        (2, 5, 120, 1),
        (2, 6, 720, 1),
        (6, 6, 1, 1),
        (3, 4, 24, 1),
        (3, 6, 720, 1),
        (4, 4, 24, 1),
        (4, 6, 720, 1),
    ]);
}
