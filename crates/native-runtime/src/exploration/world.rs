//! The state of an execution: its threads, who runs, and what has gone wrong.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering::Relaxed};

use crate::exploration::object::Objects;
use crate::exploration::race::Races;
use crate::memory::heap::Heap;
use crate::memory::snapshot::Snapshot;
use crate::memory::table::Table;
use crate::protocol::{
    AT_FAILURE, Chosen, Failure, FailureKind, MAGIC, Op, Place, SESSION_DESCRIPTOR, Shared, Stack, TEXT,
    THREADS, mode,
};
use crate::system::system_call::{map_shared, number, system_call};
use crate::threads::context;

pub use crate::exploration::thread::{Pending, Status, Thread};

/// Hooks of one step before a thread that does nothing visible is interrupted: it may wait for others by reading.
const QUIET: u32 = 1 << 20;

/// Everything the runtime knows.
pub struct World {
    /// Shared with the checker.
    pub shared: &'static mut Shared,
    /// The threads. Numbers are the same in every execution.
    pub threads: Vec<Thread>,
    /// Who runs.
    pub current: usize,
    /// Numbers of threads, by parent and ordinal.
    pub names: Table<u32>,
    /// Numbers given so far.
    pub named: usize,
    /// The most threads the current exploration can deal with.
    pub limit: usize,
    /// Something was found that needs a new exploration: more threads, more visible locations.
    pub grown: bool,
    /// Has a thread been created in this execution? Until then nobody can notice what the main thread does.
    pub threaded: bool,
    /// Threads that have not come to their first visible operation.
    pub starting: u64,
    /// The alternative chosen for the step.
    pub alternative: u16,
    /// The run under execution, to be repeated without the driver.
    pub script: crate::exploration::script::Script,
    /// The driver's context.
    pub driver_sp: usize,
    /// The driver's FS base.
    pub driver_fs: usize,
    /// Stop for the debugger when the thread goes on?
    pub trap: bool,
    /// Has something gone wrong?
    pub failed: bool,
    /// Was a section left in its middle? Then the execution says nothing, whatever follows.
    pub stopped: bool,
    /// Who meets at barriers, by their numbers.
    pub meetings: Vec<crate::primitives::barrier::Meeting>,
    /// Loops that wait.
    pub loops: crate::exploration::waiting_loop::Loops,
    /// How often something was learnt that symmetry depends on, or was relied on for the first time ([`World::knowledge`]).
    pub learnt: u64,
    /// Is this process a copy that explores a part, without a checker?
    pub is_copy: bool,
    /// Atomic sections.
    pub sections: crate::primitives::section::Sections,
    /// The execution says nothing: the exploration starts again.
    pub abandoned: bool,
    /// Threads that can be told apart from others.
    pub told_apart: u64,
    /// Threads that asked for their identity or created threads.
    pub identified: u64,
    /// Answers about residual code.
    pub answers: crate::symmetry::question::Answers,
    /// Of the frames that are being compared: which correspond byte by byte at the same offsets.
    pub exact: u32,
    /// Accesses of threads that are exchanged.
    pub histories: crate::symmetry::history::Histories,
    /// Variables that are reached through pointers.
    pub stale: crate::symmetry::stale::Stale,
    /// Handles in memory that nobody reads any more.
    pub kept_handles: crate::symmetry::kept_handle::KeptHandles,
    /// Handles that threads have asked for themselves.
    pub own_handles: crate::symmetry::own_handle::OwnHandles,
    /// Has the program read `errno`, in any execution so far, and does somebody rely on that it has not?
    pub errno_read: bool,
    /// See `errno_read`.
    pub errno_relied_on: bool,
    /// Where it is, below the FS base.
    pub errno_below: usize,
    /// Who refers to whom.
    pub references: crate::symmetry::dynamic::References,
    /// Executions started so far.
    pub restarts_made: u64,
    /// Thread-local variables: how far below the FS base, and their size.
    pub local_ranges: Vec<(usize, usize)>,
    /// Bytes that belong to the argument of each thread, if they are alike; 0: not known.
    pub extents: [usize; THREADS],
    /// Joins are not owed any more: a thread that did crashed.
    pub no_debts: bool,
    /// Hash of what the program gave to `__quotient_observe`.
    pub observed: u64,
    /// Memory that is observed at the end: address and number of words.
    pub observed_memory: Vec<(usize, usize)>,
    /// Synchronisation objects and cells.
    pub objects: Objects,
    /// Additions whose order does not matter.
    pub counts: crate::instrumentation::counting::Counts,
    /// Data races.
    pub races: Races,
    /// The memory model under which graphs are explored, as the request numbers it; 0: sequences, under sequential consistency.
    pub memory: u32,
    /// Writes of atomic variables, under other models.
    pub messages: crate::exploration::messages::Messages,
    /// A plain access that races and that the program makes now.
    pub ongoing: Option<crate::exploration::buffered::Ongoing>,
    /// The program's heap.
    pub heap: Heap,
    /// Pipes between threads.
    pub pipes: crate::descriptors::pipe::Pipes,
    /// Sockets between threads.
    pub sockets: crate::descriptors::socket::Sockets,
    /// Signals that the program sends to itself.
    pub signals: crate::interruptions::signal::Signals,
    /// Threads that are cancelled in some execution, as a set.
    pub cancelled_ever: u64,
    /// Names of semaphores: the same in every execution.
    pub semaphore_names: Vec<(Vec<u8>, u32)>,
    /// Memory that the program maps itself.
    pub mappings: crate::memory::mappings::Mappings,
    /// The start of every execution.
    pub snapshot: Option<Snapshot>,
    /// Destructors of thread-specific data, by key.
    pub keys: Vec<(u32, usize)>,
    /// Accesses that no hook announces.
    pub unannounced: crate::instrumentation::unannounced::Unannounced,
    /// Loops that only count.
    pub counted_loops: crate::instrumentation::counted_loops::CountedLoops,
    /// What runs at the end of the program.
    pub exit_handlers: crate::environment::exit_handlers::ExitHandlers,
    /// What libraries have mapped for themselves.
    pub foreign_mappings: crate::memory::foreign_mappings::ForeignMappings,
    /// When the process came under control, in nanoseconds.
    pub started: u64,
    /// Library functions that the program calls.
    pub library: crate::library::Library,
    /// Files and what else lies outside of memory.
    pub external: crate::library::External,
    /// Who polls plain memory.
    pub polling: crate::exploration::polling::Polling,
    /// Has the program opened files in this execution?
    pub files_opened: bool,
    /// Has it changed the current directory, the standard descriptors, or the mask for new files?
    pub process_changed: bool,
    /// The limit of descriptors at the start, if the program has changed it.
    pub kept_descriptors: Option<[u64; 2]>,
    /// Peers that a script plays.
    pub peer_rules: Vec<crate::peer::Rule>,
    /// The schedule that is repeated.
    pub repeated: Vec<Chosen>,
    /// The mask at the start.
    pub kept_mask: usize,
    /// Has the program changed files in this execution?
    pub files_changed: bool,
    /// Has it in any execution?
    pub files_ever_changed: bool,
    /// Is there something to read on standard input?
    pub has_input: bool,
    /// Was something noted that comes from outside, by this process?
    pub outside_noted: bool,
    /// What reading the clock has given so far.
    pub clock_ticks: u64,
    /// Random numbers given so far.
    pub random: u64,
    /// The program's `main` and its arguments.
    pub main: [usize; 4],
    /// The code of this library and of the program.
    pub code: context::Code,
}

