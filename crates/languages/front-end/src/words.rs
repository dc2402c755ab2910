//! The words of a text whose language is not known yet.

/// Words and single characters, without comments, strings and lines that start with `#`.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    /// The words of a text.
    pub fn new(text: &'a str) -> Words<'a> {
        Words { rest: text }
    }
}

/// Is the word a name, or could it be one?
pub fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
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
