//! The functions by which a program sends signals and says what they do.

use crate::exploration::world::{active, controlled, fail, world};
use crate::interruptions::signal::{
    Action, DEFAULT, FREE, HARMLESS, RESTART, STOPPING, bit, end_program, handle_all, is_signal, send,
    set_mask,
};
use crate::pass_on;
use crate::protocol::{FailureKind, Op};

const EINVAL: i32 = 22;

fn change_mask(how: i32, set: *const u64, old: *mut u64) -> i32 {
    let w = world();
    if !set.is_null() {
        w.touch_signals(Op::SignalState);
    }
    let before = world().me().signals.mask;
    if !set.is_null() {
        // SAFETY: a sigset_t; its first word has all signals.
        let set = unsafe { *set };
        let new = match how {
            0 => before | set,
            1 => before & !set,
            2 => set,
            _ => return EINVAL,
        };
        set_mask(new);
        if world().signals.used {
            handle_all();
        }
    }
    write_set(old, before);
    0
}

/// Writes a sigset_t, if one is asked for.
pub fn write_set(to: *mut u64, set: u64) {
    if !to.is_null() {
        crate::instrumentation::hooks::range(to as usize, 128, crate::exploration::race::How::WRITE);
        // SAFETY: the caller gives room for a sigset_t: 128 bytes.
        unsafe {
            to.write_bytes(0, 16);
            *to = set;
        }
    }
}

/// `pthread_sigmask`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_sigmask(how: i32, set: *const u64, old: *mut u64) -> i32 {
    if !active() {
        return pass_on!("pthread_sigmask", fn(i32, *const u64, *mut u64) -> i32; how, set, old);
    }
    change_mask(how, set, old)
}

/// `sigprocmask`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigprocmask(how: i32, set: *const u64, old: *mut u64) -> i32 {
    if !active() {
        return pass_on!("sigprocmask", fn(i32, *const u64, *mut u64) -> i32; how, set, old);
    }
    crate::interruptions::signal_wait::status(change_mask(how, set, old))
}

/// `pthread_kill`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_kill(handle: usize, signal: i32) -> i32 {
    if !active() {
        return pass_on!("pthread_kill", fn(usize, i32) -> i32; handle, signal);
    }
    let thread = crate::threads::handle::used(handle, "pthread_kill");
    let result = send(signal, Some(thread));
    if thread == world().current {
        handle_all();
    }
    result
}

/// `raise`: to the running thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn raise(signal: i32) -> i32 {
    if !active() {
        return pass_on!("raise", fn(i32) -> i32; signal);
    }
    let mut w = world();
    let blocked = is_signal(signal) && w.me().signals.mask & bit(signal) != 0;
    if is_signal(signal) && !blocked && !w.signals.used && w.signals.action(signal).handler == DEFAULT {
        let harmless = HARMLESS.contains(&signal) || STOPPING.contains(&signal);
        if !harmless {
            // Nobody else has to know that signals are used.
            end_program(signal);
        }
    }
    let me = w.current;
    let result = send(signal, Some(me));
    handle_all();
    crate::interruptions::signal_wait::status(result)
}

/// `kill`: to this process only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kill(process: i32, signal: i32) -> i32 {
    if !active() {
        return pass_on!("kill", fn(i32, i32) -> i32; process, signal);
    }
    // SAFETY: a number.
    if process != 0 && process != unsafe { crate::environment::process::getpid() } {
        fail(FailureKind::Refused, "kill: signals to other processes are not supported", 0);
    }
    let result = send(signal, None);
    handle_all();
    crate::interruptions::signal_wait::status(result)
}

/// `signal`: restarts what the handler interrupts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal(number: i32, handler: usize) -> usize {
    if !controlled() {
        return pass_on!("signal", fn(i32, usize) -> usize; number, handler);
    }
    match act(number, Some(Action { handler, mask: 0, flags: RESTART })) {
        Some(before) => before.handler,
        None => usize::MAX,
    }
}

/// Looks at what a signal does, and changes it; nothing if there is no such signal.
fn act(signal: i32, new: Option<Action>) -> Option<Action> {
    if !is_signal(signal) || new.is_some() && bit(signal) & FREE == 0 {
        crate::interruptions::signal_wait::status(EINVAL);
        return None;
    }
    if active() {
        world().touch_signals(Op::SignalState);
    }
    let mut w = world();
    let before = w.signals.action(signal);
    if let Some(new) = new {
        w.signals.set_action(signal, new);
    }
    Some(before)
}

/// A `struct sigaction` of the C library.
#[repr(C)]
pub struct Given {
    handler: usize,
    mask: [u64; 16],
    flags: i32,
    restorer: usize,
}

/// `sigaction`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(signal: i32, new: *const Given, old: *mut Given) -> i32 {
    if !controlled() {
        return pass_on!("sigaction", fn(i32, *const Given, *mut Given) -> i32; signal, new, old);
    }
    // SAFETY: the caller gives a structure, or none.
    let given = unsafe { new.as_ref() };
    let given = given.map(|g| Action { handler: g.handler, mask: g.mask[0], flags: g.flags });
    let Some(before) = act(signal, given) else { return -1 };
    if !old.is_null() {
        let mut mask = [0; 16];
        mask[0] = before.mask;
        // SAFETY: the caller gives room for a structure.
        unsafe { *old = Given { handler: before.handler, mask, flags: before.flags, restorer: 0 } };
    }
    0
}