static WORLD: AtomicPtr<World> = AtomicPtr::new(std::ptr::null_mut());
static ACTIVE: AtomicBool = AtomicBool::new(false);

/// Is the program under control?
#[inline]
pub fn controlled() -> bool {
    !WORLD.load(Relaxed).is_null()
}

/// Is user code running, under control? Asked by functions that the program calls. What they do is taken for a change that
/// others may notice: those that change nothing, or say themselves what they change, ask [`running`].
#[inline]
pub fn active() -> bool {
    let active = running();
    if active {
        crate::exploration::buffered::settle();
        world().note_changed();
    }
    active
}

/// Is user code running, under control?
#[inline]
pub fn running() -> bool {
    ACTIVE.load(Relaxed)
}

/// Does something as if no user code ran.
pub fn inactive<T>(what: impl FnOnce() -> T) -> T {
    let before = ACTIVE.swap(false, Relaxed);
    let result = what();
    ACTIVE.store(before, Relaxed);
    result
}

/// The way to the state of the execution. Anybody may have one; it is as good as a pointer, and is not a reference to anything.
///
/// References to the state are made from it for as long as an expression or a local variable needs them (`Deref`), and are never
/// in use while another one is:
///
/// - One kernel thread runs at a time. So other references could only be those of callers, or of contexts that were left.
/// - Contexts are left by [`Runtime::leave`] and [`Runtime::run`] alone. These take a `Runtime`, not a `World`, and so do all
///   functions that may come there, such as those that may end the execution. Whoever calls them on a `Runtime` has no reference
///   that was made from it: the compiler sees to that.
/// - A function that was given a reference to the state, or to a part of it, does not ask for a `Runtime`. That is what
///   `native/tests/programs/aliasing.rs` sees to, by reading these sources.
#[derive(Clone, Copy)]
pub struct Runtime(NonNull<World>);

