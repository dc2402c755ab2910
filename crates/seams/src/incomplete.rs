//! Why there is no answer, or not the whole of one.
//!
//! Decisions are made by the variant, never by the words; the words are what people read.

use std::fmt;

use crate::Reason;

/// Why something was not looked at to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// It was ended: by a time or memory limit, a signal, or for want of memory.
    Ended(Reason),
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
    /// Only some runs were looked at, chosen at random.
    Sampled,
    /// A violation was found and could not be executed again: as a sentence.
    Unconfirmed(String),
    /// A step of a program does not end: as a sentence.
    Stuck(String),
    /// A checked process was ended from outside: as a sentence.
    Killed(String),
    /// Something cannot be represented, or is not supported: as a sentence.
    Unsupported(String),
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
}

impl Incomplete {
    /// The word for machines.
    pub fn kind(&self) -> &'static str {
        match self {
            Incomplete::Ended(Reason::Asked(_)) => "signal",
            Incomplete::Ended(Reason::Time(_)) => "time",
            Incomplete::Ended(Reason::Memory(_)) => "memory",
            Incomplete::Ended(Reason::OutOfMemory) => "out-of-memory",
            Incomplete::Limit(Limit::States(_)) => "states",
            Incomplete::Limit(Limit::Depth(_)) => "depth",
            Incomplete::Full(_) => "full",
            Incomplete::TooManyShapes | Incomplete::Unsupported(_) => "unsupported",
            Incomplete::TooLong => "too-long",
            Incomplete::NotReached => "not-reached",
            Incomplete::Audit(_) => "audit",
            Incomplete::Sampled => "sampled",
            Incomplete::Unconfirmed(_) => "unconfirmed",
            Incomplete::Stuck(_) => "stuck",
            Incomplete::Killed(_) => "killed",
            Incomplete::Unproved(_) => "unproved",
        }
    }

    /// All the words.
    pub const KINDS: [&str; 16] = [
        "signal",
        "time",
        "memory",
        "out-of-memory",
        "states",
        "depth",
        "full",
        "unsupported",
        "too-long",
        "not-reached",
        "audit",
        "sampled",
        "unconfirmed",
        "stuck",
        "killed",
        "unproved",
    ];
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Incomplete::Ended(reason) => reason.fmt(f),
            Incomplete::Limit(Limit::States(limit)) => write!(f, "limit of {limit} states reached"),
            Incomplete::Limit(Limit::Depth(limit)) => write!(f, "depth limit of {limit} reached"),
            Incomplete::Full(what) => f.write_str(what),
            Incomplete::TooManyShapes => f.write_str("more than 65536 combinations of processes"),
            Incomplete::TooLong => f.write_str(
                "there is a fair run that violates the formula, but finding it takes too many states",
            ),
            Incomplete::NotReached => f.write_str("another violation was found first; --all goes on"),
            Incomplete::Audit(reason) => write!(f, "{reason} during the audit; the search was complete"),
            Incomplete::Sampled => f.write_str("random walks show no absence"),
            Incomplete::Unconfirmed(text)
            | Incomplete::Stuck(text)
            | Incomplete::Killed(text)
            | Incomplete::Unsupported(text)
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
