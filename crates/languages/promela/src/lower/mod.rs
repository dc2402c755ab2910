//! Promela to programs.
//!
//! The control flow of the result is SPIN's, state by state: `elements` builds the graph of elements SPIN builds
//! from the statements, `flow` turns elements into locations the way SPIN's generated verifier does (gotos and
//! joins are not steps of their own, choices merge, escapes come first). That is what makes counts comparable.
//!
//! Deviations from SPIN: a global may be used above its declaration; an index on a plain variable, a structure
//! where a number is needed and the like are errors here, not warnings; `hidden` variables that a step could read
//! before writing them are part of the state.

mod claim;
mod constant;
mod declaration;
mod elements;
mod exclusive;
mod expression;
mod flow;
mod function;
mod loops;
mod marks;
mod names;
mod numbering;
mod parameter;
mod pointer;
mod remote;
mod scratch;
mod simple;
mod size;
mod statement;

use quotient_program::{
    Function, FunctionId, IntType, Location, LocationId, Observer, Operation, Program, Type,
};
use quotient_source::{Diagnostic, Diagnostics, SourceMap, Span, Unchecked};

use crate::ast;
use names::{Names, Scope};
use numbering::Numbered;
use quotient_front_end::Claim;

/// A model as a program.
#[derive(Debug)]
pub struct Lowered {
    /// The program; only a best effort when `diagnostics` has errors.
    pub program: Program,
    /// What is wrong with the model, and what the author should know.
    pub diagnostics: Diagnostics,
    /// Temporal claims of the model, in order, then the properties given apart from it.
    pub claims: Vec<Claim>,
    /// The numbers that SPIN gives the statements of processes: by function, location and position among its transformations.
    pub numbers: Vec<Vec<Vec<u32>>>,
}

/// Translates a model.
pub fn lower(model: &ast::Model, sources: &SourceMap) -> Lowered {
    lower_with(model, &[], sources)
}

/// Translates a model with properties given apart from it; they come after the model's own claims.
pub fn lower_with(model: &ast::Model, properties: &[ast::Property], sources: &SourceMap) -> Lowered {
    let mut lowering = Lowering {
        sources,
        diagnostics: Diagnostics::new(),
        program: Program::default(),
        names: Names::default(),
        proctypes: Vec::new(),
        remote_labels: Vec::new(),
        started: Vec::new(),
        receives_own_id: Vec::new(),
        shows_own_id: Vec::new(),
        label_names: Vec::new(),
        remote_locals: None,
        current: None,
        returns: None,
        value_functions: Vec::new(),
        indirect_calls: Vec::new(),
        in_claim: false,
        bound: Vec::new(),
        exclusive: Vec::new(),
        unit: 0,
        numbered: Vec::new(),
    };
    lowering.program.features.dynamic = model.dynamic;
    lowering.model(model, properties);
    let claims = lowering.claims(model, properties);
    lowering.resolve_labels();
    lowering.check_indirect_calls();
    if !lowering.diagnostics.has_errors() {
        scratch::check(&mut lowering.program, &claims, &mut lowering.diagnostics);
        exclusive::check(&mut lowering.program, &lowering.exclusive, &claims, &mut lowering.diagnostics);
    }
    let numbers = numbering::numbers(lowering.program.functions.len(), lowering.numbered);
    Lowered { program: lowering.program, diagnostics: lowering.diagnostics, claims, numbers }
}

/// A proctype before its body is translated.
struct ProctypeInfo {
    name: String,
    /// The types of its arguments: the scalars of its parameters, in order.
    params: Vec<Type>,
    /// Labels and the locations they stand for, once the body is translated.
    labels: Vec<(String, LocationId)>,
    /// A function that is called rather than a process.
    is_function: bool,
    /// What a function returns.
    returns: Option<Type>,
    span: Span,
}

