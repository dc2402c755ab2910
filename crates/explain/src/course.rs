//! A run of the program as written, followed from its start: every statement, who wrote what, and states at any step.
//!
//! States are kept at every 64th step and executed again from there, so that a long run takes little memory and any state of it
//! little time. What is known of statements lies in flat lists, and who wrote a place is looked up, not searched for: nothing that is asked of a place
//! takes longer in a longer run, and a branch of a run costs a copy of those lists.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use quotient_machine::{Machine, MicroStep, ObjectNames, StepRecord};
use quotient_outcome::Value;
use quotient_seams::{Interrupt, Successors, System, ViolationCode};

use crate::effect::{Effect, Event, Handed, Synchronisation, effect};
use crate::look::Look;
use crate::position::{Move, Position};

/// Steps between the states that are kept.
const APART: usize = 64;

/// A statement of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The step it belongs to, from 1.
    pub step: u32,
    /// Its thread.
    pub thread: u32,
    /// Which transformation of the program.
    pub transformation: u32,
    /// The thread that takes what it sends, in a rendezvous.
    pub partner: Option<u32>,
    /// Where what it wrote ends in the list of all writes.
    writes: u32,
    /// What others notice of it, in a word.
    pub kind: RowKind,
    /// Of a receive: the statement that sent the message.
    pub sent_by: Option<u32>,
}

/// What others notice of a statement, in a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowKind {
    /// Nothing but changed values.
    #[default]
    Other,
    /// Nothing at all: a condition, `skip`.
    Quiet,
    /// Sends a message that waits in its channel.
    Send,
    /// Receives a message.
    Receive,
    /// Sends a message that is taken at once.
    Rendezvous,
    /// Takes a lock.
    Lock,
    /// Gives a lock back.
    Unlock,
    /// Starts a thread.
    Start,
    /// Ends its thread.
    End,
    /// Makes an object.
    New,
    /// An assertion that holds.
    Assert,
    /// An assertion that fails.
    Fails,
    /// Nobody else could move.
    Timeout,
}

impl RowKind {
    /// The kind of a statement with this effect.
    pub fn of(effect: &Effect) -> RowKind {
        if effect.failed.is_some() {
            return RowKind::Fails;
        }
        let kinds = effect.events.iter().map(|event| match event {
            Event::Send { partner: Some(_), .. } => RowKind::Rendezvous,
            Event::Send { .. } => RowKind::Send,
            Event::Receive { .. } => RowKind::Receive,
            Event::Lock { operation: Synchronisation::Lock | Synchronisation::Wake, .. } => RowKind::Lock,
            Event::Lock { operation: Synchronisation::Unlock | Synchronisation::Wait, .. } => RowKind::Unlock,
            Event::Lock { .. } | Event::Join(_) | Event::Atomic { .. } | Event::Other(..) => RowKind::Other,
            Event::Start(..) => RowKind::Start,
            Event::End => RowKind::End,
            Event::New(_) => RowKind::New,
            Event::Assert(_, true) => RowKind::Assert,
            Event::Assert(_, false) => RowKind::Fails,
            Event::Timeout => RowKind::Timeout,
        });
        let nothing = effect.writes.is_empty() && effect.events.is_empty();
        let quiet = if nothing { RowKind::Quiet } else { RowKind::Other };
        kinds.into_iter().find(|k| *k != RowKind::Other).unwrap_or(quiet)
    }
}

/// A lock that a thread held for a part of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The lock's object.
    pub object: Arc<str>,
    /// Who held it.
    pub thread: u32,
    /// The statement that took it.
    pub from: u32,
    /// The statement that gave it back; none while it is held.
    pub to: Option<u32>,
    /// How often it was taken and not given back.
    count: u32,
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Steps may follow.
    Open,
    /// The last step goes wrong.
    Violation(ViolationCode),
    /// There is no such step: the number of the first that could not be made, from 1.
    Lost(usize),
    /// It was interrupted after this many steps.
    Interrupted(usize),
}

