//! `partial-order`: what partial order reduction saves and costs, and how strong it is beside SPIN's.
//!
//! Every model is explored with `--por on` and `--por off`, both without symmetry, in turn. The two take different numbers of
//! transitions, so CPU times of the searches are compared per transition, where they are long enough to be measured. SPIN explores the model with its default
//! options, partial order included (`spin -a`, `-DSAFETY -DNOCLAIM`); stored states are compared.

use crate::side_by_side::alternate;
use crate::spin::{self, Limits, Mode};
use crate::{instance, quotient, table};
use std::path::{Path, PathBuf};

/// Options of `partial-order`.
#[derive(clap::Args)]
pub struct Options {
    /// Models, or folders to search for `.pml` files
    paths: Vec<PathBuf>,
    /// Runs with and without; the median counts
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
    /// More options for `quotient check`, such as `--search=dfs`
    #[arg(long, allow_hyphen_values = true)]
    with: Vec<String>,
    /// The most time per transition, as a multiple of that without partial order
    #[arg(long, default_value_t = 1.3)]
    most: f64,
    /// CPU seconds that both runs must take for times to be compared
    #[arg(long, default_value_t = 0.02)]
    shortest: f64,
    /// CPU seconds per run
    #[arg(long, default_value_t = 60)]
    cpu: u64,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
}

/// States that SPIN stores with partial order, if it is there and comes to an end.
fn spin_states(model: &Path, cpu: u64) -> Option<u64> {
    let limits = Limits {
        optimisation: "-O2",
        cpu_seconds: cpu,
        memory_mebibytes: 8192,
        hash_bits: 20,
        max_depth: 10_000_000,
    };
    let pan = spin::build(model, Mode::Reduced, &limits).ok()?;
    Some(pan.run(&limits).ok()?.0.states)
}

/// Measures; `false` when a transition costs more than allowed, or SPIN stores fewer states.
pub fn run(options: &Options) -> Result<bool, String> {
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    if !binary.exists() {
        return Err(format!("no quotient at {}; build it or pass --quotient", binary.display()));
    }
    let with_spin = spin::version().map(|version| println!("{version}")).is_ok();
    if !with_spin {
        println!("SPIN is not installed: its states are left out");
    }
    let (mut lines, mut expensive, mut weaker) = (Vec::new(), Vec::new(), Vec::new());
    for model in instance::models_under(&options.paths)? {
        let name = model.file_name().unwrap_or_default().to_string_lossy().into_owned();
        eprintln!("{name} …");
        let way = |por| {
            let mut way = vec!["--all", "--symmetry", "off", "--por", por];
            way.extend(options.with.iter().map(String::as_str));
            way
        };
        let (on, off) = (way("on"), way("off"));
        let runs = alternate(&binary, &model, [&on, &off], options.repetitions, Some(options.cpu));
        let [on, off] = match runs {
            Ok(runs) => runs,
            Err(reason) => {
                println!("left out: {reason}");
                continue;
            }
        };
        let spin = if with_spin { spin_states(&model, options.cpu) } else { None };
        let ratio = on.microseconds_per_transition() / off.microseconds_per_transition();
        let measured = on.median() >= options.shortest && off.median() >= options.shortest;
        if measured && ratio > options.most {
            expensive.push(name.clone());
        }
        if spin.is_some_and(|states| states < on.states) {
            weaker.push(name.clone());
        }
        lines.push(vec![
            name,
            off.states.to_string(),
            on.states.to_string(),
            spin.map_or("-".to_owned(), |states| states.to_string()),
            off.transitions.to_string(),
            on.transitions.to_string(),
            format!("{:.3}", off.median()),
            format!("{:.3}", on.median()),
            if measured { format!("{ratio:.2}") } else { "-".to_owned() },
        ]);
    }
    let heading =
        ["model", "states", "with", "SPIN's", "transitions", "with", "CPU s", "with", "per transition"];
    print!("{}", table::render(&heading, &lines));
    let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    println!("\nmore than {:.2} times the time per transition: {}", options.most, list(&expensive));
    println!("more states than SPIN: {}", list(&weaker));
    Ok(expensive.is_empty() && weaker.is_empty())
}
