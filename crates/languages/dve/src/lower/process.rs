//! Processes: functions with one location for each state.

use std::collections::{HashMap, HashSet};

use quotient_program::{
    Action, BinaryOp, Expr, Function, FunctionId, Label, LabelId, Location, LocationId, Operation, Place,
    Projection, Root, Transformation,
};

use super::{Assertion, At, Lower};
use crate::ast::{self, Name};
use crate::print;

impl Lower<'_> {
    /// The bodies of all processes; gives that of the property process.
    pub(super) fn bodies(&mut self) -> Option<Function> {
        let system = self.system;
        // Which function runs which text. Names of processes that stand in it are part of it.
        let mut functions: HashMap<String, FunctionId> = HashMap::new();
        let mut first: Vec<&ast::Process> = Vec::new();
        let mut property = None;
        for process in &system.processes {
            let declared = self.processes.get(&process.name.text);
            if declared.is_none_or(|p| p.states.is_empty()) {
                continue;
            }
            if self.is_property(process) {
                property = Some(process);
                continue;
            }
            let mut text = String::new();
            print::body(process, &mut text);
            if asks_for_states(process) {
                // What `P.s` means in an effect depends on whose effect it is.
                text += &process.name.text;
            }
            let new = FunctionId(first.len() as u32);
            let function = *functions.entry(text).or_insert(new);
            if function == new {
                first.push(process);
            }
            self.program.initial.push(function);
            self.program.names.push(process.name.text.to_string());
            if let Some(known) = self.processes.get_mut(&process.name.text) {
                known.function = function;
            }
        }
        // Variables of all processes are known before the first expression: the property process reads them.
        let mut locals = Vec::new();
        for process in &system.processes {
            let own = self.locals(process);
            if first.iter().any(|p| p.name.span == process.name.span) {
                locals.push(own);
            }
        }
        for (process, locals) in first.into_iter().zip(locals) {
            let mut function = self.function(process, locals, false);
            let id = FunctionId(self.program.functions.len() as u32);
            let run_by = self.program.names.iter().zip(&self.program.initial).filter(|(_, f)| **f == id);
            function.name = common_name(run_by.map(|(name, _)| name.as_str()).collect());
            self.program.functions.push(function);
        }
        property.map(|process| self.property(process))
    }

    fn is_property(&self, process: &ast::Process) -> bool {
        self.system.property.as_ref().is_some_and(|p| p.text == process.name.text)
    }

    fn property(&mut self, process: &ast::Process) -> Function {
        if let Some(variable) = process.variables.iter().find(|v| !v.constant) {
            self.error(variable.name.span, "the property process has a variable, which is not supported")
                .help("use more states instead");
        }
        if let Some(state) = process.commit.first() {
            self.error(state.span, "a committed state in the property process")
                .help("it moves together with the others");
        }
        if let Some((state, _)) = process.asserts.first() {
            self.error(state.span, "an assertion in the property process")
                .help("put it into one of the processes that it watches");
        }
        for t in &process.transitions {
            if let Some(sync) = &t.sync {
                self.error(sync.span, "the property process synchronises, which is not supported")
                    .help("let it watch the states of processes: `guard P.s;`");
            }
            if let Some(effect) = t.effects.first() {
                self.error(effect.target.span, "the property process has an effect, which is not supported")
                    .help("use more states instead");
            }
        }
        self.function(process, Vec::new(), true)
    }

    /// The state with a name.
    fn state(&mut self, process: &ast::Process, name: &Name) -> Option<u32> {
        let states = &self.processes.get(&process.name.text)?.states;
        let found = states.get(&name.text).copied();
        if found.is_none() {
            let known = states.keys().cloned().collect();
            self.unknown(name, format!("`{}` has no state `{}`", process.name.text, name.text), known);
        }
        found
    }

    fn function(
        &mut self,
        process: &ast::Process,
        locals: Vec<quotient_program::Variable>,
        property: bool,
    ) -> Function {
        let mut locations: Vec<Location> = process.states.iter().map(location).collect();
        for state in &process.accept {
            if let Some(state) = self.state(process, state) {
                locations[state as usize].accept = property;
            }
        }
        if let (Some(state), false) = (process.accept.first(), property) {
            self.warning(state.span, "accepting states have no meaning here")
                .help("only those of the process after `property` have");
        }
        for state in &process.commit {
            if let Some(state) = self.state(process, state) {
                locations[state as usize].committed = true;
            }
        }
        let entry = process.init.as_ref().and_then(|init| self.state(process, init)).unwrap_or(0);
        for t in &process.transitions {
            let (from, to) = (self.state(process, &t.from), self.state(process, &t.to));
            let transformation = self.transformation(process, t, property);
            if let (Some(from), Some(to)) = (from, to) {
                let target = Some(LocationId(to));
                locations[from as usize].transformations.push(Transformation { target, ..transformation });
            }
        }
        Function {
            name: process.name.text.to_string(),
            params: 0,
            locals,
            dead_at_start: Vec::new(),
            locations,
            catches: Vec::new(),
            entry: LocationId(entry),
            provided: None,
            priority: 1,
            span: process.span,
        }
    }

    fn transformation(
        &mut self,
        process: &ast::Process,
        t: &ast::Transition,
        foreign: bool,
    ) -> Transformation {
        let at = At { process: Some(&process.name.text), foreign, effect: None };
        let guard = t.guard.as_ref().map(|e| Expr::Spanned(Box::new(self.expr(e, at)), e.span));
        let operation = match (&t.sync, guard) {
            (Some(sync), guard) => self.sync(t, sync, guard, at),
            (None, Some(guard)) => Operation::When(guard),
            (None, None) => Operation::Always,
        };
        let at = At { effect: Some(t), ..at };
        let mut actions = Vec::new();
        for effect in &t.effects {
            let value = self.expr(&effect.value, at);
            if let Some(place) = self.target(&effect.target, at) {
                actions.push(Action::Assign(place, value));
            }
        }
        let (span, text) = (t.span, self.text(t.span));
        Transformation { operation, actions, target: None, keeps_control: false, rank: 0, span, text }
    }

    /// Assertions in states, as expressions that hold in every state of the system: no process with this body is in that state
    /// while its assertion does not hold.
    pub(super) fn assertions(&mut self) -> Vec<Assertion> {
        let system = self.system;
        let mut done: HashSet<FunctionId> = HashSet::new();
        let mut assertions = Vec::new();
        for process in &system.processes {
            let Some(known) = self.processes.get(&process.name.text) else { continue };
            let function = known.function;
            if self.is_property(process) || process.asserts.is_empty() || !done.insert(function) {
                continue;
            }
            let name = self.program.functions.get(function.0 as usize).map_or("", |f| &f.name).to_owned();
            for (state, e) in &process.asserts {
                let Some(location) = self.state(process, state) else { continue };
                let at = At { process: Some(&process.name.text), ..At::default() };
                let value = outside(function, self.expr(e, at));
                let label = LabelId(self.program.labels.len() as u32);
                self.program.labels.push(Label { function, location: LocationId(location) });
                let here = Expr::At { thread: Box::new(Expr::Bound(0)), label };
                let wrong = Expr::Binary(BinaryOp::And, Box::new(here), Box::new(value.negated()));
                let count = Expr::Count { function, body: Box::new(wrong) };
                let holds = Expr::Binary(BinaryOp::Eq, Box::new(count), Box::new(Expr::Const(0)));
                let place = format!("{name}.{}", state.text);
                assertions.push(Assertion { place, span: state.span.to(e.span), holds });
            }
        }
        assertions
    }
}

