//! A schedule repeated in a new process, step by step, in the program's own names.

use quotient_outcome::{
    Access, Atomic, Effect, Event, ProcessState, Read, Synchronisation, Value, Violation, Write,
};
use quotient_stateless::ThreadSet;

use crate::build::Binary;
use crate::check::Request;
use crate::protocol::{
    FailureKind, Op, Place, Role, Shared, Stack, Step, THREADS, ThreadEnd, mode, unwritten, verdict,
};
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
    /// Under weak memory: what each read has read, and why it may.
    pub reads: Vec<String>,
    /// Under weak memory, of each step: one more than the step whose write was read, and than that of the next write (0: none; 1:
    /// the initial value).
    pub sources: Vec<(u32, u32)>,
    /// Of each step: is it a value that the environment chooses, as its alternative says?
    pub chosen: Vec<bool>,
    /// A thread waits for a connection to a socket at the end.
    pub awaits_connection: bool,
    /// Where the program was loaded: in each run the same place.
    pub base: u64,
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
    let mut view = View { symbols: &symbols, shared, cut: false };
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
    view.cut = !matches!(failure.kind, FailureKind::None | FailureKind::Deadlock);
    let steps = shared.trace[..shared.trace_length as usize].iter().enumerate();
    let threads = shared.ends.iter().enumerate().filter(|(_, end)| end.state != 0);
    // Where nothing went wrong, nobody has filled them in.
    let wrong = failure.kind != FailureKind::None;
    let places = [&shared.failure.here, &shared.failure.there].into_iter().filter(|_| wrong);
    let accesses: Vec<Access> = places.filter_map(|p| view.access(p)).collect();
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
    let reads = crate::reads::explained(&trace, &shared.trace[..shared.trace_length as usize]);
    let sources = shared.trace[..shared.trace_length as usize].iter().map(|s| (s.source, s.newer)).collect();
    let chosen = shared.trace[..shared.trace_length as usize].iter();
    let chosen = chosen.map(|step| Op::from_number(step.op) == Some(Op::Choose)).collect();
    let awaits = |op| matches!(Op::from_number(op), Some(Op::Accept | Op::Poll));
    let awaits_connection = shared.ends.iter().any(|end| end.state == 1 && awaits(end.op));
    let token = token.clone();
    Ok(Repeated {
        trace,
        failure,
        token,
        lost,
        complete,
        killed,
        reads,
        sources,
        chosen,
        awaits_connection,
        base: shared.program_base,
    })
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

/// Is the value that was read one that nobody has written? The schedule is repeated with a pattern where stacks were empty.
pub(crate) fn gets_the_pattern(
    binary: &Binary,
    request: &Request,
    token: &Token,
) -> Result<bool, SessionError> {
    let mut session = Session::new(|shared| {
        fill_replay(shared, request, token);
        shared.unwritten = unwritten::CONFIRM;
    })?;
    let end = session.run(binary, &request.surroundings, request.patience, &mut |_| true)?;
    let failure = &session.shared().failure;
    Ok(end == End::Answered
        && failure.kind == FailureKind::Memory as u8
        && failure.here.role == Role::Unwritten as u8)
}

/// Asks for the repetition of a schedule.
fn fill_replay(shared: &mut Shared, request: &Request, token: &Token) {
    request.fill(shared);
    shared.mode = mode::REPLAY;
    shared.symmetry = 0;
    shared.memory = crate::check::model_number(token.memory);
    for (slot, choice) in shared.schedule.iter_mut().zip(&token.schedule.choices) {
        (slot.thread, slot.alternative) = (u16::from(choice.thread), choice.alternative);
    }
    shared.schedule_length = token.schedule.choices.len().min(shared.schedule.len()) as u32;
    let cells = &token.cells[..token.cells.len().min(shared.cells.len())];
    shared.cells[..cells.len()].copy_from_slice(cells);
    shared.cells_length = cells.len() as u32;
}

