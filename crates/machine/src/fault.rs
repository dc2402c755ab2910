//! What can go wrong in a step, and where.

use quotient_program::ClaimOrigin;
use quotient_source::Span;

/// A place in the program where a step can go wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// What goes wrong there.
    pub fault: Fault,
    /// Where it is.
    pub span: Span,
}

/// The ways in which a step goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// More values than the channel's messages have fields.
    Fields,
    /// A remote reference to a process that does not exist, or runs something else.
    NoProcess {
        /// The proctype it must run.
        name: String,
    },
    /// A `d_step` blocks after its first statement.
    Blocked,
    /// A `d_step` does not end.
    Endless,
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
    /// The stable word for machines.
    pub fn kind(&self) -> &'static str {
        match self {
            Fault::Assertion { .. } => "assertion",
            Fault::Index { .. } => "index",
            Fault::Division => "division",
            Fault::NoChannel | Fault::Fields => "channel",
            Fault::NoProcess { .. } => "reference",
            Fault::Blocked | Fault::Endless => "d_step",
            Fault::Claim { origin, .. } => origin.kind(),
            Fault::Deadlock => "deadlock",
            Fault::Trace { .. } => "trace",
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
            Fault::NoProcess { name } => {
                format!("remote reference to a process that does not exist or is no `{name}`")
            }
            Fault::Blocked => "a d_step sequence blocks after its first statement".into(),
            Fault::Endless => "a d_step sequence does not end".into(),
            Fault::Claim { message, .. } => message.clone(),
            Fault::Deadlock => "deadlock: invalid end state".into(),
            Fault::Trace { negated: false } => "a channel operation that the trace does not allow".into(),
            Fault::Trace { negated: true } => "the channel operations complete the notrace".into(),
        }
    }
}
