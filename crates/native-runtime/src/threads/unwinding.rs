//! The end of a thread from within: `pthread_exit` and cancellation.
//!
//! The stack is unwound by force, as the C library does it (`_Unwind_ForcedUnwind` of the Itanium C++ ABI): every frame
//! is left, destructors of C++ objects run, and so do the cleanup handlers of `pthread_cleanup_push`. Handlers of C
//! (compiled without exceptions) are places saved by `setjmp`: unwinding stops at the frame that saved one, goes on there, and the
//! program calls [`__pthread_unwind_next`] when the handler is done. A `catch (...)` that does not throw again is an error.

use crate::exploration::world::{active, fail, world};
use crate::protocol::FailureKind;
use crate::{pass_on, real};

/// The object that is thrown, as the unwinder knows it. Its memory belongs to no frame: frames are given up meanwhile.
#[repr(C, align(16))]
#[derive(Default)]
pub struct Thrown {
    class: u64,
    cleanup: usize,
    private: [usize; 4],
}

type Stop = unsafe extern "C" fn(i32, i32, u64, *mut Thrown, usize, usize) -> i32;

// Declared as functions that do not unwind: no code of this library is to run when they do.
unsafe extern "C" {
    fn _Unwind_ForcedUnwind(thrown: *mut Thrown, stop: Stop, argument: usize) -> i32;
    fn _Unwind_GetCFA(context: usize) -> usize;
}

/// `pthread_exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_exit(result: usize) -> ! {
    if !active() {
        pass_on!("pthread_exit", fn(usize); result);
    }
    world().me().result = result;
    unwind()
}

/// Unwinds the stack of the running thread and ends it. Cancellation does not interrupt this.
pub fn unwind() -> ! {
    let mut w = world();
    let me = w.me();
    me.uncancellable = true;
    let caught = caught as extern "C" fn(i32, *mut Thrown);
    me.thrown = Thrown { class: 0, cleanup: caught as usize, private: [0; 4] };
    let thrown = &raw mut me.thrown;
    // SAFETY: the object stays where it is; `stop` leaves at the end of the stack.
    unsafe { _Unwind_ForcedUnwind(thrown, stop, 0) };
    // Not reached: the stack always has an end.
    finish()
}

fn finish() -> ! {
    let result = world().me().result;
    crate::threads::thread::finish(result)
}

/// The program has caught what ends its thread, and keeps it.
extern "C" fn caught(_reason: i32, _thrown: *mut Thrown) {
    fail(FailureKind::Crash, "the end of a thread was caught by catch (...) and not thrown again", 0);
}

/// The stack pointer in a place saved by `setjmp`, which the C library hides.
fn saved_stack_pointer(buffer: usize) -> usize {
    let guard: usize;
    // SAFETY: the C library's pointer guard is in the thread control block, the hidden value the seventh of the buffer.
    unsafe {
        std::arch::asm!("mov {}, fs:[0x30]", out(reg) guard, options(nostack, readonly, preserves_flags));
        (*(buffer as *const usize).add(6)).rotate_right(17) ^ guard
    }
}

macro_rules! jumps {
    ($($name:ident $literal:literal),*) => { $(
        #[doc = concat!("`", stringify!($name), "`: not out of a signal handler.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(buffer: usize, value: i32) -> ! {
            if active() {
                let handler = world().me().signals.handler_frame;
                if handler != 0 && saved_stack_pointer(buffer) > handler {
                    fail(FailureKind::Refused, concat!($literal, ": a jump out of a signal handler"), 0);
                }
            }
            pass_on!($literal, fn(usize, i32); buffer, value);
            // Not reached.
            crate::system::system_call::exit_process(134)
        }
    )* };
}

jumps! { longjmp "longjmp", _longjmp "_longjmp", siglongjmp "siglongjmp" }

/// Called before each frame is left: goes to a handler that this frame has registered, or ends the thread.
unsafe extern "C" fn stop(
    _version: i32,
    actions: i32,
    _class: u64,
    _thrown: *mut Thrown,
    context: usize,
    _argument: usize,
) -> i32 {
    const END_OF_STACK: i32 = 16;
    let end = actions & END_OF_STACK != 0;
    // SAFETY: as the unwinder gives it. This is the stack pointer within the frame that is to be left.
    let here = unsafe { _Unwind_GetCFA(context) };
    let mut w = world();
    let me = w.me();
    if let Some(&buffer) = me.cleanup.last()
        && (end || here >= saved_stack_pointer(buffer))
    {
        me.cleanup.pop();
        // SAFETY: the program saved its context there (`pthread_cleanup_push`) and has not left that block.
        unsafe { real!("siglongjmp", fn(usize, i32))(buffer, 1) };
    }
    if end {
        finish();
    }
    0
}

/// Part of `pthread_cleanup_push`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pthread_register_cancel(buffer: usize) {
    if !active() {
        return pass_on!("__pthread_register_cancel", fn(usize); buffer);
    }
    world().me().cleanup.push(buffer);
}

/// Part of `pthread_cleanup_pop`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pthread_unregister_cancel(buffer: usize) {
    if !active() {
        return pass_on!("__pthread_unregister_cancel", fn(usize); buffer);
    }
    world().me().cleanup.retain(|&b| b != buffer);
}

/// Called by the program after a cleanup handler.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pthread_unwind_next(buffer: usize) {
    if !active() {
        return pass_on!("__pthread_unwind_next", fn(usize); buffer);
    }
    unwind()
}

/// Registers a destructor of a thread-local C++ object: run when the thread ends, last registered first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cxa_thread_atexit_impl(destructor: usize, object: usize, library: usize) -> i32 {
    if !active() {
        return pass_on!("__cxa_thread_atexit_impl", fn(usize, usize, usize) -> i32; destructor, object, library);
    }
    world().me().local_destructors.push((destructor, object));
    0
}

/// Destroys the thread-local C++ objects of the running thread.
pub fn destroy_locals() {
    while let Some((destructor, object)) = world().me().local_destructors.pop() {
        // SAFETY: as the program has registered it.
        unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(usize)>(destructor)(object) };
    }
}
