//! A schedule repeated in a new process, step by step, in the program's own names.

use quotient_stateless::ThreadSet;

use crate::build::Binary;
use crate::check::Request;
use crate::protocol::{FailureKind, Op, Place, Shared, Stack, Step, THREADS, ThreadEnd, mode, verdict};
use crate::session::{End, Session, SessionError, failure_text, from_outside};
use crate::symbols::{Location, Symbols};
use crate::token::Token;

pub use quotient_outcome::Frame;

/// A step of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceStep {
    /// The thread.
    pub thread: usize,
    /// What it did: operation, object, values.
    pub text: String,
    /// Where, innermost function first.
    pub stack: Vec<Frame>,
}

/// A thread at the end.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThreadState {
    /// Was it created?
    pub exists: bool,
    /// Has it ended?
    pub finished: bool,
    /// Its start routine.
    pub name: String,
    /// What it is waiting to do.
    pub waits: String,
    /// Who has what it waits for.
    pub owner: Option<usize>,
    /// Where it is.
    pub stack: Vec<Frame>,
}

/// One side of a failure.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Side {
    /// The thread.
    pub thread: usize,
    /// What it accessed and how.
    pub access: String,
    /// Where it was.
    pub stack: Vec<Frame>,
}

/// What went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// In words.
    pub text: String,
    /// Where.
    pub here: Option<Side>,
    /// The other side of a race.
    pub there: Option<Side>,
}

/// An execution.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The steps.
    pub steps: Vec<TraceStep>,
    /// The threads at the end.
    pub threads: Vec<ThreadState>,
    /// What went wrong.
    pub failure: Failure,
    /// What the program printed.
    pub output: String,
    /// The schedule.
    pub token: Token,
    /// The schedule could not be repeated to its end.
    pub lost: bool,
    /// No thread can go on.
    pub complete: bool,
    /// Somebody else has ended the process.
    pub killed: bool,
}

/// Repeats a schedule; with `kernel_threads`, on one kernel thread per thread.
///
/// # Errors
/// If the program cannot be run under control.
pub fn replay(
    binary: &Binary,
    request: &Request,
    token: &Token,
    kernel_threads: bool,
) -> Result<Trace, SessionError> {
    let mut session = Session::new(|shared| {
        fill_replay(shared, request, token);
        if kernel_threads {
            shared.mode = mode::REPLAY_KERNEL;
        }
    })?;
    let end = session.run(binary, &request.surroundings, request.patience, &mut |_| true)?;
    let output = session.output();
    let shared = session.shared();
    let symbols = Symbols::new(binary.path(), shared.program_base);
    let view = View { symbols: &symbols, shared };
    let mut failure = view.failure();
    let killed = matches!(end, End::Killed(signal) if from_outside(signal));
    if let End::Killed(signal) = end
        && !killed
    {
        failure.kind = FailureKind::Crash;
        failure.text = format!("the process is killed by signal {signal}");
    } else if end == End::Stuck {
        failure.kind = FailureKind::Stuck;
    }
    let steps = shared.trace[..shared.trace_length as usize].iter().map(|step| view.step(step)).collect();
    Ok(Trace {
        steps,
        threads: shared.ends.iter().enumerate().map(|(t, e)| view.thread(t, e)).collect(),
        failure,
        output,
        token: token.clone(),
        lost: shared.bound == 6,
        complete: shared.verdict != verdict::UNDECIDED,
        killed,
    })
}

/// Asks for the repetition of a schedule.
fn fill_replay(shared: &mut Shared, request: &Request, token: &Token) {
    request.fill(shared);
    shared.mode = mode::REPLAY;
    shared.symmetry = 0;
    for (slot, choice) in shared.schedule.iter_mut().zip(&token.schedule.choices) {
        (slot.thread, slot.alternative) = (u16::from(choice.thread), choice.alternative);
    }
    shared.schedule_length = token.schedule.choices.len().min(shared.schedule.len()) as u32;
    let cells = &token.cells[..token.cells.len().min(shared.cells.len())];
    shared.cells[..cells.len()].copy_from_slice(cells);
    shared.cells_length = cells.len() as u32;
}

