//! Conditions and changes to tables: see `direct.rs`.

use quotient_program as ir;
use quotient_program::{BinaryOp, Expr, Place, UnaryOp};

use super::compile::Compiler;
use super::place::Simple;
use crate::state::cell::{Cell, size_of_type};
use crate::state::shapes::MOST_THREADS;
use crate::step::direct::{Base, Change, Direct, FAIL, INTERPRET, OTHERWISE, Operand, PASS, ROW, Test};

impl Compiler<'_> {
    /// The tests and changes of a transformation of a function with these locations.
    pub(crate) fn direct(
        &mut self,
        function: u32,
        t: &ir::Transformation,
        locations: &[ir::Location],
    ) -> Direct {
        if self.code.directs.constants.is_empty() {
            self.code.directs.constants.resize(ROW as usize, 0);
        }
        let condition = match &t.operation {
            ir::Operation::When(e) => {
                let known = self.code.directs.tests.len();
                self.tests(function, e, [FAIL, PASS]).unwrap_or_else(|| {
                    self.code.directs.tests.truncate(known);
                    INTERPRET
                })
            }
            ir::Operation::Always => PASS,
            ir::Operation::Else => OTHERWISE,
            _ => INTERPRET,
        };
        let first = self.code.directs.changes.len();
        let mut first_change = first as u32;
        for action in &t.actions {
            if self.direct_action(function, action).is_none() {
                self.code.directs.changes.truncate(first);
                first_change = INTERPRET;
                break;
            }
        }
        let end = self.code.directs.changes.len() as u32;
        let target = t.target.and_then(|l| u16::try_from(l.0).ok());
        let quick = first_change != INTERPRET
            && !t.keeps_control
            && target.is_some()
            && t.target.is_some_and(|l| !locations[l.0 as usize].transient);
        Direct { condition, first: first_change, end, target: target.unwrap_or(0), quick }
    }

    /// Adds the tests of a condition; gives the first one. `next` is where to go when it is false and when it is true.
    fn tests(&mut self, function: u32, expr: &Expr, next: [u32; 2]) -> Option<u32> {
        match expr {
            Expr::Spanned(inner, _) => self.tests(function, inner, next),
            Expr::Const(value) => Some(next[usize::from(*value != 0)]),
            Expr::Unary(UnaryOp::Not, a) => self.tests(function, a, [next[1], next[0]]),
            // The right side is tested only when the left one does not decide.
            Expr::Binary(BinaryOp::And, a, b) => {
                let second = self.tests(function, b, next)?;
                self.tests(function, a, [next[0], second])
            }
            Expr::Binary(BinaryOp::Or, a, b) => {
                let second = self.tests(function, b, next)?;
                self.tests(function, a, [second, next[1]])
            }
            Expr::Binary(op, a, b) => {
                let accepts = match op {
                    BinaryOp::Lt => 0b001,
                    BinaryOp::Eq => 0b010,
                    BinaryOp::Le => 0b011,
                    BinaryOp::Gt => 0b100,
                    BinaryOp::Ne => 0b101,
                    BinaryOp::Ge => 0b110,
                    _ => return None,
                };
                let (left, right) = (self.operand(function, a)?, self.operand(function, b)?);
                Some(self.test(Test { left, right, accepts, next }))
            }
            _ => {
                let left = self.operand(function, expr)?;
                let right = ZERO;
                Some(self.test(Test { left, right, accepts: 0b101, next }))
            }
        }
    }

    fn test(&mut self, test: Test) -> u32 {
        self.code.directs.tests.push(test);
        self.code.directs.tests.len() as u32 - 1
    }

    fn direct_action(&mut self, function: u32, action: &ir::Action) -> Option<()> {
        match action {
            // A value must be checked against a range.
            ir::Action::Assign(place, _) if matches!(place.ty, ir::Type::Range(_)) => return None,
            ir::Action::Assign(place, value) => {
                let (left, right, subtract) = self.sum(function, value)?;
                let Cell::U8(mask) = Cell::of(&place.ty) else { return None };
                let to = self.byte(function, place)?;
                self.code.directs.changes.push(Change { to, left, right, subtract, mask });
            }
            ir::Action::Forget(variable) => {
                let at = self.layout.threads[function as usize].locals[variable.0 as usize];
                let ty = &self.local(function, *variable).ty;
                for offset in 0..size_of_type(self.program, ty) {
                    let to = Operand { at: at + offset, base: Base::Thread, ..ZERO };
                    let change = Change { to, left: ZERO, right: ZERO, subtract: false, mask: u8::MAX };
                    self.code.directs.changes.push(change);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// A value as the sum or difference of two operands.
    fn sum(&mut self, function: u32, value: &Expr) -> Option<(Operand, Operand, bool)> {
        if let Some(single) = self.operand(function, value) {
            return Some((single, ZERO, false));
        }
        match value {
            Expr::Spanned(inner, _) => self.sum(function, inner),
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
                let (left, right) = (self.operand(function, a)?, self.operand(function, b)?);
                Some((left, right, *op == BinaryOp::Sub))
            }
            _ => None,
        }
    }

    /// An expression that is a byte somewhere.
    fn operand(&mut self, function: u32, expr: &Expr) -> Option<Operand> {
        match expr {
            Expr::Spanned(inner, _) => self.operand(function, inner),
            Expr::Load(place) => self.byte(function, place),
            _ => self.row(expr),
        }
    }

    /// The place of a byte: a variable, or an element whose index is an operand without one.
    fn byte(&mut self, function: u32, place: &Place) -> Option<Operand> {
        let Cell::U8(_) = Cell::of(&place.ty) else { return None };
        let base = |local: bool| if local { Base::Thread } else { Base::State };
        match self.simple(function, place) {
            Simple::Fixed { local, at } => Some(Operand { at, base: base(local), ..ZERO }),
            Simple::Element { local, at, len, index } => {
                let index = self.operand(function, &index).filter(|index| !index.is_indexed())?;
                let site = self.index_site(place, len);
                let (index_at, index_base) = (index.at, index.base);
                Some(Operand { at, index_at, len, site, base: base(local), index_base })
            }
            Simple::No => None,
        }
    }

    /// The row of an expression that depends on nothing but the thread's id and is a byte for every thread.
    fn row(&mut self, expr: &Expr) -> Option<Operand> {
        let mut row = [0; ROW as usize];
        for (thread, value) in row.iter_mut().enumerate().take(MOST_THREADS) {
            *value = u8::try_from(evaluate(expr, thread as i32)?).ok()?;
        }
        let constants = &mut self.code.directs.constants;
        let known = constants.chunks_exact(ROW as usize).position(|known| known == row);
        let number = known.unwrap_or_else(|| {
            constants.extend(row);
            constants.len() / ROW as usize - 1
        });
        Some(Operand { at: number as u32 * ROW, ..ZERO })
    }
}

/// The constant 0: the first row.
const ZERO: Operand =
    Operand { at: 0, index_at: 0, len: 1, site: 0, base: Base::Constants, index_base: Base::Constants };

impl Operand {
    fn is_indexed(&self) -> bool {
        self.index_base != Base::Constants || self.index_at != 0 || self.len != 1
    }
}

/// The value of an expression for a thread, if it depends on nothing else and has no fault.
fn evaluate(expr: &Expr, thread: i32) -> Option<i32> {
    match expr {
        Expr::Const(value) => Some(*value),
        Expr::SelfId => Some(thread),
        Expr::Spanned(inner, _) => evaluate(inner, thread),
        Expr::Unary(op, a) => {
            let a = evaluate(a, thread)?;
            Some(match op {
                UnaryOp::Not => i32::from(a == 0),
                UnaryOp::Complement => !a,
                UnaryOp::Negate => a.wrapping_neg(),
            })
        }
        Expr::Binary(op, a, b) => op.apply(evaluate(a, thread)?, evaluate(b, thread)?),
        _ => None,
    }
}
