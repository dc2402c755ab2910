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
//!
//! Sets of locals are rows of bits, so that a step of the analysis takes a word for 64 of them; a location is looked at again only when
//! one that it leads to has changed. What a statement touches is a short list.

use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{Action, Function, Operation, Place, Program, Root, Type, VariableId};

/// A set of a function's locals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locals(Vec<u64>);

impl Locals {
    fn none(locals: usize) -> Locals {
        Locals(vec![0; locals.div_ceil(64)])
    }

    /// Is this local in it?
    pub fn contains(&self, local: usize) -> bool {
        self.0.get(local / 64).is_some_and(|word| word >> (local % 64) & 1 == 1)
    }

    fn insert(&mut self, local: usize) {
        self.0[local / 64] |= 1 << (local % 64);
    }

    fn remove(&mut self, local: usize) {
        self.0[local / 64] &= !(1 << (local % 64));
    }

    /// Adds the others; was any of them new?
    fn add(&mut self, other: &Locals) -> bool {
        let mut new = 0;
        for (mine, other) in self.0.iter_mut().zip(&other.0) {
            new |= other & !*mine;
            *mine |= other;
        }
        new != 0
    }

    /// Those in it, in order.
    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors(Some(word), |w| Some(w & w.wrapping_sub(1)))
                .take_while(|w| *w != 0)
                .map(move |w| index * 64 + w.trailing_zeros() as usize)
        })
    }
}

/// What one transformation does with its function's locals.
#[derive(Default)]
struct Access {
    /// Read before it is written.
    read: Vec<usize>,
    /// Certainly written, as a whole.
    killed: Vec<usize>,
    /// Written, perhaps in part.
    touched: Vec<usize>,
}

