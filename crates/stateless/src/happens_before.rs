//! Happens-before of one run by vector clocks, and the races to reverse in it.
//!
//! Happens-before is the transitive closure of program order and of the order of dependent
//! operations (module [`crate::operation`]). The clock of event `k` has for every thread `t` one more
//! than the index of the last event of `t` that happens before or is `k`; so `i` happens before `k`
//! iff `clock(k)[thread(i)] > i`.
//!
//! # Which pairs are races
//!
//! A race is a pair: an event `e`, and an operation `o` of another thread that is executed later or
//! is still pending at the end of the run. It stands for the question "what if `o` came before
//! `e`?", to be answered by exploring, from the state in which `e` was executed, the events after
//! `e` that do not happen after it, then `o`. Write `base(o)` for the part of the past of `o` that
//! does not come through the objects it accesses: program order, being woken, waiting for the end of
//! threads. If `e` is in `base(o)` the pair is not a race. Else there are three kinds.
//!
//! * *Direct*: `e` and `o` are dependent by an object, nothing that happens after `e` happens before
//!   `o`, and `o` would have been possible in the object's value before `e`. This is the race of
//!   Abdulla et al.
//! * *Disabled*: `o` is an [`Acquire`](Mode::Acquire). Walk back along the writes of the object
//!   while `o` was not possible before them; the first write before which it was possible is the
//!   event that disabled `o` (the lock taken by somebody else). Events between them (the unlock)
//!   happen after `e` and so are not part of the sequence explored instead. The writes of an object
//!   are totally ordered by happens-before, so equivalent runs give the same answer.
//! * *Woken*: `o` follows a wake-up `e` from a wait with a timeout ([`Operation::timed`]). Before
//!   `e` the thread could have timed out instead.
//!
//! # Why these suffice with blocking operations
//!
//! The correctness proof of source sets takes a sequence `w` from a state `E` that has no weak
//! initial among the explored first steps, the explored `q` whose step is independent of the
//! longest prefix `u` of `w`, and the next event of `w` after `u`, by thread `r`; and needs a run
//! below `E.q.u` in which the race between `q` and that operation of `r` is seen. Without
//! blocking, `r` is enabled after `E.q.u` and the race is direct in `E.q.u.r…`. Otherwise:
//!
//! 1. `r`'s operation `o` is not possible after `E.q.u` but is after `E.u`. Then `q` wrote an object
//!    that `o` acquires, and no event of `u` touches it. Let the run after `E.q.u` go on
//!    arbitrarily, but execute `o` as soon as it is possible. All writes of the object after `q` in
//!    that run happen where `o` is not possible, so the walk back from `o` ends at `q`. If `o` never
//!    becomes possible it is pending at the end, and the walk ends at `q` as well. The end may also
//!    be that all enabled threads sleep; pending operations count there, too.
//! 2. `q` woke `r` from a wait that `r` leaves by its timeout in `w`. In every run below `E.q.u`
//!    the next operation of `r` (executed or pending) is one with `timed` set, woken by `q`.
//! 3. `q` is another alternative of the operation of `r` itself. Not a race between threads: see
//!    [`mod@crate::explore`], which adds the other alternatives of each event.
//!
//! In each case the sequence explored instead contains all of `u` and then `o`, and an event of it
//! that is not from `u` is independent of `o` as it does not touch the objects of `q`; so it is an
//! initial only if it is independent of `u.o`, against the choice of `q`. The rest is the published
//! proof.

use crate::operation::{Class, Mode, Operation};
use crate::threads::{ThreadId, ThreadSet};

/// An executed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who executed it.
    pub thread: ThreadId,
    /// In which way (below the operation's number of alternatives).
    pub alternative: u16,
    /// What was executed.
    pub operation: Operation,
}

