//! The filter for system calls of a checked program (seccomp): a list of what is allowed.
//!
//! A filter sees the number and the arguments of a call and the address of the instruction that makes it. So there are three
//! kinds of callers:
//!
//! - *This library* may do what it needs (copies of the process for `--workers`, to end and to wait for them, notes of written
//!   pages), and everything that others may.
//! - *The program's own code* may make no call at all: such an instruction is inline assembly, past everything that the
//!   exploration knows of. It is refused by name.
//! - *Other libraries*, the C library above all, may do what is on the list: files and memory. They get no sockets and
//!   no new processes. Kernel threads are made for the program's threads only.
//!
//! Landlock knows nothing of modes, owners and times of files. A call that changes them is caught and looked at: it is made if
//! the file lies in the scratch directory, and refused otherwise. So are calls that change how a thread is scheduled, which
//! are made for threads of this process only.
//!
//! A program that wants to get out can jump to the instructions of this library. What it can do then is limited by Landlock,
//! and its processes are ended with the check.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::exploration::world::{NOWHERE, active, controlled, world};
use crate::protocol::{FailureKind, Outside, Place, phase, verdict};
use crate::system::handler::handle;
use crate::system::system_call::{exit_process, number, system_call};
use crate::system::system_names::name;
use crate::threads::context;

/// Calls that libraries may make, whatever the arguments.
#[rustfmt::skip]
const ALLOWED: [u16; 148] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 32, 33, 34, 35,
    36, 39, 40, 44, 45, 48, 51, 52, 53, 54, 55, 60, 63, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89,
    95, 96, 97, 98, 99, 100, 102, 104, 107, 108, 110, 111, 115, 121, 124, 127, 130, 131, 133, 137, 138, 140, 143, 145, 146,
    147, 148, 149, 150, 151, 152, 158, 160, 186, 187, 191, 192, 193, 194, 195, 196, 201, 202, 204, 217, 218, 221, 228, 229,
    230, 231, 257, 258, 259, 262, 263, 264, 265, 266, 267, 269, 270, 271, 273, 275, 276, 277, 285, 292, 293, 295, 296, 309,
    316, 318, 319, 324, 325, 326, 327, 328, 332, 334, 436, 437, 439,
];

const CLONE: u32 = 56;
const CLONE3: u32 = 435;
const SOCKET: u32 = 41;
const IOCTL: u32 = 16;
const FCNTL: u32 = 72;
const PRCTL: u32 = 157;
const PRLIMIT: u32 = 302;

/// What to do with a call.
const ALLOW: u32 = 0x7fff_0000;
const CATCH: u32 = 0x0003_0000;
const KILL: u32 = 0x8000_0000;
const ERROR: u32 = 0x0005_0000;
const ENOSYS: u32 = 38;
const EACCES: u32 = 13;
const EPERM: isize = 1;

/// An instruction of the kernel's filter machine.
#[derive(Clone, Copy)]
#[repr(C)]
struct Instruction {
    code: u16,
    if_true: u8,
    if_false: u8,
    value: u32,
}

/// Where the parts of a call lie.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const POINTER: u32 = 8;
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

#[derive(Default)]
struct Filter {
    instructions: Vec<Instruction>,
}

impl Filter {
    fn push(&mut self, code: u16, if_true: u8, if_false: u8, value: u32) {
        self.instructions.push(Instruction { code, if_true, if_false, value });
    }

    fn load(&mut self, offset: u32) {
        self.push(0x20, 0, 0, offset);
    }

    fn give(&mut self, what: u32) {
        self.push(0x06, 0, 0, what);
    }

    /// `what` if the loaded word equals `value`.
    fn if_equal(&mut self, value: u32, what: u32) {
        self.push(0x15, 0, 1, value);
        self.give(what);
    }

    /// `what` for calls from `code`, else goes on. Both ends have the same upper half.
    fn if_called_from(&mut self, code: &Range<usize>, what: u32) {
        self.load(POINTER + 4);
        self.push(0x15, 0, 4, (code.start >> 32) as u32);
        self.load(POINTER);
        // At least the start, and not more than the end, where the address after the last instruction is.
        self.push(0x35, 0, 2, code.start as u32);
        self.push(0x25, 1, 0, code.end as u32);
        self.give(what);
    }

