//! A run of a C program that was executed: rows, values, locks, where threads stand. Everything comes from what the repeated run told;
//! nothing here runs the program.

use std::collections::BTreeMap;

use quotient_explain::RowKind;
use quotient_native::Repeated;
use quotient_native::protocol::FailureKind;
use quotient_outcome::{Effect, Event, Frame, ProcessState, Synchronisation, Value};

use crate::api;

/// One row of the chart.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The step that it belongs to, from 1.
    pub(super) step: usize,
    pub(super) thread: u32,
    pub(super) kind: api::RowKind,
    pub(super) text: String,
    pub(super) effect: Effect,
    pub(super) stack: Vec<Frame>,
    /// The row whose write it read.
    pub(super) reads_from: Option<usize>,
    /// Which write it saw, where that is not the last one, and why it may.
    pub(super) saw: Option<String>,
}

impl Row {
    /// The thread that it starts.
    pub(super) fn starts(&self) -> Option<u32> {
        self.effect.events.iter().find_map(|event| match event {
            Event::Start(_, new) => *new,
            _ => None,
        })
    }
}

/// A lock that a thread held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) object: String,
    pub(super) thread: u32,
    /// Rows.
    pub(super) from: usize,
    pub(super) to: Option<usize>,
}

/// A run that was executed.
#[derive(Debug)]
pub(super) struct Executed {
    pub(super) repeated: Repeated,
    pub(super) rows: Vec<Row>,
    pub(super) held: Vec<Held>,
    /// The schedule as it was executed, choice by choice.
    pub(super) moves: Vec<(u32, u32)>,
    /// Rows before each step, and all.
    pub(super) first_row: Vec<usize>,
}

/// What is known of a place in memory at some row.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) value: Value,
    /// The row that wrote it; none if it was only read so far.
    pub(super) set: Option<usize>,
}

impl Executed {
    pub(super) fn new(repeated: Repeated) -> Executed {
        let trace = &repeated.trace;
        let choices = &repeated.token.schedule.choices;
        let way = |index: usize, thread: u32| {
            let chosen = choices.get(index).filter(|c| u32::from(c.thread) == thread);
            chosen.map_or(0, |c| u32::from(c.alternative))
        };
        let moves: Vec<_> = trace.steps.iter().enumerate().map(|(i, s)| (s.pid, way(i, s.pid))).collect();
        let mut rows: Vec<Row> = trace
            .steps
            .iter()
            .map(|s| {
                let effect = s.effect.clone().unwrap_or_default();
                let kind = RowKind::of(&effect).into();
                let (text, stack) = (s.statement.clone(), s.stack.clone());
                let (step, thread) = (s.number, s.pid);
                Row { step, thread, kind, text, effect, stack, reads_from: None, saw: None }
            })
            .collect();
        let steps = rows.len();
        // What went wrong is told after the last step: of a race both accesses, the earlier one first.
        let is_race = repeated.failure.kind == FailureKind::Race;
        let accesses = trace.accesses.iter().take(if is_race { 2 } else { 1 }).rev();
        if steps > 0 && repeated.failure.kind != FailureKind::Deadlock {
            rows.extend(accesses.map(|access| Row {
                step: steps,
                thread: access.thread,
                kind: if is_race { api::RowKind::Race } else { api::RowKind::Fails },
                text: match (is_race, access.writes) {
                    (true, true) => format!("writes {}", access.object),
                    (true, false) => format!("reads {}", access.object),
                    (false, _) => repeated.message(),
                },
                effect: Effect::default(),
                stack: access.stack.clone(),
                reads_from: None,
                saw: None,
            }));
        }
        reads_from(&mut rows, &repeated.sources, &moves);
        let mut first_row: Vec<usize> = (0..=steps).collect();
        if let Some(last) = first_row.last_mut() {
            *last = rows.len();
        }
        let held = held(&rows);
        Executed { repeated, rows, held, moves, first_row }
    }

    pub(super) fn len(&self) -> usize {
        self.moves.len()
    }

    /// Has something gone wrong at its end, other than that nobody can go on?
    pub(super) fn goes_wrong(&self) -> bool {
        !matches!(self.repeated.failure.kind, FailureKind::None | FailureKind::Deadlock)
    }

    /// Memory as far as the first `rows` rows have named it.
    pub(super) fn memory(&self, rows: usize) -> BTreeMap<&str, Known> {
        let mut memory = BTreeMap::new();
        for (index, row) in self.rows[..rows].iter().enumerate() {
            for read in &row.effect.reads {
                let known = Known { value: read.value.clone(), set: None };
                memory.entry(read.full.as_str()).or_insert(known);
            }
            for write in &row.effect.writes {
                match &write.after {
                    Some(after) => {
                        memory.insert(write.full.as_str(), Known { value: after.clone(), set: Some(index) });
                    }
                    // What it holds now is not known.
                    None => {
                        memory.remove(write.full.as_str());
                    }
                }
            }
        }
        memory
    }

