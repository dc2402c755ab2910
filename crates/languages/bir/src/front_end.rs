//! BIR as one of the modelling languages.

use quotient_front_end::{Feature, FrontEnd, LoadOptions, Loaded, Words, is_name};
use quotient_program::Expr;
use quotient_source::{Diagnostics, FileId, SourceMap, Span};

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
        let mut diagnostics = parsed.diagnostics;
        let system = match parsed.system {
            Some(system) if !diagnostics.has_errors() => system,
            _ => return Err(diagnostics),
        };
        let mut properties = Vec::new();
        for (keyword, text) in &options.properties {
            match parse_property(sources, *keyword, text) {
                Ok(property) => properties.push(property),
                Err(errors) => diagnostics.extend(errors),
            }
        }
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let asked: Vec<&ast::Expr> = properties.iter().flat_map(|p| p.expressions()).collect();
        let lower =
            LowerOptions { constants: options.defines.clone(), extensions: options.extensions.clone() };
        let lowered = lower_with(&system, &asked, sources, &lower);
        diagnostics.extend(lowered.diagnostics);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        // Formulas are files of their own, so that no two expressions have the same place.
        let spans: Vec<Span> = asked.iter().map(|e| e.span).collect();
        let meaning = |e: &ast::Expr| {
            let at = spans.iter().position(|span| *span == e.span);
            let value = at.and_then(|at| lowered.propositions.get(at)).cloned();
            (value.unwrap_or(Expr::Const(0)), sources.slice(e.span).to_owned())
        };
        let key = |e: &ast::Expr, out: &mut String| out.push_str(&format!("{:?}", e.span));
        let claims = properties.iter().map(|p| p.claim(&mut { meaning }, &key)).collect();
        Ok(Loaded { program: lowered.program, warnings: diagnostics, claims, own_claims: 0 })
    }
}
