//! What a check has found out so far, for whoever has to report before it is finished.
//!
//! Most of a check stops by itself when it is interrupted, with an outcome. What cannot (a front end, a translation, a path that is
//! executed again) may have to be left where it is; then the journal says how far it was.

use std::sync::{Mutex, MutexGuard, TryLockError};

use quotient_search::Statistics;

use quotient_seams::ViolationKind;

use crate::outcome::Outcome;
use quotient_outcome::Verdict;

/// Written by a check while it runs; can be read by another thread at any time.
#[derive(Debug, Default)]
pub struct Journal(Mutex<Known>);

/// What is known so far.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// What is being done, as in "while searching".
    pub phase: &'static str,
    /// Figures of the search that runs, or of the last one.
    pub statistics: Statistics,
    /// Questions answered, in words.
    pub answers: Vec<(String, Verdict)>,
    /// Violations that were executed again.
    pub violations: Vec<KnownViolation>,
    /// Violations that a search has found; they count only once they were executed again.
    pub found: usize,
}

/// A violation that was executed again.
#[derive(Clone, Debug)]
pub struct KnownViolation {
    /// What kind of thing went wrong.
    pub kind: ViolationKind,
    /// A sentence for people.
    pub message: String,
    /// Where the violation is, as `file:line`, if it has a place.
    pub at: Option<String>,
}

impl Journal {
    /// An empty one.
    pub const fn new() -> Journal {
        Journal(Mutex::new(Known {
            phase: "",
            statistics: NOTHING_DONE,
            answers: Vec::new(),
            violations: Vec::new(),
            found: 0,
        }))
    }

    /// Forgets everything, for another check.
    pub fn clear(&self) {
        *self.lock() = Known::default();
    }

    /// Something else is being done now.
    pub fn enter(&self, phase: &'static str) {
        self.lock().phase = phase;
    }

    /// How far the search is.
    pub fn progress(&self, statistics: &Statistics) {
        self.lock().statistics = *statistics;
    }

    /// A search has ended with this many violations.
    pub(crate) fn found(&self, count: usize, statistics: &Statistics) {
        let mut known = self.lock();
        known.found += count;
        known.statistics = *statistics;
    }

    /// Takes over what an outcome has so far.
    pub(crate) fn take_over(&self, outcome: &Outcome) {
        // Copied before the journal is locked: whoever reads it must not wait for memory.
        let answers = outcome.answers.iter().map(|a| (a.text.clone(), a.verdict.clone())).collect();
        let violation = |v: &crate::ViolationReport| KnownViolation {
            kind: v.kind,
            message: v.message.clone(),
            at: v.at.clone(),
        };
        let violations = outcome.violations.iter().map(violation).collect();
        let mut known = self.lock();
        (known.answers, known.violations) = (answers, violations);
    }

    /// What is known; `None` while it is being written to. Never waits.
    pub fn known(&self) -> Option<Known> {
        match self.0.try_lock() {
            Ok(known) => Some(known.clone()),
            Err(TryLockError::Poisoned(known)) => Some(known.into_inner().clone()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

const NOTHING_DONE: Statistics = Statistics {
    states: 0,
    transitions: 0,
    expanded: 0,
    depth: 0,
    store_bytes: 0,
    search_bytes: 0,
    waiting: 0,
    shares: [0; quotient_search::SHARES],
};
