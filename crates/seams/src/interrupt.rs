//! Ending work early: a token that everything long looks at, and one clock for all of it.
//!
//! An [`Interrupt`] is shared by everything that works for one user: searches, the machine, audits. Whoever wants the work to end
//! (a time limit, a signal, memory that runs out) raises it with a [`Reason`]; loops that can take long ask
//! [`Interrupt::raised`], which is one relaxed load. Nothing below this module reads the time in a loop.
//!
//! One thread, the clock, serves all tokens: it counts ticks, raises tokens whose time is over, and runs what is to be done at every
//! tick. A [`Ticker`] tells a loop that a tick has passed since it asked last, so that what costs more than a load is done by
//! the clock and not by the number of iterations: one iteration may take long. The clock sleeps while nobody needs it. If its
//! thread cannot be started, tokens with a time limit are raised at once and every question to a ticker is answered
//! with yes: work then ends early or is slower, but no limit is overrun.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Time between two ticks.
pub const TICK: Duration = Duration::from_millis(10);

/// Why work is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Somebody asked for it, by Ctrl-C or the signal with this name.
    Asked(&'static str),
    /// This time is over.
    Time(Duration),
    /// More than this many bytes are used.
    Memory(u64),
    /// The system has no more memory.
    OutOfMemory,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Asked("SIGINT") => f.write_str("interrupted"),
            Reason::Asked(signal) => write!(f, "interrupted ({signal})"),
            Reason::Time(limit) => write!(f, "time limit of {} s reached", limit.as_secs_f64()),
            Reason::Memory(limit) => write!(f, "memory limit of {} MiB reached", limit >> 20),
            Reason::OutOfMemory => f.write_str("out of memory"),
        }
    }
}

/// Shared by everything that works on one thing, and raised once to end it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Raised>);

#[derive(Debug, Default)]
struct Raised {
    flag: AtomicBool,
    reason: OnceLock<Reason>,
}

impl Interrupt {
    /// One that was not raised.
    pub fn new() -> Interrupt {
        Interrupt::default()
    }

    /// Ends the work; the first reason counts. Allocates nothing.
    pub fn raise(&self, reason: Reason) {
        let _ = self.0.reason.set(reason);
        self.0.flag.store(true, Ordering::Release);
    }

    /// Is the work to end?
    #[inline(always)]
    pub fn raised(&self) -> bool {
        self.0.flag.load(Ordering::Relaxed)
    }

    /// Why, if it is to end.
    pub fn reason(&self) -> Option<Reason> {
        if self.0.flag.load(Ordering::Acquire) { self.0.reason.get().copied() } else { None }
    }

    /// A token for a part of the work: raised when `outer` is, and after `time`.
    pub fn within(outer: Option<&Interrupt>, time: Option<Duration>) -> Part {
        let Some(limit) = time else {
            return Part { interrupt: outer.cloned().unwrap_or_default(), _task: None };
        };
        let interrupt = Interrupt::new();
        let (inner, outer) = (interrupt.clone(), outer.cloned());
        let started = Instant::now();
        let look = move || {
            if let Some(reason) = outer.as_ref().and_then(Interrupt::reason) {
                inner.raise(reason);
            }
            if started.elapsed() >= limit {
                inner.raise(Reason::Time(limit));
            }
        };
        // Not only from the first tick on: a limit of nothing is over at once.
        look();
        let task = Task::every_tick(look);
        if task.is_none() {
            interrupt.raise(Reason::OutOfMemory);
        }
        Part { interrupt, _task: task }
    }
}

/// The token of a part of the work; no longer watched when dropped.
#[derive(Debug)]
pub struct Part {
    interrupt: Interrupt,
    _task: Option<Task>,
}

impl std::ops::Deref for Part {
    type Target = Interrupt;

    #[inline(always)]
    fn deref(&self) -> &Interrupt {
        &self.interrupt
    }
}

static TICKS: AtomicU32 = AtomicU32::new(0);
static CLOCK: Mutex<Clock> = Mutex::new(Clock::new());
static WAKE: Condvar = Condvar::new();

type Work = Box<dyn FnMut() + Send>;

struct Clock {
    /// The thread exists.
    runs: bool,
    /// It waits until somebody needs it.
    sleeps: bool,
    tickers: usize,
    tasks: Vec<(u64, Work)>,
    next: u64,
}

impl Clock {
    const fn new() -> Clock {
        Clock { runs: false, sleeps: false, tickers: 0, tasks: Vec::new(), next: 0 }
    }

