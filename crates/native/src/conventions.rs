//! Functions of the software verification competition that a program defines itself.
//!
//! A function named `__VERIFIER_atomic_*` is an atomic section. `reach_error` and the like mean what their names say, whatever
//! the program's own definition does. Found among the symbols of the program; the runtime does the rest.

use std::path::Path;

use object::{Object, ObjectSymbol, SymbolKind};

use crate::protocol::{CONVENTIONS, Convention, SECTIONS, Shared};

/// The functions that are replaced.
const REPLACED: [(&str, Convention); 6] = [
    ("reach_error", Convention::Error),
    ("__VERIFIER_error", Convention::Error),
    ("__VERIFIER_assume", Convention::Assume),
    ("assume_abort_if_not", Convention::Assume),
    ("__VERIFIER_atomic_begin", Convention::Begin),
    ("__VERIFIER_atomic_end", Convention::End),
];

/// Such functions of a program.
#[derive(Debug, Default)]
pub(crate) struct Conventions {
    sections: Vec<(u64, u64)>,
    replaced: Vec<(u64, u64)>,
}

impl Conventions {
    /// Of the program at `path`; none if it cannot be read.
    pub(crate) fn of(path: &Path) -> Conventions {
        let bytes = std::fs::read(path).unwrap_or_default();
        let Ok(file) = object::File::parse(&*bytes) else { return Conventions::default() };
        let mut found = Conventions::default();
        for symbol in file.symbols().filter(|s| s.kind() == SymbolKind::Text && s.size() > 0) {
            let Ok(name) = symbol.name() else { continue };
            if let Some((_, convention)) = REPLACED.iter().find(|(known, _)| *known == name) {
                found.replaced.push((*convention as u64, symbol.address()));
            } else if name.starts_with("__VERIFIER_atomic_") {
                found.sections.push((symbol.address(), symbol.size()));
            }
        }
        found
    }

    /// Tells the runtime. Says whether there was room.
    pub(crate) fn fill(&self, shared: &mut Shared) -> bool {
        for (slot, section) in shared.sections.iter_mut().zip(&self.sections) {
            *slot = *section;
        }
        for (slot, replaced) in shared.conventions.iter_mut().zip(&self.replaced) {
            *slot = *replaced;
        }
        shared.sections_length = self.sections.len().min(SECTIONS) as u32;
        shared.conventions_length = self.replaced.len().min(CONVENTIONS) as u32;
        self.sections.len() <= SECTIONS && self.replaced.len() <= CONVENTIONS
    }
}
