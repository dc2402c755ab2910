//! The allocator of the command: the system's, with an answer for when there is no more memory.
//!
//! Rust ends a process by `abort` when an allocation fails that its caller cannot do without. The answer to the user is then
//! "undecided", with what is known. So, when the system refuses memory for the first time, a reserve is given back to it, the token
//! is raised, and the allocation is tried again: what polls the token ends with its usual report, made with the reserve. An
//! allocation that still fails is refused. Callers that can do without go on; for the others `abort` follows, whose
//! signal is caught here: the work is left where it is, and the report is made from what is known.
//!
//! Why that is safe although it happens in a signal handler: the signal is raised by this very thread in `abort`, called by the
//! allocation that was refused, not at an arbitrary place. The allocator is not in use by this thread then, and no lock is
//! taken that would have to be waited for. A panic, which ends in `abort` too, is not meant: only a thread whose last large
//! event was a refused allocation is, and every other one ends as it did before.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::Ordering;

use quotient::system::Reason;

use super::{ENDING, FREE, INTERRUPT, WRITER, end, memory};

struct WithReserve;

#[global_allocator]
static ALLOCATOR: WithReserve = WithReserve;

thread_local! {
    /// An allocation of this thread was refused.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
    /// This thread makes the last report.
    static REPORTS: Cell<bool> = const { Cell::new(false) };
}

/// The system has refused memory.
#[cold]
#[inline(never)]
fn again(allocate: impl FnOnce() -> *mut u8) -> *mut u8 {
    memory::release();
    if let Some(interrupt) = INTERRUPT.get() {
        interrupt.raise(Reason::OutOfMemory);
    }
    let pointer = allocate();
    if pointer.is_null() {
        REFUSED.set(true);
    }
    pointer
}

// SAFETY: everything is passed on to the system's allocator; what it refuses is asked for once more, with the same arguments.
unsafe impl GlobalAlloc for WithReserve {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised by the caller.
        let pointer = unsafe { System.alloc(layout) };
        if pointer.is_null() {
            // SAFETY: as above.
            return again(|| unsafe { System.alloc(layout) });
        }
        pointer
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised by the caller.
        let pointer = unsafe { System.alloc_zeroed(layout) };
        if pointer.is_null() {
            // SAFETY: as above.
            return again(|| unsafe { System.alloc_zeroed(layout) });
        }
        pointer
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as promised by the caller.
        let pointer = unsafe { System.realloc(block, layout, size) };
        if pointer.is_null() {
            // SAFETY: as above; a block whose growth was refused is still there.
            return again(|| unsafe { System.realloc(block, layout, size) });
        }
        pointer
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Catches `abort`.
pub(super) fn catch_abort() {
    // SAFETY: the handler is argued for above; the structure is valid, zeroes are a value of it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = aborted as *const () as libc::sighandler_t;
        // It may happen again while the report is made.
        action.sa_flags = libc::SA_NODEFER;
        libc::sigaction(libc::SIGABRT, &action, std::ptr::null_mut());
    }
}

extern "C" fn aborted(signal: i32) {
    if !REFUSED.get() {
        // SAFETY: without the handler the signal ends the process, as if there had never been one.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        return;
    }
    match WRITER.compare_exchange(FREE, ENDING, Ordering::Acquire, Ordering::Relaxed) {
        Ok(_) => {
            REPORTS.set(true);
            end()
        }
        // Another thread is ending the process.
        Err(ENDING) if !REPORTS.get() => loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        },
        // Out of memory in a report: the status says that it does not count.
        Err(_) => super::exit(crate::command::status::UNDECIDED),
    }
}
