//! A run of a program as the page gets it: rows, values, who waits for whom, how it ends.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use quotient_explain::Move;
use quotient_native::protocol::FailureKind;
use quotient_outcome::{Event, Frame, Value as Shown};
use quotient_stateless::graph::MemoryModel;
use serde_json::{Value, json};

use super::executed::{Executed, Row};
use super::{Program, Source, lock, name, path, thread_name};
use crate::api::{self, EndingKind, GroupKind, Part, WhyKind};
use crate::next::written;
use crate::server::Refused;
use crate::stuck;

impl Program {
    /// File and line as the page counts them; files that are not shown have none.
    fn place(&self, stack: &[Frame]) -> (u32, u32) {
        let sources = lock(&self.sources);
        let found = stack.iter().find_map(|frame| {
            let is = |s: &Source| s.path.file_name().is_some_and(|name| *name == *frame.file);
            Some((sources.iter().position(is)? as u32, frame.line))
        });
        found.unwrap_or((0, 0))
    }

    pub(super) fn info(&self) -> api::Info {
        let settings = &self.settings;
        let sources = lock(&self.sources);
        let source = |s: &Source| api::Source { name: s.path.display().to_string(), text: s.text.clone() };
        let manner = lock(&self.manner).clone();
        let memory = MemoryModel::NAMES.iter().find(|(model, ..)| *model == manner.memory);
        api::Info {
            file: settings.file.clone(),
            model: settings.file.clone(),
            has_trace: true,
            has_objects: false,
            defines: settings.defines.clone(),
            checksum: String::new(),
            sources: sources.iter().map(source).collect(),
            program: Some(api::ProgramInfo {
                again: settings.again.0.clone(),
                behind: settings.again.1.clone(),
                check: settings.check.clone(),
                cells: manner.to_string().trim_start_matches("q1:").to_owned(),
                memory: memory.map_or(String::new(), |(_, name, _)| (*name).to_owned()),
                runs: self.runs.load(Ordering::Relaxed),
            }),
            opening: api::OpeningInfo { step: settings.step, message: None },
        }
    }

    pub(super) fn run(&self, body: &Value) -> Result<api::Run, Refused> {
        let Some(run) = self.course(body)? else { return Ok(self.not_run(body)) };
        // Statements are the same if they are at the same place.
        let mut numbers: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut places = Vec::new();
        let mut rows = api::Columns::empty();
        for (index, row) in run.rows.iter().enumerate() {
            let place = self.place(&row.stack);
            let statement = *numbers.entry(place).or_insert_with(|| {
                places.push(place);
                places.len() as u32 - 1
            });
            let begins = index == 0 || run.rows[index - 1].step != row.step;
            rows.push(statement, row.thread, row.kind, begins, link(row));
        }
        let mut history: BTreeMap<String, Vec<(usize, bool)>> = BTreeMap::new();
        for (index, row) in run.rows.iter().enumerate() {
            for write in &row.effect.writes {
                let changed = write.before != write.after;
                history.entry(write.full.clone()).or_default().push((index, changed));
            }
        }
        let mut locks = api::Locks { objects: Vec::new(), held: api::Packed::default() };
        for held in &run.held {
            let known = locks.objects.iter().position(|object| *object == held.object);
            let object = known.unwrap_or_else(|| {
                locks.objects.push(held.object.clone());
                locks.objects.len() - 1
            });
            let to = held.to.map_or(-1, |to| to as i32);
            locks.held.0.extend([object as i32, held.thread as i32, held.from as i32, to]);
        }
        let threads = &run.repeated.trace.processes;
        let mut ending = ending(&run);
        if ending.kind == EndingKind::Deadlock {
            let end = self.next(&json!({ "path": body["path"] }))?;
            ending.parts = stuck::sentence(&end.waiting, &|pid| thread_name(&run, pid));
        }
        Ok(api::Run {
            // A program's runs are short: they are named by their steps.
            id: String::new(),
            path: Some(path(&run.moves)),
            length: run.len(),
            cycle: 0,
            from: 0,
            rows,
            places,
            processes: threads.iter().map(|p| api::Process { pid: p.pid, name: name(p) }).collect(),
            history: Some(history),
            locks,
            ending,
            place: None,
        })
    }

    /// The answer about a run that nobody asked to be executed.
    fn not_run(&self, body: &Value) -> api::Run {
        let asked = match body["path"].as_str() {
            Some("~0") | None => path(&self.opening().iter().map(|m| (m.thread, m.way)).collect::<Vec<_>>()),
            Some(text) => text.to_owned(),
        };
        api::Run {
            id: String::new(),
            path: Some(asked),
            length: 0,
            cycle: 0,
            from: 0,
            rows: api::Columns::empty(),
            places: Vec::new(),
            processes: Vec::new(),
            history: None,
            locks: api::Locks { objects: Vec::new(), held: api::Packed::default() },
            ending: api::Ending::new(EndingKind::NotRun),
            place: None,
        }
    }