struct Lowering<'a> {
    sources: &'a SourceMap,
    diagnostics: Diagnostics,
    program: Program,
    names: Names,
    proctypes: Vec<ProctypeInfo>,
    /// Labels that some expression refers to from outside: (proctype, label).
    remote_labels: Vec<(String, String)>,
    /// Proctypes that some `run` starts.
    started: Vec<String>,
    /// Proctypes that receive into `_pid`.
    receives_own_id: Vec<String>,
    /// Proctypes whose `_pid` others read.
    shows_own_id: Vec<String>,
    /// The names of the program's labels, each at the place that refers to it.
    label_names: Vec<ast::Ident>,
    /// Every function's locals, when some expression refers to those of another function.
    remote_locals: Option<Vec<Vec<quotient_program::Variable>>>,
    /// The function being translated.
    current: Option<Body>,
    /// While a function is translated: what it returns, if anything.
    returns: Option<Option<Type>>,
    /// Functions used as values.
    value_functions: Vec<FunctionId>,
    indirect_calls: Vec<function::IndirectCall>,
    /// Translating a claim, which may ask more of a state than a process.
    in_claim: bool,
    /// Names that quantifiers give to processes, outermost first.
    bound: Vec<String>,
    /// Channels that processes claim for themselves.
    exclusive: Vec<exclusive::Exclusive>,
    /// Which part of the model is being translated, in the order of the text.
    unit: usize,
    /// The parts with statements, as SPIN numbers them.
    numbered: Vec<numbering::Numbered>,
}

/// The function being translated.
struct Body {
    name: String,
    locals: Vec<quotient_program::Variable>,
    scopes: Vec<Scope>,
    /// A declaration is still a mere declaration: no statement came before it.
    declarations_first: bool,
    /// A `trace`: channel operations are watched, not done.
    observes: bool,
}

impl Lowering<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>) -> &mut Self {
        self.diagnostics.push(Diagnostic::error(span, message));
        self
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn model(&mut self, model: &ast::Model, properties: &[ast::Property]) {
        self.collect_types(model);
        self.collect_globals(model);
        self.collect_proctypes(model);
        let remote = remote::references(model, properties);
        self.remote_labels = remote.labels;
        self.started = remote.started;
        self.receives_own_id = remote.receives_own_id;
        self.shows_own_id = remote.shows_own_id;
        self.program.features.priorities = remote.priorities;
        if remote.variables {
            // Another process's variables are known only when it has been translated: once for that, then
            // again for good.
            let before = self.diagnostics.clone();
            self.bodies(model);
            self.remote_locals =
                Some(self.program.functions.iter_mut().map(|f| std::mem::take(&mut f.locals)).collect());
            self.diagnostics = before;
            self.program.labels.clear();
            self.label_names.clear();
            self.indirect_calls.clear();
            self.exclusive.clear();
            self.numbered.clear();
        }
        self.bodies(model);
        for (index, unit) in model.units.iter().enumerate() {
            self.unit = index;
            if let ast::Unit::Trace(trace) = unit {
                self.trace(trace);
            }
        }
        if !self.diagnostics.has_errors() {
            self.check_first_state();
        }
        if self.program.initial.is_empty() && !self.diagnostics.has_errors() {
            self.report(
                Diagnostic::global("the model has no process to start with")
                    .help("add `init { … }` or write `active` before a proctype"),
            );
        }
    }

    fn bodies(&mut self, model: &ast::Model) {
        for (index, unit) in model.units.iter().enumerate() {
            self.unit = index;
            match unit {
                ast::Unit::Proctype(p) => {
                    let Some(id) = self.proctype_named(&p.name.name) else { continue };
                    self.proctype(id, p);
                }
                ast::Unit::Function(f) => {
                    let Some(id) = self.proctype_named(&f.name.name) else { continue };
                    self.function(id, f);
                }
                ast::Unit::Init(init) => {
                    let Some(id) = self.proctype_named(INIT) else { continue };
                    self.body(id, INIT, &[], &init.body, init.span, init.end, None, init.priority.as_ref());
                }
                _ => {}
            }
        }
    }

    /// A local variable of another function, by name.
    fn remote_local(&self, function: FunctionId, name: &str) -> Option<(quotient_program::VariableId, Type)> {
        let Some(known) = &self.remote_locals else {
            // First round: anything goes.
            return Some((quotient_program::VariableId(0), Type::Int(IntType::INT)));
        };
        let locals = &known[function.0 as usize];
        let index = locals.iter().position(|v| v.name == name)?;
        Some((quotient_program::VariableId(index as u32), locals[index].ty.clone()))
    }

    fn proctype_named(&self, name: &str) -> Option<FunctionId> {
        self.names.proctypes.get(name).copied()
    }