/// Repeats a schedule under the debugger `gdb`, on the terminal, and stops before step `step` (counted from 1), on the stack of
/// the thread that is about to make it, in `function`.
///
/// # Errors
/// If the debugger cannot be started.
pub fn debug(
    binary: &Binary,
    request: &Request,
    token: &Token,
    step: u32,
    gdb: &std::ffi::OsStr,
    function: &str,
) -> Result<std::process::ExitStatus, SessionError> {
    let session = Session::new(|shared| {
        fill_replay(shared, request, token);
        shared.trap = step;
    })?;
    session.run_under_gdb(binary, &request.surroundings, gdb, function)
}

struct View<'a> {
    symbols: &'a Symbols,
    shared: &'a Shared,
}

impl View<'_> {
    fn locations(&self, stack: &Stack) -> Vec<Location> {
        let addresses = stack.iter().take_while(|a| **a != 0);
        addresses.filter_map(|a| self.symbols.code(*a)).collect()
    }

    /// The functions of the program on a stack. What headers of libraries do to make a call of the program's own is left
    /// out: the innermost function shown is the user's, if there is one.
    fn stack(&self, stack: &Stack) -> Vec<Frame> {
        let mut found = self.locations(stack);
        if let Some(own) = found.iter().position(|location| !location.of_library) {
            found.drain(..own);
        }
        found.into_iter().map(|l| Frame { function: l.function, file: l.file, line: l.line }).collect()
    }

    /// What thread `number` is called: its start routine, or the user's function that the library's routine calls.
    fn name(&self, number: usize, routine: u64) -> String {
        if number == 0 {
            return "main".to_owned();
        }
        self.symbols.function(routine).unwrap_or_else(|| {
            let steps = self.shared.trace[..self.shared.trace_length as usize].iter();
            let own = steps.filter(|step| step.thread as usize == number).map(|step| &step.stack);
            let first = own.chain([&self.shared.ends[number].stack]).find_map(|stack| {
                let outermost = self.locations(stack).into_iter().rev().find(|l| !l.of_library)?;
                Some(outermost.function)
            });
            let without_arguments = |name: String| name.split('(').next().unwrap_or_default().to_owned();
            first.map(without_arguments).unwrap_or_default()
        })
    }

    fn step(&self, step: &Step) -> TraceStep {
        let op = Op::from_number(step.op).unwrap_or(Op::None);
        let object = || self.symbols.data(step.address);
        let threads = |set: u64| {
            let list: Vec<String> = ThreadSet(set).iter().map(|t| format!("T{t}")).collect();
            list.join(", ")
        };
        let failed = if step.success == 0 { ": fails" } else { "" };
        let text = match op {
            Op::Load | Op::Read => format!("{} {} = {}", op.text(), object(), self.value(step, step.before)),
            Op::Store | Op::Write => {
                format!(
                    "{} {}: {} -> {}",
                    op.text(),
                    object(),
                    self.value(step, step.before),
                    self.value(step, step.after)
                )
            }
            Op::Update => {
                format!(
                    "{} {}: {} -> {}",
                    op.text(),
                    object(),
                    self.value(step, step.before),
                    self.value(step, step.after)
                )
            }
            Op::CompareAndSwap if step.success == 0 => {
                format!("{} {}: fails, is {}", op.text(), object(), self.value(step, step.before))
            }
            Op::CompareAndSwap => {
                format!(
                    "{} {}: {} -> {}",
                    op.text(),
                    object(),
                    self.value(step, step.before),
                    self.value(step, step.after)
                )
            }
            Op::Create => {
                let new = ThreadSet(step.wakes).first().map_or(0, usize::from);
                match self.name(new, step.address).as_str() {
                    "" => format!("create {}", threads(step.wakes)),
                    name => format!("create {} ({name})", threads(step.wakes)),
                }
            }
            Op::Join => format!("join {}", threads(step.awaits)),
            Op::Wait | Op::TimedWait => {
                format!("{} {}, unlock {}", op.text(), object(), self.symbols.data(step.other))
            }
            Op::Reacquire => format!("{} {}", op.text(), self.symbols.data(step.other)),
            Op::Signal | Op::Broadcast | Op::Barrier if step.wakes != 0 => {
                format!("{} {}, wakes {}", op.text(), object(), threads(step.wakes))
            }
            Op::Signal | Op::Broadcast => format!("{} {}, wakes nobody", op.text(), object()),
            Op::Choose => format!("choose {} of {}", step.alternative, step.alternatives),
            Op::Cancel => format!("cancel T{}", step.address),
            Op::SendSignal => {
                let to = match step.address >> 8 {
                    0 => "the process".to_owned(),
                    thread => format!("T{}", thread - 1),
                };
                let woken =
                    if step.wakes == 0 { String::new() } else { format!(", wakes {}", threads(step.wakes)) };
                format!("send signal {} to {to}{woken}", step.address & 0xff)
            }
            Op::Point if step.alternatives > 1 && step.alternative > 0 => "will be interrupted".to_owned(),
            Op::AwaitCancel
            | Op::Point
            | Op::SignalState
            | Op::SignalWait
            | Op::SignalResume
            | Op::SignalReturn => op.text().to_owned(),
            Op::Yield | Op::AtomicBegin => op.text().to_owned(),
            _ => format!("{} {}{failed}", op.text(), object()),
        };
        TraceStep { thread: step.thread as usize, text, stack: self.stack(&step.stack) }
    }

    /// A value as a signed number of its size; large ones are more likely addresses.
    fn value(&self, step: &Step, value: i64) -> String {
        let value = match step.size {
            1 => i64::from(value as i8),
            2 => i64::from(value as i16),
            4 => i64::from(value as i32),
            _ => value,
        };
        if value.unsigned_abs() > 1 << 32 { self.symbols.data(value as u64) } else { value.to_string() }
    }

    fn thread(&self, number: usize, end: &ThreadEnd) -> ThreadState {
        let op = Op::from_number(end.op).unwrap_or(Op::None);
        let waits = match op {
            Op::Join => {
                let list: Vec<String> = ThreadSet(end.awaits).iter().map(|t| format!("T{t}")).collect();
                format!("join {}", list.join(", "))
            }
            Op::Wait if end.address == 0 => "get a signal".to_owned(),
            Op::Wait => format!("be woken at {}", self.symbols.data(end.address)),
            Op::Exit => "exit".to_owned(),
            _ if end.address == 0 => op.text().to_owned(),
            _ => format!("{} {}", op.text(), self.symbols.data(end.address)),
        };
        ThreadState {
            exists: end.state != 0,
            finished: end.state == 2,
            name: self.name(number, end.routine),
            waits,
            owner: ((end.owner as usize) < THREADS).then_some(end.owner as usize),
            stack: self.stack(&end.stack),
        }
    }

    fn side(&self, place: &Place) -> Option<Side> {
        if place.thread as usize >= THREADS {
            return None;
        }
        let access = if place.size == 0 {
            String::new()
        } else {
            let how = if place.atomic != 0 { "atomic " } else { "" };
            let verb = if place.write != 0 { "write" } else { "read" };
            let object = self.symbols.data(place.address);
            format!("{how}{verb} of {object} ({} byte{})", place.size, if place.size == 1 { "" } else { "s" })
        };
        Some(Side { thread: place.thread as usize, access, stack: self.stack(&place.stack) })
    }

    fn failure(&self) -> Failure {
        let failure = &self.shared.failure;
        Failure {
            kind: FailureKind::from_number(failure.kind).unwrap_or(FailureKind::None),
            text: failure_text(self.shared),
            here: self.side(&failure.here),
            there: self.side(&failure.there),
        }
    }
}
