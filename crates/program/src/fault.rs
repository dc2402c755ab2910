//! Which expressions may have no value.

use crate::visit::{self, Use, Visitor};
use crate::{Action, BinaryOp, Expr, Place, Program, Projection, Root, Transformation, Type, Variable};

/// Looks for something whose evaluation can be a fault.
struct Faults<'a> {
    program: &'a Program,
    locals: &'a [Variable],
    found: bool,
}

impl Faults<'_> {
    /// May an index of this place lie outside of its array? A constant one is compared with the array's length.
    fn outside(&self, place: &Place) -> bool {
        let declared = match place.root {
            Root::Global(id) => self.program.globals.get(id.0 as usize),
            Root::Local(id) => self.locals.get(id.0 as usize),
            // Whether there is such a thread or object is not known here.
            Root::Remote { .. } | Root::Object { .. } => return true,
        };
        let mut ty = declared.map(|variable| &variable.ty);
        place.path.iter().any(|projection| {
            ty = match (projection, ty) {
                (Projection::Field(field), Some(Type::Structure(id))) => {
                    self.program.structure(*id).fields.get(*field as usize).map(|field| &field.ty)
                }
                (Projection::Index(index), Some(Type::Array(element, length)))
                    if index.constant().is_some_and(|i| (0..i64::from(*length)).contains(&i64::from(i))) =>
                {
                    Some(element)
                }
                _ => None,
            };
            ty.is_none()
        })
    }
}

impl Visitor for Faults<'_> {
    fn expr(&mut self, e: &Expr) {
        self.found |= match e {
            Expr::Binary(BinaryOp::Div | BinaryOp::Mod, _, divisor) => {
                divisor.constant().is_none_or(|d| d == 0)
            }
            // The channel may not have been made, or be of another kind than the question needs.
            Expr::Length(_) | Expr::Full(_) | Expr::Empty(_) | Expr::Poll { .. } => true,
            Expr::Terminated(_)
            | Expr::Cast { .. }
            | Expr::ArrayLength(_)
            | Expr::Lock(..)
            | Expr::Query { .. } => true,
            _ => false,
        };
    }

    fn place(&mut self, place: &Place, _: Use) {
        self.found |= self.outside(place);
    }
}

impl Transformation {
    /// Whether taking it may be a fault, apart from what its operation and its actions do to channels, threads and objects. `false` is certain, `true` is not.
    pub fn may_fault(&self, program: &Program, locals: &[Variable]) -> bool {
        let mut faults = Faults { program, locals, found: false };
        visit::transformation(self, &mut faults);
        // A value outside of the range of the variable that it is assigned to.
        let in_range =
            |a: &Action| matches!(a, Action::Assign(place, _) if matches!(place.ty, Type::Range(_)));
        faults.found || self.actions.iter().any(in_range)
    }
}

impl Expr {
    /// Whether evaluating the expression may be a fault: it follows a reference, divides, or looks for an element, a channel or a
    /// thread that need not exist. `locals` are those of the function that evaluates it. `false` is certain, `true` is not.
    pub fn may_fault(&self, program: &Program, locals: &[Variable]) -> bool {
        let mut faults = Faults { program, locals, found: false };
        visit::expr(self, &mut faults);
        faults.found
    }
}
