//! Expressions over symbolic states.
//!
//! A value is a list of cases, each a condition and a linear sum: an array element with a variable
//! index is one case for each index, a truth value used as a number is two. The conditions of the
//! cases exclude each other; what none covers is a fault (an index out of bounds), and noted as one.

use quotient_program::{BinaryOp, Expr, IntType, Place, Program, Projection, Root, Type, UnaryOp};
use quotient_source::{Diagnostic, Span};

use super::layout::{Layout, Thread};
use crate::frontend::symbolic::{Condition, Sum};
use crate::language::ast::Relation;

/// Something a step can do wrong, under a condition on the state before it.
pub(super) struct Fault {
    /// `assert` or `index`.
    pub(super) kind: &'static str,
    /// Where.
    pub(super) span: Span,
    /// When.
    pub(super) condition: Condition,
}

/// A value: exclusive cases.
pub(super) type Cases = Vec<(Condition, Sum)>;

pub(super) type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// What expressions are evaluated in.
pub(super) struct Evaluator<'a> {
    pub(super) program: &'a Program,
    pub(super) threads: &'a [Thread],
    pub(super) layout: &'a Layout,
    /// The process that evaluates.
    pub(super) thread: usize,
    /// Where it stands now; other processes stand where they did before the step.
    pub(super) location: u32,
    /// The value of every variable column.
    pub(super) state: &'a [Sum],
    /// Statement being translated.
    pub(super) span: Span,
    /// Faults met.
    pub(super) faults: &'a mut Vec<Fault>,
    /// The first place where a value that is compared may leave 32 bits on the way: there the model's own
    /// arithmetic differs from that of unbounded integers.
    pub(super) wide: &'a mut Option<Span>,
    /// The value asked for is compared, not stored.
    pub(super) compared: bool,
    /// What is known where the evaluation stands: the path so far and short-circuit conditions.
    pub(super) assumed: Condition,
}

