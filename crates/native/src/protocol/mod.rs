//! What the checker and the checked process say to each other: one block of shared memory.
//!
//! This folder is compiled into both sides (the checker, and the runtime library inside the checked program), so it
//! uses nothing but the core library. The checker fills in the request and starts the program; the runtime explores
//! (or repeats one schedule) and fills in the rest. The schedule under execution is kept here all the time, so that it is
//! known even if the process dies.

mod counted;
mod numbered;

pub use counted::{COUNTED, Counted, CountedSlot, LOOPS, compares};
pub use numbered::{Convention, FailureKind, Op, Outside};

/// The descriptor under which a checked process finds the shared block.
pub const SESSION_DESCRIPTOR: i32 = 187;
/// First word of the block: says that the descriptor is what it seems, and that both sides mean a block of the same shape.
pub const MAGIC: u64 = 0x7175_6f74_6e61_7403 ^ (size_of::<Shared>() as u64) << 24;

/// The most threads a checked program may create, the main thread included.
pub const THREADS: usize = 64;
/// The most steps of an execution.
pub const STEPS: usize = 1 << 17;
/// The most return addresses kept of a stack.
pub const FRAMES: usize = 16;
/// The most different outcomes that are told.
pub const OUTCOMES: usize = 1 << 14;
/// The most variables that a thread in a loop is said to wait for.
pub const WATCHED: usize = 4;
/// The most cells that are visible because they race.
pub const CELLS: usize = 1 << 12;
/// The most values that a nondeterministic number may have.
pub const VALUES: usize = 256;
/// The most functions of a program that are atomic sections.
pub const SECTIONS: usize = 256;
/// The most functions of a program that are replaced.
pub const CONVENTIONS: usize = 16;
/// Room for the schedules of all executions, in words.
pub const RECORDS: usize = 1 << 21;
/// As the step to stop before: where the program fails.
pub const AT_FAILURE: u32 = u32::MAX;
/// Room for the script of peers.
pub const PEER: usize = 1 << 16;
/// Room for messages.
pub const TEXT: usize = 1 << 10;

/// What a caller may look at after a return: the result, and five registers that are kept.
pub const OUTS: usize = 6;
/// A reason for which bytes of a frame are live: they may be read through a pointer, and a hook tells when they are.
pub const THROUGH_POINTER: u8 = 1 << 7;
/// The most pieces of two frames.
pub const PIECES: usize = 512;

/// Bytes of two frames that correspond and are live.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct LivePiece {
    /// Offset from the first frame pointer.
    pub first: i32,
    /// Offset from the second frame pointer.
    pub second: i32,
    /// Number of bytes.
    pub length: u32,
    /// Bits of the reasons: bit 0 always, bit `k` if the caller needs the `k`-th of its registers, [`THROUGH_POINTER`].
    pub needs: u8,
}

/// What tells two threads apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Difference {
    /// An address of data, or an offset from the frame pointer if there is a place.
    pub what: i64,
    /// Where the function goes on that has the frame; 0: none.
    pub place: u64,
}

/// States of a question about residual code.
pub mod question {
    /// None.
    pub const NONE: u32 = 0;
    /// The runtime waits for the answer.
    pub const ASKED: u32 = 1;
    /// The code at both places is the same up to renaming.
    pub const SAME: u32 = 2;
    /// It is not, or is not understood.
    pub const DIFFERENT: u32 = 3;
    /// In place of the second place: what becomes of the result of the call that returns to the first? The first of
    /// `live_registers` answers; it is [`DIFFERENT`] if the result may decide something.
    pub const FATE: u64 = u64::MAX;
    /// The result is copied and stored, as a whole.
    pub const STORED: u8 = 1;
    /// It is also compared with others, for being equal.
    pub const COMPARED: u8 = 2;
    /// In place of the second place, with a byte: which values is the result of an atomic addition, plus this byte, compared with? The first
    /// of `live_registers` answers with bits.
    pub const COUNT: u64 = u64::MAX - 0x1ff;
    /// A bit of that answer: it is also returned, plus the byte in the second of `live_registers`.
    pub const RETURNED: u8 = 0x80;
}

/// What the runtime is asked to do.
pub mod mode {
    /// Explore all executions.
    pub const EXPLORE: u32 = 1;
    /// Repeat the schedule in `schedule` and write down every step.
    pub const REPLAY: u32 = 2;
    /// The same with one kernel thread per thread: an independent way to execute, for tests.
    pub const REPLAY_KERNEL: u32 = 3;
}