/// A pair to reverse.
#[derive(Clone, Copy, Debug)]
pub struct Race {
    /// Index of the earlier event.
    pub earlier: u32,
    /// Index of the later event, or the length of the run when it is still pending.
    pub later: u32,
    /// The later thread.
    pub thread: ThreadId,
    /// The later operation as it would be executed before the earlier event.
    pub reversed: Operation,
    /// Both can be next to each other in an equivalent run.
    pub direct: bool,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct ObjectHistory {
    last_write: u32,
    /// Threads that read since the last write; when, is in `reads`.
    readers: ThreadSet,
    /// Threads that added since the last write; when, is in `adds`.
    adders: ThreadSet,
}

/// Something that an event has changed, as it was before.
#[derive(Clone, Copy)]
enum Change {
    /// The clock of this thread: the last one of `old_clocks`.
    Clock(ThreadId),
    /// By which event this thread was woken.
    Woken(ThreadId, u32),
    /// The history of an object, and when the thread of the event had last read it and added to it.
    Object(u32, ObjectHistory, [u32; 2]),
}

/// Clocks and races of a run. Kept between runs: to reuse memory, and since most runs begin as the one before (what an event
/// changes is written down and taken back as far as the next run differs).
pub struct HappensBefore {
    threads: usize,
    /// Does creating a thread come before what the thread does?
    creation: bool,
    clocks: Vec<u32>,
    /// For each access of each event the previous write of the same object.
    previous_write: Vec<[u32; crate::operation::MAX_ACCESSES]>,
    thread_clocks: Vec<u32>,
    woken_by: Vec<u32>,
    objects: Vec<ObjectHistory>,
    reads: Vec<u32>,
    adds: Vec<u32>,
    /// Has any event ever added to an object?
    has_added: bool,
    base: Vec<u32>,
    clock: Vec<u32>,
    candidates: Vec<(u32, bool, Operation)>,
    races: Vec<Race>,
    /// What the events have changed, and where the changes of each event begin.
    changes: Vec<Change>,
    marks: Vec<u32>,
    old_clocks: Vec<u32>,
    /// Whose the events are.
    by: Vec<ThreadId>,
}

impl HappensBefore {
    /// For programs of at most `threads` threads.
    pub fn new(threads: usize) -> HappensBefore {
        HappensBefore {
            threads,
            creation: true,
            clocks: Vec::new(),
            previous_write: Vec::new(),
            thread_clocks: vec![0; threads * threads],
            woken_by: vec![NONE; threads],
            objects: Vec::new(),
            reads: Vec::new(),
            adds: Vec::new(),
            has_added: false,
            base: vec![0; threads],
            clock: vec![0; threads],
            candidates: Vec::new(),
            races: Vec::new(),
            changes: Vec::new(),
            marks: Vec::new(),
            old_clocks: Vec::new(),
            by: Vec::new(),
        }
    }

    /// The same, but threads are considered to exist from the start: waking a thread that has done
    /// nothing yet orders nothing.
    pub(crate) fn without_creation(threads: usize) -> HappensBefore {
        HappensBefore { creation: false, ..HappensBefore::new(threads) }
    }

    /// Forgets everything: the empty run.
    pub(crate) fn restart(&mut self) {
        self.truncate(0);
    }

    /// Forgets all events but the first `length` ones.
    pub(crate) fn truncate(&mut self, length: usize) {
        let n = self.threads;
        while self.marks.len() > length {
            let mark = self.marks.pop().map_or(0, |mark| mark as usize);
            let k = self.marks.len();
            while self.changes.len() > mark
                && let Some(change) = self.changes.pop()
            {
                match change {
                    Change::Clock(thread) => {
                        let row = thread as usize * n;
                        let old = self.old_clocks.len() - n;
                        copy(&mut self.thread_clocks[row..row + n], &self.old_clocks[old..]);
                        self.old_clocks.truncate(old);
                    }
                    Change::Woken(thread, by) => self.woken_by[thread as usize] = by,
                    Change::Object(object, history, [read, add]) => {
                        self.objects[object as usize] = history;
                        self.reads[object as usize * n + self.by[k] as usize] = read;
                        self.adds[object as usize * n + self.by[k] as usize] = add;
                    }
                }
            }
            self.by.pop();
            self.previous_write.pop();
        }
        self.clocks.truncate(length * n);
        while self.races.last().is_some_and(|race| race.later as usize >= length) {
            self.races.pop();
        }
    }

    /// Computes the clock of the last event of `run`, those before having been given before.
    pub(crate) fn extend(&mut self, run: &[Event]) {
        self.extend_with_races(run, usize::MAX);
    }

