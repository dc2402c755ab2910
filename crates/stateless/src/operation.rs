//! Visible operations and when two of them depend on each other.
//!
//! An operation is described by the *accesses* it makes to shared objects, not by the primitive it
//! comes from. A mutex, a memory cell, a semaphore and a condition variable are all objects with a
//! value; locks, loads, posts and signals are reads and writes of it, some of which block until the
//! value is large enough, and some of which write only for certain values. The exploration knows
//! nothing else about a primitive, so a new one needs no change here.
//!
//! | primitive | access | object's value |
//! |---|---|---|
//! | load, store, fetch-add | `Read`, `Write`, `Write` | the memory cell |
//! | fetch-add that hardly anybody looks at | `Add` ([`crate::counts`]) | the memory cell |
//! | compare-and-swap | `CompareAndSwap` expecting `need` | the memory cell |
//! | mutex lock / try-lock, timed lock / unlock | `Acquire` 1 / `Try` 1 / `Write` | 1 free, 0 held |
//! | semaphore wait / try-wait / post | `Acquire` 1 / `Try` 1 / `Write` | the count |
//! | reader / writer lock of a rwlock, unlock | `Acquire` 1 / `Acquire` max / `Write` | max minus holders |
//! | condition wait, first half | `Write` condition, `Write` mutex | waiters; as above |
//! | condition signal, broadcast | `Try` 1, and [`Operation::wakes`] | number of waiters |
//! | condition wait, second half | `Acquire` mutex; disabled until woken | – |
//! | barrier arrival | `Write`, the last one with [`Operation::wakes`] | arrivals |
//! | thread creation | none, [`Operation::wakes`] the new thread | – |
//! | join (of a set) | none, [`Operation::awaits`] the threads | – |
//! | data choice, yield | none | – |

use crate::threads::{ThreadId, ThreadSet};

/// How an operation uses one object, given the object's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Looks at the value.
    Read,
    /// Changes the value; never blocks.
    Write,
    /// Blocks until the value is at least `need`, then changes it.
    Acquire,
    /// Never blocks: changes the value if it is at least `need`, else only looks at it.
    Try,
    /// Never blocks: changes the value if it equals `need`, else only looks at it.
    CompareAndSwap,
    /// Adds to the value, of which its thread learns at most whether it was one of a few ([`crate::counts`]). An object that is
    /// added to in this way has no accesses besides but `Read` and `Write`.
    Add,
}

/// Accesses of one class to one object do not depend on each other, unless both are writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// Leaves the object as it is.
    Read,
    /// Adds to it.
    Add,
    /// Changes it.
    Write,
}

/// One object touched by an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Which object. Numbers are small (they index tables) and mean the same object in every
    /// execution of the program.
    pub object: u32,
    /// What is done to it.
    pub mode: Mode,
    /// The bound or expected value of `Acquire`, `Try` and `CompareAndSwap`; of `Add` what [`crate::counts::need`] says; else 0.
    pub need: i64,
    /// The object's value just before the operation. It must be right on `Write` accesses to every
    /// object that is also accessed by `Acquire`, `Try` or `CompareAndSwap`: from it the exploration
    /// knows what those would have done earlier.
    pub value: i64,
}

impl Access {
    const NONE: Access = Access { object: u32::MAX, mode: Mode::Read, need: 0, value: 0 };

    /// Does this access change the object, at the value it carries?
    #[inline]
    pub fn writes(&self) -> bool {
        match self.mode {
            Mode::Read => false,
            Mode::Write | Mode::Acquire | Mode::Add => true,
            Mode::Try => self.value >= self.need,
            Mode::CompareAndSwap => self.value == self.need,
        }
    }

    /// What others notice of it, at the value it carries.
    #[inline]
    pub(crate) fn class(&self) -> Class {
        match self.mode {
            Mode::Add => Class::Add,
            _ if self.writes() => Class::Write,
            _ => Class::Read,
        }
    }

    /// Does the order of these two accesses to one object matter?
    #[inline]
    pub(crate) fn conflicts(&self, other: &Access) -> bool {
        let class = self.class();
        class == Class::Write || class != other.class()
    }

    /// May this access happen when the object has value `value`?
    #[inline]
    pub fn possible_at(&self, value: i64) -> bool {
        self.mode != Mode::Acquire || value >= self.need
    }
}

/// What an operation is, for messages only: dependence never looks at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Kind {
    /// A read of an atomic.
    Load,
    /// A write of an atomic.
    Store,
    /// An atomic update.
    ReadModifyWrite,
    /// A compare and swap.
    CompareAndSwap,
    /// Taking a lock.
    Lock,
    /// Taking a lock if it is free.
    TryLock,
    /// Giving a lock back.
    Unlock,
    /// Giving the lock back and waiting for a signal.
    ConditionWait,
    /// Taking the lock again after a signal.
    ConditionReacquire,
    /// Not waiting for the signal any longer.
    ConditionTimeout,
    /// Waking one that waits.
    Signal,
    /// Waking all that wait.
    Broadcast,
    /// Taking one from a semaphore.
    SemaphoreWait,
    /// Adding one to a semaphore.
    SemaphorePost,
    /// Arriving at a barrier.
    BarrierArrive,
    /// Going on after a barrier.
    Resume,
    /// Creating a thread.
    Create,
    /// Waiting for the end of a thread.
    Join,
    /// A choice of the environment.
    Choose,
    /// Anything else.
    Other,
}

/// The most objects one operation may touch.
pub const MAX_ACCESSES: usize = 3;

