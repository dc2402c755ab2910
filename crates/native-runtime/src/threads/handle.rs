//! Handles of threads and how long they are good for.
//!
//! A handle may be used from the creation of its thread until the thread is joined or, if it is detached, has ended. Anything
//! else is undefined, and a violation here: what the C library does with it depends on what lies there by then.
//!
//! Whether a use comes before the end is decided by happens-before, so that it does not depend on the order in which the
//! exploration ran the two: a use that is not ordered with the end could also come after it. Of each thread the uses by others
//! are kept, with the epoch of the user; when its life ends, all of them must be known to whoever ends it.

use crate::exploration::clock::Clock;
use crate::exploration::world::{Status, fail, world};
use crate::protocol::{FailureKind, THREADS, why};

/// What is known of a handle in this execution.
#[derive(Default)]
pub struct Handle {
    /// Is it good for nothing any more?
    gone: bool,
    /// Who used it last, and when.
    uses: Vec<(usize, u32)>,
}

impl Handle {
    /// A new execution begins.
    pub fn restart(&mut self) {
        self.gone = false;
        self.uses.clear();
    }

    /// Ends its life at `clock`; gives somebody whose use is not ordered with that.
    fn end(&mut self, clock: &Clock) -> Option<usize> {
        self.gone = true;
        self.uses.iter().find(|(user, epoch)| clock[*user] < *epoch).map(|(user, _)| *user)
    }
}

/// The thread that the program knows by `handle`, for a function that is given it.
pub fn thread_of(handle: usize, function: &str) -> usize {
    let w = world();
    let known = w.threads[..w.named.min(THREADS)]
        .iter()
        .position(|t| t.handle == handle && t.status != Status::Unborn);
    let Some(thread) = known else {
        fail(FailureKind::Misuse, &format!("{function} of a handle that no thread has"), 0)
    };
    if w.threads[thread].life.gone {
        let how = if w.threads[thread].joined { "was joined" } else { "was detached and has ended" };
        fail(FailureKind::Misuse, &format!("{function} of thread {thread}, which {how}"), 0);
    }
    thread
}

/// The same for a function that uses the handle and leaves the thread as it is.
pub fn used(handle: usize, function: &str) -> usize {
    let thread = thread_of(handle, function);
    let mut w = world();
    let me = w.current;
    if thread != me {
        w.break_symmetry(1 << thread | 1 << me, why::IDENTITY);
        let epoch = w.threads[me].clock[me];
        let uses = &mut w.threads[thread].life.uses;
        uses.retain(|(user, _)| *user != me);
        uses.push((me, epoch));
    }
    thread
}

/// The running thread has joined `thread`.
pub fn joined(thread: usize) {
    let mut w = world();
    let clock = w.threads[w.current].clock;
    if let Some(user) = w.threads[thread].life.end(&clock) {
        let text = format!(
            "thread {user} uses the handle of thread {thread}, and nothing orders that with its join"
        );
        fail(FailureKind::Misuse, &text, 0);
    }
}

/// The running thread has detached `thread`.
pub fn detached(thread: usize) {
    let mut w = world();
    let clock = w.threads[w.current].clock;
    // Its life ends after both this and the thread's end: what is known here is before that.
    w.threads[thread].life.uses.retain(|(user, epoch)| clock[*user] < *epoch);
    if w.threads[thread].status == Status::Finished {
        let clock = w.threads[thread].clock;
        ended(thread, &clock);
    }
}

/// A detached thread has ended at `clock`.
pub fn ended(thread: usize, clock: &Clock) {
    if let Some(user) = world().threads[thread].life.end(clock) {
        let text = format!(
            "thread {user} uses the handle of thread {thread}, which is detached and may have ended before"
        );
        fail(FailureKind::Misuse, &text, 0);
    }
}

/// The running thread ends.
pub fn own_end() {
    let w = world();
    let (me, detached, clock) = (w.current, w.threads[w.current].detached, w.threads[w.current].clock);
    if detached {
        ended(me, &clock);
    }
}