    fn collect_proctypes(&mut self, model: &ast::Model) {
        for unit in &model.units {
            let (name, span, params, active) = match unit {
                ast::Unit::Proctype(p) => {
                    let active = match &p.active {
                        None => 0,
                        Some(active) => match &active.count {
                            None => 1,
                            Some(count) => self.initial_in(count, 0, 255, "the number of processes") as u32,
                        },
                    };
                    (p.name.name.clone(), p.name.span, p.params.as_slice(), active)
                }
                ast::Unit::Function(f) => (f.name.name.clone(), f.name.span, f.params.as_slice(), 0),
                ast::Unit::Init(init) => (INIT.into(), init.span, &[][..], 1),
                _ => continue,
            };
            if let Some(known) = self.proctype_named(&name) {
                let first = self.proctypes[known.0 as usize].span;
                let what = if name == INIT {
                    "a second `init`".into()
                } else {
                    format!("a second proctype `{name}`")
                };
                self.report(Diagnostic::error(span, what).related(first, "the first one is here"));
                continue;
            }
            let mut types = Vec::new();
            for declaration in params {
                for variable in &declaration.variables {
                    let ty = self.type_of(&declaration.ty, variable);
                    self.check_parameter(&ty, variable.span, matches!(unit, ast::Unit::Function(_)));
                    self.flatten(&ty, &mut types);
                }
            }
            let returns = match unit {
                ast::Unit::Function(f) => f.returns.as_ref().map(|ty| self.scalar_type(ty)),
                _ => None,
            };
            let id = FunctionId(self.proctypes.len() as u32);
            self.program.initial.extend(std::iter::repeat_n(id, active as usize));
            self.names.proctypes.insert(name.clone(), id);
            self.proctypes.push(ProctypeInfo {
                name,
                params: types,
                labels: Vec::new(),
                is_function: matches!(unit, ast::Unit::Function(_)),
                returns,
                span,
            });
        }
        // Bodies are put in place as they are translated.
        let span = |p: &ProctypeInfo| p.span;
        self.program.functions = self
            .proctypes
            .iter()
            .map(|p| Function {
                name: p.name.clone(),
                params: 0,
                locals: Vec::new(),
                dead_at_start: Vec::new(),
                catches: Vec::new(),
                locations: Vec::new(),
                entry: LocationId(0),
                provided: None,
                priority: 1,
                span: span(p),
            })
            .collect();
    }

    fn proctype(&mut self, id: FunctionId, p: &ast::Proctype) {
        self.body(
            id,
            &p.name.name,
            &p.params,
            &p.body,
            p.span,
            p.end,
            p.provided.as_ref(),
            p.priority.as_ref(),
        );
        // Two ways on from one place, besides an `else`: whether both can be taken at once is not known.
        let ways = |l: &Location| {
            l.transformations.iter().filter(|t| !matches!(t.operation, Operation::Else)).count()
        };
        let chooses = self.program.functions[id.0 as usize].locations.iter().any(|l| ways(l) > 1);
        if p.deterministic && chooses {
            self.report(
                Diagnostic::warning(p.name.span, "that this process is deterministic is not checked")
                    .help("D_proctype is read as proctype")
                    .unchecked(Unchecked::Determinism, "determinism (D_proctype)"),
            );
        }
    }

    fn body(
        &mut self,
        id: FunctionId,
        name: &str,
        params: &[ast::Declaration],
        sequence: &ast::Sequence,
        span: Span,
        end: Span,
        provided: Option<&ast::Expr>,
        priority: Option<&ast::Expr>,
    ) {
        self.current = Some(Body {
            name: name.into(),
            locals: Vec::new(),
            scopes: vec![Scope::default()],
            declarations_first: true,
            observes: false,
        });
        for declaration in params {
            for variable in &declaration.variables {
                if let Some(init) = &variable.init {
                    let span = match init {
                        ast::Initialiser::Expr(e) => e.span,
                        ast::Initialiser::List(_, span) => *span,
                        ast::Initialiser::Channel(c) => c.span,
                    };
                    self.error(span, "a parameter has no initial value: `run` gives it");
                }
                self.declare_parameter(&declaration.ty, variable);
            }
        }
        let param_count = self.locals().len();
        self.declare_own_id(name, span);
        let provided = provided.map(|e| self.expr(e));
        let priority = priority.map_or(1, |e| self.constant_in(e, 1, 255, "a priority"));
        let flow = self.elements(sequence, end);
        let flow::Control { locations, entry, labels, dead, numbers, made } = flow::control(flow, self);
        self.numbered.push(Numbered { unit: self.unit, function: Some(id), numbers, made });
        self.program.dead.extend(dead.into_iter().map(|(span, text)| (id, span, text)));
        let Some(body) = self.current.take() else { return };
        self.proctypes[id.0 as usize].labels = labels;
        self.program.functions[id.0 as usize] = Function {
            name: name.into(),
            params: param_count,
            locals: body.locals,
            dead_at_start: Vec::new(),
            catches: Vec::new(),
            locations,
            entry,
            provided,
            priority,
            span,
        };
    }

