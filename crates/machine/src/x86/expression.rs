//! Expressions and places. Values are 32-bit integers in registers; where the interpreter would report a fault, the code
//! gives up.

use quotient_program::{BinaryOp, Expr, Place, Projection, Root, Type, UnaryOp};

use super::assembler::{Alu, Cond, Label, Mem, Reg};
use super::location::{On, Translator};
use crate::state::cell::{Cell, size_of_type};

/// The registers that hold values, by depth of nesting.
pub(super) const VALUES: [Reg; 3] = [Reg::Rax, Reg::Rcx, Reg::Rdx];

/// The cell of a scalar.
pub(super) fn scalar(ty: &Type) -> Option<Cell> {
    match ty {
        Type::Int(_) | Type::Range(_) | Type::Enumeration(_) | Type::Channel => Some(Cell::of(ty)),
        _ => None,
    }
}

fn comparison(op: BinaryOp) -> Option<Cond> {
    Some(match op {
        BinaryOp::Lt => Cond::Less,
        BinaryOp::Le => Cond::LessOrEqual,
        BinaryOp::Gt => Cond::Greater,
        BinaryOp::Ge => Cond::GreaterOrEqual,
        BinaryOp::Eq => Cond::Equal,
        BinaryOp::Ne => Cond::NotEqual,
        _ => return None,
    })
}

