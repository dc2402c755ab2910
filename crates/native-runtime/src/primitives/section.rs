//! Atomic sections: `__VERIFIER_atomic_begin` to `__VERIFIER_atomic_end`, and functions named `__VERIFIER_atomic_*`.
//!
//! A section is one step. Its beginning is the visible operation; everything up to its end, atomics and locks included, is done
//! in one go, so nothing of another thread comes in between. What a section will touch is not known beforehand, so it
//! depends on every operation that touches an object: it writes an object of its own, which all of these read once there
//! are sections.
//!
//! Choices inside of a section (`__VERIFIER_nondet_int`) are alternatives of its step: the number of the alternative, in mixed
//! radix, says how each of them goes. How many there are is learnt, per place where sections begin; if there are more
//! than was known the exploration starts again, and a number that is too large for what the section did says nothing.
//!
//! A thread cannot wait inside of a section, nor wake, create or join others: that is refused by name.
//!
//! An assumption that does not hold inside of a section takes back the whole section, so the execution says nothing: it is
//! infeasible, and what goes wrong in it afterwards is not reported. The other threads run on all the same. Their
//! operations show the exploration what could have come before the section, and none of them may be hidden by a
//! step that does not depend on it.
//!
//! For data races a section is like a lock: sections are ordered. An access outside of all sections is not ordered with one
//! inside.

use quotient_stateless::Kind;

use crate::exploration::world::{Pending, Status, World, fail, visible, world};
use crate::memory::table::Table;
use crate::protocol::{FailureKind, Op};

/// Stands for the object of atomic sections: no address of the program.
const SECTION: usize = 8;
/// The most ways in which a section can go.
const MOST_WAYS: u32 = 1 << 14;

/// The section that a thread is in.
#[derive(Clone, Copy, Default)]
pub struct Section {
    /// How many sections within each other.
    depth: u32,
    /// Is it a step? Not as long as there is one thread.
    is_step: bool,
    /// Where it begins.
    place: usize,
    /// What is left of the number of the alternative.
    way: u32,
    /// The ways that there are, as far as it has come.
    ways: u32,
}

/// What is known of sections, in all executions so far.
pub struct Sections {
    /// Have there been any?
    pub used: bool,
    /// Their object's number.
    pub object: u32,
    /// In how many ways sections that begin at a place can go.
    ways: Table<u32>,
}

impl Sections {
    /// None yet.
    pub fn new() -> Sections {
        Sections { used: false, object: 0, ways: Table::new() }
    }
}

/// A section begins at `place`.
pub fn begin(place: usize) {
    let mut w = world();
    let section = &mut w.me().section;
    if section.depth > 0 {
        section.depth += 1;
        return;
    }
    if !w.threaded {
        w.me().section = Section { depth: 1, ..Section::default() };
        return;
    }
    let number = w.objects.number(SECTION);
    if !w.sections.used {
        (w.sections.used, w.sections.object) = (true, number);
        if !w.replays() {
            // Operations made so far did not depend on it.
            w.grown = true;
            w.abandon();
        }
    }
    let ways = (*w.sections.ways.entry(place)).max(1);
    let pending = Pending { choices: ways as u16, ..Pending::on(Op::AtomicBegin, number, SECTION) };
    let way = u32::from(visible(pending));
    let mut w = world();
    w.me().section = Section { depth: 1, is_step: true, place, way, ways: 1 };
    w.take_mutex(number);
}

/// A section ends.
pub fn end() {
    let mut w = world();
    let section = &mut w.me().section;
    if section.depth == 0 {
        fail(FailureKind::Misuse, "end of an atomic section that was not begun", 0);
    }
    section.depth -= 1;
    if section.depth == 0 {
        let Section { is_step, way, .. } = std::mem::take(section);
        if way > 0 {
            // There are not that many ways.
            stop();
        }
        if is_step {
            let number = w.sections.object;
            w.give_mutex(number);
        }
    }
}

/// The thread ends or leaves the program: its section with it.
pub fn end_all() {
    if world().me().section.depth > 0 {
        world().me().section.depth = 1;
        end();
    }
}

/// Is the running thread in the middle of such a step?
#[inline]
pub fn is_inside(w: &mut World) -> bool {
    w.me().section.is_step
}

/// The running thread stays here for good, and the execution says nothing.
pub fn stop() -> ! {
    world().stopped = true;
    world().me().status = Status::Assumed;
    loop {
        world().leave();
    }
}

/// Does an operation in the middle of a section, at once.
pub fn inside(pending: Pending) -> u16 {
    let mut w = world();
    let me = w.current;
    let thread = w.me();
    (thread.pending, thread.status, thread.quiet) = (pending, Status::Ready, 0);
    let name = pending.op.text();
    let Some(operation) = w.operation(me, 0) else {
        fail(FailureKind::Refused, &format!("{name}: inside of an atomic section"), pending.address)
    };
    let waits = matches!(operation.kind, Kind::ConditionWait | Kind::BarrierArrive);
    if waits || !operation.wakes.is_empty() || !operation.awaits.is_empty() {
        fail(FailureKind::Refused, &format!("{name}: inside of an atomic section"), pending.address);
    }
    if !w.is_enabled(me) {
        fail(
            FailureKind::Refused,
            &format!("{name}: a thread waits inside of an atomic section"),
            pending.address,
        );
    }
    let alternative = choose(u32::from(operation.alternatives));
    w.me().operands = [0; 3];
    w.alternative = alternative;
    alternative
}

/// One of so many ways to go on.
fn choose(ways: u32) -> u16 {
    let mut w = world();
    let replays = w.replays();
    let section = &mut w.me().section;
    section.ways = section.ways.saturating_mul(ways);
    let (place, total, way) = (section.place, section.ways, section.way);
    section.way /= ways;
    let known = w.sections.ways.entry(place);
    if total > (*known).max(1) && !replays {
        *known = total;
        if total > MOST_WAYS {
            fail(FailureKind::Refused, "an atomic section with too many choices", 0);
        }
        w.grown = true;
        w.abandon();
    }
    (way % ways) as u16
}

/// A wait that can end by itself is about to begin.
pub fn before_timed_wait() {
    if world().sections.used {
        fail(FailureKind::Refused, "waits with timeouts in a program with atomic sections", 0);
    }
}

impl World {
    /// Does the code at this address belong to a function that is a section, and to which?
    #[inline]
    pub fn section_of(&self, address: usize) -> Option<usize> {
        let count = self.shared.sections_length as usize;
        if count == 0 {
            return None;
        }
        let address = (address as u64).wrapping_sub(self.shared.program_base);
        let ranges = &self.shared.sections[..count.min(self.shared.sections.len())];
        ranges.iter().position(|(start, size)| address.wrapping_sub(*start) < *size)
    }
}
