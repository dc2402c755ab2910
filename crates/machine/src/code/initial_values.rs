//! Code that gives variables their initial values.

use quotient_program as ir;
use quotient_program::{Expr, Init, Type, Variable};

use super::compile::Compiler;
use super::{CodeAt, Op};
use crate::state::cell::{Cell, size_of_type};

impl Compiler<'_> {
    pub(crate) fn init_globals(&mut self) -> CodeAt {
        let start = self.here();
        for (variable, at) in self.program.globals.iter().zip(self.layout.globals.clone()) {
            self.init(u32::MAX, variable, at, false);
        }
        self.emit(Op::Return);
        start
    }

    /// Code that gives a variable at byte `at` its initial value. Channels that exist as long as the variable
    /// does come with its segment.
    pub(crate) fn init(&mut self, function: u32, variable: &Variable, at: u32, local: bool) {
        self.span = Some(variable.span);
        let put = |c: &mut Self, ty: &Type, at: u32, value: &Expr| {
            if value.constant() == Some(0) {
                return;
            }
            c.expr(function, value);
            let cell = Cell::of(ty);
            c.emit(if local { Op::StoreLocal(at, cell) } else { Op::StoreGlobal(at, cell) });
        };
        match (&variable.init, &variable.ty) {
            (Init::Channels(kind), ty) => self.init_channels(*kind, ty, at, local),
            (Init::Default, Type::Structure(id)) => self.init_structure(function, *id, at, local),
            (Init::Default, Type::Array(element, length)) => {
                if matches!(**element, Type::Structure(_) | Type::Range(_) | Type::Array(..)) {
                    let size = size_of_type(self.program, element);
                    let inner = Variable { ty: (**element).clone(), ..variable.clone() };
                    for index in 0..*length {
                        self.init(function, &inner, at + index * size, local);
                    }
                }
            }
            (Init::Default, Type::Range(range)) => put(self, &variable.ty, at, &Expr::Const(range.initial())),
            (Init::Default, _) => {}
            (Init::Fill(value), Type::Array(element, length)) => {
                let size = size_of_type(self.program, element);
                for index in 0..*length {
                    put(self, element, at + index * size, value);
                }
            }
            (Init::Fill(value), ty) => put(self, ty, at, value),
            (Init::List(values), Type::Array(element, length)) => {
                let size = size_of_type(self.program, element);
                for (index, value) in values.iter().take(*length as usize).enumerate() {
                    put(self, element, at + index as u32 * size, value);
                }
            }
            (Init::List(values), ty) => {
                if let Some(value) = values.first() {
                    put(self, ty, at, value);
                }
            }
        }
    }

    fn init_structure(&mut self, function: u32, id: ir::StructureId, mut at: u32, local: bool) {
        let program = self.program;
        for field in &program.structure(id).fields {
            self.init(function, field, at, local);
            at += size_of_type(program, &field.ty);
        }
    }
}
