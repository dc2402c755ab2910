//! The program of one set of threads, each with its own copy of its code.
//!
//! Everything here is *ground*: whose variable is meant, which channel, which thread is known wherever it can be. The types are
//! small, can be compared, and have no positions in the source except one for each step, for reports.

use std::collections::BTreeSet;

use quotient_program::{BinaryOp, ChannelTypeId, Expr, FunctionId, Program, Type, UnaryOp, Variable};
use quotient_source::Span;

use crate::nodes::Map;

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Var {
    /// A global.
    Global(u32),
    /// A local of a thread.
    Local(u32, u32),
    /// A local of whichever thread running this function is named by the first index.
    Remote(u32, u32),
}

/// A scalar of a variable of the state, counted through its fields and elements.
pub type Cell = (Var, u32);

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Exp {
    Num(i32),
    /// A channel, by its number.
    Channel(i32),
    Load(Ref),
    Unary(UnaryOp, Box<Exp>),
    Binary(BinaryOp, Box<Exp>, Box<Exp>),
    /// All of them hold; evaluated from the left, as far as needed.
    All(Vec<Exp>),
    /// One of them holds.
    Any(Vec<Exp>),
    /// How many of them hold.
    Count(Vec<Exp>),
    If(Box<Exp>, Box<Exp>, Box<Exp>),
    /// A symbol that every renaming keeps: `timeout`, `_nr_pr`.
    Word(&'static str),
    /// Evaluating it is a fault.
    Fault,
    /// A question about a channel.
    Of(&'static str, Box<Exp>),
    Poll(Box<Exp>, bool, Vec<Pat>),
    /// A thread stands at a location.
    At(u32, u32),
    /// The thread with this id runs the function of a label and stands there.
    AtNamed(Box<Exp>, u32),
    /// A thread can move.
    Enabled(u32),
    /// The number of the location a thread stands at.
    LocationOf(u32),
}

/// A scalar place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ref {
    pub(crate) var: Var,
    pub(crate) fields: Vec<u32>,
    pub(crate) index: Vec<Exp>,
    pub(crate) ty: Type,
}

impl Ref {
    /// Its indices, if all of them are constants.
    pub(crate) fn constants(&self) -> Option<Vec<i32>> {
        self.index.iter().map(|e| if let Exp::Num(v) = e { Some(*v) } else { None }).collect()
    }
}

/// What one field of a received message meets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pat {
    Bind(Ref),
    Ignore,
    Match(Exp),
}

/// What decides whether a step can be taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Always,
    When(Exp),
    Else,
    Send { guard: Option<Exp>, channel: Exp, sorted: bool, args: Vec<Exp> },
    Receive { guard: Option<Exp>, channel: Exp, any: bool, peek: bool, patterns: Vec<Pat> },
    Enter,
    Exit,
}

/// A change of the state, or something that may be a fault.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Act {
    Assign(Ref, Exp),
    Assert(Exp),
    /// The value is not used.
    Evaluate(Exp),
    Forget(Var),
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) op: Op,
    pub(crate) acts: Vec<Act>,
    pub(crate) target: Option<u32>,
    pub(crate) keeps: bool,
    pub(crate) rank: u16,
    /// Where it is written: the first of the statements that it was joined from, then the others.
    pub(crate) spans: Vec<Span>,
    /// The transformations it was made from: location, and number there.
    pub(crate) from: Vec<(u32, u32)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Loc {
    /// End, accept, progress, deterministic, transient, committed.
    pub(crate) flags: u32,
    pub(crate) deterministic: bool,
    pub(crate) steps: Vec<Step>,
}

impl Loc {
    /// Made for one value of a counter: no thread ever stands there.
    pub(crate) const MADE: u32 = 1 << 8;

    /// A label of the user that counts for a verdict.
    pub(crate) const LABELS: u32 = 0b111;
}

#[derive(Clone, Debug)]
pub(crate) struct Thread {
    /// By number; none for locations where the thread cannot be.
    pub(crate) locs: Vec<Option<Loc>>,
    pub(crate) provided: Option<Exp>,
    /// It can cease to exist.
    pub(crate) exits: Option<Span>,
}

/// A channel that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its kind.
    pub kind: ChannelTypeId,
    /// The thread it came into being with.
    pub owner: Option<u32>,
}

/// What a cell may hold before the code in question runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// These.
    pub known: BTreeSet<i32>,
    /// And perhaps any other.
    pub any: bool,
}

impl Values {
    /// One value.
    pub fn one(value: i32) -> Values {
        Values { known: BTreeSet::from([value]), any: false }
    }

    /// Nothing is known.
    pub fn unknown() -> Values {
        Values { known: BTreeSet::new(), any: true }
    }

    /// Adds what another may hold.
    pub fn add(&mut self, other: &Values) {
        self.known.extend(&other.known);
        self.any |= other.any;
    }
}

/// What is in cells and channels before the code in question runs.
#[derive(Clone, Debug, Default)]
pub struct Before {
    /// By cell; a cell that is missing may hold anything.
    pub cells: Map<Cell, Values>,
    /// By channel, from number 1, and field of its messages.
    pub messages: Vec<Vec<Values>>,
}

