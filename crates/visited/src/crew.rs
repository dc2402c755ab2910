//! Work that threads do together while one of them has locked the others out.
//!
//! A shared table grows while nobody else looks at it ([`crate::shared_tree`]): whoever comes to look meanwhile has nothing to do. It takes a part of
//! the work instead of waiting, so that making room takes as much of the time of several threads as of one. What is to be done is cut into pieces that have nothing to do with each other;
//! each is done once, by whoever takes it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Threads that help each other.
#[derive(Debug, Default)]
pub(crate) struct Crew {
    job: Mutex<Option<Job>>,
    is_done: Condvar,
}

/// What is being done.
struct Job {
    /// Does a piece. It lives until the job is taken away, and that is done by who lent it, when nobody is at work.
    piece: &'static (dyn Fn(usize) + Sync),
    next: usize,
    count: usize,
    /// Pieces that somebody is at work on.
    busy: usize,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.next, self.count)
    }
}

/// Somebody works at a piece; when dropped, also by a panic, nobody does.
struct Busy<'c>(&'c Crew);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        if let Some(job) = &mut *self.0.lock() {
            job.busy -= 1;
        }
        self.0.is_done.notify_all();
    }
}

/// Ends a job, also by a panic: waits for those who are still at work, and forgets it.
struct Ends<'c>(&'c Crew);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        let mut job = self.0.lock();
        if let Some(job) = &mut *job {
            job.next = job.count;
        }
        while job.as_ref().is_some_and(|job| job.busy > 0) {
            job = self.0.is_done.wait(job).unwrap_or_else(PoisonError::into_inner);
        }
        *job = None;
    }
}

impl Crew {
    fn lock(&self) -> MutexGuard<'_, Option<Job>> {
        self.job.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does all pieces, up to `count`, with the help of whoever [comes](Crew::help). One job at a time: whoever calls this has locked others out.
    pub(crate) fn each(&self, count: usize, piece: &(dyn Fn(usize) + Sync)) {
        if count < 2 {
            (0..count).for_each(piece);
            return;
        }
        // SAFETY: the job is gone when `ends` is dropped, at the end of this function at the latest, and then nobody is at work on it.
        let piece: &'static (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(piece) };
        let ends = Ends(self);
        *self.lock() = Some(Job { piece, next: 0, count, busy: 0 });
        while self.help() {}
        drop(ends);
    }

    /// Does a piece, if there is something to do.
    pub(crate) fn help(&self) -> bool {
        let (piece, number, _busy) = {
            let mut job = self.lock();
            let Some(job) = &mut *job else { return false };
            if job.next == job.count {
                return false;
            }
            let number = job.next;
            job.next += 1;
            job.busy += 1;
            (job.piece, number, Busy(self))
        };
        piece(number);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use super::*;

    #[test]
    fn each_piece_is_done_once_and_nothing_after_the_end() {
        let crew = Crew::default();
        let over = AtomicBool::new(false);
        let helped = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        helped.fetch_add(u32::from(crew.help()), Ordering::Relaxed);
                    }
                });
            }
            for round in 0..2000 {
                let done: Vec<AtomicU32> = (0..round % 17).map(|_| AtomicU32::new(0)).collect();
                crew.each(done.len(), &|piece| {
                    done[piece].fetch_add(1, Ordering::Relaxed);
                });
                assert!(done.into_iter().all(|times| times.into_inner() == 1));
            }
            over.store(true, Ordering::Relaxed);
        });
        assert!(!crew.help());
    }
}
