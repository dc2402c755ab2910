//! What only propositions of temporal formulas have: quantifiers over threads, locations, and local variables of threads.

use super::{Parse, Parser};
use crate::ast::{Expr, ExprKind, Name, Quantifier};

impl Parser<'_> {
    /// `forall t: T . e`, `exists …` or `count …`, if that comes next.
    pub(super) fn quantified(&mut self) -> Parse<Option<Expr>> {
        let quantifier = match () {
            () if self.is("forall") => Quantifier::ForAll,
            () if self.is("exists") => Quantifier::Exists,
            () if self.is("count") => Quantifier::Count,
            () => return Ok(None),
        };
        if self.bound.is_none() || !self.peek(2).is(":") {
            return Ok(None);
        }
        let start = self.bump().span;
        let variable = self.name("the variable of the quantifier")?;
        self.expect(":", "a quantifier is written `forall t: T . e`")?;
        let kind = self.name("a kind of thread")?;
        self.expect(".", "a quantifier is written `forall t: T . e`")?;
        self.bound.get_or_insert_default().push(variable.clone());
        let body = self.expression();
        self.bound.get_or_insert_default().pop();
        let body = body?;
        let (span, height) = (start.to(body.span), body.height);
        self.make(ExprKind::Quantified(quantifier, variable, kind, Box::new(body)), span, &[height]).map(Some)
    }

    /// What follows a name in a proposition: `@l` or, after the variable of a quantifier, `:x`.
    pub(super) fn of_thread(&mut self, name: &Name) -> Parse<Option<Expr>> {
        let Some(bound) = &self.bound else { return Ok(None) };
        let quantified = bound.iter().any(|b| b.text == name.text);
        let kind: fn(Name, Name) -> ExprKind = if self.eat("@") {
            ExprKind::At
        } else if quantified && self.eat(":") {
            ExprKind::Remote
        } else {
            return Ok(None);
        };
        let of = self.name("the name of a location or local variable")?;
        let span = name.span.to(of.span);
        self.make(kind(name.clone(), of), span, &[]).map(Some)
    }
}
