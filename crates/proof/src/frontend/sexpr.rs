//! S-expressions with spans, as SMT-LIB writes them.

use quotient_source::{Diagnostic, Diagnostics, FileId, Span};

/// Nesting deeper than this is refused rather than risking the stack.
const MAX_DEPTH: usize = 2000;

/// An s-expression.
#[derive(Clone, Debug)]
pub(super) enum Sexpr {
    /// A symbol, number or string.
    Atom(String, Span),
    /// A list.
    List(Vec<Sexpr>, Span),
}

impl Sexpr {
    /// Where it is.
    pub(super) fn span(&self) -> Span {
        match self {
            Sexpr::Atom(_, span) | Sexpr::List(_, span) => *span,
        }
    }

    /// The text of an atom.
    pub(super) fn atom(&self) -> Option<&str> {
        match self {
            Sexpr::Atom(text, _) => Some(text),
            Sexpr::List(..) => None,
        }
    }

    /// The parts of a list.
    pub(super) fn list(&self) -> Option<&[Sexpr]> {
        match self {
            Sexpr::List(parts, _) => Some(parts),
            Sexpr::Atom(..) => None,
        }
    }
}

/// Reads every s-expression of a text.
pub(super) fn read(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Vec<Sexpr> {
    let bytes = text.as_bytes();
    let mut open: Vec<(Vec<Sexpr>, usize)> = Vec::new();
    let mut top = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let item = match bytes[at] {
            b';' => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
                continue;
            }
            c if c.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'(' => {
                at += 1;
                if open.len() >= MAX_DEPTH {
                    diagnostics.push(Diagnostic::error(Span::new(file, start, at), "nested too deeply"));
                    return Vec::new();
                }
                open.push((Vec::new(), start));
                continue;
            }
            b')' => {
                at += 1;
                let Some((parts, from)) = open.pop() else {
                    let span = Span::new(file, start, at);
                    diagnostics.push(Diagnostic::error(span, "this parenthesis closes nothing"));
                    return Vec::new();
                };
                Sexpr::List(parts, Span::new(file, from, at))
            }
            quote @ (b'|' | b'"') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += 1;
                }
                at = (at + 1).min(bytes.len());
                let inner = text.get(start + 1..at.saturating_sub(1)).unwrap_or_default();
                Sexpr::Atom(inner.into(), Span::new(file, start, at))
            }
            _ => {
                while at < bytes.len() && !bytes[at].is_ascii_whitespace() && !b"();".contains(&bytes[at]) {
                    at += 1;
                }
                Sexpr::Atom(text[start..at].into(), Span::new(file, start, at))
            }
        };
        match open.last_mut() {
            Some((parts, _)) => parts.push(item),
            None => top.push(item),
        }
    }
    if let Some((_, from)) = open.last() {
        let span = Span::new(file, *from, from + 1);
        diagnostics.push(Diagnostic::error(span, "this parenthesis is never closed"));
    }
    top
}
