//! `scale`: what several workers, checkpoints and growth cost, measured in one run.
//!
//! Two workers are compared with one of the same binary, and with two searches side by side that have nothing to do with each other: what these reach
//! together is the most that the machine can give. Wall time counts there, so the machine has to be idle; the same for two processes. Checkpoints are compared by CPU time.
//! Each row is printed as soon as it is measured.

use crate::{process, quotient};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Options of `scale`.
#[derive(clap::Args)]
pub struct Options {
    /// Folder of the models
    #[arg(long, default_value = "models")]
    models: PathBuf,
    /// Repetitions; the least time counts
    #[arg(long, default_value_t = 3)]
    repetitions: usize,
    /// Philosophers up to this number, for the table of growth (16 takes 5 GB)
    #[arg(long, default_value_t = 14)]
    largest: u32,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
}

/// Two wide models, one that is narrow and deep, two with symmetry and partial order.
const INSTANCES: [(&str, &[&str]); 5] = [
    ("phils.pml", &["-DN=13", "--raw"]),
    ("peterson_n.pml", &["-DN=4", "--raw"]),
    ("bakery.pml", &["-DN=3", "-DMAX=9", "--raw"]),
    ("peterson_n.pml", &["-DN=5"]),
    ("peterson_n.pml", &["-DN=5", "--por", "off"]),
];

/// What is asked for: the share of what two searches side by side reach, by two workers and by two processes; what checkpoints and going on may cost.
const SHARE: f64 = 0.85;
const PROCESSES: f64 = 0.7;
const CHECKPOINT: f64 = 0.08;
const RESUME: f64 = 0.20;

/// One run.
struct Sample {
    wall: f64,
    cpu: f64,
    json: Value,
}

fn run_once(binary: &Path, words: &[String]) -> Result<Sample, String> {
    run_as(binary, &["check"], words)
}

fn run_as(binary: &Path, before: &[&str], words: &[String]) -> Result<Sample, String> {
    let started = Instant::now();
    let finished =
        process::run(Command::new(binary).args(before).args(words).args(["--json", "--all"]), None)?;
    let wall = started.elapsed().as_secs_f64();
    let json =
        serde_json::from_str(&finished.stdout).map_err(|e| format!("{words:?}: {e}: {}", finished.stderr))?;
    Ok(Sample { wall, cpu: finished.cpu_seconds, json })
}

/// Two runs at once; the time until both are done.
fn side_by_side(binary: &Path, words: &[String]) -> Result<f64, String> {
    let started = Instant::now();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| run_once(binary, words));
        run_once(binary, words)?;
        other.join().map_err(|_| "a run panicked".to_owned())??;
        Ok(started.elapsed().as_secs_f64())
    })
}

/// What must be the same however it is searched.
fn counts(json: &Value) -> [&Value; 4] {
    ["verdict", "states", "transitions", "depth"].map(|field| &json[field])
}

fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|v| v.ln()).sum::<f64>() / values.len().max(1) as f64).exp()
}

