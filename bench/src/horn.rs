//! `horn`: a folder of Horn clauses, beside Z3's Spacer on the same files in one run.
//!
//! Every `.smt2` file of the folder is given to both programs with the same CPU limit. With `--variants`, files with one number or
//! one comparison changed are asked as well: nothing may be proved that Z3 refutes, nor the other way round. Times are CPU
//! seconds of the whole process, printed as they come. A file's `:status` is compared, too, where it has one. For files in Z3's `rule` and
//! `query` form Z3 says `sat` where a query is reached, the opposite of what a solver of Horn clauses says; that is turned round here.

use crate::{process, quotient};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `horn`.
#[derive(clap::Args)]
pub struct Options {
    /// The folder; files in folders below it count
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// CPU seconds per run
    #[arg(long, default_value_t = 10)]
    cpu: u64,
    /// Also ask this many variants of each file
    #[arg(long, default_value_t = 0)]
    variants: usize,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
    /// The solver
    #[arg(long, default_value = "z3")]
    z3: PathBuf,
    /// Print only the sums
    #[arg(long)]
    brief: bool,
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) -> Result<(), String> {
    let list = std::fs::read_dir(folder).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
    for entry in list {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            files(&path, out)?;
        } else if path.extension().is_some_and(|e| e == "smt2") {
            out.push(path);
        }
    }
    out.sort();
    Ok(())
}

/// The first line if it is an answer; otherwise what was refused, or that time ran out.
fn answer(command: &mut Command, cpu: u64) -> Result<(String, f64), String> {
    let finished = process::run(command, Some(cpu))?;
    let first = finished.stdout.lines().next().unwrap_or("").trim();
    let known = ["sat", "unsat", "unknown"].contains(&first);
    let text = if finished.over_cpu_limit() {
        "out of time"
    } else if known {
        first
    } else {
        "refused"
    };
    Ok((text.to_owned(), finished.cpu_seconds))
}

/// The text with its `number`-th numeral or comparison in an assertion changed; `None` if there are not as many.
fn variant(text: &str, number: usize) -> Option<String> {
    let start = text.find("(assert").or_else(|| text.find("(rule"))?;
    let bytes = text.as_bytes();
    let mut seen = 0;
    let mut at = start;
    while at < bytes.len() {
        let begin = at;
        while at < bytes.len() && !bytes[at].is_ascii_whitespace() && !b"()".contains(&bytes[at]) {
            at += 1;
        }
        let word = &text[begin..at];
        let changed = match word {
            "<" => Some("<=".to_owned()),
            "<=" => Some("<".to_owned()),
            ">" => Some(">=".to_owned()),
            ">=" => Some(">".to_owned()),
            _ => word.parse::<i64>().ok().map(|n| (n + 1).to_string()),
        };
        if let Some(changed) = changed {
            if seen == number {
                return Some(format!("{}{changed}{}", &text[..begin], &text[at..]));
            }
            seen += 1;
        }
        at += usize::from(at == begin);
    }
    None
}

/// What all rows add up to.
#[derive(Default)]
struct Sums {
    files: usize,
    ours: usize,
    theirs: usize,
    wrong: Vec<String>,
}

impl Sums {
    fn add(&mut self, name: &str, ours: &str, theirs: &str, status: Option<&str>) {
        let decided = |a: &str| a == "sat" || a == "unsat";
        self.files += 1;
        self.ours += usize::from(decided(ours));
        self.theirs += usize::from(decided(theirs));
        let against = |other: &str| decided(ours) && decided(other) && ours != other;
        if against(theirs) || status.is_some_and(against) {
            self.wrong.push(name.to_owned());
        }
    }
}

fn status(text: &str) -> Option<&str> {
    let rest = text.split(":status").nth(1)?;
    rest.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next()
}

/// Whether the file asks Z3's question: can this be reached?
fn asks_for_reachability(text: &str) -> bool {
    text.contains("(query ")
}

fn opposite(answer: String) -> String {
    match answer.as_str() {
        "sat" => "unsat".to_owned(),
        "unsat" => "sat".to_owned(),
        _ => answer,
    }
}

/// Measures; `false` when an answer contradicts Z3's or the file's own status.
pub fn run(options: &Options) -> Result<bool, String> {
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    let mut list = Vec::new();
    files(&options.from, &mut list)?;
    let folder = std::env::temp_dir().join(format!("quotient-horn-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    let (mut sums, mut changed) = (Sums::default(), Sums::default());
    let both = |file: &Path| -> Result<[(String, f64); 2], String> {
        let ours = answer(Command::new(&binary).arg("prove").arg(file), options.cpu)?;
        let mut theirs = answer(Command::new(&options.z3).arg("fp.engine=spacer").arg(file), options.cpu)?;
        let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        if asks_for_reachability(&text) {
            theirs.0 = opposite(theirs.0);
        }
        Ok([ours, theirs])
    };
    for file in &list {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let name = file.strip_prefix(&options.from).unwrap_or(file).display().to_string();
        let [(ours, own), (theirs, solver)] = both(file)?;
        sums.add(&name, &ours, &theirs, status(&text));
        if !options.brief {
            println!("{name}: quotient {ours} {own:.2} s, spacer {theirs} {solver:.2} s");
        }
        // Spread over the file.
        let places = (0..).take_while(|&n| variant(&text, n).is_some()).count();
        for n in 0..options.variants.min(places) {
            let Some(text) = variant(&text, n * places / options.variants.min(places)) else { continue };
            let path = folder.join("variant.smt2");
            std::fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
            let [(ours, _), (theirs, _)] = both(&path)?;
            changed.add(&format!("{name}, variant {n}"), &ours, &theirs, None);
        }
    }
    std::fs::remove_dir_all(&folder).map_err(|e| format!("cannot remove {}: {e}", folder.display()))?;
    let show = |what: &str, s: &Sums| {
        println!("{what}: {} files; decided by quotient {}, by spacer {}", s.files, s.ours, s.theirs);
        s.wrong.iter().for_each(|w| println!("CONTRADICTION: {w}"));
    };
    show("as they are", &sums);
    if options.variants > 0 {
        show("with one change", &changed);
    }
    Ok(sums.wrong.is_empty() && changed.wrong.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_change_one_thing_in_assertions_only() {
        let text = "(set-info :smt-lib-version 2.6)(assert (=> (< x 3) false))";
        assert_eq!(variant(text, 0).unwrap(), text.replace('<', "<="));
        assert_eq!(variant(text, 1).unwrap(), text.replace('3', "4"));
        assert_eq!(variant(text, 2), None);
        assert_eq!(status("(set-info :status sat)"), Some("sat"));
        assert!(asks_for_reachability("(query q :print-certificate true)") && !asks_for_reachability(text));
        assert_eq!(opposite("sat".to_owned()), "unsat");
    }
}
