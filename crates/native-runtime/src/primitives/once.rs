//! `pthread_once`, and the guards of C++ static variables: whoever comes first does the work, the others wait.
//!
//! The object's value is 0 while somebody is at work, else 1.

use crate::exploration::world::{Pending, Runtime, active, visible, world};
use crate::pass_on;
use crate::protocol::Op;

/// What the C library writes to a control word when the work is done.
const DONE: i32 = 2;

impl Runtime {
    fn once(mut self, address: usize) -> u32 {
        self.use_primitive(address, 1);
        let number = self.objects.number(address);
        let state = self.objects.state(number);
        if !state.known {
            (state.known, state.value) = (true, 1);
        }
        number
    }
}

/// Enters; says whether the work is the caller's to do.
fn enter(address: usize) -> bool {
    let number = world().once(address);
    visible(Pending::on(Op::Once, number, address));
    let mut w = world();
    w.acquire_object(number);
    let me = w.current as u8;
    let state = w.objects.state(number);
    if state.count != 0 {
        return false;
    }
    state.value = 0;
    state.owner = me;
    true
}

fn leave(address: usize, done: bool) {
    let number = world().once(address);
    visible(Pending::on(Op::OnceDone, number, address));
    let mut w = world();
    w.release_object(number);
    let state = w.objects.state(number);
    (state.value, state.count, state.owner) = (1, done as u32, crate::exploration::object::NOBODY);
}

/// Does `routine` once.
pub fn once(control: usize, routine: unsafe extern "C" fn()) {
    if enter(control) {
        // SAFETY: the program's routine.
        unsafe { routine() };
        leave(control, true);
    }
}

/// `pthread_once`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_once(control: usize, routine: unsafe extern "C" fn()) -> i32 {
    if !active() {
        return pass_on!("pthread_once", fn(usize, unsafe extern "C" fn()) -> i32; control, routine);
    }
    // SAFETY: the program's control word. The C library sets it, and that only before the program comes under control: then what
    // was done happens before everything, and there is nothing to wait for.
    if unsafe { *(control as *const i32) } == DONE {
        return 0;
    }
    once(control, routine);
    0
}

/// A static variable of C++ is about to be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cxa_guard_acquire(guard: *mut u8) -> i32 {
    if !active() {
        return pass_on!("__cxa_guard_acquire", fn(*mut u8) -> i32; guard);
    }
    // The compiler has read it already. Under weak memory what memory holds may be newer than what the thread can see.
    // SAFETY: the program's guard. It may have been set before the program came under control.
    if !crate::exploration::messages::is_weak() && unsafe { *guard } != 0 {
        return 0;
    }
    enter(guard as usize) as i32
}

/// A static variable of C++ is initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cxa_guard_release(guard: *mut u8) {
    if !active() {
        return pass_on!("__cxa_guard_release", fn(*mut u8); guard);
    }
    leave(guard as usize, true);
    // The compiler reads the guard with an acquire load before it asks us.
    const RELEASE: i32 = 3;
    // SAFETY: the program's guard.
    unsafe { crate::instrumentation::atomics::__tsan_atomic8_store(guard.cast(), 1, RELEASE) };
}

/// The initialisation of a static variable of C++ threw an exception.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cxa_guard_abort(guard: *mut u8) {
    if !active() {
        return pass_on!("__cxa_guard_abort", fn(*mut u8); guard);
    }
    leave(guard as usize, false);
}