impl Deref for Runtime {
    type Target = World;

    #[inline(always)]
    fn deref(&self) -> &World {
        // SAFETY: set once, never freed, and no other reference is in use: see above.
        unsafe { self.0.as_ref() }
    }
}

impl DerefMut for Runtime {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut World {
        // SAFETY: as for `deref`.
        unsafe { self.0.as_mut() }
    }
}

/// The way to the state.
///
/// # Panics
/// Unless [`controlled`].
#[inline(always)]
pub fn world() -> Runtime {
    match NonNull::new(WORLD.load(Relaxed)) {
        Some(world) => Runtime(world),
        None => not_controlled(),
    }
}

#[cold]
fn not_controlled() -> ! {
    crate::system::system_call::die(b"quotient: a program that is not checked came into the checker\n")
}

/// Called once, before any constructor of the program: looks for the shared block.
pub fn attach() {
    let Some(block) = map_shared(SESSION_DESCRIPTOR, size_of::<Shared>()) else { return };
    let shared = block.cast::<Shared>();
    // SAFETY: the mapping is as large as the block; all its fields are plain numbers.
    let shared = unsafe { &mut *shared };
    if shared.magic != MAGIC {
        return;
    }
    let world = Box::new(World {
        shared,
        threads: (0..THREADS).map(|_| Thread::unborn()).collect(),
        current: 0,
        names: Table::new(),
        named: 1,
        limit: THREADS,
        grown: false,
        threaded: false,
        starting: 0,
        alternative: 0,
        script: Default::default(),
        driver_sp: 0,
        driver_fs: 0,
        trap: false,
        failed: false,
        stopped: false,
        meetings: Vec::new(),
        loops: crate::exploration::waiting_loop::Loops::new(),
        learnt: 0,
        is_copy: false,
        sections: crate::primitives::section::Sections::new(),
        abandoned: false,
        told_apart: 0,
        identified: 0,
        answers: Default::default(),
        exact: 0,
        histories: Default::default(),
        stale: Default::default(),
        kept_handles: Default::default(),
        own_handles: Default::default(),
        errno_read: false,
        errno_relied_on: false,
        errno_below: 0,
        references: Default::default(),
        restarts_made: 0,
        local_ranges: Vec::new(),
        extents: [0; THREADS],
        no_debts: false,
        observed: 0,
        observed_memory: Vec::new(),
        objects: Objects::new(),
        counts: Default::default(),
        races: Races::new(),
        memory: 0,
        messages: Default::default(),
        ongoing: None,
        heap: Heap::new(),
        mappings: Default::default(),
        pipes: Default::default(),
        sockets: Default::default(),
        signals: Default::default(),
        cancelled_ever: 0,
        semaphore_names: Vec::new(),
        snapshot: None,
        keys: Vec::new(),
        unannounced: Default::default(),
        counted_loops: Default::default(),
        exit_handlers: Default::default(),
        foreign_mappings: Default::default(),
        started: crate::environment::quiet_thread::nanoseconds(crate::environment::quiet_thread::MONOTONIC),
        library: Default::default(),
        external: Default::default(),
        polling: Default::default(),
        files_opened: false,
        files_changed: false,
        files_ever_changed: false,
        has_input: false,
        process_changed: false,
        kept_descriptors: None,
        peer_rules: Vec::new(),
        repeated: Vec::new(),
        kept_mask: 0,
        outside_noted: false,
        clock_ticks: 0,
        random: 0,
        main: [0; 4],
        code: Default::default(),
    });
    WORLD.store(Box::into_raw(world), Relaxed);
}

