//! Loops that only count are made in one step, and leave what they would have left.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use quotient_native::{Answer, Build, Report, Request, check};

/// `SIZE(n)` rounds are many or few; everything that the loops leave is printed.
const SOURCE: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
static int few(int n) { int i, c = 7; for (i = 0; i < n; i++) c += 3; return i * 31 + c; }
static void *loops(void *seen) {
    long *to = seen;
    int i, j = 5; unsigned u; long l; uint64_t w; volatile int v; volatile long x = 0;
    for (i = 0; i < SIZE; i++); to[0] = i;
    for (i = SIZE; i > -7; i -= 3) j++; to[1] = i; to[2] = j;
    for (u = 3; u != SIZE; u++) { } to[3] = u;
    for (l = SIZE; l--;) j -= 2; to[4] = l; to[5] = j;
    for (w = 10; w <= SIZE; w += 4) ++x; to[6] = w; to[7] = x;
    for (v = 0; v < SIZE; v++) x -= 5; to[8] = v; to[9] = x;
    i = SIZE; do { j += 1; i--; } while (i >= 0); to[10] = i; to[11] = j;
    i = 0; while (i++ < SIZE) ; to[12] = i;
    int limit = SIZE + 1; for (i = -3; i < limit - 2; ++i) u += 2; to[13] = i; to[14] = u;
    for (u = SIZE; u > 2; u--) ; to[15] = u;
    to[16] = few(3) + few(0) + few(1) + few(2) + few(SIZE);
    for (i = 2147483000; i > 0; i++) j ^= 1; to[17] = j;
    for (i = 0; i < SIZE; i++) { if (i == 9) break; } to[18] = i;
    return 0;
}
int main(void) {
    pthread_t t;
    static long seen[19], again[19];
    pthread_create(&t, 0, loops, seen);
    loops(again);
    pthread_join(t, 0);
    for (int i = 0; i < 19; i++) {
        printf("%ld, ", seen[i]);
        assert(seen[i] == again[i] && seen[i] == EXPECTED);
    }
    return 0;
}
"#;

fn file(name: &str, source: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("counted-{name}.c"));
    std::fs::write(&path, source).expect("the test directory can be written");
    path
}

fn checked(name: &str, source: &str) -> Report {
    let binary = Build { sources: vec![file(name, source)], ..Build::default() }.run();
    let request = Request { patience: Duration::from_secs(1), ..Request::default() };
    check(&binary.unwrap_or_else(|error| panic!("{error}")), &request, &mut |_| true)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// What a program prints that is built without the checker.
fn printed(name: &str, source: &str) -> String {
    let path = file(name, source);
    let program = path.with_extension("");
    let status = Command::new("cc").arg("-pthread").arg("-o").args([&program, &path]).status();
    assert!(status.is_ok_and(|status| status.success()));
    let output = Command::new(&program).output().expect("it has just been built");
    String::from_utf8(output.stdout).expect("it prints numbers")
}

#[test]
fn counted_loops_leave_what_they_would_have_left() {
    // Few rounds are made one by one.
    for size in ["12", "1500", "2000001"] {
        let sized = SOURCE.replace("SIZE", size);
        let expected = printed("plain", &sized.replace("EXPECTED", "seen[i]"));
        assert_eq!(expected.split(',').count(), 20, "{expected}");
        let table = format!("((long[]){{ {expected} }})[i]");
        let report = checked("expected", &sized.replace("EXPECTED", &table));
        assert!(matches!(report.answer, Answer::Holds), "{size}: {:?}", report.answer);
    }
}

#[test]
fn long_loops_cost_no_time() {
    let source = "#include <pthread.h>
static void busy(void) { for (long i = 0; i < 9000000000000000; i++); }
static void *work(void *a) { for (int i = 0; i < 300; i++) busy(); return a; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    busy();
    pthread_join(t, 0);
    return 0;
}
";
    let report = checked("long", source);
    assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
}
