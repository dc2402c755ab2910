//! A model that is explored, and the questions about it.
//!
//! Every question names a position: the steps from the start. The run that leads there is followed once and kept for the next questions
//! (a few runs; the oldest goes first); a question about a longer run goes on from a shorter one that is kept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quotient_engine::Model;
use quotient_explain::{Course, Ending, Look, Position, Possible, Reason, possible, reason};
use quotient_machine::{Machine, ObjectNames};
use quotient_program::Operation;
use quotient_seams::{Interrupt, System};
use serde_json::{Value, json};

use crate::checking::Checking;
use crate::server::Answers;
use crate::show;

/// Runs that are kept.
const KEPT: usize = 6;

/// The longest time that one question is worked on.
const LONGEST: Duration = Duration::from_secs(2);

/// Rows up to which the history of every value is sent with a run.
const WHOLE_HISTORY: usize = 5_000;

/// Statements that are sent at most in one answer.
const MOST_STEPS: usize = 1_024;

/// A model that is explored.
pub struct Session {
    model: Arc<Model>,
    file: String,
    defines: Vec<(String, String)>,
    checksum: String,
    /// Where the page opens.
    opening: Opening,
    checking: Checking,
    work: Mutex<Work>,
}

/// Where the page opens.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// The run.
    pub position: Position,
    /// How many of its steps, at the end, are repeated for ever.
    pub cycle: usize,
    /// The step to stand at; the end if it is missing.
    pub step: Option<usize>,
    /// The sentence that the run was found for.
    pub message: Option<String>,
}

struct Work {
    machine: Machine,
    kept: Vec<Arc<Course>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// A session about a model.
    pub fn new(
        model: Arc<Model>,
        file: String,
        defines: Vec<(String, String)>,
        opening: Opening,
    ) -> Result<Session, quotient_engine::CheckError> {
        let machine = model.as_written()?;
        let texts = model.sources.files().map(|f| model.sources.text(f));
        let checksum = quotient_trace::TraceFile::checksum(texts);
        let work = Mutex::new(Work { machine, kept: Vec::new() });
        Ok(Session { model, file, defines, checksum, opening, checking: Checking::default(), work })
    }

    /// Checks the model beside the page.
    pub fn check(&self) {
        self.checking.start(&self.model);
    }

    /// Stops what runs beside the page.
    pub fn end(&self) {
        self.checking.stop();
    }

    fn info(&self) -> Value {
        let sources = &self.model.sources;
        let files = sources.files().map(|f| json!({ "name": sources.name(f), "text": sources.text(f) }));
        json!({
            "file": self.file,
            "defines": self.defines.iter().map(|(n, v)| json!([n, v])).collect::<Vec<_>>(),
            "checksum": self.short_checksum(),
            "sources": files.collect::<Vec<_>>(),
            "opening": {
                "position": self.opening.position.to_string(),
                "cycle": self.opening.cycle,
                "step": self.opening.step,
                "message": self.opening.message,
            },
        })
    }

    fn short_checksum(&self) -> &str {
        &self.checksum[..8]
    }

    /// The run of a question.
    fn course(&self, work: &mut Work, body: &Value) -> Result<Arc<Course>, String> {
        let text = body["path"].as_str().ok_or("a question needs a `path`")?;
        let position: Position = text.parse().map_err(|e: quotient_explain::PositionError| e.to_string())?;
        if let Some(at) = work.kept.iter().position(|c| c.moves == position.moves) {
            let found = work.kept.remove(at);
            work.kept.push(found.clone());
            return Ok(found);
        }
        let part = Interrupt::within(None, Some(LONGEST));
        let begins = |c: &&Arc<Course>| c.ending == Ending::Open && position.moves.starts_with(&c.moves);
        let longest = work.kept.iter().filter(begins).max_by_key(|c| c.len());
        let mut course = match longest {
            Some(known) => Course::clone(known),
            None => Course::start(&mut work.machine).ok_or("the model has no initial state")?,
        };
        let known = course.len();
        course.go_on(&mut work.machine, &position.moves[known..], &part);
        let course = Arc::new(course);
        if work.kept.len() == KEPT {
            work.kept.remove(0);
        }
        work.kept.push(course.clone());
        Ok(course)
    }

