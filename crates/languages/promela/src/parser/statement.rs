//! Sequences and simple statements.

use quotient_source::{Diagnostic, Span};

use super::expression::Tall;
use super::recover::is_embedded_c;
use super::{Parse, Parser};
use crate::ast::{CallTarget, Expr, ExprKind, Ident, Reference, Sequence, Statement, StatementKind};
use crate::token::{Kind, is_keyword, is_type};

impl Parser<'_> {
    pub(super) fn at_separator(&self) -> bool {
        matches!(self.kind(), Kind::LineEnd | Kind::Punct(";" | "->"))
    }

    /// Takes `;`, `->` or a line break.
    pub(super) fn take_separator(&mut self) -> bool {
        if self.line_end {
            self.line_end = false;
            return true;
        }
        self.take(";") || self.take("->")
    }

    /// Whether the token here, line breaks aside, ends the statements of a body, block or option.
    fn at_sequence_end(&self) -> bool {
        let token = self.token();
        self.at_end()
            || token.is("}")
            || token.is("::")
            || matches!(token.word(), Some("fi" | "od"))
            || self.at_unit_start()
    }

    /// Statements up to a token that closes them; `open` is where they start.
    pub(super) fn sequence(&mut self, open: Span) -> Sequence {
        let mut sequence = Sequence::default();
        let errors = self.diagnostics.error_count();
        if self.is("->") || self.is(";") {
            let found = self.kind().described();
            let diagnostic = self.error_here(format!("expected a statement before {found}")).help(
                "write a condition or statement first (`true` or `skip` if there is none), or remove it",
            );
            self.report(diagnostic);
        }
        loop {
            while self.take_separator() {}
            if self.at_sequence_end() {
                if !self.stray_closer() {
                    break;
                }
                continue;
            }
            let start = self.at;
            match self.step() {
                Ok(step) => sequence.statements.push(step),
                Err(_) => self.skip_statement(),
            }
            if self.at_sequence_end() || self.at_separator() || self.separated && self.at > start {
                continue;
            }
            self.missing_separator();
        }
        if sequence.statements.is_empty()
            && self.diagnostics.error_count() == errors
            && !self.at_end()
            && !self.at_unit_start()
        {
            let diagnostic = Diagnostic::error(open, "expected a statement")
                .label("nothing stands here")
                .help("write `skip` if nothing is to be done");
            self.report(diagnostic);
        }
        sequence
    }

    /// `fi`, `od` or `::` that belongs to no `if` or `do`: reported and taken.
    fn stray_closer(&mut self) -> bool {
        let token = self.token();
        if self.choices > 0 || self.at_end() || token.is("}") || self.at_unit_start() {
            return false;
        }
        let spelling = token.kind.spelling();
        let help = match spelling.as_str() {
            "fi" => "write the `if` that it closes, or remove it",
            "od" => "write the `do` that it closes, or remove it",
            _ => "options stand between `if` and `fi`, or `do` and `od`",
        };
        let message = match spelling.as_str() {
            "fi" => "`fi` without `if`",
            "od" => "`od` without `do`",
            _ => "`::` outside `if` and `do`",
        };
        let diagnostic = self.error_here(message).help(help);
        self.report(diagnostic);
        self.bump();
        true
    }

    /// Two statements without a separator.
    fn missing_separator(&mut self) {
        let found = self.kind().described();
        let diagnostic = if self.is("=") {
            self.error_here("only a variable can be assigned").help("write `==` to compare")
        } else if self.is(":") {
            self.error_here("expected `;` before `:`")
                .help("a choice between values stands in parentheses: `(c -> a : b)`; a label is a name at the start of a statement")
        } else if self.is_word("unless") {
            self.error_here("`unless` cannot follow `unless`")
                .help("put the first one in braces: `{ a unless b } unless c`")
        } else {
            let diagnostic = self.error_here(format!("expected `;` before {found}"));
            match self.advice() {
                Some(help) => diagnostic.help(help),
                None => diagnostic.help("separate statements by `;`, `->` or a line break"),
            }
        };
        self.report(diagnostic);
        let goes_on =
            self.word().is_some_and(|w| !matches!(w, "of" | "in" | "unless" | "provided" | "priority"));
        if !goes_on && !self.is("{") {
            let start = self.at;
            self.skip_statement();
            // Always go on by at least one token.
            if self.at == start && !self.at_sequence_end() && !self.at_separator() {
                self.bump();
            }
        }
    }

    /// A declaration, or a statement with `unless` after it.
    fn step(&mut self) -> Parse<Statement> {
        let statement = self.statement()?;
        if !self.is_word("unless") {
            return Ok(statement);
        }
        let span = statement.span;
        self.bump();
        let escape = self.statement()?;
        let kind = StatementKind::Unless(Box::new(statement), Box::new(escape));
        Ok(Statement { labels: Vec::new(), kind, span })
    }

    /// A statement with its labels.
    fn statement(&mut self) -> Parse<Statement> {
        self.deeper(|parser| {
            let labels = parser.labels()?;
            parser.refuse_labelled_declaration(&labels)?;
            let span = parser.span();
            if !labels.is_empty() && (parser.at_sequence_end() || parser.at_separator()) {
                // A label in front of nothing labels a `skip`.
                let span = labels.last().map_or(span, |l| l.span);
                let kind = StatementKind::Expr(Expr { kind: ExprKind::Number(1), span });
                return Ok(Statement { labels, kind, span });
            }
            let first = parser.at;
            let kind = parser.statement_kind()?;
            let compound = matches!(
                kind,
                StatementKind::If(_)
                    | StatementKind::Do(_)
                    | StatementKind::Atomic(_)
                    | StatementKind::DStep(_)
                    | StatementKind::Block(_)
                    | StatementKind::ForRange { .. }
                    | StatementKind::ForIn { .. }
            );
            let written = match compound {
                true => span,
                // Where the body of the inline says it: its arguments stand elsewhere.
                false if parser.inlines.in_call() => {
                    parser.written_at(first).to(parser.written_at(parser.at.saturating_sub(1)))
                }
                false => span.to(parser.previous),
            };
            let span = if compound { span } else { parser.statement_span(first, written) };
            Ok(Statement { labels, kind, span })
        })
    }

    fn labels(&mut self) -> Parse<Vec<Ident>> {
        let mut labels = Vec::new();
        while let Some(word) = self.word() {
            let label = self.ahead(1).is(":") && !is_keyword(word) && !self.proctypes.contains(word);
            if !label {
                break;
            }
            labels.push(Ident { name: word.to_string(), span: self.span() });
            self.bump();
            self.bump();
            if self.is("=") {
                let diagnostic = self.error_here("an assignment is written `=`").help("write `x = 1`");
                return Err(self.report(diagnostic));
            }
        }
        Ok(labels)
    }

    fn refuse_labelled_declaration(&mut self, labels: &[Ident]) -> Parse<()> {
        let Some(label) = labels.last() else { return Ok(()) };
        if self.at_declaration() || self.is_word("xr") || self.is_word("xs") {
            let name = &label.name;
            let diagnostic = Diagnostic::error(label.span, "a label cannot stand before a declaration")
                .help(format!("move the declaration up, or write `{name}: skip;` before it"));
            self.report(diagnostic);
        }
        Ok(())
    }

    fn statement_kind(&mut self) -> Parse<StatementKind> {
        if self.at_declaration() {
            return self.declaration().map(StatementKind::Declaration);
        }
        let Some(word) = self.word().map(str::to_string) else {
            if self.is("{") {
                return self.block().map(StatementKind::Block);
            }
            if self.is("&") && self.ahead(1).word().is_some() {
                return self.starts_with_address();
            }
            self.refuse_prefix_increment()?;
            return self.expression().map(StatementKind::Expr);
        };
        match word.as_str() {
            "if" | "do" | "for" | "select" | "atomic" | "d_step" => self.compound(&word),
            "goto" => {
                self.bump();
                self.name("a label after `goto`").map(StatementKind::Goto)
            }
            "break" => {
                self.bump();
                Ok(StatementKind::Break)
            }
            "else" => {
                self.bump();
                Ok(StatementKind::Else)
            }
            "printf" => self.printf(),
            "printm" => self.printm(),
            "assert" => {
                self.bump();
                self.expression().map(StatementKind::Assert)
            }
            "xr" | "xs" => self.exclusive(),
            "set_priority" => self.set_priority(),
            "return" => self.return_statement(),
            "inline" | "typedef" | "proctype" | "init" | "never" | "ltl" | "active" => {
                let diagnostic = self
                    .error_here(format!("`{word}` cannot stand inside a body"))
                    .help("move it to the top level, or close the body with `}` before it");
                Err(self.report(diagnostic))
            }
            word if is_embedded_c(word) && word != "c_expr" => Err(self.refuse_embedded_c()),
            word if is_keyword(word) => self.expression().map(StatementKind::Expr),
            _ if self.at_inline_call() => self.inline_call(None),
            _ if self.at_function_call() => self.call(None),
            "delete" if self.ahead(1).is("(") => self.delete(),
            _ => self.starts_with_name(),
        }
    }

    /// Assignment, send, receive, or an expression that starts with a name.
    fn starts_with_name(&mut self) -> Parse<StatementKind> {
        self.refuse_c_statement()?;
        let reference = self.reference()?;
        match self.kind() {
            Kind::Punct("=") => {
                self.bump();
                self.assignment(reference)
            }
            Kind::Punct("++") => {
                self.bump();
                Ok(StatementKind::Increment(reference))
            }
            Kind::Punct("--") => {
                self.bump();
                Ok(StatementKind::Decrement(reference))
            }
            Kind::Punct("!" | "!!") => self.send(reference),
            Kind::Punct("?" | "??") if !self.ahead(1).is("[") => self.receive(reference),
            _ => self.condition(reference),
        }
    }

    fn condition(&mut self, reference: Reference) -> Parse<StatementKind> {
        let first = self.named_after(reference)?;
        let Tall { expr, .. } = self.expression_after(first)?;
        Ok(StatementKind::Expr(expr))
    }

    fn assignment(&mut self, target: Reference) -> Parse<StatementKind> {
        if self.at_inline_call() {
            return self.inline_call(Some(target));
        }
        if self.at_function_call() {
            return self.call(Some(CallTarget { reference: target, pointer: false }));
        }
        let value = self.expression()?;
        if self.is("=") {
            let diagnostic = self
                .error_here("one assignment cannot contain another")
                .help("write two statements, or `==` to compare");
            return Err(self.report(diagnostic));
        }
        Ok(StatementKind::Assign(target, value))
    }

    fn printf(&mut self) -> Parse<StatementKind> {
        self.bump();
        let open = self.span();
        self.expect("(", "after `printf`")?;
        let Kind::Text(format) = self.kind().clone() else {
            return Err(self.expected("a string", "after `printf(`"));
        };
        self.bump();
        let mut args = Vec::new();
        while self.take(",") {
            args.push(self.expression()?);
        }
        self.close_parenthesis(open)?;
        Ok(StatementKind::Printf(format.to_string(), args))
    }

    fn printm(&mut self) -> Parse<StatementKind> {
        self.bump();
        let open = self.span();
        self.expect("(", "after `printm`")?;
        let value = self.expression()?;
        self.close_parenthesis(open)?;
        Ok(StatementKind::Printm(value))
    }

    fn exclusive(&mut self) -> Parse<StatementKind> {
        let send = self.is_word("xs");
        self.bump();
        let mut channels = vec![self.reference()?];
        while self.take(",") {
            channels.push(self.reference()?);
        }
        Ok(StatementKind::Exclusive { send, channels })
    }

    fn set_priority(&mut self) -> Parse<StatementKind> {
        let start = self.span();
        self.bump();
        let open = self.span();
        self.expect("(", "after `set_priority`")?;
        let process = Box::new(self.expression()?);
        self.expect(",", "between the process and its priority")?;
        let priority = Box::new(self.expression()?);
        self.close_parenthesis(open)?;
        let kind = ExprKind::SetPriority(process, priority);
        Ok(StatementKind::Expr(Expr { kind, span: start.to(self.previous) }))
    }

    /// `++i`, as C writes it.
    fn refuse_prefix_increment(&mut self) -> Parse<()> {
        let Kind::Punct(op @ ("++" | "--")) = *self.kind() else { return Ok(()) };
        let name = self.ahead(1).word().unwrap_or("x").to_string();
        let diagnostic =
            self.error_here(format!("`{op}` stands after the variable")).help(format!("write `{name}{op}`"));
        Err(self.report(diagnostic))
    }

    /// Words that are statements in C and names here.
    fn refuse_c_statement(&mut self) -> Parse<()> {
        let word = self.word().unwrap_or("").to_string();
        let next = self.ahead(1);
        let help = match word.as_str() {
            "while" if next.is("(") => "write `do :: condition -> … :: else -> break od`",
            "switch" if next.is("(") => "write `if :: (x == 1) -> … :: (x == 2) -> … :: else -> skip fi`",
            "case" | "default" => "write an option of `if`: `:: (x == 1) -> …`, `:: else -> …`",
            "continue" if !next.is("=") && !next.is(":") => {
                "end the option there, or jump with `goto` to a label before the `do`"
            }
            "elif" | "elseif" => "write another option: `:: condition -> …`",
            _ => {
                let declares = next.word().is_some_and(|w| !is_keyword(w)) && !next.line_start;
                if declares && !is_type(&word) {
                    return self.refuse_unknown_type(&word);
                }
                return Ok(());
            }
        };
        let diagnostic = self.error_here(format!("Promela has no `{word}`")).help(help);
        Err(self.report(diagnostic))
    }

    /// Two names side by side: most likely a declaration with an unknown type.
    fn refuse_unknown_type(&mut self, _word: &str) -> Parse<()> {
        let after = self.ahead(2);
        if after.is(";") || after.is("=") || after.is(",") || after.is("[") || after.line_start {
            return self.type_name().map(|_| ());
        }
        Ok(())
    }
}
