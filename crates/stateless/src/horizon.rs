//! How far down a run an exchange of threads can still change what its images report.
//!
//! Images of a run (module [`crate::symmetry`]) have exchanges of threads at several states; there are as many as ways to choose them,
//! but most report the same. An image whose first exchange is at state `x` reports races to states before `x` only: the
//! sequence explored instead of an event `e` before `x` consists of the events that do not happen after `e`, and of
//! the other event `f` of the race. So an exchange at a state `j` beyond `x` changes nothing if, for all such `e`, in
//! every image with exchanges at or beyond `x`,
//!
//! 1. no `f` at or beyond `j` is in a race with `e`, and
//! 2. everything at or beyond `j` happens after `e`, or else nothing at all is in a race with `e` and it has no alternatives.
//!
//! Images differ in who executes what, not in which objects are accessed in which order. So both are decided by the objects alone:
//!
//! - An operation can be in a race only with the reads of its object since the last write, and with that write, or, if it
//!   would have been blocked before that one, with the last write before which it would not; [`crate::happens_before`] walks
//!   the same way, and leaves out more when it knows the threads. An operation after a wait with a timeout can be in a
//!   race with any event that woke somebody.
//! - Accesses to one object, one of them a write, are ordered by happens-before whoever makes them. What follows from that alone is less
//!   than all of happens-before.
//!
//! The largest `j` that is not excluded in this way is the *horizon* of `x`. Where threads take turns with a lock it is the
//! next turn, and the number of images grows with the length of the run and not exponentially.

use crate::happens_before::Event;
use crate::operation::Operation;
use crate::threads::ThreadId;

/// Runs longer than this have no horizon.
const LONGEST: usize = 1024;

/// A set of events.
type Events = Vec<u64>;

/// What follows from the objects alone for the events of a run. Kept between runs to reuse memory.
#[derive(Default)]
pub(crate) struct Horizon {
    /// The run this is about.
    operations: Vec<Operation>,
    /// Per event: those that happen before it whoever executes what.
    before: Vec<Events>,
    /// Per event: those it can be in a race with, all of them earlier.
    races: Vec<Vec<u32>>,
}

impl Horizon {
    /// Takes note of the events of `run`; what is as it was last time is kept.
    fn update(&mut self, run: &[Event]) {
        let same = |(operation, event): &(&Operation, &Event)| **operation == event.operation;
        let kept = self.operations.iter().zip(run).take_while(same).count();
        self.operations.truncate(kept);
        self.before.truncate(kept);
        self.races.truncate(kept);
        for k in kept..run.len() {
            let (before, races) = self.look(&run[..k], &run[k].operation);
            self.before.push(before);
            self.races.push(races);
            self.operations.push(run[k].operation);
        }
    }

    fn look(&self, run: &[Event], operation: &Operation) -> (Events, Vec<u32>) {
        let mut before = vec![0; run.len().div_ceil(64)];
        let mut races = Vec::new();
        let precedes = |i: usize, before: &mut Events| {
            before.iter_mut().zip(&self.before[i]).for_each(|(all, more)| *all |= more);
            before[i / 64] |= 1 << (i % 64);
        };
        for access in operation.accesses() {
            let earlier = run.iter().enumerate().rev();
            let mut walking = false;
            for (i, event) in earlier {
                let Some(other) = event.operation.access_to(access.object) else { continue };
                if !other.writes() {
                    if access.writes() && !walking {
                        races.push(i as u32);
                        precedes(i, &mut before);
                    }
                    continue;
                }
                if !walking {
                    precedes(i, &mut before);
                }
                walking = true;
                if access.possible_at(other.value) {
                    races.push(i as u32);
                    break;
                }
            }
        }
        if operation.timed.is_some() {
            let wakes = |(_, event): &(usize, &Event)| !event.operation.wakes.is_empty();
            races.extend(run.iter().enumerate().filter(wakes).map(|(i, _)| i as u32));
        }
        (before, races)
    }

    /// Per state `x` of `run`, whose threads had these operations pending at its end: the last state at which an exchange can
    /// matter to images whose first exchange is at `x`.
    pub fn limits(&mut self, run: &[Event], pending: &[(ThreadId, Operation)]) -> Vec<usize> {
        let n = run.len();
        if n > LONGEST {
            return vec![usize::MAX; n + 1];
        }
        self.update(run);
        // The last event that can be in a race with an event, and the last one that need not happen after it.
        let mut raced = vec![0; n];
        let mut beside = vec![0; n];
        for k in 0..n {
            self.races[k].iter().for_each(|&e| raced[e as usize] = k);
            for (e, last) in beside[..k].iter_mut().enumerate() {
                if self.before[k][e / 64] >> (e % 64) & 1 == 0 {
                    *last = k;
                }
            }
        }
        for (_, operation) in pending {
            self.look(run, operation).1.iter().for_each(|&e| raced[e as usize] = n);
        }
        let mut limit = 0;
        let mut limits = vec![0];
        for e in 0..n {
            if raced[e] > 0 || run[e].operation.alternatives > 1 {
                limit = limit.max(raced[e]).max(beside[e]);
            }
            limits.push(limit);
        }
        limits
    }
}
