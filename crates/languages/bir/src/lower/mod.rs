//! From the syntax tree to a program: names are resolved, types checked and code translated in one walk.
//!
//! Mistakes are reported and the walk goes on with something harmless, so that one run shows many of them; the program
//! is of use only when there was no error. `docs/bir.md` states the meaning that is given to every construct.

mod action;
mod body;
mod declaration;
mod expression;
mod extension;
mod fun;
mod invoke;
mod live;
mod operator;
mod proposition;
mod statement;
mod types;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use quotient_program::{
    Enumeration, EnumerationId, Extension, FunctionId, Program, RecordId, VariableId, VirtualTableId,
};
use quotient_source::{Diagnostic, Diagnostics, SourceMap, Span};

use crate::ast::{self, System};
use extension::Declared;
use types::Ty;

/// What the translation is told from outside.
#[derive(Clone, Debug, Default)]
pub struct LowerOptions {
    /// New values of constants: `N` of any block, or `Block.N`.
    pub constants: Vec<(String, String)>,
    /// Extensions beside the built-in ones.
    pub extensions: Vec<Arc<dyn Extension>>,
}

/// The translation.
#[derive(Debug)]
pub struct Lowered {
    /// The program; of use only when there is no error.
    pub program: Program,
    /// The propositions asked for.
    pub propositions: Vec<quotient_program::Expr>,
    /// What is wrong.
    pub diagnostics: Diagnostics,
}

/// Checks a system and translates it to a program.
pub fn lower(system: &System, sources: &SourceMap, options: &LowerOptions) -> Lowered {
    lower_with(system, &[], sources, options)
}

/// Checks a system and translates it to a program, with propositions about it.
pub fn lower_with(
    system: &System,
    propositions: &[&ast::Expr],
    sources: &SourceMap,
    options: &LowerOptions,
) -> Lowered {
    let mut lower = Lower::new(sources, options);
    lower.system(system);
    let propositions = propositions.iter().map(|e| lower.proposition(e)).collect();
    Lowered { program: lower.program, propositions, diagnostics: lower.diagnostics.finish() }
}

/// What a top-level name means.
#[derive(Clone, Debug)]
enum Item {
    Const(usize),
    Enum(EnumerationId),
    Record(RecordId),
    Extension(usize),
    Alias(usize),
    Global(VariableId),
    Thread(FunctionId),
    Function(FunctionId),
    Virtual(VirtualTableId),
    Fun(usize),
}

impl Item {
    fn what(&self) -> &'static str {
        match self {
            Item::Const(_) => "a block of constants",
            Item::Enum(_) => "an enumeration",
            Item::Record(_) => "a record",
            Item::Extension(_) => "an extension",
            Item::Alias(_) => "a type alias",
            Item::Global(_) => "a variable",
            Item::Thread(_) => "a thread",
            Item::Function(_) => "a function",
            Item::Virtual(_) => "a virtual table",
            Item::Fun(_) => "a fun",
        }
    }
}

/// What is known of a thread or function before its body is read.
#[derive(Clone, Debug)]
struct Signature {
    params: Vec<Ty>,
    returns: Option<Ty>,
}

/// A constant: what it is and where it stands.
#[derive(Clone, Debug)]
struct Value {
    value: i32,
    ty: Ty,
}

/// A pure function.
#[derive(Clone, Debug)]
struct Fun {
    declaration: Rc<ast::Fun>,
    params: Vec<Ty>,
    returns: Ty,
    /// Its value is free of mistakes.
    valid: bool,
}

/// The names a body sees besides the top-level ones.
#[derive(Debug, Default)]
struct Scope {
    locals: HashMap<Rc<str>, (VariableId, Ty)>,
    /// What is known of the variables, in the order of their numbers; becomes the function's.
    variables: Vec<quotient_program::Variable>,
    /// Names bound by `let` and parameters of funs, innermost last. `None` hides everything before it.
    bound: Vec<Option<(Rc<str>, quotient_program::Expr, Ty)>>,
    returns: Option<Ty>,
    is_thread: bool,
    /// How many of the variables were declared; the others belong to handlers and single steps.
    declared: usize,
}

/// The elements of a block of constants.
type Elements = HashMap<Rc<str>, Value>;

