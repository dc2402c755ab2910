//! What can be wrong, for models, programs and proofs alike.

use std::fmt;

/// A violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What kind of thing went wrong.
    pub kind: ViolationKind,
    /// A sentence for people.
    pub message: String,
}

macro_rules! kinds {
    ($(#[doc = $doc:literal] $variant:ident = $name:literal, $status:literal;)*) => {
        /// The kinds of violation, each with a stable word for machines and the exit status that it leads to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ViolationKind { $(#[doc = $doc] $variant,)* }

        impl ViolationKind {
            /// All of them.
            pub const ALL: &[ViolationKind] = &[$(ViolationKind::$variant,)*];

            /// The word for machines.
            pub fn as_str(self) -> &'static str {
                match self { $(ViolationKind::$variant => $name,)* }
            }

            /// What it is, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(ViolationKind::$variant => $doc.trim_ascii(),)* }
            }

            /// The exit status: 10 a refuted assertion of a proof, 11 deadlock, 12 safety, 13 a temporal property, 14 race or crash.
            pub fn status(self) -> u8 {
                match self { $(ViolationKind::$variant => $status,)* }
            }
        }
    };
}

kinds! {
    /// Nothing can move, and not everything is at a valid end.
    Deadlock = "deadlock", 11;
    /// An assertion does not hold.
    Assertion = "assertion", 12;
    /// An index is outside of an array, or a length negative.
    Index = "index", 12;
    /// Division by zero.
    Division = "division", 12;
    /// Wrong use of a channel.
    Channel = "channel", 12;
    /// A process or thread that does not exist.
    Reference = "reference", 12;
    /// A `d_step` that blocks or does not end.
    DStep = "d_step", 12;
    /// A channel operation that a `trace` does not allow.
    Trace = "trace", 12;
    /// A reference that is null.
    Null = "null", 12;
    /// A reference to a deleted object.
    Dangling = "dangling", 12;
    /// A value outside of its range.
    Range = "range", 12;
    /// A reference of another type.
    Cast = "cast", 12;
    /// Wrong use of a lock.
    Lock = "lock", 12;
    /// An exception that nobody catches.
    Exception = "exception", 12;
    /// A call of something else than a function, or with wrong arguments.
    Call = "call", 12;
    /// Something that a collection refuses.
    Collection = "collection", 12;
    /// An invariant does not hold.
    Invariant = "invariant", 12;
    /// A formula of linear time does not hold.
    Ltl = "ltl", 13;
    /// A formula of branching time does not hold.
    Ctl = "ctl", 13;
    /// A never claim is followed.
    Never = "never", 13;
    /// A run through accept labels for ever.
    Acceptance = "acceptance", 13;
    /// A run without progress.
    NonProgress = "non-progress", 13;
    /// A data race.
    Race = "race", 14;
    /// A crash, or wrong use of memory.
    Crash = "crash", 14;
    /// Wrong use of a thread, mutex or the like.
    Misuse = "misuse", 14;
    /// A thread that is never joined.
    Leak = "leak", 14;
    /// An assertion that was to be proved does not hold.
    Refuted = "refuted", 10;
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq<&str> for ViolationKind {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}
