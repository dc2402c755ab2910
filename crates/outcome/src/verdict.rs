//! Verdicts.

use quotient_seams::Incomplete;

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything asked for was decided and holds.
    Holds,
    /// Something does not hold.
    Violated,
    /// Not everything was decided: why.
    Undecided(Incomplete),
}

impl Verdict {
    /// The word for it in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Undecided(_) => "undecided",
        }
    }

    /// Why it is undecided.
    pub fn incomplete(&self) -> Option<&Incomplete> {
        match self {
            Verdict::Undecided(why) => Some(why),
            Verdict::Holds | Verdict::Violated => None,
        }
    }
}