    fn at(course: &Course, body: &Value) -> usize {
        body["at"].as_u64().map_or(course.len(), |at| (at as usize).min(course.len()))
    }

    fn run(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let machine = &mut work.machine;
        let program = machine.program();
        let places: Vec<(u32, u32)> =
            (0..program.readers().flat_map(|f| &f.locations).map(|l| l.transformations.len()).sum::<usize>())
                .map(|number| self.place(machine, number as u32))
                .collect();
        let rows = &course.rows;
        let place = |t: u32| places.get(t as usize).copied().unwrap_or((0, 0));
        let mut names: Vec<(u32, String)> = Vec::new();
        for steps in [0, course.len()] {
            let (state, object_names) = course.state(machine, steps);
            for thread in machine.threads(&state) {
                let name = machine.thread_name(&state, thread.id, &object_names);
                if !names.iter().any(|(id, _)| *id == thread.id) {
                    names.push((thread.id, name));
                }
            }
        }
        for row in rows {
            if !names.iter().any(|(id, _)| *id == row.thread) {
                names.push((row.thread, format!("process({})", row.thread)));
            }
        }
        names.sort_unstable();
        let history: Option<Value> = (rows.len() <= WHOLE_HISTORY).then(|| {
            let mut by_name: Vec<Vec<Value>> = vec![Vec::new(); course.written.len()];
            for (index, row) in rows.iter().enumerate() {
                for (name, changed) in &row.writes {
                    by_name[*name as usize].push(json!([index, changed]));
                }
            }
            let named = course.written.iter().cloned().zip(by_name.into_iter().map(Value::from));
            named.collect::<serde_json::Map<_, _>>().into()
        });
        let moves =
            Position { moves: course.moves.clone(), checksum: Some(self.short_checksum().to_owned()) };
        Ok(json!({
            "path": moves.to_string(),
            "length": course.len(),
            "rows": {
                "step": rows.iter().map(|r| r.step).collect::<Vec<_>>(),
                "pid": rows.iter().map(|r| r.thread).collect::<Vec<_>>(),
                "kind": rows.iter().map(|r| show::row_kind(r.kind)).collect::<Vec<_>>(),
                "partner": rows.iter().map(|r| r.partner).collect::<Vec<_>>(),
                "sent_by": rows.iter().map(|r| r.sent_by).collect::<Vec<_>>(),
                "file": rows.iter().map(|r| place(r.transformation).0).collect::<Vec<_>>(),
                "line": rows.iter().map(|r| place(r.transformation).1).collect::<Vec<_>>(),
            },
            "processes": names.iter().map(|(pid, name)| json!({ "pid": pid, "name": name })).collect::<Vec<_>>(),
            "history": history,
            "ending": self.ending(machine, &course),
        }))
    }

    /// File and line of a transformation.
    fn place(&self, machine: &Machine, number: u32) -> (u32, u32) {
        let Some((_, _, t)) = machine.transformation(number) else { return (0, 0) };
        let sources = &self.model.sources;
        (sources.written(t.span).file.0, sources.position(t.span).line)
    }

