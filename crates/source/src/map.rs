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

#[derive(Debug)]
struct File {
    name: String,
    text: String,
    line_starts: Vec<u32>,
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
        self.files.push(File { name: name.into(), text, line_starts });
        FileId(self.files.len() as u32 - 1)
    }

    /// Reads a file from disk. Bytes that are not UTF-8 become replacement characters, so that the
    /// front end can point at them.
    pub fn load(&mut self, path: &Path) -> std::io::Result<FileId> {
        let bytes = std::fs::read(path)?;
        Ok(self.add(path.display().to_string(), String::from_utf8_lossy(&bytes)))
    }

    /// Every file, in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len() as u32).map(FileId)
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
        let file = &self.files[span.file.0 as usize];
        let line = file.line_starts.partition_point(|&s| s <= span.start).max(1) - 1;
        let start = file.line_starts[line] as usize;
        let before = file.text.get(start..span.start as usize).unwrap_or("");
        Position { line: line as u32 + 1, column: before.chars().count() as u32 + 1 }
    }

    /// `file:line` of a span, as traces and reports print it.
    pub fn file_line(&self, span: Span) -> String {
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
