//! Text to tokens. Mistakes are reported and skipped, so that the parser sees the rest.

use std::rc::Rc;

use quotient_source::{Diagnostic, Diagnostics, FileId, Span};

use crate::token::{Kind, PUNCTUATION, Token};

/// Characters that mean nothing, after which the rest is not reported any more.
const MOST_ERRORS: usize = 50;

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    /// A formula, which has operators of its own.
    formula: bool,
    tokens: Vec<Token>,
    diagnostics: &'a mut Diagnostics,
}

/// The tokens of a file; the last one is [`Kind::End`].
pub(crate) fn tokens(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Vec<Token> {
    Lexer { file, text, at: 0, formula: false, tokens: Vec::new(), diagnostics }.read()
}

/// The tokens of a formula.
pub(crate) fn formula(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Vec<Token> {
    Lexer { file, text, at: 0, formula: true, tokens: Vec::new(), diagnostics }.read()
}

/// Operators that only formulas have.
const OF_FORMULAS: &[&str] = &["<->", "/\\", "\\/"];

impl Lexer<'_> {
    fn read(mut self) -> Vec<Token> {
        while self.at < self.text.len() {
            self.token();
        }
        self.push(self.at, Kind::End);
        self.tokens
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn push(&mut self, start: usize, kind: Kind) {
        let span = Span::new(self.file, start, self.at);
        self.tokens.push(Token { kind, span });
    }

    fn error(&mut self, start: usize, message: String, help: &str) {
        if self.diagnostics.error_count() < MOST_ERRORS {
            let span = Span::new(self.file, start, self.at);
            self.diagnostics.push(Diagnostic::error(span, message).help(help));
        }
    }

    /// Advances over characters while they satisfy the predicate.
    fn take(&mut self, keep: impl Fn(char) -> bool) -> &str {
        let start = self.at;
        let length: usize = self.rest().chars().take_while(|c| keep(*c)).map(char::len_utf8).sum();
        self.at += length;
        &self.text[start..self.at]
    }

    fn token(&mut self) {
        let start = self.at;
        let Some(first) = self.rest().chars().next() else { return };
        let operator = OF_FORMULAS.iter().find(|o| self.formula && self.rest().starts_with(**o));
        if let Some(operator) = operator {
            self.at += operator.len();
            self.push(start, Kind::Punct(operator));
        } else if first.is_whitespace() || first == '\\' {
            // A backslash at the end of a line goes on in the next one, as every line does.
            self.take(|c| c.is_whitespace() || c == '\\');
        } else if self.rest().starts_with("//") {
            self.take(|c| c != '\n');
        } else if self.rest().starts_with("/*") {
            self.comment(start);
        } else if first.is_ascii_digit() {
            self.number(start);
        } else if is_letter(first) {
            // `$` and `#` may be part of a name, but not start it.
            let word = Rc::from(self.take(|c| is_letter(c) || c.is_ascii_digit() || matches!(c, '$' | '#')));
            self.push(start, Kind::Word(word));
        } else if let Some(punct) =
            PUNCTUATION.iter().find(|p| p.starts_with(first) && self.rest().starts_with(**p))
        {
            self.at += punct.len();
            self.push(start, Kind::Punct(punct));
        } else {
            self.at += first.len_utf8();
            let help = match first {
                '"' | '\'' => "DVE has no strings",
                '#' | '`' => "DVE has no preprocessor; expand macros (with m4, say) before",
                _ => "remove it",
            };
            self.error(start, format!("the character `{first}` means nothing in DVE"), help);
        }
    }

    fn comment(&mut self, start: usize) {
        match self.rest().find("*/") {
            Some(end) => self.at += end + 2,
            None => {
                self.at = self.text.len();
                self.error(start, "this comment is not closed".into(), "close it with `*/`");
            }
        }
    }

    fn number(&mut self, start: usize) {
        let digits = self.take(|c| c.is_ascii_digit());
        let value = digits.parse::<i32>();
        if value.is_err() {
            let message = "this number is too large";
            self.error(start, message.into(), "numbers go up to 2147483647");
        }
        self.push(start, Kind::Number(value.unwrap_or(i32::MAX)));
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}
