//! The modelling languages that quotient reads: one table. A new language is a crate beside this one and a line here.
//!
//! Which language a model is written in: what the user says decides, then the extension of the file, then its text. Where
//! none of them tells, nothing is guessed.

use std::fmt;
use std::ops::Deref;
use std::path::Path;

use quotient_front_end::FrontEnd;

/// A language of models.
#[derive(Clone, Copy)]
pub struct Language(&'static dyn FrontEnd);

impl Language {
    /// All of them.
    pub const ALL: &[Language] = &[Language::PROMELA, Language::BIR, Language::DVE];

    /// Promela, the language of SPIN.
    pub const PROMELA: Language = Language(&quotient_promela::Promela);
    /// BIR, the language of Bogor.
    pub const BIR: Language = Language(&quotient_bir::Bir);
    /// DVE, the language of DiVinE.
    pub const DVE: Language = Language(&quotient_dve::Dve);

    /// The language with this name.
    pub fn from_name(name: &str) -> Option<Language> {
        Language::find(|l| l.name() == name)
    }

    /// The language of files with this extension.
    pub fn from_extension(path: &Path) -> Option<Language> {
        let extension = path.extension()?.to_str()?;
        Language::find(|l| l.extensions().contains(&extension))
    }

    /// The language that a text shows.
    pub fn from_text(text: &str) -> Option<Language> {
        Language::find(|l| l.recognises(text))
    }

    fn find(is: impl Fn(&Language) -> bool) -> Option<Language> {
        Language::ALL.iter().copied().find(is)
    }
}

impl Deref for Language {
    type Target = dyn FrontEnd;

    fn deref(&self) -> &(dyn FrontEnd + 'static) {
        self.0
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Language) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Language {}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_show_their_language() {
        let shown = [
            ("active proctype P() { skip }", Some(Language::PROMELA)),
            ("#define x 1\n/* system A */ byte b;\ninit { b = 1 }", Some(Language::PROMELA)),
            ("// a comment\nsystem Two { }", Some(Language::BIR)),
            ("byte x; // one\nprocess P { state a; init a; }\nsystem async;", Some(Language::DVE)),
            ("int system; int main() { }", None),
            ("byte b; /* init { */", None),
            ("char *s = \"init {\"; int init(void) { return 0; }", None),
            ("é è \"ü", None),
            ("", None),
        ];
        for (text, language) in shown {
            assert_eq!(Language::from_text(text), language, "{text}");
        }
    }

    #[test]
    fn no_name_and_no_extension_is_used_twice() {
        let mut known = std::collections::HashSet::new();
        for language in Language::ALL {
            assert!(known.insert(format!("name {}", language.name())));
            for extension in language.extensions() {
                assert!(known.insert(format!("extension {extension}")), "{extension}");
            }
        }
    }
}
