//! The parser: recursive descent over tokens, after the grammar of DiVinE.
//!
//! A mistake is reported once; the parser then goes on at the next place where it can. The nesting and the height of
//! expressions are bounded, so that no input overflows the stack of the parser or of those who walk its tree.

mod declaration;
mod expression;
mod process;
mod proposition;

use quotient_formula::{Parse, PropertyKind, Reported};
use quotient_front_end::PropertyKeyword;
use quotient_source::{Diagnostic, Diagnostics, Span};

use crate::ast::{Expr, Name, System};
use crate::token::{KEYWORDS, Kind, Token};

/// How deep expressions may be nested.
const MAX_NESTING: usize = 150;

/// The greatest height of an expression tree.
pub const MAX_HEIGHT: u16 = 1000;

/// After so many errors the parser gives up.
const MAX_ERRORS: usize = 50;

struct Parser<'a> {
    tokens: Vec<Token>,
    diagnostics: &'a mut Diagnostics,

    at: usize,
    nesting: usize,
    /// In a formula: `P.x` may also be a variable, and `->` is an operator.
    proposition: bool,
}

/// The system in a file, as far as it could be understood.
pub(crate) fn system(tokens: Vec<Token>, diagnostics: &mut Diagnostics) -> Option<System> {
    Parser { tokens, diagnostics, at: 0, nesting: 0, proposition: false }.system().ok()
}

/// A property of a system.
pub(crate) fn property(
    tokens: Vec<Token>,
    keyword: PropertyKeyword,
    diagnostics: &mut Diagnostics,
) -> Option<PropertyKind<Expr>> {
    let mut parser = Parser { tokens, diagnostics, at: 0, nesting: 0, proposition: true };
    let kind = match keyword {
        PropertyKeyword::Ltl => quotient_formula::linear(&mut parser).map(PropertyKind::Ltl),
        PropertyKeyword::Ctl => quotient_formula::branching(&mut parser).map(PropertyKind::Ctl),
        PropertyKeyword::Invariant => quotient_formula::invariant(&mut parser).map(PropertyKind::Invariant),
    };
    kind.ok()
}

impl Parser<'_> {
    fn system(&mut self) -> Parse<System> {
        let mut system = System {
            variables: Vec::new(),
            channels: Vec::new(),
            processes: Vec::new(),
            synchronous: None,
            property: None,
        };
        let mut ended = false;
        while !self.at_end() {
            if self.diagnostics.error_count() >= MAX_ERRORS {
                self.diagnostics
                    .push(Diagnostic::global("too many errors; the rest of the file was not read"));
                return Err(Reported);
            }
            let read = if self.is("channel") {
                self.channels(&mut system.channels)
            } else if self.is("process") {
                self.process().map(|process| system.processes.push(process))
            } else if self.is("system") {
                ended = true;
                self.kind_of_system(&mut system)
            } else if self.at_type() {
                self.variables(&mut system.variables)
            } else {
                Err(self.unexpected(
                    "a declaration, a process or `system`",
                    "a file has variables and channels, then processes, then `system async;`",
                ))
            };
            if read.is_err() {
                self.skip(&["channel", "process", "system", "const", "byte", "int"]);
            }
        }
        if !ended && !self.diagnostics.has_errors() {
            return Err(self.unexpected("`system`", "the file ends with `system async;`"));
        }
        Ok(system)
    }

    /// `system async property P;`
    fn kind_of_system(&mut self, system: &mut System) -> Parse<()> {
        self.bump();
        if self.is("sync") {
            system.synchronous = Some(self.bump().span);
        } else {
            self.expect("async", "write `system async;`")?;
        }
        if self.eat("property") {
            system.property = Some(self.name("the name of the property process")?);
        }
        self.expect(";", "")?;
        if !self.at_end() {
            return Err(self.unexpected("the end of the file", "`system` comes last"));
        }
        Ok(())
    }

    /// The token that comes next.
    fn token(&self) -> &Token {
        // The last token is `End`, and `bump` does not go past it.
        &self.tokens[self.at]
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// Where the last token was.
    fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// The token after the next `ahead` ones.
    fn peek(&self, ahead: usize) -> &Token {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn is(&self, text: &str) -> bool {
        self.token().is(text)
    }

    fn at_end(&self) -> bool {
        self.token().kind == Kind::End
    }

    fn at_type(&self) -> bool {
        ["const", "byte", "int"].iter().any(|w| self.is(w))
    }

    fn bump(&mut self) -> Token {
        let token = self.token().clone();
        if !self.at_end() {
            self.at += 1;
        }
        token
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, text: &str, help: &str) -> Parse<Span> {
        if self.is(text) { Ok(self.bump().span) } else { Err(self.unexpected(&format!("`{text}`"), help)) }
    }

    fn unexpected(&mut self, wanted: &str, help: &str) -> Reported {
        let found = self.token().describe();
        self.error(self.span(), format!("expected {wanted}, found {found}"), help)
    }

    fn error(&mut self, span: Span, message: String, help: &str) -> Reported {
        let mut diagnostic = Diagnostic::error(span, message);
        if !help.is_empty() {
            diagnostic = diagnostic.help(help);
        }
        self.diagnostics.push(diagnostic);
        Reported
    }

    fn name(&mut self, what: &str) -> Parse<Name> {
        match &self.token().kind {
            Kind::Word(word) if !KEYWORDS.contains(&&**word) => {
                let text = word.clone();
                Ok(Name { text, span: self.bump().span })
            }
            Kind::Word(_) => Err(self.unexpected(what, "keywords cannot be names")),
            _ => Err(self.unexpected(what, "")),
        }
    }

    /// Names with commas between them, up to a semicolon.
    fn names(&mut self, what: &str) -> Parse<Vec<Name>> {
        let mut names = vec![self.name(what)?];
        while self.eat(",") {
            names.push(self.name(what)?);
        }
        self.expect(";", "")?;
        Ok(names)
    }

    /// Skips to one of these words, or past a semicolon that is not in braces; takes at least one token.
    fn skip(&mut self, words: &[&str]) {
        let mut open = 0usize;
        let mut first = true;
        while !self.at_end() {
            if !first && open == 0 && words.iter().any(|w| self.is(w)) {
                return;
            }
            // Processes do not nest: a brace before this one is missing.
            if !first && (self.is("process") || self.is("system")) && words.contains(&"process") {
                return;
            }
            first = false;
            let token = self.bump();
            if token.is("{") {
                open += 1;
            } else if token.is("}") {
                open = open.saturating_sub(1);
            } else if token.is(";") && open == 0 {
                return;
            }
        }
    }
}
