//! Files and positions in them.

use std::path::Path;

/// A file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of bytes in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        Span { file, start: start as u32, end: end as u32 }
    }

    /// From the start of `self` to the end of `other`; `self` alone when they lie in different
    /// files or `other` ends before `self` starts (as happens across macro expansions).
    pub fn to(self, other: Span) -> Span {
        if self.file == other.file && other.end >= self.start {
            Span { end: other.end, ..self }
        } else {
            self
        }
    }
}

/// A position as people count: lines and columns from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// Why a file cannot be read, and what to do, as an error message without `error: `.
pub fn unreadable(path: &Path, error: &std::io::Error) -> String {
    let path = path.display();
    match error.kind() {
        std::io::ErrorKind::NotFound => format!("cannot read {path}: there is no such file"),
        std::io::ErrorKind::IsADirectory => {
            format!(
                "cannot read {path}: it is a folder\nhelp: name a file in it; `quotient test {path}` checks every file of a folder against what it says of itself"
            )
        }
        _ => format!("cannot read {path}: {error}"),
    }
}

#[derive(Debug)]
struct File {
    name: String,
    text: String,
    line_starts: Vec<u32>,
    /// What the text was put together from, by its first byte; a file of the user has none.
    expansions: Vec<Expansion>,
}

/// A piece of text that stands in no file.
#[derive(Clone, Copy, Debug)]
struct Expansion {
    start: u32,
    /// The place that it stands for.
    at: Span,
    /// The call that put it there.
    call: Option<Span>,
}

/// Pieces of text that stand in no file of the user, because a macro or the like made them; each stands for a place in a file.
/// They become a file of the map by [`SourceMap::add_expansions`].
#[derive(Debug)]
pub struct Expansions {
    file: FileId,
    text: String,
    places: Vec<Expansion>,
}

impl Default for Expansions {
    fn default() -> Expansions {
        Expansions { file: FileId(u32::MAX), text: String::new(), places: Vec::new() }
    }
}

impl Expansions {
    /// Adds a piece of text that stands for the place `at`, put there by `call`; gives its span.
    pub fn add(&mut self, text: &str, at: Span, call: Option<Span>) -> Span {
        let start = self.text.len();
        self.text.push_str(text);
        self.text.push('\n');
        self.places.push(Expansion { start: start as u32, at, call });
        Span::new(self.file, start, start + text.len())
    }
}

/// Every file read for one input, with its name as the user wrote it.
#[derive(Debug, Default)]
pub struct SourceMap {
    files: Vec<File>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a file whose text is already in memory.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1))
            .collect();
        self.files.push(File { name: name.into(), text, line_starts, expansions: Vec::new() });
        FileId(self.files.len() as u32 - 1)
    }

    /// No pieces yet, for the file that comes next.
    pub fn expansions(&self) -> Expansions {
        Expansions { file: FileId(self.files.len() as u32), ..Expansions::default() }
    }

    /// Adds the pieces, before any other file.
    pub fn add_expansions(&mut self, expansions: Expansions) {
        if expansions.places.is_empty() {
            return;
        }
        debug_assert_eq!(expansions.file.0 as usize, self.files.len());
        self.add("", expansions.text);
        if let Some(file) = self.files.last_mut() {
            file.expansions = expansions.places;
        }
    }

    fn expansion(&self, span: Span) -> Option<&Expansion> {
        let places = &self.files.get(span.file.0 as usize)?.expansions;
        places[..places.partition_point(|e| e.start <= span.start)].last()
    }

    /// The place in a file of the user that a span stands for: itself, unless it is an expansion's.
    pub fn written(&self, span: Span) -> Span {
        self.expansion(span).map_or(span, |e| e.at)
    }

    /// The call that put the text of a span where it is.
    pub fn call(&self, span: Span) -> Option<Span> {
        self.expansion(span)?.call
    }

    /// Reads a file from disk. Bytes that are not UTF-8 become replacement characters, so that the
    /// front end can point at them.
    pub fn load(&mut self, path: &Path) -> std::io::Result<FileId> {
        let bytes = std::fs::read(path)?;
        Ok(self.add_bytes(path.display().to_string(), &bytes))
    }

    /// The same with what was read already. The mark that some editors put before the text (U+FEFF) is not part of it.
    pub fn add_bytes(&mut self, name: impl Into<String>, bytes: &[u8]) -> FileId {
        let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        self.add(name, String::from_utf8_lossy(text))
    }

    /// Every file of the user, in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = FileId> {
        let own = self.files.iter().enumerate().filter(|(_, f)| f.expansions.is_empty());
        own.map(|(index, _)| FileId(index as u32))
    }

    /// The name of a file.
    pub fn name(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].name
    }

    /// The text of a file.
    pub fn text(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].text
    }

    /// The empty span at the end of a file.
    pub fn end(&self, file: FileId) -> Span {
        let length = self.text(file).len();
        Span::new(file, length, length)
    }

    /// The source text of a span.
    pub fn slice(&self, span: Span) -> &str {
        self.text(span.file).get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Line and column of the first byte of a span.
    pub fn position(&self, span: Span) -> Position {
        let span = self.written(span);
        let file = &self.files[span.file.0 as usize];
        let line = file.line_starts.partition_point(|&s| s <= span.start).max(1) - 1;
        let start = file.line_starts[line] as usize;
        let before = file.text.get(start..span.start as usize).unwrap_or("");
        Position { line: line as u32 + 1, column: before.chars().count() as u32 + 1 }
    }

    /// `file:line` of a span, as traces and reports print it.
    pub fn file_line(&self, span: Span) -> String {
        let span = self.written(span);
        format!("{}:{}", self.name(span.file), self.position(span).line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_from_one() {
        let mut map = SourceMap::new();
        let file = map.add("a.pml", "ab\ncdé\nf");
        let at = |start| map.position(Span::new(file, start, start + 1));
        assert_eq!(at(0), Position { line: 1, column: 1 });
        assert_eq!(at(4), Position { line: 2, column: 2 });
        assert_eq!(at(8), Position { line: 3, column: 1 });
        assert_eq!(map.file_line(Span::new(file, 8, 9)), "a.pml:3");
    }
}
