//! BIR as one of the modelling languages.

use quotient_formula::properties;
use quotient_front_end::{Feature, FrontEnd, LoadOptions, Loaded, Words, is_name};
use quotient_source::{Diagnostics, FileId, SourceMap};

use crate::{LowerOptions, ast, lower_with, parse_loaded, parse_property};

/// BIR, the language of Bogor.
#[derive(Clone, Copy, Debug)]
pub struct Bir;

impl FrontEnd for Bir {
    fn name(&self) -> &'static str {
        "bir"
    }

    fn title(&self) -> &'static str {
        "BIR"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["bir"]
    }

    /// A file starts with `system NAME`.
    fn recognises(&self, text: &str) -> bool {
        let mut words = Words::new(text);
        words.next() == Some("system") && words.next().is_some_and(is_name)
    }

    fn features(&self) -> &'static [Feature] {
        &[Feature::Definitions]
    }

    fn load(
        &self,
        sources: &mut SourceMap,
        file: FileId,
        options: &LoadOptions,
    ) -> Result<Loaded, Diagnostics> {
        let parsed = parse_loaded(sources, file);
        let (Some(system), false) = (parsed.system, parsed.diagnostics.has_errors()) else {
            return Err(parsed.diagnostics);
        };
        let (properties, mut diagnostics) = properties(sources, options, parsed.diagnostics, parse_property)?;
        let asked: Vec<&ast::Expr> = properties.iter().flat_map(|p| p.expressions()).collect();
        let lower =
            LowerOptions { constants: options.defines.clone(), extensions: options.extensions.clone() };
        let lowered = lower_with(&system, &asked, sources, &lower);
        diagnostics.extend(lowered.diagnostics);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let key = |e: &ast::Expr, out: &mut String| out.push_str(&format!("{:?}", e.span));
        let claims = quotient_formula::claims(
            &properties,
            &lowered.propositions,
            &lowered.program,
            sources,
            &|e| e.span,
            &key,
        );
        Ok(Loaded {
            program: lowered.program,
            warnings: diagnostics,
            claims,
            own_claims: 0,
            numbers: Vec::new(),
        })
    }
}
