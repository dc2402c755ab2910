//! BIR's expressions in temporal formulas, whose parser is `quotient_formula`. Besides what expressions have, propositions ask for
//! locations (`t@l`) and local variables (`t:x`) of threads.

use quotient_formula::{Connective, Cursor, Expressions, Quantifier};
use quotient_source::Span;

use super::expression::OPERATORS;
use super::{Parse, Parser};
use crate::ast::{Binary, Expr, ExprKind, Name, Unary};
use crate::token::Kind;

/// Looser operators of expressions are those of formulas.
const CONNECTIVES: u8 = 4;

impl Parser<'_> {
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

    fn joined(&mut self, op: Binary, left: Expr, right: Expr, span: Span) -> Parse<Expr> {
        let heights = [left.height, right.height];
        self.make(ExprKind::Binary(op, Box::new(left), Box::new(right)), span, &heights)
    }
}

impl<'a> Expressions for Parser<'a> {
    type Tokens = Cursor<'a, Kind>;
    type Expr = Expr;
    type Name = Name;
    type Infix = Binary;
    type Prefix = Unary;

    fn tokens(&self) -> &Cursor<'a, Kind> {
        self
    }

    fn tokens_mut(&mut self) -> &mut Cursor<'a, Kind> {
        self
    }

    fn name(&mut self, what: &str) -> Parse<Name> {
        self.name(what)
    }

    fn primary(&mut self) -> Parse<Expr> {
        self.prefix()
    }

    fn infix(&self) -> Option<(Binary, u8)> {
        let found = OPERATORS.iter().find(|(text, _, level)| *level > CONNECTIVES && self.is(text));
        found.map(|&(_, op, level)| (op, level))
    }

    fn prefix(&self) -> Option<Unary> {
        match (&self.token().kind, &self.peek(1).kind) {
            // One literal.
            (Kind::Punct("-"), Kind::Integer(..)) => None,
            (Kind::Punct("-"), _) => Some(Unary::Minus),
            (Kind::Punct("+"), _) => Some(Unary::Plus),
            _ => None,
        }
    }

    fn binary(&mut self, op: Binary, left: Expr, right: Expr, span: Span) -> Parse<Expr> {
        self.joined(op, left, right, span)
    }

    fn unary(&mut self, op: Unary, operand: Expr, span: Span) -> Parse<Expr> {
        let height = operand.height;
        self.make(ExprKind::Unary(op, Box::new(operand)), span, &[height])
    }

    fn not(&mut self, operand: Expr, span: Span) -> Parse<Expr> {
        self.unary(Unary::Not, operand, span)
    }

    fn connected(&mut self, connective: Connective, left: Expr, right: Expr, span: Span) -> Parse<Expr> {
        let op = match connective {
            Connective::And => Binary::And,
            Connective::Or => Binary::Or,
            Connective::Implies => Binary::Implies,
            Connective::Equivalent => Binary::Equivalent,
        };
        self.joined(op, left, right, span)
    }

    fn bind(&mut self, variable: &Name, _: &Name) {
        self.bound.get_or_insert_default().push(variable.clone());
    }

    fn unbind(&mut self) {
        self.bound.get_or_insert_default().pop();
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        variable: Name,
        kind: Name,
        body: Expr,
        span: Span,
    ) -> Parse<Expr> {
        let height = body.height;
        self.make(ExprKind::Quantified(quantifier, variable, kind, Box::new(body)), span, &[height])
    }

    fn span_of(expr: &Expr) -> Span {
        expr.span
    }

    fn parenthesised(expr: Expr, span: Span) -> Expr {
        Expr { span, ..expr }
    }

    fn bitwise(op: Binary) -> Option<Connective> {
        match op {
            Binary::BitAnd => Some(Connective::And),
            Binary::BitOr => Some(Connective::Or),
            _ => None,
        }
    }
}