    /// How a run ends, in a sentence.
    fn ending(&self, machine: &mut Machine, course: &Course) -> Value {
        match course.ending {
            Ending::Lost(step) => json!({
                "kind": "lost", "step": step,
                "headline": format!("The model has no step {step} like the one in this run"),
            }),
            Ending::Interrupted(steps) => json!({
                "kind": "lost", "step": steps + 1,
                "headline": format!("Following this run took too long; this is its beginning, {steps} steps"),
            }),
            Ending::Violation(code) => {
                let violation = machine.violation(code);
                let at = self.model.sources.file_line(machine.site(code).span);
                let mut parts = Vec::new();
                let mut failed = None;
                let last = course.len();
                course.explain(machine, last.saturating_sub(1), last, |machine, step, effect, _| {
                    if let Some(f) = &effect.failed {
                        let (state, names) = (&step.state, ObjectNames::default());
                        let name = machine.thread_name(state, step.thread, &names);
                        parts = headline(&name, f);
                        failed = Some(show::failed(f));
                    }
                });
                let kind = violation.kind.as_str();
                if parts.is_empty() {
                    parts = vec![json!({ "text": violation.message })];
                }
                json!({
                    "kind": "violation", "violation": kind, "message": violation.message, "at": at,
                    "parts": parts, "failed": failed,
                })
            }
            Ending::Open => {
                let (state, _) = course.state(machine, course.len());
                if !possible(machine, &state).is_empty() {
                    return json!({ "kind": "open" });
                }
                if machine.is_valid_end(&state) {
                    json!({ "kind": "end", "headline": "The run has come to its end: every process may stay where it is" })
                } else {
                    json!({ "kind": "deadlock", "headline": "Nobody can go on" })
                }
            }
        }
    }

    fn steps(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let machine = &mut work.machine;
        let from = (body["from"].as_u64().unwrap_or(0) as usize).min(course.len());
        let to = body["to"].as_u64().map_or(course.len(), |to| to as usize);
        let to = to.clamp(from, course.len()).min(from + MOST_STEPS);
        let mut row = course.first_row[from] as usize;
        let sources = &self.model.sources;
        let mut rows = Vec::new();
        course.explain(machine, from, to, |machine, step, effect, after| {
            let mut shown = show::effect(&effect);
            let (text, called) = match machine.transformation(step.transformation) {
                Some((_, _, t)) => {
                    let text = if t.text == "-end-" { "ends" } else { t.text.as_str() };
                    (text, sources.call(t.span).map(|call| sources.file_line(call)))
                }
                None => ("", None),
            };
            let (file, line) = self.place(machine, step.transformation);
            let process = after.map(|(state, names)| machine.thread_name(state, step.thread, names));
            shown["row"] = json!(row);
            shown["step"] = json!(course.rows.get(row).map(|r| r.step));
            shown["pid"] = json!(step.thread);
            shown["process"] = json!(process);
            shown["text"] = json!(text);
            shown["file"] = json!(file);
            shown["line"] = json!(line);
            shown["called_at"] = json!(called);
            shown["output"] = json!(step.output);
            rows.push(shown);
            row += 1;
        });
        Ok(json!({ "from": from, "to": to, "rows": rows }))
    }

    /// The state of a question, the names of its objects, and the number of statements before it.
    fn place_in(
        &self,
        machine: &mut Machine,
        course: &Course,
        body: &Value,
    ) -> (Vec<u64>, ObjectNames, usize) {
        let at = Session::at(course, body);
        let end = course.first_row[at] as usize;
        let wanted = body["row"].as_u64().map(|row| row as usize).filter(|row| *row < end);
        let (state, names) = course.state(machine, at);
        let Some(wanted) = wanted.filter(|row| at > 0 && *row > course.first_row[at - 1] as usize) else {
            return (state, names, end);
        };
        // After some of the statements of the step.
        let mut row = course.first_row[at - 1] as usize;
        let mut found = (state, names, end);
        course.explain(machine, at - 1, at, |_, _, _, after| {
            row += 1;
            if let (true, Some((state, names))) = (row == wanted, after) {
                found = (state.to_vec(), names.clone(), wanted);
            }
        });
        found
    }

