//! A run as the page gets it: its statements as columns, single statements with what they did, and how it ends.

use std::collections::BTreeMap;

use quotient_engine::Model;
use quotient_explain::{Course, Ending, Look, Position, Read, fault, possible};
use quotient_machine::Machine;
use quotient_seams::System;
use serde_json::{Value, json};

use crate::api::{self, EndingKind, Packed, Part};
use crate::server::Refused;
use crate::session::{MOST_STEPS, Session, WHOLE_HISTORY, Work, place};
use crate::stuck;

impl Session {
    /// A run; of the statements that the page has already (`known`), nothing is told again.
    pub(crate) fn run(&self, work: &mut Work, body: &Value) -> Result<api::Run, Refused> {
        let (id, course) = self.numbered(work, body)?;
        let known = (body["known"].as_u64().unwrap_or(0) as usize).min(course.rows.len());
        let places = if known == 0 { work.places().to_vec() } else { Vec::new() };
        let checksum = Some(work.short_checksum().to_owned());
        let model = work.model.clone();
        let machine = &mut work.machine;
        let mut rows = api::Columns::empty();
        for (index, row) in course.rows.iter().enumerate().skip(known) {
            let begins = course.first_row[row.step as usize - 1] as usize == index;
            rows.push(row.transformation, row.thread, row.kind.into(), begins, row.sent_by.or(row.partner));
        }
        let whole = course.rows.len() <= WHOLE_HISTORY;
        let history = whole.then(|| {
            let one = |(number, name): (usize, &String)| {
                let history = course.history(number as u32).map(|(row, changed)| (row as usize, changed));
                (name.clone(), history.collect::<Vec<_>>())
            };
            course.written.iter().enumerate().map(one).filter(|(_, history)| !history.is_empty()).collect()
        });
        let same = course.moves == self.opening.position.moves;
        let mut run = api::Run {
            id: id.to_string(),
            path: (known == 0).then(|| Position { moves: course.moves.clone(), checksum }.to_string()),
            length: course.len(),
            cycle: if same { self.opening.cycle } else { 0 },
            from: known,
            rows,
            places,
            processes: processes(machine, &course),
            history,
            locks: locks(&course, known),
            ending: ending(&model, machine, &course),
            place: None,
        };
        if run.ending.kind == EndingKind::Deadlock {
            let end = self.next(work, &json!({ "path": body["path"] }))?;
            run.ending.parts = stuck::sentence(&end.waiting, &named(&run.processes));
        }
        if body["at"].is_u64() {
            run.place = Some(api::Place { state: self.state(work, body)?, next: self.next(work, body)? });
        }
        Ok(run)
    }

    /// Statements with what they read and wrote.
    pub(crate) fn steps(&self, work: &mut Work, body: &Value) -> Result<api::Steps, Refused> {
        let course = self.course(work, body)?;
        let (model, machine) = (work.model.clone(), &mut work.machine);
        let from = (body["from"].as_u64().unwrap_or(0) as usize).min(course.len());
        let to = body["to"].as_u64().map_or(course.len(), |to| to as usize);
        let to = to.clamp(from, course.len()).min(from + MOST_STEPS);
        let mut row = course.first_row[from] as usize;
        let sources = &model.sources;
        let mut rows = Vec::new();
        course.explain(machine, from, to, |machine, step, effect, after| {
            let (text, called_at) = match machine.transformation(step.transformation) {
                Some((_, _, t)) => {
                    (t.text.as_str(), sources.call(t.span).map(|call| sources.file_line(call)))
                }
                None => ("", None),
            };
            let (file, line) = place(&model, machine, step.transformation);
            let known = course.rows.get(row);
            rows.push(api::Statement {
                row,
                step: known.map_or(0, |r| r.step as usize),
                pid: step.thread,
                kind: known.map_or(api::RowKind::Other, |r| r.kind.into()),
                link: known.and_then(|r| r.sent_by.or(r.partner)),
                process: after.map(|(state, names)| machine.thread_name(state, step.thread, names)),
                text: text.to_owned(),
                file,
                line,
                called_at,
                output: step.output.clone(),
                reads: effect.reads,
                writes: effect.writes,
                events: effect.events,
                failed: effect.failed,
                stack: Vec::new(),
                saw: None,
            });
            row += 1;
        });
        Ok(api::Steps { from, to, rows })
    }
}

/// Everybody who takes part in a run, by number.
fn processes(machine: &mut Machine, course: &Course) -> Vec<api::Process> {
    let mut names: BTreeMap<u32, String> = BTreeMap::new();
    for steps in [0, course.len()] {
        let (state, object_names) = course.state(machine, steps);
        for thread in machine.threads(&state) {
            let name = || machine.thread_name(&state, thread.id, &object_names);
            names.entry(thread.id).or_insert_with(name);
        }
    }
    for (id, name) in &course.called {
        names.entry(*id).or_insert_with(|| name.clone());
    }
    names.into_iter().map(|(pid, name)| api::Process { pid, name }).collect()
}

/// What those who take part are called, by number.
pub(crate) fn named(processes: &[api::Process]) -> impl Fn(u32) -> String {
    |pid| {
        let found = processes.iter().find(|p| p.pid == pid);
        found.map_or_else(|| format!("process {pid}"), |p| p.name.clone())
    }
}

