//! Paths that cannot be repeated.

use std::fmt;

/// A path that the machine cannot repeat: a bug of the checker.
#[derive(Clone, Debug)]
pub struct NotReplayable {
    /// The step that could not be repeated.
    pub step: usize,
}

impl fmt::Display for NotReplayable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "step {} of the path cannot be repeated; this is a bug in quotient, please report it",
            self.step
        )
    }
}

impl std::error::Error for NotReplayable {}
