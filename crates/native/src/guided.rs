//! An execution that passes given places: threads with lines, in order, as witnesses of other tools name them.
//!
//! For each place, its thread goes on until it makes a step at that line. If it has to wait, or does not exist yet, the others go on for it, one step at a time, the
//! one with the least number first; if it never comes there (nothing at that line is a step: only local variables are touched), the place is left out. At the end, whoever can
//! go on goes on, until something goes wrong or everything has ended. This finds a schedule by trying, and misses some; but what it gives is a schedule, repeated in a new process like any other:
//! whether something goes wrong, and what, is seen there, never believed.

use quotient_stateless::{Choice, Schedule, ThreadId};

use crate::build::Binary;
use crate::check::Request;
use crate::protocol::FailureKind;
use crate::session::SessionError;
use crate::token::Token;
use crate::trace::{Repeated, replay};

/// Steps that a thread makes in search of a place before others are asked.
const AHEAD: usize = 256;

/// Runs of the program in search of one place.
const RUNS: usize = 200;

/// A place that is to be passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its thread, if it is known.
    pub thread: Option<u32>,
    /// Its file; only the name is compared.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// The value that the environment gives there.
    pub value: Option<i64>,
    /// Is it where something goes wrong?
    pub target: bool,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Followed {
    /// The execution.
    pub repeated: Repeated,
    /// Places that were passed.
    pub passed: usize,
    /// Places at which nothing is a step, or that could not be reached.
    pub left_out: usize,
}

struct Guide<'a> {
    binary: &'a Binary,
    request: &'a Request,
    go_on: &'a mut dyn FnMut() -> bool,
    choices: Vec<Choice>,
}

/// Follows the places; thread numbers are ours, in the order of creation.
///
/// # Errors
/// If the program cannot be run under control.
pub fn follow(
    binary: &Binary,
    request: &Request,
    places: &[Place],
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Followed, SessionError> {
    let mut guide = Guide { binary, request, go_on, choices: Vec::new() };
    let (mut passed, mut left_out) = (0, 0);
    for place in places.iter().filter(|place| !place.target) {
        match guide.pass(place)? {
            true => passed += 1,
            false => left_out += 1,
        }
    }
    let mut repeated = guide.run(&guide.choices)?;
    for place in places.iter().filter(|place| place.target) {
        if !is_wrong(&repeated) {
            repeated = guide.target(place, repeated)?;
        }
        passed += 1;
    }
    if !is_wrong(&repeated) {
        repeated = guide.finish(repeated)?;
    }
    Ok(Followed { repeated, passed, left_out })
}

/// Does the run end in a violation?
fn is_wrong(run: &Repeated) -> bool {
    !run.lost && run.failure.kind != FailureKind::None && run.failure.kind.violation().is_some()
}

fn choice(thread: u32, alternative: usize) -> Option<Choice> {
    Some(Choice { thread: ThreadId::try_from(thread).ok()?, alternative: u16::try_from(alternative).ok()? })
}

impl Guide<'_> {
    fn run(&self, choices: &[Choice]) -> Result<Repeated, SessionError> {
        let schedule = Schedule { choices: choices.to_vec() };
        replay(self.binary, self.request, &Token { schedule, ..Token::default() }, false)
    }

    /// The steps that a thread makes after these choices, and the run.
    fn ahead(&self, choices: &[Choice], thread: u32, most: usize) -> Result<(usize, Repeated), SessionError> {
        let mut more = choices.to_vec();
        more.extend(choice(thread, 0).into_iter().cycle().take(most));
        let run = self.run(&more)?;
        Ok((run.trace.steps.len().saturating_sub(choices.len()), run))
    }

    /// Lets another thread make a step; none if nobody can.
    fn help(&self, choices: &mut Vec<Choice>, but: u32, run: &Repeated) -> Result<bool, SessionError> {
        for process in run.trace.processes.iter().filter(|p| !p.finished && p.pid != but) {
            if self.ahead(choices, process.pid, 1)?.0 > 0 {
                choices.extend(choice(process.pid, 0));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Passes a place; false if nobody comes there, and nothing is done then.
    fn pass(&mut self, place: &Place) -> Result<bool, SessionError> {
        let alternative = match place.value {
            None => 0,
            Some(value) => match self.request.values.iter().position(|v| *v == value) {
                Some(at) => at,
                None => return Ok(false),
            },
        };
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let (file, mut choices) = (name(&place.file), self.choices.clone());
        let threads: Vec<u32> = match place.thread {
            Some(thread) => vec![thread],
            None => self.run(&choices)?.trace.processes.iter().map(|p| p.pid).collect(),
        };
        for thread in threads {
            choices.clone_from(&self.choices);
            for _ in 0..RUNS {
                if !(self.go_on)() {
                    return Ok(false);
                }
                let (made, run) = self.ahead(&choices, thread, AHEAD)?;
                let steps = &run.trace.steps[choices.len().min(run.trace.steps.len())..];
                let is_here = |at: usize| {
                    let step = &steps[at];
                    let gives = run.chosen.get(choices.len() + at).copied().unwrap_or_default();
                    step.line == place.line && name(&step.file) == file && (place.value.is_none() || gives)
                };
                if let Some(at) = (0..steps.len()).find(|at| is_here(*at)) {
                    choices.extend(choice(thread, 0).into_iter().cycle().take(at));
                    choices.extend(choice(thread, alternative));
                    self.choices = choices;
                    return Ok(true);
                }
                choices.extend(choice(thread, 0).into_iter().cycle().take(made.min(AHEAD)));
                if made >= AHEAD || !self.help(&mut choices, thread, &run)? {
                    break;
                }
            }
        }
        Ok(false)
    }

    /// Lets the thread of a target go on until something goes wrong.
    fn target(&self, place: &Place, before: Repeated) -> Result<Repeated, SessionError> {
        let Some(thread) = place.thread else { return Ok(before) };
        let (_, run) = self.ahead(&self.choices, thread, AHEAD)?;
        Ok(if is_wrong(&run) { run } else { before })
    }

    /// Lets everybody go on until something goes wrong or all have ended.
    fn finish(&mut self, mut run: Repeated) -> Result<Repeated, SessionError> {
        for _ in 0..RUNS {
            let mut moved = false;
            for process in run.trace.processes.clone().iter().filter(|p| !p.finished) {
                if !(self.go_on)() {
                    return self.run(&self.choices);
                }
                let (made, ahead) = self.ahead(&self.choices, process.pid, AHEAD)?;
                if is_wrong(&ahead) {
                    return Ok(ahead);
                }
                self.choices.extend(choice(process.pid, 0).into_iter().cycle().take(made.min(AHEAD)));
                moved |= made > 0;
            }
            run = self.run(&self.choices)?;
            if !moved || is_wrong(&run) {
                break;
            }
        }
        Ok(run)
    }
}
