//! Tokens of the `.clp` language.

use quotient_source::{Diagnostic, Diagnostics, FileId, Span};

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A lower-case word: predicate, keyword or name.
    Word(String),
    /// A variable: upper case or underscore first, primes allowed at the end.
    Variable(String),
    /// An integer literal.
    Integer(i64),
    /// Punctuation or an operator, in its canonical spelling.
    Symbol(&'static str),
    /// The end of the input.
    End,
}

/// Spellings, longest first, with the canonical form.
const SYMBOLS: &[(&str, &str)] = &[
    ("=\\=", "<>"),
    (":-", ":-"),
    (":=", ":="),
    ("<-", ":-"),
    ("|=", "|="),
    ("\\/", ";"),
    ("/\\", ","),
    ("\\=", "<>"),
    ("<>", "<>"),
    ("!=", "<>"),
    ("=<", "<="),
    ("<=", "<="),
    (">=", ">="),
    ("==", "="),
    ("..", ".."),
    ("&&", ","),
    ("||", ";"),
    ("<", "<"),
    (">", ">"),
    ("=", "="),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("(", "("),
    (")", ")"),
    ("[", "["),
    ("]", "]"),
    ("{", "{"),
    ("}", "}"),
    (",", ","),
    (";", ";"),
    (":", ":"),
    (".", "."),
    ("&", ","),
    ("|", ";"),
];

/// Splits the text into tokens; unknown characters are reported and skipped.
pub fn tokens(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Vec<(Token, Span)> {
    let bytes = text.as_bytes();
    let (mut at, mut out) = (0, Vec::new());
    while at < bytes.len() {
        let (start, c) = (at, bytes[at]);
        if c.is_ascii_whitespace() {
            at += 1;
        } else if c == b'%' {
            while at < bytes.len() && bytes[at] != b'\n' {
                at += 1;
            }
        } else if c.is_ascii_alphabetic() || c == b'_' {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                at += 1;
            }
            while at < bytes.len() && bytes[at] == b'\'' {
                at += 1;
            }
            let word = text[start..at].to_string();
            let token =
                if c.is_ascii_uppercase() || c == b'_' { Token::Variable(word) } else { Token::Word(word) };
            out.push((token, Span::new(file, start, at)));
        } else if c.is_ascii_digit() {
            while at < bytes.len() && bytes[at].is_ascii_digit() {
                at += 1;
            }
            let span = Span::new(file, start, at);
            // Constants far inside the exact range leave room for sums along a proof.
            let value = text[start..at].parse::<i64>().ok().filter(|v| *v <= 1 << 40);
            if value.is_none() {
                diagnostics.push(
                    Diagnostic::error(span, "the number is too large")
                        .label("larger than 2^40")
                        .help("scale the model down: constants must stay below 2^40"),
                );
            }
            out.push((Token::Integer(value.unwrap_or(0)), span));
        } else if let Some((spelling, symbol)) = SYMBOLS.iter().find(|(s, _)| text[at..].starts_with(s)) {
            at += spelling.len();
            out.push((Token::Symbol(symbol), Span::new(file, start, at)));
        } else {
            let width = text[at..].chars().next().map_or(1, char::len_utf8);
            at += width;
            diagnostics.push(
                Diagnostic::error(Span::new(file, start, at), "this character has no meaning here")
                    .help("comments start with `%`"),
            );
        }
    }
    out.push((Token::End, Span::new(file, text.len(), text.len())));
    out
}