/// What is made of reads of stacks where nobody has written.
pub mod unwritten {
    /// Stacks are empty, and such a read is a failure, to be confirmed.
    pub const LOOK: u32 = 0;
    /// The first frames hold a pattern, and such a read is a failure if it gets that.
    pub const CONFIRM: u32 = 1;
    /// Nothing.
    pub const IGNORE: u32 = 2;
}

/// How far the runtime has come.
pub mod phase {
    /// Nothing yet.
    pub const STARTING: u32 = 0;
    /// Running executions.
    pub const RUNNING: u32 = 1;
    /// The answer is complete.
    pub const DONE: u32 = 2;
    /// The explorer itself has failed; see the text of the failure.
    pub const BROKEN: u32 = 3;
}

/// The answer.
pub mod verdict {
    /// Every execution was covered.
    pub const HOLDS: u32 = 1;
    /// See `failure` and `schedule`.
    pub const VIOLATED: u32 = 2;
    /// See `bound`.
    pub const UNDECIDED: u32 = 3;
    /// The program cannot be checked; see `text`.
    pub const REFUSED: u32 = 4;
}

/// Room for names of what was taken from outside.
pub const NAMES: usize = 256;

/// Stands for names that had no room.
pub const MORE: &str = "…";

/// What was taken from outside, of one kind.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Taken {
    /// Was anything?
    pub met: u32,
    /// Bytes of `names` in use.
    pub names_length: u32,
    /// What it was, line by line; [`MORE`] where there was no room for all of it.
    pub names: [u8; NAMES],
    /// Where it was taken first.
    pub stack: Stack,
}

/// The most accesses without a hook that are watched.
pub const HOLES: usize = 1 << 13;

/// An instruction that accesses memory and that no hook announces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Hole {
    /// Where it is in the program's file.
    pub address: u64,
    /// What is added to the registers; the address itself if there are none.
    pub displacement: i64,
    /// Bytes accessed.
    pub size: u16,
    /// Its length in bytes.
    pub length: u8,
    /// See [`hole`].
    pub kind: u8,
    /// The base register, in the kernel's order; [`hole::NONE`], [`hole::ABSOLUTE`].
    pub base: u8,
    /// The index register.
    pub index: u8,
    /// Its factor.
    pub scale: u8,
    /// If it is relative to the instruction: where in it the distance is.
    pub displacement_at: u8,
}

/// Kinds of holes, and their registers.
pub mod hole {
    /// Not understood.
    pub const UNKNOWN: u8 = 0;
    /// Reads.
    pub const READ: u8 = 1;
    /// Writes.
    pub const WRITE: u8 = 2;
    /// Reads and writes, not at once.
    pub const UPDATE: u8 = 3;
    /// Reads and writes at once.
    pub const ATOMIC_UPDATE: u8 = 4;
    /// Writes if the value is that of the register `rax`.
    pub const COMPARE_AND_SWAP: u8 = 5;
    /// A fence: nothing is accessed that others use.
    pub const FENCE: u8 = 6;
    /// No register.
    pub const NONE: u8 = 255;
    /// The address is relative to the program.
    pub const ABSOLUTE: u8 = 254;
}

/// One choice of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Chosen {
    /// The thread.
    pub thread: u16,
    /// The alternative.
    pub alternative: u16,
}

/// A stack, innermost return address first; zeroes past its end.
pub type Stack = [u64; FRAMES];

/// A step of a repeated schedule.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Step {
    /// The thread.
    pub thread: u8,
    /// An [`Op`].
    pub op: u8,
    /// Bytes accessed, if it is an access to memory.
    pub size: u8,
    /// Did the operation succeed (a try-lock, a compare-and-swap)?
    pub success: u8,
    /// The alternative taken.
    pub alternative: u16,
    /// How many there were.
    pub alternatives: u16,
    /// Under weak memory, what a read has read: 0 nothing or not known, 1 the first value, else one more than the step that wrote it.
    pub source: u32,
    /// The step of the write that comes next in modification order after what was read or written, as for `source`.
    pub newer: u32,
    /// Threads woken or created.
    pub wakes: u64,
    /// Threads joined.
    pub awaits: u64,
    /// The object.
    pub address: u64,
    /// The second object (the mutex of a wait).
    pub other: u64,
    /// Value before.
    pub before: i64,
    /// Value after.
    pub after: i64,
    /// Where the program is.
    pub stack: Stack,
}