/// Runs the subcommand: whether everything is as asked for.
pub fn run(options: &Options) -> Result<bool, String> {
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    let folder = std::env::temp_dir().join(format!("quotient-scale-{}", std::process::id()));
    let [mut shares, mut by_processes, mut writing, mut resuming] = [const { Vec::new() }; 4];
    let mut same = true;
    print_row(&HEADING.map(str::to_owned));
    for (file, more) in INSTANCES {
        let mut words = vec![options.models.join(file).display().to_string()];
        words.extend(more.iter().map(|word| (*word).to_owned()));
        let with = |added: &[&str]| {
            [&words[..], &added.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>()].concat()
        };
        let run_folder = folder.display().to_string();
        let mut best = [f64::INFINITY; 7];
        let mut states = 0;
        for _ in 0..options.repetitions.max(1) {
            let one = run_once(&binary, &with(&["--workers", "1"]))?;
            let two = run_once(&binary, &with(&["--workers", "2"]))?;
            let both = side_by_side(&binary, &with(&["--workers", "1"]))?;
            let processes = run_as(&binary, &["cluster", "--local", "2", "check"], &words)?;
            let _ = std::fs::remove_dir_all(&folder);
            let written = run_once(&binary, &with(&["--workers", "1", "--checkpoint", &run_folder]))?;
            let resumed = run_once(
                &binary,
                &["--resume".to_owned(), run_folder.clone(), "--workers".into(), "1".into()],
            )?;
            same &=
                [&two, &processes, &written, &resumed].iter().all(|s| counts(&s.json) == counts(&one.json));
            states = one.json["states"].as_u64().unwrap_or(0);
            let now = [one.wall, two.wall, both, processes.wall, one.cpu, written.cpu, resumed.cpu];
            for (best, now) in best.iter_mut().zip(now) {
                *best = best.min(now);
            }
        }
        let _ = std::fs::remove_dir_all(&folder);
        let [one, two, both, processes, cpu, written, resumed] = best;
        let (speed_up, possible) = (one / two, 2.0 * one / both);
        by_processes.push(one / processes / possible);
        shares.push(speed_up / possible);
        writing.push(written / cpu);
        resuming.push(resumed / cpu);
        print_row(&[
            format!("{file} {}", more.join(" ")),
            states.to_string(),
            format!("{one:.2}"),
            format!("{two:.2}"),
            format!("{speed_up:.2}"),
            format!("{possible:.2}"),
            format!("{:.2}", speed_up / possible),
            format!("{:.2}", one / processes),
            format!("{:.2}", one / processes / possible),
            format!("{:+.1} %", 100.0 * (written / cpu - 1.0)),
            format!("{:.1} %", 100.0 * resumed / cpu),
        ]);
    }
    let (share, writing, resuming) =
        (geometric_mean(&shares), geometric_mean(&writing) - 1.0, geometric_mean(&resuming));
    let processes = geometric_mean(&by_processes);
    println!(
        "\ngeometric means: share {share:.2} (asked for: {SHARE}), of two processes {processes:.2} ({PROCESSES}), checkpoint {:+.1} % (at most {:.0}), resume {:.1} % (at most {:.0})",
        100.0 * writing,
        100.0 * CHECKPOINT,
        100.0 * resuming,
        100.0 * RESUME
    );
    if !same {
        println!("counts differ");
    }
    grow(options, &binary)?;
    Ok(same && share >= SHARE && processes >= PROCESSES && writing <= CHECKPOINT && resuming <= RESUME)
}

/// What is printed of each model.
const HEADING: [&str; 11] = [
    "model",
    "states",
    "1 worker s",
    "2 workers s",
    "ratio",
    "possible",
    "share",
    "2 processes",
    "share",
    "checkpoint",
    "resume",
];

/// Prints a row at once.
fn print_row(cells: &[String]) {
    let mut line = String::new();
    for (column, cell) in cells.iter().enumerate() {
        line += &if column == 0 { format!("{cell:<34}") } else { format!(" {cell:>13}") };
    }
    println!("{}", line.trim_end());
    // Who waits for it may go away; the figures are still worth having.
    let _ = std::io::stdout().flush();
}

/// Philosophers, more and more of them, by one worker.
fn grow(options: &Options, binary: &Path) -> Result<(), String> {
    println!();
    print_row(
        &["growth (--raw)", "states", "ns/transition", "content B/st", "resident B/st"].map(str::to_owned),
    );
    for count in 12..=options.largest {
        let file = options.models.join("phils.pml").display().to_string();
        let words = [file, format!("-DN={count}"), "--raw".into(), "--workers".into(), "1".into()];
        let Sample { json, .. } = run_once(binary, &words)?;
        let number = |field: &str| json[field].as_f64().unwrap_or(f64::NAN);
        print_row(&[
            format!("philosophers {count}"),
            format!("{}", number("states")),
            format!("{:.1}", 1e9 * number("search_seconds") / number("transitions")),
            format!("{:.1}", number("store_bytes") / number("states")),
            format!("{:.1}", number("peak_rss_bytes") / number("states")),
        ]);
    }
    Ok(())
}
