//! The `System` seam: what can happen next?
//!
//! A state is a slice of 64-bit words that only its [`System`] can read. Programs compiled by the machine implement
//! [`System`] directly; a user's own Rust type usually implements the friendlier [`crate::Model`] and is wrapped in
//! [`crate::Typed`].

use crate::{Incomplete, Successors, Violation};

/// Which threads' moves are asked for. The moves of all threads are those of the first one, then those of the second one,
/// and so on, each as asked for alone; so a move within a smaller scope can be found again among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every thread's.
    All,
    /// Only this thread's (a reduction has shown that this suffices).
    Thread(u32),
    /// Only those of some threads: one bit each, the first thread's the lowest.
    Threads(u64),
    /// Those of all threads but some, given in the same way.
    Except(u64),
}

impl Scope {
    /// Does it include a thread?
    #[inline]
    pub fn includes(self, thread: u32) -> bool {
        match self {
            Scope::All => true,
            Scope::Thread(only) => thread == only,
            Scope::Threads(bits) => thread < 64 && bits >> thread & 1 == 1,
            Scope::Except(bits) => thread >= 64 || bits >> thread & 1 == 0,
        }
    }
}

/// What a system can do from a state. Methods take `&mut self` so that a system can keep scratch
/// memory; a system must still be a function: the same state always gives the same successors in
/// the same order.
pub trait System {
    /// Adds the initial states.
    fn initial(&mut self, out: &mut Successors) -> Result<(), Exhausted>;

    /// Adds the successors of `state`, in an order that depends on `state` and `scope` alone. A step
    /// that goes wrong is added with its violation; a state that is wrong in itself adds a violation
    /// without a successor.
    fn successors(&mut self, state: &[u64], scope: Scope, out: &mut Successors) -> Result<(), Exhausted>;

    /// May the system stop here? Asked only of states without successors; `false` is a deadlock.
    fn is_valid_end(&mut self, state: &[u64]) -> bool;

    /// What a violation that this system added to [`Successors`] means.
    fn violation(&self, code: ViolationCode) -> Violation;
}

/// The system cannot represent what comes next (for example, too many threads). The search ends
/// undecided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// What ran out.
    pub what: Incomplete,
}

/// A system's own number for one thing that can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct ViolationCode(pub std::num::NonZeroU32);

impl ViolationCode {
    /// The code with this index, counted from 0.
    pub fn from_index(index: usize) -> ViolationCode {
        // The sum is at least 1; more than four billion fault sites do not fit in memory.
        ViolationCode(std::num::NonZeroU32::new(index as u32 + 1).expect("index + 1 is not 0"))
    }

    /// The index, counted from 0.
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}
