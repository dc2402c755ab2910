//! Declarations and scopes of Promela.
//!
//! A block's variables are known from their declaration on, everything else in the whole text. Labels belong to their process. Macros have
//! the scope of their line for parameters.

use super::build::{Builder, Space};
use super::token::Token;
use super::{Kind, Meaning, SymbolId};

const TYPES: &[&str] = &["bit", "bool", "byte", "pid", "short", "int", "unsigned", "mtype", "chan", "ftype"];

/// Words that mean something by themselves.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "active", "assert", "atomic", "bit", "bool", "break", "byte", "D_proctype", "do", "chan", "else", "empty", "enabled", "eval", "false",
    "fi", "for", "full", "get_priority", "goto", "hidden", "if", "init", "inline", "int", "len", "local", "ltl", "mtype", "nempty",
    "never", "nfull", "notrace", "np_", "od", "of", "pc_value", "pid", "printf", "printm", "priority", "proctype", "provided", "return",
    "run", "d_step", "select", "set_priority", "short", "skip", "timeout", "trace", "true", "show", "typedef", "unless", "unsigned",
    "xr", "xs",
];

/// The names of the files that a text includes.
pub(super) fn includes<'a>(text: &'a str, tokens: &'a [Token]) -> impl Iterator<Item = &'a str> {
    let at = |token: &Token| &text[token.range.clone()];
    tokens.windows(3).filter_map(move |three| {
        let [hash, word, name] = three else { return None };
        let is = hash.group != 0 && hash.group == name.group && at(hash) == "#" && at(word) == "include";
        at(name).strip_prefix('"')?.strip_suffix('"').filter(|_| is)
    })
}

pub(super) fn scan(b: &mut Builder<'_>) {
    macros(b);
    let typedefs: Vec<&str> =
        (0..b.tokens.len()).filter(|t| b.before(*t) == "typedef").map(|t| b.at(t)).collect();
    // For each brace that is open: the symbol that ends with it, and how many scopes do.
    let mut braces: Vec<(Option<SymbolId>, usize)> = Vec::new();
    // A process or inline whose body has not begun.
    let mut pending: Option<SymbolId> = None;
    let mut token = 0;
    while token < b.tokens.len() {
        if b.tokens[token].group != 0 {
            token += 1;
            continue;
        }
        b.visit(token);
        let word = b.at(token);
        match word {
            "{" => {
                match pending.take() {
                    // The scope was opened with the parameters.
                    Some(symbol) => braces.push((Some(symbol), 1)),
                    None => {
                        b.open(None);
                        braces.push((None, 1));
                    }
                }
            }
            "}" => {
                if let Some((symbol, scopes)) = braces.pop() {
                    (0..scopes).for_each(|_| b.close());
                    if let Some(symbol) = symbol {
                        b.extends_to(symbol, token);
                    }
                }
            }
            "proctype" | "D_proctype" | "inline" | "function" | "ltl" | "never" | "trace" | "notrace"
            | "init"
                if braces.is_empty() =>
            {
                let kind = match word {
                    "inline" | "function" => Kind::Function,
                    "proctype" | "D_proctype" | "init" => Kind::Thread,
                    _ => Kind::Claim,
                };
                let name = match b.is_word(token + 1) && !KEYWORDS.contains(&b.at(token + 1)) {
                    true if word != "init" => token + 1,
                    _ => token,
                };
                abandon(b, &mut pending);
                let symbol = b.declare(name, kind, 0, 0);
                b.begins_at(symbol, start_of_unit(b, token));
                b.open(Some(symbol));
                pending = Some(symbol);
                if name != token {
                    b.visit(name);
                    token = name;
                }
                if word == "inline" {
                    token = inline_parameters(b, token + 1);
                    continue;
                }
            }
            "typedef" if b.is_word(token + 1) => {
                abandon(b, &mut pending);
                let symbol = b.declare(token + 1, Kind::Type, 0, 0);
                b.begins_at(symbol, token);
                b.open_members(symbol);
                pending = Some(symbol);
                token += 2;
                continue;
            }
            "mtype" if is_enumeration(b, token) => {
                token = enumeration(b, token);
                continue;
            }
            _ if (TYPES.contains(&word) || typedefs.contains(&word)) && starts_declaration(b, token) => {
                let parameters = pending.is_some();
                token = declaration(b, token, parameters);
                continue;
            }
            _ if is_label(b, token) => {
                // A label is known in its whole process.
                let scope = b.owner_scope();
                b.declare_again(token, Kind::Label, scope);
            }
            "goto" | "@" => _ = b.labels.insert(token + 1),
            _ => {}
        }
        token += 1;
    }
}

