//! The parser: recursive descent over the tokens of the preprocessor.
//!
//! The grammar is that of SPIN 6.5.2. Two of its habits live in the token stream:
//!
//! * *Line breaks separate statements.* Inside a body, outside parentheses, a line break after a
//!   token that can end a statement is a `;` (see [`Parser::ends_statement`]). The parser sees it as
//!   [`Kind::LineEnd`].
//! * *`inline` calls are expanded as tokens*, see `inline.rs`.
//!
//! A mistake is reported once; the parser then goes on at the next place where it can
//! (`recover.rs`). Depth is bounded ([`MAX_NESTING`]), so that no input overflows the stack.

mod advice;
mod channel;
mod compound;
mod declaration;
mod dynamic;
mod expanded;
mod expression;
mod formula;
mod inline;
mod labels;
mod primary;
mod recover;
mod statement;
mod unit;

use std::collections::HashSet;
use std::rc::Rc;

use quotient_source::{Diagnostic, Diagnostics, Expansions, Severity, SourceMap, Span};

use crate::ast::Ident;
use crate::token::{Kind, Token, is_keyword};
use crate::{MAX_ERRORS, MAX_MESSAGES};
use inline::Inlines;

/// How deep statements and expressions may be nested, taken together.
pub const MAX_NESTING: usize = 256;

/// The greatest height of an expression tree. Long chains of `&&`, `||`, `+`, `*`, `&`, `|`, `^` are
/// built as balanced trees and stay far below it.
pub const MAX_EXPRESSION_HEIGHT: usize = 1000;

pub(crate) use quotient_formula::{Parse, Reported};

/// The parser.
pub(crate) struct Parser<'a> {
    diagnostics: &'a mut Diagnostics,
    /// The files that the tokens come from.
    sources: &'a SourceMap,
    /// Names of all proctypes of the model: `P:x` is a remote reference, not a label.
    proctypes: HashSet<Rc<str>>,
    /// Names of all typedefs of the model.
    typedefs: HashSet<Rc<str>>,
    /// Names of all functions and of variables that hold one.
    functions: HashSet<Rc<str>>,
    inlines: Inlines,

    /// Pointers or functions were met.
    dynamic: bool,
    /// Inside the body of a function.
    in_function: bool,
    /// The tokens being read; the last one is [`Kind::End`].
    tokens: Rc<Vec<Token>>,
    at: usize,
    /// Whether a line break that separates statements stands before the current token.
    line_end: bool,
    /// The last token taken.
    previous: Span,
    /// Where that token stands in a macro definition.
    previous_origin: Option<Span>,
    /// Whether the last token taken was `}` or `else`: then no `;` is needed.
    separated: bool,
    /// Open parentheses.
    parentheses: usize,
    /// Inside a body or typedef: line breaks count.
    in_sequence: bool,
    nesting: usize,
    /// The height of the last reference or receive argument read.
    leaf_height: usize,
    /// Inside the first argument of a send, which may be followed by `(`.
    in_send: bool,
    /// Options of `if` and `do` being read.
    choices: usize,
    /// Where the last error was reported: one error is enough for each token.
    last_error: Option<(usize, usize)>,
    /// Whether the parser has given up.
    stopped: bool,
    /// Inside the middle part of `(c -> a : b)`, where `:` does not belong to a name.
    in_conditional: bool,
    /// Parsing an expression or formula on its own, without a model.
    apart: bool,
    /// Names of processes that the quantifiers around this place give: name and proctype.
    bound: Vec<(String, Ident)>,
    reported: HashSet<(Span, String)>,
    /// Statements that macros and calls of inlines made.
    expansions: Expansions,
}

