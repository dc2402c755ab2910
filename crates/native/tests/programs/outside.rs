//! What a program takes from outside stands with the answer, and an input that was not given leaves no answer.

use std::path::PathBuf;

use quotient_native::protocol::FailureKind;
use quotient_native::{Answer, Binary, Build, Report, Request, check};

const HEADER: &str = "#define _GNU_SOURCE\n#include <assert.h>\n#include <fcntl.h>\n#include <poll.h>\n#include <pthread.h>\n\
    #include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/random.h>\n#include <sys/stat.h>\n\
    #include <sys/uio.h>\n#include <time.h>\n#include <unistd.h>\nextern char **environ;\nint x; char text[100];\n";

fn written(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("outside_{name}"));
    std::fs::write(&path, text).expect("the test directory can be written");
    path
}

fn build(name: &str, text: &str) -> Binary {
    let sources = vec![written(name, text)];
    Build { sources, ..Build::default() }.run().unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// `body` in a thread of its own, beside one that does nothing.
fn program(name: &str, body: &str) -> Binary {
    let text = format!(
        "{HEADER}static void *f(void *p) {{ {body}; return p; }}\nint main(void) {{\n    pthread_t t;\n    \
         pthread_create(&t, 0, f, 0);\n    pthread_join(t, 0);\n    return 0;\n}}\n"
    );
    build(&format!("{name}.c"), &text)
}

fn report(binary: &Binary, request: &Request) -> Report {
    check(binary, request, &mut |_| true).expect("it can be checked")
}

fn with_input(path: PathBuf) -> Request {
    let mut request = Request::default();
    request.surroundings.input = Some(path);
    request
}

/// Ways to read standard input.
const READERS: [(&str, &str); 16] = [
    ("scanf", "scanf(\"%d\", &x)"),
    ("getchar", "getchar()"),
    ("fgets", "fgets(text, 10, stdin)"),
    ("getline", "char *s = 0; size_t n = 0; getline(&s, &n, stdin)"),
    ("fread", "fread(text, 1, 10, stdin)"),
    ("getc", "getc(stdin)"),
    ("fscanf", "fscanf(stdin, \"%d\", &x)"),
    ("read", "read(0, text, 10)"),
    ("pread", "pread(0, text, 10, 0)"),
    ("constant", "read(STDIN_FILENO, &x, 4)"),
    ("dup", "int d = dup(0); read(d, text, 10)"),
    ("fcntl", "int d = fcntl(0, F_DUPFD, 100); read(d, text, 10)"),
    ("poll", "struct pollfd asked = { 0, POLLIN, 0 }; poll(&asked, 1, 0)"),
    ("fdopen", "FILE *f = fdopen(0, \"r\"); fgetc(f)"),
    ("device", "int d = open(\"/dev/stdin\", O_RDONLY); read(d, text, 10)"),
    ("proc", "FILE *f = fopen(\"/proc/self/fd/0\", \"r\"); if (f) fgetc(f)"),
];

#[test]
fn an_input_that_was_not_given_leaves_no_answer() {
    for (name, body) in READERS {
        let binary = program(name, body);
        let report = report(&binary, &Request::default());
        match &report.answer {
            Answer::Undecided(why) => {
                let why = why.to_string();
                let place = format!("reads standard input at outside_{name}.c:");
                assert!(why.starts_with(&place) && why.contains("--stdin"), "{name}: {why}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn a_given_input_is_an_assumption() {
    let file = written("numbers", "12 13\n");
    for (name, body) in [READERS[0], READERS[5], READERS[7], READERS[10], READERS[14]] {
        let binary = program(&format!("given_{name}"), body);
        for input in [file.clone(), PathBuf::from("/dev/null")] {
            let report = report(&binary, &with_input(input.clone()));
            assert!(matches!(report.answer, Answer::Holds), "{name}: {:?}", report.answer);
            let told = format!("the standard input {}", input.display());
            assert!(report.assumptions.contains(&told), "{name}: {:?}", report.assumptions);
        }
    }
}

/// Every execution reads the same, also from what can be read only once.
#[test]
fn an_input_that_cannot_be_read_again_is_kept() {
    let pipe = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("outside_pipe");
    let _ = std::fs::remove_file(&pipe);
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo can be run");
    assert!(made.success());
    let text = format!(
        "{HEADER}pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic void *f(void *p) {{ pthread_mutex_lock(&m); \
         pthread_mutex_unlock(&m); return p; }}\nint main(void) {{\n    pthread_t t, u;\n    assert(scanf(\"%d\", &x) == 1 && x == 7);\n    \
         pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0);\n    pthread_join(t, 0); pthread_join(u, 0);\n    return 0;\n}}\n"
    );
    let binary = build("pipe_reader.c", &text);
    let writer = {
        let pipe = pipe.clone();
        std::thread::spawn(move || std::fs::write(pipe, "7\n"))
    };
    let report = report(&binary, &with_input(pipe));
    writer.join().expect("the writer ends").expect("the pipe is read");
    assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
    assert_eq!(report.figures.executions, 2);
}

#[test]
fn streams_of_cpp_and_constructors_read_it_too() {
    let cpp = "#include <iostream>\nint main() { int n = 0; std::cin >> n; return 0; }\n";
    let early = format!(
        "{HEADER}__attribute__((constructor)) static void early(void) {{ getchar(); }}\nint main(void) {{ return 0; }}\n"
    );
    for (name, text) in [("stream.cpp", cpp), ("early.c", &early)] {
        let report = report(&build(name, text), &Request::default());
        match &report.answer {
            Answer::Undecided(why) => {
                assert!(why.to_string().starts_with("reads standard input"), "{name}: {why}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// The race needs a number to be read, so an empty input does not show it; what is found all the same counts.
#[test]
fn a_violation_is_one_whatever_the_input() {
    let racy = program("scanf_race", "scanf(\"%d\", &x)");
    assert!(matches!(report(&racy, &Request::default()).answer, Answer::Undecided(_)));
    let text = format!(
        "{HEADER}static void *f(void *p) {{ scanf(\"%d\", &x); return p; }}\nint main(void) {{\n    pthread_t t;\n    \
         pthread_create(&t, 0, f, 0);\n    int y = x;\n    pthread_join(t, 0);\n    return y;\n}}\n"
    );
    let racy = build("race.c", &text);
    assert!(matches!(report(&racy, &Request::default()).answer, Answer::Undecided(_)));
    match report(&racy, &with_input(written("number", "5\n"))).answer {
        Answer::Violated(trace) => assert_eq!(trace.failure.kind, FailureKind::Race),
        other => panic!("{other:?}"),
    }
    let failing = program("failing", "getchar(); assert(0)");
    let report = report(&failing, &Request::default());
    assert!(matches!(&report.answer, Answer::Violated(t) if t.failure.kind == FailureKind::Assertion));
    assert!(
        report.assumptions.iter().any(|a| a.starts_with("an empty standard input")),
        "{:?}",
        report.assumptions
    );
}

/// A server whose clients are elsewhere says nothing of what they would send; one whose clients are its own threads is checked.
#[test]
fn a_server_without_clients_leaves_no_answer() {
    let server = |name: &str, client: &str, serve: &str| {
        let text = format!(
            "{HEADER}#include <netinet/in.h>\n#include <sys/socket.h>\nstatic struct sockaddr_in a;\n\
             static void *f(void *p) {{ int s = socket(AF_INET, SOCK_STREAM, 0); {client}; close(s); return p; }}\n\
             int main(void) {{\n    pthread_t t; int s = socket(AF_INET, SOCK_STREAM, 0), c;\n    \
             a.sin_family = AF_INET; a.sin_port = htons(8080); a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);\n    \
             bind(s, (struct sockaddr *)&a, sizeof a); listen(s, 5);\n    pthread_create(&t, 0, f, 0);\n    \
             {serve};\n    pthread_join(t, 0);\n    return 0;\n}}\n"
        );
        report(&build(&format!("{name}.c"), &text), &Request::default())
    };
    let connect = "connect(s, (struct sockaddr *)&a, sizeof a)";
    let look = "struct pollfd p = { s, POLLIN, 0 }; if (poll(&p, 1, 1000) > 0) { c = accept(s, 0, 0); x = read(c, text, 9); assert(x < 5); }";
    for (name, serve) in [("accepts", "c = accept(s, 0, 0)"), ("polls", look)] {
        let alone = server(&format!("{name}_alone"), "", serve);
        let said = format!("{:?}", alone.answer);
        assert!(matches!(alone.answer, Answer::Undecided(_)), "{name}: {said}");
        assert!(said.contains("lets others connect") && said.contains("8080"), "{name}: {said}");
        let own = server(&format!("{name}_own"), connect, serve);
        assert!(matches!(own.answer, Answer::Holds), "{name}: {:?}", own.answer);
        assert!(
            own.assumptions.iter().any(|a| a.contains("own threads only")),
            "{name}: {:?}",
            own.assumptions
        );
    }
    // Another circle is one whoever connects.
    let lock = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m); pthread_mutex_lock(&m)";
    let stuck = server("stuck_alone", "", lock);
    assert!(matches!(stuck.answer, Answer::Violated(_)), "{:?}", stuck.answer);
}

#[test]
fn what_comes_from_outside_is_told() {
    let cases = [
        ("getenv", "x = getenv(\"HOME\") != 0", "the environment variables of this check: HOME"),
        ("environ", "x = environ[0] != 0", "the environment variables of this check"),
        ("time", "x = time(0) % 2", "a clock that goes the same way in every execution: time"),
        (
            "clock_gettime",
            "struct timespec t; clock_gettime(CLOCK_REALTIME, &t)",
            "a clock that goes the same way in every execution: clock_gettime",
        ),
        ("getrandom", "getrandom(text, 4, 0)", "one sequence of random numbers: getrandom"),
        (
            "sysconf",
            "x = sysconf(_SC_NPROCESSORS_ONLN)",
            "what these functions give on this machine: sysconf",
        ),
        ("host", "fclose(fopen(\"/etc/passwd\", \"r\"))", "files of this machine as they are: /etc/passwd"),
        (
            "link",
            "symlink(\"/etc/passwd\", \"here\"); fclose(fopen(\"here\", \"r\"))",
            "files of this machine as they are: here",
        ),
        (
            "missing",
            "FILE *f = fopen(\"in.txt\", \"r\"); assert(!f)",
            "the absence of files that were not given (--file): in.txt",
        ),
        (
            "looked_for",
            "assert(access(\"other.txt\", F_OK))",
            "the absence of files that were not given (--file): other.txt",
        ),
        (
            "number",
            "close(open(\"out\", O_CREAT | O_WRONLY, 0600))",
            "numbers of descriptors from a range of each thread's own, where the system gives the lowest free one",
        ),
        (
            "number_of_stream",
            "FILE *f = fopen(\"out\", \"w\"); x = fileno(f); fclose(f)",
            "numbers of descriptors from a range of each thread's own, where the system gives the lowest free one",
        ),
    ];
    for (name, body, told) in cases {
        let report = report(&program(name, body), &Request::default());
        assert!(matches!(report.answer, Answer::Holds), "{name}: {:?}", report.answer);
        assert_eq!(report.assumptions, [told], "{name}");
    }
}

#[test]
fn nothing_is_told_of_programs_that_take_nothing() {
    for (name, body) in [
        ("nothing", "x = 1"),
        (
            "writes",
            "FILE *f = fopen(\"out\", \"w\"); fputs(\"a\", f); fclose(f); f = fopen(\"out\", \"r\"); fgetc(f); fclose(f)",
        ),
        ("null", "fclose(fopen(\"/dev/null\", \"w\"))"),
        ("prints", "printf(\"%d\\n\", 1); fflush(stdout)"),
        ("sequence", "srand(3); x = rand()"),
    ] {
        let report = report(&program(name, body), &Request::default());
        assert!(matches!(report.answer, Answer::Holds), "{name}: {:?}", report.answer);
        // `environ` is declared by all of them, but used by none.
        assert_eq!(report.assumptions, [""; 0], "{name}");
    }
}

/// A program that ends before it starts its threads was not checked for what they do.
#[test]
fn threads_that_are_never_started_are_told() {
    let text = "#include <pthread.h>\nstatic int x;\nstatic void *f(void *p) { x++; return p; }\n\
        int main(int argc, char **argv) { (void)argv; pthread_t t;\n\
        if (argc < 2) return 0;\n pthread_create(&t, 0, f, 0); x++; pthread_join(t, 0); return 0; }\n";
    let binary = build("never_started.c", text);
    let early = report(&binary, &Request::default());
    assert!(matches!(early.answer, Answer::Holds), "{:?}", early.answer);
    assert_eq!(
        early.assumptions,
        [
            "a way through the program on which it starts no thread, the same in every execution",
            "no arguments, since none were given (--arg)"
        ]
    );
    let mut request = Request::default();
    request.surroundings.arguments = vec!["a".into()];
    let started = report(&binary, &request);
    assert!(matches!(started.answer, Answer::Violated(_)), "{:?}", started.answer);
    assert_eq!(started.assumptions, ["the arguments a"]);
}

#[test]
fn arguments_are_told_where_main_takes_them() {
    let text = "int main(int argc, char **argv) { return argc > 5 && argv[1][0]; }\n";
    let binary = build("arguments.c", text);
    assert_eq!(
        report(&binary, &Request::default()).assumptions,
        ["no arguments, since none were given (--arg)"]
    );
    let mut request = Request::default();
    request.surroundings.arguments = vec!["a".into(), "b".into()];
    assert_eq!(report(&binary, &request).assumptions, ["the arguments a b"]);
    let text = "int main(int argc, char **argv, char **all) { return argc > 5 && argv && all[0]; }\n";
    let told = report(&build("all.c", text), &Request::default()).assumptions;
    assert_eq!(told[1], "the environment variables of this check");
}

/// Instructions that give something else every time, and code that runs past the exploration.
#[test]
fn what_cannot_be_the_same_in_every_execution_is_told_or_refused() {
    let told = |name: &str, text: &str| report(&build(name, text), &Request::default());
    let clock = told("rdtsc.c", "int main(void) { return __builtin_ia32_rdtsc() == 1; }\n");
    assert_eq!(clock.assumptions, ["what these instructions give on this machine: rdtsc"]);
    let early = "static void *f(void *p) { x++; return p; }\nstatic pthread_t t;\n\
        __attribute__((constructor)) static void early(void) { pthread_create(&t, 0, f, 0); }\n\
        int main(void) { x++; pthread_join(t, 0); return 0; }\n";
    let open = "static FILE *file;\n__attribute__((constructor)) static void early(void) { file = fopen(\"/etc/passwd\", \"r\"); }\n\
        int main(void) { return fgetc(file) == EOF; }\n";
    let random = "int main(void) { return open(\"/dev/urandom\", O_RDONLY) < 0; }\n";
    for (name, text, why) in [
        ("early_thread.c", early, "a thread is started before main"),
        ("early_file.c", open, "a file is opened before main"),
        ("urandom.c", random, "random numbers of the kernel"),
    ] {
        match told(name, &format!("{HEADER}{text}")).answer {
            Answer::Refused(text, _) => assert!(text.starts_with(why), "{name}: {text}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// What the library may do by itself and does not do here.
#[test]
fn waits_and_exchanges_that_could_fail_are_told() {
    let waits = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic pthread_cond_t c = PTHREAD_COND_INITIALIZER;\n\
        static void *f(void *p) { pthread_mutex_lock(&m); x = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return p; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); if (!x) pthread_cond_wait(&c, &m);\n\
        assert(x); pthread_mutex_unlock(&m); pthread_join(t, 0); return 0; }\n";
    let binary = build("steady_wait.c", &format!("{HEADER}{waits}"));
    let steady = report(&binary, &Request::default());
    assert!(matches!(steady.answer, Answer::Holds), "{:?}", steady.answer);
    assert_eq!(
        steady.assumptions,
        ["waits on condition variables that end by signals only (others: --spurious)"]
    );
    let spurious = report(&binary, &Request { spurious: true, ..Request::default() });
    assert!(matches!(spurious.answer, Answer::Violated(_)), "{:?}", spurious.answer);
    let exchange = "int main(void) { int e = 0; return !__atomic_compare_exchange_n(&x, &e, 1, 1, 5, 5); }\n";
    let told = report(&build("weak_exchange.c", &format!("{HEADER}{exchange}")), &Request::default());
    assert_eq!(told.assumptions, ["weak compare-and-swap operations that fail only where the values differ"]);
}

/// Their values are the same in every execution, so nobody would notice that others were never tried.
#[test]
fn variables_without_a_value_are_told() {
    let text = "int g;\nint main(void) {\n    int x;\n    if (x == 77)\n        __builtin_trap();\n    return g;\n}\n";
    let report = report(&build("uninitialised.c", text), &Request::default());
    assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
    let told = "what these variables hold without ever getting a value: x (outside_uninitialised.c:4)";
    assert_eq!(report.assumptions, [told]);
}
