//! `memcpy` and friends as some compilers call them: by a name of the instrumentation.
//!
//! Calls by the usual names go through the table of [`crate::library`].

use crate::exploration::race::How;
use crate::instrumentation::hooks::range;

unsafe extern "C" {
    fn memcpy(to: *mut u8, from: *const u8, size: usize) -> *mut u8;
    fn memmove(to: *mut u8, from: *const u8, size: usize) -> *mut u8;
    fn memset(to: *mut u8, value: i32, size: usize) -> *mut u8;
}

fn copies(to: *mut u8, from: *const u8, size: usize) {
    range(from as usize, size, How::READ);
    range(to as usize, size, How::WRITE);
}

/// `memcpy` with its accesses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_memcpy(to: *mut u8, from: *const u8, size: usize) -> *mut u8 {
    copies(to, from, size);
    // SAFETY: the program's own call, which the compiler has replaced by this one.
    unsafe { memcpy(to, from, size) }
}

/// `memmove` with its accesses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_memmove(to: *mut u8, from: *const u8, size: usize) -> *mut u8 {
    copies(to, from, size);
    // SAFETY: the program's own call, which the compiler has replaced by this one.
    unsafe { memmove(to, from, size) }
}

/// `memset` with its accesses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_memset(to: *mut u8, value: i32, size: usize) -> *mut u8 {
    range(to as usize, size, How::WRITE);
    // SAFETY: the program's own call, which the compiler has replaced by this one.
    unsafe { memset(to, value, size) }
}
