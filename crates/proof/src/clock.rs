//! CPU time of the current thread.

use std::time::{Duration, Instant};

/// Measures CPU time where the system tells it (Linux), wall-clock time elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    cpu: Option<u64>,
    wall: Instant,
}

/// Nanoseconds this thread has run.
fn cpu() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Stopwatch {
        Stopwatch { cpu: cpu(), wall: Instant::now() }
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        match self.cpu.zip(cpu()) {
            Some((before, now)) => Duration::from_nanos(now.saturating_sub(before)),
            None => self.wall.elapsed(),
        }
    }
}
