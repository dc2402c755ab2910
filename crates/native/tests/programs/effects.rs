//! What library functions do: to memory that they are given, to files, descriptors, the environment, generators; what runs at
//! the end of a program; accesses of inline assembly. In each of these programs the first execution finds nothing wrong, or the
//! effect has no hook: only another order, or a race, shows it.

use std::path::PathBuf;

use quotient_native::protocol::FailureKind;
use quotient_native::{Answer, Binary, Build, Report, Request, check};

const HEADER: &str = "#define _GNU_SOURCE\n#include <assert.h>\n#include <dirent.h>\n#include <fcntl.h>\n#include <locale.h>\n\
    #include <pthread.h>\n#include <regex.h>\n#include <stdatomic.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    #include <sys/stat.h>\n#include <time.h>\n#include <unistd.h>\nstatic atomic_int first, second;\n";

/// Two threads; `start` runs before they are created, `end` after they were joined.
struct Case {
    name: &'static str,
    globals: &'static str,
    a: &'static str,
    b: &'static str,
    start: &'static str,
    end: &'static str,
}

/// Options before other arguments, which `getopt` leaves there, and after them.
const GETOPT: &str = "static char text[] = \"x\"; static char *kept[] = {\"p\", \"-a\", text, 0}, *moved[] = {\"p\", text, \"-a\", 0};";

const CASE: Case = Case { name: "", globals: "", a: "", b: "", start: "", end: "" };

fn build(case: &Case) -> Binary {
    let Case { name, globals, a, b, start, end } = case;
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("effect_{name}.c"));
    let text = format!(
        "{HEADER}{globals}\nstatic void *a(void *x) {{ {a}; return x; }}\nstatic void *b(void *x) {{ {b}; return x; }}\n\
         int main(int argc, char **argv) {{\n    pthread_t t, u;\n    {start};\n    pthread_create(&t, 0, a, 0);\n    \
         pthread_create(&u, 0, b, 0);\n    pthread_join(t, 0);\n    pthread_join(u, 0);\n    {end};\n    return argc && !argv;\n}}\n"
    );
    std::fs::write(&path, text).expect("the test directory can be written");
    Build { sources: vec![path], ..Build::default() }.run().unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn report(case: &Case, request: &Request) -> Report {
    check(&build(case), request, &mut |_| true).unwrap_or_else(|e| panic!("{}: {e}", case.name))
}

fn found(answer: &Answer) -> FailureKind {
    match answer {
        Answer::Violated(trace) => trace.failure.kind,
        _ => FailureKind::None,
    }
}

fn expect(kind: FailureKind, cases: &[Case]) {
    for case in cases {
        let report = report(case, &Request::default());
        assert_eq!(found(&report.answer), kind, "{}: {:?}", case.name, report.answer);
    }
}

#[test]
fn orders_of_effects_outside_of_memory() {
    expect(
        FailureKind::Assertion,
        &[
            Case {
                name: "file_created",
                a: "assert(access(\"flag\", F_OK) != 0)",
                b: "close(open(\"flag\", O_CREAT | O_WRONLY, 0600))",
                ..CASE
            },
            Case {
                name: "file_removed",
                start: "close(creat(\"f\", 0600))",
                a: "struct stat s; assert(stat(\"./f\", &s) == 0)",
                b: "unlink(\"f\")",
                ..CASE
            },
            Case {
                name: "file_content",
                start: "FILE *f = fopen(\"f\", \"w\"); fputs(\"old\", f); fclose(f)",
                a: "FILE *f = fopen(\"f\", \"r\"); assert(f && fgetc(f) == 'o')",
                b: "FILE *f = fopen(\"f\", \"w\"); fputs(\"new\", f); fclose(f)",
                ..CASE
            },
            Case {
                name: "file_renamed",
                start: "close(creat(\"f\", 0600))",
                a: "assert(access(\"f\", F_OK) == 0)",
                b: "rename(\"f\", \"g\")",
                ..CASE
            },
            Case {
                name: "directory_listed",
                a: "DIR *d = opendir(\".\"); int n = 0; while (readdir(d)) n++; assert(n == 2)",
                b: "close(creat(\"f\", 0600))",
                ..CASE
            },
            Case {
                name: "offset",
                globals: "static int fd;",
                start: "fd = open(\"f\", O_CREAT | O_RDWR, 0600); write(fd, \"AB\", 2); lseek(fd, 0, SEEK_SET)",
                a: "char c; read(fd, &c, 1); assert(c == 'A')",
                b: "char c; read(fd, &c, 1)",
                ..CASE
            },
            Case {
                name: "offset_of_duplicate",
                globals: "static int fd, gd;",
                start: "fd = open(\"f\", O_CREAT | O_RDWR, 0600); gd = dup(fd)",
                a: "assert(lseek(fd, 0, SEEK_CUR) == 0)",
                b: "write(gd, \"x\", 1)",
                ..CASE
            },
            Case {
                name: "current_directory",
                start: "mkdir(\"d\", 0700)",
                a: "assert(access(\"d\", F_OK) == 0)",
                b: "chdir(\"d\")",
                ..CASE
            },
            Case { name: "environment", a: "assert(!getenv(\"X\"))", b: "setenv(\"X\", \"1\", 1)", ..CASE },
            Case {
                name: "random",
                globals: "static int known;",
                start: "srand(1); known = rand(); srand(1)",
                a: "assert(rand() == known)",
                b: "rand()",
                ..CASE
            },
            Case {
                // The first byte of the sequence.
                name: "random_of_the_system",
                globals: "#include <sys/random.h>\n",
                a: "unsigned char c; getrandom(&c, 1, 0); assert(c == 0x14)",
                b: "unsigned char c; getrandom(&c, 1, 0)",
                ..CASE
            },
            Case {
                name: "position",
                globals: "static FILE *f;",
                start: "f = fopen(\"f\", \"w\")",
                a: "assert(ftell(f) == 0)",
                b: "fputc('x', f)",
                ..CASE
            },
            Case {
                name: "position_of_output",
                a: "assert(ftell(stdout) <= 0 || ftell(stdout) == 3)",
                b: "printf(\"four\")",
                ..CASE
            },
        ],
    );
}

