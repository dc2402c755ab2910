//! The end of the program, and what it may ask of its surroundings: the same in every execution.
//!
//! `exit` ends the program for everybody. The exploration lets the other threads go on as far as they can before that: the
//! caller of `exit` could have been slower, so nothing is added, and whatever they can do wrong is seen.

use std::ffi::{CStr, c_char};

use crate::exploration::world::{Pending, active, controlled, fail, quiet, running, visible, world};
use crate::interruptions::interruption::{Kind, Next, Passed, point};
use crate::protocol::{FailureKind, Op, Outside};
use crate::system::system_call::{exit_process, number, system_call};
use crate::{pass_on, real};

/// Ends the program on behalf of the running thread.
pub fn leave_program(status: i32) -> ! {
    crate::primitives::section::end_all();
    world().me().operands[0] = status as usize;
    visible(Pending::new(Op::Exit));
    // Only when a schedule is repeated, at its very end.
    // SAFETY: the C library's function; all streams.
    unsafe { real!("fflush", fn(usize) -> i32)(0) };
    loop {
        world().leave();
    }
}

/// `exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn exit(status: i32) -> ! {
    if !active() {
        pass_on!("exit", fn(i32); status);
    }
    crate::environment::exit_handlers::run(status);
    leave_program(status)
}

/// `_exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _exit(status: i32) -> ! {
    if !active() {
        exit_process(status);
    }
    leave_program(status)
}

/// `_Exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Exit(status: i32) -> ! {
    // SAFETY: the same.
    unsafe { _exit(status) }
}

/// `quick_exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quick_exit(status: i32) -> ! {
    // SAFETY: the same.
    unsafe { _exit(status) }
}

/// `abort`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abort() -> ! {
    if active() {
        fail(FailureKind::Crash, "abort() is called", 0);
    }
    if controlled() {
        // The explorer itself has panicked; its message is in the shared block.
        exit_process(134);
    }
    pass_on!("abort", fn(); );
    exit_process(134)
}

/// `setrlimit`: limits that only concern the program itself are set, and put back before the next execution.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn setrlimit(resource: i32, limit: *const [u64; 2]) -> i32 {
    if !active() {
        return pass_on!("setrlimit", fn(i32, *const [u64; 2]) -> i32; resource, limit);
    }
    const DESCRIPTORS: i32 = 7;
    let mut now = [0u64; 2];
    // SAFETY: room for a struct rlimit.
    unsafe { real!("getrlimit", fn(i32, *mut [u64; 2]) -> i32)(resource, &mut now) };
    crate::exploration::race::access(limit as usize, 16, crate::exploration::race::How::READ);
    // SAFETY: the caller gives a struct rlimit.
    let wanted = unsafe { *limit };
    // The explorer has descriptors, too, and a lower hard limit could not be put back.
    if resource != DESCRIPTORS || wanted[0] < now[0] || wanted[1] != now[1] || world().threaded {
        fail(FailureKind::Refused, "setrlimit: other than more descriptors, before there are threads", 0);
    }
    let mut w = world();
    w.kept_descriptors.get_or_insert(now);
    pass_on!("setrlimit", fn(i32, *const [u64; 2]) -> i32; resource, limit)
}

/// `setrlimit64`, which is the same here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn setrlimit64(resource: i32, limit: *const [u64; 2]) -> i32 {
    // SAFETY: as the caller of this one owes.
    unsafe { setrlimit(resource, limit) }
}

/// What `assert` calls when it fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __assert_fail(
    text: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
) -> ! {
    if !active() {
        pass_on!("__assert_fail", fn(*const c_char, *const c_char, u32, *const c_char); text, file, line, function);
        exit_process(134)
    }
    // SAFETY: strings of the program.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    fail(FailureKind::Assertion, &text, 0)
}

/// Nanoseconds since the start of the epoch, as the program sees them: a microsecond passes with every look.
fn tick(asked: &str) -> u64 {
    crate::environment::outside::note(Outside::Clock, asked.as_bytes());
    let mut w = world();
    w.clock_ticks += 1;
    1_700_000_000_000_000_000 + w.clock_ticks * 1000
}

