//! Going on after a mistake.

use super::Parser;

/// Words that start a declaration and occur nowhere inside one.
const MEMBER_WORDS: &[&str] = &[
    "const",
    "enum",
    "record",
    "throwable",
    "extension",
    "typealias",
    "function",
    "active",
    "main",
    "fun",
    "thread",
];

impl Parser<'_> {
    fn at_member_word(&self) -> bool {
        MEMBER_WORDS.iter().any(|w| self.is(w))
    }

    /// Skips the rest of a declaration that started at token `start`: to the next word that starts one, or past the
    /// bracket or semicolon that ends it. Takes at least one token.
    pub(super) fn skip_member(&mut self, start: usize) {
        // How many braces the part already read has left open.
        let mut open = 0usize;
        for token in self.since(start) {
            if token.is("{") {
                open += 1;
            } else if token.is("}") {
                open = open.saturating_sub(1);
            }
        }
        if self.at == start && !self.is("}") {
            if self.is("{") {
                open += 1;
            }
            self.bump();
        }
        while !self.at_end() && !self.at_member_word() {
            if self.is("{") {
                open += 1;
            } else if self.is("}") {
                if open == 0 {
                    // The brace of the system itself; if more declarations follow, it was one too many.
                    if self.peek(1).kind != crate::token::Kind::End {
                        self.bump();
                    }
                    return;
                }
                open -= 1;
                if open == 0 {
                    self.bump();
                    return;
                }
            } else if self.is(";") && open == 0 {
                self.bump();
                return;
            }
            self.bump();
        }
    }

    /// Skips the rest of a statement, action or transformation: past its semicolon, or up to a word or brace that
    /// belongs to what is around it. `words` are those words.
    pub(super) fn skip_statement(&mut self, start: usize, words: &[&str]) {
        if self.at == start && !self.is("}") && !self.at_end() && !self.at_member_word() {
            self.bump();
        }
        let mut open = 0usize;
        while !self.at_end() && !self.at_member_word() {
            if self.is("{") {
                open += 1;
            } else if self.is("}") {
                if open == 0 {
                    return;
                }
                open -= 1;
            } else if self.is(";") && open == 0 {
                self.bump();
                return;
            } else if words.iter().any(|w| self.is(w)) {
                return;
            }
            self.bump();
        }
    }

    /// Whether a list of statements can go on here: not at its closing brace, not at the end, not where another
    /// declaration starts (then a brace is missing), and not after too many errors.
    pub(super) fn goes_on(&self) -> bool {
        !self.is("}")
            && !self.at_end()
            && !self.at_member_word()
            && self.diagnostics.error_count() < super::MAX_ERRORS
    }
}