/// A process whose body never came.
fn abandon(b: &mut Builder<'_>, pending: &mut Option<SymbolId>) {
    if pending.take().is_some() {
        b.close();
    }
}

/// The first word of `active [n] proctype`.
fn start_of_unit(b: &Builder<'_>, token: usize) -> usize {
    let mut start = token;
    if b.before(start) == "]"
        && let Some(open) = b.previous(start).and_then(|close| b.opened(close))
        && b.before(open) == "active"
    {
        start = open;
    }
    if b.before(start) == "active" { start - 1 } else { start }
}

/// Macros: their names are known everywhere, their parameters in their line.
fn macros(b: &mut Builder<'_>) {
    let mut token = 0;
    while token < b.tokens.len() {
        let group = b.tokens[token].group;
        if group == 0 {
            token += 1;
            continue;
        }
        let end = (token..b.tokens.len()).find(|t| b.tokens[*t].group != group).unwrap_or(b.tokens.len());
        if b.at(token + 1) == "define" && token + 2 < end && b.is_word(token + 2) {
            let symbol = b.declare_again(token + 2, Kind::Macro, 0);
            let whole = b.range(token).start..b.range(end - 1).end;
            b.typed(symbol, None, whole);
            let scope = b.open(None);
            // A parameter list touches the name.
            if b.after(token + 2) == "(" && b.range(token + 3).start == b.range(token + 2).end {
                let mut at = token + 4;
                while at < end && b.at(at) != ")" {
                    if b.is_word(at) {
                        b.declare(at, Kind::Parameter, scope, 0);
                    }
                    at += 1;
                }
            }
        } else {
            b.open(None);
        }
        (token..end).for_each(|t| b.visit(t));
        b.close();
        token = end;
    }
}

/// The names between the parentheses of an inline; gives the token after them.
fn inline_parameters(b: &mut Builder<'_>, open: usize) -> usize {
    if b.at(open) != "(" {
        return open;
    }
    let mut token = open;
    while token < b.tokens.len() && !matches!(b.at(token), ")" | "{" | "}") {
        b.visit(token);
        if b.is_word(token) {
            let scope = b.scope();
            b.declare(token, Kind::Parameter, scope, 0);
        }
        token += 1;
    }
    token
}

/// `mtype = { … }` and `mtype:set = { … }`.
fn is_enumeration(b: &Builder<'_>, token: usize) -> bool {
    let equals = if b.at(token + 1) == ":" { token + 3 } else { token + 1 };
    b.at(equals) == "=" && b.at(equals + 1) == "{" || b.at(token + 1) == "{"
}

fn enumeration(b: &mut Builder<'_>, mut token: usize) -> usize {
    while token < b.tokens.len() && b.at(token) != "{" {
        b.visit(token);
        token += 1;
    }
    while token < b.tokens.len() && b.at(token) != "}" {
        b.visit(token);
        if b.is_word(token) {
            b.declare(token, Kind::Constant, 0, 0);
        }
        token += 1;
    }
    token + 1
}

/// Does a declaration start with this type? Types also stand in `of { byte }` and `new T`.
fn starts_declaration(b: &Builder<'_>, token: usize) -> bool {
    let mut next = token + 1;
    if b.at(token) == "mtype" && b.at(next) == ":" {
        next += 2;
    }
    if b.at(next) == "&" {
        next += 1;
    }
    b.is_word(next) && !KEYWORDS.contains(&b.at(next)) && b.before(token) != "typedef"
}

