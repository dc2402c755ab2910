//! Cancellation of threads: at cancellation points, or between any two instructions (POSIX.1-2017, 2.9.5).
//!
//! Whether a thread is to be cancelled is an object of its own. A request writes it, a cancellation point reads it. A thread that
//! *blocks* at a cancellation point goes on when it gets what it waits for or when it is cancelled; see `interruption` for
//! how that is explored. Only threads that some execution cancels look at their object: they are found as the exploration goes,
//! which then starts again. So a program without cancellation has no step more than before.
//!
//! A cancelled thread disables its cancellation, runs its cleanup handlers and C++ destructors (`unwinding`) and ends with
//! `PTHREAD_CANCELED`. A request synchronises with acting on it, as all implementations have it.
//!
//! A thread of the asynchronous type may end between any two instructions. Of these only those count after which the memory or the
//! synchronisation that others see is another: so such a thread looks at its object before each of its writes that have a
//! hook, before each visible operation, and at its end. (What has no hook is a variable that nobody else can see.) Library
//! functions are not divided: but for three of cancellation itself, none may be cancelled asynchronously anyway.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::exploration::race::{How, access};
use crate::exploration::world::{Pending, World, active, announce, running, visible, world};
use crate::interruptions::interruption::{Kind, Next, point};
use crate::pass_on;
use crate::protocol::{Op, why};

const EINVAL: i32 = 22;
/// `PTHREAD_CANCELED`.
const CANCELLED: usize = usize::MAX;
/// Stand for the objects: no addresses of the program.
const FIRST_OBJECT: usize = 0x808;

impl World {
    /// The object that says whether `thread` is to be cancelled.
    pub fn cancellation(&mut self, thread: usize) -> u32 {
        self.objects.number(FIRST_OBJECT + 8 * thread)
    }

    /// Is there an execution in which this thread is cancelled, and would it act on that now?
    pub fn is_cancellable(&self, thread: usize) -> bool {
        self.cancelled_ever >> thread & 1 != 0 && !self.threads[thread].uncancellable
    }

    /// Is this thread to be cancelled?
    pub fn is_cancelled(&self, thread: usize) -> bool {
        self.threads[thread].cancelled
    }
}

/// Waits until the running thread is asked to end, which may never happen.
pub fn await_request() {
    let mut w = world();
    let me = w.current;
    let number = w.cancellation(me);
    announce(Pending::on(Op::AwaitCancel, number, 0));
}

/// The running thread ends as it was asked to.
pub fn act() -> ! {
    let mut w = world();
    let me = w.current;
    let number = w.cancellation(me);
    w.acquire_object(number);
    w.me().result = CANCELLED;
    crate::threads::unwinding::unwind()
}

/// `pthread_cancel`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cancel(handle: usize) -> i32 {
    if !active() {
        return pass_on!("pthread_cancel", fn(usize) -> i32; handle);
    }
    let thread = crate::threads::handle::used(handle, "pthread_cancel");
    let mut w = world();
    if w.cancelled_ever >> thread & 1 == 0 {
        // Its cancellation points so far were none: everything starts again.
        w.cancelled_ever |= 1 << thread;
        w.grown = true;
        w.abandon();
    }
    w.break_symmetry(1 << thread, why::IDENTITY);
    let number = w.cancellation(thread);
    visible(Pending { address: thread, ..Pending::on(Op::Cancel, number, 0) });
    let mut w = world();
    w.objects.state(number).value = 1;
    w.threads[thread].cancelled = true;
    w.release_object(number);
    0
}

/// `pthread_setcancelstate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_setcancelstate(state: i32, old: *mut i32) -> i32 {
    if !active() {
        return pass_on!("pthread_setcancelstate", fn(i32, *mut i32) -> i32; state, old);
    }
    if !(0..=1).contains(&state) {
        return EINVAL;
    }
    let mut w = world();
    let me = w.me();
    let before = std::mem::replace(&mut me.uncancellable, state == 1);
    give(old, i32::from(before));
    between_instructions();
    0
}

/// Has a thread of some execution asked to be cancelled asynchronously?
static ASYNCHRONOUS: AtomicBool = AtomicBool::new(false);

/// `pthread_setcanceltype`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_setcanceltype(kind: i32, old: *mut i32) -> i32 {
    if !active() {
        return pass_on!("pthread_setcanceltype", fn(i32, *mut i32) -> i32; kind, old);
    }
    if !(0..=1).contains(&kind) {
        return EINVAL;
    }
    // Until here the old type counts.
    between_instructions();
    let before = std::mem::replace(&mut world().me().asynchronous, kind == 1);
    give(old, i32::from(before));
    ASYNCHRONOUS.fetch_or(kind == 1, Relaxed);
    between_instructions();
    0
}

/// Before something that others can see: a thread that may be cancelled asynchronously may end here.
#[inline]
pub fn between_instructions() {
    if ASYNCHRONOUS.load(Relaxed) {
        let w = world();
        if w.threads[w.current].asynchronous {
            point(Kind::Cancellation, Next::GoesOn);
        }
    }
}

fn give(to: *mut i32, value: i32) {
    if !to.is_null() {
        access(to as usize, 4, How::WRITE);
        // SAFETY: the caller gives room for an int.
        unsafe { *to = value };
    }
}

/// `pthread_testcancel`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_testcancel() {
    if !running() {
        return pass_on!("pthread_testcancel", fn(); );
    }
    point(Kind::Cancellation, Next::GoesOn);
}
