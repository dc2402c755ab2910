//! Semaphores. Named ones are semaphores of this process, known by their name.

use std::ffi::{CStr, c_char};

use crate::exploration::race::How;
use crate::exploration::world::{Pending, Runtime, World, active, fail, running, visible, world};
use crate::interruptions::interruption::{Kind, Next, Passed, point};
use crate::pass_on;
use crate::primitives::lifecycle::{Primitive, before_initialisation, destroy, initialised, operate};
use crate::protocol::{FailureKind, Op};

const EINTR: i32 = 4;
const EAGAIN: i32 = 11;
const ETIMEDOUT: i32 = 110;

unsafe extern "C" {
    fn __errno_location() -> *mut i32;
}

impl Runtime {
    fn semaphore(self, address: usize) -> u32 {
        self.primitive(Primitive::Semaphore, address, "use")
    }

    /// The address of the semaphore of this name that came into being as the `time`-th of it, the same in every execution.
    fn named_semaphore(mut self, name: &[u8], time: u32) -> usize {
        let known = self.semaphore_names.iter().position(|(n, t)| n == name && *t == time);
        let index = known.unwrap_or_else(|| {
            if self.semaphore_names.is_empty() {
                crate::system::system_call::map_fixed(NAMED, MOST * 32);
            }
            self.semaphore_names.push((name.to_vec(), time));
            self.semaphore_names.len() - 1
        });
        if index >= MOST {
            fail(FailureKind::Refused, "sem_open: too many names", 0);
        }
        NAMED + index * 32
    }
}

/// `sem_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_init(semaphore: usize, shared: i32, value: u32) -> i32 {
    before_initialisation(Primitive::Semaphore, semaphore);
    let result = pass_on!("sem_init", fn(usize, i32, u32) -> i32; semaphore, shared, value);
    if result == 0
        && let Some(number) = initialised(Primitive::Semaphore, semaphore)
    {
        world().objects.state(number).value = i64::from(value);
    }
    result
}

/// `sem_destroy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_destroy(semaphore: usize) -> i32 {
    if active() {
        destroy(Primitive::Semaphore, semaphore);
    }
    0
}

/// Where named semaphores lie.
const NAMED: usize = 0x5b00_0000_0000;
/// The most of them.
const MOST: usize = 1024;
const CREATE: i32 = 0o100;
const EXCLUSIVE: i32 = 0o200;
const ENOENT: i32 = 2;
const EEXIST: i32 = 17;

fn failed(error: i32) -> usize {
    // SAFETY: the program's errno.
    unsafe { *__errno_location() = error };
    0
}

impl World {}

/// Removes the leading slash.
///
/// # Safety
/// `name` must be a string.
unsafe fn name_of(name: *const c_char) -> Vec<u8> {
    // SAFETY: by the caller.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    name.strip_prefix(b"/").unwrap_or(name).to_vec()
}

/// `sem_open`: names are those of this program; none exists at its start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_open(name: *const c_char, flags: i32, mode: u32, value: u32) -> usize {
    if !active() {
        return pass_on!("sem_open", fn(*const c_char, i32, u32, u32) -> usize; name, flags, mode, value);
    }
    // SAFETY: a string of the program.
    let name = unsafe { name_of(name) };
    // `count` says whether the name was taken away from it.
    for time in 0.. {
        let address = world().named_semaphore(&name, time);
        let number = world().objects.number(address);
        visible(Pending::on(Op::OpenSemaphore, number, address));
        let mut w = world();
        let state = w.objects.state(number);
        if state.count != 0 {
            continue;
        }
        if !state.known {
            if flags & CREATE == 0 {
                return failed(ENOENT);
            }
            state.begin(Primitive::Semaphore as u8, i64::from(value));
        } else if flags & CREATE != 0 && flags & EXCLUSIVE != 0 {
            return failed(EEXIST);
        }
        return address;
    }
    0
}

/// `sem_unlink`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_unlink(name: *const c_char) -> i32 {
    if !active() {
        return pass_on!("sem_unlink", fn(*const c_char) -> i32; name);
    }
    // SAFETY: a string of the program.
    let name = unsafe { name_of(name) };
    for time in 0.. {
        let address = world().named_semaphore(&name, time);
        let number = world().objects.number(address);
        visible(Pending::on(Op::UnlinkSemaphore, number, address));
        let mut w = world();
        let state = w.objects.state(number);
        if state.count != 0 {
            continue;
        }
        if !state.known {
            failed(ENOENT);
            return -1;
        }
        state.count = 1;
        return 0;
    }
    0
}

/// `sem_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_close(semaphore: usize) -> i32 {
    if !active() {
        return pass_on!("sem_close", fn(usize) -> i32; semaphore);
    }
    0
}

fn wait(semaphore: usize, op: Op, failure: i32) -> i32 {
    while let Passed::Interrupted { restarts } =
        point(Kind::Cancellation, Next::may_block(op == Op::SemaphoreWait))
    {
        if !restarts {
            // SAFETY: the program's errno.
            unsafe { *__errno_location() = EINTR };
            return -1;
        }
    }
    let number = world().semaphore(semaphore);
    operate(Primitive::Semaphore, Pending::on(op, number, semaphore), "use");
    let mut w = world();
    if w.objects.state(number).value < 1 {
        // SAFETY: the program's errno.
        unsafe { *__errno_location() = failure };
        w.note_looked(number);
        return -1;
    }
    w.note_changed();
    w.objects.state(number).value -= 1;
    w.acquire_object(number);
    0
}

/// `sem_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_wait(semaphore: usize) -> i32 {
    if !active() {
        return pass_on!("sem_wait", fn(usize) -> i32; semaphore);
    }
    wait(semaphore, Op::SemaphoreWait, 0)
}

/// `sem_trywait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_trywait(semaphore: usize) -> i32 {
    if !running() {
        return pass_on!("sem_trywait", fn(usize) -> i32; semaphore);
    }
    wait(semaphore, Op::SemaphoreTry, EAGAIN)
}

/// `sem_timedwait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_timedwait(semaphore: usize, time: usize) -> i32 {
    if !running() {
        return pass_on!("sem_timedwait", fn(usize, usize) -> i32; semaphore, time);
    }
    wait(semaphore, Op::SemaphoreTry, ETIMEDOUT)
}

/// `sem_clockwait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_clockwait(semaphore: usize, clock: i32, time: usize) -> i32 {
    if !running() {
        return pass_on!("sem_clockwait", fn(usize, i32, usize) -> i32; semaphore, clock, time);
    }
    wait(semaphore, Op::SemaphoreTry, ETIMEDOUT)
}

/// `sem_post`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_post(semaphore: usize) -> i32 {
    if !active() {
        return pass_on!("sem_post", fn(usize) -> i32; semaphore);
    }
    let number = world().semaphore(semaphore);
    operate(Primitive::Semaphore, Pending::on(Op::SemaphorePost, number, semaphore), "use");
    let mut w = world();
    w.objects.state(number).value += 1;
    w.release_object(number);
    0
}

/// `sem_getvalue`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_getvalue(semaphore: usize, value: *mut i32) -> i32 {
    if !running() {
        return pass_on!("sem_getvalue", fn(usize, *mut i32) -> i32; semaphore, value);
    }
    let number = world().semaphore(semaphore);
    operate(Primitive::Semaphore, Pending::on(Op::SemaphoreValue, number, semaphore), "use");
    world().note_looked(number);
    crate::exploration::race::access(value as usize, 4, How::WRITE);
    // SAFETY: the caller gives room for an int.
    unsafe { *value = world().objects.state(number).value as i32 };
    0
}