/// A visible operation of a thread, as it would be executed in the current state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// What to call it.
    pub kind: Kind,
    /// Does it synchronise (atomics, locks, …)? Two dependent operations that can be next to each
    /// other, not both atomic, are a data race.
    pub atomic: bool,
    count: u8,
    /// In how many ways it can go, at least 1: values of a data choice, the waiter a signal wakes.
    /// All alternatives make the same accesses. The numbering must not depend on the names of
    /// threads (waiters are numbered in the order of the queue), so that a renamed execution uses
    /// the same numbers.
    pub alternatives: u16,
    /// Threads that were disabled and that this operation lets go on: created, signalled, released.
    /// What they do next happens after it.
    pub wakes: ThreadSet,
    /// Threads that must have finished before this operation can happen.
    pub awaits: ThreadSet,
    /// Set when the thread was woken from a wait that could also have ended by itself (a timeout or
    /// a spurious wake-up): ending it is a write of this object and was possible before the wake.
    pub timed: Option<u32>,
    accesses: [Access; MAX_ACCESSES],
}

impl Operation {
    /// An operation without accesses, with one alternative.
    pub const fn new(kind: Kind) -> Operation {
        Operation {
            kind,
            atomic: true,
            count: 0,
            alternatives: 1,
            wakes: ThreadSet::EMPTY,
            awaits: ThreadSet::EMPTY,
            timed: None,
            accesses: [Access::NONE; MAX_ACCESSES],
        }
    }

    /// The same operation, also touching `object`. An operation touches an object once, and at most
    /// [`MAX_ACCESSES`] objects.
    #[must_use]
    pub fn with(mut self, object: u32, mode: Mode, need: i64, value: i64) -> Operation {
        debug_assert!(self.accesses().iter().all(|a| a.object != object));
        self.accesses[self.count as usize] = Access { object, mode, need, value };
        self.count += 1;
        self
    }

    /// The accesses it makes.
    #[inline]
    pub fn accesses(&self) -> &[Access] {
        &self.accesses[..self.count as usize]
    }

    /// Its access to `object`, if any.
    #[inline]
    pub fn access_to(&self, object: u32) -> Option<&Access> {
        self.accesses().iter().find(|a| a.object == object)
    }

    /// The same operation where `object` has another value.
    #[must_use]
    pub(crate) fn at_value(mut self, object: u32, value: i64) -> Operation {
        for access in &mut self.accesses[..self.count as usize] {
            if access.object == object {
                access.value = value;
            }
        }
        self
    }

    /// The same operation with the two threads exchanged.
    #[must_use]
    pub(crate) fn swapped(mut self, a: ThreadId, b: ThreadId) -> Operation {
        self.wakes = self.wakes.swapped(a, b);
        self.awaits = self.awaits.swapped(a, b);
        self
    }

    /// Do both do the same, values included?
    pub(crate) fn same_effect(&self, other: &Operation) -> bool {
        self.same_shape(other)
            && self
                .accesses()
                .iter()
                .zip(other.accesses())
                .all(|(a, b)| a.need == b.need && a.writes() == b.writes())
    }

    /// Do both do the same thing to the same objects? (Values may differ.) A replayed schedule must
    /// meet the operations of the execution it repeats.
    pub fn same_shape(&self, other: &Operation) -> bool {
        self.kind == other.kind
            && self.count == other.count
            && self
                .accesses()
                .iter()
                .zip(other.accesses())
                .all(|(a, b)| a.object == b.object && a.mode == b.mode)
    }
}

/// Does the order of these two operations of threads `s` and `t` matter?
///
/// Operations of one thread always depend on each other. Of two threads they do when they touch one
/// object and one of them changes it (unless both add to it), or when one wakes or waits for the thread of the other.
///
/// Independent operations must commute, and neither may change what the other does, whether it is
/// enabled, its alternatives, or whether it writes. All of this holds when these are functions of
/// the values of the objects the operation accesses and of its thread's local state.
#[inline]
pub fn dependent(s: ThreadId, a: &Operation, t: ThreadId, b: &Operation) -> bool {
    if s == t {
        return true;
    }
    if a.wakes.contains(t) || b.wakes.contains(s) || a.awaits.contains(t) || b.awaits.contains(s) {
        return true;
    }
    a.accesses().iter().any(|x| b.accesses().iter().any(|y| x.object == y.object && x.conflicts(y)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cas(expected: i64, value: i64) -> Operation {
        Operation::new(Kind::CompareAndSwap).with(0, Mode::CompareAndSwap, expected, value)
    }

    #[test]
    fn failing_compare_and_swaps_are_reads() {
        assert!(!dependent(0, &cas(1, 0), 1, &cas(2, 0)));
        assert!(dependent(0, &cas(0, 0), 1, &cas(2, 0)));
        assert!(dependent(0, &cas(1, 0), 0, &cas(2, 0)), "same thread");
    }

    #[test]
    fn additions_depend_on_all_but_additions() {
        let with = |mode| Operation::new(Kind::Other).with(0, mode, 0, 3);
        let add = with(Mode::Add);
        assert!(!dependent(0, &add, 1, &with(Mode::Add)));
        assert!(dependent(0, &add, 1, &with(Mode::Read)));
        assert!(dependent(0, &with(Mode::Read), 1, &add));
        assert!(dependent(0, &add, 1, &with(Mode::Write)));
        assert!(!dependent(0, &with(Mode::Read), 1, &with(Mode::Read)));
    }

    #[test]
    fn waking_and_waiting_are_dependences() {
        let mut create = Operation::new(Kind::Create);
        create.wakes.insert(1);
        let other = Operation::new(Kind::Other);
        assert!(dependent(0, &create, 1, &other));
        assert!(!dependent(0, &create, 2, &other));
        let mut join = Operation::new(Kind::Join);
        join.awaits.insert(1);
        assert!(dependent(1, &other, 0, &join));
    }
}
