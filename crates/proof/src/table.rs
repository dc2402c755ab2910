//! The paper's two tables, regenerated with our figures beside.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::Duration;

use quotient_source::{Diagnostics, SourceMap};

use crate::canonical::{Map, value_mapped};
use crate::clock::Stopwatch;
use crate::domain::Domain;
use crate::program::{Program, Tree};
use crate::prove::{Options, Verdict, invariant, prove, violations};
use crate::safety::{Order, Prover, SafetyOptions};
use crate::{language, models};

/// Label, model, size, and the paper's LSt and RSt (`None`: not finished, or not in the paper).
type RelativeRow = (&'static str, &'static str, usize, Option<(usize, usize)>);

/// Label, model, size, and the paper's stored goals without and with assertions.
type SafetyRow = (&'static str, &'static str, usize, Option<usize>, Option<usize>);

const TABLE_1: &[RelativeRow] = &[
    ("Bakery-2", "bakery", 2, Some((9, 27))),
    ("Bakery-3", "bakery", 3, Some((44, 254))),
    ("Bakery-4", "bakery", 4, Some((147, 1557))),
    ("Bakery-5", "bakery", 5, Some((424, 7804))),
    ("Bakery-6", "bakery", 6, None),
    ("Bakery-7", "bakery", 7, None),
    ("Philosopher-3", "philosophers", 3, Some((19, 124))),
    ("Philosopher-4", "philosophers", 4, Some((24, 232))),
    ("Philosopher-6", "philosophers", 6, None),
    ("Priority", "priority", 2, Some((43, 220))),
    ("Szymanski-2", "szymanski", 2, Some((362, 28419))),
    ("Prod/Cons-10", "producer-consumer", 10, Some((0, 170))),
    ("Prod/Cons-20", "producer-consumer", 20, Some((0, 530))),
    ("Prod/Cons-100", "producer-consumer", 100, None),
    ("Peterson-3", "peterson", 3, None),
    ("Lamport-3", "lamport", 3, None),
    ("Fischer-3", "fischer", 3, None),
];

const TABLE_2: &[SafetyRow] = &[
    ("Bakery-2", "bakery", 2, Some(15), Some(8)),
    ("Bakery-3", "bakery", 3, Some(296), Some(45)),
    ("Bakery-4", "bakery", 4, Some(4624), Some(191)),
    ("Bakery-5", "bakery", 5, None, Some(677)),
    ("Bakery-6", "bakery", 6, None, Some(2569)),
    ("Bakery-7", "bakery", 7, None, Some(11865)),
    ("Bakery-9", "bakery", 9, None, None),
    ("Peterson-2", "peterson", 2, Some(105), Some(10)),
    ("Peterson-3", "peterson", 3, Some(20285), Some(175)),
    ("Peterson-4", "peterson", 4, None, Some(3510)),
    ("Lamport-2", "lamport", 2, Some(143), Some(72)),
    ("Lamport-3", "lamport", 3, Some(4255), Some(707)),
    ("Lamport-4", "lamport", 4, None, Some(5626)),
    ("Szymanski-2", "szymanski", 2, Some(240), Some(84)),
    ("Szymanski-3", "szymanski", 3, Some(10883), Some(3176)),
    ("Philosopher-3", "philosophers", 3, Some(882), Some(553)),
    ("Philosopher-4", "philosophers", 4, Some(4293), Some(2783)),
    ("Prod/Cons-10", "producer-consumer", 10, Some(664), Some(171)),
    ("Prod/Cons-20", "producer-consumer", 20, Some(2314), Some(331)),
];

fn program(name: &str, n: usize) -> Option<Program> {
    let mut map = SourceMap::new();
    let file = map.add(name, models::generate(name, n).ok()?);
    language::read(&map, file, &mut Diagnostics::new())
}

fn show(value: Option<usize>) -> String {
    value.map_or("-".into(), |v| v.to_string())
}

fn saved(without: Option<usize>, with: Option<usize>) -> String {
    match (without, with) {
        (Some(a), Some(b)) if a > 0 => format!("{:.0}%", 100.0 * (1.0 - b as f64 / a as f64)),
        _ => "-".into(),
    }
}

/// The safety claim with its invariants, and with its maps taken for granted: table 1 proves them.
fn safety_only(program: &Program) -> Program {
    let mut program = program.clone();
    for assertion in program.assertions.iter_mut().filter(|a| a.is_relative()) {
        assertion.assumed = true;
        assertion.nonincreasing = true;
    }
    program
}

/// Stored entries of the last assertion and time.
fn stored(program: &Program, options: &Options) -> (Option<usize>, f64) {
    let clock = Stopwatch::start();
    let reports = prove(program, options);
    let stored = reports.last().filter(|r| matches!(r.verdict, Verdict::Proved)).map(|r| r.stored);
    (stored, clock.elapsed().as_secs_f64())
}

