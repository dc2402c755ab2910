//! What the code of a program does with values: joins of classes, and *atoms*, the places where arithmetic or an order meets
//! values. An atom with its table is a constraint on renamings; see [`crate::solve`].

use quotient_program::{
    Action, BinaryOp, ChannelTypeId, Expr, Function, FunctionId, Init, Operation, Pattern, Place, Program,
    Projection, Root, Type, UnaryOp,
};
use quotient_source::Span;

use crate::classes::{CHANNEL, ClassId, Classes, Shape, THREAD, scalar_class};
use crate::term::{Key, Leaf, Term};
use crate::{Code, Limit};

/// Where the value of an expression goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sink {
    /// Only whether it is zero matters.
    Truth,
    /// It becomes a value of this class.
    Class(ClassId),
}

/// A place where values are computed with.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    pub(crate) term: Term,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) sink: Sink,
    pub(crate) span: Span,
    /// What can still be executed constrains renamings; what cannot says which values there may be.
    pub(crate) code: Code,
}

impl Atom {
    /// It can still be executed.
    pub(crate) fn is_live(&self) -> bool {
        self.code == Code::Live
    }
}

/// Everything the code does.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) classes: Classes,
    pub(crate) atoms: Vec<Atom>,
    pub(crate) globals: Vec<Shape>,
    pub(crate) locals: Vec<Vec<Shape>>,
    /// Classes of message fields, by kind of channel.
    pub(crate) fields: Vec<Vec<ClassId>>,
    /// Classes whose values are numbers, and why.
    pub(crate) numbers: Vec<(ClassId, Limit)>,
    /// Classes that code which is over may have given any number.
    pub(crate) open: Vec<ClassId>,
    /// Functions whose oldest thread is asked for, and where.
    pub(crate) oldest: Vec<(FunctionId, Span)>,
    /// Nothing may be renamed, and why.
    pub(crate) refused: Option<Limit>,
}

struct Collector<'a> {
    program: &'a Program,
    out: Collected,
    /// Channels are passed around: which kind an expression names is not known.
    passed: bool,
    function: Option<FunctionId>,
    span: Span,
    /// The code being looked at.
    code: Code,
}

/// Collects from all code, and from `properties`, expressions that are evaluated from outside. `code(function)` says which
/// locations can still be executed; threads have started and globals are initialised already.
pub(crate) fn collect(
    program: &Program,
    code: &dyn Fn(FunctionId) -> Vec<Code>,
    properties: &[&Expr],
) -> Collected {
    let mut classes = Classes::new();
    let globals = program.globals.iter().map(|v| Shape::new(program, v, &mut classes)).collect();
    let locals = program
        .functions
        .iter()
        .map(|f| f.locals.iter().map(|v| Shape::new(program, v, &mut classes)).collect())
        .collect();
    let fields = program
        .channel_types
        .iter()
        .map(|c| c.fields.iter().map(|ty| scalar_class(ty, &mut classes)).collect())
        .collect();
    let out = Collected {
        classes,
        atoms: Vec::new(),
        globals,
        locals,
        fields,
        numbers: Vec::new(),
        open: Vec::new(),
        oldest: Vec::new(),
        refused: None,
    };
    // Every program has a function; its span is overwritten before it is used.
    let Some(first) = program.functions.first() else { return out };
    let mut collector =
        Collector { program, out, passed: false, function: None, span: first.span, code: Code::Past };
    collector.passed = collector.channels_are_passed();
    if collector.passed {
        collector.join_kinds();
    }
    collector.program(code);
    for property in properties {
        collector.function = None;
        collector.code = Code::Live;
        if let Expr::Spanned(_, span) = property {
            collector.span = *span;
        }
        collector.flow(property, Sink::Truth);
    }
    collector.out
}

