//! How a program comes to its full set of threads.
//!
//! Symmetry is looked for among threads that nobody adds to any more. What they were started with, and what is in cells and channels then, is
//! known where there is only one way to get there:
//!
//! - as long as there is exactly one move in all, that move is made, and nothing of the states on the way is ever seen again;
//! - or one thread starts all others by itself: from the first start to the last it looks at nothing but its own variables and
//!   globals that only it writes, and none of the others can end, so that they have the same numbers and arguments in every
//!   run. Then its moves are made alone, and every value that is met on the way counts.
//!
//! Otherwise what is not known counts as unknown.
//!
//! Threads may end later, the youngest first. Those that can keep their place, so that a renaming of all threads is one of those that are
//! left, and it is used from then on: what a state stands for never depends on who is still there. Where the full set of threads is not
//! known, and some can end, nothing is renamed.

use std::sync::Arc;

use quotient_identity::{Asked, Before, Cell, Channel, Setting, Symmetry, Values, Var, refused, symmetry};
use quotient_program::{
    Action, Alone, ChannelTypeId, Function, FunctionId, Init, Operation, Program, Transformation, Type,
    Variable, VariableId, Written, visit,
};
use quotient_seams::{Scope, Successors, System, Worker};

use crate::machine::Machine;
use crate::state::look::ThreadAt;
use crate::state::scalars::Scalar;
use crate::state::shapes::Instance;

/// Most moves on the way.
const MOST_MOVES: usize = 5_000;

/// What is known of the time when the last thread has been started.
#[derive(Clone)]
pub struct Beginning {
    /// By function and location: from there nobody is started any more.
    pub live: Vec<Vec<bool>>,
    /// Some function that may be run starts threads.
    pub starts: bool,
    /// By function: may a thread ever run it?
    startable: Vec<bool>,
    /// By function: can a thread that runs it cease to exist?
    ends: Vec<bool>,
    /// States whose values count; the last one has all threads. Without them, the initial state alone is known.
    met: Option<Vec<Box<[u64]>>>,
    initial: Option<Box<[u64]>>,
    /// A worker that has met these states: others may not know their shapes.
    knows: Arc<Machine>,
}

impl std::fmt::Debug for Beginning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Beginning").field("starts", &self.starts).finish_non_exhaustive()
    }
}

impl Beginning {
    /// Finds it, by making the first moves.
    pub fn new(mut machine: Machine) -> Beginning {
        let live: Vec<Vec<bool>> = machine.program().functions.iter().map(live).collect();
        let startable = machine.program().startable();
        let ends = machine.program().functions.iter().map(|f| end_of(f).is_some()).collect();
        let starts = live.iter().zip(&startable).any(|(live, startable)| *startable && live.contains(&false));
        let mut first = Successors::new();
        let knows = Arc::new(machine.another());
        let mut out = Beginning { live, starts, startable, ends, met: None, initial: None, knows };
        if machine.initial(&mut first).is_ok() && first.len() == 1 && first.entry(0).has_state() {
            out.initial = Some(first.state(0).into());
            // Where nothing is renamed whatever is found, nobody asks how the threads came there.
            let asked = refused(machine.program()).is_none();
            out.met = asked.then(|| out.follow(&mut machine, first.state(0))).flatten();
        }
        out.knows = Arc::new(machine);
        out
    }

    /// A state in which all threads exist, if one is known; otherwise the initial state.
    pub fn settled(&self) -> Option<&[u64]> {
        self.met.as_ref().and_then(|met| met.last()).or(self.initial.as_ref()).map(|state| &**state)
    }

    /// What the threads run when all of them exist, if that is known.
    pub(super) fn full(&self) -> Option<Vec<u32>> {
        let last = self.met.as_ref()?.last()?;
        Some(self.knows.threads_at(last).map(|t| t.function).collect())
    }

    /// The threads that keep states from being renamed until they can start no others, by where each is and what it runs; none if that never
    /// comes.
    pub(super) fn starters(&self, threads: &[Instance]) -> Option<Box<[(u32, u32)]>> {
        let at = |t: &Instance| &self.live[t.kind as usize];
        if self.starts && threads.iter().any(|t| !at(t).contains(&true)) {
            return None;
        }
        let starters = threads.iter().filter(|t| self.starts && at(t).contains(&false));
        Some(starters.map(|t| (t.at, t.kind)).collect())
    }

    /// Can a thread of this state still start another?
    pub fn may_start(&self, machine: &Machine, state: &[u64]) -> bool {
        self.starts && machine.threads_at(state).any(|t| !self.live[t.function as usize][t.location as usize])
    }

