//! Answers and traces of C programs in the words that all engines share.

use quotient_outcome::{Access, ProcessState, Step, Verdict, Violation, ViolationKind};

use crate::check::{Answer, Report};
use crate::protocol::FailureKind;
use crate::trace::{Frame, Side, Trace};

impl FailureKind {
    /// What kind of violation it is; `None` where nothing went wrong, or nobody knows.
    pub fn violation(self) -> Option<ViolationKind> {
        match self {
            FailureKind::None | FailureKind::Refused | FailureKind::Stuck => None,
            FailureKind::Deadlock => Some(ViolationKind::Deadlock),
            FailureKind::Assertion => Some(ViolationKind::Assertion),
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

/// `file:line` of the innermost function.
fn location(frames: &[Frame]) -> String {
    frames.first().map_or_else(String::new, |f| format!("{}:{}", f.file, f.line))
}

impl Trace {
    /// What went wrong, in words.
    pub fn headline(&self) -> String {
        let failure = &self.failure;
        match (failure.kind, failure.text.as_str()) {
            (FailureKind::Race, _) => match (&failure.here, &failure.there) {
                (Some(here), Some(there)) => format!(
                    "data race: {} by T{} and {} by T{}",
                    there.access, there.thread, here.access, here.thread
                ),
                _ => "data race".to_owned(),
            },
            (kind, "") => kind.text().to_owned(),
            (kind, text) => format!("{}: {text}", kind.text()),
        }
    }

    /// The trace as all engines write it.
    pub fn shared(&self) -> quotient_outcome::Trace {
        let name = |thread: usize| {
            let name = self.threads.get(thread).map_or("", |t| t.name.as_str());
            format!("T{thread} {name}").trim_end().to_owned()
        };
        let steps = self.steps.iter().enumerate().map(|(number, step)| {
            let at = step.stack.first().cloned().unwrap_or_default();
            Step {
                number: number + 1,
                process: name(step.thread),
                pid: step.thread as u32,
                file: at.file,
                line: at.line,
                stack: step.stack.clone(),
                statement: step.text.clone(),
                ..Step::default()
            }
        });
        let threads = self.threads.iter().enumerate().filter(|(_, t)| t.exists);
        let processes = threads.map(|(number, t)| ProcessState {
            process: name(number),
            pid: number as u32,
            at: location(&t.stack),
            waits_for: if t.finished { Vec::new() } else { vec![t.waits.clone()] },
            valid_end: t.finished,
            finished: t.finished,
            owner: t.owner.map(|o| o as u32),
            stack: t.stack.clone(),
        });
        let access = |side: &Side| Access {
            thread: side.thread as u32,
            access: side.access.clone(),
            stack: side.stack.clone(),
        };
        let failure = &self.failure;
        let violation_at = failure.here.as_ref().map(|side| location(&side.stack));
        quotient_outcome::Trace {
            steps: steps.collect(),
            processes: processes.collect(),
            violation: failure.kind.violation().map(|kind| Violation { kind, message: self.headline() }),
            violation_at: violation_at.filter(|at| !at.is_empty()),
            accesses: failure.here.iter().chain(&failure.there).map(access).collect(),
            output: self.output.clone(),
            schedule: Some(self.token.to_string()),
            ..quotient_outcome::Trace::default()
        }
    }
}