    pub(super) fn steps(&self, body: &Value) -> Result<api::Steps, Refused> {
        let run = self.needed(body)?;
        let from = (body["from"].as_u64().unwrap_or(0) as usize).min(run.len());
        let to = body["to"].as_u64().map_or(run.len(), |to| to as usize).clamp(from, run.len());
        let to = to.min(from + crate::session::MOST_STEPS);
        let rows = (run.first_row[from]..run.first_row[to]).map(|index| {
            let row = &run.rows[index];
            let (file, line) = self.place(&row.stack);
            let effect = row.effect.clone();
            api::Statement {
                row: index,
                step: row.step,
                pid: row.thread,
                kind: row.kind,
                link: link(row),
                process: Some(thread_name(&run, row.thread)),
                text: row.text.clone(),
                file,
                line,
                called_at: None,
                output: String::new(),
                reads: effect.reads,
                writes: effect.writes,
                events: effect.events,
                failed: effect.failed,
                stack: row.stack.clone(),
                saw: row.saw.clone(),
            }
        });
        Ok(api::Steps { from, to, rows: rows.collect() })
    }

    pub(super) fn state(&self, body: &Value) -> Result<api::State, Refused> {
        let Some(run) = self.course(body)? else {
            return Ok(api::State { row: 0, leaves: Vec::new(), processes: Vec::new() });
        };
        let at = Program::at(&run, body);
        let rows = run.first_row[at];
        let earlier = run.first_row[at.saturating_sub(1)];
        let leaf = |kind, name: &str, value: Shown, before: Option<Shown>, set: Option<usize>| api::Leaf {
            group: api::Group { kind, pid: None, name: None },
            variable: name.to_owned(),
            name: name.to_owned(),
            full: name.to_owned(),
            before: before.filter(|before| *before != value).map(|before| before.to_string()),
            value,
            set: set.map(|row| api::Setting { row, step: run.rows[row].step }),
            unread: false,
        };
        let before = run.memory(earlier);
        let mut leaves = Vec::new();
        for (name, known) in run.memory(rows) {
            let was = before.get(name).map(|known| known.value.clone());
            leaves.push(leaf(GroupKind::Global, name, known.value, was, known.set));
        }
        let lock = |holder: Option<u32>| Shown::Lock(holder.map(|h| (thread_name(&run, h), h)), 1);
        let before = run.locks(earlier);
        for (object, (holder, row)) in run.locks(rows) {
            // A lock that nobody has used yet is free.
            let was = before.get(object).and_then(|(holder, _)| *holder);
            leaves.push(leaf(GroupKind::Lock, object, lock(holder), Some(lock(was)), Some(row)));
        }
        let processes = run.threads(at).into_iter().map(|thread| {
            let stack = run.stack(at, thread);
            let (file, line) = self.place(stack);
            let ended = run.has_ended(at, thread);
            api::Standing {
                pid: thread.pid,
                name: name(thread),
                file,
                line: if ended { 0 } else { line },
                ended,
                valid_end: ended,
                stack: stack.to_vec(),
            }
        });
        let processes = processes.collect();
        Ok(api::State { row: rows, leaves, processes })
    }

    pub(super) fn next(&self, body: &Value) -> Result<api::Next, Refused> {
        let not_known = api::Next { choices: Vec::new(), waiting: Vec::new(), over: false, known: false };
        let Some(run) = self.course(body)? else { return Ok(not_known) };
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
        let Some(here) = shorter.filter(|here| here.len() >= at) else { return Ok(not_known) };
        let over = at == run.len() && run.goes_wrong();
        let mut choices = Vec::new();
        let mut waiting = Vec::new();
        for thread in &here.repeated.trace.processes {
            let (file, line) = self.place(&thread.stack);
            let text = thread.waits_for.first().map_or("", String::as_str);
            if thread.can_go_on && !over {
                for way in 0..thread.ways.max(1) {
                    let said = api::ChoiceStatement {
                        text: text.to_owned(),
                        file,
                        line,
                        pid: thread.pid,
                        reads: Vec::new(),
                        writes: Vec::new(),
                        events: Vec::new(),
                    };
                    choices.push(api::Choice {
                        r#move: written(Move { thread: thread.pid, way }),
                        pid: thread.pid,
                        process: name(thread),
                        statements: vec![said],
                        violation: None,
                        taken: taken == Some((thread.pid, way)),
                        explored: None,
                    });
                }
                continue;
            }
            // Where a run goes wrong, it was cut short: only who has what somebody waits for is certain. Who has it itself has gone on with it.
            if over && thread.owner.is_none_or(|owner| owner == thread.pid) {
                continue;
            }
            let (object, joins) = match thread.next.as_ref().and_then(|e| e.events.first()) {
                Some(Event::Lock { object, .. } | Event::Atomic { object, .. } | Event::Other(_, object)) => {
                    (object.as_str(), None)
                }
                Some(Event::Join(threads)) => ("", threads.first().copied()),
                _ => ("", None),
            };
            let since = here.held.iter().rev().find(|h| h.object == object && h.to.is_none());
            let holder = thread.owner.or_else(|| joins.filter(|_| !thread.finished));
            let ended = |pid: u32| here.repeated.trace.processes.iter().any(|t| t.pid == pid && t.finished);
            let (kind, why) = match (thread.owner, joins) {
                (Some(owner), _) => {
                    let over = if ended(owner) { ", which has ended" } else { "" };
                    (WhyKind::Missing, format!("{object} is held by {}{over}", thread_name(&here, owner)))
                }
                (None, Some(other)) => {
                    (WhyKind::Missing, format!("{} has not ended", thread_name(&here, other)))
                }
                (None, None) => (WhyKind::Waits, format!("waits to {text}")),
            };
            let statement = api::WaitingFor {
                text: text.to_owned(),
                file,
                line,
                why,
                kind,
                reads: Vec::new(),
                holder,
                object: Some(object.to_owned()),
                since: since.map(|h| here.rows[h.from].step),
            };
            waiting.push(api::Waiting {
                pid: thread.pid,
                process: name(thread),
                ended: thread.finished,
                takes_part: false,
                valid_end: thread.finished,
                statements: vec![statement],
            });
        }
        Ok(api::Next { choices, waiting, over, known: true })
    }

