//! A C or C++ program that is explored, by the same page and the same questions as a model.
//!
//! Stepping runs the program again: a schedule is repeated from the start, in a process of its own. That happens only when a question says
//! that somebody asked for it (`"run": true`, a click or a key), never because an address was opened: without it a question about
//! a run that was not executed is answered with `not run`. What a run told is kept, so that going back and forth in it runs nothing.

mod checking;
mod executed;
mod passing;
mod told;
mod watch;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use quotient_explain::{Move, Position};
use quotient_native::{Binary, Repeated, Request, Token};
use quotient_outcome::ProcessState;
use quotient_stateless::{Choice, Schedule};
use serde_json::Value;

use crate::api::{self, Told};
use crate::checking::Checking;
use crate::server::{Answers, Refused};
use crate::session::LONGEST;
use executed::Executed;

/// Runs that are kept.
const KEPT: usize = 64;

/// Steps of a random walk.
const WALK: usize = 100;

/// Compiles the program, or takes it as it is.
pub type Builder = Box<dyn Fn() -> Result<Binary, String> + Send + Sync>;

/// How a program is explored.
pub struct Settings {
    /// The program's file.
    pub file: String,
    /// Definitions.
    pub defines: Vec<(String, String)>,
    /// The files that are shown; what they include from beside them is shown as well.
    pub sources: Vec<PathBuf>,
    /// Makes the program, when it is first needed.
    pub build: Builder,
    /// How it is run.
    pub request: Request,
    /// The command that repeats a schedule, up to the schedule; and what comes after it.
    pub again: (String, String),
    /// The command that checks it.
    pub check: String,
    /// The run to open.
    pub token: Token,
    /// The step to stand at; the end if it is missing.
    pub step: Option<usize>,
    /// A run that was executed already.
    pub executed: Option<Repeated>,
    /// A file with a schedule, which can be opened again.
    pub trace: Box<dyn Fn(String) -> String + Send + Sync>,
}

/// A program that is explored.
pub struct Program {
    settings: Settings,
    sources: Mutex<Vec<Source>>,
    binary: Mutex<Option<Arc<Binary>>>,
    kept: Mutex<Vec<Arc<Executed>>>,
    /// The first of those is what the page was opened with.
    has_executed: bool,
    /// How choices are meant: memory whose plain accesses are steps, and the memory model. It has no choices itself.
    manner: Arc<Mutex<Token>>,
    /// How often the program was run for the page.
    runs: AtomicU64,
    checking: Checking,
}

/// A file that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    path: PathBuf,
    text: String,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How the choices of a schedule are meant.
fn manner(token: &Token) -> Token {
    Token { schedule: Schedule::default(), ..token.clone() }
}

/// Files that are shown at most, of those that the sources include.
const MOST_SOURCES: usize = 40;

