//! Reference counts: additions that commute, and what has to be noticed about others.

use std::path::PathBuf;

use quotient_native::{Answer, Build, Report, Request, check};
use quotient_stateless::Symmetry;

const THREADS: usize = 4;

/// Threads that execute `worker` with an object `o` that has a count `refs`, while main has a reference, and `end` after they were joined.
fn source(worker: &str, end: &str) -> String {
    format!(
        r"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
struct object {{ atomic_int refs; int data; }};
static struct object *o;
static int freed, order[{THREADS}];
static void take(struct object *p) {{ atomic_fetch_add(&p->refs, 1); }}
static int put(struct object *p) {{
    if (atomic_fetch_sub(&p->refs, 1) == 1) {{ free(p); return 1; }}
    return 0;
}}
static int put_and_test(struct object *p) {{
    int left = __atomic_sub_fetch(&p->refs, 1, __ATOMIC_SEQ_CST);
    if (left) return 0;
    free(p);
    return 1;
}}
static int subtract(struct object *p) {{ return __atomic_sub_fetch(&p->refs, 1, __ATOMIC_SEQ_CST); }}
static void *worker(void *a) {{ {worker} return 0; }}
int main(void) {{
    pthread_t t[{THREADS}];
    o = malloc(sizeof *o);
    o->data = 7;
    atomic_init(&o->refs, 1);
    START
    for (int i = 0; i < {THREADS}; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < {THREADS}; i++) JOIN(t[i]);
    {end}
    return 0;
}}
"
    )
}

fn report(name: &str, source: &str, request: &Request) -> Report {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("counts-{name}.c"));
    let joined = source.replace("JOIN(t[i])", "pthread_join(t[i], 0)").replace("START", "");
    std::fs::write(&path, joined).expect("the test directory can be written");
    let binary =
        Build { sources: vec![path], ..Build::default() }.run().unwrap_or_else(|error| panic!("{error}"));
    check(&binary, request, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

fn executions(name: &str, worker: &str, end: &str) -> u64 {
    let report = report(name, &source(worker, end), &Request::default());
    assert!(matches!(report.answer, Answer::Holds), "{name}: {:?}", report.answer);
    report.figures.executions
}

#[test]
fn additions_that_nobody_looks_at_commute() {
    assert_eq!(executions("unused", "take(o);", ""), 1);
}

#[test]
fn references_commute_while_somebody_has_another() {
    let end = "assert(put(o) == 1);";
    assert_eq!(executions("taken", "take(o); put(o);", end), 1);
    assert_eq!(executions("tested", "take(o); put_and_test(o);", end), 1);
    assert_eq!(executions("kept", "take(o); int left = subtract(o); if (left == 0) freed = 1;", end), 1);
    assert_eq!(executions("returned", "take(o); if (!subtract(o)) free(o);", end), 1);
    let used = "take(o); int d = o->data; assert(d == 7); put(o);";
    assert_eq!(executions("used", used, end), 1);
}

#[test]
fn what_is_used_in_another_way_does_not_commute() {
    let used = |name, worker| assert_eq!(executions(name, worker, ""), 24, "{name}");
    used("stored", "order[atomic_fetch_add(&o->refs, 1) - 1] = 1;");
    used("two", "if (atomic_fetch_add(&o->refs, 1) == 2) order[0] = 1;");
    used("compared", "int many = atomic_fetch_add(&o->refs, 1) > 2; (void)many;");
    used("exchanged", "atomic_exchange(&o->refs, 1);");
    used("given", "usleep(atomic_fetch_add(&o->refs, 1));");
}

#[test]
fn the_last_one_is_noticed() {
    // Main gives its own reference back beside the others: whoever is the last frees the object.
    let source = source("put(o);", "");
    let source = source
        .replace("atomic_init(&o->refs, 1)", &format!("atomic_init(&o->refs, {})", THREADS + 1))
        .replace("for (int i = 0; i < 4; i++) JOIN", "put(o); for (int i = 0; i < 4; i++) JOIN");
    let report = report("last", &source, &Request::default());
    assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
    assert_eq!(report.figures.executions, 120, "all orders of five");
}

#[test]
fn a_reference_too_few_is_found() {
    let violated = |name: &str, worker: &str, end: &str| {
        for symmetry in [Symmetry::Off, Symmetry::Costarted, Symmetry::Dynamic] {
            let request = Request { symmetry, ..Request::default() };
            let found = report(&format!("{name}-{symmetry:?}"), &source(worker, end), &request);
            assert!(matches!(found.answer, Answer::Violated(_)), "{name}: {:?}", found.answer);
        }
    };
    violated("once", "put(o);", "");
    // Nobody orders the write with what others do.
    violated("race", "take(o); o->data++; put(o);", "put(o);");
    // Seen by who comes first only if both were before: 1 + 1 - 2.
    violated("early", "take(o); if (atomic_fetch_sub(&o->refs, 2) == 2) assert(0);", "");
}
