//! Table 1 of Yang, Chen, Gopalakrishnan and Wang (2009) on programs of the shapes of theirs: how many executions symmetry
//! saves. Theirs are aget and pfscan; ours are the downloader and the scanner of `models/c`, whose pieces and directories are
//! few, so only ratios can be compared. The downloader copies from memory where aget reads from a socket.
//!
//! `QUOTIENT_INSPECT_TABLE=1 cargo test -p quotient-native --test inspect_table -- --nocapture` prints the table.

use std::path::Path;
use std::time::Duration;

use quotient_native::{Answer, Build, Request, check};
use quotient_stateless::{Algorithm, Symmetry};

/// Executions, or the bound that was reached.
#[derive(Clone, Copy, PartialEq)]
enum Count {
    Exactly(u64),
    MoreThan(u64),
}

impl Count {
    fn at_least(self) -> u64 {
        match self {
            Count::Exactly(n) | Count::MoreThan(n) => n,
        }
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Count::Exactly(n) => f.pad(&n.to_string()),
            Count::MoreThan(n) => f.pad(&format!("> {n}")),
        }
    }
}

struct Row {
    program: &'static str,
    define: &'static str,
    /// Threads, the main thread included, as the paper counts them.
    threads: usize,
    /// The paper's executions: DPOR, SymDPOR.
    paper: Option<(Option<u64>, u64)>,
}

/// DPOR (Flanagan–Godefroid), that with symmetry as published, optimal, and optimal with dynamic symmetry.
fn counts(row: &Row, most: u64, time: Duration) -> [Count; 4] {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/c").join(row.program);
    let flags = vec![format!("-D{}={}", row.define, row.threads - 1).into()];
    let binary = Build { sources: vec![path], flags, compiler: None }.run().unwrap_or_else(|e| panic!("{e}"));
    [
        (Algorithm::FlanaganGodefroid, Symmetry::Off),
        (Algorithm::FlanaganGodefroid, Symmetry::Dynamic),
        (Algorithm::Optimal, Symmetry::Off),
        (Algorithm::Optimal, Symmetry::Dynamic),
    ]
    .map(|(algorithm, symmetry)| {
        let bounds = Request { max_executions: Some(most), max_time: Some(time), ..Request::default() };
        let request = Request { algorithm, symmetry, ..bounds };
        let report = check(&binary, &request, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
        let executions = report.figures.executions;
        match &report.answer {
            Answer::Holds => Count::Exactly(executions),
            Answer::Undecided(why) if why.contains("as published") => Count::Exactly(executions),
            Answer::Undecided(_) => Count::MoreThan(executions),
            other => panic!("{}, {} threads: {other:?}", row.program, row.threads),
        }
    })
}

fn print(row: &Row, counts: &[Count; 4]) {
    let [fg, symmetric, optimal, ours] = counts;
    let (name, threads) = (row.program, row.threads);
    // Of two lower bounds nothing follows.
    let ratio = match ours {
        Count::Exactly(n) => format!("{:.0}x", fg.at_least() as f64 / *n as f64),
        Count::MoreThan(_) => "?".to_owned(),
    };
    let paper = row.paper.map_or_else(String::new, |(dpor, symmetric)| match dpor {
        Some(dpor) => format!("paper {dpor} / {symmetric} = {:.0}", dpor as f64 / symmetric as f64),
        None => format!("paper - / {symmetric}"),
    });
    println!(
        "{name:14} {threads}  fg {fg:>10}  sym {symmetric:>10}  optimal {optimal:>8}  with symmetry {ours:>8}  {ratio:>8}  {paper}"
    );
}

fn rows(program: &'static str, define: &'static str, paper: [Option<(Option<u64>, u64)>; 4]) -> [Row; 4] {
    std::array::from_fn(|k| Row { program, define, threads: k + 3, paper: paper[k] })
}

#[test]
fn table() {
    if std::env::var_os("QUOTIENT_INSPECT_TABLE").is_none() {
        println!("skipped, it takes minutes: set QUOTIENT_INSPECT_TABLE=1");
        return;
    }
    let pfscan = [Some((Some(1096), 136)), Some((Some(4_184_546), 7111)), Some((None, 322_695)), None];
    let aget = [None, Some((None, 462)), Some((None, 6006)), Some((None, 87_516))];
    for row in rows("scanner.c", "WORKERS", pfscan).iter().chain(&rows("downloader.c", "SEGMENTS", aget)) {
        print(row, &counts(row, 300_000, Duration::from_secs(30)));
    }
}

/// With three threads (the paper's smallest): everything is explored, and every column has at most the one before.
#[test]
fn smallest() {
    let row = Row { program: "scanner.c", define: "WORKERS", threads: 3, paper: Some((Some(1096), 136)) };
    let counts = counts(&row, 300_000, Duration::from_secs(60));
    print(&row, &counts);
    let [fg, symmetric, optimal, ours] = counts.map(Count::at_least);
    assert!(counts[3] == Count::Exactly(ours), "the whole exploration");
    assert!(ours <= optimal && optimal <= fg && symmetric <= fg, "{fg} {symmetric} {optimal} {ours}");
}
