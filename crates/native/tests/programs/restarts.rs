//! Crashes that must be verdicts, what must be the same in every execution, and limits on time.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use quotient_native::protocol::FailureKind;
use quotient_native::session::Surroundings;
use quotient_native::{Answer, Build, Report, Request, check};
use quotient_stateless::graph::MemoryModel;

fn report_with(name: &str, source: &str, request: &Request) -> Report {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("restart_{name}.c"));
    std::fs::write(&path, source).expect("the test directory can be written");
    let flags = vec!["-w".into()];
    let binary = Build { sources: vec![path], flags, ..Build::default() }
        .run()
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    check(&binary, request, &mut |_| true).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn report(name: &str, source: &str) -> Report {
    report_with(name, source, &Request { patience: Duration::from_secs(1), ..Request::default() })
}

/// Two threads with these bodies.
fn two(globals: &str, a: &str, b: &str) -> String {
    format!(
        "#include <pthread.h>\n{globals}\nstatic void *a(void *x) {{ {a}; return x; }}\n\
         static void *b(void *x) {{ {b}; return x; }}\nint main(void) {{ pthread_t t, u;\n\
         pthread_create(&t, 0, a, 0); pthread_create(&u, 0, b, 0);\npthread_join(t, 0); pthread_join(u, 0); return 0; }}\n"
    )
}

#[test]
fn an_atomic_operation_on_null_is_a_crash() {
    for (name, operation) in
        [("add", "(*p)++"), ("load", "int v = *p"), ("exchange", "__atomic_exchange_n(p, 1, 5)")]
    {
        let globals = if name == "exchange" { "static int *p;" } else { "static _Atomic int *p;" };
        let answer = report(&format!("null_{name}"), &two(globals, operation, "")).answer;
        match &answer {
            Answer::Violated(trace) => {
                assert_eq!(trace.failure.kind, FailureKind::Crash);
                assert!(trace.failure.text.contains("null pointer"), "{}", trace.failure.text);
            }
            _ => panic!("{name}: {answer:?}"),
        }
    }
}

#[test]
fn arguments_and_environment_are_restored() {
    let source = r#"
        #include <assert.h>
        #include <pthread.h>
        #include <stdatomic.h>
        #include <stdlib.h>
        #include <string.h>
        static atomic_int n;
        static void *add(void *x) { return n++ > 1 ? 0 : x; }
        int main(int argc, char **argv) {
            assert(argc == 2 && argv[1] && !strcmp(argv[1], "abc") && getenv("PATH") && *getenv("PATH"));
            argv[1][0] = 'X';
            argv[1] = 0;
            *getenv("PATH") = 0;
            unsetenv("PATH");
            pthread_t t, u;
            pthread_create(&t, 0, add, 0);
            pthread_create(&u, 0, add, 0);
            pthread_join(t, 0);
            pthread_join(u, 0);
            return 0;
        }
    "#;
    let surroundings = Surroundings { arguments: vec!["abc".into()], ..Surroundings::default() };
    let report = report_with("arguments", source, &Request { surroundings, ..Request::default() });
    assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
    assert_eq!(report.figures.executions, 2);
}

#[test]
fn loops_of_plain_accesses_obey_the_limits() {
    let loops = [
        // More than what a loop that polls is taken to read.
        ("reads", "static volatile int v[64];", "for (int i = 0; v[i] != 1; i = (i + 1) % 64) ;"),
        ("own_writes", "static __thread int v;", "while (1) v = 1;"),
        ("nothing", "", "for (;;) ;"),
    ];
    for (name, globals, body) in loops {
        let source = two(globals, "", body);
        let started = Instant::now();
        let answer = report(&format!("loop_{name}"), &source).answer;
        match &answer {
            Answer::Undecided(why) => {
                assert!(
                    why.to_string().starts_with("thread 2")
                        && why.to_string().contains("without a visible operation"),
                    "{name}: {why}"
                );
            }
            _ => panic!("{name}: {answer:?}"),
        }
        let patient = Request {
            patience: Duration::from_secs(60),
            max_time: Some(Duration::from_secs(1)),
            ..Request::default()
        };
        let answer = report_with(&format!("time_{name}"), &source, &patient).answer;
        assert!(
            matches!(&answer, Answer::Undecided(why) if why.to_string().contains("time limit of 1 s reached")),
            "{name}: {answer:?}"
        );
        // Generous: the machine may be busy. Without limits it would be minutes.
        assert!(started.elapsed() < Duration::from_secs(40), "{name}: {:?}", started.elapsed());
    }
}

#[test]
fn functions_with_the_names_of_library_functions_are_the_programs() {
    let source = two(
        "#include <stdlib.h>\nlong read(int a, void *b, unsigned long c) { abort(); }\n\
         void *memchr(const void *a, int b, unsigned long c) { abort(); }\nint open(const char *a, int b) { return 7; }",
        "if (open(\"\", 0) != 7) abort()",
        "",
    );
    let answer = report("own_names", &source).answer;
    assert!(matches!(answer, Answer::Holds), "{answer:?}");
}

#[test]
fn undeclared_functions_have_their_own_types() {
    let answer = report("undeclared", "int main(void) { char *p = malloc(4); p[0] = 1; return 0; }\n").answer;
    assert!(matches!(answer, Answer::Holds), "{answer:?}");
}

