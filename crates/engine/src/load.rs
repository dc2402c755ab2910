//! Models from files.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use quotient_front_end::{Claim, LoadOptions, Loaded, PropertyKeyword};
use quotient_languages::Language;
use quotient_program::{Expr, Init, Program};
use quotient_source::{Diagnostics, FileId, SourceMap, render_all, unreadable};

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
    /// SPIN's numbers of its statements: by function, location and position. Empty for what is not SPIN's.
    pub numbers: Vec<Vec<Vec<u32>>>,
    /// The option that leaves aside what it says about exclusive use of channels.
    pub(crate) shared_channels: Option<&'static str>,
}

impl Model {
    /// Leaves aside that one process alone uses a channel, where the model says so (`xr`, `xs`), because of this option.
    pub fn allow_shared_channels(&mut self, option: &'static str) {
        self.shared_channels = Some(option);
        if let Some(id) = self.program.exclusive {
            self.program.globals[id.0 as usize].init = Init::Fill(Expr::Const(0));
        }
    }
}

/// Why there is no model.
#[derive(Debug)]
pub enum LoadError {
    /// The file cannot be read.
    Unreadable(PathBuf, std::io::Error),
    /// Nothing is known about files of this kind.
    UnknownKind(PathBuf),
    /// The file is not text.
    NoText(PathBuf, &'static str),
    /// The file has errors.
    Invalid(SourceMap, Diagnostics),
}

impl LoadError {
    /// The error as text; `colour` for terminals.
    pub fn render(&self, colour: bool) -> String {
        match self {
            LoadError::Unreadable(path, error) => format!("error: {}", unreadable(path, error)),
            LoadError::NoText(path, advice) => {
                format!("error: {}: this is not text\nhelp: {advice}", path.display())
            }
            LoadError::UnknownKind(path) => {
                let extensions = Language::ALL.iter().map(|l| format!(".{}", l.extensions()[0]));
                let names = Language::ALL.iter().map(|l| format!("--language {}", l.name()));
                format!(
                    "error: {}: unknown file type; quotient reads {}, .c, .cc, .cpp, .clp, .await, .smt2\nhelp: say in which language the model is written: {}",
                    path.display(),
                    extensions.collect::<Vec<_>>().join(", "),
                    names.collect::<Vec<_>>().join(" or ")
                )
            }
            LoadError::Invalid(sources, diagnostics) => {
                let mut parts = render_all(sources, diagnostics, colour);
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
    Ok(sources.add_bytes("-", &bytes))
}

/// What to do with something that is not text, if it is not.
fn no_text(read: &str) -> Option<&'static str> {
    let advice = if read.starts_with("\u{7f}ELF") {
        "a compiled program is checked if it was compiled for it: CC=\"quotient cc\"; or name its sources"
    } else if read.starts_with("\u{fffd}\u{fffd}") && read.contains('\0') {
        "it looks like UTF-16; save it as UTF-8"
    } else {
        "name a model or a program"
    };
    read.contains('\0').then_some(advice)
}

impl Model {
    /// Reads a model from a file; `-` is the standard input. The language is that of the file's extension, or the one that its
    /// text shows.
    pub fn load(path: &Path, options: &LoadOptions) -> Result<Model, LoadError> {
        Model::load_as(path, None, options)
    }

    /// The same, with a language that may have been `given`.
    pub fn load_as(path: &Path, given: Option<Language>, options: &LoadOptions) -> Result<Model, LoadError> {
        let mut sources = SourceMap::new();
        let file = read(&mut sources, path).map_err(|error| LoadError::Unreadable(path.into(), error))?;
        if let Some(advice) = no_text(sources.text(file)) {
            return Err(LoadError::NoText(path.into(), advice));
        }
        let language = given
            .or_else(|| Language::from_extension(path))
            .or_else(|| Language::from_text(sources.text(file)))
            .ok_or_else(|| LoadError::UnknownKind(path.into()))?;
        Model::read(sources, file, language, options)
    }

    /// Reads a Promela model from memory.
    pub fn from_text(name: &str, text: &str) -> Result<Model, LoadError> {
        Model::from_text_with(name, text, &[])
    }

    /// Reads a Promela model from memory, with properties given apart from it.
    pub fn from_text_with(
        name: &str,
        text: &str,
        properties: &[(PropertyKeyword, String)],
    ) -> Result<Model, LoadError> {
        let options = LoadOptions { properties: properties.to_vec(), ..LoadOptions::default() };
        Model::from_text_in(Language::PROMELA, name, text, &options)
    }

    /// Reads a BIR model from memory.
    pub fn from_bir_text(name: &str, text: &str, options: &LoadOptions) -> Result<Model, LoadError> {
        Model::from_text_in(Language::BIR, name, text, options)
    }

    /// Reads a model in a language from memory.
    pub fn from_text_in(
        language: Language,
        name: &str,
        text: &str,
        options: &LoadOptions,
    ) -> Result<Model, LoadError> {
        let mut sources = SourceMap::new();
        let file = sources.add(name, text);
        Model::read(sources, file, language, options)
    }

    fn read(
        mut sources: SourceMap,
        file: FileId,
        language: Language,
        options: &LoadOptions,
    ) -> Result<Model, LoadError> {
        match language.load(&mut sources, file, options) {
            Ok(Loaded { program, warnings, claims, own_claims, numbers }) => {
                Ok(Model { sources, program, warnings, claims, own_claims, numbers, shared_channels: None })
            }
            Err(diagnostics) => Err(LoadError::Invalid(sources, diagnostics)),
        }
    }
}