/// Memory that a library allocates and gives to another thread by a call that is explored in both orders: no error of the program.
#[test]
fn memory_that_the_library_keeps() {
    let case = Case {
        name: "environment_kept",
        a: "setenv(\"A\", \"one\", 1); setenv(\"B\", \"two\", 1)",
        b: "char *v = getenv(\"B\"); assert(!v || (v[0] == 't' && v[2] == 'o'))",
        ..CASE
    };
    let report = report(&case, &Request::default());
    assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
    let published = Case {
        name: "copy_published",
        globals: "char *_Atomic p;",
        a: "atomic_store_explicit(&p, strdup(\"a\"), memory_order_relaxed)",
        b: "char *v = atomic_load_explicit(&p, memory_order_relaxed); if (v) assert(v[0] == 'a')",
        ..CASE
    };
    expect(FailureKind::Memory, &[published]);
}

#[test]
fn effects_on_different_things_commute() {
    // Two threads with a file each, and one that looks at the environment: one execution.
    let report = report(
        &Case {
            name: "independent",
            a: "FILE *f = fopen(\"f\", \"w\"); fputs(\"x\", f); fclose(f); assert(!getenv(\"X\"))",
            b: "int d = open(\"g\", O_CREAT | O_RDWR, 0600); assert(write(d, \"y\", 1) == 1); close(d); getenv(\"X\")",
            ..CASE
        },
        &Request::default(),
    );
    assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
    assert_eq!(report.figures.executions, 1);
}

