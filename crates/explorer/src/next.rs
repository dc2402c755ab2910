//! What can happen next and why not, and where values come from.

use quotient_explain::{Course, Ending, Look, Move, Position, Possible, Reason, offered, reason};
use quotient_machine::Machine;
use quotient_outcome::Effect;
use quotient_program::Operation;
use quotient_seams::{Scope, System};
use serde_json::Value;

use crate::api::{self, WhyKind};
use crate::reductions::{self, Way};
use crate::server::Refused;
use crate::session::{Session, Work, place};

impl Session {
    pub(crate) fn next(&self, work: &mut Work, body: &Value) -> Result<api::Next, Refused> {
        let course = self.course(work, body)?;
        let at = Session::at(&course, body);
        // Nothing follows what goes wrong; the others still wait for something.
        let over = goes_wrong(&course, at);
        let failing = course.rows.last().filter(|_| over).map(|row| row.thread);
        let model = work.model.clone();
        let (chosen, machine) = work.chosen();
        let (state, names) = course.state(machine, at);
        // Where a run goes wrong, the state may be one within a step: nothing is asked of it but its values.
        let asked = chosen.off().is_none() && !over;
        let explored = asked.then(|| chosen.explored(machine, &state));
        let ways = if over { Vec::new() } else { offered(machine, &state) };
        let taken = course.moves.get(at).copied();
        let here = course.first_row[at] as usize;
        let mut enabled: Vec<(u32, u32)> = Vec::new();
        let mut choices = Vec::new();
        for possible in &ways {
            let Possible { way, record } = possible;
            let steps = record.steps();
            enabled.extend(steps.first().map(|s| (s.thread, s.transformation)));
            enabled.extend(steps.first().and_then(|s| Some((s.partner?, u32::MAX))));
            let effects = Course::effects(machine, &state, &names, possible);
            let statements = steps.iter().zip(effects).map(|(s, effect)| {
                let text = machine.transformation(s.transformation).map_or("", |(_, _, t)| &t.text);
                let (file, line) = place(&model, machine, s.transformation);
                let (text, pid) = (text.to_owned(), s.thread);
                let Effect { reads, writes, events, .. } = effect;
                api::ChoiceStatement { text, file, line, pid, reads, writes, events }
            });
            let statements = statements.collect();
            choices.push(api::Choice {
                r#move: written(*way),
                pid: way.thread,
                process: machine.thread_name(&state, way.thread, &names),
                statements,
                violation: record.violation.map(|code| machine.violation(code).message),
                taken: taken == Some(*way),
                explored: explored.map(|scope| scope.includes(way.thread)),
            });
        }
        let look = Look::new(machine, &state, &names);
        let waiting = machine.threads(&state).into_iter().filter_map(|thread| {
            let function = &machine.program().functions[thread.function as usize];
            let location = &function.locations[thread.location as usize];
            let first = first_transformation(machine, thread.function, thread.location);
            if failing == Some(thread.id) || enabled.iter().any(|(id, t)| *id == thread.id && *t != u32::MAX)
            {
                return None;
            }
            let takes_part = enabled.contains(&(thread.id, u32::MAX));
            let ended =
                location.transformations.first().is_some_and(|t| matches!(t.operation, Operation::Exit));
            // Who could go on, as far as values tell, does not wait.
            let known = |t| reason(&look, thread.id, function, location, t) != Reason::Unknown;
            if over && !location.transformations.iter().all(known) {
                return None;
            }
            let statements = location.transformations.iter().enumerate().map(|(index, t)| {
                let why = reason(&look, thread.id, function, location, t);
                let name = |id: u32| machine.thread_name(&state, id, &names);
                let reads = match &why {
                    Reason::False { reads, .. } => reads.as_slice(),
                    _ => &[],
                };
                let reads = reads.iter().map(|r| {
                    let set = course.set_by(&r.full, here).map(|row| {
                        let row = &course.rows[row as usize];
                        api::Who { step: row.step as usize, pid: row.thread }
                    });
                    let (full, name, value) = (r.full.clone(), r.name.clone(), r.value.clone());
                    api::ReadAndSet { full, name, value, set }
                });
                let reads = reads.collect();
                let holder = match &why {
                    Reason::Held { holder, .. } => Some(*holder),
                    _ => None,
                };
                let (file, line) = place(&model, machine, first + index as u32);
                let text = t.text.clone();
                let (object, since) = (None, None);
                let kind = if why == Reason::Timeout { WhyKind::Last } else { WhyKind::Missing };
                // What is its own a process calls by the short name.
                let why = why.sentence(&name).replace(&format!("{}.", name(thread.id)), "");
                api::WaitingFor { text, file, line, why, kind, reads, holder, object, since }
            });
            Some(api::Waiting {
                pid: thread.id,
                process: machine.thread_name(&state, thread.id, &names),
                ended,
                takes_part,
                valid_end: location.end,
                statements: statements.collect(),
            })
        });
        let waiting = waiting.collect();
        Ok(api::Next { choices, waiting, over, known: true })
    }

