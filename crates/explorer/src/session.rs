//! A model that is explored, and the questions about it.
//!
//! Every question names a position: the steps from the start. The run that leads there is followed once and kept for the next questions
//! (a few runs; the oldest goes first); a question about a longer run goes on from a shorter one that is kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quotient_engine::{LoadError, Model, Outcome, PropertyKeyword};
use quotient_explain::{Course, Ending, Look, Position, possible};
use quotient_machine::{Machine, ObjectNames};
use quotient_program::{Action, Expr, Operation};
use quotient_seams::{Interrupt, System};
use serde_json::{Value, json};

use crate::around::{self, Bad};
use crate::checking::Checking;
use crate::class::{self, Classes};
use crate::reductions::Chosen;
use crate::server::Answers;
use crate::unread::Unread;
use crate::{edits, heap, show};

/// Runs that are kept.
const KEPT: usize = 6;

/// The longest time that one question is worked on.
pub(crate) const LONGEST: Duration = Duration::from_secs(2);

/// The time that a run is followed before its beginning is shown.
const AT_ONCE: Duration = Duration::from_millis(600);

/// Rows up to which the history of every value is sent with a run.
pub(crate) const WHOLE_HISTORY: usize = 5_000;

/// Statements that are sent at most in one answer.
pub(crate) const MOST_STEPS: usize = 1_024;

/// Reads the model again, with properties given apart from it.
pub type Loader = Box<dyn Fn(&[(PropertyKeyword, String)]) -> Result<Model, LoadError> + Send + Sync>;

/// A model that is explored.
pub struct Session {
    /// What the page is about: a model or a trace.
    file: String,
    /// The model's file, and how it is read.
    pub(crate) model_file: String,
    defines: Vec<(String, String)>,
    pub(crate) loader: Option<Loader>,
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

/// The model as it was read last, and what is known of it.
pub(crate) struct Work {
    pub(crate) model: Arc<Model>,
    pub(crate) checksum: String,
    pub(crate) machine: Machine,
    kept: Vec<Arc<Course>>,
    /// The question that was asked last, as text, and its run: a page asks many about one run, whose text may be long.
    asked: Option<(String, Arc<Course>)>,
    pub(crate) unread: Unread,
    /// Made when first asked for.
    chosen: Option<Chosen>,
    classes: Option<Classes>,
    /// Expressions that are watched.
    pub(crate) watched: HashMap<String, Expr>,
    /// What the model's files were like when it was read.
    pub(crate) stamps: Vec<edits::Stamp>,
}

impl Work {
    pub(crate) fn new(model: Arc<Model>) -> Result<Work, quotient_engine::CheckError> {
        let machine = model.as_written()?;
        let checksum = edits::checksum(&model);
        let (unread, stamps) = (Unread::new(&model), edits::stamps(&model));
        let (kept, chosen, classes, watched) = (Vec::new(), None, None, HashMap::new());
        let asked = None;
        Ok(Work { model, checksum, machine, kept, asked, unread, chosen, classes, watched, stamps })
    }

    pub(crate) fn short_checksum(&self) -> &str {
        &self.checksum[..8]
    }

    /// Ample sets, with the machine that they are asked for.
    pub(crate) fn chosen(&mut self) -> (&mut Chosen, &mut Machine) {
        let machine = &mut self.machine;
        (self.chosen.get_or_insert_with(|| Chosen::new(machine)), machine)
    }

    /// Classes of states, with the machine that they are asked for.
    fn classes(&mut self) -> (&mut Classes, &mut Machine) {
        let machine = &mut self.machine;
        (self.classes.get_or_insert_with(|| Classes::new(machine)), machine)
    }

    /// File and line of a transformation.
    pub(crate) fn place(&self, number: u32) -> (u32, u32) {
        place(&self.model, &self.machine, number)
    }
}

/// File and line of a transformation.
pub(crate) fn place(model: &Model, machine: &Machine, number: u32) -> (u32, u32) {
    let Some((_, _, t)) = machine.transformation(number) else { return (0, 0) };
    (model.sources.written(t.span).file.0, model.sources.position(t.span).line)
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
        let work = Mutex::new(Work::new(model)?);
        let (checking, loader, model_file) = (Checking::default(), None, file.clone());
        Ok(Session { file, model_file, defines, loader, opening, checking, work })
    }

    /// Says which file the model is in and how it is read, so that edits are noticed and expressions can be watched.
    pub fn read_by(self, model_file: String, loader: Loader) -> Session {
        Session { model_file, loader: Some(loader), ..self }
    }

