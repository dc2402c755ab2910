//! `quotient compare`: one model under every combination of orders, partial order and stores, as a table.
//!
//! Safety and the model's claims are asked with every store.

use std::fmt::Write;
use std::time::Duration;

use clap::Args;
use quotient::search::{Limits, Statistics};
use quotient::{
    Answer, Applied, Check, Model, Outcome, PartialOrder, Question, StoreKind, Symmetry, Verdict,
    ViolationKind, Workers,
};
use serde_json::{Value, json};

use super::check::failure_status;
use super::kind::{Given, Kind};
use super::terminal::{self, grouped};
use super::{options, status, usage, watch};

// Options of the subcommand.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) input: options::Input,

    /// Compare only these orders, separated by commas: off, heap, pc, pc-original, kbots, kbots=K, exact
    #[arg(long, value_name = "ORDERS", value_delimiter = ',', value_parser = str::parse::<Symmetry>)]
    pub(crate) symmetry: Vec<Symmetry>,

    /// Compare only these stores, separated by commas: plain, gzip, collapse, tree
    #[arg(long, value_name = "STORES", value_delimiter = ',', value_parser = super::named::Named(StoreKind::NAMES))]
    pub(crate) store: Vec<StoreKind>,

    /// Stop each run after this many states
    #[arg(long, value_name = "N", default_value = "20M", value_parser = options::count)]
    pub(crate) max_states: u64,

    /// Stop each run after this time
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = options::duration)]
    pub(crate) max_time: Duration,

    /// Stop when the process takes this much memory (for example 500M, 8G)
    #[arg(long, value_name = "SIZE", value_parser = options::size)]
    pub(crate) max_memory: Option<u64>,

    /// Print a JSON list, one object for each run
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,

    /// Print comma-separated values
    #[arg(long)]
    pub(crate) csv: bool,
}

/// One question answered by one run.
struct Row {
    question: Question,
    text: String,
    symmetry: Symmetry,
    order: PartialOrder,
    verdict: Verdict,
    /// The exit status of the verdict.
    status: u8,
    statistics: Statistics,
    /// What was really done: an order may find nothing to rename, a reduction may not apply.
    applied: Applied,
    notes: Vec<String>,
    cpu_seconds: f64,
}

impl Row {
    /// The answer to a question in an outcome.
    fn new(outcome: &Outcome, answer: &Answer, check: &Check<'_>, cpu_seconds: f64) -> Row {
        let own = outcome.violations.iter().filter(|v| v.question == answer.question);
        Row {
            question: answer.question,
            text: answer.text.clone(),
            symmetry: check.symmetry.unwrap_or(Symmetry::Off),
            order: check.partial_order,
            verdict: answer.verdict.clone(),
            status: match answer.verdict {
                Verdict::Holds => status::HOLDS,
                // A violation is listed for the question it answers; without one it is still no success.
                Verdict::Violated => match status::worst(own.map(|v| v.kind.status())) {
                    status::HOLDS => ViolationKind::Assertion.status(),
                    worst => worst,
                },
                Verdict::Undecided(_) => status::UNDECIDED,
            },
            statistics: answer.statistics,
            applied: answer.applied.clone(),
            notes: outcome.notes.clone(),
            cpu_seconds,
        }
    }

    /// Partial order reduction was asked for and does not apply: this run repeats one without it. Its notes say why.
    fn is_refused(&self) -> bool {
        self.order != PartialOrder::Off && self.applied.partial_order == PartialOrder::Off
    }

    fn bytes_per_state(&self) -> f64 {
        self.statistics.store_bytes as f64 / self.statistics.states.max(1) as f64
    }

    fn store(&self) -> &'static str {
        self.applied.store.map_or("-", StoreKind::name)
    }
}

