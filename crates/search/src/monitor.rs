//! Limits, interruption and progress: looked at whenever the clock ticks, however long a step of a search takes.

use std::time::{Duration, Instant};

use quotient_seams::{Interrupt, InterruptPart, Limit, Reason, Ticker, resident_bytes};

use crate::{Log, Statistics, Stop};

/// Bounds on a search; reaching one ends it undecided.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Distinct states.
    pub states: Option<u64>,
    /// Distance from the initial state.
    pub depth: Option<u64>,
    /// Bytes that the process has resident; where the system does not tell, those of store and search together.
    pub memory: Option<u64>,
    /// Elapsed time.
    pub time: Option<Duration>,
}

/// How to search.
pub struct Options<'a> {
    /// Bounds.
    pub limits: Limits,
    /// Go on after a violation, to find one of each kind.
    pub all: bool,
    /// Report states without successors that are not valid ends.
    pub deadlocks: bool,
    /// A search by levels that has stored so many states finishes a level in which it finds something wrong, so that what it reports is the same for
    /// any number of workers; a smaller one stops at once.
    pub finish_levels_from: u64,
    /// Raised from outside to end the search.
    pub interrupt: Option<&'a Interrupt>,
    /// Called a few times a second.
    pub progress: Option<&'a mut dyn FnMut(&Statistics)>,
    /// Where a search by levels writes what it finds, and finds what an earlier run has written.
    pub log: Option<&'a mut dyn Log>,
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("limits", &self.limits)
            .field("all", &self.all)
            .finish_non_exhaustive()
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            limits: Limits::default(),
            all: false,
            deadlocks: true,
            finish_levels_from: FINISH_LEVELS_FROM,
            interrupt: None,
            progress: None,
            log: None,
        }
    }
}

/// States from which on a level is finished, and several workers take part: with fewer, a search takes milliseconds.
pub const FINISH_LEVELS_FROM: u64 = 1 << 15;

/// Told by a worker how far it has come, and asked whether it must stop.
pub(crate) trait Watch {
    /// Whether [`Watch::check`] is to be called: asked after every expansion.
    fn due(&mut self) -> bool;

    /// Why the worker must stop, if it must.
    fn check(&mut self, statistics: &mut dyn FnMut() -> Statistics) -> Option<Stop>;
}

/// Watches by the limits of a search.
pub(crate) struct Watched<'o, 'a> {
    monitor: Monitor,
    options: &'o mut Options<'a>,
}

impl<'o, 'a> Watched<'o, 'a> {
    pub(crate) fn new(options: &'o mut Options<'a>) -> Self {
        Watched { monitor: Monitor::new(options), options }
    }

    /// Raised when the search is to end.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        self.monitor.interrupt()
    }
}

impl Watch for Watched<'_, '_> {
    #[inline(always)]
    fn due(&mut self) -> bool {
        self.monitor.due()
    }

    #[cold]
    fn check(&mut self, statistics: &mut dyn FnMut() -> Statistics) -> Option<Stop> {
        self.monitor.check(self.options, statistics)
    }
}

/// Watches a running search.
pub(crate) struct Monitor {
    reported: Instant,
    interrupt: InterruptPart,
    ticker: Ticker,
}

impl Monitor {
    pub(crate) fn new(options: &Options<'_>) -> Monitor {
        Monitor {
            reported: Instant::now(),
            interrupt: Interrupt::within(options.interrupt, options.limits.time),
            ticker: Ticker::new(),
        }
    }

    /// Raised when the search is to end.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Whether [`Monitor::check`] is to be called: asked after every expansion or batch of them.
    #[inline(always)]
    pub(crate) fn due(&mut self) -> bool {
        self.ticker.passed()
    }

    /// Looks at everything; called when [`Monitor::due`] says so.
    #[cold]
    pub(crate) fn check(
        &mut self,
        options: &mut Options<'_>,
        statistics: &mut dyn FnMut() -> Statistics,
    ) -> Option<Stop> {
        if let Some(reason) = self.interrupt.reason() {
            return Some(Stop::Incomplete(reason.into()));
        }
        let resident = options.limits.memory.and_then(|_| resident_bytes());
        let over = |used: u64| options.limits.memory.filter(|limit| used > *limit);
        if let Some(limit) = resident.and_then(over) {
            return Some(Stop::Incomplete(Reason::Memory(limit).into()));
        }
        // Adding up the store's segments is not free: only a few times a second.
        let now = Instant::now();
        if now - self.reported >= Duration::from_millis(200) {
            self.reported = now;
            let statistics = statistics();
            if resident.is_none()
                && let Some(limit) = over(statistics.store_bytes + statistics.search_bytes)
            {
                return Some(Stop::Incomplete(Reason::Memory(limit).into()));
            }
            if let Some(progress) = options.progress.as_mut() {
                progress(&statistics);
            }
        }
        None
    }

    /// The stop for the limit on states.
    pub(crate) fn states(limit: u64) -> Stop {
        Stop::Incomplete(Limit::States(limit).into())
    }

    /// The stop for the limit on depth.
    pub(crate) fn depth(limit: u64) -> Stop {
        Stop::Incomplete(Limit::Depth(limit).into())
    }
}
