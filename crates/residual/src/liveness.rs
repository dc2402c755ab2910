//! Dead variables have no value.
//!
//! A local variable is live at a location when some path from there reads it before writing it. Where it is not, its value
//! makes no difference to anything the process does later, so two states that differ only in it are bisimilar; setting it
//! to zero on arrival maps both to one. This is the classic backward data-flow analysis, per function, with whole variables
//! as units: an array or structure is read when any part is, and only a plain variable is killed by a write.
//!
//! An exception may lead from a location to any of its catches, at any point of a step and, during a call, while the
//! caller waits: what a catch reads is live at the locations it applies to and is not forgotten by a call made there.
//!
//! Excluded are variables that another process may read (remote references), and, since a process must not lose a channel
//! that others may hear of through it, nothing else: a channel variable is a value like any other.

use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{Action, Function, Operation, Place, Program, Root, Type, VariableId};

/// Reads and writes of one function's locals.
struct Access {
    read: Vec<bool>,
    written: Vec<bool>,
}

impl Access {
    fn new(locals: usize) -> Access {
        Access { read: vec![false; locals], written: vec![false; locals] }
    }
}

/// Collects reads only; kills are decided per statement.
struct Reads<'a> {
    read: &'a mut Vec<bool>,
    /// Locals that are read before this statement writes them.
    written: &'a Vec<bool>,
}

impl Visitor for Reads<'_> {
    fn place(&mut self, place: &Place, how: Use) {
        if let Root::Local(VariableId(v)) = place.root {
            let v = v as usize;
            // A write to a part leaves the rest: the variable stays as live as it was.
            if how == Use::Read && !self.written[v] {
                self.read[v] = true;
            }
        }
    }
}

fn kills(place: &Place) -> Option<usize> {
    match place.root {
        Root::Local(VariableId(v)) if place.path.is_empty() && !matches!(place.ty, Type::Structure(_)) => {
            Some(v as usize)
        }
        _ => None,
    }
}

/// What a transformation reads before writing, and what it certainly writes.
fn access(t: &quotient_program::Transformation, locals: usize) -> Access {
    let mut access = Access::new(locals);
    {
        let mut reads = Reads { read: &mut access.read, written: &access.written };
        visit::operation(&t.operation, &mut reads);
    }
    if let Operation::Receive { patterns, .. } = &t.operation {
        for pattern in patterns {
            if let quotient_program::Pattern::Bind(place) = pattern
                && let Some(v) = kills(place)
            {
                access.written[v] = true;
            }
        }
    }
    for action in &t.actions {
        {
            let mut reads = Reads { read: &mut access.read, written: &access.written };
            visit::action(action, &mut reads);
        }
        let written = match action {
            Action::Assign(place, _) => kills(place),
            Action::Start { result: Some(place), .. }
            | Action::Update { result: Some(place), .. }
            | Action::Call { result: Some(place), .. }
            | Action::New { result: place, .. }
            | Action::Choose { result: place, .. } => kills(place),
            Action::Forget(VariableId(v)) => Some(*v as usize),
            _ => None,
        };
        if let Some(v) = written {
            access.written[v] = true;
        }
    }
    access
}

/// Most pairs of a location and a local that a function is analysed for. A table of them all is made and gone through several times.
const MOST_PAIRS: usize = 1 << 24;

/// Live locals at each location; `None` for a function that is too large: then all of them count as live.
pub fn live(function: &Function) -> Option<Vec<Vec<bool>>> {
    let locals = function.locals.len();
    if locals.saturating_mul(function.locations.len()) > MOST_PAIRS {
        return None;
    }
    let accesses: Vec<Vec<Access>> = function
        .locations
        .iter()
        .map(|l| l.transformations.iter().map(|t| access(t, locals)).collect())
        .collect();
    let mut live = vec![vec![false; locals]; function.locations.len()];
    if let Some(provided) = &function.provided {
        // Asked at every location.
        let mut always = vec![false; locals];
        let written = vec![false; locals];
        visit::expr(provided, &mut Reads { read: &mut always, written: &written });
        live.fill(always);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (index, location) in function.locations.iter().enumerate().rev() {
            for (here, caught) in caught(function, index, &live).into_iter().enumerate() {
                if caught && !live[index][here] {
                    live[index][here] = true;
                    changed = true;
                }
            }
            for (t, access) in location.transformations.iter().zip(&accesses[index]) {
                let after =
                    t.target.map_or_else(|| vec![false; locals], |target| live[target.0 as usize].clone());
                let before = access.read.iter().zip(&access.written).zip(after);
                for (here, ((read, written), after)) in live[index].iter_mut().zip(before) {
                    if (*read || (after && !written)) && !*here {
                        *here = true;
                        changed = true;
                    }
                }
            }
        }
    }
    Some(live)
}

