//! The beginning of a run, repeated without the driver.
//!
//! Most steps of an exploration repeat what an earlier execution has done. Threads then hand over to each other directly, or
//! just go on, instead of asking the driver after each step; accesses are noted but not checked for races again. Before each
//! step the thread must be about to do what it did then, or the program is not deterministic.

use quotient_stateless::happens_before::Event;

use crate::exploration::world::{Status, World};

/// A step as it was made.
#[derive(Clone, Copy, Default)]
struct Made {
    thread: u8,
    alternative: u16,
    /// What the thread was about to do.
    what: u64,
}

/// The last run that was made, and how far it is being repeated.
#[derive(Default)]
pub struct Script {
    made: Vec<Made>,
    running: bool,
    at: usize,
    end: usize,
    strayed: bool,
}

impl Script {
    /// Is a run being repeated?
    #[inline]
    pub fn is_running(&self) -> bool {
        self.running
    }

    /// Is this run the beginning of the last one made?
    pub fn is_of(&self, run: &[Event]) -> bool {
        run.len() <= self.made.len()
            && run
                .iter()
                .zip(&self.made)
                .all(|(event, made)| event.thread == made.thread && event.alternative == made.alternative)
    }

    /// The first `length` steps will be repeated.
    pub fn start(&mut self, length: usize) {
        self.made.truncate(length);
        (self.running, self.strayed, self.at, self.end) = (true, false, 0, length);
    }

    /// The number of steps that were repeated.
    ///
    /// # Errors
    /// The number of the first step that differed.
    pub fn end(&mut self) -> Result<usize, usize> {
        self.running = false;
        if self.strayed || self.at < self.end { Err(self.at) } else { Ok(self.at) }
    }
}

impl World {
    /// What `thread` is about to do, as a number.
    fn about_to(&self, thread: usize) -> u64 {
        let thread = &self.threads[thread];
        let status = match thread.status {
            Status::Ready => 0,
            Status::Waiting { .. } => 1,
            Status::Reacquiring { .. } => 2,
            _ => 3,
        };
        let pending = &thread.pending;
        (pending.op as u64) << 56
            | status << 48
            | u64::from(pending.choices) << 32
            | u64::from(pending.object)
    }

    /// Takes note of a step that is about to be made.
    pub fn write_script(&mut self, step: usize, thread: usize, alternative: u16) {
        let what = self.about_to(thread);
        self.script.made.truncate(step);
        self.script.made.push(Made { thread: thread as u8, alternative, what });
    }

    /// A thread that has not come to its first visible operation, taken from the list of those.
    #[inline]
    pub fn next_starting(&mut self) -> Option<usize> {
        if self.starting == 0 {
            return None;
        }
        let new = self.starting.trailing_zeros() as usize;
        self.starting &= self.starting - 1;
        Some(new)
    }

    /// Who goes on without the driver.
    #[inline]
    pub fn next_of_script(&mut self) -> Option<usize> {
        if !self.script.running || self.failed || self.abandoned {
            return None;
        }
        if let Some(new) = self.next_starting() {
            return Some(new);
        }
        let at = self.script.at;
        self.add_ghosts(at);
        if at == self.script.end {
            self.script.running = false;
            return None;
        }
        let Made { thread, alternative, what } = self.script.made[at];
        let thread = usize::from(thread);
        if self.about_to(thread) != what {
            (self.script.running, self.script.strayed) = (false, true);
            return None;
        }
        self.script.at = at + 1;
        self.alternative = alternative;
        self.shared.steps += 1;
        self.shared.schedule_length = at as u32 + 1;
        Some(thread)
    }
}
