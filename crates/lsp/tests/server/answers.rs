//! Diagnostics, hover, outline, lenses, formatting and counterexamples.

use quotient_testing::Folder;
use serde_json::{Value, json};

use crate::conversation::{about, answer, ask, converse, edited, goodbye, initialize, open};

const COUNTER: &str = "byte n;\nchan c = [1] of { byte };\nactive [2] proctype user() {\n\tn++;\n\tc!n\n}\nactive proctype other() {\n\tc?n\n}\n";

fn published(messages: &[Value]) -> Vec<&Value> {
    messages
        .iter()
        .filter(|m| m["method"] == "textDocument/publishDiagnostics")
        .map(|m| &m["params"])
        .collect()
}

#[test]
fn what_is_wrong_is_told_and_goes_when_it_is_mended() {
    let uri = "file:///nowhere/m.pml";
    let change = |version: u64, line: u64, from: u64, to: u64, text: &str| {
        json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
            "textDocument": { "uri": uri, "version": version },
            "contentChanges": [{ "range": { "start": { "line": line, "character": from }, "end": { "line": line, "character": to } }, "text": text }],
        } })
    };
    let wrong = "byte x;\nactive proctype P() { y = 1 }\n";
    let (messages, polite) = converse(&[initialize(), open(uri, wrong)], Value::Null);
    // The editor has gone without a word.
    assert!(!polite);
    let said = published(&messages);
    let first = &said[0]["diagnostics"][0];
    assert_eq!(first["range"]["start"], json!({ "line": 1, "character": 22 }));
    assert_eq!(first["severity"], 1);
    assert!(first["message"].as_str().unwrap().contains("`y` is not declared"), "{first}");
    let (messages, _) = converse(&[initialize(), open(uri, wrong), change(2, 1, 22, 23, "x")], Value::Null);
    let said = published(&messages);
    assert_eq!(said.last().unwrap()["version"], 2);
    assert_eq!(said.last().unwrap()["diagnostics"], json!([]));
}

#[test]
fn a_variable_says_who_reads_and_writes_it() {
    let hover = |marked: &str| {
        let answer = about("file:///nowhere/m.pml", marked, "textDocument/hover", json!({}));
        answer["result"]["contents"]["value"].as_str().unwrap_or("").to_owned()
    };
    let n = hover(&COUNTER.replacen("n++", "|n++", 1));
    assert!(n.contains("byte n"), "{n}");
    assert!(n.contains("written by `other` (line 8), `user` (line 4)"), "{n}");
    assert!(n.contains("read by `user` (lines 4, 5)"), "{n}");
    let c = hover(&COUNTER.replacen("c!n", "c|!n", 1));
    assert!(
        c.contains("sent to by `user` (line 5)") && c.contains("received from by `other` (line 8)"),
        "{c}"
    );
    let broken = hover(&COUNTER.replacen("n++", "|n++ +", 1));
    assert!(broken.contains("the model has errors"), "{broken}");
}

#[test]
fn outline_lenses_and_formatting() {
    let uri = "file:///nowhere/m.pml";
    let text = "typedef T { byte f };\nltl p { [] (x == 0) }\nbyte x;\nactive proctype P() {\nx = 0;\nend: skip\n}\n";
    let [shutdown, exit] = goodbye();
    let options = json!({ "options": { "insertSpaces": true, "tabSize": 2 } });
    let (messages, _) = converse(
        &[
            initialize(),
            open(uri, text),
            ask(1, "textDocument/documentSymbol", json!({}), uri),
            ask(2, "textDocument/codeLens", json!({}), uri),
            ask(3, "textDocument/formatting", options, uri),
            shutdown,
            exit,
        ],
        Value::Null,
    );
    let names: Vec<String> = answer(&messages, 1)["result"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| {
            let children: Vec<&str> =
                s["children"].as_array().unwrap().iter().filter_map(|c| c["name"].as_str()).collect();
            format!("{} [{}]", s["name"].as_str().unwrap(), children.join(" "))
        })
        .collect();
    assert_eq!(names, ["T [f]", "p []", "x []", "P [end]"]);
    let titles: Vec<&str> = answer(&messages, 2)["result"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|l| l["command"]["title"].as_str())
        .collect();
    assert_eq!(titles, ["check", "explore", "check p"]);
    let done = edited(text, &answer(&messages, 3)["result"]);
    assert_eq!(done, text.replace("\nx = 0", "\n  x = 0").replace("\nend", "\n  end"));
}

