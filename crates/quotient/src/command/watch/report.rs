//! The report of work that was left before its end.

use std::fmt::Write;
use std::path::Path;

use quotient::seams::Reason;
use quotient::{Incomplete, Known, KnownViolation, Verdict, outcome};
use serde_json::{Value, json};

use crate::command::{json as report, status, terminal, usage};

/// What the work is about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subject {
    file: String,
    json: bool,
}

impl Subject {
    pub(super) const fn nothing() -> Subject {
        Subject { file: String::new(), json: false }
    }

    pub(super) fn new(file: &Path, json: bool) -> Subject {
        Subject { file: file.display().to_string(), json }
    }
}

/// Prints what is known of work that ended because the token was raised; gives the exit status.
pub(crate) fn undecided() -> Option<u8> {
    let reason = super::interrupt().reason()?;
    let subject = super::SUBJECT.lock().map(|s| s.clone()).unwrap_or_default();
    let (text, status) = early(&subject, reason, &super::journal().known().unwrap_or_default());
    Some(terminal::report(&text, status))
}

/// The report and the exit status.
pub(super) fn early(subject: &Subject, reason: Reason, known: &Known) -> (String, u8) {
    let phase = if known.phase.is_empty() { String::new() } else { format!(" while {}", known.phase) };
    let why = Incomplete::EndedIn(reason, phase);
    let status = known.violations.iter().map(|v| v.kind.status()).max();
    let text =
        if subject.json { machine(subject, why, known) } else { human(subject, &why.to_string(), known) };
    (text, status.unwrap_or(status::UNDECIDED))
}

/// Violations that were found and not executed again.
fn unconfirmed(known: &Known) -> usize {
    known.found.saturating_sub(known.violations.len())
}

fn human(subject: &Subject, why: &str, known: &Known) -> String {
    let mut out = String::new();
    let verdict = if known.violations.is_empty() { "undecided" } else { "violated" };
    let file = if subject.file.is_empty() { String::new() } else { format!("{}: ", subject.file) };
    let _ = writeln!(out, "{file}{verdict}\n  {why}");
    for KnownViolation { message, at, .. } in &known.violations {
        let at = at.as_ref().map_or_else(String::new, |at| format!(" ({at})"));
        let _ = writeln!(out, "  {message}{at}");
    }
    match unconfirmed(known) {
        0 => {}
        1 => out.push_str("  a violation was found, but could not be executed again in time\n"),
        n => {
            let _ = writeln!(out, "  {n} violations were found, but could not be executed again in time");
        }
    }
    for (text, verdict) in known.answers.iter().filter(|(_, v)| !matches!(v, Verdict::Undecided(_))) {
        let _ = writeln!(out, "  {text}: {}", verdict.name());
    }
    let s = &known.statistics;
    if s.states > 0 {
        let [states, transitions, depth] = [s.states, s.transitions, s.depth].map(terminal::grouped);
        let _ = writeln!(out, "\n  {states} states, {transitions} transitions, depth {depth}");
    }
    out
}

fn machine(subject: &Subject, why: Incomplete, known: &Known) -> String {
    let s = &known.statistics;
    let violations: Vec<Value> = known
        .violations
        .iter()
        .map(|v| json!({ "kind": v.kind.as_str(), "message": v.message, "at": v.at }))
        .collect();
    let answers: Vec<Value> = known
        .answers
        .iter()
        .map(|(text, verdict)| json!({ "text": text, "verdict": verdict.name() }))
        .collect();
    let message = why.to_string();
    let verdict = if violations.is_empty() { Verdict::Undecided(why) } else { Verdict::Violated };
    let body = json!({
        "message": message,
        "violations": violations,
        "unconfirmed": unconfirmed(known),
        "answers": answers,
        "states": s.states,
        "transitions": s.transitions,
        "depth": s.depth,
        "unexplored": s.waiting,
        "store_bytes": s.store_bytes,
        "search_bytes": s.search_bytes,
        "cpu_seconds": usage::cpu_seconds(),
        "peak_rss_bytes": usage::peak_rss_bytes(),
    });
    outcome::json::text(&report::header(Some(&subject.file)).answer(&verdict, body))
}
