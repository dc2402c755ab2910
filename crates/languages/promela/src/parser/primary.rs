//! Operands: constants, references, calls of built-in functions, parentheses.

use quotient_source::{Diagnostic, Span};

use super::expression::Tall;
use super::recover::is_embedded_c;
use super::{Parse, Parser};
use crate::ast::{Expr, ExprKind, Ident, Part, Reference};
use crate::token::{Kind, is_keyword};

impl Parser<'_> {
    /// A single operand without operators, such as the number of `priority 3`.
    pub(super) fn operand(&mut self) -> Parse<Expr> {
        self.deeper(|parser| parser.primary().map(|tall| tall.expr))
    }

    pub(super) fn primary(&mut self) -> Parse<Tall> {
        let span = self.span();
        let simple = |kind| Ok(Tall { expr: Expr { kind, span }, height: 1 });
        match self.kind().clone() {
            Kind::Number(digits) => {
                let value = self.number(&digits, span)?;
                self.bump();
                simple(ExprKind::Number(value))
            }
            Kind::Char(value) => {
                self.bump();
                simple(ExprKind::Number(i32::from(value)))
            }
            Kind::Punct("(") => self.parenthesised(),
            Kind::Punct("&") if self.ahead(1).word().is_some() => self.address(),
            Kind::Word(word) => match &*word {
                "true" | "skip" => {
                    self.bump();
                    simple(ExprKind::Number(1))
                }
                "false" => {
                    self.bump();
                    simple(ExprKind::Number(0))
                }
                "timeout" => {
                    self.bump();
                    simple(ExprKind::Timeout)
                }
                "np_" => {
                    self.bump();
                    let name = Ident { name: "np_".into(), span };
                    simple(ExprKind::Reference(Reference { parts: vec![Part { name, index: None }], span }))
                }
                "run" => self.run(),
                "len" | "full" | "empty" | "nfull" | "nempty" => self.channel_function(&word),
                "enabled" | "pc_value" | "get_priority" => self.process_function(&word),
                "reachable" if self.ahead(1).is("(") && !self.at_inline_call() => self.reachable(),
                word if is_embedded_c(word) => {
                    self.refuse_embedded_c();
                    simple(ExprKind::Number(1))
                }
                word if is_keyword(word) => Err(self.keyword_in_expression(word)),
                _ => self.named(),
            },
            _ => Err(self.expected("an expression", "")),
        }
    }

    /// A number as SPIN reads it: modulo 2^32.
    fn number(&mut self, digits: &str, span: Span) -> Parse<i32> {
        let Ok(value) = digits.parse::<i64>() else {
            let help = "numbers have 32 bits: the largest is 2147483647";
            return Err(self.report(Diagnostic::error(span, "this number is too large").help(help)));
        };
        let wrapped = value as i32;
        if i64::from(wrapped) != value {
            self.report(
                Diagnostic::warning(
                    span,
                    format!("this number does not fit 32 bits and is read as {wrapped}"),
                )
                .help("the largest number is 2147483647"),
            );
        }
        Ok(wrapped)
    }

    /// `(e)` or `(c -> a : b)`.
    fn parenthesised(&mut self) -> Parse<Tall> {
        let open = self.span();
        self.bump();
        let outer = std::mem::replace(&mut self.in_conditional, false);
        let result = self.inside_parentheses(open);
        self.in_conditional = outer;
        result
    }

    fn inside_parentheses(&mut self, open: Span) -> Parse<Tall> {
        let mut tall = self.tall_expression()?;
        if self.take("->") {
            self.in_conditional = true;
            let yes = self.tall_expression()?;
            self.in_conditional = false;
            if !self.take(":") {
                let found = self.kind().described();
                let diagnostic = self
                    .error_here(format!("expected `:` of a conditional expression, found {found}"))
                    .related(open, "in these parentheses `->` means `(condition -> this : that)`")
                    .help("write the second value, or take the `->` out of the parentheses");
                return Err(self.report(diagnostic));
            }
            let no = self.tall_expression()?;
            let height = tall.height.max(yes.height).max(no.height) + 1;
            let span = open.to(self.span());
            let kind = ExprKind::Conditional(Box::new(tall.expr), Box::new(yes.expr), Box::new(no.expr));
            tall = Tall { expr: Expr { kind, span }, height };
        }
        self.close_parenthesis(open)?;
        tall.expr.span = open.to(self.previous);
        Ok(tall)
    }

    /// Takes `)`, and explains the most likely mistakes if it is not there.
    pub(super) fn close_parenthesis(&mut self, open: Span) -> Parse<()> {
        if self.take(")") {
            return Ok(());
        }
        let found = self.kind().described();
        let diagnostic = if self.is("=") {
            self.error_here("`=` assigns and cannot stand in an expression").help("write `==` to compare")
        } else if self.is("++") || self.is("--") {
            self.error_here(format!("{found} is a statement and cannot stand in an expression"))
                .help("change the variable in a statement of its own")
        } else if self.is("?") || self.is("??") || self.is("!") || self.is("!!") {
            self.error_here(format!("{found} is a statement and cannot stand in an expression")).help(
                "to test whether a receive is possible, write `c?[x]`; to choose a value, `(c -> a : b)`",
            )
        } else {
            let diagnostic = self
                .error_here(format!("expected `)`, found {found}"))
                .related(open, "to close this parenthesis");
            match self.advice() {
                Some(help) => diagnostic.help(help),
                None => diagnostic.help("write the missing `)`, or the operator that belongs here"),
            }
        };
        Err(self.report(diagnostic))
    }

    /// `run P(args) priority n`.
    fn run(&mut self) -> Parse<Tall> {
        let start = self.span();
        self.bump();
        let proctype = self.name("the name of a proctype after `run`")?;
        let open = self.span();
        if !self.take("(") {
            let diagnostic = self.error_here(format!("expected `(` after `run {}`", proctype.name)).help(
                format!("write `run {}()`, with the parameters between the parentheses", proctype.name),
            );
            return Err(self.report(diagnostic));
        }
        let (mut args, mut height) = (Vec::new(), 1);
        while !self.is(")") {
            let argument = self.tall_expression()?;
            height = height.max(argument.height + 1);
            args.push(argument.expr);
            if !self.take(",") {
                break;
            }
        }
        self.close_parenthesis(open)?;
        let priority = self.priority()?.map(Box::new);
        let span = start.to(self.previous);
        Ok(Tall { expr: Expr { kind: ExprKind::Run { proctype, args, priority }, span }, height })
    }

    /// `len(c)` and the probes.
    fn channel_function(&mut self, word: &str) -> Parse<Tall> {
        let start = self.span();
        self.bump();
        let open = self.span();
        self.expect("(", &format!("after `{word}`"))?;
        let channel = self.reference()?;
        self.close_parenthesis(open)?;
        let kind = match word {
            "len" => ExprKind::Len(channel),
            "full" => ExprKind::Full(channel),
            "empty" => ExprKind::Empty(channel),
            "nfull" => ExprKind::Nfull(channel),
            _ => ExprKind::Nempty(channel),
        };
        Ok(Tall { expr: Expr { kind, span: start.to(self.previous) }, height: self.leaf_height + 1 })
    }

    /// `enabled(e)`, `pc_value(e)`, `get_priority(e)`.
    fn process_function(&mut self, word: &str) -> Parse<Tall> {
        let start = self.span();
        self.bump();
        let open = self.span();
        self.expect("(", &format!("after `{word}`"))?;
        let Tall { expr, height } = self.tall_expression()?;
        self.close_parenthesis(open)?;
        let expr = Box::new(expr);
        let kind = match word {
            "enabled" => ExprKind::Enabled(expr),
            "pc_value" => ExprKind::PcValue(expr),
            _ => ExprKind::GetPriority(expr),
        };
        Ok(Tall { expr: Expr { kind, span: start.to(self.previous) }, height: height + 1 })
    }

    /// `reachable(e, e)`.
    fn reachable(&mut self) -> Parse<Tall> {
        let start = self.span();
        self.bump();
        let open = self.span();
        self.expect("(", "after `reachable`")?;
        let from = self.tall_expression()?;
        self.expect(",", "between the two references")?;
        let to = self.tall_expression()?;
        self.close_parenthesis(open)?;
        let height = from.height.max(to.height) + 1;
        let kind = ExprKind::Reachable(Box::new(from.expr), Box::new(to.expr));
        Ok(Tall { expr: Expr { kind, span: start.to(self.previous) }, height })
    }

    /// What starts with a name: a reference, a poll, or a remote reference.
    fn named(&mut self) -> Parse<Tall> {
        if self.at_inline_call() {
            let name = self.word().unwrap_or("").to_string();
            let diagnostic =
                self.error_here(format!("the inline `{name}` cannot be called inside an expression")).help(
                    format!("call it as a statement, `{name}(…)` or `x = {name}(…)`, and use the variable"),
                );
            return Err(self.report(diagnostic));
        }
        let reference = self.reference()?;
        self.named_after(reference)
    }

    /// Goes on after a reference that has been read.
    pub(super) fn named_after(&mut self, reference: Reference) -> Parse<Tall> {
        let mut height = self.leaf_height;
        let start = reference.span;
        if (self.is("?") || self.is("??")) && self.ahead(1).is("[") {
            let any = self.is("??");
            self.bump();
            let args = self.poll_arguments()?;
            height = height.max(self.leaf_height) + 1;
            let span = start.to(self.previous);
            return Ok(Tall {
                expr: Expr { kind: ExprKind::Poll { channel: reference, any, args }, span },
                height,
            });
        }
        if self.is("@") || self.at_remote_variable(&reference) {
            return self.remote(reference, height);
        }
        self.refuse_call(&reference)?;
        Ok(Tall { expr: Expr { span: start, kind: ExprKind::Reference(reference) }, height })
    }

    /// `f(…)` where `f` is not an inline.
    fn refuse_call(&mut self, reference: &Reference) -> Parse<()> {
        let adjacent = self.is("(") && !self.token().space && reference.parts.len() == 1;
        if !adjacent || self.in_send {
            return Ok(());
        }
        if self.functions.contains(reference.parts[0].name.name.as_str()) {
            return Err(self.refuse_call_in_expression(&reference.parts[0].name));
        }
        let name = reference.parts[0].name.name.clone();
        let diagnostic = Diagnostic::error(reference.span, format!("there is no inline `{name}`"));
        let diagnostic = if self.proctypes.contains(name.as_str()) {
            diagnostic.help(format!("`{name}` is a proctype: start it with `run {name}(…)`"))
        } else {
            diagnostic.help(format!("define `inline {name}(…) {{ … }}` or the macro `{name}`"))
        };
        Err(self.report(diagnostic))
    }

    /// Whether `:` here makes the name before it a proctype.
    fn at_remote_variable(&self, reference: &Reference) -> bool {
        if !self.is(":") || reference.parts.len() != 1 {
            return false;
        }
        let name = reference.parts[0].name.name.as_str();
        let known = || self.proctypes.contains(name) || self.bound.iter().any(|(bound, _)| bound == name);
        if self.apart { !self.in_conditional } else { known() }
    }

    /// `P@label`, `P[e]@label`, `P:x`, `P[e]:x`.
    fn remote(&mut self, reference: Reference, mut height: usize) -> Parse<Tall> {
        let start = reference.span;
        let label = self.is("@");
        self.bump();
        let mut parts = reference.parts;
        let (Some(part), true) = (parts.pop(), parts.is_empty()) else {
            return Err(self.report(
                Diagnostic::error(start, "a remote reference starts with the name of a proctype")
                    .help("write `P@label`, `P[pid]@label` or `P[pid]:variable`"),
            ));
        };
        let (mut proctype, mut pid) = (part.name, part.index);
        // `p@label` of a quantified process is `P[p]@label`.
        if pid.is_none()
            && let Some((_, kind)) = self.bound.iter().rev().find(|(name, _)| *name == proctype.name)
        {
            let name = std::mem::replace(&mut proctype, kind.clone());
            let span = name.span;
            let reference = Reference { parts: vec![Part { name, index: None }], span };
            pid = Some(Box::new(Expr { kind: ExprKind::Reference(reference), span }));
        }
        let kind = if label {
            ExprKind::RemoteLabel { proctype, pid, label: self.name("a label after `@`")? }
        } else {
            let variable = self.reference()?;
            height = height.max(self.leaf_height);
            ExprKind::RemoteVariable { proctype, pid, variable }
        };
        let span = start.to(self.previous);
        Ok(Tall { expr: Expr { kind, span }, height: height + 1 })
    }

    /// `a.b[i].c`; leaves the height of its tree in `leaf_height`.
    pub(super) fn reference(&mut self) -> Parse<Reference> {
        let start = self.span();
        let mut parts = Vec::new();
        let mut height = 1;
        loop {
            let name = self.name("a name")?;
            if name.name == "STDIN" && parts.is_empty() {
                return Err(self.report(
                    Diagnostic::error(
                        name.span,
                        "the channel `STDIN` is not supported: a model must be closed",
                    )
                    .help("let a process send the input, choosing it with `select` or `if`"),
                ));
            }
            let mut index = None;
            if self.is("[") {
                self.bump();
                let outer = std::mem::replace(&mut self.in_conditional, false);
                let value = self.tall_expression();
                self.in_conditional = outer;
                let value = value?;
                height = height.max(value.height + 1);
                index = Some(Box::new(value.expr));
                self.expect("]", "after the index")?;
            }
            parts.push(Part { name, index });
            if !self.take(".") {
                break;
            }
        }
        self.leaf_height = height;
        Ok(Reference { parts, span: start.to(self.previous) })
    }

    fn keyword_in_expression(&mut self, word: &str) -> super::Reported {
        let diagnostic = self.error_here(format!("expected an expression, found the reserved word `{word}`"));
        let diagnostic = match word {
            "eval" => diagnostic.help("`eval` stands only in a receive: `c?eval(x)`"),
            "else" => diagnostic.help("`else` stands alone, as the first statement after `::`"),
            "set_priority" => diagnostic.help("`set_priority(p, n)` is a statement of its own"),
            _ => diagnostic.help("if it is meant as a name, choose another one"),
        };
        self.report(diagnostic)
    }
}
