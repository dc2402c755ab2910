//! Actions, and what `new` makes.

use quotient_program::{Action, Allocation, Expr, LockOperation, LockQuery, Place, Root, VariableId};
use quotient_source::Span;

use super::operator::and;
use super::types::Ty;
use super::{Item, Lower};
use crate::ast::{self, ActionKind, ExprKind, LockOp};

/// How the actions of a step end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ending {
    /// The step goes on to its target.
    Normal,
    /// An exception is thrown, always.
    Throws,
    /// The thread ends.
    Exits,
}

impl Lower<'_> {
    /// Translates the actions of one step. Gives them, the condition under which the first of them can be done at all, and
    /// how they end.
    ///
    /// `lock(e)` and `unwait(e)` as the first action of a step wait until they are possible. Later in a step they are
    /// faults where they are not possible: a step that has begun cannot wait.
    pub(super) fn actions(&mut self, list: &[ast::Action]) -> (Vec<Action>, Option<Expr>, Ending) {
        let mut out = Vec::new();
        let mut condition = None;
        let mut ending = Ending::Normal;
        for (position, action) in list.iter().enumerate() {
            if ending != Ending::Normal {
                self.error(action.span, "this action is never reached")
                    .help("nothing is done after `throw` or `exit` in the same step");
                break;
            }
            if position == 0 {
                condition = self.waits_for(action);
            }
            ending = self.action(action, &mut out);
        }
        (out, condition, ending)
    }

    /// What the first action of a step waits for.
    fn waits_for(&mut self, action: &ast::Action) -> Option<Expr> {
        let (tests, lock): (&[LockQuery], _) = match &action.kind {
            ActionKind::Lock(LockOp::Lock, e) => (&[LockQuery::Available], e),
            ActionKind::Lock(LockOp::Unwait, e) => (&[LockQuery::Notified, LockQuery::Available], e),
            _ => return None,
        };
        // Mistakes in the operand are reported when the action itself is translated.
        let errors = self.diagnostics.list.len();
        let lock = self.lock_operand(lock);
        self.diagnostics.list.truncate(errors);
        let span = action.span;
        let test =
            |query: &LockQuery| Expr::Spanned(Box::new(Expr::Lock(*query, Box::new(lock.clone()))), span);
        tests.iter().map(test).reduce(and)
    }

    fn action(&mut self, action: &ast::Action, out: &mut Vec<Action>) -> Ending {
        let span = action.span;
        match &action.kind {
            ActionKind::Assign(left, right) => self.assign(left, right, span, out),
            ActionKind::Assert(e) => {
                let e = self.expect(e, &Ty::Boolean);
                out.push(Action::Assert(e, span));
            }
            ActionKind::Assume(e) => {
                let e = self.expect(e, &Ty::Boolean);
                out.push(Action::Assume(e));
            }
            ActionKind::Throw(e) => {
                let (value, ty) = self.argument(e, out);
                match &ty {
                    Ty::Error | Ty::Null => {}
                    Ty::Record(r) if self.program.record(*r).throwable => {}
                    other => {
                        let shown = self.show(other);
                        self.error(e.span, format!("a value of type {shown} cannot be thrown"))
                            .help("declare the record, or one that it extends, as `throwable record`");
                    }
                }
                out.push(Action::Throw(Expr::Spanned(Box::new(value), span)));
                return Ending::Throws;
            }
            ActionKind::Exit => {
                out.push(Action::EndThread);
                return Ending::Exits;
            }
            ActionKind::Lock(op, e) => {
                self.expansion = super::fun::Expansion::default();
                let lock = self.lock_operand(e);
                let operation = match op {
                    LockOp::Lock => LockOperation::Lock,
                    LockOp::Unlock => LockOperation::Unlock,
                    LockOp::Wait => LockOperation::Wait,
                    LockOp::Unwait => LockOperation::Unwait,
                    LockOp::Notify => LockOperation::Notify,
                    LockOp::NotifyAll => LockOperation::NotifyAll,
                };
                out.push(Action::Lock(operation, Expr::Spanned(Box::new(lock), span)));
            }
            ActionKind::Start { result, thread, args } => {
                self.start(result.as_ref(), thread, args, span, out)
            }
            ActionKind::Extension(used) => self.extension_action(used, span, None, out),
        }
        Ending::Normal
    }

    fn assign(&mut self, left: &ast::Expr, right: &ast::Expr, span: Span, out: &mut Vec<Action>) {
        self.expansion = super::fun::Expansion::default();
        let place = self.place(left);
        match &right.kind {
            ExprKind::NewRecord(_)
            | ExprKind::NewLock
            | ExprKind::NewArray(..)
            | ExprKind::NewExtension(_) => {
                if let Some((what, found)) = self.allocation(right)
                    && let Some((result, ty)) = place
                {
                    if !self.fits(&found, &ty) {
                        self.mismatch(right.span, &found, &ty);
                    }
                    out.push(Action::New { result, what });
                }
            }
            ExprKind::Extension(used) if self.has_effect(used) => {
                if let Some(place) = place {
                    self.extension_action(used, right.span, Some(place), out);
                }
            }
            _ => {
                let (value, found) = self.expr(right);
                if let Some((place, ty)) = place {
                    let value = self.coerce(right.span, value, &found, &ty);
                    out.push(Action::Assign(place, Expr::Spanned(Box::new(value), span)));
                }
            }
        }
    }

    /// Whether an operation of an extension does more than look.
    fn has_effect(&mut self, used: &ast::ExtensionUse) -> bool {
        let errors = self.diagnostics.list.len();
        let variables = self.scope.variables.len();
        let checked = self.extension_use(used, used.operation.span, Some(&mut Vec::new()));
        self.diagnostics.list.truncate(errors);
        self.scope.variables.truncate(variables);
        checked.is_none_or(|c| !matches!(c.effect, super::extension::Effect::Operation(_, true)))
    }

    /// What a `new` makes, and its type.
    pub(super) fn allocation(&mut self, e: &ast::Expr) -> Option<(Allocation, Ty)> {
        match &e.kind {
            ExprKind::NewRecord(name) => match self.names.get(&name.text).cloned() {
                Some(Item::Record(id)) => Some((Allocation::Record(id), Ty::Record(id))),
                Some(Item::Alias(_)) => {
                    let ty =
                        self.ty(&ast::Type { kind: ast::TypeKind::Named(name.clone()), span: name.span });
                    match ty {
                        Ty::Record(id) => Some((Allocation::Record(id), ty)),
                        Ty::Lock => Some((Allocation::Lock, ty)),
                        Ty::Collection(index, ref args) => {
                            let id = self.collection_type(index, args);
                            Some((Allocation::Collection(id), ty))
                        }
                        Ty::Error => None,
                        _ => {
                            self.error(name.span, format!("`{}` is not a record", name.text));
                            None
                        }
                    }
                }
                Some(other) => {
                    let what = other.what();
                    self.error(name.span, format!("`{}` is {what}, not a record", name.text));
                    None
                }
                None => {
                    self.unknown(name, "record");
                    None
                }
            },
            ExprKind::NewLock => Some((Allocation::Lock, Ty::Lock)),
            ExprKind::NewExtension(ty) => match self.ty(ty) {
                Ty::Collection(index, args) => {
                    let id = self.collection_type(index, &args);
                    Some((Allocation::Collection(id), Ty::Collection(index, args)))
                }
                _ => None,
            },
            ExprKind::NewArray(element, lengths, open) => {
                let element = self.ty(element);
                let lengths: Vec<Expr> = lengths.iter().map(|l| self.expect(l, &Ty::Int(None))).collect();
                if let Some(negative) = lengths.iter().find_map(|l| l.constant()).filter(|l| *l < 0) {
                    self.error(e.span, format!("an array cannot have {negative} elements"));
                }
                let ty = self.array_of(element, lengths.len() + open);
                let Ty::Array(first) = &ty else { return None };
                let id = self.array_type(first);
                Some((Allocation::Array(id, lengths), ty))
            }
            _ => None,
        }
    }

    /// An argument: an expression, or a `new` whose object goes to a variable of this step alone.
    pub(super) fn argument(&mut self, e: &ast::Expr, out: &mut Vec<Action>) -> (Expr, Ty) {
        match &e.kind {
            ExprKind::NewRecord(_)
            | ExprKind::NewLock
            | ExprKind::NewArray(..)
            | ExprKind::NewExtension(_) => {
                let Some((what, ty)) = self.allocation(e) else { return (super::fun::opaque(), Ty::Error) };
                let (_, place) = self.temporary(&ty, e.span);
                out.push(Action::New { result: place.clone(), what });
                (Expr::Load(place), ty)
            }
            _ => self.expr(e),
        }
    }

    /// A variable that has a value only inside one step.
    pub(super) fn temporary(&mut self, ty: &Ty, span: Span) -> (VariableId, Place) {
        let id = VariableId(self.scope.variables.len() as u32);
        let mut variable = self.variable(&format!("_{}", id.0), ty, span);
        variable.scratch = true;
        self.scope.variables.push(variable);
        (id, self.variable_place(Root::Local(id), ty, span))
    }

    fn start(
        &mut self,
        result: Option<&ast::Expr>,
        thread: &ast::Name,
        args: &[ast::Expr],
        span: Span,
        out: &mut Vec<Action>,
    ) {
        let result = result.and_then(|e| self.place(e).map(|(place, ty)| (place, ty, e.span)));
        if let Some((_, ty, at)) = &result
            && !self.fits(&Ty::Tid, ty)
        {
            self.mismatch(*at, &Ty::Tid, ty);
        }
        let function = match self.names.get(&thread.text).cloned() {
            Some(Item::Thread(id)) => id,
            Some(other) => {
                let what = other.what();
                self.error(thread.span, format!("`{}` is {what}, not a thread", thread.text))
                    .help("only threads are started; functions are called with `invoke`");
                return;
            }
            None => return self.unknown(thread, "thread"),
        };
        let Some(args) = self.call_arguments(function, &thread.text, args, span, out) else { return };
        let result = result.map(|(place, _, _)| place);
        out.push(Action::Start { function, args, priority: None, result });
    }

    /// The arguments of a call or start, checked.
    pub(super) fn call_arguments(
        &mut self,
        function: quotient_program::FunctionId,
        name: &str,
        args: &[ast::Expr],
        span: Span,
        out: &mut Vec<Action>,
    ) -> Option<Vec<Expr>> {
        let params = self.signatures.get(&function)?.params.clone();
        if params.len() != args.len() {
            self.wrong_count(span, name, params.len(), args.len());
            return None;
        }
        let mut values = Vec::new();
        for (arg, ty) in args.iter().zip(&params) {
            let (value, found) = self.argument(arg, out);
            values.push(self.coerce(arg.span, value, &found, ty));
        }
        Some(values)
    }
}
