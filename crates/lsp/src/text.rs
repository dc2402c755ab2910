//! Positions in a text: bytes here, lines and UTF-16 units in editors.

use std::ops::Range;

use serde_json::{Value, json};

/// A text with the beginnings of its lines.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    text: String,
    lines: Vec<usize>,
}

impl Text {
    pub(crate) fn new(text: String) -> Text {
        let lines = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1))
            .collect();
        Text { text, lines }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The line of a byte, from 0.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at).max(1) - 1
    }

    /// The bytes of a line, without its end.
    pub(crate) fn line_range(&self, line: usize) -> Range<usize> {
        let start = self.lines.get(line).copied().unwrap_or(self.text.len());
        let end = self.lines.get(line + 1).map_or(self.text.len(), |next| next - 1);
        start..end.max(start)
    }

    /// How many lines there are.
    pub(crate) fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// The position of a byte.
    pub(crate) fn position(&self, at: usize) -> Value {
        let at = self.clip(at);
        let line = self.line(at);
        let units: usize = self.text[self.lines[line]..at].chars().map(char::len_utf16).sum();
        json!({ "line": line, "character": units })
    }

    pub(crate) fn range(&self, range: &Range<usize>) -> Value {
        json!({ "start": self.position(range.start), "end": self.position(range.end) })
    }

    /// The byte at a position; past the end of a line, its end.
    pub(crate) fn offset(&self, position: &Value) -> Option<usize> {
        let line = usize::try_from(position["line"].as_u64()?).ok()?;
        let mut units = position["character"].as_u64()?;
        if line >= self.lines.len() {
            return Some(self.text.len());
        }
        let range = self.line_range(line);
        for (at, c) in self.text[range.clone()].char_indices() {
            if units < c.len_utf16() as u64 {
                return Some(range.start + at);
            }
            units -= c.len_utf16() as u64;
        }
        Some(range.end)
    }

    /// The bytes of a range of positions.
    pub(crate) fn bytes(&self, range: &Value) -> Option<Range<usize>> {
        let (start, end) = (self.offset(&range["start"])?, self.offset(&range["end"])?);
        Some(start.min(end)..end)
    }

    /// The nearest place at or before a byte at which a character begins.
    fn clip(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_bytes() {
        let text = Text::new("aé𝄞b\n\nc".to_owned());
        for (at, line, character) in
            [(0, 0, 0), (1, 0, 1), (3, 0, 2), (7, 0, 4), (8, 0, 5), (9, 1, 0), (11, 2, 1)]
        {
            let position = json!({ "line": line, "character": character });
            assert_eq!(text.position(at), position);
            assert_eq!(text.offset(&position), Some(at));
        }
        // Inside a character, past a line, past the text, nonsense.
        assert_eq!(text.position(5), json!({ "line": 0, "character": 2 }));
        assert_eq!(text.offset(&json!({ "line": 0, "character": 3 })), Some(3));
        assert_eq!(text.offset(&json!({ "line": 0, "character": 99 })), Some(8));
        assert_eq!(text.offset(&json!({ "line": 9, "character": 0 })), Some(11));
        assert_eq!(text.offset(&json!({ "line": -1, "character": 0 })), None);
        assert_eq!(text.offset(&json!(null)), None);
    }
}