/// A thread at the end of a repeated schedule.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ThreadEnd {
    /// 0 unborn, 1 unfinished, 2 finished.
    pub state: u8,
    /// The [`Op`] it has not been able to do.
    pub op: u8,
    /// Who has what it waits for (255: nobody).
    pub owner: u8,
    /// Can it do it?
    pub enabled: u8,
    /// In how many ways.
    pub alternatives: u32,
    /// Threads it waits for to end.
    pub awaits: u64,
    /// The object it waits for.
    pub address: u64,
    /// What it waits to see changed, in a loop; zeroes past the end.
    pub watched: [u64; WATCHED],
    /// Its start routine.
    pub routine: u64,
    /// Where it is.
    pub stack: Stack,
}

/// What a thread did at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Role {
    /// It went wrong, or made an access.
    Access,
    /// It allocated a block.
    Allocation,
    /// It gave a block back.
    Release,
    /// It has read a stack where, as far as hooks tell, nobody has written.
    Unwritten,
}

/// One side of a failure: a thread and where it was.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Place {
    /// The thread (255: none).
    pub thread: u8,
    /// Was it a write?
    pub write: u8,
    /// Was it atomic?
    pub atomic: u8,
    /// Bytes accessed.
    pub size: u8,
    /// A [`Role`].
    pub role: u8,
    /// Unused.
    pub padding: [u8; 3],
    /// Address accessed.
    pub address: u64,
    /// Where.
    pub stack: Stack,
}

/// What went wrong.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Failure {
    /// A [`FailureKind`].
    pub kind: u8,
    /// Unused.
    pub padding: [u8; 3],
    /// Bytes of `text` in use.
    pub text_length: u32,
    /// Where it happened.
    pub here: Place,
    /// For a race: the earlier access. For a bad access to the heap: where the block was freed or allocated. For a second
    /// initialisation on a stack: without a thread, the frame pointer of the function that it belongs to, and a place in its code.
    pub there: Place,
    /// In words.
    pub text: [u8; TEXT],
}

/// The shared block.
#[repr(C)]
pub struct Shared {
    /// [`MAGIC`].
    pub magic: u64,

    // The request.
    /// See [`mode`].
    pub mode: u32,
    /// 0 optimal, 1 source sets, 2 Flanagan–Godefroid.
    pub algorithm: u32,
    /// 0 off, 1 co-started, 2 dynamic.
    pub symmetry: u32,
    /// The memory model: see [`memory`].
    pub memory: u32,
    /// Are data races no violations?
    pub allow_races: u32,
    /// See [`unwritten`].
    pub unwritten: u32,
    /// Is a joinable thread that nobody joins a violation?
    pub leaks: u32,
    /// May waits end by themselves?
    pub spurious: u32,
    /// 0: no limit.
    pub max_executions: u64,
    /// `u32::MAX`: no limit.
    pub max_preemptions: u32,
    /// Go on after the first violation?
    pub all: u32,
    /// The most steps of an execution.
    pub max_steps: u64,
    /// 0: no limit.
    pub max_milliseconds: u64,
    /// Descriptor of the file that gets what the program prints.
    pub output: i32,
    /// Set by the checker to stop the exploration.
    pub stop: u32,
    /// The most processes that explore at a time.
    pub workers: u32,
    /// Executions before a process gives work to another.
    pub split_after: u32,
    /// Length of `values`.
    pub values_length: u32,
    /// Unused.
    pub padding: u32,
    /// What `__VERIFIER_nondet_int` and the like may give.
    pub values: [i64; VALUES],
    /// How long a process may go without a step.
    pub patience_milliseconds: u64,
    /// Is the filter for system calls to be installed?
    pub wants_filter: u32,
    /// Is it?
    pub has_filter: u32,
    /// Has the user given a standard input?
    pub input_given: u32,
    /// Are schedules of executions to be kept? 1: all of them, 2: the first with each outcome, of which what is printed and
    /// the exit status are a part.
    pub records_wanted: u32,
    /// The status with which the last execution has ended.
    pub exit_status: u32,
    /// Length of `records`; more than there is room for if some were left out.
    pub records_length: u64,
    /// The most memory, in bytes, that the program may use; 0: no limit.
    pub max_memory: u64,
    /// Length of `sections`.
    pub sections_length: u32,
    /// Length of `conventions`.
    pub conventions_length: u32,
    /// Functions that are atomic sections: where they begin in the file, and their size.
    pub sections: [(u64, u64); SECTIONS],
    /// Functions that are replaced: a [`Convention`], and where they begin in the file.
    pub conventions: [(u64, u64); CONVENTIONS],
    /// Bytes of `peer` in use.
    pub peer_length: u32,
    /// The script of the program's peers.
    pub peer: [u8; PEER],
    /// In a repeated schedule: stop for a debugger before this step, counted from 1 (0: never), or [`AT_FAILURE`].
    pub trap: u32,

