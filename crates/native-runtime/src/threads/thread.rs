//! Threads: creation, joining, ending, thread-specific data.
//!
//! A thread's number is given by who created it and as which child, so that it is the same in all executions in which
//! that creation happens, in whatever order threads are created.
//!
//! Joins whose result is not asked for can be *owed*: the call returns at once, and the thread waits for all it owes before
//! its next visible operation or its next access to memory that another thread touches. What it does in between nobody else
//! can see, so the behaviours are the same, and joining a set of threads one by one becomes one operation that does
//! not tell them apart. This is done only if symmetry is asked for.

use crate::exploration::clock::join;
use crate::exploration::race::{How, access};
use crate::exploration::world::{Pending, Status, World, active, controlled, fail, running, visible, world};
use crate::interruptions::interruption::{Kind, Next, Passed, point};
use crate::protocol::{FailureKind, Op, THREADS, phase, why};
use crate::threads::handle;
use crate::{pass_on, real};

const EDEADLK: i32 = 35;
/// How creators of threads are told to a process that repeats a schedule: see `World::note_interruptions`.
const TOLD_NAMES: usize = 8;
/// Rounds of destructors of thread-specific data.
const DESTRUCTOR_ROUNDS: usize = 4;

impl World {
    /// The number of the next child of the running thread.
    fn next_child(&mut self) -> usize {
        let (parent, ordinal) = (self.current, self.me().children as usize);
        let named = self.named as u32;
        let number = self.names.entry((parent << 24) + ordinal + 1);
        if *number == 0 {
            *number = named;
            self.named += 1;
            crate::exploration::clock::note_threads(self.named);
        }
        *number as usize
    }

    /// Who creates whom, for a process that repeats a schedule: there, threads may come into being in another order than that in
    /// which the exploration has first met them, and would have other numbers. A byte for each thread, in the order of their
    /// numbers: its creator's number, plus one; told like memory, at addresses that no program has. Children of one thread have rising numbers,
    /// so that is all. Where the main thread creates all others there is nothing to tell.
    pub fn told_names(&self) -> Vec<(usize, usize)> {
        let named = self.named.min(THREADS);
        let mut told = [0u64; THREADS / 8];
        let mut nested = false;
        for (key, number) in self.names.iter().filter(|(_, number)| (*number as usize) < named) {
            let (parent, index) = (key >> 24, number as usize - 1);
            nested |= parent != 0;
            told[index / 8] |= (parent as u64 + 1) << (index % 8 * 8);
        }
        let groups = told.into_iter().enumerate().filter(|(_, group)| nested && *group != 0);
        groups.map(|(index, group)| (TOLD_NAMES + index, group as usize)).collect()
    }

    /// Takes note of one of these; says whether it was one.
    pub fn note_told_names(&mut self, address: u64, group: u64) -> bool {
        let Some(index) = (address as usize).checked_sub(TOLD_NAMES).filter(|i| *i < THREADS / 8) else {
            return false;
        };
        let parents = group.to_le_bytes().into_iter().enumerate().filter(|(_, parent)| *parent != 0);
        for (at, parent) in parents {
            let (parent, number) = (usize::from(parent) - 1, index * 8 + at + 1);
            let ordinal = (0..).find(|ordinal| self.names.get((parent << 24) + ordinal + 1).is_none());
            let ordinal = ordinal.expect("fewer children than numbers");
            *self.names.entry((parent << 24) + ordinal + 1) = number as u32;
            self.named = self.named.max(number + 1);
        }
        crate::exploration::clock::note_threads(self.named);
        true
    }
}

/// What a new thread does.
extern "C" fn thread_entry() -> ! {
    let mut w = world();
    let me = w.me();
    let (routine, argument, c11) = (me.routine, me.argument, me.c11);
    crate::memory::unwritten::prepare_frame();
    // SAFETY: the program's start routine. One of C11 gives an int, of which the upper half of the register says nothing.
    let result =
        unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(usize) -> usize>(routine)(argument) };
    finish(if c11 { result as i32 as usize } else { result })
}

