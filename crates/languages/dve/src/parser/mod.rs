//! The parser: recursive descent over tokens, after the grammar of DiVinE.
//!
//! A mistake is reported once; the parser then goes on at the next place where it can. The nesting and the height of
//! expressions are bounded, so that no input overflows the stack of the parser or of those who walk its tree.

mod declaration;
mod expression;
mod process;
mod proposition;

use std::ops::{Deref, DerefMut};

use quotient_formula::{Cursor, Parse, Property, Reported};
use quotient_front_end::PropertyKeyword;
use quotient_source::{Diagnostic, Diagnostics};

use crate::ast::{Expr, Name, System};
use crate::token::{KEYWORDS, Kind, Token};

/// How deep expressions may be nested, and what to do about deeper ones.
const MAX_NESTING: (usize, &str) = (150, "cut the expression into parts");

/// The greatest height of an expression tree.
pub const MAX_HEIGHT: u16 = 1000;

/// After so many errors the parser gives up.
const MAX_ERRORS: usize = 50;

struct Parser<'a> {
    cursor: Cursor<'a, Kind>,
    /// In a formula: `P.x` may also be a variable, and `->` is an operator.
    proposition: bool,
}

impl<'a> Deref for Parser<'a> {
    type Target = Cursor<'a, Kind>;

    fn deref(&self) -> &Cursor<'a, Kind> {
        &self.cursor
    }
}

impl<'a> DerefMut for Parser<'a> {
    fn deref_mut(&mut self) -> &mut Cursor<'a, Kind> {
        &mut self.cursor
    }
}

/// A parser at the start of a file, or of a proposition.
fn parser(tokens: Vec<Token>, diagnostics: &mut Diagnostics, proposition: bool) -> Parser<'_> {
    Parser { cursor: Cursor::new(tokens, diagnostics, MAX_NESTING), proposition }
}

/// The system in a file, as far as it could be understood.
pub(crate) fn system(tokens: Vec<Token>, diagnostics: &mut Diagnostics) -> Option<System> {
    parser(tokens, diagnostics, false).system().ok()
}

/// A property of a system.
pub(crate) fn property(
    tokens: Vec<Token>,
    keyword: PropertyKeyword,
    text: &str,
    diagnostics: &mut Diagnostics,
) -> Option<Property<Expr>> {
    quotient_formula::property(parser(tokens, diagnostics, true), keyword, text).ok()
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

    fn at_type(&self) -> bool {
        ["const", "byte", "int"].iter().any(|w| self.is(w))
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
