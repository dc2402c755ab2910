//! Declarations and scopes of BIR. A variable is a name after a type and before `;`, `:=`, `,` or `)`.

use super::build::{Builder, Space};
use super::{Kind, Meaning, SymbolId};

const TYPES: &[&str] = &["boolean", "int", "long", "float", "double", "string", "tid", "unit"];

/// Words that mean something by themselves.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "actiondef", "active", "assert", "assume", "at", "atomic", "boolean", "catch", "choose", "const", "do", "double", "else", "elseif",
    "end", "enum", "exit", "expdef", "extends", "extension", "false", "float", "for", "fun", "function", "goto", "hasLock", "if", "in",
    "instanceof", "int", "invisible", "invoke", "kindof", "lazy", "let", "live", "loc", "lock", "lockAvailable", "long", "main", "new",
    "notify", "notifyAll", "null", "on", "ptypedef", "record", "reflect", "return", "returns", "shl", "shr", "skip", "start", "string",
    "system", "thread", "threadTerminated", "throw", "throwable", "tid", "top", "transient", "true", "try", "typealias", "typedef",
    "unit", "unlock", "unwait", "ushr", "virtual", "visible", "wait", "wasNotified", "when", "while", "wrap",
];

pub(super) fn scan(b: &mut Builder<'_>) {
    let mut braces: Vec<Option<SymbolId>> = Vec::new();
    let mut pending: Option<SymbolId> = None;
    // Elements of an enumeration or block of constants are being read: their names stand before `=`, `,` and `}`.
    let mut elements = false;
    let mut token = 0;
    while token < b.tokens.len() {
        b.visit(token);
        match b.at(token) {
            "{" => {
                let symbol = pending.take();
                if symbol.is_none() {
                    b.open(None);
                }
                braces.push(symbol);
            }
            "}" => {
                elements = false;
                if let Some(symbol) = braces.pop() {
                    b.close();
                    if let Some(symbol) = symbol {
                        b.extends_to(symbol, token);
                    }
                }
            }
            // What follows a pure function's `=` is not in braces.
            ";" if braces.len() <= 1 && pending.is_some() => {
                if let Some(symbol) = pending.take() {
                    b.close();
                    b.extends_to(symbol, token);
                }
            }
            word @ ("system" | "const" | "enum" | "record" | "extension" | "thread" | "function" | "fun"
            | "virtual")
                if is_name(b, token + 1) && !matches!(b.before(token), "invoke") =>
            {
                if pending.take().is_some() {
                    b.close();
                }
                let kind = match word {
                    "thread" => Kind::Thread,
                    "function" | "fun" | "virtual" => Kind::Function,
                    _ => Kind::Type,
                };
                let scope = b.scope();
                let symbol = b.declare(token + 1, kind, scope, 0);
                b.begins_at(symbol, token);
                match kind {
                    // The members of a system belong to nobody.
                    Kind::Type if word == "system" => _ = b.open(None),
                    Kind::Type => b.open_members(symbol),
                    _ => _ = b.open(Some(symbol)),
                }
                elements = matches!(word, "const" | "enum");
                pending = Some(symbol);
                token += 1;
                b.visit(token);
            }
            "typealias" if is_name(b, token + 1) => {
                let scope = b.scope();
                b.declare(token + 1, Kind::Type, scope, 0);
                b.visit(token + 1);
                token += 2;
                while token < b.tokens.len() && b.at(token) != ";" {
                    b.visit(token);
                    token += 1;
                }
                continue;
            }
            "loc" if is_name(b, token + 1) => {
                let scope = b.owner_scope();
                b.declare_again(token + 1, Kind::Label, scope);
            }
            "goto" => _ = b.labels.insert(token + 1),
            "at" => {
                let mut at = token + 1;
                while is_name(b, at) {
                    b.labels.insert(at);
                    at += if b.at(at + 1) == "," { 2 } else { 1 };
                }
            }
            _ if elements
                && pending.is_none()
                && is_name(b, token)
                && matches!(b.before(token), "{" | "," | ";") =>
            {
                let scope = b.scope();
                b.declare(token, Kind::Constant, scope, 0);
            }
            _ if is_variable(b, token) => variable(b, token, pending.is_some()),
            _ => {}
        }
        token += 1;
    }
}

fn is_name(b: &Builder<'_>, token: usize) -> bool {
    b.is_word(token) && !KEYWORDS.contains(&b.at(token))
}

/// A name after a type.
fn is_variable(b: &Builder<'_>, token: usize) -> bool {
    is_name(b, token)
        && matches!(b.after(token), ";" | ":=" | "," | ")")
        && type_before(b, token).is_some_and(|first| {
            matches!(
                b.before(first),
                ";" | "{" | "}" | "(" | "," | "transient" | "visible" | "invisible" | "end" | "lazy" | ">"
            )
        })
}

/// The first token of the type that ends before `token`.
fn type_before(b: &Builder<'_>, token: usize) -> Option<usize> {
    let mut at = b.previous(token)?;
    // Arrays: `T[]`, `T[][]`.
    while b.at(at) == "]" && b.before(at) == "[" {
        at = b.previous(b.previous(at)?)?;
    }
    if b.at(at) == ")" {
        // Ranges: `int (0, 3)`.
        let open = b.opened(at)?;
        at = b.previous(open)?;
        return matches!(b.at(at), "int" | "long" | "wrap").then_some(at);
    }
    if b.at(at) == ">" {
        // Type arguments: `Set.type<T>`.
        let mut depth = 0usize;
        loop {
            match b.at(at) {
                ">" => depth += 1,
                "<" => depth -= 1,
                "," | "." | "[" | "]" => {}
                _ if b.is_word(at) => {}
                _ => return None,
            }
            if depth == 0 {
                break;
            }
            at = b.previous(at)?;
        }
        at = b.previous(at)?;
    }
    if !b.is_word(at) || KEYWORDS.contains(&b.at(at)) && !TYPES.contains(&b.at(at)) {
        return None;
    }
    while b.before(at) == "." {
        at = b.previous(b.previous(at)?)?;
    }
    Some(at)
}

fn variable(b: &mut Builder<'_>, token: usize, parameters: bool) {
    let Some(first) = type_before(b, token) else { return };
    let scope = b.scope();
    let kind = match b.is_member_scope(scope) {
        true => Kind::Field,
        false if parameters => Kind::Parameter,
        false => Kind::Variable,
    };
    let symbol = match b.before(first) {
        // An exception goes to a variable that is there, or to a new one.
        "(" if b.before(first.saturating_sub(1)) == "catch" => {
            let scope = b.owner_scope();
            b.declare_again(token, kind, scope)
        }
        _ => b.declare(token, kind, scope, 0),
    };
    let named = (!TYPES.contains(&b.at(first))).then(|| b.at(first).to_owned());
    let whole = b.range(first).start..b.range(token).end;
    b.typed(symbol, named, whole);
}

/// What a word means that declares nothing.
pub(super) fn meaning(b: &Builder<'_>, token: usize) -> Option<Meaning> {
    let name = b.at(token);
    if KEYWORDS.contains(&name) {
        return None;
    }
    match b.before(token) {
        "." => b.member(token),
        _ if b.labels.contains(&token) => b.lookup(name, token, Space::Labels),
        _ => b.lookup(name, token, Space::Names),
    }
}
