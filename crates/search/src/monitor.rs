//! Limits, interruption and progress: looked at now and then, not at every step.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::{Statistics, Stop};

/// Bounds on a search; reaching one ends it undecided.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Distinct states.
    pub states: Option<u64>,
    /// Distance from the initial state.
    pub depth: Option<u64>,
    /// Bytes of store and search together.
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
    /// Report states without successors that are no valid ends.
    pub deadlocks: bool,
    /// Set from outside (Ctrl-C) to end the search.
    pub interrupt: Option<&'a AtomicBool>,
    /// Called a few times a second.
    pub progress: Option<&'a mut dyn FnMut(&Statistics)>,
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").field("limits", &self.limits).field("all", &self.all).finish_non_exhaustive()
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { limits: Limits::default(), all: false, deadlocks: true, interrupt: None, progress: None }
    }
}

/// Watches a running search.
pub(crate) struct Monitor {
    started: Instant,
    reported: Instant,
    countdown: u32,
}

/// Expansions between two looks at the clock: well below a millisecond's worth.
const INTERVAL: u32 = 2048;

impl Monitor {
    pub(crate) fn new() -> Monitor {
        let now = Instant::now();
        Monitor { started: now, reported: now, countdown: INTERVAL }
    }

    /// Counts `expansions`; now and then (and always when `states` passes its limit) calls `statistics` and
    /// says whether to stop.
    #[inline]
    pub(crate) fn due(&mut self, expansions: u32) -> bool {
        if self.countdown > expansions {
            self.countdown -= expansions;
            return false;
        }
        self.countdown = INTERVAL;
        true
    }

    /// Looks at everything; called when [`Monitor::due`] says so.
    pub(crate) fn check(
        &mut self,
        options: &mut Options<'_>,
        statistics: &mut dyn FnMut() -> Statistics,
    ) -> Option<Stop> {
        if options.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Stop::Incomplete("interrupted".into()));
        }
        let now = Instant::now();
        if let Some(limit) = options.limits.time
            && now - self.started >= limit
        {
            return Some(Stop::Incomplete(format!("time limit of {:.0} s reached", limit.as_secs_f64())));
        }
        // Adding up the store's segments is not free: only a few times a second.
        if now - self.reported >= Duration::from_millis(200) {
            self.reported = now;
            let statistics = statistics();
            if let Some(limit) = options.limits.memory
                && statistics.store_bytes + statistics.search_bytes > limit
            {
                return Some(Stop::Incomplete(format!("memory limit of {} MiB reached", limit >> 20)));
            }
            if let Some(progress) = options.progress.as_mut() {
                progress(&statistics);
            }
        }
        None
    }

    /// The stop for the limit on states.
    pub(crate) fn states(limit: u64) -> Stop {
        Stop::Incomplete(format!("limit of {limit} states reached"))
    }

    /// The stop for the limit on depth.
    pub(crate) fn depth(limit: u64) -> Stop {
        Stop::Incomplete(format!("depth limit of {limit} reached"))
    }
}
