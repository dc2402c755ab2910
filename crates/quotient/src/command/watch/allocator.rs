//! The allocator of the command: the system's, with an answer for when there is no more memory.
//!
//! Rust ends a process by `abort` when an allocation fails that its caller cannot do without; a user is to be told "undecided", with
//! what is known. So, when the system refuses memory for the first time, a reserve is given back to it, the token is raised,
//! and the allocation is tried again: what polls the token ends with its usual report, made with the reserve. When that
//! does not help either, callers that can do without ([`may_fail`]) are refused, and all others never return: the work is left
//! where it is, and the report is made from what is known, by the thread that asked for memory.
//!
//! That thread may be anywhere, and hold any lock but those of the system's allocator, which has answered. The report waits for no
//! lock (see the module above), and what it allocates comes here again: if it is refused, too, the process ends
//! with nothing but the exit status for "undecided".

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::Ordering;

use quotient::seams::{Reason, may_fail};

use super::{ENDING, FREE, INTERRUPT, WRITER, end, exit, memory, write_all};
use quotient::status;

struct WithReserve;

#[global_allocator]
static ALLOCATOR: WithReserve = WithReserve;

thread_local! {
    /// This thread makes the last report.
    static REPORTS: Cell<bool> = const { Cell::new(false) };
}

/// The system has refused memory.
#[cold]
#[inline(never)]
fn again(allocate: impl FnOnce() -> *mut u8) -> *mut u8 {
    memory::release();
    let interrupt = INTERRUPT.get();
    if let Some(interrupt) = interrupt {
        interrupt.raise(Reason::OutOfMemory);
    }
    let pointer = allocate();
    // Before the command has begun there is nothing to report.
    if pointer.is_null() && !may_fail() && interrupt.is_some() {
        give_up();
    }
    pointer
}

/// Reports what is known and ends the process.
fn give_up() -> ! {
    match WRITER.compare_exchange(FREE, ENDING, Ordering::Acquire, Ordering::Relaxed) {
        Ok(_) => {
            REPORTS.set(true);
            end()
        }
        // Another thread is ending the process.
        Err(ENDING) if !REPORTS.get() => loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        },
        Err(_) => {
            write_all("undecided: out of memory\n");
            exit(status::UNDECIDED)
        }
    }
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