/// Is the state of a process asked for in an effect?
fn asks_for_states(process: &ast::Process) -> bool {
    let mut found = false;
    let effects = process.transitions.iter().flat_map(|t| &t.effects);
    for e in effects.flat_map(|e| [&e.target, &e.value]) {
        e.walk(&mut |e| found |= matches!(e.kind, ast::ExprKind::Of(..)));
    }
    found
}

/// A name for what these processes run: what their names have in common, without numbers.
fn common_name(names: Vec<&str>) -> String {
    let Some((first, others)) = names.split_first() else { return String::new() };
    if others.is_empty() {
        return (*first).to_owned();
    }
    let alike = |length: &usize| others.iter().all(|o| o.get(..*length) == first.get(..*length));
    // Names are ASCII.
    let length = (0..=first.len()).rev().find(alike).unwrap_or(0);
    match first[..length].trim_end_matches(|c: char| c.is_ascii_digit() || c == '_') {
        "" => names.join("/"),
        common => common.to_owned(),
    }
}

fn location(state: &Name) -> Location {
    Location { labels: vec![state.text.to_string()], ..Location::new(state.span) }
}

/// Replaces the locals of a process by what others see of them, who look at [`Expr::Bound`].
fn outside(function: FunctionId, e: Expr) -> Expr {
    let again = |e: Box<Expr>| Box::new(outside(function, *e));
    match e {
        Expr::Load(Place { root, path, ty, span }) => {
            let root = match root {
                Root::Local(variable) => {
                    Root::Remote { thread: Box::new(Expr::Bound(0)), function, variable }
                }
                other => other,
            };
            let path = path
                .into_iter()
                .map(|p| match p {
                    Projection::Index(e) => Projection::Index(outside(function, e)),
                    other => other,
                })
                .collect();
            Expr::Load(Place { root, path, ty, span })
        }
        Expr::Unary(op, a) => Expr::Unary(op, again(a)),
        Expr::Binary(op, a, b) => Expr::Binary(op, again(a), again(b)),
        Expr::Spanned(a, span) => Expr::Spanned(again(a), span),
        // DVE has no other expressions with parts that a process owns.
        other => other,
    }
}
