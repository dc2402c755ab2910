//! A thread of the program: what it is about to do, and what is known of it.

use std::ops::Range;

use crate::exploration::clock::{Clock, clear};
use crate::protocol::{Op, Stack, THREADS};
use crate::threads::context;

/// What a thread is waiting for or can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Not created in this execution.
    Unborn,
    /// Created; has not come to its first visible operation.
    Starting,
    /// About to do its pending operation.
    Ready,
    /// Waits on a condition variable; by itself it goes on only if `timed`.
    Waiting {
        /// May it end by itself?
        timed: bool,
    },
    /// Woken, about to take the mutex again.
    Reacquiring {
        /// By itself?
        timed_out: bool,
        /// Could it have ended by itself?
        timed: bool,
    },
    /// At a barrier.
    AtBarrier,
    /// Let go from a barrier.
    Released,
    /// An assumption did not hold: stays for ever.
    Assumed,
    /// In a loop that waits: stays for ever.
    Spinning,
    /// At the end.
    Finished,
}

/// A visible operation that a thread is about to do.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// What.
    pub op: Op,
    /// Bytes, for accesses to memory.
    pub size: u8,
    /// Number of alternatives, for choices.
    pub choices: u16,
    /// The object's number.
    pub object: u32,
    /// The second object's number (the mutex of a wait).
    pub other: u32,
    /// The expected value of a compare-and-swap.
    pub need: i64,
    /// The object's address.
    pub address: usize,
    /// The threads that are created, joined.
    pub set: u64,
}

impl Pending {
    /// An operation on nothing.
    pub fn new(op: Op) -> Pending {
        Pending { op, size: 0, choices: 1, object: 0, other: 0, need: 0, address: 0, set: 0 }
    }

    /// An operation on the object at `address`.
    pub fn on(op: Op, object: u32, address: usize) -> Pending {
        Pending { object, address, ..Pending::new(op) }
    }
}

/// A thread of the program.
pub struct Thread {
    /// What it can do.
    pub status: Status,
    /// What it is about to do.
    pub pending: Pending,
    /// Saved stack pointer.
    pub sp: usize,
    /// FS base: fixed per thread.
    pub fs: usize,
    /// Its stack: fixed per thread.
    pub stack: Range<usize>,
    /// Where contexts start: fixed per thread.
    pub top: usize,
    /// The lowest stack pointer seen.
    pub lowest: usize,
    /// Start routine, argument, result.
    pub routine: usize,
    /// Argument of the routine.
    pub argument: usize,
    /// Result of the routine.
    pub result: usize,
    /// The C11 kind of routine, which gives an `int`?
    pub c11: bool,
    /// Has its function returned? Of the main thread only.
    pub returned: bool,
    /// Nobody needs to join it.
    pub detached: bool,
    /// Somebody has joined it.
    pub joined: bool,
    /// Was it asked to end?
    pub cancelled: bool,
    /// Does it want not to be cancelled?
    pub uncancellable: bool,
    /// May it be cancelled between any two instructions?
    pub asynchronous: bool,
    /// Handlers to run when it is cancelled or exits: addresses of glibc's cleanup buffers, innermost last.
    pub cleanup: Vec<usize>,
    /// What is thrown when its stack is unwound.
    pub thrown: crate::threads::unwinding::Thrown,
    /// Destructors of its thread-local C++ objects, and these.
    pub local_destructors: Vec<(usize, usize)>,
    /// Its signals.
    pub signals: crate::interruptions::signal::ThreadSignals,
    /// Calls of library functions that are followed by something.
    pub calls: Vec<crate::library::stub::Call>,
    /// Directions of pipes made so far.
    pub directions: usize,
    /// What it polls: objects, and what they need.
    pub polled: Vec<(u32, i64)>,
    /// Was the point before its next operation passed?
    pub passed: bool,
    /// Robust mutexes that it has.
    pub robust: Vec<usize>,
    /// Numbers of the mutexes that it has.
    pub held: Vec<u32>,
    /// The handle the program knows it by: fixed per thread.
    pub handle: usize,
    /// Whether the program may still use it.
    pub life: crate::threads::handle::Handle,
    /// Children created so far.
    pub children: u32,
    /// Joins made so far.
    pub joins: u32,
    /// How it was started: creator, the creator's joins so far, routine, argument, detached.
    pub start: [usize; 5],
    /// What its argument pointed to then.
    pub given: [u8; crate::symmetry::costarted::MOST],
    /// How much of it there was.
    pub given_size: usize,
    /// The size of the heap block that it began, if that is not larger.
    pub block: usize,
    /// Where the program is on its stack, if symmetry is dynamic.
    pub frames: crate::symmetry::frames::Frames,
    /// What the pending operation needs beside its object: values, memory orders, addresses.
    pub operands: [usize; 3],
    /// Where the operation is that it has announced, if that is not where it called this library.
    pub announced_at: Option<Stack>,
    /// Threads whose joins are to be made good for before the next visible operation.
    pub owed: u64,
    /// Will the barrier at which it is tell it to be the serial thread?
    pub serial: bool,
    /// What it has done since it last changed anything.
    pub iteration: crate::exploration::waiting_loop::Iteration,
    /// The atomic section that it is in.
    pub section: crate::primitives::section::Section,
    /// What is known of its stack.
    pub stack_notes: crate::threads::stack::StackNotes,
    /// Was it woken from a wait on a condition variable before it gave the mutex back?
    pub woken_early: bool,
    /// Hooks since the last visible operation.
    pub quiet: u32,
    /// If these are very many: CPU time when that was first noticed.
    pub quiet_since: u64,
    /// Its frame when it gave control away, in kernel-thread mode.
    pub frame: usize,
    /// What it starts with, in kernel-thread mode.
    pub entry: Option<extern "C" fn() -> !>,
    /// Its vector clock.
    pub clock: Clock,
    /// What relaxed loads have seen: joined at an acquire fence.
    pub acquired: Clock,
    /// Its clock at the last release fence.
    pub fence: Clock,
}

