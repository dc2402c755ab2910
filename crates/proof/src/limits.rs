//! When work is to end, and what is told about it meanwhile.
//!
//! Everything that can take long (unfolding, exploration, refutation) asks [`Limits::reached`] once for each goal or state. The
//! token is raised from outside: by a signal, a limit of the whole run, memory that runs out. The time of one attempt is
//! looked at here: CPU time, so that a busy machine does not change what is found. Work that ends early proves nothing and refutes nothing.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::clock::Stopwatch;
use quotient_seams::{Interrupt, Reason};

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub doing: &'static str,
    /// Goals or states so far.
    pub goals: usize,
    /// Entries in the table.
    pub stored: usize,
}

/// Why work ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached(pub Reason);

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Reason::Time(limit) => write!(f, "out of time after {} s", limit.as_secs_f64()),
            other => other.fmt(f),
        }
    }
}

/// What is told while work goes on.
type Observer = Rc<dyn Fn(Progress)>;

/// The time of an attempt.
#[derive(Clone, Debug)]
struct Until {
    begun: Stopwatch,
    limit: Duration,
    /// CPU time passes no faster than real time: it need not be looked at before.
    look: Cell<Instant>,
}

impl Until {
    fn left(&self) -> Duration {
        self.limit.saturating_sub(self.begun.elapsed())
    }

    fn is_over(&self) -> bool {
        let now = Instant::now();
        if now < self.look.get() {
            return false;
        }
        let left = self.left();
        if left.is_zero() {
            return true;
        }
        self.look.set(now.checked_add(left).unwrap_or(now));
        false
    }
}

/// Limits of an attempt.
#[derive(Clone, Default)]
pub struct Limits {
    interrupt: Interrupt,
    until: Option<Until>,
    observer: Option<Observer>,
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits").field("until", &self.until).finish_non_exhaustive()
    }
}

impl Limits {
    /// Work that ends when the token is raised.
    pub fn new(interrupt: Interrupt) -> Limits {
        Limits { interrupt, ..Limits::default() }
    }

    /// The same, telling `observer` what is going on.
    pub fn observed(self, observer: impl Fn(Progress) + 'static) -> Limits {
        Limits { observer: Some(Rc::new(observer)), ..self }
    }

    /// A part of the work, which gets this much time from now on, and no more than the whole has left.
    pub fn within(&self, time: Duration) -> Limits {
        let part = Until { begun: Stopwatch::start(), limit: time, look: Cell::new(Instant::now()) };
        let until = match &self.until {
            Some(whole) if whole.left() <= time => whole.clone(),
            _ => part,
        };
        Limits { until: Some(until), ..self.clone() }
    }

    /// Whether the whole run is to end, not only this part of it.
    pub fn ended(&self) -> Option<Reached> {
        self.interrupt.reason().map(Reached)
    }

    /// Whether the work is to end. Tells the observer what it is about.
    pub fn reached(&self, progress: Progress) -> Option<Reached> {
        if let Some(observer) = &self.observer {
            observer(progress);
        }
        if self.interrupt.raised() {
            return self.ended();
        }
        let until = self.until.as_ref()?;
        until.is_over().then_some(Reached(Reason::Time(until.limit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRESS: Progress = Progress { doing: "testing", goals: 1, stored: 0 };

    #[test]
    fn a_part_ends_no_later_than_the_whole() {
        let interrupt = Interrupt::new();
        let whole = Limits::new(interrupt.clone()).within(Duration::ZERO);
        let part = whole.within(Duration::from_secs(60));
        assert_eq!(part.reached(PROGRESS).map(|r| r.to_string()), Some("out of time after 0 s".into()));
        assert_eq!(part.ended(), None);
        interrupt.raise(Reason::Asked("SIGTERM"));
        assert_eq!(part.ended().map(|r| r.to_string()), Some("interrupted (SIGTERM)".into()));
        assert!(Limits::default().within(Duration::from_secs(60)).reached(PROGRESS).is_none());
    }
}
