//! Semaphores. Named ones are semaphores of this process, known by their name.

use crate::protocol::{FailureKind, Op};
use crate::real;
use crate::world::{Pending, World, active, controlled, fail, visible, world};

const EAGAIN: i32 = 11;
const ETIMEDOUT: i32 = 110;

unsafe extern "C" {
    fn __errno_location() -> *mut i32;
}

impl World {
    fn semaphore(&mut self, address: usize) -> u32 {
        self.use_primitive(address);
        let number = self.objects.number(address);
        if !self.objects.state(number).known {
            fail(FailureKind::Misuse, "use of a semaphore that was not initialised", address);
        }
        number
    }
}

/// `sem_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_init(semaphore: usize, shared: i32, value: u32) -> i32 {
    // SAFETY: passed on.
    let result = unsafe { real!("sem_init", fn(usize, i32, u32) -> i32)(semaphore, shared, value) };
    if controlled() && result == 0 {
        let w = world();
        let number = w.objects.number(semaphore);
        let state = w.objects.state(number);
        state.known = true;
        state.value = i64::from(value);
    }
    result
}

/// `sem_destroy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_destroy(_semaphore: usize) -> i32 {
    0
}

fn wait(semaphore: usize, op: Op, failure: i32) -> i32 {
    if op == Op::SemaphoreWait {
        crate::thread::test_cancel();
    }
    let number = world().semaphore(semaphore);
    visible(Pending::on(op, number, semaphore));
    let w = world();
    if w.objects.state(number).value < 1 {
        // SAFETY: the program's errno.
        unsafe { *__errno_location() = failure };
        return -1;
    }
    w.objects.state(number).value -= 1;
    w.acquire_object(number);
    0
}

/// `sem_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_wait(semaphore: usize) -> i32 {
    if !active() {
        // SAFETY: passed on.
        return unsafe { real!("sem_wait", fn(usize) -> i32)(semaphore) };
    }
    wait(semaphore, Op::SemaphoreWait, 0)
}

/// `sem_trywait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_trywait(semaphore: usize) -> i32 {
    if !active() {
        // SAFETY: passed on.
        return unsafe { real!("sem_trywait", fn(usize) -> i32)(semaphore) };
    }
    wait(semaphore, Op::SemaphoreTry, EAGAIN)
}

/// `sem_timedwait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_timedwait(semaphore: usize, time: usize) -> i32 {
    if !active() {
        // SAFETY: passed on.
        return unsafe { real!("sem_timedwait", fn(usize, usize) -> i32)(semaphore, time) };
    }
    wait(semaphore, Op::SemaphoreTry, ETIMEDOUT)
}

/// `sem_clockwait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_clockwait(semaphore: usize, clock: i32, time: usize) -> i32 {
    if !active() {
        // SAFETY: passed on.
        return unsafe { real!("sem_clockwait", fn(usize, i32, usize) -> i32)(semaphore, clock, time) };
    }
    wait(semaphore, Op::SemaphoreTry, ETIMEDOUT)
}

/// `sem_post`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_post(semaphore: usize) -> i32 {
    if !active() {
        // SAFETY: passed on.
        return unsafe { real!("sem_post", fn(usize) -> i32)(semaphore) };
    }
    let number = world().semaphore(semaphore);
    visible(Pending::on(Op::SemaphorePost, number, semaphore));
    let w = world();
    w.objects.state(number).value += 1;
    w.release_object(number);
    0
}

/// `sem_getvalue`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_getvalue(semaphore: usize, value: *mut i32) -> i32 {
    if !active() {
        // SAFETY: passed on.
        return unsafe { real!("sem_getvalue", fn(usize, *mut i32) -> i32)(semaphore, value) };
    }
    let number = world().semaphore(semaphore);
    visible(Pending::on(Op::SemaphoreValue, number, semaphore));
    // SAFETY: the caller gives room for an int.
    unsafe { *value = world().objects.state(number).value as i32 };
    0
}
