//! Plain accesses that race, under TSO (`--memory tso --allow-races`).
//!
//! On x86 a plain access is a move, as an atomic access of a weak order is, so its steps are those of atomic accesses (`messages`): a
//! read may see an older write than the last one, a write becomes visible to others later than what follows it in its
//! thread. But the program makes the access itself, after the hook that announces it. So
//!
//! - for a read, memory holds the value that is to be read until the access is over;
//! - what a write writes is found in memory when it is over. Then memory is put back to what it was, and the write becomes a step, with
//!   that value.
//!
//! An access is over when its thread calls this library again: compilers put a hook before every access, so between two calls there is one
//! access to memory that others use. No other thread runs in between, since threads change only inside of this
//! library. A copy of a structure has two hooks before its accesses; what it writes is then met in memory as a value that no
//! hook has announced, and refused by name (`messages`), as are accesses that are not one move (more than eight bytes, and odd
//! sizes).

use quotient_stateless::graph::Change;

use crate::exploration::messages::{self, is_weak, mask, write_value};
use crate::exploration::race::How;
use crate::exploration::world::{NOWHERE, World, fail, world};
use crate::instrumentation::atomics::read_value;
use crate::protocol::{FailureKind, Op, Stack, memory};

/// An access that the program makes now.
pub struct Ongoing {
    address: usize,
    size: usize,
    /// What memory holds when it is over, apart from what it writes.
    holds: u64,
    writes: bool,
    /// Where it is, for traces.
    stack: Option<Stack>,
}

/// Are plain accesses that race buffered?
pub fn is_buffered() -> bool {
    is_weak() && world().memory == memory::TSO
}

/// A plain access that races is announced.
pub fn announce(address: usize, size: usize, how: How) {
    if !matches!(size, 1 | 2 | 4 | 8) {
        fail(
            FailureKind::Refused,
            "plain accesses that race, of this many bytes at once, under TSO",
            address,
        );
    }
    let mut w = world();
    let stack = w.replays().then(|| w.stack_here());
    let found = read_value(address, size) as u64 & mask(size);
    if how.write {
        // A read of the same bytes may have been announced together with the write, and not be over yet.
        let holds = w.ongoing.as_ref().map_or(found, |read| read.holds);
        w.ongoing = Some(Ongoing { address, size, holds, writes: true, stack });
        return;
    }
    let value = messages::access(address, size, Change::None, None);
    let holds = read_value(address, size) as u64 & mask(size);
    if value != holds {
        write_value(address, size, value);
        world().ongoing = Some(Ongoing { address, size, holds, writes: false, stack });
    }
}

/// The running thread calls this library: what was announced before is over.
#[inline]
pub fn settle() {
    if world().ongoing.is_some() {
        end();
    }
}

#[cold]
fn end() {
    let mut w = world();
    let Some(Ongoing { address, size, holds, writes, stack }) = w.ongoing.take() else { return };
    let value = read_value(address, size) as u64 & mask(size);
    write_value(address, size, holds);
    if writes {
        let operands = w.me().operands;
        w.me().announced_at = stack;
        messages::access(address, size, Change::Store(value), None);
        w.me().announced_at = None;
        w.me().operands = operands;
    }
}

impl World {
    /// A thread was left. Whatever leads there ends its access first; if something does not, nothing is known of what was written.
    pub fn refuse_ongoing(&mut self) {
        if self.ongoing.take().is_some() && !self.failed && !self.abandoned {
            let text = "plain accesses that race right before something that TSO does not cover";
            self.record_failure(FailureKind::Refused, text, NOWHERE, NOWHERE);
        }
    }
}

/// What an access without memory order is called.
pub fn plain(op: Op) -> Op {
    if op == Op::Store { Op::Write } else { Op::Read }
}
