//! Model programs as C programs, and what can be observed of both.
//!
//! Every instruction becomes the C statement that does the same. Where a model thread fails (an assertion, an unlock of
//! what it does not have), the C thread notices that itself and ends, as the model thread does.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

use quotient_stateless::{Ending, Execution};
use quotient_thread_programs::Machine;
use quotient_thread_programs::machine::{State, Status};
use quotient_thread_programs::program::{Comparison, Condition, Instruction, Program, Value};

/// What of the end of an execution counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observed {
    /// Shared variables, and the registers and failures of every thread.
    Everything,
    /// Shared variables. Threads of the same code then are the same routine with the same argument.
    Variables,
}

fn value(value: Value) -> String {
    match value {
        Value::Constant(c) => c.to_string(),
        Value::Register(r) => format!("r[{r}]"),
        Value::Sum(r, c) => format!("(r[{r}] + {c})"),
    }
}

fn condition(c: &Condition) -> String {
    let comparison = match c.comparison {
        Comparison::Equal => "==",
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
    };
    format!("r[{}] {comparison} {}", c.register, c.constant)
}

fn statement(instruction: &Instruction, n: usize) -> String {
    use Instruction::*;
    match instruction {
        Load { register, variable } => format!("r[{register}] = atomic_load(&p{n}_x[{variable}]);"),
        Store { variable, value: v } => format!("atomic_store(&p{n}_x[{variable}], {});", value(*v)),
        FetchAdd { register, variable, amount } => {
            format!("r[{register}] = atomic_fetch_add(&p{n}_x[{variable}], {amount});")
        }
        Count { variable, amount, watched: None, .. } => {
            format!("atomic_fetch_add(&p{n}_x[{variable}], {amount});")
        }
        Count { register, variable, amount, watched: Some(watched) } => {
            format!("r[{register}] = atomic_fetch_add(&p{n}_x[{variable}], {amount}) == {watched};")
        }
        CompareAndSwap { register, variable, expected, new } => format!(
            "{{ long e = {}, v = {}; r[{register}] = atomic_compare_exchange_strong(&p{n}_x[{variable}], &e, v); }}",
            value(*expected),
            value(*new)
        ),
        Lock(m) => format!("pthread_mutex_lock(&m[{m}]); h |= 1 << {m};"),
        Unlock(m) => format!("if (!(h >> {m} & 1)) FAIL; h &= ~(1 << {m}); pthread_mutex_unlock(&m[{m}]);"),
        TryLock { register, mutex } => {
            format!(
                "r[{register}] = pthread_mutex_trylock(&m[{mutex}]) == 0; if (r[{register}]) h |= 1 << {mutex};"
            )
        }
        ReadLock(_) => "if (hw) STOP; pthread_rwlock_rdlock(&l); hr++;".to_owned(),
        WriteLock(_) => "if (hw) STOP; pthread_rwlock_wrlock(&l); hw = 1;".to_owned(),
        TryWriteLock { register, .. } => {
            format!("r[{register}] = pthread_rwlock_trywrlock(&l) == 0; if (r[{register}]) hw = 1;")
        }
        Release(_) => {
            "if (!hw && !hr) FAIL; if (hw) hw = 0; else hr--; pthread_rwlock_unlock(&l);".to_owned()
        }
        Wait { mutex, .. } => format!("if (!(h >> {mutex} & 1)) FAIL; pthread_cond_wait(&c, &m[{mutex}]);"),
        TimedWait { register, mutex, .. } => format!(
            "if (!(h >> {mutex} & 1)) FAIL; \
             r[{register}] = pthread_cond_timedwait(&c, &m[{mutex}], &soon) == ETIMEDOUT;"
        ),
        Signal(_) => "pthread_cond_signal(&c);".to_owned(),
        Broadcast(_) => "pthread_cond_broadcast(&c);".to_owned(),
        SemaphoreWait(_) => "sem_wait(&s);".to_owned(),
        SemaphorePost(_) => "sem_post(&s);".to_owned(),
        Barrier(_) => "pthread_barrier_wait(&b);".to_owned(),
        Create(t) => format!("START({t});"),
        Join(set) => set.iter().map(|t| format!("pthread_join(handle[{t}], 0);")).collect(),
        Choose { register, choices } => format!("r[{register}] = __quotient_choose({choices});"),
        Set { register, value: v } => format!("r[{register}] = {};", value(*v)),
        Assert(c) => format!("if (!({})) FAIL;", condition(c)),
        Branch { condition: c, .. } => format!("if ({})", condition(c)),
        Jump(_) => String::new(),
    }
}

/// The text shared by all programs of a file.
pub const HEADER: &str = "\
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
int __quotient_choose(int);
void __quotient_observe_at_end(const void *, unsigned long);
#define FAIL { f[0] = 1; return 0; }
#define STOP sem_wait(&never)
static pthread_t handle[8];
static pthread_mutex_t m[2];
static pthread_rwlock_t l;
static pthread_cond_t c;
static sem_t s, never;
static pthread_barrier_t b;
static const struct timespec soon;
";

