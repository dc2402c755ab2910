//! Promela's expressions in temporal formulas, whose parser is `quotient_formula`.

use quotient_formula::{Connective, Expressions, Quantifier, Tokens};
use quotient_front_end::PropertyKeyword;
use quotient_source::{Diagnostic, Span};

use super::expression::infix;
use super::{Parse, Parser, Reported};
use crate::ast::{BinaryOp, Expr, ExprKind, Formula, Ident, Property, UnaryOp};
use crate::token::Kind;

impl Parser<'_> {
    /// One formula that makes up the whole input.
    pub fn whole_formula(mut self) -> Option<Formula> {
        self.apart = true;
        quotient_formula::linear(&mut self).ok()
    }

    /// One property that makes up the whole input.
    pub fn whole_property(mut self, keyword: PropertyKeyword, text: &str) -> Option<Property> {
        self.apart = true;
        quotient_formula::property(self, keyword, text).ok()
    }
}

impl Tokens for Parser<'_> {
    fn is(&self, ahead: usize, punctuation: &str) -> bool {
        if ahead == 0 { self.is(punctuation) } else { self.ahead(ahead).is(punctuation) }
    }

    fn word(&self, ahead: usize) -> Option<&str> {
        if ahead == 0 { self.word() } else { self.ahead(ahead).word() }
    }

    fn span(&self) -> Span {
        self.span()
    }

    fn touches(&self) -> bool {
        let next = self.ahead(1);
        next.span.start == self.span().end || next.origin.is_some()
    }

    fn previous(&self) -> Span {
        self.previous
    }

    fn at_end(&self) -> bool {
        self.at_end()
    }

    fn bump(&mut self) {
        self.bump();
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.report(diagnostic)
    }

    fn expected(&mut self, what: &str, why: &str) -> Reported {
        self.expected(what, why)
    }

    fn close(&mut self, open: Span) -> Parse<()> {
        self.close_parenthesis(open)
    }

    fn enter(&mut self) -> Parse<()> {
        self.enter()
    }

    fn leave(&mut self) {
        self.nesting -= 1;
    }
}

impl Expressions for Parser<'_> {
    type Tokens = Self;
    type Expr = Expr;
    type Name = Ident;
    type Infix = BinaryOp;
    type Prefix = UnaryOp;

    fn tokens(&self) -> &Self {
        self
    }

    fn tokens_mut(&mut self) -> &mut Self {
        self
    }

    fn name(&mut self, what: &str) -> Parse<Ident> {
        self.name(what)
    }

    fn primary(&mut self) -> Parse<Expr> {
        self.primary().map(|tall| tall.expr)
    }

    fn infix(&self) -> Option<(BinaryOp, u8)> {
        infix(self.kind())
    }

    fn prefix(&self) -> Option<UnaryOp> {
        match self.kind() {
            Kind::Punct("~") => Some(UnaryOp::Complement),
            Kind::Punct("-") => Some(UnaryOp::Negate),
            _ => None,
        }
    }

    fn binary(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Parse<Expr> {
        Ok(binary(op, left, right, span))
    }

    fn unary(&mut self, op: UnaryOp, operand: Expr, span: Span) -> Parse<Expr> {
        Ok(Expr { kind: ExprKind::Unary(op, Box::new(operand)), span })
    }

    fn not(&mut self, operand: Expr, span: Span) -> Parse<Expr> {
        Ok(not(operand, span))
    }

    fn connected(&mut self, connective: Connective, left: Expr, right: Expr, span: Span) -> Parse<Expr> {
        let negated = |e: Expr| {
            let span = e.span;
            not(e, span)
        };
        Ok(match connective {
            Connective::And => binary(BinaryOp::And, left, right, span),
            Connective::Or => binary(BinaryOp::Or, left, right, span),
            Connective::Implies => binary(BinaryOp::Or, negated(left), right, span),
            // Any number but zero is true.
            Connective::Equivalent => binary(BinaryOp::Eq, negated(left), negated(right), span),
        })
    }

    fn bind(&mut self, variable: &Ident, kind: &Ident) {
        self.bound.push((variable.name.clone(), kind.clone()));
    }

    fn unbind(&mut self) {
        self.bound.pop();
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        variable: Ident,
        proctype: Ident,
        body: Expr,
        span: Span,
    ) -> Parse<Expr> {
        let body = Box::new(body);
        Ok(Expr { kind: ExprKind::Quantified { quantifier, variable, proctype, body }, span })
    }

    fn span_of(expr: &Expr) -> Span {
        expr.span
    }

    fn parenthesised(expr: Expr, span: Span) -> Expr {
        Expr { span, ..expr }
    }

    fn bitwise(op: BinaryOp) -> Option<Connective> {
        match op {
            BinaryOp::BitAnd => Some(Connective::And),
            BinaryOp::BitOr => Some(Connective::Or),
            _ => None,
        }
    }

    fn is_truth_value(expr: &Expr) -> bool {
        use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
        match &expr.kind {
            ExprKind::Unary(op, _) => *op == UnaryOp::Not,
            ExprKind::Binary(op, ..) => matches!(op, Lt | Le | Gt | Ge | Eq | Ne | And | Or),
            _ => false,
        }
    }

    fn may_negate(&mut self, operand: &Expr, operator: Span) -> Parse<()> {
        self.refuse_negated_probe(UnaryOp::Not, operator, operand)
    }
}

fn not(operand: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(operand)), span }
}

fn binary(op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span }
}
