//! Donors: kernel threads that lend their stacks and thread control blocks to the program's threads, and do nothing else.
//!
//! They are created before the snapshot and parked for good. A thread of the program is a context on a donor's stack, with the
//! donor's FS base: its thread-local variables, `errno` and handle are real.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::exploration::world::{Thread, World, world};
use crate::protocol::THREADS;
use crate::real;
use crate::system::system_call::{die, futex_wait, futex_wake, map_fixed, number, system_call};
use crate::threads::context::{fresh, fs_base};

/// Where the stacks lie.
pub const STACKS: usize = 0x5800_0000_0000;
/// Size of each, guard page included.
pub const SIZE: usize = 8 << 20;
const PAGE: usize = 4096;
/// Left to the donor's own frames.
const OWN_FRAMES: usize = 8192;

/// The last donor that is parked, its FS base and where contexts start on its stack.
static PARKED: AtomicU32 = AtomicU32::new(0);
static BASE: AtomicUsize = AtomicUsize::new(0);
static TOP: AtomicUsize = AtomicUsize::new(0);

extern "C" fn donor(number_of: usize) -> usize {
    let all_signals = u64::MAX;
    const SIGPROCMASK: usize = 14;
    // SAFETY: blocks all signals of this kernel thread, so that it never leaves `pause`.
    unsafe { system_call(SIGPROCMASK, [0, &raw const all_signals as usize, 0, 8, 0, 0]) };
    let here = 0usize;
    BASE.store(fs_base(), Ordering::Relaxed);
    TOP.store((&raw const here as usize - OWN_FRAMES) & !63, Ordering::Relaxed);
    PARKED.store(number_of as u32, Ordering::Release);
    futex_wake(&PARKED);
    loop {
        // SAFETY: no memory is involved.
        unsafe { system_call(number::PAUSE, [0; 6]) };
    }
}

/// Creates the donors, and a stack for the main thread.
pub fn create(world: &mut World) {
    map_fixed(STACKS, SIZE * THREADS);
    crate::threads::stack::prepare();
    for thread in 0..THREADS {
        let low = STACKS + thread * SIZE;
        // SAFETY: the lowest page of a stack becomes its guard.
        unsafe { system_call(number::MPROTECT, [low, PAGE, 0, 0, 0, 0]) };
        world.threads[thread].stack = low + PAGE..low + SIZE;
    }
    let main = &mut world.threads[0];
    main.fs = fs_base();
    main.top = main.stack.end - 256;
    // SAFETY: needs nothing.
    main.handle = unsafe { real!("pthread_self", fn() -> usize)() };
    if world.kernel_threads() {
        return;
    }
    for thread in 1..THREADS {
        world.threads[thread].handle =
            start_kernel_thread(world.threads[thread].stack.clone(), donor, thread);
        while PARKED.load(Ordering::Acquire) != thread as u32 {
            futex_wait(&PARKED, thread as u32 - 1);
        }
        let Thread { fs, top, .. } = &mut world.threads[thread];
        (*fs, *top) = (BASE.load(Ordering::Relaxed), TOP.load(Ordering::Relaxed));
    }
}

/// Starts a kernel thread on a given stack; gives its handle.
fn start_kernel_thread(
    stack: Range<usize>,
    routine: extern "C" fn(usize) -> usize,
    argument: usize,
) -> usize {
    let mut attributes = [0u64; 16];
    let mut handle = 0usize;
    let attributes_at = attributes.as_mut_ptr() as usize;
    // SAFETY: a pthread_attr_t is 56 bytes; the stack is mapped and used by nobody else.
    let status = unsafe {
        real!("pthread_attr_init", fn(usize) -> i32)(attributes_at);
        real!("pthread_attr_setstack", fn(usize, usize, usize) -> i32)(
            attributes_at,
            stack.start,
            stack.len(),
        );
        let create =
            real!("pthread_create", fn(*mut usize, usize, extern "C" fn(usize) -> usize, usize) -> i32);
        create(&mut handle, attributes_at, routine, argument)
    };
    if status != 0 {
        die(b"quotient: cannot create threads\n");
    }
    handle
}

impl Thread {
    /// Where the frames of this thread's donor begin; above them are its thread-local variables and control block.
    pub fn own_frames(&self) -> usize {
        self.top + OWN_FRAMES
    }
}

/// Kernel-thread mode: what a kernel thread does that is a thread of the program.
extern "C" fn kernel_thread(number_of: usize) -> usize {
    crate::exploration::world::wait_for_turn(&crate::exploration::world::TURNS[number_of]);
    match world().threads[number_of].entry {
        Some(entry) => entry(),
        None => 0,
    }
}

/// Prepares thread `number_of` to start with `entry`.
pub fn prepare(world: &mut World, number_of: usize, entry: extern "C" fn() -> !) {
    let kernel = world.kernel_threads();
    let thread = &mut world.threads[number_of];
    thread.lowest = thread.top;
    if kernel {
        thread.entry = Some(entry);
        let stack = thread.stack.clone();
        // What the C library allocates for it is not the program's.
        let handle =
            crate::exploration::world::inactive(|| start_kernel_thread(stack, kernel_thread, number_of));
        thread.handle = handle;
        return;
    }
    // SAFETY: nobody is on this stack below `top`.
    thread.sp = unsafe { fresh(thread.top, entry) };
}
