//! Expressions. They are pure: evaluating one changes nothing. All arithmetic is on 32-bit integers
//! that wrap around, as in Promela.

use quotient_source::Span;

use crate::{FunctionId, LabelId, RecordId, Referent, Type, VariableId};

/// A storage place: a variable, an element, a field.
#[derive(Clone, Debug)]
pub struct Place {
    /// The variable.
    pub root: Root,
    /// The way down to a scalar.
    pub path: Vec<Projection>,
    /// The type of what the whole place names.
    pub ty: Type,
    /// Where it is written.
    pub span: Span,
}

/// Whose variable.
#[derive(Clone, Debug)]
pub enum Root {
    /// A global.
    Global(VariableId),
    /// A local of the running thread.
    Local(VariableId),
    /// A local of another thread; reading it while the thread does not exist is a fault.
    Remote {
        /// The thread's id.
        thread: Box<Expr>,
        /// The function it must be running.
        function: FunctionId,
        /// The variable.
        variable: VariableId,
    },
    /// The object that a reference leads to; following null, or a reference to a deleted object, is a fault. The path goes
    /// on with a [`Projection::Member`] of a record or a [`Projection::Index`] of an array object.
    Object {
        /// The reference.
        reference: Box<Expr>,
        /// What it leads to.
        referent: Referent,
    },
}

/// One step into a structure or array.
#[derive(Clone, Debug)]
pub enum Projection {
    /// A field of a structure.
    Field(u32),
    /// An element of an array; outside its bounds is a fault.
    Index(Expr),
    /// A field of a record: the record that declares it, and its position there. Only at the start of the path of an object.
    Member(RecordId, u32),
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A constant.
    Const(i32),
    /// The value of a scalar place.
    Load(Place),
    /// A prefix operator.
    Unary(UnaryOp, Box<Expr>),
    /// An infix operator; `&&` and `||` evaluate their right side only when needed.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `c -> a : b`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The id of the running thread.
    SelfId,
    /// The number of threads alive.
    ThreadCount,
    /// The id of the thread that took the last step.
    Last,
    /// True only when no thread can move otherwise.
    Timeout,
    /// Number of messages in a channel.
    Length(Box<Expr>),
    /// The channel is full.
    Full(Box<Expr>),
    /// The channel is empty.
    Empty(Box<Expr>),
    /// Would this receive find a message (never a rendezvous)?
    Poll {
        /// The channel.
        channel: Box<Expr>,
        /// Any position, not only the first.
        any: bool,
        /// The pattern.
        patterns: Vec<Pattern>,
    },
    /// The thread exists, runs the label's function, and stands at its location.
    At {
        /// The thread's id.
        thread: Box<Expr>,
        /// The label.
        label: LabelId,
    },
    /// The thread exists and can take a step; only in claims.
    Enabled(Box<Expr>),
    /// The number of the location a thread stands at; 0 when there is none; only in claims.
    LocationOf(Box<Expr>),
    /// No thread stands at a location that carries a progress label, and the run has not ended; only in claims.
    NonProgress,
    /// How many threads run `function` and satisfy `body`, in which [`Expr::Bound`] is the id of the one looked at.
    Count {
        /// What they run.
        function: FunctionId,
        /// What must hold of them.
        body: Box<Expr>,
    },
    /// The id of the oldest thread that runs this function; -1 when there is none; only in claims.
    Oldest(FunctionId),
    /// The id of the thread that an enclosing [`Expr::Count`] looks at: 0 is the outermost one.
    Bound(u32),
    /// The priority of a thread; 0 when there is none.
    Priority(Box<Expr>),
    /// The id of the running thread, as a value of [`Type::Thread`].
    SelfThread,
    /// The thread (a value of [`Type::Thread`]) has ended. A fault for none.
    Terminated(Box<Expr>),
    /// The reference is not null and its object is of this type (or, unless `exact`, of one that extends it).
    InstanceOf {
        /// The reference.
        reference: Box<Expr>,
        /// The type.
        record: RecordId,
        /// Not of a type that extends it.
        exact: bool,
    },
    /// The reference itself; a fault unless it is null or leads to a record of this type or one that extends it.
    Cast {
        /// The reference.
        reference: Box<Expr>,
        /// The type.
        record: RecordId,
    },
    /// Number of elements of the array object that the reference leads to.
    ArrayLength(Box<Expr>),
    /// What a lock (an object of its own, or the one of a record) says to the running thread.
    Lock(LockQuery, Box<Expr>),
    /// An operation of a collection that changes nothing (see [`crate::Extension`]).
    Query {
        /// The collection.
        collection: Box<Expr>,
        /// The number of the operation.
        operation: u32,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// Following references from the object of the first, any number of times, leads to that of the second; false where one
    /// of them is null; only in claims.
    Reachable(Box<Expr>, Box<Expr>),
    /// A function as a value.
    Function(FunctionId),
    /// The position of the statement that created the expression, for faults inside it.
    Spanned(Box<Expr>, Span),
}

/// Questions about a lock. Null, and what is not a lock, are faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockQuery {
    /// Nobody holds it, or the running thread does.
    Available,
    /// The running thread holds it.
    Held,
    /// The running thread waits for it and has been notified.
    Notified,
}

/// What one field of a received message meets.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// It is stored here.
    Bind(Place),
    /// It is ignored.
    Ignore,
    /// It must equal this.
    Match(Expr),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `~`
    Complement,
    /// `-`
    Negate,
}

/// Infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
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
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `&&`
    And,
    /// `||`
    Or,
}

impl Expr {
    /// The constant 1: always executable.
    pub fn truth() -> Expr {
        Expr::Const(1)
    }

    /// The value, if the expression is a constant.
    pub fn constant(&self) -> Option<i32> {
        match self {
            Expr::Const(value) => Some(*value),
            Expr::Spanned(inner, _) => inner.constant(),
            _ => None,
        }
    }

    /// `!self`.
    pub fn negated(self) -> Expr {
        Expr::Unary(UnaryOp::Not, Box::new(self))
    }
}

impl BinaryOp {
    /// The result on two values; `None` for division by zero. `And` and `Or` as on truth values.
    pub fn apply(self, a: i32, b: i32) -> Option<i32> {
        Some(match self {
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Sub => a.wrapping_sub(b),
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::Div if b == 0 => return None,
            BinaryOp::Mod if b == 0 => return None,
            BinaryOp::Div => a.wrapping_div(b),
            BinaryOp::Mod => a.wrapping_rem(b),
            BinaryOp::Shl => a.wrapping_shl(b as u32),
            BinaryOp::Shr => a.wrapping_shr(b as u32),
            BinaryOp::Lt => i32::from(a < b),
            BinaryOp::Le => i32::from(a <= b),
            BinaryOp::Gt => i32::from(a > b),
            BinaryOp::Ge => i32::from(a >= b),
            BinaryOp::Eq => i32::from(a == b),
            BinaryOp::Ne => i32::from(a != b),
            BinaryOp::BitAnd => a & b,
            BinaryOp::BitXor => a ^ b,
            BinaryOp::BitOr => a | b,
            BinaryOp::And => i32::from(a != 0 && b != 0),
            BinaryOp::Or => i32::from(a != 0 || b != 0),
        })
    }
}
