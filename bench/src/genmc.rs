//! `genmc`: executions beside those that GenMC's own tests expect, under sequential consistency and RC11.
//!
//! `--from` names a checkout of MPI-SWS/genmc, which is not part of this project. Each folder of `tests/correct` has variants of
//! a program, and files that say with which options they are run and how many complete executions there are. Ours counts complete
//! executions too; those that end in an assumption or wait in vain are counted apart by both.
//!
//! Where the numbers differ, a second look says why, if it can: GenMC takes threads with equal code for one another by default
//! ("symmetry": ours with `--symmetry` makes no more), has critical sections without an effect on each other in one order
//! ("lock sections"), or leaves out what its options say.

use crate::{process, quotient, table};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `genmc`.
#[derive(clap::Args)]
pub struct Options {
    /// A checkout of MPI-SWS/genmc
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// Only tests whose folder contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// The memory models [default: both]
    #[arg(long, value_name = "MODEL", value_parser = ["sc", "rc11"])]
    memory: Vec<String>,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
    /// Seconds per program
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

/// What became of a program under a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Equal,
    /// Equal, or fewer, once threads are exchanged as GenMC does.
    BySymmetry,
    Fewer,
    More,
    Undecided,
    Refused,
    /// A data race, which GenMC is told not to look for.
    Race,
    Violated,
}

const FATES: [(Fate, &str); 8] = [
    (Fate::Equal, "equal"),
    (Fate::BySymmetry, "with symmetry"),
    (Fate::Fewer, "fewer"),
    (Fate::More, "more"),
    (Fate::Undecided, "undecided"),
    (Fate::Refused, "refused"),
    (Fate::Race, "race"),
    (Fate::Violated, "violated"),
];

/// A line of `expected` with its line of `args`.
#[derive(Debug, PartialEq)]
struct Test {
    /// Options of GenMC.
    options: String,
    /// Options of the compiler.
    flags: Vec<String>,
    expected: u64,
}

/// Reads the two files of a test; without `args` the first number counts.
fn tests(args: Option<&str>, expected: &str) -> Vec<Test> {
    let numbers = expected.lines().filter_map(|line| line.trim().parse().ok());
    let Some(args) = args else {
        return numbers
            .take(1)
            .map(|expected| Test { options: String::new(), flags: Vec::new(), expected })
            .collect();
    };
    let test = |(line, expected): (&str, u64)| {
        let (options, flags) = line.split_once('|').unwrap_or((line, ""));
        let flags = flags.split_whitespace().map(str::to_owned).collect();
        Test { options: options.trim().to_owned(), flags, expected }
    };
    args.lines().zip(numbers).map(test).collect()
}

/// A header for programs that start threads by GenMC's own functions, in place of its header.
const SPAWN: &str = "#include <pthread.h>\ntypedef pthread_t __VERIFIER_thread_t;\n\
    #define __VERIFIER_spawn(f, a) ({ pthread_t t_; pthread_create(&t_, 0, f, a); t_; })\n\
    #define __VERIFIER_spawn_symmetric(f, a, other) __VERIFIER_spawn(f, a)\n";

struct Checked<'a> {
    binary: &'a Path,
    checkout: &'a Path,
    seconds: u64,
    /// Where that header is.
    spawn: &'a Path,
}

impl Checked<'_> {
    fn run(&self, program: &Path, test: &Test, options: &[&str]) -> Result<Value, String> {
        let mut command = Command::new(self.binary);
        command.args(["check", "--json", "--max-time", &format!("{}s", self.seconds)]).args(options);
        command.arg(program).arg("--");
        if std::fs::read_to_string(program).is_ok_and(|text| text.contains("__VERIFIER_spawn")) {
            command.arg("-I").arg(self.spawn);
        }
        command.arg("-idirafter").arg(self.checkout.join("include"));
        command.args(["-D__CONFIG_GENMC_INODE_DATA_SIZE=64", "-include", "stdint.h"]).args(&test.flags);
        let finished = process::run(&mut command, Some(4 * self.seconds + 10))?;
        Ok(serde_json::from_str(&finished.stdout).unwrap_or_default())
    }

    /// What became of it, ours, and why.
    fn judge(&self, program: &Path, test: &Test, model: &str) -> Result<(Fate, u64, String), String> {
        let json = self.run(program, test, &["--memory", model])?;
        let message = json["message"].as_str().unwrap_or("no answer").lines().next().unwrap_or("").to_owned();
        let ours = json["executions"].as_u64().unwrap_or(0);
        let fate = match json["verdict"].as_str() {
            Some("holds") if ours == test.expected => Fate::Equal,
            Some("holds") if ours < test.expected => Fate::Fewer,
            Some("holds") => Fate::More,
            Some("violated") => {
                let message = json["violations"][0]["message"].as_str().unwrap_or_default().to_owned();
                let unasked = test.options.contains("-disable-race-detection")
                    && json["violations"][0]["kind"] == "race";
                return Ok((if unasked { Fate::Race } else { Fate::Violated }, ours, message));
            }
            Some("undecided") if message.contains("does not cover") => {
                return Ok((Fate::Refused, 0, message));
            }
            // All executions are blocked, as expected.
            Some("undecided") if json["incomplete"]["kind"] == "vacuous" && test.expected == 0 => Fate::Equal,
            Some("undecided") => return Ok((Fate::Undecided, ours, message)),
            _ => return Ok((Fate::Refused, 0, message)),
        };
        if fate == Fate::More && !test.options.contains("-disable-sr") {
            let json = self.run(program, test, &["--memory", model, "--symmetry", "costarted"])?;
            let exchanged = json["executions"].as_u64().unwrap_or(u64::MAX);
            if json["verdict"] == "holds" && exchanged <= test.expected {
                return Ok((Fate::BySymmetry, exchanged, format!("{ours} without symmetry")));
            }
        }
        Ok((fate, ours, String::new()))
    }
}

