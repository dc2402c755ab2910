//! What is written, read by readers that are not part of this project.

use quotient_formats::itf::{About, State, itf};
use quotient_formats::junit::{Case, CaseOutcome, cases, junit};
use quotient_formats::{csv::csv, sarif::sarif};
use quotient_outcome::Value;
use serde_json::{Value as Json, json};

fn documents() -> Vec<Json> {
    let violated = json!({
        "quotient": "0.2.0", "schema": 2, "command": "check", "file": "my models/a<b>.pml", "verdict": "violated", "message": null,
        "states": 36, "transitions": 56, "cpu_seconds": 0.5,
        "answers": [
            { "question": "safety", "text": "no deadlock, no assertion violated", "verdict": "violated", "message": null },
            { "question": "claim 0", "text": "[] <> \"p\"", "verdict": "undecided", "message": "another violation came first" } ],
        "violations": [{
            "kind": "assertion", "message": "assertion violated: assert(x < 1)", "at": "my models/a<b>.pml:19", "question": "safety",
            "trace": { "steps": [
                { "step": 1, "process": "P(0)", "pid": 0, "file": "my models/a<b>.pml", "line": 14, "statement": "x = 1",
                  "changes": [{ "name": "x", "before": "0", "after": "1" }] },
                { "step": 2, "process": "Q(1)", "pid": 1, "file": "my models/a<b>.pml", "line": 19, "statement": "assert(x < 1)",
                  "changes": [], "failed": "1 < 1" },
                { "step": 3, "process": "P(0)", "pid": 0, "file": "my models/a<b>.pml", "line": 15, "statement": "skip", "changes": [] } ] } }],
    });
    let holds = json!({ "quotient": "0.2.0", "command": "check", "file": "b.c", "verdict": "holds", "violations": [], "executions": 6 });
    let undecided = json!({ "command": "check", "file": "c.pml", "verdict": "undecided", "message": "time, \"10s\"", "violations": [] });
    let error = json!({ "command": "check", "file": "d.pml", "verdict": "error", "message": "m",
        "errors": [{ "message": "expected `;`", "file": "d.pml", "line": 3, "column": 4, "help": null }] });
    let proof = json!({ "command": "prove", "file": "e.clp", "verdict": "undecided", "message": "m", "violations": [], "answers": [
        { "assertion": "room", "text": "room", "question": "assertion", "verdict": "proved", "cpu_seconds": 0.25 },
        { "assertion": "door", "text": "door", "question": "assertion", "verdict": "unknown", "reason": "no invariant" } ] });
    vec![violated, holds, undecided, error, proof]
}

#[test]
fn sarif_is_read_by_its_types() {
    let log: serde_sarif::sarif::Sarif = serde_json::from_value(sarif(&documents())).expect("SARIF 2.1.0");
    let run = &log.runs[0];
    let results = run.results.as_ref().expect("results");
    let word = |v: Json| v.as_str().unwrap_or_default().to_owned();
    let said: Vec<String> = results
        .iter()
        .map(|r| {
            let (kind, level) =
                (serde_json::to_value(&r.kind).unwrap(), serde_json::to_value(r.level).unwrap());
            format!("{}/{}", word(kind), word(level))
        })
        .collect();
    assert_eq!(said, ["fail/error", "open/none", "open/none", "pass/none", "open/none"]);
    let flows = results[0].code_flows.as_ref().expect("a trace")[0].thread_flows.clone();
    assert_eq!(flows.iter().map(|f| f.id.clone().unwrap()).collect::<Vec<_>>(), ["P(0)", "Q(1)"]);
    let orders: Vec<Option<i64>> = flows[0].locations.iter().map(|l| l.execution_order).collect();
    assert_eq!(orders, [Some(1), Some(3)]);
    let place = results[0].locations.as_ref().unwrap()[0].physical_location.clone().unwrap();
    assert_eq!(place.artifact_location.unwrap().uri.unwrap(), "my%20models/a%3Cb%3E.pml");
    assert_eq!(place.region.unwrap().start_line, Some(19));
    let invocation = &run.invocations.as_ref().unwrap()[0];
    assert!(!invocation.execution_successful);
    assert_eq!(invocation.tool_execution_notifications.as_ref().unwrap().len(), 1);
}

#[test]
fn junit_is_read_by_a_parser() {
    let all: Vec<Case> = documents().iter().flat_map(cases).collect();
    let text = junit("models & programs", &all);
    let read = junit_parser::from_reader(text.as_bytes()).expect("JUnit XML");
    assert_eq!((read.tests, read.failures, read.errors), (7, 1, 4));
    let suite = &read.suites[0];
    assert_eq!(suite.name, "models & programs");
    assert_eq!(suite.cases[0].classname.as_deref(), Some("my models/a<b>.pml"));
    assert!(suite.cases[0].status.is_failure());
    assert!(suite.cases[1].status.is_error());
    assert_eq!(suite.cases[1].original_name, "[] <> \"p\"");
    assert!(suite.cases[2].status.is_success());
    assert!(suite.cases[5].status.is_success(), "{:?}", suite.cases[5]);
    let odd = Case {
        class: "a".into(),
        name: "b\u{1}]]>".into(),
        seconds: 0.0,
        outcome: CaseOutcome::Skipped("\"why\"".into()),
    };
    let read = junit_parser::from_reader(junit("s", &[odd]).as_bytes()).expect("any text");
    assert!(read.suites[0].cases[0].status.is_skipped());
}

#[test]
fn figures_are_rows() {
    let text = csv(&documents());
    let rows: Vec<&str> = text.split("\r\n").collect();
    assert_eq!(rows.len(), 7, "a head, five rows, and the end");
    assert!(rows[1].starts_with("my models/a<b>.pml,violated,,36,56,"), "{}", rows[1]);
    assert!(rows[1].ends_with(",assertion"));
    assert!(rows[3].contains("\"time, \"\"10s\"\"\""), "{}", rows[3]);
}

#[test]
fn itf_is_read_by_its_library() {
    let first = State {
        step: None,
        variables: vec![
            ("x".into(), Value::Number(0)),
            ("c".into(), Value::Messages(vec![vec![Value::Number(1), Value::Constant("ack".into())]])),
        ],
    };
    let second = State {
        step: Some(("P(0)".into(), "x = 1".into())),
        variables: vec![
            ("x".into(), Value::Number(1)),
            ("P(0).a".into(), Value::List(vec![Value::Number(-1), Value::Number(2)])),
            ("c".into(), Value::Messages(vec![])),
        ],
    };
    let about = About { source: "m.pml".into(), description: "a lasso".into(), cycle: Some(1) };
    let written = itf(&about, &[first, second]);
    let trace: itf::Trace<itf::Value> = itf::trace_from_value(written).expect("ITF");
    assert_eq!(trace.vars, ["x", "c", "P(0).a"]);
    assert_eq!(trace.states.len(), 2);
    assert_eq!(trace.loop_index, Some(1));
    assert_eq!(trace.meta.source.as_deref(), Some("m.pml"));
    let itf::Value::Record(last) = &trace.states[1].value else { panic!("a state is a record") };
    assert_eq!(last.len(), 3);
}
