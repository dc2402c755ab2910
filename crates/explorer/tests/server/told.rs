//! What is told of a run in words: headlines of what goes wrong, what was handed over, what things are called.

use serde_json::{Value, json};

use crate::Served;

fn words(parts: &Value) -> String {
    let of = |part: &Value| {
        ["text", "code", "value"].iter().find_map(|kind| part[*kind].as_str().map(str::to_owned))
    };
    parts.as_array().unwrap().iter().filter_map(of).collect()
}

/// The first line of the run at a position, which goes wrong.
fn headline(model: &str, path: &str) -> String {
    let (_, run) = Served::start(model).ask("run", &json!({ "path": path }));
    assert_eq!(run["ending"]["kind"], "violation", "{run}");
    words(&run["ending"]["parts"])
}

/// What no assertion says is told with who, where, and the values that were read; each of these can be asked about.
#[test]
fn faults_are_told_with_values() {
    let model = "byte a[4]; active proctype P() { byte i = 3; i = i + 2; a[i] = 1 }";
    assert_eq!(
        headline(model, "q1:0*2"),
        "P(0): index 5 is outside of a, which has 4 elements, in a[i] = 1; i is 5"
    );
    let (_, run) = Served::start(model).ask("run", &json!({ "path": "q1:0*2" }));
    assert_eq!(run["ending"]["reads"][0]["full"], "P(0).i", "{run}");
    assert_eq!(run["ending"]["failed"], Value::Null);
    // The process that goes wrong is named also where it is another one than moved before.
    let model = "byte n; active proctype P() { n++ } active proctype Q() { byte m; m = 7 / (1 - n) }";
    assert_eq!(headline(model, "q1:0.1"), "Q(1): division by zero, in m = 7 / (1 - n); n is 1");
    // An assertion is told as before; who fails in its last statement stands there, and has not ended.
    let model = "byte n; active proctype P() { n = 2; assert(n == 1) }";
    assert_eq!(headline(model, "q1:0*2"), "P(0) asserts n == 1, but n is 2");
    let (_, state) = Served::start(model).ask("state", &json!({ "path": "q1:0*2" }));
    assert_eq!(state["processes"][0]["ended"], false, "{state}");
}

/// What is handed over in a rendezvous is told as it was sent, and stays in no channel.
#[test]
fn a_rendezvous_hands_over_what_was_sent() {
    let served = Served::start(
        "mtype = { a, b }; chan q = [0] of { mtype, byte }; byte n;
         active proctype S() { q!a(7); q!b(3) } active proctype R() { q?a(_); q?b(n) }",
    );
    let (_, steps) = served.ask("steps", &json!({ "path": "q1:0*2" }));
    let received = |row: &Value| -> Option<(Value, Vec<String>)> {
        let event = row["events"].as_array()?.iter().find(|e| e["kind"] == "receive")?;
        let message = event["message"].as_array()?.iter().map(|v| v["text"].as_str().unwrap().to_owned());
        Some((event["stays"].clone(), message.collect()))
    };
    let all: Vec<_> = steps["rows"].as_array().unwrap().iter().filter_map(received).collect();
    let told = |fields: [&str; 2]| (json!(false), fields.map(str::to_owned).to_vec());
    assert_eq!(all, [told(["a", "7"]), told(["b", "3"])], "{steps}");
    // A message that is only looked at stays.
    let served = Served::start("chan q = [1] of { byte }; byte n; active proctype P() { q!5; q?<n>; q?n }");
    let (_, steps) = served.ask("steps", &json!({ "path": "q1:0*3" }));
    let all: Vec<_> = steps["rows"].as_array().unwrap().iter().filter_map(received).map(|r| r.0).collect();
    assert_eq!(all, [json!(true), json!(false)], "{steps}");
}

/// A channel within a structure is called as the model writes it, and by its own process without the process.
#[test]
fn channels_are_called_as_they_are_written() {
    let served = Served::start(
        "typedef Pair { chan in = [0] of { bit }; chan out = [1] of { bit } }; typedef Two { byte x; Pair p[2] };
         Two t; active proctype P() { chan own = [1] of { bit }; bit b; if :: t.p[1].out?b :: own?b :: false fi }",
    );
    let (_, next) = served.ask("next", &json!({ "path": "q1:" }));
    let whys: Vec<&str> = next["waiting"][0]["statements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["why"].as_str().unwrap())
        .collect();
    assert_eq!(whys, ["t.p[1].out is empty", "own is empty", "this is never true"], "{next}");
}

/// Where processes end in the order of their numbers, nothing can be renamed; without the ends states have classes all the same: as many as the
/// two have pairs of places, whoever is where.
#[test]
fn classes_take_no_notice_of_ends() {
    let classes = |model: &str| {
        let (_, graph) = Served::start(model).ask("graph", &json!({ "path": "q1:" }));
        let nodes = graph["nodes"].as_array().unwrap().clone();
        let mut all: Vec<u64> = nodes.iter().map(|n| n["class"].as_u64().unwrap()).collect();
        all.sort_unstable();
        all.dedup();
        (nodes.len(), all.len(), graph["without_ends"] == true, graph)
    };
    // Nine pairs of places, of which six are different; four more states in which one or both have ended.
    let alike = "byte x; active [2] proctype P() { x = 1 - x; x = 1 - x }";
    let (states, found, without_ends, graph) = classes(alike);
    assert_eq!((states, found, without_ends), (13, 6, true), "{graph}");
    // An end leads from a state to one of its own class, every other step to another.
    let nodes = graph["nodes"].as_array().unwrap();
    let class = |edge: &Value, of: &str| nodes[edge[of].as_u64().unwrap() as usize]["class"].clone();
    for edge in graph["edges"].as_array().unwrap() {
        assert_eq!(class(edge, "from") == class(edge, "to"), edge["ends"] == true, "{edge}");
    }
    // Where processes never end, or the number of processes is looked at, classes are those of the states as they are.
    let endless = "byte x; active [2] proctype P() { do :: x = 1 - x od }";
    let counting = "byte x; active [2] proctype P() { x = _nr_pr; x = 1 - x }";
    for model in [endless, counting] {
        assert!(!classes(model).2, "{model}");
    }
}