fn folders(of: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(of).map_err(|error| format!("{}: {error}", of.display()))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    found.sort();
    Ok(found)
}

/// Runs the subcommand; `Ok(false)` if a program holds there and is violated here.
pub fn run(options: &Options) -> Result<bool, String> {
    let spawn = std::env::temp_dir().join(format!("quotient-bench-genmc-{}", std::process::id()));
    std::fs::create_dir_all(&spawn).map_err(|e| e.to_string())?;
    std::fs::write(spawn.join("genmc.h"), SPAWN).map_err(|e| e.to_string())?;
    let result = compare(options, &spawn);
    let _ = std::fs::remove_dir_all(&spawn);
    result
}

fn compare(options: &Options, spawn: &Path) -> Result<bool, String> {
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    let checked = Checked { binary: &binary, checkout: &options.from, seconds: options.seconds, spawn };
    let models =
        if options.memory.is_empty() { vec!["sc".into(), "rc11".into()] } else { options.memory.clone() };
    let mut counts: BTreeMap<(String, String), [usize; FATES.len()]> = BTreeMap::new();
    let mut lines = Vec::new();
    for group in folders(&options.from.join("tests/correct"))? {
        let name = group.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for folder in folders(&group)? {
            let is_wanted = |text: &String| folder.to_string_lossy().contains(text.as_str());
            if !options.only.as_ref().is_none_or(is_wanted) || !folder.join("variants").is_dir() {
                continue;
            }
            for model in &models {
                let read = |kind: &str| std::fs::read_to_string(folder.join(format!("{kind}.{model}.mo.in")));
                let Ok(expected) = read("expected") else { continue };
                for test in tests(read("args").ok().as_deref(), &expected) {
                    for program in folders(&folder.join("variants"))? {
                        if !program.extension().is_some_and(|e| e == "c" || e == "cpp") {
                            continue;
                        }
                        let (fate, ours, why) = checked.judge(&program, &test, model)?;
                        counts.entry((model.clone(), name.clone())).or_default()[fate as usize] += 1;
                        if fate != Fate::Equal {
                            let path = program.strip_prefix(&options.from).unwrap_or(&program).display();
                            let flags = test.flags.join(" ");
                            let options = &test.options;
                            let word = FATES[fate as usize].1;
                            let line = format!(
                                "{model} {word}: {path} {flags}: {ours}, expected {} [{options}] {why}",
                                test.expected
                            );
                            eprintln!("{line}");
                            lines.push(line);
                        }
                    }
                }
            }
        }
    }
    let mut heading = vec!["model", "group"];
    heading.extend(FATES.map(|f| f.1));
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut total = [0; FATES.len()];
    for ((model, group), counts) in &counts {
        let numbers = counts.iter().map(usize::to_string);
        rows.push([model.clone(), group.clone()].into_iter().chain(numbers).collect());
        total.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    rows.push(
        ["all".to_owned(), String::new()].into_iter().chain(total.iter().map(usize::to_string)).collect(),
    );
    println!("{}", table::render(&heading, &rows));
    lines.iter().for_each(|line| println!("{line}"));
    Ok(total[Fate::Violated as usize] == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_test() {
        let test = |options: &str, flags: &[&str], expected| Test {
            options: options.into(),
            flags: flags.iter().map(|f| (*f).to_owned()).collect(),
            expected,
        };
        assert_eq!(super::tests(None, "17\n18\n"), [test("", &[], 17)]);
        let args = "-disable-sr | -DN=2\n | -DN=3 -DX\n";
        assert_eq!(
            super::tests(Some(args), "6\n24"),
            [test("-disable-sr", &["-DN=2"], 6), test("", &["-DN=3", "-DX"], 24)]
        );
    }
}
