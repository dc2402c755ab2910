//! `inspect`: table 1 of Yang, Chen, Gopalakrishnan and Wang (2009), "Automatic discovery of transition symmetry in multithreaded
//! programs using dynamic analysis", again: ours beside theirs.
//!
//! Their programs are pfscan and aget; ours are `file_scanner.c` and `downloader_buffers.c` of `models/c`, which synchronise
//! in the same way on a smaller input. So executions cannot be compared one by one, but what symmetry saves can:
//! their columns are DPOR (Flanagan and Godefroid, without sleep sets) and DPOR with symmetry, ours are the same two, and
//! optimal DPOR without and with symmetry. The ratio is that of the first column to the last: all that the reductions
//! save on what they started from. Their symmetry can lose outcomes; our last column cannot.
//!
//! Their executions of aget are 462, 6006 and 87516 with 4, 5 and 6 threads: the numbers of standard Young tableaux with
//! that many rows of three. These count the orders of three critical sections in each of that many threads, if of threads
//! that have come equally far only one is let go on: what symmetry of states can achieve at best. Ours must be the same, and
//! that is checked against the hook length formula.
//!
//! The programs with inserted bugs count executions until the bug is found. Ours is a lock that was forgotten, which every execution
//! shows, since races are found by happens-before; theirs looks for two accesses that are next to each other.
//!
//! Threads of pfscan include `main`, of aget they do not.

use crate::{process, quotient, table};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A row of the paper's table.
struct Row {
    theirs: &'static str,
    file: &'static str,
    /// What sets the number of workers.
    define: &'static str,
    threads: u32,
    /// Threads that are not workers.
    others: u32,
    /// Is there something to be found?
    buggy: bool,
    /// The paper's DPOR: executions and seconds, if it ended within a day.
    dpor: Option<(u64, u64)>,
    /// The paper's DPOR with symmetry.
    symmetric: Option<(u64, u64)>,
}

const fn pfscan(threads: u32, dpor: Option<(u64, u64)>, symmetric: Option<(u64, u64)>) -> Row {
    let (file, define) = ("file_scanner.c", "WORKERS");
    Row { theirs: "pfscan", file, define, threads, others: 1, buggy: false, dpor, symmetric }
}

const fn buggy_pfscan(threads: u32, dpor: Option<(u64, u64)>, symmetric: Option<(u64, u64)>) -> Row {
    let file = "file_scanner_race.c";
    Row { theirs: "pfscan-buggy", file, buggy: true, ..pfscan(threads, dpor, symmetric) }
}

const fn aget(threads: u32, symmetric: Option<(u64, u64)>) -> Row {
    let (file, define) = ("downloader_buffers.c", "SEGMENTS");
    Row { theirs: "aget", file, define, threads, others: 0, buggy: false, dpor: None, symmetric }
}

const fn buggy_aget(threads: u32, dpor: Option<(u64, u64)>, symmetric: Option<(u64, u64)>) -> Row {
    let file = "downloader_buffers_race.c";
    Row { theirs: "aget-buggy", file, buggy: true, dpor, ..aget(threads, symmetric) }
}

const ROWS: [Row; 12] = [
    buggy_aget(4, Some((1_009_010, 29_107)), Some((420, 16))),
    buggy_aget(5, None, Some((926, 37))),
    buggy_pfscan(3, Some((120, 2)), Some((71, 1))),
    buggy_pfscan(4, Some((28_079, 389)), Some((3148, 50))),
    pfscan(3, Some((1096, 21)), Some((136, 3))),
    pfscan(4, Some((4_184_546, 64_067)), Some((7111, 155))),
    pfscan(5, None, Some((322_695, 5147))),
    pfscan(6, None, None),
    aget(3, None),
    aget(4, Some((462, 18))),
    aget(5, Some((6006, 258))),
    aget(6, Some((87_516, 2579))),
];

const MODES: [[&str; 2]; 4] = [["fg", "off"], ["fg", "dynamic"], ["optimal", "off"], ["optimal", "dynamic"]];

