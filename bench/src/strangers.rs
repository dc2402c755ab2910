//! `strangers`: programs of public repositories, which nobody here wrote.
//!
//! A list names repository, path and what is expected; the programs themselves are not part of this project. `--from` names
//! the folder with the checkouts, each in `OWNER/NAME` or `OWNER+NAME`. Every program is checked under a time limit. A verdict is
//! right or wrong; undecided and refused are told apart, with the reason. Only a wrong verdict (or a crash) is a failure.
//!
//! What is expected of a model is SPIN's verdict on safety, of a C program what its own repository says. A C program whose error
//! needs weak memory (`weak`) must hold, and the answer must say that it is under sequential consistency.

use crate::process;
use crate::quotient;
use crate::table;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `strangers`.
#[derive(clap::Args)]
pub struct Options {
    /// The folder with the checkouts
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// A list [default: all of bench/strangers]: repository, path, `holds`, `violated` or `weak`, and options (`@`: the checkout), separated by tabs
    #[arg(long, value_name = "FILE")]
    list: Vec<PathBuf>,
    /// Only entries whose path contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
    /// Seconds per program
    #[arg(long, default_value_t = 5)]
    seconds: u64,
}

/// What is known of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Holds,
    Violated,
    /// Violated, but not under sequential consistency.
    Weak,
}

/// One line of a list.
#[derive(Debug, PartialEq)]
struct Entry<'a> {
    repository: &'a str,
    path: &'a str,
    expected: Expected,
    options: Vec<&'a str>,
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Right,
    Undecided,
    Refused,
    Missing,
    Wrong,
}

/// Runs the subcommand; `Ok(false)` when a verdict is wrong.
pub fn run(options: &Options) -> Result<bool, String> {
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    let lists = if options.list.is_empty() { all_lists()? } else { options.list.clone() };
    let mut counts: BTreeMap<String, [usize; 5]> = BTreeMap::new();
    let mut absent = BTreeSet::new();
    let mut remarks = Vec::new();
    for list in &lists {
        let name = list.display();
        let text = std::fs::read_to_string(list).map_err(|error| format!("{name}: {error}"))?;
        for (number, line) in text.lines().enumerate() {
            let entry = parse(line).map_err(|why| format!("{name}: line {}: {why}", number + 1))?;
            let Some(entry) = entry.filter(|e| options.only.as_ref().is_none_or(|o| e.path.contains(o)))
            else {
                continue;
            };
            let (fate, reason) = match find(&options.from, entry.repository) {
                None => {
                    absent.insert(entry.repository.to_owned());
                    (Fate::Missing, String::new())
                }
                Some(checkout) => check(&binary, &checkout, &entry, options.seconds)?,
            };
            counts.entry(entry.repository.to_owned()).or_default()[fate as usize] += 1;
            if !reason.is_empty() {
                remarks.push(format!("{fate:?}: {} {}: {reason}", entry.repository, entry.path));
            }
        }
    }
    let heading = ["repository", "right", "undecided", "refused", "missing", "wrong"];
    let row = |name: &str, counts: &[usize; 5]| {
        std::iter::once(name.to_owned()).chain(counts.iter().map(usize::to_string)).collect::<Vec<_>>()
    };
    let mut rows: Vec<Vec<String>> = counts.iter().map(|(name, counts)| row(name, counts)).collect();
    let total = counts.values().fold([0; 5], |mut sum, counts| {
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        sum
    });
    rows.push(row("all", &total));
    println!("{}", table::render(&heading, &rows));
    for repository in absent {
        println!("Missing: no checkout of {repository} below {}", options.from.display());
    }
    remarks.iter().for_each(|remark| println!("{remark}"));
    Ok(total[Fate::Wrong as usize] == 0)
}

/// The lists that come with this program.
fn all_lists() -> Result<Vec<PathBuf>, String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/strangers");
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{folder}: {error}"))?;
    let mut lists: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    lists.sort();
    Ok(lists)
}

/// Reads a line; nothing for an empty one and a comment.
fn parse(line: &str) -> Result<Option<Entry<'_>>, String> {
    if line.trim().is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let mut fields = line.split('\t');
    let entry = (|| {
        let (repository, path) = (fields.next()?, fields.next()?);
        let expected = match fields.next()? {
            "holds" => Expected::Holds,
            "violated" => Expected::Violated,
            "weak" => Expected::Weak,
            _ => return None,
        };
        let options = fields.next().unwrap_or_default().split_whitespace().collect();
        fields.next().is_none().then_some(Entry { repository, path, expected, options })
    })();
    let format = "expected a repository, a path, `holds`, `violated` or `weak`, and perhaps options, separated by tabs";
    entry.map(Some).ok_or_else(|| format.into())
}

fn find(from: &Path, repository: &str) -> Option<PathBuf> {
    let folders = [from.join(repository), from.join(repository.replacen('/', "+", 1))];
    folders.into_iter().find(|folder| folder.is_dir())
}

fn is_model(path: &str) -> bool {
    let native = [".c", ".i", ".cc", ".cpp", ".ii"];
    !native.iter().any(|extension| path.ends_with(extension))
}

