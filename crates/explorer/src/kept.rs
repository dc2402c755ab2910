//! A run as a trace file, which `explore`, `replay` and `draw` read: its steps as choices of the program without reductions.
//!
//! That program is not quite the one whose steps the page shows: there a process that has come to its end has ended, here its end may be a step
//! of its own. A process has no other step at its end, so a step has the same process and the same number among that process's steps in both.
//! Where the page lets a process end before a younger one, as Promela does not, there is no such run without reductions, and no file.

use quotient_engine::{Compile, Question};
use quotient_explain::{Course, Ending, possible};
use quotient_machine::Machine;
use quotient_seams::{Interrupt, Successors, System};
use quotient_trace::TraceFile;
use serde_json::Value;

use crate::server::Refused;
use crate::session::{LONGEST, Session, Work};
use crate::{api, checking};

impl Session {
    /// The run of a question as a file.
    pub(crate) fn trace(&self, work: &mut Work, body: &Value) -> Result<api::Drawn, Refused> {
        let Some(about) = &self.about else { return Err("where the model is read from is not known".into()) };
        let course = self.course(work, body)?;
        let part = Interrupt::within(None, Some(LONGEST));
        let compile = Compile { wide: true, ..Compile::AS_WRITTEN };
        let raw = work.model.question_machine(Question::Safety, compile).map_err(|error| error.to_string());
        let choices = choices(&mut raw?.0, &course, &part)?;
        // Read back as `explore` reads it: a file that leads elsewhere is not given away.
        let read = checking::in_position(&work.model, Question::Safety, &choices, 0, Compile::AS_WRITTEN);
        if read.is_none_or(|(position, _)| position.moves != course.moves) {
            return Err("no trace file leads to this run; Copy link has the command that leads here".into());
        }
        let machine = &mut work.machine;
        let (kind, message) = match course.ending {
            Ending::Violation(code) => {
                let violation = machine.violation(code);
                (violation.kind.as_str().to_owned(), violation.message)
            }
            _ => (String::new(), "a run that was explored".to_owned()),
        };
        let cycle = body["cycle"].as_u64().map_or(0, |cycle| (cycle as usize).min(course.len()));
        let checksum = work.checksum.clone();
        let file = TraceFile { raw: true, checksum, choices, cycle, kind, message, ..about.clone() };
        let text = serde_json::to_string_pretty(&file).map_err(|error| error.to_string())?;
        Ok(api::Drawn { text: text + "\n" })
    }
}

/// The steps of a run by their numbers among those that are possible, or why there are none.
fn choices(machine: &mut Machine, course: &Course, interrupt: &Interrupt) -> Result<Vec<u32>, &'static str> {
    const MISSING: &str = "a process ends before a younger one in this run, which no trace file says; Copy link has the command that leads here";
    let mut initial = Successors::new();
    machine.initial(&mut initial).map_err(|_| "the model has no first state")?;
    let first = (0..initial.len()).find(|i| initial.entry(*i).has_state());
    let first = first.ok_or("the model has no first state")?;
    let mut choices = vec![first as u32];
    let mut state = initial.state(first).to_vec();
    for way in &course.moves {
        if interrupt.reason().is_some() {
            return Err("took too long");
        }
        let mut ways = possible(machine, &state);
        let number = ways.iter().position(|p| p.way == *way).ok_or(MISSING)?;
        choices.push(number as u32);
        // Only the last step may end without a state: it goes wrong.
        state = ways.swap_remove(number).record.state.unwrap_or_default();
    }
    Ok(choices)
}
