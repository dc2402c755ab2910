//! Words and punctuation of a text, as all three languages have them: comments and strings are left out, lines that start with `#` are
//! groups of their own. Whatever the text is, every token is a range of it.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Number,
    /// A string or a character constant.
    Text,
    Punct,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) range: Range<usize>,
    /// It is the first of its line.
    pub(crate) line_start: bool,
    /// 0 for code, else the number of the directive that it is part of.
    pub(crate) group: u32,
}

const PUNCTUATION: &[&str] =
    &["->", "::", "..", ":=", "==", "!=", "<=", ">=", "&&", "||", "??", "!!", "++", "--", "=>"];

/// What differs between languages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// Lines that start with `#` are for a preprocessor.
    pub(crate) directives: bool,
    /// `{|a b|}` and its like are names.
    pub(crate) quoted: bool,
}

/// The tokens of a text.
pub(crate) fn tokens(text: &str, style: Style) -> Vec<Token> {
    let mut out = Vec::new();
    let mut at = 0;
    let mut line_start = true;
    let (mut group, mut groups) = (0, 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let start = at;
        if first == '\n' {
            at += 1;
            line_start = true;
            group = 0;
            continue;
        }
        if rest.starts_with("\\\n") {
            // A line that goes on in the next one.
            at += 2;
            continue;
        }
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if rest.starts_with("/*") {
            let comment = &rest[..rest.find("*/").map_or(rest.len(), |end| end + 2)];
            at += comment.len();
            line_start |= comment.contains('\n');
            continue;
        }
        if first == '#' && line_start && style.directives {
            groups += 1;
            group = groups;
        }
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let kind =
            if style.quoted && rest.len() > 2 && rest.as_bytes()[1] == b'|' && "{(<[/+.".contains(first) {
                at += rest[2..].find('|').map_or(rest.len(), |end| (end + 4).min(rest.len()));
                at = boundary(text, at);
                Kind::Word
            } else if first.is_ascii_alphabetic() || first == '_' {
                at += rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
                Kind::Word
            } else if first.is_ascii_digit() {
                at += rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
                Kind::Number
            } else if first == '"' {
                at += string(rest);
                Kind::Text
            } else if let Some(length) = character(rest) {
                at += length;
                Kind::Text
            } else {
                at +=
                    PUNCTUATION.iter().find(|p| rest.starts_with(**p)).map_or(first.len_utf8(), |p| p.len());
                Kind::Punct
            };
        out.push(Token { kind, range: start..at, line_start, group });
        line_start = false;
    }
    out
}

/// The length of a string with its quotes; one that is not closed ends with its line.
fn string(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return at,
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    rest.len()
}

/// The length of a character constant.
fn character(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    let length = match inside.strip_prefix('\\') {
        Some(escaped) => 1 + escaped.chars().next()?.len_utf8(),
        None => inside.chars().next().filter(|c| *c != '\n')?.len_utf8(),
    };
    inside[length..].starts_with('\'').then_some(length + 2)
}

fn boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, quoted: bool) -> Vec<&str> {
        let style = Style { directives: true, quoted };
        tokens(text, style).into_iter().map(|t| &text[t.range]).collect()
    }

    #[test]
    fn pieces_of_a_text() {
        let text = "a /* b\n */c:=3->\"x\\\"y\" 'c' // d\n#define e \\\n f\né\"open\ng";
        assert_eq!(
            shown(text, false),
            ["a", "c", ":=", "3", "->", "\"x\\\"y\"", "'c'", "#", "define", "e", "f", "é", "\"open", "g"]
        );
        assert_eq!(shown("x {|a b|} y", true), ["x", "{|a b|}", "y"]);
        for odd in ["{|é", "{|", "'", "'\\", "\"\\", "/*", "\\", "#", "é'é'é"] {
            shown(odd, true);
        }
    }

    #[test]
    fn directives_are_groups() {
        let all = tokens("a\n#b c\\\nd\ne", Style { directives: true, quoted: false });
        let groups: Vec<u32> = all.iter().map(|t| t.group).collect();
        assert_eq!(groups, [0, 1, 1, 1, 1, 0]);
    }
}
