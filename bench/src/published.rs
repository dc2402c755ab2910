//! `ltsmin` and `nidhugg`: our counts beside those that these tools' own tests expect.
//!
//! Neither tool is in a package, so neither is run here: the figures are those that stand in a checkout, which is not part of this project.
//!
//! - LTSmin reads Promela by SpinS, whose `tests/run.sh` has states and transitions of the models in `tests/case_studies`. They are compared with those of the search without
//!   reductions (`--raw --all --safety`).
//! - Nidhugg's `tests/smoke/reference.results.txt` has traces of the programs in `tests/smoke/C-tests`. By default Nidhugg counts them up to who reads from whom, which are fewer than
//!   Mazurkiewicz's traces; with `--optimal` it counts the latter, as we do. Both are counted apart. Only runs under sequential consistency are compared. Where an error is found, the count depends on when, and only the verdict is compared.

use crate::{process, quotient, table};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of both.
#[derive(clap::Args)]
pub struct Options {
    /// A checkout: of utwente-fmt/spins for `ltsmin`, of nidhugg/nidhugg for `nidhugg`
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// Models with more published states than this are left out
    #[arg(long, default_value_t = 2_000_000)]
    most: u64,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
    /// Seconds for each
    #[arg(long, default_value_t = 30)]
    seconds: u64,
}

impl Options {
    fn check(&self, options: &[&str], file: &Path, flags: &[&str]) -> Result<Value, String> {
        let mut command = Command::new(self.quotient.clone().unwrap_or_else(quotient::default_binary));
        command.args(["check", "--json", "--workers", "1", "--max-time", &format!("{}s", self.seconds)]);
        command.args(options).arg(file);
        if !flags.is_empty() {
            command.arg("--").args(flags);
        }
        let finished = process::run(&mut command, Some(4 * self.seconds + 10))?;
        Ok(serde_json::from_str(&finished.stdout).unwrap_or_default())
    }

