//! Funs are expanded where they are called: the value with the arguments in place of the parameters (so an argument is
//! evaluated only where, and if, the parameter is used). Constants are folded on the way; that is how a recursive fun comes
//! to an end, and the only way it can: other recursive calls are refused.

use quotient_program::Expr;
use quotient_source::Span;

use super::types::Ty;
use super::{Item, Lower};
use crate::ast;

/// The greatest depth of expressions inside expressions while expanding, which bounds the recursion of the translation.
const MAX_DEPTH: usize = 600;
/// The most nodes that one expression may gain, which bounds the height of the translated expression.
const MAX_COPIED: usize = 3_000;
/// The most calls of funs expanded in one expression.
const MAX_CALLS: usize = 100_000;

/// How far the expression at hand has been expanded.
#[derive(Clone, Debug, Default)]
pub(super) struct Expansion {
    /// Nested expressions.
    pub(super) depth: usize,
    /// Nodes gained.
    pub(super) copied: usize,
    /// Calls expanded.
    calls: usize,
    /// Funs inside funs.
    nesting: usize,
    /// The outermost call.
    call: Option<Span>,
    /// A limit was passed, and this has been reported.
    failed: bool,
}

/// A value about which nothing is known.
pub(super) fn opaque() -> Expr {
    Expr::SelfId
}

impl Lower<'_> {
    /// Goes one level deeper; `false` when a limit is passed.
    pub(super) fn enter_expansion(&mut self, span: Span) -> bool {
        let e = &mut self.expansion;
        if e.nesting > 0 {
            e.copied += 1;
        }
        if e.failed {
            return false;
        }
        if e.depth >= MAX_DEPTH || e.copied > MAX_COPIED || e.calls > MAX_CALLS {
            e.failed = true;
            let span = e.call.unwrap_or(span);
            self.error(span, "expanding funs leads to too large an expression").help(
                "a recursive fun must come to an end for constant arguments; use a `function` otherwise",
            );
            return false;
        }
        e.depth += 1;
        true
    }

    /// Whether the value of a fun is being expanded.
    pub(super) fn is_expanding(&self) -> bool {
        self.expansion.nesting > 0
    }

    /// A call of a fun.
    pub(super) fn fun_call(&mut self, name: &ast::Name, args: &[ast::Expr], span: Span) -> (Expr, Ty) {
        let index = match self.names.get(&name.text).cloned() {
            Some(Item::Fun(index)) => index,
            Some(Item::Function(_) | Item::Virtual(_)) => {
                self.error(span, format!("the function `{}` is called inside an expression", name.text))
                    .help("call it in a step of its own: `x := invoke f(…)`, or make it a `fun`");
                return (opaque(), Ty::Error);
            }
            Some(other) => {
                let what = other.what();
                self.error(name.span, format!("`{}` is {what}, not a fun", name.text));
                return (opaque(), Ty::Error);
            }
            None => {
                self.unknown(name, "fun");
                return (opaque(), Ty::Error);
            }
        };
        let fun = self.funs[index].clone();
        if fun.params.len() != args.len() {
            self.wrong_count(span, &name.text, fun.params.len(), args.len());
            return (opaque(), fun.returns);
        }
        let mut bound = vec![None];
        for ((arg, ty), param) in args.iter().zip(&fun.params).zip(&fun.declaration.params) {
            let (value, found) = self.inner(arg);
            let value = self.coerce(arg.span, value, &found, ty);
            bound.push(Some((param.name.text.clone(), value, ty.clone())));
        }
        if self.checking_fun || !fun.valid || self.expansion.failed {
            return (opaque(), fun.returns);
        }
        let depth = self.scope.bound.len();
        let copied = self.expansion.copied;
        self.scope.bound.extend(bound);
        self.expansion.calls += 1;
        if self.expansion.nesting == 0 {
            self.expansion.call = Some(span);
        }
        self.expansion.nesting += 1;
        let (value, _) = self.inner(&fun.declaration.value);
        self.expansion.nesting -= 1;
        self.scope.bound.truncate(depth);
        if value.constant().is_some() {
            self.expansion.copied = copied;
        }
        (value, fun.returns)
    }

    /// Checks a fun by itself, with values about which nothing is known for its parameters.
    pub(super) fn check_fun(&mut self, fun: &ast::Fun) {
        let Some(Item::Fun(index)) = self.names.get(&fun.name.text).cloned() else { return };
        let known = self.funs[index].clone();
        if known.declaration.name.span != fun.name.span {
            return;
        }
        let errors = self.diagnostics.list.len();
        let mut bound = vec![None];
        for (param, ty) in fun.params.iter().zip(&known.params) {
            bound.push(Some((param.name.text.clone(), opaque(), ty.clone())));
        }
        self.scope.bound = bound;
        self.checking_fun = true;
        self.expect(&fun.value, &known.returns);
        self.checking_fun = false;
        self.scope.bound.clear();
        self.funs[index].valid = self.diagnostics.list.len() == errors;
    }
}
