//! Processes that have ended stay.
//!
//! In Promela a process that has come to its end ceases to exist only when it is the youngest, so that in a program whose
//! processes end, states differ in which of the ended ones are still there, and processes that are equal otherwise differ in
//! when they can go. Where nobody can notice whether an ended process is still there, it never goes: its last location has no
//! way on.
//!
//! This preserves assertions, faults and deadlocks: taking the end out changes nothing but which processes exist, an ended
//! process is at a valid end, and other processes can move after the end exactly when they can before it. A step that nobody
//! notices can be left out, since every path has only finitely many ends.
//!
//! It can be noticed by: `run`, whose process numbers depend on how many processes there are; `_nr_pr`; `_last`; priorities;
//! references to variables or labels of the process from outside; channels made by it, which end with it; a progress or accept
//! label at the end itself, which counts as long as the process is there.
//!
//! `run` notices nothing where nobody can have ended before the last of them: one process alone is there at first, it starts all others while
//! it keeps control, and waits for nothing but itself on the way, so that where it stops before the last start it does for ever.

use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{
    Action, Alone, Expr, Function, Init, Location, LocationId, Operation, Place, Program, Root,
    Transformation, Type, Variable, Written,
};

/// What programs can notice ends by.
#[derive(Default)]
struct Notices {
    count: bool,
    /// Functions that something refers to from outside.
    functions: Vec<u32>,
    labels: Vec<u32>,
}

impl Visitor for Notices {
    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::ThreadCount => self.count = true,
            Expr::At { label, .. } => self.labels.push(label.0),
            _ => {}
        }
    }

    fn place(&mut self, place: &Place, _: Use) {
        if let Root::Remote { function, .. } = &place.root {
            self.functions.push(function.0);
        }
    }
}

/// Does a variable come with a channel of its own?
fn makes_channels(program: &Program, variable: &Variable) -> bool {
    fn in_type(program: &Program, ty: &Type) -> bool {
        match ty {
            Type::Structure(id) => program.structure(*id).fields.iter().any(|f| makes_channels(program, f)),
            Type::Array(element, _) => in_type(program, element),
            _ => false,
        }
    }
    matches!(variable.init, Init::Channels(_)) || in_type(program, &variable.ty)
}

/// Are all processes started before any of them can move? `startable` are the functions that a process may ever run.
fn starts_at_once(program: &Program, startable: &[bool]) -> bool {
    let [starter] = program.initial[..] else { return false };
    let is_start = |t: &Transformation| t.actions.iter().any(|a| matches!(a, Action::Start { .. }));
    let starts = |f: &Function| f.locations.iter().flat_map(|l| &l.transformations).any(is_start);
    let others =
        program.functions.iter().enumerate().filter(|(at, _)| *at != starter.0 as usize && startable[*at]);
    if program.observer.is_some() || others.clone().any(|(_, f)| starts(f)) {
        return false;
    }
    let mut written = Written::default();
    others.flat_map(|(_, f)| &f.locations).flat_map(|l| &l.transformations).for_each(|t| {
        visit::transformation(t, &mut written);
    });
    let function = program.function(starter);
    // Where a start is still ahead.
    let mut ahead: Vec<bool> =
        function.locations.iter().map(|l| l.transformations.iter().any(is_start)).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (at, location) in function.locations.iter().enumerate() {
            let mut next = location.transformations.iter().filter_map(|t| t.target);
            if !ahead[at] && next.any(|to| ahead[to.0 as usize]) {
                ahead[at] = true;
                changed = true;
            }
        }
    }
    let mut alone = Alone::beside(&written);
    alone.yes = function.provided.is_none();
    for (location, _) in function.locations.iter().zip(&ahead).filter(|(_, ahead)| **ahead) {
        for t in &location.transformations {
            alone.transformation(t);
            let to = t.target.map(|to| (to, &function.locations[to.0 as usize]));
            // From the first start on it keeps control until the last; before, nobody else is there.
            let kept = |(to, next): (LocationId, &Location)| {
                !ahead[to.0 as usize] || t.keeps_control || next.deterministic || next.transient
            };
            alone.yes &= to.is_none_or(kept);
            alone.yes &= t.actions.iter().all(|a| match a {
                Action::Start { function, .. } => *function != starter,
                _ => true,
            });
        }
    }
    alone.yes
}

/// Takes out the ends that nobody notices; gives how many.
pub fn keep_ended(program: &mut Program) -> usize {
    if program.features.last || program.features.priorities {
        return 0;
    }
    let mut notices = Notices::default();
    // What nobody can start notices nothing.
    let startable = program.startable();
    let run = program.functions.iter().zip(&startable).filter(|(_, startable)| **startable).map(|(f, _)| f);
    let functions = run.chain(program.observer.iter().map(|o| &o.function));
    let mut starts = false;
    for function in functions {
        if let Some(provided) = &function.provided {
            visit::expr(provided, &mut notices);
        }
        for t in function.locations.iter().flat_map(|l| &l.transformations) {
            visit::transformation(t, &mut notices);
            starts |= t.actions.iter().any(|a| matches!(a, Action::Start { .. }));
        }
        for local in &function.locals {
            if let Init::Fill(e) = &local.init {
                visit::expr(e, &mut notices);
            }
        }
    }
    if notices.count || starts && !starts_at_once(program, &startable) {
        return 0;
    }
    let labelled = notices.labels.iter().map(|l| program.labels[*l as usize].function.0);
    let noticed: Vec<u32> = labelled.chain(notices.functions.iter().copied()).collect();
    let keep: Vec<bool> = program
        .functions
        .iter()
        .enumerate()
        .map(|(index, function)| {
            !noticed.contains(&(index as u32))
                && !function.locals.iter().any(|local| makes_channels(program, local))
        })
        .collect();
    let mut kept = 0;
    for (function, _) in program.functions.iter_mut().zip(keep).filter(|(_, keep)| *keep) {
        for location in &mut function.locations {
            let only_end = !location.transformations.is_empty()
                && location.transformations.iter().all(|t| matches!(t.operation, Operation::Exit));
            if only_end && !location.progress && !location.accept {
                location.transformations.clear();
                location.end = true;
                kept += 1;
            }
        }
    }
    kept
}
