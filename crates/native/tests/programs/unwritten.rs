//! Values that nobody has written: read by another thread they are violations, read by the same thread assumptions; and nothing that
//! was written, by whatever means, is taken for one.

use quotient_native::protocol::FailureKind::Memory;
use quotient_native::{Answer, Request, check};

use crate::lifecycle::{Cases, build};

const DECLARATIONS: &str = "#include <semaphore.h>\n#include <stdatomic.h>\n#include <stdio.h>\n#include <time.h>\n\
    struct pair { int a, b; }; struct large { long a[5]; }; long volatile sink;\n\
    struct pair make_pair(void) { struct pair p = { 1, 2 }; return p; }\n\
    struct pair make_zeros(void) { struct pair p = { 0, 0 }; return p; }\n\
    struct large make_large(void) { struct large p = { { 1, 2, 3, 4, 5 } }; return p; }\n\
    static void *read_int(void *p) { sink = *(int *)p; return 0; }\n\
    static void *read_long(void *p) { sink = *(long *)p; return 0; }\n\
    static void *read_second(void *p) { sink = ((int *)p)[1]; return 0; }\n\
    static void in_thread(void *(*f)(void *), void *p) { pthread_t t; pthread_create(&t, 0, f, p); pthread_join(t, 0); }\n\
    static void parameter(long x) { in_thread(read_long, &x); }\n\
    static void set(int *p) { *p = 1; }\n\
    static void *value(void *p) { return (void *)3; }\n";

/// Ways to give `x` a value; its type; who reads it.
const WRITTEN: [(&str, &str, &str, &str); 23] = [
    ("assigned", "int x", "x = 5", "read_int"),
    ("zero", "long x", "x = 0", "read_long"),
    ("initialiser", "int x[2]", "int y[2] = { 1, 2 }; memcpy(x, y, sizeof x)", "read_second"),
    ("by a pointer", "int x", "set(&x)", "read_int"),
    ("atomically", "_Atomic int x", "atomic_store(&x, 1)", "read_int"),
    ("atomic_init", "_Atomic long x", "atomic_init(&x, 1)", "read_long"),
    ("result in a register", "struct pair x", "x = make_pair()", "read_second"),
    ("result in memory", "struct large x", "x = make_large()", "read_long"),
    ("assembly", "long x", "__asm__ volatile(\"movq $1, %0\" : \"=m\"(x))", "read_long"),
    ("memset", "long x", "memset(&x, 0, sizeof x)", "read_long"),
    ("sscanf", "int x", "sscanf(\"12\", \"%d\", &x)", "read_int"),
    ("time", "time_t x", "time(&x)", "read_long"),
    ("clock_gettime", "struct timespec x", "clock_gettime(CLOCK_REALTIME, &x)", "read_long"),
    ("sem_getvalue", "int x", "sem_t s; sem_init(&s, 0, 3); sem_getvalue(&s, &x)", "read_int"),
    ("pthread_create", "pthread_t x", "pthread_create(&x, 0, value, 0); pthread_join(x, 0)", "read_long"),
    (
        "pthread_join",
        "void *x",
        "pthread_t t; pthread_create(&t, 0, value, 0); pthread_join(t, &x)",
        "read_long",
    ),
    ("pipe", "int x[2]", "pipe(x)", "read_second"),
    ("calloc", "long *p = calloc(1, 8)", "", "read_long"),
    ("zeros in a register", "struct pair x", "x = make_zeros()", "read_second"),
    ("zero by assembly", "long x", "__asm__ volatile(\"movq $0, %0\" : \"=m\"(x))", "read_long"),
    ("thread-local", "static __thread long x", "", "read_long"),
    ("one half", "int x[2]", "x[1] = 27499", "read_second"),
    ("one half on the heap", "int *p = malloc(8)", "p[1] = 0x6b6b", "read_second"),
];

#[test]
fn what_was_written_has_a_value() {
    let mut cases = Cases::new(DECLARATIONS);
    for (name, declaration, action, reader) in WRITTEN {
        let object = if declaration.contains("*p") { "p" } else { "&x" };
        cases.holds(name, &format!("{declaration}; {action}; in_thread({reader}, (void *){object})"));
    }
    cases.holds("parameter", "parameter(7)");
    cases.holds("parameter that is zero", "parameter(0)");
    cases.check("written");
}

#[test]
fn what_was_not_has_none() {
    let mut cases = Cases::new(DECLARATIONS);
    let (stack, heap) =
        ("thread 0 has on its stack, before anybody has written to it", "thread 0 allocated, before");
    cases.fails("a variable", Memory, stack, "int x; in_thread(read_int, &x)");
    cases.fails("a long one", Memory, stack, "long x; in_thread(read_long, &x)");
    cases.fails("an array", Memory, stack, "long x[3]; x[1] = 1; in_thread(read_long, x)");
    cases.fails("a block", Memory, heap, "in_thread(read_long, malloc(8))");
    cases.fails(
        "a part of one",
        Memory,
        heap,
        "struct pair *p = malloc(16); p[0].a = 1; in_thread(read_int, p + 1)",
    );
    cases.check("unwritten");
}

/// GenMC's example: nothing else is wrong with it.
#[test]
fn a_variable_is_given_away_without_a_value() {
    let text = "static int *_Atomic p; static _Atomic int done;\n\
        static void *gives(void *a) { int x; p = &x; while (!done); return 0; }\n\
        static void *takes(void *a) { while (!p); int r = *p; done = 1; return 0; }\n\
        int main(void) { pthread_t t, u; pthread_create(&t, 0, gives, 0); pthread_create(&u, 0, takes, 0); return 0; }";
    crate::lifecycle::fails("given away", Memory, "thread 1 has on its stack", text);
}

#[test]
fn of_ones_own_it_is_an_assumption() {
    for (name, action, assumed) in [
        ("own", "long *p = malloc(8); long v = *p", true),
        ("calloc", "long *p = calloc(1, 8); long v = *p", false),
    ] {
        let text = format!(
            "static void *f(void *a) {{ {action}; return 0; }}\n\
            int main(void) {{ pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }}"
        );
        let binary = build(name, "c", &text);
        let found = check(&binary, &Request::default(), &mut |_| true).expect("it can be checked");
        assert!(matches!(found.answer, Answer::Holds), "{name}");
        let told = found.assumptions.iter().any(|a| a.contains("before anybody has written to it"));
        assert_eq!(told, assumed, "{name}: {:?}", found.assumptions);
    }
}
