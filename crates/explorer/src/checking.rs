//! The check that runs beside the page: it is started, looked at, stopped; it never waits for the page.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use quotient_engine::{
    Check, Compile, Incomplete, Model, Outcome, PartialOrder, Question, SearchKind, Symmetry, Verdict,
    ViolationKind,
};
use quotient_explain::{Course, Position, Possible, possible};
use quotient_machine::{Machine, MicroStep};
use quotient_program::{Action, Operation};
use quotient_seams::{Interrupt, Reason, Successors, System};
use serde_json::Value;

use crate::api;

/// What a check has come to.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) running: bool,
    pub(crate) started: Option<Instant>,
    pub(crate) seconds: f64,
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) depth: u64,
    /// The answer, once there is one.
    pub(crate) verdict: Option<&'static str>,
    pub(crate) message: Option<String>,
    pub(crate) violations: Vec<api::Violation>,
    pub(crate) symmetry: Option<String>,
    pub(crate) symmetry_found: Vec<String>,
    pub(crate) symmetry_limit: Option<String>,
    pub(crate) partial_order: Option<&'static str>,
    /// How it went, at most [`MOST_POINTS`].
    pub(crate) points: Vec<api::Point>,
    /// How often lines were executed, as `file:line`; known when everything was explored.
    pub(crate) covered: Vec<(String, u64)>,
    /// What each worker has done, where several work.
    pub(crate) shares: Vec<u64>,
    /// What the check has to say beside the verdict.
    pub(crate) report: Option<String>,
}

impl Known {
    /// Adds figures to the plots.
    pub(crate) fn point(&mut self, point: api::Point) {
        self.points.push(point);
        if self.points.len() > MOST_POINTS {
            let mut keep = false;
            self.points.retain(|_| {
                keep = !keep;
                keep
            });
        }
    }
}

/// Points that are kept; when there are more, every second one goes.
const MOST_POINTS: usize = 400;

/// What was asked of a check, by name, as on the command line.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    search: SearchKind,
    partial_order: PartialOrder,
    symmetry: Option<Symmetry>,
    raw: bool,
    all: bool,
    no_deadlock: bool,
    safety: bool,
    max_time: Option<Duration>,
}

impl Options {
    fn read(body: &Value) -> Result<Options, String> {
        fn named<T: Copy>(
            body: &Value,
            field: &str,
            names: &[(T, &str, &str)],
            usual: T,
        ) -> Result<T, String> {
            let Some(text) = body[field].as_str() else { return Ok(usual) };
            let found = names.iter().find(|(_, name, _)| *name == text);
            found.map(|(value, ..)| *value).ok_or_else(|| format!("`{text}` is not a value of --{field}"))
        }
        let is_set = |field: &str| body[field].as_bool().unwrap_or(false);
        let symmetry = match body["symmetry"].as_str() {
            Some(text) => Some(text.parse().map_err(|_| format!("`{text}` is not a value of --symmetry"))?),
            None => None,
        };
        Ok(Options {
            search: named(body, "search", SearchKind::NAMES, SearchKind::Usual)?,
            partial_order: named(body, "por", PartialOrder::NAMES, PartialOrder::On)?,
            symmetry,
            raw: is_set("raw"),
            all: is_set("all"),
            no_deadlock: is_set("no_deadlock"),
            safety: is_set("safety"),
            max_time: max_time(body)?,
        })
    }
}

/// The limit of time that is asked for, in seconds.
pub(crate) fn max_time(body: &Value) -> Result<Option<Duration>, String> {
    let Some(text) = body["max_time"].as_str().map(|t| t.trim_end_matches('s').trim()) else {
        return Ok(None);
    };
    let wrong = || format!("`{text}` is not a number of seconds");
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    Ok(Some(Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?))
}

/// A check of one model.
#[derive(Debug, Default)]
pub struct Checking {
    known: Arc<Mutex<Known>>,
    interrupt: Mutex<Option<Interrupt>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Checking {
    /// Starts a check with the options that are asked for, by their names on the command line, unless one is running.
    pub fn start(&self, model: &Arc<Model>, body: &Value) -> Result<(), String> {
        let options = Options::read(body)?;
        let Some((known, interrupt)) = self.begin() else { return Ok(()) };
        let model = model.clone();
        thread::spawn(move || run(&model, options, &known, &interrupt));
        Ok(())
    }

    /// Takes over what a check has come to that was made before.
    pub(crate) fn knows(&self, model: &Model, outcome: &Outcome, seconds: f64) {
        let violations = outcome.violations.iter().map(|v| found(model, v)).collect();
        let mut known = self.afresh(seconds);
        known.violations = violations;
        conclude(&mut known, outcome);
    }

    /// A check that has taken so long, and of which nothing else is known yet.
    pub(crate) fn afresh(&self, seconds: f64) -> MutexGuard<'_, Known> {
        let mut known = lock(&self.known);
        *known = Known { started: Some(Instant::now()), seconds, ..Known::default() };
        known
    }

