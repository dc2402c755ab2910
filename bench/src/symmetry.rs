//! `symmetry`: what symmetry saves on models that nobody here wrote.
//!
//! The models are not part of this project. `--from` names the folder with checkouts of public repositories, each in `OWNER/NAME` or
//! `OWNER+NAME`; what is missing is left out, and said. Of copies of a file the first counts.
//!
//! `bench/symmetry/fetch DIR` makes the checkouts that are named in `bench/symmetry/repositories.list`. With `--write FILE` the tables are written to a file.
//!
//! First TopSPIN's own test models (afd/symmetrytools), without other reductions: states must be those that TopSPIN's authors print, and groups no
//! smaller than their tests expect (read from the tests in the checkout). Then five small models of ours, and all Promela models of the other repositories, and the smallest instance of
//! each family of BEEM: how many store fewer states than without symmetry. With `--than`, none may store more than another binary does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{process, quotient, table};

/// Options of `symmetry`.
#[derive(clap::Args, Clone)]
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
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Write the tables to this file, too
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Most states of each run
    #[arg(long, default_value_t = 100_000)]
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
const REPOSITORIES: &str = include_str!("../symmetry/repositories.list");

/// Models of ours that show one thing each: states with `--all --por off`.
const SMALL: [(&str, &str, u64); 5] = [
    ("m1", include_str!("../symmetry/models/m1.pml"), 7),
    ("m4", include_str!("../symmetry/models/m4.pml"), 27),
    ("s1", include_str!("../symmetry/models/s1.pml"), 19),
    ("s2", include_str!("../symmetry/models/s2.pml"), 19),
    ("s3", include_str!("../symmetry/models/s3.pml"), 19),
];

const EXTENSIONS: [&str; 6] = ["pml", "p", "pm", "prom", "promela", "spin"];

/// What a run stored.
#[derive(Clone, Debug, PartialEq)]
struct Stored {
    states: u64,
    /// All of them: no limit was reached.
    whole: bool,
    group: String,
    /// How many renamings there are.
    renamings: f64,
}

