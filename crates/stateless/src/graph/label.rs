//! What a thread is about to do, as graphs see it, and what the exploration asks of a program.

use crate::execution::Execution;
use crate::operation::Mode;
use crate::threads::ThreadId;

/// A memory model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum MemoryModel {
    /// One order of all accesses.
    #[default]
    SequentialConsistency,
    /// Store buffers, as x86 has them.
    Tso,
    /// The memory orders of C and C++.
    Rc11,
}

impl MemoryModel {
    /// Each with its word in options, and what it means.
    pub const NAMES: &[(MemoryModel, &'static str, &'static str)] = &[
        (MemoryModel::SequentialConsistency, "sc", "One order of all accesses, whatever orders they have"),
        (MemoryModel::Tso, "tso", "Store buffers, as x86 has them"),
        (MemoryModel::Rc11, "rc11", "The memory orders of C and C++, without load buffering"),
    ];
}

/// A memory order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Order {
    /// Orders nothing.
    Relaxed,
    /// What the write released comes before what follows.
    Acquire,
    /// What precedes comes before whoever acquires this.
    Release,
    /// Both.
    AcquireRelease,
    /// Both, and in one order with all others of this kind.
    SequentiallyConsistent,
}

impl Order {
    /// Does a read or fence of this order acquire?
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcquireRelease | Order::SequentiallyConsistent)
    }

    /// Does a write or fence of this order release?
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcquireRelease | Order::SequentiallyConsistent)
    }

    /// Is it sequentially consistent?
    pub fn is_sc(self) -> bool {
        self == Order::SequentiallyConsistent
    }
}

/// A location: memory or an object. Numbers mean the same in every execution that begins alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Location(pub u64);

/// What an access does to the value that it finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Nothing: a load.
    None,
    /// A store, which does not look at it.
    Store(u64),
    /// An exchange.
    Exchange(u64),
    /// Addition.
    Add(u64),
    /// Subtraction.
    Subtract(u64),
    /// Bitwise and.
    And(u64),
    /// Bitwise or.
    Or(u64),
    /// Bitwise exclusive or.
    Xor(u64),
    /// The complement of bitwise and.
    Nand(u64),
    /// Compare and swap.
    CompareAndSwap {
        /// The value at which it succeeds.
        expected: u64,
        /// What it writes then.
        new: u64,
    },
}

impl Change {
    /// The value that an access of `bytes` bytes writes where it finds `old`; none: it writes nothing.
    pub fn apply(self, old: u64, bytes: u8) -> Option<u64> {
        let mask = if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 };
        let new = match self {
            Change::None => return None,
            Change::Store(value) | Change::Exchange(value) => value,
            Change::Add(value) => old.wrapping_add(value),
            Change::Subtract(value) => old.wrapping_sub(value),
            Change::And(value) => old & value,
            Change::Or(value) => old | value,
            Change::Xor(value) => old ^ value,
            Change::Nand(value) => !(old & value),
            Change::CompareAndSwap { expected, new } => {
                if old & mask != expected & mask {
                    return None;
                }
                new
            }
        };
        Some(new & mask)
    }
}

/// An access to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Where.
    pub location: Location,
    /// How many bytes.
    pub bytes: u8,
    /// What memory holds: the initial value if nobody has accessed the location yet.
    pub initial: u64,
    /// What it does.
    pub change: Change,
    /// Its order.
    pub order: Order,
    /// The order of a compare-and-swap that fails.
    pub failure: Order,
}

/// What a thread is about to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Label {
    /// An access to memory.
    Access(Access),
    /// A fence.
    Fence(Order),
    /// An operation on an object that is not memory.
    Object {
        /// Which one.
        location: Location,
        /// How, as for [`crate::Operation`].
        mode: Mode,
        /// The bound of `Acquire` and `Try`.
        need: i64,
        /// The object's value now.
        value: i64,
        /// What it acquires and releases if it succeeds. If it does not, it orders nothing.
        order: Order,
    },
    /// Something that accesses no object: creation, join, a choice. What it waits for, whom it wakes and how many ways there
    /// are, is told by [`Execution::pending`].
    Local,
    /// Something that graphs do not cover, with its name.
    Unsupported(&'static str),
}

impl Label {
    /// The same with another value of the object.
    #[must_use]
    pub fn with_value(mut self, new: i64) -> Label {
        if let Label::Object { value, .. } = &mut self {
            *value = new;
        }
        self
    }
}

/// A program whose executions are graphs.
///
/// Steps are those of [`Execution`]. The alternative of a step that accesses memory says what it reads or where it writes: how
/// many of the writes to the location that were executed so far are *after* the one that is read, or after the one that
/// is written, in modification order. So 0 is what happens under sequential consistency. A read-modify-write comes right after what
/// it reads.
pub trait MemoryProgram: Execution {
    /// What `thread` is about to do, whether it can be done or not. `None` if it has ended, was not created, or waits
    /// to be woken.
    fn label(&self, thread: ThreadId) -> Option<Label>;

    /// The value of an object now.
    fn object_value(&self, location: Location) -> i64;

    /// Did something end the whole execution?
    fn ended(&self) -> bool;

    /// Is what `thread` does next something that it waited for to be woken? Only then it comes after who woke it last.
    fn resumes(&self, _thread: ThreadId) -> bool {
        true
    }
}
