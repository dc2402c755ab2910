//! `for` and `select`: loops that SPIN writes out.

use quotient_program::{Action, BinaryOp, Expr, Init, Operation, Pattern, Place, Root, Type};
use quotient_source::{Diagnostic, Span};

use super::Lowering;
use super::elements::{ElementId, Kind, Sequence, Target};
use super::statement::{Context, basic};
use crate::ast;

impl Lowering<'_> {
    /// `i = from; do :: i <= to -> body; i++ :: else -> break od`. `texts` are those of `i`, `from` and `to`.
    pub(super) fn counted(
        &mut self,
        context: &mut Context,
        index: Place,
        from: Expr,
        to: Expr,
        texts: [String; 3],
        body: &ast::Sequence,
        span: Span,
        out: &mut Vec<ElementId>,
    ) -> ElementId {
        let [name, low, high] = &texts;
        let start = vec![Action::Assign(index.clone(), from)];
        out.push(context.flow.add(basic(Operation::Always, start), span, format!("{name} = {low}")));
        let inside = compare(BinaryOp::Le, &index, to);
        let text = format!("{name} <= {high}");
        let first = context.flow.add(basic(Operation::When(inside), Vec::new()), span, text);
        let step = (step_by_one(&index), format!("{name}++"));
        let leave = format!("{name} > {high}");
        self.loop_over(context, vec![first], body, step, span, leave, out)
    }

    /// The loop of a `for`: the elements before the body, the body, the step, and `else` to leave, with its text.
    pub(super) fn loop_over(
        &mut self,
        context: &mut Context,
        before: Vec<ElementId>,
        body: &ast::Sequence,
        (step, step_text): (Action, String),
        span: Span,
        leave_text: String,
        out: &mut Vec<ElementId>,
    ) -> ElementId {
        let exit = context.flow.add(Kind::Exit, span, "rof".into());
        context.exits.push(exit);
        let inner = self.scoped(context, body);
        context.exits.pop();
        let mut elements = before;
        elements.extend(context.flow.sequence(inner).elements.iter().copied());
        elements.push(context.flow.add(basic(Operation::Always, vec![step]), span, step_text));
        let otherwise = context.flow.add(basic(Operation::Else, Vec::new()), span, leave_text);
        let leave = context.flow.add(Kind::Goto(Target::Element(exit)), span, "break".into());
        let main = context.flow.add_sequence(Sequence { elements, join: None });
        let other = context.flow.add_sequence(Sequence { elements: vec![otherwise, leave], join: None });
        self.repetition(context, vec![main, other], exit, span, out)
    }

    pub(super) fn for_in(
        &mut self,
        context: &mut Context,
        variable: &ast::Reference,
        collection: &ast::Reference,
        body: &ast::Sequence,
        span: Span,
        out: &mut Vec<ElementId>,
    ) -> Option<ElementId> {
        let place = self.place(collection)?;
        match &place.ty {
            Type::Array(_, length) => {
                let last = Expr::Const(*length as i32 - 1);
                let index = self.scalar_place(variable)?;
                let texts = [self.text(variable.span), "0".into(), (*length as i32 - 1).to_string()];
                Some(self.counted(context, index, Expr::Const(0), last, texts, body, span, out))
            }
            ty if self.is_channel(ty) => {
                // Every message is received and sent again, as often as there are messages.
                let item = self.place(variable)?;
                let leaves = self.leaves(&item);
                // As in SPIN, all such loops of one block share their counter.
                let name = ast::Ident { name: "for counter".into(), span };
                let byte = Type::Int(quotient_program::IntType::BYTE);
                let known = self.current.as_ref().and_then(|b| b.scopes.last()?.names.get(&name.name));
                let count = match known {
                    Some((id, _)) => *id,
                    None => self.add_local(&name, byte.clone(), Init::Default),
                };
                let count = Place { root: Root::Local(count), path: Vec::new(), ty: byte, span };
                let (item, name) = (self.text(variable.span), self.text(collection.span));
                let zero = vec![Action::Assign(count.clone(), Expr::Const(0))];
                let text = format!("for ({item} in {name})");
                out.push(context.flow.add(basic(Operation::Always, zero), span, text));
                let channel = || Expr::Load(place.clone());
                let more = compare(BinaryOp::Lt, &count, Expr::Length(Box::new(channel())));
                let receive = Operation::Receive {
                    guard: None,
                    channel: channel(),
                    any: false,
                    peek: false,
                    patterns: leaves.iter().cloned().map(Pattern::Bind).collect(),
                };
                let send = Operation::Send {
                    guard: None,
                    channel: channel(),
                    sorted: false,
                    args: leaves.into_iter().map(Expr::Load).collect(),
                };
                let before = [
                    (Operation::When(more), format!("messages of {name} left")),
                    (receive, format!("{name}?{item}")),
                    (send, format!("{name}!{item}")),
                ]
                .map(|(o, text)| context.flow.add(basic(o, Vec::new()), span, text))
                .to_vec();
                let step = (step_by_one(&count), format!("next message of {name}"));
                let leave = format!("no messages of {name} left");
                Some(self.loop_over(context, before, body, step, span, leave, out))
            }
            _ => {
                self.report(
                    Diagnostic::error(collection.span, "`for … in` needs an array or a channel")
                        .help("for a range write `for (i : 0 .. n)`"),
                );
                None
            }
        }
    }

    /// `select (i : from .. to)`: a choice of assignments of `values`, if they are given; else it counts up.
    pub(super) fn select(
        &mut self,
        context: &mut Context,
        variable: &ast::Reference,
        (from, to): (&ast::Expr, &ast::Expr),
        values: Option<std::ops::RangeInclusive<i32>>,
        span: Span,
        out: &mut Vec<ElementId>,
    ) -> Option<ElementId> {
        let index = self.scalar_place(variable)?;
        let [name, low, high] = [variable.span, from.span, to.span].map(|span| self.text(span));
        let (from, to) = (self.expr(from), self.expr(to));
        if let Some(values) = values {
            let options = values
                .map(|value| {
                    let assign = vec![Action::Assign(index.clone(), Expr::Const(value))];
                    let text = format!("{name} = {value}");
                    let id = context.flow.add(basic(Operation::Always, assign), span, text);
                    context.flow.add_sequence(Sequence { elements: vec![id], join: None })
                })
                .collect();
            return Some(self.alternatives(context, options, span, out));
        }
        let start = vec![Action::Assign(index.clone(), from)];
        out.push(context.flow.add(basic(Operation::Always, start), span, format!("{name} = {low}")));
        let exit = context.flow.add(Kind::Exit, span, "select".into());
        let less = compare(BinaryOp::Lt, &index, to);
        let less =
            context.flow.add(basic(Operation::When(less), Vec::new()), span, format!("{name} < {high}"));
        let more =
            context.flow.add(basic(Operation::Always, vec![step_by_one(&index)]), span, format!("{name}++"));
        let leave = context.flow.add(Kind::Goto(Target::Element(exit)), span, format!("{name} chosen"));
        let options = [vec![leave], vec![less, more]]
            .map(|elements| context.flow.add_sequence(Sequence { elements, join: None }));
        Some(self.repetition(context, options.to_vec(), exit, span, out))
    }
}

/// The values of a `select` that SPIN turns into a choice of assignments: a plain name and two numbers that are not far
/// apart, outside of an `inline`. (Any other `select` counts up from the first value.)
pub(super) fn listed(
    variable: &ast::Reference,
    from: &ast::Expr,
    to: &ast::Expr,
) -> Option<std::ops::RangeInclusive<i32>> {
    let plain = variable.parts.len() == 1
        && variable.parts[0].index.is_none()
        && variable.parts[0].name.name.chars().all(char::is_alphanumeric);
    match (&from.kind, &to.kind) {
        (&ast::ExprKind::Number(from), &ast::ExprKind::Number(to))
            if plain && from >= 0 && from <= to && to - from <= 32 =>
        {
            Some(from..=to)
        }
        _ => None,
    }
}

fn compare(op: BinaryOp, index: &Place, to: Expr) -> Expr {
    Expr::Binary(op, Box::new(Expr::Load(index.clone())), Box::new(to))
}

fn step_by_one(index: &Place) -> Action {
    let value = Expr::Binary(BinaryOp::Add, Box::new(Expr::Load(index.clone())), Box::new(Expr::Const(1)));
    Action::Assign(index.clone(), value)
}