    /// Where a value comes from: the statement that wrote it, and what that statement read, some levels deep.
    pub(crate) fn because(&self, work: &mut Work, body: &Value) -> Result<api::Origin, Refused> {
        let course = self.course(work, body)?;
        let full = body["full"].as_str().ok_or("a question about a value needs its name, `full`")?;
        let row = body["row"].as_u64().map_or(course.rows.len(), |row| row as usize).min(course.rows.len());
        Ok(origin(&mut work.machine, &course, full, row, 3))
    }

    /// What partial order explores here and what it leaves for later; what a check found of symmetry.
    pub(crate) fn reductions(&self, work: &mut Work, body: &Value) -> Result<api::Reductions, Refused> {
        let course = self.course(work, body)?;
        let at = Session::at(&course, body);
        let (chosen, machine) = work.chosen();
        let (state, names) = course.state(machine, at);
        let over = goes_wrong(&course, at);
        let all = over || chosen.off().is_some();
        let scope = if all { Scope::All } else { chosen.explored(machine, &state) };
        let mut ways = Vec::new();
        for step in if over { Vec::new() } else { offered(machine, &state) } {
            let text = step.record.steps().first().and_then(|s| machine.transformation(s.transformation));
            let text = text.map_or(String::new(), |(_, _, t)| t.text.clone());
            let pid = step.way.thread;
            let process = machine.thread_name(&state, pid, &names);
            let effects = Course::effects(machine, &state, &names, &step);
            ways.push(Way { pid, process, text, effects });
        }
        let mut said = reductions::tell(&ways, scope, chosen.off());
        said.symmetry = self.checking.symmetry();
        Ok(said)
    }
}

/// A step as the page writes it.
pub(crate) fn written(way: Move) -> String {
    let step = Position { moves: vec![way], checksum: None }.to_string();
    step.trim_start_matches("q1:").to_owned()
}

/// A statement of a run: who executed it, its text, and what it did.
fn told(machine: &mut Machine, course: &Course, row: usize) -> Option<(u32, String, Effect)> {
    let step = course.rows[row].step as usize;
    let mut found = None;
    let mut index = course.first_row[step - 1] as usize;
    course.explain(machine, step - 1, step, |machine, statement, effect, _| {
        if index == row {
            let text = machine.transformation(statement.transformation).map(|(_, _, t)| t.text.clone());
            found = Some((statement.thread, text.unwrap_or_default(), effect));
        }
        index += 1;
    });
    found
}

/// Where the value comes from that a place holds before a statement.
fn origin(machine: &mut Machine, course: &Course, full: &str, row: usize, levels: u32) -> api::Origin {
    let nowhere = || api::Origin {
        full: full.to_owned(),
        name: None,
        value: None,
        set: None,
        write: None,
        sent_by: None,
        sent: Vec::new(),
        inputs: Vec::new(),
    };
    let Some(set) = course.set_by(full, row).map(|row| row as usize) else { return nowhere() };
    let step = course.rows[set].step as usize;
    let Some((pid, text, effect)) = told(machine, course, set) else { return nowhere() };
    let inputs = read_there(machine, course, set, &effect, levels);
    // What was received is what the sender read when it sent. A rendezvous is one statement, whose reads are those of both.
    let sent = match course.rows[set].sent_by.map(|row| row as usize) {
        Some(row) if levels > 1 => {
            let said = told(machine, course, row);
            said.map_or(Vec::new(), |(_, _, effect)| read_there(machine, course, row, &effect, levels))
        }
        _ => Vec::new(),
    };
    let sender = course.rows[set].sent_by.map(|row| {
        let sender = &course.rows[row as usize];
        api::Sender { row: row as usize, step: sender.step as usize, pid: sender.thread }
    });
    api::Origin {
        set: Some(api::Setter { row: set, step, pid, text }),
        write: effect.writes.into_iter().find(|w| w.full == full),
        sent_by: sender,
        sent,
        inputs,
        ..nowhere()
    }
}

/// What a statement read, and where that comes from.
fn read_there(
    machine: &mut Machine,
    course: &Course,
    row: usize,
    effect: &Effect,
    levels: u32,
) -> Vec<api::Origin> {
    let mut inputs = Vec::new();
    for read in effect.reads.iter().filter(|_| levels > 1) {
        let input = origin(machine, course, &read.full, row, levels - 1);
        inputs.push(api::Origin { name: Some(read.name.clone()), value: Some(read.value.clone()), ..input });
    }
    inputs
}

/// Does the run end here, in what goes wrong? Then the state may be one within a step, and no step is asked for.
pub(crate) fn goes_wrong(course: &Course, at: usize) -> bool {
    at == course.len() && matches!(course.ending, Ending::Violation(_))
}

/// The number of a location's first transformation.
fn first_transformation(machine: &Machine, function: u32, location: u32) -> u32 {
    let functions = &machine.program().functions;
    let count =
        |f: &quotient_program::Function| f.locations.iter().map(|l| l.transformations.len()).sum::<usize>();
    let before: usize = functions[..function as usize].iter().map(count).sum();
    let own = &functions[function as usize].locations[..location as usize];
    (before + own.iter().map(|l| l.transformations.len()).sum::<usize>()) as u32
}