    /// Length of `holes`.
    pub holes_length: u32,
    /// Could they not be watched?
    pub holes_unwatched: u32,
    /// Accesses without a hook, by their addresses.
    pub holes: [Hole; HOLES],
    /// Length of `counted`.
    pub counted_length: u32,
    /// Loops that only count, by their addresses.
    pub counted: [Counted; LOOPS],

    // Progress.
    /// See [`phase`].
    pub phase: u32,
    /// The thread that runs.
    pub running: u32,
    /// Length of `schedule`.
    pub schedule_length: u32,
    /// Complete executions.
    pub executions: u64,
    /// Executions cut short by sleep sets.
    pub blocked: u64,
    /// Executions that say nothing: an assumption does not hold, or somebody has waited too early.
    pub infeasible: u64,
    /// Executions cut by a bound.
    pub cut: u64,
    /// Steps, replayed ones included.
    pub steps: u64,
    /// Longest execution.
    pub depth: u64,
    /// Pruned as symmetric.
    pub pruned: u64,
    /// Pairs of threads that were tested for symmetry, and how many were symmetric.
    pub symmetry_tests: u64,
    /// See `symmetry_tests`.
    pub symmetry_found: u64,
    /// Permuted images looked at.
    pub images: u64,
    /// States at which threads were not exchanged because there would have been too many images.
    pub unexchanged: u64,
    /// Explorations that were started again because something more was found to be visible.
    pub restarts: u64,
    /// Accesses to memory that needed no step.
    pub filtered: u64,
    /// Executions of explorations that were started again.
    pub discarded: u64,
    /// Processes that explored a part ahead.
    pub copies: u64,
    /// Of these, how many did so in vain.
    pub copies_lost: u64,
    /// Executions made while another process was exploring, too.
    pub together: u64,
    /// An estimate of the number of executions, made before the exploration, without symmetry; 0: none.
    pub estimate: u64,
    /// The least and the greatest mean of a quarter of the probes.
    pub estimate_range: [u64; 2],
    /// CPU time, in nanoseconds, that was not spent on the exploration: start-up, probes, minimising.
    pub aside_nanoseconds: u64,

    // Questions about residual code.
    /// See [`question`]; changed by atomic operations only.
    pub question: u32,
    /// Length of `pieces`.
    pub pieces_length: u32,
    /// The two places of the program's file.
    pub question_places: [u64; 2],
    /// The answer: registers that are live, by reason.
    pub live_registers: [u8; OUTS + 1],
    /// The answer: bytes that are live.
    pub pieces: [LivePiece; PIECES],

    // The answer.
    /// Where the program is loaded.
    pub program_base: u64,
    /// See [`verdict`].
    pub verdict: u32,
    /// 1 executions, 2 preemptions, 3 steps, 4 time, 5 stopped, 6 not deterministic, 7 lossy symmetry, 8 stuck.
    pub bound: u32,
    /// The most threads that existed.
    pub threads: u32,
    /// Length of `trace`.
    pub trace_length: u32,
    /// Length of `outcomes`.
    pub outcomes_length: u32,
    /// Number of joinable threads that were never joined in some execution.
    pub leaked: u32,
    /// Number of threads that still waited when the program ended, in some execution.
    pub waiting: u32,
    /// What happened in some execution: see [`met`].
    pub met: u32,
    /// The memory model that was explored: see [`memory`].
    pub memory_explored: u32,
    /// Bytes of `memory_why` in use.
    pub memory_why_length: u32,
    /// Why not another one, if the program decides.
    pub memory_why: [u8; NAMES],
    /// What was taken from outside in some execution, by the numbers of [`Outside`].
    pub outside: [Taken; Outside::ALL.len()],
    /// Context switches of the violation's schedule.
    pub switches: u32,
    /// Has no schedule of such a violation fewer?
    pub fewest: u32,
    /// Why two threads were not exchanged, as bits (see [`why`]), the smaller number first. With itself: why a thread is unlike
    /// all others.
    pub unlike: [[u16; THREADS]; THREADS],
    /// An example of each reason, by the number of its bit.
    pub differences: [Difference; 16],
    /// Sets of threads that were exchanged, at most four.
    pub classes: [u64; 4],
    /// Length of `cells`.
    pub cells_length: u32,
    /// Address and size of the memory whose plain accesses are steps: found, or given with a schedule to repeat.
    pub cells: [(u64, u64); CELLS],
    /// What went wrong.
    pub failure: Failure,
    /// The schedule under execution, to repeat, or of the violation.
    pub schedule: [Chosen; STEPS],
    /// Endings (upper byte) and hashes of what was observed.
    pub outcomes: [u64; OUTCOMES],
    /// Threads at the end of a repeated schedule.
    pub ends: [ThreadEnd; THREADS],
    /// Steps of a repeated schedule.
    pub trace: [Step; STEPS],
    /// Schedules of executions, one after the other: what was observed, the number of choices, the choices.
    pub records: [u64; RECORDS],
}

