//! Answers about C programs in the words that all engines share.

use quotient_outcome::{Verdict, ViolationKind};

use crate::check::{Answer, Report};
use crate::protocol::FailureKind;

impl FailureKind {
    /// What kind of violation it is; `None` where nothing went wrong, or nobody knows.
    pub fn violation(self) -> Option<ViolationKind> {
        match self {
            FailureKind::None | FailureKind::Refused | FailureKind::Stuck => None,
            FailureKind::Deadlock | FailureKind::Livelock => Some(ViolationKind::Deadlock),
            FailureKind::Assertion | FailureKind::Error => Some(ViolationKind::Assertion),
            FailureKind::Race => Some(ViolationKind::Race),
            FailureKind::Crash | FailureKind::Memory => Some(ViolationKind::Crash),
            FailureKind::Misuse => Some(ViolationKind::Misuse),
            FailureKind::Leak => Some(ViolationKind::Leak),
        }
    }
}

impl Report {
    /// The answer in a word.
    pub fn verdict(&self) -> Verdict {
        match &self.answer {
            Answer::Holds => Verdict::Holds,
            Answer::Violated(_) => Verdict::Violated,
            Answer::Undecided(why) => Verdict::Undecided(why.clone()),
            Answer::Refused(why, _) => Verdict::Undecided(quotient_outcome::Incomplete::Unsupported(
                format!("cannot be checked: {why}"),
            )),
        }
    }
}
