//! Events: what was done, and the clocks of what comes before.

use std::cell::Cell;

use crate::graph::label::{Access, Location, Order};
use crate::threads::{ThreadId, ThreadSet};

/// Names an event: the same in every graph that contains it, since threads only ever lose their ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct EventId {
    /// Whose.
    pub thread: ThreadId,
    /// Its number in program order.
    pub index: u32,
}

/// The write that gave a location its first value, before all threads.
pub const INITIAL: EventId = EventId { thread: ThreadId::MAX, index: 0 };

/// What kind of event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// A read, or the reading half of a read-modify-write.
    Read,
    /// A write, or the writing half of a read-modify-write.
    Write,
    /// A fence.
    Fence,
    /// Creation, join, a choice.
    Local,
}

/// An event. Read-modify-writes are two, one right after the other; they are added and executed together, except that the
/// reading half can be revisited, and then the writing half is added again.
#[derive(Clone, Debug)]
pub struct Event {
    /// When it was added, among the events of the graph. A revisited read keeps its number.
    pub stamp: u32,
    /// What it is.
    pub part: Part,
    /// Where; meaningless for fences and local events.
    pub location: Location,
    /// Its memory order; for a compare-and-swap, that of its success or failure.
    pub order: Order,
    /// Half of a read-modify-write that succeeds?
    pub exclusive: bool,
    /// Made by a locked instruction (which is also a fence under TSO)?
    pub locked: bool,
    /// A read that waits for another value: the thread does not go on.
    pub blocked: bool,
    /// Of an object that is not memory?
    pub object: bool,
    /// For reads, what they read from.
    pub from: EventId,
    /// For reads, the access that they belong to.
    pub access: Option<Access>,
    /// The value written, once it is known.
    pub value: Cell<u64>,
    /// Which way it went, for choices.
    pub alternative: u16,
    /// Threads that it lets go on.
    pub wakes: ThreadSet,
    /// Events of other threads that it waited for: who let it go on, the ends of threads that it joined.
    pub after: Vec<EventId>,
    /// Of the first event of a thread: the threads with smaller numbers that it can be exchanged with.
    pub(crate) mates: ThreadSet,
    /// Five clocks, one after the other.
    pub(crate) clocks: Box<[u32]>,
}

/// The clocks of an event. A clock has for each thread how many of its events (from the first one on) are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Which {
    /// Program order and reads-from, with what threads wait for and what their mates do first; the event included.
    Prefix,
    /// Happens-before; the event included.
    HappensBefore,
    /// What reads have seen, and an acquire fence will acquire.
    Acquired,
    /// What the last release fence has released.
    Released,
    /// For writes: what whoever acquires them gets.
    Message,
}

pub(crate) const CLOCKS: usize = 5;

impl Event {
    pub(crate) fn clock(&self, which: Which) -> &[u32] {
        let n = self.clocks.len() / CLOCKS;
        &self.clocks[which as usize * n..(which as usize + 1) * n]
    }

    /// Is `other` before this event by program order and reads-from, or this event itself?
    pub fn depends_on(&self, other: EventId) -> bool {
        covers(self.clock(Which::Prefix), other)
    }

    /// Does `other` happen before this event, or is it this event itself?
    pub fn happens_after(&self, other: EventId) -> bool {
        covers(self.clock(Which::HappensBefore), other)
    }

    /// Is it a read?
    pub fn is_read(&self) -> bool {
        self.part == Part::Read
    }

    /// Is it a write?
    pub fn is_write(&self) -> bool {
        self.part == Part::Write
    }
}

pub(crate) fn covers(clock: &[u32], event: EventId) -> bool {
    event == INITIAL || clock[event.thread as usize] > event.index
}

pub(crate) fn join(into: &mut [u32], from: &[u32]) {
    for (a, b) in into.iter_mut().zip(from) {
        *a = (*a).max(*b);
    }
}