    fn lock() -> MutexGuard<'static, Clock> {
        CLOCK.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees to it that the clock runs; `false` if there is no thread for it.
    fn wind(&mut self) -> bool {
        if !self.runs {
            // What runs there is small.
            let thread = std::thread::Builder::new().name("clock".into()).stack_size(1 << 19);
            self.runs = thread.spawn(Clock::run).is_ok();
        } else if self.sleeps {
            WAKE.notify_one();
        }
        self.runs
    }

    fn run() {
        loop {
            let mut clock = Clock::lock();
            while clock.tickers == 0 && clock.tasks.is_empty() {
                clock.sleeps = true;
                clock = WAKE.wait(clock).unwrap_or_else(PoisonError::into_inner);
                clock.sleeps = false;
            }
            clock.tasks.iter_mut().for_each(|(_, work)| work());
            drop(clock);
            TICKS.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(TICK);
        }
    }
}

/// Work done at every tick, by the clock's thread, until this is dropped. It must be short and must not make tickers or tasks.
pub struct Task(u64);

impl Task {
    /// Starts it; `None` if there is no thread for it.
    pub fn every_tick(work: impl FnMut() + Send + 'static) -> Option<Task> {
        let mut clock = Clock::lock();
        if !clock.wind() {
            return None;
        }
        let number = clock.next;
        clock.next += 1;
        clock.tasks.push((number, Box::new(work)));
        Some(Task(number))
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {}", self.0)
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        Clock::lock().tasks.retain(|(number, _)| *number != self.0);
    }
}

/// Tells a loop, at the price of one relaxed load, that a tick has passed since it was told last.
#[derive(Debug)]
pub struct Ticker {
    seen: u32,
    /// Without a clock every look says that one has passed.
    runs: bool,
}

impl Ticker {
    /// One that says yes when first asked.
    pub fn new() -> Ticker {
        let mut clock = Clock::lock();
        clock.tickers += 1;
        let runs = clock.wind();
        Ticker { seen: TICKS.load(Ordering::Relaxed).wrapping_sub(1), runs }
    }

    /// Has a tick passed?
    #[inline(always)]
    pub fn passed(&mut self) -> bool {
        let now = TICKS.load(Ordering::Relaxed);
        if now == self.seen {
            return false;
        }
        self.note(now);
        true
    }

    #[cold]
    fn note(&mut self, now: u32) {
        self.seen = if self.runs { now } else { now.wrapping_sub(1) };
    }
}

impl Default for Ticker {
    fn default() -> Self {
        Ticker::new()
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        Clock::lock().tickers -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_with_the_whole_or_with_its_time() {
        let whole = Interrupt::new();
        let (first, second) = (
            Interrupt::within(Some(&whole), Some(Duration::from_secs(3600))),
            Interrupt::within(Some(&whole), Some(Duration::from_millis(30))),
        );
        assert!(!first.raised() && !second.raised());
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(second.reason(), Some(Reason::Time(Duration::from_millis(30))));
        assert!(!first.raised() && !whole.raised());
        whole.raise(Reason::Asked("SIGINT"));
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(first.reason(), Some(Reason::Asked("SIGINT")));
        assert_eq!(second.reason(), Some(Reason::Time(Duration::from_millis(30))), "the first reason counts");
        assert!(Interrupt::within(None, Some(Duration::ZERO)).raised());
    }

    #[test]
    fn tickers_tell_every_tick_once() {
        let mut ticker = Ticker::new();
        assert!(ticker.passed(), "when first asked");
        let started = Instant::now();
        let mut passed = 0;
        while started.elapsed() < Duration::from_millis(300) {
            passed += u32::from(ticker.passed());
        }
        assert!((1..=30).contains(&passed), "{passed} ticks of 10 ms in 300 ms");
    }

    #[test]
    fn reasons_are_sentences() {
        assert_eq!(Reason::Time(Duration::from_millis(500)).to_string(), "time limit of 0.5 s reached");
        assert_eq!(Reason::Time(Duration::from_secs(60)).to_string(), "time limit of 60 s reached");
        assert_eq!(Reason::Memory(64 << 20).to_string(), "memory limit of 64 MiB reached");
        assert_eq!(Reason::Asked("SIGINT").to_string(), "interrupted");
        assert_eq!(Reason::Asked("SIGTERM").to_string(), "interrupted (SIGTERM)");
    }
}
