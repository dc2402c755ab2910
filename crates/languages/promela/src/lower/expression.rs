//! Expressions and places.

use quotient_program::{
    EnumerationId, Expr, FunctionId, Label, LabelId, LocationId, Pattern, Place, Projection, Referent, Root,
    Type, UnaryOp,
};
use quotient_source::{Diagnostic, Span};

use super::Lowering;
use super::parameter::OWN_ID;
use super::pointer::Sort;
use crate::ast;
use crate::ast::{BinaryOp, ExprKind};

/// What a name without index or field stands for, when it is not a variable.
enum Predefined {
    SelfId,
    ThreadCount,
    Last,
    Priority,
}

impl Lowering<'_> {
    /// An expression that has a single value.
    pub(super) fn expr(&mut self, e: &ast::Expr) -> Expr {
        let lowered = match &e.kind {
            ExprKind::Number(value) => return Expr::Const(*value),
            ExprKind::Address(_) => return self.refuse_opaque(e.span),
            ExprKind::Reference(r) => return self.value(r),
            ExprKind::Unary(op, a) => match (op, self.expr(a)) {
                (UnaryOp::Negate, Expr::Const(value)) => return Expr::Const(value.wrapping_neg()),
                (op, a) => Expr::Unary(*op, Box::new(a)),
            },
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b)
                if let Some((a, b)) = self.compare_opaque(a, b) =>
            {
                Expr::Binary(*op, Box::new(a), Box::new(b))
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b, op) = (self.expr(a), self.expr(b), *op);
                if let (Some(a), Some(b)) = (a.constant(), b.constant())
                    && let Some(value) = op.apply(a, b)
                {
                    return Expr::Const(value);
                }
                Expr::Binary(op, Box::new(a), Box::new(b))
            }
            ExprKind::Conditional(c, a, b) => {
                Expr::Conditional(Box::new(self.expr(c)), Box::new(self.expr(a)), Box::new(self.expr(b)))
            }
            ExprKind::Run { .. } => {
                self.report(
                    Diagnostic::error(e.span, "`run` cannot be part of a larger expression")
                        .help("write `run P(…)` as a statement of its own, or `p = run P(…)`"),
                );
                Expr::Const(0)
            }
            ExprKind::Len(c) => Expr::Length(Box::new(self.channel(c))),
            ExprKind::Full(c) => Expr::Full(Box::new(self.channel(c))),
            ExprKind::Nfull(c) => Expr::Full(Box::new(self.channel(c))).negated(),
            ExprKind::Empty(c) => Expr::Empty(Box::new(self.channel(c))),
            ExprKind::Nempty(c) => Expr::Empty(Box::new(self.channel(c))).negated(),
            ExprKind::Poll { channel, any, args } => Expr::Poll {
                channel: Box::new(self.channel(channel)),
                any: *any,
                patterns: self.patterns(args, true),
            },
            ExprKind::Timeout => {
                self.program.features.timeout = true;
                Expr::Timeout
            }
            ExprKind::Enabled(p) if self.in_claim => Expr::Enabled(Box::new(self.expr(p))),
            ExprKind::PcValue(p) if self.in_claim => {
                self.report(
                    Diagnostic::warning(
                        e.span,
                        "`pc_value` gives this tool's own numbers of locations, not SPIN's",
                    )
                    .help("compare it only with the `pc_value` of another process of the same proctype"),
                );
                Expr::LocationOf(Box::new(self.expr(p)))
            }
            ExprKind::Reachable(from, to) if self.in_claim => {
                let mut reference = |e: &ast::Expr| {
                    if matches!(self.sort_of(e), Sort::Reference(_)) {
                        return Box::new(self.opaque(e));
                    }
                    self.report(
                        Diagnostic::error(e.span, "`reachable` is about references")
                            .help("write `&p` for the reference that the pointer p holds"),
                    );
                    Box::new(Expr::Const(0))
                };
                let from = reference(from);
                Expr::Reachable(from, reference(to))
            }
            ExprKind::Reachable(..) => {
                self.report(
                    Diagnostic::error(e.span, "`reachable` can only be used in claims")
                        .help("a process follows pointers one by one"),
                );
                Expr::Const(0)
            }
            ExprKind::Quantified { quantifier, variable, proctype, body } => {
                self.quantified(*quantifier, variable, proctype, body)
            }
            ExprKind::Enabled(_) | ExprKind::PcValue(_) => {
                self.report(
                    Diagnostic::error(e.span, "`enabled` and `pc_value` can only be used in a never claim")
                        .help(
                            "a process cannot look at what another one could do: use a variable or a channel",
                        ),
                );
                Expr::Const(0)
            }
            ExprKind::GetPriority(p) => Expr::Priority(Box::new(self.expr(p))),
            ExprKind::SetPriority(..) => {
                self.report(
                    Diagnostic::error(e.span, "`set_priority` is a statement, not a value")
                        .help("write it as a statement of its own"),
                );
                Expr::Const(0)
            }
            ExprKind::RemoteLabel { proctype, pid, label } => {
                return self.remote_label(e.span, proctype, pid.as_deref(), label);
            }
            ExprKind::RemoteVariable { proctype, pid, variable } => {
                return self.remote_variable(e.span, proctype, pid.as_deref(), variable);
            }
        };
        Expr::Spanned(Box::new(lowered), e.span)
    }

    fn predefined(name: &str) -> Option<Predefined> {
        Some(match name {
            "_pid" => Predefined::SelfId,
            "_nr_pr" => Predefined::ThreadCount,
            "_last" => Predefined::Last,
            "_priority" => Predefined::Priority,
            _ => return None,
        })
    }

    /// The value of a variable or a predefined name.
    fn value(&mut self, r: &ast::Reference) -> Expr {
        let name = &r.parts[0].name.name;
        if let Some(depth) = self.bound.iter().rposition(|bound| bound == name)
            && r.parts.len() == 1
            && r.parts[0].index.is_none()
        {
            return Expr::Bound(depth as u32);
        }
        if let Some(constant) = self.mtype_constant(r) {
            return Expr::Const(constant);
        }
        if let Some(predefined) = Self::predefined(name)
            && !(name == OWN_ID && self.local(OWN_ID).is_some())
        {
            if r.parts.len() > 1 || r.parts[0].index.is_some() {
                self.error(r.span, format!("`{name}` has no parts"));
            }
            return match predefined {
                Predefined::SelfId => {
                    if self.current.is_none() {
                        self.error(r.span, "`_pid` has a value only inside a process");
                    }
                    Expr::SelfId
                }
                Predefined::ThreadCount => Expr::ThreadCount,
                Predefined::Last => {
                    self.program.features.last = true;
                    Expr::Last
                }
                Predefined::Priority => Expr::Priority(Box::new(Expr::SelfId)),
            };
        }
        match name.as_str() {
            "np_" if self.in_claim => return Expr::NonProgress,
            "np_" => {
                self.error(r.span, "`np_` can only be used in a never claim or a formula");
                return Expr::Const(0);
            }
            "_" => {
                self.report(
                    Diagnostic::error(r.span, "`_` can only be written, never read")
                        .help("declare a variable to keep the value"),
                );
                return Expr::Const(0);
            }
            _ => {}
        }
        if self.function_named(r).is_some() {
            return self.refuse_opaque(r.span);
        }
        let Some(place) = self.place(r) else { return Expr::Const(0) };
        if Sort::of(&place.ty) != Sort::Data {
            return self.refuse_opaque(r.span);
        }
        if self.is_scalar(&place.ty, r.span) { Expr::Load(place) } else { Expr::Const(0) }
    }

    fn is_scalar(&mut self, ty: &Type, span: Span) -> bool {
        match ty {
            Type::Structure(id) => {
                let structure = &self.program.structures[id.0 as usize];
                let fields: Vec<_> = structure.fields.iter().map(|f| format!("`{}`", f.name)).collect();
                let message = format!("a whole `{}` is not a single value", structure.name);
                self.report(
                    Diagnostic::error(span, message)
                        .help(format!("name one of its fields: {}", fields.join(", "))),
                );
                false
            }
            Type::Array(..) => {
                self.report(
                    Diagnostic::error(span, "a whole array is not a single value")
                        .help("add an index: `[i]`"),
                );
                false
            }
            _ => true,
        }
    }

    /// The value of an mtype name (that no variable hides).
    pub(super) fn mtype_constant(&self, r: &ast::Reference) -> Option<i32> {
        let name = &r.parts[0].name.name;
        if r.parts.len() > 1 || r.parts[0].index.is_some() || self.local(name).is_some() {
            return None;
        }
        self.names.constant(name)
    }

    pub(super) fn local(&self, name: &str) -> Option<quotient_program::VariableId> {
        let body = self.current.as_ref()?;
        body.scopes.iter().rev().find_map(|s| s.names.get(name)).map(|(id, _)| *id)
    }

    /// The place a reference names; reports what is wrong with it.
    pub(super) fn place(&mut self, r: &ast::Reference) -> Option<Place> {
        let place = self.unfollowed(r)?;
        if matches!(place.ty, Type::Reference(Referent::Array(_))) {
            return self.follow(place, Expr::Const(0));
        }
        Some(place)
    }

    /// Like [`Lowering::place`], but the last pointer on the way is not followed.
    pub(super) fn unfollowed(&mut self, r: &ast::Reference) -> Option<Place> {
        let name = &r.parts[0].name;
        let (root, ty) = if let Some(id) = self.local(&name.name) {
            (Root::Local(id), self.locals()[id.0 as usize].ty.clone())
        } else if let Some((id, _)) = self.names.globals.get(&name.name) {
            (Root::Global(*id), self.program.globals[id.0 as usize].ty.clone())
        } else {
            self.undeclared(name);
            return None;
        };
        self.project(root, ty, r)
    }

    fn undeclared(&mut self, name: &ast::Ident) {
        let mut diagnostic = Diagnostic::error(name.span, format!("`{}` is not declared", name.name));
        let known: Vec<String> = self
            .names
            .globals
            .keys()
            .chain(self.names.constants.keys())
            .cloned()
            .chain(self.current.iter().flat_map(|b| b.scopes.iter().flat_map(|s| s.names.keys().cloned())))
            .collect();
        if let Some(similar) = similar(&name.name, &known) {
            diagnostic = diagnostic.help(format!("did you mean `{similar}`?"));
        } else if self.proctype_named(&name.name).is_some() {
            diagnostic = diagnostic.help(format!("`{}` is a proctype: start it with `run`", name.name));
        } else if name.name.chars().any(|c| c.is_ascii_uppercase()) && name.name.to_uppercase() == name.name {
            // Names of macros are written so.
            let help = format!("declare it, or say its value: `-D {}=VALUE`", name.name);
            diagnostic = diagnostic.help(help);
        } else {
            diagnostic = diagnostic.help(format!("declare it first, for example `byte {};`", name.name));
        }
        self.report(diagnostic);
    }

    /// Follows the indices and fields of a reference from its first name on.
    fn project(&mut self, mut root: Root, mut ty: Type, r: &ast::Reference) -> Option<Place> {
        let mut path = Vec::new();
        for (depth, part) in r.parts.iter().enumerate() {
            if depth > 0 {
                if let Type::Reference(Referent::Array(_)) = ty {
                    let pointer = Place { root, path, ty, span: r.span };
                    Place { root, path, ty, .. } = self.follow(pointer, Expr::Const(0))?;
                }
                let Type::Structure(id) = ty else {
                    self.error(
                        part.name.span,
                        format!("there is no field `{}`: this is not a structure", part.name.name),
                    );
                    return None;
                };
                let structure = self.program.structure(id);
                let Some(field) = structure.fields.iter().position(|f| f.name == part.name.name) else {
                    let message = format!("`{}` has no field `{}`", structure.name, part.name.name);
                    let fields: Vec<_> = structure.fields.iter().map(|f| format!("`{}`", f.name)).collect();
                    let help = format!("its fields are {}", fields.join(", "));
                    self.report(Diagnostic::error(part.name.span, message).help(help));
                    return None;
                };
                path.push(Projection::Field(field as u32));
                ty = structure.fields[field].ty.clone();
            }
            match (&part.index, &ty) {
                (Some(index), Type::Array(element, _)) => {
                    let element = (**element).clone();
                    let index = self.expr(index);
                    path.push(Projection::Index(index));
                    ty = element;
                }
                (Some(index), Type::Reference(Referent::Array(_))) => {
                    let index = self.expr(index);
                    let pointer = Place { root, path, ty, span: r.span };
                    Place { root, path, ty, .. } = self.follow(pointer, index)?;
                }
                (Some(index), _) => {
                    self.report(
                        Diagnostic::error(index.span, format!("`{}` is not an array", part.name.name))
                            .help("remove the index, or declare it with a length"),
                    );
                    return None;
                }
                // In Promela the name of an array means its first element.
                (None, Type::Array(element, _)) if depth + 1 < r.parts.len() => {
                    let element = (**element).clone();
                    path.push(Projection::Index(Expr::Const(0)));
                    ty = element;
                }
                (None, _) => {}
            }
        }
        Some(Place { root, path, ty, span: r.span })
    }

    /// A reference to a channel.
    pub(super) fn channel(&mut self, r: &ast::Reference) -> Expr {
        let Some(mut place) = self.place(r) else { return Expr::Const(0) };
        if let Type::Array(element, _) = &place.ty
            && self.is_channel(element)
        {
            // As above: the first element.
            place.ty = (**element).clone();
            place.path.push(Projection::Index(Expr::Const(0)));
        }
        // Promela lets a channel be kept in any variable that can hold its number.
        match place.ty {
            Type::Channel | Type::Reference(Referent::Channel) => Expr::Load(place),
            Type::Int(_) if !self.program.features.dynamic => Expr::Load(place),
            _ => {
                self.report(
                    Diagnostic::error(r.span, "this is not a channel")
                        .help("declare it as `chan c = [n] of { … }`"),
                );
                Expr::Const(0)
            }
        }
    }

    /// The values of the arguments of a send, structures taken apart.
    pub(super) fn message(&mut self, args: &[ast::Expr]) -> Vec<Expr> {
        let mut out = Vec::new();
        for arg in args {
            match &arg.kind {
                ExprKind::Reference(r) if self.mtype_constant(r).is_none() && self.is_aggregate(r) => {
                    if let Some(place) = self.place(r) {
                        out.extend(self.leaves(&place).into_iter().map(Expr::Load));
                    }
                }
                _ if self.sort_of(arg) != Sort::Data => out.push(self.opaque(arg)),
                _ => out.push(self.expr(arg)),
            }
        }
        out
    }

    /// Does this reference name a structure?
    pub(super) fn is_aggregate(&mut self, r: &ast::Reference) -> bool {
        let name = &r.parts[0].name.name;
        if Self::predefined(name).is_some() || name == "_" || name == "np_" {
            return false;
        }
        if self.local(name).is_none() && !self.names.globals.contains_key(name) {
            return false;
        }
        // Looking must not report anything: the real translation does.
        let before = self.diagnostics.clone();
        let place = self.place(r);
        self.diagnostics = before;
        place.is_some_and(|p| matches!(p.ty, Type::Structure(_)))
    }

    /// The scalars of a place, in order; none, and an error, if there are too many.
    pub(super) fn leaves(&mut self, place: &Place) -> Vec<Place> {
        if !self.can_be_copied(&place.ty, place.span) {
            return Vec::new();
        }
        self.scalars_of(place)
    }

    fn scalars_of(&self, place: &Place) -> Vec<Place> {
        let down = |projection: Projection, ty: Type| {
            let mut path = place.path.clone();
            path.push(projection);
            self.scalars_of(&Place { root: place.root.clone(), path, ty, span: place.span })
        };
        match &place.ty {
            Type::Structure(id) => {
                let fields = &self.program.structure(*id).fields;
                let each = fields.iter().enumerate();
                each.flat_map(|(f, field)| down(Projection::Field(f as u32), field.ty.clone())).collect()
            }
            Type::Array(element, length) => (0..*length)
                .flat_map(|i| down(Projection::Index(Expr::Const(i as i32)), (**element).clone()))
                .collect(),
            _ => vec![place.clone()],
        }
    }

    /// The patterns of a receive or, when `poll`, of a test whether it is executable.
    pub(super) fn patterns(&mut self, args: &[ast::ReceiveArg], poll: bool) -> Vec<Pattern> {
        let mut out = Vec::new();
        for arg in args {
            match arg {
                ast::ReceiveArg::Ignore(_) => out.push(Pattern::Ignore),
                ast::ReceiveArg::Eval(e, _) if self.sort_of(e) != Sort::Data => {
                    out.push(Pattern::Match(self.opaque(e)));
                }
                ast::ReceiveArg::Constant(e) | ast::ReceiveArg::Eval(e, _) => {
                    out.push(Pattern::Match(self.expr(e)))
                }
                ast::ReceiveArg::Pointer(r) => {
                    if let Some(place) = self.pointer(r) {
                        out.push(if poll { Pattern::Ignore } else { Pattern::Bind(place) });
                    }
                }
                ast::ReceiveArg::Variable(r) => {
                    if let Some(value) = self.mtype_constant(r) {
                        out.push(Pattern::Match(Expr::Const(value)));
                        continue;
                    }
                    let name = r.parts[0].name.name.as_str();
                    if name == OWN_ID && r.parts.len() == 1 && self.local(OWN_ID).is_some() {
                        if !poll {
                            self.warn_own_id(r.span);
                        }
                    } else if Self::predefined(name).is_some() {
                        self.report(
                            Diagnostic::error(
                                r.span,
                                format!("`{}` cannot be received into", r.parts[0].name.name),
                            )
                            .help("to match its value, write `eval(…)`"),
                        );
                        continue;
                    }
                    if let Some(place) = self.place(r) {
                        let leaves = self.leaves(&place);
                        out.extend(
                            leaves.into_iter().map(|p| if poll { Pattern::Ignore } else { Pattern::Bind(p) }),
                        );
                    }
                }
            }
        }
        out
    }

    /// The thread a remote reference means.
    fn remote_thread(
        &mut self,
        proctype: &ast::Ident,
        pid: Option<&ast::Expr>,
    ) -> Option<(quotient_program::FunctionId, Expr)> {
        let Some(function) = self.proctype_named(&proctype.name) else {
            let known: Vec<String> = self.proctypes.iter().map(|p| p.name.clone()).collect();
            let mut diagnostic =
                Diagnostic::error(proctype.span, format!("there is no proctype `{}`", proctype.name));
            if let Some(similar) = similar(&proctype.name, &known) {
                diagnostic = diagnostic.help(format!("did you mean `{similar}`?"));
            }
            self.report(diagnostic);
            return None;
        };
        let thread = match pid {
            Some(pid) => self.expr(pid),
            None if self.receives_own_id.contains(&proctype.name) => {
                self.report(
                    Diagnostic::error(
                        proctype.span,
                        format!(
                            "which process of `{}` is meant? It overwrites its own `_pid`",
                            proctype.name
                        ),
                    )
                    .help(format!("give its number: `{}[pid]`", proctype.name)),
                );
                return None;
            }
            // As in SPIN's verifiers: the first process of that kind that is there.
            None => Expr::Oldest(function),
        };
        Some((function, thread))
    }

    fn remote_label(
        &mut self,
        span: Span,
        proctype: &ast::Ident,
        pid: Option<&ast::Expr>,
        label: &ast::Ident,
    ) -> Expr {
        let Some((function, thread)) = self.remote_thread(proctype, pid) else { return Expr::Const(0) };
        self.warn_of_nobody(span, &proctype.name, function, &thread);
        let id = LabelId(self.program.labels.len() as u32);
        self.program.labels.push(Label { function, location: LocationId(0) });
        self.label_names.push(label.clone());
        Expr::Spanned(Box::new(Expr::At { thread: Box::new(thread), label: id }), span)
    }

    /// `P[k]@label` where process `k` is never a `P`: what is said about it is true of nothing. Processes of a proctype that nobody
    /// runs are there from the start, with the numbers they have then.
    fn warn_of_nobody(&mut self, span: Span, proctype: &str, function: FunctionId, thread: &Expr) {
        let mut thread = thread;
        while let Expr::Spanned(inner, _) = thread {
            thread = inner;
        }
        let Expr::Const(number) = thread else { return };
        let initial = usize::try_from(*number).ok().and_then(|n| self.program.initial.get(n));
        if initial == Some(&function) || self.started.iter().any(|s| s == proctype) {
            return;
        }
        let message = format!("process {number} is never a `{proctype}`: this is always false");
        let numbers: Vec<String> = (0..self.program.initial.len())
            .filter(|n| self.program.initial[*n] == function)
            .map(|n| n.to_string())
            .collect();
        let mut warning = Diagnostic::warning(span, message);
        if !numbers.is_empty() {
            warning =
                warning.help(format!("processes of `{proctype}` have the numbers {}", numbers.join(", ")));
        }
        self.report(warning);
    }

    fn remote_variable(
        &mut self,
        span: Span,
        proctype: &ast::Ident,
        pid: Option<&ast::Expr>,
        variable: &ast::Reference,
    ) -> Expr {
        let Some((function, thread)) = self.remote_thread(proctype, pid) else { return Expr::Const(0) };
        // The body may not be translated yet: its declarations were collected before.
        let name = &variable.parts[0].name;
        let Some((id, ty)) = self.remote_local(function, &name.name) else {
            self.error(name.span, format!("proctype `{}` has no variable `{}`", proctype.name, name.name));
            return Expr::Const(0);
        };
        let root = Root::Remote { thread: Box::new(thread), function, variable: id };
        match self.project(root, ty, variable) {
            Some(mut place) => {
                place.span = span;
                if self.is_scalar(&place.ty, span) { Expr::Load(place) } else { Expr::Const(0) }
            }
            None => Expr::Const(0),
        }
    }

    /// The set an expression's value is a name of, if that can be seen.
    pub(super) fn enumeration_of(&self, e: &Expr) -> Option<EnumerationId> {
        match e {
            Expr::Load(place) => match place.ty {
                Type::Enumeration(id) => Some(id),
                _ => None,
            },
            Expr::Spanned(inner, _) => self.enumeration_of(inner),
            _ => None,
        }
    }

    /// A place that stands for the id of a thread, when it is written as `_priority`.
    pub(super) fn is_priority(r: &ast::Reference) -> bool {
        r.parts.len() == 1 && r.parts[0].name.name == "_priority"
    }
}

/// The known name that differs from `name` the least, if it is close.
fn similar(name: &str, known: &[String]) -> Option<String> {
    let distance = |other: &str| -> usize {
        let (a, b): (Vec<char>, Vec<char>) = (name.chars().collect(), other.chars().collect());
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, ca) in a.iter().enumerate() {
            let mut diagonal = row[0];
            row[0] = i + 1;
            for (j, cb) in b.iter().enumerate() {
                let next = (diagonal + usize::from(ca != cb)).min(row[j] + 1).min(row[j + 1] + 1);
                diagonal = row[j + 1];
                row[j + 1] = next;
            }
        }
        row[b.len()]
    };
    let limit = if name.chars().count() <= 3 { 1 } else { 2 };
    let mut best: Vec<(usize, &String)> =
        known.iter().filter(|k| k.len() > 1).map(|k| (distance(k), k)).filter(|(d, _)| *d <= limit).collect();
    best.sort();
    best.first().map(|(_, k)| (*k).clone())
}
