//! The bounds of heap blocks, to the byte: every way to get a block, every way to access it, right and one byte too far.

use quotient_native::protocol::FailureKind::Memory;

use crate::lifecycle::Cases;

const DECLARATIONS: &str = "#include <stdio.h>\nchar room[64]; char volatile sink;";

/// Expressions that give a block of 5 bytes.
const BLOCKS: [(&str, &str); 8] = [
    ("malloc", "malloc(5)"),
    ("calloc", "calloc(5, 1)"),
    ("larger", "realloc(malloc(2), 5)"),
    ("smaller", "realloc(malloc(40), 5)"),
    ("posix_memalign", "({ void *q; posix_memalign(&q, 64, 5); q; })"),
    ("aligned_alloc", "aligned_alloc(64, 5)"),
    ("strdup", "strdup(\"four\")"),
    ("strndup", "strndup(\"fourteen\", 4)"),
];

/// Accesses to the `N` bytes from `p` on.
const ACCESSES: [(&str, &str); 9] = [
    ("write", "p[N - 1] = 1"),
    ("memset", "memset(p, 1, N)"),
    ("snprintf", "snprintf(p, N, \"%d\", 1234567)"),
    ("read", "sink = p[N - 1]"),
    ("memcpy to", "memcpy(p, \"0123456789\", N)"),
    ("memcpy from", "memcpy(room, p, N)"),
    ("memmove", "memmove(p, room, N)"),
    ("strcpy", "strcpy(p, \"0123456789\" + 10 - (N - 1))"),
    ("fread", "FILE *f = fopen(\"/proc/self/exe\", \"r\"); fread(p, 1, N, f)"),
];

#[test]
fn to_the_byte() {
    let mut cases = Cases::new(DECLARATIONS);
    for (how, block) in BLOCKS {
        // All accesses to a block of `malloc`, a few to the others.
        let accesses = if how == "malloc" { &ACCESSES[..] } else { &ACCESSES[..3] };
        for (what, access) in accesses {
            let body = |n: &str| format!("char *p = {block}; {}", access.replace('N', n));
            let place = if ["write", "read"].contains(what) {
                "right after a block of 5 bytes"
            } else {
                "of 5 bytes"
            };
            cases.holds(&format!("{how}, {what}"), &body("5"));
            cases.fails(&format!("{how}, {what} over"), Memory, place, &body("6"));
        }
    }
    cases.check("bounds");
}

#[test]
fn as_far_as_the_next_block() {
    let mut cases = Cases::new(DECLARATIONS);
    for offset in [5, 7, 8, 15, 16] {
        let body = format!("char *p = malloc(5), *q = malloc(5); q[0] = 0; p[{offset}] = 1");
        cases.fails("after", Memory, "after a block of 5 bytes", &body);
    }
    for offset in [1, 8, 16] {
        let body = format!("char *p = malloc(50), *q = malloc(5); p[0] = 0; q[-{offset}] = 1");
        cases.fails("before", Memory, "before a block of 5 bytes", &body);
    }
    // An access that begins in a block and ends outside, and a range that reaches the next block.
    cases.fails(
        "wide",
        Memory,
        "write to 4 bytes from 4 bytes into a block of 6 bytes on",
        "char *p = malloc(6); *(int *)(p + 4) = 1",
    );
    cases.fails(
        "across",
        Memory,
        "of 16 bytes",
        "char *p = malloc(16), *q = malloc(64); memset(p, 1, 64); q[0] = 1",
    );
    cases.fails("endless", Memory, "of 16 bytes", "char *p = malloc(16); memset(p, 1, -1)");
    cases.fails("empty", Memory, "a block of 0 bytes", "char *p = malloc(0); p[0] = 1");
    cases.fails(
        "freed",
        Memory,
        "freed memory (4 bytes into a block of 5 bytes)",
        "char *p = malloc(5); free(p); sink = p[4]",
    );
    // Searches that end before the block does.
    cases.holds("memchr", "char *p = calloc(5, 1); sink = *(char *)memchr(p, 0, 1000)");
    cases.fails("memchr over", Memory, "of 5 bytes", "char *p = calloc(5, 1); sink = !memchr(p, 77, 6)");
    cases.holds("precision", "char *p = malloc(4); memcpy(p, \"abcd\", 4); printf(\"%.4s\", p)");
    cases.fails(
        "no end",
        Memory,
        "of 4 bytes",
        "char *p = malloc(4); memcpy(p, \"abcd\", 4); printf(\"%s\", p)",
    );
    cases.check("redzone");
}
