//! Actions to compact code.

use quotient_program as ir;
use quotient_program::Type;

use super::calls::CallPlace;
use super::claim::locals_of;
use super::compile::{Compiler, PER_LEVEL};
use super::plain::has_links;
use super::{Op, Print, PrintPart, Start};
use crate::explain::fault::Fault;
use crate::state::cell::size_of_type;

impl Compiler<'_> {
    pub(super) fn action(&mut self, function: u32, action: &ir::Action, place: &CallPlace) {
        match action {
            ir::Action::Assign(place, value) => self.store(function, place, |c| c.expr(function, value)),
            ir::Action::Assert(e, span) => {
                let text = self.sources.slice(*span).split_whitespace().collect::<Vec<_>>().join(" ");
                let site = self.site(Fault::Assertion { text }, *span);
                self.expr(function, e);
                self.emit(Op::Assert(site));
            }
            ir::Action::Start { function: started, args, priority, result } => {
                self.code.starts.push(Start {
                    function: started.0,
                    args: args.len() as u32,
                    has_priority: priority.is_some(),
                });
                let index = self.code.starts.len() as u32 - 1;
                let start = |c: &mut Self| {
                    // The arguments wait on the stack.
                    let waiting = args.len() / PER_LEVEL + 1;
                    c.nesting += waiting;
                    for arg in args {
                        c.expr(function, arg);
                    }
                    c.nesting -= waiting;
                    if let Some(priority) = priority {
                        c.expr(function, priority);
                    }
                    c.emit(Op::Start(index));
                    if result.as_ref().is_some_and(|r| r.ty == Type::Thread) {
                        c.emit(Op::AddConst(1));
                    }
                };
                match result {
                    Some(place) => self.store(function, place, start),
                    None => {
                        start(self);
                        self.emit(Op::Pop);
                    }
                }
            }
            ir::Action::Print(printf) => {
                // What is printed is of interest when a step is explained, a fault in it always.
                let (program, locals) = (self.program, locals_of(self.program, function));
                for value in printf.values().filter(|value| value.may_fault(program, locals)) {
                    self.expr(function, value);
                    self.emit(Op::Pop);
                }
                // The code of the parts lies after a jump: it runs only when a step is explained.
                let jump = self.emit(Op::Jump(0));
                let parts = printf
                    .parts
                    .iter()
                    .map(|part| match part {
                        ir::PrintfPart::Text(text) => PrintPart::Text(text.clone()),
                        ir::PrintfPart::Decimal(e) => PrintPart::Decimal(self.expr_code(function, e)),
                        ir::PrintfPart::Unsigned(e) => PrintPart::Unsigned(self.expr_code(function, e)),
                        ir::PrintfPart::Hex(e) => PrintPart::Hex(self.expr_code(function, e)),
                        ir::PrintfPart::Octal(e) => PrintPart::Octal(self.expr_code(function, e)),
                        ir::PrintfPart::Character(e) => PrintPart::Character(self.expr_code(function, e)),
                        ir::PrintfPart::Name(e, set) => {
                            PrintPart::Name(self.expr_code(function, e), set.map(|s| s.0))
                        }
                    })
                    .collect();
                self.code.ops[jump] = Op::Jump(self.here());
                self.code.prints.push(Print { parts });
                let index = self.code.prints.len() as u32 - 1;
                self.emit(Op::Print(index));
            }
            ir::Action::SetPriority(thread, priority) => {
                self.expr(function, thread);
                self.expr(function, priority);
                self.emit(Op::SetPriority);
            }
            ir::Action::Forget(variable) => {
                let at = self.layout.threads[function as usize].locals[variable.0 as usize];
                let ty = &self.local(function, *variable).ty.clone();
                let len = size_of_type(self.program, ty);
                self.emit(Op::Forget { at, len });
                if has_links(self.program, ty) {
                    self.emit(Op::Touch);
                }
            }
            other => self.object_action(function, other, place),
        }
    }
}
