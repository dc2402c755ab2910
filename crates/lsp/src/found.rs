//! What a check has found, as diagnostics: each violation stands where it happens, with a related place for every step of its run.

use std::path::Path;

use serde_json::{Value, json};

use crate::document::Document;
use crate::uri;

/// So many steps are shown: editors list them all.
const MOST_STEPS: usize = 200;

/// What is said about a check, and its violations as diagnostics.
pub(crate) fn found(document: &Document, answer: &Value) -> (String, Vec<Value>) {
    let verdict = answer["verdict"].as_str().unwrap_or("undecided");
    let violations: Vec<&Value> = answer["violations"].as_array().into_iter().flatten().collect();
    let first = violations.first().and_then(|v| v["message"].as_str());
    let why = first.or(answer["message"].as_str());
    let mut said = format!("{}: {verdict}", document.name());
    if let Some(why) = why {
        said.push_str(&format!(": {why}"));
    }
    if let Some(states) = answer["states"].as_u64() {
        said.push_str(&format!(" ({states} states)"));
    }
    (said, violations.into_iter().map(|violation| diagnostic(document, violation)).collect())
}

fn diagnostic(document: &Document, violation: &Value) -> Value {
    let steps: Vec<&Value> = violation["trace"]["steps"].as_array().into_iter().flatten().collect();
    let number = steps.last().and_then(|s| s["step"].as_u64()).unwrap_or(0);
    let mut message = violation["message"].as_str().unwrap_or("violated").to_owned();
    message.push_str(&format!(", after {number} step{}", if number == 1 { "" } else { "s" }));
    if let Some(cycle) = violation["trace"]["cycle"].as_u64() {
        message.push_str(&format!("; from step {cycle} on it is repeated for ever"));
    }
    let place = violation["at"].as_str().and_then(|at| at.rsplit_once(':'));
    // A violation without a place of its own stands where its run ends.
    let last = steps.iter().rev().find_map(|s| Some((s["file"].as_str()?, s["line"].as_u64()?)));
    let place = place.and_then(|(file, line)| Some((file, line.parse().ok()?))).or(last);
    let line = match place {
        Some((file, line)) if is_own(document, file) => line,
        _ => 1,
    };
    let shown = steps.len().saturating_sub(MOST_STEPS);
    let related: Vec<Value> = steps[shown..].iter().filter_map(|step| related(document, step)).collect();
    if shown > 0 {
        message.push_str(&format!(" (the last {MOST_STEPS} are listed)"));
    }
    json!({
        "range": line_range(document, line),
        "severity": 1,
        "source": "quotient check",
        "code": violation["kind"],
        "message": message,
        "relatedInformation": related,
    })
}

fn related(document: &Document, step: &Value) -> Option<Value> {
    let (file, line) = (step["file"].as_str()?, step["line"].as_u64()?);
    let (process, statement) = (step["process"].as_str()?, step["statement"].as_str()?);
    let mut message = format!("{} {process}: {statement}", step["step"]);
    let value = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    for change in step["changes"].as_array().into_iter().flatten() {
        let (name, before, after) =
            (value(&change["name"]), value(&change["before"]), value(&change["after"]));
        message.push_str(&format!("   {name}: {before} -> {after}"));
    }
    let (uri, range) = match is_own(document, file) {
        true => (document.uri.clone(), line_range(document, line)),
        false => {
            let line = line.saturating_sub(1);
            let position = json!({ "line": line, "character": 0 });
            (uri::from_path(Path::new(file)), json!({ "start": position, "end": position }))
        }
    };
    Some(json!({ "location": { "uri": uri, "range": range }, "message": message }))
}

fn is_own(document: &Document, file: &str) -> bool {
    document.path.as_deref() == Some(Path::new(file))
}

/// A line, counted from 1, without the white space around it.
fn line_range(document: &Document, line: u64) -> Value {
    let line = usize::try_from(line.saturating_sub(1)).unwrap_or(0);
    let range = document.text.line_range(line);
    let own = &document.text.as_str()[range.clone()];
    let start = range.start + (own.len() - own.trim_start().len());
    let end = range.start + own.trim_end().len();
    document.text.range(&(start..end.max(start)))
}
