//! System calls without the C library, and the C library's own functions behind the interposed ones.
//!
//! Raw calls touch neither `errno` nor interposed symbols, so they can be used in every context.

use std::arch::asm;
use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Numbers of the calls used (x86-64).
#[allow(missing_docs, reason = "the names say it")]
pub mod number {
    pub const READ: usize = 0;
    pub const WRITE: usize = 1;
    pub const OPEN: usize = 2;
    pub const CLOSE: usize = 3;
    pub const LSEEK: usize = 8;
    pub const MMAP: usize = 9;
    pub const MPROTECT: usize = 10;
    pub const IOCTL: usize = 16;
    pub const PREAD: usize = 17;
    pub const MADVISE: usize = 28;
    pub const DUP2: usize = 33;
    pub const PAUSE: usize = 34;
    pub const FTRUNCATE: usize = 77;
    pub const FUTEX: usize = 202;
    pub const CLOCK_GETTIME: usize = 228;
    pub const EXIT_GROUP: usize = 231;
    pub const USERFAULTFD: usize = 323;
    pub const CLOSE_RANGE: usize = 436;
}

/// A system call. The result is negative on failure: minus the error number.
///
/// # Safety
/// As the call.
#[inline]
pub unsafe fn system_call(number: usize, a: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the kernel preserves all registers but these; what the call does to memory is the caller's matter.
    unsafe {
        asm!("syscall", inlateout("rax") number => result, in("rdi") a[0], in("rsi") a[1], in("rdx") a[2],
            in("r10") a[3], in("r8") a[4], in("r9") a[5], out("rcx") _, out("r11") _, options(nostack));
    }
    result
}

/// Readable and writable.
pub const READ_WRITE: usize = 3;
/// Private and anonymous, without reserving memory, at exactly this address and only if it is free.
const FIXED: usize = 0x2 | 0x20 | 0x4000 | 0x10_0000;

/// Maps zeroed memory at a fixed, free address; ends the process if that is impossible.
pub fn map_fixed(address: usize, length: usize) -> *mut u8 {
    // SAFETY: a new mapping.
    let result = unsafe { system_call(number::MMAP, [address, length, READ_WRITE, FIXED, usize::MAX, 0]) };
    if result != address as isize {
        die(b"quotient: cannot map memory at its fixed address\n");
    }
    address as *mut u8
}

/// Maps the file behind a descriptor, shared.
pub fn map_shared(descriptor: i32, length: usize) -> Option<*mut u8> {
    // SAFETY: a new mapping at an address of the kernel's choice.
    let result = unsafe { system_call(number::MMAP, [0, length, READ_WRITE, 1, descriptor as usize, 0]) };
    (result > 0).then_some(result as *mut u8)
}

/// Ends the process with a message.
pub fn die(message: &[u8]) -> ! {
    // SAFETY: the buffer is valid.
    unsafe { system_call(number::WRITE, [2, message.as_ptr() as usize, message.len(), 0, 0, 0]) };
    exit_process(99)
}

/// Ends the process at once.
pub fn exit_process(status: i32) -> ! {
    loop {
        // SAFETY: no memory is involved.
        unsafe { system_call(number::EXIT_GROUP, [status as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Waits while the word has this value.
pub fn futex_wait(word: &std::sync::atomic::AtomicU32, value: u32) {
    let address = std::ptr::from_ref(word) as usize;
    // SAFETY: the word is valid.
    unsafe { system_call(number::FUTEX, [address, 128, value as usize, 0, 0, 0]) };
}

/// Wakes who waits on the word.
pub fn futex_wake(word: &std::sync::atomic::AtomicU32) {
    let address = std::ptr::from_ref(word) as usize;
    // SAFETY: the word is valid.
    unsafe { system_call(number::FUTEX, [address, 129, i32::MAX as usize, 0, 0, 0]) };
}

unsafe extern "C" {
    fn dlsym(handle: usize, name: *const std::ffi::c_char) -> usize;
}

/// The address of the next definition of `name` after this library's, remembered in `cache`.
pub fn real(cache: &AtomicUsize, name: &CStr) -> usize {
    let known = cache.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    // SAFETY: RTLD_NEXT and a terminated name.
    let found = unsafe { dlsym(usize::MAX, name.as_ptr()) };
    if found == 0 {
        die(b"quotient: a function of the C library is missing\n");
    }
    cache.store(found, Ordering::Relaxed);
    found
}

/// The next definition of `name` as a function of type `F`: what it has in the C library.
pub fn real_function<F: Copy>(cache: &AtomicUsize, name: &CStr) -> F {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    let address = real(cache, name);
    // SAFETY: only used by the macro below, where `F` is the type of the function of this name; calling it is unsafe.
    unsafe { std::mem::transmute_copy::<usize, F>(&address) }
}

/// Passes a call of the program on to the C library's function of this name: `pass_on!("name", fn(A, B) -> C; a, b)`. Only for functions
/// that stand in the place of that one.
#[macro_export]
macro_rules! pass_on {
    ($name:literal, fn($($kind:ty),*) $(-> $result:ty)?; $($argument:ident),*) => {{
        let function = $crate::real!($name, fn($($kind),*) $(-> $result)?);
        // SAFETY: the program has called the C library's function of this name with these arguments, and owes to it whatever that
        // needs of them: pointers to memory that is there, handles that are in use. Nothing was changed in between.
        unsafe { function($($argument),*) }
    }};
}

/// Calls the C library's own function of this name: `real!("name", fn(A, B) -> C)(a, b)`.
#[macro_export]
macro_rules! real {
    ($name:literal, fn($($argument:ty),*) $(-> $result:ty)?) => {{
        static CACHE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        const NAME: &std::ffi::CStr = match std::ffi::CStr::from_bytes_with_nul(concat!($name, "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => panic!(),
        };
        $crate::system::system_call::real_function::<unsafe extern "C" fn($($argument),*) $(-> $result)?>(&CACHE, NAME)
    }};
}
