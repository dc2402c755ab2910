//! Building and running SPIN's verifier for one model.
//!
//! "Raw" is the semantics-level count: `spin -o1 -o2 -o3 -a` (no data-flow optimisation, no dead
//! variable resets, no statement merging). "Default" is plain `spin -a`. Both are compiled with
//! `-DSAFETY -DNOREDUCE -DNOCLAIM`: no partial-order reduction, never claims and `ltl` ignored.

use crate::pan_output::{self, Incomplete, PanOutput};
use crate::process::{self, Finished};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Which of SPIN's own state-space reductions are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// None (`-o1 -o2 -o3`).
    Raw,
    /// Those that `spin -a` applies by itself.
    Default,
    /// Those, and partial order.
    Reduced,
}

/// How to compile `pan.c` and how far `pan` may go.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Optimisation level for the C compiler, such as `-O2`.
    pub optimisation: &'static str,
    /// CPU seconds for one run of `pan`.
    pub cpu_seconds: u64,
    /// Memory bound in mebibytes (`-DMEMLIM`).
    pub memory_mebibytes: u64,
    /// Logarithm of the hash table size (`-w`); it affects time only.
    pub hash_bits: u32,
    /// Deepest `-m` to try.
    pub max_depth: u64,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// CPU or memory cap, or the largest depth.
    OverTheCap(String),
    /// SPIN, the C compiler or `pan` failed.
    Failed(String),
}

/// A directory that is removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("quotient-bench-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path)
            .map_err(|error| format!("cannot create {}: {error}", path.display()))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing useful can be done about a directory that will not go away.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A compiled verifier.
pub struct Pan {
    directory: Scratch,
}

/// The version line of the installed SPIN, or a sentence saying that there is none.
pub fn version() -> Result<String, String> {
    let finished = process::run(Command::new("spin").arg("-V"), None)
        .map_err(|_| "SPIN is not installed (no `spin` on the path)".to_string())?;
    Ok(finished.stdout.trim().to_string())
}

/// Generates and compiles the verifier of `model`, for safety.
pub fn build(model: &Path, mode: Mode, limits: &Limits) -> Result<Pan, Failure> {
    let options: &[&str] = if mode == Mode::Raw { &["-o1", "-o2", "-o3"] } else { &[] };
    let defines = ["-DSAFETY", "-DNOCLAIM", "-DNOREDUCE"];
    generate(model, options, if mode == Mode::Reduced { &defines[..2] } else { &defines }, limits)
}

/// Generates and compiles the verifier of `model`, with its claims.
pub fn build_with_claims(model: &Path, limits: &Limits) -> Result<Pan, Failure> {
    generate(model, &[], &[], limits)
}

fn generate(model: &Path, options: &[&str], defines: &[&str], limits: &Limits) -> Result<Pan, Failure> {
    let directory = Scratch::new().map_err(Failure::Failed)?;
    // SPIN writes into the current directory, so it runs in the scratch one; an absolute path
    // keeps `#include`s beside the model reachable.
    let absolute =
        model.canonicalize().map_err(|error| Failure::Failed(format!("{}: {error}", model.display())))?;
    let mut spin = Command::new("spin");
    spin.args(options).arg("-a").arg(absolute).current_dir(&directory.0);
    let generated = process::run(&mut spin, Some(limits.cpu_seconds)).map_err(Failure::Failed)?;
    if generated.status != Some(0) || !directory.0.join("pan.c").exists() {
        return Err(Failure::Failed(format!("spin -a: {}", first_line(&generated))));
    }
    let mut compiler = Command::new("gcc");
    compiler.args([limits.optimisation, "-w"]).args(defines);
    compiler.arg(format!("-DMEMLIM={}", limits.memory_mebibytes));
    compiler.args(["pan.c", "-o", "pan"]).current_dir(&directory.0);
    let compiled = process::run(&mut compiler, None).map_err(Failure::Failed)?;
    if compiled.status != Some(0) {
        return Err(Failure::Failed(format!("gcc: {}", first_line(&compiled))));
    }
    Ok(Pan { directory })
}

