//! Models from files.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quotient_bir::LowerOptions;
use quotient_program::{Extension, Program};
use quotient_promela::{Claim, ParseOptions, PropertyKeyword};
use quotient_source::{Diagnostic, Diagnostics, FileId, SourceMap, render};

use crate::bir_claims;
use crate::language::Language;

/// What is told to the front end.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// `-D NAME=VALUE`: a macro of Promela, a constant of BIR.
    pub defines: Vec<(String, String)>,
    /// The language, where neither the file's extension nor its text should decide.
    pub language: Option<Language>,
    /// `-I DIR`: where Promela's `#include` looks.
    pub include_dirs: Vec<PathBuf>,
    /// Properties given apart from the model: `--ltl` and the like. They become claims behind the model's own.
    pub properties: Vec<(PropertyKeyword, String)>,
    /// Extension types that BIR models may use besides the built-in ones.
    pub extensions: Vec<Arc<dyn Extension>>,
}

/// A model that can be checked.
#[derive(Debug)]
pub struct Model {
    /// Its files.
    pub sources: SourceMap,
    /// The program, as written (unreduced).
    pub program: Program,
    /// Warnings about it.
    pub warnings: Diagnostics,
    /// Temporal claims it makes, then the properties given apart from it.
    pub claims: Vec<Claim>,
    /// How many of the claims are its own.
    pub own_claims: usize,
}

/// Why there is no model.
#[derive(Debug)]
pub enum LoadError {
    /// The file cannot be read.
    Unreadable(PathBuf, std::io::Error),
    /// Nothing is known about files of this kind.
    UnknownKind(PathBuf),
    /// The file has errors.
    Invalid(SourceMap, Diagnostics),
}

