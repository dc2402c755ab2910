//! `speed`: CPU time and memory beside SPIN's, measured in one run.
//!
//! Checkers alternate within each repetition, so that a slow phase of the machine hits all of
//! them, and each repetition has another order, so that nobody always follows the same one, which leaves the
//! machine's memory as it may; the median over the repetitions counts. SPIN is given a large hash table (`-w24`), so
//! that it is not slowed by chains, and the time `pan` needs on a one-state model with the same
//! options (it clears that table) is subtracted. Nothing is subtracted from Quotient's time.

use crate::instance::{self, Instance};
use crate::spin::{self, Limits, Mode, Pan};
use crate::{quotient, table};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Options of `speed`.
#[derive(clap::Args)]
pub struct Options {
    /// List of model instances, one `FILE NAME=VALUE…` per line
    #[arg(long, default_value = "bench/models.list")]
    list: PathBuf,
    /// Measure the `.pml` files of this folder instead of the list
    #[arg(long)]
    models: Option<PathBuf>,
    /// Only instances whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Repetitions; the median counts
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
    /// CPU seconds per run
    #[arg(long, default_value_t = 300)]
    cpu: u64,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// What is measured: a checker with its options.
enum Contestant {
    Spin(Mode),
    Quotient(&'static [&'static str]),
}

/// The contestants in table order; SPIN's raw run comes first because ratios refer to it.
const CONTESTANTS: [(&str, Contestant); 7] = [
    ("spin raw", Contestant::Spin(Mode::Raw)),
    ("spin default", Contestant::Spin(Mode::Default)),
    ("quotient --raw", Contestant::Quotient(&["--raw"])),
    ("quotient --raw --search dfs", Contestant::Quotient(&["--raw", "--search", "dfs"])),
    ("quotient --raw --store tree", Contestant::Quotient(&["--raw", "--store", "tree"])),
    ("quotient --raw --store plain", Contestant::Quotient(&["--raw", "--store", "plain"])),
    ("quotient", Contestant::Quotient(&[])),
];

/// The figures of one contestant on one instance.
#[derive(Clone, Debug, PartialEq)]
struct Figures {
    states: u64,
    transitions: u64,
    /// Median over the repetitions, net of `pan`'s start-up.
    cpu_seconds: f64,
    /// Bytes of stored state content.
    state_bytes: Option<f64>,
    peak_rss_bytes: u64,
}

impl Figures {
    fn nanoseconds_per_transition(&self) -> f64 {
        self.cpu_seconds * 1e9 / self.transitions.max(1) as f64
    }

    fn bytes_per_state(&self) -> Option<f64> {
        Some(self.state_bytes? / self.states.max(1) as f64)
    }
}

/// Either figures or why there are none.
type Measured = Result<Figures, String>;

/// A compiled verifier with the depth bound it needs and a start-up probe.
struct PreparedSpin {
    pan: Pan,
    depth: u64,
}