/// Runs the subcommand; gives the exit status.
pub(crate) fn main(options: &Compare, given: &Given) -> u8 {
    if let Some(status) =
        super::refused("compare", given, Kind::given(&options.input.file, options.input.language))
    {
        return status;
    }
    watch::about(&options.input.file, options.json);
    let model =
        match Model::load_as(&options.input.file, options.input.language, &options.input.load_options()) {
            Ok(model) => model,
            Err(error) => {
                eprintln!("{}", error.render(terminal::colour()));
                return status::ERROR;
            }
        };
    let all =
        [Symmetry::Off, Symmetry::Heap, Symmetry::ProgramCounter, Symmetry::Bounded(None), Symmetry::Exact];
    let orders = if options.symmetry.is_empty() { &all[..] } else { &options.symmetry[..] };
    let stores = if options.store.is_empty() { &StoreKind::ALL[..] } else { &options.store[..] };
    let mut rows: Vec<Row> = Vec::new();
    for order in [PartialOrder::Off, PartialOrder::On] {
        for &symmetry in orders {
            let check = Check {
                symmetry: Some(symmetry),
                partial_order: order,
                // Counts are comparable only when everything is explored.
                all: true,
                limits: Limits {
                    states: Some(options.max_states),
                    time: Some(options.max_time),
                    ..Limits::default()
                },
                interrupt: Some(watch::interrupt()),
                // Times are those of one.
                workers: Some(Workers::new(1)),
                ..Check::default()
            };
            for &store in stores {
                if watch::interrupt().raised() {
                    break;
                }
                let found = match run(&model, &Check { store, ..check }) {
                    Ok(found) => found,
                    Err(code) => return code,
                };
                let refused = found.iter().all(Row::is_refused);
                rows.extend(found);
                if refused {
                    // The same runs again for the other stores.
                    break;
                }
            }
        }
    }
    // One question after the other; the runs of each in the order they were made.
    let mut questions: Vec<Question> = Vec::new();
    for row in &rows {
        if !questions.contains(&row.question) {
            questions.push(row.question);
        }
    }
    rows.sort_by_key(|row| questions.iter().position(|q| *q == row.question));
    terminal::print(&if options.json {
        let list: Vec<Value> = rows.iter().map(object).collect();
        quotient::outcome::json::text(&Value::Array(list))
    } else if options.csv {
        csv(&rows)
    } else {
        table(&rows)
    });
    let status = agreement(&rows);
    let Some(reason) = watch::interrupt().reason() else { return status };
    eprintln!("undecided: {reason}, after {} runs", rows.len());
    if status == status::HOLDS { status::UNDECIDED } else { status }
}

/// Answers the questions by one run; gives the exit status where it cannot.
fn run(model: &Model, check: &Check<'_>) -> Result<Vec<Row>, u8> {
    let before = usage::cpu_seconds();
    let outcome = model.check(check).map_err(|error| {
        let symmetry = check.symmetry.map_or_else(String::new, |s| format!("{}, ", s.name()));
        eprintln!("error: {symmetry}{}: {error}", check.store.name());
        failure_status(&error).1
    })?;
    let all = usage::cpu_seconds() - before;
    let of = |answer: &Answer| if check.safety_only { all } else { answer.search_seconds };
    Ok(outcome.answers.iter().map(|answer| Row::new(&outcome, answer, check, of(answer))).collect())
}

/// The worst answer. All runs that decided a question must agree on it.
fn agreement(rows: &[Row]) -> u8 {
    let mut statuses = Vec::new();
    for question in rows.chunk_by(|a, b| a.question == b.question) {
        let mut decided = question.iter().filter(|r| !matches!(r.verdict, Verdict::Undecided(_)));
        let Some(first) = decided.next() else {
            statuses.push(status::UNDECIDED);
            continue;
        };
        if decided.any(|row| row.verdict != first.verdict) {
            eprintln!("error: the runs disagree; this is a bug in quotient, please report it");
            statuses.push(status::BUG);
        }
        statuses.push(first.status);
    }
    status::worst(statuses)
}