/// A move of an automaton that watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Where it begins.
    pub from: u32,
    /// Where it leads, if anywhere.
    pub to: Option<u32>,
    /// The acceptance sets that it is in.
    pub marks: u64,
}

/// What is asked of states from outside.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Evaluated in every state.
    pub properties: Vec<Expr>,
    /// Where the automaton of a formula asks, and its locations may take each other's place: the move that each property is the
    /// condition of. Otherwise empty: then each property keeps its value.
    pub moves: Vec<Move>,
    /// What each location of that automaton is, apart from its moves.
    pub locations: Vec<u32>,
}

/// A set of threads and all that is known of states in which exactly these exist and nobody starts others.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The program.
    pub program: &'a Program,
    /// What each thread runs, by id.
    pub threads: &'a [FunctionId],
    /// The channels, from number 1.
    pub channels: &'a [Channel],
    /// By function and location: can it still be executed?
    pub live: &'a [Vec<bool>],
    /// By function, location and local: it has no value there and is zero. Empty: not known.
    pub dead: &'a [Vec<Vec<bool>>],
    /// What is asked from outside (propositions of a formula).
    pub asked: &'a Asked,
    /// What there may be in the beginning.
    pub before: &'a Before,
}

impl Setting<'_> {
    /// The declaration of a variable.
    pub(crate) fn variable(&self, var: Var) -> &Variable {
        let of = |function: FunctionId, v: u32| &self.program.function(function).locals[v as usize];
        match var {
            Var::Global(v) => &self.program.globals[v as usize],
            Var::Local(thread, v) => of(self.threads[thread as usize], v),
            Var::Remote(function, v) => of(FunctionId(function), v),
        }
    }

    /// Every variable of the state.
    pub(crate) fn variables(&self) -> impl Iterator<Item = Var> + '_ {
        let globals = (0..self.program.globals.len() as u32).map(Var::Global);
        let locals = self.threads.iter().enumerate().flat_map(|(thread, function)| {
            let locals = self.program.function(*function).locals.len() as u32;
            (0..locals).map(move |v| Var::Local(thread as u32, v))
        });
        globals.chain(locals)
    }

    /// Every cell of the state.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        self.variables().flat_map(|var| {
            let scalars = self.program.scalars(&self.variable(var).ty) as u32;
            (0..scalars).map(move |s| (var, s))
        })
    }

    /// Lengths of the arrays on the way to a scalar, and its type. The threads are the first dimension of a remote variable.
    pub(crate) fn dimensions(&self, var: Var, fields: &[u32]) -> (Vec<u32>, Type) {
        let mut lengths = Vec::new();
        if let Var::Remote(..) = var {
            lengths.push(self.threads.len() as u32);
        }
        let mut fields = fields.iter();
        let mut ty = &self.variable(var).ty;
        loop {
            ty = match ty {
                Type::Array(element, length) => {
                    lengths.push(*length);
                    element
                }
                Type::Structure(id) => match fields.next() {
                    Some(f) => &self.program.structure(*id).fields[*f as usize].ty,
                    None => return (lengths, ty.clone()),
                },
                scalar => return (lengths, scalar.clone()),
            }
        }
    }

    /// The cell with these indices; none when one is outside.
    pub(crate) fn cell(&self, var: Var, fields: &[u32], index: &[i32]) -> Option<Cell> {
        let (mut fields, mut index) = (fields.iter(), index.iter());
        let var = match var {
            Var::Remote(function, v) => {
                let thread = u32::try_from(*index.next()?).ok()?;
                if self.threads.get(thread as usize)?.0 != function {
                    return None;
                }
                Var::Local(thread, v)
            }
            var => var,
        };
        let (mut ty, mut at) = (&self.variable(var).ty, 0);
        loop {
            ty = match ty {
                Type::Array(element, length) => {
                    let i = u32::try_from(*index.next()?).ok().filter(|i| i < length)?;
                    at += i * self.program.scalars(element) as u32;
                    element
                }
                Type::Structure(id) => {
                    let all = &self.program.structure(*id).fields;
                    let field = *fields.next()? as usize;
                    at += all[..field].iter().map(|f| self.program.scalars(&f.ty) as u32).sum::<u32>();
                    &all[field].ty
                }
                _ => return Some((var, at)),
            }
        }
    }

    /// For each scalar of a variable the fields on the way to it.
    pub(crate) fn paths(&self, var: Var) -> Vec<Vec<u32>> {
        fn go(program: &Program, ty: &Type, path: &mut Vec<u32>, out: &mut Vec<Vec<u32>>) {
            match ty {
                Type::Array(element, length) => {
                    let first = out.len();
                    go(program, element, path, out);
                    let one = out[first..].to_vec();
                    (1..*length).for_each(|_| out.extend_from_slice(&one));
                    if *length == 0 {
                        out.truncate(first);
                    }
                }
                Type::Structure(id) => {
                    for (i, field) in program.structure(*id).fields.iter().enumerate() {
                        path.push(i as u32);
                        go(program, &field.ty, path, out);
                        path.pop();
                    }
                }
                _ => out.push(path.clone()),
            }
        }
        let mut out = Vec::new();
        go(self.program, &self.variable(var).ty, &mut Vec::new(), &mut out);
        out
    }
}