impl World {
    /// The running thread.
    #[inline]
    pub fn me(&mut self) -> &mut Thread {
        &mut self.threads[self.current]
    }

    /// How much is known that symmetry depends on, or relied on: another number if something has come to it.
    pub fn knowledge(&self) -> u64 {
        self.learnt + self.races.learnt + self.stale.learnt + self.kept_handles.learnt
    }

    /// Does one kernel thread per thread run the program?
    pub fn kernel_threads(&self) -> bool {
        self.shared.mode == mode::REPLAY_KERNEL
    }

    /// Is one schedule repeated, with everything written down?
    pub fn replays(&self) -> bool {
        self.shared.mode != mode::EXPLORE
    }

    /// The stack of the running thread.
    #[inline(never)]
    pub fn stack_here(&mut self) -> Stack {
        let stack = self.me().stack.clone();
        context::walk(context::frame_pointer(), stack.start, stack.end, &self.code)
    }
}

impl Runtime {
    /// Lets `thread` run until its next visible operation (called by the driver).
    pub fn run(mut self, thread: usize) {
        self.current = thread;
        self.shared.running = thread as u32;
        let Thread { sp, fs, .. } = self.threads[thread];
        let kernel_threads = self.kernel_threads();
        let save = &raw mut self.driver_sp;
        ACTIVE.store(true, Relaxed);
        if kernel_threads {
            hand_over(&TURNS[thread], &TURNS[DRIVER]);
        } else {
            // SAFETY: the context was made by `fresh` or left by `switch`, and its stack has not been touched since.
            unsafe { context::switch(save, sp, fs) };
        }
        ACTIVE.store(false, Relaxed);
        self.refuse_ongoing();
    }

    /// Gives control to the driver (called by the running thread).
    #[inline(never)]
    pub fn leave(mut self) {
        let current = self.current;
        if self.kernel_threads() {
            self.threads[current].frame = context::frame_pointer();
            hand_over(&TURNS[DRIVER], &TURNS[current]);
            return;
        }
        let (to, fs) = match self.next_of_script() {
            Some(next) if next == current => return,
            Some(next) => {
                self.current = next;
                self.shared.running = next as u32;
                (self.threads[next].sp, self.threads[next].fs)
            }
            None => (self.driver_sp, self.driver_fs),
        };
        let save = &raw mut self.threads[current].sp;
        // SAFETY: the driver is waiting in `run`, any other thread in this function or before its start.
        unsafe { context::switch(save, to, fs) };
        if self.trap {
            self.trap = false;
            self.stop_for_debugger();
        }
    }
}

/// Does nothing. A debugger finds here a thread about to make the step that was asked for, or the one that fails, on its stack.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn __quotient_stop() {
    // SAFETY: no instruction; the call is not left out.
    unsafe { std::arch::asm!("") };
}

/// Kernel-thread mode: who may go on, of the threads and the driver.
pub static TURNS: [AtomicU32; THREADS + 1] = [const { AtomicU32::new(0) }; THREADS + 1];
const DRIVER: usize = THREADS;

/// Kernel-thread mode: lets another kernel thread go on and waits for one's own turn.
fn hand_over(to: &AtomicU32, own: &AtomicU32) {
    to.store(1, std::sync::atomic::Ordering::Release);
    crate::system::system_call::futex_wake(to);
    wait_for_turn(own);
}

/// Waits until somebody hands over to the owner of this word.
pub fn wait_for_turn(own: &AtomicU32) {
    while own.load(std::sync::atomic::Ordering::Acquire) == 0 {
        crate::system::system_call::futex_wait(own, 0);
    }
    own.store(0, Relaxed);
}

/// Announces a visible operation of the running thread and waits until it may be done; gives the alternative to take. What
/// the operation does is then done by the caller. Joins that are owed and signal handlers come before it.
pub fn visible(pending: Pending) -> u16 {
    let (owed, operands) = (world().me().owed, world().me().operands);
    crate::exploration::buffered::settle();
    if owed != 0 {
        world().me().operands = [0; 3];
        crate::threads::thread::settle(owed);
    }
    if world().is_receiver(world().current) {
        world().me().operands = [0; 3];
        crate::interruptions::interruption::before(pending.op);
    }
    world().me().operands = operands;
    announce(pending)
}

