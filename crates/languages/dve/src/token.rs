//! Tokens.

use std::rc::Rc;

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

pub(crate) type Token = quotient_formula::Token<Kind>;

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

impl quotient_formula::Kind for Kind {
    fn is_punctuation(&self, text: &str) -> bool {
        matches!(self, Kind::Punct(punct) if *punct == text)
    }

    fn word(&self) -> Option<&str> {
        match self {
            Kind::Word(word) => Some(word),
            _ => None,
        }
    }

    fn is_end(&self) -> bool {
        *self == Kind::End
    }

    fn describe(&self) -> String {
        match self {
            Kind::Word(word) if KEYWORDS.contains(&&**word) => format!("the keyword `{word}`"),
            Kind::Word(word) => format!("`{word}`"),
            Kind::Number(value) => format!("`{value}`"),
            Kind::Punct(text) => format!("`{text}`"),
            Kind::End => "the end of the file".into(),
        }
    }
}
