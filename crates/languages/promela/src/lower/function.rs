//! Functions: declarations, calls, `return`.
//!
//! A call is a step that enters a new frame; what the function does are steps of their own, so that it may block and other
//! processes may move in between, unless the call stands in an `atomic` sequence, which then includes the function's
//! steps. The value arrives with the step that returns. When it does not go to a whole local variable, a hidden local takes
//! it and a further step, together with the return for all that others can see, stores it.

use quotient_program::{Action, Callee, Expr, FunctionId, Init, Operation, Place, Root, Type};
use quotient_source::{Diagnostic, Span};

use super::Lowering;
use super::elements::{ElementId, Kind};
use super::pointer::Sort;
use super::statement::{Context, basic};
use crate::ast;

/// A call through a variable, to be checked when all functions are known.
pub(super) struct IndirectCall {
    args: Vec<Sort>,
    result: Option<Sort>,
    span: Span,
}

impl Lowering<'_> {
    /// Is there a variable with this name here?
    pub(super) fn is_variable(&self, name: &str) -> bool {
        self.local(name).is_some() || self.names.globals.contains_key(name)
    }

    /// The function that a plain name means, if no variable has it.
    pub(super) fn function_named(&self, r: &ast::Reference) -> Option<FunctionId> {
        let part = &r.parts[0];
        if r.parts.len() > 1 || part.index.is_some() || self.is_variable(&part.name.name) {
            return None;
        }
        self.proctype_named(&part.name.name).filter(|id| self.proctypes[id.0 as usize].is_function)
    }

    /// A function's body.
    pub(super) fn function(&mut self, id: FunctionId, f: &ast::Function) {
        self.returns = Some(f.returns.as_ref().map(|ty| self.scalar_type(ty)));
        self.body(id, &f.name.name, &f.params, &f.body, f.span, f.end, None, None);
        self.returns = None;
    }

    /// `return`, `return e`.
    pub(super) fn return_action(&mut self, value: Option<&ast::Expr>, span: Span) -> Action {
        let wanted = self.returns.clone().flatten();
        match (value, wanted) {
            (Some(e), Some(ty)) => Action::Return(Some(self.typed(e, &ty))),
            (None, None) => Action::Return(None),
            (None, Some(_)) => {
                self.report(
                    Diagnostic::error(span, "this function returns a value").help("write `return e`"),
                );
                Action::Return(None)
            }
            (Some(e), None) => {
                self.report(
                    Diagnostic::error(e.span, "this function returns nothing")
                        .help("write the type after its parameters: `function f(…) : int`"),
                );
                Action::Return(None)
            }
        }
    }

    /// `f(args)` with its value going to `result`.
    pub(super) fn call(
        &mut self,
        context: &mut Context,
        callee: &ast::Reference,
        args: &[ast::Expr],
        result: Option<&ast::CallTarget>,
        span: Span,
        out: &mut Vec<ElementId>,
    ) {
        let target = match result {
            None => None,
            Some(t) if t.pointer => self.pointer(&t.reference),
            Some(t) => self.scalar_place(&t.reference),
        };
        if result.is_some() && target.is_none() {
            return;
        }
        let (callee, args) = match self.function_named(callee) {
            Some(function) => {
                let info = &self.proctypes[function.0 as usize];
                let (params, header) = (info.params.clone(), info.span);
                let returns = info.returns.clone();
                if params.len() != args.len() {
                    let message =
                        format!("`{}` takes {} arguments, {} are given", info.name, params.len(), args.len());
                    self.report(Diagnostic::error(span, message).related(header, "declared here"));
                }
                self.check_result(target.as_ref(), returns.as_ref().map(Sort::of), span);
                let args = args.iter().zip(&params).map(|(a, ty)| self.typed(a, ty)).collect();
                (Callee::Function(function), args)
            }
            None => {
                let Some(place) = self.place(callee) else { return };
                if place.ty != Type::Function {
                    self.report(
                        Diagnostic::error(callee.span, "this is not a function")
                            .help("declare `function f(…) { … }`, or a variable of type `ftype`"),
                    );
                    return;
                }
                let sorts: Vec<Sort> = args.iter().map(|a| self.sort_of(a)).collect();
                let result = target.as_ref().map(|t| Sort::of(&t.ty));
                self.indirect_calls.push(IndirectCall { args: sorts.clone(), result, span });
                let args = args.iter().zip(sorts);
                let args = args.map(|(a, s)| if s == Sort::Data { self.expr(a) } else { self.opaque(a) });
                (Callee::Value(Expr::Load(place)), args.collect())
            }
        };
        let text = self.text(span);
        let whole_local = |p: &Place| matches!(p.root, Root::Local(_)) && p.path.is_empty();
        let (result, store) = match target {
            Some(place) if !whole_local(&place) => {
                let name = ast::Ident { name: format!("value of {text}"), span };
                let id = self.add_hidden(&name, place.ty.clone());
                let value = Place { root: Root::Local(id), path: Vec::new(), ty: place.ty.clone(), span };
                (Some(value.clone()), Some(Action::Assign(place, Expr::Load(value))))
            }
            other => (other, None),
        };
        let call = vec![Action::Call { callee, args, result }];
        out.push(context.flow.add(basic(Operation::Always, call), span, text.clone()));
        if let Some(store) = store {
            out.push(context.flow.add(basic(Operation::Always, vec![store]), span, text));
        }
    }

    /// A local that the user did not declare.
    fn add_hidden(&mut self, name: &ast::Ident, ty: Type) -> quotient_program::VariableId {
        let Some(body) = &mut self.current else { return quotient_program::VariableId(0) };
        let id = quotient_program::VariableId(body.locals.len() as u32);
        let (name, span) = (name.name.clone(), name.span);
        body.locals.push(quotient_program::Variable { name, ty, init: Init::Default, scratch: false, span });
        id
    }

    fn check_result(&mut self, target: Option<&Place>, returned: Option<Sort>, span: Span) {
        let Some(target) = target else { return };
        match returned {
            None => {
                self.report(
                    Diagnostic::error(span, "this function returns nothing")
                        .help("write the type after its parameters: `function f(…) : int`"),
                );
            }
            Some(sort) if !sort.fits(Sort::of(&target.ty)) => {
                self.report(
                    Diagnostic::error(span, "what the function returns does not fit the variable")
                        .help("a pointer is written with `&`: `&p = f(…)`"),
                );
            }
            Some(_) => {}
        }
    }

    /// Any function that is used as a value may be called by any call through a variable: their parameters must agree, as
    /// far as references and numbers go. (A wrong number of arguments is a fault when the call is made.)
    pub(super) fn check_indirect_calls(&mut self) {
        let mut functions = std::mem::take(&mut self.value_functions);
        functions.sort_unstable();
        functions.dedup();
        for call in std::mem::take(&mut self.indirect_calls) {
            for function in &functions {
                let info = &self.proctypes[function.0 as usize];
                if info.params.len() != call.args.len() {
                    continue;
                }
                let params_fit = info.params.iter().zip(&call.args).all(|(ty, s)| s.fits(Sort::of(ty)));
                let returns = info.returns.as_ref().map(Sort::of);
                let result_fits = call.result.is_none_or(|wanted| returns.is_some_and(|r| r.fits(wanted)));
                if !params_fit || !result_fits {
                    let message = format!("this may call `{}`, whose types do not fit", info.name);
                    let header = info.span;
                    self.report(Diagnostic::error(call.span, message).related(header, "declared here"));
                }
            }
        }
    }

    /// What stands at the end of a body: the process waits to be the youngest; a function returns.
    pub(super) fn end_of_body(&self) -> (Kind, &'static str) {
        match self.returns {
            None => (Kind::End, "ends"),
            Some(_) => (basic(Operation::Always, vec![Action::Return(None)]), "return"),
        }
    }
}