/// Ends the running thread.
pub fn finish(result: usize) -> ! {
    crate::exploration::buffered::settle();
    crate::primitives::section::end_all();
    crate::interruptions::cancellation::between_instructions();
    world().me().uncancellable = true;
    crate::threads::unwinding::destroy_locals();
    run_destructors();
    crate::primitives::mutex::abandon_robust();
    let owed = world().me().owed;
    if owed != 0 {
        settle(owed);
    }
    if world().signals.used {
        crate::interruptions::signal::end_of_thread();
    }
    handle::own_end();
    let mut w = world();
    w.end_of_stack();
    let me = w.me();
    me.result = result;
    me.status = Status::Finished;
    loop {
        world().leave();
    }
}

fn run_destructors() {
    for _ in 0..DESTRUCTOR_ROUNDS {
        let mut again = false;
        for index in 0..world().keys.len() {
            let (key, destructor) = world().keys[index];
            // SAFETY: keys that exist, and their destructors.
            unsafe {
                let value = real!("pthread_getspecific", fn(u32) -> usize)(key);
                if value != 0 && destructor != 0 {
                    real!("pthread_setspecific", fn(u32, usize) -> i32)(key, 0);
                    std::mem::transmute::<usize, unsafe extern "C" fn(usize)>(destructor)(value);
                    again = true;
                }
            }
        }
        if !again {
            return;
        }
    }
}

/// When the handle of a new thread is stored for its creator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum HandleWritten {
    /// Before the thread begins, as C11 and C++ demand: the end of the creation synchronises with the beginning.
    BeforeTheThreadBegins,
    /// Whenever: POSIX orders what comes before the call with the thread's beginning, not what the call itself does. The new
    /// thread races with this write if it looks at the handle that its creator has given room for.
    AtAnyTime,
}

/// Creates a thread. The C11 kind of start routine gives an `int`.
pub fn create(
    handle: *mut usize,
    attributes: usize,
    routine: usize,
    argument: usize,
    c11: bool,
    order: HandleWritten,
) -> i32 {
    let mut w = world();
    let child = w.next_child();
    if child >= THREADS {
        fail(FailureKind::Refused, &format!("more than {THREADS} threads"), 0);
    }
    if child >= w.limit {
        // The exploration has no room for this thread: it starts again with more.
        w.grown = true;
        w.abandon();
    }
    visible(Pending { set: 1 << child, address: routine, ..Pending::new(Op::Create) });
    let mut detached = 0;
    if attributes != 0 {
        // SAFETY: attributes that the program has initialised.
        unsafe {
            real!("pthread_attr_getdetachstate", fn(usize, *mut i32) -> i32)(attributes, &mut detached)
        };
    }
    let mut w = world();
    w.me().children += 1;
    w.threaded = true;
    w.refuse_shared_files(false);
    let start = [w.current, w.me().joins as usize, routine, argument, detached as usize];
    if w.current != 0 {
        // Its children have names of their own, which an exchange would have to exchange, too.
        let me = w.current;
        w.break_symmetry(1 << me, why::IDENTITY);
    }
    crate::threads::donor::prepare(&mut world(), child, thread_entry);
    let synchronises = order == HandleWritten::BeforeTheThreadBegins;
    if synchronises {
        write_handle(handle, child);
    }
    let mut w = world();
    let clock = w.release();
    let mask = w.me().signals.mask;
    let thread = &mut w.threads[child];
    (thread.routine, thread.argument, thread.c11) = (routine, argument, c11);
    thread.status = Status::Starting;
    thread.detached = detached == 1;
    thread.start = start;
    thread.signals.mask = mask;
    thread.clock = clock;
    thread.clock[child] = 1;
    w.starting |= 1 << child;
    w.note_argument(child);
    if !synchronises {
        write_handle(handle, child);
    }
    0
}

/// The creator stores the handle of its child.
fn write_handle(handle: *mut usize, child: usize) {
    if !handle.is_null() {
        access(handle as usize, 8, How::WRITE);
        // SAFETY: the caller gives room for a handle.
        unsafe { *handle = world().threads[child].handle };
        world().note_room(handle as usize);
    }
}

/// `pthread_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    handle: *mut usize,
    attributes: usize,
    routine: usize,
    argument: usize,
) -> i32 {
    if !active() {
        refuse_early();
        return pass_on!("pthread_create", fn(*mut usize, usize, usize, usize) -> i32; handle, attributes, routine, argument);
    }
    // `std::thread` calls it, too, with a routine of its library: the end of that constructor comes before the thread's beginning.
    let of_program = world().code.program.contains(&routine);
    let order = if of_program { HandleWritten::AtAnyTime } else { HandleWritten::BeforeTheThreadBegins };
    create(handle, attributes, routine, argument, false, order)
}

