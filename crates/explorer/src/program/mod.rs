//! A C or C++ program that is explored, by the same page and the same questions as a model.
//!
//! Stepping runs the program again: a schedule is repeated from the start, in a process of its own. That happens only when a question says
//! that somebody asked for it (`"run": true`, a click or a key), never because an address was opened: without it a question about
//! a run that was not executed is answered with `not run`. What a run told is kept, so that going back and forth in it runs nothing.

mod checking;
mod executed;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use quotient_explain::{Move, Position};
use quotient_native::protocol::FailureKind;
use quotient_native::{Binary, Repeated, Request, Token};
use quotient_outcome::{Frame, ProcessState};
use quotient_stateless::{Choice, Schedule};
use serde_json::{Value, json};

use crate::checking::Checking;
use crate::server::Answers;
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
    /// The files that are shown.
    pub sources: Vec<PathBuf>,
    /// Makes the program, when it is first needed.
    pub build: Builder,
    /// How it is run.
    pub request: Request,
    /// The command that repeats a schedule, up to the schedule; and what comes behind it.
    pub again: (String, String),
    /// The command that checks it.
    pub check: String,
    /// The run to open.
    pub token: Token,
    /// The step to stand at; the end if it is missing.
    pub step: Option<usize>,
    /// A run that was executed already.
    pub executed: Option<Repeated>,
}

/// A program that is explored.
pub struct Program {
    settings: Settings,
    sources: Mutex<Vec<Source>>,
    binary: Mutex<Option<Arc<Binary>>>,
    kept: Mutex<Vec<Arc<Executed>>>,
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

fn read(paths: &[PathBuf]) -> Vec<Source> {
    let text = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap_or_default();
        Source { path: path.clone(), text: String::from_utf8_lossy(&bytes).into_owned() }
    };
    paths.iter().map(text).collect()
}