/// A state, with what its objects are called.
#[derive(Clone, Debug)]
struct Kept {
    state: Vec<u64>,
    names: ObjectNames,
}

/// Messages in channels, with the statements that sent them.
type Waiting = HashMap<String, Vec<(u32, Vec<Value>)>>;

/// Where a run can be taken up again.
#[derive(Clone, Debug)]
struct Checkpoint {
    here: Kept,
    waiting: Waiting,
    called: BTreeMap<u32, String>,
    /// Locks that are held.
    held: Vec<Held>,
}

/// A run.
#[derive(Clone, Debug)]
pub struct Course {
    /// The steps that were made.
    pub moves: Vec<Move>,
    /// Its statements.
    pub rows: Vec<Row>,
    /// For each step the number of statements before it, and at the end that of all.
    pub first_row: Vec<u32>,
    /// How it ends.
    pub ending: Ending,
    /// What threads were called when they made their first step.
    pub called: BTreeMap<u32, String>,
    /// Locks that were held, in the order in which they were taken.
    pub held: Vec<Held>,
    /// Names of places that were written, by number.
    pub written: Vec<String>,
    by_name: HashMap<String, u32>,
    /// What statements wrote, one after the other: the number of a name, and whether the value changed.
    writes: Vec<(u32, bool)>,
    /// The statements that wrote a place, by the number of its name.
    writers: Vec<Vec<u32>>,
    waiting: Waiting,
    /// What was known before every 64th step.
    kept: Vec<Arc<Checkpoint>>,
    /// The last state.
    last: Kept,
}

/// A step that can be made: who makes it, and what happens in it.
#[derive(Clone, Debug)]
pub struct Possible {
    /// Who, and which way.
    pub way: Move,
    /// What happens.
    pub record: StepRecord,
}

/// The steps that can be made from a state.
pub fn possible(machine: &mut Machine, state: &[u64]) -> Vec<Possible> {
    let mut ways: HashMap<u32, u32> = HashMap::new();
    machine
        .explain(state)
        .into_iter()
        .map(|record| {
            let thread = record.steps().first().map_or(0, |s| s.thread);
            let next = ways.entry(thread).or_default();
            let way = Move { thread, way: *next };
            *next += 1;
            Possible { way, record }
        })
        .collect()
}

/// The same, each that does the same once.
pub fn offered(machine: &mut Machine, state: &[u64]) -> Vec<Possible> {
    once(possible(machine, state), |way| &way.record)
}

/// Steps, each that does the same once: a statement that goes wrong may also go on, for those who look for more than the first violation.
pub fn once<T>(steps: impl IntoIterator<Item = T>, record: impl Fn(&T) -> &StepRecord) -> Vec<T> {
    let statements = |r: &StepRecord| -> Vec<(u32, u32, Option<u32>)> {
        r.steps().iter().map(|s| (s.thread, s.transformation, s.partner)).collect()
    };
    let mut kept: Vec<T> = Vec::new();
    for step in steps {
        let own = record(&step);
        let (does, wrong) = (statements(own), own.violation.is_some());
        let same = |k: &T| {
            let known = record(k);
            statements(known) == does && (known.violation.is_some() != wrong || known.state == own.state)
        };
        match kept.iter().position(same) {
            Some(at) if wrong && record(&kept[at]).violation.is_none() => kept[at] = step,
            Some(_) => {}
            None => kept.push(step),
        }
    }
    kept
}

impl Course {
    /// A run of no steps; none where the program has no initial state.
    pub fn start(machine: &mut Machine) -> Option<Course> {
        let mut initial = Successors::new();
        machine.initial(&mut initial).ok()?;
        let first = (0..initial.len()).find(|i| initial.entry(*i).has_state())?;
        let state = initial.state(first).to_vec();
        let mut names = ObjectNames::default();
        names.meet(machine, &state);
        let violation = (0..initial.len()).find_map(|i| initial.entry(i).violation);
        let last = Kept { state, names };
        let (waiting, called, held) = (Waiting::new(), BTreeMap::new(), Vec::new());
        let start = Checkpoint { here: last.clone(), waiting, called, held };
        Some(Course {
            moves: Vec::new(),
            rows: Vec::new(),
            first_row: vec![0],
            ending: violation.map_or(Ending::Open, Ending::Violation),
            called: BTreeMap::new(),
            held: Vec::new(),
            written: Vec::new(),
            by_name: HashMap::new(),
            writes: Vec::new(),
            writers: Vec::new(),
            waiting: Waiting::new(),
            kept: vec![Arc::new(start)],
            last,
        })
    }