fn object(row: &Row) -> Value {
    let s = &row.statistics;
    json!({
        "question": row.text,
        "verdict": row.verdict.name(),
        "states": s.states,
        "transitions": s.transitions,
        "depth": s.depth,
        "cpu_seconds": row.cpu_seconds,
        "store_bytes": s.store_bytes,
        "search_bytes": s.search_bytes,
        "bytes_per_state": row.bytes_per_state(),
        "asked": { "symmetry": row.symmetry.name(), "por": row.order.name() },
        "reductions": {
            "symmetry": row.applied.symmetry.order,
            "symmetry_found": row.applied.symmetry.found,
            "por": row.applied.partial_order.name(),
            "store": row.applied.store.map(StoreKind::name),
            "notes": row.notes,
        },
    })
}

fn csv(rows: &[Row]) -> String {
    let mut out = String::from(
        "symmetry,por,store,verdict,states,transitions,store_bytes,bytes_per_state,cpu_seconds,question\n",
    );
    for row in rows.iter().filter(|row| !row.is_refused()) {
        let s = &row.statistics;
        let _ = writeln!(
            out,
            "{},{},{},{},{},{},{},{:.1},{:.3},\"{}\"",
            row.symmetry.name(),
            row.applied.partial_order.name(),
            row.store(),
            row.verdict.name(),
            s.states,
            s.transitions,
            s.store_bytes,
            row.bytes_per_state(),
            row.cpu_seconds,
            row.text.replace('"', "\"\"")
        );
    }
    out
}

fn table(rows: &[Row]) -> String {
    let mut out = String::new();
    for of_one in rows.chunk_by(|a, b| a.question == b.question) {
        if rows[0].question != rows[rows.len() - 1].question {
            let _ = writeln!(out, "{}{}", if out.is_empty() { "" } else { "\n" }, of_one[0].text);
        }
        question(&mut out, of_one);
    }
    notes(&mut out, rows);
    out
}

/// The runs of one question.
fn question(out: &mut String, rows: &[Row]) {
    let found = rows.iter().map(|r| &r.applied.symmetry).find(|s| !s.found.is_empty());
    if let Some(symmetry) = found {
        let _ = writeln!(out, "symmetry: {}", symmetry.found.join("; "));
        if let Some(limit) = &symmetry.limit {
            let _ = writeln!(out, "symmetry is limited: {limit}");
        }
    }
    let _ = writeln!(
        out,
        "{:<11} {:<4} {:<8} {:<9} {:>13} {:>8} {:>14} {:>11} {:>7} {:>9}",
        "symmetry", "por", "store", "verdict", "states", "factor", "transitions", "store", "B/state", "CPU"
    );
    let full = rows.first().map_or(1, |r| r.statistics.states.max(1));
    for row in rows.iter().filter(|row| !row.is_refused()) {
        let s = &row.statistics;
        let _ = writeln!(
            out,
            "{:<11} {:<4} {:<8} {:<9} {:>13} {:>8.2} {:>14} {:>8.2} MB {:>7.1} {:>7.3} s",
            row.symmetry.name(),
            row.applied.partial_order.name(),
            row.store(),
            row.verdict.name(),
            grouped(s.states),
            full as f64 / s.states.max(1) as f64,
            grouped(s.transitions),
            s.store_bytes as f64 / 1e6,
            row.bytes_per_state(),
            row.cpu_seconds
        );
    }
}

/// What the runs have to say, each thing once.
fn notes(out: &mut String, rows: &[Row]) {
    let mut notes: Vec<(&str, Vec<String>)> = Vec::new();
    for row in rows {
        for note in &row.notes {
            let name = row.symmetry.name();
            match notes.iter_mut().find(|(text, _)| text == note) {
                Some((_, orders)) if orders.contains(&name) => {}
                Some((_, orders)) => orders.push(name),
                None => notes.push((note, vec![name])),
            }
        }
    }
    for (note, orders) in notes {
        let _ = writeln!(out, "note ({}): {note}", orders.join(", "));
    }
}
