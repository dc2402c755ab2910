//! Models of this repository, damaged by random edits, with every question at random places: the server answers all of them, and what
//! it renames is a model that means the same (the server shows that itself), what it formats has the same words.

use quotient_testing::{Random, models, setting};
use serde_json::{Value, json};

use crate::conversation::{answer, ask, converse, edited, goodbye, initialize, open};

const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "\n",
    "#define X(a) a\n",
    "/*",
    "*/",
    "\"",
    "'",
    "x",
    "do",
    "od",
    "::",
    "goto x;",
    "x:",
    "é",
    "𝄞",
    ".",
    "->",
    "proctype Q() {",
    "typedef T {",
    "mtype = {",
    "inline f(",
    "#include \"x\"\n",
    "\\\n",
    "[",
    "]",
    "byte ",
    ",",
    "@",
    ":",
    "{|",
    "loc ",
    "state ",
    "process ",
    "system ",
    "record ",
    "<",
    ">",
    "end",
    "",
];

const METHODS: &[&str] = &[
    "hover",
    "definition",
    "references",
    "documentHighlight",
    "prepareRename",
    "rename",
    "documentSymbol",
    "codeLens",
    "formatting",
];

fn position(random: &mut Random, lines: u64) -> Value {
    json!({ "line": random.number(lines + 2), "character": random.number(60) })
}

#[test]
fn random_edits_never_make_it_panic() {
    let texts: Vec<(String, String)> = models()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == "pml" || e == "bir" || e == "dve"))
        .filter_map(|path| {
            Some((path.extension()?.to_str()?.to_owned(), std::fs::read_to_string(&path).ok()?))
        })
        .filter(|(_, text)| text.len() < 8000)
        .collect();
    assert!(texts.len() > 20);
    for number in 0..setting("QUOTIENT_EDITS", 60) {
        let mut random = Random::new(0xED17 + number);
        let (extension, text) = random.one(&texts);
        let uri = &format!("file:///nowhere/m.{extension}");
        let lines = text.lines().count() as u64;
        let mut messages = vec![initialize(), open(uri, text)];
        let mut asked = 0;
        for version in 2..12u64 {
            let range = json!({ "start": position(&mut random, lines), "end": position(&mut random, lines) });
            // Mostly small edits, so that something is left to look at.
            let range = if random.below(4) == 0 {
                range
            } else {
                json!({ "start": range["start"], "end": range["start"] })
            };
            let piece = *random.one(PIECES);
            messages.push(json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
                "textDocument": { "uri": uri, "version": version },
                "contentChanges": [{ "range": range, "text": piece }],
            } }));
            for _ in 0..3 {
                let method = *random.one(METHODS);
                let params = json!({ "position": position(&mut random, lines), "newName": "fresh_name", "options": { "tabSize": 2 } });
                asked += 1;
                messages.push(ask(asked, &format!("textDocument/{method}"), params, uri));
            }
        }
        messages.extend(goodbye());
        let (answers, polite) = converse(&messages, Value::Null);
        assert!(polite, "edits {number}");
        for id in 1..=asked {
            answer(&answers, id);
        }
    }
}

#[test]
fn every_model_is_formatted_without_a_change_of_words() {
    for path in models() {
        let Some(extension) =
            path.extension().and_then(|e| e.to_str()).filter(|e| ["pml", "bir", "dve"].contains(e))
        else {
            continue;
        };
        let text = std::fs::read_to_string(&path).unwrap();
        let uri = &format!("file:///nowhere/m.{extension}");
        let options = json!({ "options": { "insertSpaces": false, "tabSize": 4 } });
        let [shutdown, exit] = goodbye();
        let messages =
            [initialize(), open(uri, &text), ask(1, "textDocument/formatting", options, uri), shutdown, exit];
        let (answers, _) = converse(&messages, Value::Null);
        let edits = &answer(&answers, 1)["result"];
        let done =
            if edits == &json!([]) { text.clone() } else { edits[0]["newText"].as_str().unwrap().to_owned() };
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&done), words(&text), "{}", path.display());
    }
    assert_eq!(edited("a", &json!([])), "a");
}
