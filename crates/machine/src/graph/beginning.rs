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

use quotient_identity::{Before, Cell, Channel, Setting, Symmetry, Values, Var, reasons, symmetry};
use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{
    Action, ChannelTypeId, Expr, Function, FunctionId, Init, Operation, Place, Program, Root, Type, Variable,
    VariableId,
};
use quotient_seams::{Scope, Successors, System};
use quotient_source::Span;

use crate::machine::Machine;
use crate::state::look::ThreadAt;
use crate::state::scalars::Scalar;

/// Most moves on the way.
const MOST_MOVES: usize = 5_000;

/// What is known of the time when the last thread has been started.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// By function and location: from there nobody is started any more.
    pub live: Vec<Vec<bool>>,
    /// Some function starts threads.
    pub starts: bool,
    /// States whose values count; the last one has all threads. Without them, the initial state alone is known.
    met: Option<Vec<Box<[u64]>>>,
    initial: Option<Box<[u64]>>,
}

impl Beginning {
    /// Finds it, by making the first moves.
    pub fn new(machine: &mut Machine) -> Beginning {
        let live: Vec<Vec<bool>> = machine.program().functions.iter().map(live).collect();
        let starts = live.iter().flatten().any(|live| !live);
        let mut out = Beginning { live, starts, met: None, initial: None };
        let mut first = Successors::new();
        if machine.initial(&mut first).is_ok() && first.len() == 1 && first.entry(0).has_state() {
            out.initial = Some(first.state(0).into());
            out.met = out.follow(machine, first.state(0));
        }
        out
    }

    /// A state in which all threads exist, if one is known; otherwise the initial state.
    pub fn settled(&self) -> Option<&[u64]> {
        self.met.as_ref().and_then(|met| met.last()).or(self.initial.as_ref()).map(|state| &**state)
    }

    /// Can a thread of this state still start another?
    pub fn may_start(&self, machine: &Machine, state: &[u64]) -> bool {
        self.starts && machine.threads_at(state).any(|t| !self.live[t.function as usize][t.location as usize])
    }

    fn follow(&self, machine: &mut Machine, first: &[u64]) -> Option<Vec<Box<[u64]>>> {
        let mut at: Box<[u64]> = first.into();
        let mut met = Vec::new();
        let mut out = Successors::new();
        for _ in 0..MOST_MOVES {
            if !self.may_start(machine, &at) {
                met.push(at);
                return Some(met);
            }
            out.clear();
            machine.successors(&at, Scope::All, &mut out).ok()?;
            if out.len() != 1 {
                let threads: Vec<_> = machine.threads_at(&at).collect();
                let starting = |t: &ThreadAt| !self.live[t.function as usize][t.location as usize];
                let mut starters = threads.iter().enumerate().filter(|(_, t)| starting(t));
                let (starter, thread) = starters.next()?;
                if starters.next().is_some() || !self.starts_alone(machine.program(), thread.function) {
                    return None;
                }
                met.push(at.clone());
                out.clear();
                machine.successors(&at, Scope::Thread(starter as u32), &mut out).ok()?;
            }
            if out.len() != 1 || !out.entry(0).has_state() || out.entry(0).violation.is_some() {
                return None;
            }
            at = out.state(0).into();
        }
        None
    }

    /// Does a function start threads without looking at what others do, and without others being able to end?
    fn starts_alone(&self, program: &Program, function: u32) -> bool {
        let others = || {
            program
                .functions
                .iter()
                .enumerate()
                .filter(move |(at, _)| *at != function as usize)
                .map(|(_, f)| f)
        };
        let mut all = others().flat_map(|f| &f.locations).flat_map(|l| &l.transformations);
        if all.any(|t| t.target.is_none() || matches!(t.operation, Operation::Exit)) {
            return false;
        }
        let mut written = Written::default();
        others().flat_map(|f| &f.locations).flat_map(|l| &l.transformations).for_each(|t| {
            visit::transformation(t, &mut written);
        });
        let mut alone = Alone { written: &written.0, yes: true };
        let starter = program.function(FunctionId(function));
        for (location, live) in starter.locations.iter().zip(&self.live[function as usize]) {
            for t in location.transformations.iter().filter(|_| !live) {
                alone.yes &= matches!(
                    t.operation,
                    Operation::Always | Operation::When(_) | Operation::Else | Operation::Enter
                );
                visit::transformation(t, &mut alone);
            }
        }
        alone.yes && starter.provided.is_none()
    }

