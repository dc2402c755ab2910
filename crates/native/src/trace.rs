//! A schedule repeated in a new process, step by step, in the program's own names.

use quotient_outcome::{Access, ProcessState, Violation};
use quotient_stateless::ThreadSet;

use crate::build::Binary;
use crate::check::Request;
use crate::protocol::{FailureKind, Op, Place, Role, Shared, Stack, Step, THREADS, ThreadEnd, mode, verdict};
use crate::session::{End, Session, SessionError, failure_text, from_outside};
use crate::symbols::{Location, Symbols};
use crate::token::Token;

pub use quotient_outcome::{Frame, Trace};

/// What went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// In words.
    pub text: String,
}

/// A schedule that was repeated.
#[derive(Clone, Debug)]
pub struct Repeated {
    /// The execution.
    pub trace: Trace,
    /// What went wrong.
    pub failure: Failure,
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
) -> Result<Repeated, SessionError> {
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
    let steps = shared.trace[..shared.trace_length as usize].iter().enumerate();
    let threads = shared.ends.iter().enumerate().filter(|(_, end)| end.state != 0);
    let accesses: Vec<Access> =
        [&shared.failure.here, &shared.failure.there].into_iter().filter_map(|p| view.access(p)).collect();
    let message = message(&failure, &accesses);
    let violation_at = accesses.first().map(|access| location(&access.stack)).filter(|at| !at.is_empty());
    let trace = Trace {
        steps: steps.map(|(number, step)| view.step(number + 1, step)).collect(),
        processes: threads.map(|(number, end)| view.thread(number, end)).collect(),
        violation: failure.kind.violation().map(|kind| Violation { kind, message }),
        violation_at,
        accesses,
        output,
        schedule: Some(token.to_string()),
        ..Trace::default()
    };
    let (lost, complete) = (shared.bound == 6, shared.verdict != verdict::UNDECIDED);
    Ok(Repeated { trace, failure, token: token.clone(), lost, complete, killed })
}

impl Repeated {
    /// What went wrong, in words.
    pub fn message(&self) -> String {
        message(&self.failure, &self.trace.accesses)
    }
}

fn message(failure: &Failure, accesses: &[Access]) -> String {
    match (failure.kind, failure.text.as_str(), accesses) {
        (FailureKind::Race, _, [here, there]) => format!(
            "data race: {} by T{} and {} by T{}",
            there.access, there.thread, here.access, here.thread
        ),
        (FailureKind::Race, ..) => "data race".to_owned(),
        (kind, "", _) => kind.text().to_owned(),
        (kind, text, _) => format!("{}: {text}", kind.text()),
    }
}

/// `file:line` of the innermost function.
pub fn location(frames: &[Frame]) -> String {
    frames.first().map_or_else(String::new, |f| format!("{}:{}", f.file, f.line))
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

    /// Number and name of a thread.
    fn thread_name(&self, number: usize) -> String {
        let name = self.shared.ends.get(number).map_or_else(String::new, |e| self.name(number, e.routine));
        format!("T{number} {name}").trim_end().to_owned()
    }

    fn step(&self, number: usize, step: &Step) -> quotient_outcome::Step {
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
        let stack = self.stack(&step.stack);
        let at = stack.first().cloned().unwrap_or_default();
        quotient_outcome::Step {
            number,
            process: self.thread_name(step.thread as usize),
            pid: u32::from(step.thread),
            file: at.file,
            line: at.line,
            stack,
            statement: text,
            ..Default::default()
        }
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

    fn thread(&self, number: usize, end: &ThreadEnd) -> ProcessState {
        let op = Op::from_number(end.op).unwrap_or(Op::None);
        let waits = match op {
            Op::Join => {
                let list: Vec<String> = ThreadSet(end.awaits).iter().map(|t| format!("T{t}")).collect();
                format!("join {}", list.join(", "))
            }
            Op::Wait if end.address == 0 => "get a signal".to_owned(),
            Op::Wait => format!("be woken at {}", self.symbols.data(end.address)),
            Op::Exit => "exit".to_owned(),
            Op::Spin => {
                let watched = end.watched.iter().filter(|address| **address != 0);
                let names: Vec<String> = watched.map(|address| self.symbols.data(*address)).collect();
                if names.is_empty() {
                    "loop for ever".to_owned()
                } else {
                    format!("see {} change, in a loop", names.join(" or "))
                }
            }
            _ if end.address == 0 => op.text().to_owned(),
            _ => format!("{} {}", op.text(), self.symbols.data(end.address)),
        };
        let (finished, stack) = (end.state == 2, self.stack(&end.stack));
        ProcessState {
            process: self.thread_name(number),
            pid: number as u32,
            at: location(&stack),
            waits_for: if finished { Vec::new() } else { vec![waits] },
            valid_end: finished,
            finished,
            owner: ((end.owner as usize) < THREADS).then_some(u32::from(end.owner)),
            stack,
        }
    }

    fn access(&self, place: &Place) -> Option<Access> {
        if place.thread as usize >= THREADS {
            return None;
        }
        let access = if place.role == Role::Allocation as u8 {
            "allocates the block".to_owned()
        } else if place.role == Role::Release as u8 {
            "frees the block".to_owned()
        } else if place.size == 0 {
            String::new()
        } else {
            let how = if place.atomic != 0 { "atomic " } else { "" };
            let verb = if place.write != 0 { "write" } else { "read" };
            let object = self.symbols.data(place.address);
            format!("{how}{verb} of {object} ({} byte{})", place.size, if place.size == 1 { "" } else { "s" })
        };
        Some(Access { thread: u32::from(place.thread), access, stack: self.stack(&place.stack) })
    }

    fn failure(&self) -> Failure {
        let failure = &self.shared.failure;
        Failure {
            kind: FailureKind::from_number(failure.kind).unwrap_or(FailureKind::None),
            text: failure_text(self.shared),
        }
    }
}