#[test]
fn a_relaxed_store_goes_on_with_the_release_sequence_of_its_thread() {
    let globals = "#include <stdatomic.h>\nstatic int data; static atomic_int flag;";
    let reader = "if (atomic_load_explicit(&flag, memory_order_acquire) == 2 && data != 1) __builtin_trap()";
    let publish = "data = 1; atomic_store_explicit(&flag, 1, memory_order_release); \
        atomic_store_explicit(&flag, 2, memory_order_relaxed)";
    let sequences = Request { memory: Some(MemoryModel::SequentialConsistency), ..Request::default() };
    let answer = report_with("release_sequence", &two(globals, publish, reader), &sequences).answer;
    assert!(matches!(answer, Answer::Holds), "{answer:?}");
    // C++20 and C23 no longer have that.
    let answer = report("release_sequence", &two(globals, publish, reader)).answer;
    assert!(matches!(&answer, Answer::Violated(t) if t.failure.kind == FailureKind::Race), "{answer:?}");
    // Without the release there is none.
    let relaxed = publish.replace("memory_order_release", "memory_order_relaxed");
    let answer = report("no_release_sequence", &two(globals, &relaxed, reader)).answer;
    assert!(matches!(&answer, Answer::Violated(t) if t.failure.kind == FailureKind::Race), "{answer:?}");
}

/// What an execution changes of the process is as it was in the next one.
#[test]
fn the_process_is_restored() {
    let cases = [
        (
            "directory",
            "char c[4096]; assert(getcwd(c, 4096) && strcmp(c + strlen(c) - 2, \"/d\")); mkdir(\"d\", 0700); assert(chdir(\"d\") == 0);",
        ),
        ("mask", "assert(umask(077) != 077);"),
        ("input_closed", "assert(fcntl(0, F_GETFD) != -1); close(0);"),
        (
            "output_closed",
            "assert(fcntl(1, F_GETFD) != -1); close(1); assert(open(\"f\", O_CREAT | O_RDWR, 0600) == 1);",
        ),
        (
            "output_moved",
            "struct stat s; fstat(1, &s); assert(s.st_size == 0); int d = open(\"f\", O_CREAT | O_RDWR, 0600); dup2(d, 1); write(1, \"abc\", 3);",
        ),
        ("stream_closed", "assert(fclose(stdin) == 0);"),
    ];
    for (name, body) in cases {
        let source = format!(
            "#define _GNU_SOURCE\n#include <assert.h>\n#include <fcntl.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n\
             #include <string.h>\n#include <sys/stat.h>\n#include <unistd.h>\nstatic atomic_int n;\nstatic void *add(void *x) {{ return n++ > 1 ? 0 : x; }}\n\
             int main(void) {{\n    {body}\n    pthread_t t, u;\n    pthread_create(&t, 0, add, 0);\n    pthread_create(&u, 0, add, 0);\n    \
             pthread_join(t, 0);\n    pthread_join(u, 0);\n    return 0;\n}}\n"
        );
        let report = report(&format!("process_{name}"), &source);
        assert!(matches!(report.answer, Answer::Holds), "{name}: {:?}", report.answer);
        assert_eq!(report.figures.executions, 2, "{name}");
    }
}

/// Threads have their numbers from the order in which the exploration first meets them. In the schedule that fails they are created in
/// another order, and it must be repeated all the same.
#[test]
fn threads_that_create_threads_keep_their_numbers() {
    let source = r#"
        #include <assert.h>
        #include <pthread.h>
        #include <stdatomic.h>
        static atomic_int begun, set;
        static void *sets(void *x) { set = 1; return x; }
        static void *looks(void *x) { assert(set == 1); return x; }
        static void *starts(void *what) {
            pthread_t t;
            begun++;
            pthread_create(&t, 0, what, 0);
            pthread_join(t, 0);
            return 0;
        }
        int main(void) {
            pthread_t t, u;
            pthread_create(&t, 0, starts, sets);
            pthread_create(&u, 0, starts, looks);
            pthread_join(t, 0);
            pthread_join(u, 0);
            return 0;
        }
    "#;
    let found = report("nested", source);
    let Answer::Violated(trace) = &found.answer else { panic!("{:?}", found.answer) };
    assert_eq!(trace.failure.kind, FailureKind::Assertion);
    // The token says it all: it is the same when it was written down and read.
    let token = found.last.to_string();
    assert!(token.contains(';'), "{token}");
    assert_eq!(token.parse(), Ok(found.last));
}

/// A thread that polls plain memory gives way to the one that it waits for: the loop is a data race, and where races are allowed a wait.
#[test]
fn loops_that_poll_plain_memory() {
    let program = |loops: &str, ends: &str| {
        format!(
            "#include <pthread.h>\nstatic volatile int alive, never; static int many[64];\n\
             static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
             static void *work(void *a) {{ pthread_mutex_lock(&m); alive++; pthread_mutex_unlock(&m); return a; }}\n\
             int main(void) {{ pthread_t t[2]; for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);\n{loops}\n\
             for (int i = 0; i < 2; i++) pthread_join(t[i], 0);\n{ends}\nreturn 0; }}\n"
        )
    };
    let waits = program("while (alive != 2);", "");
    let report = report_with("polls", &waits, &Request::default());
    assert!(
        matches!(&report.answer, Answer::Violated(v) if v.failure.kind == FailureKind::Race),
        "{:?}",
        report.answer
    );
    let allowed = Request { allow_races: true, ..Request::default() };
    let report = report_with("polls", &waits, &allowed);
    assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
    let report = report_with("polls_in_vain", &program("while (!never);", ""), &allowed);
    assert!(
        matches!(&report.answer, Answer::Violated(v) if v.failure.kind == FailureKind::Livelock),
        "{:?}",
        report.answer
    );
    // A long computation is none, although it reads one variable all the time.
    let sums = "int sum = 0; for (int i = 0; i < 20000000 && !never; i++) sum += many[i % 64];";
    let report = report_with("computes", &program(sums, "many[0] = sum;"), &Request::default());
    assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
    assert_eq!(report.figures.restarts, 0, "{:?}", report.figures);
}
