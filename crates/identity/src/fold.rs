//! Expressions of one thread, with everything constant folded.
//!
//! `_pid` is the thread's id, a cell that keeps one value for ever is that value, and what is computed from constants is computed
//! here, by the machine's own arithmetic. A folded expression has the same value in every state, and is a fault in the same ones:
//! an operand is only left out where evaluating it cannot be a fault.

use quotient_program::{BinaryOp, Expr, Pattern, Place, Projection, Root, Type, UnaryOp};

use crate::ground::{Cell, Exp, Pat, Ref, Setting, Var, may_fault};
use crate::nodes::Map;

/// Something that this analysis does not know how to rename.
pub(crate) type Refused = &'static str;

pub(crate) struct Fold<'a> {
    pub(crate) setting: &'a Setting<'a>,
    pub(crate) constants: &'a Map<Cell, i32>,
    /// Whose code it is; none for expressions evaluated from outside.
    pub(crate) thread: Option<u32>,
}

impl Fold<'_> {
    /// The place, with constant indices where they are.
    pub(crate) fn place(&self, place: &Place, bound: &[i32]) -> Result<Ref, Refused> {
        let mut index = Vec::new();
        let var = match &place.root {
            Root::Global(v) => Var::Global(v.0),
            Root::Local(v) => Var::Local(self.thread.ok_or("a claim with variables of its own")?, v.0),
            Root::Remote { thread, function, variable } => {
                index.push(self.expr(thread, bound)?);
                Var::Remote(function.0, variable.0)
            }
            Root::Object { .. } => return Err("the model has objects"),
        };
        let mut fields = Vec::new();
        for projection in &place.path {
            match projection {
                Projection::Field(f) => fields.push(*f),
                Projection::Index(e) => index.push(self.expr(e, bound)?),
                Projection::Member(..) => return Err("the model has objects"),
            }
        }
        let (lengths, ty) = self.setting.dimensions(var, &fields);
        if matches!(ty, Type::Structure(_) | Type::Array(..)) || index.len() > lengths.len() {
            return Err("a structure is used as a whole");
        }
        // An array without an index is its first element.
        index.resize(lengths.len(), Exp::Num(0));
        let mut r = Ref { var, fields, index, ty };
        if let (Var::Remote(function, v), Some(&Exp::Num(thread))) = (var, r.index.first()) {
            let runs = usize::try_from(thread).ok().and_then(|t| self.setting.threads.get(t));
            if runs.is_some_and(|f| f.0 == function) {
                r.var = Var::Local(thread as u32, v);
                r.index.remove(0);
            }
        }
        Ok(r)
    }

    fn load(&self, r: Ref) -> Exp {
        let Some(index) = r.constants() else { return Exp::Load(r) };
        let Some(cell) = self.setting.cell(r.var, &r.fields, &index) else { return Exp::Fault };
        match self.constants.get(&cell) {
            Some(0) => Exp::Num(0),
            Some(number) if r.ty == Type::Channel => Exp::Channel(*number),
            Some(value) => Exp::Num(*value),
            None => Exp::Load(r),
        }
    }

    pub(crate) fn expr(&self, e: &Expr, bound: &[i32]) -> Result<Exp, Refused> {
        let boxed = |e: &Expr| Ok::<_, Refused>(Box::new(self.expr(e, bound)?));
        Ok(match e {
            Expr::Const(value) => Exp::Num(*value),
            Expr::Spanned(inner, _) => self.expr(inner, bound)?,
            Expr::SelfId => Exp::Num(self.thread.ok_or("_pid of a claim")? as i32),
            Expr::Bound(depth) => Exp::Num(*bound.get(*depth as usize).ok_or("a quantifier is missing")?),
            Expr::ThreadCount => Exp::Word("_nr_pr"),
            Expr::Timeout => Exp::Word("timeout"),
            Expr::NonProgress => Exp::Word("np_"),
            Expr::Load(place) => self.load(self.place(place, bound)?),
            Expr::Unary(op, a) => unary(*op, self.expr(a, bound)?),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let parts = vec![self.expr(a, bound)?, self.expr(b, bound)?];
                connective(self.setting, *op == BinaryOp::And, parts)
            }
            Expr::Binary(op, a, b) => binary(*op, self.expr(a, bound)?, self.expr(b, bound)?),
            Expr::Conditional(c, a, b) => match self.expr(c, bound)? {
                Exp::Num(0) => self.expr(b, bound)?,
                Exp::Num(_) => self.expr(a, bound)?,
                c => Exp::If(Box::new(c), boxed(a)?, boxed(b)?),
            },
            Expr::Length(channel) => Exp::Of("len", boxed(channel)?),
            Expr::Full(channel) => Exp::Of("full", boxed(channel)?),
            Expr::Empty(channel) => Exp::Of("empty", boxed(channel)?),
            Expr::Poll { channel, any, patterns } => {
                Exp::Poll(boxed(channel)?, *any, self.patterns(patterns, bound)?)
            }
            Expr::At { thread, label } => {
                let known = &self.setting.program.labels[label.0 as usize];
                match self.expr(thread, bound)? {
                    Exp::Num(id) => match self.thread(id) {
                        Some((thread, function)) if function == known.function.0 => {
                            Exp::At(thread, known.location.0)
                        }
                        _ => Exp::Num(0),
                    },
                    id => Exp::AtNamed(Box::new(id), label.0),
                }
            }
            Expr::Enabled(thread) => match self.expr(thread, bound)? {
                Exp::Num(id) => self.thread(id).map_or(Exp::Num(0), |(thread, _)| Exp::Enabled(thread)),
                _ => return Err("enabled() of a process that is not known"),
            },
            Expr::LocationOf(thread) => match self.expr(thread, bound)? {
                Exp::Num(id) => self.thread(id).map_or(Exp::Num(0), |(thread, _)| Exp::LocationOf(thread)),
                _ => return Err("the location of a process that is not known"),
            },
            Expr::Count { function, body } => {
                let mut counted = Vec::new();
                let mut inner = bound.to_vec();
                for (thread, _) in self.setting.threads.iter().enumerate().filter(|(_, f)| *f == function) {
                    inner.push(thread as i32);
                    counted.push(self.expr(body, &inner)?);
                    inner.pop();
                }
                match counted
                    .iter()
                    .map(|e| if let Exp::Num(v) = e { Some(i32::from(*v != 0)) } else { None })
                    .sum()
                {
                    Some(count) => Exp::Num(count),
                    None => Exp::Count(counted),
                }
            }
            Expr::Oldest(function) => {
                let oldest = self.setting.threads.iter().position(|f| f == function);
                Exp::Num(oldest.map_or(-1, |thread| thread as i32))
            }
            Expr::Last => return Err("the model reads _last"),
            Expr::Priority(_) => return Err("the model uses priorities"),
            Expr::SelfThread
            | Expr::Terminated(_)
            | Expr::InstanceOf { .. }
            | Expr::Cast { .. }
            | Expr::ArrayLength(_)
            | Expr::Lock(..)
            | Expr::Query { .. }
            | Expr::Reachable(..)
            | Expr::Function(_) => return Err("the model has objects or functions"),
        })
    }

    /// A thread that exists, and what it runs.
    fn thread(&self, id: i32) -> Option<(u32, u32)> {
        let id = usize::try_from(id).ok()?;
        self.setting.threads.get(id).map(|f| (id as u32, f.0))
    }

    pub(crate) fn patterns(&self, patterns: &[Pattern], bound: &[i32]) -> Result<Vec<Pat>, Refused> {
        let one = |p: &Pattern| {
            Ok(match p {
                Pattern::Bind(place) => Pat::Bind(self.place(place, bound)?),
                Pattern::Ignore => Pat::Ignore,
                Pattern::Match(e) => Pat::Match(self.expr(e, bound)?),
            })
        };
        patterns.iter().map(one).collect()
    }
}