/// What the answer is relative to (bits of [`Shared::met`]).
pub mod met {
    /// An atomic operation of an order weaker than sequential consistency, while there were several threads.
    pub const WEAK_ORDER: u32 = 1;
    /// One of the values that the user has given for nondeterministic numbers.
    pub const GIVEN_VALUE: u32 = 2;
    /// An execution ended with status 0.
    pub const SUCCESS: u32 = 4;
    /// An execution ended with another status.
    pub const FAILURE: u32 = 8;
    /// A wait on a condition variable that only a signal ended, although it may end by itself.
    pub const STEADY_WAIT: u32 = 16;
    /// A weak compare and swap, which failed only where the values differed, although it may fail always.
    pub const STEADY_EXCHANGE: u32 = 32;
}

/// Memory models.
pub mod memory {
    /// As the program's memory orders want it.
    pub const BY_PROGRAM: u32 = 0;
    /// Sequential consistency.
    pub const SC: u32 = 1;
    /// TSO.
    pub const TSO: u32 = 2;
    /// RC11.
    pub const RC11: u32 = 3;
}

/// Why threads could not be exchanged (bits of [`Shared::unlike`]).
pub mod why {
    /// They were started with different functions or arguments.
    pub const ARGUMENTS: u16 = 1;
    /// A thread asked who it is.
    pub const IDENTITY: u16 = 2;
    /// One was joined, detached or cancelled without the other.
    pub const JOIN: u16 = 4;
    /// Memory that belongs to one of them was used by somebody else.
    pub const MEMORY: u16 = 8;
    /// What they do next, or after that, differs.
    pub const CODE: u16 = 16;
    /// Their live locals differ.
    pub const LOCALS: u16 = 32;
    /// Live locals of somebody else refer to one of them.
    pub const REFERENCE: u16 = 64;
    /// One of them has a lock or waits in a queue.
    pub const OBJECTS: u16 = 128;
    /// Races would be found with the accesses of one and not of the other.
    pub const HISTORY: u16 = 256;
    /// Something was not understood.
    pub const UNKNOWN: u16 = 512;
    /// What they have allocated differs.
    pub const HEAP: u16 = 1024;
    /// Their thread-local variables differ.
    pub const THREAD_LOCAL: u16 = 2048;
    /// A global refers to one of them.
    pub const REFERENCE_GLOBAL: u16 = 4096;
    /// A heap block of somebody else refers to one of them.
    pub const REFERENCE_HEAP: u16 = 8192;
    /// All of these, with their reasons.
    pub const ALL: [(u16, &str); 14] = [
        (ARGUMENTS, "started with different functions or arguments"),
        (IDENTITY, "asks for its own identity"),
        (JOIN, "joined or detached without the other, or the result is asked for"),
        (MEMORY, "memory given to one is used by another"),
        (CODE, "residual code differs"),
        (LOCALS, "live locals differ"),
        (HEAP, "what they have allocated differs"),
        (THREAD_LOCAL, "thread-local variables differ"),
        (REFERENCE, "live locals of another thread refer to one of them, its stack or its heap"),
        (REFERENCE_GLOBAL, "a global refers to one of them, its stack or its heap"),
        (REFERENCE_HEAP, "a heap block of another thread refers to one of them, its stack or its heap"),
        (OBJECTS, "one of them has a lock or waits in a queue"),
        (HISTORY, "data races would be found with accesses of one and not of the other"),
        (
            UNKNOWN,
            "an operation, thread-specific data, mapped memory or code outside of the program is not understood",
        ),
    ];
}
