//! Reports for machines; the schema is `docs/json.md`.

use quotient::trace::json::render;
use quotient::{Answer, Branch, Verdict, ViolationReport};
use serde_json::{Value, json};

use super::check::Run;

/// The object of a check that came to an end.
pub(crate) fn report(run: &Run<'_>) -> String {
    let outcome = run.outcome;
    let s = &outcome.statistics;
    let (verdict, message) = match &outcome.verdict {
        Verdict::Holds => ("holds", None),
        Verdict::Violated => ("violated", None),
        Verdict::Undecided(why) => ("undecided", Some(why.clone())),
    };
    let violations: Vec<Value> = outcome.violations.iter().map(|v| violation(v, run.detail.full)).collect();
    let object = json!({
        "quotient": env!("CARGO_PKG_VERSION"),
        "file": run.file.display().to_string(),
        "verdict": verdict,
        "message": message,
        "violation": violations.first(),
        "violations": violations,
        "answers": outcome.answers.iter().map(|a| answer(a, run.detail.full)).collect::<Vec<_>>(),
        "states": s.states,
        "transitions": s.transitions,
        "depth": s.depth,
        "cpu_seconds": run.cpu_seconds,
        "wall_seconds": run.wall_seconds,
        "search_seconds": outcome.search_seconds,
        "store_bytes": s.store_bytes,
        "search_bytes": s.search_bytes,
        "peak_rss_bytes": run.peak_rss_bytes,
        "unexplored": s.waiting,
        "reductions": {
            "symmetry": outcome.symmetry.order,
            "symmetry_found": outcome.symmetry.found,
            "symmetry_limit": outcome.symmetry.limit,
            "audited_states": outcome.symmetry.audited.map(|(states, _)| states),
            "por": outcome.partial_order.name(),
            "audited_diamonds": outcome.audited_ample.map(|a| a.diamonds),
            "store": outcome.store,
            "unread_globals": outcome.reduced.unread,
            "dead_variables": outcome.reduced.forgotten,
            "merged_locations": outcome.reduced.merged,
            "ended_processes": outcome.reduced.ended,
            "notes": outcome.notes,
        },
        "unreached": outcome.unreached.iter().map(|u| json!({
            "process": u.process, "at": u.at, "statement": u.statement,
        })).collect::<Vec<_>>(),
        "warnings": run.model.warnings.iter().map(|w| w.message.clone()).collect::<Vec<_>>(),
    });
    text(&object)
}

/// The object of a check that never started.
pub(crate) fn error(message: &str) -> String {
    text(&json!({ "quotient": env!("CARGO_PKG_VERSION"), "verdict": "error", "message": message }))
}

fn answer(a: &Answer, full: bool) -> Value {
    let (verdict, message) = match &a.verdict {
        Verdict::Holds => ("holds", None),
        Verdict::Violated => ("violated", None),
        Verdict::Undecided(why) => ("undecided", Some(why.clone())),
    };
    json!({
        "question": a.question.to_string(),
        "text": a.text,
        "verdict": verdict,
        "message": message,
        "states": a.statistics.states,
        "transitions": a.statistics.transitions,
        "symmetry": a.applied.symmetry.order,
        "symmetry_found": a.applied.symmetry.found,
        "symmetry_limit": a.applied.symmetry.limit,
        "por": a.applied.partial_order.name(),
        "witness": a.witness.iter().map(|b| branch(b, full)).collect::<Vec<_>>(),
    })
}

/// One violation.
pub(crate) fn violation(v: &ViolationReport, full: bool) -> Value {
    json!({
        "kind": v.kind,
        "message": v.message,
        "at": v.at,
        "count": v.count,
        "question": v.question.to_string(),
        "choices": v.choices,
        "cycle": v.cycle,
        "trace": render(&v.trace, full),
        "branches": v.branches.iter().map(|b| branch(b, full)).collect::<Vec<_>>(),
    })
}

/// A run that branches off another one.
fn branch(b: &Branch, full: bool) -> Value {
    json!({
        "formula": b.formula,
        "holds": b.holds,
        "after": b.after,
        "trace": render(&b.trace, full),
        "branches": b.branches.iter().map(|b| branch(b, full)).collect::<Vec<_>>(),
    })
}

pub(crate) fn text(value: &Value) -> String {
    // Strings, numbers, lists and maps with string keys always serialise.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}
