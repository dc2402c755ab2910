//! The conditions that a thread must find true before it takes a way on: what keeps it from touching a variable meanwhile.
//!
//! A thread that can only pass `x == 0` to do anything to `x` does nothing to it as long as `x` is something else and nobody else
//! changes it. So each way on from a location is told with the touches that belong to it and the comparisons of one scalar with
//! a constant that its first condition consists of; whether they keep the thread away is for the caller to find out.
//!
//! A way has no conditions where something senses that it cannot be taken (`else`, `unless`, the next way on of a `d_step`), since that
//! reads what they read: what one of the ways touches is then taken to be touched from there, whatever it is. And none where
//! evaluating the first condition may fail, since that is a step too, whatever its other parts say.

use std::ops::Range;

use quotient_program::{
    BinaryOp, Expr, Function, FunctionId, LocationId, Operation, Place, Projection, Root, UnaryOp, VariableId,
};

use super::Selector;
use super::fixed::Fixed;
use super::step::strip;

/// One way on from a location.
#[derive(Clone, Debug)]
pub struct Way {
    /// Its touches, among those of the step.
    pub touches: Range<usize>,
    /// Where it leads, for walking on.
    pub target: Option<LocationId>,
    /// Each of them must hold for it to be taken.
    pub conditions: Vec<Condition>,
}

/// A comparison of part of a global variable with a value that never changes.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The variable.
    pub variable: VariableId,
    /// Which part.
    pub path: Vec<Selector>,
    /// How they are compared.
    pub comparison: BinaryOp,
    /// What it is compared with: a constant, or made of constants and the thread's id.
    pub with: Expr,
}

/// What the operation of a way asks for. `leads_to`: where it leads.
pub(super) fn conditions(
    fixed: &Fixed,
    id: FunctionId,
    function: &Function,
    operation: &Operation,
    leads_to: Option<LocationId>,
) -> Vec<Condition> {
    let mut finder = Finder { fixed, function: id, found: Vec::new() };
    let known = match operation {
        Operation::When(e) => finder.conjuncts(e),
        // Executable when the one way on from there is.
        Operation::Enter => match leads_to.map(|l| &function.locations[l.0 as usize].transformations[..]) {
            Some([only]) => match &only.operation {
                Operation::When(e) => finder.conjuncts(e),
                _ => false,
            },
            _ => false,
        },
        _ => false,
    };
    if known { finder.found } else { Vec::new() }
}

struct Finder<'a> {
    fixed: &'a Fixed,
    function: FunctionId,
    found: Vec<Condition>,
}

impl Finder<'_> {
    /// Adds the comparisons that a condition consists of. `false` if it may fail to have a value.
    fn conjuncts(&mut self, e: &Expr) -> bool {
        match e {
            Expr::Spanned(e, _) => self.conjuncts(e),
            Expr::Binary(BinaryOp::And, a, b) => self.conjuncts(a) && self.conjuncts(b),
            _ => {
                let found = self.comparison(e);
                self.found.extend(found);
                self.has_a_value(e)
            }
        }
    }

    fn comparison(&self, e: &Expr) -> Option<Condition> {
        match e {
            Expr::Spanned(e, _) => self.comparison(e),
            Expr::Load(place) => self.condition(place, BinaryOp::Ne, &Expr::Const(0)),
            Expr::Unary(UnaryOp::Not, e) => match strip(e) {
                Expr::Load(place) => self.condition(place, BinaryOp::Eq, &Expr::Const(0)),
                _ => None,
            },
            Expr::Binary(op, a, b) => {
                let turned = turned(*op)?;
                match (strip(a), strip(b)) {
                    (Expr::Load(place), with) if uses_no_variable(with) => self.condition(place, *op, with),
                    (with, Expr::Load(place)) if uses_no_variable(with) => {
                        self.condition(place, turned, with)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn condition(&self, place: &Place, comparison: BinaryOp, with: &Expr) -> Option<Condition> {
        let Root::Global(variable) = place.root else { return None };
        let path = place.path.iter().map(|p| match p {
            Projection::Field(f) => Some(Selector::Field(*f)),
            Projection::Index(e) => self.fixed.is_fixed(self.function, e).then(|| Selector::Index(e.clone())),
            Projection::Member(..) => None,
        });
        let path = path.collect::<Option<Vec<Selector>>>()?;
        Some(Condition { variable, path, comparison, with: with.clone() })
    }

    /// Nothing in the expression can fail, unless it always does.
    fn has_a_value(&self, e: &Expr) -> bool {
        match e {
            Expr::Spanned(e, _) | Expr::Unary(_, e) => self.has_a_value(e),
            Expr::Binary(op, a, b) => {
                !matches!(op, BinaryOp::Div | BinaryOp::Mod) && self.has_a_value(a) && self.has_a_value(b)
                    || self.fixed.is_fixed(self.function, e)
            }
            Expr::Load(Place { root: Root::Global(_) | Root::Local(_), path, .. }) => {
                path.iter().all(|p| match p {
                    Projection::Field(_) => true,
                    Projection::Index(e) => self.fixed.is_fixed(self.function, e),
                    Projection::Member(..) => false,
                })
            }
            Expr::Const(_) | Expr::SelfId => true,
            _ => false,
        }
    }
}

/// The comparison with its sides exchanged, if it is one.
fn turned(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Eq | BinaryOp::Ne => op,
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        _ => return None,
    })
}

/// Is it made of constants and the thread's id?
fn uses_no_variable(e: &Expr) -> bool {
    match e {
        Expr::Const(_) | Expr::SelfId => true,
        Expr::Spanned(e, _) | Expr::Unary(_, e) => uses_no_variable(e),
        Expr::Binary(_, a, b) => uses_no_variable(a) && uses_no_variable(b),
        _ => false,
    }
}