fn check(binary: &Path, checkout: &Path, entry: &Entry<'_>, seconds: u64) -> Result<(Fate, String), String> {
    let program = checkout.join(entry.path);
    if !program.is_file() {
        return Ok((Fate::Missing, "no such file".into()));
    }
    let mut command = Command::new(binary);
    command.args(["check", "--json", "--max-time", &format!("{seconds}s")]);
    if is_model(entry.path) {
        command.arg("--safety");
    }
    let options = entry.options.iter().map(|o| o.replace('@', &checkout.to_string_lossy()));
    command.arg(program).args(options);
    let finished = process::run(&mut command, Some(4 * seconds + 10))?;
    let json: Value = serde_json::from_str(&finished.stdout).unwrap_or_default();
    Ok(judge(&json, entry.expected).unwrap_or_else(|| {
        (Fate::Wrong, format!("no answer: status {:?}, signal {:?}", finished.status, finished.signal))
    }))
}

/// What an answer is worth, and why; `None` if it is not an answer.
fn judge(json: &Value, expected: Expected) -> Option<(Fate, String)> {
    let message = json["message"].as_str().unwrap_or("no message");
    let message = message.lines().next().unwrap_or("").to_owned();
    let is_assumed = |what: &str| {
        let assumptions = json["assumptions"].as_array();
        assumptions.is_some_and(|all| all.iter().any(|a| a.as_str().is_some_and(|a| a.starts_with(what))))
    };
    Some(match (json["verdict"].as_str()?, expected) {
        ("holds", Expected::Holds) | ("violated", Expected::Violated) => (Fate::Right, String::new()),
        ("holds", Expected::Weak) if is_assumed("sequential consistency") => (Fate::Right, String::new()),
        ("holds", Expected::Violated) if is_assumed("the values of --nondet") => {
            (Fate::Undecided, "holds for the values of --nondet".into())
        }
        ("holds", Expected::Violated) => (Fate::Wrong, "holds, an error is known".into()),
        ("holds", Expected::Weak) => {
            (Fate::Wrong, "holds, and does not say under sequential consistency".into())
        }
        ("violated", _) => {
            (Fate::Wrong, format!("violated, no error is known: {}", json["violations"][0]["message"]))
        }
        ("undecided", _) => (Fate::Undecided, message),
        ("error", _) => (Fate::Refused, complaint(json["message"].as_str().unwrap_or_default())),
        _ => return None,
    })
}

/// What a compiler or linker says first, else the first line.
fn complaint(message: &str) -> String {
    let is_complaint = |line: &&str| line.contains("error:") || line.contains("undefined reference");
    let line = message.lines().find(is_complaint).or_else(|| message.lines().next()).unwrap_or("no message");
    // Without the places of files, which say nothing here.
    let start = ["error:", "undefined reference"].iter().find_map(|words| line.find(words)).unwrap_or(0);
    line[start..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_list() {
        let entry =
            Entry { repository: "a/b", path: "c d.pml", expected: Expected::Violated, options: vec![] };
        assert_eq!(parse("a/b\tc d.pml\tviolated"), Ok(Some(entry)));
        let options = vec!["--allow-races", "--", "-I@/include"];
        let entry = Entry { repository: "a/b", path: "c.c", expected: Expected::Weak, options };
        assert_eq!(parse("a/b\tc.c\tweak\t--allow-races -- -I@/include"), Ok(Some(entry)));
        assert_eq!(parse("# a comment"), Ok(None));
        assert!(parse("a/b\tc.pml\tmaybe").is_err());
        assert!(parse("a/b\tc.pml\tholds\t-q\tmore").is_err());
        assert!(parse("a/b c.pml holds").is_err());
    }

    #[test]
    fn lists_can_be_read() {
        for list in all_lists().expect("the lists are there") {
            let text = std::fs::read_to_string(&list).expect("it can be read");
            let entries = text.lines().filter(|line| parse(line).expect("a line is right").is_some()).count();
            assert!(entries > 0, "{}", list.display());
        }
    }

    #[test]
    fn answers_are_judged() {
        let fate = |json: &str, expected| {
            let json = serde_json::from_str(json).expect("it is JSON");
            judge(&json, expected).map(|(fate, _)| fate)
        };
        let plain = r#"{"verdict": "holds", "assumptions": []}"#;
        let relative = r#"{"verdict": "holds", "assumptions": ["sequential consistency: …"]}"#;
        let violated = r#"{"verdict": "violated"}"#;
        assert_eq!(fate(plain, Expected::Holds), Some(Fate::Right));
        assert_eq!(fate(plain, Expected::Violated), Some(Fate::Wrong));
        assert_eq!(fate(plain, Expected::Weak), Some(Fate::Wrong));
        assert_eq!(fate(relative, Expected::Weak), Some(Fate::Right));
        assert_eq!(fate(relative, Expected::Violated), Some(Fate::Wrong));
        assert_eq!(fate(violated, Expected::Violated), Some(Fate::Right));
        assert_eq!(fate(violated, Expected::Holds), Some(Fate::Wrong));
        assert_eq!(fate(r#"{"verdict": "undecided"}"#, Expected::Violated), Some(Fate::Undecided));
        assert_eq!(fate("{}", Expected::Holds), None);
    }

    #[test]
    fn complaints_of_compilers() {
        let message =
            "the compiler refuses the program\nIn file a.c\n/x/a.c:3:1: error: unknown type name 'u8'\n";
        assert_eq!(complaint(message), "error: unknown type name 'u8'");
        let message = "the compiler refuses the program\n/usr/bin/ld: a.o: undefined reference to `f'\n";
        assert_eq!(complaint(message), "undefined reference to `f'");
        assert_eq!(complaint("no such construct\nmore"), "no such construct");
    }
}
