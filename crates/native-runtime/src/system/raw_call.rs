//! `syscall`: system calls by number.
//!
//! Those that have a function of their own here go there: it knows the program's pipes, its threads and its time. A few that
//! change nothing and give the same in every execution pass. All others are refused: they could start processes or
//! send signals past the exploration, and process numbers that the program knows are not the kernel's.

use crate::exploration::world::{active, fail};
use crate::pass_on;
use crate::protocol::FailureKind;

/// getuid, getgid, geteuid, getegid, getppid, uname, sysinfo, sched_getaffinity, prctl, madvise, mprotect, brk. (Not membarrier: no memory
/// model knows a fence in other threads.)
const HARMLESS: [usize; 12] = [102, 104, 107, 108, 110, 63, 99, 204, 157, 28, 10, 12];

unsafe extern "C" {
    fn __errno_location() -> *mut i32;
    fn dlsym(handle: usize, name: *const std::ffi::c_char) -> usize;
}

/// The function that makes this call, if the runtime has one.
fn function(number: usize) -> Option<&'static std::ffi::CStr> {
    Some(match number {
        0 => c"read",
        1 => c"write",
        2 => c"open",
        3 => c"close",
        7 => c"poll",
        22 => c"pipe",
        24 => c"sched_yield",
        35 => c"nanosleep",
        39 => c"getpid",
        56 | 57 | 435 => c"fork",
        58 => c"vfork",
        59 => c"execve",
        62 => c"kill",
        96 => c"gettimeofday",
        186 => c"gettid",
        201 => c"time",
        228 => c"clock_gettime",
        230 => c"clock_nanosleep",
        231 => c"_exit",
        234 => c"tgkill",
        257 => c"openat",
        293 => c"pipe2",
        318 => c"getrandom",
        _ => return None,
    })
}

/// `syscall`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall(
    number: usize,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> isize {
    const FUTEX: usize = 202;
    if active() && number == FUTEX {
        let result = crate::primitives::futex::call(a, b, c, d);
        if result < 0 {
            // SAFETY: the program's errno.
            unsafe { *__errno_location() = -result as i32 };
            return -1;
        }
        return result;
    }
    if active() && !HARMLESS.contains(&number) {
        // SAFETY: the default search finds this library's functions before those of the C library.
        let found = function(number).map_or(0, |name| unsafe { dlsym(0, name.as_ptr()) });
        if found == 0 {
            fail(FailureKind::Refused, &format!("syscall: system call number {number} is not supported"), 0);
        }
        type Any = unsafe extern "C" fn(usize, usize, usize, usize, usize, usize) -> isize;
        // SAFETY: a function with at most six arguments, all passed in registers.
        let result = unsafe { std::mem::transmute::<usize, Any>(found)(a, b, c, d, e, f) };
        // Most of these functions give an `int`.
        return if matches!(number, 0 | 1 | 201 | 318) { result } else { result as i32 as isize };
    }
    // Nearly all of those that pass ask for something.
    crate::environment::outside::note(crate::protocol::Outside::Machine, b"syscall");
    pass_on!("syscall", fn(usize, usize, usize, usize, usize, usize, usize) -> isize; number, a, b, c, d, e, f)
}
