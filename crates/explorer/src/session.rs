//! A model that is explored, and the questions about it.
//!
//! Every question names a position: the steps from the start, or a run that is kept ([`crate::runs`]).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quotient_engine::{LoadError, Model, Outcome, PropertyKeyword};
use quotient_explain::{Course, Ending, Look, Position};
use quotient_machine::Machine;
use quotient_program::{Action, Expr};
use quotient_seams::Interrupt;
use quotient_trace::TraceFile;
use serde_json::Value;

use crate::api::{self, Told};
use crate::around::{self, Bad};
use crate::checking::Checking;
use crate::class::{self, Classes};
use crate::reductions::Chosen;
use crate::runs::Runs;
use crate::server::{Answers, Refused};
use crate::unread::Unread;
use crate::{edits, heap, same};

/// The longest time that one question is worked on.
pub(crate) const LONGEST: Duration = Duration::from_secs(2);

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
    /// What a trace file says of the model, for runs that are written to one.
    pub(crate) about: Option<TraceFile>,
    /// Where the page opens.
    pub(crate) opening: Opening,
    pub(crate) checking: Checking,
    work: Mutex<Work>,
    /// The number of the next run; numbers are not given twice, also when the model is read again.
    numbers: AtomicU64,
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
    runs: Runs,
    pub(crate) unread: Unread,
    /// Made when first asked for.
    chosen: Option<Chosen>,
    classes: Option<Classes>,
    /// File and line of each transformation, by number.
    places: Option<Arc<[(u32, u32)]>>,
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
        let (runs, chosen, classes, watched) = (Runs::default(), None, None, HashMap::new());
        let places = None;
        Ok(Work { model, checksum, machine, runs, unread, chosen, classes, places, watched, stamps })
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

    /// File and line of every transformation.
    pub(crate) fn places(&mut self) -> Arc<[(u32, u32)]> {
        let (model, machine) = (&self.model, &self.machine);
        let all = self.places.get_or_insert_with(|| {
            let locations = machine.program().readers().flat_map(|f| &f.locations);
            let count = locations.map(|l| l.transformations.len()).sum::<usize>();
            (0..count as u32).map(|number| place(model, machine, number)).collect()
        });
        all.clone()
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
        let numbers = AtomicU64::new(1);
        let about = None;
        Ok(Session { file, model_file, defines, loader, about, opening, checking, work, numbers })
    }

    /// Says which file the model is in and how it is read, so that edits are noticed and expressions can be watched.
    pub fn read_by(self, model_file: String, loader: Loader) -> Session {
        Session { model_file, loader: Some(loader), ..self }
    }

    /// Says what trace files of this model begin with, so that runs can be written to one.
    pub fn written_as(self, about: TraceFile) -> Session {
        Session { about: Some(about), ..self }
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

    fn info(&self, work: &Work) -> api::Info {
        let sources = &work.model.sources;
        let functions = &work.model.program.functions;
        let actions = functions.iter().flat_map(|f| &f.locations).flat_map(|l| &l.transformations);
        let has_objects = actions.flat_map(|t| &t.actions).any(|a| matches!(a, Action::New { .. }));
        let source = |f| api::Source { name: sources.name(f).to_owned(), text: sources.text(f).to_owned() };
        api::Info {
            file: self.file.clone(),
            model: self.model_file.clone(),
            has_trace: self.about.is_some(),
            has_objects,
            defines: self.defines.clone(),
            checksum: work.short_checksum().to_owned(),
            sources: sources.files().map(source).collect(),
            program: None,
            opening: api::OpeningInfo { step: self.opening.step, message: self.opening.message.clone() },
        }
    }

    /// The run of a question.
    pub(crate) fn course(&self, work: &mut Work, body: &Value) -> Result<Arc<Course>, Refused> {
        Ok(self.numbered(work, body)?.1)
    }

    /// The run of a question, with its number.
    pub(crate) fn numbered(&self, work: &mut Work, body: &Value) -> Result<(u64, Arc<Course>), Refused> {
        let text = body["path"].as_str().ok_or("a question needs a `path`")?;
        let number = || self.numbers.fetch_add(1, Ordering::Relaxed);
        work.runs.asked(&mut work.machine, text, &self.opening.position, number)
    }

    pub(crate) fn at(course: &Course, body: &Value) -> usize {
        body["at"].as_u64().map_or(course.len(), |at| (at as usize).min(course.len()))
    }

    fn heap(&self, work: &mut Work, body: &Value) -> Result<api::Heap, Refused> {
        let course = self.course(work, body)?;
        let at = Session::at(&course, body);
        let machine = &mut work.machine;
        let before = if at > 0 {
            let (state, names) = course.state(machine, at - 1);
            Look::new(machine, &state, &names).leaves()
        } else {
            Vec::new()
        };
        let (state, names) = course.state(machine, at);
        let now = Look::new(machine, &state, &names).leaves();
        let most = if body["all"].as_bool() == Some(true) { heap::ALL } else { heap::MOST };
        Ok(heap::draw(&now, &before, most, &|id| machine.thread_name(&state, id, &names)))
    }

    fn graph(&self, work: &mut Work, body: &Value) -> Result<api::Graph, Refused> {
        let course = self.course(work, body)?;
        let at = Session::at(&course, body);
        let part = Interrupt::within(None, Some(LONGEST));
        work.chosen();
        work.classes();
        let Work { model, machine, chosen: Some(chosen), classes: Some(classes), .. } = work else {
            return Err("there is no graph".into());
        };
        let mut graph = around::graph(machine, &course, at, (chosen, classes, model), &part);
        graph.reduced = self.checking.states();
        Ok(graph)
    }

    /// The states of the class of a place.
    fn class(&self, work: &mut Work, body: &Value) -> Result<api::Class, Refused> {
        let course = self.course(work, body)?;
        let at = Session::at(&course, body);
        let part = Interrupt::within(None, Some(LONGEST));
        let after_reductions = self.checking.symmetry().is_some_and(|found| !found.found.is_empty());
        let (classes, machine) = work.classes();
        Ok(class::tell(machine, &course, at, classes, after_reductions, &part))
    }

    /// The states that a run comes to again.
    fn same(&self, work: &mut Work, body: &Value) -> Result<api::Same, Refused> {
        let course = self.course(work, body)?;
        let part = Interrupt::within(None, Some(LONGEST));
        let (classes, machine) = work.classes();
        Ok(same::tell(machine, &course, classes, &part))
    }

    /// Who could always move in a cycle and never does.
    fn starved(&self, work: &mut Work, body: &Value) -> Result<api::Starved, Refused> {
        let course = self.course(work, body)?;
        let cycle = body["cycle"].as_u64().unwrap_or(0) as usize;
        let machine = &mut work.machine;
        let found = class::starved(machine, &course, cycle);
        let (state, names) = course.state(machine, course.len());
        let named = |pid| api::Process { pid, name: machine.thread_name(&state, pid, &names) };
        Ok(api::Starved { starved: found.map(|all| all.into_iter().map(named).collect()) })
    }

    /// Goes on at random.
    fn walk(&self, work: &mut Work, body: &Value) -> Result<api::Walked, Refused> {
        let course = self.course(work, body)?;
        let at = Session::at(&course, body);
        let machine = &mut work.machine;
        let mut walked = course.branch(machine, at);
        let steps = body["steps"].as_u64().unwrap_or(100).min(1_000) as usize;
        around::walk(machine, &mut walked, steps, body["seed"].as_u64().unwrap_or(1));
        Ok(api::Walked { path: Position { moves: walked.moves, checksum: None }.to_string() })
    }

    /// The nearest run that does not end as this one does.
    fn passing(&self, work: &mut Work, body: &Value) -> Result<api::Passing, Refused> {
        let course = self.course(work, body)?;
        let machine = &mut work.machine;
        let bad = match course.ending {
            Ending::Violation(code) => Bad::Violation(code),
            _ => Bad::Deadlock,
        };
        let part = Interrupt::within(None, Some(Duration::from_secs(1)));
        let Some((step, way)) = around::passing(machine, &course, bad, &part) else {
            let why = Some("No run found that passes (looked 1 s).".to_owned());
            return Ok(api::Passing { path: None, step: None, why });
        };
        let mut passes = course.branch(machine, step - 1);
        passes.go_on(machine, &[way], &Interrupt::new());
        // It goes on for as long as the other does, to be compared with it.
        around::walk(machine, &mut passes, course.len().saturating_sub(step).min(60), 1);
        let path = Position { moves: passes.moves, checksum: None }.to_string();
        Ok(api::Passing { path: Some(path), step: Some(step), why: None })
    }

    /// The next statement, or the one before, in which a text is found: by process, statement, variable written or line.
    fn find(&self, work: &mut Work, body: &Value) -> Result<api::Found, Refused> {
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
            let mut written = course.writes(*row).iter().map(|(name, _)| &course.written[*name as usize]);
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
        Ok(api::Found { step: row.map(|row| course.rows[row].step as usize) })
    }
}

