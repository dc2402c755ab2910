//! `memcpy` and friends, whose accesses happen inside the C library.
//!
//! The linker redirects the program's calls here (`--wrap`); the C library's own calls stay as they are.

use crate::hooks::range;
use crate::race::How;

unsafe extern "C" {
    fn memcpy(to: *mut u8, from: *const u8, size: usize) -> *mut u8;
    fn memmove(to: *mut u8, from: *const u8, size: usize) -> *mut u8;
    fn memset(to: *mut u8, value: i32, size: usize) -> *mut u8;
    fn memcmp(a: *const u8, b: *const u8, size: usize) -> i32;
    fn strlen(text: *const u8) -> usize;
    fn strcpy(to: *mut u8, from: *const u8) -> *mut u8;
    fn strncpy(to: *mut u8, from: *const u8, size: usize) -> *mut u8;
    fn strcat(to: *mut u8, from: *const u8) -> *mut u8;
    fn strcmp(a: *const u8, b: *const u8) -> i32;
    fn strncmp(a: *const u8, b: *const u8, size: usize) -> i32;
    fn strdup(text: *const u8) -> *mut u8;
    fn strchr(text: *const u8, byte: i32) -> *mut u8;
}

fn reads(address: *const u8, size: usize) {
    range(address as usize, size, How::READ);
}

fn writes(address: *const u8, size: usize) {
    range(address as usize, size, How::WRITE);
}

fn reads_text(text: *const u8) {
    reads(text, text_size(text));
}

fn text_size(text: *const u8) -> usize {
    // SAFETY: the program says that this is a string.
    unsafe { strlen(text) + 1 }
}

macro_rules! wrapped {
    ($($name:ident as $real:ident($($argument:ident: $kind:ty),*) -> $result:ty { $($note:stmt;)* })*) => { $(
        #[doc = concat!("`", stringify!($real), "` with its accesses.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
            $($note)*
            // SAFETY: passed on.
            unsafe { $real($($argument),*) }
        }
    )* };
}

wrapped! {
    __wrap_memcpy as memcpy(to: *mut u8, from: *const u8, size: usize) -> *mut u8 { reads(from, size); writes(to, size); }
    __wrap_memmove as memmove(to: *mut u8, from: *const u8, size: usize) -> *mut u8 { reads(from, size); writes(to, size); }
    __wrap_memset as memset(to: *mut u8, value: i32, size: usize) -> *mut u8 { writes(to, size); }
    __wrap_memcmp as memcmp(a: *const u8, b: *const u8, size: usize) -> i32 { reads(a, size); reads(b, size); }
    __wrap_strlen as strlen(text: *const u8) -> usize { reads_text(text); }
    __wrap_strcpy as strcpy(to: *mut u8, from: *const u8) -> *mut u8 { reads_text(from); writes(to, text_size(from)); }
    __wrap_strncpy as strncpy(to: *mut u8, from: *const u8, size: usize) -> *mut u8 { writes(to, size); }
    __wrap_strcat as strcat(to: *mut u8, from: *const u8) -> *mut u8 {
        reads_text(from);
        reads_text(to);
        writes(to.wrapping_add(text_size(to) - 1), text_size(from));
    }
    __wrap_strcmp as strcmp(a: *const u8, b: *const u8) -> i32 { reads_text(a); reads_text(b); }
    __wrap_strncmp as strncmp(a: *const u8, b: *const u8, size: usize) -> i32 { reads(a, size.min(1)); reads(b, size.min(1)); }
    __wrap_strdup as strdup(text: *const u8) -> *mut u8 { reads_text(text); }
    __wrap_strchr as strchr(text: *const u8, byte: i32) -> *mut u8 { reads_text(text); }
    __tsan_memcpy as memcpy(to: *mut u8, from: *const u8, size: usize) -> *mut u8 { reads(from, size); writes(to, size); }
    __tsan_memmove as memmove(to: *mut u8, from: *const u8, size: usize) -> *mut u8 { reads(from, size); writes(to, size); }
    __tsan_memset as memset(to: *mut u8, value: i32, size: usize) -> *mut u8 { writes(to, size); }
}
