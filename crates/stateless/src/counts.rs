//! Counts: additions that commute although somebody looks at the sum.
//!
//! A thread that takes a reference adds one and does not look at the result; one that gives it back subtracts one and asks whether
//! it was the last. Such operations are [`Mode::Add`](crate::operation::Mode::Add): they say what they add, and which few values
//! their thread can tell from all others (`old == 1`); of these they are independent, and dependent on everything else. That is not always true: of
//! two that give back the last two references, the later one learns it. So it is *relied on*, and given up when it turns out to be wrong.
//!
//! # What is looked at
//!
//! After every run, for every addition `e` in it whose thread looks at the value: which values could it have met in the runs that
//! are equivalent to this one? These are the orders of the events that keep happens-before, and additions to one object are
//! not ordered by being that. Between two writes of the object the value that `e` meets is that at the first addition, plus what the
//! additions that happen before `e` add, plus what some of those add that are not ordered with `e`: of each thread the first few, none
//! or all of them. So it lies between two bounds. If they are equal, or if no value that `e` is compared with lies between them, `e` learns the same in all
//! equivalent runs: it is *settled*. If some `e` is not, the exploration ends with
//! [`ExplorationError::CountMatters`](crate::ExplorationError::CountMatters) and is to be made again with this object accessed by writes.
//!
//! # Why nothing is lost
//!
//! Consider another program `P'`, in which `e` meets by definition the value that results from what happens before `e` alone. In it, additions do
//! commute: what happens before an event is the same in equivalent runs, and so is what everybody learns. So the exploration of `P'` with this
//! independence is complete: it makes a run of every class of complete runs. Now let an exploration of the program itself, `P`, end without an
//! unsettled addition.
//!
//! 1. The runs it has made are runs of `P'`. In each, `e` was settled, so it has learned the same as in the equivalent run in which everything that is not before it
//!    comes later; that is what it learns in `P'`. So what was explored are the runs of `P'`, all of them up to equivalence.
//! 2. Every run of `P` is one of `P'`. If not, take a shortest beginning of a run of `P` that is not one: it ends with an addition `e`
//!    which learns one thing in `P` and another in `P'`. Let it learn there what it learns in `P'`, and go on in `P'` to the end. A run equivalent to that one was made, and `e` is settled in it:
//!    it learns the same in all equivalent orders, among them the one that begins with our beginning, whose values are those of `P`. So `e` learns the same in both.
//!
//! Hence all runs of `P` were explored, up to equivalence; and equivalent runs end alike, since in the end every object has got the same sums. The
//! argument does not ask which values the additions return beyond what is compared; who uses them in another way must not announce them as additions.
//!
//! What orders threads in the program's own sense (who may see whose plain writes) must not come from additions to such an object: in equivalent
//! runs they come in other orders.

use crate::happens_before::{Event, HappensBefore};
use crate::operation::{Access, Class};
use crate::threads::{MAX_THREADS, ThreadId};

/// Values that a thread may tell from all others: those below this.
pub const WATCHED: i64 = 4;

/// What an addition has for its [`need`](crate::operation::Access::need): what it adds, and the values its thread is told of, as bits.
pub fn need(added: i64, watched: u8) -> i64 {
    added << WATCHED | i64::from(watched) & ((1 << WATCHED) - 1)
}

fn added(access: &Access) -> i64 {
    access.need >> WATCHED
}

/// Is any value between these, both included, one that the thread of this addition is told of?
fn tells(access: &Access, least: i64, greatest: i64) -> bool {
    (0..WATCHED).any(|value| access.need >> value & 1 != 0 && (least..=greatest).contains(&value))
}

/// An object to which somebody adds who, in a run equivalent to this one, would have learned something else.
pub(crate) fn unsettled(run: &[Event], happens_before: &HappensBefore) -> Option<u32> {
    if !happens_before.has_added() {
        return None;
    }
    let looks = |access: &&Access| access.class() == Class::Add && tells(access, 0, WATCHED);
    run.iter().enumerate().find_map(|(k, event)| {
        let access = event.operation.accesses().iter().find(looks)?;
        let found = bounds(run, happens_before, k, access.object);
        let settled = found.is_some_and(|(least, greatest)| {
            least == greatest || least >= 0 && !tells(access, least, greatest)
        });
        (!settled).then_some(access.object)
    })
}

/// The values that addition number `k` can meet in `object`, if they are no larger than numbers can be.
fn bounds(run: &[Event], happens_before: &HappensBefore, k: usize, object: u32) -> Option<(i64, i64)> {
    let of_object = |event: &Event| event.operation.access_to(object).copied();
    let writes = |event: &Event| of_object(event).is_some_and(|a| a.class() == Class::Write);
    let begin = run[..k].iter().rposition(writes).map_or(0, |write| write + 1);
    let end = run[k..].iter().position(writes).map_or(run.len(), |write| k + write);
    let (mut first, mut before, mut now) = (0i64, 0i64, None);
    // Of each thread: the sum of what it adds without being ordered, the least and the greatest of its beginnings.
    let mut beside = [(0i64, 0i64, 0i64); MAX_THREADS];
    for (j, event) in run[begin..end].iter().enumerate().map(|(j, event)| (begin + j, event)) {
        let Some(access) = of_object(event).filter(|a| a.class() == Class::Add) else { continue };
        // A value that is not the sum so far: it was changed in a way that nobody announces, such as by a plain write.
        let met = *now.get_or_insert_with(|| {
            first = access.value;
            first
        });
        if access.value != met {
            return None;
        }
        now = Some(met.checked_add(added(&access))?);
        let ordered = |i: usize, thread: ThreadId, k: usize| happens_before.ordered(i, thread, k);
        if j < k && ordered(j, event.thread, k) {
            before = before.checked_add(added(&access))?;
        } else if j < k || j > k && !ordered(k, run[k].thread, j) {
            let (sum, least, greatest) = &mut beside[event.thread as usize];
            *sum = sum.checked_add(added(&access))?;
            (*least, *greatest) = ((*least).min(*sum), (*greatest).max(*sum));
        }
    }
    let alone = first.checked_add(before)?;
    let least = beside.iter().try_fold(alone, |sum, (_, least, _)| sum.checked_add(*least))?;
    let greatest = beside.iter().try_fold(alone, |sum, (.., greatest)| sum.checked_add(*greatest))?;
    (greatest <= i64::from(i32::MAX)).then_some((least, greatest))
}
