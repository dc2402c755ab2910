//! What a model is claimed to satisfy.

use quotient_logic::Formula;
use quotient_program::{Expr, Function};
use quotient_source::Span;

/// Something a model is claimed to satisfy.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name; empty when it has none.
    pub name: String,
    /// `ltl`, `never`, `ctl` or `invariant`.
    pub keyword: &'static str,
    /// The formula as written; for a `never` claim its name.
    pub text: String,
    /// Where it is.
    pub span: Span,
    /// What it says.
    pub kind: ClaimKind,
    /// What the propositions of a formula mean; of an invariant, the one expression.
    pub propositions: Vec<Expr>,
    /// The propositions as written.
    pub names: Vec<String>,
}

/// The kinds of claim.
#[derive(Clone, Debug)]
pub enum ClaimKind {
    /// No run is followed by this automaton to its end or through its accept labels for ever.
    Never(Box<Function>),
    /// The formula holds on every run.
    Ltl(Formula),
    /// The formula holds in the initial state.
    Ctl(Formula),
    /// The proposition holds in every state.
    Invariant,
}

/// What a property given apart from the model is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKeyword {
    /// Linear temporal logic.
    Ltl,
    /// CTL*.
    Ctl,
    /// An expression.
    Invariant,
}

impl PropertyKeyword {
    /// All of them.
    pub const ALL: [PropertyKeyword; 3] =
        [PropertyKeyword::Ltl, PropertyKeyword::Ctl, PropertyKeyword::Invariant];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            PropertyKeyword::Ltl => "ltl",
            PropertyKeyword::Ctl => "ctl",
            PropertyKeyword::Invariant => "invariant",
        }
    }

    /// The keyword with this name.
    pub fn from_name(name: &str) -> Option<PropertyKeyword> {
        PropertyKeyword::ALL.into_iter().find(|k| k.name() == name)
    }
}

/// The text of a proposition on one line; in parentheses unless it is one word.
pub fn proposition_name(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.contains(' ') { format!("({text})") } else { text }
}
