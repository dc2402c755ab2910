//! `strangers`: models of public repositories, which nobody here wrote.
//!
//! A list names repository, path and SPIN's verdict on safety; the models themselves are not part of this project. `--from` names the
//! folder with the checkouts, each in `OWNER/NAME` or `OWNER+NAME`. Every model is checked under a time limit. A verdict is
//! right or wrong; undecided and refused are told apart, with the reason. Only a wrong verdict (or a crash) is a failure.

use crate::process;
use crate::quotient;
use crate::table;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `strangers`.
#[derive(clap::Args)]
pub struct Options {
    /// The folder with the checkouts
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// The list: repository, path and `holds` or `violated`, separated by tabs
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/strangers.list"))]
    list: PathBuf,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
    /// Seconds per model
    #[arg(long, default_value_t = 5)]
    seconds: u64,
}

/// One line of the list.
#[derive(Debug, PartialEq)]
struct Entry<'a> {
    repository: &'a str,
    path: &'a str,
    violated: bool,
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
    let text = std::fs::read_to_string(&options.list)
        .map_err(|error| format!("{}: {error}", options.list.display()))?;
    let mut counts: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    let mut remarks = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some(entry) = parse(line).map_err(|why| format!("line {}: {why}", number + 1))? else { continue };
        let (result, reason) = match find(&options.from, entry.repository) {
            None => (Fate::Missing, "no checkout".to_owned()),
            Some(checkout) => check(&binary, &checkout.join(entry.path), entry.violated, options.seconds)?,
        };
        counts.entry(entry.repository).or_default()[result as usize] += 1;
        if result != Fate::Right {
            remarks.push(format!("{result:?}: {} {}: {reason}", entry.repository, entry.path));
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
    remarks.iter().for_each(|remark| println!("{remark}"));
    Ok(total[Fate::Wrong as usize] == 0)
}

/// Reads a line; nothing for an empty one and a comment.
fn parse(line: &str) -> Result<Option<Entry<'_>>, String> {
    if line.trim().is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    match line.split('\t').collect::<Vec<_>>()[..] {
        [repository, path, expected @ ("holds" | "violated")] => {
            Ok(Some(Entry { repository, path, violated: expected == "violated" }))
        }
        _ => Err("expected a repository, a path and `holds` or `violated`, separated by tabs".into()),
    }
}

fn find(from: &Path, repository: &str) -> Option<PathBuf> {
    let folders = [from.join(repository), from.join(repository.replacen('/', "+", 1))];
    folders.into_iter().find(|folder| folder.is_dir())
}

fn check(binary: &Path, model: &Path, violated: bool, seconds: u64) -> Result<(Fate, String), String> {
    if !model.is_file() {
        return Ok((Fate::Missing, "no such file".into()));
    }
    let mut command = Command::new(binary);
    command.args(["check", "--safety", "--json", "--max-time", &format!("{seconds}s")]).arg(model);
    let finished = process::run(&mut command, Some(4 * seconds + 10))?;
    let json: Value = serde_json::from_str(&finished.stdout).unwrap_or_default();
    let message = json["message"].as_str().unwrap_or("no message");
    let message = message.lines().next().unwrap_or("").to_owned();
    Ok(match (json["verdict"].as_str(), violated) {
        (Some("holds"), false) | (Some("violated"), true) => (Fate::Right, String::new()),
        (Some("holds"), true) => (Fate::Wrong, "holds, SPIN finds an error".into()),
        (Some("violated"), false) => (Fate::Wrong, "violated, SPIN finds no error".into()),
        (Some("undecided"), _) => (Fate::Undecided, message),
        (Some("error"), _) => (Fate::Refused, message),
        _ => (Fate::Wrong, format!("no answer: status {:?}, signal {:?}", finished.status, finished.signal)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_list() {
        let entry = Entry { repository: "a/b", path: "c d.pml", violated: true };
        assert_eq!(parse("a/b\tc d.pml\tviolated"), Ok(Some(entry)));
        assert_eq!(parse("# a comment"), Ok(None));
        assert!(parse("a/b\tc.pml\tmaybe").is_err());
        assert!(parse("a/b c.pml holds").is_err());
    }
}
