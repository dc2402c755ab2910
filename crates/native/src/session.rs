//! A checked process.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::build::Binary;
use crate::confinement::{Confinement, end_group, has_ended, own_group, without};
use crate::conventions::Conventions;
use crate::debugger;
use crate::protocol::{LOOPS, LivePiece, MAGIC, PIECES, SESSION_DESCRIPTOR, Shared, phase, question};
use crate::residual::{Pairing, Residual};
use crate::scratch::Scratch;

/// Output of the program that is kept.
const MOST_OUTPUT: u64 = 1 << 20;

/// `CLOSE_RANGE_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_uint = 4;

/// How long a step may take once the time is up.
const GRACE: Duration = Duration::from_millis(500);

/// What the program is given.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its standard input.
    pub input: Option<PathBuf>,
    /// Files copied into its working directory.
    pub files: Vec<PathBuf>,
}

/// Why a process could not be run.
#[derive(Debug)]
pub enum SessionError {
    /// Something of the system failed.
    System(&'static str, std::io::Error),
    /// A file could not be copied.
    File(PathBuf, std::io::Error),
    /// The program never came under control.
    NotControlled(ExitStatus),
    /// The explorer has a bug: its message.
    Broken(String),
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionError::System(what, error) => write!(f, "{what}: {error}"),
            SessionError::File(path, error) => write!(f, "{}: {error}", path.display()),
            SessionError::NotControlled(status) => write!(
                f,
                "the program ended ({status}) before it came under control; is it linked with the runtime (`quotient cc`)?"
            ),
            SessionError::Broken(message) => write!(f, "a bug in the explorer: {message}"),
        }
    }
}

impl std::error::Error for SessionError {}

/// The shared block.
struct Block {
    file: File,
    address: *mut Shared,
}

impl Block {
    fn new() -> Result<Block, SessionError> {
        let file = memory_file(c"quotient")?;
        let size = size_of::<Shared>();
        let failed = |error| SessionError::System("cannot make shared memory", error);
        file.set_len(size as u64).map_err(failed)?;
        // SAFETY: a new mapping of a file of this size.
        let address = unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), size, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if address == libc::MAP_FAILED {
            return Err(failed(std::io::Error::last_os_error()));
        }
        Ok(Block { file, address: address.cast() })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and no reference outlives the block.
        unsafe { libc::munmap(self.address.cast(), size_of::<Shared>()) };
    }
}

fn memory_file(name: &std::ffi::CStr) -> Result<File, SessionError> {
    // SAFETY: a terminated name; the descriptor is owned by the file from here on.
    unsafe {
        let descriptor = libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC);
        if descriptor < 0 {
            return Err(SessionError::System("cannot make shared memory", std::io::Error::last_os_error()));
        }
        Ok(File::from_raw_fd(descriptor))
    }
}

/// The most that is read from an input which cannot be read again.
const MOST_INPUT: u64 = 64 << 20;

/// The user's file, or a copy of what it gives: every execution reads it from the start.
fn input(path: &Path) -> std::io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    let mut copy = memory_file(c"input").map_err(|_| std::io::Error::last_os_error())?;
    if std::io::copy(&mut file.take(MOST_INPUT), &mut copy)? == MOST_INPUT {
        return Err(std::io::Error::other("the input is too long"));
    }
    copy.seek(SeekFrom::Start(0))?;
    Ok(copy)
}

/// A process that was run.
pub struct Session {
    block: Block,
    output: File,
    scratch: Scratch,
    /// What the program was not kept from.
    unconfined: Vec<String>,
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// With an answer in the shared block.
    Answered,
    /// By this signal, without an answer.
    Killed(i32),
    /// With this status, without an answer.
    Exited(i32),
    /// A step took too long: it was ended.
    Stuck,
}

/// Is this a signal that others send to end a process? What the program sends to itself never reaches the kernel.
pub(crate) fn from_outside(signal: i32) -> bool {
    [libc::SIGKILL, libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT].contains(&signal)
}

/// What is told while a process runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heartbeat {
    /// Complete executions.
    pub executions: u64,
    /// Steps.
    pub steps: u64,
    /// Pruned as symmetric.
    pub pruned: u64,
    /// About how many executions there will be, without symmetry: not less than these; zeroes: not known.
    pub estimate: [u64; 2],
}

