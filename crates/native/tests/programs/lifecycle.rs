//! The life of primitives, threads, blocks and stacks: for each thing that can go wrong a program in which it does, and one in
//! which all is right.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use quotient_native::protocol::FailureKind;
use quotient_native::{Answer, Binary, Build, Report, Request, check};

pub(crate) fn build(name: &str, language: &str, text: &str) -> Binary {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("life_{name}.{language}"));
    let text = format!(
        "#define _GNU_SOURCE\n#include <assert.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <stdatomic.h>\n\
         #include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n{text}\n"
    );
    let text =
        if language == "cc" { text.replace("#include <stdatomic.h>", "#include <atomic>") } else { text };
    std::fs::write(&path, text).expect("the test directory can be written");
    Build { sources: vec![path], ..Build::default() }.run().unwrap_or_else(|e| panic!("{name}: {e}"))
}

pub(crate) fn report(name: &str, language: &str, text: &str, request: &Request) -> Report {
    let binary = build(name, language, text);
    check(&binary, request, &mut |_| true).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn shown(answer: &Answer) -> String {
    match answer {
        Answer::Violated(trace) => format!("{:?}: {}", trace.failure.kind, trace.failure.text),
        other => format!("{other:?}"),
    }
}

pub(crate) fn request() -> Request {
    Request { max_time: Some(Duration::from_secs(30)), ..Request::default() }
}

fn holds(name: &str, text: &str) {
    let found = report(name, "c", text, &request());
    assert!(matches!(found.answer, Answer::Holds), "{name}: {}", shown(&found.answer));
}

/// The failure's message must contain `what`.
pub(crate) fn fails(name: &str, kind: FailureKind, what: &str, text: &str) {
    expect_failure(name, &report(name, "c", text, &request()).answer, kind, what);
}

fn expect_failure(name: &str, answer: &Answer, kind: FailureKind, what: &str) {
    match answer {
        Answer::Violated(trace) => {
            assert_eq!(trace.failure.kind, kind, "{name}: {}", trace.failure.text);
            assert!(trace.failure.text.contains(what), "{name}: {}", trace.failure.text);
        }
        other => panic!("{name}: {}", shown(other)),
    }
}

fn misuse(name: &str, what: &str, text: &str) {
    fails(name, FailureKind::Misuse, what, text);
}

/// Bodies of `main` in one program, of which each is checked by itself: what is wrong with it, if anything.
pub(crate) struct Cases {
    declarations: String,
    cases: Vec<Case>,
}

struct Case {
    name: String,
    body: String,
    failure: Option<(FailureKind, String)>,
}

impl Cases {
    pub(crate) fn new(declarations: &str) -> Cases {
        Cases { declarations: declarations.to_owned(), cases: Vec::new() }
    }

    pub(crate) fn holds(&mut self, name: &str, body: &str) {
        self.cases.push(Case { name: name.to_owned(), body: body.to_owned(), failure: None });
    }

    pub(crate) fn fails(&mut self, name: &str, kind: FailureKind, what: &str, body: &str) {
        let failure = Some((kind, what.to_owned()));
        self.cases.push(Case { name: name.to_owned(), body: body.to_owned(), failure });
    }

    /// Checks them all.
    pub(crate) fn check(&self, name: &str) {
        let mut text =
            format!("{}\nint main(int argc, char **argv) {{ switch (atoi(argv[1])) {{\n", self.declarations);
        for (number, Case { body, .. }) in self.cases.iter().enumerate() {
            let _ = writeln!(text, "case {number}: {{ {body}; }} break;");
        }
        let binary = build(name, "c", &(text + "} return 0; }"));
        for (number, Case { name, body, failure }) in self.cases.iter().enumerate() {
            let name = format!("{name} ({body})");
            let mut request = request();
            request.surroundings.arguments = vec![number.to_string().into()];
            let found = check(&binary, &request, &mut |_| true).unwrap_or_else(|e| panic!("{name}: {e}"));
            match failure {
                None => assert!(matches!(found.answer, Answer::Holds), "{name}: {}", shown(&found.answer)),
                Some((kind, what)) => expect_failure(&name, &found.answer, *kind, what),
            }
        }
    }
}

/// A lock that is taken for reading several times by one thread is given back as often; nobody writes before.
#[test]
fn reader_writer_locks_are_taken_again_for_reading() {
    let mut cases = Cases::new(
        "static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER; static int x, y;
        static void *writer(void *a) { pthread_rwlock_wrlock(&l); x = 1; y = 1; pthread_rwlock_unlock(&l); return a; }
        static void start(pthread_t *t) { pthread_create(t, 0, writer, 0); }
        static void take(void) { pthread_rwlock_rdlock(&l); }
        static void give(void) { pthread_rwlock_unlock(&l); }",
    );
    cases.holds("twice", "pthread_t t; start(&t); take(); take(); int a = x; give(); assert(a == y); give(); pthread_join(t, 0)");
    cases.holds("tried", "assert(!pthread_rwlock_tryrdlock(&l)); take(); give(); assert(pthread_rwlock_trywrlock(&l)); give(); assert(!pthread_rwlock_trywrlock(&l)); give()");
    cases.fails(
        "given back too often",
        FailureKind::Misuse,
        "does not have it",
        "take(); take(); give(); give(); give()",
    );
    cases.fails(
        "destroyed",
        FailureKind::Misuse,
        "locked",
        "take(); take(); give(); pthread_rwlock_destroy(&l)",
    );
    cases.fails(
        "not given back",
        FailureKind::Deadlock,
        "",
        "pthread_t t; take(); take(); start(&t); give(); pthread_join(t, 0)",
    );
    cases.fails("given back before a read", FailureKind::Race, "", "pthread_t t; start(&t); take(); take(); give(); give(); int a = x; pthread_join(t, 0); assert(a < 2)");
    cases.check("read_again");
    // Where waiting writers come first, a second reader can wait for ever.
    let found = report(
        "prefers_writers",
        "c",
        "static pthread_rwlock_t l = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
        int main(void) { pthread_rwlock_rdlock(&l); pthread_rwlock_unlock(&l); return 0; }",
        &request(),
    );
    assert!(shown(&found.answer).contains("prefers writers"), "{}", shown(&found.answer));
    assert!(!matches!(found.answer, Answer::Holds | Answer::Violated(_)), "{}", shown(&found.answer));
}

/// Type, initialisation, a use, destruction.
const PRIMITIVES: [(&str, &str, &str, &str, &str); 6] = [
    (
        "mutex",
        "pthread_mutex_t",
        "pthread_mutex_init(p, 0)",
        "pthread_mutex_lock(p); pthread_mutex_unlock(p)",
        "pthread_mutex_destroy(p)",
    ),
    (
        "spin lock",
        "pthread_spinlock_t",
        "pthread_spin_init(p, 0)",
        "pthread_spin_lock(p); pthread_spin_unlock(p)",
        "pthread_spin_destroy(p)",
    ),
    (
        "condition variable",
        "pthread_cond_t",
        "pthread_cond_init(p, 0)",
        "pthread_cond_signal(p)",
        "pthread_cond_destroy(p)",
    ),
    (
        "reader-writer lock",
        "pthread_rwlock_t",
        "pthread_rwlock_init(p, 0)",
        "pthread_rwlock_rdlock(p); pthread_rwlock_unlock(p)",
        "pthread_rwlock_destroy(p)",
    ),
    (
        "barrier",
        "pthread_barrier_t",
        "pthread_barrier_init(p, 0, 1)",
        "pthread_barrier_wait(p)",
        "pthread_barrier_destroy(p)",
    ),
    ("semaphore", "sem_t", "sem_init(p, 0, 1)", "sem_wait(p); sem_post(p)", "sem_destroy(p)"),
];

/// A program of one thread that does these things with a primitive at `place`.
fn steps(kind: &str, place: &str, actions: &[&str]) -> String {
    let (declaration, pointer) = match place {
        "static" => (format!("static {kind} object;"), "&object".to_owned()),
        "heap" => (String::new(), format!("malloc(sizeof({kind}))")),
        _ => (String::new(), "&object".to_owned()),
    };
    let local = if place == "stack" { format!("{kind} object;") } else { String::new() };
    format!(
        "{declaration} int main(void) {{ {local} {kind} *p = {pointer}; {}; return 0; }}",
        actions.join("; ")
    )
}

#[test]
fn use_after_destruction() {
    for (name, kind, init, used, destroy) in PRIMITIVES {
        for place in ["static", "heap", "stack"] {
            let label = format!("{}_{place}", name.replace([' ', '-'], "_"));
            holds(&format!("{label}_right"), &steps(kind, place, &[init, used, destroy]));
            misuse(
                &format!("{label}_after"),
                "that was destroyed",
                &steps(kind, place, &[init, used, destroy, used]),
            );
            misuse(
                &format!("{label}_twice"),
                "that was destroyed",
                &steps(kind, place, &[init, destroy, destroy]),
            );
            holds(
                &format!("{label}_again"),
                &steps(kind, place, &[init, used, destroy, init, used, destroy]),
            );
        }
    }
}

#[test]
fn second_initialisation() {
    for (name, kind, init, used, _) in PRIMITIVES {
        for place in ["static", "heap", "stack"] {
            let label = format!("{}_{place}_init", name.replace([' ', '-'], "_"));
            misuse(&label, "initialised already", &steps(kind, place, &[init, init]));
            misuse(&format!("{label}_used"), "initialised already", &steps(kind, place, &[init, used, init]));
        }
    }
    // The variable of the next iteration, or of the next call, is another one; which it is in a block is known if it is destroyed.
    let round = |then: &str| {
        format!(
            "int main(void) {{ for (int i = 0; i < 3; i++) {{ pthread_mutex_t m; pthread_mutex_init(&m, 0);\n\
             pthread_mutex_lock(&m); pthread_mutex_unlock(&m); {then} }} return 0; }}"
        )
    };
    holds("loop_of_variables", &round("pthread_mutex_destroy(&m);"));
    let found = report("loop_without_end", "c", &round(""), &request()).answer;
    let unknown = |why: &str| why.contains("or of a variable of the next round of a loop");
    assert!(matches!(&found, Answer::Undecided(why) if unknown(&why.to_string())), "{}", shown(&found));
    holds(
        "calls_with_variables",
        "static void f(void) { pthread_mutex_t m; pthread_mutex_init(&m, 0); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }\n\
         int main(void) { f(); f(); return 0; }",
    );
    misuse(
        "through_a_pointer",
        "initialised already",
        "struct pair { int a; pthread_mutex_t m; }; static void set(struct pair *p) { pthread_mutex_init(&p->m, 0); }\n\
         int main(void) { struct pair p; set(&p); set(&p); return 0; }",
    );
}

#[test]
fn initialisation_while_in_use() {
    let program = |global: &str, thread: &str, main: &str| {
        format!(
            "{global} static sem_t go; static void *w(void *a) {{ {thread}; return a; }}\n\
             int main(void) {{ pthread_t t; sem_init(&go, 0, 0); pthread_create(&t, 0, w, 0); {main}; pthread_join(t, 0); return 0; }}"
        )
    };
    misuse(
        "init_locked",
        "initialisation of a mutex that thread 0 has locked",
        "int main(void) { pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m); pthread_mutex_init(&m, 0); return 0; }",
    );
    misuse(
        "init_rwlock",
        "initialisation of a reader-writer lock that is locked",
        "int main(void) { pthread_rwlock_t m = PTHREAD_RWLOCK_INITIALIZER; pthread_rwlock_rdlock(&m); pthread_rwlock_init(&m, 0); return 0; }",
    );
    misuse(
        "init_condition",
        "initialisation of a condition variable",
        &program(
            "static pthread_mutex_t m; static pthread_cond_t c;",
            "pthread_mutex_lock(&m); sem_post(&go); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m)",
            "sem_wait(&go); pthread_mutex_lock(&m); pthread_cond_init(&c, 0); pthread_mutex_unlock(&m)",
        ),
    );
    // Nothing orders the initialisation and the use.
    fails(
        "init_late",
        FailureKind::Race,
        "nothing orders",
        &program(
            "static pthread_mutex_t m;",
            "pthread_mutex_lock(&m); pthread_mutex_unlock(&m)",
            "pthread_mutex_init(&m, 0)",
        ),
    );
    let allowed = Request { allow_races: true, ..request() };
    let text = program(
        "static pthread_mutex_t m;",
        "pthread_mutex_lock(&m); pthread_mutex_unlock(&m)",
        "pthread_mutex_init(&m, 0)",
    );
    let found = report("init_late_allowed", "c", &text, &allowed).answer;
    assert!(matches!(&found, Answer::Violated(t) if t.failure.kind == FailureKind::Misuse), "{found:?}");
    misuse(
        "destroy_semaphore_waited_for",
        "semaphore",
        &program("static sem_t s;", "sem_wait(&s)", "sem_init(&s, 0, 0); sem_post(&go); sem_destroy(&s)")
            .replace("{ sem_wait", "{ sem_wait(&go); sem_wait"),
    );
}

/// The primitive is destroyed by one thread while another has come to the point of using it.
#[test]
fn destruction_beside_a_use() {
    for (name, kind, init, used, destroy) in PRIMITIVES {
        let label = format!("{}_beside", name.replace([' ', '-'], "_"));
        let program = |order: [&str; 2]| {
            format!(
                "static {kind} object, *p = &object; static void *w(void *a) {{ {used}; return a; }}\n\
                 int main(void) {{ pthread_t t; {init}; pthread_create(&t, 0, w, 0); {}; {}; return 0; }}",
                order[0], order[1]
            )
        };
        misuse(&label, "destroyed", &program([destroy, "pthread_join(t, 0)"]));
        holds(&format!("{label}_right"), &program(["pthread_join(t, 0)", destroy]));
    }
}

#[test]
fn never_initialised() {
    let with_initialisers = [PRIMITIVES[0], PRIMITIVES[2], PRIMITIVES[3]];
    for (name, kind, _, used, destroy) in with_initialisers {
        let initialiser = match name {
            "mutex" => "PTHREAD_MUTEX_INITIALIZER",
            "condition variable" => "PTHREAD_COND_INITIALIZER",
            _ => "PTHREAD_RWLOCK_INITIALIZER",
        };
        let label = name.replace([' ', '-'], "_");
        for place in ["heap", "stack"] {
            misuse(&format!("{label}_{place}_never"), "never initialised", &steps(kind, place, &[used]));
            misuse(&format!("{label}_{place}_never_d"), "never initialised", &steps(kind, place, &[destroy]));
            let assigned = format!("*p = ({kind}){initialiser}");
            holds(
                &format!("{label}_{place}_assigned"),
                &steps(kind, place, &[&assigned, used, destroy, &assigned, used]),
            );
            let zeroed = "memset(p, 0, sizeof *p)";
            holds(&format!("{label}_{place}_zeroed"), &steps(kind, place, &[zeroed, used, destroy]));
        }
        holds(&format!("{label}_static"), &steps(kind, "static", &[used, used, destroy]));
        holds(
            &format!("{label}_calloc"),
            &format!(
                "int main(void) {{ {kind} *p = calloc(1, sizeof *p); {used}; {destroy}; free(p); return 0; }}"
            ),
        );
        holds(
            &format!("{label}_local_initialiser"),
            &format!("int main(void) {{ {kind} o = {initialiser}, *p = &o; {used}; {destroy}; return 0; }}"),
        );
        // The stack still has what the first call has left there.
        misuse(
            &format!("{label}_stale"),
            "never initialised",
            &format!(
                "static void f(int i) {{ {kind} o, *p = &o; if (i) *p = ({kind}){initialiser}; {used}; }}\n\
                 int main(void) {{ f(1); f(0); return 0; }}"
            ),
        );
    }
    for (name, kind, _, used, _) in [PRIMITIVES[1], PRIMITIVES[4], PRIMITIVES[5]] {
        let label = name.replace([' ', '-'], "_");
        misuse(&format!("{label}_never"), "not initialised", &steps(kind, "static", &[used]));
    }
    // Another thread's stack, a structure, a copy, a union, a block that grows.
    holds(
        "never_not",
        "struct job { int n; pthread_mutex_t m; };\n\
         static void *w(void *a) { struct job *j = a; pthread_mutex_lock(&j->m); j->n++; pthread_mutex_unlock(&j->m); return 0; }\n\
         int main(void) { struct job j = { .n = 1, .m = PTHREAD_MUTEX_INITIALIZER }; struct job k = j; struct job *h = malloc(sizeof j);\n\
         *h = k; h = realloc(h, 4 * sizeof *h); h[1] = j; pthread_t t; pthread_create(&t, 0, w, &k); w(&k); w(h); w(h + 1);\n\
         pthread_join(t, 0); return 0; }",
    );
}

#[test]
fn primitives_of_the_cpp_library() {
    let text = "#include <condition_variable>\n#include <memory>\n#include <mutex>\n#include <shared_mutex>\n#include <thread>\n\
        struct box { std::mutex m; std::condition_variable c; std::shared_mutex s; std::recursive_mutex r; bool full = false; };\n\
        static void round(box &b) { std::thread t([&] { std::unique_lock<std::mutex> l(b.m); b.c.wait(l, [&] { return b.full; }); });\n\
        { std::lock_guard<std::mutex> l(b.m); b.full = true; } { std::shared_lock<std::shared_mutex> l(b.s); }\n\
        { std::lock_guard<std::recursive_mutex> l(b.r); } { std::lock_guard<std::mutex> l(b.m); b.c.notify_one(); } t.join(); }\n\
        int main() { for (int i = 0; i < 2; i++) { box b; round(b); } auto p = std::make_unique<box>(); round(*p); p.reset();\n\
        p = std::make_unique<box>(); round(*p); return 0; }";
    let found = report("cpp_library", "cc", text, &request());
    assert!(matches!(found.answer, Answer::Holds), "{}", shown(&found.answer));
}

#[test]
fn detached_and_joined() {
    let program = |main: &str| {
        format!(
            "static void *w(void *a) {{ return a; }} int main(void) {{ pthread_t t; pthread_create(&t, 0, w, 0); {main}; return 0; }}"
        )
    };
    misuse("detach_joined", "which was joined", &program("pthread_join(t, 0); pthread_detach(t)"));
    misuse("detach_twice", "detached already", &program("pthread_detach(t); pthread_detach(t)"));
    misuse("join_detached", "which is detached", &program("pthread_detach(t); pthread_join(t, 0)"));
    holds("join_once", &program("pthread_join(t, 0)"));
    holds("detach_once", &program("pthread_detach(t)"));
}

#[test]
fn stacks_end_with_their_threads() {
    let program = |thread: &str, main: &str| {
        format!(
            "static _Atomic(int *) where; static sem_t seen; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
             static void *w(void *a) {{ int mine = 1; {thread} return a; }}\n\
             int main(void) {{ pthread_t t; sem_init(&seen, 0, 0); pthread_create(&t, 0, w, 0); {main} return 0; }}"
        )
    };
    fails(
        "stack_after_join",
        FailureKind::Memory,
        "access to the stack of thread 1, which has ended",
        &program("atomic_store(&where, &mine);", "pthread_join(t, 0); int *p = atomic_load(&where); *p = 2;"),
    );
    // Whatever order is run: nothing makes the thread wait for the access.
    let found = report(
        "stack_unordered",
        "c",
        &program(
            "pthread_mutex_lock(&m); atomic_store(&where, &mine); pthread_mutex_unlock(&m);",
            "int *p = atomic_load(&where); if (p) *p = 2; pthread_join(t, 0);",
        ),
        &request(),
    );
    assert!(matches!(&found.answer, Answer::Violated(_)), "{:?}", found.answer);
    holds(
        "stack_waits",
        &program(
            "atomic_store(&where, &mine); sem_wait(&seen);",
            "int *p = atomic_load(&where); if (p) *p = 2; sem_post(&seen); pthread_join(t, 0);",
        ),
    );
    holds(
        "stack_of_main",
        "static void *w(void *a) { ++*(int *)a; return a; }\n\
         int main(void) { int n = 0; pthread_t t; pthread_create(&t, 0, w, &n); pthread_join(t, 0); assert(n == 1); return 0; }",
    );
}

#[test]
fn indices_of_arrays() {
    let program = |body: &str| {
        format!(
            "static int table[4]; struct s {{ int n, inner[3], last[2]; }};\n\
             static void *w(void *a) {{ int i = (int)(long)a, local[5] = {{ 0 }}; struct s s = {{ 0 }}; {body}; return (void *)(long)(local[0] + s.n); }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, w, (void *)5L); pthread_join(t, 0); return 0; }}"
        )
    };
    for (name, body) in [
        ("past_local", "local[i] = 1"),
        ("before_local", "local[i - 6] = 1"),
        ("past_global", "table[i - 1] = 1"),
        ("past_member", "s.inner[i - 2] = 1"),
        ("read_past_local", "s.n = local[i]"),
    ] {
        fails(name, FailureKind::Memory, "is outside of an array", &program(body));
    }
    holds(
        "last_element",
        &program(
            "local[i - 1] = 1; table[i - 2] = 1; s.inner[i - 3] = 1; int *end = &local[i]; assert(end - local == 5)",
        ),
    );
    holds(
        "flexible",
        "struct f { int n; char text[]; }; int main(void) { struct f *f = malloc(sizeof *f + 8); f->text[7] = 1; free(f); return 0; }",
    );
}

#[test]
fn allocations_happen_before_their_use() {
    let program = |order: &str, read: &str| {
        format!(
            "static _Atomic(int *) where; static void *w(void *a) {{ _Atomic int *p = malloc(4); atomic_store_explicit(&where, (int *)p, {order});\n\
             return a; }} static void *r(void *a) {{ _Atomic int *p = (_Atomic int *)atomic_load_explicit(&where, {read});\n\
             if (p) atomic_store(p, 1); return a; }}\n\
             int main(void) {{ pthread_t t, u; pthread_create(&t, 0, w, 0); pthread_create(&u, 0, r, 0); pthread_join(t, 0); pthread_join(u, 0);\n\
             return 0; }}"
        )
    };
    for (order, read) in [("relaxed", "relaxed"), ("relaxed", "acquire"), ("release", "relaxed")] {
        let text = program(&format!("memory_order_{order}"), &format!("memory_order_{read}"));
        fails(&format!("publish_{order}_{read}"), FailureKind::Memory, "without anything that orders", &text);
    }
    holds("publish", &program("memory_order_release", "memory_order_acquire"));
    // The first block was there before the thread, the second one was not.
    holds(
        "earlier_block",
        "static _Atomic int *one; static void *r(void *a) { atomic_store(one, 1); return a; }\n\
         int main(void) { one = malloc(4); pthread_t u; pthread_create(&u, 0, r, 0); int *two = malloc(4); *two = 1; free(two);\n\
         pthread_join(u, 0); return 0; }",
    );
}

#[test]
fn circles_of_locks_at_the_end() {
    let program = |second: &str| {
        format!(
            "static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;\n\
             static void *f(void *p) {{ pthread_mutex_lock(&a); pthread_mutex_lock(&b); pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); return p; }}\n\
             static void *g(void *p) {{ {second} return p; }}\n\
             int main(void) {{ pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); return 0; }}"
        )
    };
    let inverted =
        "pthread_mutex_lock(&b); pthread_mutex_lock(&a); pthread_mutex_unlock(&a); pthread_mutex_unlock(&b);";
    fails("circle_at_exit", FailureKind::Deadlock, "", &program(inverted));
    holds("no_circle_at_exit", &program("pthread_mutex_lock(&b); pthread_mutex_unlock(&b);"));
    fails(
        "own_lock_at_exit",
        FailureKind::Deadlock,
        "",
        &program("pthread_mutex_lock(&b); pthread_mutex_lock(&b);"),
    );
    // Merely waiting is a note.
    let found = report(
        "waiting_at_exit",
        "c",
        &program("static sem_t s; sem_init(&s, 0, 0); sem_wait(&s);"),
        &request(),
    );
    assert!(matches!(found.answer, Answer::Holds), "{}", shown(&found.answer));
    assert!(found.notes.iter().any(|n| n.contains("still wait when the program ends")), "{:?}", found.notes);
}

/// The atomic operation is announced while the block is there, and made when it is not.
#[test]
fn memory_that_is_given_back_before_an_atomic_operation() {
    let operations = [
        ("update", "seq_cst", "atomic_fetch_sub(o, 1)"),
        ("load", "seq_cst", "atomic_load(o)"),
        ("store", "seq_cst", "(atomic_store(o, 1), 0)"),
        ("exchange", "seq_cst", "atomic_exchange(o, 1)"),
        ("weak", "relaxed", "atomic_fetch_sub_explicit(o, 1, memory_order_relaxed)"),
    ];
    for (name, order, operation) in operations {
        let text = format!(
            "static atomic_int *o; static void *first(void *a) {{ if (atomic_exchange_explicit(o, 0, memory_order_{order}) == 1) free(o); return 0; }}\n\
             static void *second(void *a) {{ return {operation} ? a : 0; }}\n\
             int main(void) {{ pthread_t t[2]; o = malloc(sizeof *o); atomic_init(o, 1); pthread_create(&t[0], 0, first, 0);\n\
             pthread_create(&t[1], 0, second, 0); pthread_join(t[0], 0); pthread_join(t[1], 0); return 0; }}"
        );
        let found = report(&format!("given_back_{name}"), "c", &text, &request());
        assert!(matches!(found.answer, Answer::Violated(_)), "{name}: {}", shown(&found.answer));
        let ordered = text.replace(
            "pthread_create(&t[1]",
            "pthread_join(t[0], 0); o = malloc(sizeof *o); atomic_init(o, 1); pthread_create(&t[1]",
        );
        let ordered = ordered.replacen("pthread_join(t[0], 0); pthread_join", "pthread_join", 1);
        holds(&format!("not_given_back_{name}"), &ordered);
    }
}
