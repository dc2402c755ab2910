//! `native`: what an execution of a C program costs, and what a second process brings.
//!
//! The first program has three threads beside `main` and 42 steps in every execution; its cost is the median over a few
//! bounded explorations by one process. The second is explored completely by one and by two processes: both must make the
//! same number of executions. Elapsed times mean something on an idle machine only; CPU times, and the share of executions
//! made while both processes were at work, also on a busy one.

use crate::{process, quotient, table};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const STEPS: &str = r"
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static void *worker(void *a) {
    for (int i = 0; i < 6; i++) { pthread_mutex_lock(&m); counter++; pthread_mutex_unlock(&m); }
    return a;
}
int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
";

const LOAD_STORE: &str = r"
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *worker(void *a) { atomic_store(&x, atomic_load(&x) + 1); return a; }
int main(void) {
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < N; i++) pthread_join(t[i], 0);
    return 0;
}
";

/// Options of `native`.
#[derive(clap::Args)]
pub struct Options {
    /// Executions of a measurement
    #[arg(long, default_value_t = 50_000)]
    executions: u64,
    /// Measurements; the median counts
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
    /// Threads of the program that is explored by two processes: (N!)^2 executions
    #[arg(long, default_value_t = 6)]
    n: u32,
    /// The most microseconds of CPU time per execution
    #[arg(long, default_value_t = 15.0)]
    most: f64,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
}

fn check(binary: &Path, file: &Path, options: &[&str]) -> Result<Value, String> {
    let finished =
        process::run(Command::new(binary).arg("check").arg(file).arg("--json").args(options), None)?;
    serde_json::from_str(&finished.stdout)
        .map_err(|_| format!("no answer: {}{}", finished.stdout, finished.stderr))
}

fn number(answer: &Value, key: &str) -> f64 {
    answer.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

/// Measures; `false` when an execution costs too much, or two processes make other executions than one.
pub fn run(options: &Options) -> Result<bool, String> {
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    let folder = std::env::temp_dir().join(format!("quotient-native-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map(|()| path).map_err(|e| format!("cannot write {name}: {e}"))
    };
    let (steps, load_store) = (write("steps.c", STEPS)?, write("load_store.c", LOAD_STORE)?);
    let bound = options.executions.to_string();
    let mut costs = Vec::new();
    for _ in 0..options.repetitions.max(1) {
        let answer = check(&binary, &steps, &["--workers", "1", "--max-executions", &bound])?;
        costs.push(number(&answer, "microseconds_per_execution"));
    }
    costs.sort_by(f64::total_cmp);
    let cost = costs[costs.len() / 2];
    println!(
        "one process, 3 threads and main, 42 steps: {cost:.1} us CPU per execution (lowest {:.1}, highest {:.1})\n",
        costs[0],
        costs[costs.len() - 1]
    );
    let size = format!("-DN={}", options.n);
    let one = check(&binary, &load_store, &["--workers", "1", &size])?;
    let two = check(&binary, &load_store, &["--workers", "2", &size])?;
    std::fs::remove_dir_all(&folder).map_err(|e| format!("cannot remove {}: {e}", folder.display()))?;
    let row = |name: &str, answer: &Value| {
        let executions = number(answer, "executions");
        vec![
            name.to_owned(),
            format!("{executions:.0}"),
            format!("{:.2}", number(answer, "cpu_seconds")),
            format!("{:.2}", number(answer, "wall_seconds")),
            format!("{:.0} %", number(answer, "side_by_side") * 100.0 / executions),
            format!("{:.0}", number(answer, "explored_in_vain")),
        ]
    };
    let head = ["processes", "executions", "CPU s", "elapsed s", "side by side", "in vain"];
    print!("{}", table::render(&head, &[row("1", &one), row("2", &two)]));
    println!(
        "\ntwo processes: {:.2} times the CPU time, {:.2} times the throughput",
        number(&two, "cpu_seconds") / number(&one, "cpu_seconds"),
        number(&one, "wall_seconds") / number(&two, "wall_seconds")
    );
    Ok(cost <= options.most && one.get("executions") == two.get("executions"))
}
