//! The syntax tree of Promela (SPIN 6.5), as the parser builds it.
//!
//! Macros, `#include` and `inline` calls are already expanded: the tree shows the program that
//! SPIN would compile. Names are not resolved. A node that came out of a macro carries the span of
//! the macro's *use*; a node that came out of an inline body carries the span in the body (as
//! SPIN's line numbers do).
//!
//! Constructs that are only notation (`for`, `select`, `i++`) are kept, so that messages and traces
//! speak of what the user wrote; the translation to a program gives them SPIN's meaning.

mod dynamic;

use quotient_source::Span;

pub use quotient_formula::Quantifier;

pub use dynamic::{CallTarget, DynamicStatement, Function, NewObject, PointerValue};

/// A name with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// A whole model.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Its top-level units, in order.
    pub units: Vec<Unit>,
    /// It uses pointers or functions (dSPIN's extensions).
    pub dynamic: bool,
}

/// A top-level unit.
#[allow(clippy::large_enum_variant, reason = "there are few units, and each is visited once")]
#[derive(Clone, Debug)]
pub enum Unit {
    /// `proctype`, with or without `active`.
    Proctype(Proctype),
    /// `function f(params) : type { … }` (an extension).
    Function(Function),
    /// `init { … }`.
    Init(Init),
    /// `never { … }`.
    Never(Never),
    /// `trace { … }` or `notrace { … }`.
    Trace(Trace),
    /// `typedef T { … }`.
    Typedef(Typedef),
    /// `mtype = { … }` or `mtype:set = { … }`.
    Mtype(Mtype),
    /// A declaration of globals.
    Declaration(Declaration),
    /// `ltl name { formula }`.
    Ltl(Ltl),
}

/// `active [n] proctype P(params) priority k provided (e) { body }`.
#[derive(Clone, Debug)]
pub struct Proctype {
    /// Its name.
    pub name: Ident,
    /// `D_proctype`: deterministic.
    pub deterministic: bool,
    /// `active` (1 instance) or `active [n]`; `None` without `active`.
    pub active: Option<Active>,
    /// Formal parameters; several groups separated by `;`, each a [`Declaration`].
    pub params: Vec<Declaration>,
    /// `priority n`.
    pub priority: Option<Expr>,
    /// `provided (e)`.
    pub provided: Option<Expr>,
    /// The body.
    pub body: Sequence,
    /// From `proctype` to the closing parenthesis of the parameters.
    pub span: Span,
    /// The closing brace of the body (where a process that has ended stands).
    pub end: Span,
}

/// The instances an `active` prefix creates.
#[derive(Clone, Debug)]
pub struct Active {
    /// `[n]`; `None` means one.
    pub count: Option<Expr>,
    /// The prefix.
    pub span: Span,
}

/// `init priority k { body }`.
#[derive(Clone, Debug)]
pub struct Init {
    /// `priority n`.
    pub priority: Option<Expr>,
    /// The body.
    pub body: Sequence,
    /// The word `init`.
    pub span: Span,
    /// The closing brace.
    pub end: Span,
}

/// `never name { body }`.
#[derive(Clone, Debug)]
pub struct Never {
    /// The optional name.
    pub name: Option<Ident>,
    /// The body.
    pub body: Sequence,
    /// The word `never`.
    pub span: Span,
    /// The closing brace.
    pub end: Span,
}

/// `trace { body }` or `notrace { body }`.
#[derive(Clone, Debug)]
pub struct Trace {
    /// `notrace`.
    pub negated: bool,
    /// The optional name.
    pub name: Option<Ident>,
    /// The body: only channel operations and control flow.
    pub body: Sequence,
    /// The word `trace` or `notrace`.
    pub span: Span,
    /// The closing brace.
    pub end: Span,
}

/// `typedef T { fields }`.
#[derive(Clone, Debug)]
pub struct Typedef {
    /// Its name.
    pub name: Ident,
    /// Its fields.
    pub fields: Vec<Declaration>,
    /// The whole definition.
    pub span: Span,
}

/// `mtype = { a, b }` or `mtype:set = { a, b }`.
#[derive(Clone, Debug)]
pub struct Mtype {
    /// The named set, if any.
    pub set: Option<Ident>,
    /// The names, in source order (SPIN numbers them from the last to the first).
    pub names: Vec<Ident>,
    /// The whole definition.
    pub span: Span,
}

/// `ltl name { formula }`.
#[derive(Clone, Debug)]
pub struct Ltl {
    /// The optional name.
    pub name: Option<Ident>,
    /// The formula.
    pub formula: Formula,
    /// The word `ltl`.
    pub span: Span,
}

/// `hidden byte x, y = 3, z[4]`: one type, several variables.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// `hidden`, `show`, `local`.
    pub visibility: Visibility,
    /// The type.
    pub ty: TypeName,
    /// The variables.
    pub variables: Vec<Variable>,
    /// The whole declaration.
    pub span: Span,
}