/// A declaration, from its type on; gives the token after its last variable.
fn declaration(b: &mut Builder<'_>, ty: usize, parameters: bool) -> usize {
    let named = (!TYPES.contains(&b.at(ty))).then(|| b.at(ty).to_owned());
    let scope = b.scope();
    let mut token = ty + 1;
    b.visit(ty);
    if b.at(ty) == "mtype" && b.at(token) == ":" {
        b.visit(token);
        b.visit((token + 1).min(b.tokens.len() - 1));
        token += 2;
    }
    let mut expects_name = true;
    let mut depth = 0usize;
    let mut last: Option<SymbolId> = None;
    while token < b.tokens.len() {
        let text = b.at(token);
        if b.tokens[token].group != 0 {
            token += 1;
            continue;
        }
        if depth == 0 && !expects_name {
            let breaks = b.tokens[token].line_start
                && !matches!(b.before(token), "," | "=" | "of" | "+" | "-" | "*" | "/");
            if breaks && !matches!(text, "," | "=") || matches!(text, ";" | ")" | "}" | "->" | "::") {
                break;
            }
        }
        b.visit(token);
        match text {
            "[" | "(" | "{" => depth += 1,
            "]" | ")" | "}" if depth == 0 => break,
            "]" | ")" | "}" => depth -= 1,
            "," if depth == 0 => expects_name = true,
            _ if depth == 0 && expects_name && b.is_word(token) && !KEYWORDS.contains(&text) => {
                let kind = match b.is_member_scope(scope) {
                    true => Kind::Field,
                    false if parameters => Kind::Parameter,
                    false => Kind::Variable,
                };
                // Globals, fields and parameters are known from the beginning of their scope on.
                let from = if scope == 0 || kind != Kind::Variable { 0 } else { token };
                let symbol = b.declare(token, kind, scope, from);
                let whole = b.range(ty).start..b.range(token).end;
                b.typed(symbol, named.clone(), whole);
                last = Some(symbol);
                expects_name = false;
            }
            _ if expects_name && text != "&" => break,
            _ => {}
        }
        if let Some(symbol) = last.filter(|_| !expects_name) {
            b.extends_to(symbol, token);
        }
        token += 1;
    }
    token
}

/// `name :` at the beginning of a statement.
fn is_label(b: &Builder<'_>, token: usize) -> bool {
    b.is_word(token)
        && b.after(token) == ":"
        && !KEYWORDS.contains(&b.at(token))
        && b.scope() != 0
        && (matches!(b.before(token), ";" | "{" | "}" | "->" | "::" | ":" | "fi" | "od" | "")
            || b.tokens[token].line_start)
        && !b.is_thread(b.at(token))
}

/// What a word means that declares nothing.
pub(super) fn meaning(b: &Builder<'_>, token: usize) -> Option<Meaning> {
    let name = b.at(token);
    if KEYWORDS.contains(&name) {
        return None;
    }
    let directive = b.tokens[token].group != 0 && b.before(token) == "#";
    if directive {
        return None;
    }
    match b.before(token) {
        "." => b.member(token),
        "@" => {
            let process = process_before(b, b.previous(token)?);
            match process {
                Some(process) => b.inside(process, name, true),
                None => b.unique(name, Kind::Label),
            }
        }
        ":" if process_before(b, b.previous(token)?).is_some() => {
            b.inside(process_before(b, b.previous(token)?)?, name, false)
        }
        _ if b.labels.contains(&token) => b.lookup(name, token, Space::Labels),
        _ => b.lookup(name, token, Space::Names),
    }
}

/// The process that `P[e]` or `P` before a token names.
fn process_before(b: &Builder<'_>, token: usize) -> Option<SymbolId> {
    let word = b.base(token)?;
    let meaning = b.lookup(b.at(word), word, Space::Names)?;
    let thread = meaning.file.is_none() && b.symbol(meaning)?.kind == Kind::Thread;
    thread.then_some(meaning.symbol)
}
