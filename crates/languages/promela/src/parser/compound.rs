//! Statements that contain statements.

use quotient_source::{Diagnostic, Span};

use super::{Parse, Parser};
use crate::ast::{Choice, Expr, Sequence, StatementKind};

impl Parser<'_> {
    pub(super) fn compound(&mut self, word: &str) -> Parse<StatementKind> {
        match word {
            "if" => self.choices("fi").map(StatementKind::If),
            "do" => self.choices("od").map(StatementKind::Do),
            "for" => self.for_loop(),
            "select" => self.select(),
            "atomic" => {
                self.bump();
                self.block().map(StatementKind::Atomic)
            }
            _ => {
                self.bump();
                self.block().map(StatementKind::DStep)
            }
        }
    }

    /// `{ sequence }`.
    pub(super) fn block(&mut self) -> Parse<Sequence> {
        let open = self.span();
        self.line_end = false;
        self.expect("{", "to start a block")?;
        let sequence = self.sequence(open);
        // A block that is not closed has been reported; what it contains is kept.
        let _ = self.close_brace("this block", open);
        Ok(sequence)
    }

    /// `if :: … fi` and `do :: … od`.
    fn choices(&mut self, closer: &str) -> Parse<Vec<Choice>> {
        let keyword = self.span();
        let word = self.word().unwrap_or("if").to_string();
        self.bump();
        if !self.is("::") {
            return Err(self.missing_options(&word, closer));
        }
        let mut choices = Vec::new();
        self.choices += 1;
        while self.token().is("::") {
            let span = self.span();
            self.line_end = false;
            self.bump();
            choices.push(Choice { sequence: self.sequence(span), span });
        }
        self.choices -= 1;
        self.close_choices(&word, closer, keyword);
        self.refuse_second_else(&choices);
        Ok(choices)
    }

    fn close_choices(&mut self, word: &str, closer: &str, keyword: Span) {
        self.line_end = false;
        if self.take_word(closer) {
            return;
        }
        let found = self.kind().described();
        let diagnostic = self
            .error_here(format!("expected `{closer}` to close this `{word}`, found {found}"))
            .related(keyword, format!("this `{word}` is not closed"))
            .help(format!("write `{closer}` after the last option"));
        self.report(diagnostic);
        // `fi` for `od` and the other way round is a slip of the pen.
        if matches!(self.word(), Some("fi" | "od")) && self.choices == 0 {
            self.bump();
        }
    }

    /// `if` or `do` without `::`.
    fn missing_options(&mut self, word: &str, closer: &str) -> super::Reported {
        let found = self.kind().described();
        let diagnostic = self.error_here(format!("expected `::` after `{word}`, found {found}"));
        let example = if word == "if" {
            "`if :: condition -> … :: else -> skip fi`"
        } else {
            "`do :: condition -> … :: else -> break od`"
        };
        let reported = self.report(diagnostic.help(format!("options start with `::`; write {example}")));
        if self.is("(") {
            self.skip_c_statement(closer);
        } else {
            self.skip_to_closer(closer);
        }
        reported
    }

    /// Skips to the word that closes an `if` or `do` without options.
    fn skip_to_closer(&mut self, closer: &str) {
        self.skip_statement();
        while self.take_separator() || self.token().is("::") {
            if self.token().is("::") {
                self.bump();
            }
            self.skip_statement();
        }
        if self.token().word() == Some(closer) {
            self.bump();
        }
    }

    /// Most likely C: skips `( … )`, then `{ … }` if it follows, then `else { … }`, then the closing word.
    fn skip_c_statement(&mut self, closer: &str) {
        self.skip_group("(", ")");
        self.skip_group("{", "}");
        if self.token().word() == Some("else") && self.ahead(1).is("{") {
            self.bump();
            self.skip_group("{", "}");
        }
        if self.token().word() == Some(closer) {
            self.bump();
        }
    }

    /// Skips a group in brackets, if one starts here.
    fn skip_group(&mut self, open: &str, close: &str) {
        let mut nesting = 0usize;
        while !self.at_end() && (nesting > 0 || self.token().is(open)) {
            if self.token().is(open) {
                nesting += 1;
            } else if self.token().is(close) {
                nesting -= 1;
            }
            self.bump();
            if nesting == 0 {
                return;
            }
        }
    }

    fn refuse_second_else(&mut self, choices: &[Choice]) {
        let mut elses = choices
            .iter()
            .filter_map(|c| c.sequence.statements.first())
            .filter(|s| matches!(s.kind, StatementKind::Else));
        if let (Some(first), Some(second)) = (elses.next(), elses.next()) {
            let diagnostic = Diagnostic::error(second.span, "a second `else` among these options")
                .related(first.span, "the first `else`")
                .help("keep one of them, or give the other a condition");
            self.report(diagnostic);
        }
    }

    /// `for (i : a .. b) { … }` and `for (i in a) { … }`.
    fn for_loop(&mut self) -> Parse<StatementKind> {
        self.bump();
        let open = self.span();
        self.expect("(", "after `for`")?;
        if self.at_declaration() {
            let name = self.ahead(1).word().unwrap_or("i").to_string();
            let diagnostic = self
                .error_here("the counter of a `for` is declared before it")
                .help(format!("declare it first, then write `for ({name} : 1 .. 3) {{ … }}`"));
            return Err(self.report(diagnostic));
        }
        let variable = self.reference()?;
        if self.take_word("in") {
            let collection = self.reference()?;
            self.close_parenthesis(open)?;
            let body = self.loop_body()?;
            return Ok(StatementKind::ForIn { variable, collection, body });
        }
        let (from, to) = self.range("for", open)?;
        let body = self.loop_body()?;
        Ok(StatementKind::ForRange { variable, from, to, body })
    }

    fn loop_body(&mut self) -> Parse<Sequence> {
        while self.take_separator() {}
        self.block()
    }

    /// `select (i : a .. b)`.
    fn select(&mut self) -> Parse<StatementKind> {
        self.bump();
        let open = self.span();
        self.expect("(", "after `select`")?;
        let variable = self.reference()?;
        let (from, to) = self.range("select", open)?;
        Ok(StatementKind::Select { variable, from, to, in_inline: self.inlines.in_call() })
    }

    /// Skips to the `)` of `for (i = 0; …)` and over the block after it.
    fn skip_loop_header(&mut self) {
        let mut nesting = 1usize;
        while !self.at_end() && nesting > 0 && !self.token().is("{") && !self.token().is("}") {
            if self.token().is("(") {
                nesting += 1;
            } else if self.token().is(")") {
                nesting -= 1;
            }
            self.bump();
        }
        self.skip_group("{", "}");
    }

    /// `: a .. b )`.
    fn range(&mut self, word: &str, open: Span) -> Parse<(Expr, Expr)> {
        if !self.is(":") {
            let found = self.kind().described();
            let diagnostic = self
                .error_here(format!("expected `:` after the variable of `{word}`, found {found}"))
                .help(format!("write `{word} (i : 1 .. 3)`"));
            let reported = self.report(diagnostic);
            self.skip_loop_header();
            return Err(reported);
        }
        self.bump();
        let from = self.expression()?;
        if !self.take("..") {
            let found = self.kind().described();
            let diagnostic = self
                .error_here(format!("expected `..` between the ends of the range, found {found}"))
                .help(format!("write `{word} (i : 1 .. 3)`"));
            return Err(self.report(diagnostic));
        }
        let to = self.expression()?;
        self.close_parenthesis(open)?;
        Ok((from, to))
    }
}