    /// Takes over the answer of a check that was made before the page is opened.
    pub fn knows(&self, outcome: &Outcome, seconds: f64) {
        let model = lock(&self.work).model.clone();
        self.checking.knows(&model, outcome, seconds);
    }

    /// Checks the model beside the page, with the usual options.
    pub fn check(&self) {
        let model = lock(&self.work).model.clone();
        // The usual options are in order.
        let _ = self.checking.start(&model, &Value::Null);
    }

    /// Stops what runs beside the page.
    pub fn end(&self) {
        self.checking.stop();
    }

    fn info(&self, work: &Work) -> Value {
        let sources = &work.model.sources;
        let functions = &work.model.program.functions;
        let actions = functions.iter().flat_map(|f| &f.locations).flat_map(|l| &l.transformations);
        let has_objects = actions.flat_map(|t| &t.actions).any(|a| matches!(a, Action::New { .. }));
        let files = sources.files().map(|f| json!({ "name": sources.name(f), "text": sources.text(f) }));
        json!({
            "file": self.file,
            "model": self.model_file,
            "has_objects": has_objects,
            "defines": self.defines.iter().map(|(n, v)| json!([n, v])).collect::<Vec<_>>(),
            "checksum": work.short_checksum(),
            "sources": files.collect::<Vec<_>>(),
            "opening": {
                "position": self.opening.position.to_string(),
                "cycle": self.opening.cycle,
                "step": self.opening.step,
                "message": self.opening.message,
            },
        })
    }

    /// The run of a question.
    pub(crate) fn course(&self, work: &mut Work, body: &Value) -> Result<Arc<Course>, String> {
        let text = body["path"].as_str().ok_or("a question needs a `path`")?;
        if let Some((known, course)) = &work.asked
            && known == text
        {
            return Ok(course.clone());
        }
        let position: Position = text.parse().map_err(|e: quotient_explain::PositionError| e.to_string())?;
        let course = self.followed(work, &position)?;
        // Of a run that is followed in parts there is more to come.
        if !matches!(course.ending, Ending::Interrupted(_)) {
            work.asked = Some((text.to_owned(), course.clone()));
        }
        Ok(course)
    }

    /// The run of a position: one that is kept, or followed now.
    fn followed(&self, work: &mut Work, position: &Position) -> Result<Arc<Course>, String> {
        if let Some(at) = work.kept.iter().position(|c| c.moves == position.moves) {
            let mut found = work.kept.remove(at);
            if matches!(found.ending, Ending::Interrupted(_)) {
                // Of a longer run it was the beginning; of this one it is all.
                found = Arc::new(open_again(&found));
            }
            work.kept.push(found.clone());
            return Ok(found);
        }
        // A long run is followed in parts: the page shows the first and asks again.
        let part = Interrupt::within(None, Some(AT_ONCE));
        let begins = |c: &&Arc<Course>| {
            matches!(c.ending, Ending::Open | Ending::Interrupted(_)) && position.moves.starts_with(&c.moves)
        };
        let longest = work.kept.iter().filter(begins).max_by_key(|c| c.len());
        let mut course = match longest {
            Some(known) => open_again(known),
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

    pub(crate) fn at(course: &Course, body: &Value) -> usize {
        body["at"].as_u64().map_or(course.len(), |at| (at as usize).min(course.len()))
    }

    fn run(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let places: Vec<(u32, u32)> = {
            let locations = work.machine.program().readers().flat_map(|f| &f.locations);
            let count = locations.map(|l| l.transformations.len()).sum::<usize>();
            (0..count as u32).map(|number| work.place(number)).collect()
        };
        let checksum = Some(work.short_checksum().to_owned());
        let model = work.model.clone();
        let machine = &mut work.machine;
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
        for (id, name) in &course.called {
            if !names.iter().any(|(known, _)| known == id) {
                names.push((*id, name.clone()));
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
        let moves = Position { moves: course.moves.clone(), checksum };
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
                "statement": rows.iter().map(|r| r.transformation).collect::<Vec<_>>(),
                "line": rows.iter().map(|r| place(r.transformation).1).collect::<Vec<_>>(),
            },
            "processes": names.iter().map(|(pid, name)| json!({ "pid": pid, "name": name })).collect::<Vec<_>>(),
            "history": history,
            "locks": course.held.iter().map(|h| json!({
                "object": h.object, "pid": h.thread, "from": h.from, "to": h.to,
            })).collect::<Vec<_>>(),
            "ending": ending(&model, machine, &course),
        }))
    }

