//! `symmetry`: what symmetry saves on models that nobody here wrote.
//!
//! The models are not part of this project. `--from` names the folder with checkouts of public repositories, each in `OWNER/NAME` or
//! `OWNER+NAME`; what is missing is left out, and said. Of copies of a file the first counts.
//!
//! First TopSPIN's own test models (afd/symmetrytools), without other reductions: states must be those that TopSPIN's authors print. Then
//! all Promela models of the other repositories, and the smallest instance of each family of BEEM: how many store fewer states
//! than without symmetry. With `--than`, none may store more than another binary does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{process, quotient, table};

/// Options of `symmetry`.
#[derive(clap::Args)]
pub struct Options {
    /// The folder with the checkouts
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// Only models whose path contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
    /// Another `quotient` binary, which must not store fewer states
    #[arg(long, value_name = "BINARY")]
    than: Option<PathBuf>,
    /// Seconds of CPU time for each run
    #[arg(long, default_value_t = 15)]
    seconds: u64,
    /// Most states of each run
    #[arg(long, default_value_t = 300_000)]
    max_states: u64,
}

/// States of TopSPIN's models, without reductions but symmetry.
const TOPSPIN: [(&str, u64); 12] = [
    ("mutex5.p", 12),
    ("mutex10.p", 22),
    ("mutex15.p", 32),
    ("mutex20.p", 42),
    ("email3.p", 3_902),
    ("email4.p", 36_255),
    ("2s3cs.p", 2_656),
    ("2s4cs.p", 5_021),
    ("3s3cs.p", 50_396),
    ("reordered_byte.p", 117),
    ("reordered_int.p", 366),
    ("reordered_simple_struct.p", 366),
];

const TOPSPIN_REPOSITORY: &str = "afd/symmetrytools";

const BEEM_REPOSITORY: &str = "plug-obp/beem-benchmark";

/// Repositories with models.
const REPOSITORIES: [&str; 10] = [
    "nimble-code/Spin",
    "utwente-fmt/spins",
    "SergeyStaroletov/PromelaSamples",
    "prateek18597/Promela-Programs",
    "goens/promela-examples",
    "Akirathan/mesi_promela",
    "MK4H/MESI_Promela",
    "YeonwooSung/PROMELA_Examples",
    "mpsk2/PWiR-Promela",
    "andirsun/promela-spin-problems",
];

const EXTENSIONS: [&str; 6] = ["pml", "p", "pm", "prom", "promela", "spin"];

/// What a run stored.
#[derive(Clone, Debug, PartialEq)]
struct Stored {
    states: u64,
    /// All of them: no limit was reached.
    whole: bool,
    group: String,
}

/// Runs a check; none if the model is refused, or the time is over.
fn stored(binary: &Path, model: &Path, arguments: &[&str], options: &Options) -> Option<Stored> {
    let mut command = Command::new(binary);
    let most = options.max_states.to_string();
    command.args(["check", "--json", "--safety", "--all", "--max-states", &most]).args(arguments).arg(model);
    let finished = process::run(&mut command, Some(options.seconds)).ok()?;
    let json: Value = serde_json::from_str(&finished.stdout).ok()?;
    // A violation may have been found before the limit was reached.
    let states = json["states"].as_u64()?;
    let whole = matches!(json["verdict"].as_str()?, "holds" | "violated") && states < options.max_states;
    let found = json["reductions"]["symmetry_found"].as_array();
    let found: Vec<&str> = found.into_iter().flatten().filter_map(Value::as_str).collect();
    Some(Stored { states, whole, group: found.join("; ") })
}

/// The checkout of a repository.
fn checkout(from: &Path, repository: &str) -> Option<PathBuf> {
    [from.join(repository), from.join(repository.replace('/', "+"))].into_iter().find(|path| path.is_dir())
}

/// The models below a folder, each content once.
fn models(folder: &Path, seen: &mut BTreeSet<Vec<u8>>, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            models(&path, seen, out);
            continue;
        }
        let known = path.extension().is_some_and(|e| EXTENSIONS.iter().any(|known| e == *known));
        if let Some(text) = known.then(|| std::fs::read(&path).ok()).flatten()
            && seen.insert(text)
        {
            out.push(path);
        }
    }
}

/// Of the instances of each family (`family.1.pm`, `family.2.pm`) the first.
fn smallest(models: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut families = BTreeSet::new();
    let family = |path: &Path| -> Option<(String, u32)> {
        let name = path.file_stem()?.to_str()?;
        let (family, number) = name.rsplit_once('.')?;
        Some((family.to_owned(), number.parse().ok()?))
    };
    let mut known: Vec<(String, u32, PathBuf)> = models
        .into_iter()
        .filter_map(|path| family(&path).map(|(family, number)| (family, number, path)))
        .collect();
    known.sort();
    known.into_iter().filter(|(family, ..)| families.insert(family.clone())).map(|(.., path)| path).collect()
}