impl Pan {
    /// One run at a fixed depth bound. `-c0`: do not stop at errors; each is counted and printed,
    /// and no trail file is written.
    pub fn run_at_depth(&self, limits: &Limits, depth: u64) -> Result<Finished, String> {
        let mut pan = Command::new(self.directory.0.join("pan"));
        pan.args(["-c0", "-n"]).arg(format!("-w{}", limits.hash_bits)).arg(format!("-m{depth}"));
        process::run(pan.current_dir(&self.directory.0), Some(limits.cpu_seconds))
    }

    /// Is there no error of the claim with this name (or of the only one)? Invalid end states do not count; with
    /// `no_assertions`, neither do assertions.
    pub fn claim_holds(
        &self,
        limits: &Limits,
        name: Option<&str>,
        no_assertions: bool,
    ) -> Result<bool, Failure> {
        let mut depth = 1_000_000;
        loop {
            let mut pan = Command::new(self.directory.0.join("pan"));
            pan.args(no_assertions.then_some("-A"));
            pan.args(["-a", "-E", "-n"]).arg(format!("-w{}", limits.hash_bits)).arg(format!("-m{depth}"));
            pan.args(name.into_iter().flat_map(|name| ["-N", name]));
            let finished = process::run(pan.current_dir(&self.directory.0), Some(limits.cpu_seconds))
                .map_err(Failure::Failed)?;
            if finished.over_cpu_limit() {
                return Err(Failure::OverTheCap(format!("{} s of CPU time", limits.cpu_seconds)));
            }
            let errors = finished.stdout.split("errors: ").nth(1).and_then(|t| t.split_whitespace().next());
            match errors.and_then(|e| e.parse::<u64>().ok()) {
                None => return Err(Failure::Failed(format!("pan: {}", first_line(&finished)))),
                Some(0) if finished.stdout.contains("max search depth too small") => {
                    if depth >= limits.max_depth {
                        return Err(Failure::OverTheCap(format!("depth {depth}")));
                    }
                    depth = limits.max_depth;
                }
                Some(0) if finished.stdout.contains("search not completed") => {
                    return Err(Failure::OverTheCap("memory".into()));
                }
                Some(errors) => return Ok(errors == 0),
            }
        }
    }

    /// Runs with growing depth bounds until the search is complete. Returns the figures, the
    /// process data of the complete run and the depth bound it needed.
    pub fn run(&self, limits: &Limits) -> Result<(PanOutput, Finished, u64), Failure> {
        let mut depth = 10_000.min(limits.max_depth);
        loop {
            let finished = self.run_at_depth(limits, depth).map_err(Failure::Failed)?;
            if finished.over_cpu_limit() {
                return Err(Failure::OverTheCap(format!("{} s of CPU time", limits.cpu_seconds)));
            }
            if let Some(signal) = finished.signal {
                return Err(Failure::Failed(format!("pan ended by signal {signal}")));
            }
            match pan_output::parse(&finished.stdout) {
                Ok(output) => return Ok((output, finished, depth)),
                Err(Incomplete::Depth) if depth < limits.max_depth => {
                    depth = depth.saturating_mul(100).min(limits.max_depth);
                }
                Err(Incomplete::Depth) => {
                    return Err(Failure::OverTheCap(format!("depth {depth}")));
                }
                Err(Incomplete::Stopped(why)) if why.contains("MEMLIM") || why.contains("out of memory") => {
                    return Err(Failure::OverTheCap(format!("{} MiB of memory", limits.memory_mebibytes)));
                }
                Err(Incomplete::Stopped(why) | Incomplete::Unreadable(why)) => {
                    return Err(Failure::Failed(format!("pan: {why}")));
                }
            }
        }
    }
}

/// The first line that says something, preferring standard error.
fn first_line(finished: &Finished) -> String {
    let mut lines = finished.stderr.lines().chain(finished.stdout.lines());
    let line = lines.find(|line| !line.trim().is_empty()).unwrap_or("no message");
    line.trim().to_string()
}