    /// What there may be in states with the threads of this one.
    fn before(&self, machine: &Machine, state: &[u64]) -> Before {
        let program = machine.program();
        let threads: Vec<u32> = machine.threads_at(state).map(|t| t.function).collect();
        let last = self.met.as_ref().and_then(|met| met.last());
        let complete = last.is_some_and(|last| machine.thread_total(last) == threads.len());
        // What code that is over may have written: that of threads that have ended, too, which knew other constants.
        let mut all = program.functions.iter().flat_map(|f| &f.locations).flat_map(|l| &l.transformations);
        let gone = !complete && all.any(|t| t.target.is_none() || matches!(t.operation, Operation::Exit));
        let mut past = Written::default();
        for (at, function) in program.functions.iter().enumerate() {
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
        for (number, channel) in channels(machine, state).iter().enumerate() {
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
        properties: &[Expr],
    ) -> Option<Symmetry> {
        (!self.may_start(machine, state)).then(|| self.setting(machine, state, dead, properties, symmetry))
    }

    /// The lines that tell threads of this state apart.
    pub fn reasons(
        &self,
        machine: &Machine,
        state: &[u64],
        dead: &[Vec<Vec<bool>>],
        properties: &[Expr],
    ) -> Vec<Span> {
        self.setting(machine, state, dead, properties, reasons)
    }

    fn setting<T>(
        &self,
        machine: &Machine,
        state: &[u64],
        dead: &[Vec<Vec<bool>>],
        properties: &[Expr],
        ask: impl FnOnce(&Setting<'_>) -> T,
    ) -> T {
        let threads: Vec<FunctionId> = machine.threads_at(state).map(|t| FunctionId(t.function)).collect();
        ask(&Setting {
            program: machine.program(),
            threads: &threads,
            channels: &channels(machine, state),
            live: &self.live,
            dead,
            properties,
            before: &self.before(machine, state),
        })
    }
}

/// The channels of a state, from number 1: those of globals, then those of each thread.
fn channels(machine: &Machine, state: &[u64]) -> Vec<Channel> {
    let program = machine.program();
    let mut out = Vec::new();
    let mut add = |variables: &[Variable], owner: Option<u32>| {
        let mut kinds = Vec::new();
        variables.iter().for_each(|v| kinds_of(program, v, &mut kinds));
        out.extend(kinds.into_iter().map(|kind| Channel { kind, owner }));
    };
    add(&program.globals, None);
    for (thread, at) in machine.threads_at(state).enumerate() {
        add(&program.functions[at.function as usize].locals, Some(thread as u32));
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
        for (at, location) in function.locations.iter().enumerate() {
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

/// Globals that are written.
#[derive(Default)]
struct Written(Vec<u32>);

impl Visitor for Written {
    fn place(&mut self, place: &Place, how: Use) {
        if let (Root::Global(v), Use::Write) = (&place.root, how) {
            self.0.push(v.0);
        }
    }
}

/// Looks at nothing that others change.
struct Alone<'a> {
    written: &'a [u32],
    yes: bool,
}

impl Visitor for Alone<'_> {
    fn place(&mut self, place: &Place, _: Use) {
        self.yes &= match &place.root {
            Root::Global(v) => !self.written.contains(&v.0),
            Root::Local(_) => true,
            Root::Remote { .. } | Root::Object { .. } => false,
        };
    }

    fn expr(&mut self, e: &Expr) {
        self.yes &= matches!(
            e,
            Expr::Const(_)
                | Expr::Load(_)
                | Expr::Unary(..)
                | Expr::Binary(..)
                | Expr::Conditional(..)
                | Expr::SelfId
                | Expr::Spanned(..)
        );
    }
}
