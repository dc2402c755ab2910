//! Reference counts: atomic additions that are explored in one order only.
//!
//! `atomic_fetch_add(&r, 1)` whose result nobody uses, and `atomic_fetch_sub(&r, 1) == 1`, commute for as long as nobody learns from them who came first:
//! `quotient_stateless::counts` says what that means, sees to it after every execution, and argues that nothing is lost. What becomes of a result is
//! found in the program's code (`native/residual/count.rs`); where a function returns it, in its caller's.
//!
//! - It is relied on for all cells that are added to in this way, until it turns out that the order matters: then the exploration starts again, with this cell accessed
//!   by writes.
//! - A compare-and-swap of such a cell counts as a write even where it fails: it is ordered with all additions.
//! - Only under sequential consistency and in optimal mode, and where all accesses to the cell have one extent.
//! - Additions that come in one order only must not order what their threads do besides: the program's happens-before is that of
//!   all equivalent executions, which agree on what comes before an addition without its cell. So an addition does not acquire what earlier ones have released.
//!   Other reads of the cell do, since they are ordered with all additions. If anything goes wrong in an execution in which
//!   that made a difference and which could be due to it (a data race, say), nothing is relied on any more, and the exploration starts again.

use quotient_stateless::counts::{WATCHED, need};
use quotient_stateless::graph::Change;

use crate::exploration::world::{Pending, World};
use crate::protocol::FailureKind;

/// Functions between an addition and who looks at its result.
const DEEPEST: usize = 4;

/// Cells whose order has turned out to matter, each of which has cost a new start, before nothing is relied on any more.
const MOST_ORDERED: usize = 32;

/// What is known of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Cell {
    /// Nobody counts with it.
    #[default]
    Other,
    /// The same, but it was compared and swapped: this must count as a write from now on, if somebody does.
    Exchanged,
    /// Additions to it commute, as far as is known.
    Counted,
    /// Their order matters.
    Ordered,
}

/// Which additions are counts.
#[derive(Default)]
pub struct Counts {
    /// Nothing is relied on any more.
    off: bool,
    /// Per cell.
    cells: Vec<Cell>,
    /// Has an addition of this execution not acquired what it would have?
    skipped: bool,
}

impl Counts {
    /// A new execution begins.
    pub fn restart(&mut self) {
        self.skipped = false;
    }

    /// Do additions to this cell commute, as far as is known?
    fn has(&self, cell: u32) -> bool {
        !self.off && self.cells.get(cell as usize) == Some(&Cell::Counted)
    }

    /// Somebody counts with this cell. Says whether that changes what an operation on it before was taken for.
    pub fn meet(&mut self, cell: u32) -> bool {
        let known = self.entry(cell);
        match *known {
            Cell::Other | Cell::Exchanged => std::mem::replace(known, Cell::Counted) == Cell::Exchanged,
            Cell::Counted | Cell::Ordered => false,
        }
    }

    /// Somebody compares and swaps this cell.
    pub fn exchange(&mut self, cell: u32) {
        let known = self.entry(cell);
        if *known == Cell::Other {
            *known = Cell::Exchanged;
        }
    }

    fn entry(&mut self, cell: u32) -> &mut Cell {
        if self.cells.len() <= cell as usize {
            self.cells.resize(cell as usize + 1, Cell::Other);
        }
        &mut self.cells[cell as usize]
    }

    /// The order of additions to this cell matters: everything starts again.
    pub fn set_ordered(&mut self, cell: u32) {
        *self.entry(cell) = Cell::Ordered;
        self.off |= self.cells.iter().filter(|cell| **cell == Cell::Ordered).count() > MOST_ORDERED;
    }
}

/// What is added, if this is an addition.
fn added(change: Change, size: usize) -> Option<i64> {
    let signed = |value: u64| match size {
        4 => i64::from(value as u32 as i32),
        _ => value as i64,
    };
    let value = match change {
        Change::Add(value) => signed(value),
        Change::Subtract(value) => signed(value).checked_neg()?,
        _ => return None,
    };
    let small = i64::from(i16::MIN)..=i64::from(i16::MAX);
    (value != 0 && (size == 4 || size == 8) && small.contains(&value)).then_some(value)
}

impl World {
    /// What an update of an atomic variable announces, by a hook with this frame: what `counts` needs to know; 0: it is not a count.
    pub fn count(&mut self, change: Change, size: usize, frame: usize) -> i64 {
        if !self.threaded
            || self.counts.off
            || self.memory != 0
            || self.shared.algorithm != 0
            || self.replays()
        {
            return 0;
        }
        match added(change, size) {
            Some(added) => self.watched_by(frame).map_or(0, |watched| need(added, watched)),
            None => 0,
        }
    }

    /// Which values the result of the function with this frame is compared with, if that is all.
    fn watched_by(&mut self, mut frame: usize) -> Option<u8> {
        let stack = self.me().stack.clone();
        let (mut watched, mut more) = (0, 0);
        for _ in 0..DEEPEST {
            if frame < stack.start || frame + 16 > stack.end || !frame.is_multiple_of(8) {
                return None;
            }
            // SAFETY: within the thread's stack: the frame pointer of the caller, and where it goes on.
            let (callers, place) = unsafe { (*(frame as *const usize), *((frame + 8) as *const usize)) };
            let (values, returned) = self.count_use(place, more)?;
            watched |= values & ((1 << WATCHED) - 1);
            match returned {
                Some(added) if callers > frame => (frame, more) = (callers, added),
                Some(_) => return None,
                None => return Some(watched),
            }
        }
        None
    }

    /// Is this update, in this state of knowledge, one that commutes with others of its kind?
    pub fn is_count(&self, pending: &Pending) -> bool {
        pending.need != 0 && self.is_counted(pending.object)
    }

    /// Do additions to this cell commute?
    pub fn is_counted(&self, cell: u32) -> bool {
        self.counts.has(cell) && self.objects.is_uniform(cell)
    }

    /// The running thread has made an update that was announced like this; says whether it acquires nothing.
    pub fn is_count_made(&mut self, address: usize, size: usize, needed: i64) -> bool {
        if needed == 0 {
            return false;
        }
        let (cell, _) = self.objects.cell(address, size);
        if !self.is_counted(cell) {
            return false;
        }
        let clock = self.objects.state(cell).clock;
        let current = self.current;
        let known = &self.me().clock;
        self.counts.skipped |= clock
            .iter()
            .zip(known)
            .enumerate()
            .any(|(t, (released, known))| t != current && released > known);
        true
    }

    /// Could this failure be due to additions that did not acquire anything? Then nothing is relied on any more, and everything starts again.
    pub fn distrust_counts(&mut self, kind: FailureKind) -> bool {
        use FailureKind::{Assertion, Deadlock, Error, Livelock, None, Refused};
        if !self.counts.skipped || matches!(kind, Assertion | Deadlock | Error | Livelock | None | Refused) {
            return false;
        }
        self.counts.off = true;
        (self.grown, self.abandoned) = (true, true);
        true
    }
}