    fn state(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let machine = &mut work.machine;
        let (state, names, row) = self.place_in(machine, &course, body);
        let set_by = course.set_by(row);
        let look = Look::new(machine, &state, &names);
        let all = look.leaves();
        let leaves = all.iter().map(|leaf| {
            let mut shown = show::leaf(leaf);
            let set = set_by.get(leaf.full.as_str()).copied();
            shown["set"] =
                json!(set.map(|row| json!({ "row": row, "step": course.rows[row as usize].step })));
            shown
        });
        let leaves: Vec<Value> = leaves.collect();
        let processes = machine.threads(&state).into_iter().map(|thread| {
            let function = &machine.program().functions[thread.function as usize];
            let location = &function.locations[thread.location as usize];
            let span = location.span;
            let ended = location.transformations.first().is_some_and(|t| matches!(t.operation, Operation::Exit));
            json!({
                "pid": thread.id, "name": machine.thread_name(&state, thread.id, &names),
                "file": self.model.sources.written(span).file.0, "line": self.model.sources.position(span).line,
                "ended": ended, "valid_end": location.end || ended,
            })
        });
        let processes: Vec<Value> = processes.collect();
        Ok(json!({ "row": row, "leaves": leaves, "processes": processes }))
    }

    fn next(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let machine = &mut work.machine;
        let at = Session::at(&course, body);
        if at == course.len() && matches!(course.ending, Ending::Violation(_) | Ending::Lost(_)) {
            return Ok(json!({ "choices": [], "waiting": [], "over": true }));
        }
        let (state, names) = course.state(machine, at);
        let ways = possible(machine, &state);
        let taken = course.moves.get(at).copied();
        let set_by = course.set_by(course.first_row[at] as usize);
        let mut enabled: Vec<(u32, u32)> = Vec::new();
        let mut choices = Vec::new();
        for Possible { way, record } in &ways {
            let steps = record.steps();
            enabled.extend(steps.first().map(|s| (s.thread, s.transformation)));
            enabled.extend(steps.first().and_then(|s| Some((s.partner?, u32::MAX))));
            let statements = steps.iter().map(|s| {
                let text = machine.transformation(s.transformation).map_or("", |(_, _, t)| &t.text);
                let (file, line) = self.place(machine, s.transformation);
                json!({ "text": text, "file": file, "line": line, "pid": s.thread })
            });
            let statements: Vec<Value> = statements.collect();
            let step = Position { moves: vec![*way], checksum: None }.to_string();
            choices.push(json!({
                "move": step.strip_prefix("q1:"),
                "pid": way.thread,
                "process": machine.thread_name(&state, way.thread, &names),
                "statements": statements,
                "violation": record.violation.map(|code| machine.violation(code).message),
                "taken": taken == Some(*way),
            }));
        }
        let look = Look::new(machine, &state, &names);
        let waiting = machine.threads(&state).into_iter().filter_map(|thread| {
            let function = &machine.program().functions[thread.function as usize];
            let location = &function.locations[thread.location as usize];
            let first = self.first_transformation(machine, thread.function, thread.location);
            if enabled.iter().any(|(id, t)| *id == thread.id && *t != u32::MAX) {
                return None;
            }
            let takes_part = enabled.contains(&(thread.id, u32::MAX));
            let ended =
                location.transformations.first().is_some_and(|t| matches!(t.operation, Operation::Exit));
            let statements = location.transformations.iter().enumerate().map(|(index, t)| {
                let why = reason(&look, thread.id, function, location, t);
                let name = |id: u32| machine.thread_name(&state, id, &names);
                let reads = match &why {
                    Reason::False { reads, .. } => reads
                        .iter()
                        .map(|r| {
                            let mut shown = show::read(r);
                            let set = set_by.get(r.full.as_str()).map(|row| {
                                let row = &course.rows[*row as usize];
                                json!({ "step": row.step, "pid": row.thread })
                            });
                            shown["set"] = json!(set);
                            shown
                        })
                        .collect(),
                    _ => Vec::new(),
                };
                let holder = match &why {
                    Reason::Held { holder, .. } => Some(*holder),
                    _ => None,
                };
                let (file, line) = self.place(machine, first + index as u32);
                json!({
                    "text": if t.text == "-end-" { "ends" } else { t.text.as_str() },
                    "file": file, "line": line,
                    "why": why.sentence(&name), "reads": reads, "holder": holder,
                })
            });
            Some(json!({
                "pid": thread.id,
                "process": machine.thread_name(&state, thread.id, &names),
                "ended": ended,
                "takes_part": takes_part,
                "valid_end": location.end,
                "statements": statements.collect::<Vec<_>>(),
            }))
        });
        let waiting: Vec<Value> = waiting.collect();
        Ok(json!({ "choices": choices, "waiting": waiting, "over": false }))
    }

