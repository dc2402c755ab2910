//! Formatting: the indentation of lines and white space at their ends, nothing else.
//!
//! In Promela a line break can end a statement, so lines are never joined or split. What is done is checked: the tokens of the text after
//! it, with their lines, are those of the text before; otherwise nothing is changed. Lines inside a comment and those of a directive keep
//! their indentation.

use quotient_languages::Language;

use crate::names::token::{Kind, Style, Token, tokens};
use crate::text::Text;

/// How lines are indented.
#[derive(Clone, Debug)]
pub(crate) struct Indentation {
    /// One level.
    pub(crate) unit: String,
}

/// The text with its lines indented; none if that would change anything else.
pub(crate) fn format(language: Language, text: &str, indentation: &Indentation) -> Option<String> {
    let style = Style { directives: language == Language::PROMELA, quoted: language == Language::BIR };
    let before = tokens(text, style);
    let lines = Text::new(text.to_owned());
    let promela = language == Language::PROMELA;
    // By line: how deep it is, and whether it goes on with an option.
    let mut depths: Vec<Option<(usize, bool)>> = vec![None; lines.line_count()];
    // For each thing that is open: has an option of it begun?
    let mut open: Vec<bool> = Vec::new();
    // The structured statements of BIR end in ways that tokens alone do not tell: there only ends of lines are changed.
    for token in before.iter().filter(|t| t.group == 0 && language != Language::BIR) {
        let word = &text[token.range.clone()];
        let closes = matches!(word, "}" | ")" | "]") || promela && matches!(word, "fi" | "od");
        let option = promela && word == "::";
        if closes {
            open.pop();
        }
        let line = lines.line(token.range.start);
        let own = lines.line_range(line);
        let first = text[own.clone()].find(|c: char| !c.is_whitespace());
        if first.is_some_and(|first| own.start + first == token.range.start) {
            // The options of `if` and `do` stand with them, and what follows an option inside of it.
            let inside = !option && !closes && open.last() == Some(&true);
            depths[line] = Some((open.len() - usize::from(option && !open.is_empty()), inside));
        }
        if let Some(last) = open.last_mut().filter(|_| option) {
            *last = true;
        }
        if matches!(word, "{" | "(" | "[") || promela && matches!(word, "if" | "do") {
            open.push(false);
        }
    }
    let mut out = String::with_capacity(text.len());
    for (line, depth) in depths.iter().enumerate() {
        let own = &text[lines.line_range(line)];
        match depth {
            Some((depth, inside)) => {
                out.push_str(&indentation.unit.repeat(*depth));
                if *inside {
                    out.push_str("   ");
                }
                out.push_str(own.trim());
            }
            None => out.push_str(own.trim_end()),
        }
        out.push('\n');
    }
    // One line break at the end, as many as there were before it.
    if !text.ends_with('\n') || lines.line_count() > 1 {
        out.pop();
    }
    if !out.ends_with('\n') && !out.is_empty() {
        out.push('\n');
    }
    let shape = |text: &str, all: &[Token]| -> Vec<(Kind, String, bool, u32)> {
        all.iter().map(|t| (t.kind, text[t.range.clone()].to_owned(), t.line_start, t.group)).collect()
    };
    (shape(text, &before) == shape(&out, &tokens(&out, style))).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_indented() {
        let text = "byte x;\n  active proctype P() {\ndo\n:: x == 1 ->  \nx = 2\n     :: else -> break\nod }\n/* a\n   b */\n#define M \\\n  x\n";
        let wanted = "byte x;\nactive proctype P() {\n\tdo\n\t:: x == 1 ->\n\t\t   x = 2\n\t:: else -> break\n\tod }\n/* a\n   b */\n#define M \\\n  x\n";
        let indentation = Indentation { unit: "\t".into() };
        let done = format(Language::PROMELA, text, &indentation).unwrap();
        assert_eq!(done, wanted);
        assert_eq!(format(Language::PROMELA, &done, &indentation).unwrap(), done);
    }
}
