//! `quotient compare`: one model under every combination of orders, partial order and stores, as a table.

use std::fmt::Write;
use std::time::Duration;

use clap::Args;
use quotient::search::Limits;
use quotient::{Check, Model, Outcome, PartialOrder, StoreKind, Symmetry, Verdict};
use serde_json::{Value, json};

use super::kind::Kind;
use super::terminal::{self, grouped};
use super::{json as report, options, status, usage};

/// Options of the subcommand.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) input: options::Input,

    /// Compare only these orders, separated by commas: off, heap, pc, kbots, kbots=K, exact
    #[arg(long, value_name = "ORDERS", value_delimiter = ',', value_parser = options::symmetry)]
    pub(crate) symmetry: Vec<Symmetry>,

    /// Compare only these stores, separated by commas: plain, gzip, collapse, tree
    #[arg(long, value_name = "STORES", value_delimiter = ',', value_parser = options::store)]
    pub(crate) store: Vec<StoreKind>,

    /// Stop each run after this many states
    #[arg(long, value_name = "N", default_value = "20M", value_parser = options::count)]
    pub(crate) max_states: u64,

    /// Stop each run after this time
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = options::duration)]
    pub(crate) max_time: Duration,

    /// Print a JSON list, one object for each run
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,

    /// Print comma-separated values
    #[arg(long)]
    pub(crate) csv: bool,
}

/// One run.
struct Row {
    symmetry: Symmetry,
    order: PartialOrder,
    store: &'static str,
    /// What was really done: an order may find nothing to rename, a reduction may not apply.
    outcome: Outcome,
    cpu_seconds: f64,
}

impl Row {
    fn verdict(&self) -> &'static str {
        match self.outcome.verdict {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Undecided(_) => "undecided",
        }
    }

    /// Partial order reduction was asked for and does not apply: this run repeats one without it. Its notes say why.
    fn is_refused(&self) -> bool {
        self.order != PartialOrder::Off && self.outcome.partial_order == PartialOrder::Off
    }

    fn bytes_per_state(&self) -> f64 {
        self.outcome.statistics.store_bytes as f64 / self.outcome.statistics.states.max(1) as f64
    }
}

/// Runs the subcommand; gives the exit status.
pub(crate) fn main(options: &Compare, given: &clap::ArgMatches) -> u8 {
    if let Some(status) = super::refused("compare", given, Kind::of(&options.input.file)) {
        return status;
    }
    let model = match Model::load(&options.input.file, &options.input.load_options()) {
        Ok(model) => model,
        Err(error) => {
            eprintln!("{}", error.render(terminal::colour()));
            return status::ERROR;
        }
    };
    terminal::catch_interrupts();
    let all =
        [Symmetry::Off, Symmetry::Heap, Symmetry::ProgramCounter, Symmetry::Bounded(None), Symmetry::Exact];
    let orders = if options.symmetry.is_empty() { &all[..] } else { &options.symmetry[..] };
    let stores = if options.store.is_empty() { &StoreKind::ALL[..] } else { &options.store[..] };
    let mut rows = Vec::new();
    for order in [PartialOrder::Off, PartialOrder::On] {
        for &symmetry in orders {
            for &store in stores {
                let check = Check {
                    symmetry: Some(symmetry),
                    partial_order: order,
                    store,
                    // Counts are comparable only when everything is explored.
                    all: true,
                    safety_only: true,
                    limits: Limits {
                        states: Some(options.max_states),
                        time: Some(options.max_time),
                        ..Limits::default()
                    },
                    interrupt: Some(&terminal::INTERRUPTED),
                    ..Check::default()
                };
                let before = usage::cpu_seconds();
                let outcome = match model.check(&check) {
                    Ok(outcome) => outcome,
                    Err(error) => {
                        eprintln!("error: {}, {}: {error}", symmetry.name(), store.name());
                        return status::ERROR;
                    }
                };
                let cpu_seconds = usage::cpu_seconds() - before;
                let row = Row { symmetry, order, store: store.name(), outcome, cpu_seconds };
                let refused = row.is_refused();
                rows.push(row);
                if refused {
                    // The same runs again for the other stores.
                    break;
                }
            }
        }
    }
    terminal::print(&if options.json {
        let list: Vec<Value> = rows.iter().map(object).collect();
        report::text(&Value::Array(list))
    } else if options.csv {
        csv(&rows)
    } else {
        table(&rows)
    });
    agreement(&rows)
}

