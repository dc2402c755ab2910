//! `pinned`: Quotient against the expectation headers of the models, without SPIN.

use crate::error_kind::ErrorKinds;
use crate::expectation::{self, Expectation, Pinned};
use crate::quotient::{self, Answer, Failure};
use std::path::{Path, PathBuf};

/// Options of `pinned`.
#[derive(clap::Args)]
pub struct Options {
    /// Models, or folders to search for `.pml` files
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
    /// CPU seconds per run
    #[arg(long, default_value_t = 60)]
    cpu: u64,
    /// Print models that meet their expectation too
    #[arg(long, short)]
    verbose: bool,
}

/// Runs the subcommand; `Ok(false)` when an expectation is not met.
pub fn run(options: &Options) -> Result<bool, String> {
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    if !binary.exists() {
        return Err(format!("no quotient at {}; build it or pass --quotient", binary.display()));
    }
    let (mut met, mut missed, mut without) = (0, 0, 0);
    for model in crate::instance::models_under(&options.paths)? {
        let text =
            std::fs::read_to_string(&model).map_err(|error| format!("{}: {error}", model.display()))?;
        let header = expectation::read(&text).map_err(|error| format!("{}: {error}", model.display()))?;
        let Some(header) = header else {
            without += 1;
            continue;
        };
        match judge(&header, &binary, &model, options.cpu) {
            Ok(()) => {
                met += 1;
                if options.verbose {
                    println!("met     {}", model.display());
                }
            }
            Err(why) => {
                missed += 1;
                println!("MISSED  {}: {why}", model.display());
            }
        }
    }
    println!("{met} met, {missed} missed, {without} without an expectation");
    Ok(missed == 0)
}

fn judge(header: &Expectation, binary: &Path, model: &Path, cpu: u64) -> Result<(), String> {
    let check = |options: &[&str]| match quotient::check(binary, options, model, Some(cpu)) {
        Ok((answer, _)) => Ok(answer),
        Err(Failure::OverTheCap(why)) => Err(format!("over the cap: {why}")),
        Err(Failure::Refused(why)) => Err(format!("refused: {why}")),
        Err(Failure::Broken(why)) => Err(format!("no answer: {why}")),
    };
    let raw = check(&["--raw", "--all"])?;
    match header {
        Expectation::Own(errors) => same_errors(errors, &raw),
        Expectation::Pinned(pinned) => {
            raw_meets(pinned, &raw)?;
            default_meets(pinned, &check(&["--all"])?)
        }
    }
}

fn same_errors(expected: &ErrorKinds, answer: &Answer) -> Result<(), String> {
    match *expected == answer.errors {
        true => Ok(()),
        false => Err(format!("errors {} instead of {expected}", answer.errors)),
    }
}

fn raw_meets(pinned: &Pinned, raw: &Answer) -> Result<(), String> {
    same_errors(&pinned.errors, raw)?;
    let (ours, theirs) = ((raw.states, raw.transitions), (pinned.states, pinned.transitions));
    match ours == theirs {
        true => Ok(()),
        false => Err(format!("(states, transitions) {ours:?} instead of {theirs:?}")),
    }
}

/// Reductions may store fewer states, never more than SPIN's, and must find the same errors.
fn default_meets(pinned: &Pinned, default: &Answer) -> Result<(), String> {
    same_errors(&pinned.errors, default).map_err(|why| format!("default mode: {why}"))?;
    match default.states <= pinned.default_states {
        true => Ok(()),
        false => Err(format!(
            "default mode: {} states, SPIN's default has {}",
            default.states, pinned.default_states
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_states_by_default_but_the_same_errors() {
        let errors = ErrorKinds::parse("deadlock").unwrap();
        let pinned = Pinned { states: 5, transitions: 6, errors: errors.clone(), default_states: 4 };
        let answer = Answer { states: 5, transitions: 6, errors, store_bytes: None, search_seconds: None };
        assert!(raw_meets(&pinned, &answer).is_ok());
        assert!(default_meets(&pinned, &answer).is_err());
        assert!(default_meets(&pinned, &Answer { states: 2, ..answer.clone() }).is_ok());
        let silent = Answer { states: 2, errors: ErrorKinds::default(), ..answer.clone() };
        assert!(default_meets(&pinned, &silent).is_err());
        assert!(raw_meets(&pinned, &Answer { transitions: 7, ..answer }).is_err());
    }
}
