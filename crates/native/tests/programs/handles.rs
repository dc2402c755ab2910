//! Handles of threads: used while they are good for something, and not.

use quotient_native::protocol::FailureKind::{Misuse, Race};

use crate::lifecycle::Cases;

const DECLARATIONS: &str = "#include <signal.h>\n#include <threads.h>\npthread_t t, u; sem_t s; atomic_int x;\n\
    void *ends(void *a) { return 0; }\n\
    void *waits(void *a) { sem_wait(&s); return 0; }\n\
    void *use(void *a) { pthread_cancel(t); return 0; }";

/// Calls that are given the handle `H`.
const CALLS: [(&str, &str); 7] = [
    ("join", "pthread_join(H, 0)"),
    ("detach", "pthread_detach(H)"),
    ("C11 join", "thrd_join(H, 0)"),
    ("C11 detach", "thrd_detach(H)"),
    ("kill", "pthread_kill(H, 0)"),
    ("cancel", "pthread_cancel(H)"),
    ("name", "pthread_setname_np(H, \"x\")"),
];

#[test]
fn no_thread() {
    let mut cases = Cases::new(DECLARATIONS);
    for (name, call) in CALLS {
        for handle in ["0", "(pthread_t)&x", "t"] {
            cases.fails(name, Misuse, "of a handle that no thread has", &call.replace('H', handle));
        }
    }
    cases.check("no_thread");
}

#[test]
fn after_the_end() {
    let mut cases = Cases::new(DECLARATIONS);
    for (name, call) in CALLS {
        let call = call.replace('H', "t");
        let body = format!("pthread_create(&t, 0, ends, 0); pthread_join(t, 0); {call}");
        cases.fails(&format!("{name} after join"), Misuse, "which was joined", &body);
        if name.ends_with("join") || name.ends_with("detach") {
            continue;
        }
        let body = |thread: &str| {
            format!(
                "sem_init(&s, 0, 0); pthread_create(&t, 0, {thread}, 0); pthread_detach(t); {call}; sem_post(&s)"
            )
        };
        // The thread may have ended.
        cases.fails(&format!("{name} after detach"), Misuse, "detached and", &body("ends"));
        // It waits for what comes after the call.
        if name != "cancel" {
            cases.holds(&format!("{name} before the end"), &body("waits"));
        }
    }
    cases.check("after_the_end");
}

#[test]
fn by_another_thread() {
    let mut cases = Cases::new(DECLARATIONS);
    let both = "pthread_create(&t, 0, ends, 0); pthread_create(&u, 0, use, 0);";
    cases.fails("unordered", Misuse, "thread", &format!("{both} pthread_join(t, 0); pthread_join(u, 0)"));
    cases.holds("ordered", &format!("{both} pthread_join(u, 0); pthread_join(t, 0)"));
    cases.check("by_another_thread");
}

/// POSIX does not order the store of the handle by `pthread_create` with the new thread's beginning; C11 and C++ do.
#[test]
fn written_by_the_creator() {
    let declarations = "#include <threads.h>\npthread_t t, u, v[2]; thrd_t c; sem_t s; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int result;\n\
        void *reads(void *a) { pthread_t own = t; return (void *)own; }\n\
        void *other(void *a) { return (void *)u; }\n\
        void *writes(void *a) { t = 0; return 0; }\n\
        void *asks(void *a) { assert(pthread_equal(t, pthread_self())); return 0; }\n\
        void *copies(void *a) { pthread_t own; memcpy(&own, &t, sizeof own); return 0; }\n\
        void *after(void *a) { sem_wait(&s); return (void *)t; }\n\
        void *locked(void *a) { pthread_mutex_lock(&m); pthread_t own = t; pthread_mutex_unlock(&m); return (void *)own; }\n\
        void *passed(void *a) { return (void *)*(pthread_t *)a; }\n\
        void *ends(void *a) { return 0; }\n\
        int c11(void *a) { return c == 0; }\n\
        int seven(void *a) { return 7; }\n\
        void *result_of(void *a) { int r; thrd_join(c, &result); return 0; }";
    let mut cases = Cases::new(declarations);
    let create = |routine: &str| format!("pthread_create(&t, 0, {routine}, 0); pthread_join(t, 0)");
    for routine in ["reads", "writes", "asks", "copies"] {
        cases.fails(
            routine,
            Race,
            "",
            &create(routine)
                .replace("join(t", "join(u")
                .replace("pthread_create(&t", "pthread_create(&u, 0, ends, 0); pthread_create(&t"),
        );
    }
    cases.fails("argument", Race, "", "pthread_create(&t, 0, passed, &t); pthread_join(t, 0)");
    cases.fails("lock of the reader alone", Race, "", &create("locked"));
    cases.fails("lock and join", Race, "", "pthread_create(&v[0], 0, passed, &v[0]); pthread_create(&v[1], 0, ends, 0); pthread_join(v[0], 0); pthread_join(v[1], 0)");
    cases.holds("somebody else's", "pthread_create(&u, 0, ends, 0); pthread_create(&t, 0, other, 0); pthread_join(t, 0); pthread_join(u, 0)");
    cases.holds(
        "after a semaphore",
        "sem_init(&s, 0, 0); pthread_create(&t, 0, after, 0); sem_post(&s); pthread_join(t, 0)",
    );
    cases.holds(
        "under a lock",
        "pthread_mutex_lock(&m); pthread_create(&t, 0, locked, 0); pthread_mutex_unlock(&m); pthread_join(t, 0)",
    );
    cases.holds("C11", "thrd_create(&c, c11, 0); int r; thrd_join(c, &r); assert(r == 0)");
    cases.fails(
        "result of a C11 join",
        Race,
        "",
        "thrd_create(&c, seven, 0); pthread_create(&t, 0, result_of, 0); assert(result != 8); pthread_join(t, 0)",
    );
    cases.check("written_by_the_creator");
}

/// The same with `std::thread`, whose constructor ends before the thread begins.
#[test]
fn written_by_the_constructor() {
    let text = "#include <new>\n#include <thread>\nalignas(8) char room[sizeof(std::thread)];\n\
        int main() { auto *t = (std::thread *)room; new (room) std::thread([t] { assert(t->get_id() == std::this_thread::get_id()); }); t->join(); }";
    let found = crate::lifecycle::report("std_thread", "cc", text, &crate::lifecycle::request());
    assert!(matches!(found.answer, quotient_native::Answer::Holds), "{:?}", found.answer);
}
