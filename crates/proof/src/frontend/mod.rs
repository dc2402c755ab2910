//! Other languages, translated to the statements of [`language`](crate::language): the paper's
//! while/await programs ([`mod@while_await`]), Promela models read with unbounded integers
//! ([`mod@promela`]), and constrained Horn clauses in SMT-LIB ([`mod@horn`]).
//!
//! Every front end makes a list of [`Item`]s with the spans of its own source, so that diagnostics,
//! counterexamples and certificates are the same for all, and `quotient prove --print` shows what
//! was understood as `.clp`. What a front end does not understand it refuses by name.

pub mod horn;
pub mod promela;
mod sexpr;
mod symbolic;
mod transitions;
pub mod while_await;

use std::path::Path;

use quotient_promela::ParseOptions;
use quotient_source::{Diagnostics, SourceMap};

use crate::language::ast::Item;
use crate::language::parser;

/// A language, by the end of a file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `.clp`
    Clp,
    /// `.await`
    WhileAwait,
    /// `.pml` and its other spellings
    Promela,
    /// `.smt2`
    Horn,
}

impl Language {
    /// The language of a file; `.clp` unless its name says otherwise.
    pub fn of(path: &Path) -> Language {
        match path.extension().and_then(|e| e.to_str()).unwrap_or("") {
            "await" => Language::WhileAwait,
            "pml" | "prm" | "promela" | "spin" | "pr" => Language::Promela,
            "smt2" => Language::Horn,
            _ => Language::Clp,
        }
    }
}

/// Reads a file in its language. The only error is that the file itself cannot be read; mistakes in
/// it are diagnostics.
pub fn read(
    map: &mut SourceMap,
    path: &Path,
    options: &ParseOptions,
    diagnostics: &mut Diagnostics,
) -> std::io::Result<Vec<Item>> {
    Ok(match Language::of(path) {
        Language::Promela => promela::read(map, path, options, diagnostics)?,
        language => {
            let file = map.load(path)?;
            match language {
                Language::WhileAwait => while_await::read(map, file, diagnostics),
                Language::Horn => horn::read(map, file, diagnostics),
                _ => parser::parse(map, file, diagnostics),
            }
        }
    })
}