    /// The run of the first `steps` steps, to go on from with others.
    pub fn branch(&self, machine: &mut Machine, steps: usize) -> Course {
        if steps >= self.moves.len() {
            let ending = match self.ending {
                Ending::Violation(code) => Ending::Violation(code),
                Ending::Open | Ending::Lost(_) | Ending::Interrupted(_) => Ending::Open,
            };
            return Course { ending, ..self.clone() };
        }
        let kept = steps / APART;
        let checkpoint = &self.kept[kept];
        let from = kept * APART;
        let rows = self.first_row[from];
        let writes = rows.checked_sub(1).map_or(0, |last| self.rows[last as usize].writes as usize);
        let before = |list: &Vec<u32>| list[..list.partition_point(|row| *row < rows)].to_vec();
        let given_back = self.held.iter().filter(|h| h.to.is_some_and(|to| to < rows));
        let mut held: Vec<Held> = given_back.chain(&checkpoint.held).cloned().collect();
        held.sort_by_key(|h| h.from);
        let mut branch = Course {
            moves: self.moves[..from].to_vec(),
            rows: self.rows[..rows as usize].to_vec(),
            first_row: self.first_row[..=from].to_vec(),
            ending: Ending::Open,
            called: checkpoint.called.clone(),
            held,
            written: self.written.clone(),
            by_name: self.by_name.clone(),
            writes: self.writes[..writes].to_vec(),
            writers: self.writers.iter().map(before).collect(),
            waiting: checkpoint.waiting.clone(),
            // The one that is taken up here is kept again when a step is made.
            kept: self.kept[..kept.max(1)].to_vec(),
            last: checkpoint.here.clone(),
        };
        branch.go_on(machine, &self.moves[from..steps], &Interrupt::new());
        branch
    }

    /// What a statement wrote: the number of a name, and whether the value changed.
    pub fn writes(&self, row: usize) -> &[(u32, bool)] {
        let from = row.checked_sub(1).map_or(0, |before| self.rows[before].writes);
        &self.writes[from as usize..self.rows[row].writes as usize]
    }

    /// Follows a position.
    pub fn follow(machine: &mut Machine, position: &Position, interrupt: &Interrupt) -> Option<Course> {
        let mut course = Course::start(machine)?;
        course.go_on(machine, &position.moves, interrupt);
        Some(course)
    }

    /// Makes further steps, as far as there are such.
    pub fn go_on(&mut self, machine: &mut Machine, moves: &[Move], interrupt: &Interrupt) {
        for way in moves {
            if self.ending != Ending::Open {
                if !matches!(self.ending, Ending::Lost(_) | Ending::Interrupted(_)) {
                    self.ending = Ending::Lost(self.moves.len() + 1);
                }
                return;
            }
            if interrupt.reason().is_some() {
                self.ending = Ending::Interrupted(self.moves.len());
                return;
            }
            let found = possible(machine, &self.last.state).into_iter().find(|p| p.way == *way);
            match found {
                Some(found) => self.take(machine, found),
                None => self.ending = Ending::Lost(self.moves.len() + 1),
            }
        }
    }

