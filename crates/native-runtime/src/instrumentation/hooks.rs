//! What `-fsanitize=thread` makes the compiler call for plain accesses to memory.
//!
//! A hook is called before the access it announces.

use crate::exploration::buffered::settle;
use crate::exploration::race::{How, access, update};
use crate::exploration::world::{running, world};
use crate::interruptions::cancellation::between_instructions;

macro_rules! accesses {
    ($($size:literal: $($name:ident $how:ident),*;)*) => { $($(
        #[doc = concat!("A plain access of ", stringify!($size), " bytes.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(address: usize) {
            if running() {
                if How::$how.write {
                    between_instructions();
                }
                access(address, $size, How::$how);
            }
        }
    )*)* };
}

accesses! {
    1: __tsan_read1 READ, __tsan_write1 WRITE, __tsan_volatile_read1 READ, __tsan_volatile_write1 WRITE,
       __tsan_unaligned_volatile_read1 READ, __tsan_unaligned_volatile_write1 WRITE;
    2: __tsan_read2 READ, __tsan_write2 WRITE, __tsan_volatile_read2 READ, __tsan_volatile_write2 WRITE,
       __tsan_unaligned_read2 READ, __tsan_unaligned_write2 WRITE, __tsan_unaligned_volatile_read2 READ,
       __tsan_unaligned_volatile_write2 WRITE;
    4: __tsan_read4 READ, __tsan_write4 WRITE, __tsan_volatile_read4 READ, __tsan_volatile_write4 WRITE,
       __tsan_unaligned_read4 READ, __tsan_unaligned_write4 WRITE, __tsan_unaligned_volatile_read4 READ,
       __tsan_unaligned_volatile_write4 WRITE;
    8: __tsan_read8 READ, __tsan_write8 WRITE, __tsan_volatile_read8 READ, __tsan_volatile_write8 WRITE,
       __tsan_unaligned_read8 READ, __tsan_unaligned_write8 WRITE, __tsan_unaligned_volatile_read8 READ,
       __tsan_unaligned_volatile_write8 WRITE, __tsan_vptr_read READ;
    16: __tsan_read16 READ, __tsan_write16 WRITE, __tsan_volatile_read16 READ, __tsan_volatile_write16 WRITE,
       __tsan_unaligned_read16 READ, __tsan_unaligned_write16 WRITE, __tsan_unaligned_volatile_read16 READ,
       __tsan_unaligned_volatile_write16 WRITE;
}

macro_rules! compound {
    ($($name:ident $size:literal),*) => { $(
        #[doc = concat!("A read and a write of ", stringify!($size), " bytes, announced together.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(address: usize) {
            if running() {
                between_instructions();
                update(address, $size);
            }
        }
    )* };
}

compound! {
    __tsan_read_write1 1, __tsan_read_write2 2, __tsan_read_write4 4, __tsan_read_write8 8, __tsan_read_write16 16,
    __tsan_unaligned_read_write2 2, __tsan_unaligned_read_write4 4, __tsan_unaligned_read_write8 8,
    __tsan_unaligned_read_write16 16
}

/// The pointer to a table of virtual functions is stored.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_vptr_update(address: *const usize, new: usize) {
    // A destructor stores the same pointer again: that changes nothing.
    // SAFETY: the object exists.
    if running() && unsafe { *address } != new {
        access(address as usize, 8, How::WRITE);
    }
}

/// A plain read of a range.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_read_range(address: usize, size: usize) {
    range(address, size, How::READ);
}

/// A plain write of a range.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_write_range(address: usize, size: usize) {
    if running() {
        between_instructions();
    }
    range(address, size, How::WRITE);
}

/// A plain access to a range.
pub fn range(address: usize, size: usize, how: How) {
    if running() && size > 0 {
        access(address, size, how);
    }
}

/// A function is entered.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_func_entry(_caller: usize) {
    if running() {
        settle();
        let sp = crate::threads::context::frame_pointer();
        // SAFETY: what this function has saved: the frame pointer of the function that is entered.
        let frame = unsafe { *(sp as *const usize) };
        let mut w = world();
        let me = w.me();
        me.lowest = me.lowest.min(sp);
        crate::threads::stack::enter(frame);
        // SAFETY: the return address of this function, which lies above what it has saved.
        if let Some(section) = world().section_of(unsafe { *((sp + 8) as *const usize) }) {
            crate::primitives::section::begin(section);
        }
    }
}

/// A function is left.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_func_exit() {
    if running() {
        settle();
    }
    if running() && world().shared.sections_length > 0 {
        let frame = crate::threads::context::frame_pointer();
        // SAFETY: the return address of this function.
        if world().section_of(unsafe { *((frame + 8) as *const usize) }).is_some() {
            crate::primitives::section::end();
        }
    }
}

/// Called by a constructor of every instrumented file.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_init() {}

/// Instrumentation is to be ignored from here on: it is not.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_ignore_thread_begin() {}

/// End of the above.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_ignore_thread_end() {}
