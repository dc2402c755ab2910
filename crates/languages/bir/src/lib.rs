//! BIR, the input language of Bogor: objects, inheritance, virtual calls, exceptions, locks, dynamic threads.
//!
//! The grammar is that of Bogor's manual (2005) together with the `main thread` of the papers of 2003; `docs/bir.md`
//! describes the language as accepted, and every decision about its meaning.

pub mod ast;
mod front_end;
mod lexer;
mod lower;
mod parser;
mod token;

use std::path::Path;

use quotient_formula::Property;
use quotient_front_end::PropertyKeyword;
use quotient_source::{Diagnostics, FileId, SourceMap};

pub use front_end::Bir;
pub use lower::{LowerOptions, Lowered, lower, lower_with};

/// What was read.
#[derive(Debug)]
pub struct Parsed {
    /// The system, as far as it could be understood; `None` when there is not even a header.
    pub system: Option<ast::System>,
    /// What is wrong with it.
    pub diagnostics: Diagnostics,
}

/// Reads a system from a file.
pub fn parse_file(map: &mut SourceMap, path: &Path) -> std::io::Result<Parsed> {
    let file = map.load(path)?;
    Ok(parse_loaded(map, file))
}

/// Reads a system from memory.
pub fn parse_text(map: &mut SourceMap, name: &str, text: &str) -> Parsed {
    let file = map.add(name, text);
    parse_loaded(map, file)
}

/// Reads a property: a formula over expressions of BIR, with quantifiers over threads, `t@location`, `t:local` and
/// `reachable(a, b)`.
pub fn parse_property(
    map: &mut SourceMap,
    keyword: PropertyKeyword,
    text: &str,
) -> Result<Property<ast::Expr>, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let file = map.add(format!("--{}", keyword.name()), text);
    let tokens = lexer::formula(file, text, &mut diagnostics);
    let property = parser::property(tokens, keyword, text, &mut diagnostics);
    property.filter(|_| !diagnostics.has_errors()).ok_or(diagnostics)
}

/// Reads a system whose text is in the map already.
pub fn parse_loaded(map: &SourceMap, file: FileId) -> Parsed {
    let mut diagnostics = Diagnostics::new();
    let tokens = lexer::tokens(file, map.text(file), &mut diagnostics);
    let system = parser::system(tokens, &mut diagnostics);
    Parsed { system, diagnostics }
}