/// The program as functions `p<n>_t<thread>` and `p<n>`, which starts it.
pub fn translate(program: &Program, n: usize, observed: Observed) -> String {
    let mut out = String::new();
    let threads = program.threads.len();
    let initial: Vec<String> = program.variables.iter().map(ToString::to_string).collect();
    let _ = writeln!(out, "static atomic_long p{n}_x[{}] = {{{}}};", initial.len(), initial.join(", "));
    let _ = writeln!(out, "static long p{n}_r[{threads}][5];");
    // Threads of equal code are one routine, if they need not know who they are.
    let routine = |t: usize| match observed {
        Observed::Everything => t,
        Observed::Variables => program.threads.iter().position(|c| *c == program.threads[t]).unwrap_or(t),
    };
    for t in 0..threads {
        let _ = writeln!(out, "static void *p{n}_t{t}(void *me);");
    }
    let start = |t: usize| {
        let argument = if observed == Observed::Everything { format!("p{n}_r[{t}]") } else { "0".to_owned() };
        format!("pthread_create(&handle[{t}], 0, p{n}_t{}, {argument})", routine(t))
    };
    for (t, code) in program.threads.iter().enumerate() {
        let registers = match observed {
            Observed::Everything => "long *r = me, *f = r + 4;",
            Observed::Variables => "long own[5] = {0}, *r = own, *f = own + 4;",
        };
        let _ = writeln!(out, "static void *p{n}_t{t}(void *me) {{ {registers} int h = 0, hr = 0, hw = 0;");
        for (i, instruction) in code.iter().enumerate() {
            let mut text = statement(instruction, n);
            if let Instruction::Create(child) = instruction {
                text = format!("{};", start(*child as usize));
            }
            let mut copy = *instruction;
            let jump = copy.target_mut().map_or_else(String::new, |target| {
                if (*target as usize) < code.len() {
                    format!("goto L{target};")
                } else {
                    "goto end;".to_owned()
                }
            });
            let _ = writeln!(out, "  L{i}: {text} {jump};");
        }
        let _ = writeln!(out, "  end: (void)f; (void)h; (void)hr; (void)hw; (void)r; return 0; }}");
    }
    let _ = writeln!(out, "static void p{n}(void) {{");
    let _ = writeln!(
        out,
        "  sem_init(&s, 0, {}); pthread_barrier_init(&b, 0, {});",
        program.semaphores[0], program.barriers[0]
    );
    if observed == Observed::Everything {
        let _ = writeln!(out, "  __quotient_observe_at_end(p{n}_r, sizeof p{n}_r);");
    }
    let _ = writeln!(out, "  __quotient_observe_at_end(p{n}_x, sizeof p{n}_x);");
    for t in (0..threads).filter(|&t| !program.created().contains(t as u8)) {
        let _ = writeln!(out, "  {};", start(t));
    }
    let _ = writeln!(out, "}}");
    out
}

/// A file of programs, of which the first argument chooses one.
pub fn file(programs: &[Program], observed: Observed) -> String {
    let mut out = HEADER.to_owned();
    for (n, program) in programs.iter().enumerate() {
        out.push_str(&translate(program, n, observed));
    }
    out.push_str("int main(int argc, char **argv) { sem_init(&never, 0, 0); pthread_mutex_init(&m[0], 0);\n");
    out.push_str("  pthread_mutex_init(&m[1], 0); pthread_rwlock_init(&l, 0); pthread_cond_init(&c, 0);\n");
    out.push_str("  switch (argc > 1 ? atoi(argv[1]) : 0) {\n");
    for n in 0..programs.len() {
        let _ = writeln!(out, "  case {n}: p{n}(); break;");
    }
    out.push_str("  }\n  pthread_exit(0);\n}\n");
    out
}

/// The hash that the runtime makes of memory: word by word.
fn hash(words: &[i64]) -> u64 {
    words.iter().fold(0, |hash: u64, word| {
        (hash ^ *word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_add(1)
    })
}

/// Outcomes as the runtime tells them: ending in the upper byte, hash below.
fn code(state: &State, observed: Observed) -> u64 {
    let ended = |s: &Status| matches!(s, Status::Ended | Status::Failed | Status::Unborn);
    if !state.threads.iter().all(|t| ended(&t.status)) {
        return (Ending::Deadlock as u64) << 56;
    }
    let mut words = Vec::new();
    if observed == Observed::Everything {
        for thread in &state.threads {
            words.extend(thread.registers);
            words.push(i64::from(thread.status == Status::Failed));
        }
    }
    words.extend(&state.variables);
    (Ending::Finished as u64) << 56 | hash(&words) >> 8
}

/// All outcomes, by visiting all states; `None` if there are too many.
pub fn outcomes(program: &Program, observed: Observed, limit: usize) -> Option<BTreeSet<u64>> {
    let mut start = Machine::new(program.clone());
    start.restart();
    let mut seen: HashSet<State> = HashSet::from([start.state().clone()]);
    let mut left = vec![start];
    let mut found = BTreeSet::new();
    while let Some(machine) = left.pop() {
        let enabled = machine.enabled();
        if enabled.is_empty() {
            found.insert(code(machine.state(), observed));
        }
        for thread in enabled.iter() {
            let ways = machine.pending(thread, 0).map_or(1, |o| o.alternatives);
            for alternative in 0..ways {
                let mut next = machine.clone();
                next.step(thread, alternative);
                if seen.insert(next.state().clone()) {
                    if seen.len() > limit {
                        return None;
                    }
                    left.push(next);
                }
            }
        }
    }
    Some(found)
}