impl Collector<'_> {
    fn refuse(&mut self, why: &str) {
        if self.code != Code::Live {
            return;
        }
        let at = self.span;
        self.out.refused.get_or_insert_with(|| Limit { span: Some(at), why: why.into() });
    }

    /// Something is used in a way that this analysis does not know.
    fn give_up(&mut self) {
        self.code = Code::Live;
        self.refuse("a structure is used as a whole");
    }

    fn number(&mut self, class: ClassId, why: &str) {
        if self.code != Code::Live {
            return self.out.open.push(class);
        }
        let limit = Limit { span: Some(self.span), why: why.into() };
        self.out.numbers.push((class, limit));
    }

    fn constant(&mut self, class: ClassId, value: i32) {
        let class = self.out.classes.find(class);
        if self.code == Code::Live {
            self.out.classes.constant(class, value, self.span);
        } else {
            self.out.classes.class[class].initial.push(value);
        }
    }

    /// Is a channel ever stored anywhere but in the variable it was made for?
    fn channels_are_passed(&self) -> bool {
        let program = self.program;
        let places = |p: &Place| p.ty == Type::Channel;
        program.functions.iter().any(|f| {
            f.locals[..f.params].iter().any(|v| holds_channel(program, &v.ty))
                || f.locations.iter().flat_map(|l| &l.transformations).any(|t| {
                    let received = match &t.operation {
                        Operation::Receive { patterns, .. } => {
                            patterns.iter().any(|p| matches!(p, Pattern::Bind(p) if places(p)))
                        }
                        _ => false,
                    };
                    received || t.actions.iter().any(|a| matches!(a, Action::Assign(p, _) if places(p)))
                })
                || f.locals.iter().any(initialised_channel)
        }) || program.globals.iter().any(initialised_channel)
    }

    /// Messages of all kinds of channels are one.
    fn join_kinds(&mut self) {
        for kind in 1..self.out.fields.len() {
            for field in 0..self.out.fields[kind].len() {
                let first = (0..kind).find(|k| self.out.fields[*k].len() > field);
                if let Some(first) = first {
                    let (a, b) = (self.out.fields[first][field], self.out.fields[kind][field]);
                    self.out.classes.join(a, b);
                }
            }
        }
    }

    fn program(&mut self, code: &dyn Fn(FunctionId) -> Vec<Code>) {
        let program = self.program;
        for (variable, shape) in program.globals.iter().zip(self.out.globals.clone()) {
            self.span = variable.span;
            if variable.scratch {
                shape.scalars(&mut |class| self.out.classes.constant(class, 0, variable.span));
            }
            self.initial(&variable.init, &shape);
        }
        for (index, function) in program.functions.iter().enumerate() {
            self.function = Some(FunctionId(index as u32));
            self.code = Code::Past;
            for (local, variable) in function.locals.iter().enumerate() {
                self.span = variable.span;
                let shape = self.out.locals[index][local].clone();
                self.initial(&variable.init, &shape);
            }
            self.body(function, &code(FunctionId(index as u32)));
        }
        if let Some(observer) = &program.observer {
            self.function = None;
            self.code = Code::Live;
            self.body(&observer.function, &vec![Code::Live; observer.function.locations.len()]);
        }
    }

    /// Initial values are there once: they are values that may be met, and pin nothing.
    fn initial(&mut self, init: &Init, shape: &Shape) {
        let values: Vec<&Expr> = match init {
            Init::Fill(e) => vec![e],
            Init::List(list) => list.iter().collect(),
            _ => return,
        };
        let mut classes = Vec::new();
        shape.scalars(&mut |class| classes.push(class));
        for value in values {
            for &class in &classes {
                self.flow(value, Sink::Class(class));
            }
        }
    }

    fn body(&mut self, function: &Function, code: &[Code]) {
        self.span = function.span;
        self.code = code.iter().copied().max().unwrap_or(Code::Past);
        if let Some(provided) = &function.provided {
            self.flow(provided, Sink::Truth);
        }
        for (location, code) in function.locations.iter().zip(code) {
            self.code = *code;
            for t in &location.transformations {
                self.span = t.span;
                self.operation(&t.operation);
                for action in &t.actions {
                    self.span = t.span;
                    self.action(action);
                }
            }
        }
    }

    fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Always | Operation::Else | Operation::Enter | Operation::Exit => {}
            Operation::When(e) => self.flow(e, Sink::Truth),
            Operation::Send { guard, channel, sorted, args } => {
                guard.iter().for_each(|e| self.flow(e, Sink::Truth));
                for kind in self.kinds(channel) {
                    let fields = self.out.fields[kind.0 as usize].clone();
                    for (field, &class) in fields.iter().enumerate() {
                        match args.get(field) {
                            Some(arg) => self.flow(arg, Sink::Class(class)),
                            None => self.constant(class, 0),
                        }
                        if *sorted {
                            self.number(class, "a sorted send compares messages by size");
                        }
                    }
                }
            }
            Operation::Receive { guard, channel, patterns, .. } => {
                guard.iter().for_each(|e| self.flow(e, Sink::Truth));
                self.patterns(channel, patterns, true);
            }
            Operation::Event { channel, patterns, .. } => self.patterns(channel, patterns, true),
        }
    }

    fn patterns(&mut self, channel: &Expr, patterns: &[Pattern], binds: bool) {
        for kind in self.kinds(channel) {
            let fields = self.out.fields[kind.0 as usize].clone();
            for (pattern, &class) in patterns.iter().zip(&fields) {
                match pattern {
                    Pattern::Ignore => {}
                    Pattern::Bind(place) if binds => {
                        let to = self.place(place);
                        self.out.classes.join(class, to);
                    }
                    Pattern::Bind(_) => {}
                    Pattern::Match(e) => self.equal_to_class(class, e),
                }
            }
        }
    }

    /// Which kinds of channels an expression can name; looks at the expression itself too.
    fn kinds(&mut self, channel: &Expr) -> Vec<ChannelTypeId> {
        let mut inner = channel;
        while let Expr::Spanned(e, _) = inner {
            inner = e;
        }
        self.flow(channel, Sink::Class(CHANNEL));
        if !self.passed
            && let Expr::Load(place) = inner
        {
            if let Some(Shape::Scalar { channel: Some(kind), .. }) = self.shape(place) {
                return vec![kind];
            }
            // A channel variable that nothing was ever stored in names no channel.
            if place.ty == Type::Channel {
                return Vec::new();
            }
        }
        if !self.passed {
            self.passed = true;
            self.join_kinds();
        }
        (0..self.program.channel_types.len() as u32).map(ChannelTypeId).collect()
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Assign(place, e) => {
                let class = self.place(place);
                self.flow(e, Sink::Class(class));
            }
            Action::Assert(e, span) => {
                self.span = *span;
                self.flow(e, Sink::Truth);
            }
            // What is printed is seen in traces alone, and a trace is re-executed in real names.
            Action::Print(_) => {}
            // A variable without a value: `machine` shows it as such.
            Action::Forget(_) => {}
            Action::Start { function, args, result, .. } => {
                self.refuse("processes may still be started");
                // Arguments are the scalars of the parameters.
                let mut classes = Vec::new();
                for shape in self.out.locals.get(function.0 as usize).into_iter().flatten() {
                    shape.scalars(&mut |class| classes.push(class));
                }
                for (position, arg) in args.iter().enumerate() {
                    match classes.get(position) {
                        Some(class) => self.flow(arg, Sink::Class(*class)),
                        None => self.give_up(),
                    }
                }
                if let Some(place) = result {
                    let class = self.place(place);
                    self.out.classes.join(THREAD, class);
                }
            }
            Action::SetPriority(..) => self.refuse("the model uses priorities"),
            // Dynamic programs have opaque ids, and graphs of their own in `machine`.
            Action::New { .. }
            | Action::Delete(_)
            | Action::Lock(..)
            | Action::Update { .. }
            | Action::Choose { .. }
            | Action::Call { .. }
            | Action::Return(_)
            | Action::Throw(_)
            | Action::Assume(_)
            | Action::EndThread
            | Action::Halt => self.refuse("the model has objects or functions"),
        }
    }

    /// The shape of what a place names, without looking at its indices.
    fn shape(&self, place: &Place) -> Option<Shape> {
        let mut shape = match &place.root {
            Root::Global(v) => self.out.globals.get(v.0 as usize)?,
            Root::Local(v) => self.out.locals.get(self.function?.0 as usize)?.get(v.0 as usize)?,
            Root::Remote { function, variable, .. } => {
                self.out.locals.get(function.0 as usize)?.get(variable.0 as usize)?
            }
            Root::Object { .. } => return None,
        };
        for projection in &place.path {
            shape = match (projection, shape) {
                (Projection::Field(field), Shape::Structure(fields)) => fields.get(*field as usize)?,
                (Projection::Index(_), Shape::Array { element, .. }) => element,
                _ => return None,
            };
        }
        Some(shape.clone())
    }

    /// The class of a scalar place; its indices become values of the arrays' index classes.
    fn place(&mut self, place: &Place) -> ClassId {
        let mut at = match &place.root {
            Root::Global(v) => self.out.globals.get(v.0 as usize).cloned(),
            Root::Local(v) => self
                .function
                .and_then(|f| self.out.locals.get(f.0 as usize))
                .and_then(|locals| locals.get(v.0 as usize))
                .cloned(),
            Root::Remote { thread, function, variable } => {
                self.flow(thread, Sink::Class(THREAD));
                self.out.locals.get(function.0 as usize).and_then(|l| l.get(variable.0 as usize)).cloned()
            }
            Root::Object { .. } => None,
        };
        for projection in &place.path {
            at = match (projection, at) {
                (Projection::Field(field), Some(Shape::Structure(fields))) => {
                    fields.get(*field as usize).cloned()
                }
                (Projection::Index(e), Some(Shape::Array { index, element, .. })) => {
                    self.flow(e, Sink::Class(index));
                    Some(*element)
                }
                _ => None,
            };
        }
        match at {
            Some(Shape::Scalar { class, .. }) => class,
            // The front ends take structures and arrays apart; if one is met whole, nothing is claimed about it.
            _ => {
                self.give_up();
                self.out.classes.fresh()
            }
        }
    }

    /// The value of an expression goes somewhere.
    fn flow(&mut self, e: &Expr, sink: Sink) {
        match e {
            Expr::SelfThread
            | Expr::Terminated(_)
            | Expr::InstanceOf { .. }
            | Expr::Cast { .. }
            | Expr::ArrayLength(_)
            | Expr::Lock(..)
            | Expr::Query { .. }
            | Expr::Reachable(..)
            | Expr::Function(_) => self.refuse("the model has objects or functions"),
            Expr::Const(value) => {
                if let Sink::Class(class) = sink {
                    self.constant(class, *value);
                }
            }
            Expr::Spanned(inner, _) => self.flow(inner, sink),
            Expr::Load(_) | Expr::SelfId | Expr::Bound(_) => match sink {
                Sink::Class(to) => {
                    let from = self.plain(e);
                    self.out.classes.join(from, to);
                }
                Sink::Truth => self.atom(e, sink),
            },
            Expr::Unary(UnaryOp::Not, a) => {
                self.flow(a, Sink::Truth);
                self.truth_value(sink);
            }
            Expr::Binary(BinaryOp::And | BinaryOp::Or, a, b) => {
                self.flow(a, Sink::Truth);
                self.flow(b, Sink::Truth);
                self.truth_value(sink);
            }
            Expr::Conditional(c, a, b) => {
                self.flow(c, Sink::Truth);
                self.flow(a, sink);
                self.flow(b, sink);
            }
            Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) => {
                if is_plain(a) {
                    let class = self.plain(a);
                    self.equal_to_class_as(class, b, Some(e));
                } else if is_plain(b) {
                    let class = self.plain(b);
                    self.equal_to_class_as(class, a, Some(e));
                } else {
                    self.atom(e, Sink::Truth);
                }
                self.truth_value(sink);
            }
            Expr::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, ..) => {
                self.atom(e, Sink::Truth);
                self.truth_value(sink);
            }
            Expr::Binary(..) | Expr::Unary(..) => self.atom(e, sink),
            Expr::Timeout => self.truth_value(sink),
            Expr::Full(channel) | Expr::Empty(channel) => {
                self.flow(channel, Sink::Class(CHANNEL));
                self.truth_value(sink);
            }
            Expr::Poll { channel, patterns, .. } => {
                self.patterns(channel, patterns, false);
                self.truth_value(sink);
            }
            Expr::At { thread, .. } => {
                self.flow(thread, Sink::Class(THREAD));
                self.truth_value(sink);
            }
            Expr::Length(channel) => {
                self.flow(channel, Sink::Class(CHANNEL));
                self.plain_number(sink);
            }
            Expr::ThreadCount => self.plain_number(sink),
            Expr::Last => self.refuse("the model reads _last"),
            // Threads that change places run the same function, stand at the same locations and can take the same steps.
            Expr::Enabled(thread) => {
                self.flow(thread, Sink::Class(THREAD));
                self.truth_value(sink);
            }
            Expr::LocationOf(thread) => {
                self.flow(thread, Sink::Class(THREAD));
                self.plain_number(sink);
            }
            Expr::NonProgress => self.truth_value(sink),
            // What holds of a thread holds of the one that takes its place.
            Expr::Count { body, .. } => {
                self.flow(body, Sink::Truth);
                self.plain_number(sink);
            }
            // It names one thread: the first one that runs the function stays where it is.
            Expr::Oldest(function) => {
                self.out.oldest.push((*function, self.span));
                if let Sink::Class(class) = sink {
                    self.out.classes.join(THREAD, class);
                }
            }
            Expr::Priority(_) => self.refuse("the model uses priorities"),
        }
    }

    /// 0 or 1 goes somewhere.
    fn truth_value(&mut self, sink: Sink) {
        if let Sink::Class(class) = sink {
            self.constant(class, 0);
            self.constant(class, 1);
        }
    }

    /// Some number goes somewhere.
    fn plain_number(&mut self, sink: Sink) {
        if let Sink::Class(class) = sink {
            self.number(class, "it is computed from data");
        }
    }

    /// The class of an expression that only names a value.
    fn plain(&mut self, e: &Expr) -> ClassId {
        match e {
            Expr::Spanned(inner, _) => self.plain(inner),
            Expr::SelfId | Expr::Bound(_) => THREAD,
            Expr::Load(place) => self.place(place),
            // Only called on what `is_plain` accepts.
            _ => self.out.classes.fresh(),
        }
    }

    /// A value of a class is compared for equality with an expression.
    fn equal_to_class(&mut self, class: ClassId, e: &Expr) {
        self.equal_to_class_as(class, e, None);
    }

    fn equal_to_class_as(&mut self, class: ClassId, e: &Expr, whole: Option<&Expr>) {
        if let Some(value) = e.constant() {
            self.constant(class, value);
        } else if is_plain(e) {
            let other = self.plain(e);
            self.out.classes.join(class, other);
        } else if let Some(whole) = whole {
            self.atom(whole, Sink::Truth);
        } else {
            let mut leaves = vec![Leaf { class, runs: None, key: None }];
            let term = self.term(e, &mut leaves);
            let term = Term::Binary(BinaryOp::Eq, Box::new(Term::Leaf(0)), Box::new(term));
            self.push(Atom { term, leaves, sink: Sink::Truth, span: self.span, code: self.code });
        }
    }

    fn push(&mut self, atom: Atom) {
        if !atom.leaves.is_empty() {
            self.out.atoms.push(atom);
        } else if let (Sink::Class(class), Some(value)) = (atom.sink, atom.term.value(&[])) {
            self.constant(class, value);
        }
    }

    fn atom(&mut self, e: &Expr, sink: Sink) {
        let mut leaves = Vec::new();
        let term = self.term(e, &mut leaves);
        self.push(Atom { term, leaves, sink, span: self.span, code: self.code });
    }

    fn term(&mut self, e: &Expr, leaves: &mut Vec<Leaf>) -> Term {
        match e {
            Expr::Const(value) => Term::Const(*value),
            Expr::Spanned(inner, _) => self.term(inner, leaves),
            Expr::Unary(op, a) => Term::Unary(*op, Box::new(self.term(a, leaves))),
            Expr::Binary(op, a, b) => {
                let a = self.term(a, leaves);
                Term::Binary(*op, Box::new(a), Box::new(self.term(b, leaves)))
            }
            Expr::Conditional(c, a, b) => {
                let (c, a) = (self.term(c, leaves), self.term(a, leaves));
                Term::Conditional(Box::new(c), Box::new(a), Box::new(self.term(b, leaves)))
            }
            Expr::SelfId => leaf(leaves, Leaf { class: THREAD, runs: self.function, key: Some(Key::SelfId) }),
            // The same quantifier's thread everywhere in a term: the body of another quantifier is a term of its own.
            Expr::Bound(depth) => {
                leaf(leaves, Leaf { class: THREAD, runs: None, key: Some(Key::Bound(*depth)) })
            }
            Expr::Load(place) => {
                let class = self.place(place);
                let key = match place.root {
                    Root::Global(v) if place.path.is_empty() => Some(Key::Global(v.0)),
                    Root::Local(v) if place.path.is_empty() => Some(Key::Local(v.0)),
                    _ => None,
                };
                leaf(leaves, Leaf { class, runs: None, key })
            }
            // Anything else is a number that the state decides.
            other => {
                let class = self.out.classes.fresh();
                self.flow(other, Sink::Class(class));
                self.number(class, "it is computed from data");
                leaf(leaves, Leaf { class, runs: None, key: None })
            }
        }
    }
}

fn leaf(leaves: &mut Vec<Leaf>, leaf: Leaf) -> Term {
    if leaf.key.is_some()
        && let Some(known) = leaves.iter().position(|l| l.key == leaf.key)
    {
        return Term::Leaf(known);
    }
    leaves.push(leaf);
    Term::Leaf(leaves.len() - 1)
}

fn is_plain(e: &Expr) -> bool {
    match e {
        Expr::Spanned(inner, _) => is_plain(inner),
        Expr::SelfId | Expr::Load(_) | Expr::Bound(_) => true,
        _ => false,
    }
}

/// Is there a channel among the scalars of this type?
fn holds_channel(program: &Program, ty: &Type) -> bool {
    let mut types = Vec::new();
    program.scalar_types(ty, &mut types);
    types.contains(&&Type::Channel)
}

/// A channel variable that starts as a copy of another.
fn initialised_channel(variable: &quotient_program::Variable) -> bool {
    fn holds_channels(ty: &Type) -> bool {
        match ty {
            Type::Channel => true,
            Type::Array(element, _) => holds_channels(element),
            _ => false,
        }
    }
    holds_channels(&variable.ty) && matches!(variable.init, Init::Fill(_) | Init::List(_))
}
