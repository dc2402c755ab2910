//! `agree`: the same counts and error kinds as SPIN, on any folder of models.

use crate::pan_output::PanOutput;
use crate::quotient::{self, Answer};
use crate::spin::{self, Limits, Mode};
use std::path::{Path, PathBuf};

/// Options of `agree`.
#[derive(clap::Args)]
pub struct Options {
    /// Models, or folders to search for `.pml` files
    paths: Vec<PathBuf>,
    /// File with one model path per line, relative to the file
    #[arg(long)]
    list: Option<PathBuf>,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
    /// CPU seconds per model and checker
    #[arg(long, default_value_t = 60)]
    cpu: u64,
    /// Memory bound for SPIN, in MiB
    #[arg(long, default_value_t = 4096)]
    memory: u64,
    /// Deepest search to let SPIN try
    #[arg(long, default_value_t = 20_000_000)]
    max_depth: u64,
}

/// What the comparison of one model came to.
#[derive(Debug, PartialEq)]
enum Outcome {
    Agree(String),
    Differ(String),
    Skipped(String),
}

/// Runs the subcommand; `Ok(false)` when a model differs.
pub fn run(options: &Options) -> Result<bool, String> {
    let version = spin::version()?;
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    if !binary.exists() {
        return Err(format!("no quotient at {}; build it or pass --quotient", binary.display()));
    }
    let mut models = crate::instance::models_under(&options.paths)?;
    if let Some(list) = &options.list {
        models.extend(crate::instance::read_list(list)?.into_iter().map(|instance| instance.file));
    }
    if models.is_empty() {
        return Err("no models: name folders, files or a --list".into());
    }
    let limits = Limits {
        optimisation: "-O1",
        cpu_seconds: options.cpu,
        memory_mebibytes: options.memory,
        hash_bits: 20,
        max_depth: options.max_depth,
    };
    println!(
        "{version}: spin -o1 -o2 -o3 -a; -DSAFETY -DNOREDUCE -DNOCLAIM; pan -c0. quotient check --raw --all."
    );
    let (mut agree, mut differ, mut skipped) = (0, 0, 0);
    for model in models {
        let (word, text) = match compare(&model, &binary, &limits) {
            Outcome::Agree(text) => {
                agree += 1;
                ("agree", text)
            }
            Outcome::Differ(text) => {
                differ += 1;
                ("DIFFER", text)
            }
            Outcome::Skipped(text) => {
                skipped += 1;
                ("skipped", text)
            }
        };
        println!("{word:8}{}: {text}", model.display());
    }
    println!("{agree} agree, {differ} differ, {skipped} skipped");
    Ok(differ == 0)
}

fn compare(model: &Path, binary: &Path, limits: &Limits) -> Outcome {
    let spin = spin::build(model, Mode::Raw, limits).and_then(|pan| pan.run(limits));
    let spin = match spin {
        Ok((output, ..)) => output,
        Err(spin::Failure::OverTheCap(what)) => {
            return Outcome::Skipped(format!("SPIN over the cap: {what}"));
        }
        Err(spin::Failure::Failed(why)) => return Outcome::Skipped(format!("spin failed: {why}")),
    };
    match quotient::check(binary, &["--raw", "--all"], model, Some(limits.cpu_seconds)) {
        Ok((answer, _)) => judge(&spin, &answer),
        Err(quotient::Failure::OverTheCap(what)) => {
            Outcome::Skipped(format!("quotient over the cap: {what} (SPIN: {} states)", spin.states))
        }
        Err(quotient::Failure::Refused(why)) => Outcome::Skipped(format!("quotient refused: {why}")),
        Err(quotient::Failure::Broken(why)) => Outcome::Differ(format!("quotient gave no answer: {why}")),
    }
}

fn judge(spin: &PanOutput, ours: &Answer) -> Outcome {
    let show = |states, transitions, errors: &dyn std::fmt::Display| {
        format!("{states} states, {transitions} transitions, errors {errors}")
    };
    let theirs_text = show(spin.states, spin.transitions, &spin.errors);
    if (spin.states, spin.transitions, &spin.errors) == (ours.states, ours.transitions, &ours.errors) {
        Outcome::Agree(theirs_text)
    } else {
        let ours_text = show(ours.states, ours.transitions, &ours.errors);
        Outcome::Differ(format!("SPIN {theirs_text}; quotient {ours_text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error_kind::ErrorKinds;

    #[test]
    fn every_figure_counts() {
        let spin = PanOutput {
            states: 3,
            transitions: 4,
            errors: ErrorKinds::parse("deadlock").unwrap(),
            vector_bytes: None,
            state_bytes: None,
        };
        let same = Answer {
            states: 3,
            transitions: 4,
            errors: spin.errors.clone(),
            store_bytes: None,
            search_seconds: None,
        };
        assert!(matches!(judge(&spin, &same), Outcome::Agree(_)));
        let states = Answer { states: 2, ..same.clone() };
        let transitions = Answer { transitions: 5, ..same.clone() };
        let errors = Answer { errors: ErrorKinds::default(), ..same };
        for other in [states, transitions, errors] {
            assert!(matches!(judge(&spin, &other), Outcome::Differ(_)));
        }
    }
}
