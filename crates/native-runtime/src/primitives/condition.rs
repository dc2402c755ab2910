//! Condition variables: a wait gives the mutex back, is woken by a signal (any waiter may be) or by its timeout, and takes
//! the mutex again.

use crate::exploration::object::NOBODY;
use crate::exploration::world::{Pending, Runtime, Status, active, fail, visible, world};
use crate::interruptions::interruption::{Decision, Kind, Next, decide};
use crate::pass_on;
use crate::primitives::lifecycle::{Primitive, before_initialisation, destroy, initialised, operate};
use crate::protocol::{FailureKind, Op, met};

const ETIMEDOUT: i32 = 110;

impl Runtime {
    fn condition(self, address: usize, what: &str) -> u32 {
        self.primitive(Primitive::Condition, address, what)
    }
}

/// Waits; says whether the wait ended by itself.
fn wait(condition: usize, mutex: usize, timed: bool) -> bool {
    let mut w = world();
    let number = w.condition(condition, "wait");
    let mutex_number = w.mutex(mutex, "wait");
    let (owner, count) = (w.objects.state(mutex_number).owner, w.objects.state(mutex_number).count);
    if owner != w.current as u8 {
        let who = if owner == NOBODY { "nobody".to_owned() } else { format!("thread {owner}") };
        fail(
            FailureKind::Misuse,
            &format!("wait on a condition variable with a mutex that {who} has locked"),
            mutex,
        );
    }
    match decide(Kind::Cancellation, Next::Blocks) {
        Decision::Through => {}
        Decision::Interrupted { .. } => return false,
        by => {
            interrupted(by, mutex_number, mutex, count);
            return false;
        }
    }
    let mut w = world();
    if w.shared.spurious == 0 {
        w.shared.met |= met::STEADY_WAIT;
    }
    let timed = timed || w.shared.spurious != 0;
    let op = if timed { Op::TimedWait } else { Op::Wait };
    if timed {
        crate::primitives::section::before_timed_wait();
    }
    operate(
        Primitive::Condition,
        Pending { other: mutex_number, ..Pending::on(op, number, condition) },
        "wait",
    );
    let mut w = world();
    let current = w.current;
    w.objects.state(number).waiters.push(current as u8);
    w.objects.state(number).value += 1;
    if w.memory != 0 {
        // In graphs an operation has one object. Whoever signals meanwhile could as well do so right after.
        visible(Pending::on(Op::Unlock, mutex_number, mutex));
    }
    let mut w = world();
    w.give_mutex(mutex_number);
    let me = w.me();
    me.status = match std::mem::take(&mut me.woken_early) {
        true => Status::Reacquiring { timed_out: false, timed: false },
        false => Status::Waiting { timed },
    };
    me.pending = Pending { other: mutex_number, ..Pending::on(Op::Reacquire, number, condition) };
    w.leave();
    // Here again: the time is up, or the mutex is ours.
    let mut w = world();
    if matches!(w.me().status, Status::Waiting { .. }) {
        let state = w.objects.state(number);
        state.waiters.retain(|&t| t as usize != current);
        state.value -= 1;
        w.me().status = Status::Reacquiring { timed_out: true, timed: true };
        w.leave();
    }
    let mut w = world();
    let timed_out = matches!(w.me().status, Status::Reacquiring { timed_out: true, .. });
    w.take_mutex(mutex_number);
    w.objects.state(mutex_number).count = count;
    timed_out
}

/// A wait that ends by an interruption, with the mutex taken again. Nobody wakes this thread meanwhile: a thread that is
/// cancelled must not use up a signal, and one that has run a handler may return as if it had been woken.
fn interrupted(by: Decision, number: u32, mutex: usize, count: u32) {
    visible(Pending::on(Op::Unlock, number, mutex));
    world().give_mutex(number);
    world().note_unlock(number);
    if by == Decision::BeCancelled {
        crate::interruptions::cancellation::await_request();
    } else {
        crate::interruptions::signal_wait::await_handled();
        crate::interruptions::signal::handle_one();
    }
    visible(Pending::on(Op::Lock, number, mutex));
    world().take_mutex(number);
    world().note_changed();
    world().objects.state(number).count = count;
    if by == Decision::BeCancelled {
        crate::interruptions::cancellation::act();
    }
}

fn wake(condition: usize, op: Op) {
    let number = world().condition(condition, "signal");
    let alternative = operate(Primitive::Condition, Pending::on(op, number, condition), "signal") as usize;
    let mut w = world();
    let state = w.objects.state(number);
    let woken = match op {
        Op::Signal if alternative < state.waiters.len() => vec![state.waiters.remove(alternative)],
        Op::Signal => Vec::new(),
        _ => std::mem::take(&mut state.waiters),
    };
    state.value -= woken.len() as i64;
    for thread in woken {
        let thread = &mut w.threads[thread as usize];
        match thread.status {
            Status::Waiting { timed } => {
                thread.status = Status::Reacquiring { timed_out: false, timed };
            }
            _ => thread.woken_early = true,
        }
    }
}

/// `pthread_cond_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_init(condition: usize, attributes: usize) -> i32 {
    before_initialisation(Primitive::Condition, condition);
    let result = pass_on!("pthread_cond_init", fn(usize, usize) -> i32; condition, attributes);
    if result == 0 {
        initialised(Primitive::Condition, condition);
    }
    result
}

/// `pthread_cond_destroy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_destroy(condition: usize) -> i32 {
    if !active() {
        return pass_on!("pthread_cond_destroy", fn(usize) -> i32; condition);
    }
    destroy(Primitive::Condition, condition);
    0
}

/// `pthread_cond_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_wait(condition: usize, mutex: usize) -> i32 {
    if !active() {
        return pass_on!("pthread_cond_wait", fn(usize, usize) -> i32; condition, mutex);
    }
    wait(condition, mutex, false);
    0
}

fn timed_wait(condition: usize, mutex: usize) -> i32 {
    if wait(condition, mutex, true) { ETIMEDOUT } else { 0 }
}

/// `pthread_cond_timedwait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_timedwait(condition: usize, mutex: usize, time: usize) -> i32 {
    if !active() {
        return pass_on!("pthread_cond_timedwait", fn(usize, usize, usize) -> i32; condition, mutex, time);
    }
    timed_wait(condition, mutex)
}

/// `pthread_cond_clockwait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_clockwait(
    condition: usize,
    mutex: usize,
    clock: i32,
    time: usize,
) -> i32 {
    if !active() {
        return pass_on!("pthread_cond_clockwait", fn(usize, usize, i32, usize) -> i32; condition, mutex, clock, time);
    }
    timed_wait(condition, mutex)
}

/// `pthread_cond_signal`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_signal(condition: usize) -> i32 {
    if !active() {
        return pass_on!("pthread_cond_signal", fn(usize) -> i32; condition);
    }
    wake(condition, Op::Signal);
    0
}

/// `pthread_cond_broadcast`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_broadcast(condition: usize) -> i32 {
    if !active() {
        return pass_on!("pthread_cond_broadcast", fn(usize) -> i32; condition);
    }
    wake(condition, Op::Broadcast);
    0
}