impl<'a> Parser<'a> {
    /// A parser of `tokens`, the input of which ends at `end`.
    pub fn new(
        tokens: Vec<Token>,
        end: Span,
        sources: &'a SourceMap,
        diagnostics: &'a mut Diagnostics,
    ) -> Parser<'a> {
        let mut parser = Parser {
            diagnostics,
            sources,
            proctypes: HashSet::new(),
            typedefs: HashSet::new(),
            functions: HashSet::new(),
            inlines: Inlines::default(),
            dynamic: false,
            in_function: false,
            tokens: Rc::default(),
            at: 0,
            line_end: false,
            previous: end,
            previous_origin: None,
            separated: true,
            parentheses: 0,
            in_sequence: false,
            nesting: 0,
            leaf_height: 0,
            in_send: false,
            choices: 0,
            last_error: None,
            stopped: false,
            in_conditional: false,
            apart: false,
            bound: Vec::new(),
            reported: HashSet::new(),
            expansions: Expansions::default(),
        };
        let mut tokens = parser.without_embedded_c(tokens);
        for (at, token) in tokens.iter().enumerate() {
            match token.word() {
                Some("function") => parser.functions.extend(words_after(&tokens[at + 1..], false)),
                Some("ftype") => parser.functions.extend(words_after(&tokens[at + 1..], true)),
                _ => {}
            }
        }
        for pair in tokens.windows(2) {
            if let (Some(word), Kind::Word(name)) = (pair[0].word(), &pair[1].kind) {
                match word {
                    "proctype" | "D_proctype" => _ = parser.proctypes.insert(name.clone()),
                    "typedef" => _ = parser.typedefs.insert(name.clone()),
                    _ => {}
                }
            }
        }
        tokens.push(Token { line_start: true, ..Token::new(Kind::End, end) });
        parser.collect_inlines(&tokens);
        parser.tokens = Rc::new(tokens);
        if parser.stopped {
            parser.stop();
        }
        parser
    }

    // Looking at tokens.

    fn token(&self) -> &Token {
        // The position never passes the end marker.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    /// The current token; a line break that separates statements is one.
    fn kind(&self) -> &Kind {
        if self.line_end { &Kind::LineEnd } else { &self.token().kind }
    }

    fn span(&self) -> Span {
        self.token().span
    }

    fn is(&self, punct: &str) -> bool {
        !self.line_end && self.token().is(punct)
    }

    fn word(&self) -> Option<&str> {
        if self.line_end { None } else { self.token().word() }
    }

    fn is_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    fn at_end(&self) -> bool {
        matches!(self.token().kind, Kind::End)
    }

    /// The token after the current one, line breaks aside.
    fn ahead(&self, distance: usize) -> &Token {
        &self.tokens[(self.at + distance).min(self.tokens.len() - 1)]
    }

    /// Whether the current token is a name (and not reserved).
    fn is_name(&self) -> bool {
        self.word().is_some_and(|w| !is_keyword(w))
    }

    /// Where a token stands, in the body of the inline if it is an argument of a call.
    fn written_at(&self, at: usize) -> Span {
        let token = &self.tokens[at.min(self.tokens.len() - 1)];
        token.formal.unwrap_or(token.span)
    }

    // Taking tokens.

    fn bump(&mut self) {
        let token = self.token();
        let (span, origin, end) = (token.span, token.origin, matches!(token.kind, Kind::End));
        let ends = self.ends_statement(token);
        let separated = token.is("}") || token.word() == Some("else");
        let (opens, closes) = (token.is("("), token.is(")"));
        self.separated = separated;
        self.parentheses = (self.parentheses + usize::from(opens)).saturating_sub(usize::from(closes));
        self.previous = span;
        self.previous_origin = origin;
        if !end {
            self.at += 1;
        }
        let next = self.token();
        self.line_end = ends
            && self.in_sequence
            && self.parentheses == 0
            && next.line_start
            && next.word() != Some("unless");
    }

    /// Whether a line break after this token ends a statement: SPIN's list.
    fn ends_statement(&self, token: &Token) -> bool {
        match &token.kind {
            Kind::Word(word) if is_keyword(word) => matches!(
                &**word,
                "od" | "fi"
                    | "else"
                    | "break"
                    | "skip"
                    | "true"
                    | "false"
                    | "timeout"
                    | "c_code"
                    | "c_expr"
                    | "c_decl"
            ),
            Kind::Word(word) => {
                !self.typedefs.contains(word)
                    && !self.proctypes.contains(word)
                    && !self.inlines.contains(word)
            }
            Kind::Number(_) | Kind::Char(_) => true,
            Kind::Punct(punct) => matches!(*punct, "}" | ")" | "]" | "++" | "--"),
            _ => false,
        }
    }

    fn take(&mut self, punct: &str) -> bool {
        let found = self.is(punct);
        if found {
            self.bump();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Takes `punct`, or reports that it is missing `after` something.
    fn expect(&mut self, punct: &str, context: &str) -> Parse<Span> {
        let span = self.span();
        if self.take(punct) { Ok(span) } else { Err(self.expected(&format!("`{punct}`"), context)) }
    }

    /// Takes a name, or reports that one is missing.
    fn name(&mut self, what: &str) -> Parse<Ident> {
        if let Some(word) = self.word() {
            let ident = Ident { name: word.to_string(), span: self.span() };
            if is_keyword(word) {
                let diagnostic = self
                    .error_here(format!("`{}` is a reserved word", ident.name))
                    .label(format!("expected {what}"))
                    .help("choose another name");
                return Err(self.report(diagnostic));
            }
            self.bump();
            return Ok(ident);
        }
        Err(self.expected(what, ""))
    }

    // Nesting.

    /// Runs `parse` one level deeper, unless that is too deep.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.enter()?;
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    /// Goes one level deeper; `nesting` is taken back by whoever called it.
    fn enter(&mut self) -> Parse<()> {
        if self.nesting >= MAX_NESTING {
            let diagnostic = self
                .error_here("statements or expressions are nested too deeply")
                .label(format!("more than {MAX_NESTING} levels"))
                .help("name parts of it: use variables, `inline`, or fewer parentheses");
            let reported = self.report(diagnostic);
            self.stop();
            return Err(reported);
        }
        self.nesting += 1;
        Ok(())
    }

    // Reporting.

    fn error_here(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.span(), message)
    }

    /// Adds a diagnostic, with the macro and the inline calls that led here.
    fn report(&mut self, mut diagnostic: Diagnostic) -> Reported {
        if self.stopped {
            return Reported;
        }
        let error = diagnostic.severity == Severity::Error;
        if !error && self.diagnostics.iter().count() >= MAX_MESSAGES {
            return Reported;
        }
        let here = (self.inlines.expansion(), self.at);
        if error && self.last_error.replace(here) == Some(here) && !self.tokens.is_empty() {
            return Reported;
        }
        if let Some(span) = diagnostic.span {
            if !self.reported.insert((span, diagnostic.message.clone())) {
                return Reported;
            }
            let origin = self.tokens.get(self.at).filter(|t| t.span == span).and_then(|t| t.origin);
            if let Some(origin) = origin {
                diagnostic = diagnostic.related(origin, "expanded from this macro");
            } else if let Some(origin) =
                self.previous_origin.filter(|_| !self.tokens.is_empty() && span == self.span())
            {
                diagnostic = diagnostic.related(origin, "what stands before it comes from this macro");
            }
            for (name, call) in self.inlines.calls() {
                diagnostic = diagnostic.related(call, format!("in this call of `{name}`"));
            }
        }
        self.diagnostics.push(diagnostic);
        if self.diagnostics.error_count() >= MAX_ERRORS {
            self.stop();
        }
        Reported
    }

    /// Gives up: the rest of the input is not read, and that it is missing is not reported.
    fn stop(&mut self) {
        self.stopped = true;
        self.at = self.tokens.len().saturating_sub(1);
        self.line_end = false;
    }
}

/// The word that stands here; with `list`, also those after commas.
fn words_after(tokens: &[Token], list: bool) -> Vec<Rc<str>> {
    let mut words = Vec::new();
    let mut rest = tokens.iter();
    while let Some(Kind::Word(word)) = rest.next().map(|t| &t.kind) {
        words.push(word.clone());
        if !list || !rest.next().is_some_and(|t| t.is(",")) {
            break;
        }
    }
    words
}
