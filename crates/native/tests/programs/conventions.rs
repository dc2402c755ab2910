//! The conventions of the software verification competition: atomic sections, assumptions, error functions, preprocessed
//! files, many threads.
//!
//! Random programs with sections are compared with an enumeration of all orders of their statements that shares no code with
//! the exploration: `QUOTIENT_RANDOM_SECTIONS=2000 cargo test -p quotient-native --test programs conventions`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use quotient_native::session::Surroundings;
use quotient_native::{Answer, Binary, Build, Report, Request, check};
use quotient_seams::Incomplete;
use quotient_stateless::Algorithm;

const DECLARATIONS: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\n\
    extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void), __VERIFIER_assume(int);\n\
    extern int __quotient_choose(int); extern void __quotient_observe(long);\n";

fn build(name: &str, text: &str) -> Binary {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("convention_{name}.c"));
    std::fs::write(&path, format!("{DECLARATIONS}{text}")).expect("the test directory can be written");
    Build { sources: vec![path], ..Build::default() }.run().unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn request() -> Request {
    Request { allow_races: true, max_time: Some(Duration::from_secs(60)), ..Request::default() }
}

fn report(name: &str, text: &str) -> Report {
    check(&build(name, text), &request(), &mut |_| true).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn shown(report: &Report) -> String {
    match &report.answer {
        Answer::Holds => "holds".to_owned(),
        Answer::Violated(trace) => trace.failure.kind.text().to_owned(),
        Answer::Undecided(Incomplete::Vacuous(_)) => "vacuous".to_owned(),
        Answer::Undecided(why) => format!("undecided: {why}"),
        Answer::Refused(why, _) => format!("refused: {why}"),
    }
}

/// Two threads with these bodies, and what `main` does after both.
fn pair(globals: &str, first: &str, second: &str, after: &str) -> String {
    format!(
        "{globals}\nstatic void *f(void *a) {{ {first} return a; }}\nstatic void *g(void *a) {{ {second} return a; }}\n\
         int main(void) {{ pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0);\n\
         pthread_join(t, 0); pthread_join(u, 0); {after} return 0; }}\n"
    )
}

#[test]
fn sections_are_atomic_against_plain_accesses() {
    let reads = "__VERIFIER_atomic_begin(); int r = x; int s = x; __VERIFIER_atomic_end(); assert(r == s);";
    assert_eq!(shown(&report("reads", &pair("static int x;", reads, "x = 1; x = 2;", ""))), "holds");
    let apart = reads.replace("__VERIFIER_atomic_begin();", "").replace("__VERIFIER_atomic_end();", "");
    assert_eq!(shown(&report("apart", &pair("static int x;", &apart, "x = 1;", ""))), "assertion failed");
    let atomics = "static _Atomic int x;";
    assert_eq!(shown(&report("atomics", &pair(atomics, reads, "x = 1;", ""))), "holds");
    // A function by its name; nested sections; one that is left in the middle.
    let named = "static int x, y; void __VERIFIER_atomic_both(int n) { if (n == 7) return; x++; y++; }\n\
        static void look(void) { assert(x == y); }\nvoid __VERIFIER_atomic_look(void) { __VERIFIER_atomic_begin(); look(); __VERIFIER_atomic_end(); look(); }";
    let calls = pair(
        named,
        "__VERIFIER_atomic_both(1); __VERIFIER_atomic_both(7);",
        "__VERIFIER_atomic_look();",
        "assert(x == 1);",
    );
    assert_eq!(shown(&report("named", &calls)), "holds");
    assert_eq!(shown(&report("unnamed", &calls.replace("atomic_both", "both"))), "assertion failed");
    // Without races allowed, an access outside of all sections is one.
    let racy = build(
        "racy",
        &pair("static int x;", "__VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end();", "x = 1;", ""),
    );
    let strict = check(&racy, &Request::default(), &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(shown(&strict), "data race");
    let ordered = build(
        "ordered",
        &pair(
            "static int x;",
            "__VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end();",
            "__VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end();",
            "assert(x == 2);",
        ),
    );
    let strict = check(&ordered, &Request::default(), &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(shown(&strict), "holds");
}

#[test]
fn assumptions_and_errors_by_name() {
    // A lock made of an assumption in a section.
    let lock = "static int held, inside; void __VERIFIER_atomic_take(void) { __VERIFIER_assume(!held); held = 1; }\n\
        static void visit(void) { __VERIFIER_atomic_take(); inside++; assert(inside == 1); inside--; __VERIFIER_atomic_begin(); held = 0; __VERIFIER_atomic_end(); }";
    let found = report("lock", &pair(lock, "visit();", "visit();", "assert(!held);"));
    assert_eq!(shown(&found), "holds");
    assert!(found.figures.executions >= 2);
    // What is taken back was never seen by others.
    let back =
        "static int x; static int y; void __VERIFIER_atomic_try(void) { x = 1; __VERIFIER_assume(0); }";
    assert_eq!(
        shown(&report("back", &pair(back, "if (y) __VERIFIER_atomic_try();", "y = 1; assert(x == 0);", ""))),
        "holds"
    );
    // No execution is left: that is not an answer.
    assert_eq!(
        shown(&report("nothing", &pair(back, "__VERIFIER_atomic_try();", "assert(x == 0);", ""))),
        "vacuous"
    );
    // The program's own definitions do nothing, or something else.
    let own = "void reach_error(void) {} void assume_abort_if_not(int c) { if (!c) abort(); } static int x;";
    assert_eq!(
        shown(&report("error", &pair(own, "x = 1;", "if (x) reach_error();", ""))),
        "error location reached"
    );
    assert_eq!(
        shown(&report(
            "no_error",
            &pair(own, "x = 1;", "assume_abort_if_not(x == 0); if (x > 1) reach_error();", "")
        )),
        "holds"
    );
    assert_eq!(shown(&report("abort", &pair(own, "x = 1;", "if (x) abort();", ""))), "crash");
    let hollow = "void __VERIFIER_atomic_begin(void) {} void __VERIFIER_atomic_end(void) {} static int x;";
    let reads = "__VERIFIER_atomic_begin(); int r = x; int s = x; __VERIFIER_atomic_end(); assert(r == s);";
    assert_eq!(shown(&report("hollow", &pair(hollow, reads, "x = 1;", ""))), "holds");
}

#[test]
fn what_cannot_be_done_in_a_section_is_refused() {
    let lock = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER;";
    let waits = pair(
        lock,
        "pthread_mutex_lock(&m); pthread_mutex_unlock(&m);",
        "__VERIFIER_atomic_begin(); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); __VERIFIER_atomic_end();",
        "",
    );
    assert!(
        shown(&report("waits", &waits))
            .starts_with("refused: lock: a thread waits inside of an atomic section")
    );
    let wait = pair(
        lock,
        "",
        "pthread_mutex_lock(&m); __VERIFIER_atomic_begin(); pthread_cond_wait(&c, &m); __VERIFIER_atomic_end();",
        "",
    );
    assert!(shown(&report("wait", &wait)).starts_with("refused: wait: inside of an atomic section"));
    let end = pair(lock, "__VERIFIER_atomic_end();", "", "");
    assert_eq!(shown(&report("end", &end)), "misuse of a primitive");
}

#[test]
fn preprocessed_files_are_programs() {
    let binary_directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, preprocessed) = (binary_directory.join("pre.c"), binary_directory.join("pre.i"));
    let text = pair(
        "static int x;",
        "__VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end();",
        "x++;",
        "assert(x == 2);",
    );
    std::fs::write(&source, format!("{DECLARATIONS}{text}")).expect("the test directory can be written");
    let done = std::process::Command::new("cc").arg("-E").arg(&source).arg("-o").arg(&preprocessed).status();
    assert!(done.is_ok_and(|status| status.success()));
    let binary =
        Build { sources: vec![preprocessed], ..Build::default() }.run().unwrap_or_else(|e| panic!("{e}"));
    let found = check(&binary, &request(), &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(shown(&found), "assertion failed");
    // Types of a smaller platform: the library would write past them.
    let elsewhere = "typedef unsigned int size_t; typedef union { char size[24]; long align; } pthread_mutex_t;\n\
        extern int pthread_mutex_init(pthread_mutex_t *, const void *); pthread_mutex_t m; size_t n;\n\
        int main(void) { return pthread_mutex_init(&m, 0); }\n";
    let preprocessed = binary_directory.join("elsewhere.i");
    std::fs::write(&preprocessed, elsewhere).expect("the test directory can be written");
    let binary =
        Build { sources: vec![preprocessed], ..Build::default() }.run().unwrap_or_else(|e| panic!("{e}"));
    let found = check(&binary, &request(), &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    assert!(shown(&found).contains("preprocessed for another platform"), "{}", shown(&found));
}

#[test]
fn sixty_four_threads() {
    let text = |threads: usize| {
        format!(
            "static int n[{threads}]; static void *f(void *a) {{ ++*(int *)a; return a; }}\n\
             int main(void) {{ pthread_t t[{threads}]; for (int i = 0; i < {threads}; i++) pthread_create(&t[i], 0, f, &n[i]);\n\
             for (int i = 0; i < {threads}; i++) {{ pthread_join(t[i], 0); assert(n[i] == 1); }} return 0; }}\n"
        )
    };
    let strict = |name: &str, threads| {
        let binary = build(name, &text(threads));
        check(&binary, &Request::default(), &mut |_| true).unwrap_or_else(|e| panic!("{name}: {e}"))
    };
    let most = strict("most", 63);
    assert_eq!((shown(&most).as_str(), most.figures.executions, most.figures.threads), ("holds", 1, 64));
    assert!(shown(&strict("more", 64)).starts_with("refused: more than 64 threads"));
    // The last of them is as good as the first: a race, a barrier for all.
    let barrier = "static pthread_barrier_t b; static int x; static void *f(void *a) { if (a) x++; pthread_barrier_wait(&b); return a; }\n\
        int main(void) { pthread_t t[63]; pthread_barrier_init(&b, 0, 64); for (long i = 0; i < 63; i++) pthread_create(&t[i], 0, f, (void *)(long)(i > 60));\n\
        pthread_barrier_wait(&b); for (int i = 0; i < 63; i++) pthread_join(t[i], 0); return 0; }\n";
    let last = check(
        &build("last", barrier),
        &Request { max_executions: Some(3), ..Request::default() },
        &mut |_| true,
    );
    assert_eq!(shown(&last.unwrap_or_else(|e| panic!("{e}"))), "data race");
}

/// A statement of a random program: on one of two variables and the thread's register.
#[derive(Clone, Debug)]
enum Statement {
    Load(usize),
    Store(usize, i64),
    Choose,
    Assume(usize, i64),
    Section(Vec<Statement>),
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn statement(&mut self, outside: bool) -> Statement {
        match self.below(if outside { 12 } else { 7 }) {
            0..=2 => Statement::Load(self.below(2) as usize),
            3 | 4 => Statement::Store(self.below(2) as usize, self.below(3) as i64),
            5 => Statement::Choose,
            6 if !outside => Statement::Assume(self.below(2) as usize, self.below(2) as i64),
            6 => Statement::Load(0),
            _ => Statement::Section((0..1 + self.below(3)).map(|_| self.statement(false)).collect()),
        }
    }
}

fn source(statement: &Statement) -> String {
    match statement {
        Statement::Load(v) => format!("r = r * 3 + v[{v}];"),
        Statement::Store(v, k) => format!("v[{v}] = r + {k};"),
        Statement::Choose => "r += __quotient_choose(2);".to_owned(),
        Statement::Assume(v, k) => format!("__VERIFIER_assume(v[{v}] != {k});"),
        Statement::Section(inner) => {
            let inner: String = inner.iter().map(source).collect();
            format!("__VERIFIER_atomic_begin(); {inner} __VERIFIER_atomic_end();")
        }
    }
}

type State = ([i64; 2], [i64; 2]);

/// The states after a statement of thread `t`; none if an assumption fails.
fn after(statement: &Statement, t: usize, mut state: State) -> Vec<State> {
    match statement {
        Statement::Load(v) => state.1[t] = state.1[t] * 3 + state.0[*v],
        Statement::Store(v, k) => state.0[*v] = state.1[t] + k,
        Statement::Choose => {
            let mut other = state;
            other.1[t] += 1;
            return vec![state, other];
        }
        Statement::Assume(v, k) if state.0[*v] == *k => return Vec::new(),
        Statement::Assume(..) => {}
        Statement::Section(inner) => {
            return inner.iter().fold(vec![state], |states, statement| {
                states.into_iter().flat_map(|state| after(statement, t, state)).collect()
            });
        }
    }
    vec![state]
}

fn all_ends(threads: &[Vec<Statement>; 2], at: [usize; 2], state: State, ends: &mut BTreeSet<State>) {
    if at[0] == threads[0].len() && at[1] == threads[1].len() {
        ends.insert(state);
    }
    for t in 0..2 {
        let Some(statement) = threads[t].get(at[t]) else { continue };
        let mut next = at;
        next[t] += 1;
        for state in after(statement, t, state) {
            all_ends(threads, next, state, ends);
        }
    }
}

#[test]
fn random_sections_have_the_outcomes_of_all_orders() {
    const BATCH: usize = 40;
    let count = std::env::var("QUOTIENT_RANDOM_SECTIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(BATCH);
    let (mut sections, mut choices, mut assumptions) = (0, 0, 0);
    for batch in 0..usize::div_ceil(count, BATCH) {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (batch as u64 + 1));
        let programs: Vec<[Vec<Statement>; 2]> = (0..BATCH)
            .map(|_| [(); 2].map(|()| (0..2 + random.below(3)).map(|_| random.statement(true)).collect()))
            .collect();
        let mut text = "static long v[2], end[2];\n".to_owned();
        for (n, program) in programs.iter().enumerate() {
            for (t, thread) in program.iter().enumerate() {
                let body: String = thread.iter().map(source).collect();
                text += &format!(
                    "static void *t{n}_{t}(void *a) {{ long r = {t}; {body} end[{t}] = r; return a; }}\n"
                );
            }
        }
        let table: String = (0..BATCH).map(|n| format!("{{ t{n}_0, t{n}_1 }},")).collect();
        text += &format!(
            "static void *(*table[][2])(void *) = {{ {table} }};\nint main(int n, char **a) {{ int k = atoi(a[n - 1]); pthread_t t, u;\n\
             pthread_create(&t, 0, table[k][0], 0); pthread_create(&u, 0, table[k][1], 0); pthread_join(t, 0); pthread_join(u, 0);\n\
             __quotient_observe(v[0]); __quotient_observe(v[1]); __quotient_observe(end[0]); __quotient_observe(end[1]); return 0; }}\n"
        );
        let binary = build(&format!("random_{batch}"), &text);
        for (number, program) in programs.iter().enumerate() {
            let written = format!("{program:?}");
            sections += written.matches("Section").count();
            choices += written.matches("Choose").count();
            assumptions += written.matches("Assume").count();
            let mut ends = BTreeSet::new();
            all_ends(program, [0; 2], ([0; 2], [0, 1]), &mut ends);
            for (algorithm, workers) in
                [(Algorithm::Optimal, 1), (Algorithm::Optimal, 2), (Algorithm::SourceSets, 1)]
            {
                let surroundings =
                    Surroundings { arguments: vec![number.to_string().into()], ..Surroundings::default() };
                let request = Request { algorithm, workers, split_after: 0, surroundings, ..request() };
                let found =
                    check(&binary, &request, &mut |_| true).unwrap_or_else(|e| panic!("{number}: {e}"));
                let expected = if ends.is_empty() { "vacuous" } else { "holds" };
                assert_eq!(shown(&found), expected, "{batch}.{number}: {program:?}");
                // Endings are in the upper byte; that of an infeasible execution is not an outcome.
                let finished = found.outcomes.iter().filter(|code| **code >> 56 == 0).count();
                assert_eq!(finished, ends.len(), "{algorithm:?}, {workers}, {batch}.{number}: {program:?}");
            }
        }
    }
    assert!(
        sections > count / 2 && choices > count / 4 && assumptions > count / 8,
        "{sections} {choices} {assumptions}"
    );
}

#[test]
fn variables_that_two_files_define() {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).expect("the test directory can be written");
        path
    };
    let sources = vec![
        file("common_one.c", "int shared; int main(void) { return shared; }\n"),
        file("common_two.c", "int shared;\n"),
    ];
    let Err(error) = (Build { sources: sources.clone(), ..Build::default() }).run() else {
        panic!("the linker takes it")
    };
    assert!(error.to_string().contains("-fcommon"), "{error}");
    let flags = vec!["-fcommon".into()];
    let built = Build { sources, flags, ..Build::default() }.run();
    assert!(built.is_ok(), "{:?}", built.err().map(|error| error.to_string()));
}
