//! A request, and the answer.

use std::time::Duration;

use quotient_seams::{Incomplete, Limit, Reason};
use quotient_stateless::graph::MemoryModel;
use quotient_stateless::{Algorithm, Choice, Ending, Schedule, Symmetry};

use crate::build::Binary;
use crate::holes::holes;
use crate::notes::{notes, unannounced};
use crate::protocol::{
    FailureKind, HOLES, OUTCOMES, PEER, Role, Shared, VALUES, memory, mode, unwritten, verdict,
};
use crate::relative;
use crate::session::{
    End, Heartbeat, Session, SessionError, Surroundings, children_cpu, failure_text, from_outside,
};
use crate::stack_variable::{OnStack, is_of_function};
use crate::symbols::Symbols;
use crate::token::Token;
use crate::trace::{Repeated, replay};

/// Which schedules are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Record {
    /// None.
    #[default]
    None,
    /// That of every execution, for tests.
    All,
    /// The first with each outcome: what is printed, in any order of lines, the exit status, and what is observed.
    Outcomes,
}

/// What is to be checked, and how far.
#[derive(Clone, Debug)]
pub struct Request {
    /// The partial order reduction.
    pub algorithm: Algorithm,
    /// The thread symmetry used.
    pub symmetry: Symmetry,
    /// The memory model; none: RC11 where the program has memory orders weaker than sequential consistency.
    pub memory: Option<MemoryModel>,
    /// Are data races no violations? Then racing accesses are steps.
    pub allow_races: bool,
    /// Is a joinable thread that nobody joins a violation?
    pub leaks: bool,
    /// May waits on condition variables end by themselves?
    pub spurious: bool,
    /// Go on after the first violation?
    pub all: bool,
    /// The most executions.
    pub max_executions: Option<u64>,
    /// The most preemptions in an execution.
    pub max_preemptions: Option<u32>,
    /// The most steps of an execution.
    pub max_steps: u64,
    /// The most time.
    pub max_time: Option<Duration>,
    /// The most memory, in bytes, that the program may use on top of what the runtime reserves.
    pub max_memory: Option<u64>,
    /// How long a step may take.
    pub patience: Duration,
    /// What `__VERIFIER_nondet_int` and the like may give; none: they are refused.
    pub values: Vec<i64>,
    /// The most processes that explore at a time.
    pub workers: usize,
    /// Executions before a process gives work to another.
    pub split_after: u32,
    /// Keep schedules of executions? By one process.
    pub record: Record,
    /// The script of peers that it connects to ([`crate::peer`]).
    pub peer: Vec<u8>,
    /// What the program is given.
    pub surroundings: Surroundings,
    /// Are stacks not to be looked at for variables without a value? See `native-runtime/memory/unwritten`.
    pub values_unasked: bool,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            algorithm: Algorithm::Optimal,
            symmetry: Symmetry::Off,
            memory: None,
            allow_races: false,
            leaks: false,
            spurious: false,
            all: false,
            max_executions: None,
            max_preemptions: None,
            max_steps: 20_000,
            max_time: None,
            max_memory: None,
            patience: Duration::from_secs(5),
            values: Vec::new(),
            workers: 1,
            split_after: 500,
            record: Record::None,
            peer: Vec::new(),
            surroundings: Surroundings::default(),
            values_unasked: false,
        }
    }
}

/// The answer.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Every execution was covered and none is a violation.
    Holds,
    /// A violation, repeated step by step.
    Violated(Box<Repeated>),
    /// None was found, but not everything was covered: why.
    Undecided(Incomplete),
    /// The program cannot be checked: why, and where in the program.
    Refused(String, Option<Box<Repeated>>),
}

/// Counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    /// Complete executions.
    pub executions: u64,
    /// Executions that ended because everything enabled was asleep.
    pub blocked: u64,
    /// Executions that say nothing: an assumption does not hold, or a thread waits for what has come.
    pub infeasible: u64,
    /// Executions cut by a bound.
    pub cut: u64,
    /// Sequences not explored because a symmetric one was.
    pub pruned: u64,
    /// Pairs of threads that were tested for symmetry.
    pub symmetry_tests: u64,
    /// How many of them were symmetric.
    pub symmetry_found: u64,
    /// Permuted images looked at.
    pub images: u64,
    /// Steps, replayed ones included.
    pub steps: u64,
    /// The longest execution.
    pub depth: u64,
    /// The most threads.
    pub threads: u32,
    /// Explorations started again since something more was found to be visible.
    pub restarts: u64,
    /// Executions of those.
    pub discarded: u64,
    /// Accesses to memory that were not steps.
    pub filtered: u64,
    /// Joinable threads never joined in some execution.
    pub leaked: u32,
    /// Parts that other processes explored ahead.
    pub copies: u64,
    /// Of these, those explored in vain.
    pub copies_lost: u64,
    /// An estimate of the number of executions, made before the exploration, without symmetry.
    pub estimate: u64,
    /// Context switches of the violation's schedule.
    pub switches: u32,
    /// Has no schedule of such a violation fewer?
    pub fewest: bool,
    /// Executions made while another process was exploring, too.
    pub together: u64,
}

/// An outcome: what the program prints, in any order of its lines, and its exit status.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Printed {
    /// The exit status.
    pub status: u32,
    /// What was printed, of a long text the beginning.
    pub output: String,
    /// An execution that ends so. With symmetry, joins may be put together in it.
    pub token: Token,
}

/// What came of a request.
#[derive(Clone, Debug)]
pub struct Report {
    /// The answer.
    pub answer: Answer,
    /// Counters.
    pub figures: Figures,
    /// How executions ended and what they observed (`__quotient_observe`): ending in the upper byte.
    pub outcomes: Vec<u64>,
    /// The schedule of the last execution.
    pub last: Token,
    /// The schedules that were kept with what they observed, as in `outcomes`; `None` if there were too many.
    pub recorded: Option<Vec<(u64, Token)>>,
    /// Different outcomes of complete executions, if they were asked for; `None` if there were too many.
    pub printed: Option<Vec<Printed>>,
    /// The memory model that was explored.
    pub memory: MemoryModel,
    /// Remarks: why a reduction did less than it could.
    pub notes: Vec<String>,
    /// What the answer is relative to.
    pub assumptions: Vec<String>,
    /// Lines with accesses that the compiler does not announce, so that they are not checked.
    pub holes: usize,
    /// CPU time of the checked processes.
    pub cpu: Duration,
    /// That part of it that was not spent on the exploration: start-up, the estimate, minimising.
    pub cpu_aside: Duration,
}

/// Checks a program.
///
/// # Errors
/// If the program cannot be run under control, or a violation could not be repeated.
pub fn check(
    binary: &Binary,
    request: &Request,
    watch: &mut dyn FnMut(Heartbeat) -> bool,
) -> Result<Report, SessionError> {
    if let Some(why) = crate::platform::foreign(binary.path()) {
        return Ok(Report::not_run(Answer::Refused(why, None)));
    }
    let report = explore(binary, request, watch)?;
    match report {
        Some(report) => Ok(report),
        // A variable has a value all the same, or may have one: what else there is, is looked for without this question.
        None => {
            let without = Request { values_unasked: true, ..request.clone() };
            let report = explore(binary, &without, watch)?;
            report.ok_or_else(|| SessionError::Broken("a question that was not asked".to_owned()))
        }
    }
}

