//! Syntax tree to program.
//!
//! A process is a function with one location for each of its states, and its thread has the number of the process (the
//! property process is not counted). Processes whose bodies are the same text share a function, so that they are
//! interchangeable. Variables are ranges whose bounds a value must not leave. The property process becomes a claim; an
//! assertion in a state becomes an invariant.

mod constant;
mod declaration;
mod expression;
mod process;
mod sync;

use std::collections::HashMap;
use std::rc::Rc;

use quotient_program::{ChannelTypeId, Expr, Function, FunctionId, Program, VariableId};
use quotient_source::{Diagnostic, Diagnostics, SourceMap, Span};

use crate::ast::{self, Name, System};

/// What a system is translated to.
#[derive(Debug)]
pub struct Lowered {
    /// The processes.
    pub program: Program,
    /// The property process: no run may pass its accepting states for ever.
    pub property: Option<Function>,
    /// Assertions in states.
    pub assertions: Vec<Assertion>,
    /// The propositions that were asked for.
    pub propositions: Vec<Expr>,
    /// Errors and warnings. With errors, the rest must not be used.
    pub diagnostics: Diagnostics,
}

/// An assertion in a state of a process: true in every state of the system.
#[derive(Debug)]
pub struct Assertion {
    /// The process and its state, as `P.s`.
    pub place: String,
    /// Where it stands.
    pub span: Span,
    /// The process is not there, or the expression holds.
    pub holds: Expr,
}

/// What a name of a variable or constant stands for.
#[derive(Clone, Debug)]
struct Item {
    /// Its type.
    ty: ast::Type,
    /// Elements, for an array.
    length: Option<u32>,
    /// Its values, if it is a constant.
    constant: Option<Rc<[i32]>>,
    /// Where it is; a scalar constant is nowhere.
    place: Option<(bool, VariableId)>,
    /// Where it is declared.
    span: Span,
}

/// A channel.
#[derive(Debug)]
struct Channel {
    /// The variable that holds it.
    variable: VariableId,
    kind: ChannelTypeId,
    /// It holds messages.
    buffered: bool,
    span: Span,
}

/// A process.
#[derive(Debug, Default)]
struct Process {
    /// Its thread; `None` for the property process.
    thread: Option<u32>,
    /// What it runs.
    function: FunctionId,
    states: HashMap<Rc<str>, u32>,
    variables: HashMap<Rc<str>, Item>,
}

struct Lower<'a> {
    system: &'a System,
    sources: &'a SourceMap,

    program: Program,
    diagnostics: Diagnostics,
    globals: HashMap<Rc<str>, Item>,
    channels: HashMap<Rc<str>, Channel>,
    processes: HashMap<Rc<str>, Process>,
}

/// Where an expression stands.
#[derive(Clone, Copy, Debug, Default)]
struct At<'a> {
    /// The process; `None` for propositions.
    process: Option<&'a str>,
    /// Variables of other processes may be read: in the property process and in propositions.
    foreign: bool,
    /// The transition whose effect it is part of.
    effect: Option<&'a ast::Transition>,
}

/// Translates a system. `propositions` are asked about its states.
pub fn lower(system: &System, propositions: &[&ast::Expr], sources: &SourceMap) -> Lowered {
    let mut lower = Lower {
        system,
        sources,
        program: Program::default(),
        diagnostics: Diagnostics::new(),
        globals: HashMap::new(),
        channels: HashMap::new(),
        processes: HashMap::new(),
    };
    lower.program.features.receiver_first = true;
    if let Some(span) = system.synchronous {
        lower
            .error(span, "synchronous systems are not supported")
            .help("write `system async;`: one process moves at a time, or two that synchronise");
    }
    lower.declare();
    let property = lower.bodies();
    let assertions = lower.assertions();
    lower.conflicts();
    let whole = At { foreign: true, ..At::default() };
    let propositions = propositions.iter().map(|e| lower.expr(e, whole)).collect();
    let Lower { program, diagnostics, .. } = lower;
    Lowered { program, property, assertions, propositions, diagnostics }
}

/// A diagnostic that is added when nothing more is said about it.
struct Adding<'a>(&'a mut Diagnostics, Option<Diagnostic>);

impl Adding<'_> {
    fn help(mut self, help: impl Into<String>) -> Self {
        self.1 = self.1.take().map(|d| d.help(help));
        self
    }

    fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.1 = self.1.take().map(|d| d.related(span, label));
        self
    }
}

impl Drop for Adding<'_> {
    fn drop(&mut self) {
        self.1.take().into_iter().for_each(|d| self.0.push(d));
    }
}

impl Lower<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>) -> Adding<'_> {
        Adding(&mut self.diagnostics, Some(Diagnostic::error(span, message)))
    }

    fn warning(&mut self, span: Span, message: impl Into<String>) -> Adding<'_> {
        Adding(&mut self.diagnostics, Some(Diagnostic::warning(span, message)))
    }

    /// Reports a name that stands for nothing, with the most similar one that stands for something.
    fn unknown(&mut self, name: &Name, message: String, known: Vec<Rc<str>>) {
        let close = known.into_iter().filter_map(|k| distance(&name.text, &k).map(|d| (d, k))).min();
        let error = self.error(name.span, message);
        if let Some((_, close)) = close {
            error.help(format!("did you mean `{close}`?"));
        }
    }

    /// The variable or constant with a name, as seen from a process.
    fn item(&self, name: &str, at: At<'_>) -> Option<&Item> {
        let own = at.process.and_then(|p| self.processes.get(p)).and_then(|p| p.variables.get(name));
        own.or_else(|| self.globals.get(name))
    }

    /// What the user wrote, on one line.
    fn text(&self, span: Span) -> String {
        self.sources.slice(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// How many letters differ, if they are few.
fn distance(a: &str, b: &str) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(40).collect(), b.chars().take(40).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    let least = row[b.len()];
    (least <= 2 && least < a.len().max(2)).then_some(least)
}
