//! Cancellation and signals: the exploration finds exactly the outcomes that the standard allows, by every algorithm; and what
//! the kernel does when the same program runs alone is among them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use quotient_native::{Answer, Binary, Build, Request, check};
use quotient_stateless::Algorithm;

/// The program, which prints and observes one number.
fn built(name: &str, body: &str) -> Binary {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("interruption_{name}.c"));
    let text = format!(
        "#define _GNU_SOURCE\n#include <errno.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <signal.h>\n\
         #include <stdatomic.h>\n#include <stdio.h>\n#include <time.h>\n#include <unistd.h>\n\
         void __quotient_observe(long);\nstatic void tell(long n) {{ printf(\"%ld\\n\", n); __quotient_observe(n); }}\n\
         static void handle(int signal, void (*handler)(int), int flags) {{ struct sigaction a = {{0}};\n\
         a.sa_handler = handler; a.sa_flags = flags; sigaction(signal, &a, 0); }}\n\
         static void block(int how, int signal) {{ sigset_t s; sigemptyset(&s); sigaddset(&s, signal);\n\
         pthread_sigmask(how, &s, 0); }}\n{body}\n"
    );
    std::fs::write(&path, text).expect("the test directory can be written");
    Build { sources: vec![path], ..Build::default() }.run().unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// What an execution that observes `number` is known by (see `__quotient_observe`).
fn hash(number: i64) -> u64 {
    (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_add(1) >> 8
}

const ALL: &[Algorithm] = &[Algorithm::Optimal, Algorithm::SourceSets, Algorithm::FlanaganGodefroid];

fn outcomes_are(name: &str, body: &str, expected: &[i64]) {
    outcomes_by(ALL, name, body, expected);
}

fn outcomes_by(algorithms: &[Algorithm], name: &str, body: &str, expected: &[i64]) {
    let binary = built(name, body);
    let hashes: BTreeSet<u64> = expected.iter().map(|n| hash(*n)).collect();
    for &algorithm in algorithms {
        let request = Request { algorithm, ..Request::default() };
        let report = check(&binary, &request, &mut |_| true).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(matches!(report.answer, Answer::Holds), "{name}, {algorithm:?}: {:?}", report.answer);
        // Infeasible executions have another ending, in the upper byte.
        let finished = report.outcomes.iter().filter(|o| **o >> 56 == 0);
        let found: BTreeSet<u64> = finished.copied().collect();
        let names = |set: &BTreeSet<u64>| {
            let known = |h: &u64| (-10..1000).find(|n| hash(*n) == *h);
            set.iter().map(known).collect::<Vec<_>>()
        };
        assert_eq!(found, hashes, "{name}, {algorithm:?}: {:?} instead of {expected:?}", names(&found));
    }
    for _ in 0..20 {
        let output = Command::new(binary.path()).output().expect("the program runs alone");
        let told = String::from_utf8_lossy(&output.stdout);
        let number: i64 = told.trim().parse().unwrap_or_else(|_| panic!("{name} prints {told}"));
        assert!(expected.contains(&number), "{name}: the kernel gives {number}, not in {expected:?}");
    }
}

#[test]
fn a_wait_is_cancelled_or_ends() {
    let body = "static sem_t s; static atomic_int x;\n\
        static void *w(void *a) { x = 1; sem_wait(&s); x = 2; return 0; }\n\
        int main(void) { pthread_t t; void *r; sem_init(&s, 0, 0); pthread_create(&t, 0, w, 0); pthread_cancel(t);\n\
        sem_post(&s); pthread_join(t, &r); tell(x * 2 + (r == PTHREAD_CANCELED)); }";
    outcomes_are("cancel_wait", body, &[3, 4]);
}

#[test]
fn locking_is_no_cancellation_point() {
    let body = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static int y;\n\
        static void *w(void *a) { pthread_mutex_lock(&m); y = 1; pthread_mutex_unlock(&m); pthread_testcancel();\n\
        y = 2; return 0; }\n\
        int main(void) { pthread_t t; pthread_mutex_lock(&m); pthread_create(&t, 0, w, 0); pthread_cancel(t);\n\
        pthread_mutex_unlock(&m); pthread_join(t, 0); tell(y); }";
    outcomes_are("cancel_lock", body, &[1]);
}

#[test]
fn cancelled_waiters_use_up_no_signal() {
    // Both wait; one is cancelled; one signal is for the other. Without it the program would hang.
    let body = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER;\n\
        static int go, out; static void back(void *a) { pthread_mutex_unlock(&m); }\n\
        static void *w(void *a) { pthread_mutex_lock(&m); pthread_cleanup_push(back, 0);\n\
        while (!go) pthread_cond_wait(&c, &m); out++; pthread_cleanup_pop(1); return 0; }\n\
        int main(void) { pthread_t t, u; pthread_create(&t, 0, w, 0); pthread_create(&u, 0, w, 0); pthread_cancel(t);\n\
        pthread_join(t, 0); pthread_mutex_lock(&m); go = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);\n\
        pthread_join(u, 0); tell(out); }";
    outcomes_are("cancel_signal", body, &[1]);
}

