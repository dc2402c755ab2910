//! DVE, the input language of DiVinE and of the BEEM benchmarks: processes with states and guarded transitions, channels,
//! committed states, assertions in states, and a property process that watches the others.
//!
//! The grammar is that of DiVinE Cluster 0.8; `docs/dve.md` describes the language as accepted, and every decision about its
//! meaning.
//!
//! ```
//! use quotient_dve::{lower, parse_text};
//! use quotient_source::{SourceMap, render};
//!
//! let mut map = SourceMap::new();
//! let parsed = parse_text(&mut map, "m.dve", "process P { state a; init b; }\nsystem async;");
//! let lowered = lower(&parsed.system.unwrap(), &[], &map);
//! let first = lowered.diagnostics.iter().next().unwrap();
//! assert!(render(&map, first, false).contains("`P` has no state `b`"));
//! ```

pub mod ast;
mod front_end;
mod lexer;
mod lower;
mod parser;
pub mod print;
mod token;

use quotient_formula::Property;
use quotient_front_end::PropertyKeyword;
use quotient_source::{Diagnostics, FileId, SourceMap};

pub use front_end::Dve;
pub use lower::{Assertion, Lowered, lower};
pub use parser::MAX_HEIGHT;

/// What was read.
#[derive(Debug)]
pub struct Parsed {
    /// The system, as far as it could be understood.
    pub system: Option<ast::System>,
    /// What is wrong with it.
    pub diagnostics: Diagnostics,
}

/// Reads a system from memory.
pub fn parse_text(map: &mut SourceMap, name: &str, text: &str) -> Parsed {
    let file = map.add(name, text);
    parse_loaded(map, file)
}

/// Reads a system whose text is in the map already.
pub fn parse_loaded(map: &SourceMap, file: FileId) -> Parsed {
    let mut diagnostics = Diagnostics::new();
    let tokens = lexer::tokens(file, map.text(file), &mut diagnostics);
    let system = parser::system(tokens, &mut diagnostics);
    Parsed { system, diagnostics }
}

/// Reads a property given apart from a system. Its expressions may ask for variables of processes, as `P.x`.
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
