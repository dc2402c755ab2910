//! Handles of threads: used while they are good for something, and not.

use quotient_native::protocol::FailureKind::Misuse;

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
