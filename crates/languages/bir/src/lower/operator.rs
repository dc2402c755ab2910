//! Operators. Arithmetic is that of 32-bit integers that wrap around; constants are folded.

use quotient_program::{BinaryOp, Expr, UnaryOp};
use quotient_source::Span;

use super::Lower;
use super::types::Ty;
use crate::ast::{self, Binary, Unary};

impl Lower<'_> {
    pub(super) fn unary(&mut self, op: Unary, operand: &ast::Expr) -> (Expr, Ty) {
        let (value, ty) = self.inner(operand);
        let (wanted, op) = match op {
            Unary::Not => (Ty::Boolean, Some(UnaryOp::Not)),
            Unary::Minus => (Ty::Int(None), Some(UnaryOp::Negate)),
            Unary::Plus => (Ty::Int(None), None),
        };
        if !self.fits(&ty, &wanted) || ty == Ty::Null {
            self.mismatch(operand.span, &ty, &wanted);
        }
        let value = match (op, value.constant()) {
            (None, _) => value,
            (Some(UnaryOp::Negate), Some(c)) => Expr::Const(c.wrapping_neg()),
            (Some(UnaryOp::Not), Some(c)) => Expr::Const(i32::from(c == 0)),
            (Some(op), _) => Expr::Unary(op, Box::new(value)),
        };
        (value, wanted)
    }

    pub(super) fn binary(
        &mut self,
        op: Binary,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> (Expr, Ty) {
        let (a, left_ty) = self.inner(left);
        // The right side of `false && …` is never evaluated: folding it away is what lets recursive funs end.
        let decided = match (op, a.constant()) {
            (Binary::And, Some(0)) => Some(0),
            (Binary::Or, Some(1)) => Some(1),
            (Binary::Implies, Some(0)) => Some(1),
            _ => None,
        };
        if let Some(value) = decided
            && !self.checking_fun
            && left_ty == Ty::Boolean
        {
            return (Expr::Const(value), Ty::Boolean);
        }
        let (b, right_ty) = self.inner(right);
        let int = Ty::Int(None);
        let result = match op {
            Binary::Add
            | Binary::Sub
            | Binary::Mul
            | Binary::Div
            | Binary::Rem
            | Binary::Shl
            | Binary::Shr
            | Binary::Ushr => {
                self.both(left, &left_ty, right, &right_ty, &int);
                int
            }
            Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => {
                self.both(left, &left_ty, right, &right_ty, &int);
                Ty::Boolean
            }
            Binary::And | Binary::Or | Binary::Implies | Binary::Equivalent => {
                self.both(left, &left_ty, right, &right_ty, &Ty::Boolean);
                Ty::Boolean
            }
            Binary::BitAnd | Binary::BitOr | Binary::BitXor => {
                let ty = if left_ty == Ty::Boolean { Ty::Boolean } else { int };
                self.both(left, &left_ty, right, &right_ty, &ty);
                ty
            }
            Binary::Eq | Binary::Ne => {
                if !self.comparable(&left_ty, &right_ty) {
                    let (x, y) = (self.show(&left_ty), self.show(&right_ty));
                    self.error(span, format!("values of types {x} and {y} cannot be compared"));
                }
                Ty::Boolean
            }
        };
        (self.operation(op, a, b, span), result)
    }

    /// Both operands must be of a type.
    fn both(&mut self, left: &ast::Expr, left_ty: &Ty, right: &ast::Expr, right_ty: &Ty, wanted: &Ty) {
        for (operand, ty) in [(left, left_ty), (right, right_ty)] {
            if !self.fits(ty, wanted) {
                self.mismatch(operand.span, ty, wanted);
            }
        }
    }

    fn operation(&mut self, op: Binary, a: Expr, b: Expr, span: Span) -> Expr {
        let simple = match op {
            Binary::Add => BinaryOp::Add,
            Binary::Sub => BinaryOp::Sub,
            Binary::Mul => BinaryOp::Mul,
            Binary::Div => BinaryOp::Div,
            Binary::Rem => BinaryOp::Mod,
            Binary::Shl => BinaryOp::Shl,
            Binary::Shr => BinaryOp::Shr,
            Binary::Eq | Binary::Equivalent => BinaryOp::Eq,
            Binary::Ne => BinaryOp::Ne,
            Binary::Gt => BinaryOp::Gt,
            Binary::Ge => BinaryOp::Ge,
            Binary::Lt => BinaryOp::Lt,
            Binary::Le => BinaryOp::Le,
            Binary::And => BinaryOp::And,
            Binary::Or => BinaryOp::Or,
            Binary::BitAnd => BinaryOp::BitAnd,
            Binary::BitOr => BinaryOp::BitOr,
            Binary::BitXor => BinaryOp::BitXor,
            Binary::Implies => return fold(BinaryOp::Or, not(a), b),
            Binary::Ushr => {
                // (a shr b) with the copies of the sign removed: the mask is 2^(32 - b) - 1, all ones for b = 0.
                let distance = fold(BinaryOp::BitAnd, b.clone(), Expr::Const(31));
                let places = fold(BinaryOp::Sub, Expr::Const(31), distance);
                let power = fold(BinaryOp::Shl, Expr::Const(2), places);
                let mask = fold(BinaryOp::Sub, power, Expr::Const(1));
                return fold(BinaryOp::BitAnd, fold(BinaryOp::Shr, a, b), mask);
            }
        };
        let result = fold(simple, a, b);
        match simple {
            BinaryOp::Div | BinaryOp::Mod if result.constant().is_none() => {
                Expr::Spanned(Box::new(result), span)
            }
            _ => result,
        }
    }

    pub(super) fn conditional(
        &mut self,
        condition: &ast::Expr,
        yes: &ast::Expr,
        no: &ast::Expr,
        span: Span,
    ) -> (Expr, Ty) {
        let (c, ty) = self.inner(condition);
        if !self.fits(&ty, &Ty::Boolean) {
            self.mismatch(condition.span, &ty, &Ty::Boolean);
        }
        if let Some(c) = c.constant()
            && self.is_expanding()
        {
            // Only the side that is evaluated, so that recursive funs end. Both sides were checked with the fun.
            return self.inner(if c != 0 { yes } else { no });
        }
        let (a, a_ty) = self.inner(yes);
        let (b, b_ty) = self.inner(no);
        let ty = if self.fits(&a_ty, &b_ty) {
            b_ty
        } else if self.fits(&b_ty, &a_ty) {
            a_ty
        } else {
            let (x, y) = (self.show(&a_ty), self.show(&b_ty));
            self.error(span, format!("the two sides of a conditional have the types {x} and {y}"));
            Ty::Error
        };
        let ty = if matches!(ty, Ty::Int(_)) { Ty::Int(None) } else { ty };
        match c.constant() {
            Some(0) => (b, ty),
            Some(_) => (a, ty),
            None => (Expr::Conditional(Box::new(c), Box::new(a), Box::new(b)), ty),
        }
    }
}

/// `!e`.
pub(super) fn not(e: Expr) -> Expr {
    match e.constant() {
        Some(c) => Expr::Const(i32::from(c == 0)),
        None => Expr::Unary(UnaryOp::Not, Box::new(e)),
    }
}

/// `a && b`.
pub(super) fn and(a: Expr, b: Expr) -> Expr {
    match (a.constant(), b.constant()) {
        (Some(0), _) => Expr::Const(0),
        (Some(_), _) => b,
        (_, Some(c)) if c != 0 => a,
        _ => Expr::Binary(BinaryOp::And, Box::new(a), Box::new(b)),
    }
}

/// The operation, or its value when both sides are constants.
fn fold(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    if let (Some(x), Some(y)) = (a.constant(), b.constant())
        && let Some(value) = op.apply(x, y)
    {
        return Expr::Const(value);
    }
    Expr::Binary(op, Box::new(a), Box::new(b))
}
