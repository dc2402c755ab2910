//! What `-fsanitize=bounds` makes the compiler call for an index outside of its array.
//!
//! The compiler compares an index with the length of the array wherever that is known from its type: arrays on the stack,
//! global ones and members, but not what is reached through a pointer to an element.

use std::ffi::{CStr, c_char};

use crate::exploration::world::{fail, running};
use crate::protocol::FailureKind;

/// What the compiler knows of an index (the parts used).
#[repr(C)]
struct Index {
    file: *const c_char,
    line: u32,
    column: u32,
    array: *const Type,
    index: *const Type,
}

/// A type: its kind, its size and sign, its name.
#[repr(C)]
struct Type {
    kind: u16,
    /// For integers: bit 0 says that it is signed, the others the binary logarithm of its width.
    details: u16,
    name: [c_char; 0],
}

/// The index, as its type says.
unsafe fn value(kind: *const Type, value: usize) -> i128 {
    // SAFETY: the compiler's description.
    let details = unsafe { (*kind).details };
    if details & 1 == 0 {
        return value as i128;
    }
    let unused = 64u32.saturating_sub(1 << (details >> 1).min(6));
    i128::from((value as i64) << unused >> unused)
}

unsafe fn report(index: *const Index, number: usize) {
    if !running() {
        return;
    }
    // SAFETY: the compiler's description.
    let (name, number) = unsafe {
        let array = &raw const (*(*index).array).name;
        (CStr::from_ptr(array.cast()).to_string_lossy().into_owned(), value((*index).index, number))
    };
    fail(FailureKind::Memory, &format!("index {number} is outside of an array of type {name}"), 0);
}

/// An index is outside of its array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ubsan_handle_out_of_bounds(index: *const u8, number: usize) {
    // SAFETY: the compiler gives the place that it describes and the value of the index.
    unsafe { report(index.cast(), number) };
}

/// The same, if the program is not to go on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ubsan_handle_out_of_bounds_abort(index: *const u8, number: usize) {
    // SAFETY: the compiler gives the place that it describes and the value of the index.
    unsafe { report(index.cast(), number) };
    crate::system::system_call::exit_process(1)
}