    /// For the call `number`: allowed if the argument, masked, has one of these values, else `what`. `None`: all bits.
    fn if_argument(&mut self, number: u32, index: u32, mask: Option<u32>, values: &[u32], what: u32) {
        let length = 2 + usize::from(mask.is_some()) + 2 * values.len();
        self.push(0x15, 0, length as u8, number);
        self.load(argument(index));
        if let Some(mask) = mask {
            self.push(0x54, 0, 0, mask);
        }
        for value in values {
            self.if_equal(*value, ALLOW);
        }
        self.give(what);
    }
}

/// Calls that read from a descriptor or make another name for it, and which argument it is: read, mmap, pread64, readv, dup,
/// dup2, sendfile, fcntl, splice, dup3, preadv, copy_file_range, preadv2.
const READING: [(u32, u32); 13] = [
    (0, 0),
    (9, 4),
    (17, 0),
    (19, 0),
    (32, 0),
    (33, 0),
    (40, 1),
    (72, 0),
    (275, 0),
    (292, 0),
    (295, 0),
    (326, 0),
    (327, 0),
];

/// Was the call caught because it is one of these, of standard input?
fn names_input(call: usize, a: &[usize; 6]) -> bool {
    READING.iter().any(|(number, index)| *number as usize == call && a[*index as usize] as u32 == 0)
}

/// Does it really read, or make another name? A mapping without a file may name any descriptor, and most commands of `fcntl` only ask.
fn reads_input(call: usize, a: &[usize; 6]) -> bool {
    const MMAP: u32 = 9;
    const ANONYMOUS: usize = 0x20;
    const DUPLICATE: usize = 0;
    const DUPLICATE_AND_CLOSE: usize = 1030;
    match call as u32 {
        MMAP => a[3] & ANONYMOUS == 0,
        FCNTL => matches!(a[1], DUPLICATE | DUPLICATE_AND_CLOSE),
        _ => true,
    }
}

/// Commands of `fcntl` that are allowed: duplicates, flags and locks; not who gets signals.
const COMMANDS: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1032, 1033, 1034];

fn filter(own: &Range<usize>, program: &Range<usize>, input_given: bool) -> Filter {
    const X86_64: u32 = 0xc000_003e;
    const CLONE_THREAD: u32 = 0x1_0000;
    let mut filter = Filter::default();
    filter.load(ARCHITECTURE);
    filter.push(0x15, 1, 0, X86_64);
    filter.give(KILL);
    filter.if_called_from(own, ALLOW);
    filter.if_called_from(program, CATCH);
    filter.load(NUMBER);
    if !input_given {
        // Nobody reads an input that was not given without being seen (`outside`).
        for (number, index) in READING {
            filter.push(0x15, 0, 4, number);
            filter.load(argument(index));
            filter.if_equal(0, CATCH);
            filter.load(NUMBER);
        }
    }
    for allowed in ALLOWED {
        filter.if_equal(u32::from(allowed), ALLOW);
    }
    // The C library falls back to the older call, whose flags can be looked at.
    filter.if_equal(CLONE3, ERROR | ENOSYS);
    // Name services ask a daemon first, and do without it.
    filter.if_equal(SOCKET, ERROR | EACCES);
    filter.if_argument(CLONE, 0, Some(CLONE_THREAD), &[CLONE_THREAD], CATCH);
    // Terminal settings, window size, bytes to read, flags of descriptors.
    filter.if_argument(IOCTL, 1, None, &[0x5401, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451], CATCH);
    filter.if_argument(FCNTL, 1, None, &COMMANDS, CATCH);
    // Names of threads and of memory.
    filter.if_argument(PRCTL, 0, None, &[15, 16, 0x5356_4d41], CATCH);
    filter.if_argument(PRLIMIT, 0, None, &[0], CATCH);
    filter.give(CATCH);
    filter
}

/// Code of this library and of the program.
#[derive(Default)]
struct Code {
    own: Range<usize>,
    program: Range<usize>,
}

