//! Text to tokens. Mistakes are reported and skipped, so that the parser sees the rest.

use std::rc::Rc;

use quotient_source::{Diagnostic, Diagnostics, FileId, Span};

use crate::token::{Kind, PUNCTUATION, Token};

/// Opening and closing delimiters of quoted identifiers.
const QUOTES: &[(&str, &str)] =
    &[("{|", "|}"), ("(|", "|)"), ("<|", "|>"), ("[|", "|]"), ("/|", "|\\"), ("+|", "|+"), (".|", "|.")];

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    /// A formula is read: `@` has a meaning.
    formula: bool,
    tokens: Vec<Token>,
    diagnostics: &'a mut Diagnostics,
}

/// The tokens of a file; the last one is [`Kind::End`].
pub(crate) fn tokens(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Vec<Token> {
    read(Lexer { file, text, at: 0, formula: false, tokens: Vec::new(), diagnostics })
}

/// The tokens of a formula about a system.
pub(crate) fn formula(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Vec<Token> {
    read(Lexer { file, text, at: 0, formula: true, tokens: Vec::new(), diagnostics })
}

fn read(mut lexer: Lexer<'_>) -> Vec<Token> {
    let text = lexer.text;
    while lexer.at < text.len() {
        lexer.token();
    }
    lexer.push(text.len(), Kind::End);
    lexer.tokens
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.file, start, self.at)
    }

    fn push(&mut self, start: usize, kind: Kind) {
        let span = self.span(start);
        self.tokens.push(Token { kind, span });
    }

    /// Advances over characters while they satisfy the predicate.
    fn take(&mut self, keep: impl Fn(char) -> bool) -> &str {
        let start = self.at;
        let length: usize = self.rest().chars().take_while(|c| keep(*c)).map(char::len_utf8).sum();
        self.at += length;
        &self.text[start..self.at]
    }

    /// An operator that only formulas have.
    fn of_formulas(&self) -> Option<&'static str> {
        let operators = ["<->", "/\\", "\\/"].into_iter().filter(|_| self.formula);
        operators.into_iter().find(|o| self.rest().starts_with(o))
    }

    fn token(&mut self) {
        let start = self.at;
        let Some(first) = self.rest().chars().next() else { return };
        if first.is_whitespace() {
            self.take(char::is_whitespace);
        } else if self.rest().starts_with("//") {
            self.take(|c| c != '\n');
        } else if self.rest().starts_with("/*") {
            self.comment(start);
        } else if let Some((_, close)) =
            QUOTES.iter().find(|(open, _)| open.starts_with(first) && self.rest().starts_with(open))
        {
            self.quoted(start, close);
        } else if first.is_ascii_digit() {
            self.number(start);
        } else if is_letter(first) {
            let word = Rc::from(self.take(|c| is_letter(c) || c.is_ascii_digit()));
            self.push(start, Kind::Word(word));
        } else if first == '`' || first == '\'' {
            self.at += 1;
            let name: Rc<str> = Rc::from(self.take(|c| is_letter(c) || c.is_ascii_digit()));
            if name.is_empty() || first == '\'' {
                let d =
                    Diagnostic::error(self.span(start), format!("a `{first}` that starts no type variable"));
                self.diagnostics.push(d.help("type variables are written `` `a ``"));
            }
            if !name.is_empty() {
                self.push(start, Kind::TypeVariable(name));
            }
        } else if first == '"' {
            self.string(start);
        } else if let Some(punct) = self.of_formulas() {
            self.at += punct.len();
            self.push(start, Kind::Punct(punct));
        } else if let Some(punct) =
            PUNCTUATION.iter().find(|p| p.starts_with(first) && self.rest().starts_with(**p))
        {
            self.at += punct.len();
            self.push(start, Kind::Punct(punct));
        } else if first == '@' && self.formula {
            self.at += 1;
            self.push(start, Kind::Punct("@"));
        } else {
            self.at += first.len_utf8();
            let help = match first {
                '~' => "the bitwise complement of x is `x ^ -1`",
                '@' | '#' | '\\' => "BIR has no such operator and no preprocessor",
                _ => "remove it",
            };
            let d =
                Diagnostic::error(self.span(start), format!("the character `{first}` means nothing in BIR"));
            self.diagnostics.push(d.help(help));
        }
    }

    fn comment(&mut self, start: usize) {
        match self.rest().find("*/") {
            Some(length) => self.at += length + 2,
            None => {
                self.at = self.text.len();
                let opening = Span::new(self.file, start, start + 2);
                let d =
                    Diagnostic::error(opening, "a comment that is never closed").help("close it with `*/`");
                self.diagnostics.push(d);
            }
        }
    }

    fn quoted(&mut self, start: usize, close: &str) {
        let line = self.rest().find('\n').unwrap_or(self.rest().len());
        match self.rest()[2..].find(close) {
            Some(length) if 2 + length <= line => {
                self.at += 2 + length + close.len();
                let text = Rc::from(&self.text[start..self.at]);
                self.push(start, Kind::Quoted(text));
            }
            _ => {
                self.at += 2;
                let d = Diagnostic::error(self.span(start), "a quoted name that is not closed on its line");
                self.diagnostics.push(d.help(format!("close it with `{close}`")));
            }
        }
    }

    fn number(&mut self, start: usize) {
        let hexadecimal = self.rest().starts_with("0x") || self.rest().starts_with("0X");
        if hexadecimal {
            self.at += 2;
            let digits = self.take(|c| c.is_ascii_alphanumeric() || c == '_').to_owned();
            let (digits, long) = suffix(&digits, "lL");
            return self.integer(start, i128::from_str_radix(digits, 16).ok(), long);
        }
        self.take(|c| c.is_ascii_digit());
        let fraction = {
            let mut rest = self.rest().chars();
            rest.next() == Some('.') && rest.next().is_some_and(|c| c.is_ascii_digit())
        };
        if fraction {
            self.at += 1;
            self.take(|c| c.is_ascii_digit());
        }
        let digits_end = self.at;
        self.take(|c| c.is_ascii_alphanumeric() || c == '_');
        let tail = &self.text[digits_end..self.at];
        let real = fraction || matches!(tail, "f" | "F" | "d" | "D");
        if real && matches!(tail, "" | "f" | "F" | "d" | "D") {
            let text = Rc::from(&self.text[start..digits_end]);
            let float = matches!(tail, "f" | "F");
            return self.push(start, Kind::Real(text, float));
        }
        let value = match tail {
            "" | "l" | "L" => self.text[start..digits_end].parse().ok(),
            _ => None,
        };
        self.integer(start, value, !tail.is_empty());
    }

    fn integer(&mut self, start: usize, value: Option<i128>, long: bool) {
        // One past the greatest magnitude, so that the least number can be written with a minus sign.
        let limit = if long { 1i128 << 63 } else { 1i128 << 31 };
        let valid = value.filter(|v| *v <= limit);
        if valid.is_none() {
            let span = self.span(start);
            let written = &self.text[start..self.at];
            let d = match value {
                Some(_) if !long => Diagnostic::error(span, format!("`{written}` is too large for an int"))
                    .help("integers have 32 bits; a long is written with an `L` at its end"),
                Some(_) => Diagnostic::error(span, format!("`{written}` is too large for a long"))
                    .help("longs have 64 bits"),
                None => Diagnostic::error(span, format!("`{written}` is not a number"))
                    .help("numbers are written `10`, `0x1f`, `10L`, `1.5`; names start with a letter"),
            };
            self.diagnostics.push(d);
        }
        self.push(start, Kind::Integer(valid.unwrap_or(0), long));
    }

    fn string(&mut self, start: usize) {
        self.at += 1;
        let mut value = String::new();
        loop {
            let Some(c) = self.rest().chars().next().filter(|c| *c != '\n') else {
                let d = Diagnostic::error(self.span(start), "a string that is not closed on its line");
                self.diagnostics.push(d.help("close it with `\"`"));
                break;
            };
            self.at += c.len_utf8();
            match c {
                '"' => break,
                '\\' => {
                    let escaped = self.rest().chars().next().unwrap_or('\\');
                    if escaped != '\n' && !self.rest().is_empty() {
                        self.at += escaped.len_utf8();
                    }
                    value.push(match escaped {
                        'n' => '\n',
                        't' => '\t',
                        other => other,
                    });
                }
                other => value.push(other),
            }
        }
        self.push(start, Kind::Text(Rc::from(value)));
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$'
}

