//! Statements to elements.

use quotient_program::{
    Action, BinaryOp, Expr, Init, Operation, Pattern, Place, Printf, PrintfPart, Projection, Root, Type,
};
use quotient_source::{Diagnostic, Span};

use super::Lowering;
use super::elements::{ElementId, Flow, Kind, Sequence, SequenceId, Target, Written};
use super::exclusive::Exclusive;
use super::loops;
use super::names::Scope;
use crate::ast;
use crate::ast::StatementKind;

/// What statements are being added to.
pub(super) struct Context {
    pub(super) flow: Flow,
    /// Exits of the loops around the statement.
    pub(super) exits: Vec<ElementId>,
}

impl Lowering<'_> {
    /// The elements of a process body.
    pub(super) fn elements(&mut self, body: &ast::Sequence, end: Span) -> Flow {
        let mut context = Context { flow: Flow::default(), exits: Vec::new() };
        let sequence = self.sequence(&mut context, body);
        let (kind, text) = self.end_of_body();
        let last = context.flow.add(kind, end, text.into());
        context.flow.sequences[sequence.0].elements.push(last);
        context.flow.body = Some(sequence);
        context.flow.link(sequence, None);
        context.flow.patch_jumps();
        context.flow
    }

    fn sequence(&mut self, context: &mut Context, sequence: &ast::Sequence) -> SequenceId {
        let mut elements = Vec::new();
        for statement in &sequence.statements {
            self.statement(context, statement, &mut elements);
        }
        context.flow.add_sequence(Sequence { elements, join: None })
    }

    /// A sequence in a block of its own.
    pub(super) fn scoped(&mut self, context: &mut Context, sequence: &ast::Sequence) -> SequenceId {
        if let Some(body) = &mut self.current {
            body.scopes.push(Scope::default());
            body.declarations_first = false;
        }
        let id = self.sequence(context, sequence);
        if let Some(body) = &mut self.current {
            body.scopes.pop();
        }
        id
    }

    pub(super) fn text(&self, span: Span) -> String {
        self.sources.slice(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Adds the elements of one statement to `out`.
    fn statement(&mut self, context: &mut Context, statement: &ast::Statement, out: &mut Vec<ElementId>) {
        let first = out.len();
        let labelled = self.unlabelled(context, statement, out);
        if !statement.labels.is_empty() {
            self.labels(context, statement, labelled, first, out);
        }
        if !matches!(statement.kind, StatementKind::Declaration(_) | StatementKind::Exclusive { .. })
            && let Some(body) = &mut self.current
        {
            body.declarations_first = false;
        }
    }

    /// Puts the labels of a statement on the element that stands for it.
    fn labels(
        &mut self,
        context: &mut Context,
        statement: &ast::Statement,
        labelled: Option<ElementId>,
        first: usize,
        out: &mut Vec<ElementId>,
    ) {
        let Some(mut element) = labelled.or_else(|| out.get(first).copied()) else {
            let label = &statement.labels[0];
            self.report(
                Diagnostic::error(label.span, "a label must stand before a statement")
                    .help(format!("write `{}: skip`", label.name)),
            );
            return;
        };
        // A jump is not a step: a label that means something needs one.
        let process = self.current.as_ref().map_or_else(String::new, |b| b.name.clone());
        let referred = statement.labels.iter().any(|l| {
            let plain = l.name.split('#').next().unwrap_or(&l.name);
            is_meaningful(plain)
                || self
                    .remote_labels
                    .iter()
                    .any(|(p, name)| *p == process && (*name == l.name || name == plain))
        });
        if referred && matches!(context.flow.element(element).kind, Kind::Goto(_)) {
            let skip =
                Kind::Basic { operation: Operation::Always, actions: Vec::new(), written: Written::Skip };
            let span = context.flow.element(element).span;
            let id = context.flow.add(skip, span, "skip".into());
            out.insert(first, id);
            element = id;
        }
        for label in &statement.labels {
            if let Some(known) = context.flow.labels.get(&label.name) {
                let span = context.flow.element(*known).span;
                self.report(
                    Diagnostic::error(label.span, format!("the label `{}` is used twice", label.name))
                        .related(span, "it already marks this statement"),
                );
                continue;
            }
            context.flow.labels.insert(label.name.clone(), element);
            context.flow.elements[element.0].labels.push(label.name.clone());
        }
    }

    /// Adds the elements of a statement without its labels; gives the element that labels belong to, if it is not
    /// the first.
    fn unlabelled(
        &mut self,
        context: &mut Context,
        statement: &ast::Statement,
        out: &mut Vec<ElementId>,
    ) -> Option<ElementId> {
        let span = statement.span;
        let step = |this: &mut Self, context: &mut Context, operation, actions, out: &mut Vec<ElementId>| {
            let text = this.text(span);
            out.push(context.flow.add(
                Kind::Basic { operation, actions, written: Written::Other },
                span,
                text,
            ));
        };
        match &statement.kind {
            StatementKind::Declaration(declaration) => self.declaration(context, declaration, out),
            StatementKind::Exclusive { send, channels } => {
                let function = self.current.as_ref().and_then(|body| self.proctype_named(&body.name));
                for reference in channels {
                    let channel = self.channel(reference);
                    if let Some(function) = function {
                        self.exclusive.push(Exclusive { function, send: *send, channel, span });
                    }
                }
            }
            StatementKind::Expr(e) => self.condition(context, e, span, out),
            StatementKind::Assign(to, value) => {
                let actions = self.assignment(to, value);
                step(self, context, Operation::Always, actions, out);
            }
            StatementKind::Increment(to) => {
                let actions = self.adjust(to, BinaryOp::Add);
                step(self, context, Operation::Always, actions, out);
            }
            StatementKind::Decrement(to) => {
                let actions = self.adjust(to, BinaryOp::Sub);
                step(self, context, Operation::Always, actions, out);
            }
            StatementKind::Send { channel, args, .. } if self.observes() => {
                let patterns = args.iter().map(|e| self.event_pattern(e)).collect();
                let operation = Operation::Event { send: true, channel: self.channel(channel), patterns };
                step(self, context, operation, Vec::new(), out);
            }
            StatementKind::Receive { channel, args, .. } if self.observes() => {
                let patterns = self.patterns(args, true);
                let operation = Operation::Event { send: false, channel: self.channel(channel), patterns };
                step(self, context, operation, Vec::new(), out);
            }
            StatementKind::Send { channel, sorted, args } => {
                let operation = Operation::Send {
                    guard: None,
                    channel: self.channel(channel),
                    sorted: *sorted,
                    args: self.message(args),
                };
                self.check_fields(channel, &operation, span);
                step(self, context, operation, Vec::new(), out);
            }
            StatementKind::Receive { channel, any, peek, args } => {
                let operation = Operation::Receive {
                    guard: None,
                    channel: self.channel(channel),
                    any: *any,
                    peek: *peek,
                    patterns: self.patterns(args, false),
                };
                self.check_fields(channel, &operation, span);
                step(self, context, operation, Vec::new(), out);
            }
            StatementKind::Assert(e) => {
                let value = self.expr(e);
                step(self, context, Operation::Always, vec![Action::Assert(value, span)], out);
            }
            StatementKind::Printf(format, args) => {
                let printf = self.printf(format, args, span);
                step(self, context, Operation::Always, vec![Action::Print(printf)], out);
                mark_skip(context, out);
            }
            StatementKind::Printm(e) => {
                let value = self.expr(e);
                let set = self.enumeration_of(&value);
                let parts = vec![PrintfPart::Name(value, set), PrintfPart::Text("\n".into())];
                step(self, context, Operation::Always, vec![Action::Print(Printf { parts })], out);
                mark_skip(context, out);
            }
            StatementKind::Dynamic(dynamic) => match &**dynamic {
                ast::DynamicStatement::Point(to, value) => {
                    let actions = self.point(to, value);
                    step(self, context, Operation::Always, actions, out);
                }
                ast::DynamicStatement::Delete(e) => {
                    let actions = self.delete(e);
                    step(self, context, Operation::Always, actions, out);
                }
                ast::DynamicStatement::Return(value) => {
                    let action = self.return_action(value.as_ref(), span);
                    step(self, context, Operation::Always, vec![action], out);
                }
                ast::DynamicStatement::Call { callee, args, result } => {
                    self.call(context, callee, args, result.as_ref(), span, out);
                }
            },
            StatementKind::Else => step(self, context, Operation::Else, Vec::new(), out),
            StatementKind::Goto(label) => {
                let target = Target::Label(label.name.clone(), label.span);
                let text = self.text(span);
                out.push(context.flow.add(Kind::Goto(target), span, text));
            }
            StatementKind::Break => match context.exits.last() {
                Some(exit) => {
                    let target = Kind::Goto(Target::Element(*exit));
                    out.push(context.flow.add(target, span, "break".into()));
                }
                None => {
                    self.report(
                        Diagnostic::error(span, "`break` outside of a loop")
                            .help("`break` leaves a `do … od` or `for`"),
                    );
                }
            },
            StatementKind::If(choices) => return Some(self.choice(context, choices, span, out)),
            StatementKind::Do(choices) => {
                let exit = context.flow.add(Kind::Exit, span, "od".into());
                context.exits.push(exit);
                let options: Vec<_> = choices.iter().map(|c| self.option(context, &c.sequence)).collect();
                context.exits.pop();
                return Some(self.repetition(context, options, exit, span, out));
            }
            StatementKind::ForRange { variable, from, to, body } => {
                let index = self.scalar_place(variable)?;
                let texts = [variable.span, from.span, to.span].map(|span| self.text(span));
                let (from, to) = (self.expr(from), self.expr(to));
                return Some(self.counted(context, index, from, to, texts, body, span, out));
            }
            StatementKind::ForIn { variable, collection, body } => {
                return self.for_in(context, variable, collection, body, span, out);
            }
            StatementKind::Select { variable, from, to, in_inline } => {
                let values = if *in_inline { None } else { loops::listed(variable, from, to) };
                return self.select(context, variable, (from, to), values, span, out);
            }
            StatementKind::Atomic(sequence) => {
                let inner = self.scoped(context, sequence);
                if self.is_empty(context, inner, span) {
                    return None;
                }
                context.flow.make_atomic(inner, None);
                let block = Kind::Block { sequence: inner, atomic: true };
                out.push(context.flow.add(block, span, "atomic".into()));
            }
            StatementKind::DStep(sequence) => {
                let inner = self.scoped(context, sequence);
                if self.is_empty(context, inner, span) {
                    return None;
                }
                let id = context.flow.add(Kind::DStep(inner), span, "d_step".into());
                context.flow.make_atomic(inner, Some(id));
                out.push(id);
            }
            StatementKind::Block(sequence) => {
                let inner = self.scoped(context, sequence);
                if self.is_empty(context, inner, span) {
                    return None;
                }
                out.push(context.flow.add(Kind::Block { sequence: inner, atomic: false }, span, "{".into()));
            }
            StatementKind::Unless(main, escape) => return self.unless(context, main, escape, statement, out),
        }
        None
    }

    fn observes(&self) -> bool {
        self.current.as_ref().is_some_and(|b| b.observes)
    }

    /// What a `trace` says about a field that is sent: a constant must match, a variable means any value.
    fn event_pattern(&mut self, e: &ast::Expr) -> Pattern {
        match &e.kind {
            ast::ExprKind::Reference(r) if self.mtype_constant(r).is_none() => Pattern::Ignore,
            _ => Pattern::Match(self.expr(e)),
        }
    }

    fn is_empty(&mut self, context: &Context, sequence: SequenceId, span: Span) -> bool {
        let empty = context.flow.sequence(sequence).elements.is_empty();
        if empty {
            self.report(
                Diagnostic::error(span, "a sequence needs at least one statement").help("write `skip`"),
            );
        }
        empty
    }

    /// A declaration among statements. In the first sequence of a process, before any statement, it only declares;
    /// elsewhere SPIN gives the variable its value in a step at that point.
    fn declaration(
        &mut self,
        context: &mut Context,
        declaration: &ast::Declaration,
        out: &mut Vec<ElementId>,
    ) {
        let first = self.current.as_ref().is_some_and(|b| b.declarations_first);
        for variable in &declaration.variables {
            let ty = self.type_of(&declaration.ty, variable);
            let init = self.initialiser(variable, &ty);
            let makes_channels = matches!(init, Init::Channels(_));
            let at_start = first || makes_channels || matches!(init, Init::List(_));
            let kept = if at_start { init.clone() } else { Init::Default };
            let id = self.add_local(&variable.name, ty.clone(), kept);
            if first || makes_channels {
                continue;
            }
            let place = |path, ty| Place { root: Root::Local(id), path, ty, span: variable.span };
            let actions = match (&ty, init) {
                (Type::Structure(_), _) => Vec::new(),
                (Type::Array(element, _), init) => match (init, &**element) {
                    (_, Type::Structure(_)) => Vec::new(),
                    // As SPIN: only the first element is set here, a list was given at the start.
                    (Init::Fill(value), element) => {
                        vec![Action::Assign(
                            place(vec![Projection::Index(Expr::Const(0))], element.clone()),
                            value,
                        )]
                    }
                    (Init::List(values), element) => values
                        .into_iter()
                        .enumerate()
                        .map(|(i, value)| {
                            let path = vec![Projection::Index(Expr::Const(i as i32))];
                            Action::Assign(place(path, element.clone()), value)
                        })
                        .collect(),
                    (_, element) => {
                        let path = vec![Projection::Index(Expr::Const(0))];
                        vec![Action::Assign(place(path, element.clone()), Expr::Const(0))]
                    }
                },
                (ty, Init::Fill(value)) => vec![Action::Assign(place(Vec::new(), ty.clone()), value)],
                (ty, _) => vec![Action::Assign(place(Vec::new(), ty.clone()), Expr::Const(0))],
            };
            let text = self.text(declaration.span);
            out.push(context.flow.add(basic(Operation::Always, actions), variable.span, text));
        }
    }

    /// One choice of an `if` or `do`.
    fn option(&mut self, context: &mut Context, sequence: &ast::Sequence) -> SequenceId {
        if let Some(body) = &mut self.current {
            body.declarations_first = false;
        }
        self.warn_of_marks(sequence);
        let id = self.sequence(context, sequence);
        prune_skips(context, id);
        id
    }

    /// A label that means something, on the first statement of an option, is not where it seems to be.
    fn warn_of_marks(&mut self, option: &ast::Sequence) {
        let first = option.statements.iter().find(|s| !matches!(s.kind, StatementKind::Declaration(_)));
        let process = self.current.as_ref().map_or_else(String::new, |b| b.name.clone());
        for label in first.iter().flat_map(|s| &s.labels) {
            let name = &label.name;
            let message = if is_meaningful(name) {
                format!("`{name}` marks where this option's first step leads, as in SPIN")
            } else if self.remote_labels.iter().any(|(p, n)| *p == process && n == name) {
                format!(
                    "no process is ever at `{name}`: the first statement of an option is part of the choice"
                )
            } else {
                continue;
            };
            self.report(
                Diagnostic::warning(label.span, message)
                    .help("to mark the choice itself, put the label before `if` or `do`"),
            );
        }
    }

    /// `if`: the choice and its join.
    fn choice(
        &mut self,
        context: &mut Context,
        choices: &[ast::Choice],
        span: Span,
        out: &mut Vec<ElementId>,
    ) -> ElementId {
        let options: Vec<_> = choices.iter().map(|c| self.option(context, &c.sequence)).collect();
        self.alternatives(context, options, span, out)
    }

    pub(super) fn alternatives(
        &mut self,
        context: &mut Context,
        options: Vec<SequenceId>,
        span: Span,
        out: &mut Vec<ElementId>,
    ) -> ElementId {
        let join = context.flow.add(Kind::Join, span, "fi".into());
        let options = self.checked_options(context, options, span);
        for option in &options {
            context.flow.sequences[option.0].join = Some(join);
        }
        let id = context.flow.add(Kind::Choice(options), span, "if".into());
        context.flow.made_now(&[id, join]);
        out.extend([id, join]);
        id
    }

    /// `do`: the point where it starts over, the choice, and the exit.
    pub(super) fn repetition(
        &mut self,
        context: &mut Context,
        options: Vec<SequenceId>,
        exit: ElementId,
        span: Span,
        out: &mut Vec<ElementId>,
    ) -> ElementId {
        let head = context.flow.add(Kind::Join, span, "do".into());
        let options = self.checked_options(context, options, span);
        for option in &options {
            context.flow.sequences[option.0].join = Some(head);
        }
        let id = context.flow.add(Kind::Choice(options), span, "do".into());
        context.flow.made_now(&[id, head, exit]);
        out.extend([head, id, exit]);
        id
    }

    /// Drops empty options (reported elsewhere) and moves `else` to the end.
    fn checked_options(
        &mut self,
        context: &Context,
        options: Vec<SequenceId>,
        span: Span,
    ) -> Vec<SequenceId> {
        let first = |s: &SequenceId| context.flow.sequence(*s).elements.first().copied();
        let is_else = |s: &SequenceId| {
            first(s).is_some_and(|e| {
                matches!(&context.flow.element(e).kind, Kind::Basic { operation: Operation::Else, .. })
            })
        };
        let (elses, mut rest): (Vec<_>, Vec<_>) =
            options.into_iter().filter(|s| first(s).is_some()).partition(is_else);
        if rest.is_empty() && elses.is_empty() {
            self.error(span, "a choice needs at least one statement after `::`");
        }
        if let Some(second) = elses.get(1).and_then(first) {
            let at = context.flow.element(second).span;
            self.error(at, "a second `else` in the same choice");
        }
        rest.extend(elses);
        rest
    }

    fn unless(
        &mut self,
        context: &mut Context,
        main: &ast::Statement,
        escape: &ast::Statement,
        whole: &ast::Statement,
        out: &mut Vec<ElementId>,
    ) -> Option<ElementId> {
        // A label before the main part marks the whole, through a block around it.
        let labelled = !main.labels.is_empty() || !whole.labels.is_empty();
        let part = |this: &mut Self, context: &mut Context, statement: &ast::Statement, labels: bool| {
            if let StatementKind::Block(sequence) = &statement.kind {
                return this.scoped(context, sequence);
            }
            let bare = ast::Statement {
                labels: if labels { statement.labels.clone() } else { Vec::new() },
                ..statement.clone()
            };
            if let Some(body) = &mut this.current {
                body.declarations_first = false;
            }
            let mut elements = Vec::new();
            this.statement(context, &bare, &mut elements);
            context.flow.add_sequence(Sequence { elements, join: None })
        };
        // SPIN starts the counter of a loop before the statement that the loop is part of: no escape interrupts that, also where the loop
        // is the escape.
        let mut counter = |context: &mut Context, statement: &ast::Statement, sequence: SequenceId| {
            let counts = matches!(
                statement.kind,
                StatementKind::ForRange { .. } | StatementKind::ForIn { .. } | StatementKind::Select { .. }
            );
            let elements = &mut context.flow.sequences[sequence.0].elements;
            if counts && elements.len() > 3 {
                out.push(elements.remove(0));
            }
        };
        let main_sequence = part(self, context, main, false);
        counter(context, main, main_sequence);
        let escape_sequence = part(self, context, escape, true);
        counter(context, escape, escape_sequence);
        // SPIN makes what the escape consists of before what the main part consists of, though not what is inside of them.
        if !matches!(main.kind, StatementKind::Block(_)) {
            context.flow.make_again(main_sequence);
        }
        if self.is_empty(context, main_sequence, main.span)
            || self.is_empty(context, escape_sequence, escape.span)
        {
            return None;
        }
        let join = context.flow.add(Kind::Join, whole.span, "unless".into());
        for sequence in [main_sequence, escape_sequence] {
            context.flow.sequences[sequence.0].join = Some(join);
        }
        context.flow.attach_escape(main_sequence, escape_sequence);
        let id = context.flow.add(Kind::Unless(main_sequence, escape_sequence), whole.span, "unless".into());
        context.flow.made_now(&[id, join]);
        if !labelled {
            out.extend([id, join]);
            return Some(id);
        }
        let inner = context.flow.add_sequence(Sequence { elements: vec![id, join], join: None });
        let block = context.flow.add(Kind::Block { sequence: inner, atomic: false }, main.span, "{".into());
        out.push(block);
        if !main.labels.is_empty() {
            let first = out.len() - 1;
            self.labels(context, main, Some(block), first, out);
        }
        Some(block)
    }
}

pub(super) fn basic(operation: Operation, actions: Vec<Action>) -> Kind {
    Kind::Basic { operation, actions, written: Written::Other }
}

/// Does a label with this name mark its statement?
fn is_meaningful(label: &str) -> bool {
    ["end", "progress", "accept"].iter().any(|prefix| label.starts_with(prefix))
}

/// SPIN counts a print among the skips when it looks for redundant ones.
fn mark_skip(context: &mut Context, out: &[ElementId]) {
    if let Some(id) = out.last()
        && let Kind::Basic { written, .. } = &mut context.flow.elements[id.0].kind
    {
        *written = Written::Skip;
    }
}

/// Of several skips in a row in a choice, SPIN keeps the first (and one that is the last of the choice).
fn prune_skips(context: &mut Context, sequence: SequenceId) {
    let elements = context.flow.sequence(sequence).elements.clone();
    let last = elements.len().saturating_sub(1);
    let mut kept = Vec::new();
    let mut run = 0;
    for (index, id) in elements.into_iter().enumerate() {
        let element = context.flow.element(id);
        let (skip, print) = match &element.kind {
            Kind::Basic { written, actions, .. } if element.labels.is_empty() => {
                (*written == Written::Skip, !actions.is_empty())
            }
            _ => (false, false),
        };
        run = if skip { run + 1 } else { 0 };
        if run > 1 && !print && index != last {
            continue;
        }
        kept.push(id);
    }
    context.flow.sequences[sequence.0].elements = kept;
}
