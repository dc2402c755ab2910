//! What was found is told within the limit on time, although it could be made more readable.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use quotient_native::protocol::FailureKind;
use quotient_native::{Answer, Build, Request, check};

/// Half of ten threads count down to something that is never reached, after work that takes a while; the others wait for it.
const SOURCE: &str = "#include <pthread.h>
static int left = 10;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int next(int n) { return n * 7 + 1; }
static void take_time(void) { int n = 0; for (int i = 0; i < 30000; i++) n = next(n); }
static void *wait(void *a) {
    take_time();
    pthread_mutex_lock(&m);
    while (left) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return a;
}
static void *count(void *a) {
    take_time();
    pthread_mutex_lock(&m);
    if (!--left) pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    return a;
}
int main(void) {
    pthread_t t[10];
    for (int i = 0; i < 10; i++) pthread_create(&t[i], 0, i % 2 ? count : wait, 0);
    for (int i = 0; i < 10; i++) pthread_join(t[i], 0);
    return 0;
}
";

#[test]
fn a_violation_is_told_before_the_time_is_up() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("in_time.c");
    std::fs::write(&path, SOURCE).expect("the test directory can be written");
    let binary = Build { sources: vec![path], ..Build::default() }.run().unwrap_or_else(|e| panic!("{e}"));
    let most = Duration::from_secs(4);
    let request = Request { max_time: Some(most), ..Request::default() };
    let started = Instant::now();
    // As the command does: whoever goes on after the limit is stopped, and soon ended.
    let mut in_time = |_| started.elapsed() < most;
    let report = check(&binary, &request, &mut in_time).unwrap_or_else(|e| panic!("{e}"));
    let Answer::Violated(repeated) = &report.answer else { panic!("{:?}", report.answer) };
    assert_eq!(repeated.failure.kind, FailureKind::Deadlock);
    assert!(!report.figures.fewest, "all schedules were tried: nothing was cut short");
}
