//! Limits and signals, the same way for every subcommand: a time limit, a memory limit, memory that runs out, Ctrl-C, SIGTERM and
//! SIGHUP all raise one token ([`interrupt`]).
//!
//! What polls the token (searches, audits, simulations, checked processes) ends with its usual report. Everything else (a front
//! end, the translation of a formula, a path that is executed again, code yet to be written) need not know about limits: the
//! clock's thread, which raises the token, also sees to it that the process ends. When the work has gone on for
//! [`MOST_CPU`] after the token was raised, or takes memory [`far_beyond`] its limit, it is left where it is, and what is known so
//! far ([`journal`]) is reported from here: "undecided", exit status 5, or the violations that were already confirmed. So no phase can overrun its limits, and none ends
//! in "holds" because of one.
//!
//! Two reports must not mix: whoever writes one holds [`WRITER`]. The thread that is left may hold any other lock; this module
//! takes none that it would have to wait for, and writes without buffers.

mod allocator;
mod children;
mod memory;
mod report;
mod signals;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use clap::Args;
use quotient::Journal;
use quotient::seams::{Interrupt, Reason, Task, resident_bytes};

use quotient::status;

use super::{options, usage};

pub(crate) use report::{Subject, undecided};

/// CPU time for which work may go on after it was told to end.
const MOST_CPU: f64 = 0.5;
/// Elapsed time for the same, if it waits for something or gets no CPU.
const MOST_WALL: Duration = Duration::from_millis(2000);

/// Does work that was told to end because of this limit of memory take more than an eighth beyond it, and what a report needs? A
/// front end takes a gigabyte in a second.
fn far_beyond(limit: u64, resident: u64) -> bool {
    resident > limit.saturating_add(limit / 8).saturating_add(16 << 20)
}

/// Elapsed time after which work that uses no CPU, and has no processes that do, waits for something that may never come.
const IDLE: Duration = Duration::from_millis(300);

static INTERRUPT: OnceLock<Interrupt> = OnceLock::new();
static JOURNAL: Journal = Journal::new();
static SUBJECT: Mutex<Subject> = Mutex::new(Subject::nothing());

/// Raised when the work is to end.
pub(crate) fn interrupt() -> &'static Interrupt {
    INTERRUPT.get_or_init(Interrupt::new)
}

/// What is known so far.
pub(crate) fn journal() -> &'static Journal {
    &JOURNAL
}

// Bounds that hold for all that is done.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Bounds {
    /// Stop after this time (for example 30s, 10m, 2h)
    #[arg(long = "max-time", value_name = "TIME", value_parser = options::duration)]
    pub(crate) time: Option<Duration>,

    /// Stop when the process takes this much memory (for example 500M, 8G)
    #[arg(long = "max-memory", value_name = "SIZE", value_parser = options::size)]
    pub(crate) memory: Option<u64>,
}

/// Starts watching; called once, before anything that can take long.
pub(crate) fn start(bounds: Bounds) {
    let interrupt = interrupt();
    memory::prepare();
    signals::catch();
    let ceiling = memory::ceiling();
    let started = Instant::now();
    let mut raised: Option<(Instant, f64)> = None;
    let task = Task::every_tick(move || {
        let resident = look(bounds, ceiling, started);
        if !interrupt.raised() {
            return;
        }
        let (since, cpu) = *raised.get_or_insert_with(|| (Instant::now(), usage::cpu_seconds()));
        let (elapsed, used) = (since.elapsed(), usage::cpu_seconds() - cpu);
        let waits = || elapsed > IDLE && used < 0.01 && children::none();
        let grows = bounds.memory.is_some_and(|limit| far_beyond(limit, resident));
        if grows || elapsed > MOST_WALL || used > MOST_CPU || signals::again() || waits() {
            leave();
        }
    });
    match task {
        // It is needed as long as there is a process.
        Some(task) => std::mem::forget(task),
        None => {
            interrupt.raise(Reason::OutOfMemory);
            leave();
        }
    }
}

/// What the work is about from now on.
pub(crate) fn about(file: &Path, json: bool) {
    COMPLETE.store(false, Ordering::Relaxed);
    JOURNAL.clear();
    JOURNAL.enter("reading the input");
    let subject = Subject::new(file, json);
    *SUBJECT.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = subject;
}

