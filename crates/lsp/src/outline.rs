//! The outline of a text, and what can be done at a place of it (code lenses).

use serde_json::{Value, json};

use crate::document::Document;
use crate::names::{Kind, SymbolId};

/// Everything that has a name, processes and types with what is in them.
pub(crate) fn outline(document: &Document) -> Value {
    Value::Array(children(document, None))
}

fn children(document: &Document, owner: Option<SymbolId>) -> Vec<Value> {
    let symbols = document.index.symbols.iter().enumerate();
    // A member is never declared before its owner, so this ends.
    let own = symbols.filter(|(id, s)| s.owner == owner && owner.is_none_or(|owner| owner < *id));
    own.map(|(id, symbol)| {
        let detail = match symbol.kind {
            Kind::Variable | Kind::Field | Kind::Parameter => {
                let whole = document.text.as_str().get(symbol.whole.start..symbol.range.start).unwrap_or("");
                whole.split_whitespace().next().unwrap_or("").to_owned()
            }
            kind => kind.word().to_owned(),
        };
        json!({
            "name": symbol.name,
            "detail": detail,
            "kind": symbol.kind.number(),
            "range": document.text.range(&symbol.whole),
            "selectionRange": document.text.range(&symbol.range),
            "children": children(document, Some(id)),
        })
    })
    .collect()
}

/// "check" and "explore" at the first process, "check NAME" at each claim.
pub(crate) fn lenses(document: &Document) -> Value {
    let lens = |at: &std::ops::Range<usize>, title: String, command: &str, arguments: Vec<&str>| {
        json!({
            "range": document.text.range(at),
            "command": { "title": title, "command": command, "arguments": arguments },
        })
    };
    let symbols = &document.index.symbols;
    let mut lenses = Vec::new();
    if let Some(first) = symbols.iter().find(|s| s.kind == Kind::Thread) {
        lenses.push(lens(&first.range, "check".into(), CHECK, vec![&document.uri]));
        lenses.push(lens(&first.range, "explore".into(), EXPLORE, vec![&document.uri]));
    }
    for claim in symbols.iter().filter(|s| s.kind == Kind::Claim) {
        // One without a name is called after its keyword, and cannot be asked for alone.
        if !matches!(claim.name.as_str(), "ltl" | "never" | "trace" | "notrace") {
            let title = format!("check {}", claim.name);
            lenses.push(lens(&claim.range, title, CHECK, vec![&document.uri, &claim.name]));
        }
    }
    Value::Array(lenses)
}

/// The command of a lens: check a file, or one of its claims.
pub(crate) const CHECK: &str = "quotient.check";
/// The command of a lens: look at a file in the browser.
pub(crate) const EXPLORE: &str = "quotient.explore";