/// The prefix of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Visibility {
    /// None.
    #[default]
    Plain,
    /// `hidden`: not part of the state.
    Hidden,
    /// `show`: shown in message sequence charts.
    Show,
    /// `local`: a promise for partial order reduction.
    Local,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeName {
    /// `bit`.
    Bit,
    /// `bool`.
    Bool,
    /// `byte`.
    Byte,
    /// `pid`.
    Pid,
    /// `short`.
    Short,
    /// `int`.
    Int,
    /// `unsigned`: the width is with each variable.
    Unsigned,
    /// `mtype` or `mtype:set`.
    Mtype(Option<Ident>),
    /// `chan`.
    Chan,
    /// A `typedef` name.
    Named(Ident),
    /// `ftype`: a function (an extension).
    Ftype,
    /// `T &` in a message or as what a function returns (an extension).
    Pointer(Box<TypeName>),
}

/// One variable of a [`Declaration`].
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Ident,
    /// `&` before the name: a pointer (an extension).
    pub pointer: bool,
    /// `: n` of `unsigned x : n` (only there).
    pub width: Option<Expr>,
    /// `[n]`.
    pub length: Option<Expr>,
    /// `= …`.
    pub init: Option<Initialiser>,
    /// Name to end of initialiser.
    pub span: Span,
}

/// What stands after `=` in a declaration.
#[derive(Clone, Debug)]
pub enum Initialiser {
    /// An expression.
    Expr(Expr),
    /// `{ e, e, … }` for an array.
    List(Vec<Expr>, Span),
    /// `[n] of { types }`.
    Channel(ChannelInit),
}

/// `[n] of { t1, t2 }`.
#[derive(Clone, Debug)]
pub struct ChannelInit {
    /// The capacity; 0 for rendezvous.
    pub capacity: Expr,
    /// The types of a message's fields.
    pub fields: Vec<(TypeName, Span)>,
    /// The whole.
    pub span: Span,
}

/// Statements in order.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// The statements.
    pub statements: Vec<Statement>,
}

/// A statement with the labels in front of it.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Labels, outermost (leftmost) first.
    pub labels: Vec<Ident>,
    /// What it is.
    pub kind: StatementKind,
    /// Its place, without labels. For compound statements: the opening keyword.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// A declaration among statements. Scope: to the end of the enclosing block; the variable exists
    /// from process creation on, and the initialiser acts there unless it is not constant.
    Declaration(Declaration),
    /// An expression as a condition; `skip` is the constant 1.
    Expr(Expr),
    /// `x = e`.
    Assign(Reference, Expr),
    /// `x++`.
    Increment(Reference),
    /// `x--`.
    Decrement(Reference),
    /// `c ! args` (`sorted`: `!!`).
    Send {
        /// The channel.
        channel: Reference,
        /// `!!`.
        sorted: bool,
        /// The fields sent.
        args: Vec<Expr>,
    },
    /// `c ? args`, `c ?? args`, `c ?<args>`, `c ??<args>`.
    Receive {
        /// The channel.
        channel: Reference,
        /// `??`: the first message that matches, wherever it stands.
        any: bool,
        /// `<…>`: leave the message in the channel.
        peek: bool,
        /// Where the fields go, or what they must be.
        args: Vec<ReceiveArg>,
    },
    /// `if :: … fi`.
    If(Vec<Choice>),
    /// `do :: … od`.
    Do(Vec<Choice>),
    /// `for (i : a .. b) { body }`.
    ForRange {
        /// The counter.
        variable: Reference,
        /// First value.
        from: Expr,
        /// Last value.
        to: Expr,
        /// The body.
        body: Sequence,
    },
    /// `for (x in a) { body }`: the indices of an array, or the messages of a channel.
    ForIn {
        /// The index, or the structure that receives each message.
        variable: Reference,
        /// The array or channel.
        collection: Reference,
        /// The body.
        body: Sequence,
    },
    /// `select (i : a .. b)`.
    Select {
        /// The variable.
        variable: Reference,
        /// Least value.
        from: Expr,
        /// Greatest value.
        to: Expr,
        /// It stands in the body of an `inline`: SPIN then never turns it into a choice of assignments.
        in_inline: bool,
    },
    /// `atomic { … }`.
    Atomic(Sequence),
    /// `d_step { … }`.
    DStep(Sequence),
    /// `{ … }`; also the body of an expanded `inline` call.
    Block(Sequence),
    /// `main unless escape`.
    Unless(Box<Statement>, Box<Statement>),
    /// `else`.
    Else,
    /// `break`.
    Break,
    /// `goto l`.
    Goto(Ident),
    /// `printf(format, args)`.
    Printf(String, Vec<Expr>),
    /// `printm(e)` (SPIN also accepts a bare mtype name).
    Printm(Expr),
    /// `assert(e)`.
    Assert(Expr),
    /// Pointers and functions (extensions).
    Dynamic(Box<DynamicStatement>),
    /// `xr c, d` (exclusive receive) or `xs c, d` (exclusive send): a declaration about channels.
    Exclusive {
        /// `xs` rather than `xr`.
        send: bool,
        /// The channels.
        channels: Vec<Reference>,
    },
}

