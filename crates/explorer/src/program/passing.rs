//! The nearest run of a program that passes.
//!
//! From the last step backwards, another choice is made where there was one, and the program goes on from there, the thread that ran last first,
//! until it ends. The first such run that comes to its end without a violation is the one. Unlike for models, nothing is said about the other
//! runs that go on from that choice: a program is run, its states are not kept.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use quotient_explain::Move;
use quotient_native::protocol::FailureKind;
use serde_json::Value;

use super::{Program, path};
use crate::api;
use crate::server::Refused;

/// How long is looked for one; longer on a busy machine, until so many runs were made, but never for longer than the page waits.
const LOOK: Duration = Duration::from_millis(1500);
const AT_LEAST_RUNS: u64 = 60;
const LONGEST_LOOK: Duration = Duration::from_secs(8);

/// What came of another choice.
enum Tried {
    /// The program comes to its end, by this run.
    Passes(String),
    /// It does not.
    GoesWrong,
    /// It takes too long, or cannot be made.
    NotKnown,
}

/// When is looked for no longer.
struct Until {
    started: Instant,
    runs: u64,
}

impl Until {
    fn is_over(&self, program: &Program) -> bool {
        let (took, runs) = (self.started.elapsed(), program.runs.load(Ordering::Relaxed) - self.runs);
        took > LONGEST_LOOK || (took > LOOK && runs >= AT_LEAST_RUNS)
    }
}

/// Steps that a thread is asked for at once.
const AT_ONCE: usize = 50;

/// Steps that such a run has at most.
const LONGEST_RUN: usize = 2_000;

impl Program {
    pub(super) fn passing(&self, body: &Value) -> Result<api::Passing, Refused> {
        let run = self.needed(body)?;
        let moves: Vec<Move> = run.moves.iter().map(|m| Move { thread: m.0, way: m.1 }).collect();
        let until = Until { started: Instant::now(), runs: self.runs.load(Ordering::Relaxed) };
        let mut all = true;
        for step in (0..moves.len()).rev() {
            let prefix = &moves[..step];
            let here = match self.known(prefix) {
                Some(known) => known,
                None => self.execute(prefix)?,
            };
            let able = here.repeated.trace.processes.iter().filter(|p| p.can_go_on);
            let ways = able.flat_map(|p| (0..p.ways.max(1)).map(|way| Move { thread: p.pid, way }));
            let others: Vec<Move> = ways.filter(|way| *way != moves[step]).collect();
            for other in others {
                if until.is_over(self) {
                    let seconds = until.started.elapsed().as_secs_f64();
                    let why = Some(format!("No run found that passes (looked {seconds:.1} s)."));
                    return Ok(api::Passing { path: None, step: None, why });
                }
                let mut tried = prefix.to_vec();
                tried.push(other);
                match self.to_its_end(tried, &until)? {
                    Tried::Passes(path) => {
                        return Ok(api::Passing { path: Some(path), step: Some(step + 1), why: None });
                    }
                    Tried::GoesWrong => {}
                    Tried::NotKnown => all = false,
                }
            }
        }
        let why = match all {
            true => "No run found that passes: with each other choice it goes wrong, too.".to_owned(),
            false => {
                format!("No run found that passes (looked {:.1} s).", until.started.elapsed().as_secs_f64())
            }
        };
        Ok(api::Passing { path: None, step: None, why: Some(why) })
    }

    /// Goes on until the program ends. Each look at the program runs it from its start, so a thread is asked
    /// for many steps at once, and who cannot make them all is taken at what it has made.
    fn to_its_end(&self, mut moves: Vec<Move>, until: &Until) -> Result<Tried, Refused> {
        let mut certain = moves.len();
        if let Some(other) = moves.last().copied() {
            moves.extend([Move { way: 0, ..other }; AT_ONCE]);
        }
        while moves.len() < LONGEST_RUN && !until.is_over(self) {
            let run = self.execute(&moves)?;
            if run.goes_wrong() {
                return Ok(Tried::GoesWrong);
            }
            if run.len() < certain {
                return Ok(Tried::NotKnown);
            }
            moves = run.moves.iter().map(|m| Move { thread: m.0, way: m.1 }).collect();
            // Where a thread could not make all of them, the run tells who can go on from there.
            let able: Vec<u32> =
                run.repeated.trace.processes.iter().filter(|p| p.can_go_on).map(|p| p.pid).collect();
            let Some(first) = able.first() else {
                // Has it come to its end, or can nobody go on? A run that was asked for too much does not tell.
                let exact = if run.repeated.lost { self.execute(&moves)? } else { run };
                let ends = !exact.repeated.lost && exact.repeated.failure.kind == FailureKind::None;
                return Ok(if ends { Tried::Passes(path(&exact.moves)) } else { Tried::GoesWrong });
            };
            let last = moves.last().map(|m| m.thread).filter(|last| able.contains(last));
            certain = moves.len() + 1;
            moves.extend([Move { thread: last.unwrap_or(*first), way: 0 }; AT_ONCE]);
        }
        Ok(Tried::NotKnown)
    }
}