/// `time`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn time(out: *mut i64) -> i64 {
    if !active() {
        return pass_on!("time", fn(*mut i64) -> i64; out);
    }
    let seconds = (tick("time") / 1_000_000_000) as i64;
    if !out.is_null() {
        // SAFETY: the caller gives room for a time.
        unsafe { *out = seconds };
    }
    seconds
}

/// `gettimeofday`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(out: *mut [i64; 2], zone: usize) -> i32 {
    if !active() {
        return pass_on!("gettimeofday", fn(*mut [i64; 2], usize) -> i32; out, zone);
    }
    let now = tick("gettimeofday");
    // SAFETY: the caller gives room for a timeval.
    unsafe { *out = [(now / 1_000_000_000) as i64, (now % 1_000_000_000 / 1000) as i64] };
    0
}

/// `clock_gettime`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: i32, out: *mut [i64; 2]) -> i32 {
    if !active() {
        // SAFETY: `out` is room for a timespec, as the caller of clock_gettime owes.
        return unsafe {
            system_call(number::CLOCK_GETTIME, [clock as usize, out as usize, 0, 0, 0, 0]) as i32
        };
    }
    let now = tick("clock_gettime");
    // SAFETY: the caller gives room for a timespec.
    unsafe { *out = [(now / 1_000_000_000) as i64, (now % 1_000_000_000) as i64] };
    0
}

/// `clock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock() -> i64 {
    if !active() {
        return pass_on!("clock", fn() -> i64; );
    }
    crate::environment::outside::note(Outside::Clock, b"clock");
    world().clock_ticks += 1;
    world().clock_ticks as i64
}

macro_rules! sleeps {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => { $(
        #[doc = concat!("`", stringify!($name), "`: any time may pass anyway.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
            if !running() {
                // SAFETY: the arguments are those that the program gives to the C library's function of this name, with all that it owes to that.
                return unsafe { sleeps_real!($name, fn($($kind),*) -> $result)($($argument),*) };
            }
            let kind = if stringify!($name).ends_with("yield") { Kind::Handlers } else { Kind::Cancellation };
            if point(kind, Next::GoesOn) != Passed::Through {
                return interrupted_sleep(stringify!($name)) as $result;
            }
            quiet();
            0
        }
    )* };
}

/// What a function gives that sleeps and was interrupted by a handler.
fn interrupted_sleep(name: &str) -> i32 {
    const EINTR: i32 = 4;
    match name {
        // The seconds that are left.
        "sleep" => 1,
        "clock_nanosleep" => EINTR,
        "sched_yield" | "pthread_yield" => 0,
        _ => crate::interruptions::signal_wait::status(EINTR),
    }
}

macro_rules! sleeps_real {
    (sleep, $($kind:tt)*) => { real!("sleep", $($kind)*) };
    (usleep, $($kind:tt)*) => { real!("usleep", $($kind)*) };
    (nanosleep, $($kind:tt)*) => { real!("nanosleep", $($kind)*) };
    (clock_nanosleep, $($kind:tt)*) => { real!("clock_nanosleep", $($kind)*) };
    (thrd_sleep, $($kind:tt)*) => { real!("thrd_sleep", $($kind)*) };
    (sched_yield, $($kind:tt)*) => { real!("sched_yield", $($kind)*) };
    (pthread_yield, $($kind:tt)*) => { real!("pthread_yield", $($kind)*) };
}

sleeps! {
    sleep(seconds: u32) -> u32;
    usleep(microseconds: u32) -> i32;
    nanosleep(time: usize, rest: usize) -> i32;
    clock_nanosleep(clock: i32, flags: i32, time: usize, rest: usize) -> i32;
    thrd_sleep(time: usize, rest: usize) -> i32;
    sched_yield() -> i32;
    pthread_yield() -> i32;
}

/// `getpid`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getpid() -> i32 {
    if !active() {
        return pass_on!("getpid", fn() -> i32; );
    }
    crate::environment::outside::note(Outside::Machine, b"getpid");
    1000
}

/// `gettid`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettid() -> i32 {
    if !active() {
        return pass_on!("gettid", fn() -> i32; );
    }
    crate::environment::outside::note(Outside::Machine, b"gettid");
    world().identity_used();
    1000 + world().current as i32
}