/// Prints the first table; each row may take `limit`.
pub fn print_relative(out: &mut dyn Write, limit: Duration) {
    let _ = writeln!(out, "Table 1: relative assertions. LSt/RSt: goals visited on the left and right.\n");
    let _ = writeln!(out, "{:<15} {:>12} {:>14} {:>4} {:>9}", "problem", "paper", "ours", "A#", "CPU s");
    for (label, name, n, paper) in TABLE_1 {
        let Some(mut program) = program(name, *n) else { continue };
        program.assertions.retain(|a| a.is_relative());
        let count = program.assertions.len();
        for assertion in &mut program.assertions {
            assertion.using.retain(|u| *u < count);
        }
        // Counting as the paper did costs more than the proof; do it where there is a figure.
        let options = Options { paper_counts: paper.is_some(), max_time: limit, ..Options::default() };
        let clock = Stopwatch::start();
        let reports = prove(&program, &options);
        let seconds = clock.elapsed().as_secs_f64();
        let proved = reports.iter().all(|r| matches!(r.verdict, Verdict::Proved));
        // Assertions proved together share their counts.
        let together =
            reports.iter().all(|r| !r.one_level) && program.assertions.iter().any(|a| !a.using.is_empty());
        let sum = |f: &dyn Fn(&crate::prove::Report) -> usize| -> usize {
            if together { reports.iter().map(f).max().unwrap_or(0) } else { reports.iter().map(f).sum() }
        };
        let ours = if proved {
            format!("{}/{}", sum(&|r| r.left_states), sum(&|r| r.right_states))
        } else {
            "not proved".into()
        };
        let paper = paper.map_or("-".into(), |(l, r)| format!("{l}/{r}"));
        let _ = writeln!(out, "{label:<15} {paper:>12} {ours:>14} {count:>4} {seconds:>9.2}");
        let _ = out.flush();
    }
    let _ = writeln!(out);
}

/// Prints the second table, in our terms and in the paper's; each proof may take `limit`.
pub fn print_safety(out: &mut dyn Write, limit: Duration) {
    let _ = writeln!(
        out,
        "Table 2: safety. Stored goals without and with assertions; ours breadth-first, covered entries evicted.\n"
    );
    let _ = writeln!(
        out,
        "{:<15} {:>16} {:>7} {:>16} {:>9} {:>7} {:>9}",
        "problem", "paper", "saved", "ours without", "with", "saved", "CPU s"
    );
    let safety = SafetyOptions { evict: true, max_time: limit, ..SafetyOptions::default() };
    for (label, name, n, paper_without, paper_with) in TABLE_2 {
        let Some(program) = program(name, *n).map(|p| safety_only(&p)) else { continue };
        let with = Options { safety: safety.clone(), max_time: limit, ..Options::default() };
        // Without assertions the larger instances are out of reach for the paper and not the point.
        let without = Options { without_assertions: true, ..with.clone() };
        let none = if paper_without.is_some() { stored(&program, &without).0 } else { None };
        let (some, seconds) = stored(&program, &with);
        let paper = format!("{} / {}", show(*paper_without), show(*paper_with));
        let _ = writeln!(
            out,
            "{label:<15} {paper:>16} {:>7} {:>16} {:>9} {:>7} {seconds:>9.2}",
            saved(*paper_without, *paper_with),
            show(none),
            show(some),
            saved(none, some)
        );
        let _ = out.flush();
    }
    paper_goals(out, limit);
}

/// The last assertion proved as the paper's second prototype did: goals in constraint logic programming's terms (a disjunction
/// or `<>` is several goals; value sets only for locations, and intervals where a value map needs them), depth-first, every goal
/// stored. Stored goals, or none when out of time.
fn stored_as_paper(program: &Program, with: bool, limit: Duration) -> Option<usize> {
    let k = program.width();
    let mapped: BTreeSet<usize> = program.assertions.iter().flat_map(|a| value_mapped(a, k)).collect();
    let domain = Domain::keeping(program, &|f| f.location || mapped.contains(&f.column));
    let claim = program.assertions.last()?;
    let bad = violations(program, &domain, claim).ok()?;
    let relative = |&&a: &&usize| program.assertions[a].is_relative();
    let maps = claim.using.iter().filter(relative).filter(|_| with);
    let maps = maps.map(|&m| Map::of(program, &domain, m)).collect::<Result<Vec<Map>, String>>().ok()?;
    let invariants: Vec<Tree> =
        claim.using.iter().filter_map(|&a| invariant(&program.assertions[a], k)).collect();
    let invariants: Vec<&Tree> = invariants.iter().collect();
    let prover = Prover::new(program, &domain, maps, &invariants).with_intervals();
    let options = SafetyOptions { order: Order::Depth, max_time: limit, ..SafetyOptions::default() };
    prover.unreachable(&bad, &options).ok().map(|proof| proof.table.stored)
}

fn paper_goals(out: &mut dyn Write, limit: Duration) {
    let _ = writeln!(
        out,
        "\nTable 2 with the paper's goals: depth-first, each disjunct its own goal, nothing evicted.\n"
    );
    let _ = writeln!(
        out,
        "{:<15} {:>16} {:>7} {:>16} {:>9} {:>7}",
        "problem", "paper", "saved", "ours without", "with", "saved"
    );
    for (label, name, n, paper_without, paper_with) in TABLE_2.iter().filter(|row| row.4.is_some()) {
        let name = if *name == "bakery" { "bakery-paper" } else { name };
        let Some(program) = program(name, *n).map(|p| safety_only(&p)) else { continue };
        let none = paper_without.and_then(|_| stored_as_paper(&program, false, limit));
        let some = stored_as_paper(&program, true, limit);
        let paper = format!("{} / {}", show(*paper_without), show(*paper_with));
        let _ = writeln!(
            out,
            "{label:<15} {paper:>16} {:>7} {:>16} {:>9} {:>7}",
            saved(*paper_without, *paper_with),
            show(none),
            show(some),
            saved(none, some)
        );
        let _ = out.flush();
    }
}
