//! `pthread_self` and arrays of handles: threads that only keep them are symmetric, and whatever a handle decides is noticed.
//!
//! Every program is explored without symmetry, by co-started threads and by states, with the same outcomes. In the planted variants a bit of the
//! handle in which neighbours differ gives the number that a thread adds, so that executions are lost if that goes unnoticed.

use std::collections::BTreeSet;
use std::path::PathBuf;

use quotient_native::session::Surroundings;
use quotient_native::{Answer, Binary, Build, Report, Request, check};
use quotient_stateless::{Algorithm, Symmetry};

const DECLARATIONS: &str = "#include <pthread.h>\n#include <semaphore.h>\n#include <setjmp.h>\n#include <stdarg.h>\n#include <stdatomic.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <threads.h>\n\
    void __quotient_observe(long value);\n\
    #define BIT(h) ((int)((h) >> 23 & 1))\n\
    typedef struct { long tag; pthread_t id; } own_t;\n\
    struct node { struct node *next; pthread_t id; } *list;\n\
    atomic_int x, n; pthread_t slots[4], of_main, last; own_t owns[4]; _Atomic pthread_t owner; __thread pthread_t mine;\n\
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; sem_t s;\n\
    static void keep(pthread_t id) { pthread_mutex_lock(&m); slots[n] = id; n++; pthread_mutex_unlock(&m); }\n\
    static int decide(pthread_t id) { return BIT(id); }\n\
    static int look(pthread_t *id) { return BIT(*id); }\n\
    static int by_value(own_t own) { return BIT(own.id); }\n\
    static own_t make(void) { own_t own = { 1, pthread_self() }; return own; }\n\
    static int variadic(int n, ...) { va_list list; va_start(list, n); int bit = BIT(va_arg(list, pthread_t)); va_end(list); return bit; }\n\
    static pthread_t who(void) { return pthread_self(); }\n";

/// How far threads are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Apart {
    /// Not at all.
    No,
    /// Where beginnings are compared, but not where states are.
    Costarted,
    /// Wherever it would matter.
    Yes,
}

use Apart::{Costarted, No, Yes};

/// What a worker does first, setting `k`; what happens after the joins; what that means.
const CASES: &[(&str, &str, &str, Apart)] = &[
    ("nothing", "", "", No),
    ("global", "slots[atomic_fetch_add(&n, 1)] = pthread_self();", "", No),
    ("local", "pthread_t me = pthread_self(), other = me; (void)other;", "", No),
    ("heap", "pthread_t *p = malloc(16); p[1] = pthread_self();", "", No),
    ("thread-local", "mine = pthread_self();", "", No),
    ("structure", "own_t *p = malloc(sizeof *p); p->tag = 1; p->id = pthread_self(); p->tag = 2;", "", No),
    (
        "list",
        "struct node *p = malloc(sizeof *p); p->id = pthread_self(); pthread_mutex_lock(&m); p->next = list; list = p; pthread_mutex_unlock(&m);",
        "",
        No,
    ),
    ("helper", "keep(pthread_self());", "", No),
    ("c11", "thrd_t me = thrd_current(); (void)me;", "", No),
    ("unused", "(void)pthread_self();", "", No),
    ("equal", "if (pthread_equal(pthread_self(), of_main)) k = 5;", "", Costarted),
    ("compared", "pthread_t me = pthread_self(); if (me == of_main || of_main != me) k = 5;", "", Costarted),
    ("zero", "if (!pthread_self()) k = 5;", "", Costarted),
    (
        "printed",
        "printf(\"%lu %lx %p\\n\", pthread_self(), (unsigned long)pthread_self(), (void *)pthread_self());",
        "",
        No,
    ),
    ("printed elsewhere", "pthread_t me = pthread_self(); fprintf(stderr, \"%lu\\n\", me);", "", No),
    // Planted: the handle decides.
    ("half printed", "printf(\"%d\\n\", (int)pthread_self());", "", Yes),
    ("printed in part", "k += printf(\"%u\\n\", pthread_self()) > 9;", "", Yes),
    ("printed to memory", "char to[40]; sprintf(to, \"%lx\", pthread_self()); k += to[6] == '8';", "", Yes),
    ("variadic", "k += variadic(1, pthread_self());", "", Yes),
    ("order", "if (pthread_self() & 1 << 23) k = 5;", "", Yes),
    ("local decides", "pthread_t me = pthread_self(); k += BIT(me);", "", Yes),
    ("half", "pthread_t me = pthread_self(); k += (int)me >> 23 & 1;", "", Yes),
    ("pointer", "pthread_t me = pthread_self(); k += look(&me);", "", Yes),
    ("indexed", "pthread_t me[2]; int i = a != 0; me[i] = pthread_self(); k += BIT(me[i]);", "", Yes),
    ("copied", "pthread_t me = pthread_self(), other; memcpy(&other, &me, 8); k += BIT(other);", "", Yes),
    ("helper decides", "k += decide(pthread_self());", "", Yes),
    ("result", "k += BIT(who());", "", Yes),
    ("structure by value", "own_t own = { 1, pthread_self() }; k += by_value(own);", "", Yes),
    ("structure as result", "own_t own = make(); k += BIT(own.id);", "", Yes),
    ("read back", "int i = atomic_fetch_add(&n, 1); slots[i] = pthread_self(); k += BIT(slots[i]);", "", Yes),
    (
        "bytes read back",
        "int i = atomic_fetch_add(&n, 1); slots[i] = pthread_self(); k += ((unsigned char *)&slots[i])[2] >> 7;",
        "",
        Yes,
    ),
    (
        "structure copied",
        "int i = atomic_fetch_add(&n, 1); owns[i].id = pthread_self(); own_t o = owns[i]; k += BIT(o.id);",
        "",
        Yes,
    ),
    ("heap decides", "pthread_t *p = malloc(16); p[1] = pthread_self(); k += BIT(p[1]);", "", Yes),
    ("thread-local decides", "mine = pthread_self(); k += BIT(mine);", "", Yes),
    ("atomic", "atomic_store(&owner, pthread_self()); k += BIT(atomic_load(&owner));", "", Yes),
    (
        "exchange expects",
        "pthread_t *p = malloc(8); *p = pthread_self(); if (atomic_compare_exchange_strong(&owner, p, 1)) k = 5;",
        "",
        Yes,
    ),
    ("thrd_current decides", "k += BIT(thrd_current());", "", Yes),
    (
        "last decides",
        "pthread_mutex_lock(&m); last = pthread_self(); pthread_mutex_unlock(&m);",
        "k += BIT(last);",
        Yes,
    ),
    (
        "first decides",
        "if (atomic_fetch_add(&n, 1) == 0) slots[0] = pthread_self();",
        "k += BIT(slots[0]);",
        Yes,
    ),
    ("moved", "own_t *p = malloc(16); p->id = pthread_self(); p = realloc(p, 64); k += BIT(p->id);", "", Yes),
    ("address", "char *p = (char *)&x - pthread_self(); k += ((long)p >> 23 & 1) ? 1 : 0;", "", Yes),
    ("sum", "pthread_t me = pthread_self(); me += 0; k += BIT(me);", "", Yes),
    (
        "jump",
        "static __thread jmp_buf back; volatile pthread_t me = 0; if (setjmp(back) == 0) { me = pthread_self(); longjmp(back, 1); } k += BIT(me);",
        "",
        Yes,
    ),
    (
        "sorted",
        "pthread_mutex_lock(&m); if (last < pthread_self()) { last = pthread_self(); k = 3; } pthread_mutex_unlock(&m);",
        "",
        Yes,
    ),
];

