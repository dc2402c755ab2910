//! What a trace consists of: steps of threads, in the order in which they happened, whatever the program is written in.

use quotient_seams::Violation;

use crate::Effect;

/// A run, executed again.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// What happened, in order. One step may be several of these (an atomic sequence, a rendezvous).
    pub steps: Vec<Step>,
    /// Every variable of the initial state.
    pub initial: Vec<(String, String)>,
    /// Every variable of the last state.
    pub last: Vec<(String, String)>,
    /// Where the processes or threads are in the end.
    pub processes: Vec<ProcessState>,
    /// The number of the first step of a cycle that is repeated for ever; it ends with the trace.
    pub cycle: Option<usize>,
    /// For each choice of the path that was executed again, the number of the last step it made.
    pub reached: Vec<usize>,
    /// The acceptance sets met on the cycle, as bits; sets that do not exist are among them.
    pub met: u64,
    /// The violation met at the end.
    pub violation: Option<Violation>,
    /// Where the violation is, as `file:line`.
    pub violation_at: Option<String>,
    /// The accesses that the violation consists of: of a data race the later one, then the earlier one.
    pub accesses: Vec<Access>,
    /// What the program printed in all.
    pub output: String,
    /// The schedule that repeats the run of a C program.
    pub schedule: Option<String>,
}

impl Step {
    /// Of an assertion that fails: the expression with values in place of names.
    pub fn failed(&self) -> Option<&str> {
        self.effect.as_ref()?.failed.as_ref().map(|failed| failed.values.as_str())
    }
}

/// One statement executed by one process or thread.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// The step it belongs to, from 1: those of the program as written, so that it is the same whatever reductions found the run.
    pub number: usize,
    /// Its process or thread: name and number.
    pub process: String,
    /// The number.
    pub pid: u32,
    /// File of the statement.
    pub file: String,
    /// Line of the statement.
    pub line: u32,
    /// Where an inline was called that the statement belongs to, as `file:line`.
    pub called_at: Option<String>,
    /// Where it is, innermost function first; empty where there are no functions.
    pub stack: Vec<Frame>,
    /// The statement.
    pub statement: String,
    /// What it changed.
    pub changes: Vec<Change>,
    /// What it read and wrote and what others notice of it, where that was recorded.
    pub effect: Option<Effect>,
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

/// A process or thread in a state.
#[derive(Clone, Debug, Default)]
pub struct ProcessState {
    /// Name and number.
    pub process: String,
    /// The number.
    pub pid: u32,
    /// Where it stands, as `file:line`.
    pub at: String,
    /// The statements it waits to execute.
    pub waits_for: Vec<String>,
    /// It may stay there for ever.
    pub valid_end: bool,
    /// It has ended.
    pub finished: bool,
    /// Who has what it waits for.
    pub owner: Option<u32>,
    /// It can go on.
    pub can_go_on: bool,
    /// In how many ways it can do what it does next.
    pub ways: u32,
    /// What it does next, or would if it could.
    pub next: Option<Effect>,
    /// Where it is, innermost function first.
    pub stack: Vec<Frame>,
}

/// A function on a stack.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// The function.
    pub function: String,
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
}

/// An access to memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Access {
    /// The thread.
    pub thread: u32,
    /// What it accessed and how.
    pub access: String,
    /// The memory that it accessed; empty where it is about something else.
    pub object: String,
    /// It wrote there.
    pub writes: bool,
    /// Where it was.
    pub stack: Vec<Frame>,
}