/// Figures of a set of models.
#[derive(Default)]
struct Sum {
    loaded: usize,
    fewer: usize,
    /// Those that store more than another binary.
    more: usize,
}

fn compare(binary: &Path, models: &[PathBuf], options: &Options, rows: &mut Vec<Vec<String>>) -> Sum {
    let mut sum = Sum::default();
    for model in models {
        let name = model.strip_prefix(&options.from).unwrap_or(model).display().to_string();
        if options.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let run = |binary: &Path, symmetry| {
            stored(binary, model, &["--por", "off", "--symmetry", symmetry], options)
        };
        let (Some(exact), Some(off)) = (run(binary, "exact"), run(binary, "off")) else { continue };
        sum.loaded += 1;
        let fewer = exact.whole && exact.states < off.states;
        if fewer {
            eprintln!("{name}: {} of {}", exact.states, off.states);
        }
        sum.fewer += usize::from(fewer);
        let than = options.than.as_ref().and_then(|than| run(than, "exact"));
        let more = than.as_ref().is_some_and(|than| than.whole && exact.states > than.states);
        sum.more += usize::from(more);
        if fewer || more {
            let count = |s: &Stored| format!("{}{}", if s.whole { "" } else { "> " }, s.states);
            rows.push(vec![
                name,
                count(&exact),
                count(&off),
                than.as_ref().map_or_else(String::new, count),
                exact.group,
            ]);
        }
    }
    sum
}

fn topspin(binary: &Path, options: &Options, rows: &mut Vec<Vec<String>>) -> Option<bool> {
    let folder = checkout(&options.from, TOPSPIN_REPOSITORY)?.join("TestModels/SymmReducerTests");
    let mut all = Vec::new();
    models(&folder, &mut BTreeSet::new(), &mut all);
    let mut right = true;
    for (name, expected) in TOPSPIN {
        let Some(model) = all.iter().find(|path| path.file_name().is_some_and(|n| n == name)) else {
            continue;
        };
        let found = stored(binary, model, &["--raw", "--symmetry", "exact"], options);
        let states = found.as_ref().map(|s| s.states);
        right &= states == Some(expected);
        let states = states.map_or_else(|| "none".to_owned(), |s| s.to_string());
        let group = found.map_or_else(String::new, |s| s.group);
        rows.push(vec![name.into(), states, expected.to_string(), String::new(), group]);
    }
    Some(right)
}

/// Compares; `false` when a count is not TopSPIN's, or a model stores more than another binary.
pub fn run(options: &Options) -> Result<bool, String> {
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    let (mut good, mut rows) = (true, Vec::new());
    let heading = |second: &'static str| ["model", "states", second, "than", "what is exchanged"];
    match topspin(&binary, options, &mut rows) {
        Some(right) => good &= right,
        None => println!("{TOPSPIN_REPOSITORY} is missing"),
    }
    print!("{}", table::render(&heading("TopSPIN"), &rows));
    let mut sets = vec![("strangers", Vec::new()), ("BEEM", Vec::new())];
    let mut seen = BTreeSet::new();
    for repository in REPOSITORIES {
        match checkout(&options.from, repository) {
            Some(folder) => models(&folder, &mut seen, &mut sets[0].1),
            None => println!("{repository} is missing"),
        }
    }
    // Copies of BEEM's models are counted there.
    sets[0].1.retain(|path| path.extension().is_none_or(|e| e != "pm"));
    match checkout(&options.from, BEEM_REPOSITORY) {
        Some(folder) => models(&folder, &mut BTreeSet::new(), &mut sets[1].1),
        None => println!("{BEEM_REPOSITORY} is missing"),
    }
    let beem = std::mem::take(&mut sets[1].1);
    sets[1].1 = smallest(beem);
    for (name, models) in sets {
        let mut rows = Vec::new();
        let sum = compare(&binary, &models, options, &mut rows);
        print!("\n{}", table::render(&heading("without"), &rows));
        println!("{name}: {} of {} models store fewer states than without symmetry", sum.fewer, sum.loaded);
        if options.than.is_some() {
            println!("{name}: {} store more than the other binary", sum.more);
        }
        good &= sum.more == 0;
    }
    Ok(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_instance_of_each_family() {
        let all = ["x/b.2.pm", "x/a.10.pm", "x/a.2.pm", "x/c.pm"].map(PathBuf::from);
        let expected = ["x/a.2.pm", "x/b.2.pm"].map(PathBuf::from);
        assert_eq!(smallest(all.to_vec()), expected);
    }
}
