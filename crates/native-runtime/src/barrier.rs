//! Barriers: the last to arrive lets the others go.

use crate::protocol::{FailureKind, Op, THREADS};
use crate::race::join;
use crate::real;
use crate::world::{Pending, Status, active, controlled, fail, visible, world};

const SERIAL_THREAD: i32 = -1;

/// `pthread_barrier_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_init(barrier: usize, attributes: usize, count: u32) -> i32 {
    // SAFETY: passed on.
    let result =
        unsafe { real!("pthread_barrier_init", fn(usize, usize, u32) -> i32)(barrier, attributes, count) };
    if controlled() && result == 0 {
        let w = world();
        let number = w.objects.number(barrier);
        let state = w.objects.state(number);
        (state.known, state.count, state.value, state.set) = (true, count, 0, 0);
    }
    result
}

/// `pthread_barrier_destroy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_destroy(barrier: usize) -> i32 {
    if !active() {
        // SAFETY: passed on.
        return unsafe { real!("pthread_barrier_destroy", fn(usize) -> i32)(barrier) };
    }
    let number = world().objects.number(barrier);
    visible(Pending::on(Op::Destroy, number, barrier));
    if world().objects.state(number).set != 0 {
        fail(FailureKind::Misuse, "destruction of a barrier at which threads wait", barrier);
    }
    0
}

/// `pthread_barrier_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_wait(barrier: usize) -> i32 {
    if !active() {
        // SAFETY: passed on.
        return unsafe { real!("pthread_barrier_wait", fn(usize) -> i32)(barrier) };
    }
    world().use_primitive(barrier);
    let number = world().objects.number(barrier);
    if !world().objects.state(number).known {
        fail(FailureKind::Misuse, "use of a barrier that was not initialised", barrier);
    }
    visible(Pending::on(Op::Barrier, number, barrier));
    let w = world();
    let me = w.current;
    w.release_object(number);
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
    let (released, clock) = (state.set, state.clock);
    (state.value, state.set) = (0, 0);
    w.acquire(&clock);
    for thread in (0..THREADS).filter(|t| released >> t & 1 != 0) {
        let thread = &mut w.threads[thread];
        thread.status = Status::Released;
        join(&mut thread.clock, &clock);
    }
    SERIAL_THREAD
}
