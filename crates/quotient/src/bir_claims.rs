//! Temporal claims about BIR systems: formulas as for Promela, with expressions of BIR as their propositions.
//!
//! A formula is read by Promela's parser, which finds the parts without temporal operators; the text of each of them is then read
//! as a proposition of BIR.

use quotient_logic::Formula;
use quotient_program::Expr;
use quotient_promela::{
    Claim, ClaimKind, Guard, Macros, PropertyKeyword, ast, guarded, over_atoms, proposition_name,
};
use quotient_source::{Diagnostics, SourceMap, Span};

/// Properties that have been read: formulas over numbered propositions.
pub(crate) struct BirClaims {
    properties: Vec<ast::Property>,
    /// The propositions of all formulas, from left to right, and where they are.
    pub(crate) propositions: Vec<quotient_bir::ast::Expr>,
    spans: Vec<Span>,
}

/// Reads properties.
pub(crate) fn read(
    sources: &mut SourceMap,
    properties: &[(PropertyKeyword, String)],
) -> Result<BirClaims, Diagnostics> {
    let mut claims = BirClaims { properties: Vec::new(), propositions: Vec::new(), spans: Vec::new() };
    let mut wrong = Diagnostics::new();
    for (keyword, text) in properties {
        match quotient_promela::parse_property(sources, *keyword, text, &Macros::default()) {
            Ok(property) => claims.properties.push(property),
            Err(errors) => wrong.extend(errors),
        }
    }
    let mut spans: Vec<Span> = Vec::new();
    for property in &claims.properties {
        match &property.kind {
            ast::PropertyKind::Ltl(formula) | ast::PropertyKind::Ctl(formula) => {
                over_atoms(formula, &mut |e, _| {
                    spans.push(e.span);
                    Formula::True
                });
            }
            ast::PropertyKind::Invariant(e) => spans.push(e.span),
        }
    }
    for span in &spans {
        match quotient_bir::parse_proposition(sources, *span) {
            Ok(proposition) => claims.propositions.push(proposition),
            Err(errors) => wrong.extend(errors),
        }
    }
    claims.spans = spans;
    if wrong.has_errors() { Err(wrong) } else { Ok(claims) }
}

impl BirClaims {
    /// The claims, when the propositions mean `values`.
    pub(crate) fn claims(self, values: Vec<Expr>, sources: &SourceMap) -> Vec<Claim> {
        let value = |e: &ast::Expr| {
            let at = self.spans.iter().position(|span| *span == e.span);
            at.and_then(|at| values.get(at)).cloned().unwrap_or(Expr::Const(0))
        };
        let claim = |property: ast::Property| {
            let (mut propositions, mut names) = (Vec::new(), Vec::new());
            let mut atom = |e: &ast::Expr, guards: &[Guard<'_>]| {
                let proposition = value(e);
                match proposition.constant() {
                    Some(0) => Formula::False,
                    Some(_) => Formula::True,
                    None => {
                        propositions.push(guarded(proposition, guards, &mut |e| value(e)));
                        names.push(proposition_name(sources.slice(e.span)));
                        Formula::Prop(propositions.len() as u32 - 1)
                    }
                }
            };
            let (keyword, kind) = match &property.kind {
                ast::PropertyKind::Ltl(formula) => ("ltl", ClaimKind::Ltl(over_atoms(formula, &mut atom))),
                ast::PropertyKind::Ctl(formula) => ("ctl", ClaimKind::Ctl(over_atoms(formula, &mut atom))),
                ast::PropertyKind::Invariant(e) => {
                    propositions.push(value(e));
                    ("invariant", ClaimKind::Invariant)
                }
            };
            let (name, text, span) = (String::new(), property.text, property.span);
            Claim { name, keyword, text, span, kind, propositions, names }
        };
        self.properties.into_iter().map(claim).collect()
    }
}
