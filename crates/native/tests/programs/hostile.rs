//! Programs that could hurt the checker: a clear answer, and nothing written where it should not be.

use std::path::PathBuf;
use std::time::Duration;

use quotient_native::protocol::FailureKind;
use quotient_native::session::{Heartbeat, Surroundings};
use quotient_native::{Answer, Build, Request, check};

fn answer(name: &str, body: &str) -> Answer {
    answer_in("c", name, body)
}

fn answer_in(language: &str, name: &str, body: &str) -> Answer {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{language}"));
    let text = format!(
        "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n#include <assert.h>\n#include <pthread.h>\n#include <setjmp.h>\n#include <stdio.h>\n\
         #include <stdlib.h>\n#include <unistd.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n{body}\n\
         int main(void) {{ pthread_t t, u; pthread_create(&t, 0, w, 0); pthread_create(&u, 0, w, 0);\n\
         pthread_join(t, 0); pthread_join(u, 0); return 0; }}\n"
    );
    std::fs::write(&path, text).expect("the test directory can be written");
    let binary =
        Build { sources: vec![path], ..Build::default() }.run().unwrap_or_else(|e| panic!("{name}: {e}"));
    let request = Request { patience: Duration::from_secs(1), ..Request::default() };
    check(&binary, &request, &mut |_| true).unwrap_or_else(|e| panic!("{name}: {e}")).answer
}

fn failure(answer: &Answer) -> FailureKind {
    match answer {
        Answer::Violated(trace) => trace.failure.kind,
        _ => FailureKind::None,
    }
}

#[test]
fn endless_loops_are_ended() {
    let found = answer("endless", "static void *w(void *a) { for (;;) ; return a; }");
    assert!(
        matches!(&found, Answer::Undecided(why) if why.to_string().contains("without a visible operation")),
        "{found:?}"
    );
}

#[test]
fn processes_are_refused() {
    let found = answer("forks", "static void *w(void *a) { fork(); return a; }");
    assert!(matches!(&found, Answer::Refused(why, _) if why.starts_with("fork")), "{found:?}");
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let refused = [
        ("kill", "kill(1, SIGTERM)"),
        ("kill", "long syscall(long, ...); syscall(62L, 1L, 15L)"),
        ("fork", "long syscall(long, ...); syscall(57L)"),
        ("syscall", "long syscall(long, ...); syscall(101L, 0L, 0L, 0L, 0L)"),
        ("alarm", "alarm(1)"),
        (
            "connect",
            "struct sockaddr_in s = {.sin_family = AF_INET, .sin_addr = {0x08080808}};\n\
         connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&s, sizeof s)",
        ),
        ("socket", "socket(AF_INET, SOCK_DGRAM, 0)"),
        ("epoll_create1", "epoll_create1(0)"),
        ("eventfd", "eventfd(0, 0)"),
        ("siglongjmp", "if (!sigsetjmp(b, 1)) { signal(SIGUSR1, j); raise(SIGUSR1); }"),
    ];
    for (name, call) in refused {
        let body = format!(
            "#include <netinet/in.h>\n#include <signal.h>\n#include <sys/epoll.h>\n#include <sys/eventfd.h>\n\
             #include <sys/socket.h>\nstatic sigjmp_buf b; void j(int s) {{ siglongjmp(b, s); }}\n\
             static void *w(void *a) {{ {call}; return a; }}"
        );
        let found = answer(name, &body);
        assert!(matches!(&found, Answer::Refused(why, _) if why.starts_with(name)), "{name}: {found:?}");
    }
}

#[test]
fn files_stay_in_the_scratch_directory() {
    // Every execution starts without the file that the one before has written.
    let body = "static void *w(void *a) { pthread_mutex_lock(&m); FILE *f;\n\
         static int first = 1; f = fopen(\"mine\", \"r\"); assert(!f == first); first = 0; if (f) fclose(f);\n\
         f = fopen(\"mine\", \"w\"); fputs(\"x\", f); fclose(f); pthread_mutex_unlock(&m); return a; }";
    let found = answer("scratch", body);
    assert!(matches!(found, Answer::Holds), "{found:?}");
    let outside = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("outside.txt");
    let _ = std::fs::remove_file(&outside);
    let body = format!(
        "static void *w(void *a) {{ FILE *f = fopen(\"{}\", \"w\"); if (f) fclose(f); return a; }}",
        outside.display()
    );
    let landlock = std::fs::read_to_string("/sys/kernel/security/lsm").is_ok_and(|l| l.contains("landlock"));
    if landlock {
        let found = answer("outside", &body);
        assert!(
            matches!(&found, Answer::Refused(why, _) if why.contains("outside of the scratch")),
            "{found:?}"
        );
        assert!(!outside.exists(), "a file was written outside of the scratch directory");
    }
}

/// What fails only here, or means nothing here, is not the program's fault.
#[test]
fn what_cannot_be_done_under_control_is_refused() {
    for (name, body, why) in [
        (
            "temporary",
            "static void *w(void *a) { FILE *f = tmpfile(); assert(f); return a; }",
            "tmpfile: outside of the scratch",
        ),
        ("fence_elsewhere", "static void *w(void *a) { syscall(324, 8, 0); return a; }", "324"),
        (
            "nested",
            "static int less(int (*f)(int)) { return f(1); }\n\
             static void *w(void *a) { int n = 3; int add(int k) { return k + n; } assert(less(add) == 4); return a; }",
            "executes code on its stacks",
        ),
    ] {
        let found = answer(name, body);
        assert!(matches!(&found, Answer::Refused(text, _) if text.contains(why)), "{name}: {found:?}");
    }
}

