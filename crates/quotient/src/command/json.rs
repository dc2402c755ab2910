//! Reports for machines; the schema is `docs/json.md`.

use std::path::Path;
use std::sync::OnceLock;

use quotient::outcome::json::{self, Header};
use quotient::source::Severity;
use quotient::trace::text::Detail;
use quotient::{Answer, Branch, LoadError, Looker, StoreKind, ViolationReport};
use serde_json::{Value, json};

use super::check::Run;
use super::several::Layout;

/// The object of a check that came to an end.
pub(crate) fn report(run: &Run<'_>) -> Value {
    let outcome = run.outcome;
    let s = &outcome.statistics;
    let violations: Vec<Value> = outcome.violations.iter().map(|v| violation(v, run.detail)).collect();
    let body = json!({
        "violations": violations,
        "not_checked": outcome.left_out,
        "assumptions": outcome.assumptions,
        "answers": outcome.answers.iter().map(|a| answer(a, run.detail)).collect::<Vec<_>>(),
        "states": s.states,
        "transitions": s.transitions,
        "depth": s.depth,
        "cpu_seconds": run.cpu_seconds,
        "wall_seconds": run.wall_seconds,
        "search_seconds": outcome.search_seconds,
        "workers": outcome.workers,
        "store_bytes": s.store_bytes,
        "search_bytes": s.search_bytes,
        "peak_rss_bytes": run.peak_rss_bytes,
        "unexplored": s.waiting,
        "second_look": outcome.second_look.as_ref().map(|look| look.searches.iter().map(|(search, s)| json!({
            "search": search.name(), "states": s.states, "transitions": s.transitions, "found": look.found_by == Some(*search),
        })).collect::<Vec<_>>()),
        "reductions": {
            "symmetry": outcome.symmetry.order,
            "symmetry_found": outcome.symmetry.found,
            "symmetry_renamings": outcome.symmetry.renamings,
            "symmetry_without_effect": outcome.symmetry.without_effect,
            "symmetry_states_for_one": outcome.symmetry.for_one.map(|one| one.tenths as f64 / 10.0),
            "symmetry_explained": outcome.symmetry.explained,
            "symmetry_limit": outcome.symmetry.limit,
            "audited_states": outcome.symmetry.audited.map(|(states, _)| states),
            "por": outcome.partial_order.name(),
            "audited_diamonds": outcome.audited_ample.map(|a| a.diamonds),
            "store": outcome.store.map(StoreKind::name),
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
        "diagnostics": json::diagnostics(&run.model.sources, &run.model.warnings, Severity::Warning),
    });
    header(Some(&run.file.display().to_string())).answer(&outcome.verdict, body)
}

/// The subcommand that runs.
static COMMAND: OnceLock<&'static str> = OnceLock::new();

/// Says which subcommand runs; called once.
pub(crate) fn begin(command: &'static str) {
    let _ = COMMAND.set(command);
}

/// What every document begins with.
pub(crate) fn header(file: Option<&str>) -> Header<'_> {
    Header { program: env!("CARGO_PKG_VERSION"), command: COMMAND.get().copied().unwrap_or("check"), file }
}

/// The object of a check that never started.
pub(crate) fn error(message: &str, file: Option<&Path>) -> Value {
    let file = file.map(|f| f.display().to_string());
    header(file.as_deref()).error(message, json::plain_error(message, file.as_deref()))
}

/// The object of a model that could not be loaded.
pub(crate) fn unloaded(error: &LoadError, file: &Path) -> Value {
    let name = file.display().to_string();
    let errors = match error {
        LoadError::Invalid(sources, diagnostics) => json::diagnostics(sources, diagnostics, Severity::Error),
        LoadError::Unreadable(..) | LoadError::UnknownKind(_) | LoadError::NoText(..) => {
            json::plain_error(&error.to_string(), Some(&name))
        }
    };
    header(Some(&name)).error(&error.to_string(), errors)
}

fn answer(a: &Answer, detail: Detail) -> Value {
    let why = a.verdict.incomplete();
    json!({
        "question": a.question.to_string(),
        "text": a.text,
        "verdict": a.verdict.name(),
        "message": why.map(ToString::to_string),
        "incomplete": json::incomplete(why),
        "states": a.statistics.states,
        "transitions": a.statistics.transitions,
        "symmetry": a.applied.symmetry.order,
        "symmetry_found": a.applied.symmetry.found,
        "symmetry_limit": a.applied.symmetry.limit,
        "por": a.applied.partial_order.name(),
        "store": a.applied.store.map(StoreKind::name),
        "workers": a.applied.workers,
        "witness": a.witness.iter().map(|b| branch(b, detail)).collect::<Vec<_>>(),
    })
}

/// One violation.
pub(crate) fn violation(v: &ViolationReport, detail: Detail) -> Value {
    json!({
        "kind": v.kind.as_str(),
        "message": v.message,
        "at": v.at,
        "count": v.count,
        "question": v.question.to_string(),
        "found_by": v.found_by.map(Looker::name),
        "choices": v.choices,
        "cycle": v.cycle,
        "trace": json::trace(&v.trace, detail),
        "branches": v.branches.iter().map(|b| branch(b, detail)).collect::<Vec<_>>(),
    })
}

/// A run that branches off another one.
fn branch(b: &Branch, detail: Detail) -> Value {
    json!({
        "formula": b.formula,
        "holds": b.holds,
        "after": b.after,
        "trace": json::trace(&b.trace, detail),
        "branches": b.branches.iter().map(|b| branch(b, detail)).collect::<Vec<_>>(),
    })
}

/// An object as the layout has it.
pub(crate) fn written(value: &Value, layout: Layout) -> String {
    if layout == Layout::JsonLines { format!("{value}\n") } else { json::text(value) }
}