/// Checks a program. None if what was found is a variable without a value, and could not be confirmed.
fn explore(
    binary: &Binary,
    request: &Request,
    watch: &mut dyn FnMut(Heartbeat) -> bool,
) -> Result<Option<Report>, SessionError> {
    let before = children_cpu();
    let mut session = Session::new(|shared| request.fill(shared))?;
    let started = std::time::Instant::now();
    let end = match session.run(binary, &request.surroundings, request.patience, watch) {
        Err(SessionError::NotControlled(_)) if crate::platform::addresses_are_limited() => {
            return Ok(Some(Report::not_run(Answer::Undecided(Incomplete::EndedIn(
                Reason::OutOfMemory,
                ": the runtime reserves far more addresses than it uses, and their number is limited here (`ulimit -v`); \
                 --max-memory bounds what is used"
                    .to_owned(),
            )))));
        }
        end => end?,
    };
    let late = request.max_time.is_some_and(|most| started.elapsed() >= most);
    let cpu = children_cpu().saturating_sub(before);
    let shared = session.shared();
    let token = read_token(shared);
    let answer = match end {
        End::Answered => match shared.verdict {
            verdict::HOLDS => Answer::Holds,
            verdict::VIOLATED => {
                if shared.failure.here.role == Role::Unwritten as u8
                    && !crate::trace::gets_the_pattern(binary, request, &token)?
                {
                    return Ok(None);
                }
                violated(binary, request, shared, &token)?
            }
            verdict::REFUSED => refused(binary, request, shared, &token)?,
            _ => Answer::Undecided(undecided(binary, shared)),
        },
        End::Stuck if late => Answer::Undecided(Incomplete::EndedIn(
            time_is_up(shared),
            format!("; thread {} was in a step that did not end (schedule {token})", shared.running),
        )),
        End::Stuck if shared.stop != 0 => Answer::Undecided(Incomplete::Stopped(format!(
            "stopped; thread {} was in a step that did not end (schedule {token})",
            shared.running
        ))),
        End::Stuck => stuck(binary, request, shared.running, &token),
        End::Killed(signal) if from_outside(signal) => Answer::Undecided(Incomplete::Killed(format!(
            "the process was ended from outside, or for lack of memory (signal {signal}; schedule {token})"
        ))),
        // The filter of system calls ends a thread that the runtime does not know, which cannot be asked what it wanted.
        End::Killed(libc::SIGSYS) => died(
            binary,
            request,
            &token,
            "a system call that is not allowed ended the process (a library may have started a thread of its own)",
        )?,
        End::Killed(signal) => {
            died(binary, request, &token, &format!("the process was killed by signal {signal}"))?
        }
        End::Exited(status) => {
            died(binary, request, &token, &format!("the process ended by itself, status {status}"))?
        }
    };
    let unwatched = shared.holes_unwatched != 0 || shared.holes_length as usize > HOLES;
    let holes = match unwatched {
        true => holes(binary.path()),
        // With one thread there is nobody to notice.
        false if shared.threads > 1 => crate::holes::unwatched(binary.path()),
        false => Vec::new(),
    };
    let answer = match answer {
        // Accesses that nobody has seen can be anything.
        Answer::Holds if !holes.is_empty() => Answer::Undecided(Incomplete::Unsupported(unannounced(&holes))),
        // Every execution was left where it said nothing any more.
        Answer::Holds if shared.executions == 0 => Answer::Undecided(Incomplete::Vacuous(
            "no execution comes to its end: in each an assumption does not hold, or a thread waits in vain"
                .to_owned(),
        )),
        Answer::Holds => relative::input_not_given(binary, shared, request)
            .or_else(|| relative::connects_to_others(binary, shared))
            .or_else(|| relative::nobody_connects(binary, shared))
            .map_or(Answer::Holds, |why| Answer::Undecided(Incomplete::Unsupported(why))),
        // Clients would come from outside.
        Answer::Violated(trace) if trace.failure.kind == FailureKind::Deadlock && trace.awaits_connection => {
            match relative::nobody_connects(binary, shared) {
                Some(why) => Answer::Undecided(Incomplete::Unsupported(why)),
                None => Answer::Violated(trace),
            }
        }
        answer => answer,
    };
    Ok(Some(Report {
        answer,
        holes: holes.len(),
        figures: figures(shared),
        outcomes: shared.outcomes[..shared.outcomes_length as usize].to_vec(),
        notes: notes(binary, shared, request, &holes, &session.unconfined()),
        assumptions: relative::assumptions(binary, shared, request),
        recorded: if request.record == Record::All { read_records(shared, &token) } else { Some(Vec::new()) },
        printed: if request.record == Record::Outcomes {
            read_printed(shared, &token)
        } else {
            Some(Vec::new())
        },
        memory: explored_model(shared),
        last: token,
        cpu,
        cpu_aside: Duration::from_nanos(shared.aside_nanoseconds),
    }))
}

