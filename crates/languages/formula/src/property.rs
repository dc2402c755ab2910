//! Properties given apart from a model (`--ltl`, `--ctl`, `--invariant`), from text to claims.

use quotient_front_end::{Claim, LoadOptions, PropertyKeyword};
use quotient_program::{Expr, Program};
use quotient_source::{Diagnostics, SourceMap, Span};

use crate::claim::Meaning;
use crate::parser::{Expressions, Parse, branching, invariant, linear};
use crate::syntax::Formula;

/// A property given apart from the model.
#[derive(Clone, Debug)]
pub struct Property<E> {
    /// What is asked.
    pub kind: PropertyKind<E>,
    /// The formula as written.
    pub text: String,
    /// The whole of it.
    pub span: Span,
}

/// The kinds of property.
#[derive(Clone, Debug)]
pub enum PropertyKind<E> {
    /// A formula of linear time, for every run.
    Ltl(Formula<E>),
    /// A formula of branching time, for the initial state.
    Ctl(Formula<E>),
    /// What must hold in every state.
    Invariant(E),
}

/// A property that makes up the whole input.
pub fn property<L: Expressions>(
    mut language: L,
    keyword: PropertyKeyword,
    text: &str,
) -> Parse<Property<L::Expr>> {
    let (kind, span) = match keyword {
        PropertyKeyword::Ltl => {
            let formula = linear(&mut language)?;
            let span = formula.span;
            (PropertyKind::Ltl(formula), span)
        }
        PropertyKeyword::Ctl => {
            let formula = branching(&mut language)?;
            let span = formula.span;
            (PropertyKind::Ctl(formula), span)
        }
        PropertyKeyword::Invariant => {
            let expr = invariant(&mut language)?;
            let span = L::span_of(&expr);
            (PropertyKind::Invariant(expr), span)
        }
    };
    Ok(Property { kind, text: text.trim().to_owned(), span })
}

/// The properties of the options, each read by `read`; or everything that is wrong with them, after what is in `diagnostics`.
pub fn properties<E>(
    sources: &mut SourceMap,
    options: &LoadOptions,
    mut diagnostics: Diagnostics,
    mut read: impl FnMut(&mut SourceMap, PropertyKeyword, &str) -> Result<Property<E>, Diagnostics>,
) -> Result<(Vec<Property<E>>, Diagnostics), Diagnostics> {
    let mut properties = Vec::new();
    for (keyword, text) in &options.properties {
        match read(sources, *keyword, text) {
            Ok(property) => properties.push(property),
            Err(errors) => diagnostics.extend(errors),
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok((properties, diagnostics)) }
}

/// The claims of properties whose expressions, all in a row, mean `propositions`. Expressions with the same `key` are one proposition.
pub fn claims<E>(
    properties: &[Property<E>],
    propositions: &[Expr],
    program: &Program,
    sources: &SourceMap,
    span: &dyn Fn(&E) -> Span,
    key: &dyn Fn(&E, &mut String),
) -> Vec<Claim> {
    // Formulas are files of their own, so that no two expressions have the same place.
    let spans: Vec<Span> = properties.iter().flat_map(|p| p.expressions()).map(span).collect();
    let mut meaning = |e: &E| {
        let at = spans.iter().position(|known| *known == span(e));
        let value = at.and_then(|at| propositions.get(at)).cloned();
        Meaning::new(value.unwrap_or(Expr::Const(0)), sources.slice(span(e)), program)
    };
    properties.iter().map(|p| p.claim(&mut meaning, key)).collect()
}
