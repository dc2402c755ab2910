//! What a trace consists of.

use std::fmt;

use quotient_seams::Violation;

/// A path, re-executed.
#[derive(Clone, Debug)]
pub struct Trace {
    /// What happened, in order. One step of the search may be several of these (an atomic sequence, a rendezvous).
    pub steps: Vec<Step>,
    /// Every variable of the initial state.
    pub initial: Vec<(String, String)>,
    /// Every variable of the last state.
    pub last: Vec<(String, String)>,
    /// Where the processes are in the last state.
    pub processes: Vec<ProcessState>,
    /// The number of the first step of a cycle that is repeated for ever; it ends with the trace.
    pub cycle: Option<usize>,
    /// The acceptance sets met on the cycle, as bits; sets that do not exist are among them.
    pub met: u64,
    /// The violation met at the end.
    pub violation: Option<Violation>,
    /// Where the violation is, as `file:line`.
    pub violation_at: Option<String>,
}

/// One statement executed by one process.
#[derive(Clone, Debug)]
pub struct Step {
    /// The step of the search it belongs to, from 1.
    pub number: usize,
    /// Its process: name and number.
    pub process: String,
    /// The process number.
    pub pid: u32,
    /// File of the statement.
    pub file: String,
    /// Line of the statement.
    pub line: u32,
    /// Where an inline was called that the statement belongs to, as `file:line`.
    pub called_at: Option<String>,
    /// The statement.
    pub statement: String,
    /// What it changed.
    pub changes: Vec<Change>,
    /// What it printed.
    pub output: String,
    /// Every variable after it.
    pub state: Vec<(String, String)>,
}

/// A changed variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Before; `None` when it did not exist.
    pub before: Option<String>,
    /// After; `None` when it exists no more.
    pub after: Option<String>,
}

/// A process in a state.
#[derive(Clone, Debug)]
pub struct ProcessState {
    /// Name and number.
    pub process: String,
    /// Where it stands, as `file:line`.
    pub at: String,
    /// The statements it waits to execute.
    pub waits_for: Vec<String>,
    /// It may stay there for ever.
    pub valid_end: bool,
}

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
