//! Thread bodies: locations and transformations.

use std::collections::HashMap;

use quotient_source::Span;

use crate::types::id;
use crate::{Allocation, Expr, Pattern, Place, RecordId, Variable, VariableId, VirtualTableId};

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

/// The body of a kind of thread, or of what threads call.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// How many of the locals are parameters (they come first). The arguments of a start are their scalars, in order:
    /// one for a number, one for each field of a structure. A structure that is a parameter has no initial values.
    pub params: usize,
    /// Local variables. A variable of an inner block has a place of its own.
    pub locals: Vec<Variable>,
    /// Locals that have no value when a thread starts, whatever their initial value or argument. Set by an analysis that
    /// has shown that nobody reads it.
    pub dead_at_start: Vec<VariableId>,
    /// The control points.
    pub locations: Vec<Location>,
    /// Where exceptions go, the first that fits; looked through for the location a frame is at (for the frame of a caller,
    /// the location of the call).
    pub catches: Vec<Catch>,
    /// Where a thread starts.
    pub entry: LocationId,
    /// A thread may move only while this holds.
    pub provided: Option<Expr>,
    /// Initial priority.
    pub priority: i32,
    /// Its header.
    pub span: Span,
}

/// Where an exception goes.
#[derive(Clone, Debug)]
pub struct Catch {
    /// The exceptions meant: records of this type or one that extends it.
    pub exception: RecordId,
    /// The locations it applies to.
    pub locations: Vec<LocationId>,
    /// The local that gets the reference.
    pub variable: Option<VariableId>,
    /// Where the thread goes on.
    pub target: LocationId,
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
    /// While some thread stands at such a location, only threads that do so may move. A rendezvous then needs two of them.
    pub committed: bool,
    /// What a thread does here touches nothing but its own variables, and something can always be done: a
    /// thread that arrives goes on in the same step. Set by an analysis that has shown this to be invisible.
    pub transient: bool,
    /// The user's labels.
    pub labels: Vec<String>,
    /// The statement that starts here.
    pub span: Span,
}

impl Function {
    /// What the local variables are called in reports: by their names; where variables of several scopes have one name, the second
    /// is `x~2`.
    pub fn local_names(&self) -> Vec<String> {
        let mut met: HashMap<&str, u32> = HashMap::new();
        let named = self.locals.iter().map(|variable| {
            let count = met.entry(&variable.name).or_default();
            *count += 1;
            if *count == 1 { variable.name.clone() } else { format!("{}~{count}", variable.name) }
        });
        named.collect()
    }

    /// What one of them is called.
    pub fn local_name(&self, local: usize) -> String {
        let name = &self.locals[local].name;
        match self.locals[..local].iter().filter(|v| v.name == *name).count() {
            0 => name.clone(),
            before => format!("{name}~{}", before + 1),
        }
    }
}