    fn steps(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let (model, machine) = (work.model.clone(), &mut work.machine);
        let from = (body["from"].as_u64().unwrap_or(0) as usize).min(course.len());
        let to = body["to"].as_u64().map_or(course.len(), |to| to as usize);
        let to = to.clamp(from, course.len()).min(from + MOST_STEPS);
        let mut row = course.first_row[from] as usize;
        let sources = &model.sources;
        let mut rows = Vec::new();
        course.explain(machine, from, to, |machine, step, effect, after| {
            let mut shown = effect.json();
            let (text, called) = match machine.transformation(step.transformation) {
                Some((_, _, t)) => {
                    let text = if t.text == "-end-" { "ends" } else { t.text.as_str() };
                    (text, sources.call(t.span).map(|call| sources.file_line(call)))
                }
                None => ("", None),
            };
            let (file, line) = place(&model, machine, step.transformation);
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
    pub(crate) fn place_in(
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
        let model = work.model.clone();
        let machine = &mut work.machine;
        let (state, names, row) = Session::place_in(machine, &course, body);
        let ends_wrong = row == course.rows.len() && matches!(course.ending, Ending::Violation(_));
        let set_by = course.set_by(row);
        let look = Look::new(machine, &state, &names);
        let all = look.leaves();
        let leaves = all.iter().map(|leaf| {
            let mut shown = show::leaf(leaf);
            let set = set_by.get(leaf.full.as_str()).copied();
            shown["set"] =
                json!(set.map(|row| json!({ "row": row, "step": course.rows[row as usize].step })));
            // Where a run goes wrong, what went wrong has read what it did.
            let unread = !ends_wrong && work.unread.is_unread(machine, &state, leaf);
            shown["unread"] = json!(unread);
            shown
        });
        let leaves: Vec<Value> = leaves.collect();
        let processes = machine.threads(&state).into_iter().map(|thread| {
            let function = &machine.program().functions[thread.function as usize];
            let location = &function.locations[thread.location as usize];
            let span = location.span;
            let ended =
                location.transformations.first().is_some_and(|t| matches!(t.operation, Operation::Exit));
            json!({
                "pid": thread.id, "name": machine.thread_name(&state, thread.id, &names),
                "file": model.sources.written(span).file.0, "line": model.sources.position(span).line,
                "ended": ended, "valid_end": location.end || ended,
            })
        });
        let processes: Vec<Value> = processes.collect();
        Ok(json!({ "row": row, "leaves": leaves, "processes": processes }))
    }

    pub(crate) fn symmetry(&self) -> Value {
        self.checking.symmetry()
    }

    fn heap(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let at = Session::at(&course, body);
        let machine = &mut work.machine;
        let leaves = |machine: &mut Machine, at: usize| {
            let (state, names) = course.state(machine, at);
            let leaves = Look::new(machine, &state, &names).leaves();
            (leaves, state, names)
        };
        let before = if at > 0 { leaves(machine, at - 1).0 } else { Vec::new() };
        let (now, state, names) = leaves(machine, at);
        Ok(heap::draw(&now, &before, &|id| machine.thread_name(&state, id, &names)))
    }

    fn graph(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let at = Session::at(&course, body);
        let part = Interrupt::within(None, Some(LONGEST));
        work.chosen();
        work.classes();
        let Work { machine, chosen: Some(chosen), classes: Some(classes), .. } = work else {
            return Err("there is no graph".into());
        };
        let mut graph = around::graph(machine, &course, at, (chosen, classes), &part);
        graph["reduced"] = json!(self.checking.states());
        Ok(graph)
    }

    /// The states of the class of a place.
    fn class(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let at = Session::at(&course, body);
        let part = Interrupt::within(None, Some(LONGEST));
        let (classes, machine) = work.classes();
        Ok(class::tell(machine, &course, at, classes, &part))
    }

    /// Who could always move in a cycle and never does.
    fn starved(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let cycle = body["cycle"].as_u64().unwrap_or(0) as usize;
        let machine = &mut work.machine;
        let found = class::starved(machine, &course, cycle);
        let (state, names) = course.state(machine, course.len());
        let named = |pid: &u32| json!({ "pid": pid, "name": machine.thread_name(&state, *pid, &names) });
        Ok(json!({ "starved": found.map(|all| all.iter().map(named).collect::<Vec<_>>()) }))
    }

    /// Goes on at random.
    fn walk(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let at = Session::at(&course, body);
        let machine = &mut work.machine;
        let mut walked = Course::start(machine).ok_or("the model has no initial state")?;
        walked.go_on(machine, &course.moves[..at], &Interrupt::within(None, Some(LONGEST)));
        let steps = body["steps"].as_u64().unwrap_or(100).min(1_000) as usize;
        around::walk(machine, &mut walked, steps, body["seed"].as_u64().unwrap_or(1));
        Ok(json!({ "path": Position { moves: walked.moves, checksum: None }.to_string() }))
    }

    /// The nearest run that does not end as this one does.
    fn passing(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let machine = &mut work.machine;
        let bad = match course.ending {
            Ending::Violation(code) => Bad::Violation(code),
            _ => Bad::Deadlock,
        };
        let part = Interrupt::within(None, Some(Duration::from_secs(1)));
        let Some((step, way)) = around::passing(machine, &course, bad, &part) else {
            return Ok(json!({ "path": null, "step": null }));
        };
        let mut moves = course.moves[..step - 1].to_vec();
        moves.push(way);
        let mut passes = Course::start(machine).ok_or("the model has no initial state")?;
        passes.go_on(machine, &moves, &Interrupt::within(None, Some(LONGEST)));
        // It goes on for as long as the other does, to be compared with it.
        around::walk(machine, &mut passes, course.len().saturating_sub(step).min(60), 1);
        let path = Position { moves: passes.moves, checksum: None }.to_string();
        Ok(json!({ "path": path, "step": step }))
    }

    /// The next statement, or the one before, in which a text is found: by process, statement, variable written or line.
    fn find(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let text = body["text"].as_str().ok_or("what is looked for is missing: `text`")?.to_lowercase();
        let from = body["row"].as_i64().unwrap_or(0);
        let line = text.rsplit([':', ' ']).next().and_then(|n| n.parse::<u32>().ok());
        let machine = &work.machine;
        let fits = |row: &usize| {
            let Some(found) = course.rows.get(*row) else { return false };
            let transformation = machine.transformation(found.transformation);
            let statement = transformation.map_or("", |(_, _, t)| t.text.as_str());
            let process = course.called.get(&found.thread).map_or("", String::as_str);
            let mut written = found.writes.iter().map(|(name, _)| &course.written[*name as usize]);
            statement.to_lowercase().contains(&text)
                || process.to_lowercase().contains(&text)
                || written.any(|name| name.to_lowercase().contains(&text))
                || line.is_some_and(|line| work.place(found.transformation).1 == line)
        };
        let row = match body["back"].as_bool() {
            // The statement before the one that the page stands after.
            Some(true) => (0..from.clamp(0, course.rows.len() as i64) as usize).rev().find(fits),
            _ => (from.max(0) as usize..course.rows.len()).find(fits),
        };
        Ok(json!({ "step": row.map(|row| course.rows[row].step) }))
    }
}

/// A run that goes on from where it was interrupted.
fn open_again(course: &Course) -> Course {
    let mut course = course.clone();
    course.ending = Ending::Open;
    course
}

/// How a run ends, in a sentence.
fn ending(model: &Model, machine: &mut Machine, course: &Course) -> Value {
    match course.ending {
        Ending::Lost(step) => json!({
            "kind": "lost", "step": step,
            "headline": format!("The model has no step {step} like the one in this run"),
        }),
        Ending::Interrupted(steps) => json!({
            "kind": "more", "step": steps + 1,
            "headline": format!("The beginning of a long run: {steps} steps so far"),
        }),
        Ending::Violation(code) => {
            let violation = machine.violation(code);
            let at = model.sources.file_line(machine.site(code).span);
            let mut parts = Vec::new();
            let mut failed = None;
            let last = course.len();
            course.explain(machine, last.saturating_sub(1), last, |machine, step, effect, _| {
                if let Some(f) = &effect.failed {
                    let (state, names) = (&step.state, ObjectNames::default());
                    let name = machine.thread_name(state, step.thread, &names);
                    parts = headline(&name, f);
                    failed = Some(f.json());
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
            "info" => return Ok(self.info(&lock(&self.work))),
            "progress" => return Ok(self.checking.progress()),
            "check" => {
                let model = lock(&self.work).model.clone();
                self.checking.start(&model, body)?;
                return Ok(self.checking.progress());
            }
            "draw" => return crate::draw::answer(self, body),
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
            "find" => self.find(work, body),
            "eval" => self.eval(work, body),
            "walk" => self.walk(work, body),
            "passing" => self.passing(work, body),
            "heap" => self.heap(work, body),
            "class" => self.class(work, body),
            "starved" => self.starved(work, body),
            "graph" => self.graph(work, body),
            "reductions" => self.reductions(work, body),
            "changed" => self.changed(work, body),
            "reload" => self.reload(work),
            _ => Err(format!("there is no question `{question}`")),
        }
    }
}
