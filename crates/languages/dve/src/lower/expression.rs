//! Expressions and what can be assigned.

use quotient_program::{BinaryOp, Expr, Label, LabelId, LocationId, Place, Projection, Root, UnaryOp};
use quotient_source::Span;

use super::constant::operator;
use super::declaration::range;
use super::{At, Item, Lower};
use crate::ast::{self, ExprKind, Name, Unary};

impl Lower<'_> {
    pub(super) fn unknown_variable(&mut self, name: &Name, at: At<'_>) {
        let own = at.process.and_then(|p| self.processes.get(p));
        let mut known: Vec<_> = own.iter().flat_map(|p| p.variables.keys().cloned()).collect();
        known.extend(self.globals.keys().cloned());
        if self.channels.contains_key(&name.text) {
            self.error(name.span, format!("`{}` is a channel", name.text))
                .help("channels are used with `sync`");
            return;
        }
        if own.is_some_and(|p| p.states.contains_key(&name.text)) {
            let process = at.process.unwrap_or_default().to_owned();
            self.error(name.span, format!("`{}` is a state", name.text))
                .help(format!("`{process}.{}` asks whether the process is there", name.text));
            return;
        }
        self.unknown(name, format!("there is no variable `{}`", name.text), known);
    }

    /// An expression; after an error, 0.
    pub(super) fn expr(&mut self, e: &ast::Expr, at: At<'_>) -> Expr {
        match &e.kind {
            ExprKind::Number(value) => Expr::Const(*value),
            ExprKind::Name(name) => self.load(name, None, e.span, at),
            ExprKind::Index(name, index) => self.load(name, Some(index), e.span, at),
            ExprKind::Of(process, of) => self.of(process, of, e.span, at),
            ExprKind::Foreign(process, name, index) => {
                self.foreign(process, name, index.as_deref(), e.span, at)
            }
            ExprKind::Unary(op, a) => {
                let a = self.expr(a, at);
                let op = match op {
                    Unary::Minus => UnaryOp::Negate,
                    Unary::Complement => UnaryOp::Complement,
                    Unary::Not => UnaryOp::Not,
                };
                match (op, a.constant()) {
                    (UnaryOp::Negate, Some(value)) => Expr::Const(value.wrapping_neg()),
                    _ => Expr::Unary(op, Box::new(a)),
                }
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.expr(a, at), self.expr(b, at));
                let (op, a) = match operator(*op) {
                    Some(op) => (op, a),
                    None => (BinaryOp::Or, a.negated()),
                };
                if let (Some(a), Some(b)) = (a.constant(), b.constant())
                    && let Some(value) = op.apply(a, b)
                {
                    return Expr::Const(value);
                }
                let binary = Expr::Binary(op, Box::new(a), Box::new(b));
                match op {
                    // Where a division by zero is reported.
                    BinaryOp::Div | BinaryOp::Mod => Expr::Spanned(Box::new(binary), e.span),
                    _ => binary,
                }
            }
        }
    }

    fn load(&mut self, name: &Name, index: Option<&ast::Expr>, span: Span, at: At<'_>) -> Expr {
        let Some(item) = self.item(&name.text, at).cloned() else {
            self.unknown_variable(name, at);
            return Expr::Const(0);
        };
        if let (Some(values), None, None) = (&item.constant, item.length, index) {
            return Expr::Const(values[0]);
        }
        let Some((local, variable)) = item.place else {
            self.error(name.span, format!("`{}` is not an array", name.text));
            return Expr::Const(0);
        };
        let root = if local { Root::Local(variable) } else { Root::Global(variable) };
        match self.place(name, &item, root, index, span, at) {
            Some(place) => Expr::Load(place),
            None => Expr::Const(0),
        }
    }

    fn place(
        &mut self,
        name: &Name,
        item: &Item,
        root: Root,
        index: Option<&ast::Expr>,
        span: Span,
        at: At<'_>,
    ) -> Option<Place> {
        let path = match (item.length, index) {
            (None, None) => Vec::new(),
            (Some(length), Some(index)) => {
                let value = self.expr(index, at);
                if let Some(number) = value.constant()
                    && !(0..length as i32).contains(&number)
                {
                    self.error(index.span, format!("`{}` has no element {number}", name.text))
                        .help(format!("its elements are 0 to {}", length - 1));
                    return None;
                }
                vec![Projection::Index(value)]
            }
            (None, Some(_)) => {
                self.error(name.span, format!("`{}` is not an array", name.text));
                return None;
            }
            (Some(_), None) => {
                // As in DiVinE.
                self.warning(name.span, format!("`{0}` is an array; this means `{0}[0]`", name.text))
                    .help("write the index");
                vec![Projection::Index(Expr::Const(0))]
            }
        };
        Some(Place { root, path, ty: range(item.ty), span })
    }

    /// What an effect or a receive changes.
    pub(super) fn target(&mut self, e: &ast::Expr, at: At<'_>) -> Option<Place> {
        let (name, index) = match &e.kind {
            ExprKind::Name(name) => (name, None),
            ExprKind::Index(name, index) => (name, Some(&**index)),
            ExprKind::Foreign(..) => {
                self.error(e.span, "a process cannot change the variables of another one");
                return None;
            }
            _ => {
                self.error(e.span, "only variables and elements of arrays can be changed");
                return None;
            }
        };
        let Some(item) = self.item(&name.text, at).cloned() else {
            self.unknown_variable(name, at);
            return None;
        };
        if item.constant.is_some() {
            self.error(name.span, format!("`{}` is a constant", name.text))
                .related(item.span, "declared here");
            return None;
        }
        let (local, variable) = item.place?;
        let root = if local { Root::Local(variable) } else { Root::Global(variable) };
        self.place(name, &item, root, index, e.span, at)
    }

    fn process(&mut self, name: &Name) -> bool {
        let found = self.processes.contains_key(&name.text);
        if !found {
            let known = self.processes.keys().cloned().collect();
            self.unknown(name, format!("there is no process `{}`", name.text), known);
        }
        found
    }

    /// `P.s`; in propositions also `P.x`.
    fn of(&mut self, process: &Name, of: &Name, span: Span, at: At<'_>) -> Expr {
        if !self.process(process) {
            return Expr::Const(0);
        }
        let known = &self.processes[&process.text];
        let Some(&state) = known.states.get(&of.text) else {
            if at.process.is_none() && known.variables.contains_key(&of.text) {
                return self.foreign(process, of, None, span, at);
            }
            let names = known.states.keys().cloned().collect();
            self.unknown(of, format!("`{}` has no state `{}`", process.text, of.text), names);
            return Expr::Const(0);
        };
        let Some(thread) = known.thread else {
            self.error(process.span, "the state of the property process cannot be asked for");
            return Expr::Const(0);
        };
        let function = known.function;
        if let Some(transition) = at.effect {
            // Effects see where their own process goes to, and where its partner does.
            if at.process == Some(&*process.text) {
                return Expr::Const(i32::from(transition.to.text == of.text));
            }
            if transition.sync.is_some() {
                self.error(
                    span,
                    "the state of another process in the effect of a transition that synchronises",
                )
                .help("whether the partner has moved is not defined; ask for it in the guard");
                return Expr::Const(0);
            }
        }
        let label = LabelId(self.program.labels.len() as u32);
        self.program.labels.push(Label { function, location: LocationId(state) });
        Expr::At { thread: Box::new(Expr::Const(thread as i32)), label }
    }

    /// `P->x`.
    fn foreign(
        &mut self,
        process: &Name,
        name: &Name,
        index: Option<&ast::Expr>,
        span: Span,
        at: At<'_>,
    ) -> Expr {
        if !at.foreign {
            self.error(span, "only the property process may read variables of other processes")
                .help("make the variable global");
            return Expr::Const(0);
        }
        if !self.process(process) {
            return Expr::Const(0);
        }
        let known = &self.processes[&process.text];
        let (thread, function) = (known.thread, known.function);
        let Some(item) = known.variables.get(&name.text).cloned() else {
            let names = known.variables.keys().cloned().collect();
            self.unknown(name, format!("`{}` has no variable `{}`", process.text, name.text), names);
            return Expr::Const(0);
        };
        if let (Some(values), None, None) = (&item.constant, item.length, index) {
            return Expr::Const(values[0]);
        }
        let (Some(thread), Some((local, variable))) = (thread, item.place) else {
            self.error(span, "this variable cannot be asked for");
            return Expr::Const(0);
        };
        let thread = Box::new(Expr::Const(thread as i32));
        let root = if local { Root::Remote { thread, function, variable } } else { Root::Global(variable) };
        match self.place(name, &item, root, index, span, at) {
            Some(place) => Expr::Spanned(Box::new(Expr::Load(place)), span),
            None => Expr::Const(0),
        }
    }
}