impl Report {
    /// The program was not run.
    fn not_run(answer: Answer) -> Report {
        Report {
            answer,
            figures: Figures::default(),
            outcomes: Vec::new(),
            last: Token::default(),
            memory: MemoryModel::default(),
            recorded: None,
            printed: None,
            notes: Vec::new(),
            assumptions: Vec::new(),
            holes: 0,
            cpu: Duration::ZERO,
            cpu_aside: Duration::ZERO,
        }
    }
}

impl Request {
    /// Writes the request into the block.
    pub(crate) fn fill(&self, shared: &mut Shared) {
        shared.mode = mode::EXPLORE;
        shared.algorithm = match self.algorithm {
            Algorithm::Optimal => 0,
            Algorithm::SourceSets => 1,
            Algorithm::FlanaganGodefroid => 2,
        };
        shared.symmetry = match self.symmetry {
            Symmetry::Off => 0,
            Symmetry::Costarted => 1,
            Symmetry::Dynamic => 2,
        };
        shared.memory = self.memory.map_or(memory::BY_PROGRAM, model_number);
        shared.allow_races = u32::from(self.allow_races);
        shared.unwritten = if self.values_unasked { unwritten::IGNORE } else { unwritten::LOOK };
        shared.leaks = u32::from(self.leaks);
        shared.spurious = u32::from(self.spurious);
        shared.all = u32::from(self.all);
        shared.max_executions = self.max_executions.unwrap_or(0);
        shared.max_preemptions = self.max_preemptions.unwrap_or(u32::MAX);
        shared.max_steps = self.max_steps;
        shared.records_wanted = match self.record {
            Record::None => 0,
            Record::All => 1,
            Record::Outcomes => 2,
        };
        shared.input_given = u32::from(self.surroundings.input.is_some());
        shared.workers = self.workers.min(64) as u32;
        shared.split_after = self.split_after;
        for (slot, value) in shared.values.iter_mut().zip(&self.values) {
            *slot = *value;
        }
        shared.values_length = self.values.len().min(VALUES) as u32;
        let script = &self.peer[..self.peer.len().min(PEER)];
        shared.peer[..script.len()].copy_from_slice(script);
        shared.peer_length = script.len() as u32;
        shared.max_memory = self.max_memory.unwrap_or(0);
        shared.patience_milliseconds = self.patience.as_millis() as u64;
        shared.max_milliseconds = self.max_time.map_or(0, |t| t.as_millis().max(1) as u64);
    }
}

fn read_token(shared: &Shared) -> Token {
    let choices = shared.schedule[..shared.schedule_length as usize].iter();
    let choices = choices.map(|c| Choice { thread: c.thread as u8, alternative: c.alternative }).collect();
    let cells = shared.cells[..shared.cells_length as usize].to_vec();
    Token { schedule: Schedule { choices }, cells, memory: explored_model(shared) }
}

/// The number of a memory model in the block.
pub(crate) fn model_number(model: MemoryModel) -> u32 {
    match model {
        MemoryModel::SequentialConsistency => memory::SC,
        MemoryModel::Tso => memory::TSO,
        MemoryModel::Rc11 => memory::RC11,
    }
}

/// The memory model that is or was explored.
pub(crate) fn explored_model(shared: &Shared) -> MemoryModel {
    match shared.memory_explored {
        memory::TSO => MemoryModel::Tso,
        memory::RC11 => MemoryModel::Rc11,
        _ => MemoryModel::SequentialConsistency,
    }
}

/// A number of words, and those.
fn counted(words: &[u64]) -> Option<(&[u64], &[u64])> {
    let (length, rest) = words.split_first()?;
    rest.split_at_checked(*length as usize)
}