    /// The same, and adds the races of this event if it is at or beyond `from`.
    pub(crate) fn extend_with_races(&mut self, run: &[Event], from: usize) {
        let Some(k) = run.len().checked_sub(1) else { return };
        self.clocks.resize(run.len() * self.threads, 0);
        self.look(run, run[k].thread, &run[k].operation);
        if k >= from {
            self.keep_races(run, k, run[k].thread);
        }
        self.advance(run, k);
    }

    /// Has any event, of any run so far, added to an object?
    #[inline]
    pub(crate) fn has_added(&self) -> bool {
        self.has_added
    }

    /// How many events have been given.
    pub(crate) fn length(&self) -> usize {
        self.marks.len()
    }

    /// The clock of event `k`.
    #[inline]
    pub fn clock(&self, k: usize) -> &[u32] {
        &self.clocks[k * self.threads..(k + 1) * self.threads]
    }

    /// Whose event `k` is.
    #[inline]
    pub(crate) fn thread(&self, k: usize) -> ThreadId {
        self.by[k]
    }

    /// Does event `i`, of `thread`, happen before (or equal) event `k`?
    #[inline]
    pub fn ordered(&self, i: usize, thread: ThreadId, k: usize) -> bool {
        self.clocks[k * self.threads + thread as usize] > i as u32
    }

    /// The races found by the last [`HappensBefore::analyse`], in the order of the later event.
    pub fn races(&self) -> &[Race] {
        &self.races
    }

    /// Computes clocks of `run` and the races whose later operation is at or after index `from`
    /// (pending ones always). `pending` are the operations that threads still had at the end.
    pub fn analyse(&mut self, run: &[Event], pending: &[(ThreadId, Operation)], from: usize) {
        self.analyse_rest(run, pending, from, 0);
    }

    /// The same for a run whose first `same` events, as far as the run analysed before has them, are those of that run. Races
    /// with both events among them, at or after `from`, must have been asked for then.
    pub(crate) fn analyse_rest(
        &mut self,
        run: &[Event],
        pending: &[(ThreadId, Operation)],
        from: usize,
        same: usize,
    ) {
        let kept = same.min(self.marks.len());
        self.truncate(kept);
        let early = self.races.partition_point(|race| (race.later as usize) < from);
        self.races.drain(..early);
        self.clocks.resize(run.len() * self.threads, 0);
        for (k, event) in run.iter().enumerate().skip(kept) {
            self.look(run, event.thread, &event.operation);
            if k >= from {
                self.keep_races(run, k, event.thread);
            }
            self.advance(run, k);
        }
        self.add_pending(run, pending);
    }

    /// Adds the races of the operations that threads still had at the end.
    pub(crate) fn add_pending(&mut self, run: &[Event], pending: &[(ThreadId, Operation)]) {
        for (thread, operation) in pending {
            // What a thread is still waiting to end has not disabled anything.
            if operation.awaits.is_empty() {
                self.look(run, *thread, operation);
                self.keep_races(run, run.len(), *thread);
            }
        }
    }

    fn history(&mut self, object: u32) -> ObjectHistory {
        if object as usize >= self.objects.len() {
            let fresh =
                ObjectHistory { last_write: NONE, readers: ThreadSet::EMPTY, adders: ThreadSet::EMPTY };
            self.objects.resize(object as usize + 1, fresh);
            self.reads.resize((object as usize + 1) * self.threads, 0);
            self.adds.resize((object as usize + 1) * self.threads, 0);
        }
        self.objects[object as usize]
    }

    #[inline]
    fn in_base(&self, run: &[Event], i: u32) -> bool {
        self.base[run[i as usize].thread as usize] > i
    }

