//! Going on after a mistake.

use quotient_source::{Diagnostic, Span};

use super::expression::infix;
use super::{Parse, Parser, Reported};
use crate::token::{Kind, Token};

/// Words that start a top-level unit.
const UNIT_WORDS: &[&str] =
    &["active", "proctype", "D_proctype", "init", "never", "trace", "notrace", "typedef", "ltl", "inline"];

impl Parser<'_> {
    /// Whether a top-level unit starts here, at the beginning of a line.
    pub(super) fn at_unit_start(&self) -> bool {
        let token = self.token();
        token.line_start && (token.word().is_some_and(|w| UNIT_WORDS.contains(&w)) || self.at_function())
    }

    /// Skips to the next separator or closing word of the statement list that is being read. What
    /// was opened on the way is closed again.
    pub(super) fn skip_statement(&mut self) {
        let mut open = 0usize;
        self.parentheses = 0;
        let start = self.at;
        while !self.at_end() {
            if self.at_unit_start() && self.at > start {
                return;
            }
            let token = self.token();
            let closes = token.is("}") || matches!(token.word(), Some("fi" | "od"));
            if open == 0 && (closes || token.is(";") || token.is("->") || token.is("::")) {
                return;
            }
            if open == 0 && self.line_end && self.at > start {
                return;
            }
            if token.is("{") || matches!(token.word(), Some("if" | "do")) {
                open += 1;
            } else if closes {
                open -= 1;
            }
            self.bump();
            self.parentheses = 0;
        }
    }

    /// Skips to the next top-level unit. Returns at the end of the input at the latest, and takes at
    /// least one token unless a unit starts here.
    pub(super) fn skip_unit(&mut self) {
        let mut open = 0usize;
        let start = self.at;
        while !self.at_end() {
            if self.at_unit_start() && self.at > start {
                break;
            }
            let token = self.token();
            if token.is("{") {
                open += 1;
            } else if token.is("}") {
                open = open.saturating_sub(1);
                if open == 0 {
                    self.bump();
                    break;
                }
            } else if token.is(";") && open == 0 && self.parentheses == 0 {
                self.bump();
                break;
            }
            self.bump();
        }
        self.parentheses = 0;
        self.line_end = false;
    }

    /// Reports tokens that are none, and removes the text of embedded C: only its keyword is left,
    /// which the parser refuses where it finds it.
    pub(super) fn without_embedded_c(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let is_changed =
            |t: &Token| matches!(t.kind, Kind::Invalid(_)) || t.word().is_some_and(is_embedded_c);
        if !tokens.iter().any(is_changed) {
            return tokens;
        }
        let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            if let Kind::Invalid(invalid) = &token.kind {
                let mut diagnostic =
                    Diagnostic::error(token.span, invalid.message.as_str()).help(invalid.help.as_str());
                if let Some(origin) = token.origin {
                    diagnostic = diagnostic.related(origin, "expanded from this macro");
                }
                self.report(diagnostic);
                if let Some(instead) = invalid.instead.clone() {
                    kept.push(Token { kind: instead, ..token });
                }
                continue;
            }
            let embedded = token.word().is_some_and(is_embedded_c);
            kept.push(token);
            if !embedded {
                continue;
            }
            while tokens.peek().is_some_and(|t| matches!(t.kind, Kind::Text(_))) {
                tokens.next();
            }
            let mut nesting = 0usize;
            while let Some(token) = tokens.peek() {
                match token.kind {
                    Kind::Punct("{" | "[") => nesting += 1,
                    Kind::Punct("}" | "]") if nesting > 0 => nesting -= 1,
                    _ if nesting > 0 => {}
                    _ => break,
                }
                tokens.next();
            }
        }
        kept
    }

    /// Refuses embedded C; the keyword is taken.
    pub(super) fn refuse_embedded_c(&mut self) -> Reported {
        let word = self.word().unwrap_or("c_code").to_string();
        let diagnostic = self
            .error_here(format!("embedded C is not supported (`{word}`)"))
            .help("write this part in Promela, or keep to SPIN for this model");
        let reported = self.report(diagnostic);
        self.bump();
        reported
    }

    /// Reports that something else was expected here.
    pub(super) fn expected(&mut self, what: &str, context: &str) -> Reported {
        let found = self.kind().described();
        let context = if context.is_empty() { String::new() } else { format!(" {context}") };
        let mut diagnostic = self.error_here(format!("expected {what}{context}, found {found}"));
        if self.line_end {
            let next = self.token().kind.described();
            diagnostic = Diagnostic::error(self.previous, diagnostic.message).help(format!(
                "a line break ends a statement; to go on with {next}, put it on this line or use parentheses"
            ));
        } else if self.continues_line() {
            diagnostic = diagnostic.help(format!(
                "a line break ends a statement: put {found} at the end of the line before, or use parentheses"
            ));
        } else if let Some(help) = self.advice() {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic)
    }

    /// Whether the author most likely went on with an expression on a new line.
    fn continues_line(&self) -> bool {
        let token = self.token();
        self.in_sequence
            && token.line_start
            && (infix(&token.kind).is_some() || token.is(",") || token.is("."))
    }

    /// Takes `}` that closes something opened at `open`.
    pub(super) fn close_brace(&mut self, what: &str, open: Span) -> Parse<Span> {
        // A separator before `}` is one too many, which is fine.
        self.line_end = false;
        while (self.is(";") || self.is("->")) && (self.ahead(1).is("}") || self.ahead(1).is(";")) {
            self.bump();
            self.line_end = false;
        }
        let span = self.span();
        if self.take("}") {
            return Ok(span);
        }
        let found = self.kind().described();
        let diagnostic = self
            .error_here(format!("expected `}}` to close {what}, found {found}"))
            .related(open, format!("{what} starts here"));
        let diagnostic = match self.advice() {
            Some(help) => diagnostic.help(help),
            None => diagnostic.help("write `}` where it ends, or remove what is too much"),
        };
        Err(self.report(diagnostic))
    }
}

/// Whether a word introduces embedded C.
pub(super) fn is_embedded_c(word: &str) -> bool {
    matches!(word, "c_code" | "c_expr" | "c_decl" | "c_state" | "c_track")
}