fn schedule_of(choices: &[u64]) -> Schedule {
    let choice = |c: &u64| Choice { thread: (c >> 16) as u8, alternative: *c as u16 };
    Schedule { choices: choices.iter().map(choice).collect() }
}

/// The schedules that were kept; what is visible beside them is the same for all.
fn read_records(shared: &Shared, last: &Token) -> Option<Vec<(u64, Token)>> {
    let mut words = shared.records.get(..shared.records_length as usize)?;
    let mut out = Vec::new();
    while let [outcome, rest @ ..] = words {
        let (choices, others) = counted(rest)?;
        out.push((*outcome, Token { schedule: schedule_of(choices), ..last.clone() }));
        words = others;
    }
    Some(out)
}

/// The same with what was printed and the exit status after each.
fn read_printed(shared: &Shared, last: &Token) -> Option<Vec<Printed>> {
    if shared.outcomes_length as usize == OUTCOMES {
        return None;
    }
    let mut words = shared.records.get(..shared.records_length as usize)?;
    let mut out = Vec::new();
    while let [outcome, rest @ ..] = words {
        let (choices, rest) = counted(rest)?;
        let [status, length, rest @ ..] = rest else { return None };
        let length = *length as usize;
        let (text, others) = rest.split_at_checked(length.div_ceil(8))?;
        let bytes: Vec<u8> = text.iter().flat_map(|word| word.to_le_bytes()).take(length).collect();
        // An execution that went wrong has no outcome.
        if outcome >> 56 == Ending::Finished as u64 {
            let output = String::from_utf8_lossy(&bytes).into_owned();
            let token = Token { schedule: schedule_of(choices), ..last.clone() };
            out.push(Printed { status: *status as u32, output, token });
        }
        words = others;
    }
    Some(out)
}

/// A violation counts only if it happens again.
fn violated(
    binary: &Binary,
    request: &Request,
    shared: &Shared,
    token: &Token,
) -> Result<Answer, SessionError> {
    let trace = replay(binary, request, token, false)?;
    let expected = FailureKind::from_number(shared.failure.kind);
    if expected.is_none_or(|kind| kind == FailureKind::None) {
        return Err(SessionError::Broken(format!("a violation without a kind (schedule {token})")));
    }
    if let Some(why) = interrupted(&trace) {
        return Ok(Answer::Undecided(Incomplete::Unconfirmed(format!(
            "a violation ({}) was found, but {why} when it was to be repeated (schedule {token})",
            expected.map_or("unknown", FailureKind::text)
        ))));
    }
    if Some(trace.failure.kind) != expected {
        return Err(SessionError::Broken(format!(
            "the violation ({}) did not happen again (schedule {token})",
            expected.map_or("unknown", FailureKind::text)
        )));
    }
    let (here, there) = (&shared.failure.here, &shared.failure.there);
    if there.thread == u8::MAX && there.address != 0 {
        let code = there.stack[0].wrapping_sub(shared.program_base).wrapping_sub(1);
        let offset = here.address.wrapping_sub(there.address) as i64;
        if !is_of_function(binary.path(), OnStack { code, offset }) {
            return Ok(Answer::Undecided(Incomplete::Unsupported(format!(
                "{}{}, or of a variable of the next round of a loop: the two cannot be told apart (destroy it at the end of the block)",
                failure_text(shared),
                place(binary, shared)
            ))));
        }
    }
    Ok(Answer::Violated(Box::new(trace)))
}

fn refused(
    binary: &Binary,
    request: &Request,
    shared: &Shared,
    token: &Token,
) -> Result<Answer, SessionError> {
    let text = failure_text(shared) + &place(binary, shared);
    let trace = replay(binary, request, token, false)?;
    let same = trace.failure.kind == FailureKind::Refused;
    Ok(Answer::Refused(text, same.then(|| Box::new(trace))))
}