    /// Computes `base` and the candidate races of an operation about to be executed (or pending).
    fn look(&mut self, run: &[Event], thread: ThreadId, operation: &Operation) {
        let n = self.threads;
        let row = thread as usize * n;
        copy(&mut self.base, &self.thread_clocks[row..row + n]);
        for awaited in operation.awaits.iter() {
            let row = awaited as usize * n;
            join(&mut self.base, &self.thread_clocks[row..row + n]);
        }
        self.candidates.clear();
        for access in operation.accesses() {
            let object = access.object;
            let history = self.history(object);
            let possible = access.possible_at(access.value);
            let mut since_write = false;
            let class = access.class();
            for (others, when, own) in
                [(history.readers, &self.reads, Class::Read), (history.adders, &self.adds, Class::Add)]
            {
                if class == own || !possible {
                    continue;
                }
                for other in others.iter() {
                    let earlier = when[object as usize * n + other as usize];
                    if other != thread && !self.in_base(run, earlier) {
                        since_write = true;
                        self.candidates.push((earlier, true, *operation));
                    }
                }
            }
            if since_write {
                // The last write happens before those reads or additions, so it is not direct; and the run that
                // executes the operation as soon as it is possible has it before those.
                continue;
            }
            let mut write = history.last_write;
            let mut direct = true;
            while write != NONE && !self.in_base(run, write) {
                let event = &run[write as usize];
                let slot = event.operation.accesses().iter().position(|a| a.object == object);
                let Some(slot) = slot else { break };
                let before = event.operation.accesses()[slot].value;
                if access.possible_at(before) {
                    let reversed = operation.at_value(object, before);
                    self.candidates.push((write, direct && possible, reversed));
                    break;
                }
                direct = false;
                write = self.previous_write[write as usize][slot];
            }
        }
        if let Some(object) = operation.timed {
            let waker = self.woken_by[thread as usize];
            if waker != NONE {
                let timeout =
                    Operation::new(crate::operation::Kind::ConditionTimeout).with(object, Mode::Write, 0, 0);
                self.candidates.push((waker, false, timeout));
            }
        }
    }

    /// Keeps the candidates that are races of the operation at `later`.
    fn keep_races(&mut self, run: &[Event], later: usize, thread: ThreadId) {
        for c in 0..self.candidates.len() {
            let (earlier, direct, reversed) = self.candidates[c];
            let by = run[earlier as usize].thread;
            if by == thread {
                continue;
            }
            // A direct race has nothing in between: not even another candidate.
            let between = direct
                && self.candidates.iter().any(|&(other, ..)| {
                    other > earlier && self.ordered(earlier as usize, by, other as usize)
                });
            if !between {
                self.races.push(Race { earlier, later: later as u32, thread, reversed, direct });
            }
        }
    }

    /// Adds event `k`, whose `base` was just computed, to the clocks and histories.
    fn advance(&mut self, run: &[Event], k: usize) {
        let n = self.threads;
        let Event { thread, operation, .. } = &run[k];
        copy(&mut self.clock, &self.base);
        self.marks.push(self.changes.len() as u32);
        self.by.push(*thread);
        let mut previous = [NONE; crate::operation::MAX_ACCESSES];
        for (slot, access) in operation.accesses().iter().enumerate() {
            let object = access.object as usize;
            let history = self.objects[object];
            previous[slot] = history.last_write;
            let own = object * n + *thread as usize;
            self.changes.push(Change::Object(access.object, history, [self.reads[own], self.adds[own]]));
            if history.last_write != NONE {
                let row = history.last_write as usize * n;
                join(&mut self.clock, &self.clocks[row..row + n]);
            }
            let class = access.class();
            for (others, when, own) in
                [(history.readers, &self.reads, Class::Read), (history.adders, &self.adds, Class::Add)]
            {
                if class != own {
                    for other in others.iter() {
                        let row = when[object * n + other as usize] as usize * n;
                        join(&mut self.clock, &self.clocks[row..row + n]);
                    }
                }
            }
            match class {
                Class::Read => {
                    self.objects[object].readers.insert(*thread);
                    self.reads[own] = k as u32;
                }
                Class::Add => {
                    self.objects[object].adders.insert(*thread);
                    self.adds[own] = k as u32;
                    self.has_added = true;
                }
                Class::Write => {
                    self.objects[object] = ObjectHistory {
                        last_write: k as u32,
                        readers: ThreadSet::EMPTY,
                        adders: ThreadSet::EMPTY,
                    };
                }
            }
        }
        self.previous_write.push(previous);
        self.clock[*thread as usize] = k as u32 + 1;
        self.note_clock(*thread);
        let row = *thread as usize * n;
        copy(&mut self.thread_clocks[row..row + n], &self.clock);
        copy(&mut self.clocks[k * n..(k + 1) * n], &self.clock);
        self.set_woken(*thread, NONE);
        for woken in operation.wakes.iter() {
            let row = woken as usize * n;
            if !self.creation && self.thread_clocks[row + woken as usize] == 0 {
                continue;
            }
            self.note_clock(woken);
            join(&mut self.thread_clocks[row..row + n], &self.clock);
            self.set_woken(woken, k as u32);
        }
    }

