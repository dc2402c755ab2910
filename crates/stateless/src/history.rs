//! Symmetry of the past: which co-started threads have histories that mirror each other.
//!
//! Let threads `a` and `b` be started alike (same code, same arguments, nobody can tell them apart),
//! so that exchanging them maps runs of the program to runs. If it maps the current run `E` to an
//! *equivalent* run, then it maps the state after `E` to itself: nothing about locals, memory or the
//! heap has to be compared. This is decided on clocks. The run is mapped to an equivalent one iff
//! the `k`-th operations of `a` and `b` are the same and see the same of every other thread and,
//! mirrored, of each other; and every other event sees as much of `a` as of `b`.
//!
//! Threads are created one after the other, which no exchange preserves. What creation orders is
//! therefore left out of these clocks: consider the program in which both exist from the start. `E`
//! without the order due to creation is a trace of that program and leads to the same state.
//! Everything else that the creator does in between counts, if it conflicts with what the threads do.
//!
//! With this notion the executions of the optimal mode are the orbits of the traces in the
//! programs of `quotient_thread_programs::families`. Comparing states ([`crate::Symmetry::Dynamic`]) finds more:
//! different pasts can lead to like states.

use crate::happens_before::{Event, HappensBefore};
use crate::threads::{ThreadId, ThreadSet};

/// The clocks of the run so far, without the order due to the creation of threads.
pub(crate) struct History {
    clocks: HappensBefore,
    threads: usize,
    /// How many events its thread had made before each event.
    ordinals: Vec<u32>,
    /// How many events each thread has made.
    made: Vec<u32>,
}

impl History {
    pub fn new(threads: usize) -> History {
        History {
            clocks: HappensBefore::without_creation(threads),
            threads,
            ordinals: Vec::new(),
            made: vec![0; threads],
        }
    }

    /// The number of events taken note of.
    pub fn length(&self) -> usize {
        self.ordinals.len()
    }

    /// Back to the first `length` events.
    pub fn truncate(&mut self, length: usize) {
        for k in (length..self.ordinals.len()).rev() {
            self.made[self.clocks.thread(k) as usize] -= 1;
        }
        self.ordinals.truncate(length);
        self.clocks.truncate(length);
    }

    /// Takes note of the last event of `run`.
    pub fn extend(&mut self, run: &[Event]) {
        self.clocks.extend(run);
        if let Some(event) = run.last() {
            self.ordinals.push(self.made[event.thread as usize]);
            self.made[event.thread as usize] += 1;
        }
    }

    /// How many events of `thread` event `k` sees.
    #[inline]
    fn seen(&self, k: usize, thread: ThreadId) -> u32 {
        match self.clocks.clock(k)[thread as usize] {
            0 => 0,
            last => self.ordinals[last as usize - 1] + 1,
        }
    }

    /// Were these threads created by one thread, have they made no step, and is nothing that happened so far a place
    /// where exchanging them would matter? That is the case if all events up to the first creation happen before it, and
    /// since then the creator alone has made steps, none of which touches an object or could have gone another way.
    pub fn only_created(&self, run: &[Event], threads: ThreadSet) -> bool {
        if threads.iter().any(|t| self.made[t as usize] != 0) {
            return false;
        }
        let Some(first) = run.iter().position(|e| !(e.operation.wakes & threads).is_empty()) else {
            return false;
        };
        let creator = run[first].thread;
        let clock = self.clocks.clock(first);
        let mut created = ThreadSet::EMPTY;
        for (k, event) in run.iter().enumerate() {
            let operation = &event.operation;
            if k <= first {
                if clock[event.thread as usize] as usize <= k {
                    return false;
                }
            } else if event.thread != creator
                || !operation.accesses().is_empty()
                || operation.alternatives > 1
            {
                return false;
            }
            created = created | (operation.wakes & threads);
        }
        created == threads
    }

    /// Does exchanging `a` and `b` map `run` to an equivalent run?
    pub fn mirrored(&self, run: &[Event], a: ThreadId, b: ThreadId) -> bool {
        if self.made[a as usize] != self.made[b as usize] {
            return false;
        }
        let mut of_b = run.iter().enumerate().filter(|(_, e)| e.thread == b);
        for (k, event) in run.iter().enumerate() {
            if event.thread == b {
                continue;
            }
            let operation = &event.operation;
            if event.thread == a {
                let Some((m, other)) = of_b.next() else { return false };
                let same = operation.same_effect(&other.operation) && event.alternative == other.alternative;
                let others = (0..self.threads as ThreadId).filter(|&t| t != a && t != b);
                if !same
                    || self.seen(k, b) != self.seen(m, a)
                    || others
                        .into_iter()
                        .any(|t| self.clocks.clock(k)[t as usize] != self.clocks.clock(m)[t as usize])
                {
                    return false;
                }
            } else if self.seen(k, a) != self.seen(k, b)
                || operation.awaits.contains(a) != operation.awaits.contains(b)
            {
                return false;
            }
        }
        true
    }
}
