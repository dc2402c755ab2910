//! What the front end says, as editors show it.

use std::ops::Range;
use std::path::Path;

use quotient_source::{Diagnostic, Severity, Span};
use serde_json::{Value, json};

use crate::document::{Document, Read};
use crate::text::Text;
use crate::uri;

/// So many are sent: nobody reads more of them at once.
const MOST: usize = 200;

/// The messages about a text, and what its last check found.
pub(crate) fn published(document: &Document) -> Value {
    let said = match &document.read.loaded {
        Ok(loaded) => &loaded.warnings,
        Err(wrong) => wrong,
    };
    let own = said.iter().take(MOST).map(|d| diagnostic(document, d));
    let all: Vec<Value> = own.chain(document.found.iter().cloned()).collect();
    json!({ "uri": document.uri, "version": document.version, "diagnostics": all })
}

fn diagnostic(document: &Document, said: &Diagnostic) -> Value {
    let read = &document.read;
    let span = said.span.map(|span| read.sources.written(span));
    let mut message = said.message.clone();
    if !said.label.is_empty() {
        message.push_str(&format!(": {}", said.label));
    }
    if let Some(help) = &said.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    let related = said.related.iter().map(|(span, label)| (read.sources.written(*span), label.as_str()));
    // What is wrong in an included file is told at the beginning, with the place.
    let elsewhere = span.filter(|span| span.file != read.file).map(|span| (span, "here"));
    let related: Vec<Value> = related
        .chain(elsewhere)
        .map(|(span, label)| json!({ "location": location(document, span), "message": label }))
        .collect();
    let range = span.filter(|span| span.file == read.file).map_or(0..0, bytes);
    json!({
        "range": document.text.range(&seen(&document.text, range)),
        "severity": match said.severity { Severity::Error => 1, Severity::Warning => 2 },
        "source": "quotient",
        "message": message,
        "relatedInformation": related,
    })
}

fn bytes(span: Span) -> Range<usize> {
    span.start as usize..(span.end as usize).max(span.start as usize)
}

/// A range that can be seen: an empty one is a character long.
fn seen(text: &Text, range: Range<usize>) -> Range<usize> {
    let next = text.as_str().get(range.start..).and_then(|rest| rest.chars().next());
    match next {
        Some(c) if range.is_empty() && c != '\n' => range.start..range.start + c.len_utf8(),
        _ => range,
    }
}

/// Where a span lies.
fn location(document: &Document, span: Span) -> Value {
    let Read { sources, file, .. } = &document.read;
    if span.file == *file {
        return json!({ "uri": document.uri, "range": document.text.range(&bytes(span)) });
    }
    let text = Text::new(sources.text(span.file).to_owned());
    json!({ "uri": uri::from_path(Path::new(sources.name(span.file))), "range": text.range(&bytes(span)) })
}