/// Where the main thread keeps the handles that `pthread_create` gives: a declaration, a handle, and how the memory is given back.
const KEPT: [(&str, &str, &str, &str); 4] = [
    ("frame", "pthread_t t[3];", "t[I]", ""),
    ("heap", "pthread_t *t = malloc(3 * sizeof *t);", "t[I]", "free(t);"),
    ("static", "static pthread_t t[3];", "t[I]", ""),
    ("structures", "own_t *t = malloc(3 * sizeof *t);", "t[I].id", "free(t);"),
];

/// A worker says that it is through, and gives what it has found.
const WHICH: &str = "sem_post(&s); return (void *)(long)r;";

/// What a worker does first and last, and what the main thread does in the end. In the last ones it reads handles once more, or while threads wait that
/// could be exchanged otherwise.
const USES: [(&str, &str, &str); 9] = [
    ("", "", "JOIN"),
    ("", "", "JOIN FREE"),
    ("slots[atomic_fetch_add(&n, 1)] = pthread_self();", "", "JOIN FREE"),
    ("", "", "JOIN k = atomic_load(&x) == 7 ? BIT(FIRST) : 0;"),
    ("", "", "JOIN atomic_fetch_add(&x, BIT(FIRST) + BIT(SECOND)); FREE"),
    ("", WHICH, "sem_wait(&s); void *r; pthread_join(FIRST, &r); k = (long)r; pthread_join(SECOND, 0);"),
    ("", WHICH, "sem_wait(&s); pthread_detach(SECOND); void *r; pthread_join(FIRST, &r); k = (long)r;"),
    (
        "",
        WHICH,
        "sem_wait(&s); sem_wait(&s); void *r; pthread_join(SECOND, &r); k = (long)r; pthread_join(FIRST, 0); FREE",
    ),
    ("", WHICH, "sem_wait(&s); MOVE void *r; pthread_join(FIRST, &r); k = (long)r; pthread_join(SECOND, 0);"),
];

fn build(name: &str, source: &str) -> Binary {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.c"));
    std::fs::write(&path, source).expect("the test directory can be written");
    Build { sources: vec![path], flags: Vec::new(), compiler: None }.run().unwrap_or_else(|e| panic!("{e}"))
}

