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
//! - Accesses to one object, one of them a write, are ordered by happens-before whoever makes them; so are reads and additions.
//! - What a thread has done, was woken by or has waited for happens before its next operation. Follow a thread of the run, whatever it
//!   is called in an image. Let `P(t)` be events that happen before the next operation of thread `t` in every image. The event of `t`
//!   is added to it with all that happens before the event; so it is to `P(u)`, if the event wakes `u`; an event that waits
//!   for the end of `u` comes after `P(u)`. This holds in images because operations are renamed with the threads. Where
//!   an image may exchange `t` with `u`, `t` goes on in the place of `u`: then only what is in both `P(t)` and `P(u)` is left in them.
//! - But whatever comes after what *each* of the threads that can be exchanged at a state does from there on comes after all that was
//!   in any of their sets, since together they go on in the places that they had. So `P` also has *marks*: `c` at state `s` stands
//!   for what happens before the step that thread `c` makes next after `s`. Where the marks of all threads exchanged at `s` have
//!   come together, the union of their sets at `s` is added. (Somebody who waits until all workers have counted themselves out
//!   comes after all that any of them did, whoever did it.)
//! - An operation can be in a race only with the reads of its object (or the additions to it) since the last write, and with that write, or, if it
//!   would have been blocked before that one, with the last write before which it would not; [`crate::happens_before`] walks
//!   the same way, and like it leaves out what `P` says to be the thread's own past. An operation after a wait with a timeout can be
//!   in a race with any event that woke somebody.
//!
//! The largest `j` that is not excluded in this way is the *horizon* of `x`, and of `e`, if only that event is considered. Where
//! threads take turns with a lock it is the next turn, and the number of images grows with the length of the run and not
//! exponentially.

use crate::happens_before::Event;
use crate::operation::{Class, Operation};
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

/// What happens before something in every image.
#[derive(Clone, Default)]
struct Past {
    /// The events, as bits.
    events: Vec<u64>,
    /// The marks at each state with exchanges, in the order of these states.
    marks: Vec<ThreadSet>,
}

impl Past {
    fn insert(&mut self, event: usize) {
        if self.events.len() <= event / 64 {
            self.events.resize(event / 64 + 1, 0);
        }
        self.events[event / 64] |= 1 << (event % 64);
    }

    fn mark(&mut self, state: usize, thread: ThreadId) {
        if self.marks.len() <= state {
            self.marks.resize(state + 1, ThreadSet::EMPTY);
        }
        self.marks[state].insert(thread);
    }

    fn contains(&self, event: usize) -> bool {
        self.events.get(event / 64).is_some_and(|word| word >> (event % 64) & 1 != 0)
    }

    fn add(&mut self, other: &Past) {
        self.events.resize(self.events.len().max(other.events.len()), 0);
        self.events.iter_mut().zip(&other.events).for_each(|(all, more)| *all |= more);
        self.marks.resize(self.marks.len().max(other.marks.len()), ThreadSet::EMPTY);
        self.marks.iter_mut().zip(&other.marks).for_each(|(all, more)| *all = *all | *more);
    }

    fn keep(&mut self, other: &Past) {
        self.events.truncate(other.events.len());
        self.events.iter_mut().zip(&other.events).for_each(|(all, some)| *all &= some);
        self.marks.truncate(other.marks.len());
        self.marks.iter_mut().zip(&other.marks).for_each(|(all, some)| *all = *all & *some);
    }
}

/// A state at which images exchange threads.
struct Exchanged {
    threads: ThreadSet,
    /// The pasts of all of them there.
    together: Past,
}

/// What all images of a run have in common. Kept between runs to reuse memory.
#[derive(Default)]
pub(crate) struct Horizon {
    /// Per event: what happens before it.
    before: Vec<Past>,
    /// Per thread: what happens before its next operation.
    past: Vec<Past>,
    exchanged: Vec<Exchanged>,
}

