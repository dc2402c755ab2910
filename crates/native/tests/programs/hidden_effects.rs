//! Programs whose threads depend on each other through something that has no hook and no place of its own in the exploration:
//! buffers that a library writes later, one byte of a file at two addresses, variables of a library. Each has an order
//! of its threads that fails, or a data race; none of them may hold.

use std::path::PathBuf;

use quotient_native::protocol::FailureKind;
use quotient_native::{Answer, Build, Request, check};

const HEADER: &str = "#define _GNU_SOURCE\n#include <assert.h>\n#include <errno.h>\n#include <fcntl.h>\n#include <math.h>\n#include <pthread.h>\n\
    #include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>\n#include <unistd.h>\n";

struct Case {
    name: &'static str,
    globals: &'static str,
    start: &'static str,
    a: &'static str,
    b: &'static str,
}

fn answer(name: &str, text: &str) -> Answer {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("hidden_{name}.c"));
    std::fs::write(&path, format!("{HEADER}{text}")).expect("the test directory can be written");
    let build = Build { sources: vec![path], flags: vec!["-w".into(), "-lm".into()], ..Build::default() };
    let binary = build.run().unwrap_or_else(|e| panic!("{name}: {e}"));
    check(&binary, &Request::default(), &mut |_| true).unwrap_or_else(|e| panic!("{name}: {e}")).answer
}

fn two_threads(case: &Case) -> Answer {
    let Case { name, globals, start, a, b } = case;
    let text = format!(
        "{globals}\nstatic void *a(void *x) {{ {a}; return x; }}\nstatic void *b(void *x) {{ {b}; return x; }}\n\
         int main(void) {{\n    pthread_t t, u;\n    {start};\n    pthread_create(&t, 0, a, 0);\n    \
         pthread_create(&u, 0, b, 0);\n    pthread_join(t, 0);\n    pthread_join(u, 0);\n    return 0;\n}}\n"
    );
    answer(name, &text)
}

/// The answer is undecided, by the name of what is not supported.
fn refused(cases: &[(Case, &str)]) {
    for (case, why) in cases {
        match two_threads(case) {
            Answer::Refused(text, _) => assert!(text.contains(why), "{}: {text}", case.name),
            other => panic!("{}: {other:?}", case.name),
        }
    }
}

#[test]
fn streams_that_write_to_memory_of_the_program() {
    let read = "assert(text[0] == 0)";
    refused(&[
        (
            Case {
                name: "fmemopen",
                globals: "char text[16]; FILE *f;",
                start: "f = fmemopen(text, 16, \"w\")",
                a: "fputs(\"x\", f); fflush(f)",
                b: read,
            },
            "calls fmemopen",
        ),
        (
            Case {
                name: "open_memstream",
                globals: "char *text; size_t n; FILE *f;",
                start: "f = open_memstream(&text, &n); fflush(f)",
                a: "fputs(\"x\", f); fflush(f)",
                b: read,
            },
            "calls open_memstream",
        ),
        (
            Case {
                name: "setvbuf",
                globals: "char text[100]; FILE *f;",
                start: "f = fopen(\"f\", \"w\"); setvbuf(f, text, _IOFBF, 100)",
                a: "fputs(\"x\", f)",
                b: read,
            },
            "calls setvbuf: streams with a buffer of the program",
        ),
    ]);
}

