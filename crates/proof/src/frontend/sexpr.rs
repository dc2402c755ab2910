//! S-expressions with spans, as SMT-LIB writes them.

use quotient_source::{Diagnostic, Diagnostics, FileId, Span};

/// Nesting deeper than this is refused rather than risking the stack.
const MAX_DEPTH: usize = 2000;

/// An s-expression.
#[derive(Clone, Debug)]
pub(super) enum Sexpr {
    /// A symbol (`|x|` without its bars), or a string with its quotes.
    Atom(String, Span),
    /// A number; `|5|` is a symbol.
    Numeral(String, Span),
    /// A list.
    List(Vec<Sexpr>, Span),
}

impl Sexpr {
    /// Where it is.
    pub(super) fn span(&self) -> Span {
        match self {
            Sexpr::Atom(_, span) | Sexpr::Numeral(_, span) | Sexpr::List(_, span) => *span,
        }
    }

    /// A symbol.
    pub(super) fn atom(&self) -> Option<&str> {
        match self {
            Sexpr::Atom(text, _) => Some(text),
            Sexpr::Numeral(..) | Sexpr::List(..) => None,
        }
    }

    /// The text of a number.
    pub(super) fn numeral(&self) -> Option<&str> {
        match self {
            Sexpr::Numeral(text, _) => Some(text),
            Sexpr::Atom(..) | Sexpr::List(..) => None,
        }
    }

    /// The parts of a list.
    pub(super) fn list(&self) -> Option<&[Sexpr]> {
        match self {
            Sexpr::List(parts, _) => Some(parts),
            Sexpr::Atom(..) | Sexpr::Numeral(..) => None,
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
                if at == bytes.len() {
                    let span = Span::new(file, start, start + 1);
                    diagnostics.push(Diagnostic::error(span, "this quotation is never closed"));
                    return Vec::new();
                }
                at += 1;
                let symbol = if quote == b'|' { &text[start + 1..at - 1] } else { &text[start..at] };
                Sexpr::Atom(symbol.into(), Span::new(file, start, at))
            }
            _ => {
                while at < bytes.len() && !bytes[at].is_ascii_whitespace() && !b"();|\"".contains(&bytes[at])
                {
                    at += 1;
                }
                let (word, span) = (&text[start..at], Span::new(file, start, at));
                // Z3 reads `-5` as a number, too.
                let digits = word.strip_prefix('-').unwrap_or(word);
                if digits.starts_with(|c: char| c.is_ascii_digit()) {
                    Sexpr::Numeral(word.into(), span)
                } else {
                    Sexpr::Atom(word.into(), span)
                }
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