impl Location {
    /// A location without ways on and without anything special about it.
    pub fn new(span: Span) -> Location {
        Location {
            transformations: Vec::new(),
            end: false,
            accept: false,
            progress: false,
            deterministic: false,
            committed: false,
            transient: false,
            labels: Vec::new(),
            span,
        }
    }
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

impl Transformation {
    /// The thread comes to its end.
    pub fn is_end(&self) -> bool {
        matches!(self.operation, Operation::Exit)
    }
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
        /// What must hold besides; a fault in it is one of the thread that stands there, with or without a partner.
        guard: Option<Expr>,
        /// The channel.
        channel: Expr,
        /// Keep the channel sorted: insert before the first greater message.
        sorted: bool,
        /// The fields.
        args: Vec<Expr>,
    },
    /// When the channel has a matching message, or a rendezvous partner offers one; receives it.
    Receive {
        /// What must hold besides, as for a send.
        guard: Option<Expr>,
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
    /// Makes an object; the reference goes to `result`.
    New {
        /// Where the reference goes.
        result: Place,
        /// What is made.
        what: Allocation,
    },
    /// Ends an object. References to it remain and must not be followed. Null, and an object already deleted, are faults.
    Delete(Expr),
    /// Does something with a lock.
    Lock(LockOperation, Expr),
    /// An operation of a collection (see [`crate::Extension`]).
    Update {
        /// The collection.
        collection: Expr,
        /// The number of the operation.
        operation: u32,
        /// Its arguments.
        args: Vec<Expr>,
        /// Where its value goes.
        result: Option<Place>,
    },
    /// Picks a value; every one is explored. Nothing to pick from: the transformation cannot be taken.
    Choose {
        /// Where the value goes.
        result: Place,
        /// What it is picked from.
        choice: Choice,
    },
    /// Calls a function. The arguments are evaluated here; the frame is entered when all actions of the transformation are
    /// done (at most one of them is a call). The caller goes on at the transformation's target when the frame returns.
    Call {
        /// What is called.
        callee: Callee,
        /// Values of its parameters.
        args: Vec<Expr>,
        /// Where the returned value goes: a whole local variable of the caller.
        result: Option<Place>,
    },
    /// Leaves the frame when all actions of the transformation are done; the thread goes on in its caller, or ends when
    /// there is none. The transformation has no target.
    Return(Option<Expr>),
    /// Throws the record that the reference leads to: the actions after it are not done, and the thread goes on where the
    /// nearest [`Catch`] says. Null is a fault, and so is an exception that nobody catches.
    Throw(Expr),
    /// The step is possible only if this is not zero; otherwise the search turns back, and this is not a deadlock.
    Assume(Expr),
    /// Ends the thread with all its frames when all actions of the transformation are done, whatever threads came after.
    /// The transformation has no target.
    EndThread,
    /// Ends all threads when all actions of the transformation are done. The transformation has no target.
    Halt,
}

/// What [`Action::Choose`] picks from.
#[derive(Clone, Debug)]
pub enum Choice {
    /// The integers between two bounds, both included.
    Range(Expr, Expr),
    /// The first scalar of each row of a collection.
    Members(Expr),
}

/// What [`Action::Call`] calls.
#[derive(Clone, Debug)]
pub enum Callee {
    /// This function.
    Function(FunctionId),
    /// The function that a value of [`crate::Type::Function`] means; none, or one with other parameters, is a fault.
    Value(Expr),
    /// What a virtual table says for the first argument; null is a fault.
    Virtual(VirtualTableId),
}

/// What can be done with a lock. Locks are re-entrant: they count. A thread waits for at most one lock at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockOperation {
    /// Takes the lock, or takes it once more. A fault when another thread holds it: guard it with
    /// [`crate::LockQuery::Available`].
    Lock,
    /// Gives it back once. A fault when the running thread does not hold it.
    Unlock,
    /// Gives the lock back altogether and starts to wait for a notification. A fault when the running thread does not hold it.
    Wait,
    /// Ends waiting and takes the lock back as often as it was held. A fault when the running thread does not wait for it,
    /// was not notified, or when another thread holds it.
    Unwait,
    /// Notifies one of the threads that wait, each of them being explored; nothing when nobody waits. A fault when the
    /// running thread does not hold the lock.
    Notify,
    /// Notifies all threads that wait. A fault when the running thread does not hold the lock.
    NotifyAll,
}

/// A `printf`, its format cut into parts.
#[derive(Clone, Debug)]
pub struct Printf {
    /// The parts.
    pub parts: Vec<PrintfPart>,
}

impl Printf {
    /// The values that are printed.
    pub fn values(&self) -> impl Iterator<Item = &Expr> {
        self.parts.iter().filter_map(|part| match part {
            PrintfPart::Text(_) => None,
            PrintfPart::Decimal(e)
            | PrintfPart::Unsigned(e)
            | PrintfPart::Hex(e)
            | PrintfPart::Octal(e)
            | PrintfPart::Character(e)
            | PrintfPart::Name(e, _) => Some(e),
        })
    }
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