impl Evaluator<'_> {
    pub(super) fn refuse<T>(&self, what: &str) -> Result<T> {
        Err(Box::new(
            Diagnostic::error(self.span, format!("{what}: not supported by `prove`"))
                .help("`prove` reads models whose arithmetic is linear, over shared integer variables"),
        ))
    }

    fn overflow<T>(&self) -> Result<T> {
        Err(Box::new(Diagnostic::error(self.span, "a coefficient or constant is too large")))
    }

    fn compare(&self, relation: Relation, a: &Sum, b: &Sum) -> Result<Condition> {
        Condition::compare(relation, a, b).map_or_else(|| self.overflow(), Ok)
    }

    /// The columns a place may name, each under its condition.
    pub(super) fn place(&mut self, place: &Place) -> Result<Vec<(Condition, usize)>> {
        let (first, mut ty) = match &place.root {
            Root::Global(id) => (self.layout.global(*id), self.program.globals[id.0 as usize].ty.clone()),
            Root::Local(id) => {
                let function = self.program.function(self.threads[self.thread].function);
                (self.layout.local(self.thread, *id), function.locals[id.0 as usize].ty.clone())
            }
            Root::Remote { thread, function, variable } => {
                let thread = self.constant_thread(thread)?;
                if self.threads[thread].function != *function {
                    return self.refuse("a variable of a process that runs something else");
                }
                let ty = self.program.function(*function).locals[variable.0 as usize].ty.clone();
                (self.layout.local(thread, *variable), ty)
            }
            _ => return self.refuse("a reference to the heap"),
        };
        let mut found = vec![(Condition::Truth(true), first)];
        for step in &place.path {
            match (step, ty) {
                (Projection::Field(field), Type::Structure(id)) => {
                    let fields = &self.program.structure(id).fields;
                    let skipped: usize =
                        fields[..*field as usize].iter().map(|f| self.program.scalars(&f.ty)).sum();
                    found.iter_mut().for_each(|f| f.1 += skipped);
                    ty = fields[*field as usize].ty.clone();
                }
                (Projection::Index(index), Type::Array(element, length)) => {
                    let size = self.program.scalars(&element);
                    let cases = self.compared_value(index)?;
                    let mut next = Vec::new();
                    for (condition, sum) in cases {
                        let within =
                            |c: &Sum| c.as_constant().is_some_and(|v| (0..i64::from(length)).contains(&v));
                        if !within(&sum) {
                            let low = self.compare(Relation::Less, &sum, &Sum::constant(0))?;
                            let high =
                                self.compare(Relation::AtLeast, &sum, &Sum::constant(length.into()))?;
                            self.fault("index", condition.clone().and(low.or(high)));
                        }
                        for at in 0..length {
                            let here = self.compare(Relation::Equal, &sum, &Sum::constant(at.into()))?;
                            let here = condition.clone().and(here);
                            if here != Condition::Truth(false) {
                                let offset = at as usize * size;
                                next.extend(
                                    found.iter().map(|(c, f)| (c.clone().and(here.clone()), f + offset)),
                                );
                            }
                        }
                    }
                    found = next;
                    ty = *element;
                }
                _ => return self.refuse("this way into a variable"),
            }
        }
        Ok(found)
    }

    pub(super) fn fault(&mut self, kind: &'static str, condition: Condition) {
        let condition = self.assumed.clone().and(condition);
        if condition != Condition::Truth(false) {
            self.faults.push(Fault { kind, span: self.span, condition });
        }
    }

    fn constant_thread(&mut self, thread: &Expr) -> Result<usize> {
        let value = match &self.compared_value(thread)?[..] {
            [(Condition::Truth(true), sum)] => sum.as_constant(),
            _ => None,
        };
        match value.and_then(|v| usize::try_from(v).ok()).filter(|t| *t < self.threads.len()) {
            Some(thread) => Ok(thread),
            None => self.refuse("a reference to a process that is not fixed"),
        }
    }

    /// The value of an expression that decides something.
    fn compared_value(&mut self, e: &Expr) -> Result<Cases> {
        let outer = std::mem::replace(&mut self.compared, true);
        let value = self.value(e);
        self.compared = outer;
        value
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, e: &Expr) -> Result<Cases> {
        Ok(match e {
            Expr::Const(value) => vec![(Condition::Truth(true), Sum::constant((*value).into()))],
            Expr::SelfId => vec![(Condition::Truth(true), Sum::constant(self.thread as i64))],
            Expr::Load(place) => {
                self.place(place)?.into_iter().map(|(c, at)| (c, self.state[at].clone())).collect()
            }
            Expr::Spanned(inner, span) => {
                let outer = std::mem::replace(&mut self.span, *span);
                let value = self.value(inner);
                self.span = outer;
                value?
            }
            Expr::Unary(UnaryOp::Negate, inner) => self.map(inner, |sum| Sum::default().plus(sum, -1))?,
            Expr::Unary(UnaryOp::Complement, inner) => {
                self.map(inner, |sum| Sum::constant(-1).plus(sum, -1))?
            }
            Expr::Conditional(c, a, b) => {
                let c = self.condition(c)?;
                let mut out = Vec::new();
                for (case, e) in [(c.clone(), a), (c.negated(), b)] {
                    let value = self.under(case.clone(), |me| me.value(e))?;
                    out.extend(value.into_iter().map(|(own, sum)| (case.clone().and(own), sum)));
                }
                out.retain(|(c, _)| *c != Condition::Truth(false));
                out
            }
            Expr::Binary(op, a, b) if !is_truth(*op) => self.arithmetic(*op, a, b)?,
            Expr::Binary(..) | Expr::Unary(UnaryOp::Not, _) | Expr::At { .. } => {
                let c = self.condition(e)?;
                let cases = [(c.clone(), 1), (c.negated(), 0)];
                cases
                    .into_iter()
                    .filter(|c| c.0 != Condition::Truth(false))
                    .map(|(c, v)| (c, Sum::constant(v)))
                    .collect()
            }
            Expr::ThreadCount => return self.refuse("`_nr_pr`"),
            Expr::Last => return self.refuse("`_last`"),
            Expr::Timeout => return self.refuse("`timeout`"),
            Expr::Priority(_) => return self.refuse("a priority"),
            Expr::Length(_) | Expr::Full(_) | Expr::Empty(_) | Expr::Poll { .. } => {
                return self.refuse("a channel");
            }
            _ => return self.refuse("this expression"),
        })
    }

    fn map(&mut self, e: &Expr, f: impl Fn(&Sum) -> Option<Sum>) -> Result<Cases> {
        let mut cases = self.value(e)?;
        for (_, sum) in &mut cases {
            match f(sum) {
                Some(next) => *sum = next,
                None => return self.overflow(),
            }
        }
        Ok(cases)
    }

    /// Evaluates under one more assumption.
    fn under<T>(&mut self, more: Condition, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = self.assumed.clone();
        self.assumed = outer.clone().and(more);
        let result = run(self);
        self.assumed = outer;
        result
    }

    fn arithmetic(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Result<Cases> {
        let (left, right) = (self.value(a)?, self.value(b)?);
        let mut out = Vec::new();
        for (c, x) in &left {
            for (d, y) in &right {
                let condition = c.clone().and(d.clone());
                if condition == Condition::Truth(false) {
                    continue;
                }
                let sum = match (op, x.as_constant(), y.as_constant()) {
                    (BinaryOp::Add, ..) => x.plus(y, 1),
                    (BinaryOp::Sub, ..) => x.plus(y, -1),
                    (BinaryOp::Mul, Some(factor), _) => Sum::default().plus(y, factor),
                    (BinaryOp::Mul, _, Some(factor)) => Sum::default().plus(x, factor),
                    (BinaryOp::Mul, ..) => return self.refuse("a product of two variables"),
                    (_, Some(v), Some(w)) => {
                        let folded = i32::try_from(v).ok().zip(i32::try_from(w).ok());
                        match folded.and_then(|(v, w)| op.apply(v, w)) {
                            Some(value) => Some(Sum::constant(value.into())),
                            None => return self.refuse("this constant expression"),
                        }
                    }
                    (BinaryOp::Div | BinaryOp::Mod, ..) => return self.refuse("division of a variable"),
                    _ => return self.refuse("an operation on the bits of a variable"),
                };
                match sum {
                    Some(sum) => {
                        let (low, high) = sum.bounds(&|at| range(self.layout.ty(at)));
                        if self.compared && (low < i32::MIN.into() || high > i32::MAX.into()) {
                            self.wide.get_or_insert(self.span);
                        }
                        out.push((condition, sum));
                    }
                    None => return self.overflow(),
                }
            }
        }
        Ok(out)
    }

    /// The expression as a truth value.
    pub(super) fn condition(&mut self, e: &Expr) -> Result<Condition> {
        match e {
            Expr::Spanned(inner, span) => {
                let outer = std::mem::replace(&mut self.span, *span);
                let condition = self.condition(inner);
                self.span = outer;
                condition
            }
            Expr::Unary(UnaryOp::Not, inner) => Ok(self.condition(inner)?.negated()),
            Expr::Binary(BinaryOp::And, a, b) => {
                let left = self.condition(a)?;
                let right = self.under(left.clone(), |me| me.condition(b))?;
                Ok(left.and(right))
            }
            Expr::Binary(BinaryOp::Or, a, b) => {
                let left = self.condition(a)?;
                let right = self.under(left.clone().negated(), |me| me.condition(b))?;
                Ok(left.or(right))
            }
            Expr::Binary(op, a, b) if is_truth(*op) => {
                let relation = match op {
                    BinaryOp::Lt => Relation::Less,
                    BinaryOp::Le => Relation::AtMost,
                    BinaryOp::Gt => Relation::Greater,
                    BinaryOp::Ge => Relation::AtLeast,
                    BinaryOp::Eq => Relation::Equal,
                    _ => Relation::Different,
                };
                let (left, right) = (self.compared_value(a)?, self.compared_value(b)?);
                let mut out = Condition::Truth(false);
                for (c, x) in &left {
                    for (d, y) in &right {
                        let here = self.compare(relation, x, y)?;
                        out = out.or(c.clone().and(d.clone()).and(here));
                    }
                }
                Ok(out)
            }
            Expr::At { thread, label } => {
                let thread = self.constant_thread(thread)?;
                let label = self.program.labels[label.0 as usize];
                if self.threads[thread].function != label.function {
                    return Ok(Condition::Truth(false));
                }
                Ok(match self.layout.counter[thread] {
                    _ if thread == self.thread => Condition::Truth(self.location == label.location.0),
                    None => Condition::Truth(self.threads[thread].location == label.location.0),
                    Some(counter) => Condition::At(counter, label.location.0.into()),
                })
            }
            _ => {
                let mut out = Condition::Truth(false);
                for (c, sum) in self.compared_value(e)? {
                    let here = self.compare(Relation::Different, &sum, &Sum::constant(0))?;
                    out = out.or(c.and(here));
                }
                Ok(out)
            }
        }
    }
}

fn is_truth(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::And
            | BinaryOp::Or
    )
}

/// The values of an integer type.
pub(super) fn range(ty: IntType) -> (i64, i64) {
    let bits = u32::from(ty.bits);
    if ty.signed { (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1) } else { (0, (1i64 << bits) - 1) }
}
