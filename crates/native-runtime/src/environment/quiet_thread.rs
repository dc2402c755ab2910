//! Threads that access memory for very long and do nothing visible: they may wait for others by reading, or loop for ever.
//!
//! Between steps the exploration looks at the time; here it is looked at within a step.

use crate::exploration::world::{NOWHERE, Pending, World, visible, world};
use crate::protocol::{FailureKind, Op, Place, phase, verdict};
use crate::system::system_call::{number, system_call};

/// A thread has done nothing visible for very long: the others may go on, and the limits on time are looked at.
#[cold]
pub fn very_quiet() {
    let (now, mut w) = (nanoseconds(PROCESS_TIME), world());
    let (patience, most) = (w.shared.patience_milliseconds, w.shared.max_milliseconds);
    let since = match w.me().quiet_since {
        0 => now,
        since => since,
    };
    if most > 0 && nanoseconds(MONOTONIC) - w.started > most * 1_000_000 {
        give_up(&mut w, 4);
    }
    if patience > 0 && now - since > patience * 1_000_000 {
        let (thread, stack) = (w.current as u8, w.stack_here());
        let text = format!(
            "thread {thread} ran for {} s without a visible operation (an endless loop)",
            patience as f64 / 1000.0
        );
        w.record_failure(FailureKind::Stuck, &text, Place { thread, stack, ..NOWHERE }, NOWHERE);
        give_up(&mut w, 8);
    }
    visible(Pending::new(Op::Yield));
    let mut w = world();
    w.me().quiet_since = since;
    w.begin_look_at_polling(since == now);
}

/// Ends the exploration without an answer, whoever runs. A copy of the process leaves its part to others by that.
fn give_up(w: &mut World, bound: u32) -> ! {
    w.shared.verdict = verdict::UNDECIDED;
    w.shared.bound = bound;
    w.shared.phase = phase::DONE;
    crate::system::system_call::exit_process(0)
}

/// Clocks of the kernel.
pub const MONOTONIC: usize = 1;
/// CPU time of this process.
pub const PROCESS_TIME: usize = 2;

/// What a clock of the kernel shows.
pub fn nanoseconds(clock: usize) -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: a timespec.
    unsafe { system_call(number::CLOCK_GETTIME, [clock, time.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    time[0] * 1_000_000_000 + time[1]
}
