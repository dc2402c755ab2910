//! BIR, the input language of Bogor: objects, inheritance, virtual calls, exceptions, locks, dynamic threads.
//!
//! The grammar is that of Bogor's manual (2005) together with the `main thread` of the papers of 2003; `docs/bir.md`
//! describes the language as accepted, and every decision about its meaning.

pub mod ast;
mod lexer;
mod lower;
mod parser;
mod token;

use std::path::Path;

use quotient_source::{Diagnostics, FileId, SourceMap, Span};

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

/// Reads a proposition, a part of a file that is no system: an expression over globals, with quantifiers over threads,
/// `t@location`, `t:local` and `reachable(a, b)`.
pub fn parse_proposition(map: &SourceMap, span: Span) -> Result<ast::Expr, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let tokens = lexer::proposition(span, map.text(span.file), &mut diagnostics);
    let proposition = parser::proposition(tokens, &mut diagnostics);
    match proposition {
        Some(proposition) if !diagnostics.has_errors() => Ok(proposition),
        _ => Err(diagnostics),
    }
}

/// Reads a system whose text is in the map already.
pub fn parse_loaded(map: &SourceMap, file: FileId) -> Parsed {
    let mut diagnostics = Diagnostics::new();
    let tokens = lexer::tokens(file, map.text(file), &mut diagnostics);
    let system = parser::system(tokens, &mut diagnostics);
    Parsed { system, diagnostics }
}