/// Runs the subcommand; `Ok(false)` when a measurement is missing.
pub fn run(options: &Options) -> Result<bool, String> {
    let spin_version = spin::version();
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    let mut instances = match &options.models {
        Some(folder) => {
            let files = instance::models_under(std::slice::from_ref(folder))?;
            files.iter().map(|file| Instance::of_file(file)).collect()
        }
        None => instance::read_list(&options.list)?,
    };
    if let Some(part) = &options.only {
        instances.retain(|instance| instance.name.contains(part.as_str()));
    }
    if instances.is_empty() {
        return Err("no models to measure".into());
    }
    let limits = Limits {
        optimisation: "-O2",
        cpu_seconds: options.cpu,
        memory_mebibytes: 8192,
        hash_bits: 24,
        max_depth: 20_000_000,
    };
    let mut notes = vec![format!(
        "SPIN: gcc -O2 -DSAFETY -DNOCLAIM -DNOREDUCE, pan -c0 -w24, net of pan's start-up; raw is spin -o1 -o2 -o3 -a. \
         Bytes per state: SPIN's `actual memory usage for states` without its hash table; Quotient's store_bytes. \
         CPU seconds: median of {}, checkers alternating.",
        options.repetitions
    )];
    match &spin_version {
        Ok(version) => notes.push(version.clone()),
        Err(why) => notes.push(format!("{why}; no ratios.")),
    }
    let have_quotient = binary.exists();
    if !have_quotient {
        notes.push(format!("No quotient at {}; build it or pass --quotient.", binary.display()));
    }
    let folder = std::env::temp_dir().join(format!("quotient-bench-speed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut complete = true;
    let mut models = Vec::new();
    for (number, instance) in instances.iter().enumerate() {
        if !options.json && number == 0 {
            notes.iter().for_each(|note| println!("{note}"));
        }
        let file = folder.join(format!("{}.pml", instance.name));
        std::fs::write(&file, instance.text()?).map_err(|error| format!("{}: {error}", file.display()))?;
        let binary = have_quotient.then_some(binary.as_path());
        let measured = measure(&file, binary, spin_version.is_ok(), options.repetitions, &limits, &folder);
        complete &= measured.iter().all(|(_, figures)| figures.is_ok());
        match options.json {
            true => models.push(to_json(&instance.name, &measured)),
            false => println!("\n{}", render(&instance.name, &measured)),
        }
    }
    // Left-over scratch files do no harm.
    let _ = std::fs::remove_dir_all(&folder);
    if options.json {
        let all = json!({ "notes": notes, "models": models });
        println!("{}", serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?);
    }
    Ok(complete)
}

/// Measures every contestant that is present on one instance.
fn measure(
    file: &Path,
    binary: Option<&Path>,
    have_spin: bool,
    repetitions: usize,
    limits: &Limits,
    folder: &Path,
) -> Vec<(&'static str, Measured)> {
    let present = CONTESTANTS.iter().filter(|(_, contestant)| match contestant {
        Contestant::Spin(_) => have_spin,
        Contestant::Quotient(_) => binary.is_some(),
    });
    let present: Vec<_> = present.collect();
    let prepared: Vec<Option<Result<PreparedSpin, String>>> = present
        .iter()
        .map(|(_, contestant)| match contestant {
            Contestant::Spin(mode) => Some(prepare(file, *mode, limits)),
            Contestant::Quotient(_) => None,
        })
        .collect();
    let idle = if have_spin { idle_pan(folder, limits) } else { Err("no SPIN".to_string()) };
    let mut samples: Vec<Vec<Measured>> = present.iter().map(|_| Vec::new()).collect();
    for repetition in 0..repetitions.max(1) {
        for index in order(present.len(), repetition) {
            let (_, contestant) = present[index];
            // One failure is final: it would only repeat.
            if samples[index].last().is_some_and(|last| last.is_err()) {
                continue;
            }
            let sample = match (contestant, &prepared[index], binary) {
                (Contestant::Spin(_), Some(Ok(spin)), _) => spin_sample(spin, &idle, limits),
                (Contestant::Spin(_), Some(Err(why)), _) => Err(why.clone()),
                (Contestant::Quotient(options), _, Some(binary)) => {
                    quotient_sample(binary, options, file, limits)
                }
                // `present` holds only contestants whose program was found.
                _ => Err("not available".to_string()),
            };
            samples[index].push(sample);
        }
    }
    present.iter().zip(samples).map(|((name, _), samples)| (*name, median(samples))).collect()
}

/// The numbers below `count` in an order of their own for each of the first repetitions: all in steps of a size that has no factor in
/// common with `count`.
fn order(count: usize, repetition: usize) -> impl Iterator<Item = usize> {
    let coprime = |step: &usize| (2..=*step).all(|d| !(step.is_multiple_of(d) && count.is_multiple_of(d)));
    let steps: Vec<usize> = (1..count.max(2)).filter(coprime).collect();
    let step = steps[repetition % steps.len()];
    (0..count).map(move |place| place * step % count)
}

fn spin_error(failure: spin::Failure) -> String {
    match failure {
        spin::Failure::OverTheCap(what) => format!("over the cap: {what}"),
        spin::Failure::Failed(why) => why,
    }
}

fn prepare(file: &Path, mode: Mode, limits: &Limits) -> Result<PreparedSpin, String> {
    let pan = spin::build(file, mode, limits).map_err(spin_error)?;
    // This run finds the depth bound; it also warms the page cache and is not a sample.
    let (_, _, depth) = pan.run(limits).map_err(spin_error)?;
    Ok(PreparedSpin { pan, depth })
}

/// A verifier of a one-state model: what `pan` costs before it searches.
fn idle_pan(folder: &Path, limits: &Limits) -> Result<Pan, String> {
    let file = folder.join("idle.pml");
    std::fs::write(&file, "init { skip }\n").map_err(|error| error.to_string())?;
    spin::build(&file, Mode::Raw, limits).map_err(spin_error)
}

fn spin_sample(spin: &PreparedSpin, idle: &Result<Pan, String>, limits: &Limits) -> Measured {
    let idle = idle.as_ref().map_err(Clone::clone)?;
    let start_up = idle.run_at_depth(limits, spin.depth)?.cpu_seconds;
    let finished = spin.pan.run_at_depth(limits, spin.depth)?;
    let output =
        crate::pan_output::parse(&finished.stdout).map_err(|incomplete| format!("pan: {incomplete:?}"))?;
    // Tiny state spaces have no "actual memory" line; the vector is then a lower bound.
    let vectors = output.vector_bytes.map(|bytes| (bytes * output.states) as f64);
    Ok(Figures {
        states: output.states,
        transitions: output.transitions,
        cpu_seconds: (finished.cpu_seconds - start_up).max(0.0),
        state_bytes: output.state_bytes.or(vectors),
        peak_rss_bytes: finished.peak_rss_bytes,
    })
}

fn quotient_sample(binary: &Path, options: &[&str], file: &Path, limits: &Limits) -> Measured {
    let mut all = options.to_vec();
    all.push("--all");
    match quotient::check(binary, &all, file, Some(limits.cpu_seconds)) {
        Ok((answer, finished)) => Ok(Figures {
            states: answer.states,
            transitions: answer.transitions,
            cpu_seconds: finished.cpu_seconds,
            state_bytes: answer.store_bytes.map(|bytes| bytes as f64),
            peak_rss_bytes: finished.peak_rss_bytes,
        }),
        Err(quotient::Failure::OverTheCap(why)) => Err(format!("over the cap: {why}")),
        Err(quotient::Failure::Refused(why)) => Err(format!("refused: {why}")),
        Err(quotient::Failure::Broken(why)) => Err(format!("no answer: {why}")),
    }
}

/// The sample with the median CPU time (the lower one of an even number), or the first failure.
fn median(samples: Vec<Measured>) -> Measured {
    let mut figures = samples.into_iter().collect::<Result<Vec<_>, _>>()?;
    figures.sort_by(|a, b| a.cpu_seconds.total_cmp(&b.cpu_seconds));
    let middle = figures.len().saturating_sub(1) / 2;
    figures.into_iter().nth(middle).ok_or_else(|| "no samples".to_string())
}

/// SPIN's raw figures, which ratios refer to.
fn reference<'a>(measured: &'a [(&'static str, Measured)]) -> Option<&'a Figures> {
    measured.iter().find(|(name, _)| *name == "spin raw").and_then(|(_, figures)| figures.as_ref().ok())
}

/// How many times SPIN's raw transitions per CPU second.
fn speed_ratio(figures: &Figures, reference: Option<&Figures>) -> Option<f64> {
    let own = figures.nanoseconds_per_transition();
    let ratio = reference?.nanoseconds_per_transition() / own;
    ratio.is_finite().then_some(ratio)
}

fn render(name: &str, measured: &[(&'static str, Measured)]) -> String {
    let reference = reference(measured);
    let number = |value: Option<f64>, digits: usize| match value {
        Some(value) => format!("{value:.digits$}"),
        None => "-".to_string(),
    };
    let rows: Vec<Vec<String>> = measured
        .iter()
        .map(|(contestant, figures)| match figures {
            Ok(figures) => vec![
                contestant.to_string(),
                figures.states.to_string(),
                figures.transitions.to_string(),
                number(Some(figures.cpu_seconds), 3),
                number(Some(figures.nanoseconds_per_transition()), 1),
                number(figures.bytes_per_state(), 1),
                number(speed_ratio(figures, reference), 2),
            ],
            Err(why) => vec![contestant.to_string(), format!("({why})")],
        })
        .collect();
    let heading =
        [name, "states", "transitions", "CPU s", "ns/transition", "bytes/state", "speed / spin raw"];
    table::render(&heading, &rows)
}

fn to_json(name: &str, measured: &[(&'static str, Measured)]) -> Value {
    let reference = reference(measured);
    let runs: Vec<Value> = measured
        .iter()
        .map(|(contestant, figures)| match figures {
            Ok(figures) => json!({
                "checker": contestant,
                "states": figures.states,
                "transitions": figures.transitions,
                "cpu_seconds": figures.cpu_seconds,
                "ns_per_transition": figures.nanoseconds_per_transition(),
                "bytes_per_state": figures.bytes_per_state(),
                "peak_rss_bytes": figures.peak_rss_bytes,
                "speed_ratio_to_spin_raw": speed_ratio(figures, reference),
            }),
            Err(why) => json!({ "checker": contestant, "error": why }),
        })
        .collect();
    json!({ "model": name, "runs": runs })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(cpu_seconds: f64) -> Figures {
        Figures { states: 10, transitions: 100, cpu_seconds, state_bytes: Some(240.0), peak_rss_bytes: 1 }
    }

    #[test]
    fn median_of_samples() {
        let samples = [3.0, 1.0, 2.0].map(|seconds| Ok(figures(seconds)));
        assert_eq!(median(samples.to_vec()).unwrap().cpu_seconds, 2.0);
        assert_eq!(median(vec![Ok(figures(1.0)), Err("x".into())]), Err("x".to_string()));
        assert!(median(Vec::new()).is_err());
    }

    #[test]
    fn each_repetition_has_another_order_of_all() {
        let before =
            |order: Vec<usize>, who| order.iter().position(|i| *i == who).map(|at| order[(at + 6) % 7]);
        let mut behind: Vec<_> = (0..5).map(|r| before(order(7, r).collect(), 2)).collect();
        behind.sort_unstable();
        behind.dedup();
        assert_eq!(behind.len(), 5, "always behind another one");
        for (count, repetition) in [(1, 0), (2, 5), (5, 3), (6, 4), (7, 9)] {
            let mut all: Vec<usize> = order(count, repetition).collect();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn ratios_refer_to_spins_raw_run() {
        let measured = vec![("spin raw", Ok(figures(2.0))), ("quotient --raw", Ok(figures(0.5)))];
        assert_eq!(speed_ratio(&figures(0.5), reference(&measured)), Some(4.0));
        let text = render("m", &measured);
        assert!(text.contains("24.0") && text.contains("4.00"), "{text}");
        assert_eq!(to_json("m", &measured)["runs"][1]["speed_ratio_to_spin_raw"], 4.0);
        assert_eq!(speed_ratio(&figures(0.5), None), None);
    }
}
