//! Statements that are one step: conditions, `run`, assignments, `printf`.

use quotient_program::{
    Action, BinaryOp, EnumerationId, Expr, Init, Operation, Place, Printf, PrintfPart, Projection, Root, Type,
};
use quotient_source::{Diagnostic, Span};

use super::Lowering;
use super::elements::{ElementId, Kind, Written};
use super::statement::Context;
use crate::ast;

impl Lowering<'_> {
    /// An expression as a statement: it waits until it holds.
    pub(super) fn condition(
        &mut self,
        context: &mut Context,
        e: &ast::Expr,
        span: Span,
        out: &mut Vec<ElementId>,
    ) {
        // Only what is written as a constant is one to SPIN: a number, or a name of an mtype.
        let written = match &e.kind {
            ast::ExprKind::Number(1) => Written::Skip,
            ast::ExprKind::Number(0) => Written::Never,
            ast::ExprKind::Reference(r) if self.mtype_constant(r) == Some(1) => Written::Skip,
            _ => Written::Other,
        };
        let (operation, actions) = match &e.kind {
            ast::ExprKind::Run { .. } => (Operation::Always, self.start(e, None)),
            ast::ExprKind::SetPriority(thread, priority) => {
                self.program.features.priorities = true;
                let action = Action::SetPriority(self.expr(thread), self.expr(priority));
                (Operation::Always, vec![action])
            }
            _ => match self.expr(e) {
                Expr::Const(1) => (Operation::Always, Vec::new()),
                value => (Operation::When(value), Vec::new()),
            },
        };
        let text = self.text(span);
        out.push(context.flow.add(Kind::Basic { operation, actions, written }, span, text));
    }

    /// `run P(args)`, with the process number going to `result`.
    pub(super) fn start(&mut self, e: &ast::Expr, result: Option<Place>) -> Vec<Action> {
        let ast::ExprKind::Run { proctype, args, priority } = &e.kind else { return Vec::new() };
        let Some(function) = self.proctype_named(&proctype.name) else {
            let known: Vec<_> = self.proctypes.iter().map(|p| format!("`{}`", p.name)).collect();
            self.report(
                Diagnostic::error(proctype.span, format!("there is no proctype `{}`", proctype.name))
                    .help(format!("the proctypes are {}", known.join(", "))),
            );
            return Vec::new();
        };
        if self.proctypes[function.0 as usize].is_function {
            self.report(
                Diagnostic::error(
                    proctype.span,
                    format!("`{}` is a function, not a proctype", proctype.name),
                )
                .help(format!("call it: `{}(…)`", proctype.name)),
            );
            return Vec::new();
        }
        let types = self.proctypes[function.0 as usize].params.clone();
        let params = types.len();
        let mut args = self.arguments(args, &types);
        if args.len() != params {
            let message = format!("`{}` takes {params} arguments, {} are given", proctype.name, args.len());
            let header = self.proctypes[function.0 as usize].span;
            self.report(Diagnostic::error(e.span, message).related(header, "declared here"));
            args.truncate(params);
        }
        let priority = priority.as_ref().map(|p| self.expr(p));
        vec![Action::Start { function, args, priority, result }]
    }

    pub(super) fn assignment(&mut self, to: &ast::Reference, value: &ast::Expr) -> Vec<Action> {
        if to.parts[0].name.name == "_" {
            // Written and never read: nothing happens, but the expression must be right.
            self.expr(value);
            return Vec::new();
        }
        if Self::is_priority(to) {
            self.program.features.priorities = true;
            return vec![Action::SetPriority(Expr::SelfId, self.expr(value))];
        }
        // Structures are assigned field by field.
        if let ast::ExprKind::Reference(from) = &value.kind
            && self.mtype_constant(from).is_none()
            && self.is_aggregate(from)
            && self.is_aggregate(to)
        {
            let (Some(to), Some(from)) = (self.place(to), self.place(from)) else { return Vec::new() };
            let (to, from) = (self.leaves(&to), self.leaves(&from));
            // A parameter's type differs from the typedef in its initial values alone.
            if to.len() != from.len() || to.iter().zip(&from).any(|(to, from)| to.ty != from.ty) {
                self.error(value.span, "these structures have different types");
                return Vec::new();
            }
            let pairs = to.into_iter().zip(from);
            return pairs.map(|(to, from)| Action::Assign(to, Expr::Load(from))).collect();
        }
        let Some(place) = self.scalar_place(to) else { return Vec::new() };
        if matches!(value.kind, ast::ExprKind::Run { .. }) {
            return self.start(value, Some(place));
        }
        let value = self.typed(value, &place.ty);
        vec![Action::Assign(place, value)]
    }

    pub(super) fn adjust(&mut self, to: &ast::Reference, op: BinaryOp) -> Vec<Action> {
        if Self::is_priority(to) {
            self.program.features.priorities = true;
            let own = Expr::Priority(Box::new(Expr::SelfId));
            let value = Expr::Binary(op, Box::new(own), Box::new(Expr::Const(1)));
            return vec![Action::SetPriority(Expr::SelfId, value)];
        }
        let Some(place) = self.scalar_place(to) else { return Vec::new() };
        let value = Expr::Binary(op, Box::new(Expr::Load(place.clone())), Box::new(Expr::Const(1)));
        vec![Action::Assign(place, value)]
    }

    /// A place that a single value is stored to.
    pub(super) fn scalar_place(&mut self, r: &ast::Reference) -> Option<Place> {
        let name = &r.parts[0].name;
        if matches!(name.name.as_str(), "_pid" | "_nr_pr" | "_last" | "np_") {
            self.error(r.span, format!("`{}` cannot be assigned to", name.name));
            return None;
        }
        if self.mtype_constant(r).is_some() {
            self.error(r.span, format!("`{}` is an mtype name, not a variable", name.name));
            return None;
        }
        let mut place = self.place(r)?;
        match &place.ty {
            Type::Structure(_) => {
                self.report(
                    Diagnostic::error(r.span, "a structure cannot be given a single value")
                        .help("assign to one of its fields"),
                );
                None
            }
            Type::Array(element, _) => {
                let element = (**element).clone();
                place.path.push(Projection::Index(Expr::Const(0)));
                place.ty = element;
                Some(place)
            }
            _ => Some(place),
        }
    }

    /// Reports a send or receive whose number of fields cannot be right.
    pub(super) fn check_fields(&mut self, channel: &ast::Reference, operation: &Operation, span: Span) {
        let Some(place) = ({
            let before = self.diagnostics.clone();
            let place = self.place(channel);
            self.diagnostics = before;
            place
        }) else {
            return;
        };
        let Root::Global(id) = place.root else { return };
        let Init::Channels(kind) = self.program.globals[id.0 as usize].init else { return };
        let fields = self.program.channel_types[kind.0 as usize].fields.len();
        let given = match operation {
            Operation::Send { args, .. } => args.len(),
            Operation::Receive { patterns, .. } => patterns.len(),
            _ => return,
        };
        if given != fields {
            let name = &channel.parts[0].name.name;
            let message = format!("the messages of `{name}` have {fields} fields, {given} are given");
            let declared = self.program.globals[id.0 as usize].span;
            // As in SPIN, only a send with too many values is wrong before it is executed.
            let diagnostic = if given > fields && matches!(operation, Operation::Send { .. }) {
                Diagnostic::error(span, message)
            } else {
                Diagnostic::warning(span, message).help("executing this is reported as a violation")
            };
            self.report(diagnostic.related(declared, "declared here"));
        }
    }

    pub(super) fn printf(&mut self, format: &str, args: &[ast::Expr], span: Span) -> Printf {
        let mut args = args.iter();
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut chars = format.chars();
        let mut missing = false;
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some(other) => text.push(other),
                    None => text.push('\\'),
                },
                '%' => {
                    let kind = chars.next();
                    if kind == Some('%') {
                        text.push('%');
                        continue;
                    }
                    let Some(arg) = args.next() else {
                        missing = true;
                        text.push('%');
                        text.extend(kind);
                        continue;
                    };
                    if !text.is_empty() {
                        parts.push(PrintfPart::Text(std::mem::take(&mut text)));
                    }
                    let value = self.expr(arg);
                    parts.push(match kind {
                        Some('d') => PrintfPart::Decimal(value),
                        Some('u') => PrintfPart::Unsigned(value),
                        Some('x') => PrintfPart::Hex(value),
                        Some('o') => PrintfPart::Octal(value),
                        Some('c') => PrintfPart::Character(value),
                        Some('e') => {
                            let set: Option<EnumerationId> = self.enumeration_of(&value);
                            PrintfPart::Name(value, set)
                        }
                        other => {
                            let shown = other.map_or_else(String::new, |c| c.to_string());
                            self.report(
                                Diagnostic::error(span, format!("`%{shown}` is not a format of printf"))
                                    .help("the formats are %d, %u, %x, %o, %c and %e"),
                            );
                            PrintfPart::Decimal(value)
                        }
                    });
                }
                other => text.push(other),
            }
        }
        let surplus = args.len();
        for arg in args {
            // It must be right, although nobody sees it.
            self.expr(arg);
        }
        if missing || surplus > 0 {
            let what = if missing { "a format without a value" } else { "a value without a format" };
            self.report(
                Diagnostic::warning(span, format!("this `printf` has {what}"))
                    .help("each %d, %u, %x, %o, %c or %e takes one value"),
            );
        }
        if !text.is_empty() {
            parts.push(PrintfPart::Text(text));
        }
        Printf { parts }
    }
}