/// The values that a variable of this type can hold.
pub(crate) fn range(ty: &Type) -> (i32, i32) {
    match ty {
        Type::Int(int) if int.signed && int.bits < 32 => (-(1 << (int.bits - 1)), (1 << (int.bits - 1)) - 1),
        Type::Int(int) if !int.signed && int.bits < 31 => (0, (1 << int.bits) - 1),
        Type::Range(range) => (range.low, range.high),
        Type::Enumeration(_) | Type::Channel | Type::Thread => (0, 255),
        _ => (i32::MIN, i32::MAX),
    }
}

/// Is it true or false, and made of others, without computing with numbers?
pub(crate) fn is_condition(e: &Exp) -> bool {
    match e {
        Exp::All(_) | Exp::Any(_) | Exp::Unary(UnaryOp::Not, _) => true,
        Exp::Binary(op, ..) => matches!(op, BinaryOp::Eq | BinaryOp::Ne),
        _ => false,
    }
}

/// Visits every expression in an expression, itself first.
pub(crate) fn each<'a>(e: &'a Exp, f: &mut dyn FnMut(&'a Exp)) {
    f(e);
    match e {
        Exp::Load(r) => r.index.iter().for_each(|e| each(e, f)),
        Exp::Unary(_, a) | Exp::Of(_, a) | Exp::AtNamed(a, _) => each(a, f),
        Exp::Binary(_, a, b) => {
            each(a, f);
            each(b, f);
        }
        Exp::All(list) | Exp::Any(list) | Exp::Count(list) => list.iter().for_each(|e| each(e, f)),
        Exp::If(a, b, c) => {
            each(a, f);
            each(b, f);
            each(c, f);
        }
        Exp::Poll(channel, _, patterns) => {
            each(channel, f);
            patterns.iter().for_each(|p| each_in_pattern(p, f));
        }
        _ => {}
    }
}

/// Visits every expression in a pattern.
pub(crate) fn each_in_pattern<'a>(pattern: &'a Pat, f: &mut dyn FnMut(&'a Exp)) {
    match pattern {
        Pat::Match(e) => each(e, f),
        Pat::Bind(r) => r.index.iter().for_each(|e| each(e, f)),
        Pat::Ignore => {}
    }
}

/// Visits every expression that an operation evaluates.
pub(crate) fn each_in_op<'a>(op: &'a Op, f: &mut dyn FnMut(&'a Exp)) {
    match op {
        Op::When(e) => each(e, f),
        Op::Send { guard, channel, args, .. } => {
            guard.iter().chain([channel]).chain(args).for_each(|e| each(e, f));
        }
        Op::Receive { guard, channel, patterns, .. } => {
            guard.iter().chain([channel]).for_each(|e| each(e, f));
            patterns.iter().for_each(|p| each_in_pattern(p, f));
        }
        _ => {}
    }
}

/// Visits every expression that an action evaluates.
pub(crate) fn each_in_act<'a>(act: &'a Act, f: &mut dyn FnMut(&'a Exp)) {
    match act {
        Act::Assign(r, e) => {
            r.index.iter().for_each(|e| each(e, f));
            each(e, f);
        }
        Act::Assert(e) | Act::Evaluate(e) => each(e, f),
        Act::Forget(_) => {}
    }
}

/// May evaluating it be a fault? Then the order of evaluation counts. `false` is certain.
pub(crate) fn may_fault(setting: &Setting<'_>, e: &Exp) -> bool {
    let mut found = false;
    each(e, &mut |e| {
        found |= match e {
            Exp::Fault => true,
            Exp::Load(r) => outside(setting, r),
            Exp::Binary(BinaryOp::Div | BinaryOp::Mod, _, b) => !matches!(**b, Exp::Num(v) if v != 0),
            Exp::Of(_, channel) | Exp::Poll(channel, ..) => !matches!(**channel, Exp::Channel(_)),
            _ => false,
        };
    });
    found
}

/// May an index of this place be outside of its array?
pub(crate) fn outside(setting: &Setting<'_>, r: &Ref) -> bool {
    if let Some(index) = r.constants() {
        return setting.cell(r.var, &r.fields, &index).is_none();
    }
    let (lengths, _) = setting.dimensions(r.var, &r.fields);
    let inside = |e: &Exp, length: u32| match e {
        Exp::Num(v) => (0..length as i32).contains(v),
        Exp::Load(r) => {
            let (low, high) = range(&r.ty);
            low >= 0 && high < length as i32
        }
        _ => false,
    };
    matches!(r.var, Var::Remote(..)) || !r.index.iter().zip(lengths).all(|(e, length)| inside(e, length))
}
