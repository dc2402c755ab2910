//! Random programs with barriers and sequentially consistent atomic accesses: under each memory model they show what visiting all states
//! shows. Barriers at which arrivals are independent, others, and those that deadlock.
//!
//! `QUOTIENT_RANDOM_BARRIERS=500 cargo test -p quotient-native --test programs random_barriers` for volume, `QUOTIENT_SEED` to start
//! elsewhere.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;
use std::path::PathBuf;

use quotient_native::session::Surroundings;
use quotient_native::{Binary, Build, Request, check};
use quotient_stateless::Ending;
use quotient_stateless::random::Random;
use quotient_testing::setting;

use crate::memory_models::{MODELS, finished};

/// Programs in a file.
const BATCH: usize = 16;

/// A statement; variables and barriers by number.
#[derive(Clone, Copy, Debug)]
enum Statement {
    Load(usize),
    Store(usize, u64),
    Add(usize),
    Wait(usize),
    /// Tells whether it is the serial thread.
    Serial(usize),
    /// Waits at the barrier if the variable is greater than 1.
    WaitIf(usize, usize),
}

impl Statement {
    fn source(self, n: usize) -> String {
        match self {
            Statement::Load(v) => format!("r[k++] = atomic_load(&p{n}_x[{v}]);"),
            Statement::Store(v, value) => format!("atomic_store(&p{n}_x[{v}], {value});"),
            Statement::Add(v) => format!("r[k++] = atomic_fetch_add(&p{n}_x[{v}], 1);"),
            Statement::Wait(b) => format!("pthread_barrier_wait(&p{n}_b[{b}]);"),
            Statement::Serial(b) => format!("r[k++] = pthread_barrier_wait(&p{n}_b[{b}]) != 0;"),
            Statement::WaitIf(v, b) => format!(
                "r[k++] = atomic_load(&p{n}_x[{v}]); if (r[k - 1] > 1) pthread_barrier_wait(&p{n}_b[{b}]);"
            ),
        }
    }
}

#[derive(Clone, Debug)]
struct Program {
    threads: Vec<Vec<Statement>>,
    /// How many each barrier waits for.
    counts: [usize; 2],
}

impl Program {
    fn random(random: &mut Random) -> Program {
        let threads = 2 + random.below(2);
        let count = |random: &mut Random| if random.one_in(5) { 2 } else { threads };
        let counts = [count(random), count(random)];
        let waits = 1 + random.below(2);
        let code = |random: &mut Random| {
            // Mostly all wait as often as the others.
            let (mut waits, mut met) = (if random.one_in(12) { 1 } else { waits }, 0);
            let mut code = Vec::new();
            while waits > 0 || code.len() < 3 {
                let (v, b) = (random.below(2), met % 2);
                if waits == 0 || code.len() < 4 && random.one_in(2) {
                    code.push(match random.below(3) {
                        0 => Statement::Load(v),
                        1 => Statement::Store(v, 1 + random.below(3) as u64),
                        _ => Statement::Add(v),
                    });
                    continue;
                }
                (waits, met) = (waits.saturating_sub(1), met + 1);
                code.push(match random.below(16) {
                    0 => Statement::WaitIf(v, b),
                    1..=4 => Statement::Serial(b),
                    _ => Statement::Wait(b),
                });
            }
            code
        };
        Program { threads: (0..threads).map(|_| code(random)).collect(), counts }
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// The next statement of each thread, and whether it has looked at its condition already.
    at: Vec<(usize, bool)>,
    /// At which barrier each thread waits.
    waits: Vec<Option<usize>>,
    reads: Vec<Vec<u64>>,
    memory: [u64; 2],
}

impl State {
    /// The states after a step of a thread.
    fn after(&self, program: &Program, thread: usize) -> Vec<State> {
        let Some(&statement) = program.threads[thread].get(self.at[thread].0) else { return Vec::new() };
        if self.waits[thread].is_some() {
            return Vec::new();
        }
        let mut next = self.clone();
        next.at[thread] = (self.at[thread].0 + 1, false);
        let reads = &mut next.reads[thread];
        match statement {
            Statement::Load(v) => reads.push(self.memory[v]),
            Statement::Store(v, value) => next.memory[v] = value,
            Statement::Add(v) => {
                reads.push(self.memory[v]);
                next.memory[v] += 1;
            }
            Statement::WaitIf(v, _) if !self.at[thread].1 => {
                reads.push(self.memory[v]);
                if self.memory[v] > 1 {
                    next.at[thread] = (self.at[thread].0, true);
                }
            }
            Statement::Wait(b) | Statement::Serial(b) | Statement::WaitIf(_, b) => {
                next.at[thread] = self.at[thread];
                next.waits[thread] = Some(b);
                let there = |t: &usize| next.waits[*t] == Some(b);
                let there: Vec<usize> = (0..next.waits.len()).filter(there).collect();
                if there.len() < program.counts[b] {
                    return vec![next];
                }
                let released = |serial: &usize| next.released(program, &there, *serial);
                return there.iter().map(released).collect();
            }
        }
        vec![next]
    }

