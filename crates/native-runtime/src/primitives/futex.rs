//! Raw futexes, as `std::future`, `std::latch` and hand-written locks use them.
//!
//! A wait compares the word and, if it has the expected value, queues up, in one step. A wake-up lets threads of the queue go
//! on; if it is for one of several, any of them may be the one. Nothing is ordered by a futex itself: what the program
//! does with the word, by atomic operations, orders its accesses.

use crate::exploration::world::{Pending, Runtime, Status, fail, visible, world};
use crate::protocol::{FailureKind, Op};

const EAGAIN: isize = 11;
const ETIMEDOUT: isize = 110;

const WAIT: usize = 0;
const WAKE: usize = 1;
const WAIT_BITSET: usize = 9;
const WAKE_BITSET: usize = 10;
/// Private, and which clock.
const FLAGS: usize = 128 | 256;

/// A system call on a futex; the result is negative on failure.
pub fn call(word: usize, operation: usize, value: usize, time: usize) -> isize {
    match operation & !FLAGS {
        WAIT | WAIT_BITSET => wait(word, value as u32, time != 0),
        WAKE | WAKE_BITSET => wake(word, value),
        other => fail(FailureKind::Refused, &format!("futex: operation {other} is not supported"), word),
    }
}

impl Runtime {
    /// The queue of a futex, and the cell of its word.
    fn futex(mut self, word: usize) -> (u32, u32) {
        self.use_primitive(word, 4);
        let (cell, changed) = self.objects.cell(word, 4);
        self.grown |= changed;
        (self.objects.number(word), cell)
    }
}

fn wait(word: usize, expected: u32, timed: bool) -> isize {
    if timed {
        crate::primitives::section::before_timed_wait();
    }
    let (queue, cell) = world().futex(word);
    visible(Pending { other: cell, size: 4, ..Pending::on(Op::FutexWait, queue, word) });
    // SAFETY: a word of the program.
    if unsafe { *(word as *const u32) } != expected {
        return -EAGAIN;
    }
    let mut w = world();
    let current = w.current;
    let state = w.objects.state(queue);
    state.waiters.push(current as u8);
    state.value += 1;
    let me = w.me();
    me.status = Status::Waiting { timed };
    me.pending = Pending::on(Op::FutexResume, queue, word);
    w.leave();
    let mut w = world();
    if matches!(w.me().status, Status::Waiting { .. }) {
        let state = w.objects.state(queue);
        state.waiters.retain(|&t| t as usize != current);
        state.value -= 1;
        return -ETIMEDOUT;
    }
    0
}

fn wake(word: usize, count: usize) -> isize {
    let (queue, _) = world().futex(word);
    let op = if count == 1 { Op::FutexWakeOne } else { Op::FutexWake };
    let alternative = visible(Pending::on(op, queue, word)) as usize;
    let mut w = world();
    let state = w.objects.state(queue);
    let woken: Vec<u8> = match op {
        Op::FutexWakeOne if alternative < state.waiters.len() => vec![state.waiters.remove(alternative)],
        Op::FutexWakeOne => Vec::new(),
        _ => state.waiters.drain(..count.min(state.waiters.len())).collect(),
    };
    state.value -= woken.len() as i64;
    for thread in &woken {
        let status = &mut w.threads[*thread as usize].status;
        let timed = matches!(status, Status::Waiting { timed: true });
        *status = Status::Reacquiring { timed_out: false, timed };
    }
    woken.len() as isize
}