#[test]
fn handlers_run_at_every_operation() {
    let body = "static atomic_int a, h = 9; static void on(int s) { h = a; }\n\
        static void *w(void *x) { a = 1; a = 2; return 0; }\n\
        int main(void) { pthread_t t; handle(SIGUSR1, on, 0); pthread_create(&t, 0, w, 0); pthread_kill(t, SIGUSR1);\n\
        pthread_join(t, 0); tell(h); }";
    outcomes_are("handler", body, &[0, 1, 2, 9]);
}

#[test]
fn any_thread_gets_a_signal_to_the_process() {
    let body = "static sem_t ready, end; static atomic_int got; static _Thread_local int me;\n\
        static void on(int s) { got = me; }\n\
        static void *w(void *x) { me = (int)(long)x; block(SIG_UNBLOCK, SIGUSR1); sem_post(&ready);\n\
        while (sem_wait(&end) != 0) ; return 0; }\n\
        int main(void) { pthread_t t, u; sem_init(&ready, 0, 0); sem_init(&end, 0, 0); handle(SIGUSR1, on, SA_RESTART);\n\
        block(SIG_BLOCK, SIGUSR1); pthread_create(&t, 0, w, (void *)1); pthread_create(&u, 0, w, (void *)2);\n\
        sem_wait(&ready); sem_wait(&ready); kill(getpid(), SIGUSR1); sem_post(&end); sem_post(&end);\n\
        pthread_join(t, 0); pthread_join(u, 0); tell(got); }";
    // Without sleep sets there are too many executions.
    outcomes_by(&ALL[..2], "process", body, &[1, 2]);
}

#[test]
fn pending_signals_are_taken_in_order() {
    let body = "static int first; static sigset_t s;\n\
        static void *w(void *x) { sigwait(&s, &first); return 0; }\n\
        int main(void) { pthread_t t; sigemptyset(&s); sigaddset(&s, SIGUSR1); sigaddset(&s, SIGUSR2);\n\
        pthread_sigmask(SIG_BLOCK, &s, 0); pthread_create(&t, 0, w, 0); kill(getpid(), SIGUSR2); kill(getpid(), SIGUSR1);\n\
        pthread_join(t, 0); tell(first); }";
    outcomes_are("order", body, &[10, 12]);
}

#[test]
fn waits_are_interrupted_or_done_again() {
    let body = |flags: &str| {
        format!(
            "static sem_t s; static int r; static void on(int s) {{}}\n\
             static void *w(void *x) {{ r = sem_wait(&s) ? errno : 0; return 0; }}\n\
             int main(void) {{ pthread_t t; sem_init(&s, 0, 0); handle(SIGUSR1, on, {flags});\n\
             pthread_create(&t, 0, w, 0); pthread_kill(t, SIGUSR1); sem_post(&s); pthread_join(t, 0); tell(r); }}"
        )
    };
    outcomes_are("interrupted", &body("0"), &[0, 4]);
    outcomes_are("restarted", &body("SA_RESTART"), &[0]);
}

#[test]
fn blocked_signals_wait_until_they_are_let_in() {
    let body = "static atomic_int a, h = 9; static void on(int s) { h = a; }\n\
        static void *w(void *x) { a = 1; block(SIG_UNBLOCK, SIGUSR1); a = 2; return 0; }\n\
        int main(void) { pthread_t t; handle(SIGUSR1, on, 0); block(SIG_BLOCK, SIGUSR1);\n\
        pthread_create(&t, 0, w, 0); pthread_kill(t, SIGUSR1); pthread_join(t, 0); tell(h); }";
    outcomes_are("blocked", body, &[1, 2, 9]);
}

#[test]
fn a_timed_wait_for_signals_may_end_by_itself() {
    let body = "static int r; static sigset_t s;\n\
        static void *w(void *x) { struct timespec t = {0, 1000}; r = sigtimedwait(&s, 0, &t); return 0; }\n\
        int main(void) { pthread_t t; sigemptyset(&s); sigaddset(&s, SIGUSR1); pthread_sigmask(SIG_BLOCK, &s, 0);\n\
        pthread_create(&t, 0, w, 0); pthread_kill(t, SIGUSR1); pthread_join(t, 0); tell(r); }";
    outcomes_are("timed", body, &[-1, 10]);
}

