//! `symmetry-cost`: what the exact form costs beside heap symmetry alone.
//!
//! The two orders explore different numbers of states, so on the ordered list the CPU time (or the instructions, counted by
//! valgrind) of a whole run is divided by its transitions. On the philosophers the whole runs are compared: that is what the
//! reduction is for. The orders alternate, and medians are compared, so that a busy machine slows both alike.

use crate::side_by_side::{Runs, alternate};
use crate::{process, quotient, table};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `symmetry-cost`.
#[derive(clap::Args)]
pub struct Options {
    /// Updaters of the ordered list
    #[arg(long, default_value_t = 3)]
    updaters: u32,
    /// Keys each of them inserts
    #[arg(long, default_value_t = 4)]
    keys: u32,
    /// Philosophers
    #[arg(long, default_value_t = 12)]
    philosophers: u32,
    /// Runs of each order; the median counts
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
    /// Count instructions, too (needs valgrind; on the ordered list, with three keys)
    #[arg(long)]
    instructions: bool,
    /// The most that `exact` may take per transition of the ordered list, as a multiple of `heap`
    #[arg(long, default_value_t = 1.5)]
    most: f64,
    /// The most that `exact` may take for the philosophers in all, as a multiple of `heap`
    #[arg(long, default_value_t = 1.0 / 3.0)]
    most_in_all: f64,
    /// The folder with the models
    #[arg(long, default_value = "models")]
    models: PathBuf,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
}

const ORDERS: [&str; 2] = ["exact", "heap"];

fn arguments<'a>(order: &'a str, defines: &'a [String]) -> Vec<&'a str> {
    let mut arguments = vec!["--all", "--por", "off", "--symmetry", order];
    arguments.extend(defines.iter().flat_map(|define| ["-D", define.as_str()]));
    arguments
}

/// Instructions of one run of each order, per transition.
fn instructions(binary: &Path, model: &Path, defines: &[String]) -> Result<[f64; 2], String> {
    let mut counts = [0.0; 2];
    for (order, count) in ORDERS.iter().zip(&mut counts) {
        let mut command = Command::new("valgrind");
        command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
        command.arg(binary).arg("check").args(arguments(order, defines)).arg("--json").arg(model);
        let finished = process::run(&mut command, None)?;
        let counted = collected(&finished.stderr)
            .ok_or_else(|| format!("valgrind counted nothing: {}", finished.stderr))?;
        let answer: serde_json::Value =
            serde_json::from_str(&finished.stdout).map_err(|error| format!("not JSON: {error}"))?;
        let transitions = answer["transitions"].as_u64().ok_or("no transitions in the answer")?;
        *count = counted as f64 / transitions.max(1) as f64;
    }
    Ok(counts)
}

/// The number of instructions in valgrind's summary.
fn collected(summary: &str) -> Option<u64> {
    let line = summary.lines().find(|line| line.contains("I refs:") || line.contains("I   refs:"))?;
    line.rsplit(':').next()?.trim().replace(',', "").parse().ok()
}

/// Measures; `false` when the exact form costs more than allowed.
pub fn run(options: &Options) -> Result<bool, String> {
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    let list = options.models.join("ordered_list.bir");
    let philosophers = options.models.join("dining_philosophers.bir");
    let mut lines = Vec::new();
    let mut measure = |name: String, model: &Path, defines: &[String]| -> Result<[Runs; 2], String> {
        let ways = ORDERS.map(|order| arguments(order, defines));
        let runs = alternate(&binary, model, [&ways[0], &ways[1]], options.repetitions, None)?;
        for (order, runs) in ORDERS.iter().zip(&runs) {
            lines.push(vec![
                name.clone(),
                (*order).to_owned(),
                runs.states.to_string(),
                runs.transitions.to_string(),
                format!("{:.2}", runs.median()),
                format!("{:.2}", runs.microseconds_per_transition()),
            ]);
        }
        Ok(runs)
    };
    let size = |name: &str, value: u32| format!("{name}={value}");
    let defines = [size("N", options.updaters), size("MAX", options.keys)];
    let name = format!("ordered list, N = {}, MAX = {}", options.updaters, options.keys);
    let [exact, heap] = measure(name, &list, &defines)?;
    let per_transition = exact.microseconds_per_transition() / heap.microseconds_per_transition();
    let name = format!("philosophers, N = {}", options.philosophers);
    let [exact, heap] = measure(name, &philosophers, &[size("N", options.philosophers)])?;
    let in_all = exact.median() / heap.median();
    let heading = ["instance", "order", "states", "transitions", "CPU s", "us per transition"];
    print!("{}", table::render(&heading, &lines));
    println!(
        "\nordered list: exact takes {per_transition:.2} times the time of heap per transition ({:.2} allowed)",
        options.most
    );
    println!(
        "philosophers: exact takes {in_all:.2} times the time of heap ({:.2} allowed)",
        options.most_in_all
    );
    let mut within = per_transition <= options.most && in_all <= options.most_in_all;
    if options.instructions {
        let [exact, heap] = instructions(&binary, &list, &[size("N", options.updaters), size("MAX", 3)])?;
        let ratio = exact / heap;
        println!(
            "ordered list, N = {}, MAX = 3: {exact:.0} instructions per transition, heap {heap:.0}: {ratio:.2} times",
            options.updaters
        );
        within &= ratio <= options.most;
    }
    Ok(within)
}

#[cfg(test)]
mod tests {
    #[test]
    fn valgrind_counts_are_read() {
        let summary = "==7== Cachegrind\n==7== \n==7== I refs:        605,475,978\n";
        assert_eq!(super::collected(summary), Some(605_475_978));
        assert_eq!(super::collected("==7== nothing\n"), None);
    }
}