/// The library of C++ computes hashes in a function of its own, which reads what it is given.
#[test]
fn hashes_of_cpp_read_their_bytes() {
    for (name, own, holds) in [("apart", "s", true), ("shared", "t", false)] {
        let text = format!(
            "#include <string_view>\n#include <thread>\nstatic char s[] = \"ab\", t[] = \"cd\";\n\
             int main() {{ std::thread other([] {{ t[1] = 'x'; }});\n\
             auto h = std::hash<std::string_view>()({{{own}, 2}}); other.join(); return h == 0; }}"
        );
        let found =
            crate::lifecycle::report(&format!("hash_{name}"), "cc", &text, &crate::lifecycle::request());
        match &found.answer {
            Answer::Holds => assert!(holds, "{name}"),
            Answer::Violated(trace) => assert!(!holds && trace.failure.kind == FailureKind::Race, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn accesses_inside_of_library_functions_race() {
    expect(
        FailureKind::Race,
        &[
            Case {
                name: "sscanf",
                globals: "static int v;",
                a: "assert(v == 0)",
                b: "sscanf(\"1 5\", \"%*d %d\", &v)",
                ..CASE
            },
            Case {
                name: "snprintf",
                globals: "static char buffer[20];",
                a: "assert(buffer[0] == 0)",
                b: "snprintf(buffer, 20, \"%d%s%f\", 17, \"x\", 1.5)",
                ..CASE
            },
            Case {
                name: "printed_string",
                globals: "static char text[8] = \"x\";",
                a: "printf(\"%f %d %d %d %d %d %d %s\\n\", 0.5, 1, 2, 3, 4, 5, 6, text)",
                b: "text[0] = 'y'",
                ..CASE
            },
            Case {
                name: "read",
                globals: "static char buffer[4]; static int fd;",
                start: "fd = open(\"f\", O_CREAT | O_RDWR, 0600); write(fd, \"AB\", 2); lseek(fd, 0, SEEK_SET)",
                a: "assert(buffer[0] == 0)",
                b: "read(fd, buffer, 4)",
                ..CASE
            },
            Case {
                name: "qsort",
                globals: "static int v[2] = {2, 1}; static int less(const void *a, const void *b) { return 0; }",
                a: "assert(v[0] == 2)",
                b: "qsort(v, 2, sizeof(int), less)",
                ..CASE
            },
            Case {
                name: "gmtime",
                a: "time_t t = 0; struct tm *p = gmtime(&t); assert(p->tm_year == 70)",
                b: "time_t t = 1000000000; gmtime(&t)",
                ..CASE
            },
            Case {
                name: "atoi",
                globals: "static char s[4] = \"12\";",
                a: "assert(atoi(s) == 12)",
                b: "s[0] = '3'",
                ..CASE
            },
            Case {
                name: "getopt",
                globals: GETOPT,
                a: "assert(optind == 1)",
                b: "getopt(3, kept, \"a\")",
                ..CASE
            },
            Case {
                name: "getopt_string",
                globals: GETOPT,
                a: "text[0] = 'b'",
                b: "getopt(3, kept, \"a\")",
                ..CASE
            },
            Case {
                name: "getopt_permutes",
                globals: GETOPT,
                a: "assert(moved[1])",
                b: "while (getopt(3, moved, \"a\") != -1)",
                ..CASE
            },
            Case {
                name: "through_a_pointer",
                globals: "static int v; static int (*volatile scan)(const char *, const char *, ...) = sscanf;",
                a: "assert(v == 0)",
                b: "scan(\"5\", \"%d\", &v)",
                ..CASE
            },
        ],
    );
}

#[test]
fn accesses_to_other_parts_do_not_race() {
    let cases = [
        Case {
            name: "beyond_what_was_read",
            globals: "static char buffer[4]; static int fd;",
            start: "fd = open(\"f\", O_CREAT | O_RDWR, 0600); write(fd, \"AB\", 2); lseek(fd, 0, SEEK_SET)",
            a: "assert(buffer[3] == 0)",
            b: "assert(read(fd, buffer, 4) == 2)",
            ..CASE
        },
        Case {
            name: "getopt_keeps",
            globals: GETOPT,
            a: "assert(kept[1] && text[0] == 'x')",
            b: "while (getopt(3, kept, \"a\") != -1); assert(optind == 2)",
            ..CASE
        },
        Case {
            name: "behind_the_difference",
            globals: "static char s[8] = \"abc\", t[8] = \"xbc\";",
            a: "assert(strcmp(s, t) < 0)",
            b: "s[2] = 'y'",
            ..CASE
        },
        Case {
            name: "not_scanned",
            globals: "static int v;",
            a: "v = 1",
            b: "int own = 0; assert(sscanf(\"7 x\", \"%d %d\", &own, &v) == 1 && own == 7)",
            ..CASE
        },
    ];
    for case in &cases {
        let report = report(case, &Request::default());
        assert!(matches!(report.answer, Answer::Holds), "{}: {:?}", case.name, report.answer);
    }
}

#[test]
fn unknown_functions_are_named() {
    let unknown = Case { name: "unknown", a: "regex_t r; regcomp(&r, \"a\", 0)", ..CASE };
    let answer = report(&unknown, &Request::default()).answer;
    let text = |why: &str| why.starts_with("calls regcomp") && why.contains("effect_unknown.c:");
    assert!(matches!(&answer, Answer::Refused(why, _) if text(why)), "{answer:?}");
    // Where nobody else exists they do no harm.
    let alone =
        Case { name: "unknown_alone", start: "regex_t r; regcomp(&r, \"a\", 0); regfree(&r)", ..CASE };
    let answer = report(&alone, &Request::default()).answer;
    assert!(matches!(answer, Answer::Holds), "{answer:?}");
    let racing = Request { allow_races: true, ..Request::default() };
    let both = Case {
        name: "two_racing_parts",
        globals: "static char s[8] = \"a\", t[8];",
        a: "strcpy(t, s); strcpy(t, s)",
        b: "s[0] = 'b'; t[0] = 'c'",
        ..CASE
    };
    let answer = report(&both, &racing).answer;
    assert!(matches!(&answer, Answer::Refused(why, _) if why.starts_with("calls strcpy")), "{answer:?}");
}

#[test]
fn handlers_run_at_the_end() {
    expect(
        FailureKind::Assertion,
        &[
            Case {
                name: "atexit",
                globals: "static int n; static void last(void) { assert(n == 0); }",
                start: "atexit(last)",
                a: "n = 1",
                ..CASE
            },
            Case {
                name: "destructor",
                globals: "static int n; __attribute__((destructor)) static void last(void) { assert(n == 0); }",
                a: "n = 1",
                ..CASE
            },
            Case {
                name: "handler_beside_threads",
                globals: "static void last(void) { assert(first == 0); }",
                start: "atexit(last)",
                a: "first = 1",
                b: "exit(0)",
                ..CASE
            },
        ],
    );
    expect(
        FailureKind::Race,
        &[Case {
            name: "handler_races",
            globals: "static int n; static void last(void) { n = 1; }",
            start: "atexit(last)",
            a: "n = 2",
            b: "exit(0)",
            ..CASE
        }],
    );
}

#[test]
fn inline_assembly_is_checked() {
    let race = "__asm__ volatile(\"movl $1, %0\" : \"=m\"(n) :: \"memory\")";
    let add = "__asm__ volatile(\"lock; incl %0\" : \"+m\"(n) :: \"memory\", \"cc\")";
    expect(
        FailureKind::Race,
        &[Case { name: "assembly_race", globals: "static int n;", a: "assert(n == 0)", b: race, ..CASE }],
    );
    let counter = Case {
        name: "assembly_counter",
        globals: "static int n;",
        a: add,
        b: add,
        end: "assert(n == 2)",
        ..CASE
    };
    let counted = report(&counter, &Request::default());
    assert!(matches!(counted.answer, Answer::Holds), "{:?}", counted.answer);
    assert_eq!(counted.figures.executions, 2, "the updates are steps that depend on each other");
    let exchange = "int old = 0, new = 2; __asm__ volatile(\"lock; cmpxchgl %2, %0\" : \"+m\"(n), \"+a\"(old) : \"r\"(new) : \
        \"memory\", \"cc\")";
    let swap = Case {
        name: "assembly_swap",
        globals: "static int n;",
        a: "int old = 0, new = 2; __asm__ volatile(\"lock; cmpxchgl %2, %0\" : \"+m\"(n), \"+a\"(old) : \"r\"(new) : \
            \"memory\", \"cc\"); assert(old == 0)",
        b: add,
        ..CASE
    };
    assert!(swap.a.starts_with(exchange));
    expect(FailureKind::Assertion, &[swap]);
    let strings = Case {
        name: "assembly_string",
        globals: "static char s[4], t[4];",
        a: "void *to = t, *from = s; long n = 4; __asm__ volatile(\"rep movsb\" : \"+D\"(to), \"+S\"(from), \"+c\"(n) :: \"memory\")",
        b: "t[0] = 1",
        ..CASE
    };
    let answer = report(&strings, &Request::default()).answer;
    assert!(matches!(&answer, Answer::Refused(why, _) if why.contains("not understood")), "{answer:?}");
}

/// Both orders of two threads that ask for a random number, and what each gives to whom.
#[test]
fn random_devices_of_cpp() {
    let source = "#include <cassert>\n#include <random>\n#include <thread>\n\
        static std::random_device early;\nstatic unsigned before = early(), a, b;\n\
        int main() {\n    std::random_device device;\n    std::mt19937 generator(device());\n    unsigned value = generator();\n\
        std::thread t([&] { a = device(); }), u([&] { std::random_device own; b = own(); });\n    t.join(); u.join();\n    \
        assert(a != b && before && value && device.entropy() == 0);\n    ASSERTION\n    return 0;\n}\n";
    let report = |name: &str, assertion: &str| {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("random_device_{name}.cpp"));
        std::fs::write(&path, source.replace("ASSERTION", assertion))
            .expect("the test directory can be written");
        let binary = Build { sources: vec![path], ..Build::default() }.run();
        check(&binary.unwrap_or_else(|e| panic!("{e}")), &Request::default(), &mut |_| true)
            .unwrap_or_else(|e| panic!("{e}"))
    };
    let holds = report("holds", "");
    assert!(matches!(holds.answer, Answer::Holds), "{:?}", holds.answer);
    assert_eq!(holds.figures.executions, 2);
    for (name, order) in [("less", "assert(a < b);"), ("greater", "assert(a > b);")] {
        assert_eq!(found(&report(name, order).answer), FailureKind::Assertion, "{name}");
    }
    let named = report("named", "std::random_device other(\"mt19937\"); assert(other());");
    assert!(matches!(named.answer, Answer::Holds), "{:?}", named.answer);
}