    fn follow(&self, machine: &mut Machine, first: &[u64]) -> Option<Vec<Box<[u64]>>> {
        let mut at: Box<[u64]> = first.into();
        let mut met = Vec::new();
        let mut out = Successors::new();
        // Functions that are known to start others by themselves.
        let mut alone: Vec<u32> = Vec::new();
        for _ in 0..MOST_MOVES {
            if !self.may_start(machine, &at) {
                met.push(at);
                return Some(met);
            }
            moves(machine, &at, Scope::All, &mut out)?;
            if out.len() != 1 {
                let threads: Vec<_> = machine.threads_at(&at).collect();
                let starting = |t: &ThreadAt| !self.live[t.function as usize][t.location as usize];
                let mut starters = threads.iter().enumerate().filter(|(_, t)| starting(t));
                let (starter, thread) = starters.next()?;
                if starters.next().is_some() {
                    return None;
                }
                if !alone.contains(&thread.function) {
                    if !self.starts_alone(machine.program(), thread.function) {
                        return None;
                    }
                    alone.push(thread.function);
                }
                met.push(at.clone());
                moves(machine, &at, Scope::Thread(starter as u32), &mut out)?;
            }
            if out.len() != 1 || !out.entry(0).has_state() || out.entry(0).violation.is_some() {
                return None;
            }
            at = out.state(0).into();
        }
        None
    }

    /// The functions that a thread may ever run, with their numbers.
    fn functions<'a>(&'a self, program: &'a Program) -> impl Iterator<Item = (usize, &'a Function)> {
        program.functions.iter().enumerate().filter(|(at, _)| self.startable[*at])
    }

    /// Does a function start threads without looking at what others do, and without others being able to end?
    fn starts_alone(&self, program: &Program, function: u32) -> bool {
        let others = || self.functions(program).filter(|(at, _)| *at != function as usize).map(|(_, f)| f);
        let mut all = others().flat_map(|f| &f.locations).flat_map(|l| &l.transformations);
        if all.any(is_end) {
            return false;
        }
        let mut written = Written::default();
        others().flat_map(|f| &f.locations).flat_map(|l| &l.transformations).for_each(|t| {
            visit::transformation(t, &mut written);
        });
        let mut alone = Alone::beside(&written);
        let starter = program.function(FunctionId(function));
        for (location, live) in starter.locations.iter().zip(&self.live[function as usize]) {
            location.transformations.iter().filter(|_| !live).for_each(|t| alone.transformation(t));
        }
        alone.yes && !alone.overwrites && starter.provided.is_none()
    }

    /// What there may be in states with the threads of this one.
    fn before(&self, threads: &[u32]) -> Before {
        let machine = &*self.knows;
        let program = machine.program();
        let last = self.met.as_ref().and_then(|met| met.last());
        let complete = last.is_some_and(|last| machine.thread_total(last) == threads.len());
        // What code that is over may have written: that of threads that have ended, too, which knew other constants.
        let mut all =
            self.functions(program).flat_map(|(_, f)| &f.locations).flat_map(|l| &l.transformations);
        let gone = !complete && all.any(is_end);
        let mut past = Written::default();
        for (at, function) in self.functions(program) {
            for (location, live) in function.locations.iter().zip(&self.live[at]) {
                if self.met.is_none() && !live || gone {
                    location.transformations.iter().for_each(|t| visit::transformation(t, &mut past));
                }
            }
        }
        let mut before = Before::default();
        let known: Vec<&[u64]> = match &self.met {
            Some(met) => met.iter().map(|s| &**s).collect(),
            None => self.initial.iter().map(|s| &**s).collect(),
        };
        let mut put = |cell: Cell, scalar: Scalar, thread: Option<usize>, any: bool| {
            let mut values = Values { any, ..Values::default() };
            for state in known.iter().filter(|s| thread.is_none_or(|t| t < machine.thread_total(s))) {
                values.known.extend(machine.scalar_place(state, scalar).map(|p| p.get(state)));
            }
            values.any |= values.known.is_empty();
            before.cells.insert(cell, values);
        };
        for (v, variable) in program.globals.iter().enumerate() {
            let id = VariableId(v as u32);
            for scalar in 0..program.scalars(&variable.ty) {
                let place = Scalar::Global { variable: id, scalar };
                put((Var::Global(v as u32), scalar as u32), place, None, past.0.contains(&(v as u32)));
            }
        }
        for (thread, function) in threads.iter().enumerate() {
            let own = &program.functions[*function as usize];
            // What a thread has done before it came to code that is live.
            let any = self.met.is_none() && self.live[*function as usize].contains(&false);
            for (v, variable) in own.locals.iter().enumerate() {
                let id = VariableId(v as u32);
                for scalar in 0..program.scalars(&variable.ty) {
                    let place = Scalar::Local { thread, variable: id, scalar };
                    put((Var::Local(thread as u32, v as u32), scalar as u32), place, Some(thread), any);
                }
            }
        }
        for (number, channel) in channels(program, threads).iter().enumerate() {
            let fields = program.channel_types[channel.kind.0 as usize].fields.len();
            let mut values = vec![Values { any: !complete, ..Values::default() }; fields];
            for state in &known {
                for message in machine.messages(state, number as i32 + 1) {
                    values.iter_mut().zip(message).for_each(|(v, field)| {
                        v.known.insert(field);
                    });
                }
            }
            before.messages.push(values);
        }
        before
    }

    /// The renamings that the program cannot notice in states with the threads of this one; none while others can be started.
    pub fn symmetry(
        &self,
        machine: &Machine,
        state: &[u64],
        dead: &[Vec<Vec<bool>>],
        asked: &Asked,
    ) -> Option<Symmetry> {
        let threads: Vec<u32> = machine.threads_at(state).map(|t| t.function).collect();
        (!self.may_start(machine, state)).then(|| self.of_threads(machine, &threads, dead, asked))
    }

    /// Is nothing renamed among threads that run these functions, because it is not known which there are when one of them can end?
    pub(super) fn refuses(&self, threads: &[u32]) -> bool {
        let known = self.full().is_some_and(|full| full.starts_with(threads));
        !known && threads.iter().any(|f| self.ends[*f as usize])
    }

    /// What may be renamed in states with threads that run these functions, nobody being started any more.
    pub(super) fn of_threads(
        &self,
        machine: &Machine,
        threads: &[u32],
        dead: &[Vec<Vec<bool>>],
        asked: &Asked,
    ) -> Symmetry {
        match self.full() {
            Some(full) if full.starts_with(threads) => self.ask(machine, &full, dead, asked, symmetry),
            _ => {
                let mut code = threads.iter().map(|f| &machine.program().functions[*f as usize]);
                match code.find_map(end_of) {
                    Some(end) => Symmetry::refused(
                        "it is not known which processes there are when this one can end",
                        Some(end.span),
                        threads.iter().map(|f| FunctionId(*f)).collect(),
                    ),
                    None => self.ask(machine, threads, dead, asked, symmetry),
                }
            }
        }
    }

    /// Asks about states with threads that run these functions, of which nobody starts others.
    pub(super) fn ask<T>(
        &self,
        machine: &Machine,
        functions: &[u32],
        dead: &[Vec<Vec<bool>>],
        asked: &Asked,
        question: impl FnOnce(&Setting<'_>) -> T,
    ) -> T {
        let threads: Vec<FunctionId> = functions.iter().map(|f| FunctionId(*f)).collect();
        question(&Setting {
            program: machine.program(),
            threads: &threads,
            channels: &channels(machine.program(), functions),
            live: &self.live,
            dead,
            asked,
            before: &self.before(functions),
        })
    }
}

