//! Promela as one of the modelling languages.

use quotient_formula::properties;
use quotient_front_end::{Feature, FrontEnd, LoadOptions, Loaded, Words, is_name};
use quotient_source::{Diagnostic, Diagnostics, FileId, SourceMap};

use crate::{ParseOptions, lower_with, parse_loaded, parse_property};

/// Promela, the language of SPIN.
#[derive(Clone, Copy, Debug)]
pub struct Promela;

impl FrontEnd for Promela {
    fn name(&self) -> &'static str {
        "promela"
    }

    fn title(&self) -> &'static str {
        "Promela"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["pml", "prm", "prom", "promela", "spin", "pr"]
    }

    /// A `proctype` or `init {`. No model starts with the word `system`, as those of BIR do.
    fn recognises(&self, text: &str) -> bool {
        let pairs = Words::new(text).zip(Words::new(text).skip(1));
        Words::new(text).next() != Some("system")
            && pairs
                .into_iter()
                .any(|(word, next)| word == "proctype" && is_name(next) || word == "init" && next == "{")
    }

    fn features(&self) -> &'static [Feature] {
        &[Feature::Definitions, Feature::Include, Feature::Claims, Feature::Labels, Feature::Proofs]
    }

    fn load(
        &self,
        sources: &mut SourceMap,
        file: FileId,
        options: &LoadOptions,
    ) -> Result<Loaded, Diagnostics> {
        let parse =
            ParseOptions { defines: options.defines.clone(), include_dirs: options.include_dirs.clone() };
        let parsed = parse_loaded(sources, file, &parse);
        if parsed.diagnostics.has_errors() {
            return Err(parsed.diagnostics);
        }
        let read = |sources: &mut SourceMap, keyword, text: &str| {
            parse_property(sources, keyword, text, &parsed.macros)
        };
        let (given, mut diagnostics) = properties(sources, options, parsed.diagnostics, read)?;
        for (name, span) in parsed.macros.unused() {
            let message = format!("`-D {name}` has no effect: the model does not use this name");
            diagnostics.push(
                Diagnostic::warning(span, message)
                    .help("-D changes macros, not variables; names of macros are case-sensitive"),
            );
        }
        let lowered = lower_with(&parsed.model, &given, sources);
        diagnostics.extend(lowered.diagnostics);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let own_claims = lowered.claims.len().saturating_sub(given.len());
        // SPIN has no pointers and functions.
        let numbers = if parsed.model.dynamic { Vec::new() } else { lowered.numbers };
        Ok(Loaded {
            program: lowered.program,
            warnings: diagnostics,
            claims: lowered.claims,
            own_claims,
            numbers,
        })
    }
}
