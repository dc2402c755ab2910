//! Barriers: the last to arrive lets the others go.

use crate::exploration::clock::join;
use crate::exploration::world::{Pending, Status, active, world};
use crate::pass_on;
use crate::primitives::lifecycle::{Primitive, before_initialisation, destroy, initialised, operate};
use crate::protocol::{Op, THREADS};

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
    operate(Primitive::Barrier, Pending::on(Op::Barrier, number, barrier), "use");
    let mut w = world();
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
