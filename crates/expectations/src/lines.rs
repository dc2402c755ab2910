//! Expectations in the comments of a text.

use std::collections::BTreeSet;
use std::fmt;

use crate::{Bound, Clause, Figure};

/// What one run is expected to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The lines it stands on, from 1.
    pub lines: Vec<u32>,
    /// Options of the run.
    pub options: Vec<String>,
    /// What is expected of its answer.
    pub clauses: Vec<Clause>,
}

impl Expectation {
    /// The expectation of the run with these options.
    pub fn with<'a>(all: &'a [Expectation], options: &[&str]) -> Option<&'a Expectation> {
        all.iter().find(|e| e.options.iter().map(String::as_str).eq(options.iter().copied()))
    }

    /// The number that is expected of a figure, as a bound of this kind.
    pub fn figure(&self, bound: Bound, figure: Figure) -> Option<u64> {
        self.clauses.iter().find_map(|clause| match clause {
            Clause::Count(b, number, f) if *b == bound && *f == figure => Some(*number),
            _ => None,
        })
    }

    /// The kinds of the violations that are expected.
    pub fn kinds(&self) -> BTreeSet<&str> {
        let kind = |clause: &'_ Clause| matches!(clause, Clause::Violated { .. });
        self.clauses.iter().filter(|c| kind(c)).map(Clause::kind).collect()
    }
}

/// A line that is not an expectation although it begins like one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// How comments begin in the languages that are read.
const COMMENTS: [&str; 5] = ["//", "/*", "%", ";", "#"];

/// Between options and clauses.
const ARROW: &str = "=>";

/// What follows `quotient:` in a comment, and what stands before it.
fn content(line: &str) -> Option<(&str, &str)> {
    let inner = line.trim_start();
    let opened = COMMENTS.iter().find_map(|comment| inner.strip_prefix(comment))?;
    let rest = opened.trim_start_matches(['/', ';', '%', '*', '#']).trim_start();
    let text = rest.strip_prefix("quotient:")?;
    let prefix = &line[..line.len() - text.len()];
    Some((prefix, text.trim().trim_end_matches("*/").trim_end()))
}

/// All expectations of a text, those with the same options as one.
pub fn read(text: &str) -> Result<Vec<Expectation>, Malformed> {
    let mut all: Vec<Expectation> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some((_, content)) = content(line) else { continue };
        let number = index as u32 + 1;
        let (options, clauses) = parse(content).map_err(|message| Malformed { line: number, message })?;
        match all.iter_mut().find(|e| e.options == options) {
            Some(same) => {
                same.lines.push(number);
                same.clauses.extend(clauses);
            }
            None => all.push(Expectation { lines: vec![number], options, clauses }),
        }
    }
    Ok(all)
}

fn parse(content: &str) -> Result<(Vec<String>, Vec<Clause>), String> {
    let (options, clauses) = content.split_once(ARROW).unwrap_or(("", content));
    if options.is_empty() && clauses.trim_start().starts_with('-') {
        return Err(format!("options end with `{ARROW}`: `--raw {ARROW} states 19`"));
    }
    let clauses = clauses.split(", ").map(|clause| Clause::parse(clause.trim()));
    Ok((words(options)?, clauses.collect::<Result<_, _>>()?))
}

/// The words of a command line, with single and double quotes.
fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(q) = quote {
        return Err(format!("the quotation mark {q} is not closed"));
    }
    words.extend(word);
    Ok(words)
}