    /// A check begins, unless one is running: where it tells what it comes to, and what stops it.
    pub(crate) fn begin(&self) -> Option<(Arc<Mutex<Known>>, Interrupt)> {
        let mut known = lock(&self.known);
        if known.running {
            return None;
        }
        *known = Known { running: true, started: Some(Instant::now()), ..Known::default() };
        let interrupt = Interrupt::new();
        *lock(&self.interrupt) = Some(interrupt.clone());
        Some((self.known.clone(), interrupt))
    }

    /// How many states a check that came to its end has stored.
    pub fn states(&self) -> Option<u64> {
        let known = lock(&self.known);
        known.verdict.filter(|v| !known.running && *v == "holds").map(|_| known.states)
    }

    /// What a check found of symmetry.
    pub(crate) fn symmetry(&self) -> Option<api::SymmetryFound> {
        let known = lock(&self.known);
        let (found, limit) = (known.symmetry_found.clone(), known.symmetry_limit.clone());
        known.symmetry.clone().map(|order| api::SymmetryFound { order, found, limit })
    }

    /// Stops it.
    pub fn stop(&self) {
        if let Some(interrupt) = &*lock(&self.interrupt) {
            interrupt.raise(Reason::Asked("SIGINT"));
        }
    }

    /// What is known of it.
    pub(crate) fn progress(&self) -> api::Progress {
        let known = lock(&self.known);
        let seconds = match (known.running, known.started) {
            (true, Some(started)) => started.elapsed().as_secs_f64(),
            _ => known.seconds,
        };
        let covered = known.covered.iter().filter_map(|(at, times)| {
            let (file, line) = at.rsplit_once(':')?;
            Some(api::Covered { file: file.to_owned(), line: line.parse().ok()?, times: *times })
        });
        api::Progress {
            running: known.running,
            asked: known.started.is_some(),
            seconds,
            states: known.states,
            transitions: known.transitions,
            depth: known.depth,
            verdict: known.verdict.map(str::to_owned),
            message: known.message.clone(),
            symmetry: known.symmetry.clone(),
            symmetry_found: known.symmetry_found.clone(),
            symmetry_limit: known.symmetry_limit.clone(),
            partial_order: known.partial_order.map(str::to_owned),
            report: known.report.clone(),
            covered: covered.collect(),
            points: known.points.clone(),
            shares: known.shares.clone(),
            violations: known.violations.clone(),
        }
    }
}

fn run(model: &Model, options: Options, known: &Mutex<Known>, interrupt: &Interrupt) {
    let mut check = Check {
        interrupt: Some(interrupt),
        search: options.search,
        partial_order: options.partial_order,
        symmetry: options.symmetry,
        raw: options.raw,
        all: options.all,
        deadlocks: !options.no_deadlock,
        safety_only: options.safety,
        ..Check::default()
    };
    check.limits.time = options.max_time;
    let result = model.check_with(&check, &mut |statistics| {
        let mut known = lock(known);
        let point = api::Point {
            seconds: known.started.map_or(0.0, |s| s.elapsed().as_secs_f64()),
            states: statistics.states,
            waiting: statistics.waiting,
            bytes: memory(statistics.store_bytes + statistics.search_bytes),
        };
        known.point(point);
        known.states = statistics.states;
        known.transitions = statistics.transitions;
        known.depth = statistics.depth;
        known.shares = shares(&statistics.shares);
    });
    // Paths are followed before the lock is taken.
    let violations = match &result {
        Ok(outcome) => outcome.violations.iter().map(|v| found(model, v)).collect(),
        Err(_) => Vec::new(),
    };
    let mut known = lock(known);
    known.running = false;
    known.seconds = known.started.map_or(0.0, |s| s.elapsed().as_secs_f64());
    match result {
        Ok(outcome) => conclude(&mut known, &outcome),
        Err(error) => {
            known.verdict = Some("error");
            known.message = Some(error.to_string());
        }
    }
    known.violations = violations;
}

/// What the process takes; where the system does not tell, what the search says of itself.
fn memory(of_the_search: u64) -> u64 {
    quotient_seams::resident_bytes().unwrap_or(of_the_search)
}

fn conclude(known: &mut Known, outcome: &Outcome) {
    known.states = outcome.statistics.states;
    known.transitions = outcome.statistics.transitions;
    known.depth = outcome.statistics.depth;
    known.verdict = Some(outcome.verdict.name());
    known.message = match &outcome.verdict {
        Verdict::Undecided(why) => Some(Incomplete::to_string(why)),
        _ => None,
    };
    known.symmetry = Some(outcome.symmetry.order.clone());
    known.symmetry_found.clone_from(&outcome.symmetry.found);
    known.symmetry_limit.clone_from(&outcome.symmetry.limit);
    known.shares = shares(&outcome.statistics.shares);
    // A line with several statements counts as executed when one of them was.
    known.covered = outcome.covered.iter().map(|line| (line.at.clone(), line.times)).collect();
    for u in &outcome.unreached {
        if !known.covered.iter().any(|(at, _)| *at == u.at) {
            known.covered.push((u.at.clone(), 0));
        }
    }
    let seconds = known.seconds;
    known.points.push(api::Point {
        seconds,
        states: outcome.statistics.states,
        waiting: outcome.statistics.waiting,
        bytes: memory(outcome.statistics.store_bytes + outcome.statistics.search_bytes),
    });
    known.report = Some(report(outcome));
    known.partial_order = Some(outcome.partial_order.name());
}

