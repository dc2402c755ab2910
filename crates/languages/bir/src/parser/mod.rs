//! The parser: recursive descent over tokens, after the grammar of Bogor's manual (numbers in brackets in
//! `docs/bir.md`), with the `main thread` of the 2003 papers.
//!
//! A mistake is reported once; the parser then goes on at the next place where it can (`recover.rs`). Nesting and the
//! height of expressions are bounded, so that no input overflows the stack of the parser or of those who walk its tree.

mod action;
mod body;
mod expression;
mod member;
mod proposition;
mod recover;
mod types;

use std::ops::{Deref, DerefMut};

use quotient_formula::{Cursor, Property};
use quotient_front_end::PropertyKeyword;
use quotient_source::{Diagnostic, Diagnostics};

use crate::ast::{Expr, Member, Name, System};
use crate::token::{Kind, Token, is_keyword};

/// How deep statements, types and expressions may be nested, taken together, and what to do about deeper ones.
const MAX_NESTING: (usize, &str) = (150, "split it into functions or variables");

/// The greatest height of an expression tree.
const MAX_HEIGHT: u16 = 400;

/// After so many errors the parser gives up.
const MAX_ERRORS: usize = 60;

pub(crate) use quotient_formula::{Parse, Reported};

pub(crate) struct Parser<'a> {
    cursor: Cursor<'a, Kind>,
    /// A `>` here closes `<e>`.
    angle: bool,
    /// In a formula: the variables of the quantifiers around.
    bound: Option<Vec<Name>>,
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
fn parser(tokens: Vec<Token>, diagnostics: &mut Diagnostics, bound: Option<Vec<Name>>) -> Parser<'_> {
    Parser { cursor: Cursor::new(tokens, diagnostics, MAX_NESTING), angle: false, bound }
}

/// A property of a system.
pub(crate) fn property(
    tokens: Vec<Token>,
    keyword: PropertyKeyword,
    text: &str,
    diagnostics: &mut Diagnostics,
) -> Option<Property<Expr>> {
    quotient_formula::property(parser(tokens, diagnostics, Some(Vec::new())), keyword, text).ok()
}

/// The system in a file, as far as it could be understood.
pub(crate) fn system(tokens: Vec<Token>, diagnostics: &mut Diagnostics) -> Option<System> {
    parser(tokens, diagnostics, None).system().ok()
}

impl Parser<'_> {
    fn system(&mut self) -> Parse<System> {
        if !self.is("system") {
            return Err(self.unexpected("`system`", "a BIR file is one system: `system Name { … }`"));
        }
        self.bump();
        let name = self.name("the name of the system")?;
        self.expect("{", "the system's declarations are written in braces")?;
        let mut members = Vec::new();
        while !self.is("}") && !self.at_end() && self.diagnostics.error_count() < MAX_ERRORS {
            let start = self.at;
            match self.member() {
                Ok(member) => members.extend(member),
                Err(Reported) => self.skip_member(start),
            }
        }
        if self.diagnostics.error_count() >= MAX_ERRORS {
            self.diagnostics.push(Diagnostic::global("too many errors; the rest of the file was not read"));
            return Ok(System { name, members });
        }
        if self.expect("}", "close the system with `}`").is_ok() && !self.at_end() {
            self.unexpected("the end of the file", "a file holds one system");
        }
        Ok(System { name, members })
    }

    /// Whether a name comes next.
    fn at_name(&self) -> bool {
        is_name(self.token())
    }

    fn name(&mut self, what: &str) -> Parse<Name> {
        if self.at_name() {
            let token = self.bump();
            let (Kind::Word(text) | Kind::Quoted(text)) = token.kind else { return Err(Reported) };
            return Ok(Name { text, span: token.span });
        }
        let help = match &self.token().kind {
            Kind::Word(word) => {
                format!("`{word}` is a keyword; quote it to use it as a name: `{{|{word}|}}`")
            }
            _ => String::new(),
        };
        Err(self.unexpected(what, &help))
    }

    /// A list separated by commas, ended by (and including) the closing bracket. The opening one has been taken.
    fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat(close) {
                return Ok(items);
            }
            if !self.eat(",") {
                return Err(self.unexpected(&format!("`,` or `{close}`"), ""));
            }
        }
    }

    /// Goes one level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.deeper()?;
        let result = inner(self);
        self.nesting -= 1;
        result
    }

    /// Tries to read something; on failure nothing has happened.
    fn attempt<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Option<T> {
        let (at, angle, nesting) = (self.at, self.angle, self.nesting);
        self.trying += 1;
        let result = inner(self);
        self.trying -= 1;
        if result.is_err() {
            (self.at, self.angle, self.nesting) = (at, angle, nesting);
        }
        result.ok()
    }

    fn member(&mut self) -> Parse<Option<Member>> {
        let found = match &self.token().kind {
            Kind::Word(word) => word.clone(),
            _ => return self.global().map(|g| Some(Member::Global(g))),
        };
        Ok(Some(match &*found {
            "const" => Member::Const(self.const_block()?),
            "enum" => Member::Enum(self.enumeration()?),
            "top" | "throwable" | "record" => Member::Record(self.record()?),
            "extension" => Member::Extension(self.extension()?),
            "typealias" => Member::Alias(self.alias()?),
            "active" | "main" | "thread" => Member::Thread(self.thread()?),
            "function" => Member::Function(self.function()?),
            "virtual" => Member::Virtual(self.virtual_table()?),
            "fun" => Member::Fun(self.fun()?),
            _ => Member::Global(self.global()?),
        }))
    }
}

fn is_name(token: &Token) -> bool {
    match &token.kind {
        Kind::Word(word) => !is_keyword(word),
        Kind::Quoted(_) => true,
        _ => false,
    }
}
