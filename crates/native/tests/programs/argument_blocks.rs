//! Threads that were given heap blocks of their own with equal content are started alike; whoever touches the block of another
//! tells that thread apart.

use std::path::PathBuf;

use quotient_native::{Answer, Build, Report, Request, check};
use quotient_stateless::Symmetry;

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