impl Visitor for Access {
    fn place(&mut self, place: &Place, how: Use) {
        if let Root::Local(VariableId(v)) = place.root {
            let v = v as usize;
            // A write to a part leaves the rest: the variable stays as live as it was.
            if how == Use::Write {
                self.touched.push(v);
            } else if !self.killed.contains(&v) {
                self.read.push(v);
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
fn access(t: &quotient_program::Transformation) -> Access {
    let mut access = Access::default();
    visit::operation(&t.operation, &mut access);
    if let Operation::Receive { patterns, .. } = &t.operation {
        for pattern in patterns {
            if let quotient_program::Pattern::Bind(place) = pattern {
                access.killed.extend(kills(place));
            }
        }
    }
    for action in &t.actions {
        visit::action(action, &mut access);
        access.killed.extend(match action {
            Action::Assign(place, _) => kills(place),
            Action::Start { result: Some(place), .. }
            | Action::Update { result: Some(place), .. }
            | Action::Call { result: Some(place), .. }
            | Action::New { result: place, .. }
            | Action::Choose { result: place, .. } => kills(place),
            Action::Forget(VariableId(v)) => Some(*v as usize),
            _ => None,
        });
    }
    access
}

/// Most pairs of a location and a local that a function is analysed for: others make tables of them all.
const MOST_PAIRS: usize = 1 << 24;

/// Live locals at each location; `None` for a function that is too large: then all of them count as live.
pub fn live(function: &Function) -> Option<Vec<Locals>> {
    let locals = function.locals.len();
    if locals.saturating_mul(function.locations.len()) > MOST_PAIRS {
        return None;
    }
    let accesses: Vec<Vec<Access>> =
        function.locations.iter().map(|l| l.transformations.iter().map(access).collect()).collect();
    let mut always = Locals::none(locals);
    if let Some(provided) = &function.provided {
        // Asked at every location.
        let mut asked = Access::default();
        visit::expr(provided, &mut asked);
        asked.read.into_iter().for_each(|v| always.insert(v));
    }
    let mut live = vec![always; function.locations.len()];
    let depends = depends(function);
    let mut waits = vec![true; function.locations.len()];
    // Most steps lead to a location with a greater number: from the end on, most are looked at once.
    let mut waiting: Vec<usize> = (0..function.locations.len()).collect();
    while let Some(index) = waiting.pop() {
        waits[index] = false;
        let mut here = caught(function, index, &live);
        for (t, access) in function.locations[index].transformations.iter().zip(&accesses[index]) {
            let mut before = match t.target {
                Some(target) => live[target.0 as usize].clone(),
                None => Locals::none(locals),
            };
            access.killed.iter().for_each(|v| before.remove(*v));
            access.read.iter().for_each(|v| before.insert(*v));
            here.add(&before);
        }
        if live[index].add(&here) {
            for &other in &depends[index] {
                if !std::mem::replace(&mut waits[other], true) {
                    waiting.push(other);
                }
            }
        }
    }
    Some(live)
}

/// For each location those whose live locals depend on its own.
fn depends(function: &Function) -> Vec<Vec<usize>> {
    let mut depends = vec![Vec::new(); function.locations.len()];
    for (index, location) in function.locations.iter().enumerate() {
        for target in location.transformations.iter().filter_map(|t| t.target) {
            depends[target.0 as usize].push(index);
        }
    }
    for catch in &function.catches {
        depends[catch.target.0 as usize].extend(catch.locations.iter().map(|l| l.0 as usize));
    }
    depends
}

/// Locals that the catches of a location read.
fn caught(function: &Function, location: usize, live: &[Locals]) -> Locals {
    let mut out = Locals::none(function.locals.len());
    for catch in &function.catches {
        if catch.locations.iter().any(|l| l.0 as usize == location) {
            let mut read = live[catch.target.0 as usize].clone();
            if let Some(variable) = catch.variable {
                read.remove(variable.0 as usize);
            }
            out.add(&read);
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

/// For the first location of each `d_step`, the locals that may hold a value when it is entered.
fn brought_in(function: &Function, live: &[Locals]) -> Vec<Option<Locals>> {
    let mut brought = vec![None; function.locations.len()];
    for (from, location) in function.locations.iter().enumerate() {
        for t in location.transformations.iter().filter(|t| matches!(t.operation, Operation::Enter)) {
            if let Some(to) = t.target {
                brought[to.0 as usize]
                    .get_or_insert_with(|| Locals::none(function.locals.len()))
                    .add(&live[from]);
            }
        }
    }
    brought
}

/// Adds a [`Action::Forget`] wherever a variable dies; gives how many.
pub fn forget_dead(program: &mut Program) -> usize {
    let remote = remotely_read(program);
    let mut forgotten = 0;
    for (index, function) in program.functions.iter_mut().enumerate() {
        let Some(live) = live(function) else { continue };
        let locals = function.locals.len();
        let entry = &live[function.entry.0 as usize];
        function.dead_at_start = (0..locals)
            .filter(|v| !entry.contains(*v) && !remote[index][*v])
            .map(|v| VariableId(v as u32))
            .collect();
        let brought = brought_in(function, &live);
        for from in 0..function.locations.len() {
            let caught = caught(function, from, &live);
            for transformation in &mut function.locations[from].transformations {
                let Some(target) = transformation.target else { continue };
                // Entering a d_step does nothing by itself: what dies there is forgotten by the first statement inside.
                if matches!(transformation.operation, Operation::Enter) {
                    continue;
                }
                let after = &live[target.0 as usize];
                let calls = transformation.actions.iter().any(|a| matches!(a, Action::Call { .. }));
                // It dies here if it may hold a value: it was live before, or this step writes it. What was dead
                // before is zero already, from the step that led here or from the start of the process.
                let mut holds = live[from].clone();
                if let Some(brought) = &brought[from] {
                    holds.add(brought);
                }
                access(transformation).touched.into_iter().for_each(|v| holds.insert(v));
                let needed =
                    |v: usize| after.contains(v) || remote[index][v] || (calls && caught.contains(v));
                let dead: Vec<Action> = holds
                    .iter()
                    .filter(|v| !needed(*v))
                    .map(|v| Action::Forget(VariableId(v as u32)))
                    .collect();
                forgotten += dead.len();
                for action in &mut transformation.actions {
                    // What a call returns to a dead variable is not stored.
                    if let Action::Call { result, .. } = action
                        && let Some(v) = result.as_ref().and_then(kills)
                        && !after.contains(v)
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