impl Session {
    /// Prepares a process; `fill` writes the request.
    ///
    /// # Errors
    /// If the system has no memory or no place for files.
    pub fn new(fill: impl FnOnce(&mut Shared)) -> Result<Session, SessionError> {
        let block = Block::new()?;
        let output = memory_file(c"output")?;
        let scratch =
            Scratch::new().map_err(|e| SessionError::System("cannot make a working directory", e))?;
        // SAFETY: nobody else has the block yet; zeroes are a value of it.
        let shared = unsafe { &mut *block.address };
        shared.magic = MAGIC;
        shared.max_preemptions = u32::MAX;
        shared.output = SESSION_DESCRIPTOR + 1;
        shared.wants_filter = u32::from(!without("seccomp"));
        fill(shared);
        Ok(Session { block, output, scratch, unconfined: Vec::new() })
    }

    /// Runs the program to its end. A step may take `patience`; `watch` is told about progress and says whether to go on.
    ///
    /// # Errors
    /// If the program cannot be started or does not come under control.
    pub fn run(
        &mut self,
        binary: &Binary,
        surroundings: &Surroundings,
        patience: Duration,
        watch: &mut dyn FnMut(Heartbeat) -> bool,
    ) -> Result<End, SessionError> {
        self.fill_holes(binary);
        let mut child = self.start(binary, surroundings)?;
        // Read only when a question comes.
        let mut residual = None;
        let mut answer = |places: (u64, u64)| {
            let residual = residual.get_or_insert_with(|| Residual::new(binary.path()));
            residual.as_mut().and_then(|r: &mut Residual| r.pairing(places.0, places.1).ok())
        };
        let end = self.wait(&mut child, patience, watch, &mut answer)?;
        let shared = self.shared();
        match (end, shared.phase) {
            (_, phase::BROKEN) => Err(SessionError::Broken(failure_text(shared))),
            (Ok(status), phase::STARTING) => Err(SessionError::NotControlled(status)),
            (Ok(_), phase::DONE) => Ok(End::Answered),
            (Ok(status), _) => Ok(match status.signal() {
                Some(signal) => End::Killed(signal),
                None => End::Exited(status.code().unwrap_or(0)),
            }),
            (Err(Hung), _) => Ok(End::Stuck),
        }
    }

    /// Tells the process which accesses have no hook, and which loops only count.
    fn fill_holes(&mut self, binary: &Binary) {
        let holes = binary.holes();
        // SAFETY: the block is mapped, and no process has it yet.
        let shared = unsafe { &mut *self.block.address };
        for (slot, hole) in shared.holes.iter_mut().zip(holes) {
            *slot = *hole;
        }
        // More than there is room for is said by this number.
        shared.holes_length = holes.len() as u32;
        let counted = binary.counted();
        for (slot, counted) in shared.counted.iter_mut().zip(counted) {
            *slot = *counted;
        }
        // The others are executed as they are.
        shared.counted_length = counted.len().min(LOOPS) as u32;
    }

    /// Runs the program under gdb, on the terminal, until gdb is left. It stops in `function` of the program.
    ///
    /// # Errors
    /// If gdb cannot be started.
    pub fn run_under_gdb(
        &self,
        binary: &Binary,
        surroundings: &Surroundings,
        gdb: &std::ffi::OsStr,
        function: &str,
    ) -> Result<ExitStatus, SessionError> {
        let script = self.scratch.path().join("stop.gdb");
        let text = if function.is_empty() {
            debugger::TO_THE_RUNTIME.to_owned()
        } else {
            debugger::script(function)
        };
        std::fs::write(&script, text).map_err(|e| SessionError::File(script.clone(), e))?;
        let mut command = Command::new(gdb);
        command.arg("-x").arg(&script);
        self.tell_conventions(binary)?;
        command.args(["-q", "-nx"]).arg("--args");
        command.arg(std::path::absolute(binary.path()).unwrap_or_else(|_| binary.path().to_owned()));
        self.prepare(&mut command, surroundings, false)?;
        let mut child =
            command.spawn().map_err(|error| SessionError::System("cannot start the debugger", error))?;
        child.wait().map_err(|error| SessionError::System("cannot wait for the debugger", error))
    }

    fn start(&mut self, binary: &Binary, surroundings: &Surroundings) -> Result<Child, SessionError> {
        self.tell_conventions(binary)?;
        let path = std::path::absolute(binary.path()).unwrap_or_else(|_| binary.path().to_owned());
        let mut command = Command::new(path);
        self.unconfined = self.prepare(&mut command, surroundings, true)?;
        command.spawn().map_err(|error| SessionError::System("cannot start the program", error))
    }

