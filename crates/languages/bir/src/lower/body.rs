//! Bodies of threads and functions, and those that consist of locations.

use std::collections::HashMap;
use std::rc::Rc;

use quotient_program::{
    Action, Catch, Expr, FunctionId, Location, LocationId, Operation, Transformation, VariableId,
};
use quotient_source::Span;

use super::action::Ending;
use super::operator::and;
use super::types::Ty;
use super::{Item, Lower, Scope};
use crate::ast::{self, Body, Jump, Work};

/// A transformation.
pub(super) fn step(
    guard: Option<Expr>,
    actions: Vec<Action>,
    target: Option<LocationId>,
    span: Span,
) -> Transformation {
    let operation = match guard {
        None => Operation::Always,
        Some(guard) if guard.constant().is_some_and(|c| c != 0) => Operation::Always,
        Some(guard) => Operation::When(guard),
    };
    Transformation { operation, actions, target, keeps_control: false, rank: 0, span, text: String::new() }
}

impl Lower<'_> {
    pub(super) fn function_body(
        &mut self,
        name: &ast::Name,
        params: &[ast::Variable],
        locals: &[ast::Variable],
        body: &Body,
        is_thread: bool,
    ) {
        let id = self.function_of(name);
        let returns = id.and_then(|id| self.signatures.get(&id)).and_then(|s| s.returns.clone());
        self.scope = Scope { returns, is_thread, ..Scope::default() };
        for variable in params.iter().chain(locals) {
            self.local(variable);
        }
        self.scope.declared = self.scope.variables.len();
        let (locations, catches, entry) = match body {
            Body::Low(locations, catches) => self.low_body(locations, catches),
            Body::High(statements) => self.high_body(statements, name),
        };
        let scope = std::mem::take(&mut self.scope);
        // A name declared twice has been reported; its second body is only checked.
        let Some(FunctionId(index)) = id else { return };
        self.locals.insert(FunctionId(index), scope.locals);
        let function = &mut self.program.functions[index as usize];
        function.params = params.len();
        function.locals = scope.variables;
        function.locations = locations;
        function.catches = catches;
        function.entry = entry;
    }

    fn local(&mut self, declaration: &ast::Variable) {
        let (ty, variable) = self.declared(declaration);
        let name = &declaration.name;
        let id = VariableId(self.scope.variables.len() as u32);
        self.scope.variables.push(variable);
        if let Some((first, _)) = self.scope.locals.get(&name.text) {
            let first = self.scope.variables[first.0 as usize].span;
            self.error(name.span, format!("the variable `{}` is declared twice", name.text))
                .related(first, "first declared here");
            return;
        }
        if let Some(Item::Const(_) | Item::Enum(_)) = self.names.get(&name.text) {
            let what = self.names[&name.text].what();
            self.error(name.span, format!("the variable `{}` hides {what}", name.text))
                .help("choose another name");
        }
        self.scope.locals.insert(name.text.clone(), (id, ty));
    }

    fn low_body(
        &mut self,
        locations: &[ast::Location],
        catches: &[ast::Catch],
    ) -> (Vec<Location>, Vec<Catch>, LocationId) {
        let mut by_name: HashMap<Rc<str>, LocationId> = HashMap::new();
        let mut out = Vec::new();
        for (index, location) in locations.iter().enumerate() {
            let id = LocationId(index as u32);
            if let Some(first) = by_name.insert(location.name.text.clone(), id) {
                by_name.insert(location.name.text.clone(), first);
                self.error(
                    location.name.span,
                    format!("the location `{}` is declared twice", location.name.text),
                )
                .related(locations[first.0 as usize].name.span, "first declared here");
            }
            let mut empty = Location::new(location.name.span);
            empty.labels.push(location.name.text.to_string());
            out.push(empty);
        }
        for (index, location) in locations.iter().enumerate() {
            let forgotten = self.forgotten(location);
            for t in &location.transformations {
                let mut done = self.transformation(t, &by_name);
                if done.target.is_some() {
                    done.actions.extend(forgotten.iter().map(|v| Action::Forget(*v)));
                }
                out[index].transformations.push(done);
            }
        }
        let caught: Vec<Catch> = catches.iter().filter_map(|c| self.catch(c, &by_name, &mut out)).collect();
        self.check_live(locations, &out, &caught);
        (out, caught, LocationId(0))
    }

    /// The locals that a live set leaves out.
    fn forgotten(&mut self, location: &ast::Location) -> Vec<VariableId> {
        let Some(live) = &location.live else { return Vec::new() };
        let mut kept = Vec::new();
        for name in live {
            match self.scope.locals.get(&name.text) {
                Some((id, _)) => kept.push(*id),
                None => self.unknown(name, "local variable"),
            }
        }
        let mut all: Vec<VariableId> = self.scope.locals.values().map(|(id, _)| *id).collect();
        all.sort();
        all.retain(|v| !kept.contains(v));
        all
    }

    fn goto(&mut self, name: &ast::Name, locations: &HashMap<Rc<str>, LocationId>) -> Option<LocationId> {
        let found = locations.get(&name.text).copied();
        if found.is_none() {
            let mut near: Vec<&Rc<str>> =
                locations.keys().filter(|n| super::distance(n, &name.text) <= 2).collect();
            near.sort_by_key(|n| (super::distance(n, &name.text), n.to_string()));
            let help = match near.first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("declare it: `loc {}: …`", name.text),
            };
            self.error(name.span, format!("there is no location `{}`", name.text)).help(help);
        }
        found
    }

    fn transformation(
        &mut self,
        t: &ast::Transformation,
        locations: &HashMap<Rc<str>, LocationId>,
    ) -> Transformation {
        let mut guard = t.guard.as_ref().map(|g| self.expect(g, &Ty::Boolean));
        let (mut actions, ending) = match &t.work {
            Work::Do(list) => {
                let (actions, condition, ending) = self.actions(list);
                guard = match (guard, condition) {
                    (Some(a), Some(b)) => Some(and(a, b)),
                    (a, b) => a.or(b),
                };
                (actions, ending)
            }
            Work::Invoke(invoke) => {
                if let Jump::Return(_) = t.jump {
                    self.error(t.span, "a call must be followed by `goto`").help(
                        "the result is known when the call has returned: go on to a location that returns it",
                    );
                }
                (self.invoke(invoke).unwrap_or_default(), Ending::Normal)
            }
        };
        // The jump is checked even where it is never taken.
        let target = match &t.jump {
            Jump::Goto(name) => self.goto(name, locations),
            Jump::Return(value) => {
                let value = self.returned(value.as_ref(), t.span);
                if ending == Ending::Normal {
                    actions.push(Action::Return(value));
                }
                None
            }
        };
        let target = if ending == Ending::Exits { None } else { target };
        let mut out = step(guard, actions, target, t.span);
        out.text = self.text(t.span);
        out
    }

    /// The value of a `return`.
    pub(super) fn returned(&mut self, value: Option<&ast::Expr>, span: Span) -> Option<Expr> {
        let returns = self.scope.returns.clone();
        match (value, returns) {
            (None, None) => None,
            (Some(value), Some(ty)) => Some(self.expect(value, &ty)),
            (Some(value), None) => {
                let what = if self.scope.is_thread { "a thread" } else { "this function" };
                self.error(value.span, format!("{what} returns nothing")).help("write `return;`");
                None
            }
            (None, Some(ty)) => {
                let shown = self.show(&ty);
                self.error(span, format!("a value of type {shown} must be returned"))
                    .help("write `return x;`");
                None
            }
        }
    }

    /// A record that is caught, and the local it goes to.
    pub(super) fn caught(
        &mut self,
        record: &ast::Name,
        variable: &ast::Name,
    ) -> Option<(quotient_program::RecordId, VariableId)> {
        let id = match self.names.get(&record.text).cloned() {
            Some(Item::Record(id)) => id,
            Some(other) => {
                let what = other.what();
                self.error(record.span, format!("`{}` is {what}, not a record", record.text));
                return None;
            }
            None => {
                self.unknown(record, "record");
                return None;
            }
        };
        if !self.program.record(id).throwable {
            self.error(record.span, format!("the record `{}` is never thrown", record.text))
                .help("declare it, or one that it extends, as `throwable record`");
        }
        let Some((local, ty)) = self.scope.locals.get(&variable.text).cloned() else {
            self.unknown(variable, "local variable");
            return None;
        };
        if !self.fits(&Ty::Record(id), &ty) {
            self.mismatch(variable.span, &Ty::Record(id), &ty);
        }
        Some((id, local))
    }

    fn catch(
        &mut self,
        catch: &ast::Catch,
        locations: &HashMap<Rc<str>, LocationId>,
        out: &mut Vec<Location>,
    ) -> Option<Catch> {
        let caught = self.caught(&catch.record, &catch.variable);
        let at: Vec<LocationId> = catch.at.iter().filter_map(|l| self.goto(l, locations)).collect();
        let target = match &catch.jump {
            Jump::Goto(name) => self.goto(name, locations)?,
            Jump::Return(value) => {
                // A location of its own that does nothing but return.
                let span = catch.record.span.to(catch.variable.span);
                let value = self.returned(value.as_ref(), span);
                let mut location = Location::new(span);
                let mut t = step(None, vec![Action::Return(value)], None, span);
                t.text = "return".into();
                location.transformations.push(t);
                out.push(location);
                LocationId(out.len() as u32 - 1)
            }
        };
        let (exception, variable) = caught?;
        Some(Catch { exception, locations: at, variable: Some(variable), target })
    }
}
