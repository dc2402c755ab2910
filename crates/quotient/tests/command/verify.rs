//! `quotient verify` and `quotient prove` as a user meets them: forged and incomplete certificates, limits, signals.

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::command_line::{File, model, quotient};

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn example(name: &str) -> String {
    model(&format!("relative/{name}"))
}

/// The certificate that `prove` writes for a program.
fn certificate(program: &str, name: &str) -> Value {
    let out = File::new(name, "");
    quotient(&["prove", "--certificate", out.path(), program]);
    serde_json::from_str(&std::fs::read_to_string(out.path()).expect("written")).expect("a certificate")
}

fn verify(certificate: &Value, name: &str, program: Option<&str>) -> (Option<i32>, String) {
    let file = File::new(name, &certificate.to_string());
    let mut arguments = vec!["verify", file.path()];
    arguments.extend(program.into_iter().flat_map(|p| ["--program", p]));
    let output = quotient(&arguments);
    (output.status.code(), stdout(&output))
}

const COUNTER: &str = "p(0).\np(1) :- p(0).\nassert far: p(X) |= p(X + 5).\n";

/// A false claim, proved by an obligation that is empty in one place and says nothing in another.
fn forged(mut certificate: Value, left: Value) -> Value {
    let entry = json!({"origin": 0, "depth": 0, "frame": 1, "left": [left], "right": [], "direct": null,
                       "closings": [[], []]});
    certificate["program"]["assertions"][0]["right"] = json!({"state": {"and": []}});
    certificate["proofs"] = json!([{"relative": {
        "group": [0], "invariants": [], "length_bounded": true, "one_level": false, "split": false,
        "entries": [entry], "dead": {"sets": [], "covers": []}}}]);
    certificate
}

#[test]
fn a_node_less_itself_proves_nothing() {
    let program = File::new("counter.clp", COUNTER);
    let honest = certificate(program.path(), "counter.json");
    // The claim as it stands, with a right side that any promise implies.
    let mut false_claim = forged(honest, json!({"terms": [[1, 1], [1, -1]], "bound": -1}));
    let right = json!({"state": {"and": [{"le": {"terms": [[2, 1]], "bound": 9}}, {"le": {"terms": [[2, -1]], "bound": -9}}]}});
    false_claim["program"]["assertions"][0]["right"] = right;
    false_claim["proofs"][0]["relative"]["entries"][0]["right"] =
        json!([{"terms": [[1, 1]], "bound": 9}, {"terms": [[1, -1]], "bound": -9}]);
    let (status, text) = verify(&false_claim, "forged.json", None);
    assert_eq!(status, Some(10), "{text}");
    assert!(text.contains("refused: proof 0: an inequality repeats a node"), "{text}");
}

#[test]
fn numbers_in_a_certificate_decide_about_no_memory() {
    let program = File::new("counter2.clp", COUNTER);
    let honest = certificate(program.path(), "counter2.json");
    let small = json!({"terms": [[1, 1]], "bound": 0});
    for (what, value) in
        [("frame", json!(1_000_000_000_u64)), ("depth", json!(u64::MAX)), ("origin", json!(7))]
    {
        let mut large = forged(honest.clone(), small.clone());
        large["proofs"][0]["relative"]["entries"][0][what] = value;
        let begun = Instant::now();
        let (status, text) = verify(&large, &format!("large-{what}.json"), None);
        assert_eq!(status, Some(10), "{what}: {text}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{what}");
    }
    let mut large = honest.clone();
    large["program"]["rules"][0]["nodes"] = json!(1_u64 << 40);
    assert_eq!(verify(&large, "large-nodes.json", None).0, Some(10));
    let mut large = honest;
    large["program"]["rules"][0]["guard"] = json!({"le": {"terms": [[1, i64::MIN]], "bound": i64::MIN}});
    assert_eq!(verify(&large, "large-numbers.json", None).0, Some(10));
}