/// Options of `inspect`.
#[derive(clap::Args)]
pub struct Options {
    /// The most seconds per exploration of the last column; what was not finished by then is shown as "> executions"
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// The same for the other columns, many of which would take days
    #[arg(long, default_value_t = 300)]
    unreduced_seconds: u64,
    /// The most threads
    #[arg(long, default_value_t = 6)]
    threads: u32,
    /// The folder of the C programs
    #[arg(long, default_value = "models/c")]
    models: PathBuf,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
}

/// What an exploration came to.
#[derive(Clone, Copy, Debug)]
struct Cell {
    executions: u64,
    complete: bool,
    cpu_seconds: f64,
}

impl Cell {
    fn text(&self) -> String {
        format!("{}{}", if self.complete { "" } else { "> " }, self.executions)
    }
}

fn explore(binary: &Path, options: &Options, row: &Row, mode: [&str; 2]) -> Result<Cell, String> {
    let workers = row.threads - row.others;
    let mut command = Command::new(binary);
    command.arg("check").arg(options.models.join(row.file)).arg(format!("-D{}={workers}", row.define));
    command.args(["--json", "--workers", "1", "--dpor", mode[0], "--symmetry", mode[1]]);
    let last = mode == MODES[3];
    let seconds = if last { options.seconds } else { options.unreduced_seconds };
    command.arg("--max-time").arg(format!("{seconds}s"));
    let finished = process::run(&mut command, None)?;
    let answer: Value = serde_json::from_str(&finished.stdout)
        .map_err(|_| format!("no answer: {}{}", finished.stdout, finished.stderr))?;
    let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default();
    let complete = match text("verdict") {
        "holds" => !row.buggy,
        "violated" if row.buggy => true,
        // Of symmetry as published nothing can be concluded, but everything it would explore was explored.
        "undecided" => text("message").contains("as published"),
        other => return Err(format!("{}: {other}", row.file)),
    };
    let executions = answer.get("executions").and_then(Value::as_u64).ok_or("no executions")?;
    let cpu_seconds = answer.get("cpu_seconds").and_then(Value::as_f64).unwrap_or(f64::NAN);
    Ok(Cell { executions, complete, cpu_seconds })
}

/// Standard Young tableaux with `rows` rows of `columns`, by the hook length formula.
fn tableaux(rows: u32, columns: u32) -> u64 {
    let mut numerator: u128 = 1;
    let mut denominator: u128 = 1;
    let mut cell = 0;
    for row in 0..rows {
        for column in 0..columns {
            cell += 1;
            numerator *= cell;
            denominator *= u128::from(rows - row + columns - column - 1);
            let divisor = greatest_common_divisor(numerator, denominator);
            (numerator, denominator) = (numerator / divisor, denominator / divisor);
        }
    }
    u64::try_from(numerator / denominator).unwrap_or(u64::MAX)
}

fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// What is wrong with a row, if anything.
fn fault(row: &Row, cells: &[Cell; 4]) -> Option<String> {
    let [fg, _, _, ours] = cells;
    let name = format!("{}, {} threads", row.theirs, row.threads);
    if !ours.complete {
        // Where the paper has no figure either, nothing was promised.
        return row.symmetric.map(|_| format!("{name}: not finished, theirs was"));
    }
    if row.buggy {
        // Both stop at what is to be found; how much is saved until then is a matter of luck.
        let theirs = row.symmetric.map_or(u64::MAX, |s| s.0);
        return (ours.executions > theirs)
            .then(|| format!("{name}: found after {} executions, theirs {theirs}", ours.executions));
    }
    if row.theirs == "aget" && ours.executions != tableaux(row.threads, 3) {
        return Some(format!("{name}: {} executions, not {}", ours.executions, tableaux(row.threads, 3)));
    }
    let (dpor, symmetric) = (row.dpor?, row.symmetric?);
    let (theirs, ours) = (dpor.0 as f64 / symmetric.0 as f64, fg.executions as f64 / ours.executions as f64);
    let at_least = if fg.complete { "" } else { "at least " };
    (ours < theirs).then(|| format!("{name}: reduced {at_least}{ours:.1} times, theirs {theirs:.1} times"))
}

