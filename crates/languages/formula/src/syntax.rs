//! Formulas over expressions of type `E`.

use quotient_source::Span;

/// A temporal formula.
#[derive(Clone, Debug)]
pub struct Formula<E> {
    /// What it is.
    pub kind: FormulaKind<E>,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of formula.
#[derive(Clone, Debug)]
pub enum FormulaKind<E> {
    /// A state expression without temporal operators (boolean structure above it is in the formula).
    Atom(E),
    /// `!`
    Not(Box<Formula<E>>),
    /// `&&`, `/\`, `and`
    And(Box<Formula<E>>, Box<Formula<E>>),
    /// `||`, `\/`, `or`
    Or(Box<Formula<E>>, Box<Formula<E>>),
    /// `->`, `implies`
    Implies(Box<Formula<E>>, Box<Formula<E>>),
    /// `<->`, `equivalent`
    Equivalent(Box<Formula<E>>, Box<Formula<E>>),
    /// `[]`, `always`
    Always(Box<Formula<E>>),
    /// `<>`, `eventually`
    Eventually(Box<Formula<E>>),
    /// `X`, `next`
    Next(Box<Formula<E>>),
    /// `U`, `until`, `stronguntil`
    Until(Box<Formula<E>>, Box<Formula<E>>),
    /// `W`, `weakuntil`
    WeakUntil(Box<Formula<E>>, Box<Formula<E>>),
    /// `V`, `release`
    Release(Box<Formula<E>>, Box<Formula<E>>),
    /// `E`: on some path; only with `--ctl`
    Exists(Box<Formula<E>>),
    /// `A`: on all paths; only with `--ctl`
    All(Box<Formula<E>>),
}

impl<E> Formula<E> {
    /// Does the formula have a temporal operator?
    pub fn is_temporal(&self) -> bool {
        use FormulaKind as F;
        match &self.kind {
            F::Atom(_) => false,
            F::Not(a) => a.is_temporal(),
            F::And(a, b) | F::Or(a, b) | F::Implies(a, b) | F::Equivalent(a, b) => {
                a.is_temporal() || b.is_temporal()
            }
            _ => true,
        }
    }
}
