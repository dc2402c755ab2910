//! SARIF 2.1.0 (OASIS): one run, with a result for each violation and each answer that is missing.
//!
//! A violation is a result of the level `error`. Its trace is a code flow with one thread flow per process; `executionOrder` says how their
//! steps interleave. An answer that is missing has the kind `open`, one that holds the kind `pass`; both have no level, as the standard asks.
//! Input that cannot be read is a notification of the tool, and the invocation was not successful.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::place;

/// The log of some documents.
pub fn sarif(documents: &[Value]) -> Value {
    let results: Vec<Value> = documents.iter().flat_map(results).collect();
    let rules: BTreeSet<&str> = results.iter().filter_map(|r| r["ruleId"].as_str()).collect();
    let rules = rules
        .into_iter()
        .map(|id| json!({ "id": id, "name": id, "shortDescription": { "text": about(id) } }));
    let notifications: Vec<Value> = documents.iter().flat_map(notifications).collect();
    let version = documents.iter().find_map(|d| d["quotient"].as_str()).unwrap_or_default();
    json!({
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [{
            "tool": { "driver": { "name": "quotient", "version": version, "rules": rules.collect::<Vec<_>>() } },
            "invocations": [{
                "executionSuccessful": notifications.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// What a kind of violation is, in words.
fn about(kind: &str) -> String {
    match kind {
        "deadlock" => "Nobody can go on, and not everybody may stop there".into(),
        "race" => "Two threads access memory at the same time, and one of them writes".into(),
        "answer" => "What was asked".into(),
        other => format!("A violation of the kind `{other}`"),
    }
}

fn results(document: &Value) -> Vec<Value> {
    let file = document["file"].as_str().unwrap_or_default();
    let mut all: Vec<Value> = Vec::new();
    for violation in document["violations"].as_array().into_iter().flatten() {
        let at = violation["at"].as_str().and_then(place);
        let mut result = json!({
            "ruleId": violation["kind"],
            "kind": "fail",
            "level": "error",
            "message": { "text": violation["message"] },
            "locations": [location(at.map_or(file, |(file, _)| file), at.map(|(_, line)| line))],
        });
        let flows = thread_flows(&violation["trace"]);
        if !flows.is_empty() {
            result["codeFlows"] = json!([{ "threadFlows": flows }]);
        }
        all.push(result);
    }
    let open = |kind: &str, text: String| json!({ "ruleId": "answer", "kind": kind, "level": "none", "message": { "text": text }, "locations": [location(file, None)] });
    let mut answered = false;
    for answer in document["answers"].as_array().into_iter().flatten() {
        let text = answer["text"].as_str().unwrap_or("everything asked for");
        match answer["verdict"].as_str() {
            Some("holds" | "proved") => all.push(open("pass", format!("{text}: holds"))),
            Some("undecided" | "unknown") => {
                answered = true;
                let why = answer["message"].as_str().or(answer["reason"].as_str()).unwrap_or("no answer");
                all.push(open("open", format!("{text}: undecided: {why}")));
            }
            _ => {}
        }
    }
    if document["verdict"] == "undecided" && !answered {
        all.push(open("open", format!("undecided: {}", document["message"].as_str().unwrap_or("no answer"))));
    }
    all
}

/// One flow per process, in the order in which they first move.
fn thread_flows(trace: &Value) -> Vec<Value> {
    let mut flows: Vec<(&str, Vec<Value>)> = Vec::new();
    for (index, step) in trace["steps"].as_array().into_iter().flatten().enumerate() {
        let process = step["process"].as_str().unwrap_or_default();
        let line = step["line"].as_u64().filter(|line| *line > 0);
        let mut place = location(step["file"].as_str().unwrap_or_default(), line);
        place["message"] = json!({ "text": described(step) });
        let entry = json!({ "location": place, "executionOrder": index + 1 });
        match flows.iter_mut().find(|(name, _)| *name == process) {
            Some((_, entries)) => entries.push(entry),
            None => flows.push((process, vec![entry])),
        }
    }
    flows.into_iter().map(|(process, entries)| json!({ "id": process, "locations": entries })).collect()
}

/// A step in a line: the statement and what it changed.
fn described(step: &Value) -> String {
    let mut text = step["statement"].as_str().unwrap_or_default().to_owned();
    for change in step["changes"].as_array().into_iter().flatten() {
        let value = |side: &str| change[side].as_str().unwrap_or("none").to_owned();
        text.push_str(&format!(
            "  {}: {} -> {}",
            change["name"].as_str().unwrap_or_default(),
            value("before"),
            value("after")
        ));
    }
    if let Some(failed) = step["failed"].as_str() {
        text.push_str(&format!("  {failed}"));
    }
    text
}

/// A file, and a line in it where it is known. Results without a file have no place that a reader could show.
fn location(file: &str, line: Option<u64>) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
    if let Some(line) = line {
        physical["region"] = json!({ "startLine": line });
    }
    json!({ "physicalLocation": physical })
}

/// A path as a reference of RFC 3986.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte as char)
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn notifications(document: &Value) -> Vec<Value> {
    let file = document["file"].as_str();
    let note = |level: &str, message: &Value, own: &Value| {
        let mut note = json!({ "level": level, "message": { "text": message } });
        if let Some(file) = own["file"].as_str().or(file) {
            note["locations"] = json!([location(file, own["line"].as_u64())]);
        }
        note
    };
    let errors = document["errors"].as_array().into_iter().flatten();
    errors.map(|error| note("error", &error["message"], error)).collect()
}
