//! The error kinds both checkers can report, as they are spelled in expectation headers.

use std::collections::BTreeSet;
use std::fmt;

/// A kind of violation, coarse enough that SPIN's messages and Quotient's kinds both map to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorKind {
    /// An `assert` that does not hold.
    Assertion,
    /// An invalid end state.
    Deadlock,
    /// An array index out of bounds.
    Index,
    /// An operation on an uninitialised or wrongly used channel.
    Channel,
    /// A `trace` or `notrace` assertion that is not respected.
    Trace,
    /// Anything else.
    Other,
}

impl ErrorKind {
    /// The spelling in headers and reports.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Assertion => "assertion",
            ErrorKind::Deadlock => "deadlock",
            ErrorKind::Index => "index",
            ErrorKind::Channel => "channel",
            ErrorKind::Trace => "trace",
            ErrorKind::Other => "other",
        }
    }

    /// The kind with this spelling; anything unknown is [`ErrorKind::Other`], so that a kind one
    /// side invents shows up as a difference instead of being dropped.
    pub fn named(name: &str) -> ErrorKind {
        match name {
            "assertion" => ErrorKind::Assertion,
            "deadlock" => ErrorKind::Deadlock,
            "index" => ErrorKind::Index,
            "channel" => ErrorKind::Channel,
            "trace" => ErrorKind::Trace,
            _ => ErrorKind::Other,
        }
    }
}

/// The set of kinds found in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorKinds(pub BTreeSet<ErrorKind>);

#[cfg(test)]
impl ErrorKinds {
    /// Reads `none` or a comma-separated list; `None` when a word is not a kind.
    pub fn parse(text: &str) -> Option<ErrorKinds> {
        if text == "none" {
            return Some(ErrorKinds::default());
        }
        let mut kinds = BTreeSet::new();
        for word in text.split(',') {
            let kind = ErrorKind::named(word);
            if kind == ErrorKind::Other && word != "other" {
                return None;
            }
            kinds.insert(kind);
        }
        Some(ErrorKinds(kinds))
    }
}

impl fmt::Display for ErrorKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        let names: Vec<_> = self.0.iter().map(|kind| kind.name()).collect();
        f.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_round_trip_in_one_order() {
        let kinds = ErrorKinds::parse("deadlock,assertion").unwrap();
        assert_eq!(kinds.to_string(), "assertion,deadlock");
        assert_eq!(ErrorKinds::parse("none").unwrap().to_string(), "none");
        assert_eq!(ErrorKinds::parse("assertion,crash"), None);
        assert_eq!(ErrorKinds::parse(""), None);
    }
}
