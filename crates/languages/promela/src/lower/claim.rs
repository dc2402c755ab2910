//! Claims: `never`, `ltl`, and properties given apart from the model.
//!
//! Formulas become claims by `quotient_formula`. A `never` claim is translated like a process.

use std::fmt::Write;

use quotient_formula::Meaning;
use quotient_front_end::{Claim, ClaimKind};
use quotient_program::{Action, BinaryOp, Expr, Function, FunctionId, Operation};
use quotient_source::Diagnostic;

use super::names::Scope;
use super::numbering::Numbered;
use super::{Body, Lowering, flow};
use crate::ast;
use crate::ast::{ExprKind, Quantifier};

impl Lowering<'_> {
    /// All claims, in order.
    pub(super) fn claims(&mut self, model: &ast::Model, properties: &[ast::Property]) -> Vec<Claim> {
        self.in_claim = true;
        let mut claims = Vec::new();
        for (index, unit) in model.units.iter().enumerate() {
            self.unit = index;
            match unit {
                ast::Unit::Ltl(ltl) => {
                    let name = ltl.name.as_ref().map_or_else(String::new, |n| n.name.clone());
                    let text =
                        self.sources.slice(ltl.formula.span).split_whitespace().collect::<Vec<_>>().join(" ");
                    let (formula, propositions, names) =
                        ltl.formula.over_propositions(&mut |e| self.meaning(e), &write_key);
                    let (keyword, kind, span) = ("ltl", ClaimKind::Ltl(formula), ltl.span);
                    claims.push(Claim { name, keyword, text, span, kind, propositions, names });
                }
                ast::Unit::Never(never) => {
                    let name = never.name.as_ref().map_or_else(String::new, |n| n.name.clone());
                    let kind = ClaimKind::Never(Box::new(self.never(never)));
                    let (keyword, text, span) = ("never", name.clone(), never.span);
                    let (propositions, names) = (Vec::new(), Vec::new());
                    claims.push(Claim { name, keyword, text, span, kind, propositions, names });
                }
                _ => {}
            }
        }
        claims.extend(properties.iter().map(|p| p.claim(&mut |e| self.meaning(e), &write_key)));
        self.in_claim = false;
        claims
    }

    /// What an expression of a formula means.
    fn meaning(&mut self, e: &ast::Expr) -> Meaning {
        Meaning::new(self.expr(e), self.sources.slice(e.span), &self.program)
    }

    /// A `never` claim as a function.
    fn never(&mut self, never: &ast::Never) -> Function {
        let name = never.name.as_ref().map_or_else(|| "never".to_owned(), |n| n.name.clone());
        self.current = Some(Body {
            name: name.clone(),
            locals: Vec::new(),
            scopes: vec![Scope::default()],
            declarations_first: true,
            observes: false,
        });
        let flow = self.elements(&never.body, never.end);
        let flow::Control { locations, entry, made, .. } = flow::control(flow, self);
        self.numbered.push(Numbered::other(self.unit, made));
        let body = self.current.take();
        let function = Function {
            catches: Vec::new(),
            name,
            params: 0,
            locals: body.map_or_else(Vec::new, |b| b.locals),
            dead_at_start: Vec::new(),
            locations,
            entry,
            provided: None,
            priority: 1,
            span: never.span,
        };
        self.check_never(&function);
        function
    }

    /// A claim watches: it has conditions, assertions, and variables of its own.
    fn check_never(&mut self, function: &Function) {
        let mut wrong = Vec::new();
        for location in &function.locations {
            if location.deterministic {
                wrong.push((location.span, "a d_step in a never claim"));
            }
            for t in &location.transformations {
                match &t.operation {
                    Operation::Send { .. } | Operation::Receive { .. } => {
                        wrong.push((
                            t.span,
                            "a never claim cannot send or receive: it would change what it watches",
                        ));
                    }
                    _ => {}
                }
                for action in &t.actions {
                    match action {
                        Action::Start { .. } => wrong.push((t.span, "a never claim cannot start processes")),
                        Action::SetPriority(..) => {
                            wrong.push((t.span, "a never claim cannot set priorities"))
                        }
                        _ => {}
                    }
                }
            }
        }
        wrong.sort_by_key(|(span, _)| span.start);
        wrong.dedup();
        for (span, message) in wrong {
            self.report(Diagnostic::error(span, message).help("use conditions and variables of the claim"));
        }
    }

    /// `forall`, `exists` and `count`, as counts.
    pub(super) fn quantified(
        &mut self,
        quantifier: Quantifier,
        variable: &ast::Ident,
        proctype: &ast::Ident,
        body: &ast::Expr,
    ) -> Expr {
        let Some(function) = self.proctype_named(&proctype.name) else {
            self.error(proctype.span, format!("there is no proctype `{}`", proctype.name));
            return Expr::Const(0);
        };
        if self.bound.len() == MOST_QUANTIFIERS {
            self.error(variable.span, format!("more than {MOST_QUANTIFIERS} quantifiers inside each other"));
            return Expr::Const(0);
        }
        self.bound.push(variable.name.clone());
        let body = self.expr(body);
        self.bound.pop();
        let count = |function: FunctionId, body: Expr| Expr::Count { function, body: Box::new(body) };
        let zero = || Box::new(Expr::Const(0));
        match quantifier {
            Quantifier::Count => count(function, body),
            Quantifier::Exists => Expr::Binary(BinaryOp::Ne, Box::new(count(function, body)), zero()),
            Quantifier::ForAll => {
                Expr::Binary(BinaryOp::Eq, Box::new(count(function, body.negated())), zero())
            }
        }
    }
}