    fn locals(&self) -> &[quotient_program::Variable] {
        self.current.as_ref().map_or(&[], |b| &b.locals)
    }

    fn trace(&mut self, trace: &ast::Trace) {
        if self.program.observer.is_some() {
            self.error(trace.span, "a second `trace` or `notrace`: there can be only one");
            return;
        }
        let name = trace.name.as_ref().map_or_else(|| "trace".to_owned(), |n| n.name.clone());
        self.current = Some(Body {
            name: name.clone(),
            locals: Vec::new(),
            scopes: vec![Scope::default()],
            declarations_first: true,
            observes: true,
        });
        let flow = self.elements(&trace.body, trace.end);
        let flow::Control { locations, entry, made, .. } = flow::control(flow, self);
        self.numbered.push(Numbered::other(self.unit, made));
        let body = self.current.take();
        self.program.observer = Some(Observer {
            negated: trace.negated,
            function: Function {
                name,
                params: 0,
                locals: body.map_or_else(Vec::new, |b| b.locals),
                dead_at_start: Vec::new(),
                catches: Vec::new(),
                locations,
                entry,
                provided: None,
                priority: 1,
                span: trace.span,
            },
        });
        self.check_observer();
    }

    /// An observer only waits for channel operations.
    fn check_observer(&mut self) {
        let Some(observer) = &self.program.observer else { return };
        let mut wrong = Vec::new();
        for t in observer.function.locations.iter().flat_map(|l| &l.transformations) {
            if !matches!(t.operation, Operation::Event { .. } | Operation::Exit) {
                wrong.push(t.span);
            }
        }
        for span in wrong {
            self.report(
                Diagnostic::error(span, "a trace can only contain sends, receives and control flow")
                    .help("a choice must begin with a send or a receive"),
            );
        }
    }

    /// Finds the locations of the labels that expressions refer to, once all bodies are translated.
    fn resolve_labels(&mut self) {
        for (index, label) in std::mem::take(&mut self.label_names).into_iter().enumerate() {
            let info = &self.proctypes[self.program.labels[index].function.0 as usize];
            // Labels of an expanded inline have a suffix; a plain name finds the first of them.
            let name = &label.name;
            let exact = info.labels.iter().find(|(known, _)| known == name);
            let found =
                exact.or_else(|| info.labels.iter().find(|(known, _)| known.split('#').next() == Some(name)));
            match found {
                Some((_, location)) => self.program.labels[index].location = *location,
                None => {
                    let message = format!("proctype `{}` has no label `{name}`", info.name);
                    let labels: Vec<_> = info.labels.iter().map(|(l, _)| format!("`{l}`")).collect();
                    let mut diagnostic = Diagnostic::error(label.span, message);
                    if !labels.is_empty() {
                        diagnostic = diagnostic.help(format!("its labels are {}", labels.join(", ")));
                    }
                    self.report(diagnostic);
                }
            }
        }
    }

    fn integer(name: &ast::TypeName) -> Option<IntType> {
        Some(match name {
            ast::TypeName::Bit | ast::TypeName::Bool => IntType::BIT,
            ast::TypeName::Byte | ast::TypeName::Pid => IntType::BYTE,
            ast::TypeName::Short => IntType::SHORT,
            ast::TypeName::Int => IntType::INT,
            _ => return None,
        })
    }
}

/// The name of the `init` process.
pub(crate) const INIT: &str = ":init:";