    /// Makes a step, one of those that [`possible`] gives for the last state.
    pub fn take(&mut self, machine: &mut Machine, step: Possible) {
        if self.moves.len().is_multiple_of(APART) && !self.moves.is_empty() {
            self.kept.push(Arc::new(Checkpoint {
                here: self.last.clone(),
                waiting: self.waiting.clone(),
                called: self.called.clone(),
                held: self.held.iter().filter(|h| h.to.is_none()).cloned().collect(),
            }));
        }
        self.moves.push(step.way);
        let number = self.moves.len() as u32;
        let statements: Vec<MicroStep> = step.record.steps().into_iter().cloned().collect();
        let mut before = self.last.clone();
        let mut handed = Handed::default();
        for statement in &statements {
            let after = after(machine, &before, statement);
            let mut effect = between(machine, statement, &before, after.as_ref());
            handed.pass(&mut effect);
            for write in &effect.writes {
                let name = self.name(&write.full);
                self.writes.push((name, write.before != write.after));
                self.writers[name as usize].push(self.rows.len() as u32);
            }
            let writes = self.writes.len() as u32;
            let sent_by = self.pass_messages(&effect);
            self.pass_locks(statement.thread, &effect);
            let thread = statement.thread;
            self.called
                .entry(thread)
                .or_insert_with(|| machine.thread_name(&before.state, thread, &before.names));
            self.rows.push(Row {
                step: number,
                thread: statement.thread,
                transformation: statement.transformation,
                partner: statement.partner.or(started(&effect)),
                writes,
                kind: RowKind::of(&effect),
                sent_by,
            });
            if let Some(after) = after {
                before = after;
            }
        }
        self.first_row.push(self.rows.len() as u32);
        match step.record.state {
            Some(state) => {
                before.names.meet(machine, &state);
                self.last = Kept { state, names: before.names };
            }
            None => self.last = before,
        }
        if let Some(violation) = step.record.violation {
            self.ending = Ending::Violation(violation);
        }
    }

    /// Keeps account of who sent the messages that are in channels; gives the statement that sent what this one received.
    fn pass_messages(&mut self, effect: &Effect) -> Option<u32> {
        let row = self.rows.len() as u32;
        let mut sent_by = None;
        for event in &effect.events {
            match event {
                Event::Send { channel, message, partner: None } => {
                    self.waiting.entry(channel.clone()).or_default().push((row, message.clone()));
                }
                Event::Receive { channel, message, stays } => {
                    let waiting = self.waiting.entry(channel.clone()).or_default();
                    let found = waiting.iter().position(|(_, m)| m == message);
                    sent_by = found.map(|at| if *stays { waiting[at].0 } else { waiting.remove(at).0 });
                }
                _ => {}
            }
        }
        sent_by
    }

    /// Keeps account of who holds which lock.
    fn pass_locks(&mut self, thread: u32, effect: &Effect) {
        let row = self.rows.len() as u32;
        for event in &effect.events {
            let Event::Lock { operation, object, .. } = event else { continue };
            let own = |h: &&mut Held| h.to.is_none() && h.thread == thread && *h.object == **object;
            let held = self.held.iter_mut().rev().find(own);
            match (operation, held) {
                (Synchronisation::Lock, Some(held)) => held.count += 1,
                (Synchronisation::Lock | Synchronisation::Wake, None) => {
                    self.held.push(Held {
                        object: object.as_str().into(),
                        thread,
                        from: row,
                        to: None,
                        count: 1,
                    });
                }
                (Synchronisation::Unlock, Some(held)) if held.count > 1 => held.count -= 1,
                (Synchronisation::Unlock | Synchronisation::Wait, Some(held)) => held.to = Some(row),
                _ => {}
            }
        }
    }

    /// What the statements of a step do that can be made from a state.
    pub fn effects(machine: &Machine, state: &[u64], names: &ObjectNames, step: &Possible) -> Vec<Effect> {
        let mut before = Kept { state: state.to_vec(), names: names.clone() };
        let mut effects = Vec::new();
        let mut handed = Handed::default();
        for statement in step.record.steps() {
            let after = after(machine, &before, statement);
            let mut effect = between(machine, statement, &before, after.as_ref());
            handed.pass(&mut effect);
            effects.push(effect);
            if let Some(after) = after {
                before = after;
            }
        }
        effects
    }

