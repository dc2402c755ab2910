//! Barriers: who has arrived waits until all have.
//!
//! In which order threads arrive does not matter, if those that ever do (which is learnt) are no more than the barrier waits for: nobody goes
//! on before all of them are there, whoever comes last. So arrivals only *read* the barrier, which makes them independent,
//! and one more step lets all go: that of the thread with the lowest number, when all are there. It happens after
//! all arrivals, and what they do next happens after it. Which of them is told to be the "serial thread" is a choice of that
//! step, if somebody looks at the result of the call, and else of no importance.
//!
//! In execution graphs (`quotient_stateless::graph`) such an arrival accesses nothing, as the creation of a thread does, and the step that
//! lets all go waits for the arrivals, as a join does. So nothing orders an arrival and a destruction that are not ordered by
//! happens-before; that is a misuse in any of their orders, and found in whichever is executed.
//!
//! Otherwise, and for threads that were started alike, which must not differ in what they do, all orders are explored, and the last to arrive lets the
//! others go and is the serial thread. POSIX allows any of them, and no choice is missing: a thread that has arrived does
//! nothing until the last one is there, and nobody else can tell that it has arrived, so any of those who are let go together
//! could as well have been the last, with everything else as it was. That order is explored, too.

use crate::exploration::clock::join;
use crate::exploration::object::Object;
use crate::exploration::world::{Pending, Runtime, Status, World, active, announce, world};
use crate::pass_on;
use crate::primitives::lifecycle::{Primitive, before_initialisation, destroy, initialised, operate};
use crate::protocol::{Op, THREADS};
use crate::symmetry::question::Pairing;
use quotient_stateless::ThreadSet;

const SERIAL_THREAD: i32 = -1;

/// `pthread_barrier_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_init(barrier: usize, attributes: usize, count: u32) -> i32 {
    before_initialisation(Primitive::Barrier, barrier);
    let result = pass_on!("pthread_barrier_init", fn(usize, usize, u32) -> i32; barrier, attributes, count);
    if result == 0
        && let Some(number) = initialised(Primitive::Barrier, barrier)
    {
        world().objects.state(number).count = count;
    }
    result
}

/// `pthread_barrier_destroy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_destroy(barrier: usize) -> i32 {
    if !active() {
        return pass_on!("pthread_barrier_destroy", fn(usize) -> i32; barrier);
    }
    destroy(Primitive::Barrier, barrier);
    0
}

/// `pthread_barrier_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_wait(barrier: usize) -> i32 {
    if !active() {
        return pass_on!("pthread_barrier_wait", fn(usize) -> i32; barrier);
    }
    let number = world().primitive(Primitive::Barrier, barrier, "use");
    world().note_arrival(number);
    operate(Primitive::Barrier, Pending::on(Op::Barrier, number, barrier), "use");
    let mut w = world();
    let me = w.current;
    w.release_object(number);
    if w.arrivals_commute(number) {
        return wait_for_all(number, barrier);
    }
    let state = w.objects.state(number);
    if state.value + 1 < i64::from(state.count) {
        state.value += 1;
        state.set |= 1 << me;
        let mine = w.me();
        mine.status = Status::AtBarrier;
        mine.pending = Pending::on(Op::BarrierLeave, number, barrier);
        w.leave();
        return 0;
    }
    let_go(number);
    SERIAL_THREAD
}

/// Everybody who is at the barrier may go on, and has seen what all of them did before.
fn let_go(number: u32) {
    let mut w = world();
    let me = w.current;
    let state = w.objects.state(number);
    let (released, clock) = (state.set, state.clock);
    (state.value, state.set) = (0, 0);
    w.acquire(&clock);
    for thread in (0..THREADS).filter(|t| *t != me && released >> t & 1 != 0) {
        let thread = &mut w.threads[thread];
        thread.status = Status::Released;
        join(&mut thread.clock, &clock);
    }
}