/// Cuts one of the letters off the end.
fn suffix<'a>(digits: &'a str, letters: &str) -> (&'a str, bool) {
    match digits.strip_suffix(|c| letters.contains(c)) {
        Some(rest) => (rest, true),
        None => (digits, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quotient_source::SourceMap;

    fn kinds(text: &str) -> (Vec<Kind>, usize) {
        let mut map = SourceMap::new();
        let file = map.add("t.bir", text);
        let mut diagnostics = Diagnostics::new();
        let kinds = tokens(file, text, &mut diagnostics).into_iter().map(|t| t.kind).collect();
        (kinds, diagnostics.error_count())
    }

    #[test]
    fn words_numbers_and_operators() {
        let (found, errors) = kinds("x:=y.f+0x1F; // c\n/* d */ 7L 1.5f {|a.b|} `t \"s\\n\"");
        let word = |w: &str| Kind::Word(Rc::from(w));
        let p = Kind::Punct;
        assert_eq!(errors, 0);
        assert_eq!(
            found,
            [
                word("x"),
                p(":="),
                word("y"),
                p("."),
                word("f"),
                p("+"),
                Kind::Integer(31, false),
                p(";"),
                Kind::Integer(7, true),
                Kind::Real(Rc::from("1.5"), true),
                Kind::Quoted(Rc::from("{|a.b|}")),
                Kind::TypeVariable(Rc::from("t")),
                Kind::Text(Rc::from("s\n")),
                Kind::End
            ]
        );
    }

    #[test]
    fn mistakes_are_reported_and_skipped() {
        for text in ["/* x", "\"x", "{|x\n|}", "~", "99999999999", "1abc", "0x", "é", "`"] {
            let (found, errors) = kinds(text);
            assert_eq!(errors, 1, "{text}");
            assert_eq!(found.last(), Some(&Kind::End));
        }
    }
}
