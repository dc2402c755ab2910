//! What some code writes, and whether other code looks at it: the question of analyses that ask whether a thread can be considered by itself.

use crate::visit::{self, Use, Visitor};
use crate::{Expr, Operation, Place, Root, Transformation};

/// Globals that are written.
#[derive(Debug, Default)]
pub struct Written(pub Vec<u32>);

impl Visitor for Written {
    fn place(&mut self, place: &Place, how: Use) {
        if let (Root::Global(v), Use::Write) = (&place.root, how) {
            self.0.push(v.0);
        }
    }
}

/// Looks at nothing that others change: waits for conditions over its own variables, and globals that others do not write.
#[derive(Debug)]
pub struct Alone<'a> {
    written: &'a [u32],
    /// Was this so of all transformations so far?
    pub yes: bool,
    /// Did one of them write a global that others write?
    pub overwrites: bool,
}

impl<'a> Alone<'a> {
    /// Beside others that write these globals.
    pub fn beside(others: &'a Written) -> Alone<'a> {
        Alone { written: &others.0, yes: true, overwrites: false }
    }

    /// Looks at one more transformation.
    pub fn transformation(&mut self, t: &Transformation) {
        self.yes &= matches!(
            t.operation,
            Operation::Always | Operation::When(_) | Operation::Else | Operation::Enter
        );
        visit::transformation(t, self);
    }
}

impl Visitor for Alone<'_> {
    fn place(&mut self, place: &Place, how: Use) {
        match &place.root {
            Root::Global(v) if !self.written.contains(&v.0) => {}
            Root::Global(_) if how == Use::Write => self.overwrites = true,
            Root::Local(_) => {}
            Root::Global(_) | Root::Remote { .. } | Root::Object { .. } => self.yes = false,
        }
    }

    fn expr(&mut self, e: &Expr) {
        self.yes &= matches!(
            e,
            Expr::Const(_)
                | Expr::Load(_)
                | Expr::Unary(..)
                | Expr::Binary(..)
                | Expr::Conditional(..)
                | Expr::SelfId
                | Expr::Spanned(..)
        );
    }
}