impl Thread {
    /// One that is not created in this execution.
    pub(super) fn unborn() -> Thread {
        Thread {
            status: Status::Unborn,
            pending: Pending::new(Op::None),
            sp: 0,
            fs: 0,
            stack: 0..0,
            top: 0,
            lowest: usize::MAX,
            routine: 0,
            argument: 0,
            result: 0,
            c11: false,
            returned: false,
            detached: false,
            joined: false,
            cancelled: false,
            uncancellable: false,
            asynchronous: false,
            cleanup: Vec::new(),
            thrown: Default::default(),
            local_destructors: Vec::new(),
            signals: Default::default(),
            calls: Vec::new(),
            directions: 0,
            polled: Vec::new(),
            passed: false,
            robust: Vec::new(),
            held: Vec::new(),
            handle: 0,
            life: Default::default(),
            children: 0,
            joins: 0,
            start: [0; 5],
            given: [0; crate::symmetry::costarted::MOST],
            given_size: 0,
            block: 0,
            frames: Default::default(),
            operands: [0; 3],
            announced_at: None,
            owed: 0,
            serial: false,
            iteration: Default::default(),
            section: Default::default(),
            stack_notes: Default::default(),
            woken_early: false,
            quiet: 0,
            quiet_since: 0,
            frame: 0,
            entry: None,
            clock: [0; THREADS],
            acquired: [0; THREADS],
            fence: [0; THREADS],
        }
    }

    /// Back to before its creation.
    pub fn restart(&mut self) {
        self.status = Status::Unborn;
        self.pending = Pending::new(Op::None);
        self.operands = [0; 3];
        self.announced_at = None;
        self.lowest = self.top;
        (self.c11, self.returned) = (false, false);
        (self.detached, self.joined, self.cancelled, self.uncancellable) = (false, false, false, false);
        self.asynchronous = false;
        self.cleanup.clear();
        self.local_destructors.clear();
        self.calls.clear();
        self.signals = Default::default();
        (self.passed, self.directions) = (false, 0);
        self.polled.clear();
        self.robust.clear();
        self.held.clear();
        self.stack_notes.restart();
        self.life.restart();
        self.iteration.changed();
        self.serial = false;
        self.section = Default::default();
        (self.children, self.joins, self.owed, self.quiet) = (0, 0, 0, 0);
        self.quiet_since = 0;
        self.woken_early = false;
        clear(&mut self.clock);
        clear(&mut self.acquired);
        clear(&mut self.fence);
    }

    /// Has it been created and not ended?
    pub fn lives(&self) -> bool {
        !matches!(self.status, Status::Unborn | Status::Finished)
    }

    /// Where it is, when it does not run.
    pub fn saved_stack(&self, code: &context::Code) -> Stack {
        if self.frame != 0 {
            return context::walk(self.frame, self.stack.start, self.stack.end, code);
        }
        if !self.stack.contains(&self.sp) {
            return [0; crate::protocol::FRAMES];
        }
        // SAFETY: a thread that does not run was left by `switch`.
        let frame = unsafe { context::saved_frame(self.sp) };
        context::walk(frame, self.stack.start, self.stack.end, code)
    }
}