    pub(super) fn because(&self, body: &Value) -> Result<api::Origin, Refused> {
        let run = self.needed(body)?;
        let full = body["full"].as_str().ok_or("a question about a value needs its name, `full`")?;
        let rows = body["row"].as_u64().map_or(run.rows.len(), |row| row as usize).min(run.rows.len());
        let found = run.rows[..rows].iter().enumerate().rev().find_map(|(index, row)| {
            let write = row.effect.writes.iter().find(|w| w.full == full);
            let takes = run.held.iter().any(|h| h.object == full && (h.from == index || h.to == Some(index)));
            (write.is_some() || takes).then_some((index, row, write))
        });
        let set = found.map(|(row, at, _)| {
            let (step, pid, text) = (at.step, at.thread, at.text.clone());
            api::Setter { row, step, pid, text }
        });
        Ok(api::Origin {
            full: full.to_owned(),
            name: None,
            value: None,
            set,
            write: found.and_then(|(_, _, write)| write.cloned()),
            sent_by: None,
            sent: Vec::new(),
            inputs: Vec::new(),
        })
    }
}

/// What a row is linked with: the thread that it starts, or the row whose write it read.
fn link(row: &Row) -> Option<u32> {
    row.starts().or(row.reads_from.map(|row| row as u32))
}

/// How a run ends, in a sentence.
fn ending(run: &Executed) -> api::Ending {
    let repeated = &run.repeated;
    let trace = &repeated.trace;
    let of = api::Ending::new;
    if repeated.lost {
        let step = run.len() + 1;
        return api::Ending {
            step: Some(step),
            headline: Some(format!("The program has no step {step} like the one in this run")),
            ..of(EndingKind::Lost)
        };
    }
    let said = |kind, headline: &str| api::Ending { headline: Some(headline.to_owned()), ..of(kind) };
    match repeated.failure.kind {
        FailureKind::None if trace.processes.iter().any(|p| p.can_go_on) => of(EndingKind::Open),
        FailureKind::None => said(EndingKind::End, "The program has come to its end"),
        FailureKind::Deadlock => said(EndingKind::Deadlock, "Nobody can go on"),
        kind => {
            let accesses = trace.accesses.iter().rev().map(|a| api::Accessed {
                pid: a.thread,
                process: thread_name(run, a.thread),
                access: a.access.clone(),
                stack: a.stack.clone(),
            });
            api::Ending {
                violation: Some(kind.text().to_owned()),
                message: Some(repeated.message()),
                at: trace.violation_at.clone(),
                parts: headline(run, kind),
                what: Some(kind.text().to_owned()),
                accesses: accesses.collect(),
                ..of(EndingKind::Violation)
            }
        }
    }
}

/// The sentence about what goes wrong.
fn headline(run: &Executed, kind: FailureKind) -> Vec<Part> {
    let repeated = &run.repeated;
    match (kind, &repeated.trace.accesses[..]) {
        (FailureKind::Race, [later, earlier]) => {
            let verb = |writes: bool| if writes { " writes " } else { " reads " };
            let (first, second) = (thread_name(run, earlier.thread), thread_name(run, later.thread));
            vec![
                Part::text(format!("{first}{}", verb(earlier.writes))),
                Part::code(&earlier.object),
                Part::text(format!(" while {second}{}it: nothing orders the two", verb(later.writes))),
            ]
        }
        (FailureKind::Assertion, [here, ..]) if !repeated.failure.text.is_empty() => {
            vec![
                Part::text(format!("{} asserts ", thread_name(run, here.thread))),
                Part::code(&repeated.failure.text),
                Part::text(", which is false"),
            ]
        }
        (_, [here, ..]) if !repeated.failure.text.is_empty() => {
            vec![
                Part::text(format!("{}: {}: ", thread_name(run, here.thread), kind.text())),
                Part::code(&repeated.failure.text),
            ]
        }
        (FailureKind::Error, [here, ..]) => {
            vec![Part::text(format!("{} reaches an error location", thread_name(run, here.thread)))]
        }
        _ => vec![Part::text(repeated.message())],
    }
}