impl Translator<'_> {
    /// The value of an expression that is the same in all states of this shape, for this thread.
    fn constant(&self, expr: &Expr) -> Option<i32> {
        match expr {
            Expr::Const(value) => Some(*value),
            Expr::SelfId => Some(self.thread as i32),
            Expr::ThreadCount => Some(self.shape.threads.len() as i32),
            Expr::Spanned(inner, _) => self.constant(inner),
            Expr::Unary(op, a) => {
                let a = self.constant(a)?;
                Some(match op {
                    UnaryOp::Not => i32::from(a == 0),
                    UnaryOp::Complement => !a,
                    UnaryOp::Negate => a.wrapping_neg(),
                })
            }
            Expr::Binary(op, a, b) => op.apply(self.constant(a)?, self.constant(b)?),
            _ => None,
        }
    }

    /// Where a scalar lies. An index that is not constant is computed in the registers from `depth` on.
    pub(super) fn place(&mut self, place: &Place, on: On, depth: usize) -> Option<Mem> {
        let at = self.first_byte(place)? as i32;
        let (program, function) = (self.program, self.function as usize);
        let mut ty = match &place.root {
            Root::Global(v) => &program.globals[v.0 as usize].ty,
            Root::Local(v) => &program.functions[function].locals[v.0 as usize].ty,
            _ => return None,
        };
        let mut index: Option<(Reg, u8)> = None;
        for projection in &place.path {
            match (projection, ty) {
                (Projection::Field(field), Type::Structure(id)) => {
                    ty = &program.structure(*id).fields[*field as usize].ty;
                }
                (Projection::Index(expr), Type::Array(element, len)) => {
                    if self.constant(expr).is_none() {
                        let size = size_of_type(program, element);
                        index = Some(self.index(expr, *len, size, index, on, depth)?);
                    }
                    ty = element;
                }
                _ => return None,
            }
        }
        Some(Mem { base: on.register(), index, at })
    }

    /// The byte where a place starts, with 0 for indices that are not constant.
    pub(super) fn first_byte(&self, place: &Place) -> Option<u32> {
        let (mut at, mut ty) = match &place.root {
            Root::Global(v) => (self.layout.globals[v.0 as usize], &self.program.globals[v.0 as usize].ty),
            Root::Local(v) => {
                let at = self.base + self.layout.threads[self.function as usize].locals[v.0 as usize];
                (at, &self.program.functions[self.function as usize].locals[v.0 as usize].ty)
            }
            _ => return None,
        };
        for projection in &place.path {
            match (projection, ty) {
                (Projection::Field(field), Type::Structure(id)) => {
                    let fields = &self.program.structure(*id).fields;
                    let before = &fields[..*field as usize];
                    at += before.iter().map(|f| size_of_type(self.program, &f.ty)).sum::<u32>();
                    ty = &fields[*field as usize].ty;
                }
                (Projection::Index(expr), Type::Array(element, len)) => {
                    let value = self.constant(expr).unwrap_or(0);
                    if !(0..*len as i32).contains(&value) {
                        return None;
                    }
                    at += value as u32 * size_of_type(self.program, element);
                    ty = element;
                }
                _ => return None,
            }
        }
        Some(at)
    }

    /// Adds an index to what is there.
    fn index(
        &mut self,
        expr: &Expr,
        len: u32,
        size: u32,
        outer: Option<(Reg, u8)>,
        on: On,
        depth: usize,
    ) -> Option<(Reg, u8)> {
        let depth = depth + usize::from(outer.is_some());
        let reg = *VALUES.get(depth)?;
        self.value(expr, on, depth)?;
        // Without sign: negative numbers are too large as well.
        self.asm.alu_constant(Alu::Cmp, reg, len as i32);
        self.asm.jump_if(Cond::AboveOrEqual, self.give_up);
        let Some((first, scale)) = outer else {
            if matches!(size, 1 | 2 | 4 | 8) {
                return Some((reg, size as u8));
            }
            self.asm.multiply_constant(reg, size as i32);
            return Some((reg, 1));
        };
        self.asm.multiply_constant(first, i32::from(scale));
        self.asm.multiply_constant(reg, size as i32);
        self.asm.alu(Alu::Add, first, reg);
        Some((first, 1))
    }

    /// Computes an expression into the register of `depth`; deeper ones may change.
    pub(super) fn value(&mut self, expr: &Expr, on: On, depth: usize) -> Option<()> {
        let reg = *VALUES.get(depth)?;
        if let Some(value) = self.constant(expr) {
            self.asm.constant(reg, value);
            return Some(());
        }
        match expr {
            Expr::Spanned(inner, _) => self.value(inner, on, depth)?,
            Expr::Load(place) => {
                let cell = scalar(&place.ty)?;
                let mem = self.place(place, on, depth)?;
                self.asm.load(reg, mem, cell.size(), cell == Cell::I16);
            }
            Expr::Unary(UnaryOp::Negate, a) => {
                self.value(a, on, depth)?;
                self.asm.negate(reg);
            }
            Expr::Unary(UnaryOp::Complement, a) => {
                self.value(a, on, depth)?;
                self.asm.complement(reg);
            }
            Expr::Unary(UnaryOp::Not, a) => {
                self.value(a, on, depth)?;
                self.asm.test(reg);
                self.asm.truth(Cond::Equal, reg);
            }
            Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) => {
                let (no, end) = (self.asm.label(), self.asm.label());
                self.unless(expr, on, depth, no)?;
                self.asm.constant(reg, 1);
                self.asm.jump(end);
                self.asm.bind(no);
                self.asm.constant(reg, 0);
                self.asm.bind(end);
            }
            Expr::Binary(op, a, b) => self.binary(*op, a, b, on, depth)?,
            Expr::Conditional(c, a, b) => {
                let (no, end) = (self.asm.label(), self.asm.label());
                self.unless(c, on, depth, no)?;
                self.value(a, on, depth)?;
                self.asm.jump(end);
                self.asm.bind(no);
                self.value(b, on, depth)?;
                self.asm.bind(end);
            }
            Expr::Length(channel) => {
                self.length(channel, on, depth)?;
            }
            Expr::Empty(channel) => {
                self.length(channel, on, depth)?;
                self.asm.test(reg);
                self.asm.truth(Cond::Equal, reg);
            }
            Expr::Full(channel) => {
                let capacity = self.length(channel, on, depth)?;
                self.asm.alu_constant(Alu::Cmp, reg, capacity as i32);
                self.asm.truth(Cond::Equal, reg);
            }
            _ => return None,
        }
        Some(())
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, on: On, depth: usize) -> Option<()> {
        let reg = VALUES[depth];
        if let Some(cond) = comparison(op) {
            self.compare(a, b, on, depth)?;
            self.asm.truth(cond, reg);
            return Some(());
        }
        let constant = self.constant(b);
        self.value(a, on, depth)?;
        let alu = match op {
            BinaryOp::Add => Alu::Add,
            BinaryOp::Sub => Alu::Sub,
            BinaryOp::BitAnd => Alu::And,
            BinaryOp::BitOr => Alu::Or,
            BinaryOp::BitXor => Alu::Xor,
            BinaryOp::Mul => {
                match constant {
                    Some(value) => self.asm.multiply_constant(reg, value),
                    None => {
                        self.value(b, on, depth + 1)?;
                        self.asm.multiply(reg, VALUES[depth + 1]);
                    }
                }
                return Some(());
            }
            BinaryOp::Shl => {
                self.asm.shift_left(reg, (constant? & 31) as u8);
                return Some(());
            }
            BinaryOp::Shr => {
                self.asm.shift_right(reg, (constant? & 31) as u8);
                return Some(());
            }
            BinaryOp::Div | BinaryOp::Mod => return self.divide(op, b, on, depth),
            _ => return None,
        };
        match constant {
            Some(value) => self.asm.alu_constant(alu, reg, value),
            None => {
                self.value(b, on, depth + 1)?;
                self.asm.alu(alu, reg, VALUES[depth + 1]);
            }
        }
        Some(())
    }

    /// Divides the value in `rax`. The instruction uses `rdx` too, so this is possible only where no other value waits.
    fn divide(&mut self, op: BinaryOp, b: &Expr, on: On, depth: usize) -> Option<()> {
        if depth != 0 {
            return None;
        }
        self.value(b, on, 1)?;
        // 0 is a fault, and the quotient of the least number by -1 does not exist for the processor.
        match self.constant(b) {
            Some(0 | -1) => return None,
            Some(_) => {}
            None => {
                self.asm.test(Reg::Rcx);
                self.asm.jump_if(Cond::Equal, self.give_up);
                self.asm.alu_constant(Alu::Cmp, Reg::Rcx, -1);
                self.asm.jump_if(Cond::Equal, self.give_up);
            }
        }
        self.asm.divide(Reg::Rcx);
        if op == BinaryOp::Mod {
            self.asm.copy(Reg::Rax, Reg::Rdx);
        }
        Some(())
    }

    fn compare(&mut self, a: &Expr, b: &Expr, on: On, depth: usize) -> Option<()> {
        let constant = self.constant(b);
        self.value(a, on, depth)?;
        match constant {
            Some(value) => self.asm.alu_constant(Alu::Cmp, VALUES[depth], value),
            None => {
                self.value(b, on, depth + 1)?;
                self.asm.alu(Alu::Cmp, VALUES[depth], VALUES[depth + 1]);
            }
        }
        Some(())
    }

    /// Jumps when a condition does not hold.
    pub(super) fn unless(&mut self, expr: &Expr, on: On, depth: usize, to: Label) -> Option<()> {
        match (self.constant(expr), expr) {
            (Some(0), _) => self.asm.jump(to),
            (Some(_), _) => {}
            (_, Expr::Spanned(inner, _)) => self.unless(inner, on, depth, to)?,
            (_, Expr::Unary(UnaryOp::Not, a)) => self.when(a, on, depth, to)?,
            (_, Expr::Binary(BinaryOp::And, a, b)) => {
                self.unless(a, on, depth, to)?;
                self.unless(b, on, depth, to)?;
            }
            (_, Expr::Binary(BinaryOp::Or, a, b)) => {
                let yes = self.asm.label();
                self.when(a, on, depth, yes)?;
                self.unless(b, on, depth, to)?;
                self.asm.bind(yes);
            }
            _ => {
                let cond = self.decide(expr, on, depth)?;
                self.asm.jump_if(cond.negated(), to);
            }
        }
        Some(())
    }

    /// Jumps when a condition holds.
    pub(super) fn when(&mut self, expr: &Expr, on: On, depth: usize, to: Label) -> Option<()> {
        match (self.constant(expr), expr) {
            (Some(0), _) => {}
            (Some(_), _) => self.asm.jump(to),
            (_, Expr::Spanned(inner, _)) => self.when(inner, on, depth, to)?,
            (_, Expr::Unary(UnaryOp::Not, a)) => self.unless(a, on, depth, to)?,
            (_, Expr::Binary(BinaryOp::And, a, b)) => {
                let no = self.asm.label();
                self.unless(a, on, depth, no)?;
                self.when(b, on, depth, to)?;
                self.asm.bind(no);
            }
            (_, Expr::Binary(BinaryOp::Or, a, b)) => {
                self.when(a, on, depth, to)?;
                self.when(b, on, depth, to)?;
            }
            _ => {
                let cond = self.decide(expr, on, depth)?;
                self.asm.jump_if(cond, to);
            }
        }
        Some(())
    }

    /// Compares; gives what holds then if the expression is true.
    fn decide(&mut self, expr: &Expr, on: On, depth: usize) -> Option<Cond> {
        if let Expr::Binary(op, a, b) = expr
            && let Some(cond) = comparison(*op)
        {
            self.compare(a, b, on, depth)?;
            return Some(cond);
        }
        self.value(expr, on, depth)?;
        self.asm.test(VALUES[depth]);
        Some(Cond::NotEqual)
    }

    /// Wraps the value in a register to a cell and stores it.
    pub(super) fn store(&mut self, to: Mem, from: Reg, cell: Cell) {
        match cell {
            Cell::U8(mask) if mask != u8::MAX => self.asm.alu_constant(Alu::And, from, i32::from(mask)),
            Cell::U16(mask) if mask != u16::MAX => self.asm.alu_constant(Alu::And, from, i32::from(mask)),
            Cell::U32(mask) if mask != u32::MAX => self.asm.alu_constant(Alu::And, from, mask as i32),
            _ => {}
        }
        self.asm.store(to, from, cell.size());
    }

    /// `place = value`, on the draft.
    pub(super) fn assign(&mut self, place: &Place, value: &Expr) -> Option<()> {
        let cell = scalar(&place.ty)?;
        if let Some(value) = self.constant(value) {
            let value = match &place.ty {
                Type::Range(range) => range.fit(value)?,
                _ => cell.wrap(value),
            };
            let to = self.place(place, On::Draft, 0)?;
            self.asm.store_constant(to, value, cell.size());
            return Some(());
        }
        self.value(value, On::Draft, 0)?;
        if let Type::Range(range) = &place.ty {
            // The interpreter wraps it, or reports it.
            self.asm.alu_constant(Alu::Cmp, VALUES[0], range.low);
            self.asm.jump_if(Cond::Less, self.give_up);
            self.asm.alu_constant(Alu::Cmp, VALUES[0], range.high);
            self.asm.jump_if(Cond::Greater, self.give_up);
        }
        let to = self.place(place, On::Draft, 1)?;
        self.store(to, VALUES[0], cell);
        Some(())
    }
}