    fn name(&mut self, full: &str) -> u32 {
        if let Some(number) = self.by_name.get(full) {
            return *number;
        }
        let number = self.written.len() as u32;
        self.written.push(full.to_owned());
        self.writers.push(Vec::new());
        self.by_name.insert(full.to_owned(), number);
        number
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.moves.len()
    }

    /// Whether no step has been made.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// The state after the first `steps` steps, with the names of its objects.
    pub fn state(&self, machine: &mut Machine, steps: usize) -> (Vec<u64>, ObjectNames) {
        if steps >= self.moves.len() {
            return (self.last.state.clone(), self.last.names.clone());
        }
        let mut kept = self.kept[steps / APART].here.clone();
        for way in &self.moves[steps / APART * APART..steps] {
            let found = possible(machine, &kept.state).into_iter().find(|p| p.way == *way);
            let Some(Possible { record, .. }) = found else { break };
            for statement in record.steps() {
                if let Some(after) = after(machine, &kept, statement) {
                    kept.names = after.names;
                }
            }
            if let Some(state) = record.state {
                kept.names.meet(machine, &state);
                kept.state = state;
            }
        }
        (kept.state, kept.names)
    }

    /// The statements of steps `from..to` (counted from 0) with their effects, one after the other.
    pub fn explain(
        &self,
        machine: &mut Machine,
        from: usize,
        to: usize,
        mut each: impl FnMut(&Machine, &MicroStep, Effect, Option<(&[u64], &ObjectNames)>),
    ) {
        let to = to.min(self.moves.len());
        if from >= to {
            return;
        }
        let (state, names) = self.state(machine, from);
        let mut here = Kept { state, names };
        for way in &self.moves[from..to] {
            let found = possible(machine, &here.state).into_iter().find(|p| p.way == *way);
            let Some(Possible { record, .. }) = found else { return };
            let mut before = here.clone();
            let mut handed = Handed::default();
            for statement in record.steps() {
                let after = after(machine, &before, statement);
                let mut effect = between(machine, statement, &before, after.as_ref());
                handed.pass(&mut effect);
                each(machine, statement, effect, after.as_ref().map(|a| (&a.state[..], &a.names)));
                if let Some(after) = after {
                    before = after;
                }
            }
            if let Some(state) = record.state {
                before.names.meet(machine, &state);
                here = Kept { state, names: before.names };
            }
        }
    }

    /// The last statement before `row` that wrote a place.
    pub fn set_by(&self, full: &str, row: usize) -> Option<u32> {
        let writers = &self.writers[*self.by_name.get(full)? as usize];
        writers[..writers.partition_point(|writer| (*writer as usize) < row)].last().copied()
    }

    /// The statements that wrote the place with this number, and whether its value changed.
    pub fn history(&self, name: u32) -> impl Iterator<Item = (u32, bool)> {
        self.writers[name as usize].iter().map(move |row| {
            // A statement may write a place twice.
            let changed = self.writes(*row as usize).iter().any(|(n, changed)| *n == name && *changed);
            (*row, changed)
        })
    }
}

/// The state after a statement; none where it ended in a fault that left nothing.
fn after(machine: &Machine, before: &Kept, statement: &MicroStep) -> Option<Kept> {
    if statement.state.is_empty() {
        return None;
    }
    let mut names = before.names.clone();
    names.meet(machine, &statement.state);
    Some(Kept { state: statement.state.clone(), names })
}

fn between(machine: &Machine, statement: &MicroStep, before: &Kept, after: Option<&Kept>) -> Effect {
    let look_before = Look::new(machine, &before.state, &before.names);
    let look_after = after.map(|a| Look::new(machine, &a.state, &a.names));
    effect(statement, &look_before, look_after.as_ref())
}

/// The thread that a statement starts.
fn started(effect: &Effect) -> Option<u32> {
    effect.events.iter().find_map(|event| match event {
        Event::Start(_, new) => *new,
        _ => None,
    })
}