/// Does a thread cease to exist by this?
fn is_end(t: &Transformation) -> bool {
    t.target.is_none() || matches!(t.operation, Operation::Exit)
}

/// Where a thread that runs a function ceases to exist.
fn end_of(function: &Function) -> Option<&Transformation> {
    function.locations.iter().find_map(|l| l.transformations.iter().find(|t| is_end(t)))
}

/// The moves of the program alone: what a claim would do is of no importance here.
fn moves(machine: &mut Machine, state: &[u64], scope: Scope, out: &mut Successors) -> Option<()> {
    out.clear();
    machine.expand_program(state, scope, out);
    machine.exhausted.take().is_none().then_some(())
}

/// The channels of states with these threads, from number 1: those of globals, then those of each thread.
fn channels(program: &Program, threads: &[u32]) -> Vec<Channel> {
    let mut out = Vec::new();
    let mut add = |variables: &[Variable], owner: Option<u32>| {
        let mut kinds = Vec::new();
        variables.iter().for_each(|v| kinds_of(program, v, &mut kinds));
        out.extend(kinds.into_iter().map(|kind| Channel { kind, owner }));
    };
    add(&program.globals, None);
    for (thread, function) in threads.iter().enumerate() {
        add(&program.functions[*function as usize].locals, Some(thread as u32));
    }
    out
}

/// The kinds of the channels that a variable's initial value makes, in order.
fn kinds_of(program: &Program, variable: &Variable, out: &mut Vec<ChannelTypeId>) {
    match (&variable.init, &variable.ty) {
        (Init::Channels(kind), ty) => out.extend((0..program.scalars(ty)).map(|_| *kind)),
        (_, Type::Structure(id)) => {
            program.structure(*id).fields.iter().for_each(|f| kinds_of(program, f, out));
        }
        (_, Type::Array(element, length)) if matches!(**element, Type::Structure(_)) => {
            let inner = Variable { ty: (**element).clone(), ..variable.clone() };
            (0..*length).for_each(|_| kinds_of(program, &inner, out));
        }
        _ => {}
    }
}

/// For each location whether nobody is started from there on.
fn live(function: &Function) -> Vec<bool> {
    let mut live: Vec<bool> = function
        .locations
        .iter()
        .map(|l| {
            let mut actions = l.transformations.iter().flat_map(|t| &t.actions);
            !actions.any(|a| matches!(a, Action::Start { .. }))
        })
        .collect();
    let mut changed = live.contains(&false);
    while changed {
        changed = false;
        // Backwards, as most steps lead forwards.
        for (at, location) in function.locations.iter().enumerate().rev() {
            let leads =
                location.transformations.iter().filter_map(|t| t.target).any(|to| !live[to.0 as usize]);
            if live[at] && leads {
                live[at] = false;
                changed = true;
            }
        }
    }
    live
}