/// `&&` and `||` as flat lists. Constants that decide nothing are left out; what stands after one that decides is never evaluated.
pub(crate) fn connective(setting: &Setting<'_>, and: bool, parts: Vec<Exp>) -> Exp {
    let mut out: Vec<Exp> = Vec::new();
    let mut decided = false;
    for part in parts {
        match part {
            _ if decided => break,
            Exp::All(inner) if and => out.extend(inner),
            Exp::Any(inner) if !and => out.extend(inner),
            Exp::Num(value) => decided = (value != 0) != and,
            part => out.push(part),
        }
    }
    if decided {
        if out.iter().all(|e| !may_fault(setting, e)) {
            return Exp::Num(i32::from(!and));
        }
        out.push(Exp::Num(i32::from(!and)));
    }
    match out.len() {
        0 => Exp::Num(i32::from(and)),
        1 if is_truth(&out[0]) => out.remove(0),
        _ if and => Exp::All(out),
        _ => Exp::Any(out),
    }
}

/// Is the value 0 or 1?
pub(crate) fn is_truth(e: &Exp) -> bool {
    match e {
        Exp::All(_) | Exp::Any(_) | Exp::Poll(..) | Exp::At(..) | Exp::AtNamed(..) | Exp::Enabled(_) => true,
        Exp::Unary(op, _) => *op == UnaryOp::Not,
        Exp::Binary(op, ..) => {
            matches!(
                op,
                BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
            )
        }
        Exp::Of(what, _) => *what != "len",
        Exp::Word(what) => *what != "_nr_pr",
        Exp::Num(value) => matches!(value, 0 | 1),
        _ => false,
    }
}