/// Runs a check; none if the model is refused, or the time is over.
fn stored(binary: &Path, model: &Path, arguments: &[&str], options: &Options) -> Option<Stored> {
    let mut command = Command::new(binary);
    let (most, time) = (options.max_states.to_string(), format!("{}s", options.seconds));
    command.args(["check", "--json", "--safety", "--all", "--max-states", &most, "--max-time", &time]);
    command.args(arguments).arg(model);
    // A check that does not keep its limit is ended.
    let finished = process::run(&mut command, Some(options.seconds + 5)).ok()?;
    let json: Value = serde_json::from_str(&finished.stdout).ok()?;
    // A violation may have been found before the limit was reached.
    let states = json["states"].as_u64()?;
    let whole = matches!(json["verdict"].as_str()?, "holds" | "violated") && states < options.max_states;
    let found = json["reductions"]["symmetry_found"].as_array();
    let found: Vec<&str> = found.into_iter().flatten().filter_map(Value::as_str).collect();
    let renamings = json["reductions"]["symmetry_renamings"].as_str().unwrap_or("1").replace(',', "");
    let renamings = renamings.parse().unwrap_or(1.0);
    Some(Stored { states, whole, group: found.join("; "), renamings })
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
        let Some(exact) = run(binary, "exact") else { continue };
        // Where nothing is renamed, nothing else is stored.
        let off = if exact.renamings > 1.0 { run(binary, "off") } else { Some(exact.clone()) };
        let Some(off) = off else { continue };
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

/// What is printed, and written to a file at the end.
#[derive(Default)]
struct Tables(String);

impl Tables {
    fn line(&mut self, text: &str) {
        println!("{text}");
        self.0 += text;
        self.0.push('\n');
    }

    /// A table with a heading, as text, and in the file as Markdown.
    fn table(&mut self, title: &str, heading: &[&str], rows: &[Vec<String>]) {
        println!("\n{title}\n{}", table::render(heading, rows));
        let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        self.0 += &format!("\n## {title}\n\n");
        self.0 += &row(&heading.iter().map(|h| (*h).to_owned()).collect::<Vec<_>>());
        self.0 += &format!("|{}\n", "---|".repeat(heading.len()));
        rows.iter().for_each(|cells| self.0 += &row(cells));
        self.0.push('\n');
    }
}

/// Our small models; `false` if a count is another one.
fn small(binary: &Path, options: &Options, rows: &mut Vec<Vec<String>>) -> Result<bool, String> {
    let mut right = true;
    for (name, text, expected) in SMALL {
        let path = std::env::temp_dir().join(format!("quotient-bench-{}-{name}.pml", std::process::id()));
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        let run = |symmetry| stored(binary, &path, &["--por", "off", "--symmetry", symmetry], options);
        let (exact, off) = (run("exact"), run("off"));
        let _ = std::fs::remove_file(&path);
        right &= exact.as_ref().is_some_and(|s| s.states == expected);
        let count = |s: &Option<Stored>| s.as_ref().map_or_else(|| "none".into(), |s| s.states.to_string());
        let (states, without) = (count(&exact), count(&off));
        rows.push(vec![
            name.into(),
            states,
            expected.to_string(),
            without,
            exact.map_or_else(String::new, |s| s.group),
        ]);
    }
    Ok(right)
}

fn topspin(binary: &Path, options: &Options, rows: &mut Vec<Vec<String>>) -> Option<bool> {
    let folder = checkout(&options.from, TOPSPIN_REPOSITORY)?.join("TestModels/SymmReducerTests");
    let mut all = Vec::new();
    models(&folder, &mut BTreeSet::new(), &mut all);
    let mut right = true;
    // All states of these are wanted.
    let whole = Options {
        max_states: options.max_states.max(100_000),
        seconds: options.seconds.max(60),
        ..options.clone()
    };
    for (name, expected) in TOPSPIN {
        let Some(model) = all.iter().find(|path| path.file_name().is_some_and(|n| n == name)) else {
            continue;
        };
        let found = stored(binary, model, &["--raw", "--symmetry", "exact"], &whole);
        let states = found.as_ref().map(|s| s.states);
        right &= states == Some(expected);
        let states = states.map_or_else(|| "none".to_owned(), |s| s.to_string());
        let group = found.map_or_else(String::new, |s| s.group);
        rows.push(vec![name.into(), states, expected.to_string(), String::new(), group]);
    }
    Some(right)
}

/// The models of TopSPIN's tests with the sizes of groups expected there, each content once.
fn expected_orders(checkout: &Path) -> Vec<(PathBuf, f64)> {
    let mut out = Vec::new();
    let mut seen = BTreeSet::new();
    for tests in
        ["symmextractor/testing/SymmExtractorTester.java", "symmreducer/testing/SymmReducerTester.java"]
    {
        let text = std::fs::read_to_string(checkout.join("src").join(tests)).unwrap_or_default();
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let Some((folder, name, order)) = expected_order(line) else { continue };
            let path = checkout.join(folder).join(name);
            if std::fs::read(&path).is_ok_and(|text| seen.insert(text)) {
                out.push((path, order));
            }
        }
    }
    out
}

/// Of a line `… TestCase("FOLDER", "FILE", … RunTestOutcome(true, ORDER, …`: folder, file and order.
fn expected_order(line: &str) -> Option<(&str, &str, f64)> {
    let mut quoted = line.split_once("TestCase(")?.1.split('"');
    let (folder, name) = (quoted.nth(1)?, quoted.nth(1)?);
    let order = line.split_once("RunTestOutcome(true, ")?.1;
    let digits = order.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((folder, name, digits.parse().ok()?))
}

/// Compares sizes of groups with those of TopSPIN's tests; `false` when one is smaller.
fn orders(binary: &Path, options: &Options, out: &mut Tables) -> Option<bool> {
    let checkout = checkout(&options.from, TOPSPIN_REPOSITORY)?;
    // Most are known before the first state is stored.
    let few = Options { max_states: 2_000, ..options.clone() };
    let (mut equal, mut rows) = (0, Vec::new());
    let mut good = true;
    for (model, expected) in expected_orders(&checkout) {
        let name = model.strip_prefix(&checkout).unwrap_or(&model).display().to_string();
        // TopSPIN does not mind which of several ended processes are still there; so do the default reductions.
        let found = stored(binary, &model, &["--por", "off", "--symmetry", "exact"], &few);
        let found = found.map(|s| (s.renamings, s.group));
        // Large orders are printed with two digits.
        match found {
            Some((order, _)) if (order - expected).abs() <= expected * 0.06 => equal += 1,
            found => {
                good &= found.as_ref().is_none_or(|(order, _)| *order > expected);
                let (order, group) =
                    found.map_or(("no answer".into(), String::new()), |(o, g)| (o.to_string(), g));
                rows.push(vec![name, order, expected.to_string(), group]);
            }
        }
    }
    out.table(
        "TopSPIN's tests: other orders than expected",
        &["model", "renamings", "TopSPIN", "what is exchanged"],
        &rows,
    );
    out.line(&format!(
        "{equal} groups have the order that TopSPIN's tests expect, {} another one.",
        rows.len()
    ));
    Some(good)
}

