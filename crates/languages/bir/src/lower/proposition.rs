//! Propositions of temporal formulas: what is asked of threads and objects from outside.

use quotient_formula::Quantifier;
use quotient_program::{BinaryOp, Expr, FunctionId, Label, LabelId, LocationId, Place, Root};
use quotient_source::Span;

use super::types::Ty;
use super::{Item, Lower};
use crate::ast;

impl Lower<'_> {
    /// A proposition: a truth about every state.
    pub(super) fn proposition(&mut self, e: &ast::Expr) -> Expr {
        self.scope = super::Scope::default();
        self.quantified = Some(Vec::new());
        let value = self.expect(e, &Ty::Boolean);
        self.quantified = None;
        value
    }

    /// The kind of thread with a name.
    fn thread_kind(&mut self, name: &ast::Name) -> Option<FunctionId> {
        match self.names.get(&name.text).cloned() {
            Some(Item::Thread(function)) => Some(function),
            Some(other) => {
                let what = other.what();
                self.error(name.span, format!("`{}` is {what}, not a thread", name.text));
                None
            }
            None => {
                self.unknown(name, "thread");
                None
            }
        }
    }

    /// The thread that a name in front of `@` or `:` means, and what it runs.
    fn thread_named(&mut self, name: &ast::Name) -> Option<(Expr, FunctionId)> {
        let bound = self.quantified.iter().flatten();
        let found = bound.enumerate().filter(|(_, (variable, _))| *variable == name.text).last();
        if let Some((depth, (_, function))) = found {
            return Some((Expr::Bound(depth as u32), *function));
        }
        self.thread_kind(name).map(|function| (Expr::Oldest(function), function))
    }

    /// `t@l`.
    pub(super) fn at(&mut self, thread: &ast::Name, location: &ast::Name) -> (Expr, Ty) {
        let Some((value, function)) = self.thread_named(thread) else { return self.nothing() };
        let locations = &self.program.function(function).locations;
        let named = |l: &quotient_program::Location| l.labels.iter().any(|name| **name == *location.text);
        let Some(at) = locations.iter().position(named) else {
            let known: Vec<&str> = locations.iter().flat_map(|l| &l.labels).map(String::as_str).collect();
            let help = match known.is_empty() {
                true => "its body is written with statements, which have no names".to_owned(),
                false => format!("its locations are {}", known.join(", ")),
            };
            self.error(location.span, format!("the thread has no location `{}`", location.text)).help(help);
            return self.nothing();
        };
        let label = LabelId(self.program.labels.len() as u32);
        self.program.labels.push(Label { function, location: LocationId(at as u32) });
        (Expr::At { thread: Box::new(value), label }, Ty::Boolean)
    }

    /// `t:x`.
    pub(super) fn remote(&mut self, thread: &ast::Name, local: &ast::Name) -> (Expr, Ty) {
        let Some((value, function)) = self.thread_named(thread) else { return self.nothing() };
        let found = self.locals.get(&function).and_then(|l| l.get(&local.text)).cloned();
        let Some((variable, ty)) = found else {
            self.error(local.span, format!("the thread has no variable `{}`", local.text));
            return self.nothing();
        };
        let root = Root::Remote { thread: Box::new(value), function, variable };
        let span = thread.span.to(local.span);
        let place = Place { root, path: Vec::new(), ty: self.ir(&ty), span };
        (Expr::Spanned(Box::new(Expr::Load(place)), span), ty)
    }

    /// A quantifier, as a count.
    pub(super) fn quantifier(
        &mut self,
        quantifier: Quantifier,
        variable: &ast::Name,
        kind: &ast::Name,
        body: &ast::Expr,
    ) -> (Expr, Ty) {
        let Some(function) = self.thread_kind(kind) else { return self.nothing() };
        self.quantified.get_or_insert_default().push((variable.text.clone(), function));
        let (body_value, ty) = self.inner(body);
        self.quantified.get_or_insert_default().pop();
        let body_value = self.coerce(body.span, body_value, &ty, &Ty::Boolean);
        let count = |body: Expr| Expr::Count { function, body: Box::new(body) };
        let compared = |op, body| Expr::Binary(op, Box::new(count(body)), Box::new(Expr::Const(0)));
        match quantifier {
            Quantifier::Count => (count(body_value), Ty::Int(None)),
            Quantifier::Exists => (compared(BinaryOp::Ne, body_value), Ty::Boolean),
            Quantifier::ForAll => (compared(BinaryOp::Eq, body_value.negated()), Ty::Boolean),
        }
    }

    /// Is this call of a fun the heap predicate? A fun of the system with that name comes first.
    pub(super) fn is_reachable(&self, name: &ast::Name) -> bool {
        self.quantified.is_some() && &*name.text == "reachable" && !self.names.contains_key(&name.text)
    }

    /// `reachable(a, b)`.
    pub(super) fn reachable(&mut self, args: &[ast::Expr], span: Span) -> (Expr, Ty) {
        let [from, to] = args else {
            self.error(span, "`reachable` has two operands").help("write `reachable(from, to)`");
            return self.nothing();
        };
        let mut reference = |e: &ast::Expr| {
            let (value, ty) = self.inner(e);
            let object = matches!(
                ty,
                Ty::Error | Ty::Null | Ty::Lock | Ty::Record(_) | Ty::Array(_) | Ty::Collection(..)
            );
            if !object {
                let shown = self.show(&ty);
                self.error(
                    e.span,
                    format!("expected a reference to an object, found a value of type {shown}"),
                );
            }
            Box::new(value)
        };
        let from = reference(from);
        (Expr::Reachable(from, reference(to)), Ty::Boolean)
    }
}