/// Raises the token if there is a reason to. The resident bytes, where there is a limit of them.
fn look(bounds: Bounds, ceiling: Option<u64>, started: Instant) -> u64 {
    let interrupt = interrupt();
    if let Some(signal) = signals::caught() {
        interrupt.raise(Reason::Asked(signal));
    }
    if let Some(limit) = bounds.time
        && started.elapsed() >= limit
    {
        interrupt.raise(Reason::Time(limit));
    }
    if bounds.memory.is_none() && ceiling.is_none() {
        return 0;
    }
    let resident = resident_bytes().unwrap_or(0);
    if let Some(limit) = bounds.memory.filter(|limit| resident > *limit) {
        interrupt.raise(Reason::Memory(limit));
    }
    if ceiling.is_some_and(|ceiling| resident > ceiling) {
        interrupt.raise(Reason::OutOfMemory);
    }
    resident
}

/// Nobody writes a report.
const FREE: u8 = 0;
/// Some thread does, and goes on afterwards.
const WRITING: u8 = 1;
/// The last report is written: the process ends with it.
const ENDING: u8 = 2;

/// Who may write to standard output, and end the process.
static WRITER: AtomicU8 = AtomicU8::new(FREE);

/// Writes a part of a report; nothing else is written meanwhile. If the process is already ending, with a report of its own,
/// this does not return.
pub(crate) fn writing<T>(write: impl FnOnce() -> T) -> T {
    while WRITER.compare_exchange(FREE, WRITING, Ordering::Acquire, Ordering::Relaxed).is_err() {
        // Only this thread and the clock's write reports: the process ends any moment.
        std::thread::sleep(Duration::from_millis(10));
    }
    let result = write();
    WRITER.store(FREE, Ordering::Release);
    result
}

/// The status of what was reported so far, and whether that is all there is to report.
static REPORTED: AtomicU8 = AtomicU8::new(status::HOLDS);
static COMPLETE: AtomicBool = AtomicBool::new(false);

/// Called where a report was written, inside of [`writing`]: what is done afterwards (side files) can still be left, but the report
/// stands, and so does its status.
pub(crate) fn reported(status: u8) {
    REPORTED.store(status::worst([REPORTED.load(Ordering::Relaxed), status]), Ordering::Relaxed);
    COMPLETE.store(true, Ordering::Relaxed);
}

/// The exit status is known, and nothing more will be reported. If the process is already ending, with a report of its own, this does
/// not return.
pub(crate) fn finish() {
    while WRITER.compare_exchange(FREE, ENDING, Ordering::Acquire, Ordering::Relaxed).is_err() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Leaves the work where it is, unless it is just reporting: says what is known and ends the process.
fn leave() {
    if WRITER.compare_exchange(FREE, ENDING, Ordering::Acquire, Ordering::Relaxed).is_err() {
        // A second signal also ends a report that nobody reads.
        if signals::again() {
            children::end_all();
            quotient_native::remove_scratch_directories();
            exit(status::UNDECIDED);
        }
        return;
    }
    end();
}

/// Reports what is known and ends the process; the caller holds [`WRITER`].
fn end() -> ! {
    children::end_all();
    quotient_native::remove_scratch_directories();
    if COMPLETE.load(Ordering::Relaxed) {
        // What was asked for besides is not done: that is not the status for "holds".
        exit(status::worst([REPORTED.load(Ordering::Relaxed), status::UNDECIDED]));
    }
    clear_progress();
    let reason = interrupt().reason().unwrap_or(Reason::OutOfMemory);
    let subject = SUBJECT.try_lock().map(|s| s.clone()).unwrap_or_default();
    let (text, status) = report::early(&subject, reason, &JOURNAL.known().unwrap_or_default());
    write_all(&text);
    exit(status::worst([REPORTED.load(Ordering::Relaxed), status]))
}

/// Removes the line that shows progress.
fn clear_progress() {
    // SAFETY: writes a few bytes, to a terminal only.
    unsafe {
        if libc::isatty(libc::STDERR_FILENO) == 1 {
            libc::write(libc::STDERR_FILENO, c"\r\x1b[K".as_ptr().cast(), 4);
        }
    }
}

/// Writes to standard output without buffers. Who cannot be written to learns the exit status at least.
fn write_all(text: &str) {
    let mut left = text.as_bytes();
    while !left.is_empty() {
        // SAFETY: the bytes are there.
        let written = unsafe { libc::write(libc::STDOUT_FILENO, left.as_ptr().cast(), left.len()) };
        match usize::try_from(written) {
            Ok(written) => left = &left[written..],
            Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Ends the process at once: threads that were left must not see anything being taken down.
fn exit(status: u8) -> ! {
    // SAFETY: never returns, and runs nothing of this program.
    unsafe { libc::_exit(i32::from(status)) }
}