#[test]
fn memory_is_bounded() {
    let body = "static void *w(void *a) { char *p = malloc(2ul << 30); assert(!p); p = malloc(600ul << 20);\n\
                p[500 << 20] = 1; free(p); return a; }";
    assert!(matches!(answer("big", body), Answer::Holds));
}

#[test]
fn a_stack_overflow_is_a_crash() {
    let body = "static int f(int n) { volatile char b[4096]; b[0] = n; return f(n + 1) + b[0]; }\n\
                static void *w(void *a) { (void)a; return (void *)(long)f(0); }";
    let found = answer("deep", body);
    assert_eq!(failure(&found), FailureKind::Crash, "{found:?}");
    assert!(matches!(&found, Answer::Violated(trace) if trace.failure.text == "stack overflow"), "{found:?}");
}

#[test]
fn exit_in_a_thread_is_an_end() {
    assert!(matches!(answer("exits", "static void *w(void *a) { (void)a; exit(3); }"), Answer::Holds));
}

#[test]
fn long_jumps_work() {
    let body = "static int n; static void *w(void *a) { jmp_buf b; if (!setjmp(b)) { pthread_mutex_lock(&m); n++;\n\
                pthread_mutex_unlock(&m); longjmp(b, 1); } return a; }";
    assert!(matches!(answer("jumps", body), Answer::Holds));
}

#[test]
fn pthread_exit_passes_handlers_of_exceptions() {
    let body = "static void *w(void *a) { try { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_exit(a); }\n\
                catch (...) { throw; } return a; }";
    assert!(matches!(answer_in("cc", "exits_in_try", body), Answer::Holds));
}

#[test]
fn exceptions_are_those_of_their_thread() {
    let body = "static void *w(void *a) { int caught = 0; try { pthread_mutex_lock(&m); throw 1; } catch (int n) {\n\
                pthread_mutex_unlock(&m); try { throw n + 1; } catch (int k) { caught = k; } } assert(caught == 2); return a; }";
    assert!(matches!(answer_in("cc", "throws", body), Answer::Holds));
}

#[test]
fn an_exception_that_nobody_catches_is_a_crash() {
    let body = "static void *w(void *a) { if (!a) throw 1; return a; }";
    assert_eq!(failure(&answer_in("cc", "uncaught", body)), FailureKind::Crash);
}

/// Checks a program of very many executions, with `name` as its argument; `meanwhile` is told its process number again and
/// again, and says whether to go on.
fn answer_meanwhile(name: &str, meanwhile: &mut dyn FnMut(&str) -> bool) -> Answer {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.c"));
    let text = "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
        static void *w(void *a) { for (int i = 0; i < 9; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }\n\
        return a; }\nint main(void) { pthread_t t[3]; for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, w, 0);\n\
        for (int i = 0; i < 3; i++) pthread_join(t[i], 0); return 0; }\n";
    std::fs::write(&path, text).expect("the test directory can be written");
    let binary =
        Build { sources: vec![path], ..Build::default() }.run().unwrap_or_else(|e| panic!("{name}: {e}"));
    let surroundings = Surroundings { arguments: vec![name.into()], ..Surroundings::default() };
    let request = Request { patience: Duration::from_millis(200), surroundings, ..Request::default() };
    let mut watch = |beat: Heartbeat| {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let is_it = |path: &std::path::Path| {
            let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
            line.ends_with(format!("/program\0{name}\0").as_bytes())
        };
        if beat.executions > 0
            && let Some(process) = processes.map(|p| p.path()).find(|p| is_it(p))
        {
            return meanwhile(&process.file_name().unwrap_or_default().to_string_lossy());
        }
        true
    };
    check(&binary, &request, &mut watch).unwrap_or_else(|e| panic!("{name}: {e}")).answer
}

fn send(signal: &str, process: &str) {
    let status = std::process::Command::new("kill").args([signal, process]).status();
    assert!(status.is_ok_and(|s| s.success()), "kill {signal} {process}");
}

#[test]
fn a_process_that_others_end_is_no_crash() {
    let mut killed = false;
    let found = answer_meanwhile("ended_by_others", &mut |process| {
        if !std::mem::replace(&mut killed, true) {
            send("-KILL", process);
        }
        true
    });
    assert!(
        matches!(&found, Answer::Undecided(why) if why.to_string().contains("from outside")),
        "{found:?}"
    );
}

#[test]
fn a_process_that_is_not_let_run_is_waited_for() {
    let mut stopped: Option<std::time::Instant> = None;
    let mut goes_on = false;
    let found = answer_meanwhile("not_let_run", &mut |process| {
        // Much longer than the patience of this request.
        let long = stopped.is_some_and(|since| since.elapsed() > Duration::from_secs(2));
        if stopped.is_none() {
            stopped = Some(std::time::Instant::now());
            send("-STOP", process);
        } else if long && !goes_on {
            goes_on = true;
            send("-CONT", process);
        }
        !goes_on
    });
    assert!(goes_on, "it was not stopped for long enough: {found:?}");
    assert!(matches!(&found, Answer::Undecided(why) if why.to_string().contains("was stopped")), "{found:?}");
}