    /// The number of a location's first transformation.
    fn first_transformation(&self, machine: &Machine, function: u32, location: u32) -> u32 {
        let functions = &machine.program().functions;
        let count = |f: &quotient_program::Function| {
            f.locations.iter().map(|l| l.transformations.len()).sum::<usize>()
        };
        let before: usize = functions[..function as usize].iter().map(count).sum();
        let own = &functions[function as usize].locations[..location as usize];
        (before + own.iter().map(|l| l.transformations.len()).sum::<usize>()) as u32
    }

    /// Where a value comes from: the statement that wrote it, and what that statement read, some levels deep.
    fn because(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let full = body["full"].as_str().ok_or("a question about a value needs its name, `full`")?;
        let row = body["row"].as_u64().map_or(course.rows.len(), |row| row as usize).min(course.rows.len());
        Ok(self.origin(&mut work.machine, &course, full, row, 3))
    }

    fn origin(&self, machine: &mut Machine, course: &Course, full: &str, row: usize, levels: u32) -> Value {
        let set = course.set_by(row).get(full).copied();
        let Some(set) = set else { return json!({ "full": full, "set": null }) };
        let step = course.rows[set as usize].step as usize;
        let mut found = None;
        let mut index = course.first_row[step - 1];
        course.explain(machine, step - 1, step, |machine, statement, effect, _| {
            if index == set {
                let text = machine.transformation(statement.transformation).map(|(_, _, t)| t.text.clone());
                found = Some((statement.thread, text.unwrap_or_default(), effect));
            }
            index += 1;
        });
        let Some((pid, text, effect)) = found else { return json!({ "full": full, "set": null }) };
        let sent_by = course.rows[set as usize].sent_by;
        let mut inputs: Vec<Value> = Vec::new();
        if levels > 1 {
            for read in &effect.reads {
                let mut input = self.origin(machine, course, &read.full, set as usize, levels - 1);
                input["name"] = json!(read.name);
                input["value"] = read.value.json();
                inputs.push(input);
            }
        }
        let write = effect.writes.iter().find(|w| w.full == full);
        json!({
            "full": full,
            "set": { "row": set, "step": step, "pid": pid, "text": text },
            "write": write.map(show::write),
            "sent_by": sent_by.map(|row| {
                let sender = &course.rows[row as usize];
                json!({ "row": row, "step": sender.step, "pid": sender.thread })
            }),
            "inputs": inputs,
        })
    }
}

/// The parts of a headline about a failed assertion: text, code, values.
fn headline(process: &str, failed: &quotient_explain::Failed) -> Vec<Value> {
    let mut parts = vec![json!({ "text": format!("{process} asserts ") }), json!({ "code": failed.text })];
    for (index, read) in failed.reads.iter().enumerate() {
        let before = match index {
            0 => ", but ",
            _ if index + 1 == failed.reads.len() => " and ",
            _ => ", ",
        };
        parts.push(json!({ "text": before }));
        parts.push(json!({ "code": read.name }));
        parts.push(json!({ "text": " is " }));
        parts.push(json!({ "value": read.value.to_string(), "full": read.full }));
    }
    parts
}

impl Answers for Session {
    fn answer(&self, question: &str, body: &Value) -> Result<Value, String> {
        match question {
            "info" => return Ok(self.info()),
            "progress" => return Ok(self.checking.progress()),
            "check" => {
                self.check();
                return Ok(self.checking.progress());
            }
            "stop" => {
                self.end();
                return Ok(self.checking.progress());
            }
            _ => {}
        }
        let work = &mut *lock(&self.work);
        match question {
            "run" => self.run(work, body),
            "steps" => self.steps(work, body),
            "state" => self.state(work, body),
            "next" => self.next(work, body),
            "because" => self.because(work, body),
            _ => Err(format!("there is no question `{question}`")),
        }
    }
}
