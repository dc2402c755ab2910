//! DVE's expressions in temporal formulas, whose parser is `quotient_formula`. Besides what expressions have, propositions ask for
//! variables of processes (`P.x`). `imply` is left to the formula's `->`.

use quotient_formula::{Connective, Cursor, Expressions, Parse, Quantifier};
use quotient_source::Span;

use super::Parser;
use crate::ast::{Binary, Expr, ExprKind, Name, Unary};
use crate::token::Kind;

/// Looser operators of expressions are those of formulas.
const CONNECTIVES: u8 = 2;

impl Parser<'_> {
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
        self.simple()
    }

    fn infix(&self) -> Option<(Binary, u8)> {
        self.operator().filter(|(_, binding)| *binding > CONNECTIVES)
    }

    fn prefix(&self) -> Option<Unary> {
        match self.token().kind {
            Kind::Punct("-") => Some(Unary::Minus),
            Kind::Punct("~") => Some(Unary::Complement),
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
        match connective {
            Connective::And => self.joined(Binary::And, left, right, span),
            Connective::Or => self.joined(Binary::Or, left, right, span),
            Connective::Implies => self.joined(Binary::Imply, left, right, span),
            // Of truth values: neither or both.
            Connective::Equivalent => {
                let (left_span, right_span) = (left.span, right.span);
                let (left, right) = (self.not(left, left_span)?, self.not(right, right_span)?);
                self.joined(Binary::Eq, left, right, span)
            }
        }
    }

    fn bind(&mut self, _: &Name, _: &Name) {}

    fn unbind(&mut self) {}

    fn quantified(&mut self, _: Quantifier, _: Name, kind: Name, _: Expr, _: Span) -> Parse<Expr> {
        let message = format!("every process of DVE is named, and there is only one `{}`", kind.text);
        Err(self.error(kind.span, message, "name the processes: `P0.s && P1.s`"))
    }

    fn span_of(expr: &Expr) -> Span {
        expr.span
    }

    fn parenthesised(expr: Expr, span: Span) -> Expr {
        Expr { span, ..expr }
    }

    fn is_not(&self) -> bool {
        self.is("!") || self.is("not")
    }

    fn bitwise(op: Binary) -> Option<Connective> {
        match op {
            Binary::BitAnd => Some(Connective::And),
            Binary::BitOr => Some(Connective::Or),
            _ => None,
        }
    }
}
