//! Which expressions may have no value.

use crate::visit::{self, Use, Visitor};
use crate::{BinaryOp, Expr, Place, Projection, Root};

/// Looks for something whose evaluation can be a fault.
struct Faults(bool);

impl Visitor for Faults {
    fn expr(&mut self, e: &Expr) {
        self.0 |= match e {
            Expr::Binary(BinaryOp::Div | BinaryOp::Mod, _, divisor) => {
                divisor.constant().is_none_or(|d| d == 0)
            }
            // The channel may not have been made.
            Expr::Length(channel) | Expr::Full(channel) | Expr::Empty(channel) => {
                channel.constant().is_none()
            }
            Expr::Poll { channel, .. } => channel.constant().is_none(),
            Expr::Terminated(_)
            | Expr::Cast { .. }
            | Expr::ArrayLength(_)
            | Expr::Lock(..)
            | Expr::Query { .. } => true,
            _ => false,
        };
    }

    fn place(&mut self, place: &Place, _: Use) {
        self.0 |= matches!(place.root, Root::Remote { .. } | Root::Object { .. })
            || place.path.iter().any(|p| matches!(p, Projection::Index(i) if i.constant().is_none()));
    }
}

impl Expr {
    /// Whether evaluating the expression may be a fault: it follows a reference, divides, or looks for an element, a channel or a
    /// thread that need not exist. `false` is certain, `true` is not.
    pub fn may_fault(&self) -> bool {
        let mut faults = Faults(false);
        visit::expr(self, &mut faults);
        faults.0
    }
}
