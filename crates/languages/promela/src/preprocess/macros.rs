//! Macro definitions.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use quotient_source::{Diagnostic, Span};

use crate::token::{Kind, Token};

/// The definition of a macro.
#[derive(Debug)]
pub(crate) struct Macro {
    /// Its name where it is defined.
    pub span: Span,
    /// Parameters of a function-like macro.
    pub parameters: Option<Vec<Rc<str>>>,
    /// Whether the last parameter takes all remaining arguments.
    pub variadic: bool,
    /// The replacement.
    pub body: Vec<Token>,
    /// Defined on the command line: definitions in files do not count.
    pub outside: bool,
    /// Was it expanded, or asked for by `#ifdef` and the like? A definition from outside that never was has no effect.
    pub used: Cell<bool>,
}

impl Macro {
    /// Whether two definitions mean the same, as C understands it.
    pub fn same_as(&self, other: &Macro) -> bool {
        self.parameters == other.parameters
            && self.variadic == other.variadic
            && self.body.len() == other.body.len()
            && self.body.iter().zip(&other.body).all(|(a, b)| a.kind == b.kind)
    }
}

/// The macros defined at some point.
#[derive(Clone, Debug, Default)]
pub(crate) struct MacroTable {
    by_name: HashMap<Rc<str>, Rc<Macro>>,
}

impl MacroTable {
    pub fn insert(&mut self, name: Rc<str>, definition: Rc<Macro>) {
        self.by_name.insert(name, definition);
    }

    pub fn get(&self, name: &str) -> Option<&Rc<Macro>> {
        self.by_name.get(name)
    }

    /// Is the macro defined? Asking is a use of it.
    pub fn is_defined(&self, name: &str) -> bool {
        self.get(name).inspect(|m| m.used.set(true)).is_some()
    }

    /// Definitions from outside that were never used: name and place, by name.
    pub fn unused(&self) -> Vec<(&str, Span)> {
        let unused = self.by_name.iter().filter(|(_, m)| m.outside && !m.used.get());
        let mut unused: Vec<(&str, Span)> = unused.map(|(name, m)| (&**name, m.span)).collect();
        unused.sort_by_key(|(name, _)| *name);
        unused
    }

    /// Forgets a macro, unless it was defined from outside.
    pub fn remove(&mut self, name: &str) {
        if self.get(name).is_some_and(|m| !m.outside) {
            self.by_name.remove(name);
        }
    }
}

/// Reads what follows `#define`.
pub(crate) fn parse_definition(line: &[Token]) -> Result<Macro, Diagnostic> {
    let name = &line[0];
    let is_function = line.get(1).is_some_and(|t| t.is("(") && !t.space);
    let mut definition = Macro {
        span: name.span,
        parameters: None,
        variadic: false,
        body: Vec::new(),
        outside: false,
        used: Cell::new(false),
    };
    let mut at = 1;
    if is_function {
        let close = line.iter().position(|t| t.is(")"));
        let words = line.get(2..close.unwrap_or(2)).unwrap_or(&[]);
        let Some(parameters) = close.and(parse_parameters(words, &mut definition.variadic)) else {
            return Err(Diagnostic::error(line[1].span, "the parameters of this macro cannot be read")
                .help("write names separated by commas: `#define MAX(a, b) …`"));
        };
        definition.parameters = Some(parameters);
        at = close.unwrap_or(1) + 1;
    }
    definition.body = line[at..].to_vec();
    Ok(definition)
}

fn parse_parameters(words: &[Token], variadic: &mut bool) -> Option<Vec<Rc<str>>> {
    let mut names: Vec<Rc<str>> = Vec::new();
    if words.is_empty() {
        return Some(names);
    }
    for group in words.split(|t| t.is(",")) {
        if *variadic {
            return None;
        }
        match group {
            [Token { kind: Kind::Word(name), .. }] if !names.contains(name) => names.push(name.clone()),
            [dots, dot] if dots.is("..") && dot.is(".") => {
                *variadic = true;
                names.push("__VA_ARGS__".into());
            }
            _ => return None,
        }
    }
    Some(names)
}