impl Horizon {
    /// Adds what follows where marks have come together. What is added by a state has marks of earlier states only.
    fn close(&self, past: &mut Past) {
        for (state, exchanged) in self.exchanged.iter().enumerate().rev() {
            if past.marks.get(state).is_some_and(|marks| (exchanged.threads - *marks).is_empty()) {
                past.add(&exchanged.together);
            }
        }
    }

    /// Which events come before an operation of `thread` after `run`, and which can be in a race with it.
    fn look(&self, run: &[Event], thread: ThreadId, operation: &Operation) -> (Past, Vec<u32>) {
        let mut before = self.past[thread as usize].clone();
        operation.awaits.iter().for_each(|awaited| before.add(&self.past[awaited as usize]));
        self.close(&mut before);
        let base = before.clone();
        let mut races = Vec::new();
        for access in operation.accesses() {
            let mut walking = false;
            for (i, event) in run.iter().enumerate().rev() {
                let Some(other) = event.operation.access_to(access.object) else { continue };
                if other.class() != Class::Write {
                    if access.conflicts(other) && !walking && !base.contains(i) {
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
        self.close(&mut before);
        (before, races)
    }

    /// Images may exchange the thread of the next event with one of its mates.
    fn exchange(&mut self, thread: ThreadId, mates: ThreadSet) {
        let own = self.past[thread as usize].clone();
        let mut together = own.clone();
        let mut common = own.clone();
        for mate in mates.iter() {
            let past = &mut self.past[mate as usize];
            together.add(past);
            common.keep(past);
            past.keep(&own);
        }
        self.past[thread as usize] = common;
        self.close(&mut together);
        let threads = mates | ThreadSet::only(thread);
        for thread in threads.iter() {
            self.past[thread as usize].mark(self.exchanged.len(), thread);
        }
        self.exchanged.push(Exchanged { threads, together });
    }

    /// Event `k` of the run comes after those events.
    fn advance(&mut self, k: usize, event: &Event, before: Past) {
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
        self.past.resize(MAX_THREADS, Past::default());
        self.exchanged.clear();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::{Kind, Mode};

    /// A thread takes a lock and gives it back.
    fn turn(run: &mut Vec<Event>, thread: ThreadId, lock: u32) {
        let operation = Operation::new(Kind::Lock).with(lock, Mode::Acquire, 1, 1);
        run.push(Event { thread, alternative: 0, operation });
        let operation = Operation::new(Kind::Unlock).with(lock, Mode::Write, 0, 0);
        run.push(Event { thread, alternative: 0, operation });
    }

    /// Thread 1 uses lock 0, then all take turns with lock 1, and at the end thread 0 uses lock 0.
    fn limit_of_first_event(turns: &[ThreadId], exchanges: bool) -> usize {
        let mut run = Vec::new();
        turn(&mut run, 1, 0);
        turns.iter().for_each(|&thread| turn(&mut run, thread, 1));
        turn(&mut run, 0, 0);
        let states = [(2, ThreadSet::only(2))];
        Horizon::default().limits(&run, &[], &states[..usize::from(exchanges)]).of_event[0]
    }

    #[test]
    fn a_thread_comes_after_what_it_waits_for() {
        assert_eq!(limit_of_first_event(&[1, 0], false), 0, "thread 0 comes after thread 1");
        assert_eq!(limit_of_first_event(&[2, 0], false), 6, "thread 0 can come first");
        assert_eq!(limit_of_first_event(&[0, 1], false), 6);
    }

    #[test]
    fn exchanged_threads_take_their_pasts_along() {
        assert_eq!(limit_of_first_event(&[1, 0, 2], true), 8, "in an image thread 2 was before thread 0");
        assert_eq!(limit_of_first_event(&[1, 2, 0], true), 0, "thread 0 comes after both, whoever is who");
        assert_eq!(limit_of_first_event(&[1, 2, 0], false), 0);
    }
}