struct Lower<'a> {
    sources: &'a SourceMap,
    options: &'a LowerOptions,

    diagnostics: Collected,
    program: Program,
    names: HashMap<Rc<str>, Item>,
    spans: HashMap<Rc<str>, Span>,
    constants: Vec<(Rc<str>, Elements)>,
    aliases: Vec<ast::Alias>,
    open_aliases: Vec<usize>,
    extensions: Vec<Declared>,
    globals: Vec<Ty>,
    signatures: HashMap<FunctionId, Signature>,
    /// The local variables of threads, once their bodies have been read.
    locals: HashMap<FunctionId, HashMap<Rc<str>, (VariableId, Ty)>>,
    /// In a proposition: the threads that its quantifiers range over, by variable.
    quantified: Option<Vec<(Rc<str>, FunctionId)>>,
    funs: Vec<Fun>,
    /// How far funs and `let`s have been expanded in the expression at hand.
    expansion: fun::Expansion,
    /// A fun is being checked: its calls of funs are not expanded.
    checking_fun: bool,
    /// Some lock operation is on the top record, which arrays extend: all of them carry locks.
    lock_arrays: bool,
    array_types: Vec<Ty>,
    collection_types: Vec<(usize, Vec<Ty>)>,
    field_types: Vec<Vec<Ty>>,
    top: Option<RecordId>,
    booleans: EnumerationId,
    strings: EnumerationId,
    scope: Scope,
}

impl<'a> Lower<'a> {
    fn new(sources: &'a SourceMap, options: &'a LowerOptions) -> Lower<'a> {
        let mut program = Program::default();
        program.features.dynamic = true;
        let enumeration = |name: &str, constants: &[&str]| Enumeration {
            name: name.into(),
            constants: constants.iter().enumerate().map(|(i, n)| ((*n).to_owned(), i as i32)).collect(),
        };
        program.enumerations.push(enumeration("boolean", &["false", "true"]));
        program.enumerations.push(enumeration("string", &["null"]));
        Lower {
            sources,
            options,
            diagnostics: Collected::default(),
            program,
            names: HashMap::new(),
            spans: HashMap::new(),
            constants: Vec::new(),
            aliases: Vec::new(),
            open_aliases: Vec::new(),
            extensions: Vec::new(),
            globals: Vec::new(),
            signatures: HashMap::new(),
            locals: HashMap::new(),
            quantified: None,
            funs: Vec::new(),
            expansion: fun::Expansion::default(),
            checking_fun: false,
            lock_arrays: false,
            array_types: Vec::new(),
            collection_types: Vec::new(),
            field_types: Vec::new(),
            top: None,
            booleans: EnumerationId(0),
            strings: EnumerationId(1),
            scope: Scope::default(),
        }
    }

    /// Reports an error; more can be said through what is returned.
    fn error(&mut self, span: Span, message: impl Into<String>) -> Report<'_> {
        self.diagnostics.start(Diagnostic::error(span, message))
    }

    /// Reports a name that means nothing, with the nearest one that does.
    fn unknown(&mut self, name: &ast::Name, what: &str) {
        let locals = self.scope.locals.keys();
        let near = locals.chain(self.names.keys()).filter(|n| distance(n, &name.text) <= 2).min_by_key(|n| {
            (distance(n, &name.text), n.to_string()) // the second part only makes it deterministic
        });
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("declare the {what} first"),
        };
        self.error(name.span, format!("there is no {what} `{}`", name.text)).help(help);
    }

    /// Reports a value of the wrong type.
    fn mismatch(&mut self, span: Span, found: &Ty, expected: &Ty) {
        let (found, expected) = (self.show(found), self.show(expected));
        self.error(span, format!("expected a value of type {expected}, found {found}"));
    }

    /// The source text of a span on one line.
    fn text(&self, span: Span) -> String {
        self.sources.slice(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The messages, the last of which may still grow.
#[derive(Debug, Default)]
struct Collected {
    list: Vec<Diagnostic>,
}

impl Collected {
    fn start(&mut self, diagnostic: Diagnostic) -> Report<'_> {
        self.list.push(diagnostic);
        Report { list: &mut self.list }
    }

    fn finish(self) -> Diagnostics {
        let mut out = Diagnostics::new();
        self.list.into_iter().for_each(|d| out.push(d));
        out
    }
}

/// The error just reported.
struct Report<'a> {
    list: &'a mut Vec<Diagnostic>,
}

impl Report<'_> {
    fn change(self, change: impl FnOnce(Diagnostic) -> Diagnostic) -> Self {
        if let Some(last) = self.list.pop() {
            self.list.push(change(last));
        }
        self
    }

    fn help(self, help: impl Into<String>) -> Self {
        self.change(|d| d.help(help))
    }

    fn related(self, span: Span, label: impl Into<String>) -> Self {
        self.change(|d| d.related(span, label))
    }
}

/// Edit distance, for suggestions; 3 for all that are far apart.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 2 || a.len() < 3 || a.len() > 60 {
        return 3;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()].min(3)
}