/// Compares; `false` when a count is not TopSPIN's, or a model stores more than another binary.
pub fn run(options: &Options) -> Result<bool, String> {
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    let (mut good, mut rows) = (true, Vec::new());
    let mut out = Tables::default();
    let heading =
        |second: &'static str, third: &'static str| ["model", "states", second, third, "what is exchanged"];
    match topspin(&binary, options, &mut rows) {
        Some(right) => good &= right,
        None => out.line(&format!("{TOPSPIN_REPOSITORY} is missing.")),
    }
    out.table("TopSPIN's models (--raw --symmetry exact)", &heading("TopSPIN", ""), &rows);
    good &= orders(&binary, options, &mut out).unwrap_or(true);
    let mut rows = Vec::new();
    good &= small(&binary, options, &mut rows)?;
    out.table("Small models of our own (--all --por off)", &heading("expected", "without"), &rows);
    let mut sets = vec![("Strangers", Vec::new()), ("BEEM", Vec::new())];
    let mut seen = BTreeSet::new();
    let named = REPOSITORIES.lines().filter(|line| !line.starts_with('#'));
    for repository in named.filter(|name| ![TOPSPIN_REPOSITORY, BEEM_REPOSITORY].contains(name)) {
        match checkout(&options.from, repository) {
            Some(folder) => models(&folder, &mut seen, &mut sets[0].1),
            None => out.line(&format!("{repository} is missing.")),
        }
    }
    // Copies of BEEM's models are counted there.
    sets[0].1.retain(|path| path.extension().is_none_or(|e| e != "pm"));
    match checkout(&options.from, BEEM_REPOSITORY) {
        Some(folder) => models(&folder, &mut BTreeSet::new(), &mut sets[1].1),
        None => out.line(&format!("{BEEM_REPOSITORY} is missing.")),
    }
    let beem = std::mem::take(&mut sets[1].1);
    sets[1].1 = smallest(beem);
    for (name, models) in sets {
        let mut rows = Vec::new();
        let sum = compare(&binary, &models, options, &mut rows);
        out.table(&format!("{name} (--por off)"), &heading("without", "than"), &rows);
        out.line(&format!(
            "{name}: {} of {} models store fewer states than without symmetry.",
            sum.fewer, sum.loaded
        ));
        if options.than.is_some() {
            out.line(&format!("{name}: {} store more than the other binary.", sum.more));
        }
        good &= sum.more == 0;
    }
    if let Some(file) = &options.write {
        let limits = format!(
            "# What symmetry saves\n\nWritten by `quotient-bench symmetry --from DIR --write FILE`; the models are fetched by `bench/symmetry/fetch DIR`. At most \
             {} states and {} s for each run; `> N`: not all of them.\n",
            options.max_states, options.seconds
        );
        std::fs::write(file, limits + &out.0).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    Ok(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_from_tests() {
        let line = r#"testCases.add(new SymmExtractorTestCase("T/x/", "5.p", new SymmExtractorRunTestOutcome(true, 4976640000L, false)));"#;
        assert_eq!(expected_order(line), Some(("T/x/", "5.p", 4_976_640_000.0)));
        assert_eq!(expected_order(r#"new SymmExtractorTestCase("T/", "a.p", Fail.Breaks)"#), None);
    }

    #[test]
    fn the_smallest_instance_of_each_family() {
        let all = ["x/b.2.pm", "x/a.10.pm", "x/a.2.pm", "x/c.pm"].map(PathBuf::from);
        let expected = ["x/a.2.pm", "x/b.2.pm"].map(PathBuf::from);
        assert_eq!(smallest(all.to_vec()), expected);
    }
}