fn explored(binary: &Binary, number: usize, algorithm: Algorithm, symmetry: Symmetry) -> Report {
    let arguments = vec![number.to_string().into()];
    let surroundings = Surroundings { arguments, ..Default::default() };
    let request = Request { algorithm, symmetry, all: true, surroundings, ..Request::default() };
    check(binary, &request, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
}

/// Explores a program in all modes, which have to agree; says where something was pruned.
fn pruned(binary: &Binary, number: usize, name: &str) -> [(bool, Vec<String>); 2] {
    let off = explored(binary, number, Algorithm::Optimal, Symmetry::Off);
    assert!(matches!(off.answer, Answer::Holds), "{name}: {:?}", off.answer);
    let expected: BTreeSet<u64> = off.outcomes.iter().copied().collect();
    [Symmetry::Costarted, Symmetry::Dynamic].map(|symmetry| {
        let report = explored(binary, number, Algorithm::Optimal, symmetry);
        let sources = explored(binary, number, Algorithm::SourceSets, symmetry);
        for report in [&report, &sources] {
            assert!(matches!(report.answer, Answer::Holds), "{name}, {symmetry:?}: {:?}", report.answer);
            let found: BTreeSet<u64> = report.outcomes.iter().copied().collect();
            assert_eq!(found, expected, "{name}, {symmetry:?}: {:?}", report.notes);
            assert!(report.figures.executions <= off.figures.executions.max(sources.figures.executions));
        }
        (report.figures.pruned > 0, report.notes)
    })
}

/// All in one file, so that the compiler is called once.
fn sources(routines: &[(String, String)]) -> String {
    let mut text = DECLARATIONS.to_owned();
    for (worker, start) in routines {
        text += worker;
        text += start;
    }
    text +=
        "int main(int c, char **v) { (void)c; of_main = pthread_self(); int k = 0; switch (atoi(v[1])) {\n";
    for number in 0..routines.len() {
        text += &format!("case {number}: k = start{number}(); break;\n");
    }
    text + "}\n__quotient_observe(x * 10 + k);\nreturn 0; }\n"
}

fn worker(number: usize, body: &str, last: &str) -> String {
    format!(
        "static void *worker{number}(void *a) {{ int k = 1; (void)a; {body} int r = atomic_load(&x); atomic_store(&x, r * 2 + k); {last} return 0; }}\n"
    )
}

#[test]
fn asked_for_and_kept() {
    let routine = |(number, (_, body, end, _)): (usize, &(&str, &str, &str, Apart))| {
        let start = format!(
            "static int start{number}(void) {{ int k = 0; pthread_t t[2]; for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker{number}, 0); for (int i = 0; i < 2; i++) pthread_join(t[i], 0); {end} return k; }}\n"
        );
        (worker(number, body, ""), start)
    };
    let routines: Vec<(String, String)> = CASES.iter().enumerate().map(routine).collect();
    let binary = build("own_handles", &sources(&routines));
    for (number, (name, _, _, apart)) in CASES.iter().enumerate() {
        let [costarted, dynamic] = pruned(&binary, number, name);
        assert_eq!(costarted.0, *apart == No, "{name}, co-started: {:?}", costarted.1);
        if *apart != Yes {
            assert!(dynamic.0, "{name}, dynamic: {:?}", dynamic.1);
        }
    }
}

/// Handles that the main thread keeps: read to join the threads, and then, in the planted variants, read again.
#[test]
fn given_and_kept() {
    let mut routines = Vec::new();
    let mut names = Vec::new();
    for (kept, declaration, element, free) in KEPT {
        for (first, last, end) in USES {
            let number = routines.len();
            let at = |index: &str| element.replace('I', index);
            let join = format!("for (int i = 0; i < 2; i++) pthread_join({}, 0);", at("i"));
            let end = end.replace("FREE", free).replace("JOIN", &join);
            let moves = if free.is_empty() { "" } else { "t = realloc(t, 4096);" };
            let end = end.replace("MOVE", moves);
            let end = end.replace("FIRST", &at("0")).replace("SECOND", &at("1"));
            let start = format!(
                "static int start{number}(void) {{ int k = 0; {declaration} sem_init(&s, 0, 0); for (int i = 0; i < 2; i++) pthread_create(&{}, 0, worker{number}, 0); {end} return k; }}\n",
                at("i")
            );
            names.push(format!("{kept}: {first} {last} {end}"));
            routines.push((worker(number, first, last), start));
        }
    }
    let binary = build("kept_handles", &sources(&routines));
    for (number, name) in names.iter().enumerate() {
        let [costarted, dynamic] = pruned(&binary, number, name);
        let joined_apart = name.contains("sem_wait");
        assert_eq!(costarted.0, !joined_apart, "{name}: {:?}", costarted.1);
        assert!(dynamic.0 || joined_apart || name.contains("BIT"), "{name}: {:?}", dynamic.1);
    }
}
