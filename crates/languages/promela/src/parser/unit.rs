//! Top-level units: proctypes, init, claims, types.

use quotient_source::{Diagnostic, Expansions};

use super::labels::restore_plain_labels;
use super::recover::is_embedded_c;
use super::{Parse, Parser};
use crate::ast::{Active, Ident, Init, Ltl, Model, Mtype, Never, Proctype, Sequence, Trace, Typedef, Unit};
use crate::token::is_type;

impl Parser<'_> {
    /// A whole model, and what its macros and inlines made.
    pub fn model(mut self, expansions: Expansions) -> (Model, Expansions) {
        self.expansions = expansions;
        let mut model = Model::default();
        while !self.at_end() {
            if self.take(";") || self.take("->") {
                continue;
            }
            let start = self.at;
            self.parentheses = 0;
            self.in_sequence = false;
            self.line_end = false;
            match self.unit() {
                Ok(Some(unit)) => model.units.push(unit),
                Ok(None) => {}
                // A unit that failed at once has taken nothing: skip it, so that every round goes on.
                Err(_) => {
                    if self.at == start || !self.at_unit_start() {
                        self.skip_unit();
                    }
                }
            }
        }
        model.dynamic = self.dynamic;
        (model, self.expansions)
    }

    fn unit(&mut self) -> Parse<Option<Unit>> {
        let Some(word) = self.word().map(str::to_string) else {
            return Err(self.expected("a declaration, a proctype or `init`", ""));
        };
        match word.as_str() {
            "active" | "proctype" | "D_proctype" => self.proctype().map(|p| Some(Unit::Proctype(p))),
            _ if self.at_function() => self.function().map(|f| Some(Unit::Function(f))),
            "ftype" if self.ahead(1).word().is_some() => {
                self.declaration().map(|d| Some(Unit::Declaration(d)))
            }
            "init" => self.init().map(|u| Some(Unit::Init(u))),
            "never" => self.never().map(|u| Some(Unit::Never(u))),
            "trace" | "notrace" => self.trace().map(|u| Some(Unit::Trace(u))),
            "ltl" => self.ltl().map(|u| Some(Unit::Ltl(u))),
            "typedef" => self.typedef().map(|u| Some(Unit::Typedef(u))),
            "inline" => self.inline_definition().map(|()| None),
            "mtype" if self.at_mtype_definition() => self.mtype().map(|u| Some(Unit::Mtype(u))),
            "hidden" | "show" | "local" => self.declaration().map(|d| Some(Unit::Declaration(d))),
            word if is_type(word) || self.typedefs.contains(word) => {
                self.refuse_c_function()?;
                self.declaration().map(|d| Some(Unit::Declaration(d)))
            }
            word if is_embedded_c(word) => {
                self.refuse_embedded_c();
                Ok(None)
            }
            _ if self.ahead(1).word().is_some() => self.type_name().map(|_| None),
            _ => {
                let diagnostic = self
                    .error_here(format!("expected a declaration, a proctype or `init`, found `{word}`"))
                    .help(match self.advice() {
                        Some(help) => help,
                        None => "statements stand in the body of a proctype or of `init`".to_string(),
                    });
                Err(self.report(diagnostic))
            }
        }
    }

    /// `int main() { … }` and the like.
    fn refuse_c_function(&mut self) -> Parse<()> {
        if self.ahead(1).word().is_some() && self.ahead(2).is("(") {
            let diagnostic = self.error_here("this is not how a function is written").help(
                "a process is `proctype P(…) { … }` (`active proctype` or `init` to start it); text to be copied is `inline f(…) { … }`, a function with a frame `function f(int x) : int { … }`",
            );
            return Err(self.report(diagnostic));
        }
        Ok(())
    }

    fn proctype(&mut self) -> Parse<Proctype> {
        let start = self.span();
        let mut active = None;
        if self.take_word("active") {
            let mut count = None;
            if self.take("[") {
                count = Some(self.expression()?);
                self.expect("]", "after the number of processes")?;
            }
            active = Some(Active { count, span: start.to(self.previous) });
        }
        let span = self.span();
        let deterministic = self.is_word("D_proctype");
        if !deterministic && !self.is_word("proctype") {
            return Err(self.expected("`proctype`", "after `active`"));
        }
        self.bump();
        let name = self.name("a name for the proctype")?;
        if !self.is("(") {
            let found = self.kind().described();
            let diagnostic =
                self.error_here(format!("expected `(` after the name of the proctype, found {found}")).help(
                    format!("write `proctype {}()`, with the parameters between the parentheses", name.name),
                );
            return Err(self.report(diagnostic));
        }
        self.bump();
        let params = self.parameters()?;
        let span = span.to(self.previous);
        let priority = self.priority()?;
        let mut provided = None;
        if self.take_word("provided") {
            self.expect("(", "after `provided`")?;
            provided = Some(self.expression()?);
            self.expect(")", "after the condition of `provided`")?;
        }
        let (body, end) = self.body("the body of the proctype")?;
        Ok(Proctype { name, deterministic, active, params, priority, provided, body, span, end })
    }

    /// `priority n`, if it stands here.
    pub(super) fn priority(&mut self) -> Parse<Option<crate::ast::Expr>> {
        if self.take_word("priority") { self.operand().map(Some) } else { Ok(None) }
    }

    /// `{ sequence }` of a process or claim.
    pub(super) fn body(&mut self, what: &str) -> Parse<(Sequence, quotient_source::Span)> {
        let open = self.span();
        self.expect("{", &format!("to start {what}"))?;
        self.in_sequence = true;
        let mut body = self.sequence(open);
        let end = self.close_brace(what, open);
        self.in_sequence = false;
        self.line_end = false;
        restore_plain_labels(&mut body);
        // A body that is not closed is still worth keeping.
        Ok((body, end.unwrap_or(self.previous)))
    }

    fn init(&mut self) -> Parse<Init> {
        let span = self.span();
        self.bump();
        if self.is("(") && self.ahead(1).is(")") {
            let diagnostic = self.error_here("`init` takes no parameters").help("write `init { … }`");
            self.report(diagnostic);
            self.bump();
            self.bump();
        }
        let priority = self.priority()?;
        let (body, end) = self.body("the body of `init`")?;
        Ok(Init { priority, body, span, end })
    }

    fn optional_name(&mut self) -> Parse<Option<Ident>> {
        if self.word().is_some() { self.name("a name or `{`").map(Some) } else { Ok(None) }
    }

    fn never(&mut self) -> Parse<Never> {
        let span = self.span();
        self.bump();
        let name = self.optional_name()?;
        let (body, end) = self.body("the never claim")?;
        Ok(Never { name, body, span, end })
    }

    fn trace(&mut self) -> Parse<Trace> {
        let span = self.span();
        let negated = self.is_word("notrace");
        self.bump();
        let name = self.optional_name()?;
        let (body, end) = self.body("the trace assertion")?;
        Ok(Trace { negated, name, body, span, end })
    }

    fn ltl(&mut self) -> Parse<Ltl> {
        let span = self.span();
        self.bump();
        let name = self.optional_name()?;
        let open = self.span();
        self.expect("{", "to start the formula")?;
        let formula = quotient_formula::linear_part(self)?;
        while self.take(";") {}
        self.close_brace("the formula", open)?;
        Ok(Ltl { name, formula, span })
    }

    fn typedef(&mut self) -> Parse<Typedef> {
        let start = self.span();
        self.bump();
        let name = self.name("a name for the type")?;
        let open = self.span();
        self.expect("{", "to start the fields")?;
        self.in_sequence = true;
        let mut fields = Vec::new();
        loop {
            while self.take_separator() {}
            if self.is("}") || self.at_end() || self.at_unit_start() {
                break;
            }
            match self.declaration() {
                Ok(field) => fields.push(field),
                Err(_) => self.skip_statement(),
            }
            if !self.at_separator() && !self.separated && !self.token().is("}") && !self.at_end() {
                self.expected("`;` or `}`", "after the field");
                self.skip_statement();
            }
            if self.token().is("::") || matches!(self.token().word(), Some("fi" | "od")) {
                self.bump();
            }
        }
        self.in_sequence = false;
        let end = self.close_brace("the fields", open);
        if fields.is_empty() {
            let help = "write at least one field: `typedef T { byte x }`";
            self.report(Diagnostic::error(open, "a type needs a field").help(help));
        }
        Ok(Typedef { name, fields, span: start.to(end.unwrap_or(self.previous)) })
    }

    /// `mtype {`, `mtype = {`, `mtype:set {`, `mtype:set = {`.
    fn at_mtype_definition(&self) -> bool {
        let after =
            |at: usize| self.ahead(at).is("{") || self.ahead(at).is("=") && self.ahead(at + 1).is("{");
        after(1) || self.ahead(1).is(":") && after(3)
    }

    fn mtype(&mut self) -> Parse<Mtype> {
        let start = self.span();
        self.bump();
        let set = if self.take(":") { Some(self.name("a name for the set")?) } else { None };
        self.take("=");
        let open = self.span();
        self.expect("{", "to start the names")?;
        let mut names = Vec::new();
        while self.word().is_some() || self.is(",") {
            if !self.take(",") {
                names.push(self.name("a name")?);
            }
        }
        let end = self.close_brace("the names", open)?;
        if names.is_empty() {
            let help = "write at least one name: `mtype = { request, reply }`";
            self.report(Diagnostic::error(open, "an `mtype` needs a name").help(help));
        }
        Ok(Mtype { set, names, span: start.to(end) })
    }
}