/// All runs that decided must agree.
fn agreement(rows: &[Row]) -> u8 {
    let decided: Vec<&Row> =
        rows.iter().filter(|r| !matches!(r.outcome.verdict, Verdict::Undecided(_))).collect();
    let Some(first) = decided.first() else { return status::UNDECIDED };
    if decided.iter().any(|row| row.verdict() != first.verdict()) {
        eprintln!("error: the runs disagree; this is a bug in quotient, please report it");
        return status::BUG;
    }
    status::HOLDS
}

fn object(row: &Row) -> Value {
    let s = &row.outcome.statistics;
    json!({
        "verdict": row.verdict(),
        "states": s.states,
        "transitions": s.transitions,
        "depth": s.depth,
        "cpu_seconds": row.cpu_seconds,
        "store_bytes": s.store_bytes,
        "search_bytes": s.search_bytes,
        "bytes_per_state": row.bytes_per_state(),
        "asked": { "symmetry": row.symmetry.name(), "por": row.order.name() },
        "reductions": {
            "symmetry": row.outcome.symmetry.order,
            "symmetry_found": row.outcome.symmetry.found,
            "por": row.outcome.partial_order.name(),
            "store": row.store,
            "notes": row.outcome.notes,
        },
    })
}

fn csv(rows: &[Row]) -> String {
    let mut out = String::from(
        "symmetry,por,store,verdict,states,transitions,store_bytes,bytes_per_state,cpu_seconds\n",
    );
    for row in rows.iter().filter(|row| !row.is_refused()) {
        let s = &row.outcome.statistics;
        let _ = writeln!(
            out,
            "{},{},{},{},{},{},{},{:.1},{:.3}",
            row.symmetry.name(),
            row.outcome.partial_order.name(),
            row.store,
            row.verdict(),
            s.states,
            s.transitions,
            s.store_bytes,
            row.bytes_per_state(),
            row.cpu_seconds
        );
    }
    out
}

fn table(rows: &[Row]) -> String {
    let mut out = String::new();
    let found = rows.iter().map(|r| &r.outcome.symmetry).find(|s| !s.found.is_empty());
    if let Some(symmetry) = found {
        let _ = writeln!(out, "symmetry: {}", symmetry.found.join("; "));
        if let Some(limit) = &symmetry.limit {
            let _ = writeln!(out, "symmetry is limited: {limit}");
        }
    }
    let _ = writeln!(
        out,
        "{:<9} {:<4} {:<8} {:<9} {:>13} {:>8} {:>14} {:>11} {:>7} {:>9}",
        "symmetry", "por", "store", "verdict", "states", "factor", "transitions", "store", "B/state", "CPU"
    );
    let full = rows.first().map_or(1, |r| r.outcome.statistics.states.max(1));
    for row in rows.iter().filter(|row| !row.is_refused()) {
        let s = &row.outcome.statistics;
        let _ = writeln!(
            out,
            "{:<9} {:<4} {:<8} {:<9} {:>13} {:>8.2} {:>14} {:>8.2} MB {:>7.1} {:>7.3} s",
            row.symmetry.name(),
            row.outcome.partial_order.name(),
            row.store,
            row.verdict(),
            grouped(s.states),
            full as f64 / s.states.max(1) as f64,
            grouped(s.transitions),
            s.store_bytes as f64 / 1e6,
            row.bytes_per_state(),
            row.cpu_seconds
        );
    }
    let mut notes: Vec<(&str, Vec<String>)> = Vec::new();
    for row in rows {
        for note in &row.outcome.notes {
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
    out
}