#[test]
fn one_byte_of_a_file_at_two_places() {
    const OPEN: &str = "int f = open(\"m\", O_CREAT | O_RDWR, 0600); ftruncate(f, 4096);";
    let shared = "p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0)";
    let again = "q = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0)";
    let start: [String; 3] = [
        format!("{OPEN} {shared}; {again}"),
        format!("{OPEN} {shared}"),
        format!("{OPEN} p = mmap(0, 4096, PROT_READ, MAP_SHARED, f, 0)"),
    ];
    let start = start.map(|text| &*text.leak());
    refused(&[
        (
            Case {
                name: "two_mappings",
                globals: "char *p, *q;",
                start: start[0],
                a: "p[0] = 1",
                b: "assert(q[0] == 0)",
            },
            "mmap",
        ),
        (
            Case {
                name: "mapping_and_write",
                globals: "char *p;",
                start: start[1],
                a: "int f = open(\"m\", O_RDWR); write(f, \"x\", 1)",
                b: "assert(p[0] == 0)",
            },
            "mmap",
        ),
        (
            Case {
                name: "read_only_mapping_and_write",
                globals: "char *p;",
                start: start[2],
                a: "int f = open(\"m\", O_RDWR); write(f, \"x\", 1)",
                b: "assert(p[0] == 0)",
            },
            "mmap: of a file, while files are changed",
        ),
    ]);
    // Nobody changes the file any more.
    let quiet = Case {
        name: "mapping_alone",
        globals: "char *p;",
        start: start[2],
        a: "assert(p[0] == 0)",
        b: "assert(p[1] == 0)",
    };
    assert!(matches!(two_threads(&quiet), Answer::Holds));
}

#[test]
fn variables_of_libraries() {
    refused(&[(
        Case {
            name: "signgam",
            globals: "volatile double d;",
            start: "",
            a: "d = lgamma(-0.5)",
            b: "signgam = 3",
        },
        "calls lgamma",
    )]);
}

#[test]
fn alignments() {
    let misuse = answer("aligned_alloc", "int main(void) { return !aligned_alloc(3, 9); }\n");
    assert!(matches!(&misuse, Answer::Violated(t) if t.failure.kind == FailureKind::Misuse), "{misuse:?}");
    let told = "int main(void) { void *p; assert(posix_memalign(&p, 3, 8) == EINVAL && posix_memalign(&p, 64, 8) == 0); return 0; }\n";
    assert!(matches!(answer("posix_memalign", told), Answer::Holds));
}

/// A call of `assert` that nobody has declared means what it says.
#[test]
fn an_assertion_without_a_header() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("hidden_assert.c");
    std::fs::write(&path, "int x;\nint main() { assert(x == 0); assert(x == 1); return 0; }\n")
        .expect("it can be written");
    let build = Build { sources: vec![path], flags: vec!["-w".into()], ..Build::default() };
    let binary = build.run().unwrap_or_else(|e| panic!("{e}"));
    let answer = check(&binary, &Request::default(), &mut |_| true).unwrap_or_else(|e| panic!("{e}")).answer;
    assert!(matches!(&answer, Answer::Violated(t) if t.failure.kind == FailureKind::Assertion), "{answer:?}");
}

/// A stream that is made of a descriptor is another name for it, in every thread.
#[test]
fn a_stream_keeps_its_descriptor() {
    let body = "int d = open(\"f\", O_CREAT | O_RDWR, 0600); FILE *f = fdopen(d, \"w\"); assert(fileno(f) == d && write(d, \"x\", 1) == 1); fclose(f)";
    let case = Case { name: "fdopen", globals: "", start: "", a: body, b: "" };
    let answer = two_threads(&case);
    assert!(matches!(answer, Answer::Holds), "{answer:?}");
}

/// A kernel thread that the program makes by itself would run past the exploration.
#[test]
fn a_thread_by_clone() {
    let text = "#include <sched.h>\nint x; char stack[65536]; int f(void *p) { x++; for (;;) pause(); }\nint main(void) {\n    \
        clone(f, stack + 65536, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, 0);\n    x++;\n    return 0;\n}\n";
    match answer("clone", text) {
        Answer::Refused(text, _) => assert!(text.contains("calls clone"), "{text}"),
        other => panic!("{other:?}"),
    }
}

/// The address of a library function in a table of the program leads to the same function.
#[test]
fn functions_called_through_tables() {
    let case = Case {
        name: "table",
        globals: "static int (*set[])(const char *, const char *, int) = { setenv };\nstatic char *(*get[])(const char *) = { getenv };",
        start: "",
        a: "set[0](\"A\", \"1\", 1)",
        b: "assert(!get[0](\"A\"))",
    };
    let answer = two_threads(&case);
    assert!(matches!(&answer, Answer::Violated(t) if t.failure.kind == FailureKind::Assertion), "{answer:?}");
}