impl LoadError {
    /// The error as text; `colour` for terminals.
    pub fn render(&self, colour: bool) -> String {
        match self {
            LoadError::Unreadable(path, error) => format!("error: cannot read {}: {error}", path.display()),
            LoadError::UnknownKind(path) => format!(
                "error: {}: unknown file type; quotient reads .pml, .bir, .dve, .c, .cc, .cpp, .clp, .await, .smt2\nhelp: say in which language the model is written: --language promela, bir or dve",
                path.display()
            ),
            LoadError::Invalid(sources, diagnostics) => {
                let mut parts: Vec<String> = diagnostics.iter().map(|d| render(sources, d, colour)).collect();
                let count = diagnostics.error_count();
                parts.push(format!("{count} error{}", if count == 1 { "" } else { "s" }));
                parts.join("\n\n")
            }
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for LoadError {}

/// Reads a file or, for `-`, the standard input.
fn read(sources: &mut SourceMap, path: &Path) -> std::io::Result<FileId> {
    if path != Path::new("-") {
        return sources.load(path);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(sources.add("-", String::from_utf8_lossy(&bytes)))
}

impl Model {
    /// Reads a model from a file; `-` is the standard input.
    pub fn load(path: &Path, options: &LoadOptions) -> Result<Model, LoadError> {
        let mut sources = SourceMap::new();
        let file = read(&mut sources, path).map_err(|error| LoadError::Unreadable(path.into(), error))?;
        let language = options
            .language
            .or_else(|| Language::from_extension(path))
            .or_else(|| Language::from_text(sources.text(file)));
        match language {
            Some(Language::Promela) => {
                let parse = ParseOptions {
                    defines: options.defines.clone(),
                    include_dirs: options.include_dirs.clone(),
                };
                let parsed = quotient_promela::parse_loaded(&mut sources, file, &parse);
                Model::from_parsed(sources, parsed, &options.properties)
            }
            Some(Language::Bir) => {
                let parsed = quotient_bir::parse_loaded(&sources, file);
                Model::from_bir(sources, parsed, options)
            }
            Some(Language::Dve) => {
                let parsed = quotient_dve::parse_loaded(&sources, file);
                Model::from_dve(sources, parsed, options)
            }
            None => Err(LoadError::UnknownKind(path.into())),
        }
    }

    /// Reads a Promela model from memory.
    pub fn from_text(name: &str, text: &str) -> Result<Model, LoadError> {
        Model::from_text_with(name, text, &[])
    }

    /// Reads a BIR model from memory.
    pub fn from_bir_text(name: &str, text: &str, options: &LoadOptions) -> Result<Model, LoadError> {
        let mut sources = SourceMap::new();
        let parsed = quotient_bir::parse_text(&mut sources, name, text);
        Model::from_bir(sources, parsed, options)
    }

    fn from_bir(
        mut sources: SourceMap,
        parsed: quotient_bir::Parsed,
        options: &LoadOptions,
    ) -> Result<Model, LoadError> {
        let mut diagnostics = parsed.diagnostics;
        let system = match parsed.system {
            Some(system) if !diagnostics.has_errors() => system,
            _ => return Err(LoadError::Invalid(sources, diagnostics)),
        };
        let claims = match bir_claims::read(&mut sources, &options.properties) {
            Ok(claims) => claims,
            Err(errors) => {
                diagnostics.extend(errors);
                return Err(LoadError::Invalid(sources, diagnostics));
            }
        };
        let lower =
            LowerOptions { constants: options.defines.clone(), extensions: options.extensions.clone() };
        let lowered = quotient_bir::lower_with(&system, &claims.propositions, &sources, &lower);
        diagnostics.extend(lowered.diagnostics);
        if diagnostics.has_errors() {
            return Err(LoadError::Invalid(sources, diagnostics));
        }
        let claims = claims.claims(lowered.propositions, &sources);
        Ok(Model { sources, program: lowered.program, warnings: diagnostics, claims, own_claims: 0 })
    }

    /// Reads a DVE model from memory.
    pub fn from_dve_text(name: &str, text: &str, options: &LoadOptions) -> Result<Model, LoadError> {
        let mut sources = SourceMap::new();
        let parsed = quotient_dve::parse_text(&mut sources, name, text);
        Model::from_dve(sources, parsed, options)
    }

    fn from_dve(
        mut sources: SourceMap,
        parsed: quotient_dve::Parsed,
        options: &LoadOptions,
    ) -> Result<Model, LoadError> {
        let mut diagnostics = parsed.diagnostics;
        let system = match parsed.system {
            Some(system) if !diagnostics.has_errors() => system,
            _ => return Err(LoadError::Invalid(sources, diagnostics)),
        };
        if let Some((name, _)) = options.defines.first() {
            let message = format!("`-D {name}` has no effect: DVE models have no parameters");
            diagnostics.push(Diagnostic::global(message));
        }
        match crate::dve_claims::lower(&system, &mut sources, &options.properties, &mut diagnostics) {
            Some((program, claims, own_claims)) if !diagnostics.has_errors() => {
                Ok(Model { sources, program, warnings: diagnostics, claims, own_claims })
            }
            _ => Err(LoadError::Invalid(sources, diagnostics)),
        }
    }

    /// Reads a Promela model from memory, with properties given apart from it.
    pub fn from_text_with(
        name: &str,
        text: &str,
        properties: &[(PropertyKeyword, String)],
    ) -> Result<Model, LoadError> {
        let mut sources = SourceMap::new();
        let parsed = quotient_promela::parse_text(&mut sources, name, text, &ParseOptions::default());
        Model::from_parsed(sources, parsed, properties)
    }

    fn from_parsed(
        mut sources: SourceMap,
        parsed: quotient_promela::Parsed,
        properties: &[(PropertyKeyword, String)],
    ) -> Result<Model, LoadError> {
        let mut diagnostics = parsed.diagnostics;
        if diagnostics.has_errors() {
            return Err(LoadError::Invalid(sources, diagnostics));
        }
        let mut given = Vec::new();
        for (keyword, text) in properties {
            match quotient_promela::parse_property(&mut sources, *keyword, text, &parsed.macros) {
                Ok(property) => given.push(property),
                Err(errors) => diagnostics.extend(errors),
            }
        }
        if diagnostics.has_errors() {
            return Err(LoadError::Invalid(sources, diagnostics));
        }
        for (name, span) in parsed.macros.unused() {
            let message = format!("`-D {name}` has no effect: the model does not use this name");
            diagnostics.push(
                Diagnostic::warning(span, message)
                    .help("-D changes macros, not variables; names of macros are case-sensitive"),
            );
        }
        let lowered = quotient_promela::lower_with(&parsed.model, &given, &sources);
        diagnostics.extend(lowered.diagnostics);
        if diagnostics.has_errors() {
            return Err(LoadError::Invalid(sources, diagnostics));
        }
        let own_claims = lowered.claims.len().saturating_sub(properties.len());
        let (program, claims) = (lowered.program, lowered.claims);
        Ok(Model { sources, program, warnings: diagnostics, claims, own_claims })
    }
}