/// Installs the filter; says whether it is enforced.
fn install(code: &Code) -> bool {
    const NO_NEW_PRIVILEGES: usize = 38;
    const SECCOMP: usize = 317;
    const SET_FILTER: usize = 1;
    let whole = |range: &Range<usize>| !range.is_empty() && range.start >> 32 == range.end >> 32;
    if !whole(&code.own) || !whole(&code.program) {
        return false;
    }
    let filter = filter(&code.own, &code.program, world().shared.input_given != 0);
    let program = (filter.instructions.len() as u16, filter.instructions.as_ptr());
    let program: [usize; 2] = [program.0.into(), program.1 as usize];
    // SAFETY: a struct sock_fprog: a count, padded, and the instructions.
    unsafe {
        system_call(PRCTL as usize, [NO_NEW_PRIVILEGES, 1, 0, 0, 0, 0]);
        system_call(SECCOMP, [SET_FILTER, 0, program.as_ptr() as usize, 0, 0, 0]) == 0
    }
}

/// Confines the process, before any code of the program runs.
pub fn enter() {
    if !controlled() || world().shared.wants_filter == 0 {
        return;
    }
    let code = crate::memory::snapshot::code();
    let code = Code { own: code.own, program: code.program };
    catch();
    directory();
    if install(&code) {
        world().shared.has_filter = 1;
    }
}

/// The scratch directory, in which the program starts.
pub fn directory() -> &'static str {
    static DIRECTORY: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let path = std::env::current_dir().unwrap_or_default();
        path.canonicalize().unwrap_or(path).to_string_lossy().into_owned()
    })
}

/// Is this path in the scratch directory?
pub fn is_scratch(path: &Path) -> bool {
    path.starts_with(directory())
}

/// Is what this descriptor refers to in the scratch directory?
fn is_ours(descriptor: usize) -> bool {
    let path = std::fs::read_link(format!("/proc/self/fd/{descriptor}"));
    path.is_ok_and(|path| is_scratch(&path))
}

/// Where the file of this name really is; `None`: there is none.
pub fn whereabouts(path: usize) -> Option<PathBuf> {
    const PATH_ONLY: usize = 0o10000000 | 0o2000000;
    // SAFETY: the program's string, which the kernel checks; the new descriptor is ours.
    let opened = unsafe { system_call(number::OPEN, [path, PATH_ONLY, 0, 0, 0, 0]) };
    if opened < 0 {
        return None;
    }
    let place = std::fs::read_link(format!("/proc/self/fd/{opened}")).ok();
    // SAFETY: the same.
    unsafe { system_call(number::CLOSE, [opened as usize, 0, 0, 0, 0, 0]) };
    place
}

/// Is the file of this name in the scratch directory?
fn names_ours(from: usize, path: usize, follow: bool) -> bool {
    const PATH_ONLY: usize = 0o10000000 | 0o2000000;
    const NO_FOLLOW: usize = 0o400000;
    const OPENAT: usize = 257;
    let flags = if follow { PATH_ONLY } else { PATH_ONLY | NO_FOLLOW };
    // SAFETY: the program's string, which the kernel checks; the new descriptor is ours.
    unsafe {
        let opened = system_call(OPENAT, [from, path, flags, 0, 0, 0]);
        if opened < 0 {
            // The call will say so itself.
            return true;
        }
        let ours = is_ours(opened as usize);
        system_call(number::CLOSE, [opened as usize, 0, 0, 0, 0, 0]);
        ours
    }
}

/// Is this a kernel thread of this process?
fn is_own_thread(thread: usize) -> bool {
    const GETPID: usize = 39;
    const TGKILL: usize = 234;
    // SAFETY: signal 0 only asks.
    thread == 0
        || unsafe { system_call(TGKILL, [system_call(GETPID, [0; 6]) as usize, thread, 0, 0, 0, 0]) == 0 }
}

/// May a call that was caught be made? `None`: it is refused.
fn decide(call: usize, a: &[usize; 6]) -> Option<bool> {
    const HERE: usize = -100isize as usize;
    const NO_FOLLOW: usize = 0x100;
    Some(match call {
        // chmod, chown, utime, utimes, setxattr, removexattr
        90 | 92 | 132 | 235 | 188 | 197 => names_ours(HERE, a[0], true),
        // lchown, lsetxattr, lremovexattr
        94 | 189 | 198 => names_ours(HERE, a[0], false),
        // fchmod, fchown, fsetxattr, fremovexattr
        91 | 93 | 190 | 199 => is_ours(a[0]),
        // fchmodat
        268 => names_ours(a[0] as i32 as usize, a[1], true),
        // fchownat
        260 => names_ours(a[0] as i32 as usize, a[1], a[4] & NO_FOLLOW == 0),
        // futimesat, utimensat: without a name, of the descriptor
        261 | 280 if a[1] == 0 => is_ours(a[0] as i32 as usize),
        261 => names_ours(a[0] as i32 as usize, a[1], true),
        280 => names_ours(a[0] as i32 as usize, a[1], a[3] & NO_FOLLOW == 0),
        // fchmodat2
        452 => names_ours(a[0] as i32 as usize, a[1], a[3] & NO_FOLLOW == 0),
        // setpriority, of a process
        141 => a[0] == 0 && is_own_thread(a[1]),
        // sched_setparam, sched_setscheduler, sched_setaffinity
        142 | 144 | 203 => is_own_thread(a[0]),
        _ => return None,
    })
}

