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
//! Images differ in who executes what, not in which objects are accessed in which order. So both are decided by what all images have in
//! common:
//!
//! - Accesses to one object, one of them a write, are ordered by happens-before whoever makes them.
//! - What a thread has done, was woken by or has waited for happens before its next operation. Follow a thread of the run, whatever it
//!   is called in an image. Let `P(t)` be events that happen before the next operation of thread `t` in every image. The event of `t`
//!   is added to it with all that happens before the event; so it is to `P(u)`, if the event wakes `u`; an event that waits
//!   for the end of `u` comes after `P(u)`. This holds in images because operations are renamed with the threads. Where
//!   an image may exchange `t` with `u`, `t` goes on in the place of `u`: then only what is in both `P(t)` and `P(u)` is left in them.
//! - An operation can be in a race only with the reads of its object since the last write, and with that write, or, if it
//!   would have been blocked before that one, with the last write before which it would not; [`crate::happens_before`] walks
//!   the same way, and like it leaves out what `P` says to be the thread's own past. An operation after a wait with a timeout can be
//!   in a race with any event that woke somebody.
//!
//! The largest `j` that is not excluded in this way is the *horizon* of `x`, and of `e`, if only that event is considered. Where
//! threads take turns with a lock it is the next turn, and the number of images grows with the length of the run and not
//! exponentially.

use crate::happens_before::Event;
use crate::operation::Operation;
use crate::threads::{MAX_THREADS, ThreadId, ThreadSet};

/// Runs longer than this have no horizon.
const LONGEST: usize = 1024;

/// How far down a run one has to look.
#[derive(Default)]
pub(crate) struct Limits {
    /// Per event: the last state at which an exchange can change what images report to its state, and the last event which can.
    pub of_event: Vec<usize>,
    /// Per state: the last of its images with the first exchange there, the largest of the events before it.
    pub of_state: Vec<usize>,
}

/// A set of events.
#[derive(Clone, Default)]
struct Events(Vec<u64>);

impl Events {
    fn insert(&mut self, event: usize) {
        if self.0.len() <= event / 64 {
            self.0.resize(event / 64 + 1, 0);
        }
        self.0[event / 64] |= 1 << (event % 64);
    }

    fn contains(&self, event: usize) -> bool {
        self.0.get(event / 64).is_some_and(|word| word >> (event % 64) & 1 != 0)
    }

    fn add(&mut self, others: &Events) {
        self.0.resize(self.0.len().max(others.0.len()), 0);
        self.0.iter_mut().zip(&others.0).for_each(|(all, more)| *all |= more);
    }

    fn keep(&mut self, others: &Events) {
        self.0.truncate(others.0.len());
        self.0.iter_mut().zip(&others.0).for_each(|(all, some)| *all &= some);
    }
}

/// What all images of a run have in common. Kept between runs to reuse memory.
#[derive(Default)]
pub(crate) struct Horizon {
    /// Per event: those that happen before it.
    before: Vec<Events>,
    /// Per thread: those that happen before its next operation.
    past: Vec<Events>,
}

impl Horizon {
    /// Which events come before an operation of `thread` after `run`, and which can be in a race with it.
    fn look(&self, run: &[Event], thread: ThreadId, operation: &Operation) -> (Events, Vec<u32>) {
        let mut before = self.past[thread as usize].clone();
        operation.awaits.iter().for_each(|awaited| before.add(&self.past[awaited as usize]));
        let base = before.clone();
        let mut races = Vec::new();
        for access in operation.accesses() {
            let mut walking = false;
            for (i, event) in run.iter().enumerate().rev() {
                let Some(other) = event.operation.access_to(access.object) else { continue };
                if !other.writes() {
                    if access.writes() && !walking && !base.contains(i) {
                        races.push(i as u32);
                        before.add(&self.before[i]);
                        before.insert(i);
                    }
                    continue;
                }
                // The writes before that one are in the past as well.
                if base.contains(i) {
                    break;
                }
                if !walking {
                    before.add(&self.before[i]);
                    before.insert(i);
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

    /// Images may exchange the thread of the next event with one of its mates.
    fn exchange(&mut self, thread: ThreadId, mates: ThreadSet) {
        let mut common = self.past[thread as usize].clone();
        for mate in mates.iter() {
            common.keep(&self.past[mate as usize]);
            let (past, thread) = (self.past[thread as usize].clone(), mate as usize);
            self.past[thread].keep(&past);
        }
        self.past[thread as usize] = common;
    }

    /// Event `k` of the run comes after those events.
    fn advance(&mut self, k: usize, event: &Event, before: Events) {
        let mut past = before.clone();
        past.insert(k);
        event.operation.wakes.iter().for_each(|woken| self.past[woken as usize].add(&past));
        self.past[event.thread as usize] = past;
        self.before.push(before);
    }

    /// The limits of `run`, whose threads had these operations pending at its end, if images exchange threads at these states (in
    /// the order of the run) with these mates. An event that is given nothing has the limit 0; one that a pending operation can
    /// be in a race with has the length of the run.
    pub fn limits(
        &mut self,
        run: &[Event],
        pending: &[(ThreadId, Operation)],
        states: &[(usize, ThreadSet)],
    ) -> Limits {
        let n = run.len();
        if n > LONGEST {
            return Limits { of_event: vec![usize::MAX; n], of_state: vec![usize::MAX; n + 1] };
        }
        self.before.clear();
        self.past.clear();
        self.past.resize(MAX_THREADS, Events::default());
        let mut states = states.iter().peekable();
        // The last event that can be in a race with an event, and the last one that need not happen after it.
        let mut raced = vec![0; n];
        let mut beside = vec![0; n];
        for (k, event) in run.iter().enumerate() {
            if let Some((_, mates)) = states.next_if(|(at, _)| *at == k) {
                self.exchange(event.thread, *mates);
            }
            let (before, races) = self.look(&run[..k], event.thread, &event.operation);
            races.iter().for_each(|&e| raced[e as usize] = k);
            for (e, last) in beside[..k].iter_mut().enumerate() {
                if !before.contains(e) {
                    *last = k;
                }
            }
            self.advance(k, event, before);
        }
        for (thread, operation) in pending {
            let (_, races) = self.look(run, *thread, operation);
            races.iter().for_each(|&e| raced[e as usize] = n);
        }
        let mut limits = Limits { of_event: Vec::with_capacity(n), of_state: vec![0] };
        let mut largest = 0;
        for e in 0..n {
            let given = raced[e] > 0 || run[e].operation.alternatives > 1;
            let limit = if given { raced[e].max(beside[e]) } else { 0 };
            largest = largest.max(limit);
            limits.of_event.push(limit);
            limits.of_state.push(largest);
        }
        limits
    }
}
