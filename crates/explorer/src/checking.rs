//! The check that runs beside the page: it is started, looked at, stopped; it never waits for the page.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use quotient_engine::{Check, Incomplete, Model, Outcome, Question, Verdict};
use quotient_explain::{Course, Position, possible};
use quotient_seams::{Interrupt, Reason};
use serde_json::{Value, json};

/// What a check has come to.
#[derive(Debug, Default)]
struct Known {
    running: bool,
    started: Option<Instant>,
    seconds: f64,
    states: u64,
    transitions: u64,
    depth: u64,
    /// The answer, once there is one.
    verdict: Option<&'static str>,
    message: Option<String>,
    violations: Vec<Found>,
    symmetry: Option<String>,
    partial_order: Option<&'static str>,
}

/// A violation, as a position.
#[derive(Clone, Debug)]
struct Found {
    kind: &'static str,
    message: String,
    at: Option<String>,
    position: Option<String>,
    /// How many steps at the end are repeated for ever.
    cycle: usize,
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
    /// Starts a check with the usual options unless one is running.
    pub fn start(&self, model: &Arc<Model>) {
        let mut known = lock(&self.known);
        if known.running {
            return;
        }
        *known = Known { running: true, started: Some(Instant::now()), ..Known::default() };
        drop(known);
        let interrupt = Interrupt::new();
        *lock(&self.interrupt) = Some(interrupt.clone());
        let (known, model) = (self.known.clone(), model.clone());
        thread::spawn(move || run(&model, &known, &interrupt));
    }

    /// Stops it.
    pub fn stop(&self) {
        if let Some(interrupt) = &*lock(&self.interrupt) {
            interrupt.raise(Reason::Asked("SIGINT"));
        }
    }

    /// What is known of it.
    pub fn progress(&self) -> Value {
        let known = lock(&self.known);
        let seconds = match (known.running, known.started) {
            (true, Some(started)) => started.elapsed().as_secs_f64(),
            _ => known.seconds,
        };
        json!({
            "running": known.running,
            "asked": known.started.is_some(),
            "seconds": seconds,
            "states": known.states,
            "transitions": known.transitions,
            "depth": known.depth,
            "verdict": known.verdict,
            "message": known.message,
            "symmetry": known.symmetry,
            "partial_order": known.partial_order,
            "violations": known.violations.iter().map(|v| json!({
                "kind": v.kind, "message": v.message, "at": v.at, "position": v.position, "cycle": v.cycle,
            })).collect::<Vec<_>>(),
        })
    }
}

fn run(model: &Model, known: &Mutex<Known>, interrupt: &Interrupt) {
    let check = Check { interrupt: Some(interrupt), ..Check::default() };
    let result = model.check_with(&check, &mut |statistics| {
        let mut known = lock(known);
        known.states = statistics.states;
        known.transitions = statistics.transitions;
        known.depth = statistics.depth;
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
    known.partial_order = Some(outcome.partial_order.name());
}

fn found(model: &Model, violation: &quotient_engine::ViolationReport) -> Found {
    let position = position(model, violation);
    Found {
        kind: violation.kind.as_str(),
        message: violation.message.clone(),
        at: violation.at.clone(),
        cycle: position.as_ref().map_or(0, |p| p.1),
        position: position.map(|p| p.0.to_string()),
    }
}

/// The position that a violation is at, and how many of its steps are a cycle; none where the program as written has no such run.
pub fn position(model: &Model, violation: &quotient_engine::ViolationReport) -> Option<(Position, usize)> {
    in_position(model, violation.question, &violation.choices, violation.cycle, false)
}

/// The same for any path.
pub fn in_position(
    model: &Model,
    question: Question,
    choices: &[u32],
    cycle: usize,
    raw: bool,
) -> Option<(Position, usize)> {
    let path = model.written_path(question, choices, cycle, raw).ok()?;
    let mut machine = model.as_written().ok()?;
    let mut course = Course::start(&mut machine)?;
    for &choice in path.choices.iter().skip(1) {
        let (state, _) = course.state(&mut machine, course.len());
        let step = possible(&mut machine, &state).into_iter().nth(choice as usize)?;
        course.take(&mut machine, step);
    }
    Some((Position { moves: course.moves, checksum: None }, path.cycle))
}