fn stuck(binary: &Binary, request: &Request, thread: u32, token: &Token) -> Answer {
    // The last step of the schedule is the one that does not end: what was before can be shown.
    let mut before = token.clone();
    before.schedule.choices.pop();
    let place = replay(binary, request, &before, false).ok().and_then(|trace| {
        let at = trace.trace.processes.iter().find(|p| p.pid == thread)?;
        at.stack.first().map(|frame| format!(" after {}:{}", frame.file, frame.line))
    });
    Answer::Undecided(Incomplete::Stuck(format!(
        "thread {thread} ran for {} s without a visible operation{} (an endless loop, or a call that blocks in the kernel); schedule {token}",
        request.patience.as_secs(),
        place.unwrap_or_default()
    )))
}

/// Was the repetition ended by something that is not the program's doing?
fn interrupted(trace: &Repeated) -> Option<&'static str> {
    match trace.failure.kind {
        FailureKind::Stuck => Some("the program made no step for too long"),
        FailureKind::None if trace.killed => Some("the process was ended from outside"),
        _ => None,
    }
}

/// The process died without an answer: the last execution did something that could not be caught.
fn died(binary: &Binary, request: &Request, token: &Token, how: &str) -> Result<Answer, SessionError> {
    match replay(binary, request, token, false) {
        Ok(trace) if interrupted(&trace).is_some() => {
            let why = interrupted(&trace).unwrap_or_default();
            Ok(Answer::Undecided(Incomplete::Unconfirmed(format!(
                "{how}; when its last execution was repeated, {why} (schedule {token})"
            ))))
        }
        Ok(trace) if trace.failure.kind != FailureKind::None => Ok(Answer::Violated(Box::new(trace))),
        Ok(_) => Ok(Answer::Undecided(Incomplete::Unconfirmed(format!(
            "{how}, but not when its last execution was repeated (schedule {token})"
        )))),
        Err(error @ SessionError::Broken(_)) => Err(error),
        Err(error) => {
            Ok(Answer::Undecided(Incomplete::Unconfirmed(format!("{how} ({error}; schedule {token})"))))
        }
    }
}

/// Where in the program a failure is, as an addition to a sentence.
fn place(binary: &Binary, shared: &Shared) -> String {
    let symbols = Symbols::new(binary.path(), shared.program_base);
    let mut stack = shared.failure.here.stack.iter().take_while(|a| **a != 0);
    let found = stack.find_map(|address| symbols.code(*address).filter(|l| !l.of_library && l.line > 0));
    found.map_or_else(String::new, |l| format!(" ({}:{})", l.file, l.line))
}

/// The limit on time.
fn time_is_up(shared: &Shared) -> Reason {
    Reason::Time(Duration::from_millis(shared.max_milliseconds))
}

fn undecided(binary: &Binary, shared: &Shared) -> Incomplete {
    match shared.bound {
        8 => Incomplete::Unsupported(failure_text(shared) + &place(binary, shared)),
        1 => Limit::Executions.into(),
        2 => Limit::Preemptions.into(),
        3 => Limit::Steps(shared.cut).into(),
        4 => time_is_up(shared).into(),
        7 => Incomplete::Unsupported(
            "symmetry as published, without permuted images, can lose outcomes".to_owned(),
        ),
        6 => Incomplete::Unsupported(format!(
            "the program is not deterministic: step {} differed when its schedule was repeated",
            shared.schedule_length
        )),
        _ => Incomplete::Stopped("the exploration was stopped".to_owned()),
    }
}

fn figures(shared: &Shared) -> Figures {
    Figures {
        executions: shared.executions,
        blocked: shared.blocked,
        infeasible: shared.infeasible,
        cut: shared.cut,
        pruned: shared.pruned,
        symmetry_tests: shared.symmetry_tests,
        symmetry_found: shared.symmetry_found,
        images: shared.images,
        steps: shared.steps,
        depth: shared.depth,
        threads: shared.threads,
        restarts: shared.restarts,
        discarded: shared.discarded,
        filtered: shared.filtered,
        leaked: shared.leaked,
        copies: shared.copies,
        copies_lost: shared.copies_lost,
        estimate: shared.estimate,
        switches: shared.switches,
        fewest: shared.fewest != 0,
        together: shared.together,
    }
}