/// Words as a command line that [`read`] and shells take apart again.
pub fn quoted(words: &[String]) -> String {
    let plain = |word: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+@%".contains(c);
        !word.is_empty() && word.chars().all(plain)
    };
    let quote = |word: &String| match () {
        () if plain(word) => word.clone(),
        () if word.contains('\'') => format!("\"{word}\""),
        () => format!("'{word}'"),
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// The text with the lines of an expectation replaced by one that says `clauses`; at the end, after `comment`, where it has none: no
/// other line moves, so that the lines of violations stay right.
pub fn rewrite(text: &str, expectation: &Expectation, clauses: &[Clause], comment: &str) -> String {
    let clauses = clauses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let said = match expectation.options.is_empty() {
        true => clauses,
        false => format!("{} {ARROW} {clauses}", quoted(&expectation.options)),
    };
    let mut written = String::with_capacity(text.len() + said.len());
    let first = expectation.lines.first().copied();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let number = index as u32 + 1;
        match content(line) {
            Some((prefix, _)) if Some(number) == first => {
                let closed = if line.trim_end().ends_with("*/") { " */" } else { "" };
                let end = if line.ends_with('\n') { "\n" } else { "" };
                written.push_str(&format!("{prefix} {said}{closed}{end}"));
            }
            Some(_) if expectation.lines.contains(&number) => {}
            _ => written.push_str(line),
        }
    }
    if expectation.lines.is_empty() {
        if !written.is_empty() && !written.ends_with('\n') {
            written.push('\n');
        }
        written.push_str(&format!("{comment} quotient: {said}\n"));
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_the_same_options_are_one_run() {
        let text = "// quotient: holds\n// quotient: --raw => states 19, transitions 1_000\nbyte x;\n/* quotient: states 3 */\n";
        let all = read(text).unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].lines, [1, 4]);
        assert_eq!(all[0].clauses, [Clause::Holds, Clause::Count(Bound::Exactly, 3, Figure::States)]);
        assert_eq!(all[1].options, ["--raw"]);
        assert_eq!(all[1].clauses[1], Clause::Count(Bound::Exactly, 1000, Figure::Transitions));
    }

    #[test]
    fn comments_of_every_language() {
        for comment in ["//", "%", "%%", ";", ";;", "#", "  //", "/*"] {
            let text = format!("{comment} quotient: violated assertion line 19\n");
            let all = read(&text).unwrap();
            let expected = Clause::Violated { kind: Some("assertion".into()), line: Some(19) };
            assert_eq!(all[0].clauses, [expected], "{comment}");
        }
        assert_eq!(read("a // quotient: holds\nquotient: holds\n// see quotient: x\n").unwrap(), []);
    }

    #[test]
    fn options_are_quoted_as_in_a_shell() {
        let all = read("// quotient: --ltl '[] (p -> <> q)' -D \"N=2\" => holds\n").unwrap();
        assert_eq!(all[0].options, ["--ltl", "[] (p -> <> q)", "-D", "N=2"]);
        assert_eq!(quoted(&all[0].options), "--ltl '[] (p -> <> q)' -D N=2");
        assert!(read("// quotient: --ltl '[] p => holds").unwrap_err().message.contains("not closed"));
        assert!(read("// quotient: --raw states 2").unwrap_err().message.contains("=>"));
    }

    #[test]
    fn what_is_not_an_expectation_is_named() {
        let wrong = read("byte x;\n// quotient: hodls\n").unwrap_err();
        assert_eq!(wrong.line, 2);
        assert!(wrong.to_string().contains("`hodls` is not an expectation"), "{wrong}");
        assert!(read("// quotient: states many\n").is_err());
    }

    #[test]
    fn clauses_read_back() {
        let text = "holds, violated, violated deadlock, violated race line 7, undecided, undecided time, error, error line 2, proved room, \
                    refuted x, unknown y, states 1, transitions 2, depth 3, executions 4, at most 5 states, violated line 3";
        let clauses = parse(text).unwrap().1;
        assert_eq!(clauses.len(), 17);
        assert_eq!(clauses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "), text);
    }

    #[test]
    fn rewriting_keeps_the_rest() {
        let text = "/* quotient: --raw => states 1 */\nbyte x;\n/* quotient: --raw => holds */\n// quotient: holds\n";
        let all = read(text).unwrap();
        let new =
            rewrite(text, &all[0], &[Clause::Count(Bound::Exactly, 2, Figure::States), Clause::Holds], "//");
        assert_eq!(new, "/* quotient: --raw => states 2, holds */\nbyte x;\n// quotient: holds\n");
        let none = Expectation { lines: vec![], options: vec![], clauses: vec![] };
        assert_eq!(rewrite("x\n", &none, &[Clause::Holds], ";"), "x\n; quotient: holds\n");
        assert_eq!(rewrite("x", &none, &[Clause::Holds], ";"), "x\n; quotient: holds\n");
    }
}
