//! A C program's text as far as a witness names places in it: tokens, and which of them a line and a column mean.
//!
//! No grammar is needed for that: a branch is a keyword with its parentheses (or a `?` with what stands before it), a call a name before parentheses, a
//! statement what comes after the end of another one. What is taken for one of them wrongly does not compile with the monitor in it, or is refused here.

use std::ops::Range;

/// A token: where it begins, and its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) at: usize,
    pub(super) text: &'a str,
    pub(super) line: u32,
    column: u32,
    /// How many braces and parentheses are open before it.
    braces: u32,
    parentheses: u32,
}

impl Token<'_> {
    pub(super) fn end(&self) -> usize {
        self.at + self.text.len()
    }

    fn is_name(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }
}

/// The tokens of a program, without comments and directives of the preprocessor.
pub(super) struct Text<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    /// The directives.
    pub(super) directives: Vec<&'a str>,
}

const LONG: [&str; 19] = [
    "<<=", ">>=", "...", "==", "!=", "<=", ">=", "&&", "||", "->", "++", "--", "<<", ">>", "+=", "-=", "*=",
    "|=", "&=",
];
const KEYWORDS: [&str; 8] = ["if", "while", "for", "switch", "return", "sizeof", "do", "else"];

/// The length of the token, comment or blank that a text begins with.
fn length(rest: &str) -> usize {
    let first = rest.chars().next().map_or(0, char::len_utf8);
    let until =
        |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return until("*/", 2);
    }
    if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let mut escaped = false;
        for (at, c) in rest.char_indices().skip(1) {
            if c == quote && !escaped {
                return at + 1;
            }
            escaped = c == '\\' && !escaped;
        }
        return rest.len();
    }
    if rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        return rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
            .unwrap_or(rest.len());
    }
    LONG.iter().find(|long| rest.starts_with(**long)).map_or(first, |long| long.len())
}