    fn released(&self, program: &Program, there: &[usize], serial: usize) -> State {
        let mut next = self.clone();
        for &thread in there {
            if let Statement::Serial(_) = program.threads[thread][self.at[thread].0] {
                next.reads[thread].push(u64::from(thread == serial));
            }
            next.at[thread] = (self.at[thread].0 + 1, false);
            next.waits[thread] = None;
        }
        next
    }
}

/// What a program can show, by visiting all states.
fn expected(program: &Program) -> BTreeSet<u64> {
    let threads = program.threads.len();
    let first = State {
        at: vec![(0, false); threads],
        waits: vec![None; threads],
        reads: vec![Vec::new(); threads],
        memory: [0; 2],
    };
    let (mut seen, mut open, mut found) = (HashSet::new(), vec![first], BTreeSet::new());
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let next: Vec<State> = (0..threads).flat_map(|thread| state.after(program, thread)).collect();
        if next.is_empty() {
            let stuck = state.waits.iter().any(Option::is_some);
            let deadlock = (Ending::Deadlock as u64) << 56;
            found.insert(if stuck { deadlock } else { finished(&state.reads, &state.memory) });
        }
        open.extend(next);
    }
    found
}

fn build(programs: &[Program], name: &str) -> Binary {
    let mut out = String::from(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
         void __quotient_observe_at_end(const void *, unsigned long);\n",
    );
    for (n, program) in programs.iter().enumerate() {
        let threads = program.threads.len();
        let _ = writeln!(out, "static atomic_long p{n}_x[2]; static long p{n}_r[{threads}][8];");
        let _ = writeln!(out, "static pthread_barrier_t p{n}_b[2];");
        for (t, code) in program.threads.iter().enumerate() {
            let code: String = code.iter().map(|s| s.source(n) + " ").collect();
            let _ = writeln!(
                out,
                "static void *p{n}_t{t}(void *me) {{ long *r = me; int k = 0; {code}(void)r; (void)k; return 0; }}"
            );
        }
        let [first, second] = program.counts;
        let _ = writeln!(
            out,
            "static void p{n}(void) {{ pthread_t h; for (int t = 0; t < {threads}; t++) for (int k = 0; k < 8; k++) p{n}_r[t][k] = -7;\n\
             pthread_barrier_init(&p{n}_b[0], 0, {first}); pthread_barrier_init(&p{n}_b[1], 0, {second});\n\
             __quotient_observe_at_end(p{n}_r, sizeof p{n}_r); __quotient_observe_at_end(p{n}_x, sizeof p{n}_x);"
        );
        for t in 0..threads {
            let _ = writeln!(out, "pthread_create(&h, 0, p{n}_t{t}, p{n}_r[{t}]);");
        }
        out.push_str("}\n");
    }
    out.push_str("int main(int argc, char **argv) { switch (argc > 1 ? atoi(argv[1]) : 0) {\n");
    for n in 0..programs.len() {
        let _ = writeln!(out, "case {n}: p{n}(); break;");
    }
    out.push_str("}\npthread_exit(0); }\n");
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.c"));
    std::fs::write(&path, out).expect("the test directory can be written");
    Build { sources: vec![path], ..Build::default() }.run().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn barriers_show_what_all_states_show() {
    let count = setting("QUOTIENT_RANDOM_BARRIERS", BATCH as u64) as usize;
    let mut random = Random(setting("QUOTIENT_SEED", 3));
    let (mut shown, mut stuck, mut executions) = (0, 0, [0; 3]);
    for batch in 0..count.div_ceil(BATCH) {
        let programs: Vec<Program> = (0..BATCH).map(|_| Program::random(&mut random)).collect();
        let binary = build(&programs, &format!("random_barriers_{batch}"));
        for (number, program) in programs.iter().enumerate() {
            let all = expected(program);
            shown += all.len();
            stuck += usize::from(all.contains(&((Ending::Deadlock as u64) << 56)));
            for (model, executions) in MODELS.into_iter().zip(&mut executions) {
                let arguments = vec![number.to_string().into()];
                let surroundings = Surroundings { arguments, ..Surroundings::default() };
                let request = Request { memory: Some(model), all: true, surroundings, ..Request::default() };
                let report = check(&binary, &request, &mut |_| true).expect("an answer");
                let found: BTreeSet<u64> = report.outcomes.iter().copied().collect();
                assert_eq!(found, all, "{batch}/{number} under {model:?}: {program:?}, {:?}", report.answer);
                *executions += report.figures.executions;
            }
        }
    }
    println!(
        "{count} programs, {stuck} can deadlock, {shown} outcomes; executions under sc, tso, rc11: {executions:?}"
    );
    assert!(shown > 2 * count && stuck > 0 && stuck < count, "{shown} outcomes, {stuck} deadlocks");
}