/// The same without anything before it.
pub fn announce(pending: Pending) -> u16 {
    let mut w = world();
    if crate::primitives::section::is_inside(&mut w) {
        return crate::primitives::section::inside(pending);
    }
    let stays = w.comes_back(&pending);
    let me = w.me();
    me.pending = pending;
    me.status = Status::Ready;
    (me.quiet, me.quiet_since) = (0, 0);
    if w.shared.symmetry == 2 {
        w.capture_frames();
    }
    if stays && !w.replays() {
        stay();
    }
    w.leave();
    if matches!(pending.op, Op::Load | Op::Store | Op::Update | Op::CompareAndSwap | Op::Read | Op::Write) {
        // What was there when it was announced may have been given back since.
        let write = !matches!(pending.op, Op::Load | Op::Read);
        world().check_address(pending.address, pending.size.into(), write);
    }
    world().me().operands = [0; 3];
    world().alternative
}

/// The running thread has come back in a loop that waits.
#[cold]
fn stay() -> ! {
    world().me().status = Status::Spinning;
    loop {
        world().leave();
    }
}

/// Counts a hook that is not a step, and interrupts a thread that does nothing else for very long.
#[inline]
pub fn quiet() {
    let mut w = world();
    let me = w.me();
    me.quiet += 1;
    if me.quiet > QUIET {
        crate::environment::quiet_thread::very_quiet();
    }
}

/// Somebody other than the thread itself is at fault here, or nobody.
pub const NOWHERE: Place = Place {
    thread: 255,
    write: 0,
    atomic: 0,
    size: 0,
    role: 0,
    padding: [0; 3],
    address: 0,
    stack: [0; crate::protocol::FRAMES],
};

/// Ends the execution with a failure of the running thread.
pub fn fail(kind: FailureKind, text: &str, address: usize) -> ! {
    let mut w = world();
    let stack = w.stack_here();
    let here = Place { thread: w.current as u8, address: address as u64, stack, ..NOWHERE };
    fail_at(kind, text, here, NOWHERE)
}

/// The same, at a given place, with a second place that is involved.
pub fn fail_at(kind: FailureKind, text: &str, here: Place, there: Place) -> ! {
    // A thread that owes joins may have read what is not yet written: it fails only if the threads it owes do not write it.
    let owed = world().me().owed;
    if owed != 0 {
        crate::threads::thread::settle(owed);
        if world().grown {
            world().abandon();
        }
    }
    world().record_failure(kind, text, here, there);
    loop {
        world().leave();
    }
}

impl World {
    /// Where a debugger waits. It may start the program again: the whole schedule has to be there then.
    fn stop_for_debugger(&mut self) {
        let length = self.repeated.len();
        self.shared.schedule[..length].copy_from_slice(&self.repeated);
        self.shared.schedule_length = length as u32;
        __quotient_stop();
    }

    /// Takes note of a failure; the first one counts.
    pub fn record_failure(&mut self, kind: FailureKind, text: &str, here: Place, there: Place) {
        if self.failed {
            return;
        }
        if self.stopped {
            // What others have seen was never there.
            self.me().status = Status::Assumed;
            return;
        }
        if self.distrust_counts(kind) {
            return;
        }
        if self.shared.trap == AT_FAILURE && !matches!(kind, FailureKind::Deadlock | FailureKind::Livelock) {
            self.stop_for_debugger();
        }
        self.failed = true;
        let failure: &mut Failure = &mut self.shared.failure;
        failure.kind = kind as u8;
        failure.here = here;
        failure.there = there;
        let length = text.len().min(TEXT);
        failure.text[..length].copy_from_slice(&text.as_bytes()[..length]);
        failure.text_length = length as u32;
    }
}

/// Empties the file that gets what the program prints, if anything is in it.
pub fn reset_output(descriptor: i32) {
    let call = |number, a, b| {
        // SAFETY: no memory is involved.
        unsafe { system_call(number, [descriptor as usize, a, b, 0, 0, 0]) }
    };
    if descriptor >= 0 && call(number::LSEEK, 0, 1) > 0 {
        call(number::FTRUNCATE, 0, 0);
        call(number::LSEEK, 0, 0);
    }
}
