//! Thread bodies: locations and transformations.

use quotient_source::Span;

use crate::types::id;
use crate::{Expr, Pattern, Place, Variable, VariableId};

id!(
    /// Index into [`crate::Program::functions`].
    FunctionId
);
id!(
    /// Index into [`Function::locations`].
    LocationId
);

id!(
    /// Index into [`crate::Program::labels`].
    LabelId
);

/// A label that expressions refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The function it is in.
    pub function: FunctionId,
    /// The location it names.
    pub location: LocationId,
}

/// The body of a kind of thread.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// How many of the locals are parameters (they come first).
    pub params: usize,
    /// Local variables. A variable of an inner block has a place of its own.
    pub locals: Vec<Variable>,
    /// Locals that have no value when a thread starts, whatever their initial value or argument. Set by an analysis that
    /// has shown that nobody reads it.
    pub dead_at_start: Vec<VariableId>,
    /// The control points.
    pub locations: Vec<Location>,
    /// Where a thread starts.
    pub entry: LocationId,
    /// A thread may move only while this holds.
    pub provided: Option<Expr>,
    /// Initial priority.
    pub priority: i32,
    /// Its header.
    pub span: Span,
}

/// A control point.
#[derive(Clone, Debug)]
pub struct Location {
    /// The ways on, those of lower rank first, `else` last.
    pub transformations: Vec<Transformation>,
    /// A thread may stay here for ever without being deadlocked.
    pub end: bool,
    /// Carries an accept label.
    pub accept: bool,
    /// Carries a progress label.
    pub progress: bool,
    /// Passed in the same step, by the first executable transformation; blocking here is a fault,
    /// except as the first thing of a step, which is then not executable.
    pub deterministic: bool,
    /// What a thread does here touches nothing but its own variables, and something can always be done: a
    /// thread that arrives goes on in the same step. Set by an analysis that has shown this to be invisible.
    pub transient: bool,
    /// The user's labels.
    pub labels: Vec<String>,
    /// The statement that starts here.
    pub span: Span,
}

/// One way on from a location.
#[derive(Clone, Debug)]
pub struct Transformation {
    /// What decides whether it can be taken, with its effect.
    pub operation: Operation,
    /// What happens then, in order.
    pub actions: Vec<Action>,
    /// Where the thread goes; `None` when it ceases to exist.
    pub target: Option<LocationId>,
    /// The thread stays in exclusive control after this.
    pub keeps_control: bool,
    /// Executable transformations of a lower rank hide this one.
    pub rank: u16,
    /// The statement.
    pub span: Span,
    /// The statement as the user wrote it.
    pub text: String,
}

/// What decides whether a transformation can be taken.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Always.
    Always,
    /// When the expression is not zero.
    When(Expr),
    /// When no other transformation of the location can be taken.
    Else,
    /// When the channel has room, or a rendezvous partner; sends the values.
    Send {
        /// The channel.
        channel: Expr,
        /// Keep the channel sorted: insert before the first greater message.
        sorted: bool,
        /// The fields.
        args: Vec<Expr>,
    },
    /// When the channel has a matching message, or a rendezvous partner offers one; receives it.
    Receive {
        /// The channel.
        channel: Expr,
        /// Any position, not only the first.
        any: bool,
        /// Leave the message in the channel.
        peek: bool,
        /// What happens to the fields.
        patterns: Vec<Pattern>,
    },
    /// A channel operation of some thread, seen by an observer.
    Event {
        /// A send rather than a receive.
        send: bool,
        /// The channel.
        channel: Expr,
        /// What the fields of the message must be.
        patterns: Vec<Pattern>,
    },
    /// When the deterministic location the transformation leads to can be passed.
    Enter,
    /// When the thread is the youngest one alive: it ceases to exist.
    Exit,
}

/// A change of the state.
#[derive(Clone, Debug)]
pub enum Action {
    /// Stores a value, wrapped to the place's type.
    Assign(Place, Expr),
    /// Starts a thread; its id goes to `result`.
    Start {
        /// What it runs.
        function: FunctionId,
        /// Values of its parameters.
        args: Vec<Expr>,
        /// Its priority.
        priority: Option<Expr>,
        /// Where its id goes.
        result: Option<Place>,
    },
    /// A fault unless the expression is not zero.
    Assert(Expr, Span),
    /// Prints; seen in traces and simulation only.
    Print(Printf),
    /// Changes the priority of a thread.
    SetPriority(Expr, Expr),
    /// The local variable has no value from here on (it is zero until written again).
    Forget(VariableId),
}

/// A `printf`, its format cut into parts.
#[derive(Clone, Debug)]
pub struct Printf {
    /// The parts.
    pub parts: Vec<PrintfPart>,
}

/// Part of a `printf`.
#[derive(Clone, Debug)]
pub enum PrintfPart {
    /// Literal text.
    Text(String),
    /// `%d`
    Decimal(Expr),
    /// `%u`
    Unsigned(Expr),
    /// `%x`
    Hex(Expr),
    /// `%o`
    Octal(Expr),
    /// `%c`
    Character(Expr),
    /// `%e`: the name of an enumeration constant (of the set with this index, if known).
    Name(Expr, Option<crate::EnumerationId>),
}
