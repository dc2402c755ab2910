//! `pfscan`: the real pfscan of the paper on thread symmetry in C programs, without and with symmetry.
//!
//! The program is `pthread/pfscan_comb.c` of goblint/bench, which is not part of this project. That file was preprocessed for 32
//! bits: sizes of the library's types, the layout of `struct stat` and the version of `__fxstat` are put right in a copy,
//! nothing else. It looks for a word in one file, as in the paper (one file, N workers and `main`).
//!
//! With two workers, and with more where `--unreduced` says so, everything is explored without symmetry, too, and the sets of outcomes
//! (what is printed, exit status) must be equal. In a second copy the lock of the counter of active workers is
//! forgotten: both must find the race. Bounds on executions are those that were reached by hand, with what
//! differs between workers switched off; CPU times are those of the exploration.

use crate::{process, quotient, table};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Executions with symmetry, at most.
const MOST: [(u32, u64); 2] = [(2, 480), (3, 10_600)];
/// Lock of the counter of workers that are at work.
const FORGOTTEN: &str = "aworker_lock";

/// Options of `pfscan`.
#[derive(clap::Args)]
pub struct Options {
    /// The file `pthread/pfscan_comb.c` of a checkout of goblint/bench
    #[arg(long)]
    from: PathBuf,
    /// The most workers
    #[arg(long, default_value_t = 4)]
    workers: u32,
    /// The most workers that are explored without symmetry, too
    #[arg(long, default_value_t = 2)]
    unreduced: u32,
    /// The most minutes for an exploration
    #[arg(long, default_value_t = 30)]
    minutes: u64,
    /// The most microseconds of CPU time per execution without symmetry
    #[arg(long, default_value_t = 80.0)]
    most: f64,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
}

/// What an exploration came to.
struct Explored {
    verdict: String,
    kind: String,
    executions: u64,
    microseconds: f64,
    seconds: f64,
    outcomes: BTreeSet<(u64, Vec<String>)>,
}

/// The program for 64 bits.
fn corrected(text: &str) -> Result<String, String> {
    const STAT: &str = "struct stat {\n   __dev_t st_dev ;\n   __ino_t st_ino ;\n   unsigned long st_nlink ;\n   __mode_t st_mode ;\n   \
        __uid_t st_uid ;\n   __gid_t st_gid ;\n   int __pad0 ;\n   __dev_t st_rdev ;\n   __off_t st_size ;\n   \
        __blksize_t st_blksize ;\n   __blkcnt_t st_blocks ;\n   struct timespec st_atim ;\n   struct timespec st_mtim ;\n   \
        struct timespec st_ctim ;\n   long __unused[3] ;\n";
    let missing = |what: &str| format!("the program has no `{what}`: another version?");
    let start = text.find("struct stat {").ok_or_else(|| missing("struct stat"))?;
    let end = start + text[start..].find("};").ok_or_else(|| missing("};"))?;
    let mut text = [&text[..start], STAT, &text[end..]].concat();
    for (from, to) in [
        ("typedef unsigned int size_t;", "typedef unsigned long size_t;"),
        ("typedef int __ssize_t;", "typedef long __ssize_t;"),
        ("char __size[36]", "char __size[56]"),
        ("char __size[24]", "char __size[40]"),
        ("__fxstat(3,", "__fxstat(1,"),
    ] {
        if !text.contains(from) {
            return Err(missing(from));
        }
        text = text.replace(from, to);
    }
    Ok(text)
}

/// Without the first calls that lock and unlock what is to be forgotten.
fn without_lock(text: &str) -> String {
    let without =
        |text: String, call: &str| text.replacen(&format!("pthread_mutex_{call}(& {FORGOTTEN});"), ";", 1);
    without(without(text.to_owned(), "lock"), "unlock")
}