/// The running thread has arrived at a barrier whose threads are known: the first of them lets all go when they are there.
fn wait_for_all(number: u32, barrier: usize) -> i32 {
    let mut w = world();
    let me = w.current;
    let Meeting { threads, result_used, .. } = w.meetings[number as usize];
    let state = w.objects.state(number);
    state.value += 1;
    state.set |= 1 << me;
    w.me().serial = false;
    if me == threads.trailing_zeros() as usize {
        let choices = if result_used { threads.count_ones() as u16 } else { 1 };
        let others = threads & !(1 << me);
        let chosen =
            announce(Pending { set: others, choices, ..Pending::on(Op::BarrierLeave, number, barrier) });
        let_go(number);
        let serial = ThreadSet(threads).iter().nth(usize::from(chosen)).map_or(me, usize::from);
        world().threads[serial].serial = true;
    } else {
        let mine = w.me();
        mine.status = Status::AtBarrier;
        mine.pending = Pending::on(Op::BarrierLeave, number, barrier);
        w.leave();
    }
    if std::mem::take(&mut world().me().serial) { SERIAL_THREAD } else { 0 }
}

/// Who meets at a barrier, in all executions so far.
#[derive(Clone, Copy, Default)]
pub struct Meeting {
    /// The threads that arrive there.
    threads: u64,
    /// Does one of them look at the result?
    result_used: bool,
    /// How many it waits for.
    count: u32,
}

/// Tells who meets at the barrier of an address: as memory that races, where no memory is.
const MEETING: usize = 1 << 61;

impl Runtime {
    /// The running thread is about to arrive.
    fn note_arrival(mut self, number: u32) {
        if self.replays() {
            return;
        }
        let place = self.place_in_program();
        let is_used = |p: &Pairing| p.registers.iter().any(|live| live & 1 != 0);
        let result_used = self.pairing(place, place).is_none_or(is_used);
        let count = self.objects.state(number).count;
        let me = 1 << self.current;
        self.note_meeting(number, Meeting { threads: me, result_used, count });
    }
}

impl World {
    fn note_meeting(&mut self, number: u32, met: Meeting) {
        let number = number as usize;
        if self.meetings.len() <= number {
            self.meetings.resize(number + 1, Meeting::default());
        }
        let known = &mut self.meetings[number];
        let all = Meeting {
            threads: known.threads | met.threads,
            result_used: known.result_used || met.result_used,
            count: met.count,
        };
        self.grown |= (all.threads, all.result_used) != (known.threads, known.result_used);
        *known = all;
    }

    /// Does it not matter in which order threads arrive at this barrier? Not if those that ever do are no more than it waits
    /// for: then each of them is there whenever it lets anybody go.
    pub fn arrivals_commute(&self, number: u32) -> bool {
        self.meetings.get(number as usize).is_some_and(|meeting| {
            let count = if self.replays() { meeting.count } else { self.objects.count(number) };
            self.is_complete(meeting, count)
        })
    }

    /// In a graph: has somebody arrived at the barrier of whom the running thread does not know by happens-before?
    pub fn arrives_unordered(&self, number: u32) -> bool {
        let known = &self.threads[self.current].clock;
        let unknown = |state: &Object| state.clock.iter().zip(known).any(|(arrived, known)| arrived > known);
        self.memory != 0 && self.arrivals_commute(number) && self.objects.peek(number).is_some_and(unknown)
    }

    fn is_complete(&self, meeting: &Meeting, count: u32) -> bool {
        // Threads that were started alike do the same: none of them may be the one that lets the others go.
        const COSTARTED: u32 = 1;
        let different = self.shared.symmetry != COSTARTED;
        meeting.threads != 0 && meeting.threads.count_ones() <= count && different
    }

    /// Are all there?
    pub fn all_have_arrived(&self, number: u32) -> bool {
        self.objects.peek(number).is_some_and(|state| state.value >= i64::from(state.count))
    }

    /// Who meets where, to tell a process that repeats a schedule.
    pub fn told_meetings(&self) -> Vec<(usize, usize)> {
        let met = self.meetings.iter().enumerate().filter(|(_, m)| self.is_complete(m, m.count));
        let bit = |meeting: &Meeting| usize::from(meeting.result_used) << 60;
        met.map(|(number, meeting)| {
            (MEETING | bit(meeting) | self.objects.address(number as u32), meeting.threads as usize)
        })
        .collect()
    }

    /// Takes note of one of these; says whether it was one.
    pub fn note_told_meeting(&mut self, address: usize, threads: usize) -> bool {
        if address & MEETING == 0 {
            return false;
        }
        let barrier = address & ((1 << 48) - 1);
        let number = self.objects.number(barrier);
        let result_used = address >> 60 & 1 != 0;
        self.note_meeting(number, Meeting { threads: threads as u64, result_used, count: u32::MAX });
        true
    }
}
