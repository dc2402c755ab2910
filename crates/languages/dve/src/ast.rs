//! The syntax tree of a DVE system.

use std::rc::Rc;

use quotient_source::Span;

/// A name and where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name.
    pub text: Rc<str>,
    /// Where it stands.
    pub span: Span,
}

/// A whole system.
#[derive(Clone, Debug)]
pub struct System {
    /// Global variables and constants, in order.
    pub variables: Vec<Variable>,
    /// Channels.
    pub channels: Vec<Channel>,
    /// Processes, in order; the property process is one of them.
    pub processes: Vec<Process>,
    /// `system sync`: all processes move at once. Where it says so.
    pub synchronous: Option<Span>,
    /// The process that watches the others.
    pub property: Option<Name>,
}

/// The two types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// 0 to 255.
    Byte,
    /// -32768 to 32767.
    Int,
}

impl Type {
    /// The least and the greatest value.
    pub fn bounds(self) -> (i32, i32) {
        match self {
            Type::Byte => (0, 255),
            Type::Int => (-32768, 32767),
        }
    }

    /// The keyword.
    pub fn name(self) -> &'static str {
        match self {
            Type::Byte => "byte",
            Type::Int => "int",
        }
    }
}

/// A variable or constant.
#[derive(Clone, Debug)]
pub struct Variable {
    /// It never changes.
    pub constant: bool,
    /// Its type, or that of its elements.
    pub ty: Type,
    /// Its name.
    pub name: Name,
    /// The number of elements of an array.
    pub length: Option<Expr>,
    /// What it holds at first.
    pub init: Option<Init>,
}

/// An initial value.
#[derive(Clone, Debug)]
pub enum Init {
    /// `= e`
    One(Expr),
    /// `= {e, …}`
    List(Vec<Expr>),
}

/// A channel.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its name.
    pub name: Name,
    /// The types of the values of a message; `None` for a channel without types.
    pub types: Option<Vec<Type>>,
    /// How many messages it holds; `None` and 0 are a rendezvous.
    pub capacity: Option<i32>,
}

/// A process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name.
    pub name: Name,
    /// Its variables and constants.
    pub variables: Vec<Variable>,
    /// Its states.
    pub states: Vec<Name>,
    /// The one it starts in; `None` only where that is an error.
    pub init: Option<Name>,
    /// Accepting states.
    pub accept: Vec<Name>,
    /// Committed states.
    pub commit: Vec<Name>,
    /// What must hold in a state.
    pub asserts: Vec<(Name, Expr)>,
    /// Its transitions.
    pub transitions: Vec<Transition>,
    /// Its header.
    pub span: Span,
}

/// A transition.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Where it starts.
    pub from: Name,
    /// Where it leads.
    pub to: Name,
    /// What must hold.
    pub guard: Option<Expr>,
    /// What is sent or received.
    pub sync: Option<Sync>,
    /// Assignments, in order.
    pub effects: Vec<Effect>,
    /// The whole.
    pub span: Span,
}

/// `c!…` or `c?…`.
#[derive(Clone, Debug)]
pub struct Sync {
    /// The channel.
    pub channel: Name,
    /// It sends.
    pub send: bool,
    /// The values, or the variables that receive them.
    pub values: Vec<Expr>,
    /// The whole.
    pub span: Span,
}

/// An assignment.
#[derive(Clone, Debug)]
pub struct Effect {
    /// What is assigned: a variable or an element.
    pub target: Expr,
    /// The value.
    pub value: Expr,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
    /// The height of the tree, bounded by the parser.
    pub height: u16,
}

/// The kinds of expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number; `true` is 1 and `false` is 0.
    Number(i32),
    /// A variable or constant.
    Name(Name),
    /// An element of an array.
    Index(Name, Box<Expr>),
    /// `P.s`: the process is in this state. In propositions also: a variable of the process.
    Of(Name, Name),
    /// `P->x` and `P->x[i]`: a variable of another process, only in the property process.
    Foreign(Name, Name, Option<Box<Expr>>),
    /// A prefix operator.
    Unary(Unary, Box<Expr>),
    /// An infix operator.
    Binary(Binary, Box<Expr>, Box<Expr>),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Minus,
    /// `~`
    Complement,
    /// `not`
    Not,
}

/// Infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `imply`
    Imply,
    /// `or`, `||`
    Or,
    /// `and`, `&&`
    And,
    /// `|`
    BitOr,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Mod,
}

impl Binary {
    /// Every operator with its spellings and how tightly it binds. All of them associate to the left. Where operators
    /// that bind equally here do not in DiVinE's manual (`and` and `or`; `&`, `^` and `|`), the parser asks for parentheses.
    pub const ALL: &[(Binary, &'static [&'static str], u8)] = &[
        (Binary::Imply, &["imply"], 1),
        (Binary::Or, &["or", "||"], 2),
        (Binary::And, &["and", "&&"], 2),
        (Binary::BitOr, &["|"], 3),
        (Binary::BitAnd, &["&"], 3),
        (Binary::BitXor, &["^"], 3),
        (Binary::Eq, &["=="], 4),
        (Binary::Ne, &["!="], 4),
        (Binary::Lt, &["<"], 5),
        (Binary::Le, &["<="], 5),
        (Binary::Gt, &[">"], 5),
        (Binary::Ge, &[">="], 5),
        (Binary::Shl, &["<<"], 6),
        (Binary::Shr, &[">>"], 6),
        (Binary::Add, &["+"], 7),
        (Binary::Sub, &["-"], 7),
        (Binary::Mul, &["*"], 8),
        (Binary::Div, &["/"], 8),
        (Binary::Mod, &["%"], 8),
    ];
}

impl Expr {
    /// Calls `f` for this expression and everything in it.
    pub fn walk<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        f(self);
        match &self.kind {
            ExprKind::Number(_) | ExprKind::Name(_) | ExprKind::Of(..) => {}
            ExprKind::Index(_, e) | ExprKind::Unary(_, e) => e.walk(f),
            ExprKind::Foreign(_, _, e) => e.iter().for_each(|e| e.walk(f)),
            ExprKind::Binary(_, a, b) => {
                a.walk(f);
                b.walk(f);
            }
        }
    }
}
