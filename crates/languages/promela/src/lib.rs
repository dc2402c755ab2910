//! Promela, the input language of SPIN 6.5: preprocessor, parser and syntax tree, and the
//! translation of a model to a program.
//!
//! [`parse_file`] and [`parse_text`] run the preprocessor ([`ParseOptions`] has the definitions and
//! folders it uses), expand `inline` calls and build the syntax tree of [`ast`].
//!
//! ```
//! use quotient_promela::{ParseOptions, parse_text};
//! use quotient_source::{SourceMap, render};
//!
//! let mut map = SourceMap::new();
//! let parsed = parse_text(&mut map, "m.pml", "byte x;\ninit { x = }", &ParseOptions::default());
//! let first = parsed.diagnostics.iter().next().unwrap();
//! assert_eq!(first.message, "expected an expression, found `}`");
//! assert!(render(&map, first, false).contains("m.pml:2:12"));
//! ```
//!
//! What a tree may rely on: nesting of statements and expressions is bounded (see
//! [`MAX_EXPRESSION_HEIGHT`] and [`MAX_NESTING`]), so that recursion over it, its `Drop` included,
//! needs a bounded stack; a string in `printf` has its escape sequences as written; labels of an
//! `inline` body that stand in a process more than once are named `label#k`, with one `k` for each
//! expansion (see `parser/inline.rs`).

pub mod ast;
mod front_end;
mod lexer;
mod lower;
mod parser;
mod preprocess;
mod token;

use std::path::{Path, PathBuf};

use quotient_front_end::PropertyKeyword;
use quotient_source::{Diagnostics, FileId, SourceMap, Span};

use parser::Parser;
use preprocess::{MacroTable, preprocess};

pub use front_end::Promela;
pub use lower::{Lowered, lower, lower_with};
pub use parser::{MAX_EXPRESSION_HEIGHT, MAX_NESTING};

/// After this many errors the rest of a model is not read.
const MAX_ERRORS: usize = 50;
/// After this many messages of any kind warnings are left out.
const MAX_MESSAGES: usize = 200;

/// What the preprocessor is told from outside.
#[derive(Clone, Debug, Default)]
pub struct ParseOptions {
    /// Macro definitions: name and value, as `-D NAME=VALUE` gives them. They override the model's
    /// own `#define` and `#undef` of the same name; of several for one name the last one counts.
    pub defines: Vec<(String, String)>,
    /// Where `#include` looks for files after the folder of the including file.
    pub include_dirs: Vec<PathBuf>,
}

/// The macros in force at the end of a model, for formulas given apart from it.
#[derive(Clone, Debug, Default)]
pub struct Macros(MacroTable);

impl Macros {
    /// Definitions of [`ParseOptions::defines`] that nothing read so far makes use of: name and place.
    pub fn unused(&self) -> Vec<(&str, Span)> {
        self.0.unused()
    }
}

/// The result of parsing a model.
#[derive(Debug)]
pub struct Parsed {
    /// The tree; only a best effort when `diagnostics` has errors.
    pub model: ast::Model,
    /// What is wrong with the model.
    pub diagnostics: Diagnostics,
    /// The macros that it defines.
    pub macros: Macros,
}

/// Parses a model from a file. The only error is that the file itself cannot be read.
pub fn parse_file(map: &mut SourceMap, path: &Path, options: &ParseOptions) -> std::io::Result<Parsed> {
    let file = map.load(path)?;
    Ok(parse_loaded(map, file, options))
}

/// Parses a model from memory; `name` is the file name in messages, and its folder the place where
/// `#include` looks first.
pub fn parse_text(map: &mut SourceMap, name: &str, text: &str, options: &ParseOptions) -> Parsed {
    let file = map.add(name, text);
    parse_loaded(map, file, options)
}

/// Parses a model whose text is in the map already.
pub fn parse_loaded(map: &mut SourceMap, file: FileId, options: &ParseOptions) -> Parsed {
    let mut diagnostics = Diagnostics::new();
    let preprocessed = preprocess(map, &mut diagnostics, file, options, MacroTable::default());
    let mut model = ast::Model::default();
    if preprocessed.complete {
        let parser = Parser::new(preprocessed.tokens, map.end(file), map, &mut diagnostics);
        let expansions;
        (model, expansions) = parser.model(map.expansions());
        map.add_expansions(expansions);
    }
    Parsed { model, diagnostics, macros: Macros(preprocessed.macros) }
}

/// Parses one expression, such as an invariant given on the command line.
pub fn parse_expression(map: &mut SourceMap, name: &str, text: &str) -> Result<ast::Expr, Diagnostics> {
    parse_expression_with(map, name, text, &Macros::default())
}

/// [`parse_expression`] with the macros of a model.
pub fn parse_expression_with(
    map: &mut SourceMap,
    name: &str,
    text: &str,
    macros: &Macros,
) -> Result<ast::Expr, Diagnostics> {
    parse_apart(map, name, text, macros, |parser| parser.whole_expression())
}

/// Parses one formula of linear temporal logic.
pub fn parse_formula(map: &mut SourceMap, name: &str, text: &str) -> Result<ast::Formula, Diagnostics> {
    parse_formula_with(map, name, text, &Macros::default())
}

/// [`parse_formula`] with the macros of a model.
pub fn parse_formula_with(
    map: &mut SourceMap,
    name: &str,
    text: &str,
    macros: &Macros,
) -> Result<ast::Formula, Diagnostics> {
    parse_apart(map, name, text, macros, |parser| parser.whole_formula())
}

/// Parses a property: `keyword` is `ltl`, `ctl` or `invariant`.
pub fn parse_property(
    map: &mut SourceMap,
    keyword: PropertyKeyword,
    text: &str,
    macros: &Macros,
) -> Result<ast::Property, Diagnostics> {
    let name = &format!("--{}", keyword.name());
    parse_apart(map, name, text, macros, |parser| parser.whole_property(keyword, text))
}

fn parse_apart<T>(
    map: &mut SourceMap,
    name: &str,
    text: &str,
    macros: &Macros,
    parse: impl FnOnce(Parser<'_>) -> Option<T>,
) -> Result<T, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let file = map.add(name, text);
    let preprocessed = preprocess(map, &mut diagnostics, file, &ParseOptions::default(), macros.0.clone());
    let mut result = None;
    if preprocessed.complete {
        result = parse(Parser::new(preprocessed.tokens, map.end(file), map, &mut diagnostics));
    }
    match result {
        Some(value) if !diagnostics.has_errors() => Ok(value),
        _ => Err(diagnostics),
    }
}
