//! Parameters of proctypes, and the process number as a variable.
//!
//! As in SPIN's verifiers, a structure is passed by its scalars: `run P(t)` gives one argument for each field of `t`, and
//! the fields of the parameter take them in order. Arguments and parameters are matched after both were taken apart, so a
//! structure may also be given field by field. The parameter is a copy without initial values of its own: a channel in it
//! is the caller's channel, no new one is made. Arrays inside of it are refused, as SPIN does.
//!
//! A receive into `_pid` overwrites the number by which the process knows itself (SPIN keeps it among the process's
//! variables). A proctype with such a receive has a variable of that name, which starts as the number of the process, and
//! every `_pid` in its body means this variable. Who the process is for others (`P[n]@L`, the result of `run`) does not change.

use quotient_program::{Expr, Init, IntType, Structure, StructureId, Type, Variable};
use quotient_source::{Diagnostic, Span};

use super::Lowering;
use crate::ast;

/// The name of a process's own number.
pub(super) const OWN_ID: &str = "_pid";

impl Lowering<'_> {
    /// Reports a parameter that cannot be passed.
    pub(super) fn check_parameter(&mut self, ty: &Type, span: Span, of_function: bool) {
        let diagnostic = match ty {
            Type::Structure(_) if of_function => {
                Diagnostic::error(span, "a parameter of a function must be a single value")
                    .help("pass the fields one by one, or a pointer to the structure")
            }
            Type::Structure(_) if self.has_array(ty) => {
                Diagnostic::error(span, "a structure with an array in it cannot be a parameter")
                    .help("pass the elements one by one, or use a global variable")
            }
            Type::Array(..) => Diagnostic::error(span, "an array cannot be a parameter")
                .help("pass the elements one by one, or use a global variable"),
            _ => return,
        };
        self.report(diagnostic);
    }

    fn has_array(&self, ty: &Type) -> bool {
        match ty {
            Type::Array(..) => true,
            Type::Structure(id) => self.program.structure(*id).fields.iter().any(|f| self.has_array(&f.ty)),
            _ => false,
        }
    }

    /// A parameter of the function being translated.
    pub(super) fn declare_parameter(&mut self, ty: &ast::TypeName, variable: &ast::Variable) {
        let ty = self.type_of(ty, variable);
        let ty = self.without_values(ty);
        self.add_local(&variable.name, ty, Init::Default);
    }

    /// The type without initial values, in which no channel is made.
    fn without_values(&mut self, ty: Type) -> Type {
        let Type::Structure(id) = ty else { return ty };
        if let Some(known) = self.names.without_values.get(&id) {
            return Type::Structure(*known);
        }
        let Structure { name, fields } = self.program.structure(id).clone();
        let mut plain = Vec::new();
        let mut same = true;
        for field in fields {
            let ty = self.without_values(field.ty.clone());
            same &= ty == field.ty && matches!(field.init, Init::Default);
            plain.push(Variable { ty, init: Init::Default, ..field });
        }
        let mut result = id;
        if !same {
            result = StructureId(self.program.structures.len() as u32);
            self.program.structures.push(Structure { name, fields: plain });
        }
        self.names.without_values.insert(id, result);
        self.same_size(id, result);
        Type::Structure(result)
    }

    /// The arguments of a `run`, structures taken apart, for parameters of these types.
    pub(super) fn arguments(&mut self, args: &[ast::Expr], types: &[Type]) -> Vec<Expr> {
        let mut out = Vec::new();
        for arg in args {
            if let ast::ExprKind::Reference(r) = &arg.kind
                && self.mtype_constant(r).is_none()
                && self.is_aggregate(r)
            {
                out.extend(self.message(std::slice::from_ref(arg)));
                continue;
            }
            let int = Type::Int(IntType::INT);
            let wanted = types.get(out.len()).unwrap_or(&int);
            out.push(self.typed(arg, wanted));
        }
        out
    }

    /// Gives the process a variable for its number, if something is received into it or others read it (`P[n]:_pid`).
    pub(super) fn declare_own_id(&mut self, process: &str, span: Span) {
        if self.receives_own_id.iter().chain(&self.shows_own_id).any(|name| name == process) {
            let name = ast::Ident { name: OWN_ID.into(), span };
            self.add_local(&name, Type::Int(IntType::BYTE), Init::Fill(Expr::SelfId));
        }
    }

    /// Says what a receive into `_pid` does.
    pub(super) fn warn_own_id(&mut self, span: Span) {
        self.report(
            Diagnostic::warning(span, "this receive overwrites `_pid`, as it does in SPIN")
                .help("to take only messages with this process's number, write `eval(_pid)`"),
        );
    }
}
