//! DVE as one of the modelling languages.

use quotient_formula::properties;
use quotient_front_end::{Claim, ClaimKind, Feature, FrontEnd, LoadOptions, Loaded, Words};
use quotient_source::{Diagnostics, FileId, SourceMap};

use crate::{Lowered, ast, lower, parse_loaded, parse_property, print};

/// DVE, the language of DiVinE.
#[derive(Clone, Copy, Debug)]
pub struct Dve;

impl FrontEnd for Dve {
    fn name(&self) -> &'static str {
        "dve"
    }

    fn title(&self) -> &'static str {
        "DVE"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["dve"]
    }

    /// A file ends with `system async …`.
    fn recognises(&self, text: &str) -> bool {
        let words: Vec<&str> = Words::new(text).collect();
        words.windows(2).any(|w| w[0] == "system" && matches!(w[1], "async" | "sync"))
            && words.contains(&"process")
    }

    fn features(&self) -> &'static [Feature] {
        &[Feature::Claims]
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
        let mut lowered = lower(&system, &asked, sources);
        diagnostics.extend(std::mem::take(&mut lowered.diagnostics));
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let mut claims = own_claims(&mut lowered, sources);
        let own_claims = claims.len();
        let key = |e: &ast::Expr, out: &mut String| out.push_str(&print::expr(e));
        let given = quotient_formula::claims(
            &properties,
            &lowered.propositions,
            &lowered.program,
            sources,
            &|e| e.span,
            &key,
        );
        claims.extend(given);
        Ok(Loaded {
            program: lowered.program,
            warnings: diagnostics,
            claims,
            own_claims,
            numbers: Vec::new(),
        })
    }
}

/// What a system claims itself: that its property process accepts no run, and its assertions.
fn own_claims(lowered: &mut Lowered, sources: &SourceMap) -> Vec<Claim> {
    let mut claims = Vec::new();
    if let Some(function) = lowered.property.take() {
        let (name, span) = (function.name.clone(), function.span);
        let (text, kind) = (name.clone(), ClaimKind::Never(Box::new(function)));
        let (propositions, names) = (Vec::new(), Vec::new());
        claims.push(Claim { name, keyword: "never", text, span, kind, propositions, names });
    }
    for assertion in std::mem::take(&mut lowered.assertions) {
        let text = sources.slice(assertion.span).split_whitespace().collect::<Vec<_>>().join(" ");
        claims.push(Claim {
            name: assertion.place,
            keyword: "invariant",
            text,
            span: assertion.span,
            kind: ClaimKind::Invariant,
            propositions: vec![assertion.holds],
            names: Vec::new(),
        });
    }
    claims
}
