//! Arithmetic on names: tables.
//!
//! An *atom* is an expression that computes something from one or two values. Where the classes of these values are known and small,
//! it is a table: a function of names (`(x + 1) % N`), a set of names (`x < 2`), a relation between names (`x < y`). A
//! renaming has to take the table to a table, entry by entry, which is what the graph asks of it; then it takes the value in one
//! state to the value in the other. Where a class is open, large, or numeric, the atom makes numbers of all that it touches.

use std::collections::BTreeSet;

use quotient_program::{BinaryOp, UnaryOp};
use quotient_source::Span;

use crate::ground::{Exp, is_condition};
use crate::sorts::{ClassId, Sorts};

/// Most values of a class that is computed with.
const MOST_VALUES: usize = 40;

/// Most entries of a table.
const MOST_ENTRIES: usize = 1_024;

/// An expression over one or two places.
pub(crate) struct Atom {
    pub(crate) term: Exp,
    pub(crate) leaves: Vec<Exp>,
    pub(crate) classes: Vec<ClassId>,
    /// Only whether it is zero counts.
    pub(crate) truth: bool,
    /// The class of its value, if it has one leaf.
    pub(crate) result: Option<ClassId>,
    pub(crate) span: Option<Span>,
}

impl Atom {
    /// The value when the leaves have these; none for a fault.
    pub(crate) fn value(&self, leaves: &[i32]) -> Option<i32> {
        let value = value(&self.term, &self.leaves, leaves)?;
        Some(if self.truth { i32::from(value != 0) } else { value })
    }
}

fn value(e: &Exp, leaves: &[Exp], values: &[i32]) -> Option<i32> {
    Some(match e {
        Exp::Num(v) => *v,
        Exp::Unary(op, a) => {
            let a = value(a, leaves, values)?;
            match op {
                UnaryOp::Not => i32::from(a == 0),
                UnaryOp::Complement => !a,
                UnaryOp::Negate => a.wrapping_neg(),
            }
        }
        Exp::Binary(op, a, b) => {
            debug_assert!(!matches!(op, BinaryOp::And | BinaryOp::Or), "these are lists here");
            op.apply(value(a, leaves, values)?, value(b, leaves, values)?)?
        }
        // Leaves are compared as a whole.
        e => values[leaves.iter().position(|l| l == e)?],
    })
}

impl Sorts<'_> {
    /// Decides which atoms are tables, and completes the classes by what these yield.
    pub(crate) fn settle(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for at in 0..self.atoms.len() {
                changed |= self.settle_atom(at);
            }
            for class in 0..self.list.len() {
                if self.find(class) == class && self.is_names(class) && !self.fits(class) {
                    changed |= self.make_numeric(class);
                }
            }
        }
    }

    fn settle_atom(&mut self, at: usize) -> bool {
        let classes = self.atoms[at].classes.clone();
        let result = self.atoms[at].result;
        let tabulated = |sorts: &Self, class: ClassId| {
            let known = sorts.get(class);
            known.numeric.is_none()
                && !known.open
                && known.values.len() <= MOST_VALUES
                && !sorts.holds_channels(class)
        };
        let entries: usize = classes.iter().map(|c| self.get(*c).values.len()).product();
        let mut changed = false;
        if entries > MOST_ENTRIES || !classes.iter().all(|c| tabulated(self, *c)) {
            for class in classes.into_iter().chain(result) {
                if self.is_names(class) {
                    let class = self.find(class);
                    self.list[class].numeric = Some(self.atoms[at].span);
                    changed = true;
                }
            }
        } else if let Some(result) = result.filter(|r| self.is_names(*r)) {
            let mut fresh: Vec<i32> = self.get(classes[0]).values.iter().copied().collect();
            let result = self.find(result);
            let circular = self.find(classes[0]) == result;
            // What a class yields to itself, as `i + 1` does, is gone on from at once, as long as the class is small.
            while !fresh.is_empty() {
                let yields: BTreeSet<i32> =
                    fresh.iter().filter_map(|v| self.atoms[at].value(&[*v])).collect();
                let known = &mut self.list[result].values;
                fresh = yields.into_iter().filter(|value| known.insert(*value)).collect();
                changed |= !fresh.is_empty();
                if !circular || known.len() > MOST_VALUES {
                    break;
                }
            }
        }
        changed
    }

    /// The atom that an expression is, if it is a table.
    pub(crate) fn table(&self, e: &Exp, truth: bool) -> Option<&Atom> {
        let computes = matches!(e, Exp::Load(_) | Exp::Unary(..) | Exp::Binary(..)) && !is_condition(e);
        let known = if computes { self.atom_of[usize::from(truth)].get(e) } else { None };
        let atom = &self.atoms[*known?];
        atom.classes.iter().all(|c| self.is_names(*c)).then_some(atom)
    }
}
