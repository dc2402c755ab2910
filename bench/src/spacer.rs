//! `spacer`: Horn clauses, beside Z3's Spacer on the same files in one run.
//!
//! Both programs read the same `HORN` file, written by `quotient prove --horn` from a generated model:
//! the rules and the safety claims, no symmetry. Each must answer `sat` (every claim holds). Times are
//! CPU seconds of the whole process.

use crate::{process, quotient, table};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `spacer`.
#[derive(clap::Args)]
pub struct Options {
    /// The generated model
    #[arg(long, default_value = "bakery")]
    model: String,
    /// Sizes
    #[arg(long, value_delimiter = ',', default_value = "2,3,4")]
    n: Vec<usize>,
    /// CPU seconds per run
    #[arg(long, default_value_t = 240)]
    cpu: u64,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
    /// The solver
    #[arg(long, default_value = "z3")]
    z3: PathBuf,
}

/// The answer and the time of one run; no answer when the cap was reached.
fn answer(command: &mut Command, cpu: u64) -> Result<(Option<String>, f64), String> {
    let finished = process::run(command, Some(cpu))?;
    if finished.over_cpu_limit() {
        return Ok((None, finished.cpu_seconds));
    }
    let first = finished.stdout.lines().next().unwrap_or("").trim().to_owned();
    if ["sat", "unsat", "unknown", "timeout"].contains(&first.as_str()) {
        return Ok((Some(first), finished.cpu_seconds));
    }
    let program = command.get_program().to_string_lossy().into_owned();
    Err(format!("{program} gives no answer: {}{}", finished.stdout, finished.stderr))
}

fn generate(binary: &Path, options: &Options, n: usize, folder: &Path) -> Result<PathBuf, String> {
    let size = n.to_string();
    let arguments = ["prove", "--generate", &options.model, "--n", &size];
    let made = process::run(Command::new(binary).args(arguments), None)?;
    if made.status != Some(0) {
        return Err(made.stderr);
    }
    let source = folder.join(format!("{}-{n}.clp", options.model));
    let clauses = source.with_extension("smt2");
    std::fs::write(&source, made.stdout).map_err(|e| format!("cannot write {}: {e}", source.display()))?;
    let written =
        process::run(Command::new(binary).args(["prove", "--horn"]).arg(&clauses).arg(&source), None)?;
    if written.status == Some(0) { Ok(clauses) } else { Err(written.stderr) }
}

/// Measures; `false` when Quotient is not faster on every file, or the answers differ.
pub fn run(options: &Options) -> Result<bool, String> {
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    let folder = std::env::temp_dir().join(format!("quotient-spacer-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    let (mut rows, mut faster) = (Vec::new(), true);
    for &n in &options.n {
        let file = generate(&binary, options, n, &folder)?;
        let (ours, own) = answer(Command::new(&binary).arg("prove").arg(&file), options.cpu)?;
        let (theirs, solver) =
            answer(Command::new(&options.z3).arg("fp.engine=spacer").arg(&file), options.cpu)?;
        let agree = ours.as_deref() == Some("sat") && theirs.as_deref().is_none_or(|a| a == "sat");
        faster &= agree && own < solver;
        let show = |a: Option<String>| a.unwrap_or_else(|| format!("none in {} s", options.cpu));
        rows.push(vec![
            format!("{}-{n}", options.model),
            show(ours),
            format!("{own:.3}"),
            show(theirs),
            format!("{solver:.3}"),
            format!("{:.0}", solver / own.max(0.001)),
        ]);
    }
    std::fs::remove_dir_all(&folder).map_err(|e| format!("cannot remove {}: {e}", folder.display()))?;
    print!("{}", table::render(&["file", "quotient", "CPU s", "spacer", "CPU s", "ratio"], &rows));
    Ok(faster)
}