#[test]
fn what_is_not_proved_is_not_verified() {
    let program = example("bakery-2.clp");
    let whole = certificate(&program, "whole.json");
    let (status, text) = verify(&whole, "whole2.json", Some(&program));
    assert_eq!(
        (status, text.as_str()),
        (Some(0), "swap: verified, one level in both directions\nnonneg: verified\nmutex: verified\n")
    );
    let (status, text) = verify(&whole, "untied.json", None);
    assert_eq!(status, Some(0));
    assert!(text.contains("note: nothing ties this certificate to a program"), "{text}");
    let mut fewer = whole.clone();
    fewer["proofs"].as_array_mut().expect("a list").pop();
    let (status, text) = verify(&fewer, "fewer.json", Some(&program));
    assert_eq!(status, Some(5), "{text}");
    assert!(text.contains("mutex: not proved by the certificate"), "{text}");
    // Leaving the assertion out as well does not help.
    fewer["program"]["assertions"].as_array_mut().expect("a list").pop();
    assert_ne!(verify(&fewer, "left-out.json", Some(&program)).0, Some(0));
    let mut none = whole;
    none["proofs"] = json!([]);
    let (status, text) = verify(&none, "none.json", None);
    assert_eq!(status, Some(5));
    assert!(text.contains("the certificate proves nothing"), "{text}");
}

#[test]
fn an_audit_looks_at_proved_symmetries() {
    let model = example("peterson.pml");
    let out = File::new("audited.json", "");
    quotient(&["prove", "--certificate", out.path(), &model]);
    let output = quotient(&["check", "--relative", out.path(), "--audit", "200", "--json", &model]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(report["reductions"]["audited_states"], 200, "{report:#}");
}

/// A program whose claim takes very long.
fn long(name: &str) -> File {
    let output = quotient(&["prove", "--generate", "bakery", "--n", "6"]);
    File::new(name, &stdout(&output))
}

#[test]
fn limits_end_a_proof_with_what_is_known() {
    let program = long("limited.clp");
    for (limit, value, reason) in
        [("--max-time", "5s", "out of time"), ("--max-memory", "60M", "memory limit")]
    {
        let begun = Instant::now();
        let output = quotient(&[
            "prove",
            "--without-assertions",
            "--without-invariants",
            limit,
            value,
            program.path(),
        ]);
        assert!(begun.elapsed() < Duration::from_secs(60), "{limit}");
        assert_eq!(output.status.code(), Some(5), "{limit}");
        let text = stdout(&output);
        assert!(text.contains("swap.1: proved") && text.contains("nonneg: proved"), "{text}");
        assert!(text.contains(&format!("mutex: unknown  ({reason}")), "{text}");
    }
}

#[test]
fn a_signal_ends_a_proof_after_what_was_decided() {
    let program = long("interrupted.clp");
    let mut child = Command::new(env!("CARGO_BIN_EXE_quotient"))
        .args(["prove", "--json", "--without-assertions", "--without-invariants", program.path()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut text = String::new();
    // Each report is there as soon as it is decided, not when everything is.
    while !text.contains("nonneg") {
        text.push_str(&lines.next().expect("not at the end").expect("text"));
        text.push('\n');
    }
    std::thread::sleep(Duration::from_millis(300));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill").success());
    let begun = Instant::now();
    for line in lines {
        text.push_str(&line.expect("text"));
        text.push('\n');
    }
    assert_eq!(child.wait().expect("ended").code(), Some(5));
    assert!(begun.elapsed() < Duration::from_secs(3), "took {:?}", begun.elapsed());
    let report: Value = serde_json::from_str(&text).expect("an object");
    let last = report["answers"].as_array().and_then(|l| l.last()).expect("reports");
    assert_eq!((&last["assertion"], &last["verdict"]), (&json!("mutex"), &json!("unknown")));
    assert_eq!(last["reason"], "interrupted (SIGTERM)");
}

/// What is proved of a model is about integers without bounds, and says so: a byte wraps around.
#[test]
fn a_proof_about_a_model_names_its_assumption() {
    let file = File::new("wraps.pml", "byte x;\nactive proctype P() { do :: x++; assert(x > 0) od }\n");
    let proof = quotient(&["prove", file.path()]);
    assert_eq!(proof.status.code(), Some(0));
    let text = String::from_utf8_lossy(&proof.stdout).into_owned();
    assert!(text.contains("under unbounded integers: no variable of the model wraps around"), "{text}");
    let object: serde_json::Value =
        serde_json::from_slice(&quotient(&["prove", file.path(), "--json"]).stdout).expect("an object");
    assert_eq!(object["assumptions"].as_array().map(Vec::len), Some(1));
    assert_eq!(quotient(&["check", file.path()]).status.code(), Some(12));
}
