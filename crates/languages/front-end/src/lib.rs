//! What a modelling language has to implement: [`FrontEnd`]. A file becomes a program, the claims it makes, and
//! diagnostics; everything after that is the same for all languages.
//!
//! A language is one crate in `crates/languages` and one line in the table of `quotient-languages`.

mod claim;
mod words;

use std::path::PathBuf;
use std::sync::Arc;

use quotient_program::{Extension, Program};
use quotient_source::{Diagnostics, FileId, SourceMap};

pub use claim::{Claim, ClaimKind, PropertyKeyword, proposition_name};
pub use words::{Words, is_name};

/// A modelling language.
pub trait FrontEnd: Sync {
    /// Its name in options: `--language NAME`.
    fn name(&self) -> &'static str;

    /// Its name in sentences, such as `Promela`.
    fn title(&self) -> &'static str;

    /// The extensions of its files, without the dot; the usual one first.
    fn extensions(&self) -> &'static [&'static str];

    /// Does a text show that it is written in this language? Only by words that no other language can have at that place:
    /// reading a file in the wrong language could give a model that nobody wrote.
    fn recognises(&self, text: &str) -> bool;

    /// What the language has beyond a program; options for anything else are refused.
    fn features(&self) -> &'static [Feature];

    /// Reads a file of the map, with the properties of the options. Errors are all there is without a model; warnings come with it.
    fn load(
        &self,
        sources: &mut SourceMap,
        file: FileId,
        options: &LoadOptions,
    ) -> Result<Loaded, Diagnostics>;
}

/// What only some languages have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Constants or macros that can be defined from outside (`-D`).
    Definitions,
    /// Files that include others (`-I`).
    Include,
    /// Claims in the model (`--claim`).
    Claims,
    /// Accept and progress labels of processes (`--acceptance`, `--progress`).
    Labels,
    /// Models that `prove` reads (`--relative`).
    Proofs,
}

/// What is told to a front end.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// `-D NAME=VALUE`: a macro of Promela, a constant of BIR.
    pub defines: Vec<(String, String)>,
    /// `-I DIR`: where `#include` looks.
    pub include_dirs: Vec<PathBuf>,
    /// Properties given apart from the model: `--ltl` and the like. They become claims after the model's own.
    pub properties: Vec<(PropertyKeyword, String)>,
    /// Extension types that BIR models may use besides the built-in ones.
    pub extensions: Vec<Arc<dyn Extension>>,
}

/// What a file became.
#[derive(Debug)]
pub struct Loaded {
    /// The program, as written.
    pub program: Program,
    /// Warnings about it.
    pub warnings: Diagnostics,
    /// Temporal claims it makes, then the properties given apart from it.
    pub claims: Vec<Claim>,
    /// How many of the claims are its own.
    pub own_claims: usize,
    /// The numbers that another tool of the language (SPIN) gives the program's statements: by function, location and position among its
    /// transformations. Empty where there is none.
    pub numbers: Vec<Vec<Vec<u32>>>,
}