/// A thread that is started before `main` would run past the exploration.
pub fn refuse_early() {
    if controlled() && world().shared.phase == phase::STARTING {
        crate::exploration::driver::refuse(&mut world(), "a thread is started before main");
    }
}

/// Waits for threads whose joins are owed.
pub fn settle(owed: u64) {
    let mut w = world();
    w.me().owed = 0;
    w.note_join(owed);
    visible(Pending { set: owed, ..Pending::new(Op::Join) });
    joined(owed);
}

fn joined(set: u64) {
    let mut w = world();
    for thread in quotient_stateless::ThreadSet(set).iter() {
        let clock = w.threads[thread as usize].clock;
        let me = w.current;
        join(&mut w.threads[me].clock, &clock);
    }
    for thread in quotient_stateless::ThreadSet(set).iter() {
        handle::joined(thread as usize);
    }
}

/// Joins the thread with this handle; its result goes to `result`, if given.
pub fn join_thread(handle: usize, result: Option<&mut usize>) -> i32 {
    let thread = handle::thread_of(handle, "join");
    let w = world();
    if thread == w.current {
        return EDEADLK;
    }
    if w.threads[thread].detached {
        fail(FailureKind::Misuse, &format!("join of thread {thread}, which is detached"), 0);
    }
    if w.threads[thread].joined {
        fail(FailureKind::Misuse, &format!("join of thread {thread}, which was joined before"), 0);
    }
    while point(Kind::Cancellation, Next::Blocks) != Passed::Through {}
    let mut w = world();
    w.threads[thread].joined = true;
    w.me().joins += 1;
    if w.shared.symmetry != 0 && result.is_none() && !w.no_debts && !w.is_cancellable(w.current) {
        w.me().owed |= 1 << thread;
        return 0;
    }
    w.note_join(1 << thread);
    visible(Pending { set: 1 << thread, ..Pending::new(Op::Join) });
    joined(1 << thread);
    if let Some(result) = result {
        *result = world().threads[thread].result;
    }
    0
}

/// `pthread_join`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_join(handle: usize, result: *mut usize) -> i32 {
    if !active() {
        return pass_on!("pthread_join", fn(usize, *mut usize) -> i32; handle, result);
    }
    // SAFETY: the caller gives room for a pointer, or none.
    let status = join_thread(handle, unsafe { result.as_mut() });
    if !result.is_null() && status == 0 {
        access(result as usize, 8, How::WRITE);
    }
    status
}

/// `pthread_detach`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_detach(handle: usize) -> i32 {
    if !active() {
        return pass_on!("pthread_detach", fn(usize) -> i32; handle);
    }
    let thread = handle::thread_of(handle, "detach");
    let mut w = world();
    if w.threads[thread].detached {
        fail(FailureKind::Misuse, &format!("detach of thread {thread}, which is detached already"), 0);
    }
    if w.threads[thread].joined {
        fail(FailureKind::Misuse, &format!("detach of thread {thread}, which was joined before"), 0);
    }
    w.threads[thread].detached = true;
    handle::detached(thread);
    0
}

/// `pthread_self`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_self() -> usize {
    if !running() {
        return pass_on!("pthread_self", fn() -> usize; );
    }
    // SAFETY: the return address of this function, which lies above the frame pointer that it has saved.
    let place = unsafe { *((crate::threads::context::frame_pointer() + 8) as *const usize) };
    world().own_handle(place)
}

impl World {
    /// The running thread asks who it is: it cannot be exchanged with others.
    pub fn identity_used(&mut self) {
        let me = self.current;
        self.break_symmetry(1 << me, why::IDENTITY);
    }
}

/// `pthread_key_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_key_create(key: *mut u32, destructor: usize) -> i32 {
    // SAFETY: `key` is room for a key, as the caller owes. Under control the destructors are run here, so the C library need not know them.
    unsafe {
        let real = real!("pthread_key_create", fn(*mut u32, usize) -> i32);
        if !crate::exploration::world::controlled() {
            return real(key, destructor);
        }
        let result = real(key, 0);
        if result == 0 {
            world().keys.push((*key, destructor));
        }
        result
    }
}
