//! Values known before anything runs: initial values, lengths of arrays.

use quotient_program::BinaryOp;

use super::{At, Lower};
use crate::ast::{Binary, Expr, ExprKind, Unary};

/// The program's operator for one of DVE; `None` for `imply`.
pub(super) fn operator(op: Binary) -> Option<BinaryOp> {
    Some(match op {
        Binary::Imply => return None,
        Binary::Or => BinaryOp::Or,
        Binary::And => BinaryOp::And,
        Binary::BitOr => BinaryOp::BitOr,
        Binary::BitAnd => BinaryOp::BitAnd,
        Binary::BitXor => BinaryOp::BitXor,
        Binary::Eq => BinaryOp::Eq,
        Binary::Ne => BinaryOp::Ne,
        Binary::Lt => BinaryOp::Lt,
        Binary::Le => BinaryOp::Le,
        Binary::Gt => BinaryOp::Gt,
        Binary::Ge => BinaryOp::Ge,
        Binary::Shl => BinaryOp::Shl,
        Binary::Shr => BinaryOp::Shr,
        Binary::Add => BinaryOp::Add,
        Binary::Sub => BinaryOp::Sub,
        Binary::Mul => BinaryOp::Mul,
        Binary::Div => BinaryOp::Div,
        Binary::Mod => BinaryOp::Mod,
    })
}

impl Lower<'_> {
    /// The value of an expression of constants; what is wrong is reported.
    pub(super) fn constant(&mut self, e: &Expr, at: At<'_>) -> Option<i32> {
        let value = match &e.kind {
            ExprKind::Number(value) => *value,
            ExprKind::Name(name) => {
                let Some(item) = self.item(&name.text, at) else {
                    self.unknown_variable(name, at);
                    return None;
                };
                match &item.constant {
                    Some(values) if item.length.is_none() => values[0],
                    Some(_) => {
                        self.error(name.span, format!("`{}` is an array", name.text));
                        return None;
                    }
                    None => {
                        self.error(name.span, format!("`{}` is not a constant", name.text))
                            .help("initial values and lengths are made of numbers and constants");
                        return None;
                    }
                }
            }
            ExprKind::Index(name, index) => {
                let index = self.constant(index, at)?;
                let values = self.item(&name.text, at).and_then(|i| i.constant.clone());
                let Some(values) = values else {
                    self.error(name.span, format!("`{}` is not a constant array", name.text));
                    return None;
                };
                let Some(value) = usize::try_from(index).ok().and_then(|i| values.get(i)) else {
                    self.error(e.span, format!("`{}` has no element {index}", name.text));
                    return None;
                };
                *value
            }
            ExprKind::Of(..) | ExprKind::Foreign(..) => {
                self.error(e.span, "this depends on the state of a process")
                    .help("initial values and lengths are made of numbers and constants");
                return None;
            }
            ExprKind::Unary(op, a) => {
                let a = self.constant(a, at)?;
                match op {
                    Unary::Minus => a.wrapping_neg(),
                    Unary::Complement => !a,
                    Unary::Not => i32::from(a == 0),
                }
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.constant(a, at)?, self.constant(b, at)?);
                let value = match operator(*op) {
                    None => Some(i32::from(a == 0 || b != 0)),
                    Some(op) => op.apply(a, b),
                };
                let Some(value) = value else {
                    self.error(e.span, "division by zero");
                    return None;
                };
                value
            }
        };
        Some(value)
    }
}
