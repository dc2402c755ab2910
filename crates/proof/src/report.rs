//! Reports as text and as JSON.

use quotient_outcome::text::Detail;
use quotient_outcome::{Incomplete, Step, Trace, Violation, ViolationKind, json};
use quotient_source::SourceMap;
use serde::Serialize;
use serde_json::Value;

use crate::cells::Open;
use crate::explain;
use crate::explicit::TraceStep;
use crate::program::Program;
use crate::prove::{Proof, Report, Verdict};

/// One assertion in `--json` output.
#[derive(Serialize)]
struct Line<'a> {
    question: &'static str,
    text: &'a str,
    assertion: &'a str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditional_on: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Value>,
    left_states: usize,
    right_states: usize,
    stored: usize,
    length_non_increasing: bool,
    one_level: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_level_inverse: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invariant: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invariant_sets: Option<usize>,
    cpu_seconds: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<&'a str>,
}

fn place(program: &Program, map: &SourceMap, step: &TraceStep) -> Option<String> {
    program.rules[step.rule].span.map(|s| map.file_line(s))
}

/// The word for a verdict.
pub fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Proved => "proved",
        Verdict::Refuted(_) => "refuted",
        Verdict::Unknown(_) => "unknown",
        Verdict::Assumed => "assumed",
    }
}

/// The run that refutes an assertion, as all engines write it.
pub fn trace(program: &Program, map: &SourceMap, r: &Report) -> Option<Trace> {
    let Verdict::Refuted(refutation) = &r.verdict else { return None };
    let step = |(number, step): (usize, &TraceStep)| {
        let span = program.rules[step.rule].span;
        Step {
            number,
            file: span.map_or_else(String::new, |s| map.name(map.written(s).file).to_owned()),
            line: span.map_or(0, |s| map.position(s).line),
            statement: program.show(&step.state),
            state: program.columns.iter().cloned().zip(step.state.iter().map(i64::to_string)).collect(),
            ..Step::default()
        }
    };
    let violation = Violation { kind: ViolationKind::Refuted, message: refutation.reason.clone() };
    let steps = refutation.trace.iter().enumerate().map(step).collect();
    Some(Trace { steps, violation: Some(violation), ..Trace::default() })
}

/// The verdict over all assertions.
pub fn verdict(reports: &[Report]) -> quotient_outcome::Verdict {
    let unknown = |r: &Report| match &r.verdict {
        Verdict::Unknown(reason) => Some(Incomplete::Unproved(reason.clone())),
        _ => None,
    };
    if reports.iter().any(|r| matches!(r.verdict, Verdict::Refuted(_))) {
        quotient_outcome::Verdict::Violated
    } else {
        let first = reports.iter().find_map(unknown);
        first.map_or(quotient_outcome::Verdict::Holds, quotient_outcome::Verdict::Undecided)
    }
}

/// One report as a JSON object.
pub fn json(program: &Program, map: &SourceMap, r: &Report) -> Value {
    let name = |a: usize| program.assertions[a].name.as_str();
    let line = Line {
        question: "assertion",
        text: name(r.assertion),
        assertion: name(r.assertion),
        verdict: word(&r.verdict),
        conditional_on: r.conditional_on.iter().map(|&c| name(c)).collect(),
        reason: match &r.verdict {
            Verdict::Unknown(reason) => Some(reason),
            Verdict::Refuted(refutation) => Some(&refutation.reason),
            _ => None,
        },
        trace: trace(program, map, r).map(|trace| json::trace(&trace, Detail::of_all(true))),
        left_states: r.left_states,
        right_states: r.right_states,
        stored: r.stored,
        length_non_increasing: r.nonincreasing,
        one_level: r.one_level,
        one_level_inverse: r.one_level_inverse,
        invariant: r.found.map(|f| f.0),
        invariant_sets: r.found.map(|f| f.1),
        cpu_seconds: r.elapsed.as_secs_f64(),
        open: open(r).iter().map(|o| open_json(program, map, o)).collect(),
        notes: r.notes.iter().map(String::as_str).collect(),
    };
    // Strings, numbers, lists and maps with string keys always serialise.
    serde_json::to_value(&line).unwrap_or_default()
}

/// What could not be excluded, of a claim that stays open.
fn open(report: &Report) -> &[Open] {
    if matches!(report.verdict, Verdict::Unknown(_)) { &report.open } else { &[] }
}

fn open_json(program: &Program, map: &SourceMap, open: &Open) -> Value {
    let state = |(rule, state): &(Option<usize>, Vec<Option<i64>>)| {
        let known = program.columns.iter().zip(state).filter_map(|(c, v)| v.map(|v| (c.clone(), v.into())));
        let values: serde_json::Map<String, Value> = known.collect();
        let place = rule.and_then(|r| program.rules[r].span).map(|s| map.file_line(s));
        serde_json::json!({ "values": values, "by": place })
    };
    let states: Vec<Value> = open.states.iter().map(state).collect();
    let invariant = open.invariant.as_ref().map(|i| i.0);
    let conditions = open.invariant.as_ref().map(|(_, c)| explain::cell(program, c));
    serde_json::json!({ "invariant": invariant, "conditions": conditions, "states": states })
}

/// Columns of a state that are shown in a row; more are shown one by one.
const WIDE: usize = 12;

