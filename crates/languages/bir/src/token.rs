//! Tokens.

use std::rc::Rc;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// An identifier or keyword.
    Word(Rc<str>),
    /// A quoted identifier such as `{|java.lang.Object|}`, delimiters included. Never a keyword.
    Quoted(Rc<str>),
    /// A type variable such as `` `a ``.
    TypeVariable(Rc<str>),
    /// An integer; the flag tells a `long` (`5L`) from an `int`.
    Integer(i128, bool),
    /// A real number as written; the flag tells a `float` (`1.5f`) from a `double`.
    Real(Rc<str>, bool),
    /// A string, escapes resolved.
    Text(Rc<str>),
    /// An operator or bracket.
    Punct(&'static str),
    /// The end of the input.
    End,
}

pub(crate) type Token = quotient_formula::Token<Kind>;

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
            Kind::Word(word) if is_keyword(word) => format!("the keyword `{word}`"),
            Kind::Word(text) | Kind::Quoted(text) => format!("`{text}`"),
            Kind::TypeVariable(name) => format!("the type variable `` `{name} ``"),
            Kind::Integer(value, _) => format!("`{value}`"),
            Kind::Real(text, _) => format!("`{text}`"),
            Kind::Text(_) => "a string".into(),
            Kind::Punct(text) => format!("`{text}`"),
            Kind::End => "the end of the file".into(),
        }
    }
}

/// Operators and brackets, longest first.
pub(crate) const PUNCTUATION: &[&str] = &[
    "...", ":=", "->", "==", "!=", ">=", "<=", "&&", "||", "=>", "{", "}", "(", ")", "[", "]", "<", ">", ",",
    ";", ":", ".", "+", "-", "*", "/", "%", "!", "=", "?", "&", "|", "^",
];

/// Words that cannot be names (unless quoted).
const KEYWORDS: &[&str] = &[
    "actiondef",
    "active",
    "assert",
    "assume",
    "at",
    "atomic",
    "boolean",
    "catch",
    "choose",
    "const",
    "do",
    "double",
    "else",
    "elseif",
    "end",
    "enum",
    "exit",
    "expdef",
    "extends",
    "extension",
    "false",
    "float",
    "for",
    "fun",
    "function",
    "goto",
    "hasLock",
    "if",
    "in",
    "instanceof",
    "int",
    "invisible",
    "invoke",
    "kindof",
    "lazy",
    "let",
    "live",
    "loc",
    "lock",
    "lockAvailable",
    "long",
    "main",
    "new",
    "notify",
    "notifyAll",
    "null",
    "on",
    "ptypedef",
    "record",
    "reflect",
    "return",
    "returns",
    "shl",
    "shr",
    "skip",
    "start",
    "string",
    "system",
    "thread",
    "threadTerminated",
    "throw",
    "throwable",
    "tid",
    "top",
    "transient",
    "true",
    "try",
    "typealias",
    "typedef",
    "unit",
    "unlock",
    "unwait",
    "ushr",
    "virtual",
    "visible",
    "wait",
    "wasNotified",
    "when",
    "while",
    "wrap",
];

/// Whether a word is reserved.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted() {
        let mut sorted = KEYWORDS.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, KEYWORDS);
    }

    #[test]
    fn longer_operators_come_first() {
        for (i, long) in PUNCTUATION.iter().enumerate() {
            assert!(!PUNCTUATION[..i].iter().any(|short| long.starts_with(short)), "{long}");
        }
    }
}
