//! Why there is no answer, or not the whole of one.
//!
//! Decisions are made by the variant, never by the words; the words are what people read.

use std::fmt;

use crate::Reason;

/// Why something was not looked at to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// It was ended: by a time or memory limit, a signal, or for lack of memory.
    Ended(Reason),
    /// It was ended, in the midst of something: what follows the reason.
    EndedIn(Reason, String),
    /// It was stopped, and nobody says why: as a sentence.
    Stopped(String),
    /// A limit of its own was reached.
    Limit(Limit),
    /// A table cannot hold more: as a sentence.
    Full(&'static str),
    /// More combinations of threads than the usual layout of states has numbers for; a wider one may do.
    TooManyShapes,
    /// A violating run exists, but finding one takes too many states.
    TooLong,
    /// Another violation was found first.
    NotReached,
    /// The answer was found, but checking it was ended.
    Audit(Reason),
    /// Only one run was executed.
    OneRun,
    /// Only some runs were looked at, chosen at random.
    Sampled,
    /// The store may have taken states for others: as a sentence.
    Approximate(String),
    /// A violation was found and could not be executed again: as a sentence.
    Unconfirmed(String),
    /// A step of a program does not end: as a sentence.
    Stuck(String),
    /// A checked process was ended from outside: as a sentence.
    Killed(String),
    /// Something cannot be represented, or is not supported: as a sentence.
    Unsupported(String),
    /// Everything was looked at, and nothing of it says anything: as a sentence.
    Vacuous(String),
    /// Neither a proof nor a refutation was found: as a sentence.
    Unproved(String),
}

/// A limit of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many states.
    States(u64),
    /// So many steps from the initial state.
    Depth(u64),
    /// A number of executions.
    Executions,
    /// A number of preemptions in each execution.
    Preemptions,
    /// A number of steps in each execution; so many were longer.
    Steps(u64),
}

impl Incomplete {
    /// The word for machines.
    pub fn kind(&self) -> &'static str {
        match self {
            Incomplete::Ended(reason) | Incomplete::EndedIn(reason, _) => match reason {
                Reason::Asked(_) => "signal",
                Reason::Time(_) => "time",
                Reason::Memory(_) => "memory",
                Reason::OutOfMemory => "out-of-memory",
            },
            Incomplete::Stopped(_) => "stopped",
            Incomplete::Limit(Limit::Executions) => "executions",
            Incomplete::Limit(Limit::Preemptions) => "preemptions",
            Incomplete::Limit(Limit::Steps(_)) => "steps",
            Incomplete::Limit(Limit::States(_)) => "states",
            Incomplete::Limit(Limit::Depth(_)) => "depth",
            Incomplete::Full(_) => "full",
            Incomplete::TooManyShapes | Incomplete::Unsupported(_) => "unsupported",
            Incomplete::TooLong => "too-long",
            Incomplete::NotReached => "not-reached",
            Incomplete::Audit(_) => "audit",
            Incomplete::OneRun => "one-run",
            Incomplete::Sampled => "sampled",
            Incomplete::Approximate(_) => "approximate",
            Incomplete::Unconfirmed(_) => "unconfirmed",
            Incomplete::Stuck(_) => "stuck",
            Incomplete::Killed(_) => "killed",
            Incomplete::Vacuous(_) => "vacuous",
            Incomplete::Unproved(_) => "unproved",
        }
    }

    /// All the words.
    pub const KINDS: [&str; 23] = [
        "signal",
        "time",
        "memory",
        "out-of-memory",
        "stopped",
        "states",
        "depth",
        "executions",
        "preemptions",
        "steps",
        "full",
        "unsupported",
        "too-long",
        "not-reached",
        "audit",
        "one-run",
        "sampled",
        "approximate",
        "unconfirmed",
        "stuck",
        "killed",
        "vacuous",
        "unproved",
    ];
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Incomplete::Ended(reason) => reason.fmt(f),
            Incomplete::EndedIn(reason, what) => write!(f, "{reason}{what}"),
            Incomplete::Limit(Limit::Executions) => f.write_str("the bound on executions was reached"),
            Incomplete::Limit(Limit::Preemptions) => {
                f.write_str("only executions with few preemptions were explored")
            }
            Incomplete::Limit(Limit::Steps(longer)) => {
                write!(f, "{longer} execution(s) were longer than the bound on steps")
            }
            Incomplete::Limit(Limit::States(limit)) => write!(f, "limit of {limit} states reached"),
            Incomplete::Limit(Limit::Depth(limit)) => write!(f, "depth limit of {limit} reached"),
            Incomplete::Full(what) => f.write_str(what),
            Incomplete::TooManyShapes => f.write_str("more than 65536 combinations of processes"),
            Incomplete::TooLong => f.write_str(
                "there is a fair run that violates the formula, but finding it takes too many states",
            ),
            Incomplete::NotReached => f.write_str("another violation was found first; --all goes on"),
            Incomplete::Audit(reason) => write!(f, "{reason} during the audit; the search was complete"),
            Incomplete::OneRun => f.write_str("only one run was executed, and nothing goes wrong in it"),
            Incomplete::Sampled => f.write_str("random walks show no absence"),
            Incomplete::Stopped(text)
            | Incomplete::Approximate(text)
            | Incomplete::Unconfirmed(text)
            | Incomplete::Stuck(text)
            | Incomplete::Killed(text)
            | Incomplete::Unsupported(text)
            | Incomplete::Vacuous(text)
            | Incomplete::Unproved(text) => f.write_str(text),
        }
    }
}

impl From<Reason> for Incomplete {
    fn from(reason: Reason) -> Incomplete {
        Incomplete::Ended(reason)
    }
}

impl From<Limit> for Incomplete {
    fn from(limit: Limit) -> Incomplete {
        Incomplete::Limit(limit)
    }
}

/// A table that says why it is full.
impl From<&'static str> for Incomplete {
    fn from(what: &'static str) -> Incomplete {
        Incomplete::Full(what)
    }
}

/// A system that says what it cannot represent.
impl From<String> for Incomplete {
    fn from(what: String) -> Incomplete {
        Incomplete::Unsupported(what)
    }
}