/// A prefix operator.
pub(crate) fn unary(op: UnaryOp, a: Exp) -> Exp {
    match (op, a) {
        (UnaryOp::Not, Exp::Num(v)) => Exp::Num(i32::from(v == 0)),
        (UnaryOp::Negate, Exp::Num(v)) => Exp::Num(v.wrapping_neg()),
        (UnaryOp::Complement, Exp::Num(v)) => Exp::Num(!v),
        (UnaryOp::Not, Exp::Binary(BinaryOp::Eq, a, b)) => Exp::Binary(BinaryOp::Ne, a, b),
        (UnaryOp::Not, Exp::Binary(BinaryOp::Ne, a, b)) => Exp::Binary(BinaryOp::Eq, a, b),
        (op, a) => Exp::Unary(op, Box::new(a)),
    }
}

/// An infix operator; `>` is written as `<`, so that one node serves both.
pub(crate) fn binary(op: BinaryOp, a: Exp, b: Exp) -> Exp {
    let of = |op, a, b| Exp::Binary(op, Box::new(a), Box::new(b));
    match (op, a, b) {
        (op, Exp::Num(a), Exp::Num(b)) => match op.apply(a, b) {
            Some(value) => Exp::Num(value),
            None => Exp::Fault,
        },
        (BinaryOp::Eq, Exp::Channel(a), Exp::Channel(b)) => Exp::Num(i32::from(a == b)),
        (BinaryOp::Ne, Exp::Channel(a), Exp::Channel(b)) => Exp::Num(i32::from(a != b)),
        // A truth value compared with one.
        (BinaryOp::Eq, a, Exp::Num(1)) | (BinaryOp::Ne, a, Exp::Num(0)) if is_truth(&a) => a,
        (BinaryOp::Eq, a, Exp::Num(0)) | (BinaryOp::Ne, a, Exp::Num(1)) if is_truth(&a) => {
            unary(UnaryOp::Not, a)
        }
        (BinaryOp::Gt, a, b) => of(BinaryOp::Lt, b, a),
        (BinaryOp::Ge, a, b) => of(BinaryOp::Le, b, a),
        (op, a, b) => of(op, a, b),
    }
}
