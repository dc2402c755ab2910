//! The static scan finds accesses that the compiler does not announce, and only those.

use std::path::PathBuf;

use quotient_native::Build;
use quotient_native::holes::holes;

const SOURCE: &str = r#"#include <pthread.h>
#include <string.h>
struct pair { long a, b; };
static struct pair both, copy;
static int counter, table[4];
static long total;
static struct pair make(long n) { struct pair p = { n, n }; return p; }
static void *announced(void *a) {
    counter++;
    copy = both;
    total += table[counter & 3];
    memset(table, 0, sizeof table);
    switch (counter) { case 0: total = 1; break; case 1: total = 2; break; case 2: total = 3; break;
        case 3: total = 4; break; case 4: total = 5; break; case 5: total = 6; break; }
    *(int *)a = __atomic_load_n(&counter, __ATOMIC_SEQ_CST);
    return a;
}
static void *unannounced(void *a) {
    __asm__ volatile("lock; incl %0" : "+m"(counter)); /* assembly */
    both = make(2); /* returned */
    return a;
}
__attribute__((no_sanitize("thread"))) static void left_out(long *p) {
    *p = 3; /* left out */
}
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, announced, &counter);
    pthread_create(&u, 0, unannounced, 0);
    left_out(&total);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
"#;

#[test]
fn holes_are_found_and_nothing_else() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("holes.c");
    std::fs::write(&path, SOURCE).expect("the test directory can be written");
    let binary = Build { sources: vec![path], ..Build::default() }.run().unwrap_or_else(|e| panic!("{e}"));
    let text = |line: u32| SOURCE.lines().nth(line as usize - 1).unwrap_or("").trim().to_owned();
    let lines: Vec<String> = holes(binary.path()).iter().map(|hole| text(hole.line)).collect();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    for comment in ["/* assembly */", "/* returned */", "/* left out */"] {
        assert!(lines.iter().any(|line| line.ends_with(comment)), "{comment}: {lines:#?}");
    }
}