    /// Writes down the clock of a thread that is about to change.
    #[inline]
    fn note_clock(&mut self, thread: ThreadId) {
        let row = thread as usize * self.threads;
        self.changes.push(Change::Clock(thread));
        self.old_clocks.extend_from_slice(&self.thread_clocks[row..row + self.threads]);
    }

    #[inline]
    fn set_woken(&mut self, thread: ThreadId, by: u32) {
        let old = std::mem::replace(&mut self.woken_by[thread as usize], by);
        if old != by {
            self.changes.push(Change::Woken(thread, old));
        }
    }
}

/// Copies a clock. Most programs have few threads, for which a call of the general function costs more than the copy.
#[inline]
fn copy(into: &mut [u32], from: &[u32]) {
    fn fixed<const N: usize>(into: &mut [u32], from: &[u32]) -> Option<()> {
        *into.first_chunk_mut::<N>()? = *from.first_chunk::<N>()?;
        Some(())
    }
    match into.len() {
        2 => fixed::<2>(into, from),
        3 => fixed::<3>(into, from),
        4 => fixed::<4>(into, from),
        5 => fixed::<5>(into, from),
        6 => fixed::<6>(into, from),
        7 => fixed::<7>(into, from),
        _ => {
            into.copy_from_slice(from);
            Some(())
        }
    };
}

#[inline]
fn join(into: &mut [u32], from: &[u32]) {
    for (a, b) in into.iter_mut().zip(from) {
        *a = (*a).max(*b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Kind;
    use crate::random::Random;

    fn random_operation(random: &mut Random, threads: usize) -> Operation {
        let modes = [Mode::Read, Mode::Write, Mode::Acquire, Mode::Try, Mode::CompareAndSwap, Mode::Add];
        let mut operation = Operation::new(Kind::Other);
        for object in 0..3 {
            if random.below(3) == 0 && operation.accesses().len() < crate::operation::MAX_ACCESSES {
                let mode = modes[random.below(6)];
                operation = operation.with(object, mode, random.below(2) as i64, random.below(2) as i64);
            }
        }
        if random.below(6) == 0 {
            operation.wakes.insert(random.below(threads) as ThreadId);
        }
        if random.below(6) == 0 {
            operation.awaits.insert(random.below(threads) as ThreadId);
        }
        operation.timed = (random.below(4) == 0).then_some(0);
        operation
    }

    #[test]
    fn what_is_kept_of_the_last_run_is_what_would_be_computed_again() {
        const THREADS: usize = 4;
        let mut random = Random(7);
        let mut kept = HappensBefore::new(THREADS);
        let mut run: Vec<Event> = Vec::new();
        for _ in 0..2000 {
            let same = random.below(run.len() + 1);
            run.truncate(same);
            for _ in 0..random.below(12) {
                let thread = random.below(THREADS) as ThreadId;
                run.push(Event { thread, alternative: 0, operation: random_operation(&mut random, THREADS) });
            }
            let pending = [(1, random_operation(&mut random, THREADS))];
            kept.analyse_rest(&run, &pending, 0, same);
            let mut fresh = HappensBefore::new(THREADS);
            fresh.analyse(&run, &pending, 0);
            assert_eq!(kept.clocks, fresh.clocks);
            let races = |h: &HappensBefore| {
                h.races
                    .iter()
                    .map(|r| (r.earlier, r.later, r.thread, r.reversed, r.direct))
                    .collect::<Vec<_>>()
            };
            assert_eq!(races(&kept), races(&fresh));
        }
    }
}
