//! Calls whose effect on other threads or on the outside cannot be controlled: refused by name.

use crate::exploration::world::{active, fail};
use crate::protocol::FailureKind;

macro_rules! refused {
    ($($name:ident $text:literal),* $(,)?) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> usize {
            if active() {
                fail(FailureKind::Refused, concat!(stringify!($name), ": ", $text), 0);
            }
            // SAFETY: the program calls the C library's function of this name; arguments that this one has not are not looked at.
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
        $crate::system::system_call::real_function::<Any>(&CACHE, name)
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
    pthread_tryjoin_np "not supported; pthread_join is",
    pthread_timedjoin_np "not supported; pthread_join is",
    pthread_clockjoin_np "not supported; pthread_join is",
    pthread_sigqueue "signals with values are not supported",
    sigqueue "signals with values are not supported",
    killpg "signals to other processes are not supported",
    tgkill "signals to kernel threads are not supported",
    signalfd "signals as files are not supported",
    alarm "timers are not supported",
    setitimer "timers are not supported",
    timer_create "timers are not supported",
    aio_read "the library would start threads of its own",
    aio_read64 "the library would start threads of its own",
    aio_write "the library would start threads of its own",
    aio_write64 "the library would start threads of its own",
    aio_fsync "the library would start threads of its own",
    aio_fsync64 "the library would start threads of its own",
    lio_listio "the library would start threads of its own",
    lio_listio64 "the library would start threads of its own",
    getaddrinfo_a "the library would start threads of its own",
    mq_notify "the library would start threads of its own",
    eventfd "not supported; pipes and semaphores are",
    epoll_create "not supported; poll and select are",
    epoll_create1 "not supported; poll and select are",
    sendmsg "not supported; send is",
    recvmsg "not supported; recv is",
    mremap "moving mappings is not supported",
    mq_open "message queues are not supported",
    shm_open "shared memory is not supported",
    shmget "shared memory is not supported",
    semget "System V semaphores are not supported",
}
