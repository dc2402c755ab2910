//! Schedules, and their printed form: a short token that repeats an execution.
//!
//! `q1:` and then, separated by `.`, runs of steps of one thread: the thread, `*` and their number if
//! there is more than one; `+` and the alternative for a step that has others and did not take the
//! first. `q1:0*3.1.0+2` is three steps of thread 0, one of thread 1, one of thread 0 in its third way.

use std::fmt;
use std::str::FromStr;

use crate::threads::{MAX_THREADS, ThreadId};

/// One choice of a schedule: which thread, in which way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Choice {
    /// The thread that makes a step.
    pub thread: ThreadId,
    /// Which alternative of its operation.
    pub alternative: u16,
}

/// The choices that lead through an execution.
#[derive(Clone, PartialEq, Eq, Debug, Default, Hash)]
pub struct Schedule {
    /// The choices, first one first.
    pub choices: Vec<Choice>,
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("q1:")?;
        let alike = |a: &Choice, b: &Choice| a == b && a.alternative == 0;
        for (i, run) in self.choices.chunk_by(alike).enumerate() {
            let separator = if i == 0 { "" } else { "." };
            write!(f, "{separator}{}", run[0].thread)?;
            if run[0].alternative != 0 {
                write!(f, "+{}", run[0].alternative)?;
            }
            if run.len() > 1 {
                write!(f, "*{}", run.len())?;
            }
        }
        Ok(())
    }
}

/// A token that is not a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScheduleError {
    /// The part that could not be read.
    pub part: String,
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not part of a schedule; expected `q1:` and then like `0*3.1.0+2`", self.part)
    }
}

impl std::error::Error for ScheduleError {}

/// The longest schedule that is read, so that a token cannot exhaust memory.
const MAX_CHOICES: usize = 10_000_000;

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(token: &str) -> Result<Schedule, ScheduleError> {
        let error = |part: &str| ScheduleError { part: part.to_owned() };
        let parts = token.strip_prefix("q1:").ok_or_else(|| error(token))?;
        let mut choices = Vec::new();
        for part in parts.split('.').filter(|_| !parts.is_empty()) {
            let (choice, count) = part.split_once('*').unwrap_or((part, "1"));
            let (thread, alternative) = choice.split_once('+').unwrap_or((choice, "0"));
            let count: usize = count.parse().map_err(|_| error(part))?;
            let thread: ThreadId = thread.parse().map_err(|_| error(part))?;
            let alternative: u16 = alternative.parse().map_err(|_| error(part))?;
            if thread as usize >= MAX_THREADS || count > MAX_CHOICES - choices.len() {
                return Err(error(part));
            }
            choices.resize(choices.len() + count, Choice { thread, alternative });
        }
        Ok(Schedule { choices })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_back() {
        let mut random = crate::random::Random(1);
        for length in 0..50 {
            let mut choice = || Choice {
                thread: random.below(3) as ThreadId,
                alternative: if random.one_in(5) { random.below(4) as u16 } else { 0 },
            };
            let schedule = Schedule { choices: (0..length).map(|_| choice()).collect() };
            assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }
        assert_eq!("q1:0*3.1.0+2".parse::<Schedule>().unwrap().to_string(), "q1:0*3.1.0+2");
    }

    #[test]
    fn other_tokens_are_refused() {
        for token in ["", "q2:0", "q1:x", "q1:0..1", "q1:0*", "q1:64", "q1:0*99999999999", "q1:0+70000"] {
            assert!(token.parse::<Schedule>().is_err(), "{token}");
        }
    }
}
