//! Walks over the expressions and places of a program, for analyses.

use crate::{
    Action, Allocation, Callee, Choice, Expr, Operation, Pattern, Place, PrintfPart, Projection, Root,
    Transformation,
};

/// How a place is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Its value is read.
    Read,
    /// A value is stored there.
    Write,
}

/// Something that looks at expressions and places.
pub trait Visitor {
    /// Called for every expression, outermost first.
    fn expr(&mut self, _expr: &Expr) {}
    /// Called for every place, before the expressions inside it.
    fn place(&mut self, _place: &Place, _use: Use) {}
}

/// Is `wanted` true of the expression or of one inside it?
pub fn any(e: &Expr, wanted: impl FnMut(&Expr) -> bool) -> bool {
    struct Any<F>(F, bool);
    impl<F: FnMut(&Expr) -> bool> Visitor for Any<F> {
        fn expr(&mut self, e: &Expr) {
            self.1 = self.1 || (self.0)(e);
        }
    }
    let mut any = Any(wanted, false);
    expr(e, &mut any);
    any.1
}

/// Visits an expression and everything in it.
pub fn expr(e: &Expr, v: &mut dyn Visitor) {
    v.expr(e);
    match e {
        Expr::Const(_)
        | Expr::SelfId
        | Expr::SelfThread
        | Expr::Function(_)
        | Expr::ThreadCount
        | Expr::Last
        | Expr::Timeout
        | Expr::NonProgress
        | Expr::Oldest(_)
        | Expr::Bound(_) => {}
        Expr::Load(p) => place(p, Use::Read, v),
        Expr::Unary(_, a)
        | Expr::Length(a)
        | Expr::Full(a)
        | Expr::Empty(a)
        | Expr::Priority(a)
        | Expr::At { thread: a, .. }
        | Expr::Terminated(a)
        | Expr::InstanceOf { reference: a, .. }
        | Expr::Cast { reference: a, .. }
        | Expr::ArrayLength(a)
        | Expr::Lock(_, a)
        | Expr::Enabled(a)
        | Expr::LocationOf(a)
        | Expr::Count { body: a, .. }
        | Expr::Spanned(a, _) => expr(a, v),
        Expr::Query { collection, args, .. } => {
            expr(collection, v);
            args.iter().for_each(|e| expr(e, v));
        }
        Expr::Binary(_, a, b) | Expr::Reachable(a, b) => {
            expr(a, v);
            expr(b, v);
        }
        Expr::Conditional(a, b, c) => {
            expr(a, v);
            expr(b, v);
            expr(c, v);
        }
        Expr::Poll { channel, patterns, .. } => {
            expr(channel, v);
            for p in patterns {
                // A poll stores nothing: a variable in it only stands for "any value".
                if let Pattern::Match(e) = p {
                    expr(e, v);
                }
            }
        }
    }
}

/// Visits a place and the expressions in it.
pub fn place(p: &Place, how: Use, v: &mut dyn Visitor) {
    v.place(p, how);
    match &p.root {
        Root::Remote { thread: e, .. } | Root::Object { reference: e, .. } => expr(e, v),
        Root::Global(_) | Root::Local(_) => {}
    }
    for projection in &p.path {
        if let Projection::Index(e) = projection {
            expr(e, v);
        }
    }
}

/// Visits the operation of a transformation.
pub fn operation(o: &Operation, v: &mut dyn Visitor) {
    match o {
        Operation::Always | Operation::Else | Operation::Enter | Operation::Exit => {}
        Operation::When(e) => expr(e, v),
        Operation::Send { guard, channel, args, .. } => {
            guard.iter().for_each(|e| expr(e, v));
            expr(channel, v);
            args.iter().for_each(|e| expr(e, v));
        }
        Operation::Receive { guard, channel, patterns, .. } => {
            guard.iter().for_each(|e| expr(e, v));
            expr(channel, v);
            message(patterns, v);
        }
        Operation::Event { channel, patterns, .. } => {
            expr(channel, v);
            message(patterns, v);
        }
    }
}

/// Visits what the fields of a message meet.
fn message(patterns: &[Pattern], v: &mut dyn Visitor) {
    for p in patterns {
        match p {
            Pattern::Bind(p) => place(p, Use::Write, v),
            Pattern::Match(e) => expr(e, v),
            Pattern::Ignore => {}
        }
    }
}

/// Visits one action. The right side of an assignment comes before its place.
pub fn action(a: &Action, v: &mut dyn Visitor) {
    match a {
        Action::Assign(p, e) => {
            expr(e, v);
            place(p, Use::Write, v);
        }
        Action::Start { args, priority, result, .. } => {
            args.iter().for_each(|e| expr(e, v));
            if let Some(e) = priority {
                expr(e, v);
            }
            if let Some(p) = result {
                place(p, Use::Write, v);
            }
        }
        Action::Assert(e, _) => expr(e, v),
        Action::Print(printf) => {
            for part in &printf.parts {
                match part {
                    PrintfPart::Text(_) => {}
                    PrintfPart::Decimal(e)
                    | PrintfPart::Unsigned(e)
                    | PrintfPart::Hex(e)
                    | PrintfPart::Octal(e)
                    | PrintfPart::Character(e)
                    | PrintfPart::Name(e, _) => expr(e, v),
                }
            }
        }
        Action::SetPriority(a, b) => {
            expr(a, v);
            expr(b, v);
        }
        Action::Forget(_) | Action::EndThread | Action::Halt => {}
        Action::New { result, what } => {
            if let Allocation::Array(_, lengths) = what {
                lengths.iter().for_each(|e| expr(e, v));
            }
            place(result, Use::Write, v);
        }
        Action::Delete(e) | Action::Lock(_, e) | Action::Throw(e) | Action::Assume(e) => expr(e, v),
        Action::Update { collection, args, result, .. } => {
            expr(collection, v);
            args.iter().for_each(|e| expr(e, v));
            if let Some(p) = result {
                place(p, Use::Write, v);
            }
        }
        Action::Choose { result, choice } => {
            match choice {
                Choice::Range(low, high) => {
                    expr(low, v);
                    expr(high, v);
                }
                Choice::Members(e) => expr(e, v),
            }
            place(result, Use::Write, v);
        }
        Action::Call { callee, args, result } => {
            if let Callee::Value(e) = callee {
                expr(e, v);
            }
            args.iter().for_each(|e| expr(e, v));
            if let Some(p) = result {
                place(p, Use::Write, v);
            }
        }
        Action::Return(e) => e.iter().for_each(|e| expr(e, v)),
    }
}

/// Visits a whole transformation, in the order of execution.
pub fn transformation(t: &Transformation, v: &mut dyn Visitor) {
    operation(&t.operation, v);
    t.actions.iter().for_each(|a| action(a, v));
}