impl Answers for Session {
    fn answer(&self, question: &str, body: &Value) -> Result<Value, Refused> {
        match question {
            "info" => return Ok(self.info(&lock(&self.work)).json()),
            "progress" => return Ok(self.checking.progress().json()),
            "check" => {
                let model = lock(&self.work).model.clone();
                self.checking.start(&model, body)?;
                return Ok(self.checking.progress().json());
            }
            "draw" => return Ok(crate::draw::answer(self, body)?.json()),
            "stop" => {
                self.end();
                return Ok(self.checking.progress().json());
            }
            _ => {}
        }
        let work = &mut *lock(&self.work);
        Ok(match question {
            "run" => self.run(work, body)?.json(),
            "steps" => self.steps(work, body)?.json(),
            "state" => self.state(work, body)?.json(),
            "next" => self.next(work, body)?.json(),
            "place" => api::Place { state: self.state(work, body)?, next: self.next(work, body)? }.json(),
            "because" => self.because(work, body)?.json(),
            "find" => self.find(work, body)?.json(),
            "eval" => self.eval(work, body)?.json(),
            "walk" => self.walk(work, body)?.json(),
            "passing" => self.passing(work, body)?.json(),
            "heap" => self.heap(work, body)?.json(),
            "class" => self.class(work, body)?.json(),
            "same" => self.same(work, body)?.json(),
            "trace" => self.trace(work, body)?.json(),
            "starved" => self.starved(work, body)?.json(),
            "graph" => self.graph(work, body)?.json(),
            "reductions" => self.reductions(work, body)?.json(),
            "changed" => self.changed(work, body)?.json(),
            "reload" => self.reload(work)?.json(),
            _ => return Err(format!("there is no question `{question}`").into()),
        })
    }
}