fn open_text(program: &Program, map: &SourceMap, open: &Open) -> String {
    let count = open.states.len();
    let mut out = match (&open.invariant, count) {
        (Some((name, _)), 1) => {
            format!("  open goal: the invariant tried last ({name}) has to exclude this violation\n")
        }
        (Some((name, _)), _) => {
            format!("  open goal: no state of the invariant tried last ({name}) leads to a violation\n")
        }
        (None, 1) => "  open goal: this violation is unreachable\n".into(),
        (None, n) => format!(
            "  open goal: no run of {n} states, of which only the last violates the claim, ends like this\n"
        ),
    };
    if let Some((_, cell)) = &open.invariant {
        let mut conditions = explain::cell(program, cell);
        let more = conditions.len().saturating_sub(WIDE);
        conditions.truncate(WIDE);
        let and = if more > 0 { format!(", and {more} more") } else { String::new() };
        let list = if conditions.is_empty() { "anything".into() } else { conditions.join(", ") };
        out.push_str(&format!("    it says of the first state: {list}{and}\n"));
    }
    let text = |v: &Option<i64>| v.map_or("_".into(), |v| v.to_string());
    let shown = |state: &[Option<i64>]| {
        if state.len() <= WIDE {
            return program.show_terms(&state.iter().map(text).collect::<Vec<_>>());
        }
        // Of many columns those with other values than 0.
        let named = program.columns.iter().zip(state).filter(|(_, v)| **v != Some(0));
        let list: Vec<String> = named.map(|(c, v)| format!("{c} = {}", text(v))).collect();
        format!("{}, else 0", list.join(", "))
    };
    for (number, (rule, state)) in open.states.iter().enumerate() {
        let place = rule.and_then(|r| program.rules[r].span).map(|s| map.file_line(s)).unwrap_or_default();
        let violates = if number + 1 == count { "  violates the claim" } else { "" };
        out.push_str(&format!("    {:>3}  {}  {place}{violates}\n", number, shown(state)));
    }
    out.push_str("    it is not known whether the first state is reachable\n");
    out
}

/// States of a long trace that are not printed: nobody reads thousands.
fn hidden(length: usize) -> std::ops::Range<usize> {
    const ALL: usize = 200;
    const ENDS: usize = 20;
    if length > ALL { ENDS..length - ENDS } else { 0..0 }
}

/// One report as text.
pub fn text(program: &Program, map: &SourceMap, report: &Report) -> String {
    let assertion = &program.assertions[report.assertion];
    let mut out = format!("{}: {}", assertion.name, word(&report.verdict));
    let names: Vec<String> =
        report.conditional_on.iter().map(|&c| format!("`{}`", program.assertions[c].name)).collect();
    match &report.verdict {
        Verdict::Proved => {
            if !names.is_empty() {
                out.push_str(&format!(", conditional on {}", names.join(", ")));
            }
            let kind = match (assertion.is_relative(), report.one_level, report.nonincreasing) {
                _ if matches!(report.proof, Some(Proof::Cells(_))) => {
                    format!("{} pieces of evidence, checked", report.stored)
                }
                _ if matches!(report.proof, Some(Proof::Renamed)) => "one level, rule by rule".to_string(),
                _ if matches!(report.proof, Some(Proof::Listed(_))) => {
                    format!("all {} states looked at: no use in safety proofs", report.stored)
                }
                (false, ..) => format!("{} sets stored", report.stored),
                (true, true, _) => "one level".to_string(),
                (true, false, true) => format!("{} obligations, length-non-increasing", report.stored),
                (true, false, false) => {
                    format!(
                        "{} obligations, not length-non-increasing: no use in safety proofs",
                        report.stored
                    )
                }
            };
            let kind = match report.found {
                Some((name, 1)) => format!("invariant found: {name}; {kind}"),
                Some((name, sets)) => format!("invariant found: {name}, {sets} sets; {kind}"),
                None => kind,
            };
            let right = match report.right_states {
                0 => String::new(),
                n => format!(", {n} right goals"),
            };
            out.push_str(&format!(
                "  ({kind}; {} left goals{right}; {:.2} s)\n",
                report.left_states,
                report.elapsed.as_secs_f64()
            ));
        }
        Verdict::Assumed => out.push('\n'),
        Verdict::Unknown(reason) => {
            out.push_str(&format!("  ({reason}; {:.2} s)\n", report.elapsed.as_secs_f64()))
        }
        Verdict::Refuted(refutation) => {
            out.push('\n');
            let width =
                refutation.trace.iter().map(|s| program.show(&s.state).chars().count()).max().unwrap_or(0);
            let hidden = hidden(refutation.trace.len());
            for (number, step) in refutation.trace.iter().enumerate() {
                if hidden.contains(&number) {
                    if number == hidden.start {
                        out.push_str(&format!(
                            "       … {} states in between (--json has them)\n",
                            hidden.len()
                        ));
                    }
                    continue;
                }
                let place = place(program, map, step).unwrap_or_default();
                out.push_str(&format!("  {:>3}  {:width$}  {place}\n", number, program.show(&step.state)));
            }
            out.push_str(&format!("  {}\n", refutation.reason));
        }
    }
    for open in open(report) {
        out.push_str(&open_text(program, map, open));
    }
    for note in &report.notes {
        out.push_str(&format!("  note: {note}\n"));
    }
    out
}
