//! From text to tokens.
//!
//! One lexer serves the preprocessor and the language, since Promela's tokens are C's. A mistake
//! becomes a [`Kind::Invalid`] token: it is reported only if it survives conditional compilation.

use std::rc::Rc;

use quotient_source::{FileId, Span};

use crate::token::{Kind, Token, is_keyword};

/// Operators, longest first.
const PUNCTUATION: &[&str] = &[
    "##", "::", "->", "--", "++", "<<", "<=", ">>", ">=", "==", "!=", "!!", "??", "&&", "||", "..", "{", "}",
    "(", ")", "[", "]", ",", ";", ":", ".", "!", "?", "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^",
    "~", "@", "#", "\\",
];

/// All tokens of a file, without an end marker.
pub(crate) fn tokenize(file: FileId, text: &str) -> Vec<Token> {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, in_directive: false };
    let mut tokens = Vec::new();
    let (mut line_start, mut space) = (true, true);
    loop {
        match lexer.blank() {
            Blank::None => {}
            Blank::Space => space = true,
            Blank::Line => (line_start, space) = (true, true),
            Blank::OpenComment(start) => {
                let kind =
                    Kind::invalid("this comment is not closed", "write `*/` where the comment ends", None);
                tokens.push(Token { line_start, ..Token::new(kind, Span::new(file, start, start + 2)) });
                return tokens;
            }
        }
        if lexer.at >= lexer.bytes.len() {
            return tokens;
        }
        let start = lexer.at;
        let kind = lexer.token();
        let span = Span::new(file, start, lexer.at);
        if line_start {
            lexer.in_directive = kind == Kind::Punct("#");
        }
        tokens.push(Token { kind, span, origin: None, formal: None, line_start, space, painted: false });
        (line_start, space) = (false, false);
    }
}