    fn read(&self, name: &str) -> Result<String, String> {
        let path = self.from.join(name);
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// A line `test "FOLDER" "FILE" STATES TRANSITIONS …` of SpinS's script.
fn model(line: &str) -> Option<(PathBuf, u64, u64)> {
    let mut parts = line.strip_prefix("test \"")?.split('"');
    let (folder, file) = (parts.next()?, parts.nth(1)?);
    let mut figures = parts.next()?.split_whitespace().map(str::parse);
    Some((Path::new(folder).join(file), figures.next()?.ok()?, figures.next()?.ok()?))
}

/// States and transitions beside SpinS's; `Ok(false)` if one of the models has no count here.
pub fn ltsmin(options: &Options) -> Result<bool, String> {
    let script = options.read("tests/run.sh")?;
    let folder = std::env::temp_dir().join(format!("quotient-bench-ltsmin-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let (mut rows, mut equal, mut unanswered) = (Vec::new(), 0, 0);
    for (path, states, transitions) in script.lines().filter_map(model) {
        let from = options.from.join("tests/case_studies").join(&path);
        let Ok(text) = std::fs::read(&from) else { continue };
        if states > options.most {
            continue;
        }
        // Whatever the file is called, it is Promela; what it includes stands beside it.
        let beside = from.parent().into_iter().flat_map(std::fs::read_dir).flatten().flatten();
        for other in beside.filter(|entry| entry.path() != from) {
            let _ = std::fs::copy(other.path(), folder.join(other.file_name()));
        }
        let file = folder.join("published-model.pml");
        std::fs::write(&file, text).map_err(|error| error.to_string())?;
        let answer = options.check(&["--raw", "--all", "--safety"], &file, &[])?;
        let ours = (answer["states"].as_u64(), answer["transitions"].as_u64());
        let is_answer = matches!(answer["verdict"].as_str(), Some("holds" | "violated"));
        unanswered += usize::from(!is_answer);
        equal += usize::from(is_answer && ours == (Some(states), Some(transitions)));
        let shown = |figure: Option<u64>| figure.filter(|_| is_answer).map_or("-".into(), |f| f.to_string());
        rows.push(vec![
            path.display().to_string(),
            states.to_string(),
            transitions.to_string(),
            shown(ours.0),
            shown(ours.1),
        ]);
    }
    let _ = std::fs::remove_dir_all(&folder);
    println!("{}", table::render(&["model", "published", "transitions", "ours", "transitions"], &rows));
    println!("{equal} of {} equal, {unanswered} without an answer", rows.len());
    Ok(unanswered == 0 && !rows.is_empty())
}

/// A line `NAME Allow|Forbid : TRACES` of Nidhugg's expectations: is there an error, and how many traces?
fn program(line: &str) -> Option<(&str, bool, u64)> {
    let mut words = line.split_whitespace();
    let (name, word) = (words.next()?, words.next()?);
    let error = match word {
        "Allow" => true,
        "Forbid" => false,
        _ => return None,
    };
    Some((name, error, words.nth(1)?.parse().ok()?))
}

/// What is counted, by the options that stand in the program; none if it is not under sequential consistency.
fn counted(text: &str) -> Option<&'static str> {
    let Some((_, rest)) = text.split_once("nidhuggc:") else { return Some("reads from") };
    let options: Vec<&str> = rest.lines().next().unwrap_or_default().split_whitespace().collect();
    let has = |name: &str| options.iter().any(|option| option.trim_start_matches('-') == name);
    match () {
        () if ["tso", "pso", "power", "arm"].into_iter().any(has) => None,
        () if has("optimal") => Some("optimal"),
        () if has("observers") => Some("observers"),
        () if has("source") => Some("source"),
        () => Some("reads from"),
    }
}

/// Executions beside Nidhugg's traces; `Ok(false)` if something is violated here that is right there. Threads that wait for ever are no errors there.
pub fn nidhugg(options: &Options) -> Result<bool, String> {
    const FATES: [&str; 9] = [
        "equal",
        "fewer",
        "more",
        "error in both",
        "error there",
        "error here",
        "waits in vain",
        "undecided",
        "refused",
    ];
    let expected = options.read("tests/smoke/reference.results.txt")?;
    let mut counts: BTreeMap<&str, [usize; FATES.len()]> = BTreeMap::new();
    let mut lines = Vec::new();
    for (name, error, traces) in expected.lines().filter_map(program) {
        let file = options.from.join(format!("tests/smoke/C-tests/{name}.c"));
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let Some(what) = counted(&text) else { continue };
        let answer = options.check(&["--memory", "sc", "--allow-races"], &file, &["-include", "stdint.h"])?;
        let ours = answer["executions"].as_u64().unwrap_or(0);
        let fate = match answer["verdict"].as_str() {
            Some("violated") if error => 3,
            Some("holds") if error => 4,
            Some("violated") if answer["violations"][0]["kind"] == "deadlock" => 6,
            Some("violated") => 5,
            Some("holds") => [1, 0, 2][1 + usize::from(ours > traces) - usize::from(ours < traces)],
            Some("undecided") => 7,
            _ => 8,
        };
        counts.entry(what).or_default()[fate] += 1;
        if ![0, 3].contains(&fate) {
            let why = answer["message"].as_str().unwrap_or_default().lines().next().unwrap_or_default();
            lines.push(format!("{what}, {}: {name}: {ours}, published {traces} {why}", FATES[fate]));
        }
    }
    let rows: Vec<Vec<String>> = counts
        .iter()
        .map(|(what, counts)| {
            [(*what).to_owned()].into_iter().chain(counts.iter().map(usize::to_string)).collect()
        })
        .collect();
    let heading: Vec<&str> = ["counted"].into_iter().chain(FATES).collect();
    println!("{}", table::render(&heading, &rows));
    lines.iter().for_each(|line| println!("{line}"));
    Ok(!rows.is_empty() && counts.values().all(|counts| counts[5] == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_published_files() {
        assert_eq!(
            model("test \"Tests\" \"peterson3\" 45915 128653 -o3"),
            Some((PathBuf::from("Tests/peterson3"), 45915, 128_653))
        );
        assert_eq!(model("test \"Samples\" \"p116.pml\" 29 38"), Some(("Samples/p116.pml".into(), 29, 38)));
        assert_eq!(model("function test {"), None);
        assert_eq!(program("readers_3 Forbid : 8"), Some(("readers_3", false, 8)));
        assert_eq!(program("# mutex_racy_destroy Allow : 2"), None);
        assert_eq!(counted("int main() {}"), Some("reads from"));
        assert_eq!(counted("/* nidhuggc: -sc -optimal -unroll=2 */"), Some("optimal"));
        assert_eq!(counted("// nidhuggc: -- -tso"), None);
    }
}