/// A thread of the asynchronous type ends before any of its writes, or at its end; one that waits for a lock ends there.
#[test]
fn asynchronous_cancellation() {
    outcomes_are(
        "asynchronous",
        "static int x; static void *work(void *a) { pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);\n\
         x = 1; x = 2; return a; }\n\
         int main(void) { pthread_t t; void *result; pthread_create(&t, 0, work, 0); pthread_cancel(t);\n\
         pthread_join(t, &result); tell(x + 10 * (result == PTHREAD_CANCELED)); return 0; }",
        &[10, 11, 12, 2],
    );
    outcomes_are(
        "asynchronous_lock",
        "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static void *work(void *a) {\n\
         pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return a; }\n\
         int main(void) { pthread_t t; void *result; pthread_mutex_lock(&m); pthread_create(&t, 0, work, 0);\n\
         pthread_cancel(t); pthread_join(t, &result); pthread_mutex_unlock(&m); tell(result == PTHREAD_CANCELED); return 0; }",
        &[1],
    );
    // The type as it was, and not in between: both writes are made, or none.
    outcomes_are(
        "asynchronous_state",
        "static int x; static void *work(void *a) { int old; pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);\n\
         pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old); x = 1; x = 2; pthread_setcanceltype(old, &old);\n\
         x += old == PTHREAD_CANCEL_ASYNCHRONOUS; pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, 0); return a; }\n\
         int main(void) { pthread_t t; void *result; pthread_create(&t, 0, work, 0); pthread_cancel(t);\n\
         pthread_join(t, &result); tell(x + 10 * (result == PTHREAD_CANCELED)); return 0; }",
        &[3],
    );
}

/// Two threads load the halves of a page from a peer that a script plays; what they get is what it says, in every order.
#[test]
fn a_scripted_peer_answers() {
    let binary = built(
        "peer",
        "#include <arpa/inet.h>\n#include <string.h>\n#include <sys/socket.h>\nstatic atomic_int sum;\n\
         static int ask(const char *question, char *answer, int room) { int s = socket(AF_INET, SOCK_STREAM, 0), n, all = 0;\n\
         struct sockaddr_in at = {0}; at.sin_family = AF_INET; at.sin_port = htons(PORT); at.sin_addr.s_addr = htonl(0x7f000001);\n\
         if (connect(s, (struct sockaddr *)&at, sizeof at)) return -1;\n\
         send(s, question, 2, 0); send(s, question + 2, strlen(question) - 2, 0);\n\
         while ((n = recv(s, answer + all, room - all, 0)) > 0) all += n;\n close(s); return all; }\n\
         static void *work(void *a) { char text[16]; int n = ask(a, text, 16); for (int i = 0; i < n; i++)\n\
         atomic_fetch_add(&sum, text[i] - '0'); return 0; }\n\
         int main(void) { pthread_t t[2]; if (ask(\"size\", (char[4]){0}, 4) < 0) { tell(-1); return 0; }\n\
         pthread_create(&t[0], 0, work, \"first\"); pthread_create(&t[1], 0, work, \"second\");\n\
         for (int i = 0; i < 2; i++) pthread_join(t[i], 0); tell(sum); return 0; }"
            .replace("PORT", "8080")
            .as_str(),
    );
    let peer = "port 8080\non \"size\"\nsend \"4\"\nclose\non \"first\"\nsend \"12\"\nclose\non \"second\"\nsend \"30\"\nclose\n";
    for (peer, expected) in [(peer, 6), ("port 8080\non \"zzz\"\nclose\n", -10), ("port 80\n", -1)] {
        let request = Request { peer: peer.as_bytes().to_vec(), ..Request::default() };
        let report = check(&binary, &request, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
        match expected {
            // Nobody ever answers.
            -10 => assert!(
                matches!(&report.answer, Answer::Violated(v) if v.message().contains("deadlock")),
                "{:?}",
                report.answer
            ),
            // Nobody is there, which cannot be held against the program.
            -1 => assert!(matches!(report.answer, Answer::Undecided(_)), "{:?}", report.answer),
            sum => {
                assert!(matches!(report.answer, Answer::Holds), "{:?}", report.answer);
                assert_eq!(report.outcomes, [hash(sum)]);
                assert!(report.assumptions.iter().any(|a| a.contains("--peer")), "{:?}", report.assumptions);
            }
        }
    }
}
