//! `tables`: the papers' tables again, ours beside theirs.
//!
//! Every cell of [`papers::TABLES`] is one run of `quotient check --all`. Memory is what the store holds, time the CPU time of the
//! whole process. "Seen" counts, as the paper does, the steps that lead to a state stored before, the initial one included: a
//! transition more than there are, less the states.

use crate::papers::{self, Demand, Row};
use crate::{quotient, table};
use std::path::{Path, PathBuf};

/// Options of `tables`.
#[derive(clap::Args)]
pub struct Options {
    /// Only these tables, separated by commas: philosophers, bounded-buffer, ordered-list, dspin-list, dspin-btree
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Leave out what the paper has more states for
    #[arg(long, default_value_t = 4_500_000)]
    most: u64,
    /// CPU seconds per run
    #[arg(long, default_value_t = 300)]
    cpu: u64,
    /// The folder with the models
    #[arg(long, default_value = "models")]
    models: PathBuf,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
}

/// What one row of a table gave.
#[derive(Default)]
struct Measured {
    lines: Vec<Vec<String>>,
    /// Our states and the paper's, by column; only where both are known.
    states: Vec<(&'static str, u64, u64)>,
    /// What does not agree.
    wrong: Vec<String>,
}

const HEADING: &[&str] =
    &["instance", "column", "store", "states", "paper", "seen", "paper", "memory", "paper", "CPU s", "paper"];

/// The paper's memory with a unit we share: it prints kilobytes as bare numbers and megabytes as `Mb`.
fn with_unit(memory: &str) -> String {
    match memory.strip_suffix("Mb").map(str::trim) {
        Some(megabytes) => format!("{megabytes} MB"),
        None if memory.is_empty() => String::new(),
        None => format!("{memory} kB"),
    }
}

fn measure(binary: &Path, model: &Path, row: &Row, demand: &Demand, options: &Options) -> Measured {
    let mut measured = Measured::default();
    for cell in row.cells {
        let mut counted = None;
        for stored in cell.stores {
            let mut arguments = vec!["--all", "--store", stored.store];
            arguments.extend(cell.options);
            arguments.extend(row.defines.iter().flat_map(|define| ["-D", define]));
            let shown = |figure: Option<u64>| figure.map_or("-".to_owned(), |f| f.to_string());
            let (states, seen, memory, time) =
                match quotient::check(binary, &arguments, model, Some(options.cpu)) {
                    Ok((answer, finished)) => {
                        let seen = (answer.transitions + 1).saturating_sub(answer.states);
                        let counts = (answer.states, seen);
                        if *counted.get_or_insert(counts) != counts {
                            measured.wrong.push(format!(
                                "{} {}: {} stores another number of states",
                                row.instance, cell.column, stored.store
                            ));
                        }
                        let bytes = answer.store_bytes.unwrap_or(0) as f64;
                        let memory = if bytes < 1e6 {
                            format!("{:.0} kB", bytes / 1e3)
                        } else {
                            format!("{:.1} MB", bytes / 1e6)
                        };
                        (
                            counts.0.to_string(),
                            seen.to_string(),
                            memory,
                            format!("{:.2}", finished.cpu_seconds),
                        )
                    }
                    Err(quotient::Failure::OverTheCap(_)) => {
                        ("over the cap".into(), "-".into(), "-".into(), format!("> {}", options.cpu))
                    }
                    Err(quotient::Failure::Refused(why) | quotient::Failure::Broken(why)) => {
                        measured.wrong.push(format!("{} {}: {why}", row.instance, cell.column));
                        ("no answer".into(), "-".into(), "-".into(), "-".into())
                    }
                };
            let paper = [shown(cell.states), shown(cell.seen)];
            let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
            let [paper_states, paper_seen] = paper;
            measured.lines.push(vec![
                row.instance.to_owned(),
                cell.column.to_owned(),
                stored.store.to_owned(),
                states,
                paper_states,
                seen,
                paper_seen,
                memory,
                or_dash(&with_unit(stored.memory)),
                time,
                or_dash(stored.time),
            ]);
        }
        let (Some((states, seen)), Some(paper)) = (counted, cell.states) else { continue };
        measured.states.push((cell.column, states, paper));
        let same = states == paper && cell.seen.is_none_or(|s| s == seen);
        if matches!(demand, Demand::Equal) && !same {
            measured
                .wrong
                .push(format!("{} {}: {states} states, the paper {paper}", row.instance, cell.column));
        }
    }
    measured
}

/// The ratios of the columns to the first one, ours and the paper's; complains where they are further apart than `within`.
fn ratios(row: &Row, measured: &mut Measured, within: Option<f64>) -> Vec<String> {
    let Some(&(first, ours, paper)) = measured.states.first() else { return Vec::new() };
    let mut lines = Vec::new();
    for &(column, states, printed) in &measured.states[1..] {
        let (our, their) = (states as f64 / ours.max(1) as f64, printed as f64 / paper.max(1) as f64);
        lines.push(format!("{}: {column}/{first} {our:.3}, paper {their:.3}", row.instance));
        if within.is_some_and(|within| (our / their - 1.0).abs() > within) {
            measured
                .wrong
                .push(format!("{}: {column}/{first} is {our:.3}, the paper's {their:.3}", row.instance));
        }
    }
    lines
}

/// Complains about columns of another order of magnitude than the paper's, and about pairs that are not the same.
fn pattern(row: &Row, measured: &mut Measured, pairs: &[(&str, &str)]) {
    for &(column, states, paper) in &measured.states {
        let factor = states as f64 / paper.max(1) as f64;
        if !(0.1..=10.0).contains(&factor) {
            measured.wrong.push(format!("{} {column}: {states} states, the paper {paper}", row.instance));
        }
    }
    let of = |name: &str| measured.states.iter().find(|(column, ..)| *column == name).map(|found| found.1);
    for (a, b) in pairs {
        if let (Some(left), Some(right)) = (of(a), of(b))
            && left != right
        {
            measured.wrong.push(format!("{}: {a} has {left} states, {b} has {right}", row.instance));
        }
    }
}

/// Runs everything; `false` when something does not agree as it must.
pub fn run(options: &Options) -> Result<bool, String> {
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    let known: Vec<&str> = papers::TABLES.iter().map(|t| t.name).collect();
    if let Some(unknown) = options.only.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("there is no table `{unknown}`; tables: {}", known.join(", ")));
    }
    let mut agrees = true;
    let wanted = |name: &str| options.only.is_empty() || options.only.iter().any(|only| only == name);
    for paper in papers::TABLES.iter().filter(|table| wanted(table.name)) {
        println!("{}", paper.title);
        println!("{}", paper.demand);
        let model = options.models.join(paper.model);
        let (mut lines, mut remarks, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
        for row in paper.rows {
            if row.cells.iter().filter_map(|c| c.states).any(|states| states > options.most) {
                remarks.push(format!("{}: left out (--most)", row.instance));
                continue;
            }
            let mut measured = measure(&binary, &model, row, &paper.demand, options);
            let within = if let Demand::Ratios(within) = paper.demand { Some(within) } else { None };
            remarks.extend(ratios(row, &mut measured, within));
            if let Demand::Pattern(pairs) = paper.demand {
                pattern(row, &mut measured, pairs);
            }
            lines.append(&mut measured.lines);
            wrong.append(&mut measured.wrong);
        }
        print!("{}", table::render(HEADING, &lines));
        remarks.iter().for_each(|remark| println!("{remark}"));
        wrong.iter().for_each(|what| println!("differs: {what}"));
        println!();
        agrees &= wrong.is_empty();
    }
    Ok(agrees)
}
