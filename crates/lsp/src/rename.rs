//! Renaming, with a proof that the model stays the same.
//!
//! Every place that means the same is changed, and the text after that is read. Its program and its claims must be those of the text
//! before, name for name: with the new name put back, and without positions, both are written the same. As the new name did not occur in
//! the text before, putting it back is the inverse of what was done, and a name that was captured, missed or changed in excess shows.
//! Otherwise nothing is renamed, and the answer says why.

use std::ops::Range;

use crate::document::{self, Document};
use crate::names::Kind;
use crate::rpc::Wrong;

/// The word at a byte, if it can be renamed.
pub(crate) fn prepare(document: &Document, at: usize) -> Result<Range<usize>, Wrong> {
    let Some((range, meaning)) = document.index.at(at) else {
        return Err(Wrong::failed("there is no name here that is declared in the model"));
    };
    let symbol = document.index.symbol(meaning);
    if meaning.file.is_some() {
        return Err(Wrong::failed(format!("`{}` is declared in another file: rename it there", symbol.name)));
    }
    // `init` and claims without a name stand for themselves.
    if symbol.kind == Kind::Thread && symbol.name == "init"
        || matches!(symbol.name.as_str(), "ltl" | "never" | "trace" | "notrace")
    {
        return Err(Wrong::failed(format!("`{}` has no name of its own", symbol.name)));
    }
    Ok(range)
}

/// The places to be changed.
pub(crate) fn rename(document: &Document, at: usize, new: &str) -> Result<Vec<Range<usize>>, Wrong> {
    prepare(document, at)?;
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !new.chars().all(is_letter) || new.is_empty() || new.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(Wrong::parameters(format!("`{new}` is not a name")));
    }
    let text = document.text.as_str();
    if words(text).any(|word| word == new) {
        return Err(Wrong::failed(format!("`{new}` occurs in the file already")));
    }
    let Some((_, meaning)) = document.index.at(at) else { return Ok(Vec::new()) };
    let old = &document.index.symbol(meaning).name;
    let places: Vec<Range<usize>> = document.index.places(meaning).collect();
    let Ok(before) = &document.read.loaded else {
        return Err(Wrong::failed(
            "the model has errors: mend them first, so that a new name can be shown to change nothing",
        ));
    };
    let mut changed = text.to_owned();
    for place in places.iter().rev() {
        changed.replace_range(place.clone(), new);
    }
    let read = document::read(document.language, &document.name(), &changed);
    let after = match &read.loaded {
        Ok(after) => after,
        Err(wrong) => {
            let first = wrong.iter().next().map_or_else(String::new, |d| format!(": {}", d.message));
            return Err(Wrong::failed(format!("after the change the model would have an error{first}")));
        }
    };
    let written = |loaded: &quotient_front_end::Loaded| {
        without_spans(&format!("{:?} {:?}", loaded.program, loaded.claims))
    };
    if with_word(&written(after), new, old) != written(before) {
        return Err(Wrong::failed(format!(
            "`{old}` means several things here: with a new name the model would be another one"
        )));
    }
    Ok(places)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

/// A text with one word for another.
fn with_word(text: &str, word: &str, instead: &str) -> String {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_letter) {
        let (before, from) = rest.split_at(start);
        let (found, after) = from.split_at(from.find(|c| !is_letter(c)).unwrap_or(from.len()));
        out.push_str(before);
        out.push_str(if found == word { instead } else { found });
        rest = after;
    }
    out + rest
}

/// What `Debug` writes, without positions.
fn without_spans(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("Span { ") {
        // A span has one pair of braces and one of parentheses, and no text in it.
        let end = rest[start..].find('}').map_or(rest.len(), |end| start + end + 1);
        out.push_str(&rest[..start]);
        rest = &rest[end..];
    }
    out + rest
}