/// Quantifiers inside each other at most.
const MOST_QUANTIFIERS: usize = 4;

/// An expression as text that is equal exactly for equal expressions. (The source text will not do: macros.)
fn write_key(e: &ast::Expr, out: &mut String) {
    let mut list = |name: &str, parts: &[&ast::Expr]| {
        out.push('(');
        out.push_str(name);
        for part in parts {
            out.push(' ');
            write_key(part, out);
        }
        out.push(')');
    };
    match &e.kind {
        ExprKind::Number(n) => _ = write!(out, "{n}"),
        ExprKind::Reference(r) => write_reference(r, out),
        ExprKind::Unary(op, a) => list(&format!("{op:?}"), &[a]),
        ExprKind::Binary(op, a, b) => list(&format!("{op:?}"), &[a, b]),
        ExprKind::Conditional(a, b, c) => list("?:", &[a, b, c]),
        ExprKind::Run { args, .. } => list("run", &args.iter().collect::<Vec<_>>()),
        ExprKind::Len(r) => write_call("len", r, out),
        ExprKind::Full(r) => write_call("full", r, out),
        ExprKind::Empty(r) => write_call("empty", r, out),
        ExprKind::Nfull(r) => write_call("nfull", r, out),
        ExprKind::Nempty(r) => write_call("nempty", r, out),
        ExprKind::Poll { channel, any, args } => {
            write_call(if *any { "??" } else { "?" }, channel, out);
            for arg in args {
                out.push(' ');
                match arg {
                    ast::ReceiveArg::Variable(r) => write_reference(r, out),
                    ast::ReceiveArg::Pointer(r) => write_call("&", r, out),
                    ast::ReceiveArg::Ignore(_) => out.push('_'),
                    ast::ReceiveArg::Constant(e) => write_key(e, out),
                    ast::ReceiveArg::Eval(e, _) => {
                        out.push_str("eval");
                        write_key(e, out);
                    }
                }
            }
        }
        ExprKind::Address(r) => write_call("&", r, out),
        ExprKind::Timeout => out.push_str("timeout"),
        ExprKind::Enabled(a) => list("enabled", &[a]),
        ExprKind::PcValue(a) => list("pc_value", &[a]),
        ExprKind::Reachable(a, b) => list("reachable", &[a, b]),
        ExprKind::GetPriority(a) => list("get_priority", &[a]),
        ExprKind::SetPriority(a, b) => list("set_priority", &[a, b]),
        ExprKind::RemoteLabel { proctype, pid, label } => {
            _ = write!(out, "{}[", proctype.name);
            pid.iter().for_each(|p| write_key(p, out));
            _ = write!(out, "]@{}", label.name);
        }
        ExprKind::RemoteVariable { proctype, pid, variable } => {
            _ = write!(out, "{}[", proctype.name);
            pid.iter().for_each(|p| write_key(p, out));
            out.push_str("]:");
            write_reference(variable, out);
        }
        ExprKind::Quantified { quantifier, variable, proctype, body } => {
            _ = write!(out, "({quantifier:?} {}:{} ", variable.name, proctype.name);
            write_key(body, out);
            out.push(')');
        }
    }
}

fn write_call(name: &str, r: &ast::Reference, out: &mut String) {
    out.push_str(name);
    out.push('(');
    write_reference(r, out);
    out.push(')');
}

fn write_reference(r: &ast::Reference, out: &mut String) {
    for (index, part) in r.parts.iter().enumerate() {
        if index > 0 {
            out.push('.');
        }
        out.push_str(&part.name.name);
        if let Some(e) = &part.index {
            out.push('[');
            write_key(e, out);
            out.push(']');
        }
    }
}
