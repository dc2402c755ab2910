//! Temporal logic over numbered propositions: formulas ([`Formula`]: LTL and CTL*), their meaning on ultimately
//! periodic words ([`Lasso`]), and the translation of linear formulas to Büchi automata ([`translate`]).
//!
//! The translation is that of Gastin and Oddoux ("Fast LTL to Büchi automata translation", CAV 2001): formula, rewritten
//! (`rewrite`), to a very weak alternating automaton, to a generalised automaton with acceptance on its edges
//! (`alternating`; [`Generalised`] when it is the result), to a Büchi automaton (`degeneralise`), made smaller by simulation (`simulation`).
//!
//! Formulas of CTL* are answered on explicit graphs ([`Labelling`]).
//!
//! What a proposition means is the caller's business; nothing here knows about states or programs.

mod alternating;
mod branching;
mod buchi;
mod degeneralise;
mod evidence;
mod formula;
mod generalised;
mod graph;
mod lasso;
mod normal;
mod rewrite;
mod simulation;

pub use branching::{LabelError, Labelling, Witness};
pub use buchi::{Buchi, Edge, Label, State};
pub use evidence::Evidence;
pub use formula::Formula;
pub use generalised::{Generalised, MarkedEdge};
pub use graph::Graph;
pub use lasso::Lasso;

/// How many distinct propositions a formula may have.
pub const MOST_PROPOSITIONS: u32 = 64;

/// Why a formula has no automaton here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranslateError {
    /// A path quantifier: the formula is not linear.
    NotLinear,
    /// More than [`MOST_PROPOSITIONS`] propositions.
    TooManyPropositions,
    /// The automaton would be larger than any search could use.
    TooLarge,
}

impl std::fmt::Display for TranslateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TranslateError::NotLinear => "a linear formula has no path quantifiers `A` and `E`",
            TranslateError::TooManyPropositions => "a formula may have at most 64 distinct propositions",
            TranslateError::TooLarge => "the automaton of this formula is too large; split the formula",
        })
    }
}

impl std::error::Error for TranslateError {}

/// A Büchi automaton that accepts exactly the words on which `formula` holds.
pub fn translate(formula: &Formula) -> Result<Buchi, TranslateError> {
    let automaton = degeneralise::degeneralise(&raw(formula)?)?;
    Ok(simulation::reduce(automaton))
}

/// An automaton with several acceptance sets that accepts exactly the words on which `formula` holds.
pub fn translate_generalised(formula: &Formula) -> Result<Generalised, TranslateError> {
    let direct = Generalised::new(&raw(formula)?).map(Generalised::reduced);
    // Büchi automata have one more reduction (backward simulation), which sometimes wins.
    let buchi = translate(formula).map(|b| Generalised::from_buchi(&b).reduced());
    match (direct, buchi) {
        (Some(direct), Ok(buchi)) if buchi.states.len() < direct.states.len() => Ok(buchi),
        (Some(direct), _) => Ok(direct),
        (None, buchi) => buchi,
    }
}

fn raw(formula: &Formula) -> Result<alternating::Generalised, TranslateError> {
    if formula.propositions() > MOST_PROPOSITIONS {
        return Err(TranslateError::TooManyPropositions);
    }
    let mut arena = normal::Arena::default();
    let root = arena.negation_normal(formula, false).ok_or(TranslateError::NotLinear)?;
    let root = rewrite::simplify(&mut arena, root);
    alternating::generalised(&mut arena, root)
}