fn shown(paper: Option<(u64, u64)>) -> String {
    paper.map_or_else(|| "-".to_owned(), |(executions, seconds)| format!("{executions} ({seconds} s)"))
}

fn line(row: &Row, cells: &[Cell; 4]) -> Vec<String> {
    let [fg, _, _, ours] = cells;
    let ratio = |first: f64, last: f64| format!("{:.1}", first / last);
    let theirs = row.dpor.zip(row.symmetric).map(|(d, s)| ratio(d.0 as f64, s.0 as f64));
    // Of two lower bounds nothing follows.
    let reduced = if ours.complete {
        let at_least = if fg.complete { "" } else { "> " };
        format!("{at_least}{}", ratio(fg.executions as f64, ours.executions as f64))
    } else {
        "?".to_owned()
    };
    let mut line =
        vec![row.theirs.to_owned(), row.threads.to_string(), shown(row.dpor), shown(row.symmetric)];
    line.push(theirs.unwrap_or_else(|| "-".to_owned()));
    line.extend(cells.iter().map(Cell::text));
    line.push(reduced);
    line.push(format!("{:.1}", ours.cpu_seconds));
    line
}

/// Prints the table; `false` if a reduction is not shown to be that of the paper at least, or an exploration that ended there does not end here.
pub fn run(options: &Options) -> Result<bool, String> {
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    let (mut lines, mut faults) = (Vec::new(), Vec::new());
    for row in ROWS.iter().filter(|row| row.threads <= options.threads) {
        let mut cells = Vec::new();
        for mode in MODES {
            cells.push(explore(&binary, options, row, mode)?);
        }
        let cells: [Cell; 4] = cells.try_into().map_err(|_| "as many explorations as modes")?;
        eprintln!("{}", line(row, &cells).join("  "));
        faults.extend(fault(row, &cells));
        lines.push(line(row, &cells));
    }
    let head = [
        "program",
        "threads",
        "DPOR",
        "SymDPOR",
        "ratio",
        "fg",
        "fg+sym",
        "optimal",
        "optimal+sym",
        "ratio",
        "CPU s",
    ];
    print!("{}", table::render(&head, &lines));
    println!(
        "\ncolumns 3 to 5 are the paper's; the rest was explored now, at most {} s each, the last column {} s",
        options.unreduced_seconds, options.seconds
    );
    faults.iter().for_each(|fault| println!("{fault}"));
    Ok(faults.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tableaux_of_three_columns_are_the_papers_figures_for_aget() {
        assert_eq!([2, 3].map(|rows| tableaux(rows, 3)), [5, 42]);
        for row in ROWS.iter().filter(|row| row.theirs == "aget") {
            assert!(row.symmetric.is_none_or(|(executions, _)| executions == tableaux(row.threads, 3)));
        }
    }

    #[test]
    fn less_reduction_than_the_papers_is_a_fault() {
        let cell = |executions| Cell { executions, complete: true, cpu_seconds: 0.0 };
        let three = pfscan(3, Some((1096, 21)), Some((136, 3)));
        let cells = |fg, ours| [cell(fg), cell(ours), cell(ours), cell(ours)];
        assert!(fault(&three, &cells(800, 100)).is_some(), "8.06 times in the paper");
        assert!(fault(&three, &cells(810, 100)).is_none());
        assert!(fault(&aget(4, None), &cells(369_600, 462)).is_none());
        assert!(fault(&aget(4, None), &cells(369_600, 461)).is_some());
        let buggy = buggy_pfscan(3, Some((120, 2)), Some((71, 1)));
        assert!(fault(&buggy, &cells(1, 71)).is_none());
        assert!(fault(&buggy, &cells(1, 72)).is_some());
        let unfinished = Cell { complete: false, ..cell(5) };
        assert!(
            fault(&pfscan(5, None, Some((322_695, 5147))), &[cell(9), cell(9), cell(9), unfinished])
                .is_some()
        );
    }
}
