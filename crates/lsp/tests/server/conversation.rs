//! An editor without a window.

use std::io::{BufReader, Write};
use std::path::Path;
use std::sync::Arc;

use quotient_lsp::Host;
use serde_json::{Value, json};

/// A host that answers with what it was given.
pub(crate) struct Told(pub(crate) Value);

impl Host for Told {
    fn check(&self, _: &Path, _: Option<&str>) -> Result<Value, String> {
        Ok(self.0.clone())
    }

    fn explore(&self, _: &Path) -> Result<String, String> {
        Ok("http://127.0.0.1:1/".to_owned())
    }

    fn end(&self) {}
}

/// What a message looks like on its way.
pub(crate) fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let mut sent = Vec::new();
    write!(sent, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    sent
}

/// Sends all messages at once; gives what the server answers, and whether it left politely.
pub(crate) fn converse(messages: &[Value], host: Value) -> (Vec<Value>, bool) {
    let sent: Vec<u8> = messages.iter().flat_map(framed).collect();
    let mut received = Vec::new();
    let input = BufReader::new(std::io::Cursor::new(sent));
    let polite = quotient_lsp::serve(input, &mut received, Arc::new(Told(host)));
    (messages_of(&received), polite)
}

/// The messages in what was received.
pub(crate) fn messages_of(mut received: &[u8]) -> Vec<Value> {
    let mut all = Vec::new();
    while let Some(end) = received.windows(4).position(|w| w == b"\r\n\r\n") {
        let header = std::str::from_utf8(&received[..end]).unwrap();
        let length: usize = header.strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        let (body, rest) = received[end + 4..].split_at(length);
        all.push(serde_json::from_slice(body).unwrap());
        received = rest;
    }
    assert!(received.is_empty());
    all
}

pub(crate) fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "capabilities": {} } })
}

pub(crate) fn open(uri: &str, text: &str) -> Value {
    let document = json!({ "uri": uri, "languageId": "", "version": 1, "text": text });
    json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": document } })
}

pub(crate) fn ask(id: u64, method: &str, mut params: Value, uri: &str) -> Value {
    params["textDocument"] = json!({ "uri": uri });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub(crate) fn goodbye() -> [Value; 2] {
    [
        json!({ "jsonrpc": "2.0", "id": 9999, "method": "shutdown" }),
        json!({ "jsonrpc": "2.0", "method": "exit" }),
    ]
}

/// The answer to the request with this number.
pub(crate) fn answer(messages: &[Value], id: u64) -> &Value {
    messages.iter().find(|m| m["id"] == id).unwrap_or_else(|| panic!("no answer to {id}: {messages:#?}"))
}

/// Opens a text and asks one question about the place that `|` marks in it.
pub(crate) fn about(uri: &str, marked: &str, method: &str, mut params: Value) -> Value {
    let at = marked.find('|').expect("a mark");
    let text = marked.replacen('|', "", 1);
    let (line, start) = text[..at]
        .rmatch_indices('\n')
        .next()
        .map_or((0, 0), |(nl, _)| (text[..at].matches('\n').count(), nl + 1));
    let character: usize = text[start..at].chars().map(char::len_utf16).sum();
    params["position"] = json!({ "line": line, "character": character });
    let [shutdown, exit] = goodbye();
    let (messages, polite) =
        converse(&[initialize(), open(uri, &text), ask(1, method, params, uri), shutdown, exit], Value::Null);
    assert!(polite);
    answer(&messages, 1).clone()
}

/// A text with edits made.
pub(crate) fn edited(text: &str, edits: &Value) -> String {
    let mut edits: Vec<&Value> = edits.as_array().expect("edits").iter().collect();
    edits.sort_by_key(|e| (e["range"]["start"]["line"].as_u64(), e["range"]["start"]["character"].as_u64()));
    let mut out = text.to_owned();
    for edit in edits.into_iter().rev() {
        let at = |position: &Value| {
            let line = position["line"].as_u64().unwrap() as usize;
            let start = text.match_indices('\n').nth(line.wrapping_sub(1)).map_or(0, |(at, _)| at + 1);
            start + position["character"].as_u64().unwrap() as usize
        };
        let (start, end) = (at(&edit["range"]["start"]), at(&edit["range"]["end"]));
        out.replace_range(start..end, edit["newText"].as_str().unwrap());
    }
    out
}
