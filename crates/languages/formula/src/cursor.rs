//! Where a parser stands in the tokens of a text: what recursive descent needs in any language.

use quotient_source::{Diagnostic, Diagnostics, Span};

use crate::parser::{Parse, Reported, Tokens};

/// What tokens of a language are.
pub trait Kind: Clone {
    /// Is it this operator or bracket?
    fn is_punctuation(&self, text: &str) -> bool;
    /// The word, if it is one.
    fn word(&self) -> Option<&str>;
    /// Is it the end of the input?
    fn is_end(&self) -> bool;
    /// How a message names it.
    fn describe(&self) -> String;
}

/// A token and where it is.
#[derive(Clone, Debug)]
pub struct Token<K> {
    /// What it is.
    pub kind: K,
    /// Where it is.
    pub span: Span,
}

impl<K: Kind> Token<K> {
    /// Is it this operator, bracket or word?
    pub fn is(&self, text: &str) -> bool {
        self.kind.is_punctuation(text) || self.kind.word() == Some(text)
    }

    /// How a message names it.
    pub fn describe(&self) -> String {
        self.kind.describe()
    }
}

/// A place between tokens. Mistakes found there are reported once.
#[derive(Debug)]
pub struct Cursor<'a, K> {
    tokens: Vec<Token<K>>,
    /// What was found wrong.
    pub diagnostics: &'a mut Diagnostics,

    /// How many tokens have been taken.
    pub at: usize,
    /// How many levels deep, and how many there may be, and what to do about more.
    pub nesting: usize,
    most: (usize, &'static str),
    /// While positive, mistakes are not reported: something is only tried.
    pub trying: u32,
}

impl<'a, K: Kind> Cursor<'a, K> {
    /// At the start of tokens, of which the last one is the end of the input. They may be nested `most.0` levels deep; `most.1` is the
    /// advice where they are nested deeper.
    pub fn new(
        tokens: Vec<Token<K>>,
        diagnostics: &'a mut Diagnostics,
        most: (usize, &'static str),
    ) -> Cursor<'a, K> {
        Cursor { tokens, diagnostics, at: 0, nesting: 0, most, trying: 0 }
    }

    /// The tokens taken since that many had been.
    pub fn since(&self, start: usize) -> &[Token<K>] {
        &self.tokens[start..self.at]
    }

    /// The token that comes next.
    pub fn token(&self) -> &Token<K> {
        // The last token is the end, and `bump` does not go past it.
        &self.tokens[self.at]
    }

    /// Where it is.
    pub fn span(&self) -> Span {
        self.token().span
    }

    /// Where the last token was.
    pub fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// The token after the next `ahead` ones.
    pub fn peek(&self, ahead: usize) -> &Token<K> {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    /// Is the next token this operator, bracket or word?
    pub fn is(&self, text: &str) -> bool {
        self.token().is(text)
    }

    /// Are there no more tokens?
    pub fn at_end(&self) -> bool {
        self.token().kind.is_end()
    }

    /// Takes a token.
    pub fn bump(&mut self) -> Token<K> {
        let token = self.token().clone();
        if !self.at_end() {
            self.at += 1;
        }
        token
    }

    /// Takes the token if it comes next.
    pub fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.bump();
        }
        found
    }

    /// Takes the token, or reports that it is missing.
    pub fn expect(&mut self, text: &str, help: &str) -> Parse<Span> {
        if self.is(text) { Ok(self.bump().span) } else { Err(self.unexpected(&format!("`{text}`"), help)) }
    }

    /// Reports that something else was expected here; `help` may be empty.
    pub fn unexpected(&mut self, expected: &str, help: &str) -> Reported {
        let found = self.token().describe();
        self.error(self.span(), format!("expected {expected}, found {found}"), help)
    }

    /// Reports a mistake; `help` may be empty.
    pub fn error(&mut self, span: Span, message: String, help: &str) -> Reported {
        let diagnostic = Diagnostic::error(span, message);
        self.report(if help.is_empty() { diagnostic } else { diagnostic.help(help) })
    }

    /// Reports a mistake.
    pub fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        if self.trying == 0 {
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    /// Goes one level deeper; `nesting` is taken back by whoever called it.
    pub fn deeper(&mut self) -> Parse<()> {
        if self.nesting >= self.most.0 {
            return Err(self.error(self.span(), "nested too deeply".into(), self.most.1));
        }
        self.nesting += 1;
        Ok(())
    }
}

impl<K: Kind> Tokens for Cursor<'_, K> {
    fn is(&self, ahead: usize, punctuation: &str) -> bool {
        self.peek(ahead).kind.is_punctuation(punctuation)
    }

    fn word(&self, ahead: usize) -> Option<&str> {
        self.peek(ahead).kind.word()
    }

    fn span(&self) -> Span {
        Cursor::span(self)
    }

    fn touches(&self) -> bool {
        self.peek(1).span.start == Cursor::span(self).end
    }

    fn previous(&self) -> Span {
        Cursor::previous(self)
    }

    fn at_end(&self) -> bool {
        Cursor::at_end(self)
    }

    fn bump(&mut self) {
        Cursor::bump(self);
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        Cursor::report(self, diagnostic)
    }

    fn expected(&mut self, what: &str, why: &str) -> Reported {
        self.unexpected(what, why)
    }

    fn close(&mut self, open: Span) -> Parse<()> {
        if self.eat(")") {
            return Ok(());
        }
        let found = self.token().describe();
        let missing = Diagnostic::error(Cursor::span(self), format!("expected `)`, found {found}"));
        Err(Cursor::report(self, missing.related(open, "opened here")))
    }

    fn enter(&mut self) -> Parse<()> {
        self.deeper()
    }

    fn leave(&mut self) {
        self.nesting -= 1;
    }
}
