//! Variables, channels, and the names of processes and states.

use std::collections::HashMap;
use std::rc::Rc;

use quotient_program::{
    ChannelType, ChannelTypeId, Expr, Init, IntType, RangeType, Type, Variable, VariableId,
};
use quotient_source::Span;

use super::{At, Channel, Item, Lower, Process};
use crate::ast::{self, Name};

/// Most elements of an array.
const MOST_ELEMENTS: i32 = 100_000;

/// Most messages in a channel.
const MOST_MESSAGES: i32 = 255;

/// The program's type for one of DVE.
pub(super) fn range(ty: ast::Type) -> Type {
    let (low, high) = ty.bounds();
    Type::Range(RangeType { low, high, wrap: false })
}

impl Lower<'_> {
    /// Everything that has a name.
    pub(super) fn declare(&mut self) {
        let system = self.system;
        for variable in &system.variables {
            if let Some((item, declared)) = self.variable(variable, At::default()) {
                let place = declared.map(|v| (false, self.add_global(v)));
                self.globals.insert(variable.name.text.clone(), Item { place, ..item });
            }
        }
        self.declare_channels();
        let mut threads = 0;
        for process in &system.processes {
            let property = system.property.as_ref().is_some_and(|p| p.text == process.name.text);
            let thread = (!property).then_some(threads);
            threads += u32::from(!property);
            let name = &process.name;
            if let Some(other) = self.declared(name) {
                self.duplicate(name, other);
                continue;
            }
            let states = self.states(process);
            self.processes.insert(name.text.clone(), Process { thread, states, ..Process::default() });
        }
        if let Some(property) = &system.property
            && !self.processes.contains_key(&property.text)
        {
            let known = self.processes.keys().cloned().collect();
            self.unknown(property, format!("there is no process `{}`", property.text), known);
        }
        if threads == 0 && !self.diagnostics.has_errors() {
            let at = system.property.as_ref().map(|p| p.span);
            let at = at.or_else(|| self.sources.files().next().map(|f| self.sources.end(f)));
            at.into_iter().for_each(|span| drop(self.error(span, "the system has no process")));
        }
    }

    fn add_global(&mut self, variable: Variable) -> VariableId {
        self.program.globals.push(variable);
        VariableId(self.program.globals.len() as u32 - 1)
    }

    fn duplicate(&mut self, name: &Name, other: Span) {
        self.error(name.span, format!("`{}` is declared twice", name.text)).related(other, "first here");
    }

    /// Where a global name was declared before.
    fn declared(&self, name: &Name) -> Option<Span> {
        let process = self.system.processes.iter().find(|p| {
            p.name.text == name.text && p.name.span != name.span && self.processes.contains_key(&name.text)
        });
        let variable = self.globals.get(&name.text).map(|i| i.span);
        variable.or_else(|| self.channels.get(&name.text).map(|c| c.span)).or(process.map(|p| p.name.span))
    }

    fn states(&mut self, process: &ast::Process) -> HashMap<Rc<str>, u32> {
        let mut states = HashMap::new();
        for state in &process.states {
            let number = states.len() as u32;
            if let Some(before) = states.insert(state.text.clone(), number) {
                let other = process.states[before as usize].span;
                self.duplicate(state, other);
            }
        }
        if process.states.is_empty() {
            self.error(process.span, format!("`{}` has no states", process.name.text))
                .help("list them: `state a, b;`");
        } else if process.init.is_none() {
            self.error(process.span, format!("`{}` has no initial state", process.name.text))
                .help(format!("name it: `init {};`", process.states[0].text));
        }
        states
    }

    /// The variables of a process: those that go into the function.
    pub(super) fn locals(&mut self, process: &ast::Process) -> Vec<Variable> {
        let mut locals = Vec::new();
        for variable in &process.variables {
            let at = At { process: Some(&process.name.text), ..At::default() };
            let Some((item, declared)) = self.variable(variable, at) else { continue };
            let place = declared.map(|mut v| {
                if variable.constant {
                    // An array of constants is the same for everybody.
                    v.name = format!("{}.{}", process.name.text, v.name);
                    (false, self.add_global(v))
                } else {
                    locals.push(v);
                    (true, VariableId(locals.len() as u32 - 1))
                }
            });
            if let Some(known) = self.processes.get_mut(&process.name.text) {
                known.variables.insert(variable.name.text.clone(), Item { place, ..item });
            }
        }
        locals
    }

    /// A variable or constant, and what the program needs for it.
    fn variable(&mut self, v: &ast::Variable, at: At<'_>) -> Option<(Item, Option<Variable>)> {
        let name = &v.name;
        let own = at.process.and_then(|p| self.processes.get(p)).and_then(|p| p.variables.get(&name.text));
        match (own.map(|i| i.span), self.declared(name)) {
            (Some(other), _) => {
                self.duplicate(name, other);
                return None;
            }
            (None, Some(other)) if at.process.is_none() => {
                self.duplicate(name, other);
                return None;
            }
            (None, Some(other)) => {
                self.warning(name.span, format!("`{}` hides a global one of the same name", name.text))
                    .related(other, "declared here");
            }
            (None, None) => {}
        }
        let length = match &v.length {
            None => None,
            Some(e) => match self.constant(e, at)? {
                length @ 1..=MOST_ELEMENTS => Some(length as u32),
                length => {
                    self.error(e.span, format!("an array of {length} elements"))
                        .help(format!("an array has 1 to {MOST_ELEMENTS} elements"));
                    return None;
                }
            },
        };
        let values = self.initial_values(v, length, at)?;
        let span = name.span;
        let constant = v.constant.then(|| Rc::from(values.clone()));
        let item = Item { ty: v.ty, length, constant, place: None, span };
        if v.constant && length.is_none() {
            return Some((item, None));
        }
        let (ty, init) = match length {
            None => (range(v.ty), Init::Fill(Expr::Const(values[0]))),
            Some(length) => {
                let init = match values.iter().all(|value| *value == values[0]) {
                    true => Init::Fill(Expr::Const(values[0])),
                    false => Init::List(values.into_iter().map(Expr::Const).collect()),
                };
                (Type::Array(Box::new(range(v.ty)), length), init)
            }
        };
        Some((item, Some(Variable { name: name.text.to_string(), ty, init, scratch: false, span })))
    }

    fn initial_values(&mut self, v: &ast::Variable, length: Option<u32>, at: At<'_>) -> Option<Vec<i32>> {
        let name = &v.name.text;
        let exprs: &[ast::Expr] = match (&v.init, length) {
            (None, _) if v.constant => {
                self.error(v.name.span, format!("the constant `{name}` has no value"))
                    .help(format!("give it one: `{name} = 1`"));
                return None;
            }
            (None, _) => &[],
            (Some(ast::Init::One(e)), None) => std::slice::from_ref(e),
            (Some(ast::Init::List(list)), Some(_)) => list,
            (Some(ast::Init::One(e)), Some(_)) => {
                self.error(e.span, format!("`{name}` is an array")).help("write its values in braces");
                return None;
            }
            (Some(ast::Init::List(list)), None) => {
                self.error(list[0].span, format!("`{name}` is not an array")).help("write one value");
                return None;
            }
        };
        let length = length.unwrap_or(1) as usize;
        if let Some(more) = exprs.get(length) {
            self.warning(more.span, format!("`{name}` has only {length} elements; the rest is not used"));
        }
        let mut values = Vec::with_capacity(length);
        for e in exprs.iter().take(length) {
            let value = self.constant(e, at)?;
            let (low, high) = v.ty.bounds();
            if !(low..=high).contains(&value) {
                self.error(e.span, format!("{value} does not fit into `{name}`"))
                    .help(format!("a {} is from {low} to {high}", v.ty.name()));
                return None;
            }
            values.push(value);
        }
        values.resize(length, 0);
        Some(values)
    }

    fn declare_channels(&mut self) {
        for channel in &self.system.channels {
            let name = &channel.name;
            if let Some(other) = self.declared(name) {
                self.duplicate(name, other);
                continue;
            }
            let capacity = channel.capacity.unwrap_or(0);
            if capacity > MOST_MESSAGES {
                self.error(name.span, format!("`{}` holds {capacity} messages", name.text))
                    .help(format!("a channel holds at most {MOST_MESSAGES}"));
                continue;
            }
            let fields = match &channel.types {
                Some(types) => types
                    .iter()
                    .map(|ty| match ty {
                        ast::Type::Byte => Type::Int(IntType::BYTE),
                        ast::Type::Int => Type::Int(IntType::SHORT),
                    })
                    .collect(),
                None => vec![Type::Int(IntType::INT); self.values(name)],
            };
            let kind = ChannelType { capacity: capacity as u32, fields };
            let known = self.program.channel_types.iter().position(|k| *k == kind);
            let at = known.unwrap_or_else(|| {
                self.program.channel_types.push(kind);
                self.program.channel_types.len() - 1
            });
            let kind = ChannelTypeId(at as u32);
            let variable = self.add_global(Variable {
                name: name.text.to_string(),
                ty: Type::Channel,
                init: Init::Channels(kind),
                scratch: false,
                span: name.span,
            });
            let buffered = capacity > 0;
            self.channels.insert(name.text.clone(), Channel { variable, kind, buffered, span: name.span });
        }
    }

    /// How many values a message of a channel without types has: as many as the first transition that uses it says.
    fn values(&self, name: &Name) -> usize {
        let transitions = self.system.processes.iter().flat_map(|p| &p.transitions);
        let mut syncs = transitions.filter_map(|t| t.sync.as_ref());
        syncs.find(|s| s.channel.text == name.text).map_or(0, |s| s.values.len())
    }
}
