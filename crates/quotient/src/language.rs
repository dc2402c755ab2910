//! In which language a model is written.
//!
//! What the user says decides, then the extension of the file, then its text. Text is only asked for a few words that the
//! other languages cannot have at that place: a BIR file starts with `system NAME`, a Promela model has a `proctype` or
//! `init {`. Where none of them is found nothing is guessed: reading a file in the wrong language could give a model that
//! nobody wrote.

use std::path::Path;

/// A language of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Promela, the language of SPIN.
    Promela,
    /// BIR, the language of Bogor.
    Bir,
    /// DVE, the language of DiVinE.
    Dve,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 3] = [Language::Promela, Language::Bir, Language::Dve];

    /// Its name in options.
    pub fn name(self) -> &'static str {
        match self {
            Language::Promela => "promela",
            Language::Bir => "bir",
            Language::Dve => "dve",
        }
    }

    /// The language with this name.
    pub fn from_name(name: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|l| l.name() == name)
    }

    /// The language of files with this extension.
    pub fn from_extension(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "pml" | "prm" | "prom" | "promela" | "spin" | "pr" => Some(Language::Promela),
            "bir" => Some(Language::Bir),
            "dve" => Some(Language::Dve),
            _ => None,
        }
    }

    /// The language that a text shows.
    pub fn from_text(text: &str) -> Option<Language> {
        let mut first = true;
        let mut previous = "";
        for word in (Words { rest: text }) {
            if previous == "system" && first && is_name(word) {
                return Some(Language::Bir);
            }
            if previous == "proctype" && is_name(word) || previous == "init" && word == "{" {
                return Some(Language::Promela);
            }
            first = previous.is_empty();
            previous = word;
        }
        None
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Words and single characters, without comments, strings and lines that start with `#`.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            self.rest = self.rest.trim_start();
            let first = self.rest.chars().next()?;
            let skipped = if self.rest.starts_with("//") || first == '#' {
                self.rest.find('\n')
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                comment.find("*/").map(|at| at + 4)
            } else if first == '"' {
                self.rest[1..].find(['"', '\n']).map(|at| at + 2)
            } else {
                let length = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let length = length.unwrap_or(self.rest.len()).max(first.len_utf8());
                let (word, rest) = self.rest.split_at(length);
                self.rest = rest;
                return Some(word);
            };
            self.rest = &self.rest[skipped?..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_show_their_language() {
        let shown = [
            ("active proctype P() { skip }", Some(Language::Promela)),
            ("#define x 1\n/* system A */ byte b;\ninit { b = 1 }", Some(Language::Promela)),
            ("// a comment\nsystem Two { }", Some(Language::Bir)),
            ("int system; int main() { }", None),
            ("byte b; /* init { */", None),
            ("char *s = \"init {\"; int init(void) { return 0; }", None),
            ("é è \"ü", None),
            ("", None),
        ];
        for (text, language) in shown {
            assert_eq!(Language::from_text(text), language, "{text}");
        }
    }
}