/// What each worker has done, where several work.
fn shares(shares: &[u64]) -> Vec<u64> {
    let workers = shares.iter().rposition(|share| *share > 0).map_or(0, |last| last + 1);
    if workers > 1 { shares[..workers].to_vec() } else { Vec::new() }
}

/// What the terminal would say beside the trace.
fn report(outcome: &Outcome) -> String {
    let mut lines = Vec::new();
    for violation in &outcome.violations {
        let at = violation.at.as_ref().map_or_else(String::new, |at| format!(" ({at})"));
        lines.push(format!("{}{at}", violation.message));
    }
    for answer in &outcome.answers {
        let why = match &answer.verdict {
            Verdict::Undecided(why) => format!(" ({why})"),
            Verdict::Holds | Verdict::Violated => String::new(),
        };
        lines.push(format!("{}: {}{why}", answer.text, answer.verdict.name()));
    }
    lines.extend(outcome.left_out.iter().map(|what| format!("not checked: {what}")));
    lines.extend(outcome.symmetry.limit.iter().map(|limit| format!("symmetry is limited: {limit}")));
    lines.extend(outcome.notes.iter().map(|note| format!("note: {note}")));
    for u in &outcome.unreached {
        lines.push(format!("never executed: {}  {}  {}", u.at, u.process, u.statement));
    }
    lines.join("\n")
}

fn found(model: &Model, violation: &quotient_engine::ViolationReport) -> api::Violation {
    let position = position(model, violation);
    api::Violation {
        kind: violation.kind.as_str().to_owned(),
        message: violation.message.clone(),
        at: violation.at.clone(),
        cycle: position.as_ref().map_or(0, |p| p.1),
        position: position.map(|p| p.0.to_string()),
    }
}

/// The position that a violation is at, and how many of its steps are a cycle; none where the program as written has no such run.
pub fn position(model: &Model, violation: &quotient_engine::ViolationReport) -> Option<(Position, usize)> {
    let (position, cycle) =
        in_position(model, violation.question, &violation.choices, violation.cycle, violation.how)?;
    let deadlock = violation.kind == ViolationKind::Deadlock && cycle == 0;
    Some((if deadlock { stuck(model, position)? } else { position }, cycle))
}

/// The end of a run that a check found to be a deadlock, in the program as written: who has come to the end of its code there ends, which is a
/// step of that program, and which the check may have left out. Then nothing can be done any more.
pub fn stuck(model: &Model, mut position: Position) -> Option<Position> {
    let mut machine = model.as_written().ok()?;
    let course = Course::follow(&mut machine, &position, &Interrupt::new())?;
    let (mut state, _) = course.state(&mut machine, course.len());
    let is_end = |machine: &Machine, step: &MicroStep| {
        let found = machine.transformation(step.transformation);
        found.is_some_and(|(_, _, t)| {
            matches!(t.operation, Operation::Exit)
                || t.actions.iter().any(|action| matches!(action, Action::EndThread))
        })
    };
    loop {
        let mut ends = possible(&mut machine, &state).into_iter().filter(|step| {
            let statements = step.record.steps();
            !statements.is_empty() && statements.iter().all(|s| is_end(&machine, s))
        });
        let Some(Possible { way, record }) = ends.next() else { return Some(position) };
        position.moves.push(way);
        state = record.state?;
    }
}

/// The same for any path.
pub fn in_position(
    model: &Model,
    question: Question,
    choices: &[u32],
    cycle: usize,
    how: Compile,
) -> Option<(Position, usize)> {
    let path = model.written_path(question, choices, cycle, how).ok()?;
    let mut machine = model.as_written().ok()?;
    let mut initial = Successors::new();
    machine.initial(&mut initial).ok()?;
    let first = (0..initial.len()).find(|i| initial.entry(*i).has_state())?;
    let mut state = initial.state(first).to_vec();
    let mut moves = Vec::new();
    for &choice in path.choices.iter().skip(1) {
        if state.is_empty() {
            return None;
        }
        let step = possible(&mut machine, &state).into_iter().nth(choice as usize)?;
        moves.push(step.way);
        // Only the last step may end without a state: it goes wrong.
        state = step.record.state.unwrap_or_default();
    }
    Some((Position { moves, checksum: None }, path.cycle))
}
