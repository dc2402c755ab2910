//! C11 threads, in terms of the same operations.

use crate::exploration::world::{active, running, world};
use crate::primitives::lifecycle::{Primitive, before_initialisation, initialised};
use crate::primitives::mutex::{
    pthread_mutex_destroy, pthread_mutex_lock, pthread_mutex_timedlock, pthread_mutex_trylock,
    pthread_mutex_unlock,
};
use crate::{pass_on, real};

const SUCCESS: i32 = 0;
const BUSY: i32 = 1;
const ERROR: i32 = 2;
const TIMED_OUT: i32 = 4;

fn result(status: i32) -> i32 {
    match status {
        0 => SUCCESS,
        16 => BUSY,
        110 => TIMED_OUT,
        _ => ERROR,
    }
}

macro_rules! c11 {
    ($($name:ident($($argument:ident: $kind:ty),*) $body:block)*) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $kind),*) -> i32 {
            if !active() {
                let real = c11_real!($name, fn($($kind),*) -> i32);
                // SAFETY: the arguments are those that the program gives to the C library's function of this name, with all that it owes to that.
                return unsafe { real($($argument),*) };
            }
            result($body)
        }
    )* };
}

macro_rules! c11_real {
    (thrd_create, $($kind:tt)*) => {{
        crate::threads::thread::refuse_early();
        real!("thrd_create", $($kind)*)
    }};
    (thrd_join, $($kind:tt)*) => { real!("thrd_join", $($kind)*) };
    (thrd_detach, $($kind:tt)*) => { real!("thrd_detach", $($kind)*) };
    (mtx_lock, $($kind:tt)*) => { real!("mtx_lock", $($kind)*) };
    (mtx_trylock, $($kind:tt)*) => { real!("mtx_trylock", $($kind)*) };
    (mtx_timedlock, $($kind:tt)*) => { real!("mtx_timedlock", $($kind)*) };
    (mtx_unlock, $($kind:tt)*) => { real!("mtx_unlock", $($kind)*) };
    (cnd_init, $($kind:tt)*) => { real!("cnd_init", $($kind)*) };
    (cnd_wait, $($kind:tt)*) => { real!("cnd_wait", $($kind)*) };
    (cnd_timedwait, $($kind:tt)*) => { real!("cnd_timedwait", $($kind)*) };
    (cnd_signal, $($kind:tt)*) => { real!("cnd_signal", $($kind)*) };
    (cnd_broadcast, $($kind:tt)*) => { real!("cnd_broadcast", $($kind)*) };
}

c11! {
    thrd_create(handle: *mut usize, routine: usize, argument: usize) {
        let order = crate::threads::thread::HandleWritten::BeforeTheThreadBegins;
        crate::threads::thread::create(handle, 0, routine, argument, true, order)
    }
    thrd_join(handle: usize, value: *mut i32) {
        let mut full = 0usize;
        let wanted = (!value.is_null()).then_some(&mut full);
        let status = crate::threads::thread::join_thread(handle, wanted);
        if !value.is_null() && status == 0 {
            crate::exploration::race::access(value as usize, 4, crate::exploration::race::How::WRITE);
            // SAFETY: the caller gives room for an int.
            unsafe { *value = full as i32 };
        }
        status
    }
    thrd_detach(handle: usize) {
        // SAFETY: the function of pthreads that does the same.
        unsafe { crate::threads::thread::pthread_detach(handle) }
    }
    mtx_lock(mutex: usize) {
        // SAFETY: the function of pthreads that does the same.
        unsafe { pthread_mutex_lock(mutex) }
    }
    mtx_trylock(mutex: usize) {
        // SAFETY: the function of pthreads that does the same.
        unsafe { pthread_mutex_trylock(mutex) }
    }
    mtx_timedlock(mutex: usize, time: usize) {
        // SAFETY: the function of pthreads that does the same.
        unsafe { pthread_mutex_timedlock(mutex, time) }
    }
    mtx_unlock(mutex: usize) {
        // SAFETY: the function of pthreads that does the same.
        unsafe { pthread_mutex_unlock(mutex) }
    }
    cnd_init(condition: usize) {
        // SAFETY: the function of pthreads that does the same.
        unsafe { crate::primitives::condition::pthread_cond_init(condition, 0) }
    }
    cnd_wait(condition: usize, mutex: usize) {
        // SAFETY: the function of pthreads that does the same.
        unsafe { crate::primitives::condition::pthread_cond_wait(condition, mutex) }
    }
    cnd_timedwait(condition: usize, mutex: usize, time: usize) {
        // SAFETY: the function of pthreads that does the same.
        unsafe { crate::primitives::condition::pthread_cond_timedwait(condition, mutex, time) }
    }
    cnd_signal(condition: usize) {
        // SAFETY: the function of pthreads that does the same.
        unsafe { crate::primitives::condition::pthread_cond_signal(condition) }
    }
    cnd_broadcast(condition: usize) {
        // SAFETY: the function of pthreads that does the same.
        unsafe { crate::primitives::condition::pthread_cond_broadcast(condition) }
    }
}

/// `thrd_exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn thrd_exit(value: i32) -> ! {
    // SAFETY: the same.
    unsafe { crate::threads::unwinding::pthread_exit(value as usize) }
}

/// `thrd_current`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thrd_current() -> usize {
    if !running() {
        return pass_on!("thrd_current", fn() -> usize; );
    }
    // SAFETY: the return address of this function, which lies above the frame pointer that it has saved.
    let place = unsafe { *((crate::threads::context::frame_pointer() + 8) as *const usize) };
    world().own_handle(place)
}

/// `thrd_yield`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thrd_yield() {
    if active() {
        crate::exploration::world::quiet();
    }
}

/// `mtx_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_init(mutex: usize, kind: i32) -> i32 {
    before_initialisation(Primitive::Mutex, mutex);
    // It writes the kind.
    let status = pass_on!("mtx_init", fn(usize, i32) -> i32; mutex, kind);
    initialised(Primitive::Mutex, mutex);
    status
}

/// `mtx_destroy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_destroy(mutex: usize) {
    // SAFETY: the same.
    unsafe { pthread_mutex_destroy(mutex) };
}

/// `cnd_destroy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cnd_destroy(condition: usize) {
    // SAFETY: the same.
    unsafe { crate::primitives::condition::pthread_cond_destroy(condition) };
}

/// `call_once`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn call_once(flag: usize, routine: unsafe extern "C" fn()) {
    // SAFETY: the same.
    unsafe { crate::primitives::once::pthread_once(flag, routine) };
}