/// Repeats a schedule under the debugger `gdb`, on the terminal, and stops before step `step` (counted from 1; [`AT_FAILURE`](crate::protocol::AT_FAILURE): where
/// the program fails), in `function`, at the statement that makes it.
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
    /// The last step was cut short by what went wrong in it: what it has written is not known.
    cut: bool,
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
            Op::Store if step.newer > 1 => {
                format!("{} {}: {}", op.text(), object(), self.value(step, step.after))
            }
            Op::Store | Op::Write | Op::Update => {
                format!(
                    "{} {}: {} -> {}",
                    op.text(),
                    object(),
                    self.value(step, step.before),
                    self.written(step)
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
                    self.written(step)
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
            Op::Fence => {
                let orders = ["relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"];
                format!("{} {}", op.text(), orders.get(step.before as usize).unwrap_or(&""))
            }
            Op::Yield | Op::AtomicBegin => op.text().to_owned(),
            _ => format!("{} {}{failed}", op.text(), object()),
        };
        let text = text + &crate::reads::origin(step);
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
            effect: Some(self.effect(op, step)),
            ..Default::default()
        }
    }

    /// What a step read and wrote, and what others notice of it.
    fn effect(&self, op: Op, step: &Step) -> Effect {
        let object = self.symbols.data(step.address);
        let value = |value| self.typed(step, value);
        let read = || Read { full: object.clone(), name: object.clone(), value: value(step.before) };
        let write = || Write {
            full: object.clone(),
            name: object.clone(),
            before: Some(value(step.before)),
            after: (!self.is_cut(step)).then(|| value(step.after)),
        };
        let (reads, writes) = match op {
            Op::Load | Op::Read => (vec![read()], Vec::new()),
            Op::CompareAndSwap if step.success == 0 => (vec![read()], Vec::new()),
            Op::Store | Op::Write => (Vec::new(), vec![write()]),
            Op::Update | Op::CompareAndSwap => (vec![read()], vec![write()]),
            _ => (Vec::new(), Vec::new()),
        };
        let wakes = ThreadSet(step.wakes).iter().map(u32::from).collect();
        let mut events = vec![self.event(op, step.success != 0, step.address, wakes, step.awaits)];
        if matches!(op, Op::Wait | Op::TimedWait | Op::Reacquire) {
            let operation = if op == Op::Reacquire { Synchronisation::Lock } else { Synchronisation::Unlock };
            let lock = Event::Lock { operation, object: self.symbols.data(step.other), wakes: Vec::new() };
            // Who waits gives the mutex back; who was woken has taken it.
            events.insert(0, lock);
        }
        Effect { reads, writes, events, failed: None }
    }

    /// What others notice of an operation.
    fn event(&self, op: Op, succeeds: bool, address: u64, wakes: Vec<u32>, awaits: u64) -> Event {
        let object = self.symbols.data(address);
        let operation = match op {
            Op::Lock | Op::TryLock | Op::TimedLock | Op::Reacquire if succeeds => Synchronisation::Lock,
            Op::ReadLock | Op::TryReadLock | Op::WriteLock | Op::TryWriteLock if succeeds => {
                Synchronisation::Lock
            }
            Op::TryLock | Op::TimedLock | Op::TryReadLock | Op::TryWriteLock => Synchronisation::LockFails,
            Op::Unlock | Op::LockRelease => Synchronisation::Unlock,
            Op::Wait | Op::TimedWait | Op::SemaphoreWait | Op::Barrier => Synchronisation::Wait,
            Op::Reacquire | Op::BarrierLeave | Op::TimeOut => Synchronisation::Wake,
            Op::Signal | Op::SemaphorePost => Synchronisation::Notify,
            Op::Broadcast => Synchronisation::NotifyAll,
            Op::Load => return Event::Atomic { access: Atomic::Read, object },
            Op::Store => return Event::Atomic { access: Atomic::Write, object },
            Op::Update | Op::CompareAndSwap => return Event::Atomic { access: Atomic::Exchange, object },
            Op::Create => {
                let new = wakes.first().copied();
                return Event::Start(new.map_or_else(String::new, |n| self.name(n as usize, address)), new);
            }
            Op::Join => return Event::Join(ThreadSet(awaits).iter().map(u32::from).collect()),
            Op::Exit => return Event::End,
            _ if address == 0 => return Event::Other(op.text().to_owned(), String::new()),
            _ => return Event::Other(op.text().to_owned(), object),
        };
        Event::Lock { operation, object, wakes }
    }

    /// Was this step cut short before it was seen what it has written?
    fn is_cut(&self, step: &Step) -> bool {
        let last = self.shared.trace[..self.shared.trace_length as usize].last();
        self.cut && step.before == step.after && last.is_some_and(|last| std::ptr::eq(last, step))
    }

    /// The value that a step has written.
    fn written(&self, step: &Step) -> String {
        if self.is_cut(step) { "?".to_owned() } else { self.value(step, step.after) }
    }

    fn typed(&self, step: &Step, value: i64) -> Value {
        let text = self.value(step, value);
        text.parse().map_or_else(|_| Value::Reference(text), Value::Number)
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
            can_go_on: end.enabled != 0,
            ways: end.alternatives,
            next: Some(Effect {
                events: vec![self.event(op, true, end.address, Vec::new(), end.awaits)],
                ..Effect::default()
            }),
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
        let accessed = place.size > 0 && place.role == Role::Access as u8;
        Some(Access {
            thread: u32::from(place.thread),
            access,
            object: if accessed { self.symbols.data(place.address) } else { String::new() },
            writes: place.write != 0,
            stack: self.stack(&place.stack),
        })
    }

    fn failure(&self) -> Failure {
        let failure = &self.shared.failure;
        Failure {
            kind: FailureKind::from_number(failure.kind).unwrap_or(FailureKind::None),
            text: failure_text(self.shared),
        }
    }
}
