//! Calls whose effect on other threads or on the outside cannot be controlled: refused by name.

use crate::protocol::FailureKind;
use crate::real;
use crate::world::{active, fail, world};

macro_rules! refused {
    ($($name:ident $text:literal),* $(,)?) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> usize {
            if active() {
                fail(FailureKind::Refused, concat!(stringify!($name), ": ", $text), 0);
            }
            // SAFETY: passed on; superfluous arguments are not looked at.
            unsafe { real_refused!($name)(a, b, c, d, e, f) }
        }
    )* };
}

macro_rules! real_refused {
    ($name:ident) => {{
        static CACHE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        const NAME: &str = concat!(stringify!($name), "\0");
        let name = std::ffi::CStr::from_bytes_with_nul(NAME.as_bytes()).unwrap_or(c"");
        type Any = unsafe extern "C" fn(usize, usize, usize, usize, usize, usize) -> usize;
        // Integer arguments are passed in registers, so a function of fewer can be called like this.
        $crate::system_call::real_function::<Any>(&CACHE, name)
    }};
}

refused! {
    fork "the program starts another process",
    vfork "the program starts another process",
    execve "the program becomes another program",
    execv "the program becomes another program",
    execvp "the program becomes another program",
    execvpe "the program becomes another program",
    posix_spawn "the program starts another process",
    posix_spawnp "the program starts another process",
    system "the program starts another process",
    popen "the program starts another process",
    pthread_cancel "cancelling threads is not supported",
    pthread_kill "signals to threads are not supported",
    pthread_sigqueue "signals to threads are not supported",
    sigwait "waiting for signals is not supported",
    sigwaitinfo "waiting for signals is not supported",
    sigtimedwait "waiting for signals is not supported",
    sigsuspend "waiting for signals is not supported",
    pause "waiting for signals is not supported",
    alarm "timers are not supported",
    setitimer "timers are not supported",
    timer_create "timers are not supported",
    socket "sockets are not supported",
    eventfd "blocking communication through the kernel is not supported",
    select "blocking communication through the kernel is not supported",
    epoll_wait "blocking communication through the kernel is not supported",
    mremap "moving mappings is not supported",
    mq_open "message queues are not supported",
    shm_open "shared memory is not supported",
    shmget "shared memory is not supported",
    semget "System V semaphores are not supported",
    raise "sending signals is not supported",
    kill "sending signals is not supported",
}

unsafe extern "C" {
    fn __errno_location() -> *mut i32;
}

/// SIGPIPE.
const BROKEN_PIPE: i32 = 13;
const IGNORE: usize = 1;

/// `signal`: nobody sends signals, so the handler will not be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal(number: i32, handler: usize) -> usize {
    if active() {
        if number == BROKEN_PIPE {
            world().ignores_broken_pipes = handler == IGNORE;
        }
        return 0;
    }
    // SAFETY: passed on.
    unsafe { real!("signal", fn(i32, usize) -> usize)(number, handler) }
}

/// `sigaction`: the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(number: i32, new: usize, old: *mut [u8; 152]) -> i32 {
    if active() {
        if number == BROKEN_PIPE && new != 0 {
            // SAFETY: a struct sigaction begins with the handler.
            world().ignores_broken_pipes = unsafe { *(new as *const usize) } == IGNORE;
        }
        if !old.is_null() {
            // SAFETY: the caller gives room for a struct sigaction: the default.
            unsafe { *old = [0; 152] };
        }
        return 0;
    }
    // SAFETY: passed on.
    unsafe { real!("sigaction", fn(i32, usize, *mut [u8; 152]) -> i32)(number, new, old) }
}

/// `syscall`: futexes are ours, anything else passes.
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
        let result = crate::futex::call(a, b, c, d);
        if result < 0 {
            // SAFETY: the program's errno.
            unsafe { *__errno_location() = -result as i32 };
            return -1;
        }
        return result;
    }
    let real = real!("syscall", fn(usize, usize, usize, usize, usize, usize, usize) -> isize);
    // SAFETY: passed on.
    unsafe { real(number, a, b, c, d, e, f) }
}