#[test]
fn a_counterexample_is_a_list_of_places() {
    let folder = Folder::new();
    let file = folder.path().join("m.pml");
    let text = "byte x;\nactive proctype P() {\n\tx = 1;\n\tassert(x == 0)\n}\n";
    std::fs::write(&file, text).unwrap();
    let uri = format!("file://{}", file.display());
    let step = |number: u64, line: u64, statement: &str| {
        json!({ "step": number, "process": "P(0)", "file": file, "line": line, "statement": statement,
                "changes": [{ "name": "x", "before": "0", "after": "1" }] })
    };
    let found = json!({
        "verdict": "violated",
        "states": 3,
        "reductions": { "symmetry_found": ["2 P: all permutations"] },
        "violations": [{ "kind": "assertion", "message": "assertion violated", "at": format!("{}:4", file.display()),
            "trace": { "cycle": null, "steps": [step(1, 3, "x = 1"), step(2, 4, "assert(x == 0)")] } }],
    });
    // The check ends some time after it was asked for; the editor waits for it.
    let check = json!({ "jsonrpc": "2.0", "id": 1, "method": "workspace/executeCommand",
        "params": { "command": "quotient.check", "arguments": [uri] } });
    let sent: Vec<u8> =
        [initialize(), open(&uri, text), check].iter().flat_map(crate::conversation::framed).collect();
    let (reader, mut writer) = std::io::pipe().unwrap();
    std::io::Write::write_all(&mut writer, &sent).unwrap();
    let waits = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_secs(1));
        drop(writer);
    });
    let mut received = Vec::new();
    let host = std::sync::Arc::new(crate::conversation::Told(found));
    quotient_lsp::serve(std::io::BufReader::new(reader), &mut received, host);
    waits.join().unwrap();
    let messages = crate::conversation::messages_of(&received);
    let said = published(&messages);
    let found = &said.last().unwrap()["diagnostics"][0];
    assert_eq!(found["message"], "assertion violated, after 2 steps");
    assert_eq!(
        found["range"],
        json!({ "start": { "line": 3, "character": 1 }, "end": { "line": 3, "character": 15 } })
    );
    let related = found["relatedInformation"].as_array().unwrap();
    assert_eq!(related.len(), 2);
    assert_eq!(related[0]["message"], "1 P(0): x = 1   x: 0 -> 1");
    assert_eq!(related[0]["location"]["range"]["start"]["line"], 2);
    assert!(messages.iter().any(|m| m["method"] == "window/showMessage"));
}

#[test]
fn what_is_not_saved_is_not_checked() {
    let uri = "file:///nowhere/m.pml";
    let check = json!({ "jsonrpc": "2.0", "id": 1, "method": "workspace/executeCommand",
        "params": { "command": "quotient.check", "arguments": [uri] } });
    let (messages, _) = converse(&[initialize(), open(uri, COUNTER), check], Value::Null);
    let error = answer(&messages, 1)["error"]["message"].as_str().unwrap();
    assert!(error.contains("save the file first"), "{error}");
}

#[test]
fn requests_that_make_no_sense_have_an_answer() {
    let uri = "file:///nowhere/m.pml";
    let [shutdown, exit] = goodbye();
    let before = ask(1, "textDocument/hover", json!({}), uri);
    let (messages, polite) = converse(
        &[
            before,
            initialize(),
            ask(2, "textDocument/hover", json!({ "position": { "line": 0, "character": 0 } }), uri),
            json!({ "jsonrpc": "2.0", "id": 3, "method": "no/such" }),
            json!([1, 2]),
            json!({ "id": 4 }),
            shutdown,
            exit,
        ],
        Value::Null,
    );
    assert!(polite);
    assert_eq!(answer(&messages, 1)["error"]["code"], -32002);
    assert_eq!(answer(&messages, 2)["error"]["code"], -32602);
    assert_eq!(answer(&messages, 3)["error"]["code"], -32601);
}