/// A library reads standard input, with this stack pointer.
fn note_input(sp: usize) {
    let mut w = world();
    // Once the program has closed its own, this library's files have that number.
    if !active() && w.shared.phase != phase::STARTING {
        return;
    }
    let mut callers = [0; crate::protocol::FRAMES];
    if active() && w.me().stack.contains(&sp) {
        let end = w.me().stack.end;
        // SAFETY: the part of the running thread's stack that is in use.
        let caller = unsafe { context::caller((sp + 7) & !7..end, &w.code) };
        callers[0] = caller.unwrap_or(0) as u64;
    }
    crate::environment::outside::note_at(Outside::Input, b"", callers);
}

extern "C" fn on_call(_signal: i32, information: *const u8, context: *mut u8) {
    // SAFETY: the kernel's siginfo_t and ucontext_t, with the registers of the interrupted code.
    let (call, registers) =
        unsafe { (*information.add(24).cast::<i32>() as usize, &mut *context.add(40).cast::<[usize; 17]>()) };
    // rdi, rsi, rdx, r10, r8, r9
    let arguments = [8, 9, 12, 2, 0, 1].map(|register: usize| registers[register]);
    let pc = registers[16];
    let from_program =
        world().code.program.contains(&pc) || crate::memory::snapshot::code().program.contains(&pc);
    let decision = match from_program {
        true => None,
        false if world().shared.input_given == 0 && names_input(call, &arguments) => {
            if reads_input(call, &arguments) {
                note_input(registers[15]);
            }
            (call as u32 != FCNTL || COMMANDS.contains(&(arguments[1] as u32))).then_some(true)
        }
        false => decide(call, &arguments),
    };
    let rax = &mut registers[13];
    match decision {
        Some(true) => {
            // SAFETY: the call that the library wanted to make, with its arguments.
            *rax = unsafe { system_call(call, arguments) } as usize;
            return;
        }
        // The working directory is put back by this library itself, before executions.
        Some(false) if !active() => {
            *rax = -EPERM as usize;
            return;
        }
        _ => {}
    }
    let why = if from_program {
        "a system call by inline assembly is not supported"
    } else if decision.is_some() {
        "outside of the scratch directory or of this program"
    } else {
        "this system call is not allowed"
    };
    let text = format!("{}: {why}", name(call));
    let mut w = world();
    if !active() {
        w.record_failure(FailureKind::Refused, &text, NOWHERE, NOWHERE);
        w.shared.verdict = verdict::REFUSED;
        w.shared.phase = phase::DONE;
        exit_process(0);
    }
    let stack = w.me().stack.clone();
    let mut place = Place { thread: w.current as u8, ..NOWHERE };
    let callers = context::walk(registers[10], stack.start, stack.end, &w.code);
    place.stack[0] = pc as u64;
    place.stack[1..].copy_from_slice(&callers[..crate::protocol::FRAMES - 1]);
    w.record_failure(FailureKind::Refused, &text, place, NOWHERE);
    loop {
        world().leave();
    }
}

/// Installs the handler of calls that are caught.
fn catch() {
    const SIGSYS: i32 = 31;
    handle(&[SIGSYS], on_call);
}

/// No more memory than the user allows, on top of what is reserved now.
pub fn limit_memory(bytes: u64) {
    const SETRLIMIT: usize = 160;
    const ADDRESS_SPACE: usize = 9;
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').next().and_then(|pages| pages.parse::<u64>().ok());
    if let Some(pages) = pages.filter(|_| bytes > 0) {
        let limit = [pages * 4096 + bytes; 2];
        // SAFETY: a struct rlimit.
        unsafe { system_call(SETRLIMIT, [ADDRESS_SPACE, limit.as_ptr() as usize, 0, 0, 0, 0]) };
    }
}