impl Program {
    /// A session about a program. Nothing is compiled or run yet.
    pub fn new(mut settings: Settings) -> Program {
        let executed = settings.executed.take().map(|repeated| Arc::new(Executed::new(repeated)));
        Program {
            sources: Mutex::new(read(&settings.sources)),
            binary: Mutex::new(None),
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
        let choices = &self.settings.token.schedule.choices;
        let moves: Vec<Move> =
            choices.iter().map(|c| Move { thread: c.thread.into(), way: c.alternative.into() }).collect();
        Ok(path(&self.execute(&moves)?.moves))
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
        let same = |e: &Executed| {
            e.len() == moves.len() && e.moves.iter().zip(moves).all(|(a, b)| *a == (b.thread, b.way))
        };
        lock(&self.kept).iter().rev().find(|e| same(e)).cloned()
    }

    /// Runs the program.
    fn execute(&self, moves: &[Move]) -> Result<Arc<Executed>, String> {
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
    fn course(&self, body: &Value) -> Result<Option<Arc<Executed>>, String> {
        let text = body["path"].as_str().ok_or("a question needs a `path`")?;
        let text = text.split(';').next().unwrap_or(text);
        let position: Position = text.parse().map_err(|e: quotient_explain::PositionError| e.to_string())?;
        if let Some(known) = self.known(&position.moves) {
            return Ok(Some(known));
        }
        if body["run"].as_bool() == Some(true) { self.execute(&position.moves).map(Some) } else { Ok(None) }
    }

    fn needed(&self, body: &Value) -> Result<Arc<Executed>, String> {
        self.course(body)?.ok_or_else(|| "the program has not been run to this place".to_owned())
    }

    fn at(run: &Executed, body: &Value) -> usize {
        body["at"].as_u64().map_or(run.len(), |at| (at as usize).min(run.len()))
    }

    /// File and line as the page counts them; files that are not shown have none.
    fn place(&self, stack: &[Frame]) -> (u32, u32) {
        let sources = lock(&self.sources);
        let found = stack.iter().find_map(|frame| {
            let is = |s: &Source| s.path.file_name().is_some_and(|name| *name == *frame.file);
            Some((sources.iter().position(is)? as u32, frame.line))
        });
        found.unwrap_or((0, 0))
    }

    fn info(&self) -> Value {
        let settings = &self.settings;
        let sources = lock(&self.sources);
        let files = sources.iter().map(|s| json!({ "name": s.path.display().to_string(), "text": s.text }));
        let opened = lock(&self.kept).first().map(|e| path(&e.moves));
        let cells = lock(&self.manner).to_string();
        json!({
            "file": settings.file, "model": settings.file, "has_objects": false,
            "defines": settings.defines.iter().map(|(n, v)| json!([n, v])).collect::<Vec<_>>(),
            "checksum": "",
            "sources": files.collect::<Vec<_>>(),
            "program": {
                "again": settings.again.0, "behind": settings.again.1, "check": settings.check,
                "cells": cells.strip_prefix("q1:"), "runs": self.runs.load(Ordering::Relaxed),
            },
            "opening": {
                "position": opened.unwrap_or_else(|| {
                    let moves: Vec<_> = settings.token.schedule.choices.iter().map(|c| (c.thread.into(), c.alternative.into())).collect();
                    path(&moves)
                }),
                "cycle": 0, "step": settings.step, "message": null,
            },
        })
    }

    fn run(&self, body: &Value) -> Result<Value, String> {
        let Some(run) = self.course(body)? else { return Ok(not_run(body)) };
        let places: Vec<(u32, u32)> = run.rows.iter().map(|row| self.place(&row.stack)).collect();
        let mut history: std::collections::BTreeMap<&str, Vec<Value>> = Default::default();
        for (index, row) in run.rows.iter().enumerate() {
            for write in &row.effect.writes {
                let changed = write.before != write.after;
                history.entry(&write.full).or_default().push(json!([index, changed]));
            }
        }
        let none = vec![Value::Null; run.rows.len()];
        Ok(json!({
            "path": path(&run.moves),
            "length": run.len(),
            "rows": {
                "step": run.rows.iter().map(|r| r.step).collect::<Vec<_>>(),
                "pid": run.rows.iter().map(|r| r.thread).collect::<Vec<_>>(),
                "kind": run.rows.iter().map(|r| r.kind).collect::<Vec<_>>(),
                "partner": run.rows.iter().map(executed::Row::starts).collect::<Vec<_>>(), "sent_by": none,
                "reads_from": run.rows.iter().map(|r| r.reads_from).collect::<Vec<_>>(),
                "file": places.iter().map(|p| p.0).collect::<Vec<_>>(),
                "line": places.iter().map(|p| p.1).collect::<Vec<_>>(),
                // Statements are the same if they are at the same place.
                "statement": places.iter().map(|p| p.1).collect::<Vec<_>>(),
            },
            "processes": run.repeated.trace.processes.iter().map(|p| json!({ "pid": p.pid, "name": name(p) })).collect::<Vec<_>>(),
            "history": history,
            "locks": run.held.iter().map(|h| json!({
                "object": h.object, "pid": h.thread, "from": h.from, "to": h.to,
            })).collect::<Vec<_>>(),
            "ending": ending(&run),
        }))
    }

    fn steps(&self, body: &Value) -> Result<Value, String> {
        let run = self.needed(body)?;
        let from = (body["from"].as_u64().unwrap_or(0) as usize).min(run.len());
        let to = body["to"].as_u64().map_or(run.len(), |to| to as usize).clamp(from, run.len());
        let to = to.min(from + crate::session::MOST_STEPS);
        let rows = (run.first_row[from]..run.first_row[to]).map(|index| {
            let row = &run.rows[index];
            let (file, line) = self.place(&row.stack);
            let mut shown = row.effect.json();
            shown["row"] = json!(index);
            shown["step"] = json!(row.step);
            shown["pid"] = json!(row.thread);
            shown["process"] = json!(thread_name(&run, row.thread));
            shown["text"] = json!(row.text);
            shown["file"] = json!(file);
            shown["line"] = json!(line);
            shown["called_at"] = Value::Null;
            shown["output"] = json!("");
            shown["stack"] = quotient_outcome::json::frames(&row.stack);
            shown
        });
        let rows: Vec<Value> = rows.collect();
        Ok(json!({ "from": from, "to": to, "rows": rows }))
    }

    fn state(&self, body: &Value) -> Result<Value, String> {
        let Some(run) = self.course(body)? else {
            return Ok(json!({ "row": 0, "leaves": [], "processes": [] }));
        };
        let at = Program::at(&run, body);
        let rows = run.first_row[at];
        let set = |row: usize| json!({ "row": row, "step": run.rows[row].step });
        let memory = run.memory(rows).into_iter().map(|(name, known)| {
            json!({
                "group": { "kind": "global" }, "variable": name, "name": name, "full": name,
                "value": known.value.json(), "set": known.set.map(set), "unread": false,
            })
        });
        let mut leaves: Vec<Value> = memory.collect();
        for (object, (holder, row)) in run.locks(rows) {
            let value = quotient_outcome::Value::Lock(holder.map(|h| (thread_name(&run, h), h)), 1);
            leaves.push(json!({
                "group": { "kind": "lock" }, "variable": object, "name": object, "full": object,
                "value": value.json(), "set": set(row), "unread": false,
            }));
        }
        let processes = run.threads(at).into_iter().map(|thread| {
            let stack = run.stack(at, thread);
            let (file, line) = self.place(stack);
            let ended = run.has_ended(at, thread);
            json!({
                "pid": thread.pid, "name": name(thread), "file": file, "line": if ended { 0 } else { line },
                "ended": ended, "valid_end": ended, "stack": quotient_outcome::json::frames(stack),
            })
        });
        let processes: Vec<Value> = processes.collect();
        Ok(json!({ "row": rows, "leaves": leaves, "processes": processes }))
    }

    fn next(&self, body: &Value) -> Result<Value, String> {
        let Some(run) = self.course(body)? else {
            return Ok(json!({ "choices": [], "waiting": [], "over": false, "known": false }));
        };
        let at = Program::at(&run, body);
        let moves: Vec<Move> = run.moves.iter().map(|m| Move { thread: m.0, way: m.1 }).collect();
        let prefix = &moves[..at];
        // Who can go on is told at the end of a run only: the beginning of this one is a run, too.
        let shorter = if at == run.len() { Some(run.clone()) } else { self.known(prefix) };
        let shorter = match shorter {
            Some(known) => Some(known),
            None if body["run"].as_bool() == Some(true) => Some(self.execute(prefix)?),
            None => None,
        };
        let taken = run.moves.get(at).copied();
        let Some(here) = shorter.filter(|here| here.len() >= at) else {
            return Ok(json!({ "choices": [], "waiting": [], "over": false, "known": false }));
        };
        let over = at == run.len() && run.goes_wrong();
        let mut choices = Vec::new();
        let mut waiting = Vec::new();
        for thread in &here.repeated.trace.processes {
            let (file, line) = self.place(&thread.stack);
            let text = thread.waits_for.first().map_or("", String::as_str);
            let event =
                thread.next.as_ref().and_then(|e| e.events.first()).map(quotient_outcome::Event::json);
            if thread.can_go_on && !over {
                for way in 0..thread.ways.max(1) {
                    let step = Position { moves: vec![Move { thread: thread.pid, way }], checksum: None };
                    let step = step.to_string();
                    choices.push(json!({
                        "move": step.strip_prefix("q1:"), "pid": thread.pid, "process": name(thread),
                        "statements": [{ "text": text, "file": file, "line": line, "pid": thread.pid }],
                        "violation": null, "taken": taken == Some((thread.pid, way)), "explored": null,
                    }));
                }
                continue;
            }
            // Where a run goes wrong, it was cut short: only who has what somebody waits for is certain.
            if over && thread.owner.is_none() {
                continue;
            }
            let object = event.as_ref().and_then(|e| e["object"].as_str()).unwrap_or_default();
            let since = here.held.iter().rev().find(|h| h.object == object && h.to.is_none());
            let joins = event.as_ref().and_then(|e| e["threads"][0].as_u64()).map(|t| t as u32);
            let holder = thread.owner.or_else(|| joins.filter(|_| !thread.finished));
            let why = match (thread.owner, joins) {
                (Some(owner), _) => format!("{object} is held by {}", thread_name(&here, owner)),
                (None, Some(other)) => format!("{} has not ended", thread_name(&here, other)),
                (None, None) => format!("waits to {text}"),
            };
            waiting.push(json!({
                "pid": thread.pid, "process": name(thread), "ended": thread.finished, "takes_part": false,
                "valid_end": thread.finished,
                "statements": [{
                    "text": text, "file": file, "line": line, "why": why, "reads": [], "holder": holder,
                    "object": object, "since": since.map(|h| here.rows[h.from].step),
                }],
            }));
        }
        Ok(json!({ "choices": choices, "waiting": waiting, "over": over, "known": true }))
    }

    fn because(&self, body: &Value) -> Result<Value, String> {
        let run = self.needed(body)?;
        let full = body["full"].as_str().ok_or("a question about a value needs its name, `full`")?;
        let rows = body["row"].as_u64().map_or(run.rows.len(), |row| row as usize).min(run.rows.len());
        let found = run.rows[..rows].iter().enumerate().rev().find_map(|(index, row)| {
            let write = row.effect.writes.iter().find(|w| w.full == full);
            let takes = run.held.iter().any(|h| h.object == full && (h.from == index || h.to == Some(index)));
            (write.is_some() || takes).then_some((index, row, write))
        });
        let Some((index, row, write)) = found else { return Ok(json!({ "full": full, "set": null })) };
        Ok(json!({
            "full": full,
            "set": { "row": index, "step": row.step, "pid": row.thread, "text": row.text },
            "write": write.map(quotient_outcome::Write::json), "sent_by": null, "inputs": [],
        }))
    }

    fn find(&self, body: &Value) -> Result<Value, String> {
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
        Ok(json!({ "step": row.map(|row| run.rows[row].step) }))
    }

    /// Goes on at random for as long as a question may take: each step runs the program once more.
    fn walk(&self, body: &Value) -> Result<Value, String> {
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
        Ok(json!({ "path": path(&pairs) }))
    }

    /// Have the sources been edited? Whether a run still works is known when the program was run again.
    fn changed(&self) -> Value {
        let changed = read(&self.settings.sources) != *lock(&self.sources);
        json!({ "changed": changed, "works": !changed, "step": null, "wrong": null })
    }

    /// Takes over the program as it is now.
    fn reload(&self) -> Result<Value, String> {
        let built = (self.settings.build)()?;
        *lock(&self.binary) = Some(Arc::new(built));
        *lock(&self.sources) = read(&self.settings.sources);
        lock(&self.kept).clear();
        Ok(json!({ "checksum": "" }))
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

/// The answer about a run that nobody asked to be executed.
fn not_run(body: &Value) -> Value {
    json!({
        "path": body["path"], "length": 0,
        "rows": {
            "step": [], "pid": [], "kind": [], "partner": [], "sent_by": [], "reads_from": [], "file": [], "line": [], "statement": [],
        },
        "processes": [], "history": {}, "locks": [],
        "ending": { "kind": "not run" },
    })
}

/// How a run ends, in a sentence.
fn ending(run: &Executed) -> Value {
    let repeated = &run.repeated;
    let trace = &repeated.trace;
    if repeated.lost {
        return json!({
            "kind": "lost", "step": run.len() + 1,
            "headline": format!("The program has no step {} like the one in this run", run.len() + 1),
        });
    }
    match repeated.failure.kind {
        FailureKind::None if trace.processes.iter().any(|p| p.can_go_on) => json!({ "kind": "open" }),
        FailureKind::None => json!({ "kind": "end", "headline": "The program has come to its end" }),
        FailureKind::Deadlock => json!({ "kind": "deadlock", "headline": "Nobody can go on" }),
        kind => {
            let code = |text: &str| json!({ "code": text });
            let said = |text: String| json!({ "text": text });
            let parts = match (kind, &trace.accesses[..]) {
                (FailureKind::Race, [later, earlier]) => {
                    let verb = |writes: bool| if writes { " writes " } else { " reads " };
                    vec![
                        said(format!("{}{}", thread_name(run, earlier.thread), verb(earlier.writes))),
                        code(&earlier.object),
                        said(format!(" while {}{}", thread_name(run, later.thread), verb(later.writes))),
                        said("it: nothing orders the two".into()),
                    ]
                }
                (_, [here, ..]) if !repeated.failure.text.is_empty() => {
                    vec![
                        said(format!("{}: {}: ", thread_name(run, here.thread), kind.text())),
                        code(&repeated.failure.text),
                    ]
                }
                _ => vec![said(repeated.message())],
            };
            json!({
                "kind": "violation", "violation": kind.text(), "message": repeated.message(),
                "at": trace.violation_at, "parts": parts, "failed": null, "what": kind.text(),
                "accesses": trace.accesses.iter().rev().map(|a| json!({
                    "pid": a.thread, "process": thread_name(run, a.thread), "access": a.access,
                    "stack": quotient_outcome::json::frames(&a.stack),
                })).collect::<Vec<_>>(),
            })
        }
    }
}

impl Answers for Program {
    fn answer(&self, question: &str, body: &Value) -> Result<Value, String> {
        match question {
            "info" => Ok(self.info()),
            "progress" => Ok(self.checking.progress()),
            "check" => self.check(body),
            "stop" => {
                self.end();
                Ok(self.checking.progress())
            }
            "run" => self.run(body),
            "steps" => self.steps(body),
            "state" => self.state(body),
            "next" => self.next(body),
            "because" => self.because(body),
            "find" => self.find(body),
            "walk" => self.walk(body),
            "changed" => Ok(self.changed()),
            "reload" => self.reload(),
            "draw" => crate::draw::answer(self, body),
            "passing" => Err("take another step first: this run is then compared with that one".into()),
            "eval" | "heap" | "graph" | "reductions" | "class" | "starved" => {
                Err("this is known of models only, not of C and C++ programs".into())
            }
            _ => Err(format!("there is no question `{question}`")),
        }
    }
}
