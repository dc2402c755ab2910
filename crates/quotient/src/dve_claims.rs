//! Claims about DVE systems: the property process, assertions in states, and formulas as for Promela, with expressions of DVE
//! as their propositions.

use quotient_logic::Formula;
use quotient_program::{Expr, Program};
use quotient_promela::{
    Claim, ClaimKind, Guard, Macros, PropertyKeyword, ast, guarded, over_atoms, proposition_name,
};
use quotient_source::{Diagnostics, SourceMap, Span};

/// The program of a system, the claims it makes and those given apart from it, and how many are its own.
pub(crate) fn lower(
    system: &quotient_dve::ast::System,
    sources: &mut SourceMap,
    properties: &[(PropertyKeyword, String)],
    diagnostics: &mut Diagnostics,
) -> Option<(Program, Vec<Claim>, usize)> {
    let mut given = Vec::new();
    for (keyword, text) in properties {
        match quotient_promela::parse_property(sources, *keyword, text, &Macros::default()) {
            Ok(property) => given.push(property),
            Err(errors) => diagnostics.extend(errors),
        }
    }
    let mut spans: Vec<Span> = Vec::new();
    for property in &given {
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
    let mut propositions = Vec::new();
    for span in &spans {
        match quotient_dve::parse_proposition(sources, *span) {
            Ok(proposition) => propositions.push(proposition),
            Err(errors) => diagnostics.extend(errors),
        }
    }
    if diagnostics.has_errors() {
        return None;
    }
    let lowered = quotient_dve::lower(system, &propositions, sources);
    diagnostics.extend(lowered.diagnostics);
    let mut claims = Vec::new();
    if let Some(function) = lowered.property {
        let (name, span) = (function.name.clone(), function.span);
        let (text, kind) = (name.clone(), ClaimKind::Never(Box::new(function)));
        let (propositions, names) = (Vec::new(), Vec::new());
        claims.push(Claim { name, keyword: "never", text, span, kind, propositions, names });
    }
    for assertion in lowered.assertions {
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
    let own = claims.len();
    let values = &lowered.propositions;
    claims.extend(given.into_iter().map(|property| claim(property, &spans, values, sources)));
    Some((lowered.program, claims, own))
}

fn claim(property: ast::Property, spans: &[Span], values: &[Expr], sources: &SourceMap) -> Claim {
    let value = |e: &ast::Expr| {
        let at = spans.iter().position(|span| *span == e.span);
        at.and_then(|at| values.get(at)).cloned().unwrap_or(Expr::Const(0))
    };
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
}
