//! Which name means what, found in the text as it stands: declarations open scopes and make symbols, every other word is looked up from
//! the scope it stands in.
//!
//! Working on tokens and not on the syntax tree has two reasons. The tree shows a model after its macros and inlines, not what
//! the author wrote; and while somebody types there is mostly no tree. What it costs: a name in the body of a macro or an inline that
//! means something only where that is called has no symbol. [`crate::rename`] does not rely on any of this.

mod bir;
mod build;
mod dve;
mod promela;
pub(crate) mod token;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use quotient_languages::Language;

use crate::text::Text;
use build::Builder;
use token::Style;

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Macro,
    /// A `typedef`, record, enumeration or block of constants: it has members.
    Type,
    Field,
    Constant,
    Variable,
    Parameter,
    /// A `proctype`, thread or process.
    Thread,
    /// A function or `inline`.
    Function,
    /// A label, location or state.
    Label,
    /// An `ltl` formula or a `never` claim.
    Claim,
}

impl Kind {
    /// What it is called.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Macro => "macro",
            Kind::Type => "type",
            Kind::Field => "field",
            Kind::Constant => "constant",
            Kind::Variable => "variable",
            Kind::Parameter => "parameter",
            Kind::Thread => "process",
            Kind::Function => "function",
            Kind::Label => "label",
            Kind::Claim => "claim",
        }
    }

    /// The number that editors have for it.
    pub(crate) fn number(self) -> u32 {
        match self {
            Kind::Macro | Kind::Constant => 14,
            Kind::Type => 23,
            Kind::Field => 8,
            Kind::Variable | Kind::Parameter => 13,
            Kind::Thread => 5,
            Kind::Function => 12,
            Kind::Label => 20,
            Kind::Claim => 17,
        }
    }
}

/// The number of a symbol of an [`Index`].
pub(crate) type SymbolId = usize;

/// Something with a name.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The name, where it is declared.
    pub(crate) range: Range<usize>,
    /// The whole declaration; that of a process or type up to its end.
    pub(crate) whole: Range<usize>,
    /// The process, function or type that it belongs to.
    pub(crate) owner: Option<SymbolId>,
    /// The name of its type, where that is one of the model's.
    pub(crate) ty: Option<String>,
}

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Meaning {
    /// Of [`Index::included`]; none for the text itself.
    pub(crate) file: Option<usize>,
    pub(crate) symbol: SymbolId,
}

/// A file that the text includes.
#[derive(Clone, Debug)]
pub(crate) struct Included {
    pub(crate) path: PathBuf,
    pub(crate) text: Text,
    pub(crate) index: Index,
}

/// The names of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    pub(crate) symbols: Vec<Symbol>,
    /// Every word that means something, by its first byte: its end, and what it means.
    uses: BTreeMap<usize, (usize, Meaning)>,
    pub(crate) included: Vec<Included>,
}

/// So many files are read for one text.
const MOST_FILES: usize = 64;
/// A larger file is not read.
const LARGEST_FILE: u64 = 1 << 20;

impl Index {
    /// The names of a text that lies in `folder`, where that is known.
    pub(crate) fn new(language: Language, text: &str, folder: Option<&Path>) -> Index {
        let mut files = MOST_FILES;
        Index::reading(language, text, folder, &mut files)
    }

    fn reading(language: Language, text: &str, folder: Option<&Path>, files: &mut usize) -> Index {
        let promela = language == Language::PROMELA;
        let style = Style { directives: promela, quoted: language == Language::BIR };
        let tokens = token::tokens(text, style);
        let included = match folder {
            Some(folder) if promela => promela::includes(text, &tokens)
                .filter_map(|name| included(language, &folder.join(name), files))
                .collect(),
            _ => Vec::new(),
        };
        let mut builder = Builder::new(text, tokens, included);
        if promela {
            promela::scan(&mut builder);
            builder.resolve(promela::meaning);
        } else if language == Language::BIR {
            bir::scan(&mut builder);
            builder.resolve(bir::meaning);
        } else {
            dve::scan(&mut builder);
            builder.resolve(dve::meaning);
        }
        builder.index()
    }

    /// The word at a byte, or that ends there, and what it means.
    pub(crate) fn at(&self, at: usize) -> Option<(Range<usize>, Meaning)> {
        let (start, (end, meaning)) = self.uses.range(..=at).next_back()?;
        (at <= *end).then_some((*start..*end, *meaning))
    }

    /// Every place that means the same.
    pub(crate) fn places(&self, meaning: Meaning) -> impl Iterator<Item = Range<usize>> {
        self.uses.iter().filter(move |(_, (_, own))| *own == meaning).map(|(start, (end, _))| *start..*end)
    }

    /// The symbol that is meant.
    pub(crate) fn symbol(&self, meaning: Meaning) -> &Symbol {
        match meaning.file {
            Some(file) => &self.included[file].index.symbols[meaning.symbol],
            None => &self.symbols[meaning.symbol],
        }
    }
}

/// An included file; none if it cannot be read, or if there are too many.
fn included(language: Language, path: &Path, files: &mut usize) -> Option<Included> {
    *files = files.checked_sub(1)?;
    if std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.len() > LARGEST_FILE {
        return None;
    }
    let text = String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned();
    let index = Index::reading(language, &text, path.parent(), files);
    Some(Included { path: path.to_owned(), text: Text::new(text), index })
}
