//! Statements whose text stands nowhere as one piece: those that macros and `inline` calls make.
//!
//! Their text is put together from their tokens and kept apart from the files ([`quotient_source::Expansions`]); the statement's span points there,
//! and the source map knows which place of which file it stands for, and the call that put it there.

use quotient_source::Span;

use super::Parser;
use crate::token::{Kind, Token};

impl Parser<'_> {
    /// The span of a statement that consists of the tokens from `start` to the one taken last; `written` is the place in a file
    /// that it comes from.
    pub(super) fn statement_span(&mut self, start: usize, written: Span) -> Span {
        let tokens = &self.tokens[start..self.at.max(start)];
        let in_one_piece = in_one_piece(tokens);
        let call = self.inlines.outermost_call();
        if call.is_none() && in_one_piece {
            return written;
        }
        let text = match tokens {
            [first, .., last] if in_one_piece => {
                let text = self.sources.slice(first.span.to(last.span));
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            }
            _ => spelled(tokens),
        };
        self.expansions.add(&text, written, call)
    }
}

/// Do tokens follow each other in one file, so that the text from the first to the last is what they say? A macro that stands for a
/// part of the statement counts as one token; one that stands for all of it does not: its name says nothing.
fn in_one_piece(tokens: &[Token]) -> bool {
    let [first, .., last] = tokens else { return true };
    let alone = first.origin.is_some() && first.span == last.span;
    !alone
        && tokens.windows(2).all(|pair| {
            let (a, b) = (&pair[0], &pair[1]);
            let same_use = a.span == b.span && a.origin.is_some() && b.origin.is_some();
            // An argument of an inline stands at the call, which may be anywhere.
            let same_text = a.formal == b.formal;
            same_text && a.span.file == b.span.file && (same_use || a.span.end <= b.span.start)
        })
}

/// Tokens as a person would write them.
fn spelled(tokens: &[Token]) -> String {
    let mut text = String::new();
    let mut before: Option<&Token> = None;
    for token in tokens {
        if before.is_some_and(|b| spaced(b, token, &text)) {
            text.push(' ');
        }
        text.push_str(&token.kind.spelling());
        before = Some(token);
    }
    text
}

/// Operators that stand between spaces, if there is an operand on their left.
const BINARY: [&str; 21] = [
    "=", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "&&", "||", "&", "|", "^", "<<", ">>",
    "->", ":",
];

/// Does a space stand between two tokens? `text` is what comes before the second one.
fn spaced(a: &Token, b: &Token, text: &str) -> bool {
    let operand = |t: &Token| match &t.kind {
        Kind::Word(_) | Kind::Number(_) | Kind::Char(_) | Kind::Text(_) => true,
        Kind::Punct(p) => matches!(*p, ")" | "]"),
        _ => false,
    };
    match (&a.kind, &b.kind) {
        (Kind::Punct(","), _) => true,
        (_, Kind::Punct(p)) if BINARY.contains(p) => operand(a),
        // Behind a binary operator: it has a space on its left, unlike a sign.
        (Kind::Punct(p), _) if BINARY.contains(p) => {
            text.len() > p.len() && {
                let left = &text[..text.len() - p.len()];
                left.ends_with(' ')
            }
        }
        (_, Kind::Punct(_)) | (Kind::Punct(_), _) => false,
        _ => true,
    }
}