impl<'a> Text<'a> {
    pub(super) fn of(text: &'a str) -> Text<'a> {
        let mut read = Text { tokens: Vec::new(), directives: Vec::new() };
        let (mut at, mut line, mut line_start) = (0, 1, 0);
        let (mut braces, mut parentheses) = (0u32, 0u32);
        while at < text.len() {
            let rest = &text[at..];
            let blank = text[line_start..at].trim().is_empty();
            let mut size = length(rest);
            if rest.starts_with('#') && blank {
                // A directive ends with its line, unless a backslash stands there.
                let ends = rest
                    .match_indices('\n')
                    .find(|(end, _)| !rest[..*end].trim_end_matches('\r').ends_with('\\'));
                size = ends.map_or(rest.len(), |(end, _)| end);
                read.directives.push(&rest[..size]);
            } else if !rest.starts_with("//")
                && !rest.starts_with("/*")
                && !rest.starts_with(char::is_whitespace)
            {
                let word = &rest[..size];
                if matches!(word, ")" | "]") {
                    parentheses = parentheses.saturating_sub(1);
                } else if word == "}" {
                    braces = braces.saturating_sub(1);
                }
                let column = (at - line_start + 1) as u32;
                read.tokens.push(Token { at, text: word, line, column, braces, parentheses });
                parentheses += u32::from(matches!(word, "(" | "["));
                braces += u32::from(word == "{");
            }
            let passed = &rest[..size];
            if let Some(last) = passed.rfind('\n') {
                line += passed.matches('\n').count() as u32;
                line_start = at + last + 1;
            }
            at += size;
        }
        read
    }

    /// The parenthesis that closes the one at `open`.
    pub(super) fn closing(&self, open: usize) -> Option<usize> {
        let first = self.tokens.get(open).filter(|t| t.text == "(")?;
        (open + 1..self.tokens.len())
            .find(|at| self.tokens[*at].text == ")" && self.tokens[*at].parentheses == first.parentheses)
    }

    /// The parenthesis that the one at `close` closes.
    fn opening(&self, close: usize) -> Option<usize> {
        let last = self.tokens[close];
        (0..close)
            .rev()
            .find(|at| self.tokens[*at].text == "(" && self.tokens[*at].parentheses == last.parentheses)
    }

    /// The tokens of a line, or the one at a column of it, within functions.
    fn on(&self, line: u32, column: Option<u32>) -> impl Iterator<Item = usize> {
        let here = move |t: &Token| t.braces > 0 && t.line == line && column.is_none_or(|c| c == t.column);
        (0..self.tokens.len()).filter(move |at| here(&self.tokens[*at]))
    }

    /// A call: the name, and the parenthesis that closes it. Its place is that of this parenthesis; some tools write another column, which matters only where
    /// the line has several calls.
    pub(super) fn call(&self, line: u32, column: Option<u32>) -> Option<Range<usize>> {
        let mut there = self.calls(line, column);
        let mut anywhere = self.calls(line, None);
        there.next().or_else(|| anywhere.next().filter(|_| anywhere.next().is_none()))
    }

    fn calls(&self, line: u32, column: Option<u32>) -> impl Iterator<Item = Range<usize>> {
        self.on(line, column).filter(|at| self.tokens[*at].text == ")").filter_map(|close| {
            let name = self.opening(close)?.checked_sub(1)?;
            let token = self.tokens[name];
            (token.is_name() && !KEYWORDS.contains(&token.text)).then_some(name..close)
        })
    }

    /// The first call of `reach_error` on a line: the name, and the parenthesis that closes it.
    pub(super) fn error(&self, line: u32) -> Option<(usize, usize)> {
        let names = self.on(line, None).filter(|at| self.tokens[*at].text == "reach_error");
        names.into_iter().find_map(|name| Some((name, self.call_at(name)??)))
    }

    /// How the name there is used: the closing parenthesis if it is called, nothing inside if it is declared or defined; none for every other use.
    pub(super) fn call_at(&self, name: usize) -> Option<Option<usize>> {
        let close = self.closing(name + 1)?;
        Some((self.tokens[name].braces > 0).then_some(close))
    }

    /// A branch: the token that it is named after, and the bytes of its condition.
    pub(super) fn branch(&self, line: u32, column: Option<u32>) -> Option<(usize, Range<usize>)> {
        self.on(line, column).find_map(|at| {
            let condition = match self.tokens[at].text {
                "if" | "while" | "switch" => {
                    let close = self.closing(at + 1)?;
                    self.tokens[at + 1].end()..self.tokens[close].at
                }
                "for" => {
                    let open = self.tokens[at + 1];
                    let mut ends = (at + 2..self.closing(at + 1)?).filter(|at| {
                        self.tokens[*at].text == ";" && self.tokens[*at].parentheses == open.parentheses + 1
                    });
                    self.tokens[ends.next()?].end()..self.tokens[ends.next()?].at
                }
                "?" => self.before(at)?..self.tokens[at].at,
                _ => return None,
            };
            Some((at, condition))
        })
    }

    /// Where the condition begins that stands before a `?`: after the last thing that binds less.
    fn before(&self, question: usize) -> Option<usize> {
        let depth = self.tokens[question].parentheses;
        let binds_less = |token: &Token| match token.text {
            // What opens around the question; everything else stands beside it.
            "(" | "[" => token.parentheses < depth,
            "," | ";" | "{" | "}" | "?" | ":" | "return" | "=" | "case" => token.parentheses == depth,
            text => {
                let compares = ["==", "!=", "<=", ">="].contains(&text);
                text.len() > 1 && text.ends_with('=') && !compares && token.parentheses == depth
            }
        };
        let before = (0..question).rev().find(|at| binds_less(&self.tokens[*at]))?;
        self.tokens.get(before + 1).map(|token| token.at)
    }

    /// The first statement there: its first token.
    pub(super) fn statement(&self, line: u32, column: Option<u32>) -> Option<usize> {
        self.on(line, column).find(|at| {
            let token = self.tokens[*at];
            let follows = at.checked_sub(1).is_some_and(|before| self.ends_a_statement(before));
            let begins = !["{", "}", "else", "case", "default", ";"].contains(&token.text);
            token.parentheses == 0 && begins && follows
        })
    }

    /// Does a statement begin after this token?
    fn ends_a_statement(&self, at: usize) -> bool {
        match self.tokens[at].text {
            ";" | "{" | "}" | "else" | "do" => true,
            ")" => self.is_control(at),
            ":" => {
                let start = (0..at).rev().find(|at| [";", "{", "}", ":"].contains(&self.tokens[*at].text));
                start.is_some_and(|start| {
                    ["case", "default"].contains(&self.tokens[start + 1].text) || start + 2 == at
                })
            }
            _ => false,
        }
    }

    /// Do these parentheses belong to `if` and the like?
    fn is_control(&self, close: usize) -> bool {
        let keyword = self.opening(close).and_then(|open| open.checked_sub(1));
        keyword.is_some_and(|at| ["if", "while", "for", "switch"].contains(&self.tokens[at].text))
    }

    /// Is the statement there the only one after a condition or `else`, without braces?
    pub(super) fn stands_alone(&self, at: usize) -> bool {
        let before = self.tokens[at - 1].text;
        matches!(before, ")" | "else" | "do")
    }

    /// The values of the cases of a `switch`.
    pub(super) fn cases(&self, switch: usize) -> Option<Vec<&'a str>> {
        let close = self.closing(switch + 1)?;
        let body = self.tokens.get(close + 1).filter(|token| token.text == "{")?;
        let inside = self.tokens[close + 2..].iter().take_while(|token| token.braces > body.braces);
        let own: Vec<&Token<'a>> = inside.filter(|token| token.braces == body.braces + 1).collect();
        let value = |three: &[&Token<'a>]| {
            (three[0].text == "case").then(|| (three[2].text == ":").then_some(three[1].text))
        };
        own.windows(3).filter_map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "#define A \\\n  if (1)\nint f(int x) {\n  char c = ')'; /* if ( */ // while (\n  if (x > g(1, (2)) && c) return x;\n  else x = g(x, 1) == 1 ? 2 : 3;\n  for (int i = 0; i < (x); i++)\n    h();\n  switch (x) { case 1: f(2); break; case 'a': default: x++; }\n  return 0;\n}\n";

    fn at(place: Option<usize>, text: &Text) -> String {
        place.map_or_else(String::new, |at| text.tokens[at].text.to_owned())
    }

    #[test]
    fn places_are_found() {
        let text = Text::of(PROGRAM);
        let branch = |line, column| text.branch(line, column).map(|(_, bytes)| PROGRAM[bytes].trim());
        assert_eq!(text.directives.len(), 1);
        assert_eq!(branch(5, None), Some("x > g(1, (2)) && c"));
        assert_eq!(branch(5, Some(3)), Some("x > g(1, (2)) && c"));
        assert_eq!(branch(5, Some(4)), None);
        assert_eq!(branch(6, None), Some("g(x, 1) == 1"));
        assert_eq!(branch(7, None), Some("i < (x)"));
        assert_eq!(branch(4, None), None);
        let call = text.call(5, None).expect("a call");
        assert_eq!(&PROGRAM[text.tokens[call.start].at..text.tokens[call.end].end()], "g(1, (2))");
        assert_eq!(text.call(3, None), None);
        // The only call of its line, or one of two.
        assert_eq!(text.call(8, Some(2)), text.call(8, None));
        assert_eq!(Text::of("int f(int x) {\n  return f(x) + f(2);\n}\n").call(2, Some(3)), None);
        assert_eq!(
            (at(text.statement(4, None), &text), at(text.statement(5, None), &text)),
            ("char".into(), "if".into())
        );
        assert_eq!(at(text.statement(6, None), &text), "x");
        let alone = text.statement(8, None).expect("a statement");
        assert!(text.stands_alone(alone) && text.tokens[alone].text == "h");
        let (switch, _) = text.branch(9, None).expect("a switch");
        assert_eq!(text.cases(switch), Some(vec!["1", "'a'"]));
        assert_eq!(at(text.statement(9, Some(24)), &text), "f");
    }
}
