//! What is asked of a program, and so what a reduction must preserve.

use quotient_program::Expr;

/// What a reduced search must answer as the full one would.
#[derive(Clone, Debug)]
pub enum Question {
    /// Which states have no successor. Persistent sets suffice: no thread may be forgotten in a state where everything
    /// else stands still, but it may be postponed round a cycle.
    Deadlock,
    /// Deadlocks, and which steps fail an assertion or fault. What a step does depends only on what it touches, so every
    /// step of the full graph is taken, doing the same, as long as no thread is postponed for ever.
    Safety,
    /// An LTL formula without `X` over these expressions (their labels must be in [`quotient_program::Program::labels`]).
    LtlX {
        /// The propositions.
        visible: Vec<Expr>,
    },
    /// A CTL* formula without `X` over these expressions.
    CtlStarX {
        /// The propositions.
        visible: Vec<Expr>,
    },
}

impl Question {
    /// The expressions whose changes must be seen.
    pub fn visible(&self) -> &[Expr] {
        match self {
            Question::Deadlock | Question::Safety => &[],
            Question::LtlX { visible } | Question::CtlStarX { visible } => visible,
        }
    }

    /// Is it about whole behaviours, so that no cycle may postpone a thread?
    pub fn is_temporal(&self) -> bool {
        matches!(self, Question::LtlX { .. } | Question::CtlStarX { .. })
    }
}
