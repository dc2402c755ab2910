//! The figures of answers as comma-separated values (RFC 4180): one row for each document.

use serde_json::Value;

/// The columns: fields of the document.
const COLUMNS: [&str; 14] = [
    "file",
    "verdict",
    "message",
    "states",
    "transitions",
    "depth",
    "unexplored",
    "executions",
    "cpu_seconds",
    "wall_seconds",
    "search_seconds",
    "store_bytes",
    "search_bytes",
    "peak_rss_bytes",
];

/// A table of some documents; what a document does not have is empty.
pub fn csv(documents: &[Value]) -> String {
    let mut out = COLUMNS.join(",") + ",violations\r\n";
    for document in documents {
        for column in COLUMNS {
            out.push_str(&match &document[column] {
                Value::Null => String::new(),
                Value::String(text) => field(text),
                other => other.to_string(),
            });
            out.push(',');
        }
        let kinds =
            document["violations"].as_array().into_iter().flatten().filter_map(|v| v["kind"].as_str());
        out.push_str(&field(&kinds.collect::<Vec<_>>().join(" ")));
        out.push_str("\r\n");
    }
    out
}

fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