/// What stands between two tokens.
enum Blank {
    None,
    Space,
    Line,
    OpenComment(usize),
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// On a line that starts with `#`.
    in_directive: bool,
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// The length of a spliced line break here (backslash, newline; blanks between them are allowed, as
    /// compilers do); 0 if there is none.
    fn splice(&self) -> usize {
        if self.byte(0) != b'\\' {
            return 0;
        }
        let blanks =
            self.bytes[self.at + 1..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
        if self.byte(1 + blanks) == b'\n' { blanks + 2 } else { 0 }
    }

    /// Skips white space and comments. A line break inside a comment counts as one, as it does for
    /// SPIN, which reads the preprocessor's output line by line; but a directive goes on after a comment that began on
    /// its line, as in C. A `*/` that closes nothing is skipped, as SPIN's lexer does.
    fn blank(&mut self) -> Blank {
        let (mut space, mut line) = (false, false);
        while self.at < self.bytes.len() {
            match self.byte(0) {
                b'\n' => (line, self.at) = (true, self.at + 1),
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c | 0 => self.at += 1,
                b'\\' if self.splice() > 0 => self.at += self.splice(),
                b'/' if self.byte(1) == b'/' => {
                    while self.at < self.bytes.len() && self.byte(0) != b'\n' {
                        self.at += self.splice().max(1);
                    }
                }
                b'/' if self.byte(1) == b'*' => {
                    let start = self.at;
                    let Some(length) = self.text.get(start + 2..).and_then(|rest| rest.find("*/")) else {
                        self.at = self.bytes.len();
                        return Blank::OpenComment(start);
                    };
                    self.at = start + length + 4;
                    line |= !self.in_directive && self.bytes[start..self.at].contains(&b'\n');
                }
                b'*' if self.byte(1) == b'/' && !matches!(self.byte(2), b'/' | b'*') => self.at += 2,
                _ => break,
            }
            space = true;
        }
        match (space, line) {
            (_, true) => Blank::Line,
            (true, _) => Blank::Space,
            _ => Blank::None,
        }
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) -> Rc<str> {
        let start = self.at;
        while self.at < self.bytes.len() && accept(self.byte(0)) {
            self.at += 1;
        }
        // Only ASCII bytes are accepted, so both ends are character boundaries.
        self.text[start..self.at].into()
    }

    fn token(&mut self) -> Kind {
        let first = self.byte(0);
        if first.is_ascii_alphabetic() || first == b'_' {
            return Kind::Word(self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_'));
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        match first {
            b'"' => self.string(),
            b'\'' => self.character(),
            _ => self.punctuation(),
        }
    }

    fn number(&mut self) -> Kind {
        let digits = self.take_while(|b| b.is_ascii_digit());
        if self.byte(0).is_ascii_alphabetic() || self.byte(0) == b'_' {
            let after_digits = self.at;
            let rest = self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_');
            if is_keyword(&rest) {
                // `x = 0fi`, as SPIN reads it.
                self.at = after_digits;
                return Kind::Number(digits);
            }
            let hexadecimal = &*digits == "0" && rest.starts_with(['x', 'X']);
            let help = match i64::from_str_radix(rest.get(1..).unwrap_or(""), 16) {
                Ok(value) if hexadecimal => format!("Promela has decimal numbers only: write `{value}`"),
                _ => "a number has digits only, a name starts with a letter".to_string(),
            };
            return Kind::invalid(
                format!("`{digits}{rest}` is not a number"),
                help,
                Some(Kind::Number("1".into())),
            );
        }
        Kind::Number(digits)
    }

    fn string(&mut self) -> Kind {
        self.at += 1;
        let start = self.at;
        while self.at < self.bytes.len() {
            match self.byte(0) {
                b'"' => {
                    let text = self.text.get(start..self.at).unwrap_or("");
                    self.at += 1;
                    return Kind::Text(text.into());
                }
                b'\n' => break,
                b'\\' => self.at += self.splice().max(2),
                _ => self.at += 1,
            }
        }
        self.skip_to_boundary();
        Kind::invalid(
            "this string is not closed",
            "write `\"` where the string ends, on the same line",
            Some(Kind::Text("".into())),
        )
    }

    /// `'c'` or `'\c'`. SPIN knows the escapes n, r, t and f; any other character stands for itself.
    fn character(&mut self) -> Kind {
        let start = self.at;
        self.at += 1;
        let escaped = self.byte(0) == b'\\';
        if escaped {
            self.at += 1;
        }
        let value = match (escaped, self.byte(0)) {
            (true, b'n') => b'\n',
            (true, b'r') => b'\r',
            (true, b't') => b'\t',
            (true, b'f') => 0x0c,
            (_, other) => other,
        };
        if self.byte(1) == b'\'' && value.is_ascii() && self.byte(0) != b'\n' {
            self.at += 2;
            return Kind::Char(value);
        }
        // Step over a word and its closing quote (`'ab'`); else over the quote alone, so that the rest of
        // the line is still read.
        self.at = start + 1;
        self.take_while(|b| b.is_ascii_alphanumeric());
        self.at = if self.byte(0) == b'\'' { self.at + 1 } else { start + 1 };
        Kind::invalid(
            "this is not a character constant",
            "write one ASCII character between quotes, such as `'a'` or `'\\n'`",
            Some(Kind::Number("1".into())),
        )
    }

    fn punctuation(&mut self) -> Kind {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(b"-->") {
            // SPIN's lexer reads this as an arrow.
            self.at += 3;
            return Kind::Punct("->");
        }
        if let Some(punct) = PUNCTUATION.iter().find(|p| rest.starts_with(p.as_bytes())) {
            self.at += punct.len();
            return Kind::Punct(punct);
        }
        let found = self.text.get(self.at..).and_then(|rest| rest.chars().next()).unwrap_or('?');
        self.at += 1;
        self.skip_to_boundary();
        Kind::invalid(format!("`{}` has no meaning in Promela", found.escape_debug()), "remove it", None)
    }

    fn skip_to_boundary(&mut self) {
        self.at = self.at.min(self.bytes.len());
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }
}
