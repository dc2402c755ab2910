//! Declarations and scopes of DVE: globals, and what is declared in a process.

use super::build::{Builder, Space};
use super::{Kind, Meaning, SymbolId};

/// Words that mean something by themselves.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "accept", "and", "assert", "async", "byte", "channel", "commit", "const", "effect", "false", "guard", "imply", "init", "int", "not",
    "or", "process", "property", "state", "sync", "system", "trans", "true",
];

pub(super) fn scan(b: &mut Builder<'_>) {
    let mut process: Option<SymbolId> = None;
    let mut depth = 0usize;
    let mut token = 0;
    while token < b.tokens.len() {
        b.visit(token);
        match b.at(token) {
            "process" if depth == 0 && is_name(b, token + 1) => {
                if process.take().is_some() {
                    b.close();
                }
                let symbol = b.declare(token + 1, Kind::Thread, 0, 0);
                b.begins_at(symbol, token);
                b.open(Some(symbol));
                process = Some(symbol);
                token += 1;
                b.visit(token);
            }
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0
                    && let Some(symbol) = process.take()
                {
                    b.close();
                    b.extends_to(symbol, token);
                }
            }
            "byte" | "int" | "channel" => {
                token = list(b, token, Kind::Variable);
                continue;
            }
            "state" => {
                token = list(b, token, Kind::Label);
                continue;
            }
            "init" | "accept" | "commit" => {
                let mut at = token + 1;
                while is_name(b, at) {
                    b.labels.insert(at);
                    at += if b.at(at + 1) == "," { 2 } else { 1 };
                }
            }
            "->" => _ = b.labels.insert(token + 1),
            _ if is_name(b, token) && matches!(b.after(token), "->" | ":") => _ = b.labels.insert(token),
            _ => {}
        }
        token += 1;
    }
}

fn is_name(b: &Builder<'_>, token: usize) -> bool {
    b.is_word(token) && !KEYWORDS.contains(&b.at(token))
}

/// `byte a, b[2] = {1, 2};`: the names of a list, up to its end; gives the token after it.
fn list(b: &mut Builder<'_>, head: usize, kind: Kind) -> usize {
    let scope = b.scope();
    let mut token = head + 1;
    // The types of a channel's messages.
    if b.at(head) == "channel" && b.at(token) == "{" {
        while token < b.tokens.len() && b.at(token) != "}" {
            b.visit(token);
            token += 1;
        }
        token += 1;
    }
    let constant = b.before(head) == "const";
    let mut expects_name = true;
    let mut depth = 0usize;
    while token < b.tokens.len() {
        b.visit(token);
        match b.at(token) {
            ";" => break,
            "[" | "(" | "{" => depth += 1,
            "]" | ")" | "}" if depth == 0 => break,
            "]" | ")" | "}" => depth -= 1,
            "," if depth == 0 => expects_name = true,
            _ if expects_name && depth == 0 && is_name(b, token) => {
                let kind = if constant && kind == Kind::Variable { Kind::Constant } else { kind };
                let symbol = b.declare(token, kind, scope, 0);
                let whole = b.range(head).start..b.range(token).end;
                b.typed(symbol, None, whole);
                expects_name = false;
            }
            _ => {}
        }
        token += 1;
    }
    token
}

/// What a word means that declares nothing.
pub(super) fn meaning(b: &Builder<'_>, token: usize) -> Option<Meaning> {
    let name = b.at(token);
    if KEYWORDS.contains(&name) {
        return None;
    }
    let process = |token: usize| {
        let word = b.base(token)?;
        let meaning = b.lookup(b.at(word), word, Space::Names)?;
        (b.symbol(meaning)?.kind == Kind::Thread).then_some(meaning.symbol)
    };
    if matches!(b.before(token), "." | "->")
        && let Some(process) = b.previous(token).and_then(process)
    {
        return b.inside(process, name, true).or_else(|| b.inside(process, name, false));
    }
    if b.labels.contains(&token)
        && let Some(label) = b.lookup(name, token, Space::Labels)
    {
        return Some(label);
    }
    b.lookup(name, token, Space::Names)
}