/// Locks that are held at or after the statement `known`.
fn locks(course: &Course, known: usize) -> api::Locks {
    let mut numbers: BTreeMap<&str, i32> = BTreeMap::new();
    let mut objects = Vec::new();
    let mut held = Packed::default();
    for lock in course.held.iter().filter(|h| h.to.is_none_or(|to| to as usize >= known)) {
        let object = *numbers.entry(&lock.object).or_insert_with(|| {
            objects.push(lock.object.to_string());
            objects.len() as i32 - 1
        });
        held.0.extend([object, lock.thread as i32, lock.from as i32, lock.to.map_or(-1, |to| to as i32)]);
    }
    api::Locks { objects, held }
}

/// How a run ends, in a sentence.
fn ending(model: &Model, machine: &mut Machine, course: &Course) -> api::Ending {
    let of = api::Ending::new;
    match course.ending {
        Ending::Lost(step) => api::Ending {
            step: Some(step),
            headline: Some(format!("The model has no step {step} like the one in this run")),
            ..of(EndingKind::Lost)
        },
        Ending::Interrupted(steps) => api::Ending {
            step: Some(steps + 1),
            headline: Some(format!("The beginning of a long run: {steps} steps so far")),
            ..of(EndingKind::More)
        },
        Ending::Violation(code) => {
            let violation = machine.violation(code);
            let at = model.sources.file_line(machine.site(code).span);
            let last = course.len();
            let (before, names) = course.state(machine, last.saturating_sub(1));
            let mut before = (before, names);
            let (mut parts, mut failed, mut reads) = (Vec::new(), None, Vec::new());
            course.explain(machine, last.saturating_sub(1), last, |machine, step, effect, after| {
                let process = machine.thread_name(&before.0, step.thread, &before.1);
                parts = match &effect.failed {
                    Some(failed) => headline(&process, failed),
                    None => {
                        let said = fault(step, &Look::new(machine, &before.0, &before.1));
                        let said = said.unwrap_or_else(|| violation.message.clone());
                        let text =
                            machine.transformation(step.transformation).map_or("", |(_, _, t)| &t.text);
                        went_wrong(&process, &said, text, &effect.reads)
                    }
                };
                reads = effect.failed.as_ref().map_or(effect.reads, |failed| failed.reads.clone());
                failed = effect.failed;
                if let Some((state, names)) = after {
                    before = (state.to_vec(), names.clone());
                }
            });
            if parts.is_empty() {
                parts = coded(&violation.message);
            }
            api::Ending {
                violation: Some(violation.kind.as_str().to_owned()),
                message: Some(violation.message),
                at: Some(at),
                parts,
                failed,
                reads,
                ..of(EndingKind::Violation)
            }
        }
        Ending::Open => {
            let (state, _) = course.state(machine, course.len());
            if !possible(machine, &state).is_empty() {
                return of(EndingKind::Open);
            }
            if machine.is_valid_end(&state) {
                let said = "The run has come to its end: every process may stay where it is";
                api::Ending { headline: Some(said.to_owned()), ..of(EndingKind::End) }
            } else {
                api::Ending { headline: Some("Nobody can go on".to_owned()), ..of(EndingKind::Deadlock) }
            }
        }
    }
}

/// Values that are told in a headline of what went wrong.
const TOLD: usize = 4;

/// The parts of a headline about what no assertion says: who, what, in which statement, and what that had read.
fn went_wrong(process: &str, said: &str, statement: &str, reads: &[Read]) -> Vec<Part> {
    let mut parts = vec![Part::text(format!("{process}: "))];
    parts.extend(coded(said));
    if !statement.is_empty() && !said.contains(statement) {
        parts.extend([Part::text(", in "), Part::code(statement)]);
    }
    for (index, read) in reads.iter().take(TOLD).enumerate() {
        parts.push(Part::text(if index == 0 { "; " } else { ", " }));
        parts.push(Part::code(&read.name));
        parts.push(Part::text(" is "));
        parts.push(Part::value(read.value.to_string(), &read.full));
    }
    parts
}

/// A message as parts of a sentence: what stands between backticks is code.
fn coded(message: &str) -> Vec<Part> {
    let pieces = message.split('`').enumerate().filter(|(_, piece)| !piece.is_empty());
    pieces.map(|(at, piece)| if at % 2 == 1 { Part::code(piece) } else { Part::text(piece) }).collect()
}

/// The parts of a headline about a failed assertion: text, code, values.
fn headline(process: &str, failed: &quotient_explain::Failed) -> Vec<Part> {
    let mut parts = vec![Part::text(format!("{process} asserts ")), Part::code(&failed.text)];
    for (index, read) in failed.reads.iter().enumerate() {
        let before = match index {
            0 => ", but ",
            _ if index + 1 == failed.reads.len() => " and ",
            _ => ", ",
        };
        parts.push(Part::text(before));
        parts.push(Part::code(&read.name));
        parts.push(Part::text(" is "));
        parts.push(Part::value(read.value.to_string(), &read.full));
    }
    parts
}