/// The sources, and what they include by names in quotation marks, found beside the file that does.
fn read(paths: &[PathBuf]) -> Vec<Source> {
    let mut all: Vec<Source> = Vec::new();
    let mut open: VecDeque<PathBuf> = paths.iter().cloned().collect();
    while let Some(path) = open.pop_front() {
        if all.len() >= MOST_SOURCES.max(paths.len()) || all.iter().any(|known| known.path == path) {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let included = text.lines().filter_map(|line| {
            let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
            let (name, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
            Some(path.with_file_name(name)).filter(|file| file.is_file())
        });
        open.extend(included);
        all.push(Source { path, text });
    }
    all
}

impl Program {
    /// A session about a program. Nothing is compiled or run yet.
    pub fn new(mut settings: Settings) -> Program {
        let executed = settings.executed.take().map(|repeated| Arc::new(Executed::new(repeated)));
        Program {
            sources: Mutex::new(read(&settings.sources)),
            binary: Mutex::new(None),
            has_executed: executed.is_some(),
            kept: Mutex::new(executed.into_iter().collect()),
            manner: Arc::new(Mutex::new(manner(&settings.token))),
            runs: AtomicU64::new(0),
            checking: Checking::default(),
            settings,
        }
    }

    /// Stops what runs beside the page.
    pub fn end(&self) {
        self.checking.stop();
    }

    /// Runs the schedule that was opened, for somebody who asked for it; gives it as a path.
    ///
    /// # Errors
    /// If the program cannot be compiled or run.
    pub fn run_opening(&self) -> Result<String, String> {
        let executed = self.execute(&self.opening()).map_err(|refused| refused.to_string())?;
        Ok(path(&executed.moves))
    }

    /// The run that the page was opened with: as it was executed, or as it was asked for.
    fn opening(&self) -> Vec<Move> {
        if let Some(executed) = lock(&self.kept).first().filter(|_| self.has_executed) {
            return executed.moves.iter().map(|m| Move { thread: m.0, way: m.1 }).collect();
        }
        let choices = &self.settings.token.schedule.choices;
        choices.iter().map(|c| Move { thread: c.thread.into(), way: c.alternative.into() }).collect()
    }

    fn binary(&self) -> Result<Arc<Binary>, String> {
        let mut binary = lock(&self.binary);
        if let Some(known) = &*binary {
            return Ok(known.clone());
        }
        let built = Arc::new((self.settings.build)()?);
        *binary = Some(built.clone());
        Ok(built)
    }

    /// The run of these steps, if it was executed.
    fn known(&self, moves: &[Move]) -> Option<Arc<Executed>> {
        // One that was asked for more than the program can do ends otherwise.
        let same = |e: &Executed| {
            !e.repeated.lost
                && e.len() == moves.len()
                && e.moves.iter().zip(moves).all(|(a, b)| *a == (b.thread, b.way))
        };
        lock(&self.kept).iter().rev().find(|e| same(e)).cloned()
    }

    /// Runs the program.
    fn execute(&self, moves: &[Move]) -> Result<Arc<Executed>, Refused> {
        let choice = |m: &Move| {
            let thread = u8::try_from(m.thread).map_err(|_| format!("there is no thread {}", m.thread))?;
            let alternative = u16::try_from(m.way).map_err(|_| format!("there is no way {}", m.way))?;
            Ok::<_, String>(Choice { thread, alternative })
        };
        let choices = moves.iter().map(choice).collect::<Result<_, _>>()?;
        let token = Token { schedule: Schedule { choices }, ..lock(&self.manner).clone() };
        let binary = self.binary()?;
        self.runs.fetch_add(1, Ordering::Relaxed);
        let repeated = quotient_native::replay(&binary, &self.settings.request, &token, false);
        let executed = Arc::new(Executed::new(repeated.map_err(|error| error.to_string())?));
        let mut kept = lock(&self.kept);
        if kept.len() >= KEPT {
            // The first one is what the page was opened with, or the oldest.
            kept.remove(1);
        }
        kept.push(executed.clone());
        Ok(executed)
    }

    /// The run of a question: one that is known, or executed because somebody asked for it.
    fn course(&self, body: &Value) -> Result<Option<Arc<Executed>>, Refused> {
        let text = body["path"].as_str().ok_or("a question needs a `path`")?;
        let text = text.split(';').next().unwrap_or(text);
        let position: Position = match text {
            "~0" => Position { moves: self.opening(), checksum: None },
            _ if text.starts_with('~') => return Err(Refused::Forgotten),
            _ => text.parse().map_err(|e: quotient_explain::PositionError| e.to_string())?,
        };
        if let Some(known) = self.known(&position.moves) {
            return Ok(Some(known));
        }
        if body["run"].as_bool() == Some(true) { self.execute(&position.moves).map(Some) } else { Ok(None) }
    }

    fn needed(&self, body: &Value) -> Result<Arc<Executed>, Refused> {
        self.course(body)?.ok_or_else(|| "the program has not been run to this place".into())
    }

    fn at(run: &Executed, body: &Value) -> usize {
        body["at"].as_u64().map_or(run.len(), |at| (at as usize).min(run.len()))
    }

    fn find(&self, body: &Value) -> Result<api::Found, Refused> {
        let run = self.needed(body)?;
        let text = body["text"].as_str().ok_or("what is looked for is missing: `text`")?.to_lowercase();
        let from = body["row"].as_i64().unwrap_or(0).max(0) as usize;
        let line = text.rsplit([':', ' ']).next().and_then(|n| n.parse::<u32>().ok());
        let fits = |index: &usize| {
            let Some(row) = run.rows.get(*index) else { return false };
            row.text.to_lowercase().contains(&text)
                || thread_name(&run, row.thread).to_lowercase().contains(&text)
                || row.stack.iter().any(|f| f.function.to_lowercase().contains(&text))
                || line.is_some_and(|line| row.stack.first().is_some_and(|f| f.line == line))
        };
        let row = match body["back"].as_bool() {
            Some(true) => (0..from.min(run.rows.len())).rev().find(fits),
            _ => (from..run.rows.len()).find(fits),
        };
        Ok(api::Found { step: row.map(|row| run.rows[row].step) })
    }

    /// Goes on at random for as long as a question may take: each step runs the program once more.
    fn walk(&self, body: &Value) -> Result<api::Walked, Refused> {
        let started = Instant::now();
        let run = self.needed(body)?;
        let mut moves: Vec<Move> = run.moves.iter().map(|m| Move { thread: m.0, way: m.1 }).collect();
        moves.truncate(Program::at(&run, body));
        let mut random = body["seed"].as_u64().unwrap_or(1) | 1;
        for _ in 0..WALK {
            let here = match self.known(&moves) {
                Some(known) => known,
                None => self.execute(&moves)?,
            };
            moves = here.moves.iter().map(|m| Move { thread: m.0, way: m.1 }).collect();
            let able: Vec<&ProcessState> =
                here.repeated.trace.processes.iter().filter(|p| p.can_go_on).collect();
            if able.is_empty() || here.goes_wrong() || started.elapsed() > LONGEST {
                break;
            }
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let chosen = able[(random >> 33) as usize % able.len()];
            moves.push(Move { thread: chosen.pid, way: 0 });
        }
        let pairs: Vec<(u32, u32)> = moves.iter().map(|m| (m.thread, m.way)).collect();
        Ok(api::Walked { path: path(&pairs) })
    }

    /// The run as a file.
    fn trace(&self, body: &Value) -> Result<api::Drawn, Refused> {
        let run = self.needed(body)?;
        let choices = run.repeated.token.schedule.clone();
        let token = Token { schedule: choices, ..lock(&self.manner).clone() };
        Ok(api::Drawn { text: (self.settings.trace)(token.to_string()) })
    }

    /// Have the sources been edited? Whether a run still works is known when the program was run again.
    fn changed(&self) -> api::Changed {
        let changed = read(&self.settings.sources) != *lock(&self.sources);
        api::Changed { changed, works: !changed, step: None, wrong: None }
    }

    /// Takes over the program as it is now.
    fn reload(&self) -> Result<api::Reloaded, Refused> {
        let built = (self.settings.build)()?;
        *lock(&self.binary) = Some(Arc::new(built));
        *lock(&self.sources) = read(&self.settings.sources);
        lock(&self.kept).clear();
        Ok(api::Reloaded { checksum: String::new() })
    }
}

/// A schedule as text.
fn path(moves: &[(u32, u32)]) -> String {
    let moves = moves.iter().map(|m| Move { thread: m.0, way: m.1 }).collect();
    Position { moves, checksum: None }.to_string()
}

/// `T1 first` is called `first`.
fn name(thread: &ProcessState) -> String {
    match thread.process.split_once(' ') {
        Some((_, name)) => name.to_owned(),
        None => thread.process.clone(),
    }
}

fn thread_name(run: &Executed, pid: u32) -> String {
    let found = run.repeated.trace.processes.iter().find(|p| p.pid == pid);
    found.map_or_else(|| format!("T{pid}"), |p| p.process.clone())
}

impl Answers for Program {
    fn answer(&self, question: &str, body: &Value) -> Result<Value, Refused> {
        Ok(match question {
            "info" => self.info().json(),
            "progress" => self.checking.progress().json(),
            "check" => self.check(body)?.json(),
            "stop" => {
                self.end();
                self.checking.progress().json()
            }
            "run" => self.run(body)?.json(),
            "steps" => self.steps(body)?.json(),
            "state" => self.state(body)?.json(),
            "next" => self.next(body)?.json(),
            "place" => api::Place { state: self.state(body)?, next: self.next(body)? }.json(),
            "because" => self.because(body)?.json(),
            "find" => self.find(body)?.json(),
            "walk" => self.walk(body)?.json(),
            "eval" => self.eval(body)?.json(),
            "passing" => self.passing(body)?.json(),
            "changed" => self.changed().json(),
            "reload" => self.reload()?.json(),
            "draw" => crate::draw::answer(self, body)?.json(),
            "trace" => self.trace(body)?.json(),
            "heap" | "graph" | "reductions" | "class" | "starved" | "same" => {
                return Err("this is known of models only, not of C and C++ programs".into());
            }
            _ => return Err(format!("there is no question `{question}`").into()),
        })
    }
}
