//! What can go wrong in a step, and where.

use quotient_program::ClaimOrigin;
use quotient_seams::ViolationKind;
use quotient_source::Span;

/// A place in the program where a step can go wrong.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// What goes wrong there.
    pub fault: Fault,
    /// Where it is.
    pub span: Span,
}

/// The ways in which a step goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// An assertion does not hold.
    Assertion {
        /// The expression as written.
        text: String,
    },
    /// An array index is outside the array.
    Index {
        /// The array as written.
        text: String,
        /// Its length.
        length: u32,
    },
    /// Division by zero.
    Division,
    /// A channel variable that holds no channel.
    NoChannel,
    /// A receive with more fields than the channel's messages have, or a send with more values.
    Fields,
    /// A send with fewer values than the channel's messages have fields.
    FewerSent,
    /// A receive with fewer fields than the channel's messages have.
    FewerReceived,
    /// A poll or peek of a channel without capacity, which never holds a message.
    PolledRendezvous,
    /// A reference where a message has a number, or the other way round.
    Message,
    /// A remote reference to a process that does not exist, or runs something else.
    NoProcess {
        /// The proctype it must run.
        name: String,
    },
    /// A `d_step` blocks after its first statement.
    Blocked,
    /// A `d_step` does not end.
    Endless,
    /// A send on a channel without capacity inside a `d_step`.
    RendezvousInDStep,
    /// A reference that is null is followed.
    Null {
        /// What was written.
        text: String,
    },
    /// A reference to a deleted object is followed.
    Dangling {
        /// What was written.
        text: String,
    },
    /// An index is outside an array object.
    Bounds {
        /// The element as written.
        text: String,
    },
    /// The length of a new array is negative.
    Length,
    /// A value is outside the range of the variable it is assigned to.
    Range {
        /// The least value.
        low: i32,
        /// The greatest value.
        high: i32,
    },
    /// An object is not of the type it is cast to.
    Cast {
        /// The type.
        name: String,
    },
    /// A lock is used by a thread that may not.
    Lock {
        /// The statement.
        text: String,
    },
    /// A lock operation on something that has no lock.
    NoLock,
    /// An exception that nobody catches.
    Unhandled {
        /// Its type.
        name: String,
    },
    /// A call of no function.
    NoFunction {
        /// The call.
        text: String,
    },
    /// A call with the wrong number of arguments.
    Arguments {
        /// The call.
        text: String,
    },
    /// A question about no thread.
    NoThread,
    /// An operation of a collection that cannot be done.
    Refused {
        /// The operation.
        text: String,
    },
    /// A claim was followed to its end.
    Claim {
        /// What the claim is.
        origin: ClaimOrigin,
        /// What that means.
        message: String,
    },
    /// Nothing can move, and not all processes may stop (only where a claim watches).
    Deadlock,
    /// A channel operation that the `trace` does not allow, or that completes a `notrace`.
    Trace {
        /// `notrace`.
        negated: bool,
    },
}

impl Fault {
    /// What kind of violation it is.
    pub fn kind(&self) -> ViolationKind {
        use ViolationKind as K;
        match self {
            Fault::Assertion { .. } => K::Assertion,
            Fault::Index { .. } => K::Index,
            Fault::Division => K::Division,
            Fault::NoChannel
            | Fault::Fields
            | Fault::FewerSent
            | Fault::FewerReceived
            | Fault::PolledRendezvous
            | Fault::Message => K::Channel,
            Fault::NoProcess { .. } => K::Reference,
            Fault::Blocked | Fault::Endless | Fault::RendezvousInDStep => K::DStep,
            Fault::Claim { origin, .. } => claim_kind(*origin),
            Fault::Deadlock => K::Deadlock,
            Fault::Trace { .. } => K::Trace,
            Fault::Null { .. } => K::Null,
            Fault::Dangling { .. } => K::Dangling,
            Fault::Bounds { .. } | Fault::Length => K::Index,
            Fault::Range { .. } => K::Range,
            Fault::Cast { .. } => K::Cast,
            Fault::Lock { .. } | Fault::NoLock => K::Lock,
            Fault::Unhandled { .. } => K::Exception,
            Fault::NoFunction { .. } | Fault::Arguments { .. } => K::Call,
            Fault::NoThread => K::Reference,
            Fault::Refused { .. } => K::Collection,
        }
    }

    /// The sentence for people.
    pub fn message(&self) -> String {
        match self {
            Fault::Assertion { text } => format!("assertion violated: {text}"),
            Fault::Index { text, length } => {
                format!("index out of bounds: `{text}` has elements 0 to {}", length.saturating_sub(1))
            }
            Fault::Division => "division by zero".into(),
            Fault::NoChannel => "operation on a channel variable that holds no channel".into(),
            Fault::Fields => "more values than the messages of the channel have fields".into(),
            Fault::FewerSent => {
                "too few values in a send: the messages of the channel have more fields".into()
            }
            Fault::FewerReceived => {
                "too few fields in a receive: the messages of the channel have more".into()
            }
            Fault::PolledRendezvous => {
                "poll or peek of a rendezvous channel, which never holds a message".into()
            }
            Fault::Message => {
                "a reference where the channel's messages have a number, or the other way round".into()
            }
            Fault::NoProcess { name } => {
                format!("remote reference to a process that does not exist or is not a `{name}`")
            }
            Fault::Blocked => "a d_step sequence blocks after its first statement".into(),
            Fault::Endless => "a d_step sequence does not end".into(),
            Fault::RendezvousInDStep => "rendezvous send inside a d_step".into(),
            Fault::Null { text } => format!("null is followed: `{text}`"),
            Fault::Dangling { text } => format!("a deleted object is used: `{text}`"),
            Fault::Bounds { text } => format!("index out of bounds: `{text}`"),
            Fault::Length => "an array with a negative length".into(),
            Fault::Range { low, high } => format!("value out of range: it must be from {low} to {high}"),
            Fault::Cast { name } => format!("cast of an object that is not a `{name}`"),
            Fault::Lock { text } => {
                format!("lock used by a thread that does not hold it, or while another holds it: `{text}`")
            }
            Fault::NoLock => "lock operation on null, a deleted object, or an object without a lock".into(),
            Fault::Unhandled { name } => format!("exception not caught: {name}"),
            Fault::NoFunction { text } => format!("call of no function: `{text}`"),
            Fault::Arguments { text } => format!("call with the wrong number of arguments: `{text}`"),
            Fault::NoThread => "a question about a thread that does not exist".into(),
            Fault::Refused { text } => format!("operation of a collection that cannot be done: `{text}`"),
            Fault::Claim { message, .. } => message.clone(),
            Fault::Deadlock => "deadlock: invalid end state".into(),
            Fault::Trace { negated: false } => "a channel operation that the trace does not allow".into(),
            Fault::Trace { negated: true } => "the channel operations complete the notrace".into(),
        }
    }
}

/// What kind of violation a run that a claim reports is.
pub fn claim_kind(origin: ClaimOrigin) -> ViolationKind {
    match origin {
        ClaimOrigin::Formula => ViolationKind::Ltl,
        ClaimOrigin::Invariant => ViolationKind::Invariant,
        ClaimOrigin::Never => ViolationKind::Never,
        ClaimOrigin::Acceptance => ViolationKind::Acceptance,
        ClaimOrigin::NonProgress => ViolationKind::NonProgress,
    }
}
