//! Tokens.

use std::rc::Rc;

use quotient_source::Span;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// An identifier or keyword.
    Word(Rc<str>),
    /// A number.
    Number(i32),
    /// An operator or bracket.
    Punct(&'static str),
    /// The end of the input.
    End,
}

/// A token and where it is.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// Words that cannot be names.
pub(crate) const KEYWORDS: &[&str] = &[
    "accept", "and", "assert", "async", "buchi", "byte", "channel", "commit", "const", "effect", "false",
    "genbuchi", "guard", "imply", "init", "int", "muller", "not", "or", "process", "property", "rabin",
    "state", "streett", "sync", "system", "trans", "true",
];

/// Operators and brackets, the longer ones first.
pub(crate) const PUNCTUATION: &[&str] = &[
    "->", "=>", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "+", "-", "*", "/", "%", "&", "|", "^", "~",
    "<", ">", "=", "!", "?", ".", ",", ";", ":", "(", ")", "[", "]", "{", "}",
];

impl Token {
    /// Whether it is this operator, bracket or word.
    pub(crate) fn is(&self, text: &str) -> bool {
        match &self.kind {
            Kind::Word(word) => &**word == text,
            Kind::Punct(punct) => *punct == text,
            Kind::Number(_) | Kind::End => false,
        }
    }

    /// How a message names it.
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            Kind::Word(word) if KEYWORDS.contains(&&**word) => format!("the keyword `{word}`"),
            Kind::Word(word) => format!("`{word}`"),
            Kind::Number(value) => format!("`{value}`"),
            Kind::Punct(text) => format!("`{text}`"),
            Kind::End => "the end of the file".into(),
        }
    }
}
