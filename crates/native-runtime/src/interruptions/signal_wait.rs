//! Waiting for signals: `sigwait` and its kin take them, `pause` and `sigsuspend` wait until a handler has run.
//!
//! A wait is made like one on a futex: in one step the thread looks for a signal and, if there is none, begins to wait;
//! whoever sends one wakes it.

use crate::exploration::world::{Pending, Status, active, announce, visible, world};
use crate::interruptions::interruption::{Kind, Next, Passed, point};
use crate::interruptions::signal::{Wanted, handle_one, set_mask};
use crate::interruptions::signal_calls::write_set;
use crate::pass_on;
use crate::protocol::Op;

const EINTR: i32 = 4;
const EAGAIN: i32 = 11;

unsafe extern "C" {
    fn __errno_location() -> *mut i32;
}

/// The result of a function that fails with -1 and `errno`.
pub fn status(error: i32) -> i32 {
    if error == 0 {
        return 0;
    }
    // SAFETY: the program's errno.
    unsafe { *__errno_location() = error };
    -1
}

/// Waits until the running thread is woken by a signal that it wants; says whether it was.
fn sleep(wanted: Wanted, timed: bool) -> bool {
    if timed {
        crate::primitives::section::before_timed_wait();
    }
    let mut w = world();
    let number = w.signal_object();
    let me = w.me();
    me.signals.wanted = wanted;
    me.status = Status::Waiting { timed };
    me.pending = Pending::on(Op::SignalResume, number, 0);
    w.leave();
    let mut w = world();
    w.me().signals.wanted = Wanted::Nothing;
    !matches!(w.me().status, Status::Waiting { .. })
}

/// Waits for a signal that the running thread handles: its wait was decided to end so.
pub fn await_handled() {
    let number = world().signal_object();
    announce(Pending::on(Op::SignalWait, number, 0));
    if world().has_signal(world().current) {
        return;
    }
    world().me().signals.decided = true;
    sleep(Wanted::Handle, false);
    world().me().signals.decided = false;
}

/// How waiting for a signal can end without one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// Not at all: after a handler it goes on.
    OnlyWithSignal,
    /// By a handler.
    Interrupted,
    /// By a handler or after some time.
    InTime,
}

/// Takes one of these signals, waiting for it.
///
/// # Errors
/// The number of the error: interrupted, or out of time.
fn take(set: u64, ends: Ends) -> Result<i32, i32> {
    while let Passed::Interrupted { .. } = point(Kind::Cancellation, Next::Blocks) {
        if ends != Ends::OnlyWithSignal {
            return Err(EINTR);
        }
    }
    let number = world().signal_object();
    visible(Pending::on(Op::SignalWait, number, 0));
    if let Some(signal) = world().take_signal(set) {
        return Ok(signal);
    }
    if !sleep(Wanted::Take(set), ends == Ends::InTime) {
        return Err(EAGAIN);
    }
    world().take_signal(set).ok_or(EINTR)
}

/// `sigwait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigwait(set: *const u64, out: *mut i32) -> i32 {
    if !active() {
        return pass_on!("sigwait", fn(*const u64, *mut i32) -> i32; set, out);
    }
    // SAFETY: a sigset_t of the caller's.
    match take(unsafe { *set }, Ends::OnlyWithSignal) {
        Ok(signal) => {
            crate::exploration::race::access(out as usize, 4, crate::exploration::race::How::WRITE);
            // SAFETY: the caller gives room for an int.
            unsafe { *out = signal };
            0
        }
        Err(error) => error,
    }
}

fn take_with_information(set: *const u64, information: *mut i32, ends: Ends) -> i32 {
    // SAFETY: a sigset_t of the caller's.
    match take(unsafe { *set }, ends) {
        Ok(signal) => {
            if !information.is_null() {
                crate::instrumentation::hooks::range(
                    information as usize,
                    128,
                    crate::exploration::race::How::WRITE,
                );
                // SAFETY: the caller gives room for a siginfo_t: 128 bytes.
                unsafe {
                    information.write_bytes(0, 32);
                    *information = signal;
                }
            }
            signal
        }
        Err(error) => status(error),
    }
}

/// `sigwaitinfo`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigwaitinfo(set: *const u64, information: *mut i32) -> i32 {
    if !active() {
        return pass_on!("sigwaitinfo", fn(*const u64, *mut i32) -> i32; set, information);
    }
    take_with_information(set, information, Ends::Interrupted)
}

/// `sigtimedwait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigtimedwait(set: *const u64, information: *mut i32, time: usize) -> i32 {
    if !active() {
        return pass_on!("sigtimedwait", fn(*const u64, *mut i32, usize) -> i32; set, information, time);
    }
    take_with_information(set, information, Ends::InTime)
}

/// Waits until a handler has run, with another mask meanwhile.
fn suspend(mask: Option<u64>) -> i32 {
    // A handler that runs before the wait does not end it.
    while point(Kind::Cancellation, Next::GoesOn) != Passed::Through {}
    crate::interruptions::interruption::cancellation_point();
    world().me().passed = false;
    let before = world().me().signals.mask;
    let number = world().signal_object();
    announce(Pending::on(Op::SignalWait, number, 0));
    if let Some(mask) = mask {
        set_mask(mask);
    }
    loop {
        if !world().has_signal(world().current) {
            sleep(Wanted::Handle, false);
        }
        let handled = handle_one();
        if handled.is_some() {
            break;
        }
    }
    if mask.is_some() {
        set_mask(before);
    }
    status(EINTR)
}

/// `pause`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pause() -> i32 {
    if !active() {
        return pass_on!("pause", fn() -> i32; );
    }
    suspend(None)
}

/// `sigsuspend`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigsuspend(set: *const u64) -> i32 {
    if !active() {
        return pass_on!("sigsuspend", fn(*const u64) -> i32; set);
    }
    // SAFETY: a sigset_t of the caller's.
    suspend(Some(unsafe { *set }))
}

/// `sigpending`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigpending(out: *mut u64) -> i32 {
    if !active() {
        return pass_on!("sigpending", fn(*mut u64) -> i32; out);
    }
    world().touch_signals(Op::SignalState);
    let set = world().pending_signals();
    write_set(out, set);
    0
}
