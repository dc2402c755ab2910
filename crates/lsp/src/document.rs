//! A text that an editor has open, and what is known of it.

use std::path::{Path, PathBuf};

use quotient_front_end::{LoadOptions, Loaded};
use quotient_languages::Language;
use quotient_source::{Diagnostics, FileId, SourceMap};
use serde_json::Value;

use crate::names::Index;
use crate::text::Text;
use crate::uri;

/// What the front end says about a text.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) sources: SourceMap,
    pub(crate) file: FileId,
    /// The model, or what is wrong.
    pub(crate) loaded: Result<Loaded, Diagnostics>,
}

/// Reads a text as if it were the file `name`.
pub(crate) fn read(language: Language, name: &str, text: &str) -> Read {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text);
    let loaded = language.load(&mut sources, file, &LoadOptions::default());
    Read { sources, file, loaded }
}

/// An open text.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) uri: String,
    pub(crate) path: Option<PathBuf>,
    pub(crate) language: Language,
    pub(crate) version: Value,
    pub(crate) text: Text,
    pub(crate) index: Index,
    pub(crate) read: Read,
    /// It has changed since its diagnostics were sent.
    pub(crate) changed: bool,
    /// What the last check of the text found, as diagnostics.
    pub(crate) found: Vec<Value>,
    /// What that check said about symmetry.
    pub(crate) symmetry: Vec<String>,
}

impl Document {
    /// A text that has been opened; none if it is in no language of models.
    pub(crate) fn open(item: &Value) -> Option<Document> {
        let uri = item["uri"].as_str()?.to_owned();
        let text = item["text"].as_str()?.to_owned();
        let path = uri::to_path(&uri);
        let named = item["languageId"].as_str().and_then(Language::from_name);
        let by_file = || path.as_deref().and_then(Language::from_extension);
        let language = named.or_else(by_file).or_else(|| Language::from_text(&text))?;
        let (read, index) = look(language, path.as_deref(), &text);
        Some(Document {
            uri,
            path,
            language,
            version: item["version"].clone(),
            text: Text::new(text),
            index,
            read,
            changed: true,
            found: Vec::new(),
            symmetry: Vec::new(),
        })
    }

    /// Takes changes over; one whose place makes no sense is left out.
    pub(crate) fn change(&mut self, version: &Value, changes: &Value) {
        self.version = version.clone();
        for change in changes.as_array().into_iter().flatten() {
            let Some(new) = change["text"].as_str() else { continue };
            let text = match &change["range"] {
                Value::Null => new.to_owned(),
                range => {
                    let Some(bytes) = self.text.bytes(range) else { continue };
                    let mut text = self.text.as_str().to_owned();
                    text.replace_range(bytes, new);
                    text
                }
            };
            self.text = Text::new(text);
        }
        self.changed = true;
        self.found.clear();
        self.symmetry.clear();
    }

    /// Reads the text again.
    pub(crate) fn look(&mut self) {
        (self.read, self.index) = look(self.language, self.path.as_deref(), self.text.as_str());
    }

    /// Is the text the one on the disk?
    pub(crate) fn is_saved(&self) -> bool {
        let on_disk = self.path.as_deref().and_then(|path| std::fs::read(path).ok());
        on_disk.is_some_and(|bytes| bytes == self.text.as_str().as_bytes())
    }

    /// What its file is called in messages.
    pub(crate) fn name(&self) -> String {
        name(self.path.as_deref())
    }
}

fn name(path: Option<&Path>) -> String {
    path.map_or_else(|| "untitled".to_owned(), |path| path.display().to_string())
}

fn look(language: Language, path: Option<&Path>, text: &str) -> (Read, Index) {
    let folder = path.and_then(Path::parent);
    (read(language, &name(path), text), Index::new(language, text, folder))
}
