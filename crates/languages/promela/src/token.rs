//! Tokens, as the preprocessor and the parser see them.

use std::rc::Rc;

use quotient_source::Span;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A name or a keyword; which of the two depends on the context, as in SPIN.
    Word(Rc<str>),
    /// Decimal digits.
    Number(Rc<str>),
    /// A character constant, by its value.
    Char(u8),
    /// A string, without its quotes, escape sequences as written.
    Text(Rc<str>),
    /// An operator or separator.
    Punct(&'static str),
    /// Something that is not a token.
    Invalid(Rc<Invalid>),
    /// A line break that separates statements (inserted by the parser, never by the lexer).
    LineEnd,
    /// The end of the input.
    End,
}

/// What is wrong with a piece of text that is not a token.
#[derive(Debug, PartialEq)]
pub(crate) struct Invalid {
    /// What is wrong with it.
    pub message: String,
    /// What to do about it.
    pub help: String,
    /// The token that the parser goes on with.
    pub instead: Option<Kind>,
}

/// A token and where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its place; for a token out of a macro body, the outermost use of the macro.
    pub span: Span,
    /// Its place in the macro definition that spelled it.
    pub origin: Option<Span>,
    /// The parameter that it stands for, where it is part of an argument of an inline.
    pub formal: Option<Span>,
    /// Whether a line break stands before it.
    pub line_start: bool,
    /// Whether white space stands before it.
    pub space: bool,
    /// A macro name that must not be expanded any more (it came out of its own expansion).
    pub painted: bool,
}

impl Token {
    /// A plain token at `span`.
    pub fn new(kind: Kind, span: Span) -> Token {
        Token { kind, span, origin: None, formal: None, line_start: false, space: false, painted: false }
    }

    /// Whether it is the operator `punct`.
    pub fn is(&self, punct: &str) -> bool {
        matches!(self.kind, Kind::Punct(p) if p == punct)
    }

    /// Its text, if it is a word.
    pub fn word(&self) -> Option<&str> {
        match &self.kind {
            Kind::Word(w) => Some(w),
            _ => None,
        }
    }
}

impl Kind {
    /// A piece of text that is not a token.
    pub fn invalid(message: impl Into<String>, help: impl Into<String>, instead: Option<Kind>) -> Kind {
        Kind::Invalid(Rc::new(Invalid { message: message.into(), help: help.into(), instead }))
    }

    /// The token as source text, for messages, `#` and `##`.
    pub fn spelling(&self) -> String {
        match self {
            Kind::Word(s) | Kind::Number(s) => s.to_string(),
            Kind::Char(b'\n') => "'\\n'".into(),
            Kind::Char(b'\t') => "'\\t'".into(),
            Kind::Char(c) => format!("'{}'", *c as char),
            Kind::Text(s) => format!("\"{s}\""),
            Kind::Punct(p) => p.to_string(),
            Kind::Invalid(..) => "?".into(),
            Kind::LineEnd => "the end of the line".into(),
            Kind::End => "the end of the input".into(),
        }
    }

    /// The token as messages speak of it.
    pub fn described(&self) -> String {
        match self {
            Kind::LineEnd => "the end of the line".into(),
            Kind::End => "the end of the input".into(),
            Kind::Text(_) => "a string".into(),
            other => format!("`{}`", other.spelling()),
        }
    }
}

/// Whether a word is reserved (`in` is, but only inside `for`).
#[rustfmt::skip]
pub(crate) fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "active" | "assert" | "atomic" | "bit" | "bool" | "break" | "byte" | "c_code" | "c_decl"
            | "c_expr" | "c_state" | "c_track" | "D_proctype" | "do" | "chan" | "else" | "empty"
            | "enabled" | "eval" | "false" | "fi" | "for" | "full" | "get_priority" | "goto"
            | "hidden" | "if" | "init" | "inline" | "int" | "len" | "local" | "ltl" | "mtype"
            | "nempty" | "never" | "nfull" | "notrace" | "np_" | "od" | "of" | "pc_value" | "pid"
            | "printf" | "printm" | "priority" | "proctype" | "provided" | "return" | "run"
            | "d_step" | "select" | "set_priority" | "short" | "skip" | "timeout" | "trace"
            | "true" | "show" | "typedef" | "unless" | "unsigned" | "xr" | "xs"
    )
}

/// Whether a word names a built-in type.
pub(crate) fn is_type(word: &str) -> bool {
    matches!(word, "bit" | "bool" | "byte" | "chan" | "int" | "mtype" | "pid" | "short" | "unsigned")
}