    /// Tells the process which of the program's functions have a meaning by their names.
    fn tell_conventions(&self, binary: &Binary) -> Result<(), SessionError> {
        // SAFETY: the process has not been started, so nobody else uses the block.
        let shared = unsafe { &mut *self.block.address };
        if Conventions::of(binary.path()).fill(shared) {
            return Ok(());
        }
        let many = std::io::Error::other("there are too many functions named __VERIFIER_atomic_*");
        Err(SessionError::System("the program cannot be checked", many))
    }

    /// Gives the command what a checked process finds: arguments, working directory, descriptors. Its input and output are
    /// its own only if it is `captured`. Gives what it is not kept from.
    fn prepare(
        &self,
        command: &mut Command,
        surroundings: &Surroundings,
        captured: bool,
    ) -> Result<Vec<String>, SessionError> {
        // The program works in one directory; the other one keeps its files as they were.
        let directory = self.scratch.path().join("work");
        let originals = self.scratch.path().join("original");
        for place in [&directory, &originals] {
            std::fs::create_dir_all(place).map_err(|e| SessionError::File(place.clone(), e))?;
            for file in &surroundings.files {
                let name = file.file_name().unwrap_or(file.as_os_str());
                std::fs::copy(file, place.join(name)).map_err(|e| SessionError::File(file.clone(), e))?;
            }
        }
        let confinement = Confinement::new(&directory);
        let unconfined = confinement.missing().iter().map(|what| (*what).to_owned()).collect();
        let input = match &surroundings.input {
            Some(path) => Stdio::from(input(path).map_err(|e| SessionError::File(path.clone(), e))?),
            // Empty, and unlike all files that the program can name (`outside` in the runtime).
            None => Stdio::from(memory_file(c"input")?),
        };
        command.args(&surroundings.arguments).current_dir(&directory).env("LD_BIND_NOW", "1");
        if captured {
            command.stdin(input);
        }
        command.env_remove("LD_PRELOAD");
        let (block, output) = (self.block.file.as_raw_fd(), self.output.as_raw_fd());
        // SAFETY: only system calls that are allowed between fork and exec.
        unsafe {
            command.pre_exec(move || {
                // What the checker itself was given is not the program's.
                libc::syscall(libc::SYS_close_range, 3, u32::MAX, CLOSE_ON_EXEC);
                let failed = libc::dup2(block, SESSION_DESCRIPTOR) < 0
                    || libc::dup2(output, SESSION_DESCRIPTOR + 1) < 0
                    || (captured && libc::dup2(output, 1) < 0)
                    || (captured && libc::dup2(output, 2) < 0)
                    || libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) < 0
                    || libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) < 0;
                if failed {
                    return Err(std::io::Error::last_os_error());
                }
                if captured && !own_group() {
                    return Err(std::io::Error::last_os_error());
                }
                confinement.enter()
            });
        }
        Ok(unconfined)
    }

    /// Waits for the end; kills a process that makes no step for too long: in CPU time, or four times as long in real time
    /// if it sleeps, in a call that blocks. A process that is not let run for long, on a busy machine, is waited for.
    fn wait(
        &self,
        child: &mut Child,
        patience: Duration,
        watch: &mut dyn FnMut(Heartbeat) -> bool,
        answer: &mut dyn FnMut((u64, u64)) -> Option<Pairing>,
    ) -> Result<Result<ExitStatus, Hung>, SessionError> {
        let failed = |error| SessionError::System("cannot wait for the program", error);
        let mut pause = Duration::from_micros(500);
        let (mut steps, mut since, mut cpu) = (u64::MAX, Instant::now(), Duration::ZERO);
        let started = Instant::now();
        // SAFETY: the request, which nobody changes.
        let most = unsafe { (&raw const (*self.block.address).max_milliseconds).read_volatile() };
        let most = if most == 0 { Duration::MAX } else { Duration::from_millis(most) };
        let mut stopped = false;
        loop {
            // The exploration itself looks at the time between steps.
            let patience = if stopped || started.elapsed() > most { patience.min(GRACE) } else { patience };
            if has_ended(child.id()).map_err(failed)? {
                end_group(child.id());
                return Ok(Ok(child.wait().map_err(failed)?));
            }
            if self.wait_for_question(pause) {
                self.answer_question(answer);
                continue;
            }
            pause = (pause * 2).min(Duration::from_millis(50));
            // SAFETY: the block is mapped; the process may write at the same time, so each number is read by itself.
            let beat = unsafe {
                Heartbeat {
                    executions: (&raw const (*self.block.address).executions).read_volatile(),
                    steps: (&raw const (*self.block.address).steps).read_volatile(),
                    pruned: (&raw const (*self.block.address).pruned).read_volatile(),
                    estimate: (&raw const (*self.block.address).estimate_range).read_volatile(),
                }
            };
            if !watch(beat) {
                stopped = true;
                // SAFETY: as above.
                unsafe { (&raw mut (*self.block.address).stop).write_volatile(1) };
            }
            if beat.steps != steps {
                (steps, since, cpu) = (beat.steps, Instant::now(), cpu_time(child.id()));
            } else if since.elapsed() > patience
                && (cpu_time(child.id()).saturating_sub(cpu) > patience
                    || since.elapsed() > 4 * patience && sleeps(child.id()))
            {
                end_group(child.id());
                child.wait().map_err(failed)?;
                return Ok(Err(Hung));
            }
        }
    }

    fn question(&self) -> &AtomicU32 {
        // SAFETY: a word of the mapped block, which both sides change by atomic operations only.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.block.address).question) }
    }

    /// Waits for so long, or until the process asks something. Says whether it does.
    fn wait_for_question(&self, pause: Duration) -> bool {
        let state = self.question().load(Ordering::Acquire);
        if state != question::ASKED {
            let timeout =
                libc::timespec { tv_sec: pause.as_secs() as i64, tv_nsec: i64::from(pause.subsec_nanos()) };
            // SAFETY: waits on a word that is mapped, for a limited time.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    self.question().as_ptr(),
                    libc::FUTEX_WAIT,
                    state,
                    &raw const timeout,
                )
            };
        }
        self.question().load(Ordering::Acquire) == question::ASKED
    }

    fn answer_question(&self, answer: &mut dyn FnMut((u64, u64)) -> Option<Pairing>) {
        // SAFETY: the process waits for the answer and does not use these fields meanwhile.
        let places = unsafe { (&raw const (*self.block.address).question_places).read_volatile() };
        let found = answer((places[0], places[1])).filter(|pairing| pairing.pieces.len() <= PIECES);
        if let Some(pairing) = &found {
            // SAFETY: as above; there is room for all pieces.
            unsafe {
                let pieces = (&raw mut (*self.block.address).pieces).cast::<LivePiece>();
                for (k, piece) in pairing.pieces.iter().enumerate() {
                    pieces.add(k).write_volatile(*piece);
                }
                (&raw mut (*self.block.address).pieces_length).write_volatile(pairing.pieces.len() as u32);
                (&raw mut (*self.block.address).live_registers).write_volatile(pairing.registers);
            }
        }
        let state = if found.is_some() { question::SAME } else { question::DIFFERENT };
        self.question().store(state, Ordering::Release);
        // SAFETY: wakes who waits on a word that is mapped.
        unsafe { libc::syscall(libc::SYS_futex, self.question().as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
    }

    /// What the program was not kept from, in words.
    pub fn unconfined(&self) -> Vec<String> {
        let mut missing = self.unconfined.clone();
        if self.shared().has_filter == 0 {
            missing.push("system calls are not filtered (seccomp): the program can make any".to_owned());
        }
        missing
    }

    /// The shared block, when nobody writes it.
    pub fn shared(&self) -> &Shared {
        // SAFETY: only called before the process is started or after it has ended.
        unsafe { &*self.block.address }
    }

    /// What the program printed in its last execution.
    pub fn output(&mut self) -> String {
        let mut bytes = Vec::new();
        // What cannot be read is not shown.
        let _ = self.output.seek(SeekFrom::Start(0));
        let _ = (&mut self.output).take(MOST_OUTPUT).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

struct Hung;

/// The message of the failure in the block.
pub(crate) fn failure_text(shared: &Shared) -> String {
    let length = (shared.failure.text_length as usize).min(shared.failure.text.len());
    String::from_utf8_lossy(&shared.failure.text[..length]).into_owned()
}

/// What the kernel tells of a process or kernel thread after its name.
fn state(path: &Path) -> String {
    let stat = std::fs::read_to_string(path.join("stat")).unwrap_or_default();
    // The name, in parentheses, may contain spaces.
    stat.rsplit_once(')').map_or("", |(_, rest)| rest).to_owned()
}

/// CPU time used by a process.
fn cpu_time(process: u32) -> Duration {
    let state = state(Path::new(&format!("/proc/{process}")));
    let fields: Vec<&str> = state.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|f| f.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

/// Do all kernel threads of a process wait for something?
fn sleeps(process: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    tasks.is_ok_and(|tasks| tasks.flatten().all(|task| state(&task.path()).trim_start().starts_with('S')))
}

/// CPU time of all processes that were started and have ended.
pub(crate) fn children_cpu() -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: room for one rusage, of which zeroes are a value.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let duration = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
    duration(usage.ru_utime) + duration(usage.ru_stime)
}