    /// Locks that were used in the first `rows` rows: who holds them, and the row that last took or gave them back.
    pub(super) fn locks(&self, rows: usize) -> BTreeMap<&str, (Option<u32>, usize)> {
        let mut locks = BTreeMap::new();
        for held in self.held.iter().filter(|h| h.from < rows) {
            let now = match held.to {
                Some(to) if to < rows => (None, to),
                _ => (Some(held.thread), held.from),
            };
            locks.insert(held.object.as_str(), now);
        }
        locks
    }

    /// The threads that exist after so many steps.
    pub(super) fn threads(&self, at: usize) -> Vec<&ProcessState> {
        let born = |pid: u32| {
            pid == 0
                || self.rows[..self.first_row[at]].iter().any(|row| {
                    row.thread == pid
                        || row
                            .effect
                            .events
                            .iter()
                            .any(|e| matches!(e, Event::Start(_, Some(new)) if *new == pid))
                })
        };
        self.repeated.trace.processes.iter().filter(|p| born(p.pid)).collect()
    }

    /// Where a thread stands after so many steps: before its next operation, or where the run left it.
    pub(super) fn stack<'a>(&'a self, at: usize, thread: &'a ProcessState) -> &'a [Frame] {
        let next = self.rows[self.first_row[at]..].iter().find(|row| row.thread == thread.pid);
        next.or(self.wrong(at, thread.pid)).map_or(&thread.stack, |row| &row.stack)
    }

    /// What a thread does where the run goes wrong. The first access of a race may be long past when the second is made: both threads are
    /// shown at their accesses, since that is where they race.
    fn wrong(&self, at: usize, thread: u32) -> Option<&Row> {
        let is_wrong = |row: &&Row| matches!(row.kind, api::RowKind::Race | api::RowKind::Fails);
        let mut last = self.rows[self.first_row[at].saturating_sub(2)..].iter().rev().take_while(is_wrong);
        last.find(|row| at == self.len() && row.thread == thread)
    }

    /// Has a thread ended after so many steps?
    pub(super) fn has_ended(&self, at: usize, thread: &ProcessState) -> bool {
        let goes_on = self.rows[self.first_row[at]..].iter().any(|row| row.thread == thread.pid);
        thread.finished && !goes_on && self.wrong(at, thread.pid).is_none()
    }
}

/// Which write each read saw. Under sequential consistency the last one to the same memory; under weak memory the execution says which
/// (`sources`, of each step one more than the step whose write was read, and than that of the next write; 1 is the initial value).
fn reads_from(rows: &mut [Row], sources: &[(u32, u32)], moves: &[(u32, u32)]) {
    let is_weak = sources.iter().any(|(source, _)| *source > 0);
    let mut written: BTreeMap<String, usize> = BTreeMap::new();
    for (index, row) in rows.iter_mut().enumerate() {
        let told = sources.get(index).copied().unwrap_or_default();
        row.reads_from = match (is_weak, told.0) {
            (true, source) => source.checked_sub(2).map(|row| row as usize),
            (false, _) => row.effect.reads.iter().find_map(|read| written.get(&read.full).copied()),
        };
        // The usual choice surprises nobody.
        if told.1 > 1 && moves.get(index).is_some_and(|m| m.1 > 0) {
            let newer = told.1 - 1;
            row.saw = Some(match told.0 {
                0 => format!(
                    "comes before the write of step {newer} in modification order, though it is made later: neither happens before the other"
                ),
                1 => format!(
                    "reads the initial value, not what step {newer} wrote: step {newer} does not happen before it, and nothing that does has seen it"
                ),
                source => format!(
                    "reads what step {} wrote, not what step {newer} wrote: step {newer} does not happen before it, and nothing that does has seen it",
                    source - 1
                ),
            });
        }
        for write in &row.effect.writes {
            written.insert(write.full.clone(), index);
        }
    }
}

/// Locks as bars along their holders' lines.
fn held(rows: &[Row]) -> Vec<Held> {
    let mut all: Vec<Held> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        for event in &row.effect.events {
            let Event::Lock { operation, object, .. } = event else { continue };
            let mut open = all
                .iter_mut()
                .rev()
                .filter(|h| h.to.is_none() && h.thread == row.thread && h.object == *object);
            match operation {
                // Taken once more by its holder, it stays held until it is given back as often; the bar is the same.
                Synchronisation::Lock if open.next().is_none() => {
                    all.push(Held { object: object.clone(), thread: row.thread, from: index, to: None });
                }
                Synchronisation::Unlock => {
                    if let Some(held) = open.next() {
                        held.to = Some(index);
                    }
                }
                _ => {}
            }
        }
    }
    all
}
