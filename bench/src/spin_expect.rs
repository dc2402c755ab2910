//! `spin-expect`: expectation headers computed with an installed SPIN.

use crate::expectation::{self, Expectation, Pinned};
use crate::spin::{self, Failure, Limits, Mode};
use std::path::{Path, PathBuf};

/// Options of `spin-expect`.
#[derive(clap::Args)]
pub struct Options {
    /// Models, or folders to search for `.pml` files
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Only compare: print what differs and exit with status 1
    #[arg(long)]
    check: bool,
    /// Only models that have no header yet
    #[arg(long)]
    missing: bool,
    /// CPU seconds per model
    #[arg(long, default_value_t = 60)]
    cpu: u64,
}

/// Runs the subcommand; `Ok(false)` when something differs or SPIN could not decide.
pub fn run(options: &Options) -> Result<bool, String> {
    spin::version()?;
    let limits = Limits {
        optimisation: "-O0",
        cpu_seconds: options.cpu,
        memory_mebibytes: 2048,
        hash_bits: 16,
        max_depth: 1_000_000,
    };
    let mut bad = 0;
    let mut done = 0;
    for model in crate::instance::models_under(&options.paths)? {
        let text =
            std::fs::read_to_string(&model).map_err(|error| format!("{}: {error}", model.display()))?;
        let old = expectation::read(&text).map_err(|error| format!("{}: {error}", model.display()))?;
        if matches!(old, Some(Expectation::Own(_))) || (options.missing && old.is_some()) {
            continue;
        }
        match expectation_of(&model, &limits) {
            Err(why) => {
                println!("{}: {why}", model.display());
                bad += 1;
            }
            Ok(pinned) if old == Some(Expectation::Pinned(pinned.clone())) => done += 1,
            Ok(pinned) if options.check => {
                println!("{}: header says {old:?}, SPIN says {pinned:?}", model.display());
                bad += 1;
            }
            Ok(pinned) => {
                let written = std::fs::write(&model, expectation::write(&text, &pinned));
                written.map_err(|error| format!("{}: {error}", model.display()))?;
                println!(
                    "{}: states={} transitions={} errors={} default={}",
                    model.display(),
                    pinned.states,
                    pinned.transitions,
                    pinned.errors,
                    pinned.default_states
                );
                done += 1;
            }
        }
    }
    println!("{done} headers agree with SPIN, {bad} do not");
    Ok(bad == 0)
}

fn expectation_of(model: &Path, limits: &Limits) -> Result<Pinned, String> {
    let run = |mode| {
        let outcome = spin::build(model, mode, limits).and_then(|pan| pan.run(limits));
        outcome.map(|(output, ..)| output).map_err(|failure| match failure {
            Failure::OverTheCap(what) => format!("over the cap: {what}"),
            Failure::Failed(why) => why,
        })
    };
    let raw = run(Mode::Raw)?;
    let default = run(Mode::Default)?;
    Ok(Pinned {
        states: raw.states,
        transitions: raw.transitions,
        errors: raw.errors,
        default_states: default.states,
    })
}
