//! Formulas over expressions become claims over numbered propositions.
//!
//! The parts of a formula without temporal operators become propositions, each distinct one once; what remains is a formula
//! over their numbers.

use quotient_front_end::{Claim, ClaimKind, proposition_name};
use quotient_logic::Formula as Logic;
use quotient_program::{Expr, Program};

use crate::guards::{guarded, over_atoms, write_guards};
use crate::{Formula, Property, PropertyKind};

/// A formula over propositions, what they mean, and how they are written.
pub type OverPropositions = (Logic, Vec<Expr>, Vec<String>);

/// What an expression of a formula means.
pub struct Meaning {
    /// Its value.
    pub value: Expr,
    /// How it is written.
    pub text: String,
    /// Whether it need not have a value ([`Expr::may_fault`]).
    pub may_fault: bool,
}

impl Meaning {
    /// The meaning of an expression, in a program without the locals of any thread.
    pub fn new(value: Expr, text: &str, program: &Program) -> Meaning {
        Meaning { may_fault: value.may_fault(program, &[]), value, text: text.to_owned() }
    }
}

impl<E> Formula<E> {
    /// The formula over its propositions. `meaning` translates an expression; two expressions with the same `key` are one
    /// proposition.
    pub fn over_propositions(
        &self,
        meaning: &mut dyn FnMut(&E) -> Meaning,
        key: &dyn Fn(&E, &mut String),
    ) -> OverPropositions {
        let mut known: Vec<String> = Vec::new();
        let (mut propositions, mut names) = (Vec::new(), Vec::new());
        let formula = over_atoms(self, &mut |e, guards| {
            let Meaning { mut value, text, may_fault } = meaning(e);
            match value.constant() {
                Some(0) => return Logic::False,
                Some(_) => return Logic::True,
                None => {}
            }
            let mut this = String::new();
            key(e, &mut this);
            if may_fault {
                write_guards(guards, &mut this, key);
                value = guarded(value, guards, &mut |e| meaning(e).value);
            }
            let number = known.iter().position(|k| *k == this).unwrap_or_else(|| {
                known.push(this);
                propositions.push(value);
                names.push(proposition_name(&text));
                known.len() - 1
            });
            Logic::Prop(number as u32)
        });
        (formula, propositions, names)
    }
}

impl<E> Property<E> {
    /// The expressions in it, from left to right.
    pub fn expressions(&self) -> Vec<&E> {
        let mut out = Vec::new();
        match &self.kind {
            PropertyKind::Ltl(formula) | PropertyKind::Ctl(formula) => {
                over_atoms(formula, &mut |e, _| {
                    out.push(e);
                    Logic::True
                });
            }
            PropertyKind::Invariant(e) => out.push(e),
        }
        out
    }

    /// The claim, by the meaning of its expressions; see [`Formula::over_propositions`].
    pub fn claim(&self, meaning: &mut dyn FnMut(&E) -> Meaning, key: &dyn Fn(&E, &mut String)) -> Claim {
        let (keyword, kind, propositions, names) = match &self.kind {
            PropertyKind::Ltl(formula) => {
                let (formula, propositions, names) = formula.over_propositions(meaning, key);
                ("ltl", ClaimKind::Ltl(formula), propositions, names)
            }
            PropertyKind::Ctl(formula) => {
                let (formula, propositions, names) = formula.over_propositions(meaning, key);
                ("ctl", ClaimKind::Ctl(formula), propositions, names)
            }
            PropertyKind::Invariant(e) => {
                ("invariant", ClaimKind::Invariant, vec![meaning(e).value], Vec::new())
            }
        };
        let (name, text, span) = (String::new(), self.text.clone(), self.span);
        Claim { name, keyword, text, span, kind, propositions, names }
    }
}
