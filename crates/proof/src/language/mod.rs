//! The `.clp` language: constraint programs and assertions about them.
//!
//! Text becomes tokens ([`lexer`]), a syntax tree ([`ast`], [`parser`]) and then, with every mistake
//! reported where it stands, a [`Program`](crate::program::Program) in normal form ([`lower`]).

pub mod ast;
mod expand;
pub mod lexer;
mod lower;
pub mod parser;
mod print;

pub use print::print;

use quotient_source::{Diagnostics, FileId, SourceMap};

use crate::program::Program;

/// Reads a constraint program. `None` when the diagnostics contain errors.
pub fn read(map: &SourceMap, file: FileId, diagnostics: &mut Diagnostics) -> Option<Program> {
    let items = parser::parse(map, file, diagnostics);
    program(&items, diagnostics)
}

/// The normal form of statements. `None` when the diagnostics contain errors.
pub fn program(items: &[ast::Item], diagnostics: &mut Diagnostics) -> Option<Program> {
    let program = lower::lower(items, diagnostics);
    (!diagnostics.has_errors()).then_some(program)
}