fn explore(
    binary: &Path,
    folder: &Path,
    name: &str,
    options: &Options,
    workers: u32,
    (symmetry, outcomes): (&str, bool),
) -> Result<Explored, String> {
    let mut command = Command::new(binary);
    command.current_dir(folder).args(["check", name, "--json", "--workers", "1"]);
    if outcomes {
        command.arg("--outcomes");
    }
    command.args(["--symmetry", symmetry, "--max-time", &format!("{}m", options.minutes)]);
    command.args([&format!("--arg=-n{workers}"), "--arg=hello", "--arg=a", "--file=a"]);
    let finished = process::run(&mut command, None)?;
    let answer: Value = serde_json::from_str(&finished.stdout)
        .map_err(|_| format!("no answer: {}{}", finished.stdout, finished.stderr))?;
    let number = |key: &str| answer[key].as_f64().unwrap_or(f64::NAN);
    let outcome = |o: &Value| {
        let mut lines: Vec<String> =
            o["output"].as_str().unwrap_or_default().lines().map(str::to_owned).collect();
        lines.sort();
        (o["exit_status"].as_u64().unwrap_or(u64::MAX), lines)
    };
    Ok(Explored {
        verdict: answer["verdict"].as_str().unwrap_or("none").to_owned(),
        kind: answer["violations"][0]["kind"].as_str().unwrap_or_default().to_owned(),
        executions: answer["executions"].as_u64().ok_or("no executions")?,
        microseconds: number("microseconds_per_execution"),
        seconds: number("cpu_seconds"),
        outcomes: answer["outcomes"].as_array().into_iter().flatten().map(outcome).collect(),
    })
}

/// Prints the table; `false` if something is not as it should be.
pub fn run(options: &Options) -> Result<bool, String> {
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    let binary = std::path::absolute(&binary).map_err(|e| e.to_string())?;
    let text =
        std::fs::read_to_string(&options.from).map_err(|e| format!("{}: {e}", options.from.display()))?;
    let folder = std::env::temp_dir().join(format!("quotient-bench-pfscan-{}", std::process::id()));
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).map_err(|e| e.to_string());
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let text = corrected(&text)?;
    write("pfscan.c", &text)?;
    write("forgotten.c", &without_lock(&text))?;
    write("a", "hello world\nsay hello\n")?;
    let result = compare(&binary, &folder, options);
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn compare(binary: &Path, folder: &Path, options: &Options) -> Result<bool, String> {
    let (mut lines, mut faults) = (Vec::new(), Vec::new());
    for workers in 2..=options.workers {
        let mut sets: Vec<(&str, BTreeSet<_>)> = Vec::new();
        for symmetry in ["off", "dynamic"] {
            if symmetry == "off" && workers > options.unreduced {
                continue;
            }
            let found = explore(binary, folder, "pfscan.c", options, workers, (symmetry, true))?;
            let name = format!("{workers} workers, {symmetry}");
            // What is printed is not kept while time is measured.
            let timed = if symmetry == "off" {
                explore(binary, folder, "pfscan.c", options, workers, (symmetry, false))?.microseconds
            } else {
                found.microseconds
            };
            if found.verdict != "holds" {
                faults.push(format!("{name}: {}", found.verdict));
            }
            let most = MOST.iter().find(|(n, _)| *n == workers && symmetry == "dynamic");
            if let Some((_, most)) = most.filter(|(_, most)| found.executions > *most) {
                faults.push(format!("{name}: more than {most} executions"));
            }
            if symmetry == "off" && timed > options.most {
                faults.push(format!("{name}: {timed:.1} us per execution, more than {}", options.most));
            }
            lines.push(vec![
                workers.to_string(),
                symmetry.to_owned(),
                found.verdict,
                found.executions.to_string(),
                found.outcomes.len().to_string(),
                format!("{timed:.1}"),
                format!("{:.1}", found.seconds),
            ]);
            eprintln!("{}", lines[lines.len() - 1].join("  "));
            sets.push((symmetry, found.outcomes));
            let forgotten = explore(binary, folder, "forgotten.c", options, workers, (symmetry, true))?;
            if forgotten.kind != "race" {
                faults
                    .push(format!("{name}: a forgotten lock gives {} {}", forgotten.verdict, forgotten.kind));
            }
        }
        if let [(_, without), (_, with)] = sets.as_slice()
            && (without != with || with.is_empty())
        {
            faults.push(format!("{workers} workers: outcomes differ: {without:?}, with symmetry {with:?}"));
        }
    }
    let head = ["workers", "symmetry", "verdict", "executions", "outcomes", "us", "CPU s"];
    print!("{}", table::render(&head, &lines));
    faults.iter().for_each(|fault| println!("{fault}"));
    Ok(faults.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_forgotten_once() {
        let section = |lock: &str, unlock: &str| format!("{lock}\n  n --;\n{unlock}\n");
        let locked = section("pthread_mutex_lock(& aworker_lock);", "pthread_mutex_unlock(& aworker_lock);");
        assert_eq!(without_lock(&locked.repeat(2)), section(";", ";") + &locked);
    }

    #[test]
    fn another_version_is_refused() {
        assert!(corrected("struct stat {\n};\n").is_err());
    }
}