/// One `::` of an `if` or `do`.
#[derive(Clone, Debug)]
pub struct Choice {
    /// What follows the `::`.
    pub sequence: Sequence,
    /// The `::`.
    pub span: Span,
}

/// One field of a receive.
#[derive(Clone, Debug)]
pub enum ReceiveArg {
    /// A variable that takes the value.
    Variable(Reference),
    /// `&p`: a pointer that takes the reference (an extension).
    Pointer(Reference),
    /// `_`: ignored.
    Ignore(Span),
    /// A constant (number, `true`, mtype name, negated number) that must match. A bare name is parsed
    /// as [`ReceiveArg::Variable`]; the translation finds out that it is an mtype constant.
    Constant(Expr),
    /// `eval(e)`: the value of e must match.
    Eval(Expr, Span),
}

/// A variable, element or field: `a.b[i].c`.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The parts; never empty.
    pub parts: Vec<Part>,
    /// The whole.
    pub span: Span,
}

/// One part of a [`Reference`].
#[derive(Clone, Debug)]
pub struct Part {
    /// The name.
    pub name: Ident,
    /// `[e]`.
    pub index: Option<Box<Expr>>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number; also `true`, `false`, `skip` and character constants.
    Number(i32),
    /// A variable, an mtype constant, or one of the predefined `_pid`, `_last`, `_nr_pr`, `_priority`, `np_`.
    Reference(Reference),
    /// `&p`: the pointer itself (an extension).
    Address(Reference),
    /// A prefix operator.
    Unary(UnaryOp, Box<Expr>),
    /// An infix operator.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `(c -> a : b)`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `run P(args) priority n`.
    Run {
        /// The proctype.
        proctype: Ident,
        /// The arguments.
        args: Vec<Expr>,
        /// `priority n`.
        priority: Option<Box<Expr>>,
    },
    /// `len(c)`.
    Len(Reference),
    /// `full(c)`.
    Full(Reference),
    /// `empty(c)`.
    Empty(Reference),
    /// `nfull(c)`.
    Nfull(Reference),
    /// `nempty(c)`.
    Nempty(Reference),
    /// `c ? [args]` or `c ?? [args]`: would this receive be executable?
    Poll {
        /// The channel.
        channel: Reference,
        /// `??`.
        any: bool,
        /// The pattern.
        args: Vec<ReceiveArg>,
    },
    /// `timeout`.
    Timeout,
    /// `enabled(e)`.
    Enabled(Box<Expr>),
    /// `pc_value(e)`.
    PcValue(Box<Expr>),
    /// `reachable(&p, &q)`: following references from the first leads to the second; only in claims.
    Reachable(Box<Expr>, Box<Expr>),
    /// `get_priority(e)`.
    GetPriority(Box<Expr>),
    /// `set_priority(e, n)`.
    SetPriority(Box<Expr>, Box<Expr>),
    /// `P[e]@label` or `P@label`.
    RemoteLabel {
        /// The proctype.
        proctype: Ident,
        /// The process number.
        pid: Option<Box<Expr>>,
        /// The label.
        label: Ident,
    },
    /// `P[e]:var` or `P:var`.
    RemoteVariable {
        /// The proctype.
        proctype: Ident,
        /// The process number.
        pid: Option<Box<Expr>>,
        /// The variable.
        variable: Reference,
    },
    /// `forall p: P . e`, `exists p: P . e` or `count p: P . e`, in formulas only: over the processes of a proctype.
    Quantified {
        /// Which.
        quantifier: Quantifier,
        /// The name for a process, in `body` its number.
        variable: Ident,
        /// The proctype.
        proctype: Ident,
        /// What is asked of each process.
        body: Box<Expr>,
    },
}

/// Operators: those of programs.
pub use quotient_program::{BinaryOp, UnaryOp};

/// A temporal formula, as `ltl` blocks, `--ltl` and `--ctl` write it.
pub type Formula = quotient_formula::Formula<Expr>;
/// The kinds of formula.
pub type FormulaKind = quotient_formula::FormulaKind<Expr>;
/// A property given apart from the model.
pub type Property = quotient_formula::Property<Expr>;
/// The kinds of property.
pub type PropertyKind = quotient_formula::PropertyKind<Expr>;