/// Locals that the catches of a location read.
fn caught(function: &Function, location: usize, live: &[Vec<bool>]) -> Vec<bool> {
    let mut out = vec![false; function.locals.len()];
    for catch in &function.catches {
        if catch.locations.iter().any(|l| l.0 as usize == location) {
            for (v, out) in out.iter_mut().enumerate() {
                *out |= live[catch.target.0 as usize][v] && catch.variable.is_none_or(|c| c.0 as usize != v);
            }
        }
    }
    out
}

/// Locals of each function that other processes may read.
pub fn remotely_read(program: &Program) -> Vec<Vec<bool>> {
    struct Remote(Vec<Vec<bool>>);
    impl Visitor for Remote {
        fn place(&mut self, place: &Place, _: Use) {
            if let Root::Remote { function, variable, .. } = &place.root {
                self.0[function.0 as usize][variable.0 as usize] = true;
            }
        }
    }
    let mut remote = Remote(program.functions.iter().map(|f| vec![false; f.locals.len()]).collect());
    for function in program.readers() {
        if let Some(provided) = &function.provided {
            visit::expr(provided, &mut remote);
        }
        for location in &function.locations {
            location.transformations.iter().for_each(|t| visit::transformation(t, &mut remote));
        }
    }
    remote.0
}

/// Adds a [`Action::Forget`] wherever a variable dies; gives how many.
pub fn forget_dead(program: &mut Program) -> usize {
    let remote = remotely_read(program);
    let mut forgotten = 0;
    for (index, function) in program.functions.iter_mut().enumerate() {
        let Some(live) = live(function) else { continue };
        let locals = function.locals.len();
        let entry = function.entry.0 as usize;
        function.dead_at_start = (0..locals)
            .filter(|v| !live[entry][*v] && !remote[index][*v])
            .map(|v| VariableId(v as u32))
            .collect();
        for from in 0..function.locations.len() {
            let caught = caught(function, from, &live);
            // Inside a d_step nothing is stored, and its exits go to locations outside.
            for t in 0..function.locations[from].transformations.len() {
                let transformation = &function.locations[from].transformations[t];
                let Some(target) = transformation.target else { continue };
                let calls = transformation.actions.iter().any(|a| matches!(a, Action::Call { .. }));
                let mut dead = Vec::new();
                for v in 0..locals {
                    // It dies here if it may hold a value: it was live before, or this step writes it. What was dead
                    // before is zero already, from the step that led here or from the start of the process.
                    let holds = live[from][v] || touches(transformation, v);
                    let needed = live[target.0 as usize][v] || remote[index][v] || (calls && caught[v]);
                    if holds && !needed {
                        dead.push(Action::Forget(VariableId(v as u32)));
                    }
                }
                forgotten += dead.len();
                let transformation = &mut function.locations[from].transformations[t];
                for action in &mut transformation.actions {
                    // What a call returns to a dead variable is not stored.
                    if let Action::Call { result, .. } = action
                        && let Some(v) = result.as_ref().and_then(kills)
                        && !live[target.0 as usize][v]
                        && !remote[index][v]
                    {
                        *result = None;
                    }
                }
                transformation.actions.extend(dead);
            }
        }
    }
    forgotten
}

/// Does the transformation write any part of this local?
fn touches(t: &quotient_program::Transformation, local: usize) -> bool {
    struct Writes(usize, bool);
    impl Visitor for Writes {
        fn place(&mut self, place: &Place, how: Use) {
            if let Root::Local(VariableId(v)) = place.root {
                self.1 |= how == Use::Write && v as usize == self.0;
            }
        }
    }
    let mut writes = Writes(local, false);
    visit::transformation(t, &mut writes);
    writes.1
}
